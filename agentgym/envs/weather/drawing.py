"""How the mini tasks are drawn: the kinds of questions, in turn, over settings by chance.

A task is kept where its answer is clear and no other task asks the same. The tasks are drawn by
`scripts/weather_tasks.py` and frozen in `data/tasks.json`; a test draws them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.weather import about_days, about_places, about_ranges, about_steps
from agentgym.envs.weather.asking import Setting
from agentgym.envs.weather.places import find_places, load_places
from agentgym.envs.weather.question import Question
from agentgym.envs.weather.source import LocalSource
from agentgym.envs.weather.tools import WeatherTools

QUESTIONS: Mapping[str, Question] = {
    q.kind: q
    for q in (
        about_days.Value(),
        about_days.Archive(),
        about_days.WhichDay(),
        about_ranges.ExtremeDay(),
        about_ranges.Aggregate(),
        about_ranges.FirstDay(),
        about_days.YearAgo(),
        about_places.TwoPlaces(),
        about_places.Distance(),
        about_places.Nearest(),
        about_places.Elevation(),
        about_places.AirLevel(),
        about_steps.HigherThenDay(),
        about_steps.NearestThenDay(),
        about_steps.Conditional(),
        about_steps.Namesakes(),
    )
}
"""The kinds of questions by name."""

TRAIN, EVAL = 320, 64
FIRST_TODAY, LAST_TODAY = date(2023, 2, 15), date(2024, 10, 31)
"""Between these days there is a year behind and two months ahead."""

Row = tuple[str, str, dict[str, Any]]


def draw_rows() -> list[Row]:
    """Return the mini tasks as (split, kind, spec)."""
    seen: set[str] = set()
    evals = list(_rows("eval", EVAL, seen))
    trains = list(_rows("train", TRAIN, seen))
    return Draw("weather mini 1 order").shuffled(evals + trains)


def _rows(split: str, count: int, seen: set[str]) -> Iterator[Row]:
    kinds = list(QUESTIONS.values())
    for i in range(count):
        question = kinds[i % len(kinds)]
        draw = Draw(f"weather mini 1 {split} {i}")
        while True:
            spec = _spec(question, draw)
            if spec is not None and spec["goal"] not in seen:
                break
        seen.add(spec["goal"])
        yield split, question.kind, spec


def _spec(question: Question, draw: Draw) -> dict[str, Any] | None:
    days = (LAST_TODAY - FIRST_TODAY).days
    today = FIRST_TODAY + timedelta(draw.below(days + 1))
    home = draw.pick(_homes())
    setting = Setting(today, find_places(home)[0])
    ask = question.draw(draw, setting)
    if ask is None:
        return None
    return {
        "goal": question.goal(ask),
        "today": str(today),
        "location": home,
        "ask": dict(ask),
        "answer": question.answer(ask, setting),
        "subgoals": subgoals(question, ask, setting),
    }


def subgoals(question: Question, ask: Mapping[str, Any], setting: Setting) -> list[dict[str, Any]]:
    """Return the calls a question rests on: those of the expert's plan, without the last."""
    kit = WeatherTools(LocalSource(), setting.today, setting.home.name)
    plan, calls = question.plan(ask), []
    move = next(plan)
    while move.name != "finish":
        calls.append({"call": move.name, "arguments": dict(move.arguments)})
        move = plan.send(kit.call(move.name, move.arguments))
    return calls


@cache
def _homes() -> tuple[str, ...]:
    """Return the names that one place has to itself, so that a user's place is clear."""
    return tuple(p.name for p in load_places() if len(find_places(p.name)) == 1)
