"""Statistics of trajectories: one row an environment and edition, which are never mixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from agentgym.rollout.episode import Episode


class EnvStats(BaseModel):
    """Statistics of one environment's episodes.

    Attributes:
        env_id: Gymnasium id.
        edition: edition of the tasks.
        episodes: number of episodes.
        tasks: number of different tasks among them.
        success: share of episodes that achieved their task.
        score: mean final score.
        rounds: mean number of rounds.
        invalid: share of rounds whose action could not be carried out.
        input_tokens: tokens of all prompts; 0 where no model was called.
        output_tokens: tokens of all replies; 0 where no model was called.
        characters: mean number of characters of a whole conversation.
        statuses: number of episodes by status.
    """

    model_config = ConfigDict(frozen=True)

    env_id: str
    edition: str
    episodes: int
    tasks: int
    success: float
    score: float
    rounds: float
    invalid: float
    input_tokens: int
    output_tokens: int
    characters: float
    statuses: dict[str, int]


class _Tally:
    """Sums over the episodes of one environment, so that a stream can be counted."""

    def __init__(self) -> None:
        self.tasks: dict[str, None] = {}
        self.episodes = self.success = self.rounds = self.invalid = 0
        self.input_tokens = self.output_tokens = self.characters = 0
        self.score = 0.0
        self.statuses: Counter[str] = Counter()

    def add(self, episode: Episode) -> None:
        self.tasks[episode.task_id] = None
        self.episodes += 1
        self.success += episode.success
        self.rounds += episode.rounds
        self.invalid += episode.invalid_actions
        usage = episode.usage
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        opening = len(episode.instructions) + len(episode.acknowledgement)
        self.characters += opening + len(episode.observation)
        self.characters += sum(len(s.reply) + len(s.observation) for s in episode.steps)
        self.score += episode.score
        self.statuses[episode.status] += 1

    def stats(self, env_id: str, edition: str) -> EnvStats:
        return EnvStats(
            env_id=env_id,
            edition=edition,
            episodes=self.episodes,
            tasks=len(self.tasks),
            success=self.success / self.episodes,
            score=self.score / self.episodes,
            rounds=self.rounds / self.episodes,
            invalid=self.invalid / self.rounds if self.rounds else 0.0,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            characters=self.characters / self.episodes,
            statuses=dict(self.statuses),
        )


def env_stats(episodes: Iterable[Episode]) -> list[EnvStats]:
    """Return one row an environment and edition, in order of first appearance."""
    tallies: dict[tuple[str, str], _Tally] = {}
    for episode in episodes:
        tallies.setdefault((episode.env_id, episode.edition), _Tally()).add(episode)
    return [tally.stats(*key) for key, tally in tallies.items()]
