"""Many text environments behind one `gymnasium.vector.VectorEnv`.

One class for both: the environments lie in this process, one played after the other, or are spread
over worker processes that play at the same time. Whichever it is changes no result: environment i
is seeded with `seed + i`, an error in one does not keep the others from their turn, and of several
errors the one of the lowest index is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from multiprocessing.util import Finalize
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import (
    AlreadyPendingCallError,
    ClosedEnvironmentError,
    NoAsyncCallError,
    ResetNeeded,
)
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentgym.core.errors import InvalidConfig, did_you_mean
from agentgym.core.options import amount, whole
from agentgym.core.vector.host import (
    Answer,
    Command,
    Description,
    EnvMaker,
    Host,
    LocalRunner,
    Moment,
    Runner,
)
from agentgym.core.vector.infos import batch_infos
from agentgym.core.vector.options import autoreset_mode_of, split_options, split_seed
from agentgym.core.vector.pool import WorkerPool
from agentgym.core.vector.worker import WorkerLost

Texts = tuple[str, ...]
Step = tuple[Texts, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]

ON_WORKER_DEATH = ("raise", "restart")


class TextVectorEnv(VectorEnv[Texts, Sequence[str | None], NDArray[Any]]):
    """A batch of text environments.

    Args:
        env_fns: makes the environments, one each; they may be of different kinds.
        workers: how many processes they are spread over; 0 plays them in this one.
        autoreset_mode: what happens when an episode ends. "NextStep": the step after it begins the
            next one, whatever the action; "SameStep": the step itself does, and `infos` holds
            "final_obs" and "final_info"; "Disabled": nothing does but `reset`.
        on_worker_death: "raise" `WorkerLost`, or "restart" the process and play its episodes again
            up to where they were.
        worker_timeout: seconds a call may take before the workers that have not answered are ended
            and count as lost; None waits without end.

    Attributes:
        infos: the last info of each environment, as the environment itself gave it.

    Raises:
        InvalidConfig: if an option cannot be used, or the environments cannot be batched.
        WorkerLost: if a worker process ended while starting.

    >>> import gymnasium, agentgym
    >>> envs = gymnasium.make_vec("agentgym/Wordle-v0", num_envs=2)
    >>> observations, infos = envs.reset(seed=1, options={"task_ids": ["wordle_3", "wordle_4"]})
    >>> len(observations), list(infos["task_id"]), envs.infos[1]["task_id"]
    (2, ['wordle_3', 'wordle_4'], 'wordle_4')
    >>> envs.close()
    """

    def __init__(
        self,
        env_fns: Sequence[EnvMaker],
        *,
        workers: int = 0,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        on_worker_death: str = "raise",
        worker_timeout: float | None = None,
    ) -> None:
        self.num_envs = whole("the number of environments", len(env_fns))
        self.autoreset_mode = autoreset_mode_of(autoreset_mode)
        workers = min(whole("workers", workers, 0), self.num_envs)
        if on_worker_death not in ON_WORKER_DEATH:
            offer = did_you_mean(str(on_worker_death), ON_WORKER_DEATH)
            raise InvalidConfig(f"unknown on_worker_death {on_worker_death!r}. {offer}")
        if worker_timeout is not None:
            worker_timeout = amount("worker_timeout", worker_timeout, 0.001)
        self._runner, looks = self._start(env_fns, workers, on_worker_death, worker_timeout)
        # Called when this object is collected, or at the end of the process before its children
        # are ended: no worker outlives its vector.
        self._finalizer = Finalize(self, self._runner.close, exitpriority=100)
        self._describe(looks)
        self._observations = [""] * self.num_envs
        self.infos: tuple[dict[str, Any], ...] = ({},) * self.num_envs
        self._ended = np.zeros(self.num_envs, dtype=np.bool_)
        self._unsettled = np.ones(self.num_envs, dtype=np.bool_)  # until their first reset
        self._pending: list[Command] | None = None

    # What a user calls.

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Texts, dict[str, Any]]:
        """Begin episodes.

        Args:
            seed: environment i is seeded with `seed + i`, or with `seed[i]`.
            options: {"task_ids": [...]} names each environment's task (None leaves it to its
                generator); {"reset_mask": array of bool} leaves the others as they are; "task_id"
                and "split" are the same for all.

        Returns:
            Every environment's observation, and the infos of those that were reset.

        Raises:
            InvalidConfig: if a list has another length, or an option is not known.
            UnknownTask: if there is no task of an id.
        """
        self._require_free("reset")
        seeds = split_seed(seed, self.num_envs)
        mask, each = split_options(options, self.num_envs)
        commands = [
            Command(i, "reset", (seeds[i], each[i])) for i in range(self.num_envs) if mask[i]
        ]
        moments = self._moved(commands)
        return tuple(self._observations), self._batched(moments)

    def step(self, actions: Sequence[str | None]) -> Step:
        """Play one action in each environment.

        Args:
            actions: a text each; None forfeits the round of its environment.

        Returns:
            Observations, rewards, terminated, truncated, infos; the arrays have shape (num_envs,).

        Raises:
            gymnasium.error.ResetNeeded: if an environment must be reset before it can be played.
            InvalidConfig: if there is not one action an environment.
            WorkerLost: if a worker process was lost; the other environments have played.
        """
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: Sequence[str | None]) -> None:
        """Begin a step; worker processes play it until `step_wait` asks for the result."""
        self._require_free("step_async")
        if isinstance(actions, str) or len(actions) != self.num_envs:
            got = "one text" if isinstance(actions, str) else f"{len(actions)}"
            raise InvalidConfig(f"step takes {self.num_envs} actions, one each, got {got}")
        self._require_playable()
        commands = [
            Command(i, "reset", (None, None))
            if self._ended[i]
            else Command(i, "step", (str(a) if isinstance(a, str) else a,))
            for i, a in enumerate(actions)
        ]
        self._submit(commands)
        self._pending = commands

    def step_wait(self) -> Step:
        """Return the result of the step that `step_async` began."""
        self._require_open()
        if self._pending is None:
            raise NoAsyncCallError("step_wait() before step_async()", "step")
        commands, self._pending = self._pending, None
        moments = self._settled(self._collect(commands))
        every = [moments[i] for i in range(self.num_envs)]
        return (
            tuple(self._observations),
            np.array([m.reward for m in every], dtype=np.float64),
            np.array([m.terminated for m in every], dtype=np.bool_),
            np.array([m.truncated for m in every], dtype=np.bool_),
            self._batched(moments),
        )

    def get_states(self) -> list[dict[str, Any]]:
        """Return a snapshot of every environment: JSON values, good in any process."""
        return list(self._asked("get_states", "get_state"))

    def set_states(
        self, states: Sequence[Mapping[str, Any] | None]
    ) -> tuple[Texts, dict[str, Any]]:
        """Return environments to snapshots; None leaves one as it is.

        Returns:
            Every environment's observation, and the infos of those that were set.

        Raises:
            InvalidState: if a snapshot is damaged or of other tasks.
        """
        self._require_free("set_states")
        self._require_one_each("states", states)
        commands = [Command(i, "set_state", (s,)) for i, s in enumerate(states) if s is not None]
        moments = self._moved(commands)
        return tuple(self._observations), self._batched(moments)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every environment, or get an attribute, and return the results.

        Raises:
            InvalidConfig: if it is one of those that the vector has itself.
            EnvironmentFailed: if a result cannot be sent from a worker process.
        """
        if name in ("reset", "step", "close", "set_state", "forfeit"):
            raise InvalidConfig(
                f"call({name!r}) would leave the vector in the dark: use its own reset, step (with "
                "None to forfeit a round), set_states or close"
            )
        return self._asked("call", "call", name, args, kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every environment."""
        return self._asked("get_attr", "get_attr", name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every environment: each to its own of a list or tuple, or all to one.

        Raises:
            InvalidConfig: if a list or tuple has another length.
        """
        self._require_free("set_attr")
        if not isinstance(values, list | tuple):
            values = [values] * self.num_envs
        self._require_one_each("values", values)
        commands = [Command(i, "set_attr", (name, value)) for i, value in enumerate(values)]
        self._submit(commands)
        self._raise_first(self._collect(commands))

    def render(self) -> tuple[Any, ...]:
        """Return what each environment's `render` gives."""
        return self._asked("render", "call", "render", (), {})

    def close_extras(self, **kwargs: Any) -> None:
        """Close every environment and end every worker process."""
        self._finalizer()

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each environment's `np_random`."""
        return self.get_attr("np_random_seed")

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Each environment's generator; a copy, where it lies in a worker process."""
        return self.get_attr("np_random")

    # The machinery behind them.

    def _start(
        self,
        env_fns: Sequence[EnvMaker],
        workers: int,
        on_worker_death: str,
        worker_timeout: float | None,
    ) -> tuple[Runner, dict[int, Description]]:
        if not workers:
            host = Host(dict(enumerate(env_fns)), self.autoreset_mode)
            return LocalRunner(host), host.descriptions()
        pool = WorkerPool(
            env_fns,
            workers,
            self.autoreset_mode,
            restart=on_worker_death == "restart",
            timeout=worker_timeout,
        )
        return pool, pool.descriptions

    def _describe(self, looks: Mapping[int, Description]) -> None:
        first = looks[0]
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = first.render_mode
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        same = all(
            (look.observation_space, look.action_space)
            == (first.observation_space, first.action_space)
            for look in looks.values()
        )
        if not same or not isinstance(self.observation_space, spaces.Tuple):
            self.close()
            raise InvalidConfig(
                "the environments of one vector must have the same spaces, and they must be of text"
            )

    def _asked(self, what: str, name: str, *args: Any) -> tuple[Any, ...]:
        """Ask every environment something that leaves it where it is."""
        self._require_free(what)
        commands = [Command(i, name, args) for i in range(self.num_envs)]
        self._submit(commands)
        answers = self._collect(commands)
        self._raise_first(answers)
        return tuple(answer.value for answer in answers)

    def _moved(self, commands: list[Command]) -> dict[int, Moment]:
        self._submit(commands)
        return self._settled(self._collect(commands))

    def _submit(self, commands: list[Command]) -> None:
        try:
            self._runner.submit(commands)
        except WorkerLost as lost:
            self._unsettled[list(lost.environments)] = True
            raise

    def _collect(self, commands: list[Command]) -> list[Answer]:
        """Return the answers; after an interruption nobody knows where an environment stands."""
        try:
            answers = self._runner.collect()
        except BaseException:
            self._unsettled[[command.env for command in commands]] = True
            raise
        for answer in answers:
            if isinstance(answer.error, WorkerLost):
                self._unsettled[list(answer.error.environments)] = True
        return answers

    def _settled(self, answers: list[Answer]) -> dict[int, Moment]:
        """Take in where the environments stand now, then raise what was raised."""
        infos = list(self.infos)
        moments: dict[int, Moment] = {}
        for answer in answers:
            i = answer.env
            self._unsettled[i] = answer.error is not None
            if answer.error is None:
                moment = moments[i] = answer.value
                self._observations[i], infos[i] = moment.observation, moment.info
                self._ended[i] = moment.ended
        self.infos = tuple(infos)
        self._raise_first(answers)
        return moments

    def _raise_first(self, answers: list[Answer]) -> None:
        failed = [answer for answer in answers if answer.error is not None]
        if not failed:
            return
        first = failed[0]
        assert first.error is not None
        if not isinstance(first.error, WorkerLost):
            also = ", ".join(str(answer.env) for answer in failed[1:])
            more = f"; so did environments {also}" if also else ""
            where = f":\n{first.raised_at}" if first.error.__traceback__ is None else ""
            first.error.add_note(f"environment {first.env} of the vector raised it{more}{where}")
        raise first.error

    def _batched(self, moments: Mapping[int, Moment]) -> dict[str, Any]:
        return batch_infos({i: moment.info for i, moment in moments.items()}, self.num_envs)

    def _require_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("this vector of environments has been closed")

    def _require_free(self, what: str) -> None:
        self._require_open()
        if self._pending is not None:
            raise AlreadyPendingCallError(f"{what}() before step_wait()", "step")

    def _require_playable(self) -> None:
        stuck = self._unsettled
        if self.autoreset_mode is AutoresetMode.DISABLED:
            stuck = stuck | self._ended
        if stuck.any():
            which = ", ".join(map(str, np.flatnonzero(stuck)))
            raise ResetNeeded(
                f"environments {which} must be reset before the next step; "
                'options={"reset_mask": …} resets some and leaves the others'
            )

    def _require_one_each(self, what: str, given: Sequence[Any]) -> None:
        if isinstance(given, str) or len(given) != self.num_envs:
            raise InvalidConfig(f"{what} must be a list of {self.num_envs}, got {given!r:.80}")
