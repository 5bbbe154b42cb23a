"""The mazes that are played, in their frozen order.

- official: AgentGym's 25 games in the double T maze are the eval split, under their published
  numbers. Nothing else was published for training (its 215 trajectories walk the same 25 starts);
  the train split here is the starts of the other published layouts.
- mini: 1,200 generated mazes, four styles in five sizes. They are kept as they were generated, in
  `data/mini.txt`, so that a task never depends on the generator again;
  `python -m agentgym.envs.maze.tasks` writes that file.
- of your own size: `generated_tasks(size, style)`, what `MazeEnv(size=..., style=...)` plays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.core import TaskSet
from agentgym.core.errors import InvalidConfig, UnknownName
from agentgym.envs.maze.generate import STYLES, generate, generated
from agentgym.envs.maze.grid import Cell, Grid, parse
from agentgym.envs.maze.layouts import DOUBLE_T_STARTS, LAYOUTS

Row = tuple[str, str, Mapping[str, Any]]

NAME = "maze"
MINI_FILE = Path(__file__).parent / "data" / "mini.txt"
MINI_SIZES = ((7, 7), (9, 9), (11, 13), (15, 15), (21, 21))
MINI_TRAIN, MINI_EVAL = 50, 10
"""Tasks by style and size."""
MINI_LONGEST = 33
"""The longest shortest way in the mini edition: half as many moves again fit into its rounds."""

OFFICIAL_MOVES = 50
"""After this many moves the published maze answers the next with "Failure"."""
OFFICIAL_TRAIN_LONGEST = 12
"""As far as the farthest of the 25 published starts is from its goal."""

OWN_TRAIN, OWN_EVAL = 200, 40
LARGEST = 201


def mini_tasks() -> TaskSet:
    """Return the mini edition, as it lies in `data/mini.txt`."""
    rows: list[Row] = []
    for line in MINI_FILE.read_text("ascii").splitlines():
        if not line.startswith("#!"):
            split, kind, start, goal, text = line.split(" ")
            rows.append((split, kind, _spec(text, _cell(start), _cell(goal))))
    note = (
        "Generated mazes in four styles (winding, even, loops, rooms) and five sizes; "
        f"the shortest way is never longer than {MINI_LONGEST} moves."
    )
    return TaskSet.build(NAME, "mini", "1", rows, note)


def official_tasks() -> TaskSet:
    """Return the published mazes: the 25 games of AgentGym first, so that their numbers hold."""
    rows: list[Row] = [
        ("eval", "double_t", _official("double_t", start)) for start in DOUBLE_T_STARTS
    ]
    for name, layout in LAYOUTS.items():
        if name != "double_t":
            ways = Grid(layout.rows).distances(layout.goal)
            starts = sorted(c for c, n in ways.items() if 0 < n <= OFFICIAL_TRAIN_LONGEST)
            rows.extend(("train", name, _official(name, start)) for start in starts)
    note = (
        "eval: AgentGym's 25 games (double T maze, goal 8, 6), game i is maze_i; its 26th entry is "
        "the goal itself and cannot be played. train: the other layouts of LMRL-Gym and of "
        f"AgentGym's server, every start at most {OFFICIAL_TRAIN_LONGEST} moves from the goal; no "
        "train split was published (the 215 published trajectories walk the 25 eval starts). The "
        "goals of 'medium' and 'large' are ours."
    )
    return TaskSet.build(NAME, "official", "1", rows, note)


@lru_cache(maxsize=64)
def generated_tasks(size: tuple[int, int], style: str) -> TaskSet:
    """Return tasks in generated mazes of one size and style.

    Raises:
        InvalidConfig: if the size is not two odd numbers from 5 to 201.
        UnknownName: if there is no such style.
    """
    if style not in STYLES:
        raise UnknownName("maze style", style, STYLES)
    if len(size) != 2 or any(
        type(n) is not int or n % 2 == 0 or not 5 <= n <= LARGEST for n in size
    ):
        raise InvalidConfig(
            f"size must be (rows, columns), two odd numbers from 5 to {LARGEST}, got {size!r}"
        )
    kind = f"{style}-{size[0]}x{size[1]}"
    rows: list[Row] = [
        (
            "train" if seed < OWN_TRAIN else "eval",
            kind,
            {"size": list(size), "style": style, "seed": seed},
        )
        for seed in range(OWN_TRAIN + OWN_EVAL)
    ]
    return TaskSet.build(NAME, "mini", f"1-{kind}", rows, "Generated to your options.")


def puzzle_of(spec: Mapping[str, Any]) -> tuple[Grid, Cell, Cell]:
    """Return the maze, the start and the goal of a task."""
    if "grid" in spec:
        return parse(spec["grid"]), tuple(spec["start"]), tuple(spec["goal"])
    rows, columns = spec["size"]
    return generated((rows, columns), spec["style"], spec["seed"])[:3]


def shortest(spec: Mapping[str, Any]) -> int:
    """Return the number of moves on the shortest way of a task."""
    grid, start, goal = puzzle_of(spec)
    return grid.distances(goal)[start]


def mini_rows() -> Iterator[str]:
    """Generate the lines of `data/mini.txt`: split, kind, start, goal, rows joined by "/"."""
    seen: set[tuple[Any, ...]] = set()
    lines: dict[str, list[str]] = {"train": [], "eval": []}
    for size in MINI_SIZES:
        for style in STYLES:
            made, number = 0, 0
            kind = f"{style}-{size[0]}x{size[1]}"
            while made < MINI_TRAIN + MINI_EVAL:
                puzzle = generate(size, style, f"{kind}/{number}", MINI_LONGEST)
                number += 1
                # The same walk must not be in both splits; small sizes do repeat.
                key = (puzzle.grid.rows, puzzle.start, puzzle.goal)
                if key in seen:
                    continue
                seen.add(key)
                split = "train" if made < MINI_TRAIN else "eval"
                made += 1
                start, goal = (f"{x},{y}" for x, y in (puzzle.start, puzzle.goal))
                lines[split].append(f"{split} {kind} {start} {goal} {'/'.join(puzzle.grid.rows)}")
    yield "#! Written by python -m agentgym.envs.maze.tasks: split kind start goal rows"
    yield from lines["train"]
    yield from lines["eval"]


def _spec(text: str, start: Cell, goal: Cell) -> dict[str, Any]:
    return {"grid": text, "start": list(start), "goal": list(goal)}


def _official(name: str, start: Cell) -> dict[str, Any]:
    layout = LAYOUTS[name]
    return {**_spec("/".join(layout.rows), start, layout.goal), "moves": OFFICIAL_MOVES}


def _cell(text: str) -> Cell:
    x, _, y = text.partition(",")
    return int(x), int(y)


if __name__ == "__main__":
    MINI_FILE.write_text("".join(line + "\n" for line in mini_rows()), "ascii")
