"""Wordle: exact feedback, the published format, the lists, the expert, what a user can break."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core import UnicodeText
from agentgym.core.checker import GARBAGE, check_env
from agentgym.core.errors import InvalidConfig, InvalidState, UnknownName
from agentgym.envs.wordle import env as wordle_env
from agentgym.envs.wordle.env import WordleEnv
from agentgym.envs.wordle.game import ATTEMPTS, feedback
from agentgym.envs.wordle.tasks import mini_tasks, official_tasks
from agentgym.envs.wordle.words import LENGTHS, vocabulary
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode

README = Path(wordle_env.__file__).parent / "README.md"


def start(word: str, **options) -> WordleEnv:
    """Return an environment whose hidden word is `word`."""
    env = WordleEnv(**options)
    env.reset(options={"task_id": next(t.id for t in env.tasks if t.spec["word"] == word)})
    return env


def play(env: WordleEnv) -> list[tuple[str, str, str]]:
    """Let the expert finish; return its thoughts and guesses and the answers."""
    expert, ended, turns = env.expert(), False, []
    observation, info = env._observation, env._report()
    while not ended:
        thought, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        turns.append((thought, action, observation))
        ended = terminated or truncated
    assert info["success"], env.task
    return turns


def slow_feedback(guess: str, hidden: str) -> str:
    """Return the marks by counting, letter by letter of the alphabet.

    Of a letter that the guess has m times and the word n times, min(m, n) are marked: those in
    place green, and of the others as many as remain yellow, from the left.
    """
    marks = {}
    for letter in set(guess):
        places = [i for i, c in enumerate(guess) if c == letter]
        green = [i for i in places if hidden[i] == letter]
        remaining = min(len(places), hidden.count(letter)) - len(green)
        others = [i for i in places if i not in green]
        marks |= dict.fromkeys(green, "g")
        marks |= {i: "y" if k < remaining else "b" for k, i in enumerate(others)}
    return "".join(marks[i] for i in range(len(guess)))


@pytest.mark.parametrize(
    "options",
    [{}, {"edition": "official"}, {"letters": 4}, {"letters": 7, "vocabulary": "common"}],
)
def test_contract(options):
    failed = [c for c in check_env("wordle", **options) if not c.passed]
    assert not failed


@settings(max_examples=500)
@given(st.data(), st.integers(1, 8), st.sampled_from(["ab", "abc", "abcdefgh"]))
def test_feedback_is_what_counting_gives(data, letters, alphabet):
    word = st.text(alphabet, min_size=letters, max_size=letters)
    guess, hidden = data.draw(word), data.draw(word)
    assert feedback(guess, hidden) == slow_feedback(guess, hidden)


@pytest.mark.parametrize(
    ("guess", "hidden", "marks"),
    [
        ("shire", "grape", "bbbyg"),
        ("eerie", "grape", "bbybg"),  # one e in the word: the green one takes it
        ("speed", "abide", "bbyby"),  # one e: the first guessed takes it
        ("geese", "eject", "bygbb"),
        ("allay", "llama", "ygyyb"),
        ("mamma", "maxim", "ggybb"),
    ],
)
def test_feedback_of_repeated_letters(guess, hidden, marks):
    assert feedback(guess, hidden) == slow_feedback(guess, hidden) == marks


def test_word_lists():
    five = vocabulary()
    assert (len(five.hidden), len(five.words), len(five.accepted)) == (2315, 12972, 12972)
    assert vocabulary(5, "common").words == five.hidden
    for letters in LENGTHS:
        words = vocabulary(letters)
        assert list(words.hidden) == sorted(set(words.hidden))
        assert all(re.fullmatch(f"[a-z]{{{letters}}}", w) for w in words.words)
        assert len(words.hidden) > 800
        assert words.example.replace(" ", "") in words.accepted
    published = vocabulary(5, "published")
    assert len(set(published.words)) == 40
    assert (published.words[0], published.words[-1]) == ("panic", "trove")


def test_task_sets_are_frozen_and_splits_apart():
    mini, official = mini_tasks(), official_tasks()
    assert mini.sizes == {"train": 1000, "eval": 200}
    assert official.sizes == {"train": 955, "eval": 25}
    train, held_out = ({t.spec["word"] for t in mini.split(s)} for s in ("train", "eval"))
    assert len(train) == 1000
    assert len(held_out - train) == 200
    assert mini.digest == "b09c1aef6c7a1442ab91820d9353536db6881cc7ce2481797d3c539cbcbb3ecf"
    assert official.digest == "059d108d5e9c7d9f73bb2939656099be58d3894b42339ab7099d19ebcb99ecb8"


def test_options_change_the_tasks_digest():
    digests = {
        WordleEnv(**options).tasks.digest
        for options in ({}, {"vocabulary": "common"}, {"letters": 4}, {"letters": 6})
    }
    assert len(digests) == 4
    assert WordleEnv(vocabulary="all").tasks.digest == WordleEnv().tasks.digest


def test_published_format():
    env = WordleEnv(edition="official")
    observation, _ = env.reset(options={"task_id": "wordle_0"})
    assert observation == "Let's start Wordle!"
    hidden = env.game.hidden
    guess = next(w for w in env.words.words if w != hidden)
    observation, reward, terminated, _, info = env.step(" ".join(guess))
    assert re.fullmatch(r"[bgy]( [bgy]){4}", observation)
    assert (reward, terminated, info["valid"], info["actions"]) == (0.0, False, True, None)
    observation, reward, terminated, _, info = env.step(" ".join(hidden))
    assert (observation, reward, terminated, info["success"]) == ("g g g g g", 1.0, True, True)
    assert all(f"\n{word}" in env.instructions for word in env.words.words)


@pytest.mark.parametrize("action", ["s h i r e", "shire", " S H I R E\n", "shi re"])
def test_forms_of_a_guess(action):
    assert start("grape").step(action)[0] == "b b b y g"


@pytest.mark.parametrize(
    ("action", "wrong"),
    [
        ("s h i r", '"shir" has 4 letters, not 5'),
        ("a", '"a" has 1 letter, not 5'),
        ("z z z z z", '"zzzzz" is not in the vocabulary'),
        ("", "a guess is 5 letters from a to z"),
        ("s-h-i-r-e", "a guess is 5 letters from a to z"),
        ("grâpe", "a guess is 5 letters from a to z"),
    ],
)
def test_invalid_words_cost_an_attempt_and_are_corrected(action, wrong):
    env = start("grape")
    observation, reward, terminated, _, info = env.step(action)
    assert observation.startswith("invalid word: " + wrong)
    assert 'like "s h i r e". 5 attempts left.' in observation
    assert (reward, terminated, info["valid"]) == (0.0, False, False)
    assert env.game.attempts_left == ATTEMPTS - 1


def test_six_attempts_end_it():
    env = start("grape")
    answers = [env.step(a) for a in ("shire", "zzzzz", "x", "shire", "moldy", "shire")]
    assert [a[2] for a in answers] == [False] * 5 + [True]
    assert answers[-1][0] == "b b b y g"
    assert not answers[-1][4]["success"]
    assert "hidden" not in answers[-1][4]


def test_a_reply_without_an_action_costs_a_round_but_no_attempt():
    env = start("grape")
    for _ in range(2):
        env.forfeit("That reply held no action.")
    for _ in range(5):
        assert not any(env.step("moldy")[2:4])
    _, _, terminated, truncated, info = env.step("grape")
    assert (terminated, truncated, info["rounds"]) == (True, False, 8)
    assert info["success"]


def test_what_stays_of_the_vocabulary_by_option():
    assert start("grape", vocabulary="common").step("aahed")[4]["valid"] is False
    assert start("grape").step("aahed")[4]["valid"] is True
    env = WordleEnv(letters=7)
    assert "7 letters" in env.instructions
    assert env.reset()[1]["goal"] == "find the hidden word of 7 letters"


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"letters": 3}, InvalidConfig, "one of (4, 5, 6, 7, 8)"),
        ({"letters": "5"}, InvalidConfig, "one of (4, 5, 6, 7, 8)"),
        ({"vocabulary": "comon"}, UnknownName, "Did you mean common"),
        ({"vocabulary": "published"}, InvalidConfig, "mini edition"),
        ({"edition": "official", "vocabulary": "all"}, InvalidConfig, "official edition"),
        ({"edition": "official", "letters": 6}, InvalidConfig, "5 letters only"),
    ],
)
def test_options_that_cannot_be(options, error, says):
    with pytest.raises(error, match=re.escape(says)):
        WordleEnv(**options)


@pytest.mark.parametrize("options", [{}, {"edition": "official"}, {"letters": 4}, {"letters": 6}])
def test_expert_solves_every_task(options):
    env = WordleEnv(**options)
    looked = 0
    for task in env.tasks:
        env.reset(options={"task_id": task.id})
        turns = play(env)
        looked += "last attempt" in turns[-1][0]
        assert not any("last attempt" in thought for thought, _, _ in turns[:-1])
    # How often it needs to know the word, as the README says.
    assert looked == {4: 45, 5: 0 if "edition" in options else 6}.get(env.words.letters, 0)


def test_expert_is_consistent_and_counts_right():
    """Every guess fits all feedback so far, and so do as many words as the thought says."""
    env = WordleEnv()
    for task in env.tasks[::40]:
        env.reset(options={"task_id": task.id})
        fitting = list(env.words.hidden)
        for thought, action, observation in play(env):
            guess = action.replace(" ", "")
            assert guess in fitting
            said = re.search(r"([\d,]+) words|Only \w+( and \w+)? fit", thought)
            assert said, thought
            count = said[1].replace(",", "") if said[1] else 2 if said[2] else 1
            assert int(count) == len(fitting), thought
            marks = observation.replace(" ", "")
            fitting = [w for w in fitting if slow_feedback(guess, w) == marks]


def test_expert_knows_what_it_says():
    """Places and absences in the thoughts are true of the hidden word."""
    env = WordleEnv()
    for task in env.tasks[::10]:
        env.reset(options={"task_id": task.id})
        word = task.spec["word"]
        for thought, _, _ in play(env):
            known = thought.partition(". ")[0] if thought.startswith("I know") else ""
            for letter, place in re.findall(r"(\w) is in place (\d)", known):
                assert word[int(place) - 1] == letter
            for letter, places in re.findall(
                r"(\w) is in the word but not in place ([\d or]+)", known
            ):
                assert letter in word
                assert all(word[int(p) - 1] != letter for p in re.findall(r"\d", places))
            for letter in known.partition("there is no ")[2].split(", "):
                assert not letter or letter not in word


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1199), st.lists(st.integers(0, 12971) | st.just(-1), max_size=5))
def test_expert_takes_over_after_any_guesses(index, guesses):
    env = WordleEnv()
    env.reset(options={"task_id": f"wordle_{index}"})
    for guess in guesses:
        if env.step(env.words.words[guess] if guess >= 0 else "no word")[2]:
            return
    play(env)


def test_expert_does_not_see_the_word_before_the_last_attempt():
    """Episodes with the same feedback so far have the same thoughts and guesses."""
    env = WordleEnv()
    seen: dict[tuple[str, ...], tuple[str, str]] = {}
    for task in env.tasks:
        env.reset(options={"task_id": task.id})
        answers: tuple[str, ...] = ()
        for thought, action, observation in play(env):
            if len(answers) < ATTEMPTS - 1:
                assert seen.setdefault(answers, (thought, action)) == (thought, action)
            answers = (*answers, observation)


def test_board_and_picture():
    env = start("grape", render_mode="rgb_array")
    blank = env.render()
    assert blank.shape == (330, 276, 3)
    env.step("s h i r e")
    env.step("zzzzz")
    picture = env.render()
    assert env._render_text().splitlines()[:3] == [
        "1  s h i r e   b b b y g",
        "2  . . . . .   invalid word",
        "3  . . . . .",
    ]
    rows = np.flatnonzero((picture != blank).any(axis=(1, 2)))
    assert (rows.min(), rows.max()) == (6, 107)
    assert tuple(picture[8, 6 + 4 * 54 + 2]) == (83, 141, 78)
    assert tuple(picture[8, 6 + 3 * 54 + 2]) == (201, 160, 50)


def test_a_fork_keeps_the_turns():
    env = start("grape")
    env.step("shire")
    env.step("no word")
    twin = env.fork()
    assert twin.game.turns == env.game.turns == [("shire", "bbbyg"), ("", "")]
    assert twin.step("moldy") == env.step("moldy")


@pytest.mark.parametrize("engine", ["x", {}, ["shire"] * 7])
def test_snapshots_that_cannot_be(engine):
    env = start("grape")
    with pytest.raises(InvalidState, match="snapshot"):
        env.set_state({**env.get_state(), "engine": engine})


def test_sampled_actions_are_words():
    env, rng = WordleEnv(letters=6), np.random.default_rng(0)
    env.reset(seed=0)
    samples = Counter(env.sample_action(rng) for _ in range(50))
    assert len(samples) > 45
    assert all(s.replace(" ", "") in env.words.accepted for s in samples)


def test_ten_thousand_garbage_actions():
    env, space = WordleEnv(), UnicodeText(seed=3)
    env.reset(seed=0)
    for i in range(10_000):
        action = GARBAGE[i % len(GARBAGE)] if i % 3 else space.sample()
        observation, _, terminated, truncated, _ = env.step(action)
        assert observation.strip()
        assert len(observation) < 1000
        if terminated or truncated:
            env.reset()


SCRIPT = """
import hashlib, agentgym, numpy as np
digest, env, rng = hashlib.sha256(), agentgym.make("wordle"), np.random.default_rng(0)
digest.update(agentgym.make("wordle", letters=6).tasks.digest.encode())
for seed in range(5):
    observation, info = env.reset(seed=seed)
    for _ in range(5):
        thought, _ = env.expert().act(observation, info)
        observation, *_, info = answer = env.step(env.sample_action(rng))
        digest.update(repr((thought, answer)).encode())
        if answer[2]:
            break
print(digest.hexdigest())
"""


def test_same_under_any_hash_seed():
    outputs = outputs_under_hash_seeds(SCRIPT)
    assert len(outputs[0].strip()) == 64
    assert len(set(outputs)) == 1


def test_played_episode_of_the_readme():
    """The README's script prints what the README says it prints."""
    printed, said = readme_episode(README)
    assert printed == said
