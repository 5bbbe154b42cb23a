"""The compact prompt of several environments: one chat template that knows them by their rules.

Each environment has a template of its own, which writes an observation as a few words. A
conversation begins with the environment's instructions, so their beginning says whose template it
takes; to the model, environments differ by what is observed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from agentgym.baselines.config import EnvTasks
from agentgym.baselines.demonstration.start import template_of
from agentgym.baselines.examples import env_choice
from agentgym.core import make
from agentgym.core.errors import InvalidConfig

SHOWN = 80
"""Characters of the instructions that tell an environment from the others."""


def compact_prompt(tasks: Sequence[EnvTasks]) -> str:
    """Return the chat template of some environments.

    Raises:
        InvalidConfig: if there is no template for one of them, or two have the same instructions.
    """
    begins: dict[str, str] = {}
    parts: list[str] = []
    for one in tasks:
        begin = _instructions(one)[:SHOWN]
        if begins.setdefault(begin, one.env) != one.env:
            raise InvalidConfig(f"{one.env} and {begins[begin]} have the same instructions")
        word = "elif" if parts else "if"
        test = f"messages[0].content.startswith({json.dumps(begin)})"
        parts.append(f"{{%- {word} {test} -%}}\n{template_of(one.env)}")
    return "".join(parts) + "{%- endif -%}\n"


def _instructions(tasks: EnvTasks) -> str:
    choice = env_choice(tasks)
    env = make(choice.env_id, **choice.make_arguments())
    try:
        return str(env.get_wrapper_attr("instructions"))
    finally:
        env.close()
