"""The remote environment: a `TextEnv` whose episodes are played on a server.

Everything random is decided here: which task is picked and with which seed, by the generator
`reset` seeds, exactly as a local environment does it; the server is told both. So a session holds
nothing that could not be had again, an environment goes on in another session where it must, and
its snapshots are the same as those taken here.

What the class of an environment says (name, editions, render modes) is only known once a server has
been asked, so `RemoteEnv` makes a class for each environment of each server and is itself none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from agentgym.core import (
    Command,
    EnvNeeds,
    Expert,
    Opening,
    Outcome,
    Task,
    TaskSet,
    TextEnv,
    snapshot,
)
from agentgym.core.errors import InvalidConfig, InvalidState
from agentgym.serve.client.address import Address
from agentgym.serve.client.catalogue import Catalogue
from agentgym.serve.client.classes import HOW, class_of
from agentgym.serve.client.errors import NotAServer
from agentgym.serve.client.expert import RemoteExpert
from agentgym.serve.client.patience import Patience
from agentgym.serve.client.service import Service
from agentgym.serve.client.session import RemoteSession, Turn
from agentgym.serve.picture import read_picture
from agentgym.serve.problem import NoExpert, SessionLost

T = TypeVar("T")


class RemoteEnv(TextEnv):
    """An environment of an agentgym server.

    Args:
        url: the server's address, as `agentgym serve` prints it.
        env_id: id or short name of an environment of that server.
        token: the server's token; None takes `$AGENTGYM_TOKEN`. It is neither pickled nor kept in
            the spec.
        timeout: seconds to wait for an answer; see `Patience`.
        retry_for: seconds in which calls that fail on their way are made again.
        recover: where the server has lost the session, play the episode again in a new one by its
            task, seed and actions, instead of raising `SessionLost`.
        edition, split, max_rounds, render_mode: as in `TextEnv`.
        options: of the environment itself, those that the server lets clients set.

    Raises:
        InvalidConfig: if url or env_id is missing, or an option cannot be used.
        UnknownEnvironment: if the server has no such environment.
        ServerUnreachable: if there is no server.
        NotAServer: if something else answers there.
        Unauthorized: if it wants another token.
        NoRoom: if it has no room for another session.
    """

    blocking: ClassVar[bool] = True
    needs = EnvNeeds(cpus=0.1, memory_mb=256, sessions=256)
    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    _catalogue: ClassVar[Catalogue]
    _address: ClassVar[Address]
    _env_id: ClassVar[str]

    def __new__(
        cls, url: str | None = None, env_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Self:
        """Make an object of the class of that environment on that server."""
        kept: dict[str, Any] = {"url": url, "env_id": env_id, **kwargs}
        bound = cls
        if "_address" in vars(cls):  # such a class knows its server
            kept["url"], kept["env_id"] = cls._address.url, cls._env_id
            kept["token"] = cls._address.token
        else:
            bound = class_of(cls, url, env_id, kwargs.get("token"), _patience(kwargs))
        env = super().__new__(bound, *args, **kwargs)
        env._init_arguments = ((), kept)
        return env

    def __init__(
        self,
        url: str | None = None,
        env_id: str | None = None,
        *,
        token: str | None = None,
        timeout: float = Patience.timeout,
        retry_for: float = Patience.retry_for,
        recover: bool = False,
        edition: str = "mini",
        split: str = "eval",
        max_rounds: int | None = None,
        render_mode: str | None = None,
        data_dir: str | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(recover, bool):
            raise InvalidConfig(f"recover must be true or false, got {recover!r}")
        self._session: RemoteSession | None = None
        self._spec: EnvSpec | None = None
        self._asker: object = None  # who was last advised
        self._turn: Turn | None = None
        super().__init__(
            edition=edition, split=split, max_rounds=max_rounds, render_mode=render_mode
        )
        self._service = Service(self._address, Patience(timeout, retry_for))
        self._recover = recover
        self._options = {"edition": edition, **options}
        if data_dir is not None:
            self._options["data_dir"] = data_dir
        if max_rounds is not None:
            self._options["max_rounds"] = self.max_rounds
        if render_mode is not None:
            self._options["render_mode"] = render_mode
        about = self._open().about
        self.max_rounds = about["max_rounds"]
        if about["tasks_digest"] != self.tasks.digest:
            self.tasks = self._catalogue.tasks(self._options, about["tasks_digest"])

    # What the server says.

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """List the tasks of an edition anew; they come without their specs."""
        if "_address" not in vars(cls):
            raise InvalidConfig(f"which server's tasks? Make the environment: {HOW}")
        return cls._catalogue.load(cls.name, edition, {"edition": edition})

    @property
    def instructions(self) -> str:
        """What a model must be told before the first observation."""
        return self._catalogue.about(self._options).instructions

    @property
    def commands(self) -> tuple[Command, ...]:  # type: ignore[override]
        """The action grammar."""
        return self._catalogue.about(self._options).commands

    @property
    def url(self) -> str:
        """The server's address."""
        return self._address.url

    # Playing.

    def _begin(self, task: Task) -> Opening:
        self._asker = None
        seed = self._seed
        self._play(lambda s: s.act("reset", task_id=task.id, seed=seed), anew=True)
        assert self._turn is not None
        return Opening(self._turn.observation, self._turn.info["goal"])

    def _act(self, action: str) -> Outcome:
        return self._played("step", action=action)

    def _refuse(self, message: str) -> Outcome:
        # An action too long is refused here, in the words of every environment, and costs its
        # round there: a megabyte need not cross the network to be refused.
        return self._played("forfeit", message=message)

    def _played(self, verb: str, **fields: Any) -> Outcome:
        turn = self._play(lambda session: session.act(verb, **fields))
        info = turn.info
        return Outcome(
            turn.observation, info["score"], turn.terminated, info["success"], info["valid"]
        )

    def _advance(
        self, action: str | None, outcome: Outcome
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        observation, _, _, _, info = super()._advance(action, outcome)
        assert self._turn is not None
        self._truncated = self._turn.truncated
        return observation, self._turn.reward, self._terminated, self._truncated, info

    def _report(self) -> dict[str, Any]:
        assert self._turn is not None
        return self._turn.info

    def sample_action(self, rng: np.random.Generator) -> str:
        """Return a random action that makes sense here, drawn from `rng` as it would be here.

        Raises:
            ResetNeeded: before the first reset.
        """
        self._require_episode("sample_action")
        generator = rng.bit_generator
        if not isinstance(generator, np.random.PCG64):  # one the server does not have
            seed = int(rng.integers(2**31))
            return str(self._call(lambda session: session.ask("sample", seed=seed))["action"])
        state = generator.state
        drawn = self._call(lambda session: session.ask("sample", rng=state))
        try:
            generator.state = drawn["rng"]
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise NotAServer(f"{self.url} answers with no generator's state: {error!r}") from error
        return str(drawn["action"])

    def expert(self) -> Expert:
        """Return a fresh expert for the current episode; each of its moves is asked of the server.

        Raises:
            Forbidden: if the server's experts give no advice.
        """
        self._require_episode("expert")
        return RemoteExpert(self)

    def moment(self) -> Any:
        """Return what is different in every round of every episode."""
        return self._session, self._seed, self.task, len(self._history)

    def advice(self, asker: object, *, fresh: bool = False) -> tuple[str, str]:
        """Ask the server's expert for a move.

        Args:
            asker: who asks; another one than the last gets an expert of its own.
            fresh: whether it gets one in any case.

        Returns:
            The reason and the action.
        """
        fresh = fresh or self._asker is not asker
        self._asker = asker
        try:
            # An expert that was asked may have moved on, even if its answer was lost.
            said = self._call(lambda s: s.ask("expert", {"fresh": True}, fresh=fresh))
        except NoExpert as error:
            raise NotImplementedError(str(error)) from None
        return said["thought"], said["action"]

    # Snapshots.

    def get_state(self) -> dict[str, Any]:
        """Return a snapshot of the episode, the one the environment would give here.

        Raises:
            ResetNeeded: before the first reset.
        """
        self._require_episode("get_state")
        state: dict[str, Any] = self._call(lambda session: session.ask("state"))["state"]
        own = snapshot.take(self)
        return {**state, "history": own["history"], "np_random": own["np_random"]}

    def set_state(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return to a snapshot, also one taken elsewhere; see `TextEnv.set_state`."""
        with snapshot.refusing(self):
            snapshot.require(self, state)
            plain = dict(state)
            self._play(lambda session: session.act("restore", state=plain), anew=True)
            self._take_up(plain)
        return self._observation, self._report()

    def _take_up(self, state: Mapping[str, Any]) -> None:
        """Stand where a snapshot that the server has taken stands."""
        assert self._turn is not None
        if self._own_max_rounds is None:
            self._own_max_rounds = self.max_rounds
        self._seed, self.max_rounds = state["seed"], state["max_rounds"]
        self.task, self._closed = self.tasks.get(state["task_id"]), False
        self._history = list(state["history"])
        self._observation, self._goal = self._turn.observation, self._turn.info["goal"]
        self._score = float(state["score"])
        self._success, self._valid = state["success"], state["valid"]
        self._terminated, self._truncated = state["terminated"], state["truncated"]
        self.np_random.bit_generator.state = state["np_random"]
        self._asker = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by snapshot and without the token: whoever unpickles it needs one of their own."""
        kwargs = {key: value for key, value in self._init_arguments[1].items() if key != "token"}
        state = self.get_state() if self.task is not None else None
        return _rebuild, (kwargs, state)

    def __deepcopy__(self, memo: Any) -> Self:
        """Copy by snapshot, as `fork` does, with the token."""
        return self.fork()

    # The rest.

    def _render_text(self) -> str:
        return str(self._call(lambda session: session.ask("render"))["render"])

    def _render_rgb(self) -> NDArray[np.uint8]:
        return read_picture(self._call(lambda session: session.ask("render"))["render"])

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    @property
    def spec(self) -> EnvSpec | None:
        """What `gymnasium.make` was told, less the token."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None and "token" in spec.kwargs:
            spec.kwargs = {key: value for key, value in spec.kwargs.items() if key != "token"}
        self._spec = spec

    # The session.

    def _require_episode(self, call: str) -> None:
        if self.task is None:
            raise ResetNeeded(f"call reset() before {call}()")

    def _open(self) -> RemoteSession:
        self._session = RemoteSession.open(self._service, self._env_id, self._options)
        self._asker = None
        return self._session

    def _play(self, act: Callable[[RemoteSession], Turn], *, anew: bool = False) -> Turn:
        """Make a call that acts and keep its answer.

        Args:
            act: makes it.
            anew: whether it may as well be made in a session that has just been opened.
        """
        self._turn = self._call(act, anew=anew)
        return self._turn

    def _call(self, call: Callable[[RemoteSession], T], *, anew: bool = False) -> T:
        """Make a call; where the session is lost, make it in a new one if that can be."""
        session = self._session
        usable = session is not None and not session.lost
        if session is not None and usable:
            try:
                return call(session)
            except SessionLost:
                if not anew and not self._recover:
                    self.task = None
                    raise
        elif session is not None and not anew and not self._recover:
            self.task = None
            raise SessionLost(f"this session is gone: {session.lost}; reset() opens another one")
        session = self._open()
        self._require_same_tasks(session)
        if not anew:  # the episode so far comes first: its task, its seed and its actions
            session.act("restore", state=snapshot.take(self))
        return call(session)

    def _require_same_tasks(self, session: RemoteSession) -> None:
        if session.about["tasks_digest"] != self.tasks.digest:
            self.task = None
            self._catalogue.forget()
            raise InvalidState(
                f"the server at {self.url} now has other tasks of {self.name} than when this "
                "environment was made; make another one"
            )


def _patience(options: Mapping[str, Any]) -> Patience:
    chosen = {key: options[key] for key in ("timeout", "retry_for") if key in options}
    return Patience(**chosen)


def _rebuild(kwargs: dict[str, Any], state: Mapping[str, Any] | None) -> RemoteEnv:
    env = RemoteEnv(**kwargs)
    if state is not None:
        env.set_state(state)
    return env
