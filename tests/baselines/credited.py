"""Batches with credits: the published example, and any."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentgym.baselines.adca_options import AdcaOptions

FLAGS = [[1, 1, 1], [1, 0, 1, 1], [0, 0], [0, 1, 0, 0]]
LABELS = [[bool(f) for f in flags] for flags in FLAGS]
RETURNS = [1.0, 1.0, 0.0, 0.0]
ONE_GROUP = ["g"] * 4

numbers = st.integers(-8, 8).map(lambda n: n / 8)
"""Coarse, so that ties are exact or far from one another: no case hangs on a rounding error."""
trajectories = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", 3]),
        st.integers(0, 8).map(lambda n: n / 8),
        st.one_of(
            st.none(),
            st.lists(st.sampled_from([1.0, -1.0]), max_size=6),
            st.lists(numbers, max_size=5),
        ),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=8,
)  # fmt: skip


@st.composite
def option_sets(draw: st.DrawFn) -> AdcaOptions:
    scheme = draw(st.sampled_from(["decouple", "allocation"]))
    outcomes = ["last_step", "all_steps"] + ["only_prm"] * (scheme == "decouple")
    return AdcaOptions(
        scheme=scheme,
        norm=draw(st.sampled_from(["equal", "pooled", "traj_mean", "none"])),
        outcome=draw(st.sampled_from(outcomes)),
        length_norm=draw(st.booleans()),
        gamma=draw(st.sampled_from([1.0, 0.9, 0.5, 0.0])),
        alpha=draw(st.sampled_from([0.0, 0.1, 0.2, 1.0])),
        fix_base=draw(st.sampled_from([0.2, 1.0])),
    )


def unpack(rows: list[tuple[Any, float, list[float] | None, int]]) -> tuple[list[Any], ...]:
    lengths = [row[3] if row[2] is None else len(row[2]) for row in rows]
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], lengths
