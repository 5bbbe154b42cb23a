"""Where the command line prints: results to standard output, all else to standard error.

Consoles are made when they are used, so that redirected streams are seen. Colours go where the
output is a terminal and NO_COLOR is unset, which rich decides; a pipe is given wide lines, because
what is cut off cannot be searched.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 240


def out() -> Console:
    """Return a console on standard output."""
    return _console(stderr=False)


def err() -> Console:
    """Return a console on standard error."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    wide = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(stderr=stderr, highlight=False, width=PIPE_WIDTH if wide else None)


def print_json(data: Any) -> None:
    """Write a value to standard output as JSON, and nothing else."""
    sys.stdout.write(json.dumps(data, indent=2, allow_nan=False) + "\n")


def table(*columns: str, right: tuple[str, ...] = (), title: str | None = None) -> Table:
    """Return an empty table in the one look all commands share.

    Args:
        columns: the headings.
        right: the headings of columns that hold numbers.
        title: a line above it.
    """
    grid = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for column in columns:
        grid.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return grid
