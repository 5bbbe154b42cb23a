"""A person at a terminal.

What is typed is the action, or the number of a listed one; what begins with a colon talks to the
game (`:help`). A caller may add colon commands of its own, as `agentgym play` does for taking moves
back, which only it can do: within an evaluation a move stands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol

from agentgym.agents.base import Agent
from agentgym.agents.screen import Screen

ReadLine = Callable[[str], str]


class Left(KeyboardInterrupt):
    """The person left the game. An evaluation stops as it does at Ctrl-C, and can be resumed."""


class Retake(Exception):
    """A colon command has moved the episode; `act` must be asked again, at that moment."""


class ColonCommand(Protocol):
    """A colon command a caller adds; its docstring is its line of help."""

    def __call__(self, argument: str) -> None:
        """Do it; raise `Retake` if the episode stands elsewhere now, `Left` to end the game."""


class HumanAgent(Agent):
    """Asks a person for each action.

    Args:
        screen: where the episode is shown; None is standard output.
        read: how a line is read, given the prompt; None is the terminal, with history and Tab.
        commands: colon commands beside the agent's own (":undo").
        introduce: whether the rules and the goal are shown when an episode begins.
    """

    name = "human"

    def __init__(
        self,
        screen: Screen | None = None,
        read: ReadLine | None = None,
        commands: Mapping[str, ColonCommand] | None = None,
        introduce: bool = True,
    ) -> None:
        self._screen = screen or Screen()
        self._read = read or LineReader()
        self._introduce = introduce
        self._extra = dict(commands or {})

    def begin(self) -> None:
        """Forget that an episode was introduced."""
        self._greeted = not self._introduce

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Show the situation and return what the person typed.

        Raises:
            Left: if the person leaves.
            Retake: if a colon command of the caller has moved the episode.
        """
        if not self._greeted:
            self._greet(info)
        self._screen.situation(observation, info, self.env.max_rounds)
        self._screen.choices(info["actions"])
        if isinstance(self._read, LineReader):
            self._read.offer(self._completions(info["actions"]))
        while True:
            line = self.ask()
            if line.startswith(":"):
                self._command(line, observation, info)
            elif line:
                return self._numbered(line, info["actions"])

    def _greet(self, info: Mapping[str, Any]) -> None:
        self._greeted = True
        kind = self.env.task.kind if self.env.task else ""
        self._screen.rules(self.env.instructions)
        self._screen.opening(self.env.title, info["task_id"], info["goal"], kind)
        self._screen.note(":help lists what else you can type.")

    def ask(self) -> str:
        """Return the next line typed; raise `Left` at the end of the input."""
        try:
            return self._read("> ").strip()
        except EOFError:
            raise Left("You left the game.") from None

    def _numbered(self, line: str, actions: Sequence[str] | None) -> str:
        # A number that is itself an action means itself.
        if actions and line.isdecimal() and line not in actions and 0 < int(line) <= len(actions):
            action = actions[int(line) - 1]
            self._screen.note(f"> {action}")
            return action
        return line

    def _command(self, line: str, observation: str, info: Mapping[str, Any]) -> None:
        name, _, argument = line.partition(" ")
        known: dict[str, Callable[[], None]] = {
            ":help": self._help,
            ":actions": lambda: self._list(info["actions"]),
            ":hint": lambda: self._hint(observation, info),
            ":rules": lambda: self._screen.rules(self.env.instructions),
            ":goal": lambda: self._screen.note(info["goal"]),
            ":render": self._render,
            ":quit": self._quit,
        }
        names = [*known, *self._extra]
        matches = [name] if name in names else [n for n in names if n.startswith(name)]
        if len(matches) != 1 or name == ":":
            self._screen.problem(f"{name} is no command. There are: {' '.join(names)}")
        elif matches[0] in known:
            known[matches[0]]()
        else:
            self._extra[matches[0]](argument.strip())

    def _help(self) -> None:
        lines = [
            "Type an action, or the number of a listed one. Tab completes, arrows go back.",
            ":actions  list what can be done now",
            ":hint     what the expert would do, and why",
            ":goal     the goal again",
            ":rules    the instructions again",
            ":render   the present state",
            *(f"{name:9} {(c.__doc__ or '').splitlines()[0]}" for name, c in self._extra.items()),
            ":quit     leave (also Ctrl-D)",
        ]
        self._screen.note("\n".join(lines))

    def _list(self, actions: Sequence[str] | None) -> None:
        if actions is None:
            self._screen.note("Anything goes here; the rules say what is understood (:rules).")
        else:
            self._screen.every(actions)

    def _hint(self, observation: str, info: Mapping[str, Any]) -> None:
        try:
            thought, action = self.env.expert().act(observation, info)
        except NotImplementedError as error:
            self._screen.problem(f"No hint: {error}.")
        except Exception as error:  # an expert may be lost where a person has strayed
            self._screen.problem(f"The expert has no advice here ({type(error).__name__}).")
        else:
            self._screen.note(f"{thought}\n→ {action}")

    def _render(self) -> None:
        if self.env.render_mode == "rgb_array":
            self._screen.problem("This environment shows pictures; text is in mode 'ansi'.")
        else:
            self._screen.note(str(self.env.render()))

    def _quit(self) -> None:
        raise Left("You left the game.")

    def _completions(self, actions: Sequence[str] | None) -> list[str]:
        colon = [":help", ":actions", ":hint", ":goal", ":rules", ":render", ":quit", *self._extra]
        openings = [c.usage.partition("[")[0] for c in self.env.commands]
        return [*(actions if actions is not None else openings), *colon]


class LineReader:
    """Reads a line with history and completion where the terminal and the platform have them."""

    def __init__(self) -> None:
        self._offers: list[str] = []
        self._ready = False

    def offer(self, lines: Sequence[str]) -> None:
        """Set what Tab completes to."""
        self._offers = list(lines)

    def __call__(self, prompt: str) -> str:
        """Return a line.

        Raises:
            EOFError: at the end of the input.
        """
        if not self._ready:
            self._prepare()
        return input(prompt)

    def _prepare(self) -> None:
        self._ready = True
        readline = _readline()
        if readline is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return
        readline.set_completer_delims("")  # an action is completed as a whole
        readline.set_completer(self._complete)
        editor = readline.__doc__ or ""
        readline.parse_and_bind("bind ^I rl_complete" if "libedit" in editor else "tab: complete")

    def _complete(self, text: str, state: int) -> str | None:
        found = [o for o in self._offers if o.startswith(text)]
        return found[state] if state < len(found) else None


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # Windows
        return None
    return readline
