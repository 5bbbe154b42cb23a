"""MAZE: the published sentences and layouts, the generator, the expert, what a user can break."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core import UnicodeText
from agentgym.core.checker import GARBAGE, check_env
from agentgym.core.errors import InvalidConfig, InvalidState, UnknownName
from agentgym.envs.maze import env as maze_env
from agentgym.envs.maze.env import MazeEnv
from agentgym.envs.maze.generate import STYLES, generate
from agentgym.envs.maze.grid import STEPS, Grid
from agentgym.envs.maze.tasks import (
    MINI_FILE,
    MINI_LONGEST,
    mini_rows,
    mini_tasks,
    official_tasks,
    puzzle_of,
    shortest,
)
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode

HEAD = "The goal is at position 8, 6. Your current position is at position "
README = Path(maze_env.__file__).parent / "README.md"

# The worked example of AgentGym's prompt: moves and what the published server answers.
PUBLISHED_GAME = [
    ("move left", "5, 5. There are walls above you, below you."),
    ("move left", "5, 4. There are walls above you, below you."),
    ("move up", "5, 4. There are walls above you, below you."),
    ("move left", "5, 3. There are walls to your left, below you."),
    ("move down", "5, 3. There are walls to your left, below you."),
    ("move left", "5, 3. There are walls to your left, below you."),
    ("move right", "5, 4. There are walls above you, below you."),
    ("move right", "5, 5. There are walls above you, below you."),
    ("move right", "5, 6. There is a wall above you."),
    ("move down", "6, 6. There are walls to your right, to your left."),
    ("move down", "7, 6. There are walls to your right, to your left."),
    ("move right", "7, 6. There are walls to your right, to your left."),
]


def official(task_id: str, **options) -> MazeEnv:
    env = MazeEnv(edition="official", **options)
    env.reset(options={"task_id": task_id})
    return env


def walk(env: MazeEnv) -> tuple[list[str], list[str]]:
    """Let the expert finish; return thoughts and actions."""
    expert, ended, thoughts, actions = env.expert(), False, [], []
    observation, info = env._observation, env._report()
    while not ended:
        thought, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        thoughts.append(thought)
        actions.append(action)
        ended = terminated or truncated
    assert info["success"], env.task
    return thoughts, actions


@pytest.mark.parametrize(
    "options", [{}, {"edition": "official"}, {"size": (9, 15), "style": "rooms"}]
)
def test_contract(options):
    failed = [c for c in check_env("maze", **options) if not c.passed]
    assert not failed


def test_published_game_word_for_word():
    env = official("maze_16")
    assert env._observation == f"{HEAD}5, 6. There is a wall above you."
    for action, expected in PUBLISHED_GAME:
        observation, reward, terminated, _, info = env.step(action)
        assert observation == HEAD + expected
        assert (reward, terminated, info["valid"]) == (0.0, False, True)
    observation, reward, terminated, truncated, info = env.step("move down")
    assert (observation, reward, terminated, truncated) == ("Success\n", 1.0, True, False)
    assert info["success"]


def test_no_walls_near_you():
    assert Grid(["#####", "#...#", "#...#", "#...#", "#####"]).walls_near((2, 2)) == (
        "There are no walls near you."
    )


def test_official_games_have_their_published_numbers():
    tasks = official_tasks()
    assert tasks.sizes == {"train": 79, "eval": 25}
    starts = [task.spec["start"] for task in tasks.split("eval")]
    assert [tasks[i].split for i in range(25)] == ["eval"] * 25
    assert (starts[0], starts[9], starts[16], starts[24]) == ([1, 1], [1, 11], [5, 6], [2, 9])
    floor = {tuple(s) for s in starts} | {(8, 6)}
    grid = puzzle_of(tasks[0].spec)[0]
    assert floor == set(grid.floor())
    assert max(shortest(t.spec) for t in tasks) == 12 < MazeEnv.editions["official"].max_rounds


def test_failure_after_fifty_moves():
    env = official("maze_0", max_rounds=100)
    for _ in range(50):
        assert not env.step("move up")[2]
    observation, reward, terminated, _, info = env.step("move up")
    assert (observation, reward, terminated) == ("Failure\n", 0.0, True)
    assert not info["success"]


@pytest.mark.parametrize("action", ["move right", " Move  RIGHT\n", "right", "RIGHT "])
def test_forms_of_a_move(action):
    env = official("maze_0")
    assert env.step(action)[0].startswith(f"{HEAD}1, 2.")


@pytest.mark.parametrize(
    "action", ["", "jump", "move", "move north", "move right right", "up down"]
)
def test_what_is_no_move_is_corrected_and_costs_a_round(action):
    env = official("maze_0")
    before = env._observation
    observation, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["valid"], info["rounds"]) == (0.0, False, False, 1)
    assert observation.endswith(before)
    assert all(f'"move {direction}"' in observation for direction in STEPS)


def test_mini_file_is_what_the_generator_makes():
    assert MINI_FILE.read_text("ascii").splitlines() == list(mini_rows())


def test_task_sets_are_frozen():
    assert mini_tasks().digest == (
        "88f6dd8e03dae462fd8970f43c53638a4962ba0a496c29db90746e0ad0e39907"
    )
    assert official_tasks().digest == (
        "f4356dcfca7610d0bc3c3a1a0ce0bf15045d82ec448918e624d0c75a4fdd5f7f"
    )


def test_mini_tasks_are_sound_and_splits_apart():
    tasks = mini_tasks()
    assert tasks.sizes == {"train": 1000, "eval": 200}
    assert len(tasks.kinds) == 20
    assert set(tasks.kinds.values()) == {60}
    walks: dict[str, set[tuple]] = {"train": set(), "eval": set()}
    for task in tasks:
        grid, start, goal = puzzle_of(task.spec)
        assert grid.is_floor(start)
        assert grid.is_floor(goal)
        assert 2 <= shortest(task.spec) <= MINI_LONGEST
        walks[task.split].add((grid.rows, start, goal))
    assert not walks["train"] & walks["eval"]
    assert len(walks["train"]) + len(walks["eval"]) == 1200


@pytest.mark.parametrize("edition", ["mini", "official"])
def test_expert_walks_a_shortest_way_in_every_task(edition):
    env = MazeEnv(edition=edition)
    for task in env.tasks:
        env.reset(options={"task_id": task.id})
        _, actions = walk(env)
        assert len(actions) == flood(env) <= env.max_rounds


def flood(env: MazeEnv) -> int:
    """Return the shortest way's length by growing the set of cells reached, a move at a time."""
    reached, moves = {env.path[0]}, 0
    while env.goal not in reached:
        reached |= {
            (x + dx, y + dy)
            for x, y in reached
            for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0))
            if env.grid.rows[x + dx][y + dy] == "."
        }
        moves += 1
    return moves


