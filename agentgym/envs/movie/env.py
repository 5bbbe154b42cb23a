"""Movie: answer questions about films and the people who make them, one look-up at a time.

The mini edition asks about an invented industry; the official one about real films, which needs The
Movie Database or a tape of its answers. The score is 1 for the right answer, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, Expert, Task, TaskSet
from agentgym.envs.movie.looking import Reader
from agentgym.envs.movie.making import load_industry
from agentgym.envs.movie.questions import BY_NAME
from agentgym.envs.movie.questions.base import MOST_CALLS
from agentgym.envs.movie.source import LocalSource
from agentgym.envs.movie.tasks import mini_tasks, official_tasks
from agentgym.envs.movie.tmdb import MovieDatabase
from agentgym.envs.movie.tools import MovieTools
from agentgym.envs.tools import Move, Plan, PlanExpert, Tool, ToolEnv

INTRODUCTION = """You answer questions about movies and the people who make them by calling \
functions. Everything is found under an id: search for the movie or the person first. Do not make \
an id up, and do not answer from memory; look it up."""

EXAMPLE = """Goal: Who directed the movie "The Lantern of Dunmore"? Please answer me with the \
director's name as a string.
Thought: Everything about the movie is under its id, so I search for it.
Action: get_search_movie with Action Input: {"movie_name": "The Lantern of Dunmore"}
Observation: [{'id': '412', 'overview': 'A keeper leaves.', 'title': 'The Lantern of Dunmore'}]
Thought: The director is in the crew.
Action: get_movie_crew with Action Input: {"movie_id": "412"}
Observation: {'crew': [{'id': '9001', 'name': 'Ruth Amsel', 'job': 'Director'}]}
Thought: It was Ruth Amsel.
Action: finish with Action Input: {"answer": "Ruth Amsel"}"""


class MovieEnv(ToolEnv):
    """Look films and people up and answer a question; see `ToolEnv` for the options."""

    name = "movie"
    title = "Movie"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(MOST_CALLS + 3, "Questions over an invented industry of 500 films."),
        "official": Edition(12, "The 238 published questions, answered by TMDB.", offline=False),
    }
    backends: ClassVar[Mapping[str, tuple[str, ...]]] = {"mini": ("local",), "official": ("live",)}
    toolkit = MovieTools
    introduction = INTRODUCTION
    example = EXAMPLE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        live = self.backend == "live"
        self._database = MovieDatabase(self.cassette) if live else None

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return official_tasks(data_dir) if edition == "official" else mini_tasks()

    def _open(self, task: Task) -> MovieTools:
        return MovieTools(self._database or LocalSource(load_industry()))

    def _make_expert(self) -> Expert:
        assert self.task is not None
        if "question" not in self.task.spec:
            raise NotImplementedError("the expert plays mini tasks; a published one is only text")
        return PlanExpert(self, self._plan)

    def _plan(self) -> Plan:
        assert self.task is not None
        spec = self.task.spec
        answer = yield from BY_NAME[spec["question"]].plan(Reader(), spec["args"])
        told = ", ".join(answer) if isinstance(answer, list) else answer
        yield Move(f"That answers it: {told}.", "finish", {"answer": answer})

    def _sample_arguments(self, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
        """Draw films and people that exist."""
        if self._database is not None:
            return super()._sample_arguments(chosen, rng)
        industry = load_industry()
        films, people = list(industry.films.values()), list(industry.people.values())
        film = films[int(rng.integers(len(films)))]
        person = people[int(rng.integers(len(people)))]
        drawn = {
            "movie_name": film.title,
            "movie_id": film.id,
            "person_name": person.name,
            "person_id": person.id,
            "answer": person.name,
        }
        return {name: drawn[name] for name in chosen.parameters.get("properties", {})}

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
        super()._close()
