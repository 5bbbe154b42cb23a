"""A session on a server: its calls, numbered.

Each call that acts is sent with the number after the last one's. Asked again, it is answered again
and not played again; and where the answers show that the numbers have parted (somebody else plays
in this session), the server refuses the call instead of playing it twice.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentgym.serve.client import reaper
from agentgym.serve.client.errors import NotAServer
from agentgym.serve.client.service import Refused, Service
from agentgym.serve.problem import SessionLost, TooSlow, UnknownSession


@dataclass(frozen=True, slots=True)
class Turn:
    """What the environment answered to a call that acts.

    Attributes:
        observation: the text.
        reward: change of the score.
        terminated: whether the task has ended.
        truncated: whether the rounds are spent.
        info: as in `TextEnv.step`.
    """

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


_TURN: dict[str, type | tuple[type, ...]] = {
    "observation": str,
    "reward": (int, float),
    "terminated": bool,
    "truncated": bool,
    "info": dict,
}
_ID = re.compile(r"[A-Za-z0-9_.:~-]{1,200}")
_ANSWERS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "state": {"state": dict},
    "render": {"render": (str, dict)},
    "expert": {"thought": str, "action": str},
    "sample": {"action": str},
}
_ABOUT: dict[str, type | tuple[type, ...]] = {"max_rounds": int, "tasks_digest": str}
_INFO: dict[str, type | tuple[type, ...]] = {
    "goal": str,
    "score": (int, float),
    "success": bool,
    "valid": bool,
}


class RemoteSession:
    """A session that is open; made by `RemoteSession.open`.

    Attributes:
        id: its name on the server, which is as good as a key to it.
        about: what the server said of it when it was opened.
        lost: why no call can be made any more, or "". Where no answer came to a call that acts,
            that is one reason: the same number means another call from now on.
    """

    def __init__(self, service: Service, session_id: str, about: Mapping[str, Any]) -> None:
        self.id, self.about, self.lost = session_id, about, ""
        self._service, self._seq, self._process = service, 0, os.getpid()
        self._abandoned = reaper.watch(self, service, session_id)

    @classmethod
    def open(cls, service: Service, env_id: str, options: Mapping[str, Any]) -> RemoteSession:
        """Open a session.

        Raises:
            NoRoom: if the server has no room for another, for longer than we wait.
            AgentGymError: what making the environment raises, and `Service._ask`.
        """
        opened = service.open(env_id, options, secrets.token_urlsafe(18))
        about = opened.get("about")
        name = opened["session"]
        sound = isinstance(name, str) and _ID.fullmatch(name)
        if not (sound and isinstance(about, dict) and _has(about, _ABOUT)):
            raise NotAServer(f"{service.address.url} does not say what it opened")
        return cls(service, name, about)

    def act(self, verb: str, **given: Any) -> Turn:
        """Make a call that changes the episode.

        Args:
            verb: "reset" (seed, task_id), "step" (action), "forfeit" (message) or "restore"
                (state).
            given: the fields of the verb.

        Raises:
            SessionLost: if the server no longer has the session.
            AgentGymError: what the environment raises, and where no answer came.
        """
        value = self._call(verb, {**given, "seq": self._seq + 1})
        if not (_has(value, _TURN) and _has(value["info"], _INFO)):
            raise self._strange(verb)
        return Turn(*(value[name] for name in _TURN))

    def ask(self, verb: str, again: Mapping[str, Any] | None = None, **given: Any) -> Any:
        """Make a call that changes nothing: "state", "render", "expert" or "sample".

        Args:
            verb: what to do.
            again: the fields instead, where the first attempt may have been received.
            given: the fields of the verb.
        """
        value = self._call(verb, given, again)
        if not _has(value, _ANSWERS[verb]):
            raise self._strange(verb)
        return value

    def _strange(self, verb: str) -> NotAServer:
        url = self._service.address.url
        return NotAServer(f"{url} answers a {verb} in another version's words")

    def close(self) -> None:
        """Close the session; what the server no longer has is closed already."""
        if not self._abandoned.detach() or self._process != os.getpid():
            return
        self.lost = self.lost or "it was closed"
        try:
            self._service.close(self.id)
        except Refused as refused:
            if not isinstance(refused.error, UnknownSession | SessionLost):
                raise refused.error from None

    def _call(
        self, verb: str, given: Mapping[str, Any], again: Mapping[str, Any] | None = None
    ) -> Any:
        if self._process != os.getpid():  # two processes would take turns without knowing
            self.lost = "it is that of the process this one was forked from"
        if self.lost:
            raise SessionLost(f"this session is gone: {self.lost}; reset() opens another one")
        try:
            answer = self._service.call(self.id, verb, given, again)
        except Refused as refused:
            if refused.seq is not None:
                self._seq = refused.seq
            raise self._told(refused.error) from None
        except BaseException:
            if "seq" in given:
                self.lost = f"no answer came to its last {verb}, which may have been played"
            raise
        if answer.seq is not None:
            self._seq = answer.seq
        elif "seq" in given:
            self._seq += 1
        return answer.value

    def _told(self, error: Exception) -> Exception:
        """Return the error to raise for one the server answered."""
        if isinstance(error, UnknownSession | SessionLost | TooSlow):
            self.lost = "the server has lost it"
            self._abandoned.detach()
        url = self._service.address.url
        if isinstance(error, UnknownSession):
            return SessionLost(
                f"the server at {url} does not know this session any more; it has probably been "
                "restarted. reset() opens another one"
            )
        if isinstance(error, SessionLost):
            return SessionLost(f"{str(error).rstrip('.')}; reset() opens one ({url})")
        return error


def _has(value: Any, kinds: Mapping[str, type | tuple[type, ...]]) -> bool:
    """Return whether a value is an object with fields of these kinds."""
    return isinstance(value, dict) and all(
        isinstance(value.get(name), kind) for name, kind in kinds.items()
    )
