"""Agents from text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentgym.agents.base import Agent, ChatAgent
from agentgym.agents.build import UnknownAgent, build_agent, kinds, parse_value
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.core.errors import InvalidConfig


class Mine(Agent):
    def __init__(self, level: int = 1, *, name: str = "mine") -> None:
        self.level, self.name = level, name

    def act(self, observation, info):
        return "look"


def make_mine(**options) -> Agent:
    return Mine(**options)


def not_an_agent() -> str:
    return "x"


HERE = __name__


def test_the_simple_ones() -> None:
    assert isinstance(build_agent("expert"), ExpertAgent)
    assert isinstance(build_agent(" Random "), RandomAgent)
    assert isinstance(build_agent("human"), Agent)


def test_ones_own_class_with_options_from_either_side() -> None:
    agent = build_agent(f"{HERE}:Mine?level=3&name=a b")
    assert isinstance(agent, Mine)
    assert (agent.level, agent.name) == (3, "a b")
    assert build_agent(f"{HERE}:Mine?level=3", level=4).level == 4
    assert build_agent(f"{HERE}:make_mine", level=5).level == 5


def test_a_module_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "from agentgym.agents import Agent\nclass A(Agent):\n    def act(self, o, i): return 'a'\n"
    )
    (tmp_path / "agent_found_here.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert build_agent("agent_found_here:A").act("", {}) == "a"


def test_openai_options_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    agent = build_agent(
        "openai:org/model:free?temperature=0.5&base_url=http://127.0.0.1:1/v1", max_tokens=9
    )
    assert isinstance(agent, ChatAgent)
    described = agent.describe()
    assert described["model"] == "org/model:free"
    assert described["base_url"] == "http://127.0.0.1:1/v1"
    assert (described["temperature"], described["max_tokens"]) == (0.5, 9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("expart", "Did you mean expert"),
        ("opena:gpt-4o", "Did you mean openai"),
        ("no.such.module:Agent", "cannot be imported"),
        ("no_such_module:Agent", "No module 'no_such_module'"),
        (f"{HERE}:Mein", "Did you mean Mine"),
        ("", "Known: expert"),
    ],
)
def test_unknown_names_offer_the_nearest(text: str, said: str) -> None:
    with pytest.raises(UnknownAgent, match=said):
        build_agent(text)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("openai", {}, "openai:MODEL"),
        ("hf:", {}, "For example hf:smollm2"),
        ("random:5", {}, "takes nothing after"),
        (f"{HERE}:Mine", {"levle": 1}, "no option 'levle'. Did you mean level"),
        ("random", {"temperature": 0}, "no option 'temperature'. It takes none"),
        (f"{HERE}:not_an_agent", {}, "derive your class"),
        (f"{HERE}:HERE", {}, "no class"),
    ],
)
def test_wrong_use_is_named(text: str, options: dict, said: str) -> None:
    with pytest.raises(InvalidConfig, match=said):
        build_agent(text, **options)


def test_every_kind_names_a_class_that_is_there() -> None:
    import importlib

    for kind in kinds():
        module, _, name = kind.entry_point.partition(":")
        assert issubclass(getattr(importlib.import_module(module), name), Agent | ChatAgent)


def test_values() -> None:
    assert parse_value("1e-3") == 0.001
    assert parse_value('{"a": 1}') == {"a": 1}
    assert parse_value("gpt-4o") == "gpt-4o"
    assert parse_value("False") is False


def test_importing_and_building_the_light_ones_imports_nothing_heavy() -> None:
    code = (
        "import sys, agentgym.agents.build as b; b.build_agent('random');"
        "print([m for m in ('torch', 'openai', 'transformers', 'xllamacpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
