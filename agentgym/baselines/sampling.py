"""Groups of episodes of one task and one seed, as the tokens that were sampled.

A group has an id of its own, and every trajectory carries it: nothing follows from the order of a
batch. An episode that broke (an endpoint failed, a worker died) is no trajectory of score zero; it
is left out and counted. The tokens, their log-probabilities and the policy's own turns come from
the record of the episode alone, so what is trained on is what was played.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from agentgym.agents.base import ChatAgent
from agentgym.baselines.config import EnvTasks, LengthConfig, SamplingConfig
from agentgym.baselines.examples import env_choice
from agentgym.core import AgentGymError, Task
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.engine import rollout
from agentgym.rollout.episode import Episode
from agentgym.rollout.events import Listener
from agentgym.rollout.limits import Limits
from agentgym.rollout.plan import EnvChoice, Job, derive_seed, plan


class TokensDrifted(AgentGymError):
    """The tokens of a turn do not begin with those of the turn before and its reply."""


class Group(NamedTuple):
    """A task that is played several times from one seed.

    Attributes:
        number: its place in the run; no two groups of a run share it.
        env: the environment.
        task: the task.
        seed: what `reset` is given, the same for all episodes of the group.
        threshold: an episode whose score is above this counts as solved; None takes the
            environment's own success.
    """

    number: int
    env: EnvChoice
    task: Task
    seed: int
    threshold: float | None = None

    @property
    def id(self) -> str:
        """Names the group in a run."""
        return f"{self.number}:{self.task.id}"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An episode as a sequence of tokens.

    Attributes:
        group: id of its group.
        episode: the record.
        solved: whether it counts as solved.
        prompt_ids: what the policy was given before its first reply.
        completion_ids: everything after: replies as sampled, and what was put between them.
        mask: True where the policy chose the token, the end of a reply included.
        logprobs: log-probability of each token under the policy that sampled it, at the
            temperature it was sampled with; 0 where it chose nothing.
        step_ids: the round a token was chosen in, from 0; -1 where the policy chose nothing.
    """

    group: str
    episode: Episode
    solved: bool
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    mask: tuple[bool, ...]
    logprobs: tuple[float, ...]
    step_ids: tuple[int, ...]

    @property
    def own(self) -> int:
        """Number of tokens the policy chose."""
        return sum(self.mask)

    @property
    def rewards(self) -> tuple[float, ...]:
        """The reward of each round; they sum to the score."""
        return tuple(step.reward for step in self.episode.steps)


@dataclass
class Samples:
    """What was played at one time.

    Attributes:
        trajectories: the episodes that can be learned from.
        left_out: the others, counted by reason.
        seconds: how long playing took; of several processes, the one that took longest.
        waited: seconds of it in which the model was not at work: the environments, and what it
            takes to write and read conversations; of several processes, their mean.
        written: tokens sampled, those of episodes that were left out included.
    """

    trajectories: list[Trajectory]
    left_out: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    waited: float = 0.0
    written: int = 0

    def metrics(self) -> dict[str, float]:
        """Return what to watch, by name."""
        kept = self.trajectories
        steps = [step for t in kept for step in t.episode.steps]
        figures = {
            "left_out": float(self.left_out.total()),
            "tokens_per_second": self.written / self.seconds if self.seconds else 0.0,
            "sampling_seconds": self.seconds,
            "idle_seconds": self.waited,
        }
        if kept:
            scores: dict[str, list[float]] = {}
            for t in kept:
                scores.setdefault(t.group, []).append(t.episode.score)
            figures |= {
                "reward": float(np.mean([t.episode.score for t in kept])),
                "success": float(np.mean([t.solved for t in kept])),
                "rounds": float(np.mean([t.episode.rounds for t in kept])),
                "invalid_actions": float(np.mean([not step.valid for step in steps])),
                "length": float(np.mean([t.own for t in kept])),
                "length_all": float(np.mean([len(t.completion_ids) for t in kept])),
                "groups_without_spread": float(
                    np.mean([max(values) - min(values) < 1e-9 for values in scores.values()])
                ),
            }
        return figures

    def __str__(self) -> str:
        figures = self.metrics()
        if not self.trajectories:
            return f"no episode can be learned from: {dict(self.left_out)}"
        parts = [
            f"{len(self.trajectories)} episodes",
            f"score {figures['reward']:.3f}",
            f"{100 * figures['success']:.0f}% solved",
            f"{figures['rounds']:.1f} rounds",
            f"{figures['length']:.0f} tokens each",
            f"{figures['tokens_per_second']:.0f} tokens/s",
        ]
        if self.left_out:
            reasons = ", ".join(f"{n} {why}" for why, n in sorted(self.left_out.items()))
            parts.append(f"{self.left_out.total()} left out ({reasons})")
        return " · ".join(parts)


