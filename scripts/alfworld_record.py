"""Record games on the original ALFWorld, and hold our engine against the recording.

    python scripts/alfworld_record.py record [--mini 258] [--odd 48] [--work FILE]
    python scripts/alfworld_record.py pack [--work FILE]
    python scripts/alfworld_record.py time [--times FILE]
    python scripts/alfworld_record.py report [--times FILE]

`record` needs the original (`pip install 'agentgym[alfworld-original]'`). It plays games of our
generator, all six types in equal numbers, and odd games (`alfworld_odd.py`), and appends a line a
game to the work file; stopped and run again, it goes on where it was. A game is driven by our
expert, by random admissible actions, or by both, with actions mixed in that cannot be done. `pack`
compresses the lines into the file that the tests read. `time` plays a sample of the recorded games
on the original once more, and writes the processor time that takes to the times file. `report`
plays the recording on our engine, compares every answer in full, and writes
benchmarks/results/alfworld_differential.md.

A line is a JSON object: the problem's PDDL, its task, the vocabulary, the opening with its
admissible actions, and for each step the action, the text, the actions that went and came, won and
done.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentgym.envs.alfworld import words as say
from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.problem import Problem
from agentgym.envs.alfworld.words import MOVE, PUT, Words
from agentgym.envs.alfworld.world import World

ROOT = Path(__file__).parents[1]
RECORDING = ROOT / "tests" / "envs" / "data" / "alfworld_original.jsonl.xz"
REPORT = ROOT / "benchmarks" / "results" / "alfworld_differential.md"
VOCABULARIES: dict[str, Words] = {"move": MOVE, "put": PUT}
DRIVERS = ("expert", "random", "both")
EACH = 17
"""Every so-manyth game of the recording is timed."""
LONGEST = 32
"""Steps a game is played for at most; the original limits an episode to 50."""
NONSENSE = (
    *("", "dance", "go to", "go to kitchen 1", "take", "LOOK", "look around", "help me", "use"),
    *("öffne den kühlschrank", "open\nfridge 1", "examine", "put it down", "x" * 300),
)

Game = dict[str, Any]


# What our engine says.


class Ours:
    """A game on our engine, answering as the original does.

    Args:
        problem: the game.
        vocabulary: "move" or "put".
    """

    def __init__(self, problem: Problem, vocabulary: str) -> None:
        self._problem = problem
        self.engine = Engine(World(problem, VOCABULARIES[vocabulary]))

    def reset(self) -> tuple[str, list[str], bool, bool]:
        """Return the opening: text, admissible actions, won, done."""
        text = say.opening(self.engine.opening(), say.task_line(self._problem.task))
        return text, self.engine.actions, self.engine.won, False

    def play(self, action: str) -> tuple[str, list[str], bool, bool]:
        """Do an action."""
        text = self.engine.play(action.strip())
        won = self.engine.won
        return text if text is not None else say.NOTHING_HAPPENS, self.engine.actions, won, won


def differences(game: Game) -> Iterator[str]:
    """Play a recorded game on our engine and yield every way in which an answer is different."""
    ours = Ours(Problem.from_pddl(game["pddl"], game["task"]), game["words"])
    actions = list(game["actions"])
    expected = (game["opening"], actions, game["won"], False)
    yield from _apart("the opening", expected, ours.reset())
    for i, (action, text, gone, come, won, done) in enumerate(game["steps"]):
        actions = sorted({*actions} - {*gone} | {*come})
        expected = (text, actions, bool(won), bool(done))
        yield from _apart(f"step {i + 1} ({action!r:.60})", expected, ours.play(action))


def _apart(where: str, theirs: tuple[Any, ...], ours: tuple[Any, ...]) -> Iterator[str]:
    for name, their, our in zip(("text", "actions", "won", "done"), theirs, ours, strict=True):
        if their != our:
            yield f"{where}: {name} is {our!r}, and {their!r} in the original"


def recorded() -> Iterator[Game]:
    """Yield the recorded games."""
    with lzma.open(RECORDING, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# Recording.


def record(work: Path, mini: int, odd: int) -> None:
    """Play the games that the work file has not, and append them to it."""
    done = len(work.read_text().splitlines()) if work.exists() else 0
    with work.open("a") as lines:
        for number in range(done, mini + odd):
            begun = time.perf_counter()
            game = _game(number, mini)
            lines.write(json.dumps(game, separators=(",", ":")) + "\n")
            lines.flush()
            wrong = sum(1 for _ in differences(game))
            print(
                f"game {number}: {game['source']}, {len(game['steps'])} steps, "
                f"{time.perf_counter() - begun:.1f} s, {wrong} differences",
                flush=True,
            )


def _game(number: int, mini: int) -> Game:
    odd = number >= mini
    number -= mini if odd else 0
    rng = random.Random(f"alfworld original {number}")
    vocabulary = ("move", "put")[number // 6 % 2]
    if not odd:
        source, problem = _mini(number, rng)
        return _play(problem, vocabulary, DRIVERS[number // 12 % 3], source, rng)
    from alfworld_odd import odd_game

    while True:
        try:
            return _play(odd_game(rng), vocabulary, "random", "odd", rng)
        except KeyError:  # the original cannot load a game whose goal is out of reach
            continue


def _mini(number: int, rng: random.Random) -> tuple[str, Problem]:
    from agentgym.envs.alfworld.goals import KINDS
    from agentgym.envs.alfworld.homes import problem_of
    from agentgym.envs.alfworld.tasks import mini_tasks

    kind = KINDS[number % len(KINDS)]
    task = rng.choice([task for task in mini_tasks() if task.kind == kind])
    return task.id, problem_of(task.spec)


def _play(problem: Problem, vocabulary: str, driver: str, source: str, rng: random.Random) -> Game:
    """Play a game on the original, our engine beside it for the expert to read."""
    from agentgym.envs.alfworld.expert import expert_of
    from agentgym.envs.alfworld.original import Original

    ours = Ours(problem, vocabulary)
    original = Original(problem, VOCABULARIES[vocabulary])
    text, actions, won, _ = original.reset()
    expert = expert_of(problem, ours.engine)
    game: Game = {"source": source, "driver": driver, "words": vocabulary, "task": problem.task}
    game |= {"pddl": problem.to_pddl(), "opening": text, "actions": actions, "won": won}
    steps: list[list[Any]] = []
    longest = LONGEST if driver != "random" else LONGEST * 3 // 4
    while len(steps) < longest and not (steps and steps[-1][-1] and driver != "random"):
        action = _choose(driver, expert, actions, ours.engine, rng)
        text, now, won, done = original.play(action)
        ours.play(action)
        gone, come = sorted({*actions} - {*now}), sorted({*now} - {*actions})
        steps.append([action, text, gone, come, int(won), int(done)])
        actions = now
    return game | {"steps": steps}


def _choose(
    driver: str, expert: Any, actions: list[str], engine: Engine, rng: random.Random
) -> str:
    chance = rng.random()
    if chance < 0.12:
        return _impossible(actions, engine, rng)
    if driver == "expert" or (driver == "both" and chance < 0.65):
        return str(expert.act("", {})[1])
    verbs = sorted({action.split()[0] for action in actions} - {"help", "look", "inventory"})
    verb = rng.choice(verbs) if rng.random() < 0.9 else rng.choice(("help", "look", "inventory"))
    return rng.choice([a for a in actions if a.split()[0] == verb] or actions)


def _impossible(actions: list[str], engine: Engine, rng: random.Random) -> str:
    """Return an action that cannot be done, most times one that looks as if it could."""
    world = engine.world
    place, item = rng.choice(world.places), rng.choice(list(world.items.values()))
    guesses = (
        f"go to {place.name}", f"open {place.name}", f"close {place.name}", f"use {item.name}",
        f"examine {item.name}", f"take {item.name} from {place.name}",
        f"put {item.name} in/on {place.name}", f"move {item.name} to {place.name}",
        f"heat {item.name} with {place.name}", f"slice {item.name} with {item.name}",
        f"  {rng.choice(actions)} ", rng.choice(actions).upper(), rng.choice(actions) + ".",
        rng.choice(NONSENSE),
    )  # fmt: skip
    return rng.choice(guesses)


def pack(work: Path) -> None:
    """Compress the work file into the recording."""
    RECORDING.parent.mkdir(parents=True, exist_ok=True)
    options = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]
    with lzma.open(RECORDING, "wb", filters=options) as packed:
        packed.write(work.read_bytes())
    print(f"{RECORDING}: {RECORDING.stat().st_size} bytes")


# The report.


def time_original(file: Path) -> None:
    """Play every `EACH`-th recorded game on the original, and write how long that takes."""
    from agentgym.envs.alfworld.original import Original

    begin = play = 0.0
    sample = list(recorded())[::EACH]
    for game in sample:
        problem = Problem.from_pddl(game["pddl"], game["task"])
        begun = time.process_time()
        original = Original(problem, VOCABULARIES[game["words"]])
        original.reset()
        middle = time.process_time()
        for step in game["steps"]:
            assert original.play(step[0]).text == step[1], step[0]
        begin, play = begin + middle - begun, play + time.process_time() - middle
    steps = sum(len(game["steps"]) for game in sample)
    times = {"games": len(sample), "steps": steps, "begin": begin, "play": play}
    file.write_text(json.dumps(times))
    print(times)


def report(times: Path) -> None:
    """Compare the whole recording and write what came of it."""
    counts: dict[str, Counter[str]] = {}
    found: list[str] = []
    for game in recorded():
        row = counts.setdefault(_kind_of(game), Counter())
        row.update(games=1, steps=len(game["steps"]), won=any(step[4] for step in game["steps"]))
        row["impossible"] += sum(step[1] == say.NOTHING_HAPPENS for step in game["steps"])
        wrong = list(differences(game))
        row["differences"] += len(wrong)
        found += [f"{game['source']}: {line}" for line in wrong]
    speed = _speed(json.loads(times.read_text())) if times.exists() else []
    REPORT.write_text(_text(counts, found, speed), encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


def _kind_of(game: Game) -> str:
    if game["source"] == "odd":
        return "odd games"
    from agentgym.envs.alfworld.goals import KINDS, TEMPLATES

    for kind in reversed(KINDS):
        for template in TEMPLATES[kind]:
            first, _, rest = template.partition("{obj}")
            if game["task"].startswith(first) and rest.partition("{recep}")[0] in game["task"]:
                return kind
    raise ValueError(f"the task {game['task']!r} is of no known type")


def _speed(theirs: dict[str, float]) -> list[str]:
    """Return the lines that compare the times of the sample."""
    begin, play, sample = 0.0, 0.0, list(recorded())[::EACH]
    for game in sample * 10:
        begun = time.process_time()
        ours = Ours(Problem.from_pddl(game["pddl"], game["task"]), game["words"])
        ours.reset()
        middle = time.process_time()
        for step in game["steps"]:
            ours.play(step[0])
        begin, play = begin + middle - begun, play + time.process_time() - middle
    games, steps = theirs["games"], theirs["steps"]
    step_theirs, step_ours = theirs["play"] / steps, play / 10 / steps
    begin_theirs, begin_ours = theirs["begin"] / games, begin / 10 / games
    return [
        f"| processor time, {games:.0f} games, {steps:.0f} steps | original | ours | ratio |",
        "|---|---:|---:|---:|",
        f"| a step | {step_theirs * 1e3:.0f} ms | {step_ours * 1e6:.0f} µs "
        f"| {step_theirs / step_ours:,.0f} |",
        f"| loading a game from its PDDL and beginning it | {begin_theirs:.2f} s "
        f"| {begin_ours * 1e3:.1f} ms | {begin_theirs / begin_ours:,.0f} |",
        "",
        "Both without an environment around the engine, and both with the list of admissible "
        "actions at",
        "every step. See `alfworld.md` for the speed of the environment.",
        "",
    ]


def _text(counts: dict[str, Counter[str]], found: list[str], speed: list[str]) -> str:
    total = sum(counts.values(), Counter[str]())
    rows = [
        f"| {kind} | {row['games']} | {row['won']} | {row['steps']} | {row['impossible']} "
        f"| {row['differences']} |"
        for kind, row in [*sorted(counts.items()), ("**all**", total)]
    ]
    return "\n".join(
        [
            "# ALFWorld: our engine against the original",
            "",
            "Made by `python scripts/alfworld_record.py report` from the recording in",
            "`tests/envs/data/`, which `python scripts/alfworld_record.py record` made on alfworld",
            "0.4.2 and textworld 1.7.0. Compared at every step, in full: the observation's text, "
            "the",
            "admissible actions, won, done. Half the games are in each vocabulary.",
            "",
            "| games | number | won | steps | of them impossible actions | differences |",
            "|---|---:|---:|---:|---:|---:|",
            *rows,
            "",
            *(["Every answer is the same.", ""] if not found else [*found[:50], ""]),
            *speed,
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("record", "pack", "time", "report"))
    parser.add_argument("--mini", type=int, default=258, help="games of our generator")
    parser.add_argument("--odd", type=int, default=48, help="odd games")
    parser.add_argument("--work", type=Path, default=Path("alfworld_original.jsonl"))
    parser.add_argument("--times", type=Path, default=Path("alfworld_times.json"))
    given = parser.parse_args()
    if given.what == "record":
        record(given.work, given.mini, given.odd)
    elif given.what == "pack":
        pack(given.work)
    elif given.what == "time":
        time_original(given.times)
    else:
        report(given.times)


if __name__ == "__main__":
    main()
