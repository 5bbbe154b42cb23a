"""Full-text search over the products: BM25 by tantivy, with an order that is the same everywhere.

Why tantivy: it and `bm25s` were both measured (`benchmarks/webshop.py`, its results beside it).
`bm25s` lets one set Lucene's k1 and b, and on the mini catalogue either will do. But it counts the
whole corpus in memory and adds up a float a product for every query: a million products took it
2.8 GB to index and 78 ms a search. tantivy takes products as they stream by, writes its segments to
disk, reads them memory-mapped and skips what cannot reach the first fifty: 146 MB and 3 ms.

The order of hits never depends on the machine. Scores that differ by less than a ten-thousandth
are one score, so that neither another library's logarithm nor another order of addition moves a
hit; hits of one score stand in the order of the products. Text is cut at what is no letter or
digit, lower-cased, rid of Lucene's 33 stop words and stemmed (Porter 2). A query is words, never
a query language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from agentgym.core.extras import require
from agentgym.envs.webshop.words import words

EXTRA, WHAT = "webshop", "The WebShop environment"
HITS = 50
"""Hits of a search, as published."""
MOST_TERMS = 64
"""Distinct words of a query that are looked up; the rest is left out."""
MOST_TIED = 8192
"""Hits of one score that are put in order; where more are tied, tantivy chooses among them."""
SAME = 1e-4
"""Relative difference below which two scores are one."""

_WRITER_BYTES = 64 * 2**20


def version() -> str:
    """Return the engine's version, as part of a folder's name ("0.27.0-7").

    An index is read by the version that wrote it. The engine says two: its own and its format's.
    """
    return "-".join(re.findall(r"\d[\w.]*", str(_engine().__version__)))


def write_index(texts: Iterable[str], folder: Path | None) -> Any:
    """Index texts, numbered as they come.

    Args:
        texts: what is searched, one text a product; read once, as a stream.
        folder: an empty folder to write to, or None to keep the index in memory.

    Returns:
        tantivy's index.
    """
    engine = _engine()
    index = _register(engine.Index(_schema(), path=str(folder) if folder else None))
    # One thread: the order of documents in the index is then the order of the products.
    writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)
    for place, text in enumerate(texts):
        writer.add_document(engine.Document(text=text, place=place))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def open_index(folder: Path) -> Any:
    """Open an index that `write_index` wrote, memory-mapped.

    Raises:
        ValueError: if it cannot be read.
    """
    return _register(_engine().Index.open(str(folder)))


class Search:
    """Finds products by words.

    Args:
        index: tantivy's index.
    """

    def __init__(self, index: Any) -> None:
        self._engine = _engine()
        self._schema = index.schema
        self._searcher = index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def find(self, said: str) -> tuple[int, ...]:
        """Return the places of the products that fit best, best first; `HITS` at most."""
        query = self._query(said)
        if query is None:
            return ()
        limit = HITS + 14
        while True:
            hits = self._searcher.search(query, limit, count=False).hits
            places = self._searcher.fast_field_values("place", [at for _, at in hits])
            groups = _group([score for score, _ in hits], places)
            closed = sum(map(len, groups[:-1]))
            if len(hits) < limit or closed >= HITS or limit > MOST_TIED:
                return tuple(place for group in groups for place in group)[:HITS]
            limit *= 2  # the score of the last hit may go on past what was fetched

    def _query(self, said: str) -> Any:
        engine, query = self._engine, self._engine.Query
        # A lone surrogate is no text to tantivy.
        text = said.encode("utf-8", "replace").decode("utf-8")
        counts = Counter(_analyzer().analyze(text))
        clauses = []
        for term, count in list(counts.items())[:MOST_TERMS]:
            clause = query.term_query(self._schema, "text", term, "freq")
            clause = query.boost_query(clause, float(count)) if count > 1 else clause
            clauses.append((engine.Occur.Should, clause))
        return query.boolean_query(clauses) if clauses else None


def _group(scores: list[float], places: list[int]) -> list[list[int]]:
    """Return the places in groups of one score, best first, each in the order of the products."""
    groups: list[list[int]] = []
    last = 0.0
    for score, place in zip(scores, places, strict=True):
        if not groups or last - score > SAME * last:
            groups.append([])
        groups[-1].append(place)
        last = score
    return [sorted(group) for group in groups]


def _engine() -> Any:
    return require("tantivy", WHAT, EXTRA)


@cache
def _analyzer() -> Any:
    engine = _engine()
    steps = engine.Filter
    builder = engine.TextAnalyzerBuilder(engine.Tokenizer.simple()).filter(steps.remove_long(60))
    builder = builder.filter(steps.lowercase()).filter(steps.custom_stopword(list(words("stop"))))
    return builder.filter(steps.stemmer("english")).build()


def _schema() -> Any:
    builder = _engine().SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="product", index_option="freq")
    builder.add_integer_field("place", fast=True)
    return builder.build()


def _register(index: Any) -> Any:
    index.register_tokenizer("product", _analyzer())
    index.config_reader("Manual", 1)
    return index
