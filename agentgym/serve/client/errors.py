"""What can go wrong on the way to a server, beside what the server itself answers."""

from __future__ import annotations

from agentgym.core.errors import AgentGymError


class ServerUnreachable(AgentGymError):
    """No answer came from the server, and asking again did not help; the message names it."""


class NotAServer(AgentGymError):
    """Something answers under the address, but it is no agentgym server."""
