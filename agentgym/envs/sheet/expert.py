"""The expert: the steps of a task one after the other, or a repair where others have been at work.

It looks at a sheet once and keeps in mind what each call answers. What several cells need is
written in one call, worked out in the head; what one cell needs is left to a formula. A row is
never written anew where it can be sorted, deleted or inserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym.envs.sheet.hand import Hand
from agentgym.envs.sheet.steps import BY_NAME
from agentgym.envs.sheet.tools import SheetTools
from agentgym.envs.sheet.workbook import Workbook
from agentgym.envs.tools import Move, Plan


def plan_of(kit: SheetTools, spec: Mapping[str, Any]) -> Plan:
    """Return a plan for the present state of a mini task.

    Args:
        kit: the workbook as it is.
        spec: the task's.
    """
    saved = kit.book.save()
    if saved is None or saved == Workbook.of(spec["book"]).save():
        return _steps(spec)
    return _repair(kit, spec)


def _steps(spec: Mapping[str, Any]) -> Plan:
    hand = Hand()
    steps = [(BY_NAME[step["name"]], dict(step["args"])) for step in spec["steps"]]
    for step, args in steps:
        yield from step.begin(hand, args)
    why = f'The goal is about "{spec["sheet"]}", so I open it.'
    hand.grid = yield from hand.look_at(spec["sheet"], why)
    for step, args in steps:
        yield from step.plan(hand, args)
    yield Move("The sheet is as it was asked.", "finish")


def _repair(kit: SheetTools, spec: Mapping[str, Any]) -> Plan:
    """Bring a sheet from wherever it is to the goal, which the expert knows."""
    hand, goal = Hand(), spec["answer"]
    why = "The sheet has been worked on, so I look at what is left to do."
    hand.grid = yield from hand.look_at(spec["sheet"], why)
    for dimension, spare in (
        ("row", range(len(goal), len(hand.grid))),
        ("col", range(len(goal[0]), len(hand.grid[0]) if hand.grid else 0)),
    ):
        if spare:
            arguments = {"dimension": dimension, "index_list": [i + 1 for i in spare]}
            yield from hand.call("There are too many lines.", "delete_batch_data", arguments)
    yield from _rewrite(hand, goal)
    yield from _finishing(kit, spec)
    yield Move("Now the sheet is as it was asked.", "finish")


def _rewrite(hand: Hand, goal: Sequence[Sequence[str]]) -> Plan:
    """Write what differs; the header on its own, since a whole sheet cannot be written at once."""
    for first, end in ((0, 1), (1, len(goal))):
        width = len(goal[0])
        hand.grid = [[*row, *[""] * (width - len(row))] for row in hand.grid]
        hand.grid += [[""] * width for _ in range(len(goal) - len(hand.grid))]
        wrong = {
            (r, c): goal[r][c]
            for r in range(first, end)
            for c in range(width)
            if hand.grid[r][c] != goal[r][c]
        }
        if wrong:
            yield from hand.change(wrong, "These values are not what they should be.")


def _finishing(kit: SheetTools, spec: Mapping[str, Any]) -> Plan:
    name, book = spec["sheet"], kit.book
    for area in spec.get("merges", ()):
        if area not in map(str, book.merges(name)):
            start, end = area.split(":")
            arguments = {"start_position": start, "end_position": end}
            yield Move("These cells belong together.", "merge_cells", arguments)
    for position, content in spec.get("notes", {}).items():
        arguments = {"position": position, "content": content}
        yield Move("The note has to be there.", "update_note", arguments)
    if book.frozen(name)[0] != spec.get("frozen", book.frozen(name)[0]):
        arguments = {"dimension": "rows", "num": spec["frozen"]}
        yield Move("The header has to be frozen.", "freeze_data", arguments)
    for other in [o for o in book.names if o not in spec.get("sheets", book.names)]:
        yield Move("This sheet has to go.", "del_sheet", {"name": other})
