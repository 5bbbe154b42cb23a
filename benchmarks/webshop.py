"""How fast WebShop steps, and what a million products take: time to build, to open, to search.

Two parts. The engines: tantivy and bm25s index the same texts and answer the same queries, each in
processes of its own, on the mini catalogue and on a generated one of a million products; from these
figures the engine was chosen. The environment: steps of mini episodes in one process, and the
million products as a warehouse (products, codes and index on disk), opened in a fresh process.

    python -m benchmarks.webshop --write

takes half an hour and three gigabytes of disk; --products makes it smaller. bm25s is not a
dependency: pip install bm25s.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import load, machine

QUERIES = 400
REPEATS = 5


def main() -> None:
    """Measure and write the result page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--products", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where to build; a temporary folder otherwise")
    parser.add_argument("--skip-bm25s", action="store_true", help="leave the comparison out")
    parser.add_argument("--write", action="store_true", help="write the page into results/")
    parser.add_argument(
        "--part", nargs=3, metavar=("WHAT", "SIZE", "FOLDER"), help=argparse.SUPPRESS
    )
    args = parser.parse_args()
    if args.part:
        what, size, folder = args.part
        print(json.dumps(PARTS[what](int(size), Path(folder))))
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as root:
        page = report(args.products, Path(root), not args.skip_bm25s)
    print(page)
    if args.write:
        path = Path(__file__).parent / "results" / "webshop.md"
        path.write_text(page, encoding="utf-8")


def report(size: int, root: Path, compare: bool) -> str:
    """Return the result page."""
    mini = len(mini_texts())
    folder = root / "warehouse"
    folder.mkdir()
    built = ask("build_warehouse", size, folder)
    found = ask("query_warehouse", size, folder)
    rows = []
    for engine in ("tantivy", "bm25s") if compare else ("tantivy",):
        for count in (mini, size):
            folder = root / f"{engine}-{count}"
            folder.mkdir()
            rows.append((engine, count, ask(f"build_{engine}", count, folder), folder))
    measured = [(e, n, made, ask(f"query_{e}", n, f)) for e, n, made, f in rows]
    steps = [ask("steps", 0, root) for _ in range(REPEATS)]
    lines = [
        "# WebShop: speed and reach",
        "",
        f"Command: `python -m benchmarks.webshop --write`. Machine: {machine()}, {load()}.",
        "",
        "## Steps",
        "",
        "| episodes of the mini edition, one process | steps/s (median) | steps/s (best) |",
        "|---|---:|---:|",
        *(step_row(name, [s[name] for s in steps]) for name in steps[0]),
        "",
        "Resets included. A first search of a query is in these figures, one repeated is not "
        "searched again (4,096 are remembered).",
        "",
        f"## {size:,} generated products",
        "",
        "| | measured | claimed |",
        "|---|---:|---:|",
        f"| build, streaming | {built['seconds'] - built['writing']:.0f} s, {built['mib']:.0f} MiB "
        "at most | |",
        f"| (writing the products, beside it) | {built['writing']:.0f} s | |",
        f"| on disk | {built['disk']:.0f} MiB | |",
        f"| open, in a fresh process | {found['open']:.3f} s | 2 s |",
        f"| search and the ten products of a page, median | {found['median']:.1f} ms | 20 ms |",
        f"| the same, 95th percentile | {found['p95']:.1f} ms | |",
        f"| memory of that process at most | {found['mib']:.0f} MiB | 1,024 MiB |",
        "",
        f"{QUERIES} different queries of 3 to 8 words, none of them remembered. Searches are in "
        "processor time, building and opening by the clock.",
        "",
        "## The engines",
        "",
        "| engine | products | build | memory while building | open | median query "
        "| 95th percentile | memory while searching | disk |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(engine_row(*row) for row in measured),
        "",
        "The texts are read from the warehouse. Memory is the largest resident set of the process, "
        "what is mapped included. bm25s was "
        "given the texts as a list, as it wants them, and opened with mmap=True.",
        "",
    ]
    return "\n".join(lines)


def step_row(name: str, rates: list[float]) -> str:
    """Return one line of the table of steps."""
    return f"| {name} | {statistics.median(rates):,.0f} | {max(rates):,.0f} |"


def engine_row(engine: str, size: int, built: dict[str, float], found: dict[str, float]) -> str:
    """Return one line of the table of engines."""
    return (
        f"| {engine} | {size:,} | {built['seconds']:.1f} s | {built['mib']:.0f} MiB "
        f"| {found['open']:.3f} s | {found['median']:.2f} ms | {found['p95']:.2f} ms "
        f"| {found['mib']:.0f} MiB | {built['disk']:.0f} MiB |"
    )


def ask(what: str, size: int, folder: Path) -> dict[str, float]:
    """Measure one thing in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.webshop", "--part", what, str(size), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{what} with {size} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


# What is measured, each in a process of its own.


def mini_texts() -> list[str]:
    """Return the texts of the mini catalogue."""
    from agentgym.envs.webshop.editions import mini_stock

    stock = mini_stock()
    return [stock.product(place).searchable for place in range(len(stock))]


def texts(size: int, folder: Path) -> Iterator[str]:
    """Yield the texts of that many products: the mini catalogue's, or those in the warehouse."""
    from agentgym.envs.webshop.warehouse import Warehouse

    mini = mini_texts()
    if size == len(mini):
        yield from mini
        return
    stock = Warehouse(folder.parent / "warehouse")
    for place in range(size):
        yield stock.product(place).searchable


