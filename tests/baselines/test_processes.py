"""Several processes learn what one would from batches as large as theirs together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines.bc import BCConfig, train
from agentgym.baselines.config import ModelConfig, resolve, to_yaml
from agentgym.baselines.model import load_policy
from agentgym.baselines.progress import CURVE, read_curve, silent
from tests.baselines import tiny

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("lora", [False, True])
def test_two_processes_are_one_with_twice_the_batch(tmp_path: Path, lora: bool) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    data = {
        "model": {"name": start, "device": "cpu", "lora": {"r": 2} if lora else None},
        "data": {"expert": [{**tiny.GUESS, "tasks": 8}]},
        "optim": {"lr": 1e-2, "max_steps": 3, "batch_size": 2, "threads": 1},
        "log_every": 1,
        "tensorboard": False,
    }
    two = resolve(BCConfig, data)
    (tmp_path / "two.yaml").write_text(to_yaml(two))
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2",
             "-m", "agentgym", "train", "bc", "--config", str(tmp_path / "two.yaml"),
             "--out", str(tmp_path / "two")]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    torch.set_num_threads(1)
    one = two.model_copy(update={"optim": two.optim.model_copy(update={"batch_size": 4})})
    train(one, tmp_path / "one", silent)
    losses = [
        [p["loss"] for p in read_curve(tmp_path / name / CURVE) if "loss" in p]
        for name in ("one", "two")
    ]
    assert len(losses[0]) == 3
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    weights = [
        load_policy(ModelConfig(name=str(tmp_path / name / "model"), device="cpu"))
        .model.state_dict()["lm_head.weight" if not lora else "model.layers.0.mlp.up_proj.weight"]
        for name in ("one", "two")
    ]  # fmt: skip
    torch.testing.assert_close(weights[0], weights[1], atol=1e-5, rtol=1e-4)
    assert not (tmp_path / "two" / "parts").exists()
