"""A lock with a few dials: turn them to the hidden numbers.

The lock says of every turn whether the dial is too low, too high or right, so that an agent which
reads the answers opens it in a few turns a dial, and one which does not runs out of rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym import Command, Edition, Expert, Opening, Outcome, Param, Task, TaskSet, TextEnv
from agentgym.core import grammar, shorten

DIALS = ("left", "middle", "right")
HIGHEST = 20

TURN = Command(
    name="turn",
    template="turn {dial} to {number}",
    description="Turn a dial to a number from 0 to 20.",
    params=(
        Param("dial", "which dial", choices=DIALS),
        Param("number", "where to turn it", "integer"),
    ),
)


class LockExpert(Expert):
    """Sees the hidden numbers, turns each dial there once."""

    def __init__(self, env: MyEnv) -> None:
        self._env = env

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the reason and the turn of the first dial that is not right yet."""
        env = self._env
        dial = next(d for d in env.dials if env.position[d] != env.hidden[d])
        thought = f"The {dial} dial is not right yet; {env.hidden[dial]} is its number."
        return thought, TURN.render({"dial": dial, "number": env.hidden[dial]})


class MyEnv(TextEnv):
    """Open a lock of one, two or three dials."""

    name = "my_env"
    title = "My environment"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(max_rounds=25, about="Sixty locks of one, two and three dials."),
    }
    commands = (TURN,)

    instructions = (
        "You are in front of a lock. Each of its dials has a hidden number from 0 to 20; when all "
        "dials are at their numbers, the lock opens. After every turn you are told whether the "
        f"dial is too low, too high or right.\n{grammar(commands)}\n"
        "Example: turn left to 10"
    )

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return sixty locks: the same ones on every machine, the last third held out."""
        rng = np.random.default_rng(2024)
        rows = []
        for i in range(60):
            dials = DIALS[: 1 + i % 3]
            numbers = {dial: int(rng.integers(1, HIGHEST + 1)) for dial in dials}
            split = "eval" if i >= 40 else "train"
            rows.append((split, f"{len(dials)}-dials", {"numbers": numbers}))
        return TaskSet.build(cls.name, edition, version="1", rows=rows, note="Drawn once, frozen.")

    def _begin(self, task: Task) -> Opening:
        """Build the episode. What is random in it is drawn from `self.rng`, never elsewhere."""
        self.hidden: dict[str, int] = dict(task.spec["numbers"])
        self.dials = list(self.hidden)
        self.position = dict.fromkeys(self.dials, 0)
        listed = ", ".join(self.dials)
        return Opening(f"The lock has these dials: {listed}. All are at 0.", "open the lock")

    def _act(self, action: str) -> Outcome:
        """Play one action. It may be any text at all, and never raises."""
        call = TURN.match(action)
        if call is None:
            said = shorten(action)
            return self._wrong(f'"{said}" is not understood. Say for example: turn left to 10')
        dial, number = call["dial"], call["number"]
        if dial not in self.position:
            return self._wrong(f"This lock has no {dial} dial, only: {', '.join(self.dials)}.")
        if not 0 <= number <= HIGHEST:
            return self._wrong(f"The numbers go from 0 to {HIGHEST}.")
        self.position[dial] = number
        if self.position == self.hidden:
            return Outcome("The lock opens.", score=1.0, done=True, success=True)
        hidden = self.hidden[dial]
        hint = "right" if number == hidden else "too low" if number < hidden else "too high"
        return Outcome(f"The {dial} dial is at {number}, which is {hint}.", self._progress())

    def _sample(self, rng: np.random.Generator) -> str:
        """Return a random sensible action; needed because `_actions` lists none."""
        dial = self.dials[int(rng.integers(len(self.dials)))]
        return TURN.render({"dial": dial, "number": int(rng.integers(HIGHEST + 1))})

    def _make_expert(self) -> Expert:
        return LockExpert(self)

    def _progress(self) -> float:
        """Return the share of dials that are right: the score, which rewards add up to."""
        return sum(self.position[d] == self.hidden[d] for d in self.dials) / len(self.dials)

    def _wrong(self, message: str) -> Outcome:
        return Outcome(message, self._progress(), valid=False)
