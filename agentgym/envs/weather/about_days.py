"""Questions about the days of one place."""

from __future__ import annotations

from datetime import date
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.tools import Plan
from agentgym.envs.weather import phrases
from agentgym.envs.weather.asking import (
    MEASURES,
    Learnt,
    Setting,
    When,
    ask_days,
    ask_home,
    ask_spot,
    ask_today,
    called,
    finish,
    looked_up,
    place_of,
)
from agentgym.envs.weather.climate import FIRST
from agentgym.envs.weather.places import Place, load_places
from agentgym.envs.weather.question import (
    DATE,
    EXACT,
    NUMBER,
    ONE_DECIMAL,
    YES_NO,
    Ask,
    Question,
    said,
    yes_no,
)


def some_place(draw: Draw) -> str:
    """Draw a place by its full name."""
    return draw.pick(load_places()).full_name


def subject(ask: Ask, setting: Setting) -> Place:
    """Return the place a question is about: the one it names, or the user's."""
    return place_of(ask["place"]) if ask["place"] else setting.home


def where(ask: Ask) -> str:
    """Return where, in words: "here" for the user's place."""
    return f"in {called(place_of(ask['place']))}" if ask["place"] else "here"


def begin(ask: Ask, when: When) -> Learnt:
    """Learn the date, where the words of the question need it, and the coordinates."""
    today = None if when.dated else (yield from ask_today())
    if ask["place"]:
        return today, (yield from ask_spot(place_of(ask["place"])))
    return today, (yield from ask_home())


def draw_place(draw: Draw, one_in: int = 2) -> str:
    """Draw the user's own place ("") or, otherwise, one by name."""
    return "" if draw.below(one_in) == 0 else some_place(draw)


class Value(Question):
    """One value on one day, counted from today."""

    kind = "value"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a measure, a place and a day before or after today."""
        when = draw.pick([phrases.past_day, phrases.coming_day])(draw, setting.today)
        if draw.below(5) == 0:
            when = phrases.this_day(setting.today)
        measure = draw.pick(["highest", "lowest", "mean", "rain"])
        ask: dict[str, Any] = {"place": draw_place(draw), "measure": measure, "when": when.shown()}
        if measure == "rain" and not self._value(ask, setting):
            return None
        return ask

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what, when = MEASURES[ask["measure"]], ask["when"]["words"]
        verb = tensed(when, "was", "is", "will be")
        return f"What {verb} the {what.words} {where(ask)} {when}, in {what.unit}? {NUMBER}"

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the value."""
        return {"number": self._value(ask, setting), "within": EXACT}

    def plan(self, ask: Ask) -> Plan:
        """Date, place, the day."""
        when, measure = When.read(ask["when"]), ask["measure"]
        today, spot = yield from begin(ask, when)
        words = f"{capital(when.words)} is {when.start}; I ask for the {MEASURES[measure].words}."
        values = yield from ask_days(spot, measure, when, today, words)
        value = values[when.start]
        yield from finish(value, f"The {MEASURES[measure].words} on {when.start} is {value}.")

    @staticmethod
    def _value(ask: Ask, setting: Setting) -> float:
        return looked_up(subject(ask, setting), ask["measure"], When.read(ask["when"]))[0]


