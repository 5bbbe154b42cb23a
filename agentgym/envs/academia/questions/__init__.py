"""The kinds of questions, the easier ones first."""

from agentgym.envs.academia.questions.base import Question
from agentgym.envs.academia.questions.pairs import (
    FirstTogether,
    GoBetween,
    JointCitations,
    MutualCount,
)
from agentgym.envs.academia.questions.papers import (
    AtOrganisation,
    Authors,
    Citations,
    Direction,
    LinkedToBoth,
    MostCitedNeighbour,
    NeighboursAtVenue,
    Organisations,
    Overlap,
    Venue,
)
from agentgym.envs.academia.questions.works import (
    ClosestCollaborator,
    FavouriteKeyword,
    FavouriteVenue,
    MostCitedPaper,
    MostCitedTeam,
)

QUESTIONS: tuple[Question, ...] = (
    Authors(),
    Venue(),
    Citations(),
    Direction(),
    Organisations(),
    Overlap(),
    MutualCount(),
    GoBetween(),
    LinkedToBoth(),
    JointCitations(),
    FirstTogether(),
    AtOrganisation(),
    ClosestCollaborator(),
    MostCitedPaper(),
    MostCitedTeam(),
    FavouriteVenue(),
    FavouriteKeyword(),
    MostCitedNeighbour(),
    NeighboursAtVenue(),
)

BY_NAME = {question.name: question for question in QUESTIONS}

__all__ = ["BY_NAME", "QUESTIONS", "Question"]
