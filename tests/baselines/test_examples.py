"""From trajectories to sequences: flags, limits, and what is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transformers")

from agentgym.baselines.chat import ChatTemplate
from agentgym.baselines.config import EnvTasks, LengthConfig
from agentgym.baselines.examples import (
    DataConfig,
    Example,
    chat_file,
    chosen,
    demonstrations,
    example_of,
    expert_episodes,
    make_rows,
)
from agentgym.baselines.sources import SourceReport
from agentgym.core.errors import InvalidConfig
from agentgym.trajectories import TrajectoryDataset, collect, to_item, write_items
from tests.baselines.templates import FAMILIES, tokenizer_of
from tests.baselines.tiny import MAZE

TEMPLATE = ChatTemplate(tokenizer_of(FAMILIES["chatml"].template, "<|im_end|>"))
ANY = LengthConfig()


def example(replies: list[str], source: str = "maze_1") -> Example:
    messages = [
        {"role": "user", "content": "Rules."},
        {"role": "assistant", "content": "OK."},
        {"role": "user", "content": "Go."},
    ]
    for i, reply in enumerate(replies):
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": f"o{i}"}]
    weights = [float(i > 1 and m["role"] == "assistant") for i, m in enumerate(messages)]
    return Example(messages[:-1], weights[:-1], source)


def test_the_flags_of_the_data_decide_and_not_the_roles() -> None:
    (episode, *_) = collect("maze", tasks=1, options=MAZE["options"])
    steps = [s.model_copy(update={"loss": i % 2 == 0}) for i, s in enumerate(episode.steps)]
    episode = episode.model_copy(update={"steps": tuple(steps)})
    ((row,), report) = make_rows([example_of(episode)], TEMPLATE, ANY, context=10_000)
    learned = TEMPLATE.tokenizer.decode([i for i in row.labels if i != -100])
    assert learned == "".join(f"{s.reply}<|im_end|>" for s in episode.steps if s.loss)
    assert report.learned == sum(label != -100 for label in row.labels)


def test_published_files_keep_their_flags_and_learn_no_acknowledgement(tmp_path: Path) -> None:
    data = collect("maze", tasks=2, options=MAZE["options"])
    write_items([to_item(e) for e in data], tmp_path / "maze_train.json")
    data.save(tmp_path / "maze.jsonl")
    published = demonstrations(
        DataConfig(files=(tmp_path / "maze_train.json",), layout="published")
    )
    ours = demonstrations(DataConfig(files=(tmp_path / "maze.jsonl",)))
    rows = [
        make_rows(map(example_of, some), TEMPLATE, ANY, context=10_000)[0]
        for some in (published, ours)
    ]
    assert rows[0] == rows[1]
    learned = TEMPLATE.tokenizer.decode([i for i in rows[0][0].labels if i != -100])
    assert "OK." not in learned


@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    limit=st.integers(8, 120),
    policy=st.sampled_from(["drop", "truncate-turns"]),
)
def test_no_episode_is_cut_in_silence_nor_within_a_turn(
    lengths: list[int], limit: int, policy: str
) -> None:
    some = [example(["go " * n, "on"], f"maze_{i}") for i, n in enumerate(lengths)]
    sizes = [len(TEMPLATE.encode(e.messages, e.weights).input_ids) for e in some]
    fits = LengthConfig.model_validate({"max_tokens": limit, "too_long": policy})
    try:
        rows, report = make_rows(some, TEMPLATE, fits, context=10_000)
    except InvalidConfig:
        assert min(sizes) > limit
        return
    assert all(len(row.input_ids) <= limit for row in rows)
    end = TEMPLATE.tokenizer.eos_token_id
    for row in rows:
        # What is left ends where a reply ends, or is whole.
        assert row.labels[-1] == end or len(row.input_ids) in sizes
    turns = sum(row.labels.count(end) for row in rows)
    assert turns + report.turns_lost == 2 * len(some)
    assert report.dropped + report.truncated == sum(size > limit for size in sizes)
    assert len(rows) == len(some) - report.dropped
    assert report.longest == max(sizes)
    assert (f"{report.turns_lost} turns lost" in str(report)) == bool(report.turns_lost)


def test_too_long_can_be_an_error_that_names_the_episode() -> None:
    fits = LengthConfig(max_tokens=20, too_long="error")
    with pytest.raises(InvalidConfig, match=r"maze_7 has \d+ tokens, the limit is 20"):
        make_rows([example(["go on"] * 5, "maze_7")], TEMPLATE, fits, context=10_000)


def test_the_models_context_is_a_limit_too() -> None:
    rows, report = make_rows([example(["go"]), example(["go on"] * 30)], TEMPLATE, ANY, context=100)
    assert (len(rows), report.dropped, report.max_tokens) == (1, 1, 100)


def test_an_example_a_turn_holds_each_learned_turn_once() -> None:
    rows, _ = make_rows([example(["a", "b", "c"])], TEMPLATE, ANY, context=1000, per_turn=True)
    learned = [TEMPLATE.tokenizer.decode([i for i in r.labels if i != -100]) for r in rows]
    assert learned == ["a<|im_end|>", "b<|im_end|>", "c<|im_end|>"]


def test_the_best_and_those_of_a_score_can_be_chosen(tmp_path: Path) -> None:
    good = collect("maze", tasks=3, options=MAZE["options"])
    poor = [e.model_copy(update={"score": 0.2, "success": False, "attempt": 1}) for e in good]
    TrajectoryDataset([*poor, *good]).save(tmp_path / "both.jsonl")
    files = (tmp_path / "both.jsonl",)
    assert len(demonstrations(DataConfig(files=files))) == 6
    assert demonstrations(DataConfig(files=files, best=True)) == list(good)
    assert demonstrations(DataConfig(files=files, min_score=0.5)) == list(good)
    with pytest.raises(InvalidConfig, match="no demonstrations"):
        demonstrations(DataConfig())


def test_no_published_item_is_dropped_where_the_best_are_chosen(tmp_path: Path) -> None:
    data = collect("maze", tasks=2, options=MAZE["options"])
    write_items([to_item(e) for e in data], tmp_path / "maze_train.json")
    with pytest.raises(InvalidConfig, match=r"data\.best"):
        demonstrations(
            DataConfig(files=(tmp_path / "maze_train.json",), layout="published", best=True)
        )


def test_the_expert_plays_the_demonstrations_the_same_each_time() -> None:
    config = DataConfig(expert=(EnvTasks(**MAZE, tasks=3),))
    first, second = demonstrations(config), demonstrations(config)
    assert [e.score for e in first] == [1.0] * 3
    assert [e.digest for e in first] == [e.digest for e in second]  # type: ignore[union-attr]


def test_what_experts_fail_and_what_is_filtered_is_counted_and_told(tmp_path: Path) -> None:
    hurried = EnvTasks(**{**MAZE, "max_rounds": 1}, tasks=5)
    said: list[str] = []
    report = SourceReport()
    played = expert_episodes(hurried, say=said.append, report=report)
    assert (report.played, report.failed) == (5, 5 - len(played))
    assert report.failed
    (line,) = said
    assert f"fails in Maze: {report.failed} of 5 episodes were left out" in line
    assert "when 1 rounds were spent" in line
    assert line.endswith("More rounds (max_rounds) may let it finish.")
    with pytest.raises(InvalidConfig, match=r"that the expert failed.*max_rounds") as told:
        demonstrations(DataConfig(expert=(hurried,), min_score=1.0), say=said.append)
    assert "lower data.min_score" not in str(told.value)

    good = collect("maze", tasks=3, options=MAZE["options"])
    poor = [e.model_copy(update={"score": 0.2, "success": False, "attempt": 1}) for e in good]
    worse = [e.model_copy(update={"score": 0.6, "attempt": 2}) for e in good]
    TrajectoryDataset([*poor, *good, *worse]).save(tmp_path / "all.jsonl")
    data = DataConfig(files=(tmp_path / "all.jsonl",), min_score=0.5, best=True)
    report = SourceReport()
    demonstrations(data, say=said.append, report=report)
    assert report == SourceReport(read=9, low=3, worse=3, kept=3)
    assert said[-1].startswith("3 of 9 demonstrations are kept; left out: 3 below data.min_score")
    with pytest.raises(InvalidConfig, match=r"9 below data\.min_score.*lower data\.min_score"):
        chosen([e.model_copy(update={"score": 0.1}) for e in [*poor, *good, *worse]], data)


def test_general_conversations_are_learned_whole(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    file.write_text(json.dumps({"messages": talk}) + "\n")
    ((row,), _) = make_rows(chat_file(file), TEMPLATE, ANY, context=100)
    assert TEMPLATE.tokenizer.decode([i for i in row.labels if i != -100]) == "Hello<|im_end|>"
    file.write_text('{"text": "no"}\n')
    with pytest.raises(InvalidConfig, match="line 1"):
        list(chat_file(file))


def test_tool_calls_are_learned_with_the_schemas_that_were_offered() -> None:
    from agentgym.agents.message import ToolCall

    (episode, *_) = collect("maze", tasks=1, options=MAZE["options"])
    call = ToolCall("move", '{"direction": "up"}', "1")
    steps = tuple(s.model_copy(update={"tool_calls": (call,)}) for s in episode.steps)
    shown = episode.model_copy(update={"steps": steps, "action_format": "function_calling"})
    tools = example_of(shown).tools
    assert tools[0]["function"]["name"] == "move"
    assert example_of(episode).tools == ()
