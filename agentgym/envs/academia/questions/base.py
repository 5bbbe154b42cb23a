"""What the kinds of questions over the network share.

A question about an author's papers is only asked of authors who never wrote alone, since a paper of
one author is on no edge and cannot be found.
"""

from __future__ import annotations

from agentgym.core.draw import Draw
from agentgym.envs.academia.looking import Reader
from agentgym.envs.academia.network import Network
from agentgym.envs.tools import question

Question = question.Question[Network, Reader]

MOST_CALLS = 17
"""The most calls a question may take, loading included and `finish` not."""

NUMBER = " Please give me a numerical value as an answer."
LIST = " Please answer in the form of a list ['{0}1', '{0}2', ...]."
YES_NO = " Please answer with 'Yes' or 'No'."


def any_paper(net: Network, draw: Draw) -> str:
    """Return a paper, each as likely."""
    return draw.pick(list(net.papers))


def any_author(net: Network, draw: Draw) -> str:
    """Return an author, each as likely."""
    return draw.pick(list(net.authors))


def any_pair(net: Network, draw: Draw) -> tuple[str, str] | None:
    """Return two authors who wrote two or more papers together."""
    one = any_author(net, draw)
    others = [other for other, shared in net.together[one].items() if len(shared) > 1]
    return (one, draw.pick(others)) if others else None
