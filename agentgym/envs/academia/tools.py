"""The functions: look a paper, an author, or a connection up, one at a time.

Names, parameters and returned fields are the published ones. A network has to be loaded before it
is asked; the published servers' refusals where it is not are kept, with what to do about it.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Any, Literal

from pydantic import Field

from agentgym.core.errors import InvalidState
from agentgym.envs.academia.network import Network
from agentgym.envs.tools import NotFound, ToolError, Tools, tool
from agentgym.envs.tools.kinds import Text, one_line

Graph = Literal["PaperNet", "AuthorNet"]
Title = Annotated[Text, Field(examples=["A Survey of Clone Detection with Build Scripts"])]
Name = Annotated[Text, Field(examples=["Gizem Bayrak", "Reina Okabe"])]


class AcademiaTools(Tools):
    """Two networks, of papers and of authors, each to be loaded before it answers.

    Args:
        network: the papers and authors; only read.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.loaded: list[str] = []

    def save(self) -> Any:
        """Return which networks are loaded, in order."""
        return list(self.loaded)

    def load(self, saved: Any) -> None:
        """Restore what `save` returned.

        Raises:
            InvalidState: if it names another network.
        """
        if not isinstance(saved, list) or not all(x in ("PaperNet", "AuthorNet") for x in saved):
            raise InvalidState(f"the snapshot has the networks {saved!r} loaded")
        self.loaded = list(saved)

    @tool
    def loadPaperNet(self) -> Any:
        """Load PaperNet: its nodes are papers, its edges citations.

        Returns:
            a confirmation
        """
        return self._load("PaperNet")

    @tool
    def loadAuthorNet(self) -> Any:
        """Load AuthorNet: its nodes are authors, its edges papers written together.

        Returns:
            a confirmation
        """
        return self._load("AuthorNet")

    @tool
    def neighbourCheck(self, graph: Graph, node: Text) -> Any:
        """List the neighbours of a node: papers it cites or is cited by, or co-authors.

        Args:
            graph: the network
            node: the title of a paper, or the name of an author

        Returns:
            the titles or names of the neighbours
        """
        if graph == "PaperNet":
            return list(self.network.cited[self._paper(node)])
        return list(self.network.together[self._author(node)])

    @tool
    def paperNodeCheck(self, node: Title) -> Any:
        """Show what is known of a paper.

        Args:
            node: the title of the paper

        Returns:
            authors, year, venue, n_citation (the number of citations), keywords and doc_type
        """
        paper = self.network.papers[self._paper(node)]
        return {
            "authors": list(paper.authors),
            "year": paper.year,
            "venue": paper.venue,
            "n_citation": paper.n_citation,
            "keywords": list(paper.keywords),
            "doc_type": paper.doc_type,
        }

    @tool
    def authorNodeCheck(self, node: Name) -> Any:
        """Show what is known of an author.

        Args:
            node: the name of the author

        Returns:
            name and org (the organisation)
        """
        author = self.network.authors[self._author(node)]
        return {"name": author.name, "org": author.org}

    @tool
    def authorEdgeCheck(self, node1: Name, node2: Name) -> Any:
        """Show what two authors have written together.

        Args:
            node1: the name of one author
            node2: the name of the other

        Returns:
            papers, the titles
        """
        first, second = self._author(node1), self._author(node2)
        shared = self.network.together[first].get(second)
        if shared is None:
            raise NotFound(f"There is no edge between {first} and {second}.")
        return {"papers": list(shared)}

    @tool
    def paperEdgeCheck(self, node1: Title, node2: Title) -> Any:
        """Show the citation between two papers.

        Args:
            node1: the title of one paper
            node2: the title of the other

        Returns:
            citing and cited, the titles of the paper that cites and of the one that is cited
        """
        first, second = self._paper(node1), self._paper(node2)
        for citing, cited in ((first, second), (second, first)):
            if cited in self.network.papers[citing].cites:
                return {"citing": citing, "cited": cited}
        raise NotFound(f"There is no edge between {one_line(first)} and {one_line(second)}.")

    def _load(self, graph: str) -> str:
        if graph not in self.loaded:
            self.loaded.append(graph)
        return f"{graph} is loaded."

    def _paper(self, title: str) -> str:
        self._require("PaperNet")
        return self._known(title, "PaperNet", self.network.papers)

    def _author(self, name: str) -> str:
        self._require("AuthorNet")
        return self._known(name, "AuthorNet", self.network.authors)

    def _require(self, graph: str) -> None:
        if graph not in self.loaded:
            raise ToolError(f"Please load the {graph} first. Call load{graph} with {{}}.")

    def _known(self, node: str, graph: str, nodes: Container[str]) -> str:
        if node in nodes:
            return node
        alike = self.network.spelled_like(node, graph)
        near = f" Did you mean {' or '.join(alike)}?" if alike else ""
        raise NotFound(f"There is no node named {one_line(node)} in the {graph}.{near}")
