"""The forty levels, in their published order.

Official item N is played on level `N mod 40` with seed `N div 40`, so the order is part of the
task numbering and never changes. Source: AgentGym, agentenv-babyai. The engine registers one of
them, GoToObjS6, as version 1 today (the published list says v0); the level is the same: one room
of six by six cells.
"""

from __future__ import annotations

# fmt: off
LEVELS: tuple[str, ...] = (
    "GoToRedBallGrey", "GoToRedBall", "GoToRedBallNoDists", "GoToObjS6", "GoToLocalS8N7",
    "GoToObjMazeS7", "GoToImpUnlock", "GoToSeqS5R2", "GoToRedBlueBall", "GoToDoor",
    "GoToObjDoor", "Open", "OpenRedDoor", "OpenDoorLoc", "OpenRedBlueDoorsDebug",
    "OpenDoorsOrderN4Debug", "Pickup", "UnblockPickup", "PickupLoc", "PickupDistDebug",
    "PickupAbove", "PutNextLocalS6N4", "PutNextS7N4Carrying", "Unlock", "UnlockLocalDist",
    "KeyInBox", "UnlockPickupDist", "BlockedUnlockPickup", "UnlockToUnlock", "ActionObjDoor",
    "FindObjS7", "KeyCorridorS6R3", "OneRoomS20", "MoveTwoAcrossS8N9", "SynthS5R2", "SynthLoc",
    "SynthSeq", "MiniBossLevel", "BossLevel", "BossLevelNoUnlock",
)
# fmt: on
"""Names of the levels; a level's position here is its number."""

_VERSIONS = {"GoToObjS6": 1}


def gym_id(level: str) -> str:
    """Return the id under which Minigrid registers a level.

    >>> gym_id("GoToRedBall")
    'BabyAI-GoToRedBall-v0'
    """
    return f"BabyAI-{level}-v{_VERSIONS.get(level, 0)}"


def official_item(number: int) -> tuple[str, int]:
    """Return (level, seed) of an official item.

    >>> official_item(0), official_item(41)
    (('GoToRedBallGrey', 0), ('GoToRedBall', 1))
    """
    return LEVELS[number % len(LEVELS)], number // len(LEVELS)
