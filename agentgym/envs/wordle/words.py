"""The word lists: which words can be hidden, and which are accepted as guesses.

A vocabulary is chosen by name: "all" accepts every listed word, "common" only those that can be
hidden, and "published" is the 40 words of AgentGym's server. Sources stand at the head of each
file in `data/`; `scripts/wordle_words.py` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from agentgym.core.errors import InvalidConfig, UnknownName

DATA = Path(__file__).parent / "data"
LENGTHS = (4, 5, 6, 7, 8)
VOCABULARIES = ("all", "common", "published")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of one game.

    Attributes:
        name: one of `VOCABULARIES`.
        letters: the length of every word.
        hidden: the words that can be hidden, in order.
        others: the words accepted besides, in order.
    """

    name: str
    letters: int
    hidden: tuple[str, ...]
    others: tuple[str, ...] = ()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every accepted word, in order."""
        return self.hidden + self.others

    @cached_property
    def accepted(self) -> frozenset[str]:
        """Every accepted word, to look one up."""
        return frozenset(self.words)

    @cached_property
    def example(self) -> str:
        """A guess to show the format with: "s h i r e" as published, or one of its length."""
        word = "shire" if "shire" in self.accepted else self.hidden[len(self.hidden) // 2]
        return " ".join(word)


@lru_cache(maxsize=16)
def vocabulary(letters: int = 5, name: str = "all") -> Vocabulary:
    """Return a vocabulary.

    Raises:
        InvalidConfig: if there is no list of words of this length.
        UnknownName: if there is no vocabulary of this name.
    """
    if name not in VOCABULARIES:
        raise UnknownName("vocabulary", name, VOCABULARIES)
    if letters not in LENGTHS or isinstance(letters, bool):
        raise InvalidConfig(f"letters must be one of {LENGTHS}, got {letters!r}")
    if name == "published":
        if letters != 5:
            raise InvalidConfig("the published vocabulary has words of 5 letters only")
        return Vocabulary(name, letters, _read("published")[0])
    hidden, others = _read(f"words_{letters}")
    return Vocabulary(name, letters, hidden, others if name == "all" else ())


def _read(stem: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    text = (DATA / f"{stem}.txt").read_text("ascii")
    hidden, accepted = text.partition("[hidden]")[2].split("[accepted]")
    return tuple(hidden.split()), tuple(accepted.split())
