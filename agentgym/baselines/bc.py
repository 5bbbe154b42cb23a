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

from agentgym.baselines.checkpoints import (
    MODEL,
    begin,
    conclude,
    done_before,
    is_main,
    wait_for,
)
from agentgym.baselines.config import SCRATCH, ModelConfig, OptimConfig, RunConfig
from agentgym.baselines.examples import (
    DataConfig,
    Example,
    chat_file,
    demonstrations,
    example_of,
    make_rows,
)
from agentgym.baselines.freeing import frees
from agentgym.baselines.plan import plan_data, plan_learning
from agentgym.baselines.progress import Journal, Say, to_stderr
from agentgym.baselines.sources import SourceReport
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.store import write_atomic

DATA, BASE = "data.json", "base"
OF_THE_MACHINE = ("threads", "precision", "gradient_checkpointing")
"""What of an optimiser's settings says how a pass is computed, and not what is learned."""


class NoPolicy(InvalidConfig):
    """There is no policy that could play, and nothing to make one from."""


class BCConfig(RunConfig):
    """Settings of behavioural cloning.

    Attributes:
        data: the demonstrations.
    """

    data: DataConfig = Field(default_factory=DataConfig)

    @property
    def clones(self) -> bool:
        """Whether there is anything to imitate."""
        return bool(self.data.files or self.data.expert or self.data.chat)


class CloningConfig(BCConfig):
    """Settings of a trainer that improves a policy, which BC may make first.

    Attributes:
        data: the demonstrations BC learns; none where `model` is a policy already.
        bc: how BC is optimised; None takes what BC has by itself, and of `optim` only what belongs
            to the machine: threads, precision and gradient_checkpointing.
    """

    bc: OptimConfig | None = None

    @property
    def cloning(self) -> OptimConfig:
        """How BC is optimised: a step fit for improving a policy would clone nothing."""
        if self.bc is not None:
            return self.bc
        machine = {name: getattr(self.optim, name) for name in OF_THE_MACHINE}
        return BCConfig().optim.model_copy(update=machine)


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
    begin(config, folder)
    found = SourceReport()
    examples = examples_of(config.data, seed=config.seed, say=say, report=found)
    return learn(examples, config, folder, say, per_turn=config.data.per_turn, found=found)


@frees
def learn(
    examples: Sequence[Example],
    config: RunConfig,
    folder: Path,
    say: Say = to_stderr,
    *,
    per_turn: bool = False,
    found: SourceReport | None = None,
) -> dict[str, Any]:
    """Train a model on examples, save it and evaluate it; what is finished is not done again.

    Args:
        examples: what is learned, with their weights.
        config: the settings of model, optimiser and evaluation.
        folder: the run's folder.
        say: takes lines of progress.
        per_turn: whether each turn is a sequence of its own.
        found: what the examples were chosen from, for the record.

    Returns:
        Steps, loss, seconds, what became of the examples, and the evaluation.
    """
    done = done_before(folder, say)
    if done is not None:
        return done
    from agentgym.baselines.chat import ChatTemplate, texts_of
    from agentgym.baselines.model import load_policy
    from agentgym.baselines.sft import make_trainer
    from agentgym.baselines.training import leave, run_trainer

    journal = Journal(folder, say, tensorboard=config.tensorboard, main=is_main())
    texts = texts_of(example.messages for example in examples)
    policy = load_policy(config.model, texts, seed=config.seed)
    trained, every = policy.parameters
    journal.say(f"{policy.name}: {trained:,} of {every:,} weights are trained")

    template = ChatTemplate(policy.tokenizer, policy.ends, config.model.template_options)
    rows, report = make_rows(
        examples, template, config.length, context=policy.context, per_turn=per_turn
    )
    report.demonstrations = found
    journal.say(str(report))
    if is_main():
        write_atomic(folder / DATA, json.dumps(asdict(report), indent=2) + "\n")

    trainer = make_trainer(policy, rows, config, folder)
    result = {"examples": asdict(report), **run_trainer(trainer, policy, config, folder, journal)}
    result |= leave(trainer, policy, config.model, config, folder, journal)
    return conclude(folder, result)


def clone_first(config: CloningConfig, folder: Path, say: Say = to_stderr) -> ModelConfig:
    """Return the policy a trainer begins with: `model` as it is, or what BC makes of it.

    Args:
        config: the trainer's settings; BC comes first where `data` names demonstrations.
        folder: the run's folder; BC's run is `bc` within it.
        say: takes lines of progress.

    Raises:
        NoPolicy: if the model is one from scratch and there is nothing to clone.
    """
    require_policy(config)
    if not config.clones:
        return config.model
    found = SourceReport()
    examples = examples_of(config.data, seed=config.seed, say=say, report=found)
    base = base_model(config, examples, folder)
    say("behavioural cloning first")
    stage = config.model_copy(update={"model": base, "optim": config.cloning})
    learn(examples, stage, folder / "bc", say, per_turn=config.data.per_turn, found=found)
    return at_folder(config.model, folder / "bc" / MODEL)


def require_policy(config: CloningConfig) -> None:
    """Require that there is a policy to begin with, or something to clone.

    Raises:
        NoPolicy: if the model is one from scratch and there is nothing to clone.
    """
    if config.model.name == SCRATCH and not config.clones:
        raise NoPolicy(
            "a model from scratch plays nothing yet: name a policy (model.name=FOLDER, such as "
            "the model/ of a BC run), or what to clone first (data.expert, data.files)"
        )


def examples_of(
    config: DataConfig,
    *,
    seed: int = 0,
    say: Say = to_stderr,
    report: SourceReport | None = None,
) -> list[Example]:
    """Return everything a configuration says is to be imitated; see `demonstrations`."""
    sources = demonstrations(config, seed=seed, say=say, report=report)
    examples = [example_of(source) for source in sources]
    return [*examples, *(example for path in config.chat for example in chat_file(path))]


def base_model(config: RunConfig, examples: Sequence[Example], folder: Path) -> ModelConfig:
    """Return the model several stages can begin with; one from scratch is made and kept once."""
    if config.model.name != SCRATCH:
        return config.model
    place = folder / BASE
    if is_main() and not place.exists():
        from agentgym.baselines.chat import texts_of
        from agentgym.baselines.model import load_policy, save_policy

        plain = config.model.model_copy(update={"lora": None, "device": "cpu"})
        texts = texts_of(example.messages for example in examples)
        save_policy(load_policy(plain, texts, seed=config.seed), place)
    wait_for(place)
    return at_folder(config.model, place)


def at_folder(model: ModelConfig, place: Path) -> ModelConfig:
    """Return the same settings for a model that lies in a folder, with its own chat template."""
    return model.model_copy(update={"name": str(place), "chat_template": None})


def plan(config: BCConfig) -> list[str]:
    """Return what `train` would do, a line each; nothing is played or loaded."""
    return [*plan_data(config.data), *plan_learning(config)]
