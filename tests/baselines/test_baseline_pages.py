"""The pages of the baselines: every setting is on them, and every formula is where they say."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml")

from pydantic import BaseModel

from agentgym.baselines.catalog import BASELINES, Baseline

ROOT = Path(__file__).parents[2]
CODE = ROOT / "agentgym" / "baselines"
PAGE = {"bc": "bc", "dpo": "dpo", "agentevol": "agentevol", "grpo": "grpo", "adca-grpo": "adca"}
"""The page of each trainer."""
SHARED = ("SamplingConfig", "EnvTasks", "OptimConfig")
"""Parts whose own keys are listed once, in baselines.md."""


@lru_cache
def script(name: str) -> Any:
    """Return a script that writes tables."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def text_of(page: str) -> str:
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def listed(page: str) -> set[str]:
    """Return the keys in a page's tables of settings."""
    blocks = re.findall(r"<!-- settings: \w+ -->\n(.*?)<!-- end -->", text_of(page), re.DOTALL)
    return set(re.findall(r"^\| `([\w.]+)` \|", "\n".join(blocks), re.MULTILINE))


def keys_of(cls: type[BaseModel], prefix: str = "") -> set[str]:
    """Return the keys a class of settings takes, found without the script."""
    keys = set()
    for name, info in cls.model_fields.items():
        parts = [
            one for one in (info.annotation, *getattr(info.annotation, "__args__", ()))
            if isinstance(one, type) and issubclass(one, BaseModel)
        ]  # fmt: skip
        if not parts or (parts[0].__name__ in SHARED and f"{prefix}{name}" != "optim"):
            keys.add(f"{prefix}{name}")
        else:
            keys |= keys_of(parts[0], f"{prefix}{name}.")
    return keys


@pytest.mark.parametrize("page", ["baselines", *PAGE.values()])
def test_the_tables_say_what_the_settings_are(page: str) -> None:
    written = script("settings_tables").written(text_of(page))
    assert written == text_of(page), "run: python scripts/settings_tables.py"


def test_the_tables_of_the_demonstration_are_those_of_the_results() -> None:
    page = script("demonstration_table").page
    text = text_of("demonstration")
    assert text.count("<!-- demonstration: ") > 0
    assert page(text) == text, "run: python scripts/demonstration_table.py"
    emptied = re.sub(r"(<!-- demonstration: \w+ -->\n).*?(<!-- end -->)", r"\1\2", text, flags=re.S)
    assert page(emptied) == text


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.name)
def test_every_setting_is_on_a_page_and_none_is_invented(baseline: Baseline) -> None:
    pages = {"baselines", "bc", PAGE[baseline.name]}
    pages |= {"grpo"} if baseline.name == "adca-grpo" else set()
    settings = keys_of(type(baseline.config("tiny")))
    found = set().union(*(listed(page) for page in pages))
    assert settings <= found
    shared = listed("baselines")
    own = listed(PAGE[baseline.name]) - shared
    assert {key for key in own if key not in settings} <= {"model.lora"}


def test_a_setting_without_a_description_has_no_table() -> None:
    for name in script("settings_tables").HOME:
        assert all(row.text for row in script("settings_tables").rows(name))


def test_the_tables_of_shared_parts_are_whole() -> None:
    from agentgym.baselines.config import EnvTasks, SamplingConfig

    for part in (EnvTasks, SamplingConfig):
        assert set(part.model_fields) <= listed("baselines")


@pytest.mark.parametrize("page", PAGE.values())
def test_a_page_has_the_parts_a_reader_looks_for(page: str) -> None:
    text = text_of(page)
    for head in ("## Settings", "## What it gave here"):
        assert f"\n{head}\n" in text, head
    assert "demonstration.md" in text[text.index("## What it gave here") :]
    assert "arxiv.org" in text or "arXiv" in text
    trainer = {"adca": "adca_grpo"}.get(page, page)
    assert f"{trainer}.py" in text


def names_in(file: Path) -> set[str]:
    """Return the functions of a module, those of a class as "Class.function"."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}.{inner.name}" for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }  # fmt: skip
    return names


def test_each_formula_is_in_the_function_that_is_named() -> None:
    text = text_of("baselines")
    text = text[text.index("## Where each formula lives") : text.index("## What they share")]
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 30
    for row in rows:
        places = re.findall(r"`([\w/]+\.py): ([\w.]+)`", row.split(" | ")[1])
        assert places, f"no function is named: {row}"
        for file, name in places:
            assert name in names_in(CODE / file), f"{file} has no {name}"
    for method in ("BC", "AgentEvol", "DPO", "GRPO", "ADCA", "Attributors"):
        assert f"**{method}**" in text


def test_both_pages_name_the_same_functions_of_the_advantage() -> None:
    map_of = text_of("baselines")
    named = set(re.findall(r"`advantage\.py: (\w+)`", map_of))
    named |= {
        name.rpartition(".")[2] for name in re.findall(r"`adca_options\.py: ([\w.]+)`", map_of)
    }
    text = text_of("adca")
    text = text[text.index("## The advantage") : text.index("## The attributors")]
    rows = [line.split(" | ")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    functions = {row.strip("`").rpartition(".")[2] for row in rows if row.startswith("`")}
    assert functions == named - {"active"}, "active is said in words below the table"
    assert "prm_steps" in text


@pytest.mark.parametrize("page", ["baselines", *PAGE.values()])
def test_files_and_functions_that_a_page_names_are_there(page: str) -> None:
    for line in text_of(page).splitlines():
        if not line.startswith("| `") or line.count("|") != 3:
            continue
        left, right = line.strip("|").split("|")
        files = re.findall(r"`(?:agentgym/baselines/)?(\w+\.py)`", left)
        if not files:
            continue
        for file in files:
            assert (CODE / file).is_file(), f"{page}: {file}"
        known = set().union(*(names_in(CODE / file) for file in files))
        known |= {name.rpartition(".")[2] for name in known}
        for name in re.findall(r"`([\w.]+)`", right):
            assert name in known or name[0].isupper() or "_" not in name, f"{page}: {name}"
