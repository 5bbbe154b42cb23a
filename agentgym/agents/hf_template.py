"""A chat template that writes a conversation as it grows, each message once.

A template is a program over the whole conversation, so in general a prompt must be written anew
each turn, at a cost that grows with the square of an episode. Nearly every template, though, writes
message after message in one loop and then, perhaps, the header of a reply. For those the program is
run once and held at the end of each pass through the loop: it has then written what it writes for
the conversation up to there, and goes on when there are more messages.

That a template is of this kind is not assumed. Read from its syntax: what stands after the loop
depends on nothing the conversation decides, and what stands before does not ask whether a reply
is to follow. Watched while it runs: the loop goes over the messages and nothing else, looks at none
past the one it writes, nor at how many there are (`loop.last`, `messages[-1]`,
`messages | length`). Of such a program a shorter conversation would have given the same text up to
where the loop asks for a message that is not there. Where any of it fails, `CannotGrow` is raised,
and the text is to be written in full.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agentgym.core import AgentGymError

MARK = "\x00agentgym: a message ends\x00"
"""What a template is made to write at the end of each pass through its loop."""
OVER = "agentgym_over"
"""Name of the function a template is made to give what its loop goes over."""


class CannotGrow(AgentGymError):
    """A conversation has to be written in full."""


class Growing:
    """The text of a conversation that grows.

    Args:
        tokenizer: a tokenizer of transformers.
        template: the chat template.
        tools: tool schemas.
        options: further variables for the template.

    Attributes:
        ends: the length of the text after each message.

    Raises:
        CannotGrow: if the template or the tokenizer is not of the kind.
    """

    def __init__(
        self,
        tokenizer: Any,
        template: str | None = None,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if not _as_usual(tokenizer) or _own_options() & set(options or {}):
            raise CannotGrow("this tokenizer is told to apply a chat template in a way of its own")
        schemas = [dict(tool) for tool in tools] or None
        variables = {**tokenizer.special_tokens_map, **(options or {})}
        if not (_is_plain(schemas) and _is_plain(variables)):
            raise CannotGrow("a variable of the template is no JSON value")
        program = _marked(tokenizer.get_chat_template(template, schemas))
        if program is None:
            raise CannotGrow("the template does not write message after message")
        self.ends: list[int] = []
        self._watched, self._apart = Watched(), program.apart
        self._parts: list[str] = []
        self._pieces: Iterator[str] = program.template.generate(
            messages=self._watched, tools=schemas, documents=None, **{**variables, OVER: _over}
        )

    @property
    def apart(self) -> bool:
        """Whether what is written of a message depends on it and its place, not on those before."""
        return self._apart and not self._watched.back

    @property
    def text(self) -> str:
        """What has been written: the conversation without what the template ends with."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, message: Mapping[str, Any]) -> None:
        """Write one more message.

        Raises:
            CannotGrow: if the template looks elsewhere, or refuses the message; nothing more can
                be added then.
        """
        if not _is_message(message):
            raise CannotGrow("a message is no plain JSON, which templates are shown otherwise")
        self._watched.let(dict(message))
        length = self.ends[-1] if self.ends else 0
        try:
            for piece in self._pieces:
                if piece == MARK:
                    break
                self._parts.append(piece)
                length += len(piece)
            else:
                raise CannotGrow("the template stops before the conversation does")
        except CannotGrow:
            raise
        except Exception as error:  # a template is a program: what it raises is told by a full run
            raise CannotGrow(f"the template fails: {error}") from error
        if self._watched.elsewhere:
            raise CannotGrow("the template looks at more than the message it writes")
        self.ends.append(length)


class Watched(Sequence[Any]):
    """The messages a template is shown, with a note of whether it looked where it must not.

    Attributes:
        elsewhere: whether it asked for a message past the one it writes, or for what depends on
            how many there are.
        back: whether it asked for a message before the one it writes.
    """

    def __init__(self) -> None:
        self.elsewhere, self.back = False, False
        self._messages: list[dict[str, Any]] = []

    def let(self, message: dict[str, Any]) -> None:
        """Let it go on to one more message."""
        self._messages.append(message)

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not int or not 0 <= index < len(self._messages):
            self.elsewhere = True
        elif index < len(self._messages) - 1:
            self.back = True
        return self._messages[index]

    def __iter__(self) -> Iterator[Any]:
        index = 0
        while index < len(self._messages):
            self.back = self.back or index < len(self._messages) - 1
            yield self._messages[index]
            index += 1
        self.elsewhere = True

    def __len__(self) -> int:
        self.elsewhere = True
        return len(self._messages)

    def __bool__(self) -> bool:
        return True  # of every conversation that is written

    def __eq__(self, other: object) -> bool:
        self.elsewhere = True
        return NotImplemented

    def __hash__(self) -> int:
        self.elsewhere = True
        return id(self)

    def __repr__(self) -> str:
        self.elsewhere = True
        return repr(self._messages)

    def __getattr__(self, name: str) -> Any:
        # Asked for what a list may have and this has not.
        self.__dict__["elsewhere"] = True
        raise AttributeError(name)


