"""Arguments drawn at random, of the kinds a tool takes, for random play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agentgym.envs.tools.tool import Tool


def sample_arguments(chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
    """Return arguments that pass a tool's validation in kind; what they name need not exist.

    Optional arguments are given half of the time.
    """
    drawn: dict[str, Any] = {}
    for name, schema in chosen.full_schema.get("properties", {}).items():
        required = name in chosen.full_schema.get("required", ())
        if required or rng.integers(2):
            drawn[name] = _value(schema, rng)
    return drawn


def _value(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][int(rng.integers(len(schema[key])))]
    if "anyOf" in schema:
        options = [s for s in schema["anyOf"] if s.get("type") != "null"] or schema["anyOf"]
        return _value(options[int(rng.integers(len(options)))], rng)
    kind = schema.get("type")
    if kind == "array":
        low = max(1, int(schema.get("minItems", 1)))
        return [_value(schema.get("items", {}), rng) for _ in range(low)]
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10)
        return int(rng.integers(int(low), int(high) + 1))
    if kind == "boolean":
        return bool(rng.integers(2))
    return {} if kind == "object" else f"text {int(rng.integers(10))}"
