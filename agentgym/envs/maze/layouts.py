"""The published mazes, as data.

Source: LMRL-Gym (MIT, github.com/abdulhaim/LMRL-Gym, llm_rl_scripts/maze/env/mazes.py) for
`double_t`, `u_small`, `medium` and `large`, which in turn follow mazelab and D4RL's Maze2D. `t` and
`u` are the T and U maze that AgentGym's maze server sets up at its default size of 10 x 13.

Only `double_t` is served under AgentGym's item numbers. `double_t`, `u_small`, `t` and `u` come
with a goal; `medium` and `large` were published without one, and the lower right cell is ours.
"""

from __future__ import annotations

from typing import NamedTuple

from agentgym.envs.maze.grid import Cell


class Layout(NamedTuple):
    """A published maze and its goal."""

    rows: tuple[str, ...]
    goal: Cell


LAYOUTS: dict[str, Layout] = {
    "double_t": Layout(
        (
            "#############",
            "#.....#.....#",
            "###.#####.###",
            "###.#####.###",
            "###.#####.###",
            "###.......###",
            "######.######",
            "######.######",
            "######.######",
            "#############",
        ),
        (8, 6),
    ),
    "u_small": Layout(
        (
            "#####",
            "#...#",
            "#.#.#",
            "#.#.#",
            "#####",
        ),
        (3, 3),
    ),
    "medium": Layout(
        (
            "########",
            "#..#...#",
            "#..#.#.#",
            "##....##",
            "###.#..#",
            "#....#.#",
            "#..#...#",
            "########",
        ),
        (6, 6),
    ),
    "large": Layout(
        (
            "#########",
            "#.....#.#",
            "#.#.#.#.#",
            "#...#...#",
            "#.###.###",
            "#.......#",
            "###.###.#",
            "#...#...#",
            "#.#.#####",
            "#.#.#...#",
            "#.....#.#",
            "#########",
        ),
        (10, 7),
    ),
    "t": Layout(
        (
            "#############",
            "#...........#",
            "######.######",
            "######.######",
            "######.######",
            "######.######",
            "######.######",
            "######.######",
            "######.######",
            "#############",
        ),
        (8, 6),
    ),
    "u": Layout(
        (
            "#############",
            "#...........#",
            "###########.#",
            "###########.#",
            "###########.#",
            "###########.#",
            "###########.#",
            "###########.#",
            "#...........#",
            "#############",
        ),
        (8, 1),
    ),
}

DOUBLE_T_STARTS: tuple[Cell, ...] = (
    (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 7), (1, 8), (1, 9), (1, 10), (1, 11),
    (2, 3), (3, 3), (4, 3), (5, 3), (5, 4), (5, 5), (5, 6), (6, 6), (7, 6),
    (5, 7), (5, 8), (5, 9), (4, 9), (3, 9), (2, 9),
)  # fmt: skip
"""Where game i of AgentGym's maze server starts (agentenv_lmrlgym/maze/environment.py). A 26th
entry there is the goal itself, which the server refuses to play."""
