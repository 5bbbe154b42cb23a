"""Questions about a range of days at one place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from statistics import fmean
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.tools import Plan
from agentgym.envs.weather import phrases
from agentgym.envs.weather.about_days import (
    begin,
    capital,
    draw_place,
    some_place,
    subject,
    tensed,
    where,
)
from agentgym.envs.weather.asking import (
    MEASURES,
    Learnt,
    Setting,
    When,
    ask_days,
    days_of,
    finish,
    looked_up,
)
from agentgym.envs.weather.climate import FIRST
from agentgym.envs.weather.question import DATE, EXACT, NUMBER, ONE_DECIMAL, ROUNDED, Ask, Question


class ExtremeDay(Question):
    """The warmest, coldest or wettest day of a range."""

    kind = "extreme-day"
    _asked = (
        ("highest", True, "reached", "reach", "the highest temperature"),
        ("lowest", False, "had", "have", "the lowest temperature"),
        ("rain", True, "had", "have", "the most rain"),
        ("mean", False, "was", "be", "the coldest on average"),
    )

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a range; the extreme must stand out."""
        measure, largest, past, coming, words = draw.pick(self._asked)
        when = draw.pick([phrases.past_range, phrases.coming_range])(draw, setting.today)
        ask: dict[str, Any] = {
            "place": draw_place(draw), "measure": measure, "largest": largest,
            "words": f"{tensed(when.words, past, past, f'will {coming}')} {words}",
            "when": when.shown(),
        }  # fmt: skip
        values = sorted(looked_up(subject(ask, setting), measure, when), reverse=largest)
        return ask if len(values) > 2 and abs(values[0] - values[1]) >= 0.3 else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        words = capital(ask["when"]["words"])
        return f"{words}, which day {ask['words']} {where(ask)}? {DATE}"

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the day."""
        when = When.read(ask["when"])
        values = looked_up(subject(ask, setting), ask["measure"], when)
        extreme = max(values) if ask["largest"] else min(values)
        return {"date": str(when.start + timedelta(values.index(extreme)))}

    def plan(self, ask: Ask) -> Plan:
        """Date, place, the range."""
        when = When.read(ask["when"])
        today, spot = yield from begin(ask, when)
        why = f"That is {when.start} to {when.end}, one call."
        values = yield from ask_days(spot, ask["measure"], when, today, why)
        choose = max if ask["largest"] else min
        day = choose(values, key=values.__getitem__)
        yield from finish(str(day), f"{day} stands out with {values[day]}.")


_REDUCED: dict[str, Callable[[list[float]], float]] = {
    "average": fmean,
    "maximum": max,
    "minimum": min,
}


class Aggregate(Question):
    """A total, an average, a count or an extreme over a range."""

    kind = "aggregate"
    _asked = ("total rain", "average", "wet days", "maximum", "minimum", "range", "total snow")

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw what is asked of a range, before or after today."""
        how = draw.pick(self._asked)
        if draw.below(3) == 0:
            when, place = phrases.old_range(draw, setting.today, FIRST), some_place(draw)
        else:
            when = draw.pick([phrases.past_range, phrases.coming_range])(draw, setting.today)
            place = draw_place(draw)
        ask: dict[str, Any] = {"place": place, "how": how, "when": when.shown()}
        measure = self._measure(how)
        values = looked_up(subject(ask, setting), measure, when)
        if how == "wet days" and any(0 < v < 0.3 for v in values):
            return None
        return ask if measure not in ("rain", "snow") or sum(values) > 0 else None

    @staticmethod
    def _measure(how: str) -> str:
        return {
            "total rain": "rain", "wet days": "rain", "total snow": "snow", "average": "mean",
            "maximum": "highest", "minimum": "lowest", "range": "highest",
        }[how]  # fmt: skip

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        place, when = where(ask), ask["when"]["words"]
        falls = tensed(when, "fell", "falls", "will fall")
        is_ = tensed(when, "was", "is", "will be")
        rains = tensed(when, "did it rain", "does it rain", "will it rain")
        stays = tensed(when, "did it stay", "does it stay", "will it stay")
        return {
            "total rain": f"How much rain {falls} {place} {when} in total, in millimetres? "
            f"{ONE_DECIMAL}",
            "total snow": f"How much new snow {falls} {place} {when} in total, in centimetres? "
            f"{ONE_DECIMAL}",
            "average": f"What {is_} the average of the daily average temperatures {place} {when}, "
            f"in degrees Celsius? {ONE_DECIMAL}",
            "wet days": f"On how many days {rains} {place} {when}? {NUMBER}",
            "maximum": f"What {is_} the highest temperature {place} {when}, in degrees Celsius? "
            f"{NUMBER}",
            "minimum": f"What {is_} the lowest temperature {place} {when}, in degrees Celsius? "
            f"{NUMBER}",
            "range": f"Between which temperatures {stays} {place} {when}, in degrees Celsius? "
            "Please answer with an array of the lowest and the highest.",
        }[ask["how"]]

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the aggregate."""
        place, when, how = subject(ask, setting), When.read(ask["when"]), ask["how"]
        values = looked_up(place, self._measure(how), when)
        if how == "range":
            lows = looked_up(place, "lowest", when)
            ends = ({"number": v, "within": EXACT} for v in (min(lows), max(values)))
            return {"list": list(ends), "ordered": True}
        if how == "wet days":
            return {"number": sum(v > 0 for v in values)}
        number = _REDUCED.get(how, sum)(values)
        return {"number": round(number, 2), "within": ROUNDED}

    def plan(self, ask: Ask) -> Plan:
        """Date, place, the range, and some arithmetic."""
        when, how = When.read(ask["when"]), ask["how"]
        today, spot = yield from begin(ask, when)
        why = f"The days are {when.start} to {when.end}; one call tells them all."
        if how == "range":
            result = yield from _ask_range(spot, when, today, why)
            yield from finish(result, f"The lowest is {result[0]}, the highest {result[1]}.")
            return
        by_day = yield from ask_days(spot, self._measure(how), when, today, why)
        values = list(by_day.values())
        if how == "wet days":
            count = sum(value > 0 for value in values)
            yield from finish(count, f"{count} of the {len(values)} days have rain.")
            return
        number = round(_REDUCED.get(how, sum)(values), 1)
        yield from finish(number, f"Of the {len(values)} values, the {how} is {number}.")


def _ask_range(spot: Any, when: When, today: date | None, why: str) -> Learnt:
    """Learn the lowest and the highest temperature of a range in one call."""
    part = ask_days(spot, "highest", when, today, why)
    found = yield next(part)
    daily = found["daily"]
    part.close()
    return [min(daily["temperature_2m_min"]), max(daily["temperature_2m_max"])]


class FirstDay(Question):
    """The first coming day on which something happens."""

    kind = "first-day"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a threshold that is first passed on one of the coming days, clearly."""
        when = phrases.coming_range(draw, setting.today)
        ask: dict[str, Any] = {
            "place": draw_place(draw),
            "measure": draw.pick(["rain", "highest", "lowest"]),
        }
        values = looked_up(subject(ask, setting), ask["measure"], when)
        if len(values) < 3:
            return None
        if ask["measure"] == "rain":
            ask["over"] = draw.pick([0.9, 4.9, 9.9])
        else:
            ask["over"] = round(sorted(values)[len(values) // 2]) + 0.5
        clear = all(abs(value - ask["over"]) >= 0.2 for value in values)
        passed = [value > ask["over"] for value in values]
        ask["when"] = when.shown()
        return ask if clear and any(passed) and not passed[0] else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what, over = MEASURES[ask["measure"]], ask["over"]
        event = (
            f"have more than {over:g} mm of rain"
            if ask["measure"] == "rain"
            else f"have a {what.words} above {over:g} degrees Celsius"
        )
        words = capital(ask["when"]["words"])
        return f"{words}: which is the first day to {event} {where(ask)}? {DATE}"

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the day."""
        when = When.read(ask["when"])
        values = looked_up(subject(ask, setting), ask["measure"], when)
        pairs = zip(days_of(when), values, strict=True)
        return {"date": str(next(day for day, value in pairs if value > ask["over"]))}

    def plan(self, ask: Ask) -> Plan:
        """Date, place, the forecast."""
        when = When.read(ask["when"])
        today, spot = yield from begin(ask, when)
        why = f"The forecast from {when.start} to {when.end} tells."
        values = yield from ask_days(spot, ask["measure"], when, today, why)
        day = next(d for d, value in values.items() if value > ask["over"])
        yield from finish(str(day), f"{day} is the first with more than {ask['over']:g}.")
