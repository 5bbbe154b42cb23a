"""The Ray executor, on a cluster whose nodes are processes of this machine.

One node has a "jvm"; another that has one comes and goes.
"""

# ruff: noqa: E402  (nothing of Ray's is imported where there is none)

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="needs pip install 'agentgym[ray]'")

from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.core import EnvNeeds
from agentgym.core.errors import InvalidConfig
from agentgym.rollout import EnvChoice, RunFolder, plan, rollout
from agentgym.rollout.engine import TRIES
from agentgym.rollout.events import StepTaken
from agentgym.rollout.ray_cluster import ClusterError, RayCluster
from tests.models import ScriptedModel, halving, seeded
from tests.rollout.placed import Fatal, look

GUESS = EnvChoice(env_id="tests.toy:tests/Guess-v0")
PLACED = EnvChoice(env_id="tests.rollout.placed:tests/Placed-v0")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    if ray.is_initialized():
        ray.shutdown()
    usual = {"memory": 2**31, "object_store_memory": 2**27, "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **usual})
    nodes.add_node(num_cpus=1, resources={"jvm": 3}, **usual)
    ray.init(address=nodes.address, log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def workers(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The workers that were started, in order."""
    begun: list[Any] = []
    start = RayCluster.start

    async def noted(self: RayCluster, needs: EnvNeeds, **options: Any) -> Any:
        worker = await start(self, needs, **options)
        begun.append(worker)
        return worker

    monkeypatch.setattr(RayCluster, "start", noted)
    return begun


def jvm_nodes() -> set[str]:
    return {n["NodeID"] for n in ray.nodes() if n["Alive"] and "jvm" in n["Resources"]}


class Slow(ScriptedModel):
    """Takes its time, and begins when there are so many workers."""

    def __init__(self, workers: list[Any], wanted: int = 0) -> None:
        super().__init__(halving)
        self.workers, self.wanted = workers, wanted

    async def complete(self, messages: Any, **kwargs: Any) -> Any:
        deadline = time.monotonic() + 60
        while len(self.workers) < self.wanted and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.02)
        return await super().complete(messages, **kwargs)


def digests(episodes: list[Any]) -> list[str]:
    return [episode.digest for episode in episodes]


@pytest.mark.parametrize(
    ("agent", "concurrency"),
    [(RandomAgent(), 5), (ScriptedModel(seeded), 1), (ScriptedModel(seeded), 5)],
    ids=["random-5", "model-1", "model-5"],
)
def test_records_are_those_of_one_process(cluster: Any, agent: Any, concurrency: int) -> None:
    jobs = plan([GUESS, PLACED], tasks=6, attempts=2)
    inline = rollout(jobs, agent, executor="inline")
    spread = rollout(jobs, agent, executor="ray", concurrency=concurrency)
    assert digests(spread) == digests(inline)


def test_workers_are_where_their_needs_are_met_and_hold_no_more_than_they_may(
    cluster: Any, workers: list[Any]
) -> None:
    seen: list[tuple[str, frozenset[str], int]] = []

    class Looking(Slow):
        async def complete(self, messages: Any, **kwargs: Any) -> Any:
            reply = await super().complete(messages, **kwargs)
            if self.calls % 10 == 0:
                looks = (worker.run(look) for worker in self.workers if not worker.lost)
                found = await asyncio.gather(*looks, return_exceptions=True)
                seen.extend(row for row in found if isinstance(row, tuple))
            return reply

    jobs = [job for pair in zip(plan([GUESS]), plan([PLACED]), strict=True) for job in pair]
    model = Looking(workers, wanted=5)
    episodes = rollout(jobs, model, executor="ray", concurrency=9)
    assert all(e.success for e in episodes)
    names = {names for _, names, _ in seen}
    assert names <= {frozenset(), frozenset({"guess"}), frozenset({"placed"})}
    placed = [(node, count) for node, names, count in seen if names == {"placed"}]
    assert {node for node, _ in placed} == jvm_nodes()
    assert max(count for _, count in placed) == 2
    assert all(worker.lost for worker in workers), "every actor is gone when the run ends"


def test_kill_9_costs_a_replay_and_no_result(cluster: Any, tmp_path: Path) -> None:
    jobs = plan([GUESS, PLACED], tasks=8)
    ids = [job.task.id for job in jobs]
    agent = Fatal(tmp_path, {ids[0]: 2, ids[8]: 1})
    with RunFolder.create(tmp_path / "run", {"name": "killed"}) as run:
        episodes = rollout(jobs, agent, executor="ray", concurrency=4, run=run)
    assert {task: agent.deaths(task) for task in agent.fatal} == agent.fatal
    lines = (tmp_path / "run" / "episodes.jsonl").read_bytes().splitlines()
    assert len(lines) == len(jobs), "an episode was lost or recorded twice"
    assert digests(episodes) == digests(rollout(jobs, Fatal(tmp_path, {}), executor="inline"))


def test_a_job_that_always_kills_its_worker_fails_and_others_do_not(
    cluster: Any, tmp_path: Path
) -> None:
    jobs = plan([GUESS], tasks=3)
    agent = Fatal(tmp_path, {jobs[1].task.id: 99})
    episodes = rollout(jobs, agent, executor="ray", concurrency=1)
    assert [e.status for e in episodes] == ["completed", "failed", "completed"]
    failure = episodes[1].failure
    assert failure is not None
    assert (failure.where, failure.type) == ("environment", "WorkerDied")
    assert agent.deaths(jobs[1].task.id) == TRIES


def test_every_actor_killed_under_a_model_at_once(cluster: Any, workers: list[Any]) -> None:
    jobs = plan([GUESS, PLACED], tasks=6)
    steps, killed = 0, []

    def watch(event: Any) -> None:
        nonlocal steps
        steps += isinstance(event, StepTaken)
        if steps in (5, 15) and steps not in killed:
            killed.append(steps)
            for worker in workers:
                ray.kill(worker._actor)

    episodes = rollout(jobs, Slow(workers), executor="ray", concurrency=3, on_event=watch)
    assert killed == [5, 15]
    assert digests(episodes) == digests(rollout(jobs, ScriptedModel(halving), executor="inline"))


def test_a_machine_that_leaves_takes_no_result_with_it(cluster: Any, workers: list[Any]) -> None:
    leaving = cluster.add_node(
        num_cpus=1, resources={"jvm": 2}, memory=2**30, object_store_memory=2**27
    )
    jobs = plan([PLACED])
    held = 0

    class Leaving(Slow):
        async def complete(self, messages: Any, **kwargs: Any) -> Any:
            nonlocal held
            reply = await super().complete(messages, **kwargs)
            if self.calls == 9:
                seen = [await w.run(look) for w in self.workers if not w.lost]
                held = held or sum(n for node, _, n in seen if node == leaving.node_id)
                if held:
                    await asyncio.to_thread(cluster.remove_node, leaving, False)
            return reply

    model = Leaving(workers, wanted=3)
    episodes = rollout(jobs, model, executor="ray", concurrency=6)
    assert held > 0, "the machine had episodes when it left"
    assert digests(episodes) == digests(rollout(jobs, ScriptedModel(halving), executor="inline"))


def test_what_no_machine_has_is_named(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_RAY_PATIENCE", "0.5")
    nowhere = EnvChoice(env_id="tests.rollout.placed:tests/Nowhere-v0")
    began = time.monotonic()
    with pytest.raises(ClusterError, match="2 browser is needed, and none has") as error:
        rollout(plan([nowhere], tasks=1), ExpertAgent(), executor="ray")
    assert time.monotonic() - began < 20
    assert "--resources='{\"browser\": 8}'" in str(error.value)
    assert "jvm is needed" not in str(error.value)
    enormous = EnvChoice(env_id="tests.rollout.placed:tests/Enormous-v0")
    with pytest.raises(ClusterError, match=r"1e\+06 CPU is needed, and the most one has is 1 CPU"):
        rollout(plan([enormous], tasks=1), ExpertAgent(), executor="ray")


def test_a_cluster_that_is_busy_is_told_from_one_that_is_too_small(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTGYM_RAY_PATIENCE", "0.5")
    holder = ray.remote(num_cpus=0, resources={"jvm": 3})(Holder).remote()
    ray.get(holder.here.remote())
    try:
        with pytest.raises(ClusterError, match="1 jvm needed and 0 jvm free"):
            rollout(plan([PLACED], tasks=1), ExpertAgent(), executor="ray")
    finally:
        ray.kill(holder)


class Holder:
    def here(self) -> bool:
        return True


def test_the_command_line_plays_on_the_cluster(cluster: Any, tmp_path: Path) -> None:
    words = ["eval", "expert", "--env", "textcraft", "-n", "3", "--executor", "ray"]
    done = subprocess.run(
        [sys.executable, "-m", "agentgym", *words, "--out", str(tmp_path / "run")],
        env={**os.environ, "RAY_ADDRESS": cluster.address},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert len(RunFolder.open(tmp_path / "run").episodes()) == 3


def test_an_address_where_nobody_answers_is_an_error() -> None:
    code = (
        "from agentgym.rollout.ray_cluster import RayCluster\n"
        "from agentgym.core import AgentGymError\n"
        "try: RayCluster([])\n"
        "except AgentGymError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "RAY_ADDRESS": "127.0.0.1:9"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "nothing answers at 127.0.0.1:9" in done.stdout, done.stderr


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_patience_is_a_number_of_seconds(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("AGENTGYM_RAY_PATIENCE", text)
    with pytest.raises(InvalidConfig, match="AGENTGYM_RAY_PATIENCE"):
        RayCluster([])