class Archive(Value):
    """One value at a named place on a date that is written out."""

    kind = "archive"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a measure, a place and a date."""
        when = phrases.old_day(draw, setting.today, FIRST)
        measure = draw.pick(["highest", "lowest", "mean", "rain", "air"])
        ask: dict[str, Any] = {"place": some_place(draw), "measure": measure, "when": when.shown()}
        return None if measure == "rain" and not self._value(ask, setting) else ask

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what, when = MEASURES[ask["measure"]], ask["when"]["words"]
        if ask["measure"] == "air":
            return f"How high was the European {what.words} {where(ask)} {when}? {NUMBER}"
        return f"What was the {what.words} {where(ask)} {when}, in {what.unit}? {NUMBER}"


class WhichDay(Question):
    """Which of two or three dates of last month had most of something."""

    kind = "which-day"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw the days; the largest value must stand out."""
        month = phrases.month_before(setting.today)
        days = sorted(draw.sample(range(1, 29), draw.between(2, 3)))
        ask: dict[str, Any] = {
            "place": draw_place(draw),
            "measure": draw.pick(["highest", "mean", "rain", "air"]),
            "days": [str(month.replace(day=d)) for d in days],
        }
        values = sorted(self._values(ask, setting).values())
        return ask if values[-1] - values[-2] >= MEASURES[ask["measure"]].apart else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        days = [phrases.ordinal(date.fromisoformat(d).day) for d in ask["days"]]
        listed = f"{', the '.join(days[:-1])} or the {days[-1]}"
        what = {
            "highest": "reached the highest temperature",
            "mean": "was the warmest on average",
            "rain": "had the most rain",
            "air": "had the highest air quality index",
        }[ask["measure"]]
        return f"Which day of last month {what} {where(ask)}: the {listed}? {DATE}"

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the day of the largest value."""
        values = self._values(ask, setting)
        return {"date": max(values, key=values.__getitem__)}

    def plan(self, ask: Ask) -> Plan:
        """Date, place, and one call that spans the days."""
        days = [date.fromisoformat(d) for d in ask["days"]]
        span = When("", days[0], days[-1])
        today, spot = yield from begin(ask, span)
        why = f"One call from {days[0]} to {days[-1]} tells all the days in question."
        values = yield from ask_days(spot, ask["measure"], span, today, why)
        best = max(days, key=values.__getitem__)
        told = ", ".join(f"{d}: {values[d]}" for d in days)
        yield from finish(str(best), f"The values are {told}, so it is {best}.")

    @staticmethod
    def _values(ask: Ask, setting: Setting) -> dict[str, float]:
        place = subject(ask, setting)
        days = [date.fromisoformat(d) for d in ask["days"]]
        values = [looked_up(place, ask["measure"], When("", d, d))[0] for d in days]
        return dict(zip(ask["days"], values, strict=True))


class YearAgo(Question):
    """Today against the same day a year ago."""

    kind = "year-ago"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a measure and whether to ask which, or by how much."""
        ask: dict[str, Any] = {
            "place": draw_place(draw),
            "measure": draw.pick(["highest", "lowest", "mean"]),
            "much": bool(draw.below(2)),
        }
        return ask if abs(self._difference(ask, setting)) >= 0.5 else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what = MEASURES[ask["measure"]].words
        if ask["much"]:
            return (
                f"By how many degrees Celsius does today's {what} {where(ask)} differ from that of "
                f"the same day last year? {ONE_DECIMAL}"
            )
        return f"Is today's {what} {where(ask)} above that of the same day last year? {YES_NO}"

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the difference, without its sign, or yes or no."""
        difference = self._difference(ask, setting)
        if ask["much"]:
            return {"number": round(abs(difference), 1), "within": EXACT}
        return yes_no(difference > 0)

    def plan(self, ask: Ask) -> Plan:
        """Date, place, today, then a year ago."""
        today, spot = yield from begin(ask, phrases.this_day(FIRST))
        before = phrases.year_before(today)
        now = yield from ask_days(
            spot, ask["measure"], When("", today, today), today, "First today's value."
        )
        then = yield from ask_days(
            spot, ask["measure"], When("", before, before), today, f"Then that of {before}."
        )
        difference = round(now[today] - then[before], 1)
        answer = abs(difference) if ask["much"] else said(difference > 0)
        yield from finish(answer, f"{now[today]} today against {then[before]} on {before}.")

    @staticmethod
    def _difference(ask: Ask, setting: Setting) -> float:
        place, today = subject(ask, setting), setting.today
        before = phrases.year_before(today)
        now, then = (looked_up(place, ask["measure"], When("", d, d))[0] for d in (today, before))
        return now - then


def tensed(words: str, past: str, present: str, future: str) -> str:
    """Return the form of a verb that goes with the words for a day or a range.

    >>> tensed("yesterday", "was", "is", "will be"), tensed("tomorrow", "was", "is", "will be")
    ('was', 'will be')
    """
    if any(word in words for word in ("tomorrow", "next", "from now", "coming")):
        return future
    return present if words == "today" else past


def capital(text: str) -> str:
    """Return text with a capital first letter."""
    return text[:1].upper() + text[1:]
