"""What a model is told of a database: its tables in sentences, or as CREATE TABLE statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym.envs.bird.place import Place
from agentgym.envs.bird.pool import POOL, Pool
from agentgym.envs.bird.query import Row, run

SAMPLES = 3
"""Rows of each table shown with its CREATE TABLE statement."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a database and how they hang together.

    Attributes:
        name: the database.
        tables: columns by table.
        primary: primary key columns by table.
        foreign: (table, column, other table, other column) each.
    """

    name: str
    tables: Mapping[str, Sequence[str]]
    primary: Mapping[str, Sequence[str]]
    foreign: Sequence[tuple[str, str, str, str]]


def read_schema(name: str, statements: str) -> Schema:
    """Return the schema that CREATE TABLE statements make."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(statements)
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [row[0] for row in found.fetchall() if not row[0].startswith("sqlite_")]
        tables, primary = {}, {}
        foreign: list[tuple[str, str, str, str]] = []
        for table in names:
            columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
            tables[table] = [c[1] for c in columns]
            primary[table] = [c[1] for c in sorted(columns, key=lambda c: c[5]) if c[5]]
            keys = connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
            foreign += [(table, k[3], k[2], k[4] or "") for k in sorted(keys)]
        whole = [(t, c, other, o or primary[other][0]) for t, c, other, o in foreign]
        return Schema(name, tables, primary, whole)
    finally:
        connection.close()


def in_sentences(schema: Schema) -> str:
    """Return the tables, columns and keys in the published sentences."""
    parts = [f"{schema.name} contains tables such as {', '.join(schema.tables)}."]
    for table, columns in schema.tables.items():
        parts.append(f"Table {table} has columns such as {', '.join(columns)}.")
        parts.append(f"{', '.join(schema.primary[table])} is the primary key.")
    parts += [f"The {c} of {t} is the foreign key of {o} of {u}." for t, c, u, o in schema.foreign]
    return " ".join(parts)


def published_sentences(table: Mapping[str, Any]) -> str:
    """Return the published text of an entry of `train_tables.json` or `dev_tables.json`.

    Names are in lower case and are the ones for people ("academic year"), not always the ones to be
    queried. The columns of foreign keys are those of the *next* column, as the published code
    counts them (sqlgym 0.1.2, `serialize_schema_natural_language`); that is kept, since it is what
    published results were measured with.
    """
    names = [name.lower() for name in table["table_names"]]
    columns = [(place, name.lower()) for place, name in table["column_names"]]
    shifted = [name for _, name in columns[1:]] * max(len(names), 1)
    parts = [f"{table['db_id']} contains tables such as {', '.join(names)}."]
    for place, name in enumerate(names):
        own = [(i, c) for i, (at, c) in enumerate(columns) if at == place and i > 0]
        parts.append(f"Table {name} has columns such as {', '.join(c for _, c in own)}.")
        # Keys of several columns are lists in these files and are not found by the published code.
        keys = [c for i, c in own if i in table["primary_keys"]]
        parts.append(f"{', '.join(keys)} is the primary key.")
    for x, y in table["foreign_keys"]:
        here, there = names[columns[x][0]], names[columns[y][0]]
        parts.append(f"The {shifted[x]} of {here} is the foreign key of {shifted[y]} of {there}.")
    return " ".join(parts)


def in_sql(
    place: Place,
    columns: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None,
    samples: int = SAMPLES,
    pool: Pool = POOL,
) -> str:
    """Return the CREATE TABLE statements of a database, with sample rows as comments.

    Args:
        place: the database.
        columns: what its columns mean, where that is known.
        samples: rows shown of each table.
        pool: where connections come from.
    """
    listing = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    parts = []
    for table, statement in run(place, listing, pool).rows:
        if table.startswith("sqlite_"):
            continue
        quoted = table.replace('"', '""')
        shown = run(place, f'SELECT * FROM "{quoted}" LIMIT {int(samples)}', pool)
        lines = [f"{statement.strip().rstrip(';')};"]
        for column, about in (columns or {}).get(table, {}).items():
            note = f" ({about['values']})" if about.get("values") else ""
            lines.append(f"-- {column}: {about['description']}{note}")
        if shown.rows:
            lines.append(f"-- {len(shown.rows)} rows of {table}:")
            lines.append(f"-- {' | '.join(shown.columns)}")
            lines += [f"-- {_row(row)}" for row in shown.rows]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _row(row: Row) -> str:
    return " | ".join("NULL" if v is None else str(v)[:60].replace("\n", " ") for v in row)
