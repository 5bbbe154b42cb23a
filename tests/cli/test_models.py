"""A language model from the command line: measured, recorded, replayed, watched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentgym.trajectories import read
from tests.agents.chat_server import ChatServer, Say
from tests.cli.conftest import Run

pytest.importorskip("openai")


def guess(request: dict[str, Any]) -> Say:
    """Halve what the conversation leaves, as a model would that understood the game."""
    low, high, middle = 1, 50, 25
    for message in request["messages"]:
        if "higher" in message["content"]:
            low = middle + 1
        elif "lower" in message["content"]:
            high = middle - 1
        middle = (low + high) // 2
    return Say(f"Thought: between {low} and {high}\nAction: guess {middle}")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with ChatServer(guess) as server:
        yield server


def words(server: ChatServer, *more: str) -> list[str]:
    return ["openai:tiny", "-o", f"base_url={server.base_url}", *more]


def test_a_recorded_run_is_replayed_without_the_model(
    run: Run, server: ChatServer, tmp_path: Path
) -> None:
    task = ("--env", "tests/Guess-v0", "-n", "3")
    shown = run("eval", *words(server, *task, "--record", "--out", "r"))
    assert shown.exit_code == 0, shown.output
    assert all(episode.success for episode in read(tmp_path / "r"))
    asked = len(server.requests)
    again = run("eval", *words(server, *task, "--replay", "r", "--out", "again", "--json"))
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["rows"][0]["total"]["success"]["value"] == 1.0
    assert len(server.requests) == asked
    missed = run("eval", *words(server, "--env", "tests/Guess-v0", "--replay", "r", "--out", "x"))
    assert missed.exit_code == 1
    assert "is not in" in missed.stderr
    assert "secret" not in "".join(p.read_text() for p in tmp_path.rglob("*.json*"))


def test_a_budget_of_tokens_stops_a_run(run: Run, server: ChatServer) -> None:
    more = ("--env", "tests/Guess-v0", "-c", "1", "--max-total-tokens", "100")
    shown = run("eval", *words(server, *more))
    assert shown.exit_code == 1
    assert "the budget of 100 tokens is spent" in " ".join(shown.output.split())
    assert len(server.requests) < 10


def test_a_model_is_watched(run: Run, server: ChatServer) -> None:
    shown = run("play", "tests/Guess-v0", "--task", "guess_4", "--agent", *words(server))
    assert shown.exit_code == 0, shown.output
    assert "between 1 and 50" in shown.stdout
    assert "> guess 25" in shown.stdout
    assert "It is lower." in shown.stdout
    assert "Solved in" in shown.stdout


def test_a_reply_without_an_action_is_shown(run: Run, server: ChatServer) -> None:
    server.script.append(Say("I would rather not."))
    shown = run("play", "tests/Guess-v0", "--task", "guess_4", "--agent", *words(server))
    assert "No action in the reply" in shown.stdout
    assert "I would rather not." in shown.stdout
    assert "Solved in" in shown.stdout


def test_an_endpoint_that_is_not_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    shown = run("eval", "openai:tiny", "-o", "base_url=http://127.0.0.1:9/v1", "--retries", "0",
                "--env", "tests/Guess-v0", "-n", "2")  # fmt: skip
    assert "2 of 2 episodes failed" in " ".join(shown.output.split())
    assert "Traceback" not in shown.output
