"""Where a cell is: A1 notation for people and models, (row, column) from 0 inside.

A sheet has columns A to Z and rows 1 to 1000, the size of a new Google sheet; the published tools
read one letter as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

ROWS, COLUMNS = 1_000, 26

_POSITION = re.compile(r"\$?([A-Z])\$?([1-9][0-9]{0,3})")


@lru_cache(maxsize=32_768)
def place_of(position: str) -> tuple[int, int]:
    """Return (row, column), from 0, of a position.

    Raises:
        ValueError: if it is none.

    >>> place_of("B3"), place_of("$a$1")
    ((2, 1), (0, 0))
    """
    found = _POSITION.fullmatch(position.strip().upper())
    if found is None or int(found[2]) > ROWS:
        raise ValueError(f"{position!r} is no cell from A1 to Z{ROWS}")
    return int(found[2]) - 1, ord(found[1]) - ord("A")


def position_of(row: int, column: int) -> str:
    """Return the position of (row, column), from 0.

    >>> position_of(2, 1)
    'B3'
    """
    return f"{chr(ord('A') + column)}{row + 1}"


def known_position(text: str) -> str:
    """Return a position as it is usually written; for use as a validator.

    Raises:
        PydanticCustomError: if it is none; the message says how one is written.
    """
    try:
        return position_of(*place_of(text))
    except ValueError:
        raise PydanticCustomError(
            "position",
            "must be a cell in A1 notation such as 'B3' (columns A to Z, rows 1 to 1000); "
            "get_A1_annotation translates a row and a column",
        ) from None


Position = Annotated[str, AfterValidator(known_position), Field(examples=["A1", "B2", "C4", "D3"])]
"""A cell in A1 notation."""
