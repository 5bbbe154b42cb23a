"""A server from its first request to its last.

It runs on uvicorn, with one thing done otherwise: a signal to stop is no failure. The first stops
the listening, lets what is under way finish for as long as `grace` allows, and closes every
session; the second Ctrl-C ends the workers and the process at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn

from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.serve.app import create_app
from agentgym.serve.arrival import ArrivingRequests, close_late, expect_little
from agentgym.serve.config import ServerConfig
from agentgym.serve.store import SessionStore

log = logging.getLogger("agentgym.serve")

_KEEP_ALIVE = 120  # seconds; a model may think for long between two steps
_BACKLOG = 2048  # connections that wait to be accepted
_LOOK = 50  # ticks of a tenth of a second between two looks at what takes too long to arrive
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Ready = Callable[[int, SessionStore], None]


def serve(config: ServerConfig, ready: Ready) -> None:
    """Serve until a signal says to stop.

    Args:
        config: what to serve and where.
        ready: called with the port and the store once requests are taken.

    Raises:
        InvalidConfig: if the address cannot be listened on.
        AgentGymError: what preloading an environment, or making it with its defaults, raised.
    """
    listening = _listen(config.host, config.port)
    _allow_files()
    app = create_app(config.settings, hosts=config.hosts, origins=config.origins)
    server = _Server(
        uvicorn.Config(
            app,
            http=ArrivingRequests,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=max(1, round(config.grace)),
            ws_max_size=2 * config.settings.max_body,  # up to there, it is answered why
            ws_per_message_deflate=False,
            ws_ping_timeout=600,  # a client that holds its event loop up answers no ping meanwhile
        ),
        app.state.store,
        config.preload,
        lambda: ready(listening.getsockname()[1], app.state.store),
    )
    with listening:
        server.run(sockets=[listening])
    if server.failed is not None:
        raise server.failed


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        store: SessionStore,
        preload: tuple[str, ...],
        ready: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._store, self._preload, self._ready = store, preload, ready
        self.failed: AgentGymError | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        try:
            for name in self._preload:
                await self._store.preload(name)
            await self._store.check_defaults()
        except AgentGymError as error:
            self.failed, self.should_exit = error, True
            return
        gc.collect()
        gc.freeze()  # what has been imported stays; looking through it would hold steps up
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        if counter % _LOOK == 0:
            close_late(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            for worker in self._store.workers:
                worker.kill()
            os._exit(130)
        if not self.should_exit:
            log.info("stopping", extra={"sessions": len(self._store)})
        self.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            expect_little(listening)
            listening.listen(_BACKLOG)  # from here on no other server gets the port
            listening.set_inheritable(False)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise InvalidConfig(
            f"{host}:{port} cannot be listened on ({error.strerror}): choose another --port, or 0"
        ) from error
    return listening


def _allow_files() -> None:
    """Allow as many open files as the system does, since each connection is one."""
    try:
        import resource
    except ImportError:  # not every system has it
        return
    limits: Any = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
