"""Weather: answer questions about temperature, rain, snow and air by calling functions.

The mini edition is answered by an embedded world, the same for ever; the official one by
open-meteo, whose answers the published tasks hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, Expert, Task, TaskSet
from agentgym.envs.tools import PlanExpert, Tool, ToolEnv, accepts
from agentgym.envs.tools.answers import as_list, as_number
from agentgym.envs.weather.drawing import QUESTIONS
from agentgym.envs.weather.openmeteo import OpenMeteo
from agentgym.envs.weather.places import NEAR_KM, distance_km, load_places
from agentgym.envs.weather.source import LocalSource, Source
from agentgym.envs.weather.tasks import mini_tasks, official_tasks
from agentgym.envs.weather.tools import WeatherTools

INTRODUCTION = """You answer questions about the weather by calling functions. "Here" is where the \
user is, and "today" is the user's current date; functions tell you both. Do not guess \
coordinates, dates or values: look them up."""

EXAMPLE = """Goal: Which city lies higher above the sea, Madrid or Berlin? Please answer with the \
name of the city.
Thought: The elevation function takes coordinates, so I look up Madrid first.
Action: get_latitude_longitude with Action Input: {"name": "Madrid"}
Observation: {'results': [{'name': 'Madrid', 'latitude': 40.4165, 'longitude': -3.7026, 'country': \
'Spain'}]}
Thought: Now its elevation.
Action: get_elevation with Action Input: {"latitude": 40.4165, "longitude": -3.7026}
Observation: {'elevation': [665.0]}
Thought: Then the same for Berlin.
Action: get_latitude_longitude with Action Input: {"name": "Berlin"}
Observation: {'results': [{'name': 'Berlin', 'latitude': 52.5244, 'longitude': 13.4105, 'country': \
'Germany'}]}
Action: get_elevation with Action Input: {"latitude": 52.5244, "longitude": 13.4105}
Observation: {'elevation': [43.0]}
Thought: Madrid lies at 665 m, Berlin at 43 m.
Action: finish with Action Input: {"answer": "Madrid"}"""


class WeatherEnv(ToolEnv):
    """Answer questions about the weather; see `ToolEnv` for the options."""

    name = "weather"
    title = "Weather"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(15, "384 questions of 16 kinds over 422 places, written by us."),
        "official": Edition(10, "The 343 published questions, answered by open-meteo.", False),
    }
    backends: ClassVar[Mapping[str, tuple[str, ...]]] = {"mini": ("local",), "official": ("live",)}
    toolkit = WeatherTools
    introduction = INTRODUCTION
    example = EXAMPLE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        live = self.backend == "live"
        self._source: Source = OpenMeteo(self.cassette) if live else LocalSource()

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return official_tasks(data_dir) if edition == "official" else mini_tasks()

    def _open(self, task: Task) -> WeatherTools:
        today = date.fromisoformat(task.spec["today"])
        strict = self.edition != "official"
        return WeatherTools(self._source, today, task.spec["location"], strict)

    def _is_right(self, task: Task, arguments: Mapping[str, Any]) -> bool:
        """Return whether the answer is right; a point is within 50 km, as published."""
        answer, given = task.spec["answer"], arguments.get("answer")
        if "point" not in answer:
            return accepts(answer, given)
        numbers = [as_number(value) for value in as_list(given) or ()]
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            return False
        return distance_km(numbers[0], numbers[1], *answer["point"]) <= NEAR_KM

    def _reaches(self, subgoal: Any, name: str, arguments: Mapping[str, Any], result: Any) -> bool:
        """Return whether a call tells what a subgoal's call tells: the place, and all its days."""
        if name != subgoal["call"]:
            return False
        wanted = subgoal["arguments"]
        if arguments == wanted:
            return True
        for suffix in ("", "1", "2"):
            if f"latitude{suffix}" in wanted:
                ends = (arguments, wanted)
                points = [p[f"{axis}{suffix}"] for p in ends for axis in ("latitude", "longitude")]
                if distance_km(*points) > NEAR_KM:
                    return False
        if "start_date" in wanted:
            return bool(
                arguments["start_date"] <= wanted["start_date"]
                and arguments["end_date"] >= wanted["end_date"]
            )
        named = str(wanted.get("name", "")).casefold()
        return not named or str(arguments["name"]).casefold().startswith(named)

    def _make_expert(self) -> Expert:
        assert self.task is not None
        ask = self.task.spec.get("ask")
        if ask is None:
            raise NotImplementedError("Weather has an expert for the mini edition's questions")
        question = QUESTIONS[self.task.kind]
        return PlanExpert(self, lambda: question.plan(ask))

    def _sample_arguments(self, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
        """Draw arguments that go together: coordinates of places, days around today."""
        assert self.task is not None
        drawn = super()._sample_arguments(chosen, rng)
        places, today = load_places(), date.fromisoformat(self.task.spec["today"])
        for suffix in ("", "1", "2"):
            if f"latitude{suffix}" in drawn:
                place = places[int(rng.integers(len(places)))]
                drawn[f"latitude{suffix}"] = place.latitude
                drawn[f"longitude{suffix}"] = place.longitude
        if "name" in drawn:
            drawn["name"] = places[int(rng.integers(len(places)))].name
        if "start_date" in drawn:
            ahead = chosen.name.endswith("forecast")
            start = today + timedelta(int(rng.integers(0, 20)) * (1 if ahead else -1))
            end = start + timedelta(int(rng.integers(0, 7)))
            drawn["start_date"] = str(start)
            drawn["end_date"] = str(end if ahead else min(end, today))
        if "current_date" in drawn:
            drawn["current_date"] = str(today)
        return drawn

    def _close(self) -> None:
        super()._close()
        if isinstance(self._source, OpenMeteo):
            self._source.close()
