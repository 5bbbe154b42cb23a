"""The network: papers that cite papers, and the authors who wrote them together.

It is invented, so that no model can answer from memory, and it is generated rather than shipped:
`data/world.json` holds the vocabulary of 24 fields of research, and the draws of `core.draw` make
from it the same 2,000 papers and 1,500 authors everywhere. Its digest is tested.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from agentgym.core.draw import Draw

SEED = "academia network 1"
PAPERS, AUTHORS = 2_000, 1_500
FIRST_YEAR, LAST_YEAR = 1998, 2023
HOMONYMS = 0.12
"""How often a name that is taken stays as it is, to be written with a number behind it."""


@dataclass(slots=True)
class Paper:
    """A paper, under its title.

    Attributes:
        title: unique in the network.
        authors: names, in the order of the paper.
        year: of publication.
        venue: where it appeared.
        n_citation: citations from everywhere, so at least those from papers of the network.
        keywords: two to four, the subject first.
        doc_type: "Conference" or "Journal".
        cites: titles of the papers of the network it cites, all of an earlier or the same year.
    """

    title: str
    authors: list[str]
    year: int
    venue: str
    n_citation: int
    keywords: list[str]
    doc_type: str
    cites: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Author:
    """An author, under a name; homonyms carry a number ("Wei Gao_2").

    Attributes:
        name: unique in the network.
        org: the organisation.
    """

    name: str
    org: str


class Network:
    """Papers and authors by name, and who is next to whom.

    Attributes:
        papers: papers by title, oldest first.
        authors: authors by name.
        cited: titles next to a title, citing or cited, in the order of the network.
        wrote: titles by author, oldest first.
        together: titles by pair of authors: `together[a][b]`, in the order of the network.
    """

    def __init__(self, papers: Sequence[Paper], authors: Sequence[Author]) -> None:
        self.papers = {paper.title: paper for paper in papers}
        self.authors = {author.name: author for author in authors}
        self.cited: dict[str, list[str]] = {paper.title: [] for paper in papers}
        self.wrote: dict[str, list[str]] = {author.name: [] for author in authors}
        self.together: dict[str, dict[str, list[str]]] = {author.name: {} for author in authors}
        for paper in papers:
            for other in paper.cites:
                self.cited[paper.title].append(other)
                self.cited[other].append(paper.title)
            for name in paper.authors:
                self.wrote[name].append(paper.title)
                shared = self.together[name]
                for other in paper.authors:
                    if other != name:
                        shared.setdefault(other, []).append(paper.title)
        self._spelled = {
            "PaperNet": _spelled(self.papers),
            "AuthorNet": _spelled(self.authors),
        }

    def spelled_like(self, node: str, graph: str) -> list[str]:
        """Return up to three nodes that differ from a name in case, punctuation or number only."""
        return self._spelled[graph].get(_plain(node), [])[:3]


def _spelled(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_plain(name), []).append(name)
    return found


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold().rstrip("_0123456789") if c.isalnum())


@cache
def load_network() -> Network:
    """Return the network of the mini edition; it is made once and never changed."""
    path = resources.files("agentgym.envs.academia") / "data" / "world.json"
    words = json.loads(path.read_text(encoding="utf-8"))
    draw = Draw(SEED)
    people = _people(draw, words)
    papers = _papers(draw, words["topics"], _groups(draw, people, words))
    _cite(draw, papers, words["topics"])
    plain = [paper for paper, _ in papers]
    return Network(plain, people)


def _people(draw: Draw, words: dict[str, Any]) -> list[Author]:
    regions, seen = words["regions"], Counter[str]()
    weights = [len(region["given"]) for region in regions]
    people: list[Author] = []
    while len(people) < AUTHORS:
        region = draw.weighted(regions, weights)
        name = f"{draw.pick(region['given'])} {draw.pick(region['family'])}"
        if seen[name] and not draw.chance(HOMONYMS):
            continue
        seen[name] += 1
        name = name if seen[name] == 1 else f"{name}_{seen[name]}"
        people.append(Author(name, ""))
    return people


@dataclass(slots=True)
class _Group:
    """People who work together: most of an organisation, on one or two topics."""

    members: list[Author]
    topics: list[int]
    weight: float


def _groups(draw: Draw, people: Sequence[Author], words: dict[str, Any]) -> list[_Group]:
    """Split the people into groups of 5 to 12, about three groups to two organisations."""
    orgs, groups, start = words["organisations"], list[_Group](), 0
    while start < len(people):
        size = draw.between(5, 12)
        if len(people) - start - size < 5:
            size = len(people) - start
        members = list(people[start : start + size])
        home = draw.pick(orgs)
        for author in members:
            author.org = home if draw.chance(0.8) else draw.pick(orgs)
        main = draw.below(len(words["topics"]))
        topics = [main, main, draw.below(len(words["topics"]))]
        groups.append(_Group(members, topics, 0.4 + draw.unit() ** 3 * 3))
        start += size
    return groups


def _papers(
    draw: Draw, topics: list[dict[str, Any]], groups: list[_Group]
) -> list[tuple[Paper, int]]:
    """Return papers with their topic's number, oldest first."""
    titles: set[str] = set()
    years = sorted(
        LAST_YEAR - int((LAST_YEAR - FIRST_YEAR + 1) * draw.unit() ** 1.6) for _ in range(PAPERS)
    )
    weights = [group.weight for group in groups]
    silent = draw.shuffled((group, author) for group in groups for author in group.members)
    active: set[str] = set()
    papers: list[tuple[Paper, int]] = []
    for year in years:
        # Half the papers begin with somebody who has none yet, so that everybody has one.
        while silent and silent[-1][1].name in active:
            silent.pop()
        if silent and draw.chance(0.55):
            group, first = silent.pop()
        else:
            group = draw.weighted(groups, weights)
            first = _senior(draw, group)
        team = _team(draw, group, first, groups)
        active.update(author.name for author in team)
        k = draw.pick(group.topics)
        papers.append((_paper(draw, topics[k], year, [a.name for a in team], titles), k))
    return papers


