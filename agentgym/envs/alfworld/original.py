"""The original game, for comparing with; it needs `pip install 'agentgym[alfworld-original]'`.

It takes the domain and the grammar from the installed `alfworld` package and plays on TextWorld's
PDDL engine, as ALFWorld does, except that a game comes from a `Problem` and not from a file. The
older vocabulary (see `words.py`) is made by undoing what alfworld 0.4 changed in the published
games: three texts, and the help action. The installation compiles two C and C++ projects, for about
ten minutes.
"""

from __future__ import annotations

from importlib import import_module, resources
from typing import Any, NamedTuple

from agentgym.core.errors import MissingExtra
from agentgym.envs.alfworld.problem import Problem
from agentgym.envs.alfworld.words import MOVE, PUT, Words

_OLDER = (
    ("You arrive at {r.name}.", "You arrive at {lend.name}."),
    ("move {o} to {r}", "put {o} in/on {r}"),
    ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
)


class Moment(NamedTuple):
    """What the original answers: text, admissible commands in order, won, done."""

    text: str
    actions: list[str]
    won: bool
    done: bool


class Original:
    """A game on the original engine.

    Args:
        problem: the game.
        words: its vocabulary, `MOVE` or `PUT`.

    Raises:
        MissingExtra: if alfworld or textworld is not installed.
    """

    def __init__(self, problem: Problem, words: Words = MOVE) -> None:
        if words not in (MOVE, PUT):
            raise ValueError("the original knows the vocabularies MOVE and PUT")
        try:
            textworld = import_module("textworld")
            pddl = import_module("textworld.envs.pddl")
            wrapper = import_module("alfworld.agents.environment.alfred_tw_env")
        except ImportError as error:
            raise MissingExtra(
                "the original ALFWorld", "alfworld-original", error.name or ""
            ) from error
        domain, grammar = _logic(words)
        self._data = {
            "pddl_domain": domain,
            "pddl_problem": problem.to_pddl(),
            "grammar": grammar.replace("UNKNOWN GOAL", problem.task),
        }
        infos = textworld.EnvInfos(won=True, admissible_commands=True)
        self._env: Any = wrapper.AlfredDemangler(pddl.PddlEnv(infos))
        self._env.load(self._data)

    def reset(self) -> Moment:
        """Begin the game, and return its opening."""
        state = self._env.reset()
        return Moment(state.feedback, list(state.admissible_commands), bool(state.won), False)

    def play(self, action: str) -> Moment:
        """Do an action."""
        state, _, done = self._env.step(action)
        return Moment(state.feedback, list(state.admissible_commands), bool(state.won), bool(done))


def _logic(words: Words) -> tuple[str, str]:
    data = resources.files("alfworld") / "data"
    domain = (data / "alfred.pddl").read_text(encoding="utf-8")
    grammar = (data / "alfred.twl2").read_text(encoding="utf-8")
    if words == PUT:
        domain = domain[: domain.index("(:action help")] + ")"
        grammar = grammar[: grammar.index("action help {")]
        for new, old in _OLDER:
            grammar = grammar.replace(new, old)
    return domain, grammar
