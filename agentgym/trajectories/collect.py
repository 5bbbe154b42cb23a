"""Collecting trajectories: a rollout whose result is a dataset.

Nothing here knows an environment: whatever `agentgym.core.make` can make can be collected from, and
an expert's reasons stand in the Thought of its replies because the action format writes them there.
What is left out of a dataset is never dropped in silence: `gather` returns it, `collect` warns.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from agentgym.agents.base import Agent, ChatAgent
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.core.registry import portable_id
from agentgym.rollout.engine import rollout
from agentgym.rollout.episode import Episode
from agentgym.rollout.events import Listener
from agentgym.rollout.limits import Limits
from agentgym.rollout.plan import EnvChoice, plan
from agentgym.rollout.store import RunFolder
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.schema import About

KEEP: dict[str, Callable[[Episode], bool]] = {
    "success": lambda episode: episode.success,
    "completed": lambda episode: episode.status == "completed",
    "all": lambda episode: True,
}
"""What a collection may keep, by name."""


class CollectionWarning(UserWarning):
    """Some episodes of a collection were left out."""


class ExpertFailed(AgentGymError):
    """An expert did not solve a task it was to give a trajectory of."""


class Collection(NamedTuple):
    """What was collected.

    Attributes:
        kept: the dataset.
        left_out: the episodes that did not meet the condition, in the plan's order.
    """

    kept: TrajectoryDataset
    left_out: tuple[Episode, ...]


class Options(TypedDict, total=False):
    """The options of `collect`; `gather` says what each means and what it is by default."""

    split: str
    edition: str
    tasks: int | None
    task_ids: Sequence[str] | None
    attempts: int
    seed: int
    action_format: str
    max_rounds: int | None
    options: dict[str, Any] | None
    kinds: Sequence[str]
    keep: str | Callable[[Episode], bool] | None
    run: str | os.PathLike[str] | None
    concurrency: int
    executor: str
    limits: Limits | None
    keep_tokens: bool
    on_event: Listener | None
    about: About | None


def gather(
    env: str | Sequence[str],
    agent: str | Agent | ChatAgent = "expert",
    *,
    split: str = "train",
    edition: str = "mini",
    tasks: int | None = None,
    task_ids: Sequence[str] | None = None,
    attempts: int = 1,
    seed: int = 0,
    action_format: str = "react",
    max_rounds: int | None = None,
    options: dict[str, Any] | None = None,
    kinds: Sequence[str] = (),
    keep: str | Callable[[Episode], bool] | None = None,
    run: str | os.PathLike[str] | None = None,
    concurrency: int = 16,
    executor: str = "auto",
    limits: Limits | None = None,
    keep_tokens: bool = False,
    on_event: Listener | None = None,
    about: About | None = None,
) -> Collection:
    """Play tasks and return what is worth keeping, and what is not.

    Args:
        env: one or more environments: ids, short names, or "my_package:MyEnv-v0".
        agent: "expert", "random", what `build_agent` takes, or an agent.
        split: split of the tasks.
        edition: edition of the tasks.
        tasks: how many tasks, spread evenly over the split; None takes all.
        task_ids: exactly these tasks instead.
        attempts: how often each task is played.
        seed: the run's seed.
        action_format: how replies are written.
        max_rounds: rounds before truncation; None takes the edition's default.
        options: other keyword arguments of the environments.
        kinds: only tasks of these kinds, "*" standing for any text; empty for all.
        keep: "success", "completed", "all" or a condition of your own; by default an expert's
            successes, and everything of other agents.
        run: a run folder; the same call again takes up where it was interrupted.
        concurrency: how many episodes run at a time.
        executor: "auto", "inline", "thread", "process" or "ray".
        limits: what the run may spend.
        keep_tokens: whether to keep the sampled tokens, where the agent gives them.
        on_event: called with every event of the rollout.
        about: name, licence and source of the dataset.

    Raises:
        InvalidConfig: if an option has no meaning, or `run` holds another collection.
        UnknownEnvironment: if there is no such environment.
        BudgetExceeded: if a limit stopped the run.
    """
    names = (env,) if isinstance(env, str) else tuple(env)
    player = _agent(agent)
    condition = _condition(keep, player)
    choices = [
        EnvChoice(
            env_id=portable_id(name),
            edition=edition,
            split=split,
            max_rounds=max_rounds,
            options=options or {},
            kinds=tuple(kinds),
        )
        for name in names
    ]
    jobs = plan(choices, tasks=tasks, task_ids=task_ids, attempts=attempts, seed=seed)
    folder = None
    if run is not None:
        folder = RunFolder.create(
            run,
            {
                "name": "collection",
                "agent": player.describe(),
                "action_format": action_format,
                "envs": [choice.model_dump(mode="json") for choice in choices],
                "tasks": tasks,
                "task_ids": list(task_ids) if task_ids is not None else None,
                "attempts": attempts,
                "seed": seed,
                "created_with": _version(),
            },
        )
    try:
        episodes = rollout(
            jobs,
            player,
            action_format=action_format,
            run=folder,
            concurrency=concurrency,
            executor=executor,
            limits=limits,
            keep_tokens=keep_tokens,
            on_event=on_event,
        )
    finally:
        if folder is not None:
            folder.close()
        if player is not agent:
            player.close()
    kept = [episode for episode in episodes if condition(episode)]
    held = {id(episode) for episode in kept}
    left_out = tuple(episode for episode in episodes if id(episode) not in held)
    return Collection(TrajectoryDataset(kept, about or _about(player, choices)), left_out)


def collect(
    env: str | Sequence[str],
    agent: str | Agent | ChatAgent = "expert",
    *,
    strict: bool = False,
    **options: Unpack[Options],
) -> TrajectoryDataset:
    """Play tasks and return the trajectories worth keeping as a dataset.

    Takes the options of `gather`.

    Args:
        env: one or more environments.
        agent: who plays.
        strict: whether to raise where an episode is left out, instead of warning.
        options: see `gather`.

    Raises:
        ExpertFailed: if `strict` and an episode did not meet the condition.

    Warns:
        CollectionWarning: naming the tasks whose episodes were left out.
    """
    kept, left_out = gather(env, agent, **options)
    if left_out:
        message = describe_left_out(left_out, len(kept) + len(left_out))
        if strict:
            raise ExpertFailed(message)
        warnings.warn(message, CollectionWarning, stacklevel=2)
    return kept


def describe_left_out(
    left_out: Sequence[Episode],
    total: int,
    limit: int = 5,
    advice: str = "Collect with keep='all' to have them too.",
) -> str:
    """Return one line on the episodes a collection left out, and why.

    Args:
        left_out: these episodes.
        total: how many were played.
        limit: how many of them are named.
        advice: what would have them kept.
    """
    shown = []
    for episode in left_out[:limit]:
        if episode.failure is not None:
            why = f"{episode.failure.type}: {episode.failure.message}"
        elif episode.truncated:
            why = f"score {episode.score:.2f} when {episode.rounds} rounds were spent"
        else:
            why = f"ended with score {episode.score:.2f}"
        shown.append(f"{episode.task_id} ({why})")
    more = f" and {len(left_out) - limit} more" if len(left_out) > limit else ""
    return f"{len(left_out)} of {total} episodes were left out: {', '.join(shown)}{more}. {advice}"


def _agent(agent: str | Agent | ChatAgent) -> Agent | ChatAgent:
    if not isinstance(agent, str):
        return agent
    if agent == "expert":
        return ExpertAgent()
    if agent == "random":
        return RandomAgent()
    from agentgym.agents.build import build_agent

    return build_agent(agent)


def _condition(
    keep: str | Callable[[Episode], bool] | None, agent: Agent | ChatAgent
) -> Callable[[Episode], bool]:
    if keep is None:
        keep = "success" if isinstance(agent, ExpertAgent) else "all"
    if not isinstance(keep, str):
        return keep
    if keep not in KEEP:
        raise InvalidConfig(
            f"keep must be one of {', '.join(KEEP)} or a condition of your own, got {keep!r}"
        )
    return KEEP[keep]


def _about(agent: Agent | ChatAgent, choices: Sequence[EnvChoice]) -> About:
    places = ", ".join(f"{c.env_id} ({c.edition}, {c.split})" for c in choices)
    return About(
        description=f"Trajectories of {agent.name} in {places}.",
        source=f"agentgym {_version()}, agentgym.trajectories.collect",
    )


def _version() -> str:
    # Read, not imported: the top of the package leads to parts that stand on this one.
    return str(vars(sys.modules["agentgym"])["__version__"])
