"""Where published data lies.

The *mini* edition of an environment is inside the package. The *official* edition may need files
the package cannot carry; they are looked for in one folder, one subfolder an environment.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.text import numeral, parse_json

DATA_VARIABLE = "AGENTGYM_DATA"
CACHE_VARIABLE = "AGENTGYM_CACHE"
EVAL_IDS = "eval_ids.json"
"""Where an official edition looks for its published evaluation split, in its data folder."""


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


def find_eval_ids(
    name: str, size: int, folder: str | os.PathLike[str] | None = None
) -> frozenset[int] | None:
    """Return the numbers of the published evaluation tasks, or None where their list is not here.

    The list is `<data folder>/<name>/eval_ids.json`, which `agentgym data fetch agenteval` writes:
    a JSON list of numbers, of ids ("babyai_12") or of objects with an `item_id`, as AgentEval has
    them.

    Args:
        name: the environment's name, which is also the prefix of its ids.
        size: number of tasks of the edition; ids go from 0 to `size - 1`.
        folder: where to look instead of the default.

    Raises:
        InvalidConfig: if the file is there and is not such a list.
    """
    path = data_root(folder) / name / EVAL_IDS
    if not path.is_file():
        return None
    try:
        rows = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list):
            raise TypeError(f"it holds {type(rows).__name__}")
        numbers = frozenset(_number(name, row) for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidConfig(
            f'{path} must hold a JSON list of ids such as 12 or "{name}_12" ({error}). Correct it, '
            f"or delete it: the official edition then uses its stand-in split"
        ) from error
    outside = sorted(n for n in numbers if not 0 <= n < size)
    if outside:
        raise InvalidConfig(f"{path} names {name}_{outside[0]}; ids end at {name}_{size - 1}")
    return numbers


def _number(name: str, row: Any) -> int:
    text = str(row["item_id"] if isinstance(row, dict) else row)
    prefix, _, number = text.rpartition("_")
    index = numeral(number)
    if index is None or prefix.rpartition("_")[2] not in ("", name):
        raise ValueError(f"{text!r} is no id of {name}")
    return index
