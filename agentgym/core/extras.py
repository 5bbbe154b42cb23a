"""Optional dependencies, imported when first used."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from agentgym.core.errors import MissingExtra


def require(module: str, what: str, extra: str) -> ModuleType:
    """Import an optional module.

    Args:
        module: dotted name of the module.
        what: what needs it, as the subject of a sentence ("The SciWorld environment").
        extra: the extra of agentgym that installs it.

    Raises:
        MissingExtra: if the module is not installed; the message names the command that brings it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(what, extra, error.name or module) from error


def installed(module: str) -> bool:
    """Return whether a module could be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
