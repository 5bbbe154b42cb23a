"""The Wordle environment: one hidden word, six attempts, the published text format.

Every guess costs an attempt, also one that is no word. Rounds are more than attempts (8 against 6,
as in the published training script) because a round can also be lost without a guess, by a reply
that holds no action.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agentgym.core import (
    Command,
    Edition,
    Expert,
    Opening,
    Outcome,
    Param,
    Task,
    TaskSet,
    TextEnv,
    grammar,
    shorten,
)
from agentgym.core.errors import InvalidConfig, InvalidState
from agentgym.envs.wordle.expert import WordleExpert
from agentgym.envs.wordle.game import ATTEMPTS, Game
from agentgym.envs.wordle.picture import board, draw
from agentgym.envs.wordle.tasks import mini_tasks, official_tasks, option_tasks
from agentgym.envs.wordle.words import LENGTHS, Vocabulary, vocabulary

_GUESS = Command(
    "guess",
    "{letters}",
    "Guess a word.",
    (Param("letters", 'the letters of the guess, separated by spaces ("s h i r e")'),),
)


class WordleEnv(TextEnv):
    """Guess a hidden word in six attempts.

    Args:
        letters: length of the words, 4 to 8; other than 5 goes with the mini edition.
        vocabulary: which guesses are accepted: "all" words of the list or only the "common" ones,
            which are those that can be hidden. None takes "all" in the mini edition and
            "published", the 40 published words, in the official one.
        options: those of `TextEnv`.

    Raises:
        InvalidConfig: if there are no words of this length, or an option goes with another edition.
        UnknownName: if there is no such vocabulary.

    >>> env = WordleEnv()
    >>> env.reset(options={"task_id": "wordle_0"})[0]
    "Let's start Wordle!"
    """

    name = "wordle"
    title = "Wordle"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(8, "1,200 words of the original game's solution list."),
        "official": Edition(8, "AgentGym's 980 items over LMRL-Gym's 40-word vocabulary."),
    }
    commands = (_GUESS,)
    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(self, *, letters: int = 5, vocabulary: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        default = "published" if self.edition == "official" else "all"
        self.words: Vocabulary = _vocabulary(letters, vocabulary or default, self.edition)
        if (letters, self.words.name) != (5, default):
            self.tasks = option_tasks(letters, self.words.name)
        self._find = f"find the hidden word of {letters} letters"
        self.game: Game

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition; both are part of the package."""
        return mini_tasks() if edition == "mini" else official_tasks(data_dir)

    @property
    def instructions(self) -> str:
        """The rules and the grammar; a vocabulary of 40 words is listed, as published."""
        n = self.words.letters
        rules = (
            f"This is Wordle. Find a hidden English word of {n} letters in {ATTEMPTS} attempts, "
            "better in fewer. Each turn, guess a word by its letters separated by spaces, like "
            f'"{self.words.example}". You are answered with one mark a letter, in order:\n'
            '- "g": the letter is in the hidden word, in this place;\n'
            '- "y": the letter is in the hidden word, in another place;\n'
            '- "b": the letter is not in the hidden word, or no more often than it is already '
            "marked g or y.\n"
            f'A guess that is not a word of {n} letters in the vocabulary is answered "invalid '
            'word" and costs an attempt too.\n'
            f"You can take this action, one a turn:\n{grammar(self.commands)}\n"
        )
        if self.words.name == "published":
            return f"{rules}The vocabulary is:\n" + "\n".join(self.words.words)
        return f"{rules}The vocabulary is {len(self.words.words):,} English words."

    def _begin(self, task: Task) -> Opening:
        self.game = Game(task.spec["word"], self.words)
        return Opening("Let's start Wordle!", self._find)

    def _act(self, action: str) -> Outcome:
        game = self.game
        word = action.replace(" ", "")
        if word not in self.words.accepted:
            word = "".join(action.split()).lower()
        marks = game.guess(word)
        if word == game.hidden:
            return Outcome(" ".join(marks), 1.0, done=True, success=True)
        lost = len(game.turns) >= ATTEMPTS
        if not marks:
            return Outcome(self._invalid(word), 0.0, done=lost, valid=False)
        return Outcome(" ".join(marks), 0.0, done=lost)

    def _invalid(self, word: str) -> str:
        n, left = self.words.letters, self.game.attempts_left
        plain = word.isascii() and word.isalpha()
        if plain and len(word) == n:
            wrong = f'"{word}" is not in the vocabulary'
        elif plain:
            wrong = f'"{shorten(word, 20)}" has {len(word)} letter{"s"[: len(word) != 1]}, not {n}'
        else:
            wrong = f"a guess is {n} letters from a to z and nothing else"
        return (
            f"invalid word: {wrong}. Guess an English word of {n} letters separated by spaces, "
            f'like "{self.words.example}". {left} attempt{"s"[: left != 1]} left.'
        )

    def _sample(self, rng: np.random.Generator) -> str:
        words = self.words.words
        return " ".join(words[int(rng.integers(len(words)))])

    def _make_expert(self) -> Expert:
        return WordleExpert(self)

    def _save(self) -> list[str]:
        return [guess for guess, _ in self.game.turns]

    def _load(self, saved: Any) -> None:
        if not isinstance(saved, list) or len(saved) > ATTEMPTS:
            raise InvalidState(f"the snapshot holds no list of at most {ATTEMPTS} guesses")
        if not all(isinstance(guess, str) for guess in saved):
            raise InvalidState("the snapshot holds guesses that are no text")
        if (len(saved) == ATTEMPTS or self.game.hidden in saved) and not self._terminated:
            raise InvalidState("the snapshot's guesses have ended the game, but it goes on")
        for guess in saved:
            self.game.guess(guess)

    def _render_text(self) -> str:
        return board(self.game.turns, self.words.letters)

    def _render_rgb(self) -> NDArray[np.uint8]:
        return draw(self.game.turns, self.words.letters)


def _vocabulary(letters: int, name: str, edition: str) -> Vocabulary:
    if type(letters) is not int:
        raise InvalidConfig(f"letters must be one of {LENGTHS}, got {letters!r}")
    if not isinstance(name, str):
        raise InvalidConfig(f'vocabulary is a name such as "common", got {name!r}')
    chosen = vocabulary(letters, name)
    if (edition == "official") != (name == "published"):
        raise InvalidConfig(
            "the official edition is played with the published vocabulary, the mini edition with "
            f'"all" or "common"; got {edition} with {name!r}'
        )
    return chosen
