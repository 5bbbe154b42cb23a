"""Errors that say what to do next.

Every error a user can cause is an `AgentGymError`; leaves name the thing that was wrong, and where
a name was looked up the message offers the nearest ones. The command line prints `str(error)` and
no traceback, so a message must stand on its own.
"""

from __future__ import annotations

import difflib
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path

import gymnasium


class AgentGymError(gymnasium.error.Error):
    """Base of every error agentgym raises on purpose."""


class UnknownName(AgentGymError):
    """A name that is not in the table it was looked up in.

    Args:
        kind: what was looked up, as a singular noun ("task", "edition").
        name: the name that was not found.
        known: the names that would have been right.
        hint: one more sentence, for what a list of names cannot say.
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], hint: str = "") -> None:
        self.kind, self.name, self.known = kind, name, list(known)
        message = f"unknown {kind} {name!r}. {did_you_mean(str(name), self.known)}{hint}"
        super().__init__(message.rstrip())

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.args[0]))


class UnknownEnvironment(UnknownName):
    """No environment is registered under this id."""


class UnknownTask(UnknownName):
    """The task set has no task of this id."""


class UnknownEdition(UnknownName):
    """The environment has no edition of this name."""


class UnknownSplit(UnknownName):
    """The task set has no split of this name."""


class MissingExtra(AgentGymError):
    """An optional dependency is not installed.

    Args:
        what: what was asked for ("the SciWorld environment").
        extra: the extra that brings it ("sciworld").
        module: the module that failed to import.
    """

    def __init__(self, what: str, extra: str, module: str = "") -> None:
        missing = f" (no module named {module!r})" if module else ""
        super().__init__(
            f"{what} needs an optional dependency{missing}. Install it with: "
            f"pip install 'agentgym[{extra}]'"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.args[0]))


class MissingData(AgentGymError):
    """Published data is not where it was looked for; the message says how to get it."""


class InvalidState(AgentGymError):
    """A snapshot does not belong to this environment, edition or version."""


class InvalidConfig(AgentGymError):
    """An option has a value that cannot be used; the message says which would be."""


class BrokenContract(AgentGymError):
    """An environment breaks the contract of `TextEnv`; raised by the checker."""


def did_you_mean(name: str, known: Iterable[str], limit: int = 12) -> str:
    """Return a sentence that offers the names nearest to `name`.

    >>> did_you_mean("textcraft", ["TextCraft", "Maze"])
    'Did you mean TextCraft? '
    >>> did_you_mean("zzz", ["a", "b"])
    'Known: a, b. '
    """
    names = list(known)
    if not names:
        return ""
    folded = {candidate.lower(): candidate for candidate in reversed(names)}
    near = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(folded[n] for n in near)}? "
    more = f", … ({len(names)} in all)" if len(names) > limit else ""
    return f"Known: {', '.join(names[:limit])}{more}. "


def told(error: BaseException) -> str:
    """Return what somebody else's code raised, and where in it: "KeyError: 'x' (env.py:12)".

    The place is the innermost line outside agentgym and the installed packages, where there is one.
    """
    frames = traceback.extract_tb(error.__traceback__)
    installed = (str(Path(__file__).parents[1]), *sysconfig.get_paths().values())
    own = [f for f in frames if not f.filename.startswith((*installed, "<frozen"))]
    # A syntax error names its own place.
    place = (own or frames)[-1:] if not isinstance(error, SyntaxError) else []
    at = "".join(f" ({Path(f.filename).name}:{f.lineno})" for f in place)
    return f"{type(error).__name__}: {error}".rstrip(": ") + at


def _rebuild(cls: type[AgentGymError], message: str) -> AgentGymError:
    """Unpickle an error whose constructor takes more than its message."""
    error = cls.__new__(cls)
    Exception.__init__(error, message)
    return error
