"""Files: nothing is lost on the way, and what is wrong is named."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.rollout.episode import Episode
from agentgym.rollout.store import RunFolder
from agentgym.trajectories import (
    About,
    InvalidTrajectories,
    TrajectoryDataset,
    from_hf,
    iter_episodes,
    read,
    read_card,
    to_hf,
    write,
)
from agentgym.trajectories.store import UnknownLayout, card_path
from tests.trajectories.samples import episode, episodes

FILES = ("t.json", "t.jsonl", "t.json.gz", "t.jsonl.gz", "t.ndjson", "t.parquet")
ABOUT = About(name="ü–測試", description="two\nlines", licence="CC-BY-4.0", source="here")


@settings(max_examples=20, deadline=None)
@given(st.lists(episodes, max_size=4))
def test_every_format_gives_back_what_was_written(found: list[Episode]) -> None:
    dataset = TrajectoryDataset(found, ABOUT)
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            path = Path(folder) / name
            card = write(dataset, path)
            assert card == dataset.card, name
            again = read(path)
            assert again == dataset, name
            assert again.card == card, name


@settings(max_examples=12, deadline=None)
@given(st.lists(episodes, max_size=3))
def test_datasets_in_memory_give_back_what_they_were_made_from(found: list[Episode]) -> None:
    assert from_hf(to_hf(found)) == found


def test_a_dataset_on_disk_keeps_episodes_and_card(tmp_path: Path) -> None:
    dataset = TrajectoryDataset([episode(i) for i in range(3)], ABOUT)
    for _ in range(2):  # the second time over the first
        dataset.save(tmp_path / "hf")
        assert read(tmp_path / "hf") == dataset
    assert [p.name for p in tmp_path.iterdir()] == ["hf"]


def test_a_dataset_on_disk_never_replaces_another_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("work of years")
    with pytest.raises(InvalidTrajectories, match="left alone"):
        TrajectoryDataset([episode()]).save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "work of years"


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.jsonl.gz"])
def test_a_lone_surrogate_survives_json(tmp_path: Path, name: str) -> None:
    odd = episode(goal="half a pair: \ud83d", observation="\x00\u2028\r\n\x85")
    write([odd], tmp_path / name)
    assert list(read(tmp_path / name)) == [odd]


def test_parquet_says_what_it_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(InvalidTrajectories, match=r"Write \.jsonl"):
        write([episode(goal="\ud83d")], tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FILES)
def test_the_same_episodes_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    one, two = tmp_path / "1" / name, tmp_path / "2" / name
    for path in (one, two):
        write([episode(i) for i in range(100)], path, about=ABOUT)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_a_failed_write_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    write([episode(1)], tmp_path / name)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def breaks() -> Iterator[Episode]:
        yield episode(2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(breaks(), tmp_path / name)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_large_files_stream(tmp_path: Path, name: str) -> None:
    big = "x" * 20_000
    total = 600  # 12 MB of text, were it held

    def many() -> Iterator[Episode]:
        for i in range(total):
            yield episode(i, rounds=1, goal=f"{i}{big}")

    write([episode()], tmp_path / f"warm{name}")  # imports do not count
    list(iter_episodes(tmp_path / f"warm{name}"))
    tracemalloc.start()
    try:
        write(many(), tmp_path / name)
        assert sum(e.rounds for e in iter_episodes(tmp_path / name)) == total
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()


def test_a_digest_does_not_follow_the_hash_seed(tmp_path: Path) -> None:
    script = (
        "import sys; from tests.trajectories.samples import episode;"
        "from agentgym.trajectories import TrajectoryDataset as D;"
        "d = D([episode(i, env_options={'b': 1, 'a': {'y': 2, 'x': 3}}) for i in range(5)]);"
        "d.save(sys.argv[1]); print(d.digest)"
    )
    found = []
    for seed in ("0", "1"):
        path = tmp_path / f"{seed}.jsonl"
        result = subprocess.run(
            [sys.executable, "-c", script, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        found.append((result.stdout, path.read_bytes()))
    assert found[0] == found[1]


def test_the_digest_covers_content_and_order_but_not_the_clock() -> None:
    a, b = episode(1), episode(2)
    digest = TrajectoryDataset([a, b]).digest
    assert TrajectoryDataset([a.model_copy(update={"duration": 9.0}), b]).digest == digest
    assert TrajectoryDataset([b, a]).digest != digest
    assert TrajectoryDataset([a]).digest != digest
    changed = a.model_copy(update={"observation": "You sit."})
    assert TrajectoryDataset([changed, b]).digest != digest


def test_a_run_folder_can_be_read(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", {"name": "x"}) as run:
        run.append(episode(2))
        run.append(episode(1))
    assert [e.task_id for e in read(tmp_path / "run")] == ["walk_1", "walk_2"]
    assert [e.task_id for e in read(tmp_path / "run" / "episodes.jsonl")] == ["walk_2", "walk_1"]


def test_a_torn_file_names_its_line_and_can_be_read_short(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write([episode(i) for i in range(3)], path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InvalidTrajectories, match=r"t\.jsonl, line 3: .*allow_torn=True"):
        read(path)
    assert len(read(path, allow_torn=True, verify=False)) == 2
    # The card still counts three, so reading it short is not silent.
    with pytest.raises(InvalidTrajectories, match="counts 3 episodes"):
        read(path, allow_torn=True)


def test_a_last_line_without_its_end_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write([episode(1)], path)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert list(read(path)) == [episode(1)]


def test_a_changed_file_does_not_match_its_card(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write([episode(1, score=0.0), episode(2)], path)
    path.write_text(path.read_text().replace('"score": 0.0, "success"', '"score": 1.0, "success"'))
    with pytest.raises(InvalidTrajectories, match="does not match its card"):
        read(path)
    assert read(path, verify=False)[0].score == 1.0
    card_path(path).unlink()
    assert read_card(path) is None
    assert len(read(path)) == 2


def _broken(change: str) -> bytes:
    data = json.loads(episode().model_dump_json())
    if change == "field":
        del data["task_id"]
    elif change == "type":
        data["steps"][1]["reward"] = "much"
    elif change == "version":
        data["schema_version"] = 99
    elif change == "unknown":
        data["colour"] = "red"
    elif change == "published":
        data = {"item_id": "walk_1", "conversations": []}
    elif change == "list":
        return b"[1, 2]\n"
    elif change == "json":
        return b'{"env_id": nope}\n'
    elif change == "bytes":
        return b'{"env_id": "\xff\xfe"}\n'
    elif change == "deep":
        return b"[" * 200_000 + b"]" * 200_000 + b"\n"
    return json.dumps(data).encode() + b"\n"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("field", "task_id: Field required"),
        ("type", r"steps\.1\.reward"),
        ("version", "pip install --upgrade"),
        ("unknown", "colour"),
        ("published", "read_items"),
        ("list", "expected an episode, found list"),
        ("json", "not JSON"),
        ("bytes", "not JSON"),
        ("deep", "nested too deeply|not JSON"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, change: str, says: str) -> None:
    path = tmp_path / "t.jsonl"
    good = episode().model_dump_json().encode() + b"\n"
    path.write_bytes(good + b"\n" + _broken(change) + good)
    with pytest.raises(InvalidTrajectories, match=says) as caught:
        read(path)
    assert "line 3" in str(caught.value)


def test_damaged_files_say_so(tmp_path: Path) -> None:
    whole = tmp_path / "t.jsonl.gz"
    write([episode(i) for i in range(50)], whole)
    whole.write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(InvalidTrajectories, match="ends too early"):
        read(whole)
    plain = tmp_path / "plain.json.gz"
    plain.write_bytes(b"not gzip")
    with pytest.raises(InvalidTrajectories, match="damaged"):
        read(plain)
    table = tmp_path / "t.parquet"
    write([episode()], table)
    table.write_bytes(table.read_bytes()[:-30])
    with pytest.raises(InvalidTrajectories, match="cannot be read as Parquet"):
        read(table)


def test_json_named_for_lines_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(f"{episode(1).model_dump_json()}\n{episode(2).model_dump_json()}\n")
    with pytest.raises(InvalidTrajectories, match=r"name the file \.jsonl"):
        read(path)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet.gz", "t.gz"])
def test_an_unknown_suffix_lists_the_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidTrajectories, match=r"Known: \.json"):
        write([episode()], tmp_path / name)


def test_missing_files_and_unknown_layouts(tmp_path: Path) -> None:
    for name in ("no.json", "no.jsonl", "no.parquet", "no"):
        with pytest.raises(InvalidTrajectories, match="there is no file"):
            read(tmp_path / name)
    with pytest.raises(InvalidTrajectories, match="neither a run folder"):
        read(tmp_path)
    with pytest.raises(UnknownLayout, match="Did you mean published"):
        write([episode()], tmp_path / "t.json", layout="publishd")


def test_infinite_numbers_are_refused(tmp_path: Path) -> None:
    for name in FILES:
        with pytest.raises(InvalidTrajectories, match="finite"):
            write([episode(env_options={"x": float("inf")})], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_compressed_files_are_gzip(tmp_path: Path) -> None:
    write([episode()], tmp_path / "t.jsonl.gz")
    with gzip.open(tmp_path / "t.jsonl.gz") as file:
        assert json.loads(file.readline())["task_id"] == "walk_0"
