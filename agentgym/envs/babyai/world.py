"""Minigrid's levels, built bare.

A world is an unwrapped Minigrid level: its rooms, its rules, its verifier and its reward are
Minigrid's own. Only the picture observation, most of the cost of a step, is not made, because
the text is read from the grid itself (`view`). This module imports Minigrid: it is loaded by
`BabyAIEnv` once `require` has found the package there.
"""

from __future__ import annotations

import copy
import os
from functools import cache
from typing import Any

# pygame, which Minigrid imports, greets every importer on standard output unless told not to.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import gymnasium
import minigrid  # noqa: F401  (registers the levels)
from gymnasium.envs.registration import load_env_creator
from minigrid.core.world_object import Wall
from minigrid.envs.babyai.core import verifier
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling, RoomGridLevel

from agentgym.core.errors import InvalidConfig
from agentgym.envs.babyai.levels import gym_id

World = Any
"""An unwrapped Minigrid level; Minigrid carries no types that a checker could use."""


def build(level: str, seed: int) -> World:
    """Return a level at its start; everything in it follows from the seed.

    Args:
        level: one of `LEVELS`.
        seed: seed of the level's own generator.

    Raises:
        InvalidConfig: if Minigrid has been told to judge by other rules.
    """
    if verifier.use_done_actions:
        raise InvalidConfig(
            "BABYAI_DONE_ACTIONS is set in the environment, and under it Minigrid ends a mission "
            "only by an action that BabyAI does not have; unset it"
        )
    world_class, arguments = _bare(level)
    world = world_class(**arguments)
    world.reset(seed=seed)
    return world


def clone(world: World) -> World:
    """Return an independent copy of a world, in which moves can be tried."""
    shared = [world.observation_space, world.action_space, world.actions]
    shared += [cell for cell in world.grid.grid if isinstance(cell, Wall)]
    return copy.deepcopy(world, {id(thing): thing for thing in shared})


@cache
def _bare(level: str) -> tuple[Any, dict[str, Any]]:
    """Return the class of a level without its picture, and the arguments to make it with."""
    spec = gymnasium.spec(gym_id(level))
    assert isinstance(spec.entry_point, str)
    level_class = load_env_creator(spec.entry_point)

    class Bare(level_class):  # type: ignore[misc, valid-type]
        def gen_obs(self) -> dict[str, Any]:
            return {}

        def _gen_grid(self, width: int, height: int) -> None:
            # The same attempts as Minigrid makes, without a line on standard output for each
            # one that is rejected.
            while True:
                try:
                    super(RoomGridLevel, self)._gen_grid(width, height)
                    self.gen_mission()
                    self.validate_instrs(self.instrs)
                except (RecursionError, RejectSampling):
                    continue
                break
            self.mission = self.surface = self.instrs.surface(self)

    Bare.__name__ = Bare.__qualname__ = level
    return Bare, dict(spec.kwargs)
