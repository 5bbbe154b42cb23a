"""What the functions ask of a workbook: the local one answers it, and so does Google's.

Rows and columns count from 0. What an operation cannot do it raises as a `ToolError`, with nothing
changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from agentgym.envs.sheet.cells import Value
from agentgym.envs.sheet.sheet import Area, Entry, Grid


class Book(Protocol):
    """A workbook."""

    @property
    def names(self) -> list[str]:
        """The names of its sheets, in order."""

    def number(self, name: str) -> int:
        """Return the id of a sheet."""

    def values(self, name: str) -> Grid:
        """Return what is shown in the used area, each merged cell showing what its area does."""

    def plain(self, name: str) -> Grid:
        """Return what is shown in the used area, merged cells empty but for the first."""

    def notes(self, name: str) -> dict[tuple[int, int], str]:
        """Return the notes by place."""

    def merges(self, name: str) -> list[Area]:
        """Return the merged areas."""

    def frozen(self, name: str) -> tuple[int, int]:
        """Return how many rows and columns are frozen."""

    def delete(self, name: str) -> None:
        """Delete a sheet."""

    def freeze(self, name: str, axis: int, count: int) -> None:
        """Freeze the first rows (axis 0) or columns (axis 1)."""

    def insert(
        self, name: str, axis: int, at: int, lines: Sequence[Sequence[Value]], like_before: bool
    ) -> None:
        """Insert rows or columns."""

    def remove(self, name: str, axis: int, lines: Sequence[int]) -> None:
        """Delete rows or columns."""

    def write(self, name: str, row: int, column: int, lines: Sequence[Sequence[Entry]]) -> None:
        """Put values into cells."""

    def compute(self, name: str, formula: str) -> str:
        """Return what a formula would show."""

    def sort(self, name: str, column: int, descending: bool) -> None:
        """Sort the rows below the frozen ones."""

    def merge(self, name: str, area: Area) -> None:
        """Merge cells."""

    def set_note(self, name: str, row: int, column: int, note: str) -> None:
        """Put a note on a cell."""

    def save(self) -> Any:
        """Return a JSON copy, or None where there is none."""

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""

    def close(self) -> None:
        """Release it; twice without harm."""
