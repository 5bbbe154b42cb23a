"""A set of tools: the methods of one class, over the state of one episode."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from agentgym.envs.tools.kinds import Reply
from agentgym.envs.tools.tool import Tool, is_tool, tool


class _Catalogue(dict[str, Tool]):
    """Tools by name, in the order they are declared, those of a base class last."""

    @cached_property
    def listing(self) -> str:
        """The function list of a prompt: name, description, parameters, result."""
        return "\n\n".join(map(_entry, self.values()))


class Tools:
    """The tools of an environment; an instance holds the state of one episode.

    A subclass declares each function as a typed method with a docstring under `@tool`. Every set
    has `check_valid_actions` and `finish`; a subclass may declare them anew.
    """

    catalogue: ClassVar[_Catalogue] = _Catalogue()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        found: dict[str, Any] = {}
        for base in cls.__mro__:
            for name, value in vars(base).items():
                if is_tool(value):
                    found.setdefault(name, value)
        cls.catalogue = _Catalogue({name: Tool(method) for name, method in found.items()})

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool by name and return its result, a JSON value.

        Raises:
            ToolError: if the arguments are wrong, or it cannot do what was asked.
        """
        return self.catalogue[name].call(self, arguments)

    def save(self) -> Any:
        """Return a JSON copy of the state, or None to be restored by playing the calls again."""
        return None

    def load(self, saved: Any) -> None:
        """Restore what `save` returned, into a fresh set of the same task.

        Raises:
            InvalidState: if it cannot have come from `save`.
        """
        raise NotImplementedError

    @tool
    def check_valid_actions(self) -> Any:
        """List the functions that can be called.

        Returns:
            the names of all functions
        """
        return {"actions": list(self.catalogue)}

    @tool(ends=True)
    def finish(self, answer: Reply) -> Any:
        """Give your answer and end the task.

        Args:
            answer: the answer, in the form the goal asks for
        """
        return answer


def _entry(item: Tool) -> str:
    """Return a tool's lines in the function list."""
    properties = item.parameters.get("properties", {})
    required = item.parameters.get("required", ())
    lines = [f"Name: {item.name}", f"Description: {item.description}"]
    if properties:
        lines.append("Parameters:")
        lines += [
            f"- {n} ({_kind(s, n in required)}): {s['description']}" for n, s in properties.items()
        ]
    else:
        lines.append("Parameters: none")
    if item.returns:
        lines.append(f"Returns: {item.returns}")
    return "\n".join(lines)


def _kind(schema: Mapping[str, Any], required: bool) -> str:
    if "enum" in schema:
        kind = " or ".join(repr(v) for v in schema["enum"])
    elif "anyOf" in schema:
        kind = " or ".join(str(s.get("type", "any")) for s in schema["anyOf"])
    else:
        kind = str(schema.get("type", "any"))
    return kind if required else f"{kind}, optional"
