"""Comparisons of hand-made runs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from rich.console import Console

from agentgym.agenteval.compare import (
    Comparison,
    NotComparable,
    compare,
    permutation_test,
    sign_test,
)
from agentgym.agenteval.compare_view import comparison_markdown, comparison_table
from agentgym.core.errors import InvalidConfig
from tests.agenteval.make import run


def test_flips_and_differences() -> None:
    a = run("a", {"TextCraft": [[1.0], [1.0], [0.0], [0.0], [0.5]]})
    b = run("b", {"TextCraft": [[1.0], [0.0], [1.0], [1.0], [0.5]]})
    (pair,) = compare([a, b]).pairs
    (row,) = pair.rows
    assert (row.better, row.worse, row.tasks) == (2, 1, 5)
    assert row.flipped == {"better": ["textcraft_2", "textcraft_3"], "worse": ["textcraft_1"]}
    assert row.success.value == pytest.approx(0.2)
    assert row.score.value == pytest.approx(0.2)
    assert row.success_p == 1.0


def test_attempts_are_averaged_before_they_are_compared() -> None:
    a = run("a", {"TextCraft": [[1.0, 0.0], [0.0, 0.0]]})
    b = run("b", {"TextCraft": [[1.0, 1.0], [0.0, 0.0]]})
    (row,) = compare([a, b]).pairs[0].rows
    assert row.success.value == pytest.approx(0.25)
    assert (row.better, row.worse) == (1, 0)


def test_other_tasks_are_refused_with_what_differs() -> None:
    a = run("a", {"TextCraft": [[1.0]]})
    b = run("b", {"TextCraft": [[1.0]]}, digests={"TextCraft": "another"})
    with pytest.raises(NotComparable, match="digest"):
        compare([a, b])
    official = run("b", {"TextCraft": [[1.0]]}, edition="official")
    with pytest.raises(NotComparable, match=r"edition mini .* official"):
        compare([a, official])
    with pytest.raises(NotComparable, match="share no environment"):
        compare([a, run("b", {"Maze": [[1.0]]})])
    with pytest.raises(InvalidConfig, match="two runs"):
        compare([a])


def test_what_is_left_out_is_said() -> None:
    a = run("a", {"TextCraft": [[1.0]] * 3, "Maze": [[1.0]] * 3}, tasks=[0, 1, 2])
    b = run("b", {"TextCraft": [[1.0]] * 2}, tasks=[1, 5], action_format="function_calling")
    pair = compare([a, b]).pairs[0]
    text = "\n".join(pair.warnings)
    assert "Only a played Maze" in text
    assert "TextCraft: 2 task(s) of a" in text
    assert "TextCraft: 1 task(s) of b" in text
    assert "action format differs" in text
    assert pair.rows[0].tasks == 1


def test_runs_without_a_common_task_still_report() -> None:
    a = run("a", {"TextCraft": [[1.0]]}, tasks=[1])
    b = run("b", {"TextCraft": [[1.0]]}, tasks=[2])
    comparison = compare([a, b])
    assert comparison.pairs[0].rows[0].tasks == 0
    assert "–" in comparison_markdown(comparison)


def test_every_run_is_compared_with_the_first_and_named_apart() -> None:
    runs = [run("same", {"TextCraft": [[s], [1.0]]}) for s in (0.0, 1.0, 0.0)]
    for i, made in enumerate(runs):
        object.__setattr__(made, "path", made.path / f"run-{i}")
    pairs = compare(runs).pairs
    assert [(p.first, p.second) for p in pairs] == [("run-0", "run-1"), ("run-0", "run-2")]


def test_sign_test_against_enumeration() -> None:
    for better, worse in product(range(7), repeat=2):
        n = better + worse
        extreme = [
            sum(flips) for flips in product((0, 1), repeat=n) if _extreme(sum(flips), better, n)
        ]
        assert sign_test(better, worse) == pytest.approx(len(extreme) / 2**n)


def _extreme(wins: int, observed: int, n: int) -> bool:
    return abs(2 * wins - n) >= abs(2 * observed - n)


def test_permutation_test_exact_and_drawn_agree() -> None:
    rng = np.random.default_rng(3)
    differences = rng.normal(0.15, 0.4, size=16)
    signs = np.array(list(product((-1, 1), repeat=16)))
    expected = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    assert permutation_test(differences) == pytest.approx(expected)
    many = np.concatenate([differences, [1e-6]])  # one more than is enumerated
    assert permutation_test(many) == pytest.approx(expected, abs=0.015)
    assert permutation_test(many, seed=1) == permutation_test(many, seed=1)
    assert permutation_test(np.zeros(5)) == 1.0


def test_p_values_are_uniform_where_nothing_differs() -> None:
    rng = np.random.default_rng(0)
    ps = [permutation_test(rng.choice([-0.5, 0.25, 0.5, -0.25], size=12)) for _ in range(300)]
    assert np.mean(np.array(ps) <= 0.05) <= 0.08


def test_views_and_round_trip() -> None:
    a = run("a", {"TextCraft": [[0.0], [1.0]] * 9, "Maze": [[1.0]] * 4})
    b = run("b", {"TextCraft": [[1.0], [1.0]] * 9, "Maze": [[0.0]] * 4})
    comparison = compare([a, b])
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(comparison_table(comparison))
    text = console.export_text()
    assert "…" not in text
    assert "50.0 → 100.0" in text
    assert "mini edition" in text
    assert "| TextCraft | 18 | 50.0 → 100.0 |" in comparison_markdown(comparison)
