"""The kinds of questions, the easier ones first."""

from agentgym.envs.movie.questions.base import Question
from agentgym.envs.movie.questions.films import (
    Budget,
    Character,
    Companies,
    Director,
    Genre,
    MadeIn,
    Producers,
    Profit,
    Release,
    TitleAbroad,
    Translation,
    Vote,
)
from agentgym.envs.movie.questions.people import (
    BiggestFilm,
    Birthday,
    Birthplace,
    Compare,
    DirectorsBirthplace,
    Earlier,
    Earned,
    FirstFilm,
    FromPlace,
    GenreCount,
    InBoth,
    Link,
    Oldest,
    PrizeFilm,
)

QUESTIONS: tuple[Question, ...] = (
    Budget(),
    Release(),
    Vote(),
    Genre(),
    Companies(),
    MadeIn(),
    Director(),
    Producers(),
    Character(),
    TitleAbroad(),
    Translation(),
    Birthplace(),
    Birthday(),
    Link(),
    Profit(),
    DirectorsBirthplace(),
    PrizeFilm(),
    InBoth(),
    Compare(),
    Earned(),
    Earlier(),
    FirstFilm(),
    GenreCount(),
    BiggestFilm(),
    FromPlace(),
    Oldest(),
)

BY_NAME = {question.name: question for question in QUESTIONS}

__all__ = ["BY_NAME", "QUESTIONS", "Question"]
