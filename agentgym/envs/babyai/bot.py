"""Minigrid's bot, made to finish what it leaves undone and to say why it moves.

`BabyAIBot` plans with a stack of subgoals and knows only what it has seen, as an agent would. Two
of the forty levels are beyond it: in PutNextS7N4Carrying the object is in hand from the start, in
KeyInBox the key is inside a box. Both come down to other first subgoals. A bot made in the middle
of an episode also leaves out the parts of the mission that are done. Every move has a reason on
top of the stack; `reason` puts it into words.
"""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

from minigrid.core.world_object import Door
from minigrid.envs.babyai.core.verifier import (
    AfterInstr,
    ObjDesc,
    OpenInstr,
    PutNextInstr,
    SeqInstr,
)
from minigrid.utils.baby_ai_bot import (
    BabyAIBot,
    CloseSubgoal,
    DropSubgoal,
    GoNextToSubgoal,
    OpenSubgoal,
    PickupSubgoal,
    Subgoal,
)

from agentgym.envs.babyai.view import HIDDEN, OFFSETS, call, in_view
from agentgym.envs.babyai.world import World

_SEARCHES = 60
"""Searches of the map within one move, after which the bot is taken to be stuck."""


class OpenBoxSubgoal(Subgoal):  # type: ignore[misc]
    """Open the box in front of the agent, to get at what is inside."""

    def replan_before_action(self) -> Any:
        return self.actions.toggle

    def replan_after_action(self, action_taken: Any) -> None:
        self.bot.stack.pop()


class BotStuckError(Exception):
    """The bot's subgoals go round in circles."""


