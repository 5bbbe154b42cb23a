"""Formulas: arithmetic on numbers, cells and ranges, and the operators the tools name.

A formula is read into a tree of tuples and never evaluated as code. Its references are kept as
places, so that inserting, deleting and sorting lines can move them as a spreadsheet does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agentgym.envs.sheet.positions import COLUMNS, ROWS, place_of, position_of

OPERATORS = ("SUM", "AVERAGE", "COUNT", "MAX", "MIN", "MINUS", "PRODUCT")
"""What `update_cell_by_formula` and `get_value_by_formula` take."""
FUNCTIONS = (*OPERATORS, "ROUND", "ABS")
LONGEST = 1_000
_MOST_CELLS = ROWS * COLUMNS
"""Cells in the ranges of a formula, so that one range may hold a whole sheet."""
_GROWTH = 8
_DEEPEST = 24
"""Levels of a tree; each is a few frames of Python's stack wherever it is walked."""

_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d{1,3})?|\.\d+)|(\$?[A-Za-z]\$?[1-9]\d{0,3})(?![\w(])"
    r"|([A-Za-z][A-Za-z0-9_.]*)|(#REF!|[-+*/^%(),:;]))"
)
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}

Node = tuple[Any, ...]
Place = tuple[int, int]
Reader = Callable[[int, int], Any]


class Formula(NamedTuple):
    """A formula.

    Attributes:
        tree: ("number", x), ("cell", row, column), ("range", row, column, row, column),
            ("lost",), ("minus", node), ("op", sign, node, node) or ("call", name, nodes).
    """

    tree: Node

    def __str__(self) -> str:
        return "=" + _written(self.tree)

    @property
    def first(self) -> Place | None:
        """The first cell it refers to."""
        return next(_places(self.tree), None)

    def moved(self, move: Callable[[Node], Node]) -> Formula:
        """Return the formula with `move` applied to each cell and range."""
        return Formula(_moved(self.tree, move))


