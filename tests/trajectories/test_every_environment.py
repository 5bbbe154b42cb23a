"""What collecting and converting promise, for every registered environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentgym.agents.message import Reply
from agentgym.core import EnvCard, cards, make
from agentgym.rollout.formats import find_format
from agentgym.rollout.profile import EnvProfile
from agentgym.trajectories import collect, read_items, to_episode, write

TASKS = 3


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.short_name)
def test_three_formats_and_the_published_layout_hold_the_same_episodes(
    card: EnvCard, tmp_path: Path
) -> None:
    if not card.installed:
        pytest.skip(f"{card.short_name} is not installed: pip install 'agentgym[{card.extra}]'")
    env = make(card.id)
    profile = EnvProfile.of(card.id, env)
    env.close()
    plain = collect(card.id, tasks=TASKS)
    assert all(episode.success and episode.split == "train" for episode in plain)
    for name in ("function_calling", "code_as_action"):
        found = collect(card.id, tasks=TASKS, action_format=name)
        assert [e.actions for e in found] == [e.actions for e in plain]
        for episode in found:
            for step in episode.steps:
                assert not step.reply.startswith("Thought:"), f"{step.action!r} has no {name} form"
                reading = find_format(name).read(Reply(step.reply), profile)
                assert reading.action == step.action
                assert reading.thought.split() == step.thought.split()
    path = tmp_path / "published.json"
    write(plain, path, layout="published")
    back = [to_episode(item) for item in read_items(path)]
    assert [e.actions for e in back] == [e.actions for e in plain]
    assert [e.task_id for e in back] == [e.task_id for e in plain]
