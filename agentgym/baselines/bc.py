"""Behavioural cloning: learn to say what the demonstrations say.

    J_BC(theta) = E over (goal, trajectory) in D
                  [ sum over turns  log pi_theta(thought, action | all before) ]

(AgentGym, arXiv 2406.04151.) Read on in this order: `demonstrations` says what D is, `chat.encode`
which tokens of it are the agent's own, `sft` the loss. Only turns the data flags are learned; the
published trainer learned the scripted "OK." too and cut long episodes in silence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import Field

from agentgym.baselines.checkpoints import RESULT, finish, finished, is_main, wait_for
from agentgym.baselines.config import CONFIG_FILE, RunConfig, save_config
from agentgym.baselines.examples import (
    DataConfig,
    Example,
    chat_file,
    demonstrations,
    example_of,
    make_rows,
)
from agentgym.baselines.plan import plan_data, plan_learning
from agentgym.baselines.progress import Journal, Say, to_stderr
from agentgym.rollout.store import write_atomic

MODEL = "model"
DATA = "data.json"


class BCConfig(RunConfig):
    """Settings of behavioural cloning.

    Attributes:
        data: the demonstrations.
    """

    data: DataConfig = Field(default_factory=DataConfig)


def train(config: BCConfig, folder: Path, say: Say = to_stderr) -> dict[str, Any]:
    """Clone the demonstrations; the same call again goes on where it was cut short.

    Args:
        config: the settings.
        folder: the run's folder; the policy is left in `model/` within it.
        say: takes lines of progress.

    Returns:
        Steps, loss, seconds, what became of the examples, and the evaluation.

    Raises:
        InvalidConfig: if a setting cannot be used, or the folder holds another run.
    """
    if is_main():
        save_config(config, folder)
    wait_for(folder / CONFIG_FILE)
    done = finished(folder)
    if done is not None:
        say(f"{folder} is finished")
        return done
    examples = [example_of(source) for source in demonstrations(config.data, seed=config.seed)]
    examples += [example for path in config.data.chat for example in chat_file(path)]
    return learn(examples, config, folder, say, per_turn=config.data.per_turn)


def learn(
    examples: Sequence[Example],
    config: RunConfig,
    folder: Path,
    say: Say = to_stderr,
    *,
    per_turn: bool = False,
) -> dict[str, Any]:
    """Train a model on examples, save it and evaluate it.

    Args:
        examples: what is learned, with their weights.
        config: the settings of model, optimiser and evaluation.
        folder: the run's folder.
        say: takes lines of progress.
        per_turn: whether each turn is a sequence of its own.

    Returns:
        Steps, loss, seconds, what became of the examples, and the evaluation.
    """
    from agentgym.baselines.chat import ChatTemplate, texts_of
    from agentgym.baselines.evaluate import evaluate_policy
    from agentgym.baselines.model import load_policy, save_policy
    from agentgym.baselines.sft import fit

    journal = Journal(folder, say, tensorboard=config.tensorboard, main=is_main())
    texts = texts_of(example.messages for example in examples)
    policy = load_policy(config.model, texts, seed=config.seed)
    trained, every = policy.parameters
    journal.say(f"{policy.name}: {trained:,} of {every:,} weights are trained")

    template = ChatTemplate(policy.tokenizer, policy.ends, config.model.template_options)
    rows, report = make_rows(
        examples, template, config.length, context=policy.context, per_turn=per_turn
    )
    journal.say(str(report))
    if is_main():
        write_atomic(folder / DATA, json.dumps(asdict(report), indent=2) + "\n")

    result = {**fit(policy, rows, config, folder, journal), "examples": asdict(report)}
    if is_main():
        save_policy(policy, folder / MODEL)
        if config.eval.envs:
            result["eval"] = evaluate_policy(policy, config.eval, folder, result["steps"], journal)
        finish(folder, result)
    journal.close()
    wait_for(folder / RESULT)
    return result


def plan(config: BCConfig) -> list[str]:
    """Return what `train` would do, a line each; nothing is played or loaded."""
    return [*plan_data(config.data), *plan_learning(config)]
