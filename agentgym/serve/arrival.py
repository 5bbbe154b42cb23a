"""Requests as they arrive: within bounds and in time, or not at all.

uvicorn bounds neither the head of a request nor the time one may take to arrive, and reads on from
a client that sends without end and takes no answers. A server that others can reach would hold
whatever they send, before it has seen a token. So a head has a limit, a connection comes to the
point or is closed, and nothing more is read while requests are in line on it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 2**10
"""Bytes of a head, beyond what the first read brought."""

IN_TIME = 60.0
"""Seconds from a request's first byte, or a connection's beginning, to the request's last byte."""

_SILENT = 300_000  # milliseconds in which a client must take something of what it is sent
_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 20, "TCP_KEEPCNT": 6}


class ArrivingRequests(HttpToolsProtocol):
    """A connection of uvicorn's with bounds."""

    _since: float | None = None  # when what is arriving began
    _in_head = False
    _number = 0  # of the request that is arriving
    _head = 0  # bytes of its head, those of the first read left out

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        super().connection_made(transport)
        self._since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        before = self._number if self._in_head else None
        super().data_received(data)
        if self._in_head and before == self._number:
            self._head += len(data)
            if self._head > MOST_HEAD:
                self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        super().on_message_begin()
        self._since, self._in_head, self._head = self.loop.time(), True, 0
        self._number += 1

    def on_headers_complete(self) -> None:
        """Note that its head is there."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that all of it is there."""
        self._since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request that is there, and read others only after the last."""
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()

    def close_if_late(self, now: float) -> None:
        """Close the connection if its request takes too long to arrive."""
        if self.flow.read_paused and self._since is not None:
            self._since = now  # it is not the client who takes so long
        elif self._since is not None and now - self._since > IN_TIME:
            self._refuse(b"408 Request Timeout")

    def _should_upgrade(self) -> bool:
        # With another method the WebSocket's side would wait for ever for what has been read here.
        return self.parser.get_method() == b"GET" and super()._should_upgrade()

    def _refuse(self, status: bytes) -> None:
        self._since, self._in_head = None, False
        if not self.transport.is_closing():
            head = b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head % status)
            self.transport.close()


def close_late(connections: Iterable[Any], now: float) -> None:
    """Close the connections on which a request takes too long to arrive.

    Args:
        connections: uvicorn's, of any kind.
        now: on the event loop's clock.
    """
    for connection in tuple(connections):
        if isinstance(connection, ArrivingRequests):
            connection.close_if_late(now)


def expect_little(listening: socket.socket) -> None:
    """Have the system close connections whose client is gone or takes nothing of what it is sent.

    Args:
        listening: the socket that is listened on; connections take it over from there.
    """
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    values = {**_KEEPALIVE, "TCP_USER_TIMEOUT": _SILENT}
    for name, value in values.items():
        option = getattr(socket, name, None)  # not every system has them
        if option is not None:
            listening.setsockopt(socket.IPPROTO_TCP, option, value)
