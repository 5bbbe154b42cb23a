"""What the kinds of questions about the industry share."""

from __future__ import annotations

from agentgym.core.draw import Draw
from agentgym.envs.movie.industry import Film, Industry, Person
from agentgym.envs.movie.looking import Reader
from agentgym.envs.tools import question

Question = question.Question[Industry, Reader]

MOST_CALLS = 12
"""The most calls a question may take, `finish` not counted."""

STRING = " Please answer me with {0} as a string."
NUMBER = " Please provide the answer as a number."
ARRAY = " Please provide {0} in an array."
YES_NO = " Please answer me with Yes or No."
DATE = " Please provide the date in the format YYYY-MM-DD."


def any_film(world: Industry, draw: Draw) -> Film:
    """Return a film, each as likely."""
    return draw.pick(list(world.films.values()))


def any_person(world: Industry, draw: Draw) -> Person:
    """Return a person, each as likely."""
    return draw.pick(list(world.people.values()))


def film_called(world: Industry, title: str) -> Film:
    """Return the film of a title that there is."""
    film = world.find_film(title)
    assert film is not None, title
    return film


def person_called(world: Industry, name: str) -> Person:
    """Return the person of a name that there is."""
    person = world.find_person(name)
    assert person is not None, name
    return person