class Trouble(Exception):
    """A value that a spreadsheet shows as an error, such as "#DIV/0!"."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@lru_cache(maxsize=4_096)
def read_formula(text: str, grown: bool = False) -> Formula:
    """Return the formula that a text writes, "=" first.

    Args:
        text: the formula.
        grown: whether a sheet wrote it: there it may have grown beyond the limits of what is typed,
            as what it names moved away ("A9", "A10") or "%" was written out.

    Raises:
        ValueError: if it cannot be read; the message says what can be.

    >>> str(read_formula("=sum(B2:B4) * 2 - c1%"))
    '=SUM(B2:B4)*2-C1*0.01'
    """
    most = LONGEST * (_GROWTH if grown else 1)
    if len(text) > most:
        raise ValueError(f"it has {len(text)} characters, at most {most} are read")
    return Formula(_Parser(text[1:], grown).parse())


def evaluate(formula: Formula, read: Reader) -> float:
    """Return a formula's value.

    Args:
        formula: the formula.
        read: gives the value of a cell, or raises `Trouble`.

    Raises:
        Trouble: where a spreadsheet would show an error.
    """
    try:
        value = _value(formula.tree, read)
    except (OverflowError, ValueError):  # what Python cannot add up or round: 1e308+1e308, inf-inf
        raise Trouble("#NUM!") from None
    if not math.isfinite(value):
        raise Trouble("#NUM!")
    return value + 0.0


class _Parser:
    def __init__(self, text: str, grown: bool) -> None:
        self.grown = grown
        self.tokens = list(_tokens(text))
        self.at = 0

    def parse(self) -> Node:
        tree = self.sum(0)
        if _depth(tree) > _DEEPEST:
            raise ValueError("it is nested too deeply")
        if self.at < len(self.tokens):
            raise ValueError(f"{self.tokens[self.at][1]!r} is not expected where it stands")
        if not self.grown and _named(tree) > _MOST_CELLS:
            raise ValueError(f"its ranges hold more than {_MOST_CELLS} cells in all")
        return tree

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, sign: str) -> None:
        if self.peek() != sign:
            raise ValueError(f"{sign!r} is missing")
        self.at += 1

    def sum(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        return self.chain(("+", "-"), lambda: self.chain(("*", "/"), lambda: self.power(depth)))

    def chain(self, signs: tuple[str, ...], part: Callable[[], Node]) -> Node:
        tree, terms = part(), 1
        while self.peek() in signs:
            sign = self.peek()
            self.at += 1
            tree, terms = ("op", sign, tree, part()), terms + 1
            if terms > (40 if self.grown else 20):
                raise ValueError("it has more than 20 terms in a row; use SUM or PRODUCT")
        return tree

    def power(self, depth: int) -> Node:
        if self.peek() in ("-", "+"):
            sign = self.peek()
            self.at += 1
            if depth > _DEEPEST:
                raise ValueError("it is nested too deeply")
            inner = self.power(depth + 1)
            return ("minus", inner) if sign == "-" else inner
        tree = self.atom(depth)
        if self.peek() == "%":
            self.at += 1
            tree = ("op", "*", tree, ("number", 0.01))
        if self.peek() == "^":
            self.at += 1
            if depth > _DEEPEST:
                raise ValueError("it is nested too deeply")
            tree = ("op", "^", tree, self.power(depth + 1))
        return tree

    def atom(self, depth: int) -> Node:
        if self.at >= len(self.tokens):
            raise ValueError("it ends too early")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return ("number", float(text))
        if kind == "cell":
            return self.cells(text)
        if kind == "name":
            return self.call(text.upper(), depth)
        if text == "#REF!":
            return ("lost",)
        if text == "(":
            tree = self.sum(depth + 1)
            self.take(")")
            return tree
        raise ValueError(f"{text!r} is not expected where it stands")

    def cells(self, text: str) -> Node:
        start = place_of(text)
        if self.peek() != ":":
            return ("cell", *start)
        self.at += 1
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != "cell":
            raise ValueError("a range is written B2:B9")
        end = place_of(self.tokens[self.at][1])
        self.at += 1
        rows, columns = sorted((start[0], end[0])), sorted((start[1], end[1]))
        return ("range", rows[0], columns[0], rows[1], columns[1])

    def call(self, name: str, depth: int) -> Node:
        if name not in FUNCTIONS:
            raise ValueError(f"there is no {name[:30]!r}; there are {', '.join(FUNCTIONS)}")
        self.take("(")
        nodes = [self.sum(depth + 1)]
        while self.peek() in (",", ";"):
            self.at += 1
            nodes.append(self.sum(depth + 1))
        self.take(")")
        wanted = {"MINUS": (2,), "ABS": (1,), "ROUND": (1, 2)}.get(name)
        if wanted and len(nodes) not in wanted:
            raise ValueError(
                f"{name} takes {' or '.join(map(str, wanted))} values, not {len(nodes)}"
            )
        return ("call", name, tuple(nodes))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"{text[at : at + 20]!r} cannot be read")
        kind = ("number", "cell", "name", "sign")[(found.lastindex or 1) - 1]
        yield kind, found[found.lastindex or 1]
        at = found.end()


def _value(node: Node, read: Reader) -> float:
    kind = node[0]
    if kind == "number":
        return float(node[1])
    if kind == "cell":
        return _number(read(node[1], node[2]))
    if kind == "minus":
        return -_value(node[1], read)
    if kind == "op":
        return _operate(node[1], _value(node[2], read), _value(node[3], read))
    if kind == "call":
        return _call(node[1], node[2], read)
    raise Trouble("#REF!" if kind == "lost" else "#VALUE!")


def _number(value: Any) -> float:
    if value is None:
        return 0.0
    if isinstance(value, str):
        raise Trouble("#VALUE!")
    return float(value)


def _operate(sign: str, left: float, right: float) -> float:
    try:
        if sign == "+":
            return left + right
        if sign == "-":
            return left - right
        if sign == "*":
            return left * right
        if sign == "/":
            return left / right
        power = left**right
    except ZeroDivisionError:
        raise Trouble("#DIV/0!") from None
    except OverflowError:
        raise Trouble("#NUM!") from None
    if isinstance(power, complex):
        raise Trouble("#NUM!")
    return float(power)


def _call(name: str, nodes: tuple[Node, ...], read: Reader) -> float:
    if name in ("MINUS", "ABS", "ROUND"):
        values = [_value(node, read) for node in nodes]
        if name == "MINUS":
            return values[0] - values[1]
        if name == "ABS":
            return abs(values[0])
        digits = int(max(-15, min(15, values[1]))) if len(values) > 1 else 0
        return math.copysign(math.floor(abs(values[0]) * 10**digits + 0.5) / 10**digits, values[0])
    numbers = [x for node in nodes for x in _numbers(node, read)]
    if name == "COUNT":
        return float(len(numbers))
    if name == "SUM":
        return math.fsum(numbers)
    if name == "PRODUCT":
        return math.prod(numbers) if numbers else 0.0
    if name == "AVERAGE":
        if not numbers:
            raise Trouble("#DIV/0!")
        return math.fsum(numbers) / len(numbers)
    return (max if name == "MAX" else min)(numbers, default=0.0)


def _numbers(node: Node, read: Reader) -> Iterator[float]:
    """Yield the numbers an operator works on: in cells, text and blanks do not count."""
    if node[0] == "cell":
        places: Iterator[Place] = iter([(node[1], node[2])])
    elif node[0] == "range":
        _, top, left, bottom, right = node
        places = ((r, c) for r in range(top, bottom + 1) for c in range(left, right + 1))
    else:
        yield _value(node, read)
        return
    for row, column in places:
        value = read(row, column)
        if isinstance(value, float):
            yield value


def _places(node: Node) -> Iterator[Place]:
    if node[0] in ("cell", "range"):
        yield node[1], node[2]
    elif node[0] == "call":
        for inner in node[2]:
            yield from _places(inner)
    else:
        for inner in node[1:]:
            if isinstance(inner, tuple):
                yield from _places(inner)


def _moved(node: Node, move: Callable[[Node], Node]) -> Node:
    if node[0] in ("cell", "range"):
        return move(node)
    if node[0] == "call":
        return ("call", node[1], tuple(_moved(inner, move) for inner in node[2]))
    return tuple(_moved(x, move) if isinstance(x, tuple) else x for x in node)


def _depth(node: Node) -> int:
    if node[0] == "call":
        return 1 + max(map(_depth, node[2]))
    return 1 + max((_depth(x) for x in node if isinstance(x, tuple)), default=0)


def _named(node: Node) -> int:
    """Return how many cells a tree's ranges hold."""
    if node[0] == "range":
        _, top, left, bottom, right = node
        return int((bottom - top + 1) * (right - left + 1))
    inner = node[2] if node[0] == "call" else node[1:]
    return sum(_named(x) for x in inner if isinstance(x, tuple))


def _written(node: Node) -> str:
    kind = node[0]
    if kind == "number":
        return f"{node[1]:.15g}"
    if kind == "cell":
        return position_of(node[1], node[2])
    if kind == "range":
        return f"{position_of(node[1], node[2])}:{position_of(node[3], node[4])}"
    if kind == "minus":
        return f"-{_bracketed(node[1], 3)}"
    if kind == "op":
        level = _LEVELS[node[1]]
        left, right = (level + 1, 3) if node[1] == "^" else (level, level + 1)
        return f"{_bracketed(node[2], left)}{node[1]}{_bracketed(node[3], right)}"
    if kind == "call":
        return f"{node[1]}({','.join(map(_written, node[2]))})"
    return "#REF!"


def _bracketed(node: Node, least: int) -> str:
    level = _LEVELS[node[1]] if node[0] == "op" else 3 if node[0] == "minus" else 9
    return _written(node) if level >= least else f"({_written(node)})"
