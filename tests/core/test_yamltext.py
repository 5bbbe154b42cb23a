"""YAML of others is plain data, or refused with a line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("yaml")

from agentgym.core.errors import InvalidConfig
from agentgym.core.yamltext import read_yaml, read_yaml_file


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a:\t0\n\tb: 1", "no YAML"),
        ("a: !!python/object:os.system {}", "no YAML"),
        ("a: \x00", "no YAML"),
        ("a: 2020-01-01", "in quotes"),
        ("2020-01-01: a", "mappings only"),
        ("a: !!set {b}", "mappings only"),
        ("a: !!binary aGk=", "mappings only"),
        ("a: &x {b: *x}", "mappings only"),
        ("a: " + "9" * 5_000, "mappings only"),
        ("a: " + "[" * 3_000 + "]" * 3_000, "nested too deeply"),
    ],
)
def test_what_is_no_plain_data_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(InvalidConfig, match=why) as caught:
        read_yaml(text, "mine.yaml")
    assert str(caught.value).startswith("mine.yaml")
    assert "\n" not in str(caught.value)


def test_what_an_alias_stands_for_is_a_copy() -> None:
    data = read_yaml("a: &x {b: [1]}\nc: *x\nd: {<<: *x, e: 2}", "mine")
    assert data == {"a": {"b": [1]}, "c": {"b": [1]}, "d": {"b": [1], "e": 2}}
    data["a"]["b"].append(2)
    assert data["c"] == {"b": [1]}


@pytest.mark.parametrize(
    ("text", "key", "first", "line"),
    [
        ("lr: 1\nseed: 2\n# mine\nlr: 3\n", "lr", 1, 4),
        ("a:\n  - {b: 1}\n  - b: 1\n    c: 2\n    b: 1\n", "b", 3, 5),
        ("{a: 1, a: 1}", "a", 1, 1),
        ("a: 1\n'a': 2", "a", 1, 2),
        ("1: a\n'1': b", "1", 1, 2),
        ("'1': a\n1: b", "1", 1, 2),
        ("true: a\nyes: b", "true", 1, 2),
        ("x: &x {a: 1}\ny:\n  a: 2\n  <<: *x\n  a: 3", "a", 3, 5),
        ("x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x", "<<", 3, 4),
    ],
)
def test_a_key_that_is_set_twice_is_named_with_both_lines(
    text: str, key: str, first: int, line: int
) -> None:
    with pytest.raises(InvalidConfig, match="keep one of them") as caught:
        read_yaml(text, "mine.yaml")
    said = f"mine.yaml sets {key!r} twice in one place, in line {first} and in line {line},"
    assert str(caught.value).startswith(said)


def test_what_is_merged_may_be_set_again() -> None:
    text = """
small: &small {rate: 1, steps: 1}
large: &large {rate: 2, batch: 2}
one: {<<: *small, rate: 3}
two: {rate: 4, <<: [*small, *large]}
three: &three {<<: *small, steps: 5}
four: {<<: *three, rate: 6}
"""
    data = read_yaml(text, "mine")
    assert data["one"] == {"rate": 3, "steps": 1}
    assert data["two"] == {"rate": 4, "steps": 1, "batch": 2}
    assert data["three"] == {"rate": 1, "steps": 5}
    assert data["four"] == {"rate": 6, "steps": 5}


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"- a\n", "settings"), (b"a", "settings"), (b"a: \xe9", "UTF-8"), (None, "no file")],
)
def test_a_file_without_settings_is_refused(
    tmp_path: Path, content: bytes | None, why: str
) -> None:
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidConfig, match=why):
        read_yaml_file(path)


def test_an_empty_file_holds_no_settings(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("# nothing\n")
    assert read_yaml_file(path) == {}
