"""Patterns of models, searched in time that grows with the text and no faster.

Python's `re` may take for ever on "(a+)+b", so what a model writes is never given to it. A pattern
is read into a small automaton whose states are all followed at once (Thompson's construction). It
knows literals, classes, groups, alternatives, repetitions, anchors and word boundaries; references
back and look-arounds, which no such automaton has, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

LONGEST = 200
"""Characters of a pattern."""
STATES = 200
"""States of its automaton, repetitions written out."""
_DEEPEST = 20

_WRAPPED = re.compile(r"""re\.compile\(\s*r?(['"])(.*)\1\s*(?:,\s*re\.(?:I|IGNORECASE)\s*)?\)""")
_COUNTED = re.compile(r"\{(\d{1,3})(,(\d{1,3})?)?\}")
_SPECIAL = frozenset("\\^$.|?*+()[]{}")

Test = Callable[[str], bool]
Item = tuple[object, ...]
"""("one", test), ("where", kind), ("split", state, state), ("jump", state) or ("found",)."""

_WORD: Test = lambda c: c.isalnum() or c == "_"  # noqa: E731
_CLASSES: dict[str, Test] = {
    "d": str.isdecimal,
    "w": _WORD,
    "s": str.isspace,
    "D": lambda c: not c.isdecimal(),
    "W": lambda c: not _WORD(c),
    "S": lambda c: not c.isspace(),
}
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}


class Pattern:
    """A pattern that can be searched for.

    Args:
        text: the pattern, also as "re.compile('...')"; "(?i)" in front ignores case.

    Raises:
        ValueError: if it cannot be read; the message says why.

    >>> Pattern("^(Fruits|Vegetables)$").found_in("Fruits"), Pattern("-1").found_in("12")
    (True, False)
    """

    def __init__(self, text: str) -> None:
        wrapped = _WRAPPED.fullmatch(text.strip())
        ignore = False
        if wrapped:
            ignore, text = "re.I" in text[wrapped.end(2) :], wrapped[2]
        if text.startswith("(?i)"):
            ignore, text = True, text[4:]
        if len(text) > LONGEST:
            raise ValueError(f"it has {len(text)} characters, at most {LONGEST} are read")
        self._ignore = ignore
        self._literal = None if _SPECIAL & set(text) else (text.casefold() if ignore else text)
        self._items: list[Item] = []
        if self._literal is None:
            reader = _Reader(text.casefold() if ignore and "\\" not in text else text, ignore)
            self._items = [*reader.read(), ("found",)]

    def found_in(self, text: str) -> bool:
        """Return whether the pattern matches somewhere in a text."""
        if self._ignore:
            text = text.casefold()
        if self._literal is not None:
            return self._literal in text
        states: list[int] = []
        for at in range(len(text) + 1):
            alive = self._closed([*states, 0], text, at)
            if alive is None:
                return True
            char = text[at : at + 1]
            if char:
                states = [s + 1 for s in alive if self._items[s][1](char)]  # type: ignore[operator]
        return False

    def _closed(self, states: list[int], text: str, at: int) -> list[int] | None:
        """Return the states that read a character, or None if the end is among those reached."""
        seen, alive, left = set(states), [], states
        while left:
            state = left.pop()
            kind, *rest = self._items[state]
            if kind == "found":
                return None
            if kind == "one":
                alive.append(state)
                continue
            after = rest if kind in ("split", "jump") else [state + 1]
            if kind == "where" and not _holds(str(rest[0]), text, at):
                continue
            for other in after:
                assert isinstance(other, int)
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return alive


@lru_cache(maxsize=256)
def read_pattern(text: str) -> Pattern:
    """Return the pattern a text writes; see `Pattern`."""
    return Pattern(text)


def _holds(kind: str, text: str, at: int) -> bool:
    if kind == "^":
        return at == 0
    if kind == "$":
        return at == len(text) or (at == len(text) - 1 and text[at] == "\n")
    if kind == "Z":
        return at == len(text)
    before = at > 0 and _WORD(text[at - 1])
    after = at < len(text) and _WORD(text[at])
    return (before != after) == (kind == "b")


class _Reader:
    """Reads a pattern into items; each part is a list whose targets are relative to its start."""

    def __init__(self, text: str, ignore: bool) -> None:
        self.text, self.at, self.ignore = text, 0, ignore

    def read(self) -> list[Item]:
        items = self.either(0)
        if self.at < len(self.text):
            raise ValueError("a ')' stands without its '('; write \\) for the sign itself")
        return items

    def either(self, depth: int) -> list[Item]:
        if depth > _DEEPEST:
            raise ValueError("its groups are nested too deeply")
        items = self.sequence(depth)
        while self.peek() == "|":
            self.at += 1
            other = self.sequence(depth)
            start = len(items) + 2
            items = [
                ("split", 1, start),
                *_shift(items, 1),
                ("jump", start + len(other)),
                *_shift(other, start),
            ]
            _bounded(items)
        return items

    def sequence(self, depth: int) -> list[Item]:
        items: list[Item] = []
        while self.peek() not in ("", "|", ")"):
            items += _shift(self.repeated(depth), len(items))
            _bounded(items)
        return items

    def repeated(self, depth: int) -> list[Item]:
        items = self.atom(depth)
        times = self.times()
        if times is None:
            return items
        if self.peek() in ("?", "+"):  # reluctant or possessive: what is found is the same
            self.at += 1
        if self.times() is not None:
            raise ValueError("a repetition is repeated; put what repeats into a group")
        least, most = times
        made: list[Item] = []
        for _ in range(least):
            made += _shift(items, len(made))
            _bounded(made)
        if most is None:
            start = len(made)
            made += [("split", start + 1, start + len(items) + 2), *_shift(items, start + 1)]
            made.append(("jump", start))
        for _ in range((most or 0) - least):
            start = len(made)
            made += [("split", start + 1, start + len(items) + 1), *_shift(items, start + 1)]
            _bounded(made)
        return made

    def times(self) -> tuple[int, int | None] | None:
        sign = self.peek()
        if sign and sign in "*+?":
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        found = _COUNTED.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if most is not None and most < least:
            raise ValueError(f"{found[0]} asks for at least more than at most")
        return least, most

    def atom(self, depth: int) -> list[Item]:
        char = self.text[self.at]
        self.at += 1
        if char == "(":
            return self.group(depth)
        if char == "[":
            return [("one", self.set_of())]
        if char == ".":
            return [("one", lambda c: c != "\n")]
        if char in "^$":
            return [("where", char)]
        if char in "*+?":
            raise ValueError(f"there is nothing before {char!r} to repeat; write \\{char}")
        if char == "\\":
            return self.escaped()
        return [("one", self.same(char))]

    def group(self, depth: int) -> list[Item]:
        if self.text.startswith("?:", self.at):
            self.at += 2
        elif self.text.startswith("?P<", self.at):
            end = self.text.find(">", self.at)
            self.at = end + 1 if end > 0 else len(self.text)
        elif self.peek() == "?":
            raise ValueError("look-arounds and flags inside are not read; only (...) and (?:...)")
        items = self.either(depth + 1)
        if self.peek() != ")":
            raise ValueError("a '(' is not closed; write \\( for the sign itself")
        self.at += 1
        return items

    def escaped(self) -> list[Item]:
        char = self.next("\\")
        if char in "bB":
            return [("where", char)]
        if char in "AZ":
            return [("where", "^" if char == "A" else "Z")]
        return [("one", self.escape(char))]

    def escape(self, char: str) -> Test:
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _ESCAPES:
            return _ESCAPES[char].__eq__
        if char.isalnum():
            raise ValueError(
                f"\\{char} is not read; there are \\d \\w \\s \\b and \\ before a sign"
            )
        return char.__eq__

    def same(self, char: str) -> Test:
        return (char.casefold() if self.ignore else char).__eq__

    def set_of(self) -> Test:
        negated = self.peek() == "^"
        self.at += negated
        tests: list[Test] = []
        first = True
        while first or self.peek() != "]":
            first = False
            char = self.next("[")
            if char == "\\":
                tests.append(self.escape(self.next("\\")))
            elif self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                tests.append(self.between(char, self.next("-")))
            else:
                tests.append(self.same(char))
        self.at += 1
        return lambda c: any(test(c) for test in tests) != negated

    def between(self, low: str, high: str) -> Test:
        if high == "\\" or low > high:
            raise ValueError(f"the range {low}-{high} is empty or cannot be read")
        if self.ignore:
            return lambda c: low <= c <= high or low <= c.upper() <= high
        return lambda c: low <= c <= high

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def next(self, opened: str) -> str:
        if self.at >= len(self.text):
            raise ValueError(f"{opened!r} at its end opens what is never closed")
        self.at += 1
        return self.text[self.at - 1]


def _shift(items: list[Item], by: int) -> list[Item]:
    return [
        (kind, *(x + by for x in rest if isinstance(x, int))) if kind in ("split", "jump") else item
        for item in items
        for kind, *rest in [item]
    ]


def _bounded(items: list[Item]) -> None:
    if len(items) > STATES:
        raise ValueError("it repeats too much; use * or + in place of counted repetitions")
