"""What all trainers on TRL share: arguments, callbacks, and taking a run up again.

TRL's trainers are used as they are, behind one translation of our settings into theirs. Their own
output (bars, printed dictionaries, web services) is off; the journal says and keeps everything.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, TrainerCallback

from agentgym.baselines.checkpoints import (
    CHECKPOINTS,
    COUNTS,
    MODEL,
    checkpoint_folder,
    counts_file,
    is_main,
    latest,
    mark_whole,
    ranks,
)
from agentgym.baselines.config import ModelConfig, RunConfig
from agentgym.baselines.evaluate import evaluate_policy
from agentgym.baselines.freeing import let_go
from agentgym.baselines.model import Policy, calm, gather, save_policy
from agentgym.baselines.processes import team
from agentgym.baselines.progress import Journal, Pace
from agentgym.baselines.trl_arguments import require_known
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.store import write_atomic

SHOWN = {
    "loss": "loss",
    "mean_token_accuracy": "accuracy",
    "rewards/accuracies": "preferred",
    "rewards/margins": "margin",
    "reward": "reward",
    "kl": "kl",
    "entropy": "entropy",
    "grad_norm": "gradient",
    "learning_rate": "lr",
}
"""What the lines for people show, of what a trainer measures, and what they call it."""


def arguments(kind: Callable[..., Any], config: RunConfig, folder: Path, **more: Any) -> Any:
    """Return a TRL configuration that does what ours says.

    Args:
        kind: TRL's class of configuration (SFTConfig, DPOConfig, ...).
        config: our settings.
        folder: the run's folder.
        more: arguments of this trainer.

    Raises:
        InvalidConfig: if `optim.trainer` holds an argument that may not be passed on.
    """
    optim = config.optim
    require_known(kind, optim.trainer)
    if optim.threads:
        torch.set_num_threads(optim.threads)
    cpu = config.model.device == "cpu" or not torch.cuda.is_available()
    mixed = optim.precision == "bfloat16" or (
        optim.precision == "auto" and not cpu and torch.cuda.is_bf16_supported()
    )
    settings: dict[str, Any] = {
        "output_dir": str(checkpoint_folder(folder)),
        "seed": config.seed,
        "data_seed": config.seed,
        "learning_rate": optim.lr,
        "num_train_epochs": optim.epochs,
        "max_steps": optim.max_steps or -1,
        "per_device_train_batch_size": optim.batch_size,
        "gradient_accumulation_steps": optim.accumulate,
        "lr_scheduler_type": optim.schedule,
        "warmup_steps": optim.warmup,
        "weight_decay": optim.weight_decay,
        "adam_beta1": optim.betas[0],
        "adam_beta2": optim.betas[1],
        "adam_epsilon": optim.eps,
        "max_grad_norm": optim.max_grad_norm,
        "gradient_checkpointing": optim.gradient_checkpointing,
        "use_cpu": cpu,
        "bf16": mixed,
        "dataloader_pin_memory": not cpu,
        "logging_steps": config.log_every,
        "logging_first_step": True,
        "save_strategy": "steps" if config.save_every else "no",
        "save_steps": config.save_every or 500,
        "save_total_limit": config.keep_checkpoints,
        "eval_strategy": "no",
        "report_to": "none",
        "ddp_find_unused_parameters": False,
        "disable_tqdm": True,
    }
    try:
        with calm():
            return kind(**{**settings, **more, **optim.trainer})
    except (TypeError, ValueError, ImportError) as error:
        if not optim.trainer:
            raise
        raise InvalidConfig(f"TRL refuses optim.trainer={optim.trainer}: {error}") from error


def keep_counts(
    trainer: Any,
    counts: Callable[[], dict[str, Any]],
    count_on: Callable[[dict[str, Any]], None],
    folder: Path,
    journal: Journal,
) -> None:
    """Have a run that is taken up count on from its last checkpoint, or from its start.

    To be called before `run_trainer`, which marks a checkpoint once everything in it is written.

    Args:
        trainer: a TRL trainer, ready.
        counts: returns what this process has counted so far, JSON values.
        count_on: goes on from what `counts` returned.
        folder: the run's folder.
        journal: where lines go.
    """
    keeper = _Counts(counts)
    trainer.add_callback(keeper)
    place = counts_file(folder)
    if place.is_file():
        everyone = json.loads(place.read_text(encoding="utf-8"))
        if trainer.args.process_index < len(everyone):
            count_on(everyone[trainer.args.process_index])
    elif place.parent.name == CHECKPOINTS:
        keeper.write(place)
    else:
        journal.say("the checkpoint is an older one without counts: they begin again")


def run_trainer(
    trainer: Any, policy: Policy, config: RunConfig, folder: Path, journal: Journal
) -> dict[str, Any]:
    """Train to the end, from the last checkpoint where there is one.

    Args:
        trainer: a TRL trainer, ready.
        policy: what it trains.
        config: our settings.
        folder: the run's folder.
        journal: where the curve goes.

    Returns:
        Steps, mean loss and seconds of the training.
    """
    found = latest(folder)
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_Marks())
    pace = Pace()
    trainer.add_callback(_Lines(journal, pace))
    if config.eval.envs and (config.eval.every or config.eval.at_start):
        if ranks() == 1:
            trainer.add_callback(_Evaluations(policy, config, folder, journal, pace))
        else:
            journal.say("with several processes the policy is evaluated at the end alone")
    step = found[1] if found else 0
    journal.begin(step)
    pace.begin(step)
    if found:
        journal.say(f"going on from step {step}")
    began = time.monotonic()
    with calm():
        result = trainer.train(resume_from_checkpoint=str(found[0]) if found else None)
    return {
        "steps": int(result.global_step),
        "loss": float(result.training_loss),
        "seconds": time.monotonic() - began,
    }


def leave(
    trainer: Any,
    policy: Policy,
    start: ModelConfig,
    config: RunConfig,
    folder: Path,
    journal: Journal,
) -> dict[str, Any]:
    """Save the policy a trainer made and evaluate it; every process calls this.

    Args:
        trainer: the trainer, done.
        policy: what it trained.
        start: the model it began with.
        config: our settings.
        folder: the run's folder; the policy is left in `model/` within it.
        journal: where the curve goes.

    Returns:
        The evaluation, where there is one.
    """
    place = folder / MODEL
    if ranks() > 1:  # the weights may lie in parts on all processes
        parts = folder / "parts"
        if trainer.is_fsdp_enabled:  # by default FSDP2 would save nothing that is a model
            trainer.accelerator.state.fsdp_plugin.set_state_dict_type("FULL_STATE_DICT")
        with calm():
            trainer.save_model(str(parts))
        trainer.accelerator.wait_for_everyone()
        if is_main():
            policy = gather(parts, start)
    result: dict[str, Any] = {}
    if is_main():
        save_policy(policy, place)
        if config.eval.envs:
            let_go(trainer)
            if ranks() > 1:  # it was put together on the CPU
                policy.model.to(trainer.accelerator.device)
            step = int(trainer.state.global_step)
            result["eval"] = evaluate_policy(policy, config.eval, folder, step, journal)
    journal.close()
    return result


class _Marks(TrainerCallback):  # type: ignore[misc]
    """Marks checkpoints once they are whole."""

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step >= state.max_steps:
            # The result is saved instead. (Taken up at its last step, a trainer would add one.)
            control.should_save = False
            control.should_log = True  # the curve goes to the end, whatever `log_every` is

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if is_main():
            step = int(state.global_step)
            mark_whole(Path(args.output_dir) / f"checkpoint-{step}", step)


class _Counts(TrainerCallback):  # type: ignore[misc]
    """Writes what the processes of a run have counted into its checkpoints."""

    def __init__(self, counts: Callable[[], dict[str, Any]]) -> None:
        self._counts = counts

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.write(Path(args.output_dir) / f"checkpoint-{state.global_step}" / COUNTS)

    def write(self, place: Path) -> None:
        """Write the counts of all processes, each of which calls this."""
        everyone = team().share(self._counts())
        if is_main():
            write_atomic(place, json.dumps(everyone) + "\n")


class _Lines(TrainerCallback):  # type: ignore[misc]
    """Passes what a trainer measures to the journal."""

    def __init__(self, journal: Journal, pace: Pace) -> None:
        self._journal, self._pace = journal, pace

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any
    ) -> None:
        if not logs or "train_runtime" in logs:  # the summary at the end says nothing new
            return
        step = int(state.global_step)
        values = {k: v for k, v in logs.items() if isinstance(v, int | float)}
        self._journal.point(step, values)
        shown = {name: values[k] for k, name in SHOWN.items() if k in values}
        self._journal.say(self._pace.line(step, int(state.max_steps), shown))


class _Evaluations(TrainerCallback):  # type: ignore[misc]
    """Evaluates the policy every so many steps, and leaves training as it was."""

    def __init__(
        self, policy: Policy, config: RunConfig, folder: Path, journal: Journal, pace: Pace
    ) -> None:
        self._policy, self._config, self._folder = policy, config, folder
        self._journal, self._pace = journal, pace

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._config.eval.at_start and state.global_step == 0:
            self._evaluate(0)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        every = self._config.eval.every
        step = int(state.global_step)
        if every and step % every == 0 and step < state.max_steps:  # the last is the result's
            self._evaluate(step)

    def _evaluate(self, step: int) -> None:
        began = time.monotonic()
        evaluate_policy(self._policy, self._config.eval, self._folder, step, self._journal)
        self._pace.pause(time.monotonic() - began)
