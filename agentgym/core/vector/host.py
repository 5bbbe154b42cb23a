"""The environments of a vector that one process holds, and what can be asked of them.

Commands and answers are plain data with the environment's index, so that the same ones are carried
out in this process or sent to another. An environment that raises does not keep the others from
their turn: an answer holds the error, and whoever asked decides. That is why results do not depend
on how the environments are spread over processes.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import gymnasium
from gymnasium.vector import AutoresetMode

from agentgym.core.env import TextEnv
from agentgym.core.errors import BrokenContract

EnvMaker = Callable[[], gymnasium.Env[Any, Any]]


class Command(NamedTuple):
    """One thing to do with the environment of an index: "reset", "step", "call", …"""

    env: int
    name: str
    args: tuple[Any, ...] = ()


class Answer(NamedTuple):
    """What came of a command: a value, or the error and where it was raised."""

    env: int
    value: Any = None
    error: Exception | None = None
    raised_at: str = ""


class Mark(NamedTuple):
    """What an episode follows from, and the state of the generator that picks the ones after."""

    task_id: str
    seed: int
    np_random: Any


class Moment(NamedTuple):
    """Where an environment stands after a command that moved it.

    Attributes:
        ended: whether the episode is over, so that the environment needs a reset.
        mark: the beginning of the episode, where one was begun and marks are kept.
    """

    observation: str
    info: dict[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    ended: bool = False
    mark: Mark | None = None


class Description(NamedTuple):
    """What must be known of an environment to batch it with others."""

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    metadata: dict[str, Any]
    render_mode: str | None


class Runner(Protocol):
    """Carries out commands, here or elsewhere."""

    def submit(self, commands: list[Command]) -> None:
        """Begin a round of commands, at most one an environment."""

    def collect(self) -> list[Answer]:
        """Return the round's answers, in order of the environments."""

    def close(self) -> None:
        """Close every environment; twice without harm."""


class Host:
    """Environments by index.

    Args:
        env_fns: makes the environment of each index.
        autoreset_mode: whether a step that ends an episode begins the next one.
        marking: whether resets answer with a `Mark`.

    Raises:
        BrokenContract: if an environment is not a `TextEnv` beneath its wrappers.
    """

    def __init__(
        self,
        env_fns: Mapping[int, EnvMaker],
        autoreset_mode: AutoresetMode,
        *,
        marking: bool = False,
    ) -> None:
        self._same_step = autoreset_mode is AutoresetMode.SAME_STEP
        self._marking = marking
        self._envs: dict[int, gymnasium.Env[Any, Any]] = {}
        try:
            for index, env_fn in env_fns.items():
                self._envs[index] = env_fn()
                _base(self._envs[index])
        except BaseException:
            self.close()
            raise

    def run(self, commands: Iterable[Command]) -> list[Answer]:
        """Carry out commands in order; what one of them raises is its answer."""
        return [self._answer(command) for command in commands]

    def descriptions(self) -> dict[int, Description]:
        """Return what each environment looks like from outside."""
        return {
            index: Description(
                env.observation_space, env.action_space, dict(env.metadata), env.render_mode
            )
            for index, env in self._envs.items()
        }

    def close(self) -> None:
        """Close every environment, each even where another cannot be; twice without harm."""
        envs, self._envs = self._envs, {}
        errors = []
        for env in envs.values():
            try:
                env.close()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _answer(self, command: Command) -> Answer:
        do = getattr(self, f"_do_{command.name}")
        try:
            return Answer(command.env, do(self._envs[command.env], *command.args))
        except Exception as error:
            return Answer(command.env, None, error, traceback.format_exc())

    def _do_reset(
        self, env: gymnasium.Env[Any, Any], seed: int | None, options: dict[str, Any] | None
    ) -> Moment:
        observation, info = env.reset(seed=seed, options=options)
        return Moment(observation, info, mark=self._mark(env))

    def _do_step(self, env: gymnasium.Env[Any, Any], action: Any) -> Moment:
        observation, reward, terminated, truncated, info = env.step(action)
        moment = Moment(
            observation, info, float(reward), terminated, truncated, terminated or truncated
        )
        if not (self._same_step and moment.ended):
            return moment
        first, opening = env.reset()
        final = {"final_obs": observation, "final_info": info}
        return moment._replace(
            observation=first, info={**final, **opening}, ended=False, mark=self._mark(env)
        )

    def _do_resume(self, env: gymnasium.Env[Any, Any], mark: Mark) -> Moment:
        """Begin an episode again that began once before, perhaps in another process."""
        observation, info = env.reset(seed=mark.seed, options={"task_id": mark.task_id})
        _base(env).np_random.bit_generator.state = mark.np_random
        return Moment(observation, info)

    def _do_call(
        self, env: gymnasium.Env[Any, Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        attribute = env.get_wrapper_attr(name)
        return attribute(*args, **kwargs) if callable(attribute) else attribute

    def _do_get_attr(self, env: gymnasium.Env[Any, Any], name: str) -> Any:
        return env.get_wrapper_attr(name)

    def _do_set_attr(self, env: gymnasium.Env[Any, Any], name: str, value: Any) -> None:
        env.set_wrapper_attr(name, value)

    def _do_get_state(self, env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
        return _base(env).get_state()

    def _do_set_state(self, env: gymnasium.Env[Any, Any], state: Mapping[str, Any]) -> Moment:
        observation, info = _base(env).set_state(state)
        terminated, truncated = state["terminated"], state["truncated"]
        ended = terminated or truncated
        return Moment(observation, info, 0.0, terminated, truncated, ended)

    def _mark(self, env: gymnasium.Env[Any, Any]) -> Mark | None:
        if not self._marking:
            return None
        base = _base(env)
        assert base.task is not None
        return Mark(base.task.id, base._seed, base.np_random.bit_generator.state)


class LocalRunner:
    """Carries out commands in this process, one environment after the other."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._commands: list[Command] = []

    def submit(self, commands: list[Command]) -> None:
        """Keep the commands until they are collected."""
        self._commands = commands

    def collect(self) -> list[Answer]:
        """Carry out the commands."""
        commands, self._commands = self._commands, []
        return self._host.run(commands)

    def close(self) -> None:
        """Close every environment."""
        self._host.close()


def _base(env: gymnasium.Env[Any, Any]) -> TextEnv:
    base = env.unwrapped
    if not isinstance(base, TextEnv):
        raise BrokenContract(
            f"{type(base).__name__} is not an agentgym.TextEnv; gymnasium.vector.SyncVectorEnv "
            "takes other environments"
        )
    return base
