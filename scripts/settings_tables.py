"""Writes the tables of settings on the pages, from the settings' own classes and docstrings.

    python scripts/settings_tables.py            # write them
    python scripts/settings_tables.py --check    # say which are not as they should be

A page says where a table goes: `<!-- settings: CLASS -->`, the table, `<!-- end -->`. Of a
trainer's class the table has what is its own, and what its defaults change of the common ones.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).parents[1]
PAGES = ("baselines", "bc", "dpo", "agentevol", "grpo", "adca")
HOME = {
    "RunConfig": "config",
    "EnvTasks": "config",
    "SamplingConfig": "config",
    "BCConfig": "bc",
    "DPOConfig": "dpo",
    "AgentEvolConfig": "agentevol",
    "GRPOConfig": "grpo",
    "AdcaGRPOConfig": "adca_grpo",
}
"""The classes that have a table, and their modules in `agentgym.baselines`."""
BASE = {
    "BCConfig": "RunConfig",
    "DPOConfig": "BCConfig",
    "AgentEvolConfig": "BCConfig",
    "GRPOConfig": "BCConfig",
    "AdcaGRPOConfig": "GRPOConfig",
}
"""Whose settings are documented before, so that a class's table leaves them out."""
ELSEWHERE = {
    "SamplingConfig": "[sampling](baselines.md#how-a-policy-plays)",
    "EnvTasks": "[tasks](baselines.md#tasks)",
    "OptimConfig": "[optim](baselines.md#common-settings)",
}
"""Parts that have a table of their own."""
WHOLE = {"RunConfig": ("optim",)}
"""What is spelled out nevertheless."""
REQUIRED = "required"
MARK = re.compile(r"(<!-- settings: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Row(NamedTuple):
    """One setting."""

    key: str
    default: str
    text: str


def find(name: str) -> type[BaseModel]:
    """Return a class that has a table."""
    found: type[BaseModel] = getattr(
        importlib.import_module(f"agentgym.baselines.{HOME[name]}"), name
    )
    return found


def rows(name: str) -> list[Row]:
    """Return the settings of a class that its table shows."""
    every = list(settings(find(name), "", WHOLE.get(name, ())))
    if name not in BASE:
        return every
    before = {row.key: row for row in settings(find(BASE[name]), "", ("optim",))}
    mine = [row for row in settings(find(name), "", ("optim",)) if row.key not in before]
    changed = [
        row
        for row in settings(find(name), "", ("optim",))
        if row.key in before and row.default != before[row.key].default
    ]
    own = [row for row in every if row.key in {row.key for row in mine}]
    return [*own, *changed]


def settings(
    cls: type[BaseModel], prefix: str, whole: tuple[str, ...], given: BaseModel | None = None
) -> Iterator[Row]:
    """Yield a class's settings, those of its parts included, with their defaults."""
    texts = described(cls)
    for field, info in cls.model_fields.items():
        value = getattr(given, field) if given is not None else default_of(info)
        part = model_in(info.annotation)
        key = f"{prefix}{field}"
        if part is None or (part.__name__ in ELSEWHERE and field not in whole):
            where = ELSEWHERE[part.__name__] if part else ""
            text = f"{texts[field]} ({where})" if where else texts[field]
            yield Row(key, shown(value), text)
            continue
        if not isinstance(value, BaseModel):
            yield Row(key, shown(value), texts[field])
        yield from settings(part, f"{key}.", (), value if isinstance(value, BaseModel) else None)


def default_of(info: Any) -> Any:
    """Return a field's default; `REQUIRED` where it has none."""
    value = info.get_default(call_default_factory=True)
    return REQUIRED if value is PydanticUndefined else value


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the class of settings a field holds, or None."""
    inside = [annotation, *getattr(annotation, "__args__", ())]
    for one in inside:
        if inspect.isclass(one) and issubclass(one, BaseModel):
            return one
    return None


def described(cls: type[BaseModel]) -> dict[str, str]:
    """Return what docstrings say of a class's fields, its bases' included."""
    texts: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        if not (issubclass(one, BaseModel) and one is not BaseModel):
            continue
        block = inspect.cleandoc(one.__doc__ or "").partition("Attributes:\n")[2]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", block, re.MULTILINE):
            text = " ".join(text.split())
            texts[name] = text if text.endswith("..") else text.removesuffix(".")
    return texts


def shown(value: Any) -> str:
    """Return a default as it is written in YAML."""
    if isinstance(value, BaseModel):
        changed = {
            name: getattr(value, name)
            for name, info in type(value).model_fields.items()
            if getattr(value, name) != default_of(info)
        }
        return "; ".join(f"`{k}` {shown(v)}" for k, v in changed.items()) or "its own defaults"
    if value == REQUIRED:
        return REQUIRED
    if value is None or value in ("", (), [], {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple | list):
        return f"`[{', '.join(str(v) for v in value)}]`"
    return f"`{value:g}`" if isinstance(value, float) and abs(value) >= 1e-3 else f"`{value}`"


def table(name: str) -> str:
    """Return the table of a class as Markdown."""
    lines = [
        f"| `{key}` | {default} | {text.replace('|', '/')} |" for key, default, text in rows(name)
    ]
    return "\n".join(["| key | default | |", "|---|---|---|", *lines]) + "\n"


def written(text: str) -> str:
    """Return a page with its tables as they should be."""
    return MARK.sub(lambda m: f"{m[1]}{table(m[2])}{m[3]}", text)


def main(words: list[str]) -> int:
    """Write the tables, or say which are not as they should be."""
    wrong = 0
    for page in PAGES:
        path = ROOT / "docs" / f"{page}.md"
        before = path.read_text(encoding="utf-8")
        after = written(before)
        if after != before:
            wrong += 1
            print(f"docs/{page}.md")
            if "--check" not in words:
                path.write_text(after, encoding="utf-8")
    return wrong if "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
