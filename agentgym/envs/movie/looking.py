"""How the expert looks things up: search for the id, then ask under it."""

from __future__ import annotations

from typing import Any

from agentgym.envs.tools import Move
from agentgym.envs.tools.question import Looking

Record = dict[str, Any]


class Reader:
    """Looks films and people up; it knows nothing but what the functions answer."""

    def film_id(self, title: str, why: str = "") -> Looking[str]:
        """Search a film."""
        thought = why or f"Everything about {title} is under its id, so I search for it."
        found = yield Move(thought, "get_search_movie", {"movie_name": title})
        return str(found[0]["id"])

    def person_id(self, name: str, why: str = "") -> Looking[str]:
        """Search a person."""
        thought = why or f"I need the id of {name}."
        found = yield Move(thought, "get_search_person", {"person_name": name})
        return str(found[0]["id"])

    def of_film(self, function: str, number: str, thought: str) -> Looking[Any]:
        """Call a function that takes a film's id."""
        found = yield Move(thought, function, {"movie_id": number})
        return found

    def of_person(self, function: str, number: str, thought: str) -> Looking[Any]:
        """Call a function that takes a person's id."""
        found = yield Move(thought, function, {"person_id": number})
        return found

    def details(self, number: str, thought: str) -> Looking[Record]:
        """Get a film's details."""
        found: Record = yield from self.of_film("get_movie_details", number, thought)
        return found

    def director(self, number: str, thought: str) -> Looking[tuple[str, str]]:
        """Find a film's director: id and name."""
        found = yield from self.of_film("get_movie_crew", number, thought)
        member = next(m for m in found["crew"] if m["job"] == "Director")
        return str(member["id"]), str(member["name"])

    def acted(self, name: str) -> Looking[list[Record]]:
        """List the films somebody acted in."""
        number = yield from self.person_id(name)
        found = yield from self.of_person("get_person_cast", number, f"What has {name} acted in?")
        return list(found["cast"])

    def directed(self, name: str) -> Looking[list[Record]]:
        """List the films somebody directed."""
        number = yield from self.person_id(name)
        found = yield from self.of_person("get_person_crew", number, f"What has {name} directed?")
        return [row for row in found["crew"] if row["job"] == "Director"]

    def all_details(self, rows: list[Record]) -> Looking[dict[str, Record]]:
        """Get the details of several films, by title."""
        found = {}
        for i, row in enumerate(rows, 1):
            thought = f"That is {len(rows)} films; number {i} is {row['title']}."
            found[row["title"]] = yield from self.details(str(row["id"]), thought)
        return found
