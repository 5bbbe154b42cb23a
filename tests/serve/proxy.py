"""A proxy that spoils what passes through it, for the tests of clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Proxy:
    """What the proxy does.

    Attributes:
        url: its address.
        upstream: where it passes requests on to.
        passed: (method, path) of every request it has passed on.
    """

    def __init__(self, url: str, upstream: str) -> None:
        self.url, self.upstream = url, upstream
        self.passed: list[tuple[str, str]] = []
        self._faults: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def spoil(self, part: str, *faults: str) -> None:
        """Spoil the next requests whose path ends so, in order.

        Args:
            part: the end of the path.
            faults: "unsent" (it is never passed on), "dropped" (the answer is not passed back),
                "cut" (half of it is), "late" (it comes after half a second), or an HTTP status
                that is answered instead of passing it on ("503").
        """
        self._faults += [(part, fault) for fault in faults]

    def fault(self, path: str) -> str:
        """Return the fault for a request, which is then used up, or ""."""
        with self._lock:
            for i, (part, fault) in enumerate(self._faults):
                if path.endswith(part):
                    del self._faults[i]
                    return fault
        return ""


class Handler(BaseHTTPRequestHandler):
    """Passes one request after another on."""

    protocol_version = "HTTP/1.1"
    proxy: Proxy

    def do_GET(self) -> None:
        """Pass it on, spoilt or not."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        fault = self.proxy.fault(self.path)
        self.close_connection = fault in ("unsent", "dropped", "cut")
        if fault == "unsent":
            return
        if fault.isdigit():
            self._answer(int(fault), {"retry-after": "0"}, b"<html>busy</html>")
            return
        status, headers, answer = self._upstream(body)
        if fault == "dropped":
            return
        if fault == "late":
            time.sleep(0.5)
        try:
            self._answer(status, headers, answer, half=fault == "cut")
        except OSError:
            self.close_connection = True

    do_POST = do_DELETE = do_GET

    def _upstream(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.proxy.passed.append((self.command, self.path))
        connection = HTTPConnection(urlsplit(self.proxy.upstream).netloc, timeout=60)
        try:
            headers = {k: v for k, v in self.headers.items() if k.lower() != "content-length"}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            kept = {k: v for k, v in answer.getheaders() if k.lower() in _KEPT}
            return answer.status, kept, answer.read()
        finally:
            connection.close()

    def _answer(
        self, status: int, headers: dict[str, str], body: bytes, *, half: bool = False
    ) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if half else body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


_KEPT = ("content-type", "agentgym-seq", "retry-after", "location")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone is what these tests are about."""


@contextmanager
def proxying(upstream: str) -> Iterator[Proxy]:
    """Stand before a server until the block is left."""
    handler = type("Handler", (Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    proxy = Proxy(f"http://127.0.0.1:{server.server_port}", upstream)
    handler.proxy = proxy  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[str]:
    """Serve one answer to everything; gives the address."""

    class Same(Handler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self._answer(status, headers, body)

        do_POST = do_DELETE = do_GET

    server = _Server(("127.0.0.1", 0), Same)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
