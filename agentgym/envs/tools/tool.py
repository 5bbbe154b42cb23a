"""A tool: a typed method, declared once.

From its signature and docstring come the entry in the prompt's function list, the JSON schema for
function calling, and the validation of arguments; pydantic reads the types. An error names the
parameter that is wrong, what was given and what was expected.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, TypeVar, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agentgym.core.call import CallCommand
from agentgym.core.errors import did_you_mean
from agentgym.core.literal import read_value
from agentgym.core.text import shorten
from agentgym.envs.tools.docstring import read_docstring
from agentgym.envs.tools.errors import ToolError, WrongCall, WrongValue
from agentgym.envs.tools.schemas import cleaned, expected

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK = "_agentgym_tool"
_CONFIG = ConfigDict(extra="forbid", coerce_numbers_to_str=True, arbitrary_types_allowed=False)


@overload
def tool(method: Method, /) -> Method: ...
@overload
def tool(*, ends: bool = False) -> Callable[[Method], Method]: ...
def tool(method: Any = None, /, *, ends: bool = False) -> Any:
    """Declare a method of a `Tools` class as a tool.

    Args:
        method: the method, where the decorator is used bare.
        ends: whether the call ends the episode.
    """

    def mark(function: Method) -> Method:
        setattr(function, _MARK, {"ends": ends})
        return function

    return mark if method is None else mark(method)


def is_tool(value: Any) -> bool:
    """Return whether a class attribute was declared as a tool."""
    return hasattr(value, _MARK)


class Tool:
    """One function a model can call.

    Args:
        method: a method marked by `tool`.

    Raises:
        TypeError: if a parameter has no type or is not described in the docstring.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.name = method.__name__
        self.ends: bool = getattr(method, _MARK)["ends"]
        described = read_docstring(method)
        self.description, self.returns = described.summary, described.returns
        self._arguments = described.arguments

    def __repr__(self) -> str:
        return f"Tool({self.name})"

    @cached_property
    def full_schema(self) -> dict[str, Any]:
        """JSON schema of the arguments, with pydantic's titles and the examples."""
        return self._model.model_json_schema()

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of the arguments, as a model is offered it."""
        return cleaned(self.full_schema)

    @cached_property
    def command(self) -> CallCommand:
        """The tool as a command of the action grammar."""
        description = self.description
        if self.returns:
            description = f"{description} Returns: {self.returns}"
        return CallCommand(self.name, description=description, parameters=self.parameters)

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the method takes them, defaults filled in.

        Raises:
            WrongCall: if one is missing or unknown.
            WrongValue: if one has a value that cannot be used.
        """
        given = self._as_declared(arguments)
        try:
            values: dict[str, Any] = self._validator.validate_python(given).__dict__
            return values
        except ValidationError as error:
            raise self._explain(error, given) from None

    def call(self, owner: Any, arguments: Mapping[str, Any]) -> Any:
        """Validate the arguments and call the method of `owner`.

        Raises:
            ToolError: if the arguments are wrong, or the tool cannot do what was asked.
        """
        return self.method(owner, **self.read(arguments))

    @cached_property
    def _model(self) -> type[BaseModel]:
        hints = get_type_hints(self.method, include_extras=True)
        fields: dict[str, Any] = {}
        for name, parameter in list(inspect.signature(self.method).parameters.items())[1:]:
            if name not in hints:
                raise TypeError(f"the tool {self.name} declares no type for {name!r}")
            default = ... if parameter.default is parameter.empty else parameter.default
            about = Field(description=self._arguments[name])
            fields[name] = (Annotated[hints[name], about], default)
        return create_model(self.name, __config__=_CONFIG, **fields)

    @cached_property
    def _validator(self) -> Any:
        return self._model.__pydantic_validator__

    @cached_property
    def _types(self) -> dict[str, Any]:
        """JSON types by parameter, None where there are several."""
        return {n: s.get("type") for n, s in self.parameters.get("properties", {}).items()}

    def _as_declared(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, read as models write them.

        A list may stand in quotes, a truth value for its name, null for an argument left out.
        """
        given = dict(arguments)
        for name, value in arguments.items():
            kind = type(value)
            if kind is float or kind is int:
                continue
            wanted = self._types.get(name)
            if kind is str:
                if wanted in ("array", "object"):
                    with contextlib.suppress(ValueError):
                        given[name] = read_value(value)
            elif kind is bool:
                if wanted == "string":
                    given[name] = str(value)
                elif wanted in ("number", "integer"):
                    raise self._wrong(name, value)
            elif value is None and name in self._types and name not in self._required:
                del given[name]
        return given

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(self.parameters.get("required", ()))

    def _explain(self, error: ValidationError, given: Mapping[str, Any]) -> ToolError:
        faults = error.errors(include_url=False)
        for fault in faults:
            if fault["type"] == "extra_forbidden":
                return self._unknown(str(fault["loc"][0]))
        for fault in faults:
            if fault["type"] == "missing" and len(fault["loc"]) == 1:
                return WrongCall(f"missing argument {fault['loc'][0]!r}: {self.takes}")
        fault = faults[0]
        if not fault["loc"]:  # a name that is no text, such as half of a surrogate pair
            return WrongCall(f"an argument's name cannot be read: {self.takes}")
        name = str(fault["loc"][0])
        own = fault["msg"] if fault["msg"].startswith("must ") else ""
        place = [part for part in fault["loc"][1:] if isinstance(part, int)]
        inside = fault["input"] if place else given.get(name)
        return self._wrong(name, inside, own, place)

    def _wrong(
        self, name: str, value: Any, own: str = "", place: list[int] | None = None
    ) -> WrongValue:
        wanted = own or f"must be {expected(self.parameters['properties'][name])}"
        at = "".join(f"[{i}]" for i in place or ())
        also = f" (the fault is at {name}{at})" if at else ""
        return WrongValue(f"argument {name!r} {wanted}{also}, got {_shown(value)}")

    def _unknown(self, name: str) -> WrongCall:
        near = did_you_mean(name[:80], self._types) if self._types else ""
        near = near if near.startswith("Did") else ""
        return WrongCall(f"unknown argument {shorten(name)!r}: {self.takes}. {near}".strip())

    @property
    def takes(self) -> str:
        """The parameters in a sentence: "get_tasks takes project_id"."""
        names = [n if n in self._required else f"{n} (optional)" for n in self._types]
        return f"{self.name} takes {', '.join(names) or 'no arguments'}"


def _shown(value: Any) -> str:
    """Quote a value; a container is only named, since it may be long."""
    if isinstance(value, list | dict):
        kind = "list" if isinstance(value, list) else "object"
        return f"{'an' if kind == 'object' else 'a'} {kind} of {len(value)}"
    return shorten(repr(value[:400] if isinstance(value, str) else value))
