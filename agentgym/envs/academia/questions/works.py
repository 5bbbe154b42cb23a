"""Questions about all that an author has written."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.academia.looking import Reader
from agentgym.envs.academia.network import Network
from agentgym.envs.academia.questions.base import LIST, MOST_CALLS, Question, any_author
from agentgym.envs.tools.question import Args, Looking, Spec, listed, name, text, top


class ClosestCollaborator(Question):
    """With whom an author wrote most."""

    name = "closest-collaborator"
    level = "hard"
    frames = (
        "Who has the most collaborations with {author}?",
        "With whom has {author} written the most papers?",
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return an author with three co-authors or more, one of them ahead."""
        author = any_author(net, draw)
        shared = net.together[author]
        ahead = top({other: len(papers) for other, papers in shared.items()})
        return {"author": author} if ahead and 3 <= len(shared) <= MOST_CALLS - 2 else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return who it is."""
        shared = net.together[args["author"]]
        return name(max(shared, key=lambda other: len(shared[other])))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the co-authors, then look at each edge."""
        shared = yield from reader.works(args["author"])
        return max(shared, key=lambda other: len(shared[other]))


class OfWorks(Question):
    """A question about all papers of an author."""

    level = "hard"

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return an author of three papers or more, none of them alone, whom it can be asked of."""
        author = any_author(net, draw)
        papers = {title: net.papers[title] for title in net.wrote[author]}
        if len(papers) < 3 or any(len(paper.authors) == 1 for paper in papers.values()):
            return None
        if 3 + len(net.together[author]) + len(papers) > MOST_CALLS:
            return None
        facts = {
            title: {
                "authors": paper.authors,
                "venue": paper.venue,
                "n_citation": paper.n_citation,
                "keywords": paper.keywords,
            }
            for title, paper in papers.items()
        }
        return {"author": author} if self.conclude(author, facts) is not None else None

    @abstractmethod
    def conclude(self, author: str, papers: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return the answer that follows from an author's papers, or None if there is not one."""

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look at each edge of the author, then at each paper."""
        found = yield from reader.papers_of(args["author"])
        return self.conclude(args["author"], found)


class MostCitedPaper(OfWorks):
    """The most-cited paper of an author."""

    name = "most-cited-paper"
    frames = (
        "Which paper by {author} has the most citations?",
        "What is the title of {author}'s most cited paper?",
    )

    def conclude(self, author: str, papers: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return its title."""
        return top({t: paper["n_citation"] for t, paper in papers.items()})

    def answer(self, net: Network, args: Args) -> Spec:
        """Return its title."""
        return text(max(net.wrote[args["author"]], key=lambda t: net.papers[t].n_citation))


class MostCitedTeam(MostCitedPaper):
    """The co-authors of an author's most-cited paper."""

    name = "most-cited-team"
    frames = (
        "Who are the co-authors with whom {author} has written the paper that has the highest "
        "number of citations?" + LIST.format("author"),
        "Name the co-authors of {author}'s most cited paper." + LIST.format("author"),
    )

    def conclude(self, author: str, papers: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return the others."""
        title = super().conclude(author, papers)
        return [a for a in papers[title]["authors"] if a != author] if title else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the others."""
        title = super().answer(net, args)["text"]
        return listed([a for a in net.papers[title].authors if a != args["author"]], "name")


class Favourite(OfWorks):
    """What occurs most often in an author's papers; nothing occurs twice in one."""

    @abstractmethod
    def things(self, paper: Mapping[str, Any]) -> list[str]:
        """Return what is counted in a paper."""

    def conclude(self, author: str, papers: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return the one that is ahead."""
        return top(self._counts(papers))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look at each edge of the author, then at papers until none can catch up."""
        found = yield from reader.papers_of(args["author"], self._settled)
        return self.conclude(args["author"], found)

    def _counts(self, papers: Mapping[str, Mapping[str, Any]]) -> Counter[str]:
        return Counter(thing for paper in papers.values() for thing in self.things(paper))

    def _settled(self, papers: Mapping[str, Mapping[str, Any]], left: int) -> bool:
        ranked = [count for _, count in self._counts(papers).most_common(2)]
        return bool(ranked) and ranked[0] > left + (ranked[1] if len(ranked) > 1 else 0)


class FavouriteVenue(Favourite):
    """Where an author publishes most."""

    name = "favourite-venue"
    frames = (
        "Which venue has the most publications by {author}?",
        "At which venue has {author} published most often?",
    )

    def things(self, paper: Mapping[str, Any]) -> list[str]:
        """Return the venue."""
        return [paper["venue"]]

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the venue."""
        venues = [net.papers[title].venue for title in net.wrote[args["author"]]]
        return text(max(venues, key=venues.count))


class FavouriteKeyword(Favourite):
    """What an author writes about most."""

    name = "favourite-keyword"
    frames = (
        "Which keyword does {author} emphasize most frequently?",
        "Which keyword occurs most often in the papers of {author}?",
    )

    def things(self, paper: Mapping[str, Any]) -> list[str]:
        """Return the keywords."""
        return list(paper["keywords"])

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the keyword."""
        words = [w for title in net.wrote[args["author"]] for w in net.papers[title].keywords]
        return text(max(words, key=words.count))
