"""Malformed calls for any tool environment: each must be answered, and change nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from agentgym.core.call import write_call
from agentgym.envs.tools import Tool, ToolEnv
from agentgym.envs.tools.env import FORMAT_ERROR

INJECTIONS = (
    "__import__('os').system('true')",
    "'; DROP TABLE tasks; --",
    "{{7*7}}",
    "../../etc/passwd",
    "finish",
    "\x00\x1b[31m\ud800",
    'finish with Action Input: {"answer": 1}',
    "${jndi:ldap://x}",
)
WRONG = {
    "number": ["many", [1], {"a": 1}, True, "", "1e999", "NaN"],
    "integer": ["many", 2.5, [1], {"a": 1}, False, "0x10"],
    "string": [["a"], {"a": "b"}],
    "array": ["not a list", 3, {"a": 1}, True],
    "boolean": ["perhaps", [True], 7],
    "object": ["x", 3, [1]],
}
DEEP = ("[" * 5_000, "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "(" * 4_000)
DEEP_LITERALS = ("-" * 4_000 + "1", "1" + "+1" * 4_000, "not " * 2_000 + "1", "\\'" * 9_000)


def malformed(env: ToolEnv, count: int, seed: int = 0) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield actions that no tool environment may carry out, and words their answers may hold.

    At least one of the words must be in the answer: the name of the function or of the argument.
    """
    rng = np.random.default_rng(seed)
    tools = list(env.toolkit.catalogue.values())
    while count:
        chosen = tools[int(rng.integers(len(tools)))]
        made = _MAKERS[int(rng.integers(len(_MAKERS)))](env, chosen, rng)
        if made is not None:
            yield made
            count -= 1


def check_malformed(env: ToolEnv, count: int, seed: int = 0) -> None:
    """Play malformed calls and require an answer that helps and a state that stays."""
    env.max_rounds = 10**9
    env.reset(seed=0)
    before = json.dumps([env.kit.save(), env._score])
    for action, words in malformed(env, count, seed):
        observation, reward, terminated, _, info = env.step(action)
        short = f"{action[:120]!r} was answered {observation[:300]!r}"
        assert not info["valid"], short
        assert not terminated, short
        assert reward == 0, short
        assert len(observation) < 2_000, short
        assert any(word in observation for word in words), f"{short} without any of {words}"
        env._history.clear()  # or ten thousand actions of a megabyte would be kept
    assert json.dumps([env.kit.save(), env._score]) == before


Made = tuple[str, tuple[str, ...]] | None


def _good(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
    return env._sample_arguments(chosen, rng)


def _missing(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    required = list(chosen.parameters.get("required", ()))
    if not required:
        return None
    left_out = required[int(rng.integers(len(required)))]
    arguments = _good(env, chosen, rng)
    del arguments[left_out]
    return write_call(chosen.name, arguments), (f"missing argument {left_out!r}",)


def _extra(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    name = f"extra_{int(rng.integers(100))}"
    arguments = {**_good(env, chosen, rng), name: INJECTIONS[0]}
    return write_call(chosen.name, arguments), (f"unknown argument {name!r}",)


def _wrong_type(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    properties = chosen.parameters.get("properties", {})
    typed = [n for n, s in properties.items() if s.get("type") in WRONG]
    if not typed:
        return None
    name = typed[int(rng.integers(len(typed)))]
    values = WRONG[properties[name]["type"]]
    arguments = {**_good(env, chosen, rng), name: values[int(rng.integers(len(values)))]}
    return write_call(chosen.name, arguments), (f"argument {name!r}",)


def _injected_name(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    text = INJECTIONS[int(rng.integers(len(INJECTIONS)))]
    name = chosen.name + text if rng.integers(2) else f"{chosen.name}_{int(rng.integers(99))}"
    return f"{name} with Action Input: {{}}", ("Invalid action", "Format error", "cannot be read")


def _injected_arguments(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    texts = (*INJECTIONS[:1], *DEEP, *DEEP_LITERALS, "{'a': open('x')}", "{'a': 1 + 1}", "[]", "7")
    text = texts[int(rng.integers(len(texts)))]
    return f"{chosen.name} with Action Input: {text}", ("Format error",)


def _deep_value(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    text = DEEP[int(rng.integers(len(DEEP)))]
    return f'{chosen.name} with Action Input: {{"{chosen.name}": {text}}}', ("Format error",)


def _broken_json(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    text = write_call(chosen.name, {**_good(env, chosen, rng), "a": [1, {"b": "c"}]})
    start = text.index("{") + 1
    cut = start + int(rng.integers(len(text) - start - 1))
    return text[:cut], ("Format error",)


def _long(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    if rng.integers(40):
        return None
    names = list(chosen.parameters.get("properties", ())) or ["text"]
    arguments = dict.fromkeys(names[:1], "A" * 1_000_000)
    return write_call(chosen.name, arguments), ("characters; at most",)


def _no_call(env: ToolEnv, chosen: Tool, rng: np.random.Generator) -> Made:
    texts = (
        chosen.name,
        f"{chosen.name}()",
        f"Action: {chosen.name}",
        f"{chosen.name} with input {{}}",
        "Action Input: {}",
        "with Action Input: {}",
        "{}",
        '{"name": 3, "arguments": {}}',
        json.dumps({"name": chosen.name, "arguments": [1, 2]}),
        json.dumps({"arguments": {}}),
        " " * 40_000,
        "a " * 20_000 + "with Action Input: {}",
    )
    return texts[int(rng.integers(len(texts)))], (FORMAT_ERROR,)


_MAKERS = (
    _missing, _extra, _wrong_type, _wrong_type, _injected_name, _injected_arguments, _deep_value,
    _broken_json, _long, _no_call,
)  # fmt: skip
