"""The recorded run on SmolLM2: its settings can be used, its prompt says what the agent sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
pytest.importorskip("minigrid")

from agentgym.baselines.agentevol import AgentEvolConfig
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.chat import ChatTemplate, texts_of
from agentgym.baselines.configfile import load_config
from agentgym.baselines.examples import EnvTasks, Example, example_of, expert_episodes
from agentgym.baselines.model import make_tokenizer

FOLDER = Path(__file__).parents[2] / "benchmarks" / "smollm2"


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return [example_of(e) for e in expert_episodes(EnvTasks(env="babyai", tasks=25, max_rounds=8))]


@pytest.fixture(scope="module")
def template(examples: list[Example]) -> ChatTemplate:
    tokenizer = make_tokenizer(texts_of(e.messages for e in examples), 400)
    tokenizer.chat_template = (FOLDER / "babyai.jinja").read_text(encoding="utf-8")
    return ChatTemplate(tokenizer)


def test_the_control_learns_as_long_and_plays_the_same_tasks() -> None:
    run = load_config(AgentEvolConfig, "agentevol", FOLDER / "agentevol.yaml")
    control = load_config(BCConfig, "bc", FOLDER / "control.yaml")
    assert run.start == "bc"
    assert control.optim == run.optim
    assert control.eval == run.eval
    assert control.data == run.data
    assert control.model.lora == run.model.lora


def test_only_actions_are_learned(examples: list[Example], template: ChatTemplate) -> None:
    assert examples
    for example in examples:
        encoded = template.encode(example.messages, example.weights)
        said = [
            template.tokenizer.decode(list(encoded.input_ids[span.start : span.end]))
            for span in encoded.spans
        ]
        thoughts = [m["content"] for m in example.messages[2:] if m["role"] == "assistant"]
        assert said == [text.split("Action: ")[1] + "<|im_end|>" for text in thoughts]


def test_the_prompt_names_goal_objects_walls_and_what_is_carried(template: ChatTemplate) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "rules"},
        {"role": "assistant", "content": "OK."},
        {
            "role": "user",
            "content": "Your goal: go to the red ball\nIn front of you in this room, you can see "
            "several objects: There is a red ball 1 right in front of you 3 steps away.  There is "
            "a grey closed door 12 2 steps in front of you and 1 steps to your left.  The room has "
            "walls around you. You are facing a wall 4 steps away. You are carrying a blue key.\n"
            'Available actions: ["turn left"]',
        },
        {"role": "assistant", "content": "turn left"},
        {
            "role": "user",
            "content": "You cannot see any objects within sight.The room has walls around you. You "
            'are not carrying anything.\nAvailable actions: ["turn left"]',
        },
        {"role": "assistant", "content": "fly"},
        {"role": "user", "content": "The action is not recognized. Please check valid actions."},
    ]
    assert template.prompt(messages) == (
        "goal: go to the red ball\n"
        "see: red ball 1 ahead, grey closed door 12; wall 4; carrying blue key\n"
        "<|im_start|>assistant\nturn left<|im_end|>\n"
        "see: nothing\n"
        "<|im_start|>assistant\nfly<|im_end|>\n"
        "The action is not recognized\n"
        "<|im_start|>assistant\n"
    )
