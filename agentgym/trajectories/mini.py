"""AgentTraj-mini: the expert's trajectory of every mini train task.

It is built, not downloaded: the tasks, the experts and the seeds are in the package, so the same
version gives the same episodes on any machine, and what is kept in the repository is not the data
but its digests (`data/agenttraj_mini.json`). `python -m agentgym.trajectories.mini OUT` builds it
and compares; `--write-digests` records the digests after a deliberate change of tasks or texts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import resources
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from agentgym.core import AgentGymError, TaskSet, cards, make, portable_id, short_name
from agentgym.core.text import parse_json
from agentgym.rollout.store import write_atomic
from agentgym.trajectories.collect import describe_left_out, gather
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.files import find_format_of
from agentgym.trajectories.published import describe_errors
from agentgym.trajectories.schema import About, InvalidTrajectories
from agentgym.trajectories.store import read, write

NAME = "AgentTraj-mini"
DIGESTS = "agenttraj_mini.json"
LICENCE = "Apache-2.0; texts of third-party engines under their own licences, see NOTICE"


class MiniEntry(BaseModel):
    """One environment's part of AgentTraj-mini.

    Attributes:
        edition: edition of the tasks.
        version: version of the task set.
        tasks: digest of the task set.
        train: number of train tasks.
        episodes: number of trajectories; fewer than `train` where the expert failed.
        rounds: rounds of all trajectories together.
        digest: digest of the trajectories.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    edition: str
    version: str
    tasks: str
    train: int
    episodes: int
    rounds: int
    digest: str


class MiniBuilt(NamedTuple):
    """An environment that was built.

    Attributes:
        env_id: Gymnasium id.
        path: the file.
        entry: what identifies it.
        shortfall: what the expert did not solve, one line, or "".
    """

    env_id: str
    path: Path
    entry: MiniEntry
    shortfall: str = ""


Progress = Callable[[MiniBuilt], None]


def build_mini(
    out: str | os.PathLike[str],
    envs: Sequence[str] | None = None,
    progress: Progress | None = None,
    *,
    suffix: str = ".jsonl.gz",
    processes: int = 1,
) -> list[MiniBuilt]:
    """Build AgentTraj-mini, one file an environment.

    Args:
        out: the folder to write to.
        envs: ids or short names; None takes every installed environment that is built in.
        progress: called as each environment is done, in order.
        suffix: format of the files.
        processes: how many environments are built at a time, each in a process of its own. The
            result does not depend on it.

    Returns:
        What was built, in the order of `envs`.

    Raises:
        UnknownEnvironment: if an environment is not registered.
        MissingExtra: if an environment that was named is not installed.
    """
    folder = Path(out)
    find_format_of(Path(f"x{suffix}"))
    ids = [portable_id(name) for name in envs] if envs is not None else installed_ids()
    built: list[MiniBuilt] = []

    def take(results: Any) -> None:
        for result in results:
            built.append(result)
            if progress is not None:
                progress(result)

    places = [folder / f"{short_name(env_id).lower()}{suffix}" for env_id in ids]
    if processes > 1:
        # Spawned, not forked: a JVM or a tokenizer's threads do not survive a fork.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            take(pool.map(_build_one, ids, places))
    else:
        take(map(_build_one, ids, places))
    return built


def installed_ids() -> list[str]:
    """Return the ids of the built-in environments that are installed, in registry order."""
    return [card.id for card in cards() if card.installed]


def digests_of(built: Sequence[MiniBuilt]) -> dict[str, MiniEntry]:
    """Return the digests of what was built, by environment."""
    return {result.env_id: result.entry for result in built}


def expected_digests(path: str | os.PathLike[str] | None = None) -> dict[str, MiniEntry]:
    """Return the digests AgentTraj-mini must have, by environment.

    Args:
        path: a digests file; None takes the one in the package.

    Raises:
        InvalidTrajectories: if the file is missing or malformed.
    """
    source = Path(path) if path is not None else Path(str(_package_file()))
    try:
        data = parse_json(source.read_text(encoding="utf-8"))
        return {key: MiniEntry.model_validate(value) for key, value in data["envs"].items()}
    except FileNotFoundError as error:
        raise InvalidTrajectories(
            f"there are no digests at {source}; make them with "
            "python -m agentgym.trajectories.mini OUT --write-digests"
        ) from error
    except ValidationError as error:
        raise InvalidTrajectories(f"{source}: {describe_errors(error)}") from error
    except (ValueError, KeyError, AttributeError) as error:
        raise InvalidTrajectories(f"{source} is no digests file: {error!r}") from error


def write_digests(built: Sequence[MiniBuilt], path: str | os.PathLike[str] | None = None) -> Path:
    """Record the digests of what was built; those of other environments in the file stay.

    Args:
        built: from `build_mini`.
        path: the file; None takes the one in the package.
    """
    target = Path(path) if path is not None else Path(str(_package_file()))
    entries = expected_digests(target) if target.exists() else {}
    entries |= digests_of(built)
    order = [card.id for card in cards()]
    rank = {env_id: i for i, env_id in enumerate(order)}
    data = {
        "name": NAME,
        "made_by": "python -m agentgym.trajectories.mini OUT --write-digests",
        "envs": {
            env_id: entries[env_id].model_dump()
            for env_id in sorted(entries, key=lambda e: (rank.get(e, len(rank)), e))
        },
    }
    return write_atomic(target, json.dumps(data, indent=2) + "\n")


