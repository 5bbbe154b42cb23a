"""WebShop's official edition, on a small folder in the published format."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("tantivy", reason="pip install 'agentgym[webshop]'")

from agentgym.core import make
from agentgym.core.checker import check_env
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.envs.webshop import goalmaker, jsonstream, warehouse
from agentgym.envs.webshop.editions import official_stock, official_tasks
from agentgym.envs.webshop.goalmaker import PRICES, upper_price
from agentgym.envs.webshop.product import NO_LIMIT, Product, Review
from agentgym.envs.webshop.published import read_options, read_pricing, read_product
from agentgym.envs.webshop.shuffle import Published
from agentgym.envs.webshop.warehouse import Warehouse, decode, encode, write_warehouse
from tests.envs.shop import asin, item, known, write_folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("AGENTGYM_CACHE", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "data")


# The published order and draws.


@given(st.integers(2, 300))
@settings(max_examples=30)
def test_the_shuffle_is_pythons_own(size: int) -> None:
    expected = list(range(size))
    random.Random(233).shuffle(expected)
    assert Published().shuffled(range(size)) == expected


def test_the_pairs_are_what_pythons_sample_draws() -> None:
    ours, pythons = Published(), random.Random(233)
    for size in (4, 4, 3, 2, 4, 3) * 20:
        items = list(range(size))
        assert list(ours.pair(items)) == pythons.sample(items, 2)


def test_an_upper_price_is_one_of_the_four_tens_above() -> None:
    draws = Published()
    seen = {upper_price(12.99, draws)[0] for _ in range(200)}
    assert seen == {30.0, 40.0, 50.0}  # the higher of two of 20, 30, 40, 50
    assert upper_price(12.99, draws)[1].startswith(", and price lower than ")
    assert upper_price(20.0, Published())[0] > 20.0
    assert upper_price(985.0, draws) == (NO_LIMIT, "")
    assert upper_price(975.0, draws) == (990.0, ", and price lower than 990.00 dollars")
    assert PRICES[0] == 10.0
    assert PRICES[-1] == 990.0


def test_goals_are_those_the_published_code_makes(root: Path) -> None:
    """The same, written the published way: one list, one generator, seeded twice."""
    draw = random.Random(233)
    goals = []
    for i in range(60):
        row, facts = item(i), known(i)
        if "instruction" not in facts:
            continue
        pricing = read_pricing(row["pricing"])
        price = sum(pricing) / len(pricing)
        above = [p for p in PRICES if p > price][:4]
        upper = sorted(draw.sample(above, 2))[1]
        options = read_options(row["customization_options"])
        combinations: list[dict[str, str]] = [{}]
        for name in sorted(options):
            combinations = [{**c, name: value} for c in combinations for value in options[name]]
        for chosen in combinations:
            said = ", and ".join(f"{k}: {v}" for k, v in chosen.items())
            text = facts["instruction"] + (f" with {said}" if said else "")
            goals.append(
                (asin(i), f"{text}, and price lower than {upper:.2f} dollars", chosen, upper)
            )
    random.Random(233).shuffle(goals)
    tasks = official_tasks(str(root))
    assert len(goals) == len(tasks) == 71
    for task, (code, text, chosen, upper) in zip(tasks, goals, strict=True):
        assert task.spec["asin"] == code
        assert task.spec["instruction"] == text
        assert task.spec["options"] == chosen
        assert task.spec["price_upper"] == upper


def test_human_goals_as_an_option(root: Path) -> None:
    env = make("WebShop", edition="official", data_dir=str(root), goals="human")
    assert len(env.tasks) == 12  # the ones without attributes are left out
    texts = sorted(task.spec["instruction"] for task in env.tasks)
    assert texts[0].startswith("i would like a lamp in navy blue, and price lower than ")
    assert env.tasks.version == "1000-human-standin-1"
    assert env.tasks[0].spec["options"] == ["navy blue"]


def test_the_split_is_the_published_list_where_it_is_there(root: Path) -> None:
    assert official_tasks(str(root)).sizes == {"train": 0, "eval": 71}
    (root / "webshop" / "eval_ids.json").write_text(json.dumps(["webshop_3", 7, "webshop_70"]))
    tasks = official_tasks(str(root))
    assert [task.id for task in tasks.split("eval")] == ["webshop_3", "webshop_7", "webshop_70"]
    assert tasks.version == "1000-synthetic-listed-1"


# The published rows.


def test_a_row_is_read_as_the_published_loader_reads_it() -> None:
    row = {**item(2), "small_description": "one text", "full_description": None}
    said = [{"title": "Fine", "stars": 4, "review": "Good."}, {"title": "Meh", "score": 2}]
    product = read_product(row, known(2), {"average_rating": 4.5, "reviews": said})
    assert product.title == row["name"]
    assert product.query == "men's t-shirts"
    assert product.options == {"color": ("navy blue", "red | white"), "size": ("small", "large")}
    assert product.bullets == ("one text",)
    assert product.description == ""
    assert product.reviews == (Review("Fine", 4.0, "Good."), Review("Meh", 2.0, ""))
    assert product.shown_rating == "4.5"
    bare = read_product(item(7), {})
    assert bare.attributes == ("DUMMY_ATTR",)
    assert bare.price_tag == "$100.0"
    assert bare.shown_rating == "N.A."


@pytest.mark.parametrize(
    ("text", "prices"),
    [
        ("$10.99", (10.99,)),
        ("$5.99$12.00", (5.99, 12.0)),
        ("$1.00$2.00$3.00", (1.0, 2.0)),
        ("$1,299.00", (1299.0,)),
        ("$5.99 - $12.00 each", (5.99, 12.0)),
        ("", (100.0,)),
        (None, (100.0,)),
        ("call us", (100.0,)),
        ("$...", (100.0,)),
    ],
)
def test_prices(text: Any, prices: tuple[float, ...]) -> None:
    assert read_pricing(text) == prices


def test_products_are_found_by_place_and_code(root: Path) -> None:
    stock = official_stock(str(root))
    assert len(stock) == 60  # one repetition, two codes that are none
    assert [stock.product(i).asin for i in (0, 3, 59)] == [asin(0), asin(3), asin(59)]
    assert stock.place(asin(12)) == 12
    assert stock.get("B0NOTHERE0") is None
    with pytest.raises(IndexError):
        stock.product(60)
    assert stock.product(stock.find("usb charging desk lamp")[0]).query == "desk lamps"


def test_a_range_of_prices_costs_its_middle(root: Path) -> None:
    product = official_stock(str(root)).get(asin(3))
    assert product is not None
    assert product.price_tag == "$8.5 to $12.5"
    assert product.cost({"color": "navy blue"}) == 10.5


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(TEXT, max_size=4), st.dictionaries(TEXT, st.lists(TEXT, max_size=3), max_size=3))
@settings(max_examples=50)
def test_a_product_survives_storage(bullets: list[str], options: dict[str, list[str]]) -> None:
    product = Product(
        "B1", "Mug", "c", "q", "p", (1.0, 2.0), "d", tuple(bullets), ("a",),
        {name: tuple(values) for name, values in options.items()}, {"size": {"large": 1.5}},
        (Review("t", 4.0, "b"),), 4.5,
    )  # fmt: skip
    assert decode(encode(product)) == product


# The environment.


@pytest.mark.parametrize("options", [{}, {"goals": "human", "observation_mode": "text_rich"}])
def test_contract(root: Path, options: dict[str, Any]) -> None:
    failed = [
        c for c in check_env("WebShop", edition="official", data_dir=str(root), **options)
        if not c.passed
    ]  # fmt: skip
    assert not failed


def test_the_expert_gets_a_full_score_within_ten_rounds(root: Path) -> None:
    env = make("WebShop", edition="official", data_dir=str(root))
    for task in env.tasks:
        observation, info = env.reset(options={"task_id": task.id})
        expert, ended = env.expert(), False
        while not ended:
            observation, _, terminated, truncated, info = env.step(expert.act(observation, info)[1])
            ended = terminated or truncated
        assert info["score"] == 1.0


def test_as_published_it_has_no_attributes_page_and_gives_no_hints(root: Path) -> None:
    env = make("WebShop", edition="official", data_dir=str(root))
    env.reset(options={"task_id": "webshop_0"})
    page, *_ = env.step("search[mug]")
    observation, *_, info = env.step("nonsense")
    assert (observation, info["valid"]) == (page, False)
    observation, *_ = env.step(next(a for a in info["actions"] if a.startswith("click[b0")))
    assert observation.endswith("[SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now")


def test_all_products_go_with_the_human_goals(tmp_path: Path) -> None:
    root = write_folder(tmp_path, name="")
    env = make("WebShop", edition="official", data_dir=str(root))
    assert env.tasks.version == "all-human-standin-1"
    synthetic = make("WebShop", edition="official", data_dir=str(root), goals="synthetic")
    assert synthetic.tasks.version == "all-synthetic-standin-1"


def test_more_goals_than_can_be_held_are_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(goalmaker, "MOST_GOALS", 20)
    with pytest.raises(InvalidConfig, match=r"more than 20 synthetic goals.*goals='human'"):
        official_tasks(str(root))


# What can be wrong with the files.


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"items_shuffle_1000\.json, items_ins_v2_1000\.json"):
        make("WebShop", edition="official", data_dir=str(tmp_path))
    root = write_folder(tmp_path, human=False)
    with pytest.raises(InvalidConfig, match=r"items_human_ins\.json"):
        make("WebShop", edition="official", data_dir=str(root), goals="human")
    with pytest.raises(MissingData, match=r"items_shuffle\.json"):
        make("WebShop", edition="official", data_dir=str(root), products="all")
    with pytest.raises(InvalidConfig, match="one of 1000, all"):
        make("WebShop", edition="official", data_dir=str(root), products="500")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("items_shuffle_1000.json", "", "was expected"),
        ("items_shuffle_1000.json", "{}", "'\\[' was expected"),
        ("items_shuffle_1000.json", '[{"asin": "B1"}]', "product 0 of .* KeyError"),
        ("items_shuffle_1000.json", '[{"asin": "B1",', "Fetch it again"),
        ("items_shuffle_1000.json", "[" * 100_000, "nested too deeply"),
        ("items_shuffle_1000.json", "[7]", "product 0"),
        ("items_ins_v2_1000.json", "[]", "'\\{' was expected"),
        ("items_ins_v2_1000.json", '{"B000000000": 7}', "product 0"),
        ("items_ins_v2_1000.json", "{}", "no product has an instruction"),
        ("items_human_ins.json", "[", "cannot be read"),
        ("items_human_ins.json", "[]", "must hold an object"),
    ],
)
def test_malformed_files_are_named(root: Path, name: str, text: str, said: str) -> None:
    (root / "webshop" / name).write_text(text)
    with pytest.raises(InvalidConfig, match=said):
        make("WebShop", edition="official", data_dir=str(root))


def test_bytes_that_are_no_text_are_named(root: Path) -> None:
    (root / "webshop" / "items_shuffle_1000.json").write_bytes(b'[{"asin": "\xff\xfe"}]')
    with pytest.raises(InvalidConfig, match=r"items_shuffle_1000\.json"):
        make("WebShop", edition="official", data_dir=str(root))


def test_other_files_are_another_catalogue(root: Path, own_cache: Path) -> None:
    assert len(official_stock(str(root))) == 60
    write_folder(root, size=40)
    stock = warehouse.Warehouse
    from agentgym.envs.webshop.official import open_catalogue

    assert isinstance(open_catalogue("1000", str(root)), stock)
    assert len(open_catalogue("1000", str(root))) == 40
    assert len(list((own_cache / "webshop").glob("official-*"))) == 2


@pytest.mark.parametrize("damage", ["database", "index"])
def test_a_damaged_catalogue_is_stored_anew(root: Path, own_cache: Path, damage: str) -> None:
    from agentgym.envs.webshop.official import open_catalogue

    open_catalogue("1000", str(root))
    (folder,) = (own_cache / "webshop").glob("official-*")
    hurt = folder / "products.sqlite" if damage == "database" else folder / "index" / "meta.json"
    hurt.write_bytes(hurt.read_bytes()[: hurt.stat().st_size // 2])
    assert len(open_catalogue("1000", str(root))) == 60


def test_a_warehouse_is_only_read(tmp_path: Path) -> None:
    write_warehouse([Product("B1", "Mug", "c", "q", "p")], tmp_path)
    stock = Warehouse(tmp_path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        stock._connected().execute("DELETE FROM product")
    assert stock.product(0).title == "Mug"


# Reading large files in pieces.


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False,
    allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
@given(rows=st.lists(JSON, max_size=5), indent=st.sampled_from([None, 1]))
@example(rows=[0.0, 1e300, -2.5e-07, 12], indent=None)
@settings(max_examples=40, deadline=None)
def test_pieces_of_any_size_give_the_same_entries(
    piece: int, rows: list[Any], indent: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("json") / "list.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonstream, "_PIECE", piece)
        path.write_text(json.dumps(rows, indent=indent), encoding="utf-8")
        assert list(jsonstream.entries(path)) == rows
        table = {str(i): row for i, row in enumerate(rows)}
        path.write_text(json.dumps(table, indent=indent), encoding="utf-8")
        assert dict(jsonstream.items(path)) == table
