"""Two processes on a CPU that hold a model in parts, as FSDP2 holds it on two GPUs.

`python -m tests.baselines.parts FOLDER` does all in two forks of one process, since what takes
long is the imports, and leaves what it saw in FOLDER. Accelerate turns FSDP on for accelerators
alone, so that is what is replaced here; the rest is accelerate's, torch's, TRL's and ours.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import accelerate.state
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType
from torch.distributed.fsdp import FSDPModule
from trl.distributed import DistributedBackend
from trl.generation.vllm_generation import VLLMGeneration
from trl.trainer.utils import add_fused_lm_head

from agentgym.baselines.bc import BCConfig, train
from agentgym.baselines.config import LoraConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.progress import silent
from agentgym.baselines.sharding import send_weights, spread
from tests.baselines import tiny

LAUNCHED = {
    "ACCELERATE_USE_FSDP": "true",
    "FSDP_VERSION": "2",
    "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
}
"""What `accelerate launch` sets for the options in the documentation."""


def settings(start: str, batch: int) -> BCConfig:
    """Return the settings of a short run of BC."""
    data = {
        "model": {"name": start, "device": "cpu"},
        "data": {"expert": [{**tiny.GUESS, "tasks": 8}]},
        "optim": {"lr": 1e-2, "max_steps": 3, "batch_size": batch, "threads": 1},
        "log_every": 1,
        "tensorboard": False,
    }
    return resolve(BCConfig, data)


def allow_on_cpus() -> None:
    """Have accelerate take FSDP for processes without an accelerator too."""
    made = accelerate.state.AcceleratorState.__init__

    def make(self: Any, *args: Any, fsdp_plugin: Any = None, **options: Any) -> None:
        made(self, *args, fsdp_plugin=fsdp_plugin, **options)
        if "fsdp_plugin" not in vars(self):
            self.distributed_type = DistributedType.FSDP
            self.fsdp_plugin = fsdp_plugin
            shared = accelerate.state.PartialState._shared_state
            shared["distributed_type"] = DistributedType.FSDP

    accelerate.state.AcceleratorState.__init__ = make


def sent(trainer: Any) -> dict[str, torch.Tensor]:
    """Send the weights and return what arrived."""
    send_weights(trainer)
    arrived: dict[str, torch.Tensor] = trainer.vllm_generation.arrived
    return arrived


class Receiver(VLLMGeneration):  # type: ignore[misc]
    """TRL's way of putting weights together, with something else than vLLM at its end."""

    def __init__(self, model: Any, accelerator: Any) -> None:
        self.model, self.accelerator = model, accelerator
        self._dist = DistributedBackend(accelerator)
        self.arrived: dict[str, torch.Tensor] = {}

    def sync_weights(self) -> None:
        """Keep the weights."""
        self.arrived = {name: value.clone() for name, value in self._iter_named_params()}


def look(accelerator: Any, lora: LoraConfig | None) -> dict[str, Any]:
    """Return what comes of sending a model's weights and of placing a reference beside it."""
    plain = tiny.policy().model
    whole = {name: value.clone() for name, value in plain.named_parameters()}
    model, reference = tiny.policy(lora=lora).model, tiny.policy().model
    for one in (model.get_base_model() if lora else model, reference):
        add_fused_lm_head(one)
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    receiver = Receiver(model, accelerator)
    model, optimiser = accelerator.prepare(model, optimiser)
    trainer = SimpleNamespace(
        model=model, accelerator=accelerator, vllm_generation=receiver, is_fsdp_enabled=True,
        is_deepspeed_enabled=False,
    )  # fmt: skip
    reference = spread(reference, trainer)

    def same(arrived: dict[str, torch.Tensor]) -> bool:
        return arrived.keys() == whole.keys() and all(
            torch.equal(arrived[name], value) for name, value in whole.items()
        )

    seen: dict[str, Any] = {"before": same(sent(trainer))}
    ids = torch.arange(1, 9)[None]
    batch = {"input_ids": ids, "labels": ids, "use_cache": False, "fused_lm_head": True}
    with torch.no_grad():
        apart = model(**batch).log_probs - reference(**batch).log_probs
    seen["apart"] = float(apart.abs().max())
    seen["after a pass"] = same(sent(trainer))
    for _ in range(2):
        loss = -model(**batch).log_probs.sum()
        accelerator.backward(loss)
        optimiser.step()
        optimiser.zero_grad()
    moved = sent(trainer)
    seen["moved"] = sorted(n for n, value in moved.items() if not torch.equal(value, whole[n]))
    seen["units"] = sum(isinstance(m, FSDPModule) for m in reference.modules())
    return seen


def work(rank: int, folder: Path, port: int) -> None:
    """Do everything as one of two processes."""
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
    os.environ |= {name: str(value) for name, value in place.items()} | LAUNCHED
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    allow_on_cpus()
    train(settings(str(folder / "start"), 2), folder / "two", silent)
    accelerator = Accelerator(cpu=True)
    seen = {"whole": look(accelerator, None), "lora": look(accelerator, LoraConfig(r=2))}
    (folder / f"seen-{rank}.json").write_text(json.dumps(seen))


def main(folder: Path) -> int:
    """Fork, and return how many of both failed."""
    torch.set_num_threads(1)
    tiny.save(tiny.policy(), folder / "start")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children = []
    for rank in range(2):
        child = os.fork()
        if not child:
            try:
                work(rank, folder, port)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
