"""The contract every environment keeps; it knows no environment, agent or trainer."""

import agentgym.core.memory  # noqa: F401  (lets Gymnasium's AsyncVectorEnv share text)
from agentgym.core.call import Call, CallCommand, read_call, write_call
from agentgym.core.command import Command, Param, grammar, match_call
from agentgym.core.data import cache_root, data_root, find_data, find_eval_ids
from agentgym.core.env import TextEnv
from agentgym.core.errors import AgentGymError, BrokenContract
from agentgym.core.expert import Expert
from agentgym.core.extras import installed, require
from agentgym.core.literal import read_value
from agentgym.core.loading import load_tasks
from agentgym.core.needs import EnvNeeds
from agentgym.core.outcome import Edition, Opening, Outcome
from agentgym.core.registry import (
    EnvCard,
    cards,
    find_card,
    make,
    portable_id,
    register,
    resolve_id,
    short_name,
)
from agentgym.core.space import UnicodeText
from agentgym.core.task import SPLITS, Task, TaskSet
from agentgym.core.text import shorten

__all__ = [
    "SPLITS",
    "AgentGymError",
    "BrokenContract",
    "Call",
    "CallCommand",
    "Command",
    "Edition",
    "EnvCard",
    "EnvNeeds",
    "Expert",
    "Opening",
    "Outcome",
    "Param",
    "Task",
    "TaskSet",
    "TextEnv",
    "UnicodeText",
    "cache_root",
    "cards",
    "data_root",
    "find_card",
    "find_data",
    "find_eval_ids",
    "grammar",
    "installed",
    "load_tasks",
    "make",
    "match_call",
    "portable_id",
    "read_call",
    "read_value",
    "register",
    "require",
    "resolve_id",
    "short_name",
    "shorten",
    "write_call",
]
