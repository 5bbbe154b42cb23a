"""Infos of many environments as one dictionary of arrays, the way Gymnasium wants them.

Each key holds an array with a place for every environment, and `_key` a mask of the places that are
filled. The type of an array is decided once all its values are known, not by the first of them, so
that a number beside a None is never an error and never cut to a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def batch_infos(infos: Mapping[int, Mapping[str, Any]], num_envs: int) -> dict[str, Any]:
    """Return the infos of some environments in Gymnasium's layout.

    Args:
        infos: the info of each environment that has one, by index.
        num_envs: the length of the arrays.

    Returns:
        For every key an array of shape (num_envs,) and a mask under `_key`; where all values are
        dictionaries, a dictionary of such arrays.

    >>> batched = batch_infos({0: {"score": 0.5, "task_id": "maze_3"}}, 2)
    >>> batched["score"], batched["_score"], batched["task_id"]
    (array([0.5, 0. ]), array([ True, False]), array(['maze_3', None], dtype=object))
    """
    columns: dict[str, dict[int, Any]] = {}
    for index, info in infos.items():
        for key, value in info.items():
            columns.setdefault(key, {})[index] = value
    batched: dict[str, Any] = {}
    for key, values in columns.items():
        if key != "final_obs" and all(isinstance(v, dict) for v in values.values()):
            batched[key] = batch_infos(values, num_envs)
        else:
            batched[key] = _column(values, num_envs)
        mask = np.zeros(num_envs, dtype=np.bool_)
        mask[list(values)] = True
        batched[f"_{key}"] = mask
    return batched


def _column(values: Mapping[int, Any], num_envs: int) -> NDArray[Any]:
    """Return an array that holds every value as it is, numbers in an array of numbers."""
    column: NDArray[Any] = np.zeros(num_envs, dtype=_dtype(list(values.values())))
    if column.dtype == object:
        column.fill(None)
    for index, value in values.items():
        column[index] = value
    return column


def _dtype(values: list[Any]) -> Any:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return bool
    if kinds == {int}:
        return int if all(-(2**63) <= value < 2**63 for value in values) else object
    if kinds <= {int, float}:
        return float
    if len(kinds) == 1:
        first = values[0]
        if isinstance(first, np.number):
            return first.dtype
        if isinstance(first, np.ndarray) and all(
            v.shape == first.shape and v.dtype == first.dtype for v in values
        ):
            return np.dtype((first.dtype, first.shape))
    return object
