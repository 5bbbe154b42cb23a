"""How large a query becomes once its WITH clauses are written out.

SQLite copies a common table expression wherever it is named, while it compiles: thirty lines, each
naming the one before it twice, are a billion copies, made where no step is counted. So the copies
are counted here before SQLite sees the query.
"""

from __future__ import annotations

import re

COPIES = 500
"""Copies of common table expressions a query may come to; SQLite compiles these in a moment."""

DEFINITIONS = 100
"""WITH clauses a query may have."""

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|[^\W\d][\w$]*|[^\s\w]|\d+",
    re.DOTALL,
)
_BEFORE_TABLE = frozenset({"from", "join", ",", "(", "in"})
_BEGINS = frozenset({"select", "with", "values"})


def copies(sql: str) -> int:
    """Return how many copies of common table expressions a query comes to, at most `COPIES` + 1.

    Every name that a WITH clause defines counts where a table may stand, times the copies it brings
    with it; a mention within its own definition (recursion) brings none.

    >>> copies("WITH a AS (SELECT 1), b AS (SELECT * FROM a, a) SELECT * FROM b, b")
    6
    >>> copies("SELECT 1")
    0
    """
    if not re.search(r"\bwith\b", sql, re.IGNORECASE):
        return 0
    tokens = [_plain(t) for t in _TOKEN.findall(sql) if not t.startswith(("--", "/*"))]
    mentions = _mentions(tokens)
    costs: dict[str, int] = {}

    def cost(name: str) -> int:
        if name not in costs:
            costs[name] = 0  # while it is counted: a mention of itself is recursion
            total = sum(1 + cost(m) for m in mentions[name])
            costs[name] = min(total, COPIES + 1)
        return costs[name]

    return cost("") if mentions else 0


def _mentions(tokens: list[str]) -> dict[str, list[str]]:
    """Return the defined names each definition mentions; those of the query itself under ""."""
    closing = _closing(tokens)
    spans = [span for i in range(len(tokens)) if (span := _definition(tokens, closing, i))]
    if len(spans) > DEFINITIONS:
        return {"": [""] * (COPIES + 1)}
    names = {tokens[at] for at, _, _ in spans}
    found: dict[str, list[str]] = {"": [], **{name: [] for name in names}}
    places = [
        i
        for i in range(1, len(tokens))
        if tokens[i] in names and tokens[i - 1] in _BEFORE_TABLE and tokens[i + 1 : i + 2] != ["."]
    ]
    defining = {at for at, _, _ in spans}
    for i in places:
        if i in defining:
            continue
        homes = [tokens[at] for at, start, end in spans if start < i < end]
        for home in homes or [""]:
            found[home].append(tokens[i])
    return found


def _definition(tokens: list[str], closing: list[int], at: int) -> tuple[int, int, int] | None:
    """Return (place of the name, begin, end) of the definition whose name stands here, if any."""
    i = at + 1
    if tokens[i : i + 1] == ["("]:
        i = closing[i] + 1
    if tokens[i : i + 1] != ["as"]:
        return None
    i += 1
    while tokens[i : i + 1] in (["not"], ["materialized"]):
        i += 1
    if tokens[i : i + 1] == ["("] and tokens[i + 1 : i + 2] and tokens[i + 1] in _BEGINS:
        return at, i, closing[i]
    return None


def _closing(tokens: list[str]) -> list[int]:
    """Return for each place the place of the bracket that closes the one there; else the last."""
    closing, opened = [len(tokens) - 1] * len(tokens), list[int]()
    for i, token in enumerate(tokens):
        if token == "(":
            opened.append(i)
        elif token == ")" and opened:
            closing[opened.pop()] = i
    return closing


def _plain(token: str) -> str:
    """Return a token in lower case, a quoted name without its quotes."""
    return (token[1:-1] if token[0] in "'\"`[" and len(token) > 1 else token).lower()
