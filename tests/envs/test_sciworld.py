"""SciWorld: tables without Java, then the simulator, then how its process is kept."""

from __future__ import annotations

import gc
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("scienceworld", reason="needs pip install 'agentgym[sciworld]'")

from agentgym.core.command import match_call
from agentgym.core.errors import InvalidConfig, MissingExtra
from agentgym.core.registry import make
from agentgym.envs.sciworld import bridge, jvm, tasks
from agentgym.envs.sciworld.env import SciWorldEnv, parse_progress
from agentgym.envs.sciworld.grammar import COMMANDS, UNKNOWN, choices, hint, understood
from agentgym.envs.sciworld.jvm import JvmOptions, SimulatorError, find_java
from agentgym.envs.sciworld.patch import CLASS, add_hash_code, write_patched_class
from agentgym.envs.sciworld.pool import pool
from agentgym.envs.sciworld.reasons import Moment, reason

# AgentGym's flat list: (task, first item, last item).
OFFICIAL = [
    ("boil", 0, 29),
    ("melt", 30, 59),
    ("freeze", 60, 89),
    ("change-the-state-of-matter-of", 90, 119),
    ("use-thermometer", 120, 659),
    ("measure-melting-point-known-substance", 660, 1095),
    ("measure-melting-point-unknown-substance", 1096, 1395),
    ("power-component", 1396, 1415),
    ("power-component-renewable-vs-nonrenewable-energy", 1416, 1435),
    ("test-conductivity", 1436, 2335),
    ("test-conductivity-of-unknown-substances", 2336, 2935),
    ("find-living-thing", 2936, 3235),
    ("find-non-living-thing", 3236, 3535),
    ("find-plant", 3536, 3835),
    ("find-animal", 3836, 4135),
    ("chemistry-mix", 4136, 4167),
    ("chemistry-mix-paint-secondary-color", 4168, 4203),
    ("chemistry-mix-paint-tertiary-color", 4204, 4239),
    ("lifespan-longest-lived", 4240, 4364),
    ("lifespan-shortest-lived", 4365, 4489),
    ("lifespan-longest-lived-then-shortest-lived", 4490, 4614),
    ("identify-life-stages-1", 4615, 4628),
    ("identify-life-stages-2", 4629, 4638),
]


# Tables, without Java.


def test_official_numbering_is_the_published_one() -> None:
    items = tasks.official()
    assert len(items) == 4639
    for name, first, last in OFFICIAL:
        assert items[first].spec == {"task": name, "variation": 0}
        assert items[last].spec == {"task": name, "variation": last - first}


def test_stand_in_split_takes_eval_from_the_test_fold(monkeypatch: Any, tmp_path: Path) -> None:
    items = tasks.official(str(tmp_path))
    assert items.sizes == {"train": 4439, "eval": 200}
    assert "stand in" in items.note
    sizes = {lesson.name: lesson.variations for lesson in tasks.lessons()}
    for task in items.split("eval"):
        assert task.spec["variation"] in tasks.folds(sizes[task.kind])[2]
    assert len({task.kind for task in items.split("eval")}) == 23


@pytest.mark.parametrize(
    "rows", [[3, 7], ["sciworld_3", "sciworld_7"], [{"item_id": "sciworld_3"}, {"item_id": 7}]]
)
def test_published_split_is_used_where_it_lies(tmp_path: Path, rows: list[Any]) -> None:
    (tmp_path / "sciworld").mkdir()
    (tmp_path / "sciworld" / "eval_ids.json").write_text(json.dumps(rows))
    items = tasks.official(str(tmp_path))
    assert [task.index for task in items.split("eval")] == [3, 7]
    assert items.digest != tasks.official(str(tmp_path / "none")).digest


@given(st.integers(min_value=1, max_value=1500))
def test_folds_part_the_variations(count: int) -> None:
    first, second, third = tasks.folds(count)
    joined = [*first, *second, *third]
    assert sorted(set(joined)) == list(range(count))
    if count > 1:
        assert len(joined) == count
        assert len(first) > 0
        assert len(third) > 0


def test_mini_has_all_thirty_tasks_in_both_splits() -> None:
    mini = tasks.mini()
    names = {lesson.name for lesson in tasks.lessons()}
    assert len(names) == 30
    assert {task.kind for task in mini.split("train")} == names
    assert {task.kind for task in mini.split("eval")} == names
    assert mini.sizes == {"train": 270, "eval": 109}
    assert mini.digest == "984e166a4deb9eb653227070e1b96e03fcd94d1b9610900be3017513ec270c8e"


