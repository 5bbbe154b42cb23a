"""Which environments there are.

Every environment is registered with Gymnasium under one id, so `gymnasium.make` is the only way to
make one; this table adds what Gymnasium's spec has no room for (the short name, the extra that
installs it) and is what `agentgym list` shows. Entry points are strings: listing imports nothing.

Gymnasium's passive checker and order-enforcing wrapper are left off: `TextEnv` enforces the order
itself, and the checker here is run over every id by the tests, which costs users nothing a step.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
from gymnasium.envs.registration import load_env_creator

from agentgym.core.env import TextEnv
from agentgym.core.errors import (
    BrokenContract,
    InvalidConfig,
    MissingExtra,
    UnknownEnvironment,
    did_you_mean,
    told,
)
from agentgym.core.extras import installed


@dataclass(frozen=True, slots=True)
class EnvCard:
    """What is known of an environment before it is imported.

    Attributes:
        id: Gymnasium id ("agentgym/TextCraft-v0").
        entry_point: "module:Class".
        summary: what the agent does there, one line.
        extra: the extra of agentgym that installs it, or "".
        modules: modules that must be importable for it to run.
        listed: whether it is one of the suite's environments; what plays another environment, as a
            client of a server does, is registered without being one.
    """

    id: str
    entry_point: str
    summary: str
    extra: str = ""
    modules: tuple[str, ...] = ()
    listed: bool = True

    @property
    def short_name(self) -> str:
        """The id without namespace and version: "TextCraft"."""
        return short_name(self.id)

    @property
    def installed(self) -> bool:
        """Whether everything it needs is installed."""
        return all(installed(module) for module in self.modules)

    def require(self) -> None:
        """Do nothing where everything it needs is installed.

        Raises:
            MissingExtra: if something is not; the message names the command that brings it.
        """
        for module in self.modules:
            if not installed(module):
                raise MissingExtra(f"The {self.short_name} environment", self.extra, module)

    def load(self) -> type[TextEnv]:
        """Import and return the environment's class."""
        module, _, name = self.entry_point.partition(":")
        return cast(type[TextEnv], getattr(importlib.import_module(module), name))


_cards: dict[str, EnvCard] = {}


def register(card: EnvCard) -> None:
    """Register an environment with Gymnasium and in this table."""
    _cards[card.id] = card
    gymnasium.register(
        id=card.id,
        entry_point=card.entry_point,
        vector_entry_point=f"agentgym.core.vector.entry:{card.id}",
        disable_env_checker=True,
        order_enforce=False,
    )


def cards() -> tuple[EnvCard, ...]:
    """Return the card of every environment of the suite, in order of registration."""
    return tuple(card for card in _cards.values() if card.listed)


def registered(env_id: str) -> bool:
    """Return whether there is a card of this id, listed or not."""
    return env_id in _cards


def find_card(name: str) -> EnvCard:
    """Return the card of an id or a short name, whatever its case.

    Raises:
        UnknownEnvironment: if there is none; the message offers the nearest.

    >>> find_card("textcraft").id
    'agentgym/TextCraft-v0'
    """
    folded = name.lower()
    for card in _cards.values():
        if folded in (card.id.lower(), card.short_name.lower(), card.id.rpartition("/")[2].lower()):
            return card
    raise UnknownEnvironment("environment", name, [card.short_name for card in cards()])


def resolve_id(name: str) -> str:
    """Return the Gymnasium id of a name: a short name, an id, or "module:id" of anyone's own.

    Raises:
        UnknownEnvironment: if nothing is registered under it.
    """
    module, colon, rest = name.partition(":")
    if colon and module:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise UnknownEnvironment(
                "environment", name, [], f"The module {module!r} cannot be imported: {error}."
            ) from error
        except Exception as error:  # a mistake in somebody's own package
            raise BrokenContract(f"{module!r} cannot be imported: {told(error)}") from error
        name = rest
    if name in gymnasium.registry:
        return name
    return find_card(name).id


def portable_id(name: str) -> str:
    """Return the id by which another process, or next year's replay, can make an environment.

    An environment of one's own keeps the module that registers it ("my_package:MyEnv-v0").

    Raises:
        UnknownEnvironment: if nothing is registered under the name.
    """
    env_id = resolve_id(name)
    module = name.rpartition(":")[0]
    return f"{module}:{env_id}" if module and env_id not in _cards else env_id


def short_name(env_id: str) -> str:
    """Return an id without module, namespace and version.

    >>> short_name("agentgym/TextCraft-v0"), short_name("my_package:MyEnv-v0")
    ('TextCraft', 'MyEnv')
    """
    bare = env_id.rpartition(":")[2].rpartition("/")[2]
    return bare.rpartition("-v")[0] or bare


def make(name: str, **kwargs: Any) -> TextEnv:
    """Make an environment by id or short name.

    The same as `gymnasium.make(...).unwrapped`, with errors that say what to do.

    Args:
        name: "textcraft", "agentgym/TextCraft-v0" or "my_package:MyEnv-v0".
        kwargs: options of `TextEnv` and of the environment itself.

    Raises:
        UnknownEnvironment: if there is no such environment.
        MissingExtra: if an optional dependency is not installed.
        InvalidConfig: if it has no such option, or the option cannot have this value.
        BrokenContract: if the id is registered but is not a `TextEnv`, or cannot be made.
    """
    env_id = resolve_id(name)
    card = _cards.get(env_id)
    if card is not None:
        card.require()
    mode = kwargs.get("render_mode")
    if not isinstance(mode, str | None):  # Gymnasium would fail looking at it
        raise InvalidConfig(f"render_mode must be text such as 'ansi', got {mode!r}")
    try:
        env = gymnasium.make(env_id, **kwargs).unwrapped
    except gymnasium.error.Error:
        raise
    except Exception as error:
        _refuse_unknown_options(env_id, kwargs)
        if card is not None:
            raise
        raise BrokenContract(f"{env_id} cannot be made: {told(error)}") from error
    if not isinstance(env, TextEnv):
        raise BrokenContract(
            f"{env_id} makes a {type(env).__name__}, which is not an agentgym.TextEnv; see "
            "docs/own-environment.md for the contract"
        )
    return env


def _refuse_unknown_options(env_id: str, options: Mapping[str, Any]) -> None:
    """Name an option that the class of an environment does not take, if that is what was wrong."""
    made_by: Any = gymnasium.spec(env_id).entry_point
    try:
        made_by = load_env_creator(made_by) if isinstance(made_by, str) else made_by
    except Exception:  # the class cannot be loaded, so its options are not what was wrong
        return
    if isinstance(made_by, type) and not issubclass(made_by, TextEnv):
        return
    known = _option_names(made_by) if isinstance(made_by, type) else list(options)
    for option in options:
        if option not in known:
            told = f"{short_name(env_id)} has no option {option!r}. {did_you_mean(option, known)}"
            raise InvalidConfig(told.rstrip())


def _option_names(made_by: type) -> list[str]:
    """Return the keywords a class can be made with, those it hands on to its bases included."""
    names: list[str] = []
    for cls in made_by.__mro__:
        if "__init__" not in vars(cls):
            continue
        parameters = list(inspect.signature(vars(cls)["__init__"]).parameters.values())[1:]
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        names += [p.name for p in parameters if p.kind not in kinds]
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return names
