"""Reads the published games.

A folder of ALFWorld's data holds a game as `game.tw-pddl`: JSON with the domain, the problem in
PDDL, and the grammar with the goal in words. The vocabulary is the file's own. The domain is not
interpreted: it is ALFRED's in every published game. Where there is only `initial_state.pddl`, the
goal is worded from the folder's name, "pick_cool_then_place_in_recep-Mug-None-CoffeeMachine-23".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.text import parse_json
from agentgym.envs.alfworld.goals import TEMPLATES, task_text
from agentgym.envs.alfworld.problem import Problem
from agentgym.envs.alfworld.words import PUT, Words

GAME_FILE = "game.tw-pddl"
STATE_FILE = "initial_state.pddl"

_TASK = re.compile(r'"Your task is to: ([^"]*?)\.?"')
_PUT = re.compile(r'\baction\s+PutObject\s*\{\s*template\s*::\s*"([^"]*)"')
_PUT_DONE = re.compile(r'"PutObject\.feedback"\s*:\s*\[\s*\{\s*"rhs"\s*:\s*"([^"]*)"')
_ARRIVE = re.compile(r'"GotoLocation\.feedback"\s*:\s*\[\s*\{\s*"rhs"\s*:\s*"([^"]*)"')
_HELP = re.compile(r"\baction\s+help\s*\{")
_EXAMINE = "#examineReceptacle.feedback#"


class Game(NamedTuple):
    """A published game: what it is, and its vocabulary."""

    problem: Problem
    words: Words


def read_game(folder: Path) -> Game:
    """Return the game of a folder.

    Args:
        folder: the folder of one trial.

    Raises:
        MissingData: if there is no game in it.
        InvalidConfig: if the file there is not a game.
    """
    kind = folder.parent.name.partition("-")[0]
    file = folder / GAME_FILE
    state = folder / STATE_FILE
    try:
        if file.is_file():
            return parse_game(file.read_text(encoding="utf-8"), kind)
        if state.is_file():
            task = _task_from_name(folder.parent.name)
            return Game(Problem.from_pddl(state.read_text(encoding="utf-8"), task, kind), PUT)
    except (ValueError, OSError, InvalidConfig) as error:
        raise InvalidConfig(f"{folder} holds no readable ALFWorld game: {error}") from error
    raise MissingData(
        f"there is no {GAME_FILE} and no {STATE_FILE} in {folder}. Unpack ALFWorld's json_2.1.1 "
        "into the data folder ('alfworld-download' of the alfworld package gets it)"
    )


def parse_game(text: str, kind: str = "") -> Game:
    """Return the game that a `game.tw-pddl` holds.

    Args:
        text: the file.
        kind: the task's family.

    Raises:
        ValueError: if it is not the JSON of a game.
        MalformedPddl: if its problem is not one.
    """
    data: Any = parse_json(text)
    if not isinstance(data, dict) or not all(
        isinstance(data.get(key), str) for key in ("pddl_problem", "grammar")
    ):
        raise ValueError("a game is a JSON object with 'pddl_problem' and 'grammar'")
    grammar = data["grammar"]
    found = _TASK.search(grammar)
    if found is None:
        raise ValueError("the grammar does not say 'Your task is to: ...'")
    problem = Problem.from_pddl(data["pddl_problem"], found[1], kind)
    return Game(problem, words_of(grammar, str(data.get("pddl_domain", ""))))


def words_of(grammar: str, domain: str) -> Words:
    """Return the vocabulary a game's grammar is written in; what it does not say is as published.

    Args:
        grammar: the game's grammar.
        domain: the game's domain, which says whether there is a help action.
    """
    put, done, arrive = (p.search(grammar) for p in (_PUT, _PUT_DONE, _ARRIVE))
    helps = _HELP.search(grammar) is not None and "(:action help" in domain
    said = arrive[1].replace(_EXAMINE, "") if arrive else PUT.arrive
    return Words(
        put=_plain(put[1], "o", "r") if put else PUT.put,
        put_done=_plain(done[1], "o", "r") if done else PUT.put_done,
        arrive=_plain(said, "loc", "r"),
        help=helps,
    )


def _plain(template: str, *known: str) -> str:
    """Return a template of the grammar as one of `Words`, whose fields are the known ones."""
    for field, plain in (("{o.name}", "{o}"), ("{r.name}", "{r}"), ("{lend.name}", "{loc}")):
        template = template.replace(field, plain)
    rest = template
    for field in known:
        rest = rest.replace(f"{{{field}}}", "")
    if "{" in rest or "}" in rest:
        raise ValueError(f"the grammar's {template!r} has fields that are not known")
    return template


def _task_from_name(name: str) -> str:
    parts = name.split("-")
    if len(parts) < 4 or parts[0] not in TEMPLATES:
        raise ValueError(
            f"the folder's name {name!r} does not tell the goal; it should be like "
            "'pick_cool_then_place_in_recep-Mug-None-CoffeeMachine-23'"
        )
    return task_text(parts[0], parts[1], parts[3])
