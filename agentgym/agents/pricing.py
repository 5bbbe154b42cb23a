"""What a model call costs, from prices the user gives.

Prices change and differ between endpoints, so none are built in: without a price the cost is
unknown (None), never zero. Prices are per million tokens, in US dollars.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens.

    Attributes:
        input: of the prompt.
        output: of what the model writes.
        cached: of the part of the prompt that was cached; None means the same as `input`.

    >>> Price(input=1.0, output=4.0, cached=0.1).cost(1_000_000, 500_000, 400_000)
    2.64
    """

    input: float
    output: float
    cached: float | None = None

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """Return the dollars of a call; `cached_tokens` are among `input_tokens`."""
        cached = min(cached_tokens, input_tokens)
        rate = self.input if self.cached is None else self.cached
        dear = (input_tokens - cached) * self.input
        return (dear + cached * rate + output_tokens * self.output) / MILLION


Prices = Price | Mapping[str, Any] | str | os.PathLike[str]


def find_price(prices: Prices | None, model: str) -> Price | None:
    """Return the price of a model, or None where it is unknown.

    Args:
        prices: a price; its fields as a mapping; a mapping of such by model; or a JSON file with
            either.
        model: the model's name; a table without it gives None.

    Raises:
        InvalidConfig: if the prices cannot be read.
    """
    if prices is None or isinstance(prices, Price):
        return prices
    table = prices if isinstance(prices, Mapping) else _read(Path(prices).expanduser())
    if "input" not in table and "output" not in table:
        entry = table.get(model)
        if entry is None or isinstance(entry, Price):
            return entry
        table = entry
    try:
        cached = table.get("cached")
        price = Price(
            float(table["input"]),
            float(table["output"]),
            None if cached is None else float(cached),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidConfig(
            f"the price of {model} cannot be read ({error!r}). Give dollars per million tokens: "
            '{"input": 0.5, "output": 1.5, "cached": 0.1}, or such entries by model.'
        ) from error
    if min(price.input, price.output, price.cached or 0.0) < 0:
        raise InvalidConfig(f"the price of {model} is negative.")
    return price


def _read(path: Path) -> Mapping[str, Any]:
    try:
        table = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidConfig(f"the price file {path} cannot be read: {error}.") from error
    if not isinstance(table, dict):
        raise InvalidConfig(f"the price file {path} holds no JSON object.")
    return table
