"""Connections to a server, kept open between calls and shared by all environments of an address.

One call is one HTTP exchange on a connection taken from the pool and put back after it, so that
threads never meet on one, and as many are open as calls were ever under way at a time.

They are `http.client`'s, of the standard library. Measured for a step's exchange on the loopback
(processor time of the client, beside 0.08 ms for bare reads and writes of a socket): http.client
0.35 ms, urllib3 0.65 ms, httpx 1.0 ms, requests 1.8 ms; a WebSocket of `websockets.sync` 0.20 ms,
at the price of a connection and a thread a session, and of asking again by hand what was lost with
it. What the others add to http.client (redirects, proxies, cookies, retries of their own) is not
wanted here: a step that is asked again must keep its number, which `service` sees to.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple

from agentgym.serve.client.address import Address
from agentgym.serve.client.errors import NotAServer

_IDLE = 60.0  # seconds after which an idle connection is not used again
_MOST_IDLE = 64
_MOST_BYTES = 64 * 2**20  # of an answer

Failed = (OSError, HTTPException)
"""What an exchange may raise: nothing has come back, and whether it was received is not known."""


class Exchange(NamedTuple):
    """What a server answered.

    Attributes:
        status: the HTTP status.
        headers: by name, in lower case.
        body: the body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Pool:
    """The connections to one address.

    Args:
        address: the server's.

    Attributes:
        answered: whether anything ever came back from there.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self.answered = False
        self._idle: deque[tuple[_Connection, float]] = deque()
        self._process = os.getpid()
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._headers = {"accept": "application/json", "user-agent": "agentgym"}
        if address.token is not None:
            self._headers["authorization"] = f"Bearer {address.token}"

    def exchange(self, method: str, path: str, body: bytes | None, timeout: float) -> Exchange:
        """Send a request and return the answer.

        Args:
            method: the HTTP method.
            path: of the protocol; the address' own path is put before it.
            body: JSON, or None.
            timeout: seconds to wait for a connection, and then for the whole of the answer.

        Raises:
            OSError, HTTPException: if no whole answer came (`Failed`).
            NotAServer: if it has no end.
        """
        headers = self._headers
        if body is not None:
            headers = {**headers, "content-type": "application/json"}
        connection = self._take(timeout)
        try:
            connection.request(method, self._address.path + path, body, headers)
            connection.until = time.monotonic() + timeout
            answer = connection.getresponse()
            content = answer.read(_MOST_BYTES)
            if not answer.isclosed():
                if len(content) < _MOST_BYTES:
                    raise HTTPException("the answer was cut short")
                raise NotAServer(
                    f"what answers at {self._address.url} is no agentgym server: its answer has "
                    f"more than {_MOST_BYTES >> 20} MiB"
                )
        except BaseException:
            connection.close()
            raise
        self.answered = True
        if answer.will_close:
            connection.close()
        else:
            self._give_back(connection)
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Exchange(answer.status, found, content)

    def close(self) -> None:
        """Close the connections that are idle."""
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop()[0].close()

    def _take(self, timeout: float) -> _Connection:
        if self._process != os.getpid():  # a forked process must not speak on its parent's sockets
            self._process, self._idle = os.getpid(), deque()
        while True:
            try:
                connection, since = self._idle.pop()  # the one used last, which is likeliest open
            except IndexError:
                return self._open(timeout)
            if time.monotonic() - since < _IDLE and connection.sock and _quiet(connection.sock):
                connection.sock.settimeout(timeout)
                return connection
            connection.close()

    def _open(self, timeout: float) -> _Connection:
        host, port = self._address.host, self._address.port
        if self._tls is not None:
            return _SecureConnection(host, port, timeout=timeout, context=self._tls)
        return _Connection(host, port, timeout=timeout)

    def _give_back(self, connection: _Connection) -> None:
        self._idle.append((connection, time.monotonic()))
        if len(self._idle) > _MOST_IDLE:
            with contextlib.suppress(IndexError):
                self._idle.popleft()[0].close()


class _Connection(HTTPConnection):
    """Sends a request in one piece; http.client sends its head and its body apart.

    The server then wakes once a step instead of twice, which is worth a tenth of a millisecond.
    """

    _held: list[bytes] | None = None
    until: float = 0.0
    """When an answer must be whole, on the monotonic clock."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.response_class = self._response  # type: ignore[assignment]

    def _response(self, sock: socket.socket, *args: Any, **kwargs: Any) -> HTTPResponse:
        """Return an answer that is read until it is time, not piece by piece for ever."""
        answer = HTTPResponse(sock, *args, **kwargs)
        answer.fp = io.BufferedReader(_InTime(answer.fp.detach(), sock, self.until))
        return answer

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send a request."""
        self._held = []
        try:
            super().request(*args, **kwargs)
        finally:
            held, self._held = self._held, None
        super().send(b"".join(held))

    def send(self, data: Any) -> None:
        """Send bytes, or hold them until the request is whole."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)


class _SecureConnection(_Connection, HTTPSConnection):
    """The same over TLS."""


class _InTime(io.RawIOBase):
    """The bytes of a socket until it is too late."""

    def __init__(self, raw: Any, sock: socket.socket, until: float) -> None:
        self._raw, self._sock, self._until = raw, sock, until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def _quiet(sock: socket.socket) -> bool:
    """Return whether nothing has come: an idle connection on which something has is closed."""
    if not hasattr(select, "poll"):  # Windows
        return not select.select([sock], [], [], 0)[0]
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return not poll.poll(0)


_pools: dict[Address, Pool] = {}
_lock = threading.Lock()


def pool_of(address: Address) -> Pool:
    """Return the pool of an address, one a process and token."""
    with _lock:
        if address not in _pools:
            _pools[address] = Pool(address)
        return _pools[address]
