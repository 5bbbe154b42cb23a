"""The contract: text in, text out.

`TextEnv` keeps every promise that does not depend on what is being simulated: choosing the task,
counting rounds, turning scores into rewards, refusing what is not an action, snapshots,
and Gymnasium's own rules. An environment supplies five small hooks and never touches the rest:

- `load_tasks(edition, data_dir)`: the frozen `TaskSet` of an edition;
- `_begin(task)`: build the episode, return its first observation and goal;
- `_act(action)`: play one action, return an `Outcome`;
- `_actions()`: what can be done now, or None where that is open;
- `_make_expert()`: an `Expert` for the current episode.

An engine that can copy its state also supplies `_save` and `_load`; without them a snapshot is
restored by replaying the actions, which is why an episode must follow from the task, the seed and
the actions alone.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from agentgym.core import snapshot
from agentgym.core.command import Command
from agentgym.core.errors import BrokenContract, InvalidConfig, UnknownSplit
from agentgym.core.expert import Expert
from agentgym.core.loading import load_tasks
from agentgym.core.needs import EnvNeeds
from agentgym.core.options import whole
from agentgym.core.outcome import Edition, Opening, Outcome
from agentgym.core.space import UnicodeText
from agentgym.core.task import SPLITS, Task, TaskSet


class TextEnv(gymnasium.Env[str, str]):
    """A text environment for one agent.

    Args:
        edition: which set of tasks to play ("mini" or "official").
        split: the split `reset` picks from when it is given no task.
        max_rounds: rounds before truncation; None takes the edition's default.
        render_mode: "ansi" (text), "rgb_array" where there is a picture, or None.
        data_dir: where the official edition's files lie; None takes `$AGENTGYM_DATA`.

    Raises:
        UnknownEdition: if the environment has no such edition.
        UnknownSplit: if the split is neither "train" nor "eval".
        InvalidConfig: if another option has a value that cannot be used.
        MissingData: if the edition's data is not there.
        MissingExtra: if an optional dependency is not installed.
    """

    name: ClassVar[str]
    """Prefix of the task ids ("textcraft")."""
    title: ClassVar[str]
    """The name people use ("TextCraft")."""
    editions: ClassVar[Mapping[str, Edition]]
    commands: ClassVar[tuple[Command, ...]] = ()
    """The action grammar; empty where it cannot be listed."""
    max_action_length: ClassVar[int] = 10_000
    """Longer actions are refused unread, so that no parser meets a megabyte."""
    multiline_actions: ClassVar[bool] = False
    """Whether an action may have several lines (SQL); elsewhere the first line is the action."""
    blocking: ClassVar[bool] = False
    """Whether a step waits for another process; the rollout then steps it in a thread."""
    needs: EnvNeeds = EnvNeeds()
    """What a worker process of it takes from a machine; an option may change it for one object."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}  # type: ignore[misc]

    _init_arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments, so that `fork` and pickling can make the same environment."""
        env = super().__new__(cls)
        env._init_arguments = (args, kwargs)
        return env

    def __init__(
        self,
        *,
        edition: str = "mini",
        split: str = "eval",
        max_rounds: int | None = None,
        render_mode: str | None = None,
        data_dir: str | None = None,
    ) -> None:
        if split not in SPLITS:
            raise UnknownSplit("split", split, SPLITS)
        if max_rounds is not None:
            max_rounds = whole("max_rounds", max_rounds)
        if data_dir is not None and not isinstance(data_dir, str | os.PathLike):
            raise InvalidConfig(f"data_dir must be a folder's path, got {data_dir!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidConfig(
                f"render_mode must be None or one of {self.metadata['render_modes']}, "
                f"got {render_mode!r}"
            )
        self.tasks: TaskSet = load_tasks(type(self), edition, data_dir)
        self.edition, self.split, self.data_dir = edition, split, data_dir
        self.render_mode = render_mode
        self.max_rounds = max_rounds or self.editions[edition].max_rounds
        self._own_max_rounds: int | None = None  # ours, while a snapshot's limit is in force
        self.action_space = UnicodeText()
        self.observation_space = UnicodeText()
        self.task: Task | None = None
        self._history: list[str | None] = []
        self._goal, self._observation = "", ""
        self._score, self._success, self._valid = 0.0, False, True
        self._terminated, self._truncated = False, False
        self._seed, self._closed = 0, False
        self._rng: np.random.Generator | None = None

    # What an environment supplies.

    @classmethod
    @abstractmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition; called once a process and then cached."""
        raise NotImplementedError

    @property
    @abstractmethod
    def instructions(self) -> str:
        """What a model must be told before the first observation: the rules and the grammar."""
        raise NotImplementedError(f"{type(self).__name__} has no instructions")

    @abstractmethod
    def _begin(self, task: Task) -> Opening:
        """Build the episode of a task."""

    @abstractmethod
    def _act(self, action: str) -> Outcome:
        """Play one action; never raise because of what it says."""

    def _actions(self) -> list[str] | None:
        """Return a new list of what can be done now, or None where that is open."""
        return None

    def _make_expert(self) -> Expert:
        raise NotImplementedError(f"{type(self).__name__} ships no expert")

    def _sample(self, rng: np.random.Generator) -> str:
        """Return a random sensible action; an open action space overrides this."""
        actions = self._actions()
        if actions:
            return actions[int(rng.integers(len(actions)))]
        self.action_space.seed(int(rng.integers(2**31)))
        return self.action_space.sample()

    def _info(self) -> dict[str, Any]:
        """Return what `info` holds beyond the contract."""
        return {}

    def _save(self) -> Any:
        """Return a JSON-able copy of the engine's state, or None to be restored by replay."""
        return None

    def _load(self, saved: Any) -> None:
        """Restore what `_save` returned; `_begin` has been called for the task."""
        raise NotImplementedError

    def _render_text(self) -> str:
        """Return the present state as text for people."""
        return self._observation

    def _render_rgb(self) -> NDArray[np.uint8]:
        """Return the present state as a picture of shape (height, width, 3)."""
        raise NotImplementedError

    def _close(self) -> None:
        """Release what the engine holds; called at most once."""

    # What every environment keeps.

    @property
    def rng(self) -> np.random.Generator:
        """The episode's own generator: it follows from the seed and the task, nothing else."""
        if self._rng is None:
            index = self.task.index if self.task else 0
            self._rng = np.random.default_rng([self._seed, index])
        return self._rng

    @property
    def rounds(self) -> int:
        """Rounds spent in this episode."""
        return len(self._history)

    @property
    def history(self) -> tuple[str | None, ...]:
        """The actions of this episode so far; None where a round was forfeited."""
        return tuple(self._history)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seeds `np_random`, which picks the task where none is named.
            options: {"task_id": "textcraft_12"} plays that task; {"split": "train"} picks from
                another split this once.

        Returns:
            The first observation, and info with `task_id`, `goal`, `score`, `success`, `valid`,
            `actions` and `rounds`.

        Raises:
            UnknownTask: if there is no task of that id.
            InvalidConfig: if an option is not known, or the split has no tasks.
        """
        super().reset(seed=seed)
        task = self._choose(options or {})
        if self._own_max_rounds is not None:
            self.max_rounds, self._own_max_rounds = self._own_max_rounds, None
        self._seed = int(self.np_random.integers(2**31)) if seed is None else int(seed)
        return self._start(task)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one bare action.

        Returns:
            Observation, reward (the change of the score), terminated, truncated, info.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset and after the episode's end.
        """
        self._require_running()
        if isinstance(action, str) and len(action) <= self.max_action_length:
            return self._advance(action, self._act(action))
        return self._advance(*self._unread(action))

    def forfeit(self, message: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Spend a round without acting, as when a model's reply holds no action.

        Args:
            message: what the agent is told; it becomes the observation.
        """
        self._require_running()
        return self._advance(None, self._refuse(message))

    def sample_action(self, rng: np.random.Generator) -> str:
        """Return a random action that makes sense here, drawn from `rng`."""
        return self._sample(rng)

    def expert(self) -> Expert:
        """Return a fresh expert for the current episode."""
        if self.task is None:
            raise ResetNeeded("call reset() before expert()")
        return self._make_expert()

    def get_state(self) -> dict[str, Any]:
        """Return a snapshot of the episode: JSON values only, good in any process."""
        if self.task is None:
            raise ResetNeeded("call reset() before get_state()")
        return snapshot.take(self)

    def set_state(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return to a snapshot, of this environment or another of the same tasks.

        Returns:
            The observation and info of that moment.

        Raises:
            InvalidState: if the snapshot is of another environment, edition or version, or if
                replaying it does not lead to the observation it holds.
        """
        snapshot.restore(self, state)
        return self._observation, self._report()

    def fork(self) -> Self:
        """Return a new environment of the same options, at this moment of this episode."""
        args, kwargs = self._init_arguments
        twin = type(self)(*args, **kwargs)
        if self.task is not None:
            twin.set_state(self.get_state())
        return twin

    def render(self) -> Any:
        """Return the present state: a picture in mode "rgb_array", else text."""
        if self.task is None:
            raise ResetNeeded("call reset() before render()")
        return self._render_rgb() if self.render_mode == "rgb_array" else self._render_text()

    def close(self) -> None:
        """Release everything; twice without harm."""
        if not self._closed:
            self._closed = True
            self.task = None  # nothing can be played until the next reset
            self._close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deep-copy by snapshot, so that no engine needs to be picklable."""
        state = self.get_state() if self.task is not None else None
        return _rebuild, (type(self), *self._init_arguments, state)

    # The machinery behind them.

    def _choose(self, options: Mapping[str, Any]) -> Task:
        if not isinstance(options, Mapping):
            raise InvalidConfig(
                f'reset options are a mapping like {{"task_id": …}}, got {options!r}'
            )
        for key in options:
            if key not in ("task_id", "split"):
                raise InvalidConfig(f"unknown reset option {key!r}; known: task_id, split")
        if options.get("task_id") is not None:
            return self.tasks.get(options["task_id"])
        split = options.get("split") or self.split
        candidates = self.tasks.split(split)
        if not candidates:
            raise InvalidConfig(
                f"the {self.edition} edition of {self.name} has no {split} tasks; name a task_id "
                "or another split"
            )
        return candidates[int(self.np_random.integers(len(candidates)))]

    def _start(self, task: Task) -> tuple[str, dict[str, Any]]:
        self.task, self._rng, self._closed = task, None, False
        self._history = []
        self._score, self._success, self._valid = 0.0, False, True
        self._terminated, self._truncated = False, False
        opening = self._begin(task)
        try:
            self._observation, self._goal = opening
        except (TypeError, ValueError):
            raise self._broken("_begin", "an Opening", opening) from None
        return self._observation, self._report()

    def _require_running(self) -> None:
        if self.task is None:
            raise ResetNeeded("call reset() before step()")
        if self._terminated or self._truncated:
            raise ResetNeeded("the episode has ended: call reset() before the next step()")

    def _unread(self, action: object) -> tuple[str | None, Outcome]:
        """Refuse what is no text or too long; a caller's mistake must not break the episode."""
        if isinstance(action, str):
            message = (
                f"Your action has {len(action)} characters; at most {self.max_action_length} "
                "are read. Give one short action."
            )
            return action, self._refuse(message)
        # What is no text cannot be replayed as an action: the round is recorded as forfeited.
        return None, self._refuse(f"An action is text, not {type(action).__name__}.")

    def _refuse(self, message: str) -> Outcome:
        return Outcome(message, self._score, valid=False)

    def _advance(
        self, action: str | None, outcome: Outcome
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._history.append(action)
        try:
            observation, score, done, success, valid = outcome
            reward = score - self._score
        except (TypeError, ValueError):
            raise self._broken("_act", "an Outcome", outcome) from None
        self._observation, self._score, self._success, self._valid = (
            observation, score, success, valid,
        )  # fmt: skip
        self._terminated = done
        self._truncated = not done and len(self._history) >= self.max_rounds
        return observation, reward, done, self._truncated, self._report()

    def _broken(self, hook: str, wanted: str, got: object) -> BrokenContract:
        return BrokenContract(f"{type(self).__name__}.{hook} must return {wanted}, not {got!r:.80}")

    def _report(self) -> dict[str, Any]:
        assert self.task is not None
        return {
            "task_id": self.task.id,
            "goal": self._goal,
            "score": self._score,
            "success": self._success,
            "valid": self._valid,
            "actions": self._actions(),
            "rounds": len(self._history),
            **self._info(),
        }


def _rebuild(
    env_class: type[TextEnv],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    state: Mapping[str, Any] | None,
) -> TextEnv:
    env = env_class(*args, **kwargs)
    if state is not None:
        env.set_state(state)
    return env
