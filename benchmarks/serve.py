"""What serving costs: latency, throughput, many sessions, leaks, faults and crosstalk.

Everything runs on the loopback, the client included, beside a bare Starlette route and
openenv-core's server with an echo environment, each in a process of its own and all on uvicorn with
uvloop and httptools. Latencies are taken turn about, a chunk of each at a time. Steps over HTTP are
asked by a lean client (`lean.py`), over WebSocket by aiohttp, openenv-core by its own client.

    python benchmarks/serve.py
    python benchmarks/serve.py latency batch   # some parts only
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import uvloop
from lean import Lean
from machine import load, write_result

import agentgym

ROOT = Path(__file__).parents[1]
STEP = {"action": "inventory"}
PARTS = ("latency", "throughput", "batch", "many", "cycles", "kill", "crosstalk", "sciworld")


# Servers and clients.


@contextlib.contextmanager
def running(*command: str, ready: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server until the block is left; gives its base URL and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [word.replace("PORT", str(port)) for word in command]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'benchmarks'}"}
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=env,
    )
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}{ready}", process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens."""
    for _ in range(1200):
        if process.poll() is not None:
            raise SystemExit(f"a server ended with code {process.returncode}: {process.args}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit("a server did not start within a minute")


def agentgym_server(*more: str) -> Any:
    """Run `agentgym serve`."""
    return running("agentgym", "serve", "--port", "PORT", *more, ready="/v1")


def on_uvicorn(app: str, ready: str = "") -> Any:
    """Run another application on uvicorn."""
    return running(
        "uvicorn", app, "--port", "PORT", "--log-level", "warning", "--no-access-log", ready=ready
    )


@contextlib.asynccontextmanager
async def client(connections: int = 100) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a client that keeps its connections."""
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as http:
        yield http


async def post(http: aiohttp.ClientSession, url: str, body: Any) -> Any:
    """Send JSON and read JSON; an error ends the benchmark."""
    async with http.post(url, json=body) as response:
        answer = await response.json(content_type=None)
        if response.status >= 300:
            raise RuntimeError(f"{url}: {response.status} {answer}")
        return answer


async def opened(
    http: aiohttp.ClientSession, url: str, env: str = "TextCraft", **reset: Any
) -> str:
    """Open a session, begin an episode and return its id."""
    body = {"environment": env, "reset": {"seed": 1, **reset}}
    if env == "TextCraft":
        body["options"] = {"max_rounds": 100_000}
    return str((await post(http, f"{url}/sessions", body))["session"])


# Latency of one client, turn about.

Ask = Callable[[], Awaitable[Any]]


async def latency() -> str:
    """One client: the time of a step over HTTP and WebSocket, beside the floor and a peer."""
    rows: dict[str, list[float]] = {}
    async with contextlib.AsyncExitStack() as stack:
        bare, _ = stack.enter_context(on_uvicorn("servers.bare:app", "/step"))
        ours, _ = stack.enter_context(agentgym_server())
        http = await stack.enter_async_context(client())
        session = await opened(http, ours)
        asks: dict[str, Ask] = {
            "bare Starlette route": await lean(bare),
            "agentgym, HTTP step": await lean(f"{ours}/sessions/{session}/step"),
        }
        other = await opened(http, ours)
        socket_ = await http.ws_connect(f"{ours}/sessions/{other}/ws")
        asks["agentgym, WebSocket step"] = over(socket_)
        remote = await asyncio.to_thread(remote_env, ours.removesuffix("/v1"))
        stack.callback(remote.close)

        async def in_gym() -> None:
            remote.step("inventory")

        asks['agentgym, `gym.make("agentgym/Remote-v0")`'] = in_gym
        with contextlib.suppress(ImportError):
            asks["openenv-core echo, WebSocket"] = await openenv(stack)
        for _ in range(20):
            for name, ask in asks.items():
                for k in range(60):
                    start = time.perf_counter()
                    await ask()
                    if k >= 10:
                        rows.setdefault(name, []).append(time.perf_counter() - start)
    floor = statistics.median(rows["bare Starlette route"])
    lines = [
        "| one client, one step | p50 ms | p95 ms | p50 over the bare route |",
        "|---|---|---|---|",
    ]
    for name, times in rows.items():
        middle, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        lines.append(
            f"| {name} | {middle * 1e3:.2f} | {late * 1e3:.2f} | "
            f"+{(middle - floor) * 1e3:.2f} ms ({middle / floor:.1f}x) |"
        )
    return "\n".join(lines)


def remote_env(url: str) -> Any:
    """Make a remote TextCraft and begin an episode."""
    env = agentgym.make("agentgym/Remote-v0", url=url, env_id="TextCraft", max_rounds=100_000)
    env.reset(seed=1)
    return env


async def openenv(stack: contextlib.AsyncExitStack) -> Ask:
    """Start openenv-core's server and return a step of its client."""
    from openenv.core.generic_client import GenericEnvClient

    url, _ = stack.enter_context(on_uvicorn("servers.echo:app"))
    peer = await stack.enter_async_context(GenericEnvClient(base_url=url))
    await peer.reset()
    return lambda: peer.step({"message": "inventory"})


# Throughput.


async def throughput() -> str:
    """64 clients, each with a session and a connection of its own, for some seconds."""
    lines = ["| 64 clients | steps/s | p50 ms | p95 ms |", "|---|---|---|---|"]
    with on_uvicorn("servers.bare:app", "/step") as (bare, _), agentgym_server() as (ours, _):
        async with client() as http:
            sessions = [await opened(http, ours) for _ in range(64)]
            sockets = [
                await http.ws_connect(f"{ours}/sessions/{await opened(http, ours)}/ws")
                for _ in range(64)
            ]
            for name, asks in (
                ("bare Starlette route", [await lean(bare) for _ in sessions]),
                (
                    "agentgym, HTTP step",
                    [await lean(f"{ours}/sessions/{s}/step") for s in sessions],
                ),
                ("agentgym, WebSocket step", [over(each) for each in sockets]),
            ):
                lines.append(_throughput(name, await together(asks, seconds=6.0), 6.0))
    with contextlib.suppress(ImportError):
        lines.append(await peer_throughput())
    return "\n".join(lines)


async def lean(url: str) -> Ask:
    """Return a step over a connection of its own."""
    connection = await Lean(url).connect()

    async def ask() -> None:
        status, answer = await connection.post(url, STEP)
        if status != 200:
            raise RuntimeError(str(answer))

    return ask


def over(socket_: aiohttp.ClientWebSocketResponse) -> Ask:
    """Return a step over a WebSocket."""

    async def ask() -> None:
        await socket_.send_str('{"verb":"step","action":"inventory"}')
        answer = await socket_.receive_json()
        if answer["status"] != 200:
            raise RuntimeError(str(answer))

    return ask


async def together(asks: list[Ask], seconds: float) -> list[float]:
    """Have all clients step for some time and return how long each step took."""
    times: list[float] = []
    until = time.perf_counter() + seconds

    async def one(ask: Ask) -> None:
        while (start := time.perf_counter()) < until:
            await ask()
            times.append(time.perf_counter() - start)

    await asyncio.gather(*(one(ask) for ask in asks))
    return times


async def peer_throughput() -> str:
    """The same with openenv-core and its client."""
    async with contextlib.AsyncExitStack() as stack:
        from openenv.core.generic_client import GenericEnvClient

        url, _ = stack.enter_context(on_uvicorn("servers.echo:app"))
        peers = [await stack.enter_async_context(GenericEnvClient(base_url=url)) for _ in range(64)]
        for peer in peers:
            await peer.reset()
        asks: list[Ask] = [functools.partial(peer.step, {"message": "inventory"}) for peer in peers]
        times = await together(asks, seconds=6.0)
    return _throughput("openenv-core echo, WebSocket", times, 6.0)


def _throughput(name: str, times: list[float], seconds: float) -> str:
    late = statistics.quantiles(times, n=20)[-1]
    middle = statistics.median(times)
    return f"| {name} | {len(times) / seconds:,.0f} | {middle * 1e3:.1f} | {late * 1e3:.1f} |"


async def batch() -> str:
    """One client that steps many sessions in one call."""
    lines = ["| sessions in a batch | steps/s |", "|---|---|"]
    with agentgym_server() as (ours, _):
        async with client() as http:
            sessions = [await opened(http, ours) for _ in range(512)]
            for size in (16, 64, 256, 512):
                body = [{"session": s, **STEP} for s in sessions[:size]]
                until, count = time.perf_counter() + 5.0, 0
                while time.perf_counter() < until:
                    answers = await post(http, f"{ours}/steps", body)
                    count += sum(answer["status"] == 200 for answer in answers)
                lines.append(f"| {size} | {count / 5.0:,.0f} |")
    return "\n".join(lines)


# Many sessions, and what is left of them.


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return a server's processes."""
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def resident(process: subprocess.Popen[bytes]) -> float:
    """Return what a server's processes have resident, in MiB."""
    return sum(p.memory_info().rss for p in family(process)) / 2**20


def descriptors(process: subprocess.Popen[bytes]) -> int:
    """Return how many files and sockets a server's processes have open."""
    return sum(p.num_fds() for p in family(process))


async def many() -> str:
    """2,000 sessions open at once, each in the middle of an episode."""
    with agentgym_server() as (ours, process):
        async with client(32) as http:
            await opened(http, ours)
            before, start = resident(process), time.perf_counter()
            slots = asyncio.Semaphore(32)

            async def one(i: int) -> None:
                async with slots:
                    session = await opened(http, ours, task_id=f"textcraft_{i % 500}")
                    await post(http, f"{ours}/sessions/{session}/step", STEP)

            await asyncio.gather(*(one(i) for i in range(2000)))
            seconds, after = time.perf_counter() - start, resident(process)
    each = (after - before) / 2000 * 1024
    return (
        f"2,000 TextCraft sessions were opened, reset and stepped once in {seconds:.1f} s "
        f"({2000 / seconds:,.0f} a second); the server's processes had {before:,.0f} MiB resident "
        f"with one session and {after:,.0f} MiB with 2,001: {each:.0f} KiB a session."
    )


async def cycles() -> str:
    """10,000 times create, step and close."""
    lines = ["| cycles | resident MiB | open files |", "|---|---|---|"]
    with agentgym_server() as (ours, process):
        async with client(16) as http:

            async def some(count: int) -> None:
                for _ in range(count):
                    session = await opened(http, ours)
                    await post(http, f"{ours}/sessions/{session}/step", STEP)
                    async with http.delete(f"{ours}/sessions/{session}") as response:
                        assert response.status == 204

            for done in range(0, 10_000, 1000):
                await asyncio.gather(*(some(125) for _ in range(8)))
                row = f"| {done + 1000:,} | {resident(process):,.0f} | {descriptors(process)} |"
                lines.append(row)
    return "\n".join(lines)


async def kill() -> str:
    """`kill -9` of one of two workers in the middle of 64 active clients."""
    more = ("--max-workers", "2", "--sessions-per-worker", "32")
    with agentgym_server(*more) as (ours, process):
        async with client() as http:
            sessions = [await opened(http, ours) for _ in range(64)]
            fate: dict[str, Any] = {}

            async def one(session: str) -> None:
                for _ in range(300):
                    url = f"{ours}/sessions/{session}/step"
                    async with http.post(url, json=STEP) as response:
                        if response.status != 200:
                            told = (await response.json())["error"]["message"]
                            fate[session] = (response.status, told)
                            return
                fate[session] = (200, "played on")

            clients = [asyncio.create_task(one(session)) for session in sessions]
            await asyncio.sleep(1.0)
            workers = [p for p in family(process)[1:] if _is_worker(p)]
            os.kill(workers[0].pid, signal.SIGKILL)
            await asyncio.gather(*clients)
            fresh = await opened(http, ours)
            await post(http, f"{ours}/sessions/{fresh}/step", STEP)
    played = sum(status == 200 for status, _ in fate.values())
    lost = [told for status, told in fate.values() if status == 410]
    return (
        f"Of 64 clients {played} played their 300 steps to the end and {len(lost)} were told 410 "
        f"({lost[0] if lost else '-'!r}); a new session could be opened and stepped at once."
    )


def _is_worker(process: psutil.Process) -> bool:
    # A worker has a socket pair with the front and no child; the fork server has children.
    with contextlib.suppress(psutil.Error):
        words = " ".join(process.cmdline())
        return not process.children() and "resource_tracker" not in words
    return False


async def crosstalk() -> str:
    """1,000 sessions stepped at once against 1,000 episodes one after another."""
    env = agentgym.make("TextCraft")
    tasks = [task.id for task in env.tasks][:1000]
    alone = hashlib.sha256()
    for i in range(1000):
        alone.update(env.reset(seed=i, options={"task_id": tasks[i % len(tasks)]})[0].encode())
        for action in _actions(i):
            alone.update(env.step(action)[0].encode())
    with agentgym_server() as (ours, _):
        async with client(200) as http:

            async def one(i: int) -> list[str]:
                task = tasks[i % len(tasks)]
                body = {"environment": "TextCraft", "reset": {"seed": i, "task_id": task}}
                made = await post(http, f"{ours}/sessions", body)
                seen = [made["turn"]["observation"]]
                for action in _actions(i):
                    url = f"{ours}/sessions/{made['session']}/step"
                    seen.append((await post(http, url, {"action": action}))["observation"])
                return seen

            start = time.perf_counter()
            played = await asyncio.gather(*(one(i) for i in range(1000)))
            seconds = time.perf_counter() - start
    together_ = hashlib.sha256("".join(map("".join, played)).encode())
    same = together_.hexdigest() == alone.hexdigest()
    return (
        f"1,000 sessions at once, {len(_actions(0))} steps each, in {seconds:.1f} s: the "
        f"observations are {'exactly those' if same else 'NOT THOSE'} of 1,000 episodes one after "
        f"another (SHA-256 {together_.hexdigest()[:16]}… and {alone.hexdigest()[:16]}…)."
    )


def _actions(i: int) -> list[str]:
    items = ("oak log", "stone", "stick")
    return [f"get {1 + (i + k) % 5} {items[(i + k) % 3]}" for k in range(10)] + ["inventory"]


async def sciworld() -> str:
    """32 SciWorld sessions, stepped at once."""
    with agentgym_server("--max-workers", "1") as (ours, process):
        async with client() as http:
            start = time.perf_counter()
            sessions = await asyncio.gather(
                *(opened(http, ours, "SciWorld", task_id=f"sciworld_{i}") for i in range(32))
            )
            made = time.perf_counter() - start
            count, until = 0, time.perf_counter() + 10.0

            async def one(session: str) -> int:
                steps = 0
                while time.perf_counter() < until and steps < 25:
                    url = f"{ours}/sessions/{session}/step"
                    await post(http, url, {"action": "look around"})
                    steps += 1
                return steps

            began = time.perf_counter()
            count = sum(await asyncio.gather(*(one(session) for session in sessions)))
            seconds, memory = time.perf_counter() - began, resident(process)
    return (
        f"32 SciWorld sessions were opened and reset in {made:.1f} s and played {count} steps in "
        f"{seconds:.1f} s ({count / seconds:,.0f} a second); all processes of the server, Java "
        f"included, had {memory:,.0f} MiB resident."
    )


def main() -> None:
    """Measure and write the result."""
    wanted = sys.argv[1:] or PARTS
    told = []
    for name in wanted:
        part = globals()[name]
        body = uvloop.run(part())
        print(f"{name}\n{body}\n", flush=True)
        title = (part.__doc__ or name).rstrip(".")
        told.append(f"## {title}\n\n{body}\n")
    if list(wanted) == list(PARTS):
        head = f"Everything on the loopback of one machine, the client included; {load()}.\n\n"
        write_result("serve", "Serving", "python benchmarks/serve.py", head + "\n".join(told))


if __name__ == "__main__":
    main()
