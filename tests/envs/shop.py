"""A small folder of products in the published WebShop format, invented here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KINDS: dict[str, tuple[str, str, str]] = {
    "mug": ("kitchen", "coffee mugs", "Home & Kitchen › Kitchen & Dining › Mugs"),
    "lamp": ("home", "desk lamps", "Home & Kitchen › Lighting › Desk Lamps"),
    "shirt": ("fashion", "men's t-shirts", "Clothing › Men › Shirts › T-Shirts"),
    "soap": ("beauty", "hand soaps", "Beauty & Personal Care › Hands › Soaps"),
}
TRAITS = {
    "mug": ("dishwasher safe", "bpa free", "easy clean"),
    "lamp": ("energy efficient", "eye protection", "usb charging"),
    "shirt": ("machine wash", "long lasting", "short sleeve"),
    "soap": ("cruelty free", "natural ingredients", "long lasting"),
}
MAKERS = ("Harbour", "Quillon", "Marsh & Fen", "Oddby", "Tallow")


def asin(number: int) -> str:
    return f"B0{number:08d}"


def item(number: int) -> dict[str, Any]:
    """Return product `number` as a row of items_shuffle.json."""
    kind = tuple(KINDS)[number % 4]
    category, query, place = KINDS[kind]
    traits = [TRAITS[kind][(number // 4 + k) % 3] for k in range(2)]
    maker = MAKERS[number % 5]
    row: dict[str, Any] = {
        "asin": asin(number),
        "name": f"{maker} {traits[0].title()} {kind.title()} No. {number}",
        "category": category,
        "query": f" {query.title()} ",
        "product_category": place,
        "full_description": f"A {kind} by {maker}. It is {traits[1]}.",
        "small_description": [f"{traits[0].capitalize()} and {traits[1]}", "Gift ready"],
        "pricing": f"${10 + number}.99" if number % 3 else f"${number + 5}.50${number + 9}.50",
        "customization_options": {
            "Color": [{"value": "Navy Blue ", "image": None}, {"value": "red/white"}],
            "size": [{"value": "small"}, {"value": "large"}] if kind == "shirt" else None,
        },
        "images": ["https://example.org/a.jpg"],
        "brand": maker,
    }
    if number == 7:
        row["customization_options"] = {}
        row["pricing"] = None
    return row


def known(number: int) -> dict[str, Any]:
    """Return product `number` in items_ins_v2.json."""
    kind = tuple(KINDS)[number % 4]
    traits = [TRAITS[kind][(number // 4 + k) % 3] for k in range(2)]
    row: dict[str, Any] = {"attributes": traits}
    if number % 2 or number < 8:
        row["instruction"] = f"Find me {traits[0]} {KINDS[kind][1]}"
        row["instruction_attributes"] = traits[:1]
    return row


def written(number: int) -> list[dict[str, Any]]:
    """Return product `number` in items_human_ins.json."""
    kind = tuple(KINDS)[number % 4]
    return [
        {
            "instruction": f"i would like a {kind} in navy blue.",
            "instruction_attributes": [TRAITS[kind][(number // 4) % 3]],
            "instruction_options": ["navy blue"],
        },
        {"instruction": "nothing", "instruction_attributes": [], "instruction_options": []},
    ]


def write_folder(root: Path, size: int = 60, human: bool = True, name: str = "_1000") -> Path:
    """Write the published files to `root/webshop` and return `root`."""
    folder = root / "webshop"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [item(i) for i in range(size)]
    rows.insert(3, item(0))  # a repetition, which is passed over
    rows.append({**item(size), "asin": "nan"})
    rows.append({**item(size), "asin": "B0LONGERTHANTEN"})
    texts = {
        f"items_shuffle{name}.json": rows,
        f"items_ins_v2{name}.json": {asin(i): known(i) for i in range(size)},
    }
    if human:
        texts["items_human_ins.json"] = {asin(i): written(i) for i in range(0, size, 5)}
    for file, value in texts.items():
        (folder / file).write_text(json.dumps(value, indent=1, ensure_ascii=False), "utf-8")
    return root
