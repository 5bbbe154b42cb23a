"""Questions about two authors: whom they share, and what they wrote together."""

from __future__ import annotations

from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.academia.looking import Reader
from agentgym.envs.academia.network import Network
from agentgym.envs.academia.questions.base import NUMBER, Question, any_author, any_pair
from agentgym.envs.tools.question import Args, Looking, Spec, name, number, text, top


class MutualCount(Question):
    """How many co-authors two authors share."""

    name = "mutual-collaborators"
    level = "moderate"
    frames = (
        "How many mutual collaborators do {author} and {other} share?" + NUMBER,
        "How many people have written papers with both {author} and {other}?" + NUMBER,
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two authors with a co-author in common."""
        author = any_author(net, draw)
        middle = draw.pick(list(net.together[author]) or [author])
        other = draw.pick(list(net.together[middle]) or [author])
        return {"author": author, "other": other} if other != author else None

    def _shared(self, net: Network, args: Args) -> list[str]:
        return [a for a in net.together[args["author"]] if a in net.together[args["other"]]]

    def answer(self, net: Network, args: Args) -> Spec:
        """Return how many there are."""
        return number(len(self._shared(net, args)))

    def _look(self, reader: Reader, args: Args) -> Looking[list[str]]:
        one, two = args["author"], args["other"]
        first = yield from reader.coauthors(one, f"With whom has {one} written?")
        second = yield from reader.coauthors(two, f"And with whom has {two} written?")
        return [a for a in first if a in second]

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the co-authors of both."""
        shared = yield from self._look(reader, args)
        return len(shared)


class GoBetween(MutualCount):
    """The only co-author two authors share who never wrote together."""

    name = "go-between"
    frames = (
        "{author} and {other} have never written a paper together, but one person has written with "
        "both. Who is it?",
        "Who is the only co-author that {author} and {other} have in common?",
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two such authors."""
        args = super().draw(net, draw)
        if args is None or args["other"] in net.together[args["author"]]:
            return None
        if min(len(net.together[one]) for one in args.values()) < 2:
            return None  # the one co-author of somebody needs no second look
        return args if len(self._shared(net, args)) == 1 else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return who it is."""
        return name(self._shared(net, args)[0])

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the co-authors of both."""
        shared = yield from self._look(reader, args)
        return shared[0]


class JointCitations(Question):
    """How often the papers of a pair of authors are cited, all together."""

    name = "joint-citations"
    level = "moderate"
    frames = (
        "How many citations do papers co-authored by {author} and {other} have in total?" + NUMBER,
        "Add up the citations of every paper that {author} and {other} wrote together." + NUMBER,
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two authors with several papers."""
        pair = any_pair(net, draw)
        return {"author": pair[0], "other": pair[1]} if pair else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the sum."""
        shared = net.together[args["author"]][args["other"]]
        return number(sum(net.papers[title].n_citation for title in shared))

    def _look(self, reader: Reader, args: Args) -> Looking[dict[str, dict[str, Any]]]:
        one, two = args["author"], args["other"]
        titles = yield from reader.together(one, two, f"What have {one} and {two} written?")
        found = {}
        for i, title in enumerate(titles, 1):
            thought = f"They have {len(titles)} papers together. I look number {i} up."
            found[title] = yield from reader.paper(title, thought)
        return found

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look the edge up, then each paper."""
        found = yield from self._look(reader, args)
        return sum(paper["n_citation"] for paper in found.values())


class FirstTogether(JointCitations):
    """The first paper of a pair of authors."""

    name = "first-together"
    frames = (
        "What is the title of the first paper that {author} and {other} wrote together?",
        "Of all papers by both {author} and {other}, which was published earliest? Please answer "
        "with its title.",
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two authors whose first year together saw one paper."""
        args = super().draw(net, draw)
        if args is None:
            return None
        titles = net.together[args["author"]][args["other"]]
        return args if top({t: -net.papers[t].year for t in titles}) else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the title."""
        titles = net.together[args["author"]][args["other"]]
        return text(min(titles, key=lambda title: net.papers[title].year))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look the edge up, then each paper."""
        found = yield from self._look(reader, args)
        return min(found, key=lambda title: found[title]["year"])