class _Program(NamedTuple):
    template: Any
    apart: bool


@lru_cache(maxsize=32)
def _marked(template: str) -> _Program | None:
    """Return the template as a program that marks the end of each message; None if it has none."""
    from jinja2 import TemplateError, nodes

    try:
        from transformers.utils.chat_template_utils import _compile_jinja_template as compiled
    except ImportError:  # another version of transformers
        return None
    try:
        environment = compiled(template).environment
        tree = environment.parse(template)
    except TemplateError:
        return None
    loops = [node for node in tree.body if isinstance(node, nodes.For)]
    blocks = (nodes.Block, nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)
    if not loops or loops[-1].recursive or tree.find(blocks):
        return None
    loop = loops[-1]
    place = tree.body.index(loop)
    before, after = tree.body[: place + 1], tree.body[place + 1 :]
    made = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    made |= {node.name for node in tree.find_all((nodes.NSRef, nodes.Macro))}
    if _names(after) & (made | {"messages"}) or "add_generation_prompt" in _names(before):
        return None
    remembers = tree.find(nodes.NSRef) or _names(tree.body) & {"joiner", "cycler"}
    apart = not remembers and _counts_only(loop)
    loop.body.append(nodes.Output([nodes.TemplateData(MARK)]))
    loop.iter = nodes.Call(nodes.Name(OVER, "load"), [loop.iter], [], None, None)
    return _Program(environment.from_string(tree), apart)


def _over(items: Any) -> Any:
    """Return what a loop goes over: the messages, for anything else may end after they do."""
    if not isinstance(items, Watched):
        raise CannotGrow("the template's last loop is not over the messages")
    return items


def _counts_only(loop: Any) -> bool:
    """Return whether a loop asks of itself only how far it is."""
    from jinja2 import nodes

    uses = sum(node.name == "loop" for node in loop.find_all(nodes.Name))
    counts = sum(
        isinstance(node.node, nodes.Name)
        and node.node.name == "loop"
        and node.attr in ("index", "index0", "first")
        for node in loop.find_all(nodes.Getattr)
    )
    return bool(uses == counts)


def _names(tree: Sequence[Any]) -> set[str]:
    """Return the names of variables some parts of a template read."""
    from jinja2 import nodes

    within = [
        *(node for node in tree if isinstance(node, nodes.Name)),
        *(name for node in tree for name in node.find_all(nodes.Name)),
    ]
    return {node.name for node in within if node.ctx == "load"}


def _as_usual(tokenizer: Any) -> bool:
    """Return whether a tokenizer applies chat templates as transformers' own do."""
    from transformers import PreTrainedTokenizerBase

    usual, kind = PreTrainedTokenizerBase, type(tokenizer)
    return bool(
        issubclass(kind, usual)
        and kind.apply_chat_template is usual.apply_chat_template
        and kind.get_chat_template is usual.get_chat_template
    )


@lru_cache
def _own_options() -> frozenset[str]:
    """Return what `apply_chat_template` takes for itself and does not show the template."""
    from transformers import PreTrainedTokenizerBase

    return frozenset(inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters)


RENAMED = frozenset({"reasoning_content", "thinking", "reasoning"})
"""Keys of a message that transformers shows a template under other names too."""


def _is_message(message: Mapping[str, Any]) -> bool:
    """Return whether a template is shown a message just as it is."""
    return (
        type(message) is dict
        and _is_plain(message)
        and None not in message.values()
        and RENAMED.isdisjoint(message)
    )


def _is_plain(value: Any) -> bool:
    """Return whether a value is plain JSON; of any depth, for it may be a model's."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind is dict:
            waiting += [*one, *one.values()]
        elif kind is list:
            waiting += one
        elif MARK in one if kind is str else not (one is None or kind in (int, float, bool)):
            return False
    return True