def test_carried_paths_fit_the_limits_and_the_grammar() -> None:
    for task in tasks.mini():
        path = tasks.carried_path(task.spec["task"], task.spec["variation"])
        assert 0 < len(path) <= tasks.ROUNDS["mini"]
        for action in path:
            call = match_call(COMMANDS, action)
            assert call is not None, action
            command, arguments = call
            assert command.render(json.loads(json.dumps(arguments))) == action


def test_every_move_of_every_path_has_a_reason() -> None:
    said = set()
    for task in tasks.mini():
        path = tuple(tasks.carried_path(task.spec["task"], task.spec["variation"]))
        for i in range(len(path)):
            text = reason(Moment(path, i, f"Your task is to {task.kind}.", ""))
            assert text.endswith((".", "!"))
            assert "{" not in text
            said.add(text)
    assert len(said) > 500


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4), st.text(max_size=60))
def test_a_reason_is_found_for_any_text(path: list[str], seen: str) -> None:
    assert reason(Moment(tuple(path), 0, seen, seen)).strip()


def test_reasons_look_ahead() -> None:
    path = ("open door to kitchen", "go to kitchen", "pick up thermometer", "focus on ice")
    assert "the thermometer" in reason(Moment(path, 0, "", ""))
    assert "kitchen" in reason(Moment(path, 1, "", ""))
    reading = "the thermometer measures a temperature of 27 degrees celsius"
    assert "27 degrees" in reason(Moment(path, 1, "", reading))


@pytest.mark.parametrize(
    ("action", "part"),
    [
        ("open the pod bay doors", "open [object]"),
        ("pick up", "Say: pick up [object]"),
        ("grab pot", "Say one of"),
        ("foucs on ice", "focus on [object]"),
        ("", "look around"),
    ],
)
def test_hints_say_what_would_be_right(action: str, part: str) -> None:
    assert part in hint(action)


@given(st.text(max_size=200))
def test_a_hint_is_found_for_any_text(action: str) -> None:
    assert hint(action).strip()


def test_answers_are_told_apart() -> None:
    asked = "Ambiguous request: Please enter the number:\n0:\tpick up pot\n1:\tpick up cup\n"
    assert choices(asked) == 2
    assert choices("The recipe reads:\n0:\tnothing") == 0
    assert understood(asked)
    assert understood("The door is already open.")
    assert not understood(UNKNOWN)
    assert not understood("ERROR: Value out of range (9).  Action cancelled.")


def test_progress_table_is_read() -> None:
    table = (
        "Completed keys: \n---\nSequential Subgoals:\n---\n0\ttrue\t    GoalFind\tfocus on x\n"
        "---\nUnordered and Optional Subgoals:\n---\n0\tfalse\t  GoalMove\tmove\n---\n"
    )
    assert parse_progress(table) == [
        {"text": "focus on x", "kind": "GoalFind", "required": True, "done": True},
        {"text": "move", "kind": "GoalMove", "required": False, "done": False},
    ]


def test_patch_refuses_other_files() -> None:
    with pytest.raises(ValueError, match="class file"):
        add_hash_code(b"PK\x03\x04 not a class")


def test_patch_adds_one_method() -> None:
    from scienceworld.constants import JAR_PATH

    with zipfile.ZipFile(JAR_PATH) as archive:
        before = archive.read(CLASS)
    after = add_hash_code(before)
    (constants,) = struct.unpack_from(">H", before, 8)
    assert struct.unpack_from(">H", after, 8) == (constants + 7,)
    assert add_hash_code(after) == after