class Bot(BabyAIBot):  # type: ignore[misc]
    """Plans for a world from where it stands.

    Args:
        world: the world to solve.
        knows_map: whether it knows what it has not seen, which spares it the search.
    """

    def __init__(self, world: World, knows_map: bool = False) -> None:
        super().__init__(world)
        self._searches = 0
        self.knows_map = knows_map
        if knows_map:
            self.vis_mask[:] = True

    def replan(self, action_taken: Any = None) -> Any:
        """Return the next primitive action, or Minigrid's "done" where nothing is left to do.

        Raises:
            BotStuckError: if the bot changes its plan without end.
        """
        self._searches = 0
        return super().replan(action_taken)

    def _process_obs(self) -> None:
        """Remember which cells have been seen, without turning the grid round as Minigrid does."""
        world = self.mission.unwrapped
        x, y = (int(at) for at in world.agent_pos)
        for (dx, dy), cell in zip(OFFSETS[world.agent_dir], in_view(world), strict=True):
            if cell is not HIDDEN:
                self.vis_mask[x + dx, y + dy] = True

    def _breadth_first_search(
        self, initial_states: Any, accept_fn: Any, ignore_blockers: bool
    ) -> tuple[Any, Any, Any]:
        """Search as `BabyAIBot` does, cell by cell in the same order, with a queue that is one."""
        self._searches += 1
        if self._searches > _SEARCHES:
            raise BotStuckError("the plan changes without end")
        grid, seen = self.mission.unwrapped.grid, self.vis_mask
        flat, width = grid.grid, grid.width
        came: dict[tuple[int, int], Any] = {}
        queue: deque[Any] = deque((state, None) for state in initial_states)
        while queue:
            (i, j, di, dj), before = queue.popleft()
            here = (i, j)
            if here in came:
                continue
            came[here] = before
            cell = flat[j * width + i]
            if accept_fn(here, cell):
                path = [here]
                while came[path[-1]]:
                    path.append(came[path[-1]])
                return path, here, came
            if not seen[i, j] or (cell and self._blocks(cell, ignore_blockers)):
                continue
            for k, m in ((di, dj), (dj, di), (-dj, -di), (-di, -dj)):
                if (i + k, j + m) not in came:
                    queue.append(((i + k, j + m, k, m), here))
        return None, None, came

    def _blocks(self, cell: Any, ignore_blockers: bool) -> bool:
        if cell.type == "door":
            return cell.is_locked if self.knows_map else not cell.is_open
        return cell.type == "wall" or not ignore_blockers

    def _shortest_path(self, accept_fn: Any, try_with_blockers: bool = False) -> Any:
        """Find a way as `BabyAIBot` does, but choose doors to try without going in circles."""
        if accept_fn.__name__ not in ("unopened_door", "unopened_unlocked_door"):
            return super()._shortest_path(accept_fn, try_with_blockers)
        # Minigrid's bot may look for a key behind the very door the key is for.
        tried = [g.datum for g in self.stack if isinstance(g, GoNextToSubgoal)]

        def worth_trying(place: Any, cell: Any) -> bool:
            if not accept_fn(place, cell) or any(cell is door for door in tried):
                return False
            return cell.is_locked or not self.knows_map

        return super()._shortest_path(worth_trying, try_with_blockers)

    def _find_obj_pos(self, obj_desc: Any, adjacent: bool = False) -> Any:
        try:
            return super()._find_obj_pos(obj_desc, adjacent)
        except AssertionError:  # one of them is known and behind a locked door: leave it out
            near = copy.copy(obj_desc)
            pairs = list(zip(obj_desc.obj_set, obj_desc.obj_poss, strict=False))
            pairs = [(thing, place) for thing, place in pairs if self._reaches(place)]
            near.obj_set, near.obj_poss = [t for t, _ in pairs], [p for _, p in pairs]
            return super()._find_obj_pos(near, adjacent) if pairs else (None, None)

    def _reaches(self, place: tuple[int, int]) -> bool:
        return bool(self._shortest_path(lambda here, _: here == place, True)[1])

    def _process_instr(self, instr: Any) -> None:
        world = self.mission.unwrapped
        if isinstance(instr, SeqInstr):
            first, last = instr.instr_a, instr.instr_b
            done = (getattr(instr, "a_done", False), getattr(instr, "b_done", False))
            if isinstance(instr, AfterInstr):
                first, last, done = last, first, done[::-1]
            for part, is_done in ((last, done[1]), (first, done[0])):
                if is_done != "success":
                    self._process_instr(part)
        elif isinstance(instr, PutNextInstr) and any(
            thing is world.carrying for thing in instr.desc_move.obj_set
        ):
            self.stack.append(DropSubgoal(self))
            self.stack.append(GoNextToSubgoal(self, instr.desc_fixed, reason="PutNext"))
        elif isinstance(instr, OpenInstr) and (box := _box_with_key(world, instr.desc)):
            self.stack.append(OpenSubgoal(self))
            self.stack.append(GoNextToSubgoal(self, instr.desc, reason="Open"))
            self.stack.append(PickupSubgoal(self))
            self.stack.append(OpenBoxSubgoal(self))
            self.stack.append(GoNextToSubgoal(self, box))
        else:
            super()._process_instr(instr)

    def reason(self) -> str:
        """Return why the move the bot last suggested makes sense, without a full stop."""
        if not self.stack:
            return "I already face what I have to go to"
        goal, carrying = self.stack[-1], self.mission.unwrapped.carrying
        ahead = goal.fwd_cell
        if isinstance(goal, GoNextToSubgoal):
            return self._way(goal)
        if isinstance(goal, OpenSubgoal):
            with_key = " with the key I carry" if ahead.is_locked else ""
            return f"The {call(ahead)} in front of me has to be opened{with_key}"
        if isinstance(goal, CloseSubgoal):
            return f"The {ahead.color} door is open, and only opening it counts, so I shut it first"
        if isinstance(goal, OpenBoxSubgoal):
            return "No key is in sight, so it must be in the box in front of me"
        if isinstance(goal, PickupSubgoal):
            below = self._below(2)
            if isinstance(self._below(1), GoNextToSubgoal) and isinstance(below, DropSubgoal):
                return f"The {call(ahead)} stands in my way"
            return f"The {call(ahead)} in front of me is what I need" if ahead else "I need it"
        if isinstance(goal, DropSubgoal):
            return f"This is a good place to put down the {call(carrying)}"
        return "I follow the instruction"

    def _way(self, goal: Any) -> str:
        """Return why the agent is on its way somewhere."""
        carrying = self.mission.unwrapped.carrying
        below = self._below(1)
        known = ", and I know where it is" if self.knows_map else ""
        if goal.reason == "Explore":
            sought = self._sought() or "what I need"
            return f"I have not found {sought} yet and look where I have not been"
        if goal.reason == "Open":
            if carrying is not None and isinstance(goal.datum, Door) and goal.datum.is_locked:
                return f"I carry the {call(carrying)} to {self._name(goal)}"
            if isinstance(goal.datum, Door) and self._sought():
                return f"I have not found {self._sought()}, and {self._name(goal)} leads on"
            return f"I have to open {self._name(goal)}"
        if goal.reason == "PutNext":
            return f"I have to put the {call(carrying)} next to {self._name(goal)}"
        if isinstance(goal.datum, tuple):
            if isinstance(below, DropSubgoal) and carrying is not None:
                return f"I need my hands free, so I look for a place for the {call(carrying)}"
            if isinstance(below, PickupSubgoal):
                return "I come back for what I put down"
            return "I turn back to where I was"
        if isinstance(below, OpenBoxSubgoal):
            return "The door is locked and no key lies about, so the key must be in the box"
        if isinstance(below, PickupSubgoal):
            door = next((s for s in self.stack[-3:-2] if isinstance(s.datum, Door)), None)
            if door is not None:
                return f"The {door.datum.color} door is locked, so I need {self._name(goal)}"
            return f"I have to pick up {self._name(goal)}{known}"
        return f"I have to go to {self._name(goal)}{known}"

    def _below(self, depth: int) -> Any:
        return self.stack[-1 - depth] if len(self.stack) > depth else None

    def _sought(self) -> str:
        """Return what the search is for: the nearest named thing further down the stack, if any."""
        for goal in reversed(self.stack[:-1]):
            if isinstance(goal, GoNextToSubgoal) and goal.reason != "Explore":
                return self._name(goal)
        return ""

    def _name(self, goal: Any) -> str:
        """Return what a subgoal leads to, as a person would call it."""
        datum = goal.datum
        if isinstance(datum, ObjDesc):
            words = [datum.color, datum.type or "object"]
            article = "the" if len(datum.obj_set) == 1 else "a"
            return f"{article} {' '.join(word for word in words if word)}"
        if hasattr(datum, "type"):
            return f"the {call(datum)}"
        return "that place"


def _box_with_key(world: World, door: Any) -> Any:
    """Return the box that hides the key to a door, or None where the key is in the open."""
    doors = [d for d in door.obj_set if d.is_locked]
    if not doors or len(doors) < len(door.obj_set):
        return None
    colors = {d.color for d in doors}
    things = [*world.grid.grid, world.carrying]
    if any(t is not None and t.type == "key" and t.color in colors for t in things):
        return None
    for thing in world.grid.grid:
        inside = thing.contains if thing is not None else None
        if inside is not None and inside.type == "key" and inside.color in colors:
            return thing
    return None
