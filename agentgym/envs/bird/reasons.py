"""Saying what a query does, from its text: which tables, which rows, how they are put together.

The sentences follow the query's outermost clauses; a query is never parsed in full, since nothing
but a thought depends on it.
"""

from __future__ import annotations

import re

_TABLE = re.compile(r"\b(?:FROM|JOIN)\s+[\"`\[]?(\w+)", re.IGNORECASE)
_WITH = re.compile(
    r"(?:\bWITH(?:\s+RECURSIVE)?|,)\s+(\w+)(?:\s*\([^)]*\))?\s+AS\s*\(", re.IGNORECASE
)
_VALUE = re.compile(r"(?:(\w+)\.)?(\w+)\s*(?:=|IN\s*\(|LIKE)\s*'", re.IGNORECASE)
_ALIAS = re.compile(r"\b(?:FROM|JOIN)\s+[\"`\[]?(\w+)[\"`\]]?\s+(?:AS\s+)?(\w+)", re.IGNORECASE)
_CLAUSES = ("WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "UNION", "INTERSECT", "EXCEPT")
_SHOWN = 110


def tables_of(sql: str) -> list[str]:
    """Return the tables a query reads, in order, without the ones it defines itself.

    >>> tables_of("WITH a AS (SELECT * FROM b) SELECT * FROM a JOIN c ON 1")
    ['b', 'c']
    """
    own = {name.lower() for name in _WITH.findall(sql)}
    return [t for t in dict.fromkeys(_TABLE.findall(sql)) if t.lower() not in own]


def coded_column(sql: str) -> tuple[str, str] | None:
    """Return (table, column) of the first column a query compares with a text, or None."""
    known = tables_of(sql)
    aliases = {alias.lower(): table for table, alias in _ALIAS.findall(sql)}
    for alias, column in _VALUE.findall(sql):
        table = aliases.get(alias.lower()) if alias else known[0] if len(known) == 1 else None
        if table in known:
            return str(table), column
    return None


def explain(sql: str, evidence: str) -> str:
    """Return why a query answers its question, in a few sentences."""
    tables = tables_of(sql)
    parts = [_said_tables(tables)]
    clauses = _outer(sql)
    if "WHERE" in clauses:
        parts.append(f"Only rows with {_cut(clauses['WHERE'])} count.")
    if "GROUP BY" in clauses:
        parts.append(f"I group by {_cut(clauses['GROUP BY'])}.")
    if "HAVING" in clauses:
        parts.append(f"Of the groups I keep those with {_cut(clauses['HAVING'])}.")
    if "LIMIT" in clauses and "ORDER BY" in clauses:
        first = clauses["LIMIT"].split()[0]
        top = "the first row" if first == "1" else f"the first {first} rows"
        parts.append(f"Sorted by {_cut(clauses['ORDER BY'])}, {top} answer it.")
    elif "ORDER BY" in clauses:
        parts.append(f"The rows go in the order of {_cut(clauses['ORDER BY'])}.")
    for word, said in (("INTERSECT", "in both"), ("EXCEPT", "in the first and not in the second")):
        if word in clauses:
            parts.append(f"What is wanted is {said} of two results.")
    if evidence:
        parts.append(f"The evidence says: {evidence.strip().rstrip('.')}.")
    return " ".join(parts)


def _said_tables(tables: list[str]) -> str:
    if len(tables) == 1:
        return f"Everything asked for is in {tables[0]}."
    listed = f"{', '.join(tables[:-1])} and {tables[-1]}" if tables else "no table"
    return f"The answer needs {listed} together."


def _outer(sql: str) -> dict[str, str]:
    """Return the clauses of the outermost SELECT by keyword, without what is in brackets."""
    flat, depth, quoted = [], 0, False
    for char in " ".join(sql.split()):
        quoted = quoted != (char == "'")
        depth += (char == "(" and not quoted) - (char == ")" and not quoted)
        flat.append(char if depth == 0 or (char == "(" and depth == 1) else "\0")
    text = "".join(flat)
    plain = " ".join(sql.split())
    marks = sorted(
        (found.start(), found.end(), word)
        for word in _CLAUSES
        for found in re.finditer(rf"\b{word}\b", text, re.IGNORECASE)
    )
    clauses: dict[str, str] = {}
    for i, (_, end, word) in enumerate(marks):
        until = marks[i + 1][0] if i + 1 < len(marks) else len(plain)
        clauses.setdefault(word, plain[end:until].strip())
    return clauses


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rsplit(' ', 1)[0]} …"
