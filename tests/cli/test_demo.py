"""`agentgym demo`: three agents at the same tasks, and a model that stays within its bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentgym.agenteval import Selection, load_run
from agentgym.agents.build import build_agent
from agentgym.cli import demo
from agentgym.core import cards
from agentgym.rollout import EnvChoice
from tests.cli.conftest import Run
from tests.models import ScriptedModel

ENVS = ("agentgym/Maze-v0", "agentgym/TextCraft-v0")


@pytest.fixture(autouse=True)
def two_environments_and_a_scripted_model(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = Selection("quick", tuple(EnvChoice(env_id=env_id) for env_id in ENVS), tasks=6)

    def build(name: str, **options: Any) -> Any:
        if name.startswith("llamacpp:"):
            return ScriptedModel(lambda messages, seed: "Thought: on\nAction: move up")
        return build_agent(name, **options)

    monkeypatch.setattr("agentgym.agenteval.select", lambda *_: suite)
    monkeypatch.setattr("agentgym.agents.build.build_agent", build)
    monkeypatch.setattr(demo, "bring", lambda name: None)


def test_three_agents_play_the_same_tasks_within_the_models_bound(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The scripted model counts 15 tokens a call: 100 of them are seven rounds of an episode.
    monkeypatch.setattr(demo, "MODEL_TOKENS", 100 * demo.TASKS * len(ENVS))
    shown = run("demo")
    assert shown.exit_code == 0, shown.output
    runs = [load_run(path) for path in sorted((tmp_path / "runs").iterdir())]
    played = {r.config["agent"]["name"]: r.episodes for r in runs}
    assert set(played) == {"expert", "random", "scripted"}
    tasks = {tuple(sorted(e.key for e in episodes)) for episodes in played.values()}
    assert [len(keys) for keys in tasks] == [demo.TASKS * len(ENVS)]
    assert all(e.success for e in played["expert"])
    assert {(e.status, e.rounds) for e in played["scripted"]} == {("limit", 7)}
    said = " ".join(shown.stdout.split())
    assert "keep the score they had: Maze 2 of 2, TextCraft 2 of 2." in said
    for words in ("expert", "random", "scripted", "100.0", "What to type next"):
        assert words in shown.stdout


def test_without_the_model_nothing_is_downloaded(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "bring", lambda name: pytest.fail("the model was fetched"))
    shown = run("demo", "--no-model", "--tasks", "1")
    assert shown.exit_code == 0, shown.output
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_every_environment_has_room_for_a_round() -> None:
    """The longest rules and first observation are some 2,000 tokens, and are read for a round."""
    assert demo.episode_tokens(len(cards())) > 1_500
    assert demo.episode_tokens(10) * 10 == demo.episode_tokens(20) * 20
