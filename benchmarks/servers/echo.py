"""An echo environment on openenv-core's own server, as its documentation makes one."""

from __future__ import annotations

from typing import Any

from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app


class EchoAction(Action):
    """What to say."""

    message: str


class EchoObservation(Observation):
    """What comes back."""

    echoed: str = ""


class EchoEnvironment(Environment):  # type: ignore[type-arg]
    """Says what it is told."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Any:
        """Begin."""
        self._state = State()
        return EchoObservation(echoed="ready", done=False, reward=0.0)

    def step(self, action: EchoAction, timeout_s: float | None = None, **_: Any) -> Any:
        """Echo."""
        self._state.step_count += 1
        return EchoObservation(echoed=action.message, done=False, reward=0.0)

    @property
    def state(self) -> State:
        """How many steps there were."""
        return self._state


app = create_fastapi_app(EchoEnvironment, EchoAction, EchoObservation, max_concurrent_envs=100)
