"""The kinds of questions: how each is asked, what its answer is, and how a person finds it.

Every kind says the same thing twice, independently: `answer` computes from the network, and `plan`
from nothing but what the functions return; the expert's answers being right shows that both agree.
A question about an author's papers is only asked of authors who never wrote alone, since a paper of
one author is on no edge and cannot be found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from agentgym.core.draw import Draw
from agentgym.envs.academia.looking import Looking, Reader
from agentgym.envs.academia.network import Network

Args = Mapping[str, Any]
Spec = dict[str, Any]
K = TypeVar("K", bound=Hashable)

MOST_CALLS = 17
"""The most calls a question may take, loading included and `finish` not."""

NUMBER = " Please give me a numerical value as an answer."
LIST = " Please answer in the form of a list ['{0}1', '{0}2', ...]."
YES_NO = " Please answer with 'Yes' or 'No'."


def number(value: int) -> Spec:
    """Return the spec of a number."""
    return {"number": value}


def text(value: str) -> Spec:
    """Return the spec of a text."""
    return {"text": value}


def name(value: str) -> Spec:
    """Return the spec of a person."""
    return {"name": value}


def listed(values: Iterable[str], kind: str = "text") -> Spec:
    """Return the spec of a list in any order."""
    return {"list": [{kind: value} for value in values], "ordered": False}


def top(counts: Mapping[K, int]) -> K | None:
    """Return the one key of the highest count, or None where several share it."""
    ranked = sorted(counts.values(), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0] == ranked[1]):
        return None
    return max(counts, key=lambda key: counts[key])


class Question(ABC):
    """One kind of question."""

    name: ClassVar[str]
    level: ClassVar[str]
    """"simple" (one fact), "moderate" (several facts joined) or "hard" (a whole neighbourhood)."""
    frames: ClassVar[Sequence[str]]
    """Wordings, with the arguments in braces."""

    @abstractmethod
    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return arguments drawn from the network, or None if the draw is no good question."""

    @abstractmethod
    def answer(self, net: Network, args: Args) -> Spec:
        """Return what `finish` must be given."""

    @abstractmethod
    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look up what is needed and return the answer."""

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the question in one of its wordings."""
        return draw.pick(self.frames).format(**args)


def any_paper(net: Network, draw: Draw) -> str:
    """Return a paper, each as likely."""
    return draw.pick(list(net.papers))


def any_author(net: Network, draw: Draw) -> str:
    """Return an author, each as likely."""
    return draw.pick(list(net.authors))


def any_pair(net: Network, draw: Draw) -> tuple[str, str] | None:
    """Return two authors who wrote two or more papers together."""
    one = any_author(net, draw)
    others = [other for other, shared in net.together[one].items() if len(shared) > 1]
    return (one, draw.pick(others)) if others else None
