"""What `test_processes` has one process and two of them do, and what it compares.

Run by a launcher as `python -m tests.baselines.together FOLDER`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback

from agentgym.agents.base import ChatAgent, ModelError
from agentgym.agents.message import Message, Reply, Usage
from agentgym.baselines import adca_grpo, dpo
from agentgym.baselines.adca_grpo import AdcaGRPOConfig
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.checkpoints import is_main, ranks
from agentgym.baselines.config import EnvTasks, ModelConfig, SamplingConfig
from agentgym.baselines.configfile import resolve, to_yaml
from agentgym.baselines.dpo import DPOConfig
from agentgym.baselines.grpo import GRPOConfig, OutcomeCredit
from agentgym.baselines.model import load_policy
from agentgym.baselines.policy_trainer import PolicyTrainer, make_trainer
from agentgym.baselines.progress import Journal, silent
from agentgym.cli import app
from tests.baselines import tiny
from tests.baselines.bandit import BANDIT, gambler
from tests.baselines.episodes import judged

TOGETHER = 2
CALLS, KINDS = 13, ("bc", "bc-lora", "grpo", "adca", "dpo")


class Judge(ChatAgent):
    """Finds every second step good; every call leaves a line."""

    name = "judge"

    async def complete(self, messages: Sequence[Message], **_: Any) -> Reply:
        with (Path(os.environ["TOGETHER"]) / "calls").open("a") as file:
            file.write(os.environ.get("RANK", "0") + "\n")
        count = int(re.findall(r"Judge all (\d+) steps", messages[-1].content)[0])
        return Reply(
            judged("".join("+-"[t % 2] for t in range(count))), usage=Usage(50, 10, calls=1)
        )


def split(batch: int, passes: int = 1, **more: Any) -> dict[str, Any]:
    """Return an optimiser whose steps are the same however many processes there are.

    Plain descent, since Adam divides by a gradient's size, and where there is almost none that
    makes much of rounding.
    """
    passes = passes * TOGETHER // ranks()
    return {"batch_size": batch, "accumulate": passes, "threads": 1, "trainer": {"optim": "sgd"},
            "schedule": "constant", "warmup": 0.0, "weight_decay": 0.0, **more}  # fmt: skip


def grpo(folder: Path) -> dict[str, Any]:
    """Play a bandit, with an episode that fails, and learn in two steps from each sampling."""
    config = resolve(GRPOConfig, {
        "model": {"device": "cpu"},
        "tasks": [EnvTasks(env=BANDIT).model_dump()],
        "groups": 4, "group_size": 4, "scale": "batch", "kl_coef": 0.1, "old": "recomputed",
        "sampling": SamplingConfig(temperature=1.0, max_tokens=1, concurrency=8).model_dump(),
        "optim": split(4, lr=0.3, max_steps=4),
        "log_every": 1, "tensorboard": False,
    })  # fmt: skip
    policy = gambler()
    journal = Journal(folder, silent, tensorboard=False, main=is_main())
    trainer = make_trainer(policy, OutcomeCredit("score", "batch"), config, folder, journal)
    answer, played, play = trainer.engine.answer, [], trainer._parts

    async def breaks(prompt: Any, *, episode: str = "", seed: int = 0) -> Any:
        if episode.endswith("|13"):  # of the last group of the first sampling
            raise ModelError("no answer")
        return await answer(prompt, episode=episode, seed=seed)

    def keep(rows: Any) -> Any:
        played.append([(row.ids, row.own, row.advantages) for row in rows])
        return play(rows)

    trainer.engine.answer, trainer._parts = breaks, keep  # type: ignore[method-assign]
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    journal.close()
    weights = {name: p.detach().clone() for name, p in policy.model.named_parameters()}
    return {"played": played, "left_out": dict(trainer.left_out), "weights": weights,
            "curve": trainer.state.log_history,
            "rows": [int(batch["rows"]) for batch in trainer._micro]}  # fmt: skip


def adca(folder: Path) -> dict[str, Any]:
    """Have a judge whose calls are bounded credit what a policy plays."""
    config = resolve(AdcaGRPOConfig, {
        "model": {"name": os.environ["TOGETHER_START"], "device": "cpu"},
        "tasks": [{"env": "tests.toy:tests/Guess-v0", "max_rounds": 2}],
        "groups": 4, "group_size": 2, "samplings": 2,
        "sampling": {"temperature": 0.9, "max_tokens": 6, "concurrency": 8},
        "attribution": {
            "method": "llm", "model": "tests.baselines.together:Judge",
            "cache": str(folder / "record.jsonl"), "limits": {"calls": CALLS},
        },
        "optim": split(4, lr=1.0), "save_every": 1,
        "log_every": 1, "tensorboard": False,
    })  # fmt: skip
    os.environ["TOGETHER"] = str(folder)
    sampled: list[Any] = []
    parts = PolicyTrainer._parts

    def keep(trainer: PolicyTrainer, rows: Any) -> Any:
        sampled.append([(row.ids, row.advantages) for row in rows])
        return parts(trainer, rows)

    PolicyTrainer._parts = keep  # type: ignore[method-assign, assignment]
    result = adca_grpo.train(config, folder, silent)
    PolicyTrainer._parts = parts  # type: ignore[method-assign]
    return {"played": sampled, "result": result, "weights": _weights(folder)}


def dpo_(folder: Path) -> dict[str, Any]:
    """Learn from pairs on record."""
    config = resolve(DPOConfig, {
        "model": {"name": os.environ["TOGETHER_START"], "device": "cpu"},
        "runs": [os.environ["TOGETHER_PAIRS"]],
        "pairs": {"per_task": 1},
        # Eight pairs: of what does not come to whole batches, several processes repeat some.
        "optim": {**split(2, lr=0.01, max_steps=3), "batch_size": 4 // ranks(), "accumulate": 1},
        "log_every": 1, "tensorboard": False,
    })  # fmt: skip
    return {"result": dpo.train(config, folder, silent), "weights": _weights(folder)}


def bc(folder: Path, lora: dict[str, Any] | None = None) -> dict[str, Any]:
    """Imitate by the command, with every process a part of each batch."""
    config = resolve(BCConfig, {
        "model": {"name": os.environ["TOGETHER_START"], "device": "cpu", "lora": lora},
        "data": {"expert": [{**tiny.GUESS, "tasks": 8}]},
        "optim": {"lr": 1e-2, "max_steps": 3, "batch_size": 4 // ranks(), "threads": 1},
        "log_every": 1, "tensorboard": False,
    })  # fmt: skip
    file = folder / f"settings-{os.environ.get('RANK', '0')}.yaml"
    file.write_text(to_yaml(config))
    words = ["train", "bc", "--config", str(file), "--out", str(folder / "run")]
    assert not app(words, standalone_mode=False), "the command ended with an error"
    return {"weights": _weights(folder / "run")}


def _weights(folder: Path) -> dict[str, Any]:
    if not is_main():
        return {}
    policy = load_policy(ModelConfig(name=str(folder / "model"), device="cpu"))
    return dict(policy.model.state_dict())


def do(kind: str, folder: Path) -> dict[str, Any]:
    """Do one of `KINDS` in a folder of its own and return what came of it."""
    torch.set_num_threads(1)
    (folder / kind).mkdir(parents=True, exist_ok=True)
    kinds = {
        "bc": bc, "bc-lora": partial(bc, lora={"r": 2}), "grpo": grpo, "adca": adca, "dpo": dpo_,
    }  # fmt: skip
    return kinds[kind](folder / kind)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    for each in KINDS:
        came = do(each, where)
        torch.save(came, where / f"{each}-{os.environ['RANK']}.pt")
    (where / f"ranks-{os.environ['RANK']}").write_text(json.dumps(ranks()))
