"""What is in a cell, how it is written down and how it is shown.

A cell holds a number, text, a truth value or a formula, and a number format that says how its value
is shown; the agent reads and is scored on what is shown, so "0.40" and "0.4" differ. The published
environment wrote in two ways, which are kept: `read_plain` (ranges, inserted lines) takes numbers
for numbers and everything else for text; `read_entered` (a single cell) reads what is written as a
person's typing: percentages, thousands, formulas.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from agentgym.envs.sheet.formula import Formula, read_formula
from agentgym.envs.tools import WrongValue

Value = float | str | bool | None

GENERAL = "General"
LONGEST = 1_000
"""Characters of text a cell may hold."""

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_PERCENT = re.compile(r"([+-]?\d+(?:\.(\d+))?)\s*%")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.(\d+))?")
_FORMAT = re.compile(r"(#,##)?0(?:\.(0{1,9}))?(%)?")


class Cell(NamedTuple):
    """A cell.

    Attributes:
        value: what it holds; None where it is empty.
        format: its number format ("General", "0", "0.00", "#,##0.00", "0%", "@").
        note: the note on it, or "".
        text: what it shows; None where that follows from a formula. `cell` fills it in.
    """

    value: Value | Formula = None
    format: str = GENERAL
    note: str = ""
    text: str | None = ""


EMPTY = Cell()


def cell(value: Value | Formula, form: str = GENERAL, note: str = "") -> Cell:
    """Return a cell that knows what it shows."""
    text = None if isinstance(value, Formula) else shown(value, form)
    return Cell(value, form, note, text)


@lru_cache(maxsize=65_536, typed=True)
def shown(value: Value, form: str = GENERAL) -> str:
    """Return how a value is shown.

    >>> shown(0.4, "0.00"), shown(1234.5, "#,##0.00"), shown(0.25, "0%"), shown(3.0)
    ('0.40', '1,234.50', '25%', '3')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return value
    found = _FORMAT.fullmatch(form)
    if found is None or abs(value) >= 1e15:
        return _general(value)
    thousands, digits, percent = found.groups()
    exact = Decimal(repr(value)) * (100 if percent else 1)
    rounded = exact.quantize(Decimal(1).scaleb(-len(digits or "")), ROUND_HALF_UP)
    text = f"{rounded:,f}" if thousands else f"{rounded:f}"
    if not rounded:
        text = text.removeprefix("-")
    return text + (percent or "")


def _general(value: float) -> str:
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}".upper()


def read_plain(value: Any, argument: str) -> Value:
    """Return what a JSON value puts into a cell: a number, also one in quotes, or else text.

    Raises:
        WrongValue: if it is a list or an object, not finite, or too long.
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _finite(value, argument)
    if not isinstance(value, str):
        kind = "a list" if isinstance(value, list) else "an object"
        raise WrongValue(
            f"argument {argument!r} must hold text or numbers in each cell, not {kind}"
        )
    if len(value) > LONGEST:
        raise WrongValue(
            f"argument {argument!r} must hold at most {LONGEST} characters a cell, got {len(value)}"
        )
    text = value.strip()
    if len(text) <= 40 and _NUMBER.fullmatch(text):
        return _finite(float(text), argument)
    return value


def read_entered(value: Any, argument: str) -> tuple[Value | Formula, str]:
    """Return what typing a value into a cell puts there, and the number format it brings or "".

    Raises:
        WrongValue: as `read_plain`, or if a formula cannot be read.

    >>> read_entered("12.5%", "value"), read_entered("'007", "value")
    ((0.125, '0.00%'), ('007', ''))
    """
    plain = read_plain(value, argument)
    if not isinstance(plain, str):
        return plain, ""
    text = plain.strip()
    if text.startswith("=") and len(text) > 1:
        try:
            return read_formula(text), ""
        except ValueError as error:
            raise WrongValue(
                f"argument {argument!r} must be a formula that can be read: {error}"
            ) from None
    if text.startswith("'"):
        return text[1:] or None, ""
    if text.upper() in ("TRUE", "FALSE"):
        return text.upper() == "TRUE", ""
    if len(text) <= 40:
        percent = _PERCENT.fullmatch(text)
        if percent:
            return float(Decimal(percent[1]) / 100), "0.00%" if percent[2] else "0%"
        grouped = _THOUSANDS.fullmatch(text)
        if grouped:
            return float(text.replace(",", "")), "#,##0.00" if grouped[1] else "#,##0"
    return plain, ""


def _finite(value: float, argument: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > 1e300:
        raise WrongValue(f"argument {argument!r} must hold finite numbers")
    return number + 0.0  # no negative zero
