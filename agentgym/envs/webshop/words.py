"""Word lists: what is no noun in a title, the published colours, what a search leaves out."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


def words(name: str) -> tuple[str, ...]:
    """Return a list of `data/words.json`: function, adjectives, nouns, colors or stop."""
    return _lists()[name]


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    text = (files("agentgym.envs.webshop") / "data" / "words.json").read_text(encoding="utf-8")
    return {name: tuple(" ".join(lines).split()) for name, lines in json.loads(text).items()}
