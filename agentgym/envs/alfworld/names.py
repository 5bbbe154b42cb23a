"""What things are called: "apple 2" for "apple_bar__minus_00_dot_41_bar_...".

The original sorts all ids as text and hands out numbers from the highest down, kind by kind, so the
first in order has the highest number. An id with "basin" anywhere in it is called by its first
part and "basin": "sink_bar_..._bar_sinkbasin" is a "sinkbasin". What has no "_bar_" keeps its id,
followed by a space.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_SIGNS = (("_bar_", "|"), ("_minus_", "-"), ("_plus_", "+"), ("_dot_", "."), ("_comma_", ","))


def name_all(ids: Iterable[str]) -> dict[str, str]:
    """Return the name of every id, the ids in sorted order.

    >>> name_all(["mug_bar_2", "mug_bar_1", "sink_bar_1_bar_sinkbasin"])
    {'mug_bar_1': 'mug 2', 'mug_bar_2': 'mug 1', 'sink_bar_1_bar_sinkbasin': 'sinkbasin 1'}
    """
    ordered = sorted(ids)
    kinds = [_kind(i) for i in ordered]
    left = Counter(kinds)
    names = {}
    for identifier, kind in zip(ordered, kinds, strict=True):
        if kind:
            names[identifier] = f"{kind} {left[kind]}"
            left[kind] -= 1
        else:
            names[identifier] = f"{_plain(identifier)} "
    return names


@lru_cache(maxsize=4096)
def _kind(identifier: str) -> str:
    """Return what an id is one of, or "" where it does not say."""
    first, bar, _ = identifier.partition("_bar_")
    if not bar:
        return ""
    first = _plain(first)
    return first + "basin" if "basin" in identifier else first


def _plain(identifier: str) -> str:
    if "_" in identifier:
        for written, sign in _SIGNS:
            identifier = identifier.replace(written, sign)
    return identifier
