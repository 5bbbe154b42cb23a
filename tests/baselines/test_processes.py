"""Several processes learn what one would from batches as large as theirs together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines.progress import CURVE, read_curve
from agentgym.trajectories import TrajectoryDataset, collect
from tests.baselines import tiny, together

ROOT = Path(__file__).parents[2]


def launch(folder: Path, *words: str) -> None:
    """Run a module in two processes, as `accelerate launch` and `torchrun` do."""
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *start, *words], cwd=folder, env=environment, capture_output=True,
        text=True, check=False, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Have two processes, and one, do everything in `together`; return their folders."""
    folder = tmp_path_factory.mktemp("processes")
    pairs = []
    for good in collect(tiny.GUESS["env"], tasks=8):
        step = good.steps[0].model_copy(
            update={"reply": "Thought: one.\nAction: guess 1", "score": 0.0}
        )
        bad = {"steps": (step,) * 2, "score": 0.0, "success": False, "attempt": 1}
        pairs += [good, good.model_copy(update=bad)]
    TrajectoryDataset(pairs).save(folder / "pairs.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOGETHER_START", tiny.save(tiny.policy(), folder / "start"))
        patch.setenv("TOGETHER_PAIRS", str(folder / "pairs.jsonl"))
        patch.setenv("TOGETHER", "")
        (folder / "two").mkdir()
        launch(folder, "tests.baselines.together", str(folder / "two"))
        for kind in together.KINDS:
            torch.save(together.do(kind, folder / "one"), folder / "one" / f"{kind}-0.pt")
    assert (folder / "two" / "ranks-1").read_text() == "2"
    return folder / "one", folder / "two"


def came_of(folder: Path, kind: str, rank: int = 0) -> dict[str, Any]:
    came: dict[str, Any] = torch.load(folder / f"{kind}-{rank}.pt", weights_only=False)
    return came


def same_weights(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert one.keys() == two.keys()
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, atol=1e-5, rtol=1e-4, msg=name)


def curve_of(folder: Path) -> list[dict[str, Any]]:
    return timeless(read_curve(folder / CURVE))


def timeless(points: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the numbers of a curve but how long things took, without the summary at its end."""
    clocks = ("second", "time", "share")
    return [
        {
            name: value
            for name, value in p.items()
            if isinstance(value, int | float) and not any(clock in name for clock in clocks)
        }
        for p in points
        if "train_runtime" not in p
    ]


def same_curves(one: list[dict[str, Any]], two: list[dict[str, Any]], steps: int) -> None:
    assert len(one) == len(two) == steps
    for point, wanted in zip(two, one, strict=True):
        assert point == pytest.approx(wanted, rel=1e-3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bc", "bc-lora"])
def test_two_processes_are_one_with_twice_the_batch(both: tuple[Path, Path], kind: str) -> None:
    one, two = (
        [p["loss"] for p in read_curve(folder / kind / "run" / CURVE) if "loss" in p]
        for folder in both
    )
    assert len(one) == 3
    assert two == pytest.approx(one, rel=1e-5)
    same_weights(came_of(both[0], kind)["weights"], came_of(both[1], kind)["weights"])
    assert not (both[1] / kind / "run" / "parts").exists()


@pytest.mark.slow
def test_two_processes_learn_from_play_as_one(both: tuple[Path, Path]) -> None:
    one, two, other = (
        came_of(both[0], "grpo"),
        came_of(both[1], "grpo"),
        came_of(both[1], "grpo", 1),
    )
    assert len(one["played"]) == 2
    # The same tokens, with the same advantages, of the same groups; 15 episodes, as one failed.
    assert [len(rows) for rows in one["played"]] == [15, 16]
    assert any(any(advantages) for _, _, advantages in one["played"][0])
    for mine in (two, other):
        for found, wanted in zip(mine["played"], one["played"], strict=True):
            assert [row[:2] for row in found] == [row[:2] for row in wanted]
            for row, same in zip(found, wanted, strict=True):
                assert row[2] == pytest.approx(same[2], abs=1e-9)
        assert mine["left_out"] == one["left_out"] == {"failed (model: ModelError)": 1}
    assert [a + b for a, b in zip(two["rows"], other["rows"], strict=True)] == [8, 8]
    same_weights(one["weights"], two["weights"])
    same_weights(two["weights"], other["weights"])
    assert one["curve"][0]["left_out"] == 1
    same_curves(timeless(one["curve"]), timeless(two["curve"]), 4)


@pytest.mark.slow
def test_two_processes_spend_one_budget_on_attribution(both: tuple[Path, Path]) -> None:
    one, two, other = (
        came_of(both[0], "adca"),
        came_of(both[1], "adca"),
        came_of(both[1], "adca", 1),
    )
    for found, wanted in zip(two["played"], one["played"], strict=True):
        assert [ids for ids, _ in found] == [ids for ids, _ in wanted]
        for (_, advantages), (_, same) in zip(found, wanted, strict=True):
            assert advantages == pytest.approx(same, abs=1e-9)
    assert any(any(advantages) for _, advantages in one["played"][0])
    done = two["result"]["attribution"]
    assert done == one["result"]["attribution"] == other["result"]["attribution"]
    asked = together.CALLS
    assert (done["attribution/calls"], done["attribution/labelled"]) == (asked, asked)
    assert done["attribution/failed_budget"] == 16 - asked
    for folder in both:
        assert len((folder / "adca" / "calls").read_text().split()) == asked
        lines = (folder / "adca" / "record.jsonl").read_text().splitlines()
        assert len({json.loads(line)["key"] for line in lines}) == 16
    same_weights(one["weights"], two["weights"])
    alone, shared = (curve_of(folder / "adca") for folder in both)
    assert [p["attribution/calls"] for p in shared] == [8, asked - 8]
    same_curves(alone, shared, 2)


@pytest.mark.slow
def test_two_processes_learn_from_pairs_as_one(both: tuple[Path, Path]) -> None:
    one, two = came_of(both[0], "dpo"), came_of(both[1], "dpo")
    assert two["result"]["pairs"] == one["result"]["pairs"]
    assert two["result"]["steps"] == one["result"]["steps"] == 3
    same_weights(one["weights"], two["weights"])
    alone, shared = (curve_of(folder / "dpo") for folder in both)
    assert len(alone) == 3
    for point, wanted in zip(shared, alone, strict=True):
        assert point["loss"] == pytest.approx(wanted["loss"], rel=1e-4)
        assert point["rewards/margins"] == pytest.approx(wanted["rewards/margins"], abs=1e-5)
