"""Episodes for tests: hand-made ones, and any that the schema allows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentgym.agents.message import Sampled, ToolCall, Usage
from agentgym.rollout.episode import Episode, Failure, Step


def episode(task: int = 0, score: float = 1.0, rounds: int = 2, **changes: Any) -> Episode:
    """Return a small episode of an environment that need not exist."""
    steps = tuple(
        Step(
            reply=f"Thought: round {i}\nAction: go {i}",
            thought=f"round {i}",
            action=f"go {i}",
            observation=f"You went {i}.",
            reward=score if i == rounds - 1 else 0.0,
            score=score if i == rounds - 1 else 0.0,
        )
        for i in range(rounds)
    )
    values: dict[str, Any] = {
        "env_id": "tests/Walk-v0",
        "edition": "mini",
        "tasks_digest": "d1",
        "task_id": f"walk_{task}",
        "kind": "short",
        "split": "train",
        "agent": "expert",
        "instructions": "Walk.",
        "acknowledgement": "OK.",
        "goal": "walk",
        "observation": "You stand.",
        "steps": steps,
        "score": score,
        "success": score == 1.0,
        "terminated": True,
    }
    return Episode(**values | changes)


# Every character but surrogates, which are tested by name: not every format can hold them.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
count = st.integers(0, 2**31)
real = st.floats(allow_nan=False, allow_infinity=False, width=64)
share = st.floats(0, 1)

tool_calls = st.builds(ToolCall, name=text, arguments=text, id=text)
usages = st.builds(Usage, count, count, count, st.none() | real, count)
samples = st.builds(
    Sampled,
    prompt_ids=st.lists(count, max_size=3).map(tuple),
    token_ids=st.lists(count, max_size=3).map(tuple),
    logprobs=st.lists(real, max_size=3).map(tuple),
)
steps = st.builds(
    Step,
    reply=text,
    thought=text,
    action=st.none() | text,
    observation=text,
    reward=real,
    score=share,
    valid=st.booleans(),
    loss=st.booleans(),
    tool_calls=st.lists(tool_calls, max_size=2).map(tuple),
    reasoning=text,
    usage=st.none() | usages,
    sampled=st.none() | samples,
)
failures = st.builds(
    Failure,
    where=st.sampled_from(["environment", "agent", "model", "limit"]),
    type=text,
    message=text,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | real | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
episodes = st.builds(
    Episode,
    env_id=text,
    edition=text,
    tasks_digest=text,
    task_id=text,
    kind=text,
    split=text,
    attempt=count,
    seed=count,
    max_rounds=count,
    env_options=st.dictionaries(text, json_values, max_size=2),
    agent=text,
    action_format=text,
    instructions=text,
    acknowledgement=text,
    goal=text,
    observation=text,
    steps=st.lists(steps, max_size=3).map(tuple),
    score=share,
    success=st.booleans(),
    terminated=st.booleans(),
    truncated=st.booleans(),
    status=st.sampled_from(["completed", "limit", "failed"]),
    failure=st.none() | failures,
    duration=st.floats(0, 1e6),
)
