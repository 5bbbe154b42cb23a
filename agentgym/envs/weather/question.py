"""A kind of question: how one is drawn, said, answered and looked up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from agentgym.core.draw import Draw
from agentgym.envs.tools import Plan
from agentgym.envs.weather.asking import Setting

Ask = Mapping[str, Any]
"""A question's own parameters, JSON values."""

NUMBER = "Please answer with a number."
ONE_DECIMAL = "Please answer with a number, rounded to one decimal."
YES_NO = "Please answer with 'Yes' or 'No'."
DATE = "Please answer with a date, YYYY-MM-DD."

EXACT = 0.051
"""How far an answer read off a result may be: it has one decimal."""
ROUNDED = 0.11
"""How far a computed answer may be: ours is rounded, and so is the one that is given."""


class Question(ABC):
    """A kind of question."""

    kind: ClassVar[str]

    @abstractmethod
    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a question for a setting, or None where what was drawn has no clear answer."""

    @abstractmethod
    def goal(self, ask: Ask) -> str:
        """Return the question in words, and the form of its answer."""

    @abstractmethod
    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the answer's spec, computed from the world."""

    @abstractmethod
    def plan(self, ask: Ask) -> Plan:
        """Return an expert's plan: it knows the question and what its calls return."""


def yes_no(value: bool) -> dict[str, Any]:
    """Return the spec of an answer "Yes" or "No"."""
    return {"text": "Yes", "also": ["true"]} if value else {"text": "No", "also": ["false"]}


def said(value: bool) -> str:
    """Return "Yes" or "No"."""
    return "Yes" if value else "No"
