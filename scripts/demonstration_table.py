"""Writes the tables of `docs/demonstration.md` from the results that are kept.

    python scripts/demonstration_table.py

The page says where they go: `<!-- demonstration: PROFILE -->`, the tables, `<!-- end -->`. The
results of a profile are those of `benchmarks/results/demonstration/PROFILE/results.json`, which
`agentgym reproduce demonstration --profile PROFILE` writes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from agentgym.agenteval.intervals import Estimate
from agentgym.baselines.demonstration.show import ends, percent, title

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "demonstration.md"
RESULTS = ROOT / "benchmarks" / "results" / "demonstration"
MARK = re.compile(r"(<!-- demonstration: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def solved(results: dict[str, Any]) -> list[str]:
    """Return what every policy solved, a policy a row and an environment a column."""
    cells = {
        (line["env"], line["arm"]): percent(Estimate.model_validate(line["success"]))
        for line in results["lines"]
    }
    envs = list(dict.fromkeys(line["env"] for line in results["lines"]))
    arms = list(dict.fromkeys(line["arm"] for line in results["lines"]))
    rows = [f"| solved, % | {' | '.join(envs)} |", f"|---|{'---|' * len(envs)}"]
    for arm in arms:
        row = " | ".join(cells.get((env, arm), "–") or "not trained" for env in envs)
        rows.append(f"| {title(arm)} | {row} |")
    return rows


def gaps(results: dict[str, Any]) -> list[str]:
    """Return the differences in points, a pair a row; bold where both intervals are apart."""
    cells, pairs = {}, {}
    for one in results["gaps"]:
        difference, wide = (Estimate.model_validate(one[key]) for key in ("difference", "wide"))
        text = f"{percent(difference)}; {ends(wide)}" if ends(wide) else percent(difference)
        pair = (one["arm"], one["other"])
        pairs[pair] = f"{title(one['arm'])} − {title(one['other'])}"
        cells[one["env"], pair] = f"**{text}**" if one["apart"] and one["wide_apart"] else text
    envs = list(dict.fromkeys(one["env"] for one in results["gaps"]))
    rows = [f"| difference, points | {' | '.join(envs)} |", f"|---|{'---|' * len(envs)}"]
    for pair, name in pairs.items():
        rows.append(f"| {name} | {' | '.join(cells.get((env, pair), '') for env in envs)} |")
    return rows


def page(text: str) -> str:
    """Return a page with its tables as they should be."""

    def fill(found: re.Match[str]) -> str:
        results = json.loads((RESULTS / found[2] / "results.json").read_text(encoding="utf-8"))
        return found[1] + "\n".join([*solved(results), "", *gaps(results)]) + "\n" + found[3]

    return MARK.sub(fill, text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
