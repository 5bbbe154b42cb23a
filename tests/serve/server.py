"""A real server on a real socket, for the tests of every protocol."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from agentgym.serve.app import create_app
from agentgym.serve.settings import ServeSettings


@contextmanager
def serving(settings: ServeSettings | None = None) -> Iterator[str]:
    """Serve on a free port of the loopback until the block is left; gives the base URL."""
    app = create_app(settings or ServeSettings(max_workers=1))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline, "the server takes too long to start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive(), "the server did not stop"