def make_groups(tasks: Sequence[EnvTasks], count: int, *, seed: int) -> list[Group]:
    """Return so many groups: passes over all tasks, each pass in an order of its own.

    Args:
        tasks: the tasks.
        count: how many groups.
        seed: decides the orders and the groups' seeds.

    Raises:
        InvalidConfig: if there are no tasks.
    """
    known = [
        (job.env, job.task, some.threshold)
        for some in tasks
        for job in plan([env_choice(some)], tasks=some.tasks)
    ]
    if not known:
        raise InvalidConfig("there is nothing to play: name environments in tasks")
    groups: list[Group] = []
    while len(groups) < count:
        rng = np.random.default_rng([seed, len(groups)])
        for index in rng.permutation(len(known))[: count - len(groups)]:
            env, task, threshold = known[index]
            number = len(groups)
            groups.append(
                Group(number, env, task, derive_seed("group", seed, number, task.id), threshold)
            )
    return groups


def sample_groups(
    groups: Sequence[Group],
    size: int,
    agent: ChatAgent,
    sampling: SamplingConfig,
    *,
    seed: int,
    too_long: str = "truncate-turns",
    failures: int | None = 10,
    on_event: Listener | None = None,
) -> Samples:
    """Play each group's task so many times, from its seed, and return the tokens.

    Args:
        groups: what is played.
        size: episodes of a group (n).
        agent: the policy; its replies come with their tokens and log-probabilities.
        sampling: concurrency, executor and action format.
        seed: decides what is sampled, with the group and the episode's place in it.
        too_long: an episode that the context ended: "truncate-turns" keeps what was played, with
            the score it had; "drop" leaves it out; "error" stops.
        failures: failed episodes in a row after which the run stops.
        on_event: called with every event of the rollout.

    Raises:
        InvalidConfig: if the agent gives no tokens, or an episode is too long and that stops.
        TokensDrifted: if the agent did not continue a conversation with the tokens it sampled.
        BudgetExceeded: if too many episodes failed in a row.
    """
    by_key: dict[str, Group] = {}
    jobs: list[Job] = []
    for group in groups:
        for n in range(size):
            attempt = group.number * size + n
            agent_seed = derive_seed("sample", seed, group.id, n)
            job = Job(group.env, group.task, attempt, group.seed, agent_seed)
            by_key[job.key] = group
            jobs.append(job)
    expect = getattr(agent, "expect", None)
    if expect is not None:
        expect(len(jobs), min(sampling.concurrency, len(jobs)))
    busy, began = _busy(agent), time.perf_counter()
    episodes = rollout(
        jobs,
        agent,
        action_format=sampling.action_format,
        concurrency=sampling.concurrency,
        executor=sampling.executor,
        limits=Limits(failures=failures),
        keep_tokens=True,
        on_event=on_event,
    )
    samples = Samples([], seconds=time.perf_counter() - began)
    samples.waited = max(samples.seconds - (_busy(agent) - busy), 0.0)
    for episode in episodes:
        samples.written += episode.usage.output_tokens
        why = _unfit(episode, too_long)
        if why:
            samples.left_out[why] += 1
        else:
            samples.trajectories.append(trajectory_of(episode, by_key[episode.key]))
    return without_lonely(samples)


