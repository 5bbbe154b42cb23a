"""The item ids of the published files, and the tasks here that they name.

An item id is "<prefix>_<number>". The prefixes are not always the environments' names, and some
published ids carry no task number at all, so the translation is a table with its sources:

- prefixes: `task_list` of agentevol_filter.py in WooooDyy/AgentGym @ 3ef9235d, where every
  published item id is matched to a task by its beginning;
- numbers of trajectories and evaluation items: README of the same revision;
- file names: scripts of the same repository (webshop_train.json, tool_weather_test.json, …) and
  public code that reads the two data sets (lmrlgym_maze_train.json, textcraft_test.json);
- ALFWorld's training ids are "<task type>-<objects>-<scene>_trial_<time>" and name a folder of
  ALFWorld's own data, as the viewer of AgentGym/AgentGym-RL-Data-ID shows; its evaluation ids are
  "alfworld_<number>".

TextCraft's published numbers followed the order of a directory listing on its authors' machine;
they are not the numbers of the frozen order here, and SciWorld's two files are reported to share 61
ids (docs/trajectories.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentgym.core.errors import UnknownEnvironment


@dataclass(frozen=True, slots=True)
class PublishedEnv:
    """An environment as the published data names it.

    Attributes:
        name: prefix of the task ids here ("maze").
        env_id: Gymnasium id.
        prefixes: prefixes of its item ids, the published one first.
        files: beginnings of its files' names, before "_train.json" or "_test.json".
        train: number of items of AgentTraj-L; 0 where there are none.
        eval: number of items of AgentEval.
        multiline: whether its actions may have several lines.
    """

    name: str
    env_id: str
    prefixes: tuple[str, ...]
    files: tuple[str, ...]
    train: int
    eval: int
    multiline: bool = False


def _env(
    name: str, short: str, train: int, evaluation: int, *aliases: str, multiline: bool = False
) -> PublishedEnv:
    prefixes = (*aliases, name)
    files = (*prefixes, f"tool_{prefixes[0]}") if prefixes[0] in _TOOLS else prefixes
    env_id = f"agentgym/{short}-v0"
    return PublishedEnv(name, env_id, prefixes, files, train, evaluation, multiline)


_TOOLS = ("weather", "movie", "academia", "sheet", "todo")

PUBLISHED: tuple[PublishedEnv, ...] = (
    _env("webshop", "WebShop", 3930, 200),
    _env("webarena", "WebArena", 0, 20),
    _env("maze", "Maze", 215, 25, "lmrlgym_maze"),
    _env("wordle", "Wordle", 955, 25, "lmrlgym_wordle"),
    _env("alfworld", "ALFWorld", 2420, 200),
    _env("sciworld", "SciWorld", 2120, 200),
    _env("babyai", "BabyAI", 810, 90),
    _env("textcraft", "TextCraft", 374, 100),
    _env("weather", "Weather", 311, 20),
    _env("movie", "Movie", 215, 20),
    _env("academia", "Academia", 0, 20),
    _env("sheet", "Sheet", 0, 20),
    _env("todolist", "TODOList", 135, 20, "todo"),
    _env("bird", "BIRD", 3000, 200, "sqlgym", multiline=True),
)

_BY_PREFIX = {prefix: env for env in PUBLISHED for prefix in env.prefixes}
_TRIAL = re.compile(r"^(?:pick|look|put)_\w+-.*_trial_T\d{8}_\d{6}_\d{6}$")


@dataclass(frozen=True, slots=True)
class ItemId:
    """A published item id, taken apart.

    Attributes:
        text: the id as published.
        env: the environment, or None where the id names none that is known.
        index: the item's number, or None where the id carries none.
    """

    text: str
    env: PublishedEnv | None
    index: int | None

    @property
    def task_id(self) -> str:
        """The id of the task here ("maze_3"); the published text where it has no number."""
        if self.env is None or self.index is None:
            return self.text
        return f"{self.env.name}_{self.index}"


def parse_item_id(text: str) -> ItemId:
    """Take an item id apart; an id of unknown shape keeps its text and names nothing.

    >>> parse_item_id("lmrlgym_maze_3").task_id
    'maze_3'
    >>> parse_item_id("my_own_7").env is None
    True
    """
    if _TRIAL.match(text):
        return ItemId(text, _BY_PREFIX["alfworld"], None)
    prefix, _, number = text.rpartition("_")
    index = int(number) if number.isascii() and number.isdecimal() else None
    if prefix.startswith("BabyAI-"):  # a level's name; its number counts within the level
        return ItemId(text, _BY_PREFIX["babyai"], None)
    return ItemId(text, _BY_PREFIX.get(prefix), index if prefix else None)


def published_id(env_id: str, task_id: str) -> str:
    """Return the item id under which a task of the official edition is published.

    >>> published_id("agentgym/BIRD-v0", "bird_12")
    'sqlgym_12'
    """
    number = task_id.rpartition("_")[2]
    for env in PUBLISHED:
        if env.env_id == env_id and task_id == f"{env.name}_{number}":
            return f"{env.prefixes[0]}_{number}"
    return task_id


def find_published(name: str) -> PublishedEnv:
    """Return an environment of the published data by name, prefix or id, whatever the case.

    Raises:
        UnknownEnvironment: if the published data has no such environment.
    """
    folded = name.lower()
    for env in PUBLISHED:
        short = env.env_id.lower().rpartition("/")[2]
        if folded in (*env.prefixes, env.env_id.lower(), short, short.rpartition("-v")[0]):
            return env
    raise UnknownEnvironment("environment of the published data", name, [e.name for e in PUBLISHED])
