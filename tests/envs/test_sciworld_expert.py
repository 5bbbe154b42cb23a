"""The expert solves a held-out task of every kind within the mini edition's limits."""

from __future__ import annotations

import pytest

from agentgym.agents.expert import ExpertAgent
from agentgym.core import find_card, load_tasks
from agentgym.core.extras import installed
from agentgym.envs.sciworld.tasks import carried_path
from agentgym.rollout import EnvChoice, plan, rollout

pytestmark = pytest.mark.skipif(
    not installed("scienceworld"), reason="pip install 'agentgym[sciworld]'"
)


@pytest.mark.slow
def test_expert_solves_an_eval_task_of_every_kind_but_genetics() -> None:
    """Of each kind the one with the shortest path; `scripts/sciworld_verify.py` plays them all."""
    card = find_card("sciworld")
    shortest: dict[str, tuple[int, str]] = {}
    for task in load_tasks(card.load(), "mini").split("eval"):
        length = len(carried_path(task.spec["task"], task.spec["variation"]))
        shortest[task.kind] = min(shortest.get(task.kind, (999, "")), (length, task.id))
    assert len(shortest) == 30
    chosen = [task_id for kind, (_, task_id) in shortest.items() if "genetics" not in kind]
    episodes = rollout(
        plan([EnvChoice(env_id=card.id)], task_ids=chosen), ExpertAgent(), concurrency=2
    )
    assert len(episodes) == 28
    short = {e.task_id: (e.score, e.rounds, e.failure) for e in episodes if not e.success}
    assert short == {}
    assert all(e.score == 1.0 for e in episodes)
