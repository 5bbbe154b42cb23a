"""A tool environment as small as one can be: a shelf of boxes that hold numbers of things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import gymnasium
from pydantic import Field

from agentgym.core import Edition, Expert, Task, TaskSet
from agentgym.envs.tools import (
    Date,
    Latitude,
    Move,
    NotFound,
    Plan,
    PlanExpert,
    Text,
    ToolEnv,
    Tools,
    WrongValue,
    tool,
)

Box = Annotated[str, Field(examples=["red", "blue", "green"])]


class ShelfTools(Tools):
    """The shelf of one episode."""

    def __init__(self, boxes: Mapping[str, int]) -> None:
        self.boxes = dict(boxes)

    @tool
    def count(self, box: Box) -> int:
        """Count what is in a box.

        Args:
            box: the box's colour

        Returns:
            how many things it holds
        """
        if box not in self.boxes:
            raise NotFound(f"there is no box {box!r}; there are {', '.join(self.boxes)}")
        return self.boxes[box]

    @tool
    def put(self, box: Box, things: Annotated[int, Field(ge=1, le=100)]) -> dict[str, Any]:
        """Put things into a box.

        Args:
            box: the box's colour
            things: how many
        """
        self.count(box)
        if self.boxes[box] + things > 1000:
            raise WrongValue(f"argument 'things' must leave at most 1000 in {box}, got {things}")
        self.boxes[box] += things
        return {"box": box, "holds": self.boxes[box]}

    @tool
    def describe(
        self,
        order: Literal["asc", "des"],
        place: Latitude = 0.0,
        since: Date | None = None,
        names: list[Text] | None = None,
    ) -> list[str]:
        """List the boxes; it takes arguments of many kinds,
        over two lines.

        Args:
            order: how they are sorted
            place: where
            since: from
                which day
            names: which boxes
        """
        return sorted(names or self.boxes, reverse=order == "des")

    def save(self) -> Any:
        return dict(self.boxes)

    def load(self, saved: Any) -> None:
        self.boxes = dict(saved)


class ShelfEnv(ToolEnv):
    """Count things in boxes."""

    name = "shelf"
    title = "Shelf"
    editions: ClassVar[Mapping[str, Edition]] = {"mini": Edition(6, "Written for the tests.")}
    toolkit = ShelfTools
    introduction = "You look after a shelf of boxes."
    example = "Goal: How many things are in red?\nAction: count with Action Input: {...}"

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        rows = []
        for i in range(24):
            boxes = {"red": i, "blue": 2 * i, "green": 7}
            spec = {
                "goal": "How many things are in red and blue together?",
                "boxes": boxes,
                "answer": {"number": 3 * i},
                "subgoals": [{"call": "count", "arguments": {"box": b}} for b in ("red", "blue")],
            }
            rows.append(("eval" if i < 12 else "train", "sum", spec))
        return TaskSet.build(cls.name, edition, "1", rows)

    def _open(self, task: Task) -> ShelfTools:
        return ShelfTools(task.spec["boxes"])

    def _make_expert(self) -> Expert:
        return PlanExpert(self, self._plan)

    def _plan(self) -> Plan:
        red = yield Move("I look into red first.", "count", {"box": "red"})
        blue = yield Move("Then into blue.", "count", {"box": "blue"})
        yield Move(f"{red} and {blue} make the answer.", "finish", {"answer": red + blue})


# With Gymnasium alone, not in the suite's own table: other tests go through that.
gymnasium.register(
    "tests/Shelf-v0", "tests.envs.toy_tools:ShelfEnv", disable_env_checker=True, order_enforce=False
)
