"""What shoppers ask of the mini shop, in their own words.

A goal is made from a product: one to three of its attributes, a value for most of its options, and
often a limit, chosen as the published code does (the larger of two of the four steps of ten dollars
above the price). The instruction says all of it and nothing else, in one of four voices: as the
published instructions do ("shop"), as one sentence ("plain"), as a note ("terse"), or as a little
story with a reason ("story").

Some products are kept for eval goals, and some kinds are kept for them altogether.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.webshop.catalogue import Item
from agentgym.envs.webshop.drafts import Draft
from agentgym.envs.webshop.kinds import Trait, own_attributes, table
from agentgym.envs.webshop.product import NO_LIMIT, Goal
from agentgym.envs.webshop.writing import article

TRAIN, EVAL, EVAL_HELD_OUT = 1000, 200, 50
"""Train goals, eval goals, and how many of these are for kinds without train goals."""
LADDER = [10.0 * step for step in range(1, 100)]
"""The published upper prices."""
VOICES = ("shop", "shop", "plain", "terse", "story", "story")

Row = tuple[str, str, Mapping[str, Any]]


def goal_rows(items: Sequence[Item]) -> Iterator[Row]:
    """Yield the split, kind and spec of every task."""
    draw = Draw("webshop mini goals 1")
    mixed = draw.shuffled(item for item in items if item.product.options)
    held_out = [item for item in mixed if item.draft.kind.held_out]
    seen = [item for item in mixed if not item.draft.kind.held_out]
    evals = held_out[:EVAL_HELD_OUT] + seen[: EVAL - EVAL_HELD_OUT]
    trains = seen[EVAL - EVAL_HELD_OUT :][:TRAIN]
    splits = [("eval", item) for item in evals] + [("train", item) for item in trains]
    for split, item in draw.shuffled(splits):
        yield split, *_task(item, draw)


def _task(item: Item, draw: Draw) -> tuple[str, Mapping[str, Any]]:
    traits = _wanted(item.draft, draw)
    product = item.product
    asked = [name for name in product.options if draw.chance(0.8)] or list(product.options)[:1]
    options = {name: draw.pick(product.options[name]) for name in asked}
    limit = _limit(product.cost(options), draw)
    voice = draw.pick(VOICES)
    words = instruction(item.draft, traits, options, limit, voice, draw)
    goal = Goal.of(product, words, [t.attribute for t in traits], options, limit)
    constraints = len(traits) + len(options) + (limit < NO_LIMIT)
    level = "short" if constraints <= 4 else "medium" if constraints == 5 else "long"
    spec = {
        **goal.to_spec(),
        "product_kind": item.draft.kind.name,
        "constraints": constraints,
        "voice": voice,
        "held_out": item.draft.kind.held_out,
    }
    return f"{product.category}-{level}", spec


def _wanted(draft: Draft, draw: Draw) -> list[Trait]:
    """Return one to three traits, of which one says what kind of thing is meant, if any does.

    The published reward lets another kind of thing pass where a few words of the titles agree. With
    a trait that no other kind has, only the kind that was asked for gets the full reward.
    """
    traits = draw.sample(draft.traits, draw.weighted((1, 2, 3), (0.2, 0.45, 0.35)))
    own = [trait for trait in draft.traits if trait.attribute in own_attributes(draft.kind.name)]
    if own and not any(trait in own for trait in traits):
        traits[0] = draw.pick(own)
    return traits


def _limit(price: float, draw: Draw) -> float:
    steps = [step for step in LADDER if step > price][:4]
    two = draw.sample(steps, 2)
    return max(two) if len(two) == 2 and draw.chance(0.9) else NO_LIMIT


def instruction(
    draft: Draft,
    traits: Sequence[Trait],
    options: Mapping[str, str],
    limit: float,
    voice: str,
    draw: Draw,
) -> str:
    """Return what the shopper says.

    Args:
        draft: what is asked for.
        traits: the traits to name.
        options: the values to name, by option.
        limit: the most it may cost in dollars, or `NO_LIMIT`.
        voice: "shop", "plain", "terse" or "story".
        draw: where the choice of words comes from.
    """
    frames: dict[str, list[str]] = table("frames")
    many = draft.kind.number == "many"
    bare = voice == "terse" and draw.chance(0.7)
    words = {"np": noun_phrase(draft, traits, draw, bare), "options": "", "price": ""}
    chosen = _joined([_spoken(name, value, draw) for name, value in options.items()])
    words["chosen"] = f" {chosen}" if chosen else ""
    it = "them" if many else "it"
    choose = draw.pick(frames["choose"]).format(it=it, It="They" if many else "It", chosen=chosen)
    words["choose"] = choose if chosen else ""
    if options:
        words["options"] = " with " + ", and ".join(f"{n}: {v}" for n, v in options.items())
    words["limit"] = words["spend"] = ""
    if limit < NO_LIMIT:
        words["price"] = f", and price lower than {limit:.2f} dollars"
        words["limit"] = draw.pick(frames["limit_many" if many else "limit"]).format(p=int(limit))
        words["spend"] = draw.pick(frames["spend"]).format(p=int(limit))
    words["context"] = draw.pick(draft.kind.department.contexts).format(np=words["np"])
    said = draw.pick(frames[voice]).format(**words)
    return " ".join(said.split())


def noun_phrase(draft: Draft, traits: Sequence[Trait], draw: Draw, bare: bool = False) -> str:
    """Return the thing with these traits: "a machine washable linen dress with side pockets"."""
    facets = [t.phrase for t in draft.facets if t in traits and t.place == "before"]
    adjectives = [t.phrase for t in traits if t not in draft.facets and t.place == "before"]
    before = " ".join([", ".join(adjectives), *facets]).strip()
    thing: str = draw.pick(draft.kind.asks)
    if before.split()[-1:] == thing.split()[:1]:  # "a chunky knit cardigan", not "knit knit"
        thing = thing.partition(" ")[2]
    phrase = f"{before} {thing}".strip()
    for trait in traits:
        if trait.place == "after":
            phrase += f" {trait.phrase}"
    for trait in traits:
        if trait.place == "as":
            phrase += f" as {trait.phrase}"
    parts = [trait.phrase for trait in traits if trait.place == "with"]
    if parts:
        phrase += f" with {_joined(parts)}"
    if bare or draft.kind.number == "many":
        return phrase
    return f"{'some' if draft.kind.number == 'some' else article(phrase)} {phrase}"


def _spoken(name: str, value: str, draw: Draw) -> str:
    shop = table("shop")
    ways: list[str] = shop["options"].get(name, shop["other_option"])
    return draw.pick(ways).format(v=value)


def _joined(parts: Sequence[str]) -> str:
    """Return phrases as a list in words: "a, b and c"."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
