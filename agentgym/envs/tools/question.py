"""Kinds of questions over a world: how each is asked, what its answer is, how a person finds it.

Every kind says the same thing twice, independently: `answer` computes from the world, and `plan`
from nothing but what the functions return; an expert whose answers are right shows that both agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from agentgym.core.draw import Draw
from agentgym.envs.tools.expert import Move

World = TypeVar("World")
Reader = TypeVar("Reader")
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

Args = Mapping[str, Any]
Spec = dict[str, Any]
Looking = Generator[Move, Any, T]
"""Part of a plan: yields moves, is sent what the functions return, and returns what was found."""

Row = tuple[str, str, Mapping[str, Any]]


class Question(ABC, Generic[World, Reader]):
    """One kind of question over a world, looked up through a reader."""

    name: ClassVar[str]
    level: ClassVar[str]
    """"simple" (one fact), "moderate" (several facts joined) or "hard" (a whole neighbourhood)."""
    frames: ClassVar[Sequence[str]]
    """Wordings, with the arguments in braces."""

    @abstractmethod
    def draw(self, world: World, draw: Draw) -> Args | None:
        """Return arguments drawn from the world, or None if the draw is no good question."""

    @abstractmethod
    def answer(self, world: World, args: Args) -> Spec:
        """Return what `finish` must be given."""

    @abstractmethod
    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look up what is needed and return the answer."""

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the question in one of its wordings."""
        return draw.pick(self.frames).format(**args)


def question_rows(
    questions: Iterable[Question[World, Any]], world: World, seed: str, train: int, evals: int
) -> list[Row]:
    """Return the rows of a task set, mixed: so many train and eval questions of each kind.

    No two of a kind are about the same arguments. A spec is {"goal", "question", "args", "answer"}.

    Args:
        questions: the kinds.
        world: what it is asked about.
        seed: seed text of the draws.
        train: number of train tasks of each kind.
        evals: number of eval tasks of each kind.
    """
    rows = [row for kind in questions for row in _of_kind(kind, world, seed, train, evals)]
    return Draw(seed).shuffled(rows)


def _of_kind(
    question: Question[World, Any], world: World, seed: str, train: int, evals: int
) -> Iterator[Row]:
    draw = Draw(f"{seed} {question.name}")
    seen: set[frozenset[Any]] = set()
    while len(seen) < train + evals:
        args = question.draw(world, draw)
        if args is None or (about := frozenset(args.values())) in seen:
            continue
        split = "train" if len(seen) < train else "eval"
        seen.add(about)
        spec = {
            "goal": question.ask(args, draw),
            "question": question.name,
            "args": dict(args),
            "answer": question.answer(world, args),
        }
        yield split, f"{question.level}/{question.name}", spec


def number(value: float, within: float | None = None) -> Spec:
    """Return the spec of a number."""
    return {"number": value} if within is None else {"number": value, "within": within}


def text(value: str) -> Spec:
    """Return the spec of a text."""
    return {"text": value}


def name(value: str) -> Spec:
    """Return the spec of a person."""
    return {"name": value}


def yes_no(value: bool) -> Spec:
    """Return the spec of Yes or No."""
    return {"text": "Yes" if value else "No"}


def listed(values: Iterable[str], kind: str = "text") -> Spec:
    """Return the spec of a list in any order."""
    return {"list": [{kind: value} for value in values], "ordered": False}


def top(counts: Mapping[K, Any]) -> K | None:
    """Return the one key of the highest value, or None where several share it.

    >>> top({"a": 2, "b": 1}), top({"a": 1, "b": 1})
    ('a', None)
    """
    ranked = sorted(counts.values(), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0] == ranked[1]):
        return None
    return max(counts, key=lambda key: counts[key])