def compare(found: dict[str, MiniEntry], expected: dict[str, MiniEntry]) -> list[str]:
    """Return what differs, one sentence an environment; empty where all is as it must be."""
    problems = []
    for env_id, entry in found.items():
        wanted = expected.get(env_id)
        if wanted is None:
            problems.append(f"{env_id}: no digest is recorded for it")
        elif entry != wanted:
            problems.append(f"{env_id}: {_difference(entry, wanted)}")
    return problems


def verify_mini(
    folder: str | os.PathLike[str], expected: dict[str, MiniEntry] | None = None
) -> list[str]:
    """Compare the files of a built AgentTraj-mini with the recorded digests.

    Args:
        folder: what `build_mini` wrote.
        expected: the digests; None takes those in the package.

    Returns:
        What differs, one sentence an environment; empty where all is as it must be.

    Raises:
        InvalidTrajectories: if the folder holds no trajectories, or a file is damaged.
    """
    wanted = expected if expected is not None else expected_digests()
    files = sorted(
        path for path in Path(folder).glob("*") if not path.name.endswith((".card.json",))
    )
    found: dict[str, MiniEntry] = {}
    for path in files:
        if path.is_dir() or path.name.startswith("."):
            continue
        dataset = read(path)
        if not dataset:
            continue
        env_id = dataset[0].env_id
        known = wanted.get(env_id)
        found[env_id] = MiniEntry(
            edition=dataset[0].edition,
            version=known.version if known else "",
            tasks=dataset[0].tasks_digest,
            train=known.train if known else len(dataset),
            episodes=len(dataset),
            rounds=sum(episode.rounds for episode in dataset),
            digest=dataset.digest,
        )
    if not found:
        raise InvalidTrajectories(f"{folder} holds no trajectories; build them there first")
    return compare(found, wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, compare and, when asked to, record the digests; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agentgym.trajectories.mini", description="Build AgentTraj-mini."
    )
    parser.add_argument("out", help="folder to write to")
    parser.add_argument("--env", action="append", help="only this environment (repeatable)")
    parser.add_argument("--suffix", default=".jsonl.gz", help="format (default: .jsonl.gz)")
    parser.add_argument("--processes", type=int, default=1, help="environments at a time")
    parser.add_argument(
        "--write-digests", action="store_true", help="record the digests in the package"
    )
    chosen = parser.parse_args(arguments)
    say = sys.stdout.write

    def progress(result: MiniBuilt) -> None:
        entry = result.entry
        say(f"{result.env_id}: {entry.episodes}/{entry.train} trajectories, {result.path}\n")
        if result.shortfall:
            say(f"  {result.shortfall}\n")
        sys.stdout.flush()

    try:
        expected = {} if chosen.write_digests else expected_digests()
        built = build_mini(
            chosen.out, chosen.env, progress, suffix=chosen.suffix, processes=chosen.processes
        )
        if chosen.write_digests:
            say(f"digests: {write_digests(built)}\n")
            return 0
        problems = compare(digests_of(built), expected)
    except AgentGymError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for problem in problems:
        say(f"differs: {problem}\n")
    if not problems:
        say("every digest is as recorded\n")
    return 1 if problems else 0


def _build_one(env_id: str, path: Path) -> MiniBuilt:
    tasks = _tasks(env_id)
    about = About(
        name=f"{NAME} {short_name(env_id).lower()}",
        description=f"The expert's trajectory of every mini train task of {env_id}.",
        licence=LICENCE,
        source="python -m agentgym.trajectories.mini",
    )
    kept, left_out = gather(env_id, "expert", split="train", edition="mini", about=about)
    # A duration is the machine's, not the episode's: without it the files are the same everywhere.
    kept = TrajectoryDataset((e.model_copy(update={"duration": 0.0}) for e in kept), about)
    write(kept, path)
    entry = MiniEntry(
        edition=tasks.edition,
        version=tasks.version,
        tasks=tasks.digest,
        train=len(tasks.split("train")),
        episodes=len(kept),
        rounds=sum(episode.rounds for episode in kept),
        digest=kept.digest,
    )
    shortfall = describe_left_out(left_out, entry.train) if left_out else ""
    return MiniBuilt(env_id, path, entry, shortfall)


def _tasks(env_id: str) -> TaskSet:
    env = make(env_id, edition="mini")
    try:
        return env.tasks
    finally:
        env.close()


def _difference(found: MiniEntry, wanted: MiniEntry) -> str:
    if found.tasks != wanted.tasks:
        return (
            f"its tasks are others (version {found.version}, {found.tasks[:12]}; recorded "
            f"{wanted.version}, {wanted.tasks[:12]})"
        )
    if found.episodes != wanted.episodes:
        return f"{found.episodes} trajectories, recorded {wanted.episodes}"
    if found.rounds != wanted.rounds:
        return f"the same tasks, but {found.rounds} rounds, recorded {wanted.rounds}"
    if found.digest != wanted.digest:
        return (
            f"the same tasks and number of rounds, but another text or action (digest "
            f"{found.digest[:12]}, recorded {wanted.digest[:12]})"
        )
    return f"{found} is recorded as {wanted}"


def _package_file() -> Any:
    return resources.files("agentgym.trajectories") / "data" / DIGESTS


if __name__ == "__main__":
    sys.exit(main())
