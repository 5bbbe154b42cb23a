"""Who acts: the expert, a random policy, a person, a record, your code, or a language model.

`agentgym.agents.build.build_agent("openai:gpt-4o-mini")` makes one from text.
"""

from agentgym.agents.base import Agent, ChatAgent, ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, Sampled, ToolCall, Usage

__all__ = [
    "Agent",
    "ChatAgent",
    "ContextOverflow",
    "Message",
    "ModelError",
    "Reply",
    "Sampled",
    "ToolCall",
    "Usage",
]
