"""Episodes a second of the rollout engine, with a model that answers at once.

The model replies with the next action of the expert's plan, computed beforehand: what is timed is
the engine: conversations, reading replies, stepping, records, the run folder on disk. TextCraft,
mini edition, all eval tasks. Also checks that the records are the same at concurrency 1, 16 and 64
and in processes with other hash seeds.

    python benchmarks/engine.py
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from machine import write_result

from agentgym.agents import ChatAgent, Message, Reply
from agentgym.agents.expert import ExpertAgent
from agentgym.rollout import EnvChoice, Job, RunFolder, plan, rollout

CHOICE = EnvChoice(env_id="agentgym/TextCraft-v0")


class Recital(ChatAgent):
    """Says what was recorded for the goal, turn by turn, at once."""

    name = "recital"

    def __init__(self, lines: dict[str, list[str]]) -> None:
        self.lines = lines

    async def complete(self, messages: Sequence[Message], **_: object) -> Reply:
        """Return the next recorded reply of the episode with this first observation."""
        return Reply(self.lines[messages[2].content][(len(messages) - 3) // 2])


def recital(jobs: list[Job]) -> Recital:
    """Record the expert's replies, by first observation."""
    episodes = rollout(jobs, ExpertAgent())
    return Recital({e.observation: [s.reply for s in e.steps] for e in episodes})


def digest(jobs: list[Job], model: Recital, concurrency: int) -> str:
    """Return a digest over the records of a run."""
    digests = [e.digest for e in rollout(jobs, model, concurrency=concurrency)]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def main() -> None:
    """Measure and write the result."""
    if sys.argv[1:] == ["digest"]:
        jobs = plan([CHOICE], tasks=60)
        print(digest(jobs, recital(jobs), 16))
        return
    jobs = plan([CHOICE], attempts=5)
    model = recital(plan([CHOICE]))
    rows = []
    for concurrency in (1, 16, 64):
        with tempfile.TemporaryDirectory() as folder:
            run = RunFolder.create(Path(folder) / "run", {})
            start = time.perf_counter()
            episodes = rollout(jobs, model, run=run, concurrency=concurrency)
            seconds = time.perf_counter() - start
            run.close()
        rounds = sum(e.rounds for e in episodes)
        rows.append(
            f"| {concurrency} | {len(episodes)} | {rounds} | {len(episodes) / seconds:,.0f} | "
            f"{rounds / seconds:,.0f} |"
        )
        print(rows[-1])
    few = plan([CHOICE], tasks=60)
    same = {digest(few, model, concurrency) for concurrency in (1, 16, 64)}
    for seed in ("0", "1", "4242"):
        out = subprocess.run(
            [sys.executable, __file__, "digest"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        same.add(out.stdout.strip())
    body = (
        "| concurrency | episodes | rounds | episodes/s | rounds/s |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nClaim: at least 500 episodes a second. Records of 60 tasks at concurrency 1, 16 and "
        f"64 and under PYTHONHASHSEED 0, 1 and 4242: {len(same)} distinct digest(s)."
    )
    path = write_result("engine", "Rollout engine", "python benchmarks/engine.py", body)
    print(f"distinct digests: {len(same)}; written to {path}")


if __name__ == "__main__":
    main()
