"""One game of Wordle: the hidden word, the attempts and the feedback.

Feedback counts letters, which the published server did not: a guess with two e's against a word
with one gets a single mark for it, green before yellow, left before right.
"""

from __future__ import annotations

from agentgym.envs.wordle.words import Vocabulary

ATTEMPTS = 6

Turn = tuple[str, str]
"""A guess and its feedback; the feedback is empty where the guess was no word."""


def feedback(guess: str, hidden: str) -> str:
    """Return the marks of a guess: g in place, y elsewhere in the word, b neither.

    >>> feedback("shire", "crane")
    'bbbyg'
    >>> feedback("eerie", "crane")
    'bbybg'
    """
    marks, rest = ["b"] * len(guess), list(hidden)
    for i, letter in enumerate(guess):
        if letter == hidden[i]:
            marks[i] = "g"
            rest.remove(letter)
    for i, letter in enumerate(guess):
        if letter in rest and marks[i] == "b":
            marks[i] = "y"
            rest.remove(letter)
    return "".join(marks)


class Game:
    """A hidden word and the turns played on it.

    Args:
        hidden: the word to find.
        vocabulary: the words accepted as guesses.
    """

    __slots__ = ("hidden", "turns", "vocabulary")

    def __init__(self, hidden: str, vocabulary: Vocabulary) -> None:
        self.hidden, self.vocabulary = hidden, vocabulary
        self.turns: list[Turn] = []

    @property
    def attempts_left(self) -> int:
        """How many guesses remain."""
        return ATTEMPTS - len(self.turns)

    def guess(self, word: str) -> str:
        """Spend an attempt and return the marks, or "" if the word is not in the vocabulary."""
        marks = feedback(word, self.hidden) if word in self.vocabulary.accepted else ""
        self.turns.append((word if marks else "", marks))
        return marks
