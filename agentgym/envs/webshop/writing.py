"""How the mini shop words a product: title, bullets, description, reviews.

Sellers differ: each brand keeps to one way of writing bullets, and titles follow one of a handful
of patterns. Only the traits a product has are claimed; what a title leaves out is in the bullets,
the description or the attributes.
"""

from __future__ import annotations

from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.webshop.drafts import Draft
from agentgym.envs.webshop.kinds import Trait, table
from agentgym.envs.webshop.product import Product, Review

_SYMBOLS = "ABCDEFGHJKLMNPQRSTVWXYZ123456789"
_ALL = 2**40 - 1
_STARS = "5" * 12 + "4" * 8 + "3" * 4 + "2" * 2
_TITLES = (
    "{brand} {model} {facets} {noun}, {features}, {use}",
    "{brand} {facets} {noun} - {features} - {use}",
    "{facets} {noun} by {brand}, {features} ({model})",
    "{brand} {model} {facets} {noun} | {features} | {use}",
    "{brand} {facets} {noun}, {features}, {model} Series",
)


def product_of(draft: Draft, draw: Draw) -> Product:
    """Return a draft put into words."""
    sentences = draw.shuffled(draft.traits)
    shown = sentences[: draw.between(4, 6)]
    reviews = _reviews(draft, draw)
    stars = [review.score for review in reviews]
    return Product(
        asin=_code(draft.serial),
        title=_title(draft, draw),
        category=draft.kind.department.category,
        query=draft.kind.query,
        product_category=draft.kind.path,
        pricing=_pricing(draft),
        description=_description(draft, sentences[len(shown) :], draw),
        bullets=tuple(_bullet(trait, draft.brand) for trait in shown),
        attributes=tuple(trait.attribute for trait in draft.traits),
        options=draft.options,
        surcharges=draft.surcharges,
        reviews=reviews,
        rating=round(sum(stars) / len(stars), 1),
    )


def article(word: str) -> str:
    """Return the article of what follows it.

    >>> article("oak desk"), article("usb cable"), article("18v drill"), article("spf 30 lotion")
    ('an', 'a', 'an', 'an')
    """
    if word.startswith(("us", "uv", "u ", "uni", "one")):
        return "a"
    return "an" if word.startswith((*"aeiou", "8", "18v", "spf", "s2 ")) else "a"


def _code(serial: int) -> str:
    """Return a code in the shop's style: another one for every number up to 2 ** 40."""
    number = serial * 0x9E3779B97F4A7C15 & _ALL
    number = (number ^ number >> 20) * 0xC2B2AE3D27D4EB4F & _ALL
    number ^= number >> 20
    return "B0" + "".join(_SYMBOLS[number >> shift & 31] for shift in range(0, 40, 5))


def _pricing(draft: Draft) -> tuple[float, ...]:
    most = draft.price + sum(max(extra.values()) for extra in draft.surcharges.values())
    return (draft.price, round(most, 2)) if most > draft.price else (draft.price,)


def _title(draft: Draft, draw: Draw) -> str:
    shown = list(draft.facets)
    if len(shown) > 2 and draw.chance(0.4):
        shown.remove(draw.pick(shown[1:]))
    # Whom it is for comes first: "Women's Cable Knit ...".
    shown.sort(key=lambda trait: trait.place != "after")
    features = draw.sample(draft.features, draw.between(1, 3))
    pattern = _TITLES[_style(draft.brand, len(_TITLES))] if draw.chance(0.6) else draw.pick(_TITLES)
    between = " | " if "|" in pattern else " - " if " - " in pattern else ", "
    return pattern.format(
        brand=draft.brand,
        model=draft.model,
        noun=draft.noun,
        facets=" ".join(trait.title for trait in shown),
        features=between.join(trait.title for trait in features),
        use=draft.use,
    )


def _style(brand: str, ways: int) -> int:
    return sum(brand.encode()) % ways


def _bullet(trait: Trait, brand: str) -> str:
    if trait.sentence.rstrip(".").lower() == trait.attribute:
        return trait.title
    style = _style(brand, 4)
    if style == 1:
        return f"{trait.title.upper()}: {trait.sentence}"
    if style == 2:
        return f"【{trait.title}】{trait.sentence}"
    if style == 3:
        return f"{trait.title} - {trait.sentence}"
    return trait.sentence


def _description(draft: Draft, unsaid: list[Trait], draw: Draw) -> str:
    shop: dict[str, Any] = table("shop")
    kind, ask = draft.kind, draft.kind.asks[0]
    words = {"brand": draft.brand, "model": draft.model, "use": draft.use, "ask": ask}
    words["an_ask"] = f"{article(ask)} {ask}"
    words["An_ask"] = words["an_ask"].capitalize()
    opener = draw.pick(shop["openers"][kind.number]).format(**words)
    parts = [opener, *draw.sample(kind.about, draw.between(2, 3))]
    parts += [trait.sentence for trait in unsaid[:2]]
    if draw.chance(0.7):
        parts.append(draw.pick(shop["closers"]).format(**words))
    return " ".join(parts)


def _reviews(draft: Draft, draw: Draw) -> tuple[Review, ...]:
    voices, kind = table("shop")["reviews"], draft.kind
    found: list[Review] = []
    # Nobody says the same twice: whoever comes next takes the next sentence, while there are any.
    said, moaned = draw.below(len(kind.praise)), draw.below(len(kind.gripes))
    for i in range(draw.between(2, min(5, len(kind.praise)))):
        stars = draw.pick(_STARS)
        middle = [kind.praise[(said + i) % len(kind.praise)]] if stars in "54" else []
        if stars in "432" and i < len(kind.gripes):
            middle.append(kind.gripes[(moaned + i) % len(kind.gripes)])
        title = draw.pick(voices["titles"][stars])
        if not middle or any(review.title == title for review in found):
            continue
        lead, tail = draw.pick(voices["lead"][stars]), draw.pick(voices["tail"][stars])
        body = " ".join(part for part in (lead, *middle, tail) if part)
        found.append(Review(title, float(stars), body.replace("{brand}", draft.brand)))
    return tuple(found) or (Review("As described", 4.0, kind.praise[0]),)