def queries(size: int, folder: Path) -> list[str]:
    """Return queries as people write them: words of texts, none twice."""
    import random
    from itertools import islice

    draw = random.Random(7)
    sample = []
    looked_at = min(size, 20_000)
    for i, text in enumerate(islice(texts(size, folder), looked_at)):
        if i % max(1, looked_at // QUERIES) == 0:
            words = text.replace(",", " ").split()[:14]
            sample.append(" ".join(draw.sample(words, min(len(words), draw.randint(3, 8)))))
    return list(dict.fromkeys(sample))[:QUERIES]


def build_tantivy(size: int, folder: Path) -> dict[str, float]:
    """Index with tantivy."""
    from agentgym.envs.webshop.search import write_index

    begin = time.perf_counter()
    write_index(texts(size, folder), folder)
    return built(begin, folder)


def query_tantivy(size: int, folder: Path) -> dict[str, float]:
    """Open and query tantivy's index."""
    from agentgym.envs.webshop.search import Search, open_index

    asked = queries(size, folder)
    begin = time.perf_counter()
    search = Search(open_index(folder))
    search.find("a first search")
    return timed(time.perf_counter() - begin, asked, search.find)


def build_bm25s(size: int, folder: Path) -> dict[str, float]:
    """Index with bm25s."""
    import bm25s

    begin = time.perf_counter()
    tokens = bm25s.tokenize(list(texts(size, folder)), stopwords="en", show_progress=False)
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(tokens, show_progress=False)
    index.save(str(folder))
    return built(begin, folder)


def query_bm25s(size: int, folder: Path) -> dict[str, float]:
    """Open and query bm25s's index."""
    import bm25s

    asked = queries(size, folder)
    begin = time.perf_counter()
    index = bm25s.BM25.load(str(folder), mmap=True, load_corpus=False)

    def find(words: str) -> Any:
        tokens = bm25s.tokenize([words], stopwords="en", show_progress=False, return_ids=False)
        return index.retrieve(tokens, k=50, show_progress=False)

    find("a first search")
    return timed(time.perf_counter() - begin, asked, find)


def build_warehouse(size: int, folder: Path) -> dict[str, float]:
    """Store products, codes and index."""
    from agentgym.envs.webshop.catalogue import generate_products
    from agentgym.envs.webshop.warehouse import write_warehouse

    writing = 0.0

    def products() -> Iterator[Any]:
        nonlocal writing
        source = generate_products(size)
        while True:
            begin = time.perf_counter()
            product = next(source, None)
            writing += time.perf_counter() - begin
            if product is None:
                return
            yield product

    begin = time.perf_counter()
    write_warehouse(products(), folder)
    return {**built(begin, folder), "writing": writing}


def query_warehouse(size: int, folder: Path) -> dict[str, float]:
    """Open the warehouse; search, and read the products of the first page."""
    from agentgym.envs.webshop.warehouse import Warehouse

    asked = queries(size, folder)
    begin = time.perf_counter()
    stock = Warehouse(folder)
    stock.find("a first search")
    opened = time.perf_counter() - begin

    def page(words: str) -> None:
        for place in stock.find(words)[:10]:
            stock.product(place)

    return timed(opened, asked, page)


def steps(size: int, folder: Path) -> dict[str, float]:
    """Play mini episodes: the expert's moves, and random ones, prepared beforehand."""
    import gymnasium
    import numpy as np

    import agentgym  # noqa: F401  registers the environments

    rates = {}
    for name in ("the expert's moves", "random moves"):
        env = gymnasium.make("agentgym/WebShop-v0")
        script = [(t.id, moves(env, t.id, name)) for t in env.unwrapped.tasks.split("eval")]  # type: ignore[attr-defined]
        fresh = gymnasium.make("agentgym/WebShop-v0")
        fresh.unwrapped.stock._remembered.cache_clear()  # type: ignore[attr-defined]
        clock, count = time.process_time(), 0
        for task_id, actions in script:
            fresh.reset(seed=0, options={"task_id": task_id})
            for action in actions:
                fresh.step(action)
            count += len(actions)
        rates[name] = count / (time.process_time() - clock)
    del np
    return rates


def moves(env: Any, task_id: str, name: str) -> list[str]:
    """Return the actions of one episode."""
    import numpy as np

    observation, info = env.reset(seed=0, options={"task_id": task_id})
    expert, rng = env.unwrapped.expert(), np.random.default_rng(0)
    actions, ended = [], False
    while not ended:
        if name == "random moves":
            actions.append(env.unwrapped.sample_action(rng))
        else:
            actions.append(expert.act(observation, info)[1])
        observation, _, terminated, truncated, info = env.step(actions[-1])
        ended = terminated or truncated
    return actions


def built(begin: float, folder: Path) -> dict[str, float]:
    """Return what building took."""
    seconds = time.perf_counter() - begin
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {"seconds": seconds, "mib": peak(), "disk": disk / 2**20}


def timed(opened: float, asked: list[str], find: Any) -> dict[str, float]:
    """Ask every query once and return what it took, in processor time: others may be at work."""
    times = []
    for words in asked:
        begin = time.process_time()
        find(words)
        times.append(1e3 * (time.process_time() - begin))
    cuts = statistics.quantiles(times, n=20)
    return {"open": opened, "median": statistics.median(times), "p95": cuts[-1], "mib": peak()}


def peak() -> float:
    """Return the largest resident set of this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


PARTS = {
    name: globals()[name]
    for name in (
        "build_tantivy", "query_tantivy", "build_bm25s", "query_bm25s",
        "build_warehouse", "query_warehouse", "steps",
    )
}  # fmt: skip

if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
