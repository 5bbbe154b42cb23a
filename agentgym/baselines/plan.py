"""What a trainer would do, in words: the output of `--dry-run`.

Counting is all that happens here: task sets are read, nothing is played, no model is loaded.
"""

from __future__ import annotations

import math

from agentgym.baselines.config import EnvTasks, EvalConfig, ModelConfig, RunConfig
from agentgym.baselines.examples import DataConfig, env_choice
from agentgym.baselines.explore import ExploreConfig, describe_agent
from agentgym.core import short_name
from agentgym.core.errors import MissingData, MissingExtra
from agentgym.rollout.plan import plan


def count_tasks(tasks: EnvTasks) -> int | None:
    """Return how many tasks are meant, or None where their data is not on this machine.

    Raises:
        UnknownEnvironment: if there is no such environment.
        InvalidConfig: if it has no such tasks.
    """
    try:
        return len(plan([env_choice(tasks)], tasks=tasks.tasks))
    except (MissingData, MissingExtra):
        return tasks.tasks


def describe_tasks(tasks: EnvTasks) -> str:
    """Return some tasks as text: "Maze (mini, train): 40 tasks"."""
    name = short_name(env_choice(tasks).env_id)
    count = count_tasks(tasks)
    number = "all tasks (their data is not here)" if count is None else f"{count} tasks"
    if count is not None and tasks.tasks is not None and tasks.tasks > count:
        number += f", which are all there are ({tasks.tasks:,} are asked for)"
    rounds = f", at most {tasks.max_rounds} rounds" if tasks.max_rounds else ""
    return f"{name} ({tasks.edition}, {tasks.split}): {number}{rounds}"


def plan_data(data: DataConfig) -> list[str]:
    """Return where demonstrations come from, a line each."""
    lines = [f"learn from {path} ({data.layout})" for path in data.files]
    lines += [f"learn from the expert in {describe_tasks(tasks)}" for tasks in data.expert]
    lines += [f"learn from general conversations in {path}" for path in data.chat]
    if data.min_score is not None:
        lines.append(f"leave out trajectories with a score below {data.min_score:g}")
    if data.best:
        lines.append("keep the best trajectory of each task")
    return lines or ["there is no data: name data.files or data.expert"]


def plan_learning(config: RunConfig) -> list[str]:
    """Return how a model is trained and evaluated, a line each."""
    optim, length = config.optim, config.length
    limit = f"{length.max_tokens:,} tokens" if length.max_tokens else "the model's context"
    batch = optim.batch_size * optim.accumulate
    steps = f"{optim.max_steps} steps" if optim.max_steps else f"{optim.epochs:g} epochs"
    warm = "" if optim.schedule == "constant" else f", warm-up {optim.warmup:g}"
    return [
        f"model: {describe_model(config.model)}",
        f"examples of at most {limit}; longer ones: {length.too_long}",
        f"{steps} of {batch} sequences a process ({optim.batch_size} x {optim.accumulate}, "
        f"{optim.batching}), AdamW, lr {optim.lr:g}, {optim.schedule}{warm}, "
        f"seed {config.seed}",
        *plan_evaluation(config.eval),
    ]


def plan_evaluation(config: EvalConfig) -> list[str]:
    """Return what is evaluated, a line each."""
    when = f"every {config.every} steps and " if config.every else ""
    return [
        f"evaluate {when}at the end: {describe_tasks(tasks)}, {config.attempts} a task, "
        f"temperature {config.sampling.temperature:g}"
        for tasks in config.envs
    ]


def describe_model(config: ModelConfig) -> str:
    """Return a model as text."""
    if config.name == "scratch":
        shape = config.scratch
        name = f"a Llama from scratch ({shape.layers} layers of width {shape.hidden})"
    else:
        name = config.name
    if config.lora is None:
        return f"{name}, every weight"
    return f"{name}, LoRA of rank {config.lora.r}"


def plan_exploration(config: ExploreConfig) -> list[str]:
    """Return what is explored, a line each, and how many episodes that is."""
    hot = f"temperature {config.sampling.temperature:g}"
    counts = [count_tasks(tasks) for tasks in config.envs]
    known = config.samples * sum(count for count in counts if count is not None)
    more = "at least " if None in counts else ""
    return [
        f"{describe_agent(config)} plays, {config.samples} a task, {hot}, {more}{known:,} in all:",
        *(f"  {describe_tasks(tasks)}" for tasks in config.envs),
    ]


def steps_of(rows: int, config: RunConfig) -> int:
    """Return the optimiser steps that so many sequences come to in one process."""
    if config.optim.max_steps:
        return config.optim.max_steps
    batches = math.ceil(rows / config.optim.batch_size)
    return max(1, math.ceil(math.ceil(batches / config.optim.accumulate) * config.optim.epochs))
