"""How long an episode is, before any has been played.

Lengths are characters of the mini editions' own texts, from twelve episodes of each expert
(`scripts/episode_sizes.py` measures them again); tokens follow from the characters of a token.
Where an edition is not the mini one the texts are of the same formats, and rounds and sizes are the
published ones. A policy is taken to play as many rounds as the demonstrations have, which is the
first thing that will not be true of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentgym.baselines.config import EnvTasks
from agentgym.baselines.examples import env_choice
from agentgym.core import short_name

CHARACTERS = 3.3
"""Characters of a token of these texts, with the tokenizer of SmolLM2 (49,152 tokens)."""
MADE = 3.7
"""Characters of a token, with a tokenizer made from the demonstrations (400 tokens and more)."""
FRAME = 6
"""Tokens a chat template puts around a message."""


@dataclass(frozen=True, slots=True)
class Play:
    """An episode of an environment, in characters.

    Attributes:
        prompt: instructions, acknowledgement and first observation.
        observation: what the environment answers a round.
        reply: what the agent says a round.
        rounds: rounds of the expert in the mini edition.
        published: mean rounds of the published trajectories (AgentGym, arXiv 2406.04151, table 2).
        train: published training tasks: instructions without those of AgentEval.
        eval: tasks of AgentEval.
        small: trajectories in AgentTraj.
        large: trajectories in AgentTraj-L.
    """

    prompt: int
    observation: int
    reply: int
    rounds: float
    published: float | None = None
    train: int = 0
    eval: int = 0
    small: int = 0
    large: int = 0


@dataclass(frozen=True, slots=True)
class Length:
    """An episode in tokens.

    Attributes:
        own: what the agent says.
        read: everything else.
        longest: an episode that takes all its rounds, twice the usual where there is no limit.
        rounds: how many rounds it takes.
        prompt: of what is read, what stands before the first reply.
    """

    own: float
    read: float
    longest: float
    rounds: float
    prompt: float

    @property
    def total(self) -> float:
        """All tokens."""
        return self.own + self.read


PLAYS = {
    "webshop": Play(1212, 753, 150, 6.5, 5.1, 6710, 200, 1000, 3930),
    "alfworld": Play(2619, 67, 115, 5.8, 13.3, 3627, 200, 500, 2420),
    "textcraft": Play(1859, 27, 170, 10.2, 8.0, 444, 100, 300, 374),
    "sciworld": Play(2895, 100, 173, 29.0, 19.9, 2120, 200, 1000, 2120),
    "babyai": Play(2066, 575, 122, 10.4, 5.7, 810, 90, 400, 810),
    "maze": Play(933, 112, 97, 14.4, 4.3, 215, 25, 100, 215),
    "wordle": Play(810, 9, 159, 3.8, 4.3, 955, 25, 500, 955),
    "weather": Play(6726, 176, 136, 4.5, 5.5, 323, 20, 160, 311),
    "movie": Play(4806, 242, 124, 4.3, 4.0, 218, 20, 100, 215),
    "academia": Play(3268, 177, 145, 5.8, None, 0, 20),
    "sheet": Play(7229, 364, 117, 5.4, None, 0, 20),
    "todolist": Play(4330, 595, 104, 6.0, 5.6, 135, 20, 70, 135),
    "bird": Play(3401, 62, 381, 1.0, 1.0, 3000, 200, 2000, 3000),
}
"""By short name. Rounds and sizes: arXiv 2406.04151, table 2, and AgentGym's README."""

OTHER = Play(3000, 250, 145, 8.0)
"""An environment that is not in the table."""


SMALL_MAZE = Play(940, 85, 94, 4.0)
"""Mazes of 5 x 5 to 7 x 7 (rounds 3.1 and 5.4)."""


def play_of(tasks: EnvTasks) -> Play:
    """Return what is known of an environment's episodes; of its options, the size of a maze."""
    name = short_name(env_choice(tasks).env_id).lower()
    sides = tasks.options.get("size")
    if name == "maze" and isinstance(sides, list | tuple) and max(sides) <= 7:
        return SMALL_MAZE
    return PLAYS.get(name, OTHER)


def rounds_of(tasks: EnvTasks) -> float:
    """Return how many rounds an episode is taken to have."""
    play = play_of(tasks)
    rounds = play.rounds
    if tasks.edition == "official" and play.published is not None:
        rounds = play.published
    return min(rounds, tasks.max_rounds) if tasks.max_rounds else rounds


def length_of(
    tasks: EnvTasks, limit: int, reply: int | None = None, characters: float = CHARACTERS
) -> Length:
    """Return how long an episode is, in tokens.

    Args:
        tasks: the environment.
        limit: most tokens of a conversation.
        reply: most tokens of a reply.
        characters: characters of a token.
    """
    play, rounds = play_of(tasks), rounds_of(tasks)
    said = play.reply / characters
    if reply is not None:
        said = min(said, reply)
    answer = play.observation / characters + 2 * FRAME
    prompt = play.prompt / characters + 3 * FRAME
    most = tasks.max_rounds or 2 * rounds
    longest = prompt + most * (said + answer)
    total = prompt + rounds * (said + answer)
    share = min(1.0, limit / total)
    return Length(
        own=rounds * said * share,
        read=(total - rounds * said) * share,
        longest=min(longest, limit),
        rounds=rounds,
        prompt=prompt * share,
    )


def published_tasks(tasks: EnvTasks) -> int | None:
    """Return how many tasks a published split has, or None where that is not known."""
    play = play_of(tasks)
    count = play.eval if tasks.split in ("eval", "test") else play.train
    return count or None
