"""`agentgym play`, typed through a pipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentgym.core import make
from agentgym.rollout.verify import verify_episode
from agentgym.trajectories import read
from tests.cli.conftest import Run

GUESS = ("play", "tests/Guess-v0", "--task", "guess_4", "--seed", "1")  # the number is 5


def test_a_game_is_won(run: Run) -> None:
    shown = run(*GUESS, typed="guess 25\nguess 5\n")
    assert shown.exit_code == 0, shown.output
    assert "It is lower." in shown.stdout
    assert "Solved in 2 rounds, score 1.00" in shown.stdout
    assert "agentgym play tests/Guess-v0 --task guess_4 --seed 1" in shown.stdout


def test_a_game_is_lost_when_the_rounds_are_spent(run: Run) -> None:
    shown = run(*GUESS, "--max-rounds", "2", typed="guess 1\nnonsense\n")
    assert "Say: guess [number]." in shown.stdout
    assert "Out of rounds in 2 rounds, score 0.00" in shown.stdout


def test_a_move_is_taken_back(run: Run) -> None:
    shown = run(*GUESS, typed=":undo\nguess 9\n:undo\nguess 5\n")
    assert "There is no move to take back." in shown.stdout
    assert "Solved in 1 round, score 1.00" in shown.stdout


def test_the_end_of_the_input_leaves_the_game(run: Run) -> None:
    shown = run(*GUESS, typed="guess 7\n")
    assert shown.exit_code == 0
    assert "You left guess_4 after 1 round, score 0.00." in shown.stdout


def test_ctrl_c_leaves_the_game_and_keeps_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = iter(["guess 7"])

    def read_line(prompt: str) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", read_line)
    shown = run(*GUESS, "--save", "game.json")
    assert shown.exit_code == 130
    assert "You left guess_4" in shown.stdout
    assert len(read(tmp_path / "game.json")[0].steps) == 1


def test_a_saved_game_is_a_true_record(run: Run, tmp_path: Path) -> None:
    run(*GUESS, typed="guess 7\nguess 8\n:undo\n:save early.jsonl\nwhat\nguess 5\n")
    run(*GUESS, "--save", "whole.json", typed="guess 7\nguess 5\n")
    (early,), (whole,) = read(tmp_path / "early.jsonl"), read(tmp_path / "whole.json")
    assert early.actions == ("guess 7",)
    assert (early.status, whole.status) == ("limit", "completed")
    assert whole.success
    assert verify_episode(early) == verify_episode(whole) == []
    assert run("replay", "whole.json").exit_code == 0
    again = run(*GUESS, "--agent", "replay:whole.json")
    assert "Solved in 2 rounds" in again.stdout


def test_saving_where_nothing_can_be_saved_does_not_end_the_game(run: Run) -> None:
    shown = run(*GUESS, typed=":save\n:save game.unknown\n:save no/\x00/x.json\nguess 5\n")
    assert "Name a file" in shown.stdout
    assert "the suffix names no format" in shown.stdout
    assert "Solved" in shown.stdout


def test_watching_the_expert(run: Run) -> None:
    shown = run("play", "maze", "--seed", "3", "--agent", "expert")
    assert shown.exit_code == 0
    env = make("maze")
    _, info = env.reset(seed=3)
    assert info["task_id"] in shown.stdout
    thought, action = env.expert().act(*env.reset(seed=3))
    assert f"> {action}" in shown.stdout
    assert thought[:60] in shown.stdout
    assert "Solved in" in shown.stdout


def test_the_same_seed_is_the_same_game(run: Run) -> None:
    first = run("play", "wordle", "--seed", "8", "--agent", "random").stdout
    assert first == run("play", "wordle", "--seed", "8", "--agent", "random").stdout
    assert first != run("play", "wordle", "--seed", "9", "--agent", "random").stdout


def test_nothing_but_text_where_there_is_no_terminal(run: Run) -> None:
    shown = run("play", "textcraft", "--seed", "1", typed=":hint\ninventory\n")
    assert "\x1b" not in shown.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("play", "maze", "--agent", "exprt"), "expert"),
        (("play", "maze", "--task", "maze_99999"), "maze_0 to maze_1199"),
        (("play", "maze", "--edition", "offical"), "official"),
        (("play", "maze", "--env-option", "nonsense"), "KEY=VALUE"),
    ],
)
def test_wrong_words_are_answered_with_right_ones(
    run: Run, words: tuple[str, ...], expected: str
) -> None:
    failed = run(*words)
    assert failed.exit_code == 2
    assert failed.stderr.startswith("Error: ")
    assert expected in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1
