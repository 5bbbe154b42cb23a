"""The bot's solution, played ahead on a copy of the world and retold in high-level actions.

The bot turns and steps; an agent says "go to red ball 1". So the bot plays the episode to its end
on a copy, every moment of that is kept, and then the shortest chain of available actions is found
that leads from the first moment to the last through moments the bot was in. An action may take
another way than the bot did, but it may not skip a moment at which a part of the mission was
accomplished, nor change anything the bot did not change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentgym.envs.babyai.bot import Bot, BotStuckError
from agentgym.envs.babyai.plan import CHECK, FORWARD, LEFT, RIGHT, WAIT, Options
from agentgym.envs.babyai.view import VECTORS, look
from agentgym.envs.babyai.world import World, clone

_ATTEMPTS = 4
"""How often a bot that believes it is done, and is not, is replaced by a fresh one."""


class Stance(NamedTuple):
    """Where the agent is, which way it looks, and how many changes it has made to the world."""

    x: int
    y: int
    direction: int
    changes: int

    def after(self, primitive: int) -> Stance:
        """Return the stance after a primitive action that succeeds."""
        if primitive == WAIT:
            return self
        if primitive in (LEFT, RIGHT):
            turn = -1 if primitive == LEFT else 1
            return self._replace(direction=(self.direction + turn) % 4)
        if primitive == FORWARD:
            dx, dy = VECTORS[self.direction]
            return self._replace(x=self.x + dx, y=self.y + dy)
        return self._replace(changes=self.changes + 1)


@dataclass(slots=True)
class Moment:
    """One moment of the rehearsal: a stance, what the bot does there, and why."""

    stance: Stance
    primitive: int
    reason: str
    options: Options


class Move(NamedTuple):
    """One line of the script.

    Attributes:
        reason: why, as a clause.
        action: the high-level action.
        length: how many primitive actions it takes.
        stance: where the agent will be.
    """

    reason: str
    action: str
    length: int
    stance: Stance


@dataclass(slots=True)
class Rehearsal:
    """What the bot did.

    Attributes:
        moments: the moments before each of its moves.
        end: the stance after the last.
        marks: indices of the moments at which a part of the mission had just been accomplished.
        solved: whether the mission was accomplished at the end.
    """

    moments: list[Moment]
    end: Stance
    marks: list[int]
    solved: bool


def stance_of(world: World) -> Stance:
    """Return the stance of a world's agent, with no changes counted."""
    return Stance(int(world.agent_pos[0]), int(world.agent_pos[1]), int(world.agent_dir), 0)


def script(world: World, rounds: int) -> list[Move]:
    """Return the actions that lead to success from here, or nothing if the bot does not succeed.

    A bot that searches as an agent must is preferred. Where its search fails or takes more rounds
    than are left, a bot that knows the map is asked.

    Args:
        world: the world to solve; it is not changed.
        rounds: how many rounds are left.
    """
    best: list[Move] = []
    for knows_map in (False, True):
        rehearsal = rehearse(clone(world), knows_map)
        moves = retell(rehearsal) if rehearsal.solved else []
        if moves and len(moves) <= rounds:
            return moves
        best = min(filter(None, (best, moves)), key=len, default=[])
    return best


def rehearse(world: World, knows_map: bool = False) -> Rehearsal:
    """Let the bot play a world to the end, which uses the world up."""
    stance = stance_of(world)
    moments: list[Moment] = []
    marks: list[int] = []
    progress = _progress(world.instrs)
    for primitive, reason in _suggestions(world, knows_map):
        moments.append(Moment(stance, primitive, reason, Options(look(world))))
        _, reward, terminated, truncated, _ = world.step(primitive)
        stance = stance.after(primitive)
        if terminated or truncated:
            return Rehearsal(moments, stance, marks, terminated and reward > 0)
        if (now := _progress(world.instrs)) != progress:
            marks.append(len(moments))
            progress = now
    return Rehearsal(moments, stance, marks, False)


def _suggestions(world: World, knows_map: bool) -> Iterator[tuple[int, str]]:
    """Yield the bot's moves; a bot that is stuck or thinks it is done is replaced."""
    for _ in range(_ATTEMPTS):
        bot = Bot(world, knows_map)
        try:
            while (primitive := int(bot.replan())) != WAIT:
                yield primitive, bot.reason()
            yield WAIT, bot.reason()
        except (BotStuckError, AssertionError, AttributeError, TypeError, IndexError):
            knows_map = True  # these are the ways in which Minigrid's bot gives up its search


def retell(rehearsal: Rehearsal) -> list[Move]:
    """Return the fewest available actions that retrace a rehearsal, or nothing if none do."""
    stances = [m.stance for m in rehearsal.moments] + [rehearsal.end]
    places: dict[Stance, list[int]] = defaultdict(list)
    for index, stance in enumerate(stances):
        places[stance].append(index)
    changes = {m.stance: m.primitive for m in rehearsal.moments if m.primitive > FORWARD}
    last = len(stances) - 1
    # best[i]: (rounds, primitives) left from moment i, the move to make, and where it leads.
    best: dict[int, tuple[tuple[int, int], Move, int]] = {}
    for index in range(last - 1, -1, -1):
        moment = rehearsal.moments[index]
        for action in moment.options.texts:
            if action == CHECK:
                continue
            primitives = moment.options.moves(action)
            visited = _visit(moment.stance, primitives, changes)
            target = _reaches(index, visited, places, stances, rehearsal.marks)
            if target is None or (target != last and target not in best):
                continue
            rounds, length = best[target][0] if target != last else (0, 0)
            cost = (rounds + 1, length + len(primitives))
            if index not in best or cost < best[index][0]:
                move = Move(moment.reason, action, len(primitives), visited[-1])
                best[index] = (cost, move, target)
    moves: list[Move] = []
    index = 0
    while index in best:
        _, move, index = best[index]
        moves.append(move)
    return moves if index == last else []


def _visit(start: Stance, primitives: tuple[int, ...], changes: dict[Stance, int]) -> list[Stance]:
    """Return the stances an action passes through, empty if it makes a change the bot did not."""
    visited = []
    stance = start
    for primitive in primitives:
        if primitive > FORWARD and changes.get(stance) != primitive:
            return []
        stance = stance.after(primitive)
        visited.append(stance)
    return visited


def _reaches(
    index: int,
    visited: list[Stance],
    places: dict[Stance, list[int]],
    stances: list[Stance],
    marks: list[int],
) -> int | None:
    """Return the furthest moment an action leads to without skipping an accomplishment."""
    last = len(stances) - 1
    if not visited:
        return None
    if stances[last] in visited and _covers(index, last, visited, stances, marks):
        return last
    for target in reversed(places.get(visited[-1], ())):
        if target <= index:
            return None
        if _covers(index, target, visited, stances, marks):
            return target
    return None


def _covers(
    index: int, target: int, visited: list[Stance], stances: list[Stance], marks: list[int]
) -> bool:
    """Whether every accomplishment between two moments is also on the action's way."""
    passed = iter(visited)
    return all(stances[mark] in passed for mark in marks if index < mark <= target)


def _progress(instr: Any) -> tuple[Any, ...]:
    """Return which parts of a mission are accomplished."""
    if not hasattr(instr, "instr_a"):
        return ()
    done = (instr.a_done == "success", instr.b_done == "success")
    return (*done, _progress(instr.instr_a), _progress(instr.instr_b))
