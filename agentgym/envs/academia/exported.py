"""The published network, brought as JSON.

AgentBoard keeps the DBLP network in pickled graphs, and to open a pickle is to run what is in it,
so they are not read here. Whoever has them writes `network.json` once (the README has the script),
a format that can only hold data:

    {"papers": [{"title", "authors", "year", "venue", "n_citation", "keywords", "doc_type",
                 "cites"}, ...],
     "authors": [{"name", "org"}, ...]}
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.core.data import find_data
from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json
from agentgym.envs.academia.network import Author, Network, Paper

FILE = "network.json"


def load_exported(data_dir: str | None) -> Network:
    """Return the published network.

    Args:
        data_dir: the data folder; it must hold `academia/network.json`.

    Raises:
        MissingData: if it does not.
        InvalidConfig: if the file is no network; the message says where it is wrong.
    """
    path = find_data("academia", FILE, folder=data_dir) / FILE
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int) -> Network:
    try:
        held = parse_json(path.read_text(encoding="utf-8"))
        authors = [Author(str(a["name"]), str(a["org"])) for a in held["authors"]]
        papers = [_paper(row) for row in held["papers"]]
        known, titles = {a.name for a in authors}, {p.title for p in papers}
        written = {name for paper in papers for name in paper.authors}
        authors += [Author(name, "") for name in sorted(written - known)]
        for paper in papers:
            paper.cites = [title for title in paper.cites if title in titles]
        return Network(papers, authors)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidConfig(
            f"{path} is no network ({type(error).__name__}: {error}); write it anew as the "
            "README of Academia shows"
        ) from error


def _paper(row: Any) -> Paper:
    return Paper(
        str(row["title"]),
        [str(name) for name in row["authors"]],
        int(row["year"]),
        str(row["venue"]),
        int(row["n_citation"]),
        [str(word) for word in row["keywords"]],
        str(row["doc_type"]),
        [str(title) for title in row["cites"]],
    )