def _senior(draw: Draw, group: _Group) -> Author:
    """Return a member; those at the head of the list write far more."""
    return group.members[int(len(group.members) * draw.unit() ** 2)]


def _team(draw: Draw, group: _Group, first: Author, groups: list[_Group]) -> list[Author]:
    team = [first]
    for _ in range(draw.weighted((0, 1, 2, 3, 4), (2, 5, 6, 3, 1))):
        other = draw.pick(draw.pick(groups).members) if draw.chance(0.08) else _senior(draw, group)
        if other not in team:
            team.append(other)
    return team


_TITLES = (
    "{Method} for {Task}",
    "{Method} for {Task}: The Case of {Setting}",
    "{Task} with {Method}",
    "{Task} in the Presence of {Setting}",
    "Towards {Task} with {Setting}: A {Method} Approach",
    "Rethinking {Task}: The Case for {Method}",
    "On the Limits of {Method} in {Task}",
    "{Task} via {Method} and {Other}",
    "Combining {Method} and {Other} for {Task}",
    "A Survey of {Task} with {Setting}",
    "A Comparison of {Method} and {Other} for {Task}",
    "{Name}: {Task} with {Method}",
    "{Name}: {Method} for {Setting}",
    "What Do We Know about {Task} and {Setting}?",
)
_STEMS = [
    "Arb",
    "Cor",
    "Del",
    "Fen",
    "Gal",
    "Hal",
    "Kes",
    "Lum",
    "Mir",
    "Nov",
    "Or",
    "Pel",
    "Quar",
    "Ros",
    "Sol",
    "Tal",
    "Ur",
    "Ver",
    "Wil",
    "Zen",
]
_ENDS = ["a", "ent", "ic", "ion", "is", "on", "or", "um", "yx", "Net", "Flow", "Bench", "Lab"]
_SMALL = frozenset({"of", "and", "in", "on", "with", "for", "the", "to"})


def _paper(
    draw: Draw, topic: dict[str, Any], year: int, team: list[str], titles: set[str]
) -> Paper:
    while True:
        task = draw.pick(topic["tasks"])
        method, other = draw.sample(topic["methods"], 2)
        setting = draw.pick(topic["settings"])
        frame = draw.pick(_TITLES)
        title = frame.format(
            Task=_headline(task),
            Method=_headline(method),
            Other=_headline(other),
            Setting=_headline(setting),
            Name=draw.pick(_STEMS) + draw.pick(_ENDS),
        )
        if title not in titles:
            break
    titles.add(title)
    keywords = [task, method, *([other] if "{Other}" in frame or draw.chance(0.3) else [])]
    if "{Setting}" in frame:
        keywords.append(setting)
    venue = draw.weighted(topic["venues"], (5, 3, 2))
    journal = any(word in venue for word in ("Journal", "Transactions", "Letters"))
    kind = "Journal" if journal else "Conference"
    beyond = int(60 * draw.unit() ** 4 * (1 + (LAST_YEAR - year) / 8))
    return Paper(title, team, year, venue, beyond, keywords, kind)


def _headline(words: str) -> str:
    """Return words as a title writes them: "State of the Art", "Low-Resource Translation".

    >>> _headline("grammar of graphics")
    'Grammar of Graphics'
    """
    parts = [w if w in _SMALL else w[0].upper() + w[1:] for w in words.split()]
    return " ".join(parts)


def _cite(draw: Draw, papers: list[tuple[Paper, int]], topics: list[dict[str, Any]]) -> None:
    """Let papers cite earlier ones: mostly of their topic, the much-cited and their own first."""
    # A paper stands in its topic's pool once, and once more for each citation it has had.
    pools: dict[int, list[Paper]] = {k: [] for k in range(len(topics))}
    before: list[Paper] = []
    by_author: dict[str, list[Paper]] = {}
    for paper, k in papers:
        own = [p for name in paper.authors for p in by_author.get(name, ())]
        for _ in range(draw.between(1, 6)):
            source = own if own and draw.chance(0.2) else pools[k]
            if not source or draw.chance(0.07):
                source = before
            other = draw.pick(source) if source else paper
            if other is not paper and other.title not in paper.cites:
                paper.cites.append(other.title)
                other.n_citation += 1
                pools[k].append(other)
        pools[k].append(paper)
        before.append(paper)
        for name in paper.authors:
            by_author.setdefault(name, []).append(paper)
