"""Evaluating the policy that is being trained, on AgentEval as everybody else.

The model in memory plays through the same agent, rollout and report as `agentgym eval hf:MODEL`;
each evaluation leaves an ordinary run folder. Training is not touched by it: the model's mode and
torch's random state are as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentgym.agenteval.evaluate import evaluate
from agentgym.agents.base import Agent, ChatAgent
from agentgym.agents.hf import HFAgent
from agentgym.baselines.attention import masked
from agentgym.baselines.config import EvalConfig, SamplingConfig
from agentgym.baselines.entries import entries
from agentgym.baselines.examples import env_choice
from agentgym.baselines.model import Policy
from agentgym.baselines.progress import EpisodeLines, Journal

Scores = dict[str, dict[str, Any]]
"""By entry (`entries`): success, its 95% interval (low, high), score, episodes."""


def evaluate_policy(
    policy: Policy, config: EvalConfig, folder: Path, step: int, journal: Journal
) -> Scores:
    """Play the evaluation with the model in memory and add the result to the curve.

    Args:
        policy: the model and its tokenizer.
        config: what is played, and how.
        folder: the training run's folder; the evaluation lies in `eval/step-N/ENTRY` within it.
        step: the optimiser step the policy is of.
        journal: where the result goes.
    """
    with agent_of(policy, config.sampling) as agent:
        return evaluate_agent(agent, config, folder / "eval" / f"step-{step:06d}", step, journal)


def evaluate_agent(
    agent: Agent | ChatAgent, config: EvalConfig, folder: Path, step: int, journal: Journal
) -> Scores:
    """Play the evaluation with an agent, one run folder an entry."""
    scores: Scores = {}
    for name, place, tasks in entries(config.envs):
        choice = env_choice(tasks)
        result = evaluate(
            agent,
            [choice],
            tasks=tasks.tasks,
            attempts=config.attempts,
            seed=config.seed,
            action_format=config.sampling.action_format,
            run=folder / place,
            concurrency=config.sampling.concurrency,
            executor=config.sampling.executor,
            on_event=EpisodeLines(journal.say, f"evaluating at step {step}", agent),
        )
        row = result.report.rows[0]
        success = row.total.success
        scores[name] = {
            "success": success.value,
            "low": success.low,
            "high": success.high,
            "score": row.total.score.value,
            "episodes": row.total.episodes,
        }
    journal.point(step, _flat(scores), "eval")
    for name, score in scores.items():
        journal.say(f"step {step}: {name} {describe(score)}")
    return scores


@contextmanager
def agent_of(policy: Policy, sampling: SamplingConfig) -> Iterator[HFAgent]:
    """Give the model in memory as an agent; afterwards it is as it was."""
    import torch

    model = policy.model
    training = model.training
    model.eval()
    agent = HFAgent(
        model,
        tokenizer=policy.tokenizer,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        max_batch=sampling.max_batch,
        template_options=policy.options,
        name="policy",
    )
    try:
        with torch.random.fork_rng(), masked(model):
            yield agent
    finally:
        agent.close()
        model.train(training)


def describe(score: dict[str, Any]) -> str:
    """Return a result as text: "42.0% of 100 solved (33.1 to 51.4)"."""
    if score["success"] is None:
        return "nothing played"
    text = f"{100 * score['success']:.1f}% of {score['episodes']} episodes solved"
    if score["low"] is not None:
        text += f" ({100 * score['low']:.1f} to {100 * score['high']:.1f})"
    return text


def _flat(scores: Scores) -> dict[str, float]:
    return {
        f"{name}/{key}": value
        for name, score in scores.items()
        for key, value in score.items()
        if value is not None
    }
