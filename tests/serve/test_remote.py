"""A remote environment is an ordinary one: the same episodes, errors and snapshots as here."""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import agentgym
from agentgym.core import TextEnv, cards, make
from agentgym.core.checker import check_env
from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.core.promises import GARBAGE
from agentgym.serve.settings import ServeSettings
from tests.cli.conftest import Run
from tests.serve.server import serving

REMOTE = "agentgym/Remote-v0"
# SciWorld's Java takes too long here; the others stand on the same layer as Weather.
LEFT_OUT = ("SciWorld", "Academia", "Movie", "Sheet")
NAMES = [c.id for c in cards() if c.installed and c.short_name not in LEFT_OUT]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1)) as address:
        yield address


def pair(url: str, name: str, **options: Any) -> tuple[TextEnv, TextEnv]:
    return make(name, **options), make(REMOTE, url=url, env_id=name, **options)


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns or how it fails, as JSON would have it."""
    try:
        value = call()
    except Exception as error:
        return type(error).__name__, str(error)
    return value if isinstance(value, TextEnv) else json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("name", "edition"), [("textcraft", "mini"), ("wordle", "official"), ("weather", "mini")]
)
def test_it_keeps_every_promise(url: str, name: str, edition: str) -> None:
    checks = check_env(REMOTE, episodes=1, url=url, env_id=name, edition=edition)
    assert [(c.name, c.error) for c in checks if not c.passed] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_is_described_and_played_as_here(url: str, name: str) -> None:
    local, remote = pair(url, name)
    for fact in ("name", "title", "edition", "editions", "split", "instructions", "commands",
                 "max_rounds", "max_action_length", "multiline_actions"):  # fmt: skip
        assert getattr(local, fact) == getattr(remote, fact), fact
    for fact in ("name", "edition", "version", "digest", "note", "sizes", "kinds"):
        assert getattr(local.tasks, fact) == getattr(remote.tasks, fact), fact
    assert [t.id for t in local.tasks] == [t.id for t in remote.tasks]
    rng = np.random.default_rng(3)
    for seed in (5, None):
        assert local.reset(seed=seed) == remote.reset(seed=seed)
        for _ in range(8):
            bad = rng.random() < 0.3
            there = copy.deepcopy(rng)
            action = GARBAGE[int(rng.integers(len(GARBAGE)))] if bad else local.sample_action(rng)
            if not bad:
                assert remote.sample_action(there) == action
                assert there.random() == copy.deepcopy(rng).random()
            answer = local.step(action)
            # JSON has no tuples, which an info may hold (WebShop's).
            assert list(remote.step(action)) == json.loads(json.dumps(answer)), action[:40]
            if answer[2] or answer[3]:
                break
        assert outcome(local.get_state) == remote.get_state()
        assert local.render() == remote.render()
    local.close()
    remote.close()


def test_its_errors_are_those_here(url: str) -> None:
    local, remote = pair(url, "textcraft")
    assert outcome(lambda: local.step("x")) == outcome(lambda: remote.step("x"))
    wrong: list[Any] = [
        {"task_id": "x"}, {"task_id": "textcraft_99999999"}, {"nope": 1}, {"split": "tset"}, 3,
    ]  # fmt: skip
    for options in wrong:
        here = outcome(lambda options=options: local.reset(options=options))
        assert here == outcome(lambda options=options: remote.reset(options=options))
    for options in ({"edition": "zzz"}, {"max_rounds": 0}, {"max_rounds": "a"}, {"split": "zz"}):
        here = outcome(lambda options=options: make("textcraft", **options))
        assert here == outcome(
            lambda options=options: make(REMOTE, url=url, env_id="textcraft", **options)
        )
    local.reset(seed=1)
    state = local.get_state()
    damaged: list[Any] = [
        {}, {"format": 9}, {**state, "history": 3}, {**state, "observation": "x"}, [], None,
        {**state, "tasks": "x"}, {**state, "task_id": "q_1"}, {**state, "engine": {"a": 1}},
        {**state, "np_random": 3}, {**state, "seed": {1}},
    ]  # fmt: skip
    for bad in damaged:
        remote.reset(seed=1)
        local.reset(seed=1)
        here = outcome(lambda bad=bad: local.set_state(bad))
        assert here == outcome(lambda bad=bad: remote.set_state(bad))
        assert outcome(lambda: local.step("x")) == outcome(lambda: remote.step("x"))
    local.close()
    remote.close()


def test_actions_of_any_size_and_text_of_any_kind(url: str) -> None:
    local, remote = pair(url, "textcraft")
    local.reset(seed=1), remote.reset(seed=1)
    for action in ("\ud800" * 9_000, "é" * 5_000_000, 7, None, b"inventory", "inventory"):
        assert local.step(action) == remote.step(action)  # type: ignore[arg-type]
    assert local.forfeit("no \ud800 action") == remote.forfeit("no \ud800 action")
    assert local.history == remote.history
    remote.close()


def test_snapshots_go_both_ways(url: str) -> None:
    local, remote = pair(url, "babyai")
    for source, target in ((local, remote), (remote, local)):
        source.reset(seed=4)
        rng = np.random.default_rng(0)
        for _ in range(5):
            last = source.step(source.sample_action(rng))
        assert target.set_state(source.get_state()) == (last[0], last[4])
        assert target.history == source.history
        assert source.step("turn left") == target.step("turn left")
        assert source.reset() == target.reset()  # the next task follows from the snapshot too
    local.close()
    remote.close()


def test_options_of_the_environment_are_its_own(url: str) -> None:
    local, remote = pair(url, "wordle", letters=6, max_rounds=3)
    assert remote.max_rounds == 3
    assert local.tasks.digest == remote.tasks.digest
    assert local.instructions == remote.instructions
    with pytest.raises(InvalidConfig, match="data_dir"):
        make(REMOTE, url=url, env_id="wordle", data_dir="/etc")
    with pytest.raises(InvalidConfig, match="Did you mean"):
        make(REMOTE, url=url, env_id="wordle", leters=6)
    remote.close()


def test_a_picture_crosses_whole(url: str) -> None:
    local, remote = pair(url, "babyai", render_mode="rgb_array")
    local.reset(seed=1), remote.reset(seed=1)
    picture = remote.render()
    assert np.array_equal(local.render(), picture)
    assert picture.dtype == np.uint8
    remote.close()


def test_the_expert_plays_from_there(url: str) -> None:
    local, remote = pair(url, "textcraft")
    (a, info), (b, _) = local.reset(seed=2), remote.reset(seed=2)
    here, there = local.expert(), remote.expert()
    ended = False
    while not ended:
        move = here.act(a, info)
        assert there.act(b, info) == move
        a, _, terminated, truncated, info = local.step(move[1])
        b = remote.step(move[1])[0]
        ended = terminated or truncated
    assert info["success"]
    remote.close()


def test_a_generator_of_another_kind_draws_too(url: str) -> None:
    env = make(REMOTE, url=url, env_id="maze")
    env.reset(seed=1)
    drawn = [
        [env.sample_action(rng) for _ in range(12)]
        for rng in (np.random.Generator(np.random.MT19937(4)) for _ in range(2))
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1
    bad = outcome(lambda: env._session.ask("sample", rng={"state": 1}))  # type: ignore[attr-defined]
    assert bad[0] == "BadRequest"
    assert env.step("move up")[4]["rounds"] == 1
    env.close()


def test_experts_may_be_off() -> None:
    with serving(ServeSettings(max_workers=1, experts=False)) as url:
        env = make(REMOTE, url=url, env_id="textcraft")
        env.reset(seed=1)
        with pytest.raises(AgentGymError, match="no advice"):
            env.expert()
        assert env.step("inventory")[4]["valid"]  # and nothing is lost by asking
        env.close()


def test_it_needs_to_know_what_to_play() -> None:
    for options, missing in (({}, "url"), ({"url": "http://127.0.0.1:1"}, "env_id")):
        with pytest.raises(InvalidConfig, match=f"needs the option {missing}"):
            gymnasium.make(REMOTE, **options)
    for url in (7, "localhost:80", "ftp://x", "http://", "http://a b", "http://x/?y", "http://x:q"):
        with pytest.raises(InvalidConfig, match="url must be"):
            gymnasium.make(REMOTE, url=url, env_id="textcraft")
    with pytest.raises(InvalidConfig, match="no name or password"):
        gymnasium.make(REMOTE, url="http://me:secret@127.0.0.1:1", env_id="textcraft")


def test_it_is_no_environment_of_the_suite(url: str) -> None:
    assert REMOTE in gymnasium.registry
    assert REMOTE not in [card.id for card in cards()]
    with pytest.raises(AgentGymError, match="unknown environment"):
        make(REMOTE, url=url, env_id=REMOTE)


def test_copies_and_forks_play_on_by_themselves(url: str) -> None:
    env = make(REMOTE, url=url, env_id="wordle")
    env.reset(seed=3)
    env.step("c r a n e")
    twins = [env.fork(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    answer = env.step("s l o t h")
    for twin in twins:
        assert twin.history == ("c r a n e",)
        assert twin.step("s l o t h") == answer
        twin.close()
    env.close()


def test_closing_ends_the_session_and_a_reset_opens_another(url: str) -> None:
    env = make(REMOTE, url=url, env_id="textcraft")
    first = env.reset(seed=1)
    session = env._session  # type: ignore[attr-defined]
    env.close()
    env.close()
    with pytest.raises(AgentGymError, match="closed"):
        session.act("step", action="inventory")
    assert env.reset(seed=1) == first
    env.close()


def test_sixteen_threads_meet_nobody_elses_answers(url: str) -> None:
    def play(env: TextEnv, seed: int) -> list[Any]:
        begun = env.reset(seed=seed)
        return [begun, *(env.step(f"get {i + seed} oak log") for i in range(12))]

    local = make("textcraft")
    expected = [play(local, seed) for seed in range(16)]
    envs = [make(REMOTE, url=url, env_id="textcraft") for _ in range(16)]
    found: dict[int, Any] = {}

    def run(i: int) -> None:
        found[i] = [play(envs[i], i) for _ in range(2)]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(16)] == [[e, e] for e in expected]
    for env in envs:
        env.close()


def test_a_vector_of_it_is_a_vector_of_what_it_plays(url: str) -> None:
    here = gymnasium.make_vec("agentgym/Maze-v0", 3)
    there = gymnasium.make_vec(REMOTE, 3, url=url, env_id="maze")
    assert there.reset(seed=1)[0] == here.reset(seed=1)[0]
    for action in ("move up", "move left"):
        a, b = here.step([action] * 3), there.step([action] * 3)
        assert list(a[0]) == list(b[0])
        assert a[1].tolist() == b[1].tolist()
    here.close()
    there.close()


def test_a_run_says_what_was_played(url: str, tmp_path: Any, monkeypatch: Any) -> None:
    from agentgym.rollout.plan import EnvChoice
    from agentgym.rollout.verify import verify_episode

    choice = EnvChoice(env_id=REMOTE, options={"url": url, "env_id": "wordle"})
    result = agentgym.evaluate("expert", [choice], tasks=3, run=tmp_path / "run")
    assert result.report.rows[0].total.success.value == 1.0
    assert result.report.rows[0].name == "Wordle (remote)"
    episode = result.episodes[0]
    assert episode.tasks_digest == make("wordle").tasks.digest
    assert episode.env_options == {"url": url, "env_id": "wordle"}
    assert episode.task_id.startswith("wordle_")
    assert verify_episode(episode) == []
    local = agentgym.evaluate("expert", "wordle", tasks=3, run=tmp_path / "local")
    for here, there in zip(local.episodes, result.episodes, strict=True):
        differing = {"env_id", "env_options", "duration"}
        assert here.model_dump(exclude=differing) == there.model_dump(exclude=differing)
    with pytest.raises(InvalidConfig, match="AGENTGYM_TOKEN"):
        EnvChoice(env_id=REMOTE, options={"url": url, "env_id": "wordle", "token": "secret-1"})


@pytest.mark.parametrize("words", [("eval", "expert", "--env", "remote"), ("collect", "remote")])
def test_a_token_is_written_into_no_record(
    run: Run, tmp_path: Path, url: str, words: tuple[str, ...]
) -> None:
    out = ("--out", str(tmp_path / "made.jsonl")) if words[0] == "collect" else ()
    options = [f"url={url}", "env_id=wordle", "token=a-secret-token"]
    given = [word for option in options for word in ("--env-option", option)]
    shown = run(*words, *given, *out, "--tasks", "1")
    assert shown.exit_code == 2, shown.output
    assert "AGENTGYM_TOKEN" in shown.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"a-secret-token" in path.read_bytes() for path in written)


def test_the_code_of_the_page_runs(url: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "remote.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(code.replace("http://127.0.0.1:8765", url), names)
    assert names["info"]["task_id"] == "webshop_12"
