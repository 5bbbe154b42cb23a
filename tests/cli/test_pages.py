"""What the pages tell a reader to type and to write works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("own-agent.md", "own-environment.md", "play.md")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_agents_of_the_page_play(run: Run, tmp_path: Path) -> None:
    code = [block for block in blocks("own-agent.md", "python") if "(Agent)" in block]
    assert len(code) == 2
    (tmp_path / "my_agents.py").write_text("\n\n".join(code))
    shown = run("eval", "my_agents:Greedy", "--env", "maze", "--env", "wordle", "-n", "2")
    assert shown.exit_code == 0, shown.output
    assert "greedy" in shown.stdout
    shown = run("play", "maze", "--max-rounds", "2", "--agent", "my_agents:OneStepAhead")
    assert shown.exit_code == 0, shown.output


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_a_page_have_the_options_they_are_given(run: Run, page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = re.findall(r"^agentgym [^\n#]*", text, re.MULTILINE)
    lines += re.findall(r"`(agentgym [^`\n]*)`", text)
    assert lines
    for line in lines:
        _, command, *words = shlex.split(line)
        known = run(command, "--help").stdout
        if command in ("data", "models", "leaderboard"):
            known += run(command, words[0], "--help").stdout
        for word in words:
            if word.startswith("-"):
                assert re.search(rf"(?<![\w-]){word}(?![\w-])", known), f"{line}: no {word}"
