"""Answers are compared by content, and arguments are read without being evaluated."""

from __future__ import annotations

import contextlib
import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.core.call import read_call, write_call
from agentgym.core.literal import MOST_DEPTH, read_value
from agentgym.envs.tools import accepts, spec_of, value_of
from agentgym.envs.tools.answers import as_number, plain_text

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
words = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | numbers | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(numbers, st.floats(0, 5), st.floats(-1, 1))
def test_a_number_is_right_up_to_its_tolerance(value: float, within: float, part: float) -> None:
    spec = {"number": value, "within": within}
    assert accepts(spec, value + part * within)
    assert accepts(spec, str(value + part * within))
    assert not accepts(spec, value + within * 1.001 + 1e-2)
    assert not accepts(spec, value - within * 1.001 - 1e-2)


@pytest.mark.parametrize(
    ("given_", "number"),
    [
        ("18.5", 18.5), ("18.5°C", 18.5), (" 18.5 degrees Celsius ", 18.5), ("$1,234.50", 1234.5),
        ("−3", -3), ("-3 mm", -3), ("+2", 2), ("1e3", 1000), ("12,345", 12345), (".5", 0.5),
        ("", None), ("many", None), ("3 or 4", None), ("1,2", None), ("2023-05-14", None),
        (True, None), (None, None), ("nan", None), ("inf", None), ("9" * 500, None), ([1], None),
        ("1e999", None), ("--3", None),
    ],
)  # fmt: skip
def test_a_number_is_read_with_its_unit(given_: Any, number: float | None) -> None:
    assert as_number(given_) == number


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_a_date_is_right_however_it_is_written(day: date) -> None:
    spec = spec_of(str(day))
    assert spec == {"date": str(day)}
    for text in (
        f"{day:%Y/%m/%d}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}",
    ):
        assert accepts(spec, text)
    other = date.fromordinal(day.toordinal() + 1)
    assert not accepts(spec, str(other))
    assert not accepts(spec, "soon")


@given(words.filter(plain_text))
def test_text_is_right_without_regard_to_case_and_accents(text: str) -> None:
    assert accepts({"text": text}, f"  {text}. ")
    assert accepts({"text": text}, f"The {text}")
    assert accepts({"text": text.casefold()}, text)
    assert not accepts({"text": text}, f"not {text}")


def test_text_has_other_names_and_names_are_turned_round() -> None:
    assert accepts({"text": "São Paulo"}, "sao-paulo")
    assert accepts({"text": "Yes", "also": ["true"]}, True)
    assert not accepts({"text": "Yes", "also": ["true"]}, "No")
    assert accepts({"name": "Ada Reyes"}, "Reyes, Ada")
    assert accepts({"name": "Ada Reyes", "also": ["A. Reyes"]}, "a reyes")
    assert not accepts({"name": "Ada Reyes"}, "Ada")
    assert not accepts({"text": "!"}, "?")  # nothing of either is left to compare


@given(st.lists(numbers, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_a_list_is_right_in_any_order_unless_ordered(values: list[float], shuffle: Any) -> None:
    mixed = list(values)
    shuffle.shuffle(mixed)
    assert accepts(spec_of(values), mixed)
    assert accepts(spec_of(values), json.dumps(mixed))
    assert accepts(spec_of(values, ordered=True), values)
    assert not accepts(spec_of(values), [*mixed, 0.0])
    assert not accepts(spec_of(values), [v + 10.0 for v in mixed])
    if sorted(values) != values:
        assert not accepts(spec_of(values, ordered=True), sorted(values))


def test_a_list_of_one_may_be_given_as_its_item() -> None:
    spec = {"list": [{"text": "The Letter, the Fire and the River"}]}
    assert accepts(spec, "The Letter, the Fire and the River")
    assert not accepts(spec, "The Letter and the River")


def test_a_list_gives_every_item_a_partner_of_its_own() -> None:
    spec = {"list": [{"number": 1, "within": 1}, {"number": 2, "within": 1}]}
    assert accepts(spec, [2.5, 1.5])  # 1.5 fits both, 2.5 only the second
    assert not accepts(spec, [2.6, 2.7])
    assert accepts({"list": [{"text": "a"}, {"text": "b"}]}, "b and a")


answers = st.recursive(
    numbers | words.filter(plain_text), lambda x: st.lists(x, min_size=2, max_size=3), max_leaves=5
)


@given(answers)
def test_the_answer_of_a_spec_is_right(value: Any) -> None:
    assert accepts(spec_of(value), value_of(spec_of(value)))


@given(st.dictionaries(words, json_values, max_size=4))
def test_a_call_survives_being_written_and_read(arguments: dict[str, Any]) -> None:
    text = write_call("some_function", arguments)
    assert read_call(text) == ("some_function", arguments)
    assert (
        read_call(json.dumps({"name": "some_function", "arguments": arguments})).arguments
        == arguments
    )


@given(json_values)
def test_a_python_literal_reads_as_its_json(value: Any) -> None:
    assert read_value(repr(value)) == value


@given(st.text(max_size=200))
def test_any_text_is_a_call_or_a_value_error(text: str) -> None:
    for reading in (read_call, read_value):
        with contextlib.suppress(ValueError):
            reading(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "open('x')", "[x for x in 'ab']", "lambda: 1", "1 + 1",
        "f'{1}'", "b'x'", "1j", "...", "{1, 2}", "{**{}}", "[*[]]", "not True", "x", "'a' * 9",
        "{[]: 1}", "9" * 5_000, "[" * 60 + "]" * 60, "(" * 60 + "1" + ")" * 60, "\\x00", "'", '"',
    ],
)  # fmt: skip
def test_what_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it "):
        read_value(text)


def test_nesting_is_counted_outside_strings() -> None:
    assert read_value("[" * MOST_DEPTH + "]" * MOST_DEPTH)
    assert read_value(json.dumps("[" * 500)) == "[" * 500
    with pytest.raises(ValueError, match="nested more than 32 deep"):
        read_value("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1))
