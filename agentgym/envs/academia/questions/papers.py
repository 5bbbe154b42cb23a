"""Questions about one paper or two, and the papers next to them."""

from __future__ import annotations

from typing import Any, ClassVar

from agentgym.core.draw import Draw
from agentgym.envs.academia.looking import Reader
from agentgym.envs.academia.network import Network
from agentgym.envs.academia.questions.base import (
    LIST,
    MOST_CALLS,
    NUMBER,
    YES_NO,
    Question,
    any_paper,
)
from agentgym.envs.tools.question import Args, Looking, Spec, listed, number, text, top


class OfPaper(Question):
    """A question about facts of one paper."""

    level = "simple"
    field: ClassVar[str]

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return any paper."""
        return {"paper": any_paper(net, draw)}

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look the paper up."""
        found = yield from reader.paper(args["paper"], "The paper's entry says it.")
        return found[self.field]

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the field of the paper."""
        value = getattr(net.papers[args["paper"]], self.field)
        return number(value) if isinstance(value, int) else text(value)


class Authors(OfPaper):
    """Who wrote a paper."""

    name = "authors"
    field = "authors"
    frames = (
        "Who wrote the paper titled '{paper}'?" + LIST.format("author"),
        "Who are the authors of '{paper}'?" + LIST.format("author"),
    )

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the authors."""
        return listed(net.papers[args["paper"]].authors, "name")


class Venue(OfPaper):
    """Where a paper appeared."""

    name = "venue"
    field = "venue"
    frames = (
        "At which venue was '{paper}' published?",
        "Where did the paper '{paper}' appear? Please answer with the name of the venue.",
    )


class Citations(OfPaper):
    """How often a paper is cited."""

    name = "citations"
    field = "n_citation"
    frames = (
        "How many citations does the paper '{paper}' have?" + NUMBER,
        "How often has '{paper}' been cited?" + NUMBER,
    )


