"""WebShop: the published pages and moves, the reward by hand, the expert, the rule."""

from __future__ import annotations

import json
import random
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tantivy", reason="pip install 'agentgym[webshop]'")

from agentgym.core import TextEnv, make
from agentgym.core.checker import GARBAGE
from agentgym.core.errors import InvalidConfig, InvalidState
from agentgym.envs.webshop import pages
from agentgym.envs.webshop.editions import mini_stock
from agentgym.envs.webshop.env import WebShopEnv
from agentgym.envs.webshop.nouns import rule_nouns
from agentgym.envs.webshop.product import NO_LIMIT, Goal, Product, Review
from agentgym.envs.webshop.reward import (
    attributes_met,
    options_met,
    reward,
    title_score,
    token_set_ratio,
    wanted_options,
)
from agentgym.envs.webshop.session import Session
from agentgym.envs.webshop.stock import SmallStock
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode

README = Path(__file__).parents[2] / "agentgym" / "envs" / "webshop" / "README.md"

MUG = Product(
    asin="B0MUG00001",
    title="Harbour Stoneware Coffee Mug, Dishwasher Safe",
    category="kitchen",
    query="coffee mugs",
    product_category="Home & Kitchen › Kitchen & Dining › Mugs",
    pricing=(12.0, 17.5),
    description="A mug with a wide handle. Keeps tea hot.",
    bullets=("Dishwasher safe and lead free", "Holds 12 ounces"),
    attributes=("dishwasher safe", "lead free"),
    options={"color": ("navy blue", "rust red"), "size": ("small", "x-large")},
    surcharges={"size": {"x-large": 5.5}},
    reviews=(Review("Good", 4.0, "Does not drip."), Review("Too heavy", 2.0)),
    rating=3.0,
)
PLATE = Product(
    asin="B0PLATE001",
    title="Harbour Dinner Plate",
    category="kitchen",
    query="dinner plates",
    product_category="Home & Kitchen › Kitchen & Dining › Plates",
    pricing=(9.99,),
    bullets=("Lead free",),
    attributes=("lead free",),
)
DRILL = Product(
    asin="B0DRILL001",
    title="Marsh Cordless Drill 18V",
    category="tools",
    query="cordless drills",
    product_category="Tools › Power Tools › Drills",
    pricing=(89.0,),
    attributes=("brushless",),
)
GOAL = Goal.of(
    MUG, "a navy blue mug, x-large", ["dishwasher safe", "lead free"],
    {"color": "navy blue", "size": "x-large"}, 20.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def shop() -> SmallStock:
    return SmallStock("test", [MUG, PLATE, DRILL])


@pytest.fixture(scope="module")
def env() -> TextEnv:
    return make("WebShop")


def visit(shop: SmallStock, *actions: str, attributes: bool = False) -> Session:
    session = Session(shop, "a navy blue mug", attributes)
    for action in actions:
        assert session.act(action) is None, action
    return session


def text_after(shop: SmallStock, *actions: str, attributes: bool = False) -> str:
    return pages.as_text(visit(shop, *actions, attributes=attributes).page)


# The pages, in the published wording and order.


def test_the_search_page(shop: SmallStock) -> None:
    assert text_after(shop) == "WebShop [SEP] Instruction: [SEP] a navy blue mug [SEP] Search"


def test_a_page_of_results(shop: SmallStock) -> None:
    assert text_after(shop, "search[harbour]") == (
        "Instruction: [SEP] a navy blue mug [SEP] Back to Search [SEP] Page 1 (Total results: 2) "
        "[SEP] B0PLATE001 [SEP] Harbour Dinner Plate [SEP] $9.99 [SEP] B0MUG00001 [SEP] Harbour "
        "Stoneware Coffee Mug, Dishwasher Safe [SEP] $12.0 to $17.5"
    )


def test_a_product_page(shop: SmallStock) -> None:
    head = "Instruction: [SEP] a navy blue mug [SEP] Back to Search [SEP] < Prev [SEP] "
    body = (
        "color [SEP] navy blue [SEP] rust red [SEP] size [SEP] small [SEP] x-large [SEP] Harbour "
        "Stoneware Coffee Mug, Dishwasher Safe [SEP] Price: {} [SEP] Rating: 3.0 [SEP] Description "
        "[SEP] Features [SEP] Reviews [SEP] {}Buy Now"
    )
    opened = ("search[mug]", "click[B0MUG00001]")
    assert text_after(shop, *opened) == head + body.format("$12.0 to $17.5", "")
    with_ = text_after(shop, *opened, attributes=True)
    assert with_ == head + body.format("$12.0 to $17.5", "Attributes [SEP] ")
    # Where an option has a price of its own, choosing shows what is to be paid.
    assert text_after(shop, *opened, "click[x-large]") == head + body.format("$17.5", "")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Description", "A mug with a wide handle. Keeps tea hot."),
        ("Features", "Dishwasher safe and lead free [SEP] Holds 12 ounces"),
        ("Reviews", '"Good" [SEP] 4.0 [SEP] Does not drip. [SEP] "Too heavy" [SEP] 2.0'),
        (
            "Attributes",
            "dishwasher safe [SEP] lead free [SEP] kitchen [SEP] coffee mugs [SEP] "
            "Home & Kitchen › Kitchen & Dining › Mugs",
        ),
    ],
)
def test_sub_pages(shop: SmallStock, name: str, said: str) -> None:
    opened = ("search[mug]", "click[b0mug00001]", f"click[{name}]")
    head = "Instruction: [SEP] a navy blue mug [SEP] Back to Search [SEP] < Prev [SEP] "
    assert text_after(shop, *opened, attributes=True) == head + said


