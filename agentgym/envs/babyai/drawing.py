"""The whole world as text, for people."""

from __future__ import annotations

from typing import Any

_AGENT = (">", "v", "<", "^")
_THINGS = {"key": "K", "ball": "O", "box": "B"}
_DOORS = {"open": "_", "closed": "D", "locked": "L"}
_LEGEND = (
    "> v < ^ you   K key   O ball   B box   D closed, L locked, _ open door; "
    "with the color's first letter (grey: e)"
)


def draw(world: Any) -> str:
    """Return the goal, the grid, what is carried and a legend.

    Args:
        world: a Minigrid level.
    """
    x, y = (int(n) for n in world.agent_pos)
    rows = [
        " ".join(
            f"{_AGENT[world.agent_dir]} " if (i, j) == (x, y) else _tile(world.grid.get(i, j))
            for i in range(world.width)
        ).rstrip()
        for j in range(world.height)
    ]
    held = world.carrying
    carrying = f"Carrying: {held.color} {held.type}" if held else "Carrying: nothing"
    return "\n".join([f"Goal: {world.mission}", *rows, carrying, _LEGEND])


def _tile(thing: Any) -> str:
    if thing is None:
        return " ."
    if thing.type == "wall":
        return "##"
    # Green and grey begin alike.
    color = "e" if thing.color == "grey" else thing.color[0]
    if thing.type == "door":
        state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
        return _DOORS[state] + color
    return f"{_THINGS.get(thing.type, thing.type[0].upper())}{color}"
