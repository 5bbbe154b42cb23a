"""How an episode looks in a terminal, whoever plays it.

One layout for a person's own game and for watching an agent: the goal once, then a line with round
and score, what the environment said, and what can be done. Plain text where colours are off, and
nothing wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

LISTED = 36
"""More actions than these are counted and completed, not listed."""


def printable(text: str) -> str:
    """Return text that cannot move the cursor, ring or break the terminal's encoding.

    >>> printable("a\\x1b[31mb")
    'a�[31mb'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


class Screen:
    """Prints an episode.

    Args:
        console: where to print; None is standard output.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)

    def opening(self, title: str, task_id: str, goal: str, about: str = "") -> None:
        """Show which task this is and its goal."""
        body = Text(printable(goal), style="bold")
        subtitle = Text(about, style="dim") if about else None
        self.console.print(
            Panel(body, title=Text(f"{title} · {task_id}"), title_align="left", subtitle=subtitle,
                  subtitle_align="right", border_style="cyan")
        )  # fmt: skip

    def rules(self, instructions: str) -> None:
        """Show the environment's instructions."""
        self.console.print(Text(printable(instructions.strip()), style="dim"))

    def situation(
        self, observation: str, info: Mapping[str, Any], max_rounds: int, picture: str = ""
    ) -> None:
        """Show round, score and what the environment said."""
        left = f"round {info['rounds']} of {max_rounds} · score {info['score']:.2f}"
        self.console.print(Rule(Text(left), align="left", style="dim", characters="─"))
        style = "" if info["valid"] else "yellow"
        self.console.print(Text(printable(observation.strip()) or "(nothing)", style=style))
        if picture and picture.strip() != observation.strip():
            self.console.print(Text(printable(picture)))

    def choices(self, actions: Sequence[str] | None) -> None:
        """Show what can be done, numbered, where it is listed and short enough."""
        if not actions:
            return
        if len(actions) > LISTED:
            self.note(f"{len(actions)} actions are possible: Tab completes, :actions lists them.")
            return
        self.every(actions)

    def every(self, actions: Sequence[str]) -> None:
        """Show all of the actions, numbered."""
        width = len(str(len(actions)))
        items = [
            Text.assemble((f"{i:>{width}} ", "cyan"), printable(action))
            for i, action in enumerate(actions, 1)
        ]
        self.console.print(Columns(items, padding=(0, 2), column_first=True))

    def move(self, thought: str, action: str | None, reply: str = "") -> None:
        """Show what an agent thought and did."""
        if thought:
            self.console.print(Text(printable(thought), style="italic"))
        if action is None:
            self.console.print(Text("No action in the reply:", style="red"))
            self.console.print(Text(printable(reply.strip()), style="dim"))
        else:
            self.console.print(Text.assemble(("> ", "bold green"), (printable(action), "bold")))

    def ending(self, *, success: bool, score: float, rounds: int, ended: bool) -> None:
        """Show how the episode ended.

        Args:
            success: whether the task was achieved.
            score: the final score.
            rounds: rounds played.
            ended: whether the task ended by itself rather than by the rounds being spent.
        """
        head = "Solved" if success else "Not solved" if ended else "Out of rounds"
        plural = "round" if rounds == 1 else "rounds"
        self.console.print(
            Panel(Text(f"{head} in {rounds} {plural}, score {score:.2f}"), expand=False,
                  border_style="green" if success else "red")
        )  # fmt: skip

    def note(self, text: str) -> None:
        """Say something that is not the environment's word."""
        self.console.print(Text(printable(text), style="dim"))

    def problem(self, text: str) -> None:
        """Say that a command could not be carried out."""
        self.console.print(Text(printable(text), style="red"))
