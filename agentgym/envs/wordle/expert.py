"""The expert of Wordle: it plays as a good player would, and looks only at the last attempt.

Each guess is a word that fits all feedback so far, the one that is expected to leave the fewest. No
such player finds every word within six guesses; where the sixth still has a choice, the expert
takes the hidden word, which fits like the others. Up to there nothing depends on the hidden word,
so decisions are kept and shared by all episodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agentgym.core import Expert
from agentgym.envs.wordle.game import Turn, feedback
from agentgym.envs.wordle.words import vocabulary

if TYPE_CHECKING:
    from agentgym.envs.wordle.env import WordleEnv

_SPLITTABLE = 60
"""Up to so many words, each is tried against all others; above, letter counts decide."""

Key = tuple[int, str]
"""Letters and name of a vocabulary."""


class WordleExpert(Expert):
    """Guesses words that fit, and the hidden one at the last attempt.

    Args:
        env: the environment whose current episode is played.
    """

    def __init__(self, env: WordleEnv) -> None:
        self._env = env

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return what is known and why a word is worth guessing, and its letters."""
        game = self._env.game
        key = (game.vocabulary.letters, game.vocabulary.name)
        turns = tuple(turn for turn in game.turns if turn[1])
        left = fitting(key, turns)
        last = game.attempts_left == 1 and len(left) > 1
        guess = game.hidden if last else choose(key, turns)
        return f"{_known(turns)}{_reason(guess, left, turns, last)}", " ".join(guess)


@lru_cache(maxsize=4096)
def fitting(key: Key, turns: tuple[Turn, ...]) -> tuple[str, ...]:
    """Return the words that can be hidden and would have given all this feedback, in order."""
    if not turns:
        return vocabulary(*key).hidden
    guess, marks = turns[-1]
    return tuple(w for w in fitting(key, turns[:-1]) if feedback(guess, w) == marks)


@lru_cache(maxsize=4096)
def choose(key: Key, turns: tuple[Turn, ...]) -> str:
    """Return the fitting word that is expected to leave the fewest; the first of equals."""
    left = fitting(key, turns)
    if len(left) <= 2:
        return left[0]
    if len(left) <= _SPLITTABLE:
        return min(left, key=lambda w: sum(n * n for n in _split(w, left)))
    counts = Counter(letter for word in left for letter in set(word))
    places = Counter(pair for word in left for pair in enumerate(word))
    return max(
        left,
        key=lambda w: sum(counts[c] for c in set(w)) + sum(places[p] for p in enumerate(w)),
    )


def _split(guess: str, words: Sequence[str]) -> list[int]:
    return list(Counter(feedback(guess, word) for word in words).values())


def _known(turns: tuple[Turn, ...]) -> str:
    """Return what the feedback says, as a sentence and a space, or "" where there is none."""
    placed: dict[int, str] = {}
    elsewhere: dict[str, list[int]] = {}
    absent: list[str] = []
    for guess, marks in turns:
        for i, (letter, mark) in enumerate(zip(guess, marks, strict=True)):
            if mark == "g":
                placed[i] = letter
            elif mark == "y":
                elsewhere.setdefault(letter, []).append(i + 1)
            elif letter not in absent and not _marked(letter, guess, marks):
                absent.append(letter)
    parts = [f"{letter} is in place {i + 1}" for i, letter in sorted(placed.items())]
    parts += [
        f"{letter} is in the word but not in place {' or '.join(map(str, sorted(set(places))))}"
        for letter, places in elsewhere.items()
        if letter not in placed.values()
    ]
    if absent:
        parts.append(f"there is no {', '.join(absent)}")
    return f"I know that {_list(parts)}. " if parts else ""


def _marked(letter: str, guess: str, marks: str) -> bool:
    return any(c == letter and m != "b" for c, m in zip(guess, marks, strict=True))


def _list(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _reason(guess: str, left: tuple[str, ...], turns: tuple[Turn, ...], last: bool) -> str:
    count = f"{len(left):,}"
    if len(left) == 1:
        return f"Only {guess} fits."
    if not turns:
        return f"Any of {count} words can be hidden; {guess} tests letters most of them have."
    if last:
        return f"{count} words still fit and this is the last attempt: I try {guess}."
    if len(left) == 2:
        other = left[0] if guess == left[1] else left[1]
        return f"Only {guess} and {other} fit; I try {guess}."
    if len(left) > _SPLITTABLE:
        return f"{count} words fit; {guess} is one of them and has the letters most of them share."
    worst = max(_split(guess, left))
    return f"{count} words fit; {guess} is one of them and leaves at most {worst} of them."
