"""A lean HTTP client for load: one keep-alive connection, one request at a time.

On two cores the client shares the machine with the server. A general client takes several times as
long for a request as the server for its answer, and would be what is measured.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import httptools


class Lean(asyncio.Protocol):
    """A connection to a server.

    Args:
        url: any URL of the server.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[tuple[int, bytes]] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []

    async def connect(self) -> Lean:
        """Open the connection."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, self._host, self._port)
        return self

    async def post(self, url: str, body: Any) -> tuple[int, Any]:
        """Send JSON and return the status and the JSON that comes back."""
        content = json.dumps(body).encode()
        path = urlsplit(url).path
        self._waiting = asyncio.get_running_loop().create_future()
        assert self._transport is not None
        self._transport.write(
            f"POST {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        status, answer = await self._waiting
        return status, json.loads(answer)

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    # What asyncio and httptools call.

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error or ConnectionError("the server closed"))

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        body, self._body = b"".join(self._body), []
        status = self._parser.get_status_code()
        self._parser = httptools.HttpResponseParser(self)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result((status, body))
