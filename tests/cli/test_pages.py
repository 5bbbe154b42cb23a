"""What the pages tell a reader to type and to write works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentgym.core import cards, installed, load_tasks
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    str(page.relative_to(ROOT))
    for folder, pattern in ((ROOT, "*.md"), (DOCS, "*.md"), (ROOT / "agentgym", "**/README.md"))
    for page in folder.glob(pattern)
)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)


def test_the_agents_of_the_page_play(run: Run, tmp_path: Path) -> None:
    code = [block for block in blocks("docs/own-agent.md", "python") if "(Agent)" in block]
    assert len(code) == 2
    (tmp_path / "my_agents.py").write_text("\n\n".join(code))
    shown = run("eval", "my_agents:Greedy", "--env", "maze", "--env", "wordle", "-n", "2")
    assert shown.exit_code == 0, shown.output
    assert "greedy" in shown.stdout
    shown = run("play", "maze", "--max-rounds", "2", "--agent", "my_agents:OneStepAhead")
    assert shown.exit_code == 0, shown.output


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    pytest.importorskip("fastapi", reason="pip install 'agentgym[serve]'")
    from tests.serve.server import serving

    with serving() as url:
        yield url


@pytest.mark.skipif(not installed("minigrid"), reason="pip install 'agentgym[babyai]'")
def test_the_code_of_the_readme_runs(tmp_path: Path, url: str) -> None:
    code = blocks("README.md", "python")
    assert len(code) == 3
    for i, block in enumerate(code):
        (tmp_path / f"block_{i}.py").write_text(block.replace("http://127.0.0.1:8765", url))
        done = subprocess.run(
            [sys.executable, f"block_{i}.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert len((run / "episodes.jsonl").read_text().splitlines()) == 40


def test_the_readme_and_the_index_name_every_page() -> None:
    for index, folder in (("README.md", "docs/"), ("docs/README.md", "")):
        for page in DOCS.glob("*.md"):
            if page.name != "README.md":
                assert f"]({folder}{page.name})" in text_of(index), f"{index}: no {page.name}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text_of(page)):
        if not target.startswith(("http:", "https:")):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"


def test_the_sizes_in_the_readme_are_those_of_the_task_sets() -> None:
    for card in cards():
        (line,) = (x for x in text_of("README.md").splitlines() if f"[`{card.id}`]" in x)
        if card.installed:
            sizes = load_tasks(card.load(), "mini").sizes
            assert f"| {sizes['train']:,} / {sizes['eval']:,} |" in line


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_a_page_have_the_options_they_are_given(run: Run, page: str) -> None:
    fenced = "\n".join(blocks(page, "[a-z]*"))
    fenced = re.sub(r"\\\n\s*", "", fenced)  # a command may go on in the next line
    lines = re.findall(r"^agentgym [^\n#|]*", fenced, re.MULTILINE)
    lines += re.findall(r"`(agentgym [^`\n]*)`", text_of(page))
    for line in lines:
        _, command, *words = shlex.split(line)
        shown = run("--help" if command.startswith("-") or command == "COMMAND" else command, "-h")
        assert shown.exit_code == 0, f"{line}: {shown.output}"
        known = shown.stdout
        if command in ("data", "models", "leaderboard", "train", "reproduce"):
            shown = run(command, words[0], "--help")
            assert shown.exit_code == 0, f"{line}: {shown.output}"
            known += shown.stdout
        for word in (w for w in (command, *words) if w.startswith("-")):
            assert re.search(rf"(?<![\w-]){word}(?![\w-])", known), f"{line}: no {word}"
