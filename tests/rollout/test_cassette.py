"""A replayed evaluation is the recorded one, or an error."""

from __future__ import annotations

import pytest

from agentgym.rollout import EnvChoice, plan, rollout
from agentgym.rollout.cassette import CassetteError, CassetteMiss, RecordedAgent
from tests.models import ScriptedModel, halving, seeded

GUESS = EnvChoice(env_id="tests.toy:tests/Guess-v0")


def test_replay_needs_no_model(tmp_path):
    jobs, tape = plan([GUESS], attempts=2), tmp_path / "calls.jsonl"
    recorded = RecordedAgent(ScriptedModel(seeded), tape, "record")
    episodes = rollout(jobs, recorded)
    recorded.close()
    silent = ScriptedModel(lambda messages, seed: pytest.fail("the model was called"))
    replayed = rollout(jobs, RecordedAgent(silent, tape, "replay"), concurrency=3)
    assert [e.digest for e in replayed] == [e.digest for e in episodes]


def test_replay_stops_at_the_first_miss(tmp_path):
    tape = tmp_path / "calls.jsonl"
    recorded = RecordedAgent(ScriptedModel(halving), tape, "record")
    rollout(plan([GUESS], tasks=2), recorded)
    recorded.close()
    agent = RecordedAgent(ScriptedModel(halving), tape, "replay")
    with pytest.raises(CassetteMiss, match=r"calls\.jsonl"):
        rollout(plan([GUESS], tasks=3), agent)


def test_cache_records_what_it_lacks(tmp_path):
    tape = tmp_path / "calls.jsonl"
    first = RecordedAgent(ScriptedModel(halving), tape, "cache")
    rollout(plan([GUESS], tasks=2), first)
    first.close()
    assert first.hits == 0
    with tape.open("ab") as file:
        file.write(b'{"key": "torn')
    second = RecordedAgent(ScriptedModel(halving), tape, "cache")
    rollout(plan([GUESS], tasks=4), second)
    second.close()
    assert second.hits == first.misses
    assert second.misses > 0
    third = RecordedAgent(ScriptedModel(halving), tape, "replay")
    assert len(rollout(plan([GUESS], tasks=4), third)) == 4


def test_a_damaged_tape_is_refused(tmp_path):
    tape = tmp_path / "calls.jsonl"
    tape.write_text('{"key": "1"}\n')
    with pytest.raises(CassetteError, match="line 1"):
        RecordedAgent(ScriptedModel(halving), tape, "replay")


def test_another_model_misses(tmp_path):
    class Other(ScriptedModel):
        name = "other"

    tape = tmp_path / "calls.jsonl"
    recorded = RecordedAgent(ScriptedModel(halving), tape, "record")
    rollout(plan([GUESS], tasks=1), recorded)
    recorded.close()
    with pytest.raises(CassetteMiss):
        rollout(plan([GUESS], tasks=1), RecordedAgent(Other(halving), tape, "replay"))


def test_no_tape(tmp_path):
    with pytest.raises(CassetteError, match="no recording"):
        RecordedAgent(ScriptedModel(halving), tmp_path / "none.jsonl", "replay")
