"""The tool layer: what follows from a declaration, how calls are read, what is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentgym.core import make
from agentgym.core.checker import check_env
from agentgym.envs.tools import ToolError, Tools, tool
from agentgym.envs.tools.env import FORMAT_ERROR
from tests.envs.fuzz_tools import check_malformed
from tests.envs.toy_tools import ShelfEnv, ShelfTools


@pytest.fixture
def env() -> ShelfEnv:
    made = make("tests/Shelf-v0")
    made.reset(seed=0, options={"task_id": "shelf_4"})
    assert isinstance(made, ShelfEnv)
    return made


def say(env: ShelfEnv, action: str) -> tuple[str, bool]:
    """Play an action; return the answer without its layout, and whether it was valid."""
    observation, _, _, _, info = env.step(action)
    assert observation.startswith("Observation: ")
    assert observation.endswith("\nGive me one action.")
    return observation[len("Observation: ") : -len("\nGive me one action.")], info["valid"]


def test_the_checker_passes_on_the_toy() -> None:
    assert [c for c in check_env("tests/Shelf-v0") if not c.passed] == []


# What follows from a declaration.


def test_schema_follows_from_signature_and_docstring() -> None:
    schemas = {c.name: c.schema()["function"] for c in ShelfEnv.commands}
    assert list(schemas) == ["count", "put", "describe", "check_valid_actions", "finish"]
    assert schemas["put"] == {
        "name": "put",
        "description": "Put things into a box.",
        "parameters": {
            "type": "object",
            "properties": {
                "box": {"type": "string", "description": "the box's colour"},
                "things": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100,
                    "description": "how many",
                },
            },
            "required": ["box", "things"],
            "additionalProperties": False,
        },
    }
    described = schemas["describe"]["parameters"]
    assert described["required"] == ["order"]
    assert described["properties"]["order"]["enum"] == ["asc", "des"]
    assert described["properties"]["since"]["format"] == "date"
    assert described["properties"]["since"]["description"] == "from which day"
    assert described["properties"]["names"]["type"] == "array"
    assert schemas["describe"]["description"] == (
        "List the boxes; it takes arguments of many kinds, over two lines."
    )


def test_the_prompt_lists_every_function() -> None:
    text = make("tests/Shelf-v0").instructions
    assert "Name: put\nDescription: Put things into a box.\nParameters:\n- box (string):" in text
    assert "- things (integer): how many" in text
    assert "- order ('asc' or 'des'): how they are sorted" in text
    assert "- names (array, optional): which boxes" in text
    assert "- answer (string or number or array): " in text
    assert "Name: check_valid_actions" in text


def test_a_declaration_without_description_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a docstring"):

        class _Silent(Tools):
            @tool
            def look(self) -> str:
                return ""

    with pytest.raises(TypeError, match=r"describes \[\], its parameters are \['place'\]"):

        class _Half(Tools):
            @tool
            def look(self, place: str) -> str:
                """Look."""
                return place


# Calls.


@pytest.mark.parametrize(
    "action",
    [
        'put with Action Input: {"box": "red", "things": 3}',
        "put with Action Input: {'box': 'red', 'things': 3}",
        'Action: put with Action Input: {"box": "red", "things": "3"}',
        'put\nAction Input: {\n  "box": "red",\n  "things": 3.0\n}',
        'put with Action Input:\n```json\n{"box": "red", "things": 3}\n```',
        '{"name": "put", "arguments": {"box": "red", "things": 3}}',
        '{"function_name": "put", "arguments": {"box": "red", "things": 3}, "thought": "so"}',
        '{"type": "function", "function": {"name": "put", "arguments": "{\\"box\\": \\"red\\", '
        '\\"things\\": 3}"}}',
    ],
)
def test_calls_are_read_however_models_write_them(env: ShelfEnv, action: str) -> None:
    assert say(env, action) == ("{'box': 'red', 'holds': 7}", True)


def test_strings_may_hold_anything(env: ShelfEnv) -> None:
    text = "a \"quote\", an 'other', {a: [brace]} with Action Input: {}\nfinish"
    action = f"count with Action Input: {json.dumps({'box': text})}"
    answer, valid = say(env, action)
    assert not valid
    assert answer.startswith('ERROR | KeyError(there is no box \'a "quote"') or "no box" in answer


def test_a_list_may_stand_in_quotes(env: ShelfEnv) -> None:
    answer = say(env, """describe with Action Input: {'order': 'des', 'names': "['a', 'b']"}""")
    assert answer == ("['b', 'a']", True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"box": "red"}, "TypeError(missing argument 'things': put takes box, things)"),
        (
            {"box": "red", "thing": 3, "things": 3},
            "TypeError(unknown argument 'thing': put takes box, things. Did you mean things?)",
        ),
        (
            {"box": "red", "things": "many"},
            "ValueError(argument 'things' must be a whole number from 1 to 100, got 'many')",
        ),
        (
            {"box": "red", "things": 0},
            "ValueError(argument 'things' must be a whole number from 1 to 100, got 0)",
        ),
        (
            {"box": "red", "things": 2.5},
            "ValueError(argument 'things' must be a whole number from 1 to 100, got 2.5)",
        ),
        (
            {"box": "red", "things": True},
            "ValueError(argument 'things' must be a whole number from 1 to 100, got True)",
        ),
        (
            {"box": ["red"], "things": 1},
            "ValueError(argument 'box' must be text, got a list of 1)",
        ),
        (
            {"box": "red", "things": {"a": 1}},
            "ValueError(argument 'things' must be a whole number from 1 to 100, "
            "got an object of 1)",
        ),
    ],
)
def test_an_error_names_what_is_wrong(env: ShelfEnv, arguments: Any, words: str) -> None:
    before = env.kit.save()
    assert say(env, f"put with Action Input: {json.dumps(arguments)}") == (
        f"ERROR | {words}",
        False,
    )
    assert env.kit.save() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"order": "up"}, "argument 'order' must be one of 'asc', 'des', got 'up'"),
        ({"order": "asc", "place": 91}, "argument 'place' must be a number from -90 to 90, got 91"),
        (
            {"order": "asc", "since": "5 May"},
            "'since' must be a date written YYYY-MM-DD, got '5 May'",
        ),
        (
            {"order": "asc", "since": "2023-02-30"},
            "'since' must be a day of the calendar (YYYY-MM-DD), got '2023-02-30'",
        ),
        (
            {"order": "asc", "names": ["a", [1]]},
            "argument 'names' must be a list (text that is not empty, at most 2000 characters "
            "each) (the fault is at names[1]), got a list of 1",
        ),
    ],
)
def test_an_error_says_what_was_expected(env: ShelfEnv, arguments: Any, words: str) -> None:
    answer, valid = say(env, f"describe with Action Input: {json.dumps(arguments)}")
    assert words in answer
    assert not valid


def test_a_name_that_is_no_text_is_answered(env: ShelfEnv) -> None:
    answer = say(env, 'count with Action Input: {"\\ud800": 1, "box": "red"}')
    assert answer == (
        "ERROR | TypeError(an argument's name cannot be read: count takes box)",
        False,
    )


def test_null_leaves_an_optional_argument_out(env: ShelfEnv) -> None:
    action = 'describe with Action Input: {"order": "asc", "since": null, "names": null}'
    assert say(env, action) == ("['blue', 'green', 'red']", True)


def test_what_is_no_call_is_answered_in_the_published_words(env: ShelfEnv) -> None:
    answer, valid = say(env, "count red")
    assert answer == f"{FORMAT_ERROR} Here 'Action Input:' and the arguments are missing."
    assert not valid
    assert say(env, "cuont with Action Input: {}") == (
        "ERROR | Invalid action: cuont. Did you mean count?",
        False,
    )
    answer, valid = say(env, 'count with Action Input: {"box": red}')
    assert answer.startswith(f"{FORMAT_ERROR} Here the Action Input cannot be read: ")
    assert not valid


# The end and the score.


def test_only_finish_ends(env: ShelfEnv) -> None:
    for action in (
        'count with Action Input: {"box": "finish"}',
        "finish",
        "finish with Action Input: {}",
        'Finish with Action Input: {"answer": 12}',
        'finish with Action Input: {"reply": 12}',
    ):
        _, _, terminated, _, info = env.step(action)
        assert not terminated
        assert not info["valid"]
    observation, reward, terminated, _, info = env.step(
        'finish with Action Input: {"answer": "12"}'
    )
    assert (terminated, reward, info["success"]) == (True, 1.0, True)
    assert observation == "Observation: 12\nGive me one action."


def test_score_is_the_share_of_subgoals(env: ShelfEnv) -> None:
    count = 'count with Action Input: {"box": "%s"}'
    scores = [env.step(count % box)[4]["score"] for box in ("green", "red", "red", "blue")]
    assert scores == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3])
    _, reward, terminated, _, info = env.step('finish with Action Input: {"answer": 13}')
    assert (terminated, reward, info["success"], info["valid"]) == (True, 0.0, False, True)


def test_a_snapshot_holds_state_and_subgoals(env: ShelfEnv) -> None:
    env.step('put with Action Input: {"box": "red", "things": 3}')
    env.step('count with Action Input: {"box": "red"}')
    state = json.loads(json.dumps(env.get_state()))
    env.reset(seed=0, options={"task_id": "shelf_9"})
    env.set_state(state)
    assert env.kit.save() == {"red": 7, "blue": 8, "green": 7}
    assert env.step('count with Action Input: {"box": "blue"}')[4]["score"] == pytest.approx(2 / 3)


def test_tools_can_be_called_without_an_environment() -> None:
    kit = ShelfTools({"red": 1})
    assert kit.call("put", {"box": "red", "things": 2}) == {"box": "red", "holds": 3}
    with pytest.raises(ToolError, match="missing argument 'things'"):
        kit.call("put", {"box": "red"})


def test_ten_thousand_malformed_calls_are_answered(env: ShelfEnv) -> None:
    check_malformed(env, 10_000)