def test_empty_sub_pages_say_so(shop: SmallStock) -> None:
    opened = ("search[drill]", "click[b0drill001]")
    for name, said in (
        ("description", "No Description"),
        ("features", "No Features"),
        ("reviews", "No reviews found"),
    ):
        assert text_after(shop, *opened, f"click[{name}]").endswith(f"[SEP] {said}")


def test_the_last_page_is_the_published_one() -> None:
    page = pages.done_page("B0MUG00001", {"color": "navy blue"}, 2 / 3)
    assert pages.as_text(page) == (
        "Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] (Paste it in your MTurk "
        'interface.) [SEP] Purchased [SEP] asin [SEP] B0MUG00001 [SEP] options [SEP] {"color": '
        '"navy blue"} [SEP] attrs [SEP] None [SEP] category [SEP] None [SEP] query [SEP] None '
        "[SEP] product category [SEP] None [SEP] Target [SEP] asin [SEP] options [SEP] attrs [SEP] "
        "price upper [SEP] instuction text [SEP] category [SEP] product category [SEP] query "
        "[SEP] Goal [SEP] None [SEP] Reward [SEP] Your score (min 0.0, max 1.0) [SEP] "
        "0.6666666666666666 [SEP] Reward Details [SEP] None"
    )


def test_rich_text_marks_what_has_been_clicked(shop: SmallStock) -> None:
    session = visit(shop, "search[mug]", "click[b0mug00001]", "click[navy blue]")
    shown = pages.as_rich_text(session.page, session.chosen, session.visited)
    assert shown.startswith("You have clicked navy blue.\nInstruction:\na navy blue mug\n")
    assert "\n[button] Back to Search [button_]\n" in shown
    assert "\n  [clicked button] navy blue [clicked button_]\n" in shown
    assert "\n  [button] rust red [button_]\n" in shown
    session = visit(shop, "search[harbour]", "click[b0mug00001]", "click[< prev]")
    shown = pages.as_rich_text(session.page, session.chosen, session.visited)
    assert "\n\n[clicked button] B0MUG00001 [clicked button_]\n" in shown
    assert "\n\n[button] B0PLATE001 [button_]\n" in shown


