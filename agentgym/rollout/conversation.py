"""The conversation of an episode, in AgentTraj's layout.

There is no system role: the instructions are the first human message, a fixed acknowledgement
answers them, and observation and reply alternate from there (AgentGym, section 3.1). Episodes that
ended in the middle keep the last observation as their last message, as the published rollouts do.
"""

from __future__ import annotations

from typing import Any

from agentgym.agents.message import Message
from agentgym.rollout.episode import Episode


class Conversation:
    """The growing list of messages a model is given.

    Args:
        instructions: the first message.
        acknowledgement: the scripted answer to it.
        observation: the first observation.
    """

    def __init__(self, instructions: str, acknowledgement: str, observation: str) -> None:
        self.messages = [
            Message("user", instructions),
            Message("assistant", acknowledgement),
            Message("user", observation),
        ]

    def add(self, reply: Message, observation: str) -> None:
        """Append a reply and the environment's answer to it.

        An answer to a tool call is a message of role "tool"; a reply with several calls is
        answered once a call, as the protocol demands.
        """
        self.messages.append(reply)
        if not reply.tool_calls:
            self.messages.append(Message("user", observation))
            return
        for call in reply.tool_calls:
            self.messages.append(Message("tool", observation, tool_call_id=call.id))


def published(episode: Episode) -> list[dict[str, Any]]:
    """Return the conversation of an episode as AgentTraj publishes it.

    Returns:
        A list of {"from": "human" | "gpt", "loss": bool | None, "value": str}; `loss` is None on
        human messages and False on the scripted acknowledgement.
    """
    turns: list[dict[str, Any]] = [
        {"from": "human", "loss": None, "value": episode.instructions},
        {"from": "gpt", "loss": False, "value": episode.acknowledgement},
        {"from": "human", "loss": None, "value": episode.observation},
    ]
    for step in episode.steps:
        turns.append({"from": "gpt", "loss": step.loss, "value": step.reply})
        turns.append({"from": "human", "loss": None, "value": step.observation})
    return turns
