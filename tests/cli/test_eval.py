"""`agentgym eval`, `compare`, `replay`, `collect`, `leaderboard`: from an agent to a table."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from agentgym.agents.random import RandomAgent
from agentgym.cli.progress import RunDisplay
from agentgym.rollout import EnvChoice, plan, rollout
from agentgym.rollout.events import Event, RunStarted
from agentgym.trajectories import read, read_items
from tests.cli.conftest import Run


def test_an_evaluation_ends_with_a_table_and_what_to_type_next(run: Run, tmp_path: Path) -> None:
    shown = run("eval", "expert", "--env", "maze", "--env", "wordle", "--tasks", "3")
    assert shown.exit_code == 0, shown.output
    for words in ("Maze", "Wordle", "100.0", "runs/expert-maze-wordle-1", "agentgym replay"):
        assert words in shown.stdout
    assert (tmp_path / "runs" / "expert-maze-wordle-1" / "report.md").is_file()


def test_no_number_is_cut_off_on_a_narrow_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("eval", "random", "--env", "maze", "--env", "textcraft", "--tasks", "12")
    assert "…" not in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "TextCraft" in shown.stdout


def test_json_is_json_alone(run: Run) -> None:
    shown = run("eval", "random", "--env", "maze", "-n", "2", "-k", "2", "--out", "r", "--json")
    data = json.loads(shown.stdout)
    assert data["run"] == "r"
    assert data["complete"]
    assert data["rows"][0]["total"]["episodes"] == 4


def test_the_same_command_goes_on_where_it_was_stopped(run: Run, tmp_path: Path) -> None:
    words = ("eval", "random", "--env", "maze", "-n", "6", "--out", "r")
    run(*words)
    whole = (tmp_path / "r" / "episodes.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "r" / "episodes.jsonl").write_text("".join(whole[:2]) + whole[2][:50])
    shown = run(*words)
    assert "2 of 6 episodes were finished before" in shown.stderr
    again = (tmp_path / "r" / "episodes.jsonl").read_text().splitlines(keepends=True)
    assert again[:2] == whole[:2]
    assert len(again) == 6


def test_another_command_in_the_same_folder_is_refused(run: Run) -> None:
    run("eval", "random", "--env", "maze", "-n", "2", "--out", "r")
    failed = run("eval", "random", "--env", "maze", "-n", "3", "--out", "r")
    assert failed.exit_code == 2
    assert "another" in failed.stderr


def test_ctrl_c_says_where_the_run_lies_and_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["agentgym", "eval", "random", "--env", "maze"])
    count = 0

    def press(self: RandomAgent, observation: str, info: Any) -> str:
        nonlocal count
        count += 1
        if count > 60:
            raise KeyboardInterrupt
        return "move up"

    monkeypatch.setattr(RandomAgent, "act", press)
    stopped = run("eval", "random", "--env", "maze")
    assert stopped.exit_code == 130
    text = " ".join(stopped.stderr.split())
    assert "What had finished is in runs/random-maze-1." in text
    assert "Go on with: agentgym eval random --env maze" in text


def test_a_run_in_which_everything_failed_does_not_end_well(run: Run) -> None:
    pytest.importorskip("openai")
    nowhere = "base_url=http://127.0.0.1:9/v1"
    shown = run("eval", "openai:x", "-o", nowhere, "--env", "maze", "-n", "2", "--retries", "0")
    assert shown.exit_code == 1
    assert "every episode failed" in shown.stderr


def test_a_limit_ends_with_exit_code_1_and_the_table_so_far(run: Run) -> None:
    shown = run("eval", "random", "--env", "maze", "--max-seconds", "0.000001")
    assert shown.exit_code == 1
    assert "not complete" in shown.stderr
    assert "The run stopped early" in shown.stdout


def test_a_suite_keeps_its_size_under_other_rounds(run: Run) -> None:
    shown = run("eval", "random", "--suite", "quick", "--max-rounds", "1", "--json")
    data = json.loads(shown.stdout)
    assert data["name"] == "random-quick"
    assert {row["tasks"]["planned_tasks"] for row in data["rows"]} == {6}
    assert {row["tasks"]["max_rounds"] for row in data["rows"]} == {1}


def test_options_reach_the_environment_and_the_agent(run: Run, tmp_path: Path) -> None:
    (tmp_path / "still_agent.py").write_text(
        "from agentgym import Agent\n"
        "class Still(Agent):\n"
        "    name = 'still'\n"
        "    def __init__(self, move='up'):\n"
        "        self.move = move\n"
        "    def act(self, observation, info):\n"
        "        return 'waits', 'move ' + self.move\n"
    )
    shown = run("eval", "still_agent:Still", "-o", "move=down", "--env", "maze", "-n", "2",
                "--max-rounds", "4", "--out", "r")  # fmt: skip
    assert shown.exit_code == 0, shown.output
    for episode in read(tmp_path / "r"):
        assert episode.max_rounds == 4
        assert episode.actions == ("move down",) * 4


def test_a_task_by_name(run: Run, tmp_path: Path) -> None:
    run("eval", "expert", "--env", "maze", "-t", "maze_7", "-t", "maze_9", "--out", "r")
    assert [e.task_id for e in read(tmp_path / "r")] == ["maze_7", "maze_9"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--env", "maize"), "Did you mean Maze"),
        (("--suite", "quik"), "Did you mean quick?"),
        (("--env", "maze", "--suite", "quick"), "exclude each other"),
        (("--env", "maze", "--format", "reakt"), "react"),
        (("--env", "maze", "--executor", "threads"), "thread"),
        (("--env", "maze", "--split", "test"), "train"),
        (("--env", "maze", "--max-cost", "0"), "limit cost"),
        (("--env", "maze", "-o", "speed=3"), "speed"),
    ],
)
def test_wrong_words_play_nothing(
    run: Run, tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    failed = run("eval", "random", *words)
    assert failed.exit_code == 2, failed.output
    assert expected in failed.stderr
    assert not list(tmp_path.glob("runs/*/episodes.jsonl"))


def test_a_person_is_measured_and_leaves(run: Run) -> None:
    stopped = run("eval", "human", "--env", "tests/Guess-v0", "-t", "guess_4", "-t", "guess_6",
                  "--out", "r", typed="guess 5\n:quit\n")  # fmt: skip
    assert stopped.exit_code == 130
    assert "What had finished is in r." in " ".join(stopped.stderr.split())
    shown = run("eval", "human", "--env", "tests/Guess-v0", "-t", "guess_4", "-t", "guess_6",
                "--out", "r", "--json", typed="guess 7\n")  # fmt: skip
    assert shown.exit_code == 0
    assert '"episodes": 2' in shown.stdout


@pytest.fixture
def runs(run: Run) -> tuple[str, str]:
    for agent in ("random", "expert"):
        run("eval", agent, "--env", "maze", "-n", "5", "--out", agent)
    return "random", "expert"


def test_runs_are_compared_task_by_task(run: Run, runs: tuple[str, str]) -> None:
    shown = run("compare", *runs)
    assert shown.exit_code == 0, shown.output
    assert "expert minus random: success, by task" in shown.stdout
    assert "+" in shown.stdout
    data = json.loads(run("compare", *runs, "--json").stdout)
    assert data["pairs"][0]["rows"][0]["second_success"] == 1.0
    assert run("compare", *runs, "--score").exit_code == 0


def test_what_cannot_be_compared_says_so(run: Run, runs: tuple[str, str]) -> None:
    assert "needs two runs" in run("compare", runs[0]).stderr
    failed = run("compare", runs[0], "nowhere")
    assert failed.exit_code == 1
    assert "nowhere is no run folder" in failed.stderr


def test_a_true_run_replays(run: Run, runs: tuple[str, str]) -> None:
    shown = run("replay", "random", "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["true"] == 5


def test_an_episode_is_shown_round_by_round(run: Run, runs: tuple[str, str]) -> None:
    first = read("expert")[0]
    shown = run("replay", "expert", "--task", first.task_id, "--show")
    assert shown.exit_code == 0
    text = " ".join(shown.stdout.split())
    for step in first.steps:
        assert f"> {step.action}" in text
        assert " ".join(step.thought.split()) in text
        assert " ".join(step.observation.split()) in text
    assert f"Solved in {first.rounds} rounds" in text
    assert "1 of 1 episodes came out as recorded" in text


def test_a_false_score_is_caught(run: Run, runs: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "random" / "episodes.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3]["score"], rows[3]["success"] = 1.0 - rows[3]["score"], not rows[3]["success"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    failed = run("replay", "random")
    assert failed.exit_code == 1
    assert "4 of 5 episodes came out as recorded" in failed.stdout
    assert f"{rows[3]['task_id']}|0" in failed.stdout
    assert "score" in failed.stdout


def test_the_paper_beside_a_run(run: Run, runs: tuple[str, str]) -> None:
    assert "agentgym-table3" in run("leaderboard", "paper").stdout
    shown = run("leaderboard", "paper", "agentgym-table3", "--run", "random")
    assert "AgentEvol" in shown.stdout
    assert "mini edition" in shown.stdout
    data = json.loads(run("leaderboard", "paper", "--run", "random", "--json").stdout)
    assert data["apart"]["mini"][0]["agent"] == "random"
    assert "| AgentEvol |" in run("leaderboard", "paper", "agentgym-table3", "--markdown").stdout
    assert run("leaderboard", "paper", "tabel3").exit_code == 2


def test_collecting_for_a_trainer(run: Run, tmp_path: Path) -> None:
    shown = run("collect", "maze", "-n", "4", "--out", "maze.jsonl")
    assert shown.exit_code == 0, shown.output
    assert "4 trajectories" in shown.stdout
    episodes = read(tmp_path / "maze.jsonl")
    assert all(e.success and e.split == "train" for e in episodes)
    assert all(step.thought for e in episodes for step in e.steps)
    run("data", "convert", "maze.jsonl", "sft.json", "--layout", "published")
    assert len(read_items(tmp_path / "sft.json")) == 4
    stats = json.loads(run("data", "show", "maze.jsonl", "--json").stdout)
    assert stats["stats"][0]["success"] == 1.0
    assert "100.0%" in run("data", "show", "maze.jsonl").stdout


def test_what_is_left_out_is_said(run: Run) -> None:
    shown = run("collect", "maze", "-n", "3", "--max-rounds", "1", "--out", "none.jsonl")
    assert "3 of 3 episodes were left out" in shown.stderr
    shown = run("collect", "maze", "-n", "3", "--max-rounds", "1", "--keep", "all",
                "--out", "a.json", "--json")  # fmt: skip
    assert json.loads(shown.stdout)["episodes"] == 3


@pytest.mark.parametrize("words", [("--out", "x.csv"), ("--out", "x.json", "--layout", "sharegpt")])
def test_nothing_is_played_where_nothing_could_be_written(
    run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("agentgym.trajectories.collect"), "rollout", None)
    failed = run("collect", "maze", *words)
    assert failed.exit_code in (1, 2)
    assert failed.stderr.startswith("Error: ")


def test_the_display_counts_what_was_played() -> None:
    import io

    from rich.console import Console

    paper = io.StringIO()
    console = Console(file=paper, width=100, force_terminal=True)
    jobs = plan([EnvChoice(env_id="agentgym/Maze-v0")], tasks=4)
    with RunDisplay(console) as display:
        episodes = rollout(jobs, RandomAgent(), on_event=display)
        console.print(display._render())
    assert "4/4" in paper.getvalue()
    assert "4/4 episodes" in paper.getvalue()
    rate = 100 * sum(e.success for e in episodes) / 4
    assert f"success {rate:.0f}%" in paper.getvalue()


def test_the_display_does_not_guess_for_an_environment_not_begun() -> None:
    from rich.console import Console

    jobs = plan([EnvChoice(env_id="agentgym/Maze-v0")], tasks=4)
    events: list[Event] = []
    rollout(jobs, RandomAgent(), on_event=events.append)

    def left(planned: dict[str, int]) -> float | None:
        display = RunDisplay(Console(quiet=True))
        for event in (RunStarted(planned), *events[1:]):
            display(event)
        return display._seconds_left(100.0)

    assert left({"agentgym/Maze-v0": 8, "agentgym/SciWorld-v0": 5}) is None
    assert left({"agentgym/Maze-v0": 8}) == pytest.approx(100.0)
