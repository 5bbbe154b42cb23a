"""The environment under which tools are called: what the five tool environments share.

It reads a call, answers it in the published layout, keeps count of the subgoals that were reached,
and ends on a call of a tool that ends, which the published servers also did wherever the word
"finish" stood in an argument. What was wrong with a call is said in the published words first and
then in a sentence that says what to change; nothing has happened then.

A task's spec holds `goal`, `answer` (see `agentgym.envs.tools.answers`) and, where there are steps
on the way that count, `subgoals`: calls such as `{"call": "get_elevation", "arguments": {...}}`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Opening, Outcome, Task, TextEnv
from agentgym.core.call import read_call, write_call
from agentgym.core.errors import InvalidConfig, InvalidState, did_you_mean
from agentgym.envs.tools.answers import accepts
from agentgym.envs.tools.cassette import Cassette, Mode
from agentgym.envs.tools.errors import ToolError
from agentgym.envs.tools.sampling import sample_arguments
from agentgym.envs.tools.tool import Tool
from agentgym.envs.tools.toolkit import Tools

FORMAT_ERROR = (
    'Format error, please response in the format of  "Action: [your action] with Action Input: '
    "[your action input]"
)
"""The published answer to an action that cannot be read."""

HOW = """Call one function a round:
Action: [function name] with Action Input: [its arguments, a JSON object]
A function without parameters takes {}. The answer comes back as the next observation. The task \
ends when you call finish, and only then."""


class ToolEnv(TextEnv):
    """Answer a question, or do a job, by calling functions.

    Args:
        backend: "local", the embedded world, or "live", the real service; None takes the edition's
            default.
        cassette: a file that live calls are recorded to or replayed from.
        cassette_mode: "record", "replay" (nothing but the file answers) or "cache".
        options: see `TextEnv`.

    Raises:
        InvalidConfig: if there is no such backend, or a cassette is given without "live".
    """

    toolkit: ClassVar[type[Tools]]
    """The tools."""
    introduction: ClassVar[str]
    """What the agent is and what the functions are about; the prompt begins with it."""
    example: ClassVar[str]
    """A worked example that ends the prompt: Goal, Thought, Action, Observation, as text."""
    backends: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """By edition, what may answer, the default first; only "local" where nothing is said."""
    multiline_actions = True
    max_action_length = 50_000

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "toolkit" in vars(cls):
            cls.commands = tuple(t.command for t in cls.toolkit.catalogue.values())

    def __init__(
        self,
        *,
        backend: str | None = None,
        cassette: str | None = None,
        cassette_mode: Mode = "cache",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        known = self.backends.get(self.edition, ("local",))
        self.backend = known[0] if backend is None else backend
        if self.backend not in known:
            raise InvalidConfig(
                f"the {self.edition} edition of {self.title} is answered by "
                f"{' or '.join(known)}, not by {backend!r}"
            )
        if cassette is not None and self.backend != "live":
            raise InvalidConfig('a cassette records live calls; give backend="live" as well')
        self.blocking = self.backend == "live"  # type: ignore[misc]  # of this one environment
        self.cassette = Cassette(cassette, cassette_mode) if cassette is not None else None
        self.kit: Tools
        self.last_result: Any = None
        self._reached: set[int] = set()

    # What an environment supplies.

    @abstractmethod
    def _open(self, task: Task) -> Tools:
        """Return the tools of a task's episode, over its own state."""

    def _is_right(self, task: Task, arguments: Mapping[str, Any]) -> bool:
        """Return whether the call that ended the episode, and the state, are what was asked for."""
        return accepts(task.spec["answer"], arguments.get("answer"))

    def _reaches(self, subgoal: Any, name: str, arguments: Mapping[str, Any], result: Any) -> bool:
        """Return whether a call reaches a subgoal: by default, one of these arguments at least."""
        if name != subgoal["call"]:
            return False
        wanted = subgoal.get("arguments", {})
        return all(_same(arguments.get(key), value) for key, value in wanted.items())

    # What every tool environment keeps.

    @property
    def instructions(self) -> str:
        """The introduction, the functions, how to call them, and a worked example."""
        listing = self.toolkit.catalogue.listing
        return (
            f"{self.introduction.strip()}\n\nFunctions:\n\n{listing}\n\n{HOW}\n\n"
            f"An example:\n{self.example.strip()}"
        )

    def _begin(self, task: Task) -> Opening:
        if self.cassette is not None:
            self.cassette.begin(task.id)
        self.kit = self._open(task)
        self.last_result, self._reached = None, set()
        goal = task.spec["goal"]
        text = (
            "Now new trial starts.\nYou should perform actions to accomplish the goal: "
            f"{goal}\nGive me one action."
        )
        return Opening(text, goal)

    def _act(self, action: str) -> Outcome:
        try:
            name, arguments = read_call(action)
        except ValueError as error:
            return self._wrong(f"{FORMAT_ERROR} Here {error}.")
        found = self.toolkit.catalogue.get(name)
        if found is None:
            near = did_you_mean(name, self.toolkit.catalogue, limit=20)
            return self._wrong(f"ERROR | Invalid action: {name}. {near}".strip())
        try:
            values = found.read(arguments)
            result = found.method(self.kit, **values)
        except ToolError as error:
            return self._wrong(f"ERROR | {error.label}({error})")
        self.last_result = result
        return self._played(found, values, result)

    def _played(self, found: Tool, arguments: Mapping[str, Any], result: Any) -> Outcome:
        assert self.task is not None
        subgoals = self.task.spec.get("subgoals", ())
        if len(self._reached) < len(subgoals):
            for i, subgoal in enumerate(subgoals):
                if i not in self._reached and self._reaches(subgoal, found.name, arguments, result):
                    self._reached.add(i)
        right = found.ends and self._is_right(self.task, arguments)
        score = self._progress(self.task, found, right)
        return Outcome(_told(result), score, done=found.ends, success=right)

    def _progress(self, task: Task, found: Tool, right: bool) -> float:
        """Return the score: 1 where all is right, else the share of subgoals, the answer one."""
        if right:
            return 1.0
        return len(self._reached) / (len(task.spec.get("subgoals", ())) + 1)

    def _wrong(self, message: str) -> Outcome:
        return self._refuse(_told(message))

    def _save(self) -> Any:
        kit = self.kit.save()
        return None if kit is None else {"kit": kit, "reached": sorted(self._reached)}

    def _load(self, saved: Any) -> None:
        assert self.task is not None
        reached, count = saved["reached"], len(self.task.spec.get("subgoals", ()))
        if not all(type(i) is int and 0 <= i < count for i in reached):
            raise InvalidState(f"the snapshot names the subgoals {reached!r} of {count}")
        self._reached = set(reached)
        self.kit.load(saved["kit"])

    def _sample(self, rng: np.random.Generator) -> str:
        """Draw a function and arguments of the right kinds; finish one time in twenty."""
        items = list(self.toolkit.catalogue.values())
        ends = int(rng.integers(20)) == 0
        candidates = [t for t in items if t.ends is ends] or items
        chosen = candidates[int(rng.integers(len(candidates)))]
        return write_call(chosen.name, self._sample_arguments(chosen, rng))

    def _sample_arguments(self, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
        """Draw arguments; an environment that knows better (ids that exist) overrides this."""
        return sample_arguments(chosen, rng)

    def _close(self) -> None:
        if self.cassette is not None:
            self.cassette.close()

    def _render_text(self) -> str:
        return (
            f"{self.title}  round {self.rounds} of {self.max_rounds}\nGoal: {self._goal}\n\n"
            f"{self._observation}"
        )


def _told(result: Any) -> str:
    """Return an observation in the published layout; values are written as Python writes them."""
    return f"Observation: {result}\nGive me one action."


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(wanted, float | int) and isinstance(given, float | int):
        return abs(given - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return bool(given == wanted)
