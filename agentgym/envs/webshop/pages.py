"""The pages of the shop, and the three ways an agent can be shown one.

A page is a list of parts in reading order: plain text, buttons, links to products, and values of
options. `as_text`, `as_rich_text` and `as_html` write the same list in the published observation
modes, so that they cannot disagree; what can be clicked follows from it too. The wording and order
are those of the published text environment, the markup of the HTML is our own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal, NamedTuple

from agentgym.envs.webshop.product import Product

PER_PAGE = 10
SEPARATOR = " [SEP] "

SEARCH, BACK, NEXT, PREVIOUS, BUY = "Search", "Back to Search", "Next >", "< Prev", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")


class Part(NamedTuple):
    """A piece of a page.

    Attributes:
        kind: what it is; all but text can be clicked.
        text: what it says.
        name: the option it is a value of.
    """

    kind: Literal["text", "button", "link", "option"]
    text: str
    name: str = ""


Page = list[Part]


def search_page(instruction: str) -> Page:
    """Return the page with the search bar."""
    return [_text("WebShop"), _text("Instruction:"), _text(instruction), _button(SEARCH)]


def results_page(instruction: str, products: Sequence[Product], number: int, total: int) -> Page:
    """Return a page of search results.

    Args:
        instruction: what is asked for.
        products: the ten or fewer products of this page.
        number: the page's number, from 1.
        total: hits on all pages.
    """
    page = _head(instruction)
    page.append(_text(f"Page {number} (Total results: {total})"))
    if number > 1:
        page.append(_button(PREVIOUS))
    if number * PER_PAGE < total:
        page.append(_button(NEXT))
    for product in products:
        page += [Part("link", product.asin), _text(product.title), _text(product.price_tag)]
    return page


def item_page(
    instruction: str, product: Product, chosen: Mapping[str, str], attributes: bool
) -> Page:
    """Return a product's page.

    Args:
        instruction: what is asked for.
        product: the product.
        chosen: the options chosen so far.
        attributes: whether there is a button for the attributes.
    """
    page = [*_head(instruction), _button(PREVIOUS)]
    for name, values in product.options.items():
        page.append(_text(name))
        page += [Part("option", value, name) for value in values]
    # Where options have prices of their own, the price is that of what has been chosen.
    exact = product.surcharges and chosen
    price = f"${product.cost(chosen)}" if exact else product.price_tag
    page += [_text(product.title), _text(f"Price: {price}")]
    page.append(_text(f"Rating: {product.shown_rating}"))
    page += [_button(name) for name in SUB_PAGES if attributes or name != "Attributes"]
    page.append(_button(BUY))
    return page


def sub_page(instruction: str, product: Product, name: str) -> Page:
    """Return a product's description, features, reviews or attributes.

    Args:
        instruction: what is asked for.
        product: the product.
        name: one of `SUB_PAGES`.
    """
    page = [*_head(instruction), _button(PREVIOUS)]
    if name == "Description":
        page.append(_text(product.description or "No Description"))
    elif name == "Features":
        page += [_text(bullet) for bullet in product.bullets or ("No Features",)]
    elif name == "Attributes":
        page += [_text(attribute) for attribute in product.attributes]
        page += [_text(product.category), _text(product.query), _text(product.product_category)]
    else:
        for review in product.reviews:
            page += [_text(f'"{review.title}"'), _text(str(review.score)), _text(review.body)]
        if not product.reviews:
            page.append(_text("No reviews found"))
    return page


def done_page(asin: str, chosen: Mapping[str, str], reward: float) -> Page:
    """Return the page after a purchase, with the fields the published one leaves empty."""
    lines = (
        "Thank you for shopping with us!", "Your code:", "None",
        "(Paste it in your MTurk interface.)", "Purchased", "asin", asin, "options",
        json.dumps(chosen), "attrs", "None", "category", "None", "query", "None",
        "product category", "None", "Target", "asin", "options", "attrs", "price upper",
        "instuction text", "category", "product category", "query", "Goal", "None", "Reward",
        "Your score (min 0.0, max 1.0)", str(reward), "Reward Details", "None",
    )  # fmt: skip
    return [_text(line) for line in lines]


def clickables(page: Page) -> dict[str, Part]:
    """Return what can be clicked by its lower-case label: buttons and links, then options."""
    found = {p.text.lower(): p for p in page if p.kind in ("button", "link")}
    found.update((p.text, p) for p in page if p.kind == "option")
    return found


def as_text(page: Page) -> str:
    """Return a page as the published `text` mode shows it."""
    said = [part.text.strip() for part in page]
    return SEPARATOR.join([text for text in said if text])


def as_rich_text(page: Page, chosen: Mapping[str, str], visited: Sequence[str]) -> str:
    """Return a page as the published `text_rich` mode shows it.

    Args:
        page: the page.
        chosen: the options chosen so far.
        visited: codes of the products whose pages have been opened.
    """
    head, lines = "", []
    for kind, text, _ in page:
        if kind == "button":
            lines.append(f"[button] {text} [button_]")
        elif kind == "option" and text in chosen.values():
            head = f"You have clicked {text}.\n{head}"
            lines.append(f"  [clicked button] {text} [clicked button_]")
        elif kind == "option":
            lines.append(f"  [button] {text} [button_]")
        elif kind == "link":
            clicked = "clicked " if text in visited else ""
            lines.append(f"\n[{clicked}button] {text} [{clicked}button_]")
        else:
            lines += [text.strip()] if text.strip() else []
    return head + "".join(f"{line}\n" for line in lines)


def as_html(page: Page, chosen: Mapping[str, str]) -> str:
    """Return a page as HTML with the ids and classes by which the published code reads one.

    Args:
        page: the page.
        chosen: the options chosen so far.
    """
    lines = ["<!DOCTYPE html>", "<html>", "<head><title>WebShop</title></head>", "<body>"]
    for i, (kind, text, name) in enumerate(page):
        said = escape(text)
        if kind == "button":
            if text == SEARCH:
                lines.append('<input id="search_input" type="text" name="search_query" required>')
            lines.append(f'<button type="submit" class="btn">{said}</button>')
        elif kind == "link":
            lines.append(f'<a class="product-link" href="#{said}">{said}</a>')
        elif kind == "option":
            checked = " checked" if chosen.get(name.lower()) == text else ""
            value = f'name="{escape(name)}" value="{said}"{checked}'
            lines.append(f'<input type="radio" id="option_{i}" {value}>')
            lines.append(f'<label for="option_{i}">{said}</label>')
        else:
            lines.append(f"<p>{said}</p>")
    return "\n".join([*lines, "</body>", "</html>"])


def _head(instruction: str) -> Page:
    return [_text("Instruction:"), _text(instruction), _button(BACK)]


def _text(text: str) -> Part:
    return Part("text", text)


def _button(text: str) -> Part:
    return Part("button", text)
