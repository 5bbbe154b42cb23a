"""An environment that does on demand what a server must survive."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import ClassVar

import gymnasium

from agentgym.core import Edition, Opening, Outcome, Task, TaskSet, TextEnv

ID = "tests.serve.faulty:tests/Faulty-v0"


class FaultyEnv(TextEnv):
    """Echoes what it is told, and obeys "sleep 0.5", "raise", "leave", "exit" and the like."""

    name = "faulty"
    title = "Faulty"
    editions: ClassVar = {"mini": Edition(1_000_000, "One task and another.")}

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        rows = [("eval" if i % 2 else "train", "any", {"number": i}) for i in range(20)]
        return TaskSet.build("faulty", edition, "1", rows)

    @property
    def instructions(self) -> str:
        return "Say anything."

    def _begin(self, task: Task) -> Opening:
        self._said: list[str] = []
        return Opening(f"task {task.index}, draw {self.rng.integers(1000)}", "say done")

    def _act(self, action: str) -> Outcome:
        verb, _, rest = action.partition(" ")
        if verb == "sleep":
            time.sleep(float(rest))
        elif verb == "raise":
            raise RuntimeError("on demand")
        elif verb == "leave":
            raise SystemExit(action)
        elif verb == "exit":
            os._exit(3)
        elif verb == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif verb == "freeze":  # holds the interpreter's lock, as a bad C extension would
            re.match(r"(a+)+$", "a" * 40 + "b")
        elif verb == "fill":
            self._said.append("x" * int(rest) * 2**20)
        elif verb == "exit-once" and not Path(rest).exists():
            Path(rest).touch()  # the second process, which plays it again, survives
            os._exit(3)
        self._said.append(action[:100])
        done = action == "done"
        said = f"{len(self._said)}: {action[:200]} ({self.rng.integers(1000)})"
        return Outcome(said, float(done), done=done, success=done)


gymnasium.register("tests/Faulty-v0", entry_point=FaultyEnv, disable_env_checker=True,
                   order_enforce=False)  # fmt: skip
