"""Kinds of arguments that several tools take, as annotated types.

A kind carries its range or form and a few examples; from it follow the JSON schema, the validation,
the words of an error and what random play draws. Text and numbers are read as models write them:
"4" is taken for 4 and 4 for "4", but no truth value is a number, and no NaN is.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from agentgym.core.text import shorten

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def iso_date(text: str) -> str:
    """Return the text if it is a date, YYYY-MM-DD; for use as a validator.

    Raises:
        PydanticCustomError: if it is not; the message says how a date is written.
    """
    text = text.strip()
    if _DATE.fullmatch(text):
        try:
            date.fromisoformat(text)
        except ValueError:
            raise PydanticCustomError(
                "date", "must be a day of the calendar (YYYY-MM-DD)"
            ) from None
        return text
    raise PydanticCustomError("date", "must be a date written YYYY-MM-DD")


def one_line(text: str) -> str:
    """Return a value as it may be quoted in an answer."""
    return shorten(text)


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
"""Text that is not blank."""

Number = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number."""

Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False, examples=[52.5, -33.9, 0.0])]
"""Degrees north."""

Longitude = Annotated[
    float, Field(ge=-180, le=180, allow_inf_nan=False, examples=[13.4, 151.2, -58.4])
]
"""Degrees east."""

Date = Annotated[
    str,
    AfterValidator(iso_date),
    Field(json_schema_extra={"format": "date"}, examples=["2023-05-15"]),
]
"""A day, YYYY-MM-DD."""

Anything = Any
"""Any JSON value."""

Given = str | float | list[Any] | bool | dict[str, Any] | None
"""What `finish` takes for an answer: in its schema a string, a number or an array."""

Reply = Annotated[
    Any,
    Field(
        json_schema_extra={"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "array"}]},
        examples=["Yes", 12.5, ["a", "b"]],
    ),
]
"""The answer that `finish` takes."""