def test_expert_says_only_what_is_so():
    """Walls it names are there, and where it puts the goal the goal is."""
    env = MazeEnv()
    words = {"above me": (-1, 0), "below me": (1, 0), "to my left": (0, -1), "to my right": (0, 1)}
    for task in env.tasks[::10]:
        env.reset(options={"task_id": task.id})
        expert, ended = env.expert(), False
        while not ended:
            thought, action = expert.act(env._observation, {})
            x, y = env.position
            for walls in re.findall(
                r"walls? ((?:(?:and )?(?:above|below|to my \w+)(?: me)? ?)+)", thought
            ):
                for words_there, (dx, dy) in words.items():
                    if words_there in walls:
                        assert env.grid.rows[x + dx][y + dy] == "#", (thought, env.position)
            head = thought.split(",")[0].split(";")[0]
            assert ("above" in head) == (env.goal[0] < x), thought
            assert ("right" in head) == (env.goal[1] > y), thought
            ended = env.step(action)[2]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1199), st.lists(st.sampled_from(sorted(STEPS)), max_size=12))
def test_expert_finishes_from_anywhere(index, moves):
    env = MazeEnv(max_rounds=200)
    env.reset(options={"task_id": f"maze_{index}"})
    for move in moves:
        if env.step(f"move {move}")[2]:
            return
    walk(env)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 8), st.integers(2, 8), st.sampled_from(sorted(STYLES)), st.integers(0, 10**6))
def test_generated_mazes_are_connected(rows, columns, style, seed):
    size = (2 * rows + 1, 2 * columns + 1)
    puzzle = generate(size, style, seed)
    again = generate(size, style, seed)
    assert (again.grid.rows, *again[1:]) == (puzzle.grid.rows, *puzzle[1:])
    grid = puzzle.grid
    assert (grid.height, grid.width) == size
    cells = set(grid.floor())
    assert set(grid.distances(puzzle.goal)) == cells
    assert puzzle.start != puzzle.goal
    joints = sum(len(list(grid.moves(cell))) for cell in cells) // 2
    if style in ("winding", "even"):
        assert len(cells) == 2 * rows * columns - 1  # every room, and one opening fewer
        assert joints == len(cells) - 1  # a tree
    else:
        assert joints >= len(cells) - 1


