"""How the expert looks things up: each look-up a move, its result read before the next.

A plan only knows what the functions have answered. It loads a network when it first needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentgym.envs.academia.tools import AcademiaTools
from agentgym.envs.tools import Move
from agentgym.envs.tools.question import Looking

Papers = dict[str, dict[str, Any]]
"""What was found of papers, by title."""

Settled = Callable[[Papers, int], bool]


class Reader:
    """Looks things up in the networks of one episode.

    Args:
        kit: the tools of the episode, to know what is loaded already.
    """

    def __init__(self, kit: AcademiaTools) -> None:
        self._kit = kit

    def paper(self, title: str, thought: str) -> Looking[dict[str, Any]]:
        """Look a paper up."""
        yield from self._load("PaperNet", "What is known of papers is in PaperNet, so I load it.")
        found: dict[str, Any] = yield Move(thought, "paperNodeCheck", {"node": title})
        return found

    def organisation(self, name: str, thought: str) -> Looking[str]:
        """Look an author's organisation up."""
        yield from self._load("AuthorNet", "Authors are in AuthorNet, so I load it.")
        found = yield Move(thought, "authorNodeCheck", {"node": name})
        return str(found["org"])

    def coauthors(self, name: str, thought: str) -> Looking[list[str]]:
        """List an author's co-authors."""
        yield from self._load("AuthorNet", "Who wrote with whom is in AuthorNet, so I load it.")
        found = yield Move(thought, "neighbourCheck", {"graph": "AuthorNet", "node": name})
        return list(found)

    def linked(self, title: str, thought: str) -> Looking[list[str]]:
        """List the papers a paper cites or is cited by."""
        yield from self._load("PaperNet", "Citations are the edges of PaperNet, so I load it.")
        found = yield Move(thought, "neighbourCheck", {"graph": "PaperNet", "node": title})
        return list(found)

    def together(self, first: str, second: str, thought: str) -> Looking[list[str]]:
        """List the papers two authors wrote together."""
        yield from self._load("AuthorNet", "Joint papers are the edges of AuthorNet, so I load it.")
        found = yield Move(thought, "authorEdgeCheck", {"node1": first, "node2": second})
        return list(found["papers"])

    def citation(self, first: str, second: str, thought: str) -> Looking[dict[str, str]]:
        """Look up which of two papers cites the other."""
        yield from self._load("PaperNet", "Citations are the edges of PaperNet, so I load it.")
        found: dict[str, str] = yield Move(
            thought, "paperEdgeCheck", {"node1": first, "node2": second}
        )
        return found

    def works(self, name: str) -> Looking[dict[str, list[str]]]:
        """List an author's joint papers by co-author."""
        shared: dict[str, list[str]] = {}
        others = yield from self.coauthors(
            name, f"The papers of {name} hang on the edges to the co-authors, so I list those."
        )
        for i, other in enumerate(others, 1):
            thought = f"{name} has {len(others)} co-authors; number {i} is {other}. What is theirs?"
            shared[other] = yield from self.together(name, other, thought)
        return shared

    def papers_of(self, name: str, settled: Settled | None = None) -> Looking[Papers]:
        """Look the joint papers of an author up, by title.

        Args:
            name: the author.
            settled: whether what was found so far decides the question, given how many papers are
                still to come; without it all are looked up.
        """
        shared = yield from self.works(name)
        titles = list(dict.fromkeys(title for titles in shared.values() for title in titles))
        found: Papers = {}
        for i, title in enumerate(titles, 1):
            if settled is not None and settled(found, len(titles) - len(found)):
                break
            thought = f"Together these are {len(titles)} different papers. I look number {i} up."
            found[title] = yield from self.paper(title, thought)
        return found

    def _load(self, graph: str, thought: str) -> Looking[None]:
        if graph not in self._kit.loaded:
            yield Move(thought, f"load{graph}")
