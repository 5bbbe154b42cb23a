"""How a command fails: one red line that says what to do, and an exit code.

2 means the command was used wrongly (an unknown name, an option that cannot be), 1 that something
else went wrong, 130 that Ctrl-C was pressed. A traceback is shown only when asked for.
"""

from __future__ import annotations

import errno
from typing import Any

import typer
from typer.core import TyperGroup

from agentgym.cli.console import err
from agentgym.core.errors import AgentGymError, InvalidConfig, UnknownName

_state = {"tracebacks": False}


def show_tracebacks(wanted: bool) -> None:
    """Choose whether errors are shown with their traceback."""
    _state["tracebacks"] = wanted


class Commands(TyperGroup):
    """A group whose commands end with a message instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn what it raises into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except AgentGymError as error:
            self._end(error, 2 if isinstance(error, UnknownName | InvalidConfig) else 1)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the output has seen enough; click ends quietly
            self._end(error, 1)
        except KeyboardInterrupt as error:
            message = str(error) or "Stopped."
            screen = err()
            if screen.is_terminal:
                screen.print()  # leave the line on which ^C or a prompt stands
            screen.print(message, style="yellow", markup=False, soft_wrap=True)
            raise typer.Exit(130) from error

    @staticmethod
    def _end(error: Exception, code: int) -> None:
        if _state["tracebacks"]:
            raise error
        text = str(error)
        if isinstance(error, OSError):
            text = error.strerror or str(error) or type(error).__name__
            text += f": {error.filename}" if error.filename is not None else ""
        fail(text, code)


def fail(message: str, code: int = 1) -> None:
    """Print an error as one red line and leave.

    Raises:
        typer.Exit: always, with the code.
    """
    line = " ".join(message.split("\n")).strip()
    err().print(f"Error: {line}", style="red", markup=False, soft_wrap=True)
    raise typer.Exit(code)
