"""Live services over HTTP, with a time limit, a retry budget and a tape.

A service that stays unreachable raises `LiveError`: the episode is then recorded as failed, which
is not the same as an agent's mistake. Nothing here sleeps longer than the budget allows; the
published servers slept up to 150 seconds inside a request.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.core.extras import require
from agentgym.envs.tools.cassette import Cassette

RETRIED = (408, 425, 429, 500, 502, 503, 504)
"""Statuses after which a request is made again."""

NOT_CARRIED_OUT = (425, 429, 503)
"""Those that say it was not carried out: also what creates something may then be asked again."""

REPEATABLE = ("GET", "PUT", "DELETE")
"""Methods that do the same whether they are carried out once or twice."""


class LiveError(AgentGymError):
    """A live service did not answer, or refused; the message says which and why."""


class MissingKey(InvalidConfig):
    """The key of a live service is not in the environment."""


def key_from(variable: str, service: str) -> str:
    """Return the key in an environment variable.

    Raises:
        MissingKey: if it is not set.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise MissingKey(f"{service} needs a key: set the environment variable {variable}")
    return value


class LiveClient:
    """JSON over HTTP to one service.

    Args:
        base_url: beginning of every address.
        cassette: a tape; without one every call is made.
        secret_params: query parameters that prove who is asking, never recorded; or a function that
            returns them, called when the first request is really made, so that a replay needs none.
        secret_headers: headers of the same kind.
        timeout: seconds a request may take.
        attempts: how often a request is made at most.
        pause: seconds before the second attempt; doubled before each further one.
        none_on: statuses that mean there is nothing; the answer is then None, and goes on the tape.
    """

    def __init__(
        self,
        base_url: str,
        *,
        cassette: Cassette | None = None,
        secret_params: Callable[[], Mapping[str, str]] = dict,
        secret_headers: Callable[[], Mapping[str, str]] = dict,
        timeout: float = 20.0,
        attempts: int = 4,
        pause: float = 0.5,
        none_on: Collection[int] = (),
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._cassette = cassette
        self._secret_params, self._secret_headers = secret_params, secret_headers
        self._timeout, self._attempts, self._pause = timeout, attempts, pause
        self._none_on = none_on
        self._http: Any = None

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return what a GET request answers."""
        return self.request("GET", path, params=params)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Any:
        """Return the JSON a request answers; None where it answers nothing.

        Args:
            method: "GET", "POST", ...
            path: what follows `base_url`.
            params: query parameters, without secrets.
            body: a JSON value to send.

        Raises:
            LiveError: if the service does not answer within the attempts, or refuses.
            CassetteMiss: if a tape is replayed and the call is not on it.
            MissingExtra: if httpx is not installed.
        """
        url = f"{self.base_url}/{path.lstrip('/')}" if path else self.base_url
        request = {"method": method, "url": url, "params": dict(params or {}), "body": body}
        if self._cassette is None:
            return self._send(request, self._secrets())
        secrets: list[str] = []

        def ask() -> Any:
            found = self._secrets()
            for part in found:
                for value in part.values():
                    key = value.rpartition(" ")[2]  # "Bearer KEY": a service may repeat KEY alone
                    secrets.extend((value, key, quote(key, safe=""), quote_plus(key)))
            return self._send(request, found)

        return self._cassette.answer(request, ask, secrets)

    def close(self) -> None:
        """Close the connections; twice without harm."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def _secrets(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return self._secret_params(), self._secret_headers()

    def _send(
        self, request: Mapping[str, Any], secrets: tuple[Mapping[str, str], Mapping[str, str]]
    ) -> Any:
        httpx = require("httpx", "A live backend", "live")
        if self._http is None:
            self._http = httpx.Client(timeout=self._timeout, follow_redirects=False)
        params, headers = secrets
        why, attempt = "", 0
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(self._pause * 2 ** (attempt - 1))
            try:
                response = self._http.request(
                    request["method"],
                    request["url"],
                    params={**request["params"], **params},
                    headers=dict(headers),
                    json=request["body"],
                )
            except httpx.HTTPError as error:
                why = f"{type(error).__name__}"  # its text may hold the address and so a key
                if request["method"] in REPEATABLE or isinstance(error, httpx.ConnectError):
                    continue
                break  # it may have been carried out, and must not be twice
            if response.status_code in RETRIED:
                why = f"status {response.status_code}"
                if request["method"] in REPEATABLE or response.status_code in NOT_CARRIED_OUT:
                    continue
                break
            if response.status_code in self._none_on:
                return None
            return self._read(request, response)
        times = "once" if attempt == 0 else f"{attempt + 1} times"
        raise LiveError(f"{request['method']} {request['url']} failed {times}, last with {why}")

    @staticmethod
    def _read(request: Mapping[str, Any], response: Any) -> Any:
        where = f"{request['method']} {request['url']}"
        if not response.is_success:
            raise LiveError(f"{where} was refused with status {response.status_code}")
        if not response.content:
            return None
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise LiveError(f"{where} answered no JSON") from error
