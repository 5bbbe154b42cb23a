"""PDDL text as nested tuples, and back.

Only the shape of the language lives here: lists, names, comments. As in the planner the original
game runs on, letter case means nothing, so every name is read in lower case. The reader keeps its
own stack and limits it: a file of a million brackets is an error, not a crash, here or later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentgym.core.errors import InvalidConfig

Term = str | tuple["Term", ...]
"""A name, or a list of terms: `(inReceptacle ?o ?r)` is `("inreceptacle", "?o", "?r")`."""

DEEPEST = 100
"""How deeply brackets may be nested; a published goal comes to about ten."""

_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")


class MalformedPddl(InvalidConfig):
    """A text is not the PDDL of an ALFWorld problem; the message says where it stops being it."""


def read(text: str) -> Term:
    """Return the one list a PDDL text holds.

    Raises:
        MalformedPddl: if brackets do not match or are nested too deeply, or there is no list or
            more than one.

    >>> read("(and (opened ?r) (not (isHot ?o)))  ; a comment")
    ('and', ('opened', '?r'), ('not', ('ishot', '?o')))
    """
    stack: list[list[Term]] = [[]]
    for token in _TOKEN.findall(_COMMENT.sub("", text).lower()):
        if token == "(":
            if len(stack) > DEEPEST:
                raise MalformedPddl(f"the PDDL's brackets are nested deeper than {DEEPEST}")
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) > 1:
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            raise MalformedPddl("the PDDL closes a bracket that was never opened")
    if len(stack) > 1:
        raise MalformedPddl(f"the PDDL ends with {len(stack) - 1} brackets open")
    (top,) = stack
    if len(top) != 1 or isinstance(top[0], str):
        raise MalformedPddl(f"the PDDL must be one list in brackets; there are {len(top)} parts")
    return top[0]


def write(term: Term) -> str:
    """Return a term as PDDL text.

    >>> write(("not", ("=", "?o1", "?o2")))
    '(not (= ?o1 ?o2))'
    """
    return term if isinstance(term, str) else f"({' '.join(map(write, term))})"


def typed(names: Iterable[Term]) -> Iterator[tuple[str, str]]:
    """Yield (name, type) from a typed list: `a b - object c - agent`; without a type, `object`.

    Raises:
        MalformedPddl: if it is not such a list.
    """
    waiting: list[str] = []
    terms = iter(names)
    for term in terms:
        if not isinstance(term, str):
            raise MalformedPddl(f"a name was expected, not {write(term)[:60]}")
        if term != "-":
            waiting.append(term)
            continue
        kind = next(terms, None)
        if not isinstance(kind, str):
            raise MalformedPddl("a '-' must be followed by the name of a type")
        yield from ((name, kind) for name in waiting)
        waiting.clear()
    yield from ((name, "object") for name in waiting)