class Direction(Question):
    """Which of two papers cites the other."""

    name = "direction"
    level = "simple"
    frames = (
        "One of the papers '{paper}' and '{other}' cites the other. Which is the one that cites? "
        "Please answer with its title.",
        "Which of these two papers cites the other: '{paper}' or '{other}'? Please answer with its "
        "title.",
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two papers of one year, of which only the citation shows the order."""
        paper = net.papers[any_paper(net, draw)]
        others = [o for o in net.cited[paper.title] if net.papers[o].year == paper.year]
        return {"paper": paper.title, "other": draw.pick(others)} if others else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the paper that cites."""
        citing = args["other"] in net.papers[args["paper"]].cites
        return text(args["paper"] if citing else args["other"])

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look at the edge between them."""
        edge = yield from reader.citation(
            args["paper"], args["other"], "The edge between the two papers says which one cites."
        )
        return edge["citing"]


class Organisations(Question):
    """Which organisations a paper's authors belong to."""

    name = "organisations"
    level = "moderate"
    frames = (
        "Which organizations were involved in the research titled '{paper}'?" + LIST.format("org"),
        "Which organizations do the authors of '{paper}' belong to? Name each once."
        + LIST.format("org"),
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return a paper of two authors or more."""
        paper = any_paper(net, draw)
        return {"paper": paper} if len(net.papers[paper].authors) > 1 else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return the different organisations."""
        orgs = [net.authors[author].org for author in net.papers[args["paper"]].authors]
        return listed(dict.fromkeys(orgs))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look the paper up, then each author."""
        found = yield from reader.paper(args["paper"], "I need to know who wrote the paper.")
        orgs = []
        for author in found["authors"]:
            org = yield from reader.organisation(author, f"Where does {author} work?")
            orgs.append(org)
        return list(dict.fromkeys(orgs))


class AtOrganisation(Question):
    """Which of a paper's authors work at an organisation."""

    name = "authors-at"
    level = "moderate"
    frames = (
        "Which of the authors of '{paper}' work at {org}?" + LIST.format("author"),
        "Name everybody from {org} who wrote '{paper}'." + LIST.format("author"),
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return a paper whose authors come from two or more organisations."""
        paper = any_paper(net, draw)
        orgs = list(dict.fromkeys(net.authors[a].org for a in net.papers[paper].authors))
        return {"paper": paper, "org": draw.pick(orgs)} if len(orgs) > 1 else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return their names."""
        authors = net.papers[args["paper"]].authors
        return listed([a for a in authors if net.authors[a].org == args["org"]], "name")

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look the paper up, then each author."""
        found = yield from reader.paper(args["paper"], "I need to know who wrote the paper.")
        there = []
        for author in found["authors"]:
            org = yield from reader.organisation(author, f"Is {author} at {args['org']}?")
            if org == args["org"]:
                there.append(author)
        return there


class Overlap(Question):
    """Whether two papers have an author in common."""

    name = "overlap"
    level = "moderate"
    frames = (
        "Do the authors of '{paper}' and '{other}' have any overlap?" + YES_NO,
        "Is there anybody who wrote both '{paper}' and '{other}'?" + YES_NO,
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two papers, half of the time by the same author."""
        paper = any_paper(net, draw)
        if draw.chance(0.5):
            other = draw.pick(net.wrote[draw.pick(net.papers[paper].authors)])
        else:
            other = draw.pick(net.cited[paper])
        return {"paper": paper, "other": other} if other != paper else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return Yes or No."""
        others = net.papers[args["other"]].authors
        return text("Yes" if any(a in others for a in net.papers[args["paper"]].authors) else "No")

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look both papers up."""
        one = yield from reader.paper(args["paper"], "Who wrote the first paper?")
        two = yield from reader.paper(args["other"], "And who wrote the second?")
        return "Yes" if any(author in two["authors"] for author in one["authors"]) else "No"


class LinkedToBoth(Question):
    """How many papers are linked by citation to both of two papers."""

    name = "linked-to-both"
    level = "moderate"
    frames = (
        "How many papers are linked by a citation, in either direction, to both '{paper}' and "
        "'{other}'?" + NUMBER,
        "Counting citations in both directions, how many papers neighbour both '{paper}' and "
        "'{other}' in the citation network?" + NUMBER,
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return two papers with a neighbour in common."""
        paper = any_paper(net, draw)
        other = draw.pick(net.cited[draw.pick(net.cited[paper])])
        small = max(len(net.cited[paper]), len(net.cited[other])) <= 30
        return {"paper": paper, "other": other} if other != paper and small else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return how many there are."""
        return number(sum(x in net.cited[args["other"]] for x in net.cited[args["paper"]]))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the neighbours of both."""
        one = yield from reader.linked(args["paper"], "What is the first paper linked to?")
        two = yield from reader.linked(args["other"], "And what is the second linked to?")
        return sum(x in two for x in one)


class OfNeighbours(Question):
    """A question about all papers linked to one by a citation."""

    level = "hard"

    def _neighbours(self, net: Network, draw: Draw) -> tuple[str, list[str]] | None:
        paper = any_paper(net, draw)
        linked = net.cited[paper]
        return (paper, linked) if 3 <= len(linked) <= MOST_CALLS - 4 else None

    def _look(self, reader: Reader, args: Args) -> Looking[dict[str, dict[str, Any]]]:
        titles = yield from reader.linked(args["paper"], "Which papers cite it or are cited by it?")
        found = {}
        for i, title in enumerate(titles, 1):
            thought = f"It is linked to {len(titles)} papers. I look number {i} up."
            found[title] = yield from reader.paper(title, thought)
        return found


class MostCitedNeighbour(OfNeighbours):
    """The most-cited paper among those linked to one."""

    name = "most-cited-neighbour"
    frames = (
        "Among the papers that '{paper}' cites or is cited by, which has the most citations? "
        "Please answer with its title.",
        "Which of the papers linked to '{paper}' by a citation, in either direction, is cited "
        "most? Please answer with its title.",
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return a paper whose neighbours have one ahead."""
        found = self._neighbours(net, draw)
        if found is None:
            return None
        ahead = top({linked: net.papers[linked].n_citation for linked in found[1]})
        return {"paper": found[0]} if ahead else None

    def answer(self, net: Network, args: Args) -> Spec:
        """Return its title."""
        return text(max(net.cited[args["paper"]], key=lambda title: net.papers[title].n_citation))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the neighbours, then look at each."""
        found = yield from self._look(reader, args)
        return max(found, key=lambda title: int(found[title]["n_citation"]))


class NeighboursAtVenue(OfNeighbours):
    """How many papers linked to one appeared at a venue."""

    name = "neighbours-at-venue"
    frames = (
        "How many of the papers linked to '{paper}' by a citation, in either direction, appeared "
        "at {venue}?" + NUMBER,
        "Of all papers that cite '{paper}' or are cited by it, how many were published at "
        "{venue}?" + NUMBER,
    )

    def draw(self, net: Network, draw: Draw) -> Args | None:
        """Return a paper and a venue of one of its neighbours."""
        found = self._neighbours(net, draw)
        if found is None:
            return None
        return {"paper": found[0], "venue": net.papers[draw.pick(found[1])].venue}

    def answer(self, net: Network, args: Args) -> Spec:
        """Return how many."""
        linked = net.cited[args["paper"]]
        return number(sum(net.papers[title].venue == args["venue"] for title in linked))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the neighbours, then look at each."""
        found = yield from self._look(reader, args)
        return sum(paper["venue"] == args["venue"] for paper in found.values())
