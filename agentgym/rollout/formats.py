"""Action formats: how a reply is written, and how an action is read from it.

Three formats of AgentGym (arXiv 2406.04151, section 3): `react` (Thought and Action as text),
`function_calling` (a tool call, or the same as JSON text where the model has no tools) and
`code_as_action` (one Python call, read with `ast` and never executed). All three stand on the
environment's declared commands. A reply that cannot be read raises `FormatError`; its message is
what the agent is told to change.
"""

from __future__ import annotations

import ast
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agentgym.agents.message import Reply, ToolCall
from agentgym.core import AgentGymError, Command, Param, match_call, shorten
from agentgym.core.errors import UnknownName, did_you_mean
from agentgym.rollout.profile import EnvProfile


class FormatError(AgentGymError):
    """A reply holds no action that can be read; the message says what to change."""


class UnknownFormat(UnknownName):
    """There is no action format of this name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from a reply."""

    thought: str
    action: str


@dataclass(frozen=True, slots=True)
class Writing:
    """A thought and an action written as a reply."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()


class ActionFormat(ABC):
    """One way of writing a thought and an action as a reply."""

    name: ClassVar[str]
    acknowledgement: ClassVar[str] = "OK. I'll follow your instructions and try my best."

    @abstractmethod
    def guide(self, profile: EnvProfile) -> str:
        """Return what the instructions say about how to reply."""

    @abstractmethod
    def read(self, reply: Reply, profile: EnvProfile) -> Reading:
        """Return the thought and action of a reply.

        Raises:
            FormatError: if there is not exactly one action in it.
        """

    @abstractmethod
    def write(self, thought: str, action: str, profile: EnvProfile) -> Writing:
        """Return the reply that reads as this thought and action."""

    def tools(self, profile: EnvProfile) -> list[dict[str, Any]]:
        """Return the tool schemas to offer a model that takes them."""
        return []

    def instructions(self, profile: EnvProfile, *, tools: bool = False) -> str:
        """Return the first message of a conversation.

        Args:
            profile: the environment.
            tools: whether the model is given the tool schemas, so that they need not be listed.
        """
        guide = "Act by calling one tool at a time." if tools else self.guide(profile)
        return f"{profile.instructions.strip()}\n\n{guide.strip()}"


class React(ActionFormat):
    """ "Thought: …" and "Action: …" as text."""

    name = "react"

    _ACTION = re.compile(r"(?im)^[ \t>*#]*action[*]{0,2}[ \t]*:[*]{0,2}")
    _END = re.compile(r"(?im)^[ \t>*#]*(?:observation|thought)[*]{0,2}[ \t]*:")
    _THOUGHT = re.compile(r"(?i)^\W*thought[*]{0,2}[ \t]*:[*]{0,2}")
    _FENCE = re.compile(r"^```[\w-]*\n(.*?)\n?```$", re.DOTALL)

    def guide(self, profile: EnvProfile) -> str:
        """Return the layout of a reply, and that it holds one action."""
        return (
            "Reply with one thought and one action, in this layout:\n"
            "Thought: why you do it\nAction: the action"
        )

    def read(self, reply: Reply, profile: EnvProfile) -> Reading:
        """Return what stands after the one "Action:", and what stands before it as thought."""
        text = reply.text.replace("</s>", "").strip()
        before, body = self._split(text)
        if body is None:
            if "\n" not in text and self._is_command(text, profile):
                return Reading("", text)
            raise FormatError(
                "No action was found in your reply. Write 'Thought:' and your reason, then on a "
                "new line 'Action:' and one action."
            )
        if "\n" in body:
            end = self._END.search(body)
            body = body[: end.start()] if end else body
        action = self._clean(body, profile.multiline)
        if not action:
            raise FormatError("Nothing stands after 'Action:'. Write one action there.")
        before = before.strip()
        if before.startswith("Thought:"):
            return Reading(before[8:].lstrip(), action)
        return Reading(self._THOUGHT.sub("", before).strip(), action)

    def write(self, thought: str, action: str, profile: EnvProfile) -> Writing:
        """Return the two labelled parts."""
        return Writing(f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}")

    def _split(self, text: str) -> tuple[str, str | None]:
        """Return what stands before and after the one "Action:" that begins a line."""
        if text.lower().count("action") == 1:
            before, label, body = text.partition("\nAction:")
            if label:  # what well-behaved models write, without a regular expression
                return before, body
        marks = list(self._ACTION.finditer(text))
        if len(marks) > 1:
            raise FormatError(
                "Only one 'Action' is allowed per response. Reply again with one 'Thought:' and "
                "one 'Action:', then wait for the observation."
            )
        return (text[: marks[0].start()], text[marks[0].end() :]) if marks else (text, None)

    @staticmethod
    def _is_command(text: str, profile: EnvProfile) -> bool:
        """Whether a reply is nothing but a command; one that takes any text proves nothing."""
        return match_call((c for c in profile.commands if not c.takes_any_text), text) is not None

    def _clean(self, body: str, multiline: bool) -> str:
        body = body.strip()
        fenced = self._FENCE.match(body)
        body = fenced[1].strip() if fenced else body
        if not multiline:
            body = next((line.strip() for line in body.splitlines() if line.strip()), "")
            if len(body) > 1 and body[0] == body[-1] and body[0] in "`*":
                body = body.strip("`*").strip()
        return body


_ACT = Command("act", "{action}", "Take one action.", (Param("action", "the action as text"),))


def _commands(profile: EnvProfile) -> tuple[Command, ...]:
    """Return the declared commands, or the one that takes an action as text."""
    return profile.commands or (_ACT,)


def _render(profile: EnvProfile, name: str, arguments: Mapping[str, Any]) -> str:
    """Turn a call into the action it stands for."""
    commands = {c.name: c for c in _commands(profile)}
    if name not in commands:
        near = did_you_mean(shorten(name), commands)
        raise FormatError(f"There is no function {shorten(name)!r}. {near}".strip())
    try:
        return commands[name].render(arguments)
    except ValueError as error:
        raise FormatError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error


def _call(profile: EnvProfile, action: str) -> tuple[str, dict[str, Any]]:
    """Return the call an action stands for; any text is a call where nothing is declared."""
    found = match_call(_commands(profile), action)
    if found is None:
        raise FormatError(f"No function of this environment stands for the action {action!r}.")
    return found[0].name, found[1]


class FunctionCalling(ActionFormat):
    """A tool call; as JSON text from models that have no tools."""

    name = "function_calling"

    def guide(self, profile: EnvProfile) -> str:
        """Return the functions as JSON schemas and the layout of the JSON reply."""
        schemas = [c.schema()["function"] for c in _commands(profile)]
        listing = "\n".join(json.dumps(s, ensure_ascii=False) for s in schemas)
        return (
            f"Act by calling one of these functions:\n{listing}\n\n"
            "Where you cannot call tools, reply with only this JSON:\n"
            '{"thought": "why you do it", "function_name": "name", "arguments": {"name": "value"}}'
        )

    def tools(self, profile: EnvProfile) -> list[dict[str, Any]]:
        """Return the commands as tool schemas."""
        return [c.schema() for c in _commands(profile)]

    def read(self, reply: Reply, profile: EnvProfile) -> Reading:
        """Return the action of the one tool call, or of the one JSON object in the text."""
        if len(reply.tool_calls) > 1:
            raise FormatError("Call one function at a time, then wait for its result.")
        if reply.tool_calls:
            call = reply.tool_calls[0]
            arguments = self._object(call.arguments or "{}", "The function's arguments")
            return Reading(reply.text.strip(), _render(profile, call.name, arguments))
        data = self._object(self._json_part(reply.text), "Your reply")
        name = data.get("function_name", data.get("name"))
        if not isinstance(name, str):
            raise FormatError('Your reply has no "function_name". Name the function to call.')
        arguments = data.get("arguments", {})
        if not isinstance(arguments, dict):
            raise FormatError('"arguments" must be a JSON object that names each argument.')
        thought = data.get("thought", "")
        thought = thought if isinstance(thought, str) else ""
        return Reading(thought, _render(profile, name, arguments))

    def write(self, thought: str, action: str, profile: EnvProfile) -> Writing:
        """Return the JSON text; `Writing.tool_calls` holds the same call."""
        name, arguments = _call(profile, action)
        text = json.dumps(
            {"thought": thought, "function_name": name, "arguments": arguments}, ensure_ascii=False
        )
        return Writing(text, (ToolCall(name, json.dumps(arguments, ensure_ascii=False)),))

    @staticmethod
    def _json_part(text: str) -> str:
        start, end = text.find("{"), text.rfind("}")
        if start < 0 or end < start:
            raise FormatError(
                "No function call was found. Call a function, or reply with only the JSON object "
                '{"thought": …, "function_name": …, "arguments": {…}}.'
            )
        return text[start : end + 1]

    @staticmethod
    def _object(text: str, what: str) -> dict[str, Any]:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{what} cannot be read as JSON: {error}.") from error
        if not isinstance(data, dict):
            raise FormatError(f"{what} must be a JSON object, not {type(data).__name__}.")
        return data


class CodeAsAction(ActionFormat):
    """One Python call in a code block, thoughts as comments; read, never run."""

    name = "code_as_action"

    _BLOCK = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)

    def guide(self, profile: EnvProfile) -> str:
        """Return the functions as Python signatures and the layout of the code block."""
        lines = []
        for command in _commands(profile):
            arguments = ", ".join(p.signature for p in command.params)
            lines.append(f"def {command.name}({arguments}): ...  # {command.description}")
        listing = "\n".join(lines)
        return (
            f"Act by writing one call to one of these Python functions:\n{listing}\n\n"
            "Reply with only a code block, your reason as a comment, and literal arguments:\n"
            "```python\n# why you do it\nfunction(argument=value)\n```"
        )

    def read(self, reply: Reply, profile: EnvProfile) -> Reading:
        """Return the action of the one call in the code block."""
        blocks = self._BLOCK.findall(reply.text)
        if len(blocks) > 1:
            raise FormatError("Write one code block with one call, then wait for the observation.")
        code = blocks[0] if blocks else reply.text
        name, arguments = _read_call(code, _commands(profile))
        comments = [m.strip() for m in re.findall(r"(?m)^[ \t]*#(.*)$", code)]
        return Reading(" ".join(c for c in comments if c), _render(profile, name, arguments))

    def write(self, thought: str, action: str, profile: EnvProfile) -> Writing:
        """Return the code block."""
        name, arguments = _call(profile, action)
        comment = "".join(f"# {line}\n" for line in thought.splitlines())
        values = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        return Writing(f"```python\n{comment}{name}({values})\n```")


def _read_call(code: str, commands: Sequence[Command]) -> tuple[str, dict[str, Any]]:
    """Read `name(literal, key=literal)` from source text, without running it."""
    how = "Write one call with literal arguments, as in name(argument='value')."
    try:
        body = ast.parse(code.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormatError(f"Your code is not valid Python. {how}") from error
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise FormatError(f"Your code has {len(body)} statements. {how}")
    call = body[0].value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise FormatError(f"Your code is not a call of a function. {how}")
    command = next((c for c in commands if c.name == call.func.id), None)
    names = [p.name for p in command.params] if command else []
    if len(call.args) > len(names) and command:
        raise FormatError(f"{command.name} takes {len(names)} arguments, not {len(call.args)}.")
    try:
        arguments = {
            names[i] if command else str(i): ast.literal_eval(a) for i, a in enumerate(call.args)
        }
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in arguments:
                raise FormatError(f"An argument is given twice or unpacked. {how}")
            arguments[keyword.arg] = ast.literal_eval(keyword.value)
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise FormatError(f"An argument is not a literal. {how}") from error
    return call.func.id, arguments


FORMATS: dict[str, ActionFormat] = {f.name: f for f in (React(), FunctionCalling(), CodeAsAction())}


def find_format(name: str) -> ActionFormat:
    """Return the action format of this name.

    Raises:
        UnknownFormat: if there is none.
    """
    if name not in FORMATS:
        raise UnknownFormat("action format", name, FORMATS)
    return FORMATS[name]