class Read(HTMLParser):
    """Reads a page as the published code does: visible texts, and what can be clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.clickables: list[str] = []
        self.checked: list[str] = []
        self.search_bar = False
        self._inside: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag != "input":
            self._inside.append((tag, found))
        elif found.get("type") == "radio":
            self.clickables.append(str(found["value"]))
            self.checked += [str(found["value"])] if "checked" in found else []
        self.search_bar |= found.get("id") == "search_input"

    def handle_endtag(self, tag: str) -> None:
        self._inside.pop()

    def handle_data(self, data: str) -> None:
        tag, attrs = self._inside[-1] if self._inside else ("", {})
        if data.strip() and tag != "title":
            self.texts.append(data.strip())
            if attrs.get("class") in ("btn", "product-link"):
                self.clickables.append(data.lower())


def test_html_holds_the_same_as_the_text(shop: SmallStock) -> None:
    odd = Product(
        asin="B0ODD00001", title='Mug <b>"&amp;"</b> & Co', category="kitchen", query="coffee mugs",
        product_category="A › B", options={'co"lor': ("<red>", "blue & green")},
    )  # fmt: skip
    stock = SmallStock("odd", [odd, MUG])
    for actions in (
        (),
        ("search[mug]",),
        ("search[mug]", "click[b0odd00001]", "click[<red>]"),
        ("search[mug]", "click[b0mug00001]", "click[features]"),
    ):
        session = visit(stock, *actions)
        read = Read()
        read.feed(pages.as_html(session.page, session.chosen))
        assert " [SEP] ".join(read.texts) == pages.as_text(session.page)
        assert sorted(read.clickables) == sorted(session.clickables)
        assert read.checked == list(session.chosen.values())
        assert read.search_bar == (not actions)


# The moves.


def test_moves_lead_where_the_published_ones_do(shop: SmallStock) -> None:
    session = visit(shop, "search[mug]", "click[b0mug00001]", "click[navy blue]")
    assert session.chosen == {"color": "navy blue"}
    assert session.act("click[Features]") is None
    assert session.act("click[< Prev]") is None
    assert (session.where, session.chosen) == ("Item", {"color": "navy blue"})
    assert session.act("click[rust red]") is None
    assert session.chosen == {"color": "rust red"}
    assert session.act("click[< prev]") is None
    assert (session.where, session.chosen) == ("Results", {})
    assert session.act("click[back to search]") is None
    assert (session.where, session.visited) == ("Search", [])
    # A search works from every page, as in the published code.
    assert session.act("search[plate]") is None
    assert session.act("click[b0plate001]") is None
    assert session.act("search[drill]") is None
    assert (session.where, session.keywords) == ("Results", "drill")


def test_ten_hits_a_page() -> None:
    stock = SmallStock("pages", [
        Product(f"B{i:09d}", f"Mug {i}", "kitchen", "mugs", "Kitchen") for i in range(23)
    ])  # fmt: skip
    session = visit(stock, "search[mug]")
    assert "Page 1 (Total results: 23) [SEP] Next > [SEP] B000000000" in pages.as_text(session.page)
    assert "< prev" not in session.clickables
    session.act("click[next >]")
    assert "Page 2 (Total results: 23) [SEP] < Prev [SEP] Next > [SEP]" in pages.as_text(
        session.page
    )
    session.act("click[next >]")
    links = [part.text for part in session.page if part.kind == "link"]
    assert links == ["B000000020", "B000000021", "B000000022"]
    assert session.act("click[next >]") is not None
    session.act("click[b000000021]")
    session.act("click[< prev]")
    assert session.number == 3
    session.act("click[< prev]")
    assert session.number == 2


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("dance", "'dance' is no action. Write search[keywords] or click[value]."),
        ("", "nothing is no action"),
        ("search[]", "Say what to search for"),
        ("search mug", "is no action"),
        ("click[search]", "write the words"),
        ("click[b0plate009]", "Did you mean click[b0plate001]?"),
        ("click[buy now]", "You can click: back to search, b0plate001, b0mug00001."),
        ("buy[now]", "is no action"),
    ],
)
def test_what_cannot_be_done_is_answered_with_what_can(
    shop: SmallStock, action: str, said: str
) -> None:
    session = visit(shop, "search[harbour]")
    before = session.save()
    answer = session.act(action)
    assert answer is not None
    assert said in answer
    assert session.save() == before


@pytest.mark.parametrize(
    "action", ["Click[Navy Blue]", " click[navy blue] ", "CLICK[ navy blue ]", "click[navy blue]."]
)
def test_ways_of_writing_the_same_action(shop: SmallStock, action: str) -> None:
    assert visit(shop, "search[mug]", "click[b0mug00001]", action).chosen == {"color": "navy blue"}


# The reward, by hand.


def test_a_full_score() -> None:
    worth = reward(MUG, GOAL, {"color": "navy blue", "size": "x-large"})
    assert (worth.total, worth.type, worth.price) == (1.0, 1.0, True)
    assert (worth.attributes, worth.options) == ((2, 2), (2, 2))


def test_each_thing_missed_costs_its_share() -> None:
    # 2 attributes + 2 options + price = 5 shares; 17.50 is within 20, 17.50 is not within 15.
    both = {"color": "navy blue", "size": "x-large"}
    assert reward(MUG, GOAL, {"color": "navy blue"}).total == 4 / 5
    assert reward(MUG, GOAL, {}).total == 3 / 5
    cheap = Goal.of(MUG, "x", GOAL.attributes, GOAL.options, 15.0)
    assert reward(MUG, cheap, both).total == 4 / 5
    assert reward(MUG, cheap, {"color": "navy blue"}).total == 4 / 5  # 12.00 fits, one size short
    more = Goal.of(MUG, "x", ["dishwasher safe", "gold rim"], GOAL.options, 20.0)
    assert reward(MUG, more, both).total == 4 / 5
    assert reward(MUG, Goal.of(MUG, "x", ["lead free"]), {}).total == 1.0


def test_a_related_thing_counts_half_a_foreign_one_nothing() -> None:
    # Mug and plate share two levels of category and the noun "Harbour" of the mug's six: 1/6.
    assert rule_nouns(MUG.title) == (
        "harbour", "stoneware", "coffee", "mug", "dishwasher", "safe",
    )  # fmt: skip
    worth = reward(PLATE, GOAL, {})
    assert worth.category_match
    assert not worth.query_match
    assert worth.title_score == 1 / 6
    assert worth.type == 1.0
    assert worth.total == (1 + 0 + 1) / 5  # lead free, and the price
    # The same plate in another place of the shop is half right.
    elsewhere = Goal.of(MUG, "x", GOAL.attributes, GOAL.options, 20.0)
    apart = Product(**{**_fields(PLATE), "product_category": "Garden › Pots"})
    assert reward(apart, elsewhere, {}).type == 0.5
    assert reward(apart, elsewhere, {}).total == 0.5 * 2 / 5
    assert reward(DRILL, GOAL, {}).total == 0.0


def test_hardly_a_noun_in_common_counts_a_tenth() -> None:
    long = Goal.of(
        Product("B1", "Aa Bb Cc Dd Ee Ff Gg Hh Ii Jj Kk", "c", "q", "X › Y"), "x", ["lead free"]
    )  # fmt: skip
    bought = Product("B2", "Kk Mm", "c", "q", "X › Y", attributes=("lead free",))
    worth = reward(bought, long, {})
    assert worth.title_score == 1 / 11
    assert (worth.type, worth.total) == (0.1, 0.1)


def test_a_title_without_nouns_scores_a_fifth() -> None:
    assert title_score("Mug", "for the 12") == 0.2
    one = Product("B1", "for the 12", "c", "other", "Z")
    assert reward(MUG, Goal.of(one, "x", ["lead free"]), {}).type == 0.5


def _fields(product: Product) -> dict[str, Any]:
    return {name: getattr(product, name) for name in Product.__dataclass_fields__}


@pytest.mark.parametrize(
    ("attribute", "met"),
    [
        ("dishwasher safe", 1),  # listed
        ("dishwashers safe", 1),  # alike: 97 of 100
        ("keeps tea", 1),  # in the description
        ("wide handle", 1),
        ("12 ounces", 1),  # in the bullets
        ("stoneware", 1),  # in the title
        ("porcelain", 0),
        ("Keeps Tea", 0),  # the published comparison lowers the product's words only
    ],
)
def test_an_attribute_is_met_by_likeness_or_by_the_texts(attribute: str, met: int) -> None:
    assert attributes_met(MUG, [attribute]) == met


def test_options_are_compared_by_their_colours_and_words() -> None:
    assert options_met(["navy blue", "x-large"], ["blue", "x-large"]) == 2
    assert options_met(["light blue"], ["('color', 'dark blue')"]) == 1  # "blue" comes first
    assert options_met(["light navy"], ["dark"]) == 0  # "light" comes before "navy"
    assert options_met(["x-large"], ["size x large"]) == 1
    assert options_met(["small"], ["x-large"]) == 0
    assert options_met([], ["red"]) == 0
    named = Goal.of(MUG, "x", ["a"], {"color": "red", "size": "rust red"})
    assert wanted_options(named) == ["red", "('size', 'rust red')"]
    assert wanted_options(Goal.of(MUG, "x", ["a"], ["rust red"])) == ["red"]


# Published in WebShop's own tests (tests/web-agent-site/engine/test_goal.py), which spaCy passes.
BASKETBALL = "adidas Unisex-Adult D.o.n. Issue 2 Basketball Shoe"
COURT = "adidas Unisex-Adult D.o.n. Issue 2 Indoor Court Shoe"
CORD = "Saireed UL Listed 2 Prong Power Cord for JBL Bar 3.1 Bar 2.1 Channel 4K Ultra HD Soundbar"
OUTLET = (
    "BRST AC Power Cord Outlet Socket Cable Plug Lead for Panasonic SC-HT830V DVD/VCR Combo Home "
    "Theater System"
)


@pytest.mark.parametrize(
    ("wanted", "bought", "score"),
    [
        (BASKETBALL, COURT, 6 / 7),
        (f"{CORD} Home Theater System Subwoofer", OUTLET, 5 / 16),
        (CORD, OUTLET, 2 / 12),
        (
            "Rusticware 921ORB Kitchen and Bath Cabinet Knob",
            "Minkissy 2pcs Stainless Steel Eyebrow Tweezers Blackhead Acne Remover Portable Makeup "
            "Tweezers (Silver)",
            0.0,
        ),
    ],
)
def test_nouns_score_as_in_the_published_tests(wanted: str, bought: str, score: float) -> None:
    assert title_score(bought, wanted) == score


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("essential oil", "essential oils", 96),
        ("cool powder snow", "powder snow", 100),
        ("tea bag", "tea tree", 60),
        ("", "x", 0),
        ("?", "x", 0),
        ("café", "caf", 100),  # read as ASCII
        ("Pack of 12", "12 PACK of", 100),
    ],
)
def test_likeness_of_words(one: str, other: str, ratio: int) -> None:
    assert token_set_ratio(one, other) == ratio


@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_is_within_bounds_and_full_for_the_same_words(one: str, other: str) -> None:
    assert 0 <= token_set_ratio(one, other) <= 100
    words = [w for w in one.encode("ascii", "ignore").decode().split() if w.isalnum()]
    if words:
        assert token_set_ratio(" ".join(words), " ".join(reversed(words))) == 100


# The environment.


def test_an_episode_in_every_mode(env: TextEnv) -> None:
    task = env.tasks.split("eval")[0]
    for mode in ("text", "text_rich", "html"):
        shop = make("WebShop", observation_mode=mode, show_actions=True)
        observation, info = shop.reset(options={"task_id": task.id})
        assert info["goal"] in observation or mode == "html"
        assert observation.endswith('{"has_search_bar": true, "clickables": ["search"]}')
        assert info["actions"] is None
        expert, ended = shop.expert(), False
        while not ended:
            observation, _, ended, _, info = shop.step(expert.act(observation, info)[1])
        assert info["success"]
        assert info["purchase"]["total"] == info["score"] == 1.0
        assert observation.endswith('{"has_search_bar": false, "clickables": []}')


def test_hints_come_with_the_mini_edition_and_can_be_turned_off(env: TextEnv) -> None:
    first, _ = env.reset(seed=0)
    observation, *_, info = env.step("click[buy now]")
    assert observation == (
        "Invalid Action. There is nothing to click on this page: search[keywords] first.\n\n"
        + first
    )
    assert not info["valid"]
    plain = make("WebShop", hints=False)
    first, _ = plain.reset(seed=0)
    observation, *_, info = plain.step("click[buy now]")
    assert (observation, info["valid"]) == (first, False)


@pytest.mark.parametrize(
    "options",
    [
        {"observation_mode": "url"},
        {"title_nouns": "nltk"},
        {"goals": "human"},
        {"products": "1000"},
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        make("WebShop", **options)


def test_spacy_is_named_where_it_is_missing() -> None:
    pytest.importorskip("tantivy")
    try:
        import spacy  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        with pytest.raises(InvalidConfig, match="python -m spacy download en_core_web_lg"):
            make("WebShop", title_nouns="spacy")


def solve(env: TextEnv, task_id: str) -> dict[str, Any]:
    observation, info = env.reset(options={"task_id": task_id})
    expert, ended = env.expert(), False
    while not ended:
        thought, action = expert.act(observation, info)
        assert thought.endswith(".")
        observation, _, terminated, truncated, info = env.step(action)
        assert info["valid"], (action, observation)
        ended = terminated or truncated
    return info


def test_the_expert_gets_a_full_score_on_every_mini_task(env: TextEnv) -> None:
    infos = [solve(env, task.id) for task in env.tasks]
    assert len(infos) == 1200
    assert all(info["score"] == 1.0 and info["success"] for info in infos)
    assert max(info["rounds"] for info in infos) <= 12


def test_the_expert_makes_do_with_few_rounds(env: TextEnv) -> None:
    short = make("WebShop", max_rounds=8)
    for task in env.tasks.split("eval")[:40]:
        assert solve(short, task.id)["score"] == 1.0


@settings(max_examples=25, deadline=None)
@given(index=st.integers(0, 1199), seed=st.integers(0, 99), played=st.integers(1, 12))
def test_the_expert_takes_over_from_anywhere(index: int, seed: int, played: int) -> None:
    env = WebShopEnv(max_rounds=100)
    rng = np.random.default_rng(seed)
    observation, info = env.reset(options={"task_id": f"webshop_{index}"})
    expert = env.expert()
    ended = False
    while not ended:
        action = expert.act(observation, info)[1]
        if info["rounds"] < played:
            action = env.sample_action(rng)
            action = "search[mug]" if action == "click[buy now]" else action
        observation, _, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
    assert info["score"] == 1.0


def test_the_rule_buys_the_first_hit_of_the_instruction(env: TextEnv) -> None:
    total = wins = 0
    for task in env.tasks.split("eval"):
        _, info = env.reset(options={"task_id": task.id})
        rule, actions, ended = env.rule_baseline(), [], False  # type: ignore[attr-defined]
        while not ended:
            actions.append(rule.act("", info)[1])
            _, _, ended, _, info = env.step(actions[-1])
        assert actions[0] == f"search[{info['goal']}]"
        assert len(actions) == 3
        assert actions[2] == "click[buy now]"
        total, wins = total + info["score"], wins + info["success"]
    assert 0.4 < total / 200 < 0.8
    assert wins / 200 < 0.2


def test_chance_scores_little(env: TextEnv) -> None:
    rng = np.random.default_rng(0)
    total = 0.0
    for task in env.tasks.split("eval")[:60]:
        env.reset(options={"task_id": task.id})
        ended = False
        while not ended:
            _, _, terminated, truncated, info = env.step(env.sample_action(rng))
            ended = terminated or truncated
        total += info["score"]
    assert total / 60 < 0.3


def test_a_snapshot_restores_the_visit_without_replay(env: TextEnv) -> None:
    env.reset(options={"task_id": "webshop_57"})
    env.step("search[face moisturizers]")
    env.step("click[next >]")
    env.step(next(a for a in env.step("click[< prev]")[4]["actions"] if a.startswith("click[b0")))
    state = json.loads(json.dumps(env.get_state()))
    assert state["engine"]["where"] == "Item"
    here = env.render()
    env.step("click[back to search]")
    env.set_state(state)
    assert env.render().split("\n", 1)[1] == here.split("\n", 1)[1]
    for damage in ({"where": "Nowhere"}, {"asin": "B0NOTHING1"}, {"number": 0}, {"chosen": 7}):
        with pytest.raises(InvalidState):
            env.set_state({**state, "engine": {**state["engine"], **damage}})


def test_the_same_everywhere_under_any_hash_seed() -> None:
    code = (
        "import hashlib, numpy as np; from agentgym.core import make\n"
        "env = make('WebShop'); rng = np.random.default_rng(1); said = []\n"
        "for i in range(0, 1200, 100):\n"
        "    said.append(str(env.reset(options={'task_id': f'webshop_{i}'})))\n"
        "    said.append(str(env.expert().act('', {})))\n"
        "    for _ in range(9):\n"
        "        said.append(str(env.step(env.sample_action(rng))))\n"
        "        if env._terminated: break\n"
        "print(len(said), hashlib.sha256('\\n'.join(said).encode()).hexdigest())\n"
    )
    first, second = outputs_under_hash_seeds(code)
    assert first == second
    assert int(first.split()[0]) > 50


WORDS = ("search[", "click[", "]", "[", "mug", "buy now", "< prev", "next >", "b0", "features",
         "\x00", "%s", "{0}", "'", "é", "\ud800", "(a+)+$", "AND", "OR NOT", "*:*",
         "9" * 30)  # fmt: skip


def test_thousands_of_garbage_actions(env: TextEnv) -> None:
    shop = WebShopEnv(max_rounds=100_000)
    shop.reset(seed=3)
    draw = random.Random(0)
    for i in range(4_000):
        if i % 40 == 0:
            action = GARBAGE[(i // 40) % len(GARBAGE)]
        else:
            action = " ".join(draw.choice(WORDS) for _ in range(draw.randrange(8)))
        observation, _, terminated, _, _ = shop.step(action)
        assert 0 < len(observation) < 20_000
        if terminated:
            shop.reset(seed=3)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.builds("search[{}]".format, st.text()),
        st.builds("click[{}]".format, st.text()),
    )
)
def test_no_text_breaks_it(action: str) -> None:
    shop = WebShopEnv()
    shop.reset(seed=1)
    observation, _, _, _, info = shop.step(action)
    assert observation.strip()
    assert info["valid"] == action.strip().lower().startswith("search[") or not info["valid"]


def test_prices_of_options_add_up_and_are_shown(env: TextEnv) -> None:
    stock = mini_stock()
    place, name, value = next(
        (i, name, max(added, key=added.__getitem__))
        for i in range(len(stock))
        for name, added in stock.product(i).surcharges.items()
        if added
    )
    product = stock.product(place)
    assert product.cost({name: value}) == round(
        product.pricing[0] + product.surcharges[name][value], 2
    )
    assert product.price_tag == f"${product.pricing[0]} to ${product.pricing[1]}"
    assert product.pricing[1] < NO_LIMIT


def test_the_episode_in_the_readme_is_what_its_code_prints() -> None:
    printed, said = readme_episode(README)
    assert printed == said