@pytest.mark.parametrize("options", [{"memory_mb": 10}, {"recycle_after": 0}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        SciWorldEnv(**options)


def test_java_is_found_in_order(monkeypatch: Any, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    monkeypatch.setattr(jvm, "installed", lambda module: False)
    monkeypatch.delenv("AGENTGYM_JAVA", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == str(tmp_path / "bin" / "java")
    monkeypatch.setenv("AGENTGYM_JAVA", "/some/java")
    assert find_java() == "/some/java"
    assert find_java("/other/java") == "/other/java"
    monkeypatch.delenv("AGENTGYM_JAVA")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setattr(jvm.shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match=r"agentgym\[sciworld\]"):
        find_java()


def test_a_java_that_does_not_start_is_explained(tmp_path: Path) -> None:
    env = SciWorldEnv(java=str(tmp_path / "no-java"))
    with pytest.raises(SimulatorError, match="AGENTGYM_JAVA"):
        env.reset(seed=0)
    fake = tmp_path / "java"
    fake.write_text("#!/bin/sh\necho no such option >&2\nexit 1\n")
    fake.chmod(0o755)
    env = SciWorldEnv(java=str(fake))
    with pytest.raises(SimulatorError, match="no such option"):
        env.reset(seed=0)
    env.close()


# The simulator. One process serves all tests that do not ask for their own.


@pytest.fixture(scope="module")
def env() -> Iterator[SciWorldEnv]:
    environment = make("sciworld")
    assert isinstance(environment, SciWorldEnv)
    yield environment
    environment.close()
    while _sessions:
        _sessions.pop().close()


def task_id(env: SciWorldEnv, name: str) -> str:
    return next(t.id for t in env.tasks if t.kind == name)


def begin(env: SciWorldEnv, name: str) -> str:
    return env.reset(seed=0, options={"task_id": task_id(env, name)})[0]


def path_of(env: SciWorldEnv, name: str) -> list[str]:
    return tasks.carried_path(name, env.tasks.get(task_id(env, name)).spec["variation"])


def test_table_is_the_installed_package(env: SciWorldEnv) -> None:
    begin(env, "power-component")
    assert list(tasks.lessons()) == list(
        env._session.call(lambda jvm: [_counted(jvm, lesson) for lesson in tasks.lessons()])
    )
    for count in {lesson.variations for lesson in tasks.lessons()}:
        lesson = next(t for t in tasks.lessons() if t.variations == count)
        train, dev, test = env._session.call(lambda jvm, n=lesson.name: _folds(jvm, n))  # type: ignore[misc]
        assert (train, dev, test) == tuple(list(fold) for fold in tasks.folds(count))


def _counted(jvm: Any, lesson: tasks.Lesson) -> tasks.Lesson:
    return lesson._replace(variations=int(jvm.loader.getTaskMaxVariations(lesson.name)))


def _folds(jvm: Any, name: str) -> list[list[int]]:
    getattr(jvm.loader, "taskStr_$eq")(name)
    loader = jvm.loader
    lists = (loader.getVariationsTrain(), loader.getVariationsDev(), loader.getVariationsTest())
    return [json.loads(numbers.toString()) for numbers in lists]


@pytest.mark.parametrize("name", ["find-non-living-thing", "lifespan-longest-lived"])
def test_expert_solves(env: SciWorldEnv, name: str) -> None:
    observation = begin(env, name)
    assert observation.startswith("Your task is to ")
    assert "In it, you see:" in observation or "Here you see:" in observation
    expert, info, total, ended = env.expert(), env._report(), 0.0, False
    while not ended:
        thought, action = expert.act(observation, info)
        assert len(thought) > 20
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        ended = terminated or truncated
    assert info["success"]
    assert total == pytest.approx(1.0)
    assert all(row["done"] for row in info["subgoals"] if row["required"])


def test_wrong_focus_ends_the_episode_with_score_zero(env: SciWorldEnv) -> None:
    begin(env, "find-animal")
    record(env, ["open door to kitchen", "go to kitchen"])
    before = env._score
    assert before > 0
    _, reward, terminated, _, info = env.step("focus on chair")
    assert terminated
    assert info["score"] == 0.0
    assert not info["success"]
    assert reward == pytest.approx(-before)


def test_unknown_actions_are_invalid_and_answered(env: SciWorldEnv) -> None:
    begin(env, "power-component")
    observation, _, _, _, info = env.step("open the pod bay doors")
    assert observation.startswith(UNKNOWN)
    assert "open [object]" in observation
    assert info["valid"] is False
    assert env.step("look around")[4]["valid"] is True
    exact = SciWorldEnv(edition="official")
    exact.reset(seed=0)
    assert exact.step("open the pod bay doors")[0] == UNKNOWN
    exact.close()


def test_an_ambiguous_request_takes_a_number(env: SciWorldEnv) -> None:
    begin(env, "find-plant")
    for action in ("open door to greenhouse", "go to greenhouse"):
        env.step(action)
    observation, _, _, _, info = env.step("look at flower pot")
    assert observation.startswith("Ambiguous request")
    assert info["valid"]
    rng = np.random.default_rng(0)
    assert env.sample_action(rng).isdigit()
    assert "pot" in env.step("0")[0]
    env.step("look at flower pot")
    assert env.step("999")[4]["valid"] is False


def test_special_words_and_garbage(env: SciWorldEnv) -> None:
    begin(env, "power-component")
    assert env.step("task")[0].startswith("Task description:\nYour task")
    assert "activate OBJ" in env.step("help")[0]
    assert "hallway" in env.step("objects")[0]
    pid = pool.processes
    for action in ("\ud800\udfff", "a\nb\r\x00", "e", "!v\ne\n", "'; x", "(" * 300, "-1", "  "):
        observation, _, _, _, info = env.step(action)
        assert observation.strip()
        if not action.strip():
            assert not info["valid"]
    assert pool.processes == pid


def test_waiting_too_long_ends_an_official_episode(env: SciWorldEnv) -> None:
    official = SciWorldEnv(edition="official")
    official.reset(seed=0, options={"task_id": "sciworld_0"})
    ends = [official.step("wait")[2] for _ in range(9)]  # 99 moves
    assert not any(ends)
    assert official.step("wait")[2]
    official.close()


def record(env: SciWorldEnv, actions: list[str], between: Callable[[], Any] = int) -> list[str]:
    seen = []
    for action in actions:
        between()
        seen.append(env.step(action)[0])
    return seen


# Outside, animals walk at random: what one episode draws, another must not notice.
OUTSIDE = ["open door to kitchen", "go to kitchen", "open door to outside", "go to outside"]
WATCH = [*OUTSIDE, "look around", "wait1", "look around", "wait", "look around"]


def test_episodes_in_one_process_do_not_notice_each_other(env: SciWorldEnv) -> None:
    start = begin(env, "lifespan-longest-lived")
    rest = WATCH if "door to the kitchen" in start.lower() else WATCH[4:]
    alone = record(env, rest)
    other = SciWorldEnv()
    other.reset(seed=3)
    begin(env, "lifespan-longest-lived")
    seen = record(env, rest, lambda: (other.step("wait1"), other._session.valid_actions()))
    assert seen == alone
    assert len(pool.processes) == 1
    other.close()


def test_another_process_with_another_past_says_the_same(env: SciWorldEnv) -> None:
    name = "chemistry-mix"  # the package itself differs from run to run here
    begin(env, name)
    rng = np.random.default_rng(4)
    actions = list(path_of(env, name)[:3])
    seen = record(env, actions)
    for _ in range(3):
        actions.append(env.sample_action(rng))
        seen += record(env, actions[-1:])
    other = SciWorldEnv(memory_mb=700, linger=0)
    other.reset(seed=5)
    before = pool.processes
    assert len(before) == 2
    begin(other, name)
    assert record(other, actions[:4]) == seen[:4]
    # The process dies: the episode goes on as if nothing had been.
    os.kill(before[1], signal.SIGKILL)
    assert record(other, actions[4:]) == seen[4:]
    assert before[1] not in pool.processes
    other.close()
    assert pool.processes == before[:1]


def test_texts_are_the_packages_own(env: SciWorldEnv, monkeypatch: Any) -> None:
    from scienceworld import ScienceWorldEnv
    from scienceworld.constants import JAR_PATH

    java = Path(find_java()).parent
    monkeypatch.setenv("PATH", f"{java}{os.pathsep}{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        write_patched_class(Path(JAR_PATH), Path(folder))
        package = ScienceWorldEnv("", serverPath=f"{folder}{os.pathsep}{JAR_PATH}")
        try:
            for name, wander in (("power-component", 4), ("find-non-living-thing", 0)):
                _same_episode(env, package, name, wander)
        finally:
            process = package._gateway.java_process
            package.close()
            process.wait(timeout=10)


def _same_episode(env: SciWorldEnv, package: Any, name: str, wander: int) -> None:
    start = begin(env, name)
    package.load(name, env.tasks.get(task_id(env, name)).spec["variation"], "")
    first, facts = package.reset()
    assert start == f"{facts['taskDesc'].removeprefix('Task Description:').strip()}\n{first}" or (
        start == f"{package.get_task_description()}\n{first}"
    )
    rng = np.random.default_rng(1)
    actions = [env.sample_action(rng) for _ in range(wander)] + path_of(env, name)
    for action in actions:
        observation, _, done, facts = package.step(action)
        ours, _, terminated, _, info = env.step(action)
        shown = ours if not ours.startswith(UNKNOWN) else UNKNOWN
        assert shown == observation, action
        assert info["score"] == max(facts["score"], 0) / 100
        assert terminated == done
        if done:
            break


def test_listing_actions_changes_nothing(env: SciWorldEnv) -> None:
    start = begin(env, "lifespan-shortest-lived")
    rest = WATCH[:6] if "door to the kitchen" in start.lower() else WATCH[4:7]
    plain = record(env, rest)
    listing = SciWorldEnv(list_actions=True)
    _, info = listing.reset(seed=0, options={"task_id": task_id(env, "lifespan-shortest-lived")})
    assert "look around" in info["actions"]
    assert info["actions"] == sorted(info["actions"])
    assert record(listing, rest) == plain
    listing.close()


def test_snapshots_and_forks(env: SciWorldEnv) -> None:
    begin(env, "use-thermometer")
    path = path_of(env, "use-thermometer")
    record(env, path[:4])
    twin = env.fork()
    assert record(twin, path[4:7]) == record(env, path[4:7])
    assert twin._report() == env._report()
    twin.close()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=3))
def test_any_text_is_survived(actions: list[str]) -> None:
    session = _shared()
    for action in actions:
        reply = session.step(action)
        assert isinstance(reply.text, str)
        assert -1 <= reply.score <= 1


_sessions: list[bridge.Session] = []


def _shared() -> bridge.Session:
    if not _sessions:
        _sessions.append(bridge.Session(JvmOptions()))
        _sessions[0].load("power-component", 0)
    return _sessions[0]


# How the process is kept.


def _gone(pid: int, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_worn_processes_are_replaced_when_their_episodes_end() -> None:
    options = JvmOptions(memory_mb=600, recycle_after=1, linger=0.2)
    first, second = bridge.Session(options), bridge.Session(options)
    before = set(pool.processes)
    first.load("power-component", 0)
    (old,) = set(pool.processes) - before
    second.load("power-component", 0)  # the first process is worn: a second one starts
    (new,) = set(pool.processes) - before - {old}
    assert first.step("look around").text == second.step("look around").text
    first.close()
    assert _gone(old)
    second.close()
    third = bridge.Session(options)
    third.close()
    third.close()
    assert _gone(new)
    assert set(pool.processes) == before


def test_a_process_lost_before_the_first_action_is_made_up_for() -> None:
    session = bridge.Session(JvmOptions(memory_mb=640, linger=0))
    session.load("power-component", 0)
    text = session.step("look around").text
    before = set(pool.processes)
    session.load("power-component", 0)
    session._jvm.process.kill()  # type: ignore[union-attr]
    session._jvm.process.wait()  # type: ignore[union-attr]
    assert session.step("look around").text == text
    assert set(pool.processes) != before
    session.close()


def test_closing_the_last_environment_ends_the_process() -> None:
    before = set(pool.processes)
    environment = SciWorldEnv(memory_mb=650, linger=0)
    assert len(environment.tasks) > 300
    assert set(pool.processes) == before  # listing tasks needs no Java
    environment._session._ready()  # what reset does, but for the episode
    (pid,) = set(pool.processes) - before
    environment.close()
    assert _gone(pid, 1.0)
    assert set(pool.processes) == before


def test_an_environment_nobody_closed_does_not_keep_the_process() -> None:
    before = set(pool.processes)
    session = bridge.Session(JvmOptions(memory_mb=660, linger=0))
    session._ready()
    (pid,) = set(pool.processes) - before
    del session
    gc.collect()
    assert _gone(pid, 1.0)


SCRIPT = """
import os, sys
from agentgym.envs.sciworld.bridge import Session
from agentgym.envs.sciworld.jvm import JvmOptions
from agentgym.envs.sciworld.pool import pool
session = Session(JvmOptions(memory_mb=500))
session.load("power-component", 0)
text = session.step("look around").text
mine = pool.processes[0]
child = os.fork()
if child == 0:
    same = session.step("look around").text == text and mine not in pool.processes
    print("child", pool.processes[0], same, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("parent", mine, session.step("look around").text == text, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_has_its_own_process_and_none_outlives_its_python() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["child", "parent"], done.stderr
    assert all(row[2] == "True" for row in rows)
    assert rows[0][1] != rows[1][1]
    assert all(_gone(int(row[1])) for row in rows)
