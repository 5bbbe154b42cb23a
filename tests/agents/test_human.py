"""A person at the terminal: what is typed becomes an action or a talk with the game."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

import tests.toy  # noqa: F401  (registers the toy environment)
from agentgym.agents.human import HumanAgent, Left, LineReader, Retake
from agentgym.agents.screen import Screen, printable
from agentgym.core import make


def typed(*lines: str) -> Callable[[str], str]:
    """Return a reader that types these lines and then closes the input."""
    rest = list(lines)

    def read(prompt: str) -> str:
        if not rest:
            raise EOFError
        return rest.pop(0)

    return read


class Table:
    """A person's seat at an environment, and what they see."""

    def __init__(self, name: str, *lines: str, **options: object) -> None:
        self.env = make(name)
        self.now = self.env.reset(seed=0)
        self.paper = io.StringIO()
        screen = Screen(Console(file=self.paper, width=80, highlight=False))
        agent = HumanAgent(screen, typed(*lines), **options)  # type: ignore[arg-type]
        self.player = agent.start(self.env, 0)

    def act(self) -> str:
        return self.player.act(*self.now)

    @property
    def seen(self) -> str:
        return self.paper.getvalue()


def test_what_is_typed_is_the_action() -> None:
    table = Table("tests/Guess-v0", "", "  guess 7 ")
    assert table.act() == "guess 7"
    assert "Find the hidden number" in table.seen
    assert "round 0 of 8 · score 0.00" in table.seen
    assert "I think of a number." in table.seen


def test_the_rules_are_shown_once_an_episode() -> None:
    table = Table("tests/Guess-v0", "guess 1", "guess 2")
    table.act()
    table.act()
    assert table.seen.count("Find the hidden number") == 1


def test_a_number_chooses_a_listed_action() -> None:
    table = Table("maze", "2")
    assert table.act() == table.now[1]["actions"][1]


def test_a_number_that_is_no_choice_is_an_action() -> None:
    assert Table("maze", "99").act() == "99"
    assert Table("tests/Guess-v0", "3").act() == "3"


def test_a_number_that_is_itself_an_action_means_itself() -> None:
    table = Table("maze", "1")
    observation, info = table.now
    assert table.player.act(observation, {**info, "actions": ["9", "1"]}) == "1"


def test_the_hint_is_the_experts() -> None:
    table = Table("maze", ":hint", "move up")
    thought, action = table.env.expert().act(*table.now)
    table.act()
    assert f"→ {action}" in table.seen
    assert thought.split(".")[0][:40] in table.seen.replace("\n", " ")


def test_talk_with_the_game_costs_no_round() -> None:
    table = Table("maze", ":help", ":actions", ":goal", ":rules", ":render", "move up")
    assert table.act() == "move up"
    assert table.env.rounds == 0
    for word in (":undo", ":save"):
        assert word not in table.seen  # an evaluation takes no moves back
    assert table.env.render().splitlines()[3].strip() in table.seen


def test_an_unknown_command_lists_the_known() -> None:
    table = Table("maze", ":fly", ":", ":h", "move up")
    assert table.act() == "move up"
    assert ":fly is no command" in table.seen
    assert ":h is no command" in table.seen  # help or hint?


def test_a_command_may_be_shortened() -> None:
    with pytest.raises(Left):
        Table("maze", ":q").act()


@pytest.mark.parametrize("lines", [(), (":quit",)])
def test_leaving_stops_as_ctrl_c_does(lines: tuple[str, ...]) -> None:
    with pytest.raises(KeyboardInterrupt):
        Table("maze", *lines).act()


def test_a_callers_command_is_called_with_what_follows() -> None:
    heard = []

    def back(argument: str) -> None:
        """go back"""
        heard.append(argument)
        raise Retake

    table = Table("maze", ":help", ":back two moves ", commands={":back": back})
    with pytest.raises(Retake):
        table.act()
    assert heard == ["two moves"]
    assert "go back" in table.seen


def test_the_terminal_cannot_be_driven_by_an_environment() -> None:
    assert printable("a\x1b[2Jb\x07\ud800c\nd") == "a�[2Jb��c\nd"
    table = Table("maze", "move up")
    table.player.act("\x1b]0;title\x07日本語 [red]markup[/red]", table.now[1])
    assert "\x1b" not in table.seen
    assert "日本語 [red]markup[/red]" in table.seen


def test_nothing_is_wider_than_the_terminal() -> None:
    table = Table("textcraft", ":help", ":hint", ":actions", "inventory")
    table.act()
    assert max(len(line) for line in table.seen.splitlines()) <= 80


def test_completion_offers_what_can_be_done() -> None:
    reader = LineReader()
    reader.offer(["move up", "move down", ":help"])
    found = [reader._complete("move", i) for i in range(3)]
    assert found == ["move up", "move down", None]
