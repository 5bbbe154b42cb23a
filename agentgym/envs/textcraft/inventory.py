"""What the player carries: items and counts, in the order they were first picked up."""

from __future__ import annotations

from collections.abc import Mapping

from agentgym.envs.textcraft.recipes import spoken


class Inventory(dict[str, int]):
    """Items by name; an item of which there are none is not in it.

    >>> bag = Inventory(oak_logs=2)
    >>> str(bag)
    'Inventory: [oak logs] (2) '
    """

    def add(self, name: str, count: int) -> None:
        """Put items in."""
        self[name] = self.get(name, 0) + count

    def remove(self, items: Mapping[str, int]) -> None:
        """Take items out; they must be there."""
        for name, count in items.items():
            left = self[name] - count
            if left:
                self[name] = left
            else:
                del self[name]

    def lacks(self, items: Mapping[str, int]) -> list[tuple[str, int]]:
        """Return the (name, count asked for) of which there are fewer."""
        return [(name, n) for name, n in items.items() if self.get(name, 0) < n]

    def __str__(self) -> str:
        """The published wording, its trailing space included."""
        if not self:
            return "Inventory: You are not carrying anything."
        return "Inventory: " + "".join(f"[{spoken(name)}] ({n}) " for name, n in self.items())
