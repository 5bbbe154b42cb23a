"""The three action formats agree on every action, and answer what they cannot read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.agents import Reply, ToolCall
from agentgym.core import Command, Param
from agentgym.rollout import FORMATS, FormatError, find_format
from agentgym.rollout.formats import UnknownFormat
from agentgym.rollout.profile import EnvProfile

COMMANDS = (
    Command(
        "craft",
        "craft {count} {item} using {ingredients}",
        "Craft an item.",
        (
            Param("count", "how many", "integer"),
            Param("item", "what"),
            Param("ingredients", "from what"),
        ),
    ),
    Command("move", "move {way}", "Walk.", (Param("way", "where", choices=("up", "down")),)),
    Command("inventory", "inventory", "Look."),
)
PROFILE = EnvProfile("x/Y-v0", "mini", "", "Rules.", COMMANDS, 10)
OPEN = EnvProfile("x/Y-v0", "mini", "", "Rules.", (), 10, multiline=True)

word = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)
words = st.lists(word, min_size=1, max_size=4).map(" ".join)
# Items in a grammar of words: "using" is the template's own and cannot be told from an item's.
items = words.filter(lambda text: "using" not in text and text[0] not in "`*")
actions = st.one_of(
    st.tuples(st.integers(1, 999), items, items).map(lambda t: f"craft {t[0]} {t[1]} using {t[2]}"),
    st.sampled_from(["move up", "move down", "inventory"]),
)


@pytest.mark.parametrize("name", FORMATS)
@given(action=actions)
def test_what_is_written_reads_the_same(name, action):
    fmt = find_format(name)
    writing = fmt.write("because it helps", action, PROFILE)
    reading = fmt.read(Reply(writing.text), PROFILE)
    assert reading.action == action
    assert reading.thought == "because it helps"
    if writing.tool_calls:
        assert fmt.read(Reply("", writing.tool_calls), PROFILE).action == action


@pytest.mark.parametrize("name", FORMATS)
@given(text=st.text(max_size=400))
def test_any_text_reads_or_says_what_to_change(name, text):
    fmt = find_format(name)
    for profile in (PROFILE, OPEN):
        message, action = "", ""
        try:
            action = fmt.read(Reply(text), profile).action
        except FormatError as error:
            message = str(error)
        assert action or len(message) > 20


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Thought:\nI think so.\n\nAction:\nmove up", "move up"),
        ("thought: x\naction: move up\n\nand so on", "move up"),
        ("**Thought:** x\n**Action:** move up", "move up"),
        ("Thought: x\nAction: `move up`", "move up"),
        ("Thought: x\nAction: move up\nObservation: You win!", "move up"),
        ("Thought: x\nAction: move up</s>", "move up"),
        ("Thought: the last Action: was wrong\nAction: move down", "move down"),
        ("move up", "move up"),
    ],
)
def test_react_reads_what_models_write(text, action):
    assert find_format("react").read(Reply(text), PROFILE).action == action


def test_react_keeps_several_lines_where_an_action_has_them():
    text = "Thought: x\nAction: ```sql\nSELECT 1\nFROM t\n```"
    assert find_format("react").read(Reply(text), OPEN).action == "SELECT 1\nFROM t"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("react", "I would go up.", "No action was found"),
        ("react", "Action: move up\nAction: move down", "Only one 'Action'"),
        ("react", "Thought: x\nAction:", "Nothing stands after"),
        ("function_calling", "move up", "No function call"),
        ("function_calling", '{"function_name": "mvoe"}', "Did you mean move"),
        ("function_calling", '{"function_name": "move", "arguments": {}}', "[Mm]issing.*'way'"),
        (
            "function_calling",
            '{"function_name": "move", "arguments": {"way": "left"}}',
            "must be one of up, down",
        ),
        ("function_calling", '{"function_name": "move", "arguments": []}', "JSON object"),
        ("code_as_action", "```python\nmove('up')\nmove('up')\n```", "2 statements"),
        ("code_as_action", "```python\n__import__('os').system('ls')\n```", "not a call"),
        ("code_as_action", "```python\nmove(open('x').read())\n```", "not a literal"),
        ("code_as_action", "```python\nmove('up', 'down')\n```", "takes 1 arguments"),
        ("code_as_action", "```python\nimport os\n```", "call"),
        ("code_as_action", "```python\nsystem('ls')\n```", "no function 'system'"),
    ],
)
def test_what_cannot_be_read_is_answered(name, text, message):
    with pytest.raises(FormatError, match=message):
        find_format(name).read(Reply(text), PROFILE)


def test_react_takes_no_chatter_for_a_command_that_is_any_text():
    guess = Command("guess", "{word}", "Guess.", (Param("word", "the word"),))
    wordle = EnvProfile("x/W-v0", "mini", "", "Rules.", (guess,), 6)
    assert find_format("react").read(Reply("Action: s h i r e"), wordle).action == "s h i r e"
    with pytest.raises(FormatError, match="No action was found"):
        find_format("react").read(Reply("I'm ready to help!"), wordle)


def test_one_tool_call_a_turn():
    calls = (ToolCall("inventory", "{}"), ToolCall("inventory", "{}"))
    with pytest.raises(FormatError, match="one function at a time"):
        find_format("function_calling").read(Reply("", calls), PROFILE)


def test_schemas_are_valid_tools():
    tools = find_format("function_calling").tools(PROFILE)
    assert [t["function"]["name"] for t in tools] == ["craft", "move", "inventory"]
    assert tools[1]["function"]["parameters"]["properties"]["way"]["enum"] == ["up", "down"]
    json.dumps(tools)


def test_code_takes_arguments_by_position():
    reading = find_format("code_as_action").read(
        Reply("```python\n# planks first\ncraft(4, 'stick', ingredients='2 planks')\n```"), PROFILE
    )
    assert reading.action == "craft 4 stick using 2 planks"
    assert reading.thought == "planks first"


def test_unknown_format():
    with pytest.raises(UnknownFormat, match="Did you mean react"):
        find_format("reakt")
