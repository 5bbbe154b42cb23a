"""Pictures of products: a drawing of the kind of thing, in the colour that was chosen.

There are no photographs, since nothing in the mini catalogue exists. `pictures.json` holds some
fifty shapes, drawn for this in a box of 200 by 200 as paths in the main colour (m), a darker (d)
and a lighter one (l), or green (g); the words of a product's query choose its shape.
"""

from __future__ import annotations

import json
import re
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

from agentgym.envs.webshop.product import Product

_TONES = ("#3f74c6", "#c26a48", "#4c8c57", "#7b55ab", "#cf9f2d", "#23858a", "#d98093", "#53575e")


def picture(product: Product, color: str = "") -> str:
    """Return a product's picture as an SVG document.

    Args:
        product: the product.
        color: what was chosen as its colour, if something was.
    """
    first = next((v[0] for n, v in product.options.items() if "color" in n and v), "")
    main = _tone(color) or _tone(first) or _TONES[zlib.crc32(product.asin.encode()) % len(_TONES)]
    paints = {"m": main, "d": _mix(main, "#14161a", 0.35), "l": _mix(main, "#ffffff", 0.5)}
    paints["g"] = "#5f9a62"
    parts = _drawings()["shapes"][_shape(product.query)]
    paths = "".join(f'<path d="{path}" fill="{paints[paint]}"/>' for paint, path in parts)
    light = min(_channels(main)) > 200  # white things stand before a ground they show on
    back = "#c9d2d6" if light else _mix(main, "#f6f4ef", 0.86)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200" role="img">'
        f'<rect width="200" height="200" fill="{back}"/>'
        '<ellipse cx="100" cy="176" rx="66" ry="7" fill="#000" opacity=".08"/>'
        f'<g stroke="#000" stroke-opacity=".12" stroke-width="1.5">{paths}</g></svg>'
    )


@cache
def _shape(query: str) -> str:
    for words, shape in _drawings()["kinds"]:
        if re.search(rf"\b(?:{words})", query):
            return str(shape)
    return "box"


def _tone(color: str) -> str:
    """Return the colour that the last colour word of a value names, or ""."""
    colors = _drawings()["colors"]
    found = [word for word in re.findall(r"[a-z]+", color.lower()) if word in colors]
    return str(colors[found[-1]]) if found else ""


@cache
def _drawings() -> dict[str, Any]:
    text = (files("agentgym.envs.webshop.site") / "pictures.json").read_text(encoding="utf-8")
    drawings: dict[str, Any] = json.loads(text)
    return drawings


def _mix(one: str, other: str, share: float) -> str:
    channels = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in channels)


def _channels(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]
