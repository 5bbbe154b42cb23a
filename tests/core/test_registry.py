"""Making environments: what is wrong with somebody's own package is said, with the place."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest

import agentgym
from agentgym.core.errors import BrokenContract, InvalidConfig, UnknownEnvironment
from tests.toy import GuessEnv

REGISTER = """
import gymnasium
gymnasium.register("{id}", entry_point="{module}_env:Mine", disable_env_checker=True)
"""


def package(folder: Path, name: str, source: str) -> str:
    """Write a module that registers an environment, and the module of its class."""
    env_id = f"{name.title().replace('_', '')}-v0"
    (folder / f"{name}.py").write_text(REGISTER.format(id=env_id, module=name))
    (folder / f"{name}_env.py").write_text(source)
    return f"{name}:{env_id}"


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("own_syntax", "class Mine(\n", r"SyntaxError: .*own_syntax_env.py, line 1"),
        ("own_raises", "x = 1\nx['a']\n", r"TypeError: .*\(own_raises_env.py:2\)"),
        (
            "own_class",
            "import gymnasium\nclass Mine(gymnasium.Env):\n    pass\n",
            "cannot be made: TypeError",
        ),
    ],
)
def test_a_mistake_in_ones_own_class_is_told(tmp_path, monkeypatch, name, source, said):
    monkeypatch.syspath_prepend(tmp_path)
    name = package(tmp_path, name, source)
    with pytest.raises((BrokenContract, InvalidConfig), match=said):
        agentgym.make(name, edition="mini")


def test_a_mistake_in_the_module_that_registers_is_told(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_module.py").write_text("import json\njson.loads('{')\n")
    with pytest.raises(BrokenContract, match=r"own_module.*cannot be imported.*own_module.py:2\)"):
        agentgym.make("own_module:X-v0")
    with pytest.raises(UnknownEnvironment, match="cannot be imported"):
        agentgym.make("own_missing:X-v0")


class Picky(GuessEnv):
    def __init__(self, *, colour: str = "red", **options) -> None:
        if colour == "blue":
            raise ValueError("no blue")
        super().__init__(**options)


def test_an_option_that_does_not_exist_offers_the_nearest_of_all_bases():
    gymnasium.register("tests/Picky-v0", entry_point=Picky, disable_env_checker=True)
    with pytest.raises(InvalidConfig, match=r"Picky has no option 'color'\. Did you mean colour"):
        agentgym.make("tests/Picky-v0", color="red")
    with pytest.raises(InvalidConfig, match=r"no option 'max_round'\. Did you mean max_rounds"):
        agentgym.make("tests/Picky-v0", max_round=3)
    with pytest.raises(BrokenContract, match=r"ValueError: no blue \(test_registry.py:"):
        agentgym.make("tests/Picky-v0", colour="blue")
