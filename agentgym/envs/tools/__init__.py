"""The tool layer: what the tool environments are built from; it is no environment itself.

A tool environment is a class of typed methods (`Tools`, `@tool`) over the state of one episode, a
`ToolEnv` that opens it for a task, and a plan for its expert. From each method, declared once, come
the prompt's function list, the JSON schema for function calling, the validation of arguments and
the error that names the argument that is wrong. `README.md` here shows how one is written.
"""

from agentgym.envs.tools.answers import accepts, spec_of, value_of
from agentgym.envs.tools.cassette import Cassette, CassetteError, CassetteMiss
from agentgym.envs.tools.env import ToolEnv
from agentgym.envs.tools.errors import NotFound, ToolError, WrongCall, WrongValue
from agentgym.envs.tools.expert import Move, Plan, PlanExpert
from agentgym.envs.tools.kinds import Date, Latitude, Longitude, Number, Reply, Text
from agentgym.envs.tools.live import LiveClient, LiveError, MissingKey, key_from
from agentgym.envs.tools.tool import Tool, tool
from agentgym.envs.tools.toolkit import Tools

__all__ = [
    "Cassette",
    "CassetteError",
    "CassetteMiss",
    "Date",
    "Latitude",
    "LiveClient",
    "LiveError",
    "Longitude",
    "MissingKey",
    "Move",
    "NotFound",
    "Number",
    "Plan",
    "PlanExpert",
    "Reply",
    "Text",
    "Tool",
    "ToolEnv",
    "ToolError",
    "Tools",
    "WrongCall",
    "WrongValue",
    "accepts",
    "key_from",
    "spec_of",
    "tool",
    "value_of",
]