def whole(parts: Sequence[Samples]) -> Samples:
    """Return what several processes played as one sampling."""
    return Samples(
        [t for part in parts for t in part.trajectories],
        sum((part.left_out for part in parts), Counter()),
        max(part.seconds for part in parts),
        sum(part.waited for part in parts) / len(parts),
        sum(part.written for part in parts),
    )


def to_share(samples: Samples) -> Samples:
    """Return a sampling without what its trajectories hold a second time: the tokens by round."""
    return replace(samples, trajectories=[_once(t) for t in samples.trajectories])


def _once(trajectory: Trajectory) -> Trajectory:
    episode = trajectory.episode
    steps = tuple(step.model_copy(update={"sampled": None}) for step in episode.steps)
    return replace(trajectory, episode=episode.model_copy(update={"steps": steps}))


def trajectory_of(episode: Episode, group: Group) -> Trajectory:
    """Return an episode as tokens.

    Raises:
        InvalidConfig: if its record holds no tokens or no log-probabilities.
        TokensDrifted: if a turn's prompt does not begin with the tokens before it.
    """
    first = episode.steps[0].sampled
    prompt = first.prompt_ids if first is not None else ()
    before = list(prompt)
    mask: list[bool] = []
    logprobs: list[float] = []
    step_ids: list[int] = []
    for number, step in enumerate(episode.steps):
        sampled = step.sampled
        if sampled is None or len(sampled.logprobs) != len(sampled.token_ids):
            raise InvalidConfig(
                f"{episode.agent} gives no tokens with log-probabilities, which training needs"
            )
        given = list(sampled.prompt_ids)
        if given[: len(before)] != before:
            raise TokensDrifted(
                f"round {number + 1} of {episode.key} was not continued from the tokens of the "
                "round before; use an agent of agentgym.baselines.engines"
            )
        between = len(given) - len(before)
        mask += [False] * between + [True] * len(sampled.token_ids)
        logprobs += [0.0] * between + list(sampled.logprobs)
        step_ids += [-1] * between + [number] * len(sampled.token_ids)
        before = given + list(sampled.token_ids)
    solved = episode.success if group.threshold is None else episode.score > group.threshold
    return Trajectory(
        group=group.id,
        episode=episode,
        solved=solved,
        prompt_ids=tuple(prompt),
        completion_ids=tuple(before[len(prompt) :]),
        mask=tuple(mask),
        logprobs=tuple(logprobs),
        step_ids=tuple(step_ids),
    )


def without_lonely(samples: Samples) -> Samples:
    """Leave out the last of a group of which nothing else is left: it compares with nothing."""
    counts = Counter(t.group for t in samples.trajectories)
    lonely = [t for t in samples.trajectories if counts[t.group] == 1]
    samples.trajectories = [t for t in samples.trajectories if counts[t.group] > 1]
    if lonely:
        samples.left_out["alone in its group"] += len(lonely)
    return samples


def _unfit(episode: Episode, too_long: str) -> str:
    """Return why an episode cannot be learned from, or ""."""
    if episode.status == "failed":
        failure = episode.failure
        return f"failed ({failure.where}: {failure.type})" if failure else "failed"
    if episode.status == "limit" and too_long == "error":
        raise InvalidConfig(
            f"{episode.key} is too long: {episode.failure.message if episode.failure else ''}. "
            "Raise length.max_tokens or set length.too_long to drop or truncate-turns."
        )
    if episode.status == "limit" and too_long == "drop":
        return "too long"
    return "" if episode.steps else "no reply fitted"


def _busy(agent: Any) -> float:
    return float(getattr(agent, "seconds", 0.0))


def context_of(length: LengthConfig, context: int) -> int:
    """Return the most tokens a conversation may have."""
    return min(length.max_tokens or context, context)