def test_styles_differ_as_they_say():
    """Winding mazes have fewer dead ends than even ones; loops and rooms have cycles."""
    ends, cycles = {}, {}
    for style in STYLES:
        grids = [generate((21, 21), style, seed).grid for seed in range(10)]
        degrees = [len(list(g.moves(c))) for g in grids for c in g.floor()]
        ends[style] = sum(d == 1 for d in degrees)
        cycles[style] = sum(degrees) // 2 - len(degrees) + len(grids)
    assert ends["winding"] < 0.6 * ends["even"]
    assert cycles["winding"] == cycles["even"] == 0
    assert min(cycles["loops"], cycles["rooms"]) > 50


def test_sizes_by_option():
    env = MazeEnv(size=(7, 25), style="winding", split="train")
    _, info = env.reset(seed=1)
    assert (env.grid.height, env.grid.width, env.max_rounds) == (7, 25, 175)
    assert env.tasks.sizes == {"train": 200, "eval": 40}
    assert env.tasks.digest != MazeEnv(size=(25, 7), style="winding").tasks.digest
    assert info["task_id"] in {t.id for t in env.tasks.split("train")}
    assert MazeEnv(size=(5, 5), max_rounds=9).max_rounds == 9
    walk(env)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"size": (8, 9)}, InvalidConfig, "odd numbers from 5"),
        ({"size": (3, 9)}, InvalidConfig, "odd numbers from 5"),
        ({"size": (9,)}, InvalidConfig, "rows, columns"),
        ({"size": (9.0, 9)}, InvalidConfig, "rows, columns"),
        ({"size": (9, 9), "style": "lopps"}, UnknownName, "Did you mean loops"),
        ({"style": "loops"}, InvalidConfig, "goes with a size"),
        ({"size": (9, 9), "edition": "official"}, InvalidConfig, "mini edition"),
    ],
)
def test_options_that_cannot_be(options, error, says):
    with pytest.raises(error, match=re.escape(says)):
        MazeEnv(**options)


@pytest.mark.parametrize(
    "rows", [[], ["###"], ["###", "#.", "###"], ["###", "#x#", "###"], ["#.#", "#.#", "###"]]
)
def test_grids_that_cannot_be(rows):
    with pytest.raises(ValueError, match="maze"):
        Grid(rows)


def test_drawing_and_picture_follow_the_walk():
    env = official("maze_2", render_mode="rgb_array")
    first = env.render()
    assert first.shape == (240, 312, 3)
    env.step("move down")
    second = env.render()
    changed = np.argwhere((first != second).any(axis=2)) // 24
    assert {tuple(cell) for cell in changed.tolist()} == {(1, 3), (2, 3)}
    lines = env._render_text().splitlines()
    assert lines[2:5] == [
        "0 #############",
        "1 #  S  #     #",
        "2 ###@##### ###",
    ]
    assert lines[10] == "8 ######G######"


def test_a_fork_keeps_the_way_walked():
    env = official("maze_2")
    env.step("move down")
    env.step("nonsense")
    twin = env.fork()
    assert twin.path == env.path == [(1, 3), (2, 3), (2, 3)]
    assert twin.step("move down") == env.step("move down")


@pytest.mark.parametrize(
    "engine", ["x", [[1]], [["a", "b"]], [], [[5, 5]], [[1, 3], [3, 3]], [[1, 3], [0, 3]]]
)
def test_snapshots_that_cannot_be(engine):
    env = official("maze_2")
    with pytest.raises(InvalidState, match="snapshot"):
        env.set_state({**env.get_state(), "engine": engine})


def test_ten_thousand_garbage_actions():
    env, space = MazeEnv(max_rounds=500), UnicodeText(seed=3)
    env.reset(seed=0)
    for i in range(10_000):
        action = GARBAGE[i % len(GARBAGE)] if i % 3 else space.sample()
        observation, _, terminated, truncated, _ = env.step(action)
        assert observation.strip()
        assert len(observation) < 1000
        if terminated or truncated:
            env.reset()


SCRIPT = """
import hashlib, agentgym, numpy as np
digest, env, rng = hashlib.sha256(), agentgym.make("maze"), np.random.default_rng(0)
digest.update(agentgym.make("maze", size=(21, 21), style="loops").tasks.digest.encode())
for seed in range(5):
    observation, info = env.reset(seed=seed)
    for _ in range(10):
        thought, _ = env.expert().act(observation, info)
        observation, *_, info = answer = env.step(env.sample_action(rng))
        digest.update(repr((thought, answer)).encode())
        if answer[2]:
            break
print(digest.hexdigest())
"""


def test_same_under_any_hash_seed():
    outputs = outputs_under_hash_seeds(SCRIPT)
    assert len(outputs[0].strip()) == 64
    assert len(set(outputs)) == 1


def test_played_episode_of_the_readme():
    """The README's script prints what the README says it prints."""
    printed, said = readme_episode(README)
    assert printed == said
