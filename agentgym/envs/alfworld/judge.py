"""Says whether a goal holds, quickly.

A goal speaks of kinds of things ("some apple, some fridge"), and most of what it asks never
changes in a game. So the formula is worked out once a game: what can never change is settled, and
what remains is a small tree of alternatives over facts that can.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from agentgym.envs.alfworld.pddl import MalformedPddl, Term, typed, write
from agentgym.envs.alfworld.problem import Fact

Test = Callable[[Collection[Fact]], bool]
Variable = tuple[str, str, list[Fact]]
"""A variable's name, its type, and the facts that cannot change and must hold of it."""
_CONNECTIVES = ("and", "or", "not", "exists", "forall", "imply", "=")


class Judge:
    """Decides one goal.

    Args:
        goal: the formula.
        objects: the type of every id.
        fixed: the facts that cannot change, by predicate.
        changing: the predicates whose facts can.

    Raises:
        MalformedPddl: if the goal is no formula.
    """

    def __init__(
        self,
        goal: Term,
        objects: Mapping[str, str],
        fixed: Mapping[str, Collection[Fact]],
        changing: Collection[str],
    ) -> None:
        self._objects, self._changing = objects, changing
        self._fixed = fixed
        self._sets: dict[str, frozenset[Fact]] = {}
        self._by_value: dict[tuple[str, int], dict[str, list[Fact]]] = {}
        self._typed: dict[str, list[str]] = {}
        self.holds: Test = _test(self._ground(goal, {}))

    def _ground(self, term: Term, given: Mapping[str, str]) -> object:
        """Return a formula as True, False, or a tree of facts that can change."""
        if isinstance(term, str) or not term or not isinstance(term[0], str):
            raise MalformedPddl(f"{write(term)[:80]!r} is not a formula")
        head, rest = term[0], term[1:]
        if head == "and":
            return self._all(rest, given)
        if head == "or":
            return _either(self._ground(part, given) for part in rest)
        if head == "not":
            return _negated(self._ground(_only(rest, term), given))
        if head == "imply" and len(rest) == 2:
            return _either(self._ground(t, given) for t in (("not", rest[0]), rest[1]))
        if head in ("exists", "forall") and len(rest) == 2:
            return self._quantified(head, rest[0], rest[1], given)
        names = tuple(given.get(str(name), str(name)) for name in rest)
        if head == "=":
            return len(names) == 2 and names[0] == names[1]
        fact = (head, *names)
        return fact if head in self._changing else fact in self._set(head)

    def _set(self, predicate: str) -> frozenset[Fact]:
        found = self._sets.get(predicate)
        if found is None:
            found = self._sets[predicate] = frozenset(self._fixed.get(predicate, ()))
        return found

    def _all(self, parts: tuple[Term, ...], given: Mapping[str, str]) -> object:
        # What is settled without a search comes first: it often decides.
        searches = [part for part in parts if part[:1] in (("exists",), ("forall",))]
        kept = []
        for part in (*(part for part in parts if part not in searches), *searches):
            ground = self._ground(part, given)
            if ground is False:
                return False
            if ground is not True:
                kept.append(ground)
        return ("and", *kept) if kept else True

    def _quantified(self, head: str, names: Term, body: Term, given: Mapping[str, str]) -> object:
        if isinstance(names, str):
            raise MalformedPddl(f"({head} ...) must begin with its variables in brackets")
        if head == "forall":
            return _negated(self._quantified("exists", names, ("not", body), given))
        needed = [fact for fact in _conjuncts(body) if fact[0] not in self._changing]
        variables = [
            (name, kind, [fact for fact in needed if name in fact]) for name, kind in typed(names)
        ]
        inner = {name for name, _, _ in variables}
        given = {name: value for name, value in given.items() if name not in inner}
        return _either(self._ground(body, case) for case in self._cases(variables, given))

    def _cases(
        self, variables: list[Variable], given: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        """Yield the bindings of the variables under which all that is needed of them is so."""
        if not variables:
            yield given
            return
        (name, kind, needs), *others = variables
        for value in self._candidates(name, kind, needs, given):
            yield from self._cases(others, {**given, name: value})

    def _candidates(
        self, name: str, kind: str, needs: list[Fact], given: Mapping[str, str]
    ) -> Iterable[str]:
        """Return the ids a variable may stand for with what is needed of it being so, in order."""
        found: set[str] | None = None
        for need in needs:
            known = [given.get(part, part) for part in need]
            place = need.index(name)
            values = {
                fact[place]
                for fact in self._matching(known)
                if len(fact) == len(need)
                and all(k == v or k[0] == "?" for k, v in zip(known, fact, strict=True))
            }
            found = values if found is None else found & values
        if found is not None:
            return self._of_type(kind, found)
        if kind not in self._typed:
            self._typed[kind] = self._of_type(kind, self._objects)
        return self._typed[kind]

    def _of_type(self, kind: str, ids: Iterable[str]) -> list[str]:
        # Every type is one of objects, as in the domain's hierarchy.
        return sorted(i for i in ids if kind in ("object", self._objects.get(i)))

    def _matching(self, known: list[str]) -> Collection[Fact]:
        """Return the fixed facts of a predicate, narrowed down by one of the ids that are known."""
        facts = self._fixed.get(known[0], ())
        for place, part in enumerate(known[1:], 1):
            if part[0] != "?":
                index = self._by_value.get((known[0], place))
                if index is None:
                    index = self._by_value[known[0], place] = {}
                    for fact in facts:
                        if len(fact) > place:
                            index.setdefault(fact[place], []).append(fact)
                return index.get(part, [])
        return facts


@lru_cache(maxsize=1024)
def _conjuncts(body: Term) -> list[Fact]:
    """Return the plain facts without which a formula is false, those of inner searches too."""
    if isinstance(body, str) or not body:
        return []
    if body[0] == "and":
        return [fact for part in body[1:] for fact in _conjuncts(part)]
    if body[0] == "exists" and len(body) == 3 and isinstance(body[1], tuple):
        # The inner variables are other ones, even where they are called the same.
        inner = {name: f"{name}'" for name, _ in typed(body[1])}
        return [tuple(inner.get(part, part) for part in fact) for fact in _conjuncts(body[2])]
    if body[0] in _CONNECTIVES or not all(isinstance(part, str) for part in body):
        return []
    return [tuple(str(part) for part in body)]


def _only(parts: tuple[Term, ...], term: Term) -> Term:
    if len(parts) != 1:
        raise MalformedPddl(f"{write(term)[:80]!r} must hold one formula")
    return parts[0]


def _either(parts: Iterable[object]) -> object:
    kept = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept.append(part)
    return ("or", *kept) if kept else False


def _negated(part: object) -> object:
    return ("not", part) if isinstance(part, tuple) else not part


def _test(ground: object) -> Test:
    """Return a ground formula as a function of the facts that are true."""
    if not isinstance(ground, tuple):
        value = bool(ground)
        return lambda facts: value
    head = ground[0]
    if head in ("and", "or"):
        parts = [_test(part) for part in ground[1:]]
        if len(parts) == 1:
            return parts[0]
        if all(isinstance(p, tuple) and p[0] not in _CONNECTIVES for p in ground[1:]):
            plain = tuple(ground[1:])
            if head == "and":
                wanted = frozenset(plain)
                return lambda facts: wanted <= facts  # type: ignore[operator]
            return lambda facts: any(fact in facts for fact in plain)
        if head == "and":
            return lambda facts: all(part(facts) for part in parts)
        return lambda facts: any(part(facts) for part in parts)
    if head == "not":
        inner = _test(ground[1])
        return lambda facts: not inner(facts)
    return lambda facts: ground in facts
