"""`agentgym list`, `info` and `check`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym.core import cards
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]


def test_list_names_every_environment(run: Run) -> None:
    shown = run("list")
    assert shown.exit_code == 0
    for card in cards():
        assert card.short_name in shown.stdout
    assert "1000 + 200" in shown.stdout


def test_list_as_json_is_json_alone(run: Run) -> None:
    shown = run("list", "--json")
    rows = {row["name"]: row for row in json.loads(shown.stdout)}
    assert rows["Maze"]["id"] == "agentgym/Maze-v0"
    assert rows["Maze"]["editions"]["mini"]["train"] == 1000
    assert rows["Maze"]["editions"]["official"]["eval"] == 25
    assert rows["Maze"]["published"] == {"train": 215, "eval": 25}


def test_the_published_sizes_stand_beside_ours(run: Run) -> None:
    (line,) = (x for x in run("list").stdout.splitlines() if x.startswith("TextCraft"))
    assert "1000 + 200" in line
    assert "444 + 100" in line
    assert "374 + 100" in line
    (line,) = (x for x in run("info", "textcraft").stdout.splitlines() if "AgentTraj-L" in x)
    assert line.split()[:3] == ["published", "374", "100"]
    assert "AgentTraj-L" not in run("info", "tests.toy:tests/Guess-v0").stdout


def test_an_environment_that_is_not_installed_says_how(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentgym.core.registry.installed", lambda module: module != "minigrid")
    shown = run("list")
    assert "pip install 'agentgym[babyai]'" in shown.stdout
    failed = run("info", "babyai")
    assert failed.exit_code == 1
    assert "pip install 'agentgym[babyai]'" in failed.stderr


def test_list_does_not_import_what_is_heavy() -> None:
    code = (
        "import sys; from agentgym.cli import app; app(['list', '--json'], standalone_mode=False); "
        "sys.stderr.write(' '.join(m for m in ('torch', 'transformers', 'datasets', 'pandas', "
        "'pygame', 'matplotlib') if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stderr == ""


def test_help_imports_no_environment() -> None:
    code = (
        "import sys\nfrom agentgym.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "heavy = ('agentgym.agenteval', 'agentgym.trajectories', 'agentgym.rollout.engine', "
        "'agentgym.envs.maze', 'pandas', 'torch', 'asyncio')\n"
        "sys.stderr.write(' '.join(m for m in heavy if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "First steps" in done.stdout
    assert done.stderr == ""


def test_info_shows_what_a_player_is_told(run: Run) -> None:
    shown = run("info", "maze")
    assert shown.exit_code == 0
    for words in ("move [direction]", "Walk one cell", "Digest", "First observation of maze_"):
        assert words in shown.stdout
    data = json.loads(run("info", "MAZE", "--edition", "official", "--json").stdout)
    assert data["editions"]["official"]["eval"] == 25
    assert data["example"]["observation"]
    assert data["commands"][0]["usage"] == "move [direction]"


def test_a_wrong_name_is_one_line_with_the_right_one(run: Run) -> None:
    failed = run("info", "textkraft")
    assert failed.exit_code == 2
    assert failed.stdout == ""
    assert (
        failed.stderr.strip() == "Error: unknown environment 'textkraft'. Did you mean TextCraft?"
    )


def test_a_traceback_is_shown_when_asked_for(run: Run) -> None:
    failed = run("--debug", "info", "textkraft")
    assert type(failed.exception).__name__ == "UnknownEnvironment"
    assert run("info", "textkraft").exit_code == 2  # and not for ever after


def test_check_passes_and_says_what_it_checked(run: Run) -> None:
    shown = run("check", "tests/Guess-v0", "--episodes", "1")
    assert shown.exit_code == 0, shown.output
    assert "✓ Garbage never raises" in shown.stdout
    data = json.loads(run("check", "tests/Guess-v0", "--episodes", "1", "--json").stdout)
    assert data["passed"]
    assert all(check["passed"] for check in data["checks"])


def test_check_fails_where_a_promise_is_broken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.toy.GuessEnv.instructions", "Guess.")
    failed = run("check", "tests/Guess-v0", "--episodes", "1")
    assert failed.exit_code == 1
    assert "✗ Name, title, editions and instructions are there" in failed.stdout
    assert "too short to hold the rules" in failed.stdout
    data = run("check", "tests/Guess-v0", "--episodes", "1", "--json")
    assert data.exit_code == 1
    assert not json.loads(data.stdout)["passed"]


def test_an_environment_in_the_working_directory_is_found(tmp_path: Path) -> None:
    template = ROOT / "examples" / "own_env" / "my_package"
    (tmp_path / "here_package").mkdir()
    for file in ("__init__.py", "env.py"):
        text = (template / file).read_text(encoding="utf-8").replace("my_package", "here_package")
        (tmp_path / "here_package" / file).write_text(text, encoding="utf-8")
    code = "import sys; sys.argv = ['agentgym', 'info', 'here_package:MyEnv-v0', '--json']; " \
           "sys.path.remove(''); from agentgym.cli import main; main()"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"] == "MyEnv-v0"


def test_the_version(run: Run) -> None:
    import agentgym

    assert run("--version").stdout.strip() == f"agentgym {agentgym.__version__}"


@pytest.mark.parametrize("words", [(), ("models",), ("data",), ("leaderboard",)])
def test_without_words_the_help_is_shown(run: Run, words: tuple[str, ...]) -> None:
    assert "Usage" in run(*words).output


@pytest.mark.parametrize(
    "command",
    ["list", "info", "play", "eval", "collect", "compare", "leaderboard", "data", "models",
     "check", "replay"],
)  # fmt: skip
def test_every_command_has_a_help(run: Run, command: str) -> None:
    shown = run(command, "--help")
    assert shown.exit_code == 0
    assert "Usage" in shown.stdout
