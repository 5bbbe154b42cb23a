"""Where published data lies.

The *mini* edition of an environment is inside the package. The *official* edition may need files
the package cannot carry; they are looked for in one folder, one subfolder an environment.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentgym.core.errors import MissingData

DATA_VARIABLE = "AGENTGYM_DATA"
CACHE_VARIABLE = "AGENTGYM_CACHE"


def data_root(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the data folder: the argument, else `$AGENTGYM_DATA`, else the user's cache."""
    chosen = folder or os.environ.get(DATA_VARIABLE)
    return Path(chosen).expanduser() if chosen else cache_root() / "data"


def cache_root() -> Path:
    """Return the folder for what can be made again: `$AGENTGYM_CACHE` or `~/.cache/agentgym`."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "agentgym"


def find_data(name: str, *files: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the published files of an environment.

    Args:
        name: the environment's name ("webshop"), which is also the subfolder's.
        files: the files that must be there.
        folder: where to look instead of the default.

    Raises:
        MissingData: if a file is not there; the message names the place and what to do.
    """
    place = data_root(folder) / name
    missing = [f for f in files if not (place / f).exists()]
    if missing:
        raise MissingData(
            f"the official edition of {name} needs {', '.join(missing)} in {place}. Set "
            f"{DATA_VARIABLE} to the folder that holds '{name}/', or run 'agentgym data fetch "
            f"{name}' on a connected machine. The mini edition needs nothing."
        )
    return place
