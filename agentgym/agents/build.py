"""Agents from text: what a command line, a configuration file and a run's record can name.

The text is `KIND` or `KIND:WHAT`, and may carry options as a query: "openai:gpt-4o?temperature=0".
A kind that is a dotted module names your own class: "my_package.agents:MyAgent". Nothing heavy is
imported before an agent that needs it is built.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym.agents.base import Agent, ChatAgent
from agentgym.core.errors import InvalidConfig, UnknownName, did_you_mean
from agentgym.core.text import parse_json


class UnknownAgent(UnknownName):
    """No agent is known under this name."""


@dataclass(frozen=True, slots=True)
class AgentKind:
    """One kind of agent.

    Attributes:
        name: what comes before the colon.
        entry_point: "module:Class".
        what: what comes after the colon ("MODEL"), or "" if nothing does.
        about: one line for a list.
    """

    name: str
    entry_point: str
    what: str
    about: str

    @property
    def usage(self) -> str:
        """How it is written: "openai:MODEL"."""
        return f"{self.name}:{self.what}" if self.what else self.name


KINDS = (
    AgentKind("expert", "agentgym.agents.expert:ExpertAgent", "", "the environment's own expert"),
    AgentKind("random", "agentgym.agents.random:RandomAgent", "", "draws from what can be done"),
    AgentKind(
        "rule", "agentgym.agents.rule:RuleAgent", "", "the environment's rule, if it has one"
    ),
    AgentKind("human", "agentgym.agents.human:HumanAgent", "", "you, at the terminal"),
    AgentKind("replay", "agentgym.agents.replay:ReplayAgent", "PATH", "a record's actions again"),
    AgentKind(
        "openai", "agentgym.agents.openai:OpenAIAgent", "MODEL", "a chat-completions endpoint"
    ),
    AgentKind("hf", "agentgym.agents.hf:HFAgent", "MODEL", "a transformers model, in process"),
    AgentKind(
        "llamacpp", "agentgym.agents.llamacpp:LlamaCppAgent", "MODEL", "a GGUF file, in process"
    ),
    AgentKind("vllm", "agentgym.agents.vllm:VLLMAgent", "MODEL", "vLLM's engine, in process"),
)


def kinds() -> tuple[AgentKind, ...]:
    """Return the kinds of agents that can be built by name."""
    return KINDS


def build_agent(text: str, **options: Any) -> Agent | ChatAgent:
    """Build an agent from text.

    Args:
        text: "expert", "random", "rule", "human", "replay:PATH", "openai:MODEL", "hf:MODEL",
            "llamacpp:MODEL", "vllm:MODEL" or "my_package.module:MyAgent".
        options: the class's own options; they go before those in the text.

    Raises:
        UnknownAgent: if there is no agent of this kind; the message offers the nearest.
        InvalidConfig: if an option is missing, unknown or cannot be used.
        MissingExtra: if the agent needs a package that is not installed.

    >>> build_agent("random").name
    'random'
    """
    factory, args, options = find_agent(text, **options)
    agent = factory(*args, **options)
    if not isinstance(agent, Agent | ChatAgent):
        raise InvalidConfig(
            f"{text} made a {type(agent).__name__}; derive your class from agentgym.agents.Agent "
            "(it gets observations) or ChatAgent (it gets conversations)."
        )
    return agent


def find_agent(
    text: str, **options: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Return what makes an agent, and what it is called with; nothing is made or loaded yet.

    Args:
        text: the agent, as in `build_agent`.
        options: the class's own options; they go before those in the text.

    Raises:
        UnknownAgent: if there is no agent of this kind; the message offers the nearest.
        InvalidConfig: if an option is missing or unknown.
    """
    head, query = _split(text.strip())
    options = {**query, **options}
    name, colon, what = head.partition(":")
    kind = next((k for k in KINDS if k.name == name.lower()), None)
    if kind is None:
        if colon and (("." in name) or _importable(name)):
            return _fitting(_own_class(name, what), (), options, text)
        module = f"No module {name!r} can be found here or is installed. " if colon else ""
        raise UnknownAgent(
            "agent",
            name,
            [k.name for k in KINDS],
            f"{module}Agents are written {', '.join(k.usage for k in KINDS)} or "
            "your_module:YourAgent.",
        )
    if kind.what and not what:
        raise InvalidConfig(f"say which: {kind.usage}.{_example(kind)}")
    if what and not kind.what:
        raise InvalidConfig(f"{kind.name!r} takes nothing after a colon; say just {kind.name!r}.")
    module, _, cls = kind.entry_point.partition(":")
    factory = getattr(importlib.import_module(module), cls)
    return _fitting(factory, (what,) if what else (), options, text)


def _example(kind: AgentKind) -> str:
    examples = {
        "openai": "openai:gpt-4o-mini",
        "hf": "hf:smollm2",
        "llamacpp": "llamacpp:smollm2",
        "vllm": "vllm:Qwen/Qwen2.5-7B-Instruct",
    }
    return f" For example {examples[kind.name]}." if kind.name in examples else ""


def _split(text: str) -> tuple[str, dict[str, Any]]:
    """Split "openai:m?temperature=0" into its head and its options.

    >>> _split("openai:m?temperature=0&name=mine")
    ('openai:m', {'temperature': 0, 'name': 'mine'})
    """
    head, mark, query = text.rpartition("?")
    if not mark or "=" not in query:
        return text, {}
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    return head, {key: parse_value(value) for key, value in pairs}


def parse_value(text: str) -> Any:
    """Return an option's value: JSON where it is JSON, else None, a truth value, or the text.

    >>> [parse_value(t) for t in ("0.5", "true", "None", "gpt", '["a"]')]
    [0.5, True, None, 'gpt', ['a']]
    """
    words = {"none": None, "null": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return parse_json(text)
    except ValueError:
        return text


def _importable(module: str) -> bool:
    if not module.isidentifier():
        return False
    if Path(f"{module}.py").is_file() or Path(module, "__init__.py").is_file():
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _own_class(module: str, name: str) -> Callable[..., Any]:
    """Import a user's class; modules in the working directory count, as with `python -m`."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UnknownAgent(
            "agent module", module, [k.name for k in KINDS], f"It cannot be imported: {error}."
        ) from error
    cls = getattr(loaded, name, None)
    if cls is None:
        public = [n for n, v in vars(loaded).items() if inspect.isclass(v) and n[0] != "_"]
        raise UnknownAgent("agent class", name, public, f"It was looked for in {module}.")
    if not callable(cls):
        raise InvalidConfig(f"{module}:{name} is no class and no function that makes an agent.")
    made: Callable[..., Any] = cls
    return made


def _fitting(
    factory: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], text: str
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Return a class with its options; a wrong option is named, with the nearest right one."""
    signature = inspect.signature(factory)
    parameters = signature.parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        taken = list(signature.parameters)[len(args) :]
        for option in options:
            if option not in taken:
                nearest = did_you_mean(option, taken, limit=30) or "It takes none."
                raise InvalidConfig(f"{text} has no option {option!r}. {nearest}")
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        raise InvalidConfig(f"{text}: {error}. Its options: {signature}") from error
    return factory, args, options
