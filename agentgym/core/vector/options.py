"""What is given to a vector once and means something for each of its environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from agentgym.core.errors import InvalidConfig, did_you_mean
from agentgym.core.options import whole


def autoreset_mode_of(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the mode of a name.

    Raises:
        InvalidConfig: if there is no such mode.

    >>> autoreset_mode_of("SameStep")
    <AutoresetMode.SAME_STEP: 'SameStep'>
    """
    try:
        return AutoresetMode(mode)
    except ValueError:
        offer = did_you_mean(str(mode), [m.value for m in AutoresetMode])
        raise InvalidConfig(f"unknown autoreset_mode {mode!r}. {offer}") from None


def split_seed(seed: Any, num_envs: int) -> list[int | None]:
    """Return the seed of each environment.

    Args:
        seed: a number, from which environment i gets `seed + i`; a list; or None.
        num_envs: how many environments there are.

    Raises:
        InvalidConfig: if it is none of these, or a list of another length.

    >>> split_seed(7, 3)
    [7, 8, 9]
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
        if len(seed) != num_envs:
            raise InvalidConfig(f"seed must be a list of {num_envs} seeds, got {len(seed)}")
        return [None if s is None else whole("a seed", s, 0) for s in seed]
    first = whole("seed", seed, 0)
    return [first + i for i in range(num_envs)]


def split_options(
    options: Mapping[str, Any] | None, num_envs: int
) -> tuple[NDArray[np.bool_], list[dict[str, Any]]]:
    """Return which environments are to be reset, and the options of each.

    Raises:
        InvalidConfig: if the mask or the task ids are not one an environment.
    """
    if options is not None and not isinstance(options, Mapping):
        raise InvalidConfig(f'reset options are a mapping like {{"task_ids": …}}, got {options!r}')
    same = dict(options or {})
    mask = _mask(same.pop("reset_mask", None), num_envs)
    task_ids = same.pop("task_ids", None)
    if task_ids is None:
        return mask, [dict(same) for _ in range(num_envs)]
    if "task_id" in same:
        raise InvalidConfig('give "task_id" for all environments or "task_ids" for each, not both')
    if isinstance(task_ids, str) or len(task_ids) != num_envs:
        raise InvalidConfig(f'"task_ids" must be a list of {num_envs}, got {task_ids!r:.80}')
    return mask, [{**same, "task_id": task_id} for task_id in task_ids]


def _mask(given: Any, num_envs: int) -> NDArray[np.bool_]:
    if given is None:
        return np.ones(num_envs, dtype=np.bool_)
    mask = np.asarray(given)
    if mask.shape != (num_envs,) or mask.dtype != np.bool_ or not mask.any():
        raise InvalidConfig(
            f'"reset_mask" must be an array of {num_envs} truth values, one of them True at least, '
            f"got {given!r:.80}"
        )
    return mask
