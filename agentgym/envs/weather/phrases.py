"""Days and ranges as people name them, drawn for a question."""

from __future__ import annotations

from datetime import date, timedelta

from agentgym.core.draw import Draw
from agentgym.envs.weather.asking import When

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


def ordinal(number: int) -> str:
    """Return a number as a day of the month is said.

    >>> ordinal(1), ordinal(12), ordinal(23)
    ('1st', '12th', '23rd')
    """
    if 10 < number < 14:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def written(day: date) -> str:
    """Return a date as it is written in a question: "14 May 2023"."""
    return f"{day.day} {day:%B} {day.year}"


def month_before(day: date) -> date:
    """Return the first day of the month before a day's."""
    return (day.replace(day=1) - timedelta(1)).replace(day=1)


def year_before(day: date) -> date:
    """Return the same day a year before; 28 February for the 29th."""
    try:
        return day.replace(year=day.year - 1)
    except ValueError:
        return day.replace(year=day.year - 1, day=28)


def past_day(draw: Draw, today: date) -> When:
    """Draw one day before today."""
    ago = draw.between(3, 7)
    last = month_before(today)
    there = last.replace(day=draw.between(1, 28))
    return draw.pick(
        [
            _day("yesterday", today - timedelta(1)),
            _day("the day before yesterday", today - timedelta(2)),
            _day(f"{_NUMBERS[ago]} days ago", today - timedelta(ago)),
            _day(f"on the {ordinal(there.day)} of last month", there),
            _day("on this day last year", year_before(today)),
        ]
    )


def coming_day(draw: Draw, today: date) -> When:
    """Draw one day after today."""
    ahead = draw.between(3, 7)
    return draw.pick(
        [
            _day("tomorrow", today + timedelta(1)),
            _day("the day after tomorrow", today + timedelta(2)),
            _day(f"{_NUMBERS[ahead]} days from now", today + timedelta(ahead)),
        ]
    )


def this_day(today: date) -> When:
    """Return today."""
    return _day("today", today)


def past_range(draw: Draw, today: date) -> When:
    """Draw a range of days that is over, or ends today."""
    n = draw.between(3, 14)
    last = month_before(today)
    choices = [
        _days(f"over the past {n} days, not counting today", today - timedelta(n), -1 + n),
        _days("in the first week of last month (the 1st to the 7th)", last, 6),
        _days(f"from the {ordinal(8)} to the {ordinal(14)} of last month", last.replace(day=8), 6),
    ]
    if today.day >= 3:
        choices.append(
            _days("this month so far, today included", today.replace(day=1), today.day - 1)
        )
    return draw.pick(choices)


def coming_range(draw: Draw, today: date) -> When:
    """Draw a range of days that begins tomorrow or later."""
    n = draw.between(3, 10)
    saturday = today + timedelta((5 - today.weekday()) % 7 or 7)
    monday = today + timedelta(7 - today.weekday())
    return draw.pick(
        [
            _days(f"over the next {n} days, beginning tomorrow", today + timedelta(1), n - 1),
            _days("next week, from Monday to Sunday", monday, 6),
            _days("over the coming weekend, Saturday and Sunday", saturday, 1),
        ]
    )


def old_day(draw: Draw, today: date, first: date) -> When:
    """Draw a date before last month, written out."""
    day = first + timedelta(draw.below((month_before(today) - first).days))
    return When(f"on {written(day)}", day, day, dated=True)


def old_range(draw: Draw, today: date, first: date) -> When:
    """Draw a range of dates before last month, written out."""
    start = first + timedelta(draw.below((month_before(today) - first).days - 40))
    end = start + timedelta(draw.between(4, 20))
    return When(f"from {written(start)} to {written(end)}", start, end, dated=True)


def _day(words: str, day: date) -> When:
    return When(words, day, day)


def _days(words: str, start: date, more: int) -> When:
    return When(words, start, start + timedelta(more))
