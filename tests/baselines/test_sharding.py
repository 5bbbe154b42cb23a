"""A model in parts learns what a whole one would, and vLLM is sent all of its weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines.bc import train
from agentgym.baselines.config import ModelConfig
from agentgym.baselines.model import load_policy
from agentgym.baselines.progress import CURVE, read_curve, silent
from agentgym.baselines.sharding import check_sharding, fsdp_version, send_weights
from agentgym.core.errors import InvalidConfig

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_fsdp2_trains_leaves_a_policy_and_sends_every_weight(tmp_path: Path) -> None:
    from tests.baselines.parts import settings

    done = subprocess.run(
        [sys.executable, "-m", "tests.baselines.parts", str(tmp_path)], cwd=ROOT, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    torch.set_num_threads(1)
    train(settings(str(tmp_path / "start"), 4), tmp_path / "one", silent)
    one, two = (
        [p["loss"] for p in read_curve(tmp_path / name / CURVE) if "loss" in p]
        for name in ("one", "two")
    )
    assert len(one) == 3
    assert two == pytest.approx(one, rel=1e-5)
    weights = [
        load_policy(ModelConfig(name=str(tmp_path / name / "model"), device="cpu"))
        .model.state_dict() for name in ("one", "two")
    ]  # fmt: skip
    assert weights[0].keys() == weights[1].keys()
    for name, value in weights[0].items():
        torch.testing.assert_close(weights[1][name], value, atol=1e-5, rtol=1e-4)

    for rank in range(2):
        seen = json.loads((tmp_path / f"seen-{rank}.json").read_text())
        for kind in ("whole", "lora"):
            assert seen[kind]["before"]  # the first sampling comes before the first forward pass
            assert seen[kind]["after a pass"]
            assert seen[kind]["apart"] < 1e-5
            assert seen[kind]["units"] > 3  # a reference has a unit for every layer
        names = set(weights[0]) - {"lm_head.weight"}  # which is tied
        assert set(seen["whole"]["moved"]) == names
        linear = {n for n in names if ".mlp." in n or ".self_attn." in n}
        assert set(seen["lora"]["moved"]) == linear


@pytest.mark.parametrize(
    ("plugin", "launched", "version"),
    [
        (None, {}, None),
        (None, {"ACCELERATE_USE_FSDP": "true"}, 1),
        (None, {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}, 2),
        ({"fsdp_version": 1}, {}, 1),
        ({"fsdp_version": 2}, {}, 2),
    ],
)
def test_fsdp1_is_refused_for_vllm(
    monkeypatch: pytest.MonkeyPatch, plugin: Any, launched: dict[str, str], version: int | None
) -> None:
    for name in ("ACCELERATE_USE_FSDP", "FSDP_VERSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in launched.items():
        monkeypatch.setenv(name, value)
    args = SimpleNamespace(fsdp_plugin_args=plugin)
    assert fsdp_version(args) == version
    if version == 1:
        with pytest.raises(InvalidConfig, match="--fsdp_version 2"):
            check_sharding(args)
    else:
        check_sharding(args)


def test_nobody_samples_before_the_weights_have_arrived() -> None:
    order: list[str] = []
    trainer = SimpleNamespace(
        model=torch.nn.Linear(1, 1),
        vllm_generation=SimpleNamespace(sync_weights=lambda: order.append("sent")),
        accelerator=SimpleNamespace(wait_for_everyone=lambda: order.append("all are there")),
    )
    send_weights(trainer)
    assert order == ["sent", "all are there"]


@pytest.mark.parametrize("path", ["docs", "agentgym/baselines"])
def test_no_page_launches_fsdp1(path: str) -> None:
    lines = [
        (file, line) for file in (ROOT / path).rglob("*") if file.suffix in (".md", ".yaml")
        for line in file.read_text(encoding="utf-8").splitlines() if "--use_fsdp" in line
    ]  # fmt: skip
    assert lines
    for file, line in lines:
        assert "--use_fsdp --fsdp_version 2" in line, file
