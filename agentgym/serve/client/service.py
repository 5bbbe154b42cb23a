"""Calls on a server: JSON out, JSON or a typed error back.

Every call of the protocol made here may be made twice: one that acts carries its number, so that
the server knows it again; a session is opened under a key; the others change nothing. So whatever
fails on its way (a connection that breaks, an answer that does not come, a proxy's 502) is asked
again, and what a busy server puts off with 503 is asked again when it says. What the server itself
answers is never asked again: the same question has the same answer.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from agentgym.core.errors import AgentGymError
from agentgym.core.text import parse_json, shorten
from agentgym.serve.client.address import TOKEN, Address
from agentgym.serve.client.connection import Exchange, Failed, pool_of
from agentgym.serve.client.errors import NotAServer, ServerUnreachable
from agentgym.serve.client.patience import Attempts, Patience
from agentgym.serve.problem import NoSuchRoute, Problem, Unauthorized

_PAGE = 1000  # tasks asked for at a time
_MOST_TASKS = 1_000_000
_LASTING = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)
_BUSY = (429, 502, 503, 504)
_MAKING = 600.0  # seconds to wait at least where an environment is made, imports included


class Answer(NamedTuple):
    """An answer.

    Attributes:
        value: what its JSON says.
        seq: the number of the session's last call that acted, where it tells.
    """

    value: Any
    seq: int | None


class Refused(Exception):
    """The server answered with an error.

    Attributes:
        error: the error.
        seq: the number of the session's last call that acted, where it tells.
    """

    def __init__(self, error: Exception, seq: int | None) -> None:
        super().__init__(str(error))
        self.error, self.seq = error, seq


class Service:
    """A server as seen from here.

    Args:
        address: the server's.
        patience: how long to wait.
    """

    def __init__(self, address: Address, patience: Patience | None = None) -> None:
        self.address, self.patience = address, patience or Patience()
        self._pool = pool_of(address)

    # The protocol.

    def about(self, env_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Describe an environment as it is made with some options."""
        path = f"/v1/environments/{quote(env_id)}"
        return self._object(self._made("POST", path, {"options": dict(options)}).value, "name")

    def tasks(self, env_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """List the tasks of an environment: {"version", "digest", "tasks"}."""
        values = {name: json.dumps(value) for name, value in options.items()}
        path = f"/v1/environments/{quote(env_id)}/tasks"
        found: dict[str, Any] = {}
        tasks: list[Any] = []
        while not found or len(tasks) < found["total"]:
            query = urlencode({**values, "offset": len(tasks), "limit": _PAGE})
            page = self._object(self._made("GET", f"{path}?{query}").value, "tasks")
            self._require(
                isinstance(page["tasks"], list)
                and isinstance(page.get("digest"), str)
                and isinstance(page.get("total"), int)
                and page["total"] <= _MOST_TASKS,
                "a list of tasks",
            )
            if found and page["digest"] != found["digest"]:
                raise NotAServer(f"the tasks of {env_id} changed while they were listed; try again")
            found = page
            if not page["tasks"]:
                break
            tasks += page["tasks"]
        return {**found, "tasks": tasks}

    def open(self, env_id: str, options: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Open a session; the same key again gives the same one."""
        body = {"environment": env_id, "options": dict(options), "key": key}
        return self._object(self._made("POST", "/v1/sessions", body).value, "session")

    def call(
        self,
        session: str,
        verb: str,
        fields: Mapping[str, Any],
        again: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Make a call on a session.

        Args:
            session: its name.
            verb: what to do.
            fields: what the verb takes.
            again: what it takes instead where the first attempt may have been received.

        Raises:
            Refused: with the error the server answered.
            ServerUnreachable: if no answer came.
        """
        path = f"/v1/sessions/{session}/{verb}"
        return self._ask("POST", path, fields, self.patience.timeout, again)

    def close(self, session: str, *, within: float | None = None) -> None:
        """Close a session.

        Args:
            session: its name.
            within: seconds to try once for; None has the patience of any call.
        """
        path = f"/v1/sessions/{session}"
        if within is not None:
            self._pool.exchange("DELETE", path, None, within)
            return
        self._ask("DELETE", path, None, self.patience.timeout)

    # How a call is made.

    def _made(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Make a call that may have to make an environment; raise the server's own error."""
        try:
            return self._ask(method, path, body, max(self.patience.timeout, _MAKING))
        except Refused as refused:
            raise refused.error from None

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        timeout: float,
        again: Mapping[str, Any] | None = None,
    ) -> Answer:
        content = _content(body)
        attempts = Attempts(self.patience)
        while True:
            try:
                exchange = self._pool.exchange(method, path, content, timeout)
            except Failed as error:
                lasting = isinstance(error, _LASTING) and not self._pool.answered
                if lasting or not attempts.again():
                    raise self._unreachable(error, attempts.failed, timeout) from error
                content = content if again is None else _content(again)
                continue
            value, problem = self._read(exchange)
            seq = _number(exchange, "agentgym-seq")
            if problem is None:
                return Answer(value, seq)
            if not _put_off(exchange, problem) or not attempts.again(_retry_after(exchange)):
                raise Refused(self._error(exchange, problem), seq)

    def _read(self, exchange: Exchange) -> tuple[Any, Problem | None]:
        """Return what an answer says, and what is wrong, if anything is.

        Raises:
            NotAServer: if the answer is not of our protocol.
        """
        status, value = exchange.status, None
        if 300 <= status < 400:
            where = exchange.headers.get("location", "")[:200]
            raise NotAServer(
                f"{self.address.url} redirects to {where!r}; give the server's own address as url"
            )
        try:
            value = parse_json(exchange.body) if exchange.body else None
        except ValueError:
            if status not in _BUSY:
                raise self._no_server(exchange) from None
        if status < 300:
            return value, None
        problem = Problem.from_json(value, status)
        known = isinstance(value, dict) and isinstance(value.get("error"), dict)
        if (not known and status not in _BUSY) or NoSuchRoute.__name__ in problem.types:
            raise self._no_server(exchange)
        return value, problem

    def _no_server(self, exchange: Exchange) -> NotAServer:
        said = shorten(exchange.body[:400].decode("utf-8", "replace"), 100)
        return NotAServer(
            f"what answers at {self.address.url} is no agentgym server, or one of another version "
            f"(status {exchange.status}: {said!r}). url is the address 'agentgym serve' prints"
        )

    def _error(self, exchange: Exchange, problem: Problem) -> Exception:
        error = problem.error()
        if isinstance(error, Unauthorized):
            hint = f"give token= or set {TOKEN}" if self.address.token is None else "the token"
            return Unauthorized(f"{self.address.url}: {error} ({hint} for this server)")
        if type(error) is AgentGymError and exchange.status in _BUSY:
            return ServerUnreachable(
                f"{self.address.url} answers {exchange.status}: the server is down or too busy"
            )
        if problem.types == (AgentGymError.__name__,):
            return AgentGymError(f"{self.address.url}: {error}")
        return error

    def _unreachable(self, error: BaseException, tries: int, timeout: float) -> ServerUnreachable:
        why = str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            why = f"no answer within {timeout:g} s"
        if isinstance(error, ssl.SSLCertVerificationError):
            return ServerUnreachable(
                f"the server at {self.address.url} shows no certificate that is trusted here "
                f"({error.verify_message}). SSL_CERT_FILE names further certificates"
            )
        times = f" in {tries} attempts" if tries > 1 else ""
        return ServerUnreachable(
            f"the server at {self.address.url} cannot be reached{times} ({why}). Is it running? "
            "Start one with: agentgym serve"
        )

    def _object(self, value: Any, field: str) -> dict[str, Any]:
        if not isinstance(value, dict) or field not in value:
            raise NotAServer(
                f"what answers at {self.address.url} is no agentgym server, or one of another "
                f"version: its answer has no {field!r}"
            )
        return value

    def _require(self, sound: bool, what: str) -> None:
        if not sound:
            raise NotAServer(
                f"what answers at {self.address.url} is no agentgym server, or one of another "
                f"version: its answer is not {what}"
            )


def _content(body: Mapping[str, Any] | None) -> bytes | None:
    # In ASCII, so that text no UTF-8 can hold (lone surrogates) arrives as it is.
    return None if body is None else json.dumps(body, separators=(",", ":")).encode()


def _put_off(exchange: Exchange, problem: Problem) -> bool:
    """Return whether the same call may have another answer later: not what a session answered."""
    if problem.types[0] == "AgentGymError":
        return exchange.status in _BUSY
    return exchange.status == 503


def _retry_after(exchange: Exchange) -> int | None:
    return _number(exchange, "retry-after")


def _number(exchange: Exchange, header: str) -> int | None:
    text = exchange.headers.get(header, "")
    return int(text) if text.isdecimal() and len(text) < 16 else None
