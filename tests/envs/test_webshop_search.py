"""The search: an order that never changes, a cache that survives damage and rivals."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tantivy", reason="pip install 'agentgym[webshop]'")

from agentgym.envs.webshop import cache
from agentgym.envs.webshop.editions import mini_stock
from agentgym.envs.webshop.product import Product
from agentgym.envs.webshop.search import HITS, Search, _group, open_index, write_index
from agentgym.envs.webshop.stock import REMEMBERED, SmallStock, digest
from agentgym.envs.webshop.tasks import mini_tasks

MINI_HITS = "fc8ff11b1151e28adf17fc7c8684d1a4048f198764b6cf9d2180449406382b12"
"""Digest of the hits of every mini instruction, in order; the same on every machine."""


def product(number: int, text: str) -> Product:
    return Product(f"B{number:09d}", text, "c", "q", "p")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "webshop"


def memory(*texts: str) -> Search:
    return Search(write_index(texts, None))


def test_what_fits_best_comes_first() -> None:
    search = memory("red mug", "a red red mug of clay and some more words", "blue mug", "lamp")
    assert search.find("red mug")[:2] == (0, 1)
    assert search.find("Lamps!") == (3,)  # case, punctuation and the plural do not matter
    assert search.find("the of and") == ()
    assert search.find("zeppelin") == ()
    assert search.find("") == ()


def test_ties_stand_in_the_order_of_the_products() -> None:
    search = memory(*["mug"] * 200, "mug mug lamp")
    assert search.find("mug lamp") == (200, *range(49))
    # The order does not depend on where the index was cut: the same texts one by one.
    assert memory(*["mug"] * 70).find("mug") == tuple(range(HITS))


def test_scores_that_differ_by_rounding_are_one_score() -> None:
    scores = [5.0, 4.00001, 4.0, 3.0]
    assert _group(scores, [9, 8, 7, 6]) == [[9], [7, 8], [6]]
    assert _group([4.0, 4.00001 - 1e-5], [2, 1]) == [[1, 2]]
    assert _group([], []) == []


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_no_words_break_the_search(words: str) -> None:
    hits = mini_stock().find(words)
    assert len(hits) <= HITS
    assert len(set(hits)) == len(hits)


@pytest.mark.parametrize(
    "words", ['title:"x"', "AND OR NOT", "(", "mug^9", "*", "\ud800", "a" * 9_000, "mug " * 2_000]
)
def test_a_query_is_words_and_no_language(words: str) -> None:
    assert memory("mug", "a title of x").find(words) in ((), (0,), (1,))


def test_the_hits_of_the_mini_instructions_are_the_same_everywhere() -> None:
    stock = mini_stock()
    sum_ = hashlib.sha256()
    for task in mini_tasks():
        sum_.update(f"{stock.find(task.spec['instruction'].lower())}\n".encode())
    assert sum_.hexdigest() == MINI_HITS


def test_what_is_remembered_is_bounded() -> None:
    stock = SmallStock("bounded", [product(0, "mug")])
    for i in range(REMEMBERED + 100):
        assert stock.find(f"mug {i}") == (0,)
    stock.find("mug " * 500)  # a long one is not kept
    assert stock._remembered.cache_info().currsize == REMEMBERED


# The cache.


def test_an_index_is_built_once_and_opened_from_then_on(own_cache: Path) -> None:
    products = [product(i, f"mug {i}") for i in range(20)]
    first = SmallStock("once", products).find("mug 7")
    (folder,) = own_cache.glob("once-*")
    made = (folder / cache.SEAL).stat().st_mtime_ns
    assert SmallStock("once", products).find("mug 7") == first
    assert (folder / cache.SEAL).stat().st_mtime_ns == made
    # Another content is another folder.
    SmallStock("once", [*products, product(20, "lamp")])
    assert len(list(own_cache.glob("once-*"))) == 2
    assert not list(own_cache.glob(".once-*"))


def test_a_digest_covers_every_field() -> None:
    one = product(0, "mug")
    other = Product(**{**{n: getattr(one, n) for n in Product.__dataclass_fields__}, "rating": 4.0})
    assert digest([one]) != digest([other])
    assert digest([one]) == digest([product(0, "mug")])


def put_in_place(file: Path, content: bytes) -> None:
    """Put another file in the place of one.

    The index just used may still be mapped in memory by a thread of tantivy's: a file that is cut
    under its reader ends the process, whoever reads it.
    """
    fresh = file.with_name("fresh")
    fresh.write_bytes(content)
    fresh.replace(file)


@pytest.mark.parametrize("damage", ["cut", "garbled", "missing", "no seal", "seal"])
def test_a_damaged_index_is_built_anew(own_cache: Path, damage: str) -> None:
    products = [product(i, f"mug {i}") for i in range(20)]
    first = SmallStock("hurt", products).find("mug 7")
    (folder,) = own_cache.glob("hurt-*")
    files = sorted(p for p in (folder / "index").iterdir() if p.suffix in (".idx", ".term"))
    if damage == "cut":
        put_in_place(files[0], files[0].read_bytes()[:-3])
    elif damage == "garbled":
        put_in_place(files[-1], bytes(b ^ 255 for b in files[-1].read_bytes()))
    elif damage == "missing":
        (folder / "index" / "meta.json").unlink()
    elif damage == "no seal":
        (folder / cache.SEAL).unlink()
    else:
        (folder / cache.SEAL).write_text("{")
    assert SmallStock("hurt", products).find("mug 7") == first
    assert cache.sound(folder)


def test_one_wrong_byte_of_a_small_file_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "index.idx"
    file.write_bytes(bytes(1_500_000))
    cache.seal(tmp_path)
    assert cache.sound(tmp_path)
    file.write_bytes(bytes(700_000) + b"x" + bytes(799_999))
    assert not cache.sound(tmp_path)


def test_the_folder_of_an_index_has_a_plain_name(own_cache: Path) -> None:
    SmallStock("plain", [product(0, "mug")])
    (folder,) = own_cache.glob("plain-*")
    assert re.fullmatch(r"plain-tantivy-[\d.]+-\d+-[0-9a-f]{20}", folder.name)


def test_a_cache_that_cannot_be_written_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setenv("AGENTGYM_CACHE", str(file))
    assert SmallStock("nowhere", [product(0, "mug")]).find("mug") == (0,)


def test_a_build_that_fails_leaves_nothing(own_cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        cache.built("failing", fail)
    assert list(own_cache.iterdir()) == []


def build_slowly(folder: Path) -> None:
    time.sleep(0.3)
    (folder / "whole.json").write_text(json.dumps({"by": os.getpid()}))


def build_in_a_process(queue: multiprocessing.Queue) -> None:
    place = cache.built("raced", build_slowly)
    queue.put(json.loads((place / "whole.json").read_text())["by"])


def test_two_that_build_at_once_end_with_one_whole_folder(own_cache: Path) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    rivals = [context.Process(target=build_in_a_process, args=(queue,)) for _ in range(3)]
    for rival in rivals:
        rival.start()
    winners = {queue.get(timeout=60) for _ in rivals}
    for rival in rivals:
        rival.join(60)
        assert rival.exitcode == 0
    assert len(winners) == 1
    assert [p.name for p in own_cache.iterdir()] == ["raced"]


def test_an_index_opens_memory_mapped(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    write_index((f"mug {i}" for i in range(300)), folder)
    search = Search(open_index(folder))
    assert len(search) == 300
    assert search.find("mug 299")[0] == 299
    (folder / "meta.json").write_text("{")
    with pytest.raises(ValueError, match="meta"):
        open_index(folder)
