"""What a product of the mini shop is, before it is put into words.

Products come in families: one brand's model, and others that differ from it by a trait, an option
or the price alone. These near-duplicates are what makes the shop worth searching, since a title
rarely says everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agentgym.core.draw import Draw
from agentgym.envs.webshop.kinds import Choice, Kind, Trait

_ENDINGS = (0.99, 0.99, 0.95, 0.49, 0.89, 0.0)
_CHANGES = ("facet", "facet", "lose", "swap", "swap", "dear", "options")


@dataclass(frozen=True, slots=True)
class Draft:
    """One product, undescribed.

    Attributes:
        serial: its number, unique in its catalogue; its code follows from it.
        kind: what it is.
        brand: who makes it.
        model: what they call it.
        noun: what its title calls it.
        facets: one trait of each facet of the kind.
        features: further traits.
        use: what its title says it is for.
        price: the lowest price, in dollars.
        options: values by option name.
        surcharges: dollars by option name and value, above the lowest price.
    """

    serial: int
    kind: Kind
    brand: str
    model: str
    noun: str
    facets: tuple[Trait, ...]
    features: tuple[Trait, ...]
    use: str
    price: float
    options: Mapping[str, tuple[str, ...]]
    surcharges: Mapping[str, Mapping[str, float]]

    @property
    def traits(self) -> tuple[Trait, ...]:
        """Everything it is and has."""
        return self.facets + self.features


def family(
    kind: Kind, number: int, brand: str, model: str, draw: Draw, size: int
) -> Iterator[Draft]:
    """Yield a model and its near-duplicates, no two of the same make-up.

    Args:
        kind: what they are.
        number: the family's number, unique in its catalogue.
        brand: who makes them.
        model: what they call them.
        draw: where every choice comes from.
        size: number of drafts, 10 at most; fewer where the tables have no more to tell apart.
    """
    first = _first(kind, number * 10, brand, model, draw)
    yield first
    seen = {_make_up(first)}
    for i in range(1, size):
        other = _changed(first, number * 10 + i, draw)
        if _make_up(other) not in seen:
            seen.add(_make_up(other))
            yield other


def _first(kind: Kind, serial: int, brand: str, model: str, draw: Draw) -> Draft:
    facets = _facets(kind, draw)
    features: list[Trait] = []
    wanted = draw.between(3, 5)
    for trait in draw.shuffled(kind.features):
        if len(features) == wanted:
            break
        if _goes(kind, trait, (*facets, *features)):
            features.append(trait)
    low, high = kind.prices
    price = _ending(low + (high - low) * draw.unit() ** 1.7, draw)
    noun, use = draw.pick(kind.nouns), draw.pick(kind.uses)
    options, surcharges = _options(kind, (*facets, *features), price, draw)
    return Draft(
        serial, kind, brand, model, noun, facets, tuple(features), use, price, options, surcharges
    )


def _facets(kind: Kind, draw: Draw) -> tuple[Trait, ...]:
    """Return a trait of each facet, all of which go together."""
    while True:
        chosen: list[Trait] = []
        for facet in kind.facets:
            fitting = [trait for trait in facet if _goes(kind, trait, chosen)]
            if fitting:
                chosen.append(draw.pick(fitting))
        if len(chosen) == len(kind.facets):
            return tuple(chosen)


def _goes(kind: Kind, trait: Trait, others: Iterable[Trait]) -> bool:
    return trait.attribute not in kind.refused(other.attribute for other in others)


def _changed(draft: Draft, serial: int, draw: Draw) -> Draft:
    """Return a near-duplicate: one change that may decide, and another price."""
    change = draw.pick(_CHANGES)
    price = _ending(draft.price * (0.86 + 0.3 * draw.unit()), draw)
    facets, features = draft.facets, draft.features
    if change == "facet":
        facets = _other_facet(draft, draw)
    elif change == "lose" and len(features) > 2:
        gone = draw.below(len(features))
        features = features[:gone] + features[gone + 1 :]
    elif change == "swap":
        features = _other_feature(draft, draw)
    elif change == "dear":
        price = _ending(draft.price * (1.35 + 0.6 * draw.unit()), draw)
    kind, noun = draft.kind, draw.pick(draft.kind.nouns)
    options, surcharges = _options(kind, facets + features, price, draw)
    return Draft(
        serial, kind, draft.brand, draft.model, noun, facets, features, draft.use, price,
        options, surcharges,
    )  # fmt: skip


def _other_facet(draft: Draft, draw: Draw) -> tuple[Trait, ...]:
    place = draw.below(len(draft.facets))
    rest = [t for t in draft.traits if t is not draft.facets[place]]
    others = [
        trait
        for trait in draft.kind.facets[place]
        if trait is not draft.facets[place] and _goes(draft.kind, trait, rest)
    ]
    if not others:
        return draft.facets
    return (*draft.facets[:place], draw.pick(others), *draft.facets[place + 1 :])


def _other_feature(draft: Draft, draw: Draw) -> tuple[Trait, ...]:
    place = draw.below(len(draft.features))
    rest = [t for t in draft.traits if t is not draft.features[place]]
    others = [
        trait
        for trait in draft.kind.features
        if trait not in draft.features and _goes(draft.kind, trait, rest)
    ]
    if not others:
        return draft.features
    return (*draft.features[:place], draw.pick(others), *draft.features[place + 1 :])


def _options(
    kind: Kind, traits: Iterable[Trait], price: float, draw: Draw
) -> tuple[dict[str, tuple[str, ...]], dict[str, dict[str, float]]]:
    """Return options drawn from those that go with the traits, and what their values add."""
    options: dict[str, tuple[str, ...]] = {}
    surcharges: dict[str, dict[str, float]] = {}
    scale = 0.6 + 0.8 * min(1.0, price / kind.prices[1])
    refused = kind.refused(trait.attribute for trait in traits)
    for choice in kind.choices:
        fitting = [value for value in choice.values if value not in refused]
        values = _values(choice, fitting, draw)
        if not values:
            continue
        options[choice.name] = values
        if choice.surcharges:
            least = min(choice.surcharges.get(v, 0.0) for v in values)
            extra = {v: round((choice.surcharges.get(v, 0.0) - least) * scale) for v in values}
            surcharges[choice.name] = {v: float(dollars) for v, dollars in extra.items()}
    return options, surcharges


def _values(choice: Choice, fitting: list[str], draw: Draw) -> tuple[str, ...]:
    """Return the values a product comes in: a run of a scale, some of a palette, or none."""
    if len(fitting) < 2 or draw.chance(0.1):
        return ()
    if choice.ordered:
        length = draw.between(2, len(fitting))
        start = draw.below(len(fitting) - length + 1)
        return tuple(fitting[start : start + length])
    kept = set(draw.sample(fitting, draw.between(2, min(6, len(fitting)))))
    return tuple(value for value in fitting if value in kept)


def _ending(dollars: float, draw: Draw) -> float:
    """Return a price as shops write it."""
    return max(3.0, int(dollars)) + draw.pick(_ENDINGS)


def _make_up(draft: Draft) -> tuple[object, ...]:
    traits = tuple(sorted(t.attribute for t in draft.traits))
    return (traits, tuple(draft.options.items()), int(draft.price) // 10)
