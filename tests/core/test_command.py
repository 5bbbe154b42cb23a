"""Commands render, match and describe themselves the same way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.core import Command, Param, grammar, match_call

PUT = Command(
    "put",
    "put {item} in {place}",
    "Put an item somewhere.",
    (Param("item", "what"), Param("place", "where", choices=("box", "bag"))),
)
SET = Command("set_heat", "set heat to {level}", "Heat.", (Param("level", "degrees", "number"),))

names = st.from_regex(r"[a-z]{1,8}( [a-z0-9]{1,5})?", fullmatch=True).filter(
    lambda text: " in" not in text
)


@given(item=names, place=st.sampled_from(["box", "bag"]))
def test_render_and_match_are_inverse(item, place):
    action = PUT.render({"item": item, "place": place})
    assert PUT.match(action) == {"item": item, "place": place}


@given(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)))
def test_numbers_survive(level):
    assert SET.match(SET.render({"level": level})) == {"level": level}


@given(st.text())
def test_match_never_raises(text):
    assert match_call([PUT, SET], text) is None or text.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"item": "x"}, "missing argument 'place'"),
        ({"item": "x", "place": "box", "why": 1}, "unknown argument 'why'"),
        ({"item": "x", "place": "sea"}, "one of box, bag"),
        ({"item": ["x"], "place": "box"}, "type string"),
        ({"item": "", "place": "box"}, "type string"),
        ({"item": None, "place": "box"}, "type string"),
        ({"item": {"b", "a"}, "place": "box"}, "got a set"),
        ({"item": "x", "place": "sea" * 9_000}, "got 'seasea.*…$"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        PUT.render(arguments)


def test_whole_floats_are_integers():
    count = Command("get", "get {n}", "Get.", (Param("n", "how many", "integer"),))
    assert count.render({"n": 3.0}) == "get 3"
    with pytest.raises(ValueError, match="integer"):
        count.render({"n": 3.5})
    with pytest.raises(ValueError, match="integer"):
        count.render({"n": True})


def test_numbers_of_any_length_are_answered():
    count = Command("get", "get {n}", "Get.", (Param("n", "how many", "integer"),))
    assert count.match("get " + "9" * 30) == {"n": int("9" * 30)}
    assert count.match("get " + "9" * 5_000) is None
    with pytest.raises(ValueError, match="integer"):
        count.render({"n": "9" * 5_000})


def test_template_and_parameters_must_agree():
    with pytest.raises(ValueError, match="must be the same"):
        Command("go", "go {there}", "Go.")
    with pytest.raises(ValueError, match="identifier"):
        Command("go to", "go", "Go.")


def test_grammar_lists_usage():
    assert grammar([PUT]) == "- put [item] in [place]: Put an item somewhere."


def test_order_decides_between_commands():
    any_text = Command("say", "{text}", "Say.", (Param("text", "what"),))
    assert match_call([PUT, any_text], "put key in box")[0] is PUT
    assert match_call([PUT, any_text], "hello")[0] is any_text


def test_a_field_in_brackets_is_shown_in_one_pair_of_them() -> None:
    shown = [Command("x", template, "", (Param("a", "an a"),)).usage for template in
             ("go {a}", "go[{a}]", "go {a}]", "[go {a}]", "[{a}")]  # fmt: skip
    assert shown == ["go [a]", "go[a]", "go [a]]", "[go [a]]", "[[a]"]
