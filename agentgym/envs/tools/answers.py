"""Whether an answer is right, with the tolerance a person would grant.

A task says what it expects as an answer spec, JSON values only:

- `{"number": 18.5, "within": 0.05}`: a number, or text that holds one and a unit ("18.5 °C");
- `{"date": "2023-05-14"}`: a day, in ISO or written out ("14 May 2023", "May 14, 2023");
- `{"text": "Yes", "also": ["true"]}`: text, where case, accents, punctuation and a leading article
  do not matter; `also` lists other names of the same thing;
- `{"name": "Ada Reyes", "also": [...]}`: a person's name, "Reyes, Ada" included;
- `{"list": [spec, ...], "ordered": false}`: a list of as many, in any order unless `ordered`.

The published servers compared with Python's equality, so 6.4 was wrong where 6.399999999999999 was
meant.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from agentgym.core.literal import read_value

Spec = Mapping[str, Any]

NUMBER_WITHIN = 1e-6
"""How far a number may be off where the task does not say, relative to numbers above 1."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBER = re.compile(
    r"([^\d\s.,+-]{0,3}) ?([+-]?(?:\d[\d,]{0,24})?(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)(.{0,24})", re.I
)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:T00:00(?::00)?Z?)?")
_WRITTEN = re.compile(r"(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,9})\.?,? (\d{4})")
_AMERICAN = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_LONGEST = 2_000
_TRUTH = {"true": "yes", "false": "no"}


def accepts(spec: Spec, given: Any) -> bool:
    """Return whether a given answer is what a spec expects.

    >>> accepts({"number": 18.5, "within": 0.05}, "18.5 °C")
    True
    >>> accepts({"text": "Yes"}, "true"), accepts({"text": "Yes"}, False)
    (True, False)
    >>> accepts({"list": [{"text": "Rome"}, {"text": "Oslo"}]}, ["oslo", "rome"])
    True
    """
    if "list" in spec:
        return _accepts_list(spec["list"], given, bool(spec.get("ordered")))
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if "number" in spec:
        return _accepts_number(spec, given)
    if "date" in spec:
        return as_date(given) == as_date(spec["date"]) is not None
    if "name" in spec:
        names = (spec["name"], *spec.get("also", ()))
        return plain_name(given) in {plain_name(n) for n in names} - {""}
    texts = (spec["text"], *spec.get("also", ()))
    said = plain_text(given)
    return not {said, _TRUTH.get(said, said)}.isdisjoint({plain_text(t) for t in texts} - {""})


def spec_of(value: Any, within: float | None = None, ordered: bool = False) -> dict[str, Any]:
    """Return the spec of a published answer: a number, a date, text, or a list of these.

    >>> spec_of(["2023-05-14", 3])
    {'list': [{'date': '2023-05-14'}, {'number': 3}], 'ordered': False}
    """
    if isinstance(value, list | tuple):
        return {"list": [spec_of(v, within) for v in value], "ordered": ordered}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"number": value} | ({} if within is None else {"within": within})
    text = str(value)
    return {"date": text} if _ISO.fullmatch(text) and as_date(text) else {"text": text}


def value_of(spec: Spec) -> Any:
    """Return the answer a spec expects, as one would give it to `finish`."""
    if "list" in spec:
        return [value_of(item) for item in spec["list"]]
    return next(spec[kind] for kind in ("number", "date", "name", "text") if kind in spec)


def as_number(given: Any) -> float | None:
    """Return the one number that was given, or None.

    >>> as_number("1,234.5 mm"), as_number("-3"), as_number("3 or 4"), as_number(True)
    (1234.5, -3.0, None, None)
    """
    if isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return _finite(given)
    if not isinstance(given, str) or len(given) > _LONGEST:
        return None
    found = _NUMBER.fullmatch(given.strip().replace("−", "-"))
    if not found or any(c.isdigit() for c in found[3]) or not any(c.isdigit() for c in found[2]):
        return None
    text = found[2]
    if "," in text:
        if not _THOUSANDS.fullmatch(text):
            return None
        text = text.replace(",", "")
    return _finite(text)


def as_date(given: Any) -> date | None:
    """Return the day that was given, or None.

    >>> as_date("May 14th, 2023") == as_date("2023-05-14") == as_date("14 May 2023")
    True
    """
    if not isinstance(given, str) or len(given) > _LONGEST:
        return None
    text = " ".join(given.lower().split())
    iso, written, american = (p.fullmatch(text) for p in (_ISO, _WRITTEN, _AMERICAN))
    if iso:
        return _day(iso[1], int(iso[2]), iso[3])
    if written:
        return _day(written[3], _month(written[2]), written[1])
    return _day(american[3], _month(american[1]), american[2]) if american else None


def plain_text(given: Any) -> str:
    """Return text without what does not matter: case, accents, punctuation, a leading article.

    >>> plain_text("The São-Paulo Times.") == plain_text("sao paulo times")
    True
    """
    if isinstance(given, bool):
        given = "yes" if given else "no"
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if not isinstance(given, str | int | float):
        return ""
    text = unicodedata.normalize("NFKD", str(given)[:_LONGEST]).casefold()
    kept = "".join(c if c.isalnum() else " " for c in text if not unicodedata.combining(c))
    words = kept.split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        del words[0]
    return " ".join(words)


def plain_name(given: Any) -> str:
    """Return a person's name without what does not matter, "Reyes, Ada" turned round."""
    if isinstance(given, str) and given.count(",") == 1:
        last, first = given.split(",")
        given = f"{first} {last}" if first.strip() else last
    return plain_text(given)


def as_list(given: Any) -> list[Any] | None:
    """Return the list that was given: an array, one in quotes, or text with commas.

    >>> as_list("['a', 'b']"), as_list("a, b and c"), as_list(3)
    (['a', 'b'], ['a', 'b', 'c'], [3])
    """
    if isinstance(given, list):
        return given
    if isinstance(given, int | float) and not isinstance(given, bool):
        return [given]
    if not isinstance(given, str) or len(given) > _LONGEST:
        return None
    text = given.strip()
    if text[:1] in "[(":
        try:
            value = read_value(text)
        except ValueError:
            return None
        return value if isinstance(value, list) else [value]
    parts = re.split(r",| and |;|\n", text)
    return [part.strip() for part in parts if part.strip()]


def _accepts_number(spec: Spec, given: Any) -> bool:
    number, wanted = as_number(given), float(spec["number"])
    if number is None:
        return False
    within = spec.get("within")
    # A tolerance is met at its end: 0.05 off may be 0.05000000000000071 in floating point.
    slack = 1e-9 * max(1.0, abs(wanted))
    allowed = NUMBER_WITHIN * max(1.0, abs(wanted)) if within is None else float(within) + slack
    return abs(number - wanted) <= allowed


def _accepts_list(specs: Sequence[Spec], given: Any, ordered: bool) -> bool:
    if len(specs) == 1 and not isinstance(given, list) and accepts(specs[0], given):
        return True  # one title that holds an "and" or a comma is no list of two
    values = as_list(given)
    if values is None or len(values) != len(specs):
        return False
    fits = [[accepts(spec, value) for value in values] for spec in specs]
    if ordered:
        return all(row[i] for i, row in enumerate(fits))
    return _matched(fits)


def _matched(fits: Sequence[Sequence[bool]]) -> bool:
    """Return whether every row can be given a column of its own (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in taken or place(taken[column], tried):
                    taken[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _day(year: str, month: int, day: str) -> date | None:
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None


def _month(name: str) -> int:
    return _MONTHS.index(name[:3]) + 1 if name[:3] in _MONTHS else 0
