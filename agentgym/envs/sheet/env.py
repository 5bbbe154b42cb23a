"""Sheet: change a spreadsheet until it is as asked, one call at a time.

The score is the best share of matching cells so far, as published; success is strict and judged
when `finish` is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, Expert, Task, TaskSet
from agentgym.core.errors import InvalidConfig
from agentgym.envs.sheet.expert import plan_of
from agentgym.envs.sheet.google import GoogleBook
from agentgym.envs.sheet.official import find_workbook, read_workbook
from agentgym.envs.sheet.positions import position_of
from agentgym.envs.sheet.score import is_done, matched
from agentgym.envs.sheet.tasks import mini_tasks, official_tasks
from agentgym.envs.sheet.tools import SheetTools
from agentgym.envs.sheet.workbook import Workbook
from agentgym.envs.tools import Plan, PlanExpert, Tool, ToolEnv

INTRODUCTION = """You work on spreadsheets. Open the sheet that the goal names before anything \
else. Rows and columns count from 1, and a cell is named in A1 notation: column letter, then row \
number. The first row is usually the header: freeze it before you sort, or it is sorted with the \
rest. Do what the goal asks and change nothing else; call finish once it is as it should be."""

EXAMPLE = """Goal: Please raise the price of the tea in "Shop" by 0.50.
Thought: I open the sheet first.
Action: open_sheet with Action Input: {"name": "Shop"}
Observation: <Worksheet 'Shop' id:0>
Thought: I need to see where the tea stands and what it costs.
Action: get_all_values with Action Input: {}
Observation: [['Item', 'Price'], ['Coffee', '4.20'], ['Tea', '3.10']]
Thought: The tea is in row 3 and costs 3.10, so the new price is 3.60.
Action: update_cell with Action Input: {"position": "B3", "value": 3.6}
Observation: [['Item', 'Price'], ['Coffee', '4.20'], ['Tea', '3.60']]
Thought: That was all.
Action: finish with Action Input: {}"""


class SheetEnv(ToolEnv):
    """Change a sheet until it is as asked; see `ToolEnv` for the options."""

    name = "sheet"
    title = "Sheet"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(
            15, "Sheets of our own: sales, grades, stock, budgets, leagues and others."
        ),
        "official": Edition(15, "AgentBoard's tasks over its workbook, which have to be brought."),
    }
    toolkit = SheetTools
    introduction = INTRODUCTION
    example = EXAMPLE
    backends: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "mini": ("local", "live"),
        "official": ("local", "live"),
    }

    kit: SheetTools

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._begun: dict[int, Workbook] = {}  # by task; their sheets never change and are shared

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return official_tasks(data_dir) if edition == "official" else mini_tasks()

    def _workbook(self, task: Task) -> Workbook:
        if self.edition != "official":
            if task.index not in self._begun:
                self._begun[task.index] = Workbook.of(task.spec["book"])
            return Workbook(list(self._begun[task.index].sheets.values()))
        path = find_workbook(self.data_dir)
        book = Workbook(read_workbook(path))
        if task.spec["sheet"] not in book.names:
            raise InvalidConfig(
                f"{path} has no sheet {task.spec['sheet']!r}, which {task.id} asks for"
            )
        return book

    def _open(self, task: Task) -> SheetTools:
        self._leave()
        book = self._workbook(task)
        if self.backend != "live":
            return SheetTools(book, task.spec["sheet"])
        if self.cassette is not None:
            self.cassette.stateful = True
        return SheetTools(
            GoogleBook(book, f"agentgym {task.id}", self.cassette), task.spec["sheet"]
        )

    def _is_right(self, task: Task, arguments: Mapping[str, Any]) -> bool:
        return self.kit.seen and is_done(self.kit, task.spec)

    def _progress(self, task: Task, found: Tool, right: bool) -> float:
        """Return the best share of matching cells of the task's sheet since it was opened."""
        name = task.spec["sheet"]
        if not self.kit.seen or name not in self.kit.book.names:
            return self._score
        return max(self._score, matched(self.kit.book.values(name), task.spec["answer"]))

    def _make_expert(self) -> Expert:
        assert self.task is not None
        if "steps" not in self.task.spec:
            raise NotImplementedError(
                "Sheet's expert plays mini tasks; a published goal is only text"
            )
        return PlanExpert(self, self._plan)

    def _plan(self) -> Plan:
        assert self.task is not None
        return plan_of(self.kit, self.task.spec)

    def _sample_arguments(self, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
        """Draw arguments; sheets that exist, and cells near those in use."""
        drawn = super()._sample_arguments(chosen, rng)
        if "name" in drawn:
            names = self.kit.book.names
            drawn["name"] = names[int(rng.integers(len(names)))]
        for key in drawn:
            if key.endswith("position"):
                drawn[key] = position_of(int(rng.integers(12)), int(rng.integers(6)))
        return drawn

    def _leave(self) -> None:
        kit = getattr(self, "kit", None)
        if kit is not None:
            kit.close()

    def _close(self) -> None:
        self._leave()
        super()._close()
