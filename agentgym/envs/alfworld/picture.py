"""A home as people see it: a floor plan in pixels, and a list in text.

Both show what an onlooker in the room sees: everything that is not behind a closed door or in a
closed drawer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from agentgym.envs.alfworld.aim import aim_of
from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.letters import text_mask
from agentgym.envs.alfworld.plan import FOOT, HEAD, LINE, PAD, WALL, WIDTH, Card, Plan, plan_of
from agentgym.envs.alfworld.problem import Problem
from agentgym.envs.alfworld.scene import Furniture, Scene, inventory, scene_of

Colour = tuple[int, int, int]
Pixels = NDArray[np.uint8]

_PAPER, _INK, _FAINT = (250, 248, 243), (45, 49, 60), (128, 126, 122)
_WALLS, _BOARDS, _JOINTS = (74, 78, 92), (226, 207, 178), (214, 193, 162)
_SHADOW, _OPEN, _AGENT, _WANTED = (196, 176, 146), (255, 253, 247), (38, 98, 217), (196, 74, 12)
_DEFAULT: Colour = (240, 232, 218)
_MATERIALS: dict[str, Colour] = {
    **dict.fromkeys(("cabinet", "drawer", "dresser"), (205, 170, 125)),
    **dict.fromkeys(("shelf", "desk", "sidetable", "diningtable", "coffeetable", "tvstand"),
                    (238, 214, 178)),
    **dict.fromkeys(("fridge", "microwave", "toaster", "coffeemachine", "safe"), (205, 212, 220)),
    **dict.fromkeys(("sinkbasin", "bathtubbasin", "toilet"), (205, 228, 240)),
    **dict.fromkeys(("sofa", "armchair", "ottoman", "bed"), (214, 205, 232)),
    **dict.fromkeys(("garbagecan", "laundryhamper"), (206, 214, 196)),
    "stoveburner": (216, 214, 212),
    "countertop": (243, 240, 234),
}  # fmt: skip
MARKS: dict[str, tuple[str, Colour]] = {
    "ishot": ("hot", (220, 50, 40)),
    "iscool": ("cool", (40, 130, 220)),
    "isclean": ("clean", (30, 160, 90)),
    "istoggled": ("on", (240, 190, 20)),
    "issliced": ("sliced", (150, 90, 170)),
}
"""What a mark beside a label means, and its colour."""


def picture_of(problem: Problem, engine: Engine, note: str) -> Pixels:
    """Return a game as a picture, 1440 pixels wide and of one height throughout an episode.

    Args:
        problem: the game as it began.
        engine: the game as it is.
        note: how far the episode is ("round 3 of 30").
    """
    home, first = inventory(problem), Counter(fact[2] for fact in problem.of("inreceptacle"))
    plan = plan_of(home.furniture.values(), first)
    return draw(scene_of(home, engine), plan, problem.task, note, _wanted(problem))


def sketch_of(problem: Problem, engine: Engine) -> str:
    """Return a game as lines of text: the goal, what is carried, and then as `sketch` has it."""
    scene = scene_of(inventory(problem), engine)
    carried = described(scene, scene.held) if scene.held else "nothing"
    return f"Goal: {problem.task}\nYou carry {carried}. In the room (@ is where you are):\n" + (
        sketch(scene)
    )


def _wanted(problem: Problem) -> str:
    aim = aim_of(problem.goal)
    return aim.thing if aim else ""


def draw(scene: Scene, plan: Plan, title: str, note: str, wanted: str) -> Pixels:
    """Return a moment of a game as a picture of shape (plan.height, 1440, 3).

    Args:
        scene: the moment.
        plan: where things are drawn in this home.
        title: the goal.
        note: how far the episode is.
        wanted: the type of thing the goal is about; its labels stand out.
    """
    pixels = np.full((plan.height, WIDTH, 3), _PAPER, np.uint8)
    _write(pixels, 14, 18, title, _INK, dot=3)
    mask = text_mask(note)
    _write(pixels, 22, WIDTH - 18 - mask.shape[1], note, _FAINT)
    _floor(pixels, plan)
    for f in scene.home.furniture.values():
        _furniture(pixels, scene, f, plan.cards[f.id], wanted)
    _agent(pixels, scene, plan)
    _legend(pixels, plan)
    return pixels


def _floor(pixels: Pixels, plan: Plan) -> None:
    bottom = plan.height - FOOT
    pixels[HEAD:bottom] = _WALLS
    boards = pixels[HEAD + WALL : bottom - WALL, WALL:-WALL]
    boards[:] = _BOARDS
    boards[::32] = _JOINTS
    for i in range(0, boards.shape[0], 32):
        boards[i : i + 32, (97 * (i // 32) * 5) % 240 :: 240] = _JOINTS


def _furniture(pixels: Pixels, scene: Scene, f: Furniture, card: Card, wanted: str) -> None:
    top, left, height, width = card.top, card.left, card.height, card.width
    here, closed = f.location == scene.at, scene.closed(f)
    material = _MATERIALS.get(f.kind, _DEFAULT)
    pixels[top + 4 : top + height + 4, left + 4 : left + width + 4] = _SHADOW
    part = pixels[top : top + height, left : left + width]
    part[:] = _AGENT if here else _darker(material, 0.6)
    rim = 3 if here else 2
    inner = part[rim:-rim, rim:-rim]
    inner[:] = material
    _write(part, PAD, PAD + 2, f.name, _INK)
    body = inner[PAD + LINE - 2 :]
    if closed:
        _door(body, material)
        return
    if f.openable:
        body[3:-3, 4:-4] = _OPEN
        _write(part, PAD, width - PAD - 2 - text_mask("open").shape[1], "open", _FAINT, fits=f.name)
    _labels(part, scene, f, card, wanted)


def _door(body: Pixels, material: Colour) -> None:
    """Draw a closed front: a panel with a handle."""
    body[4:-4, 5:-5] = _darker(material, 0.86)
    body[6:-6, 7:-7] = _darker(material, 0.94)
    y, x = body.shape[0] // 2, body.shape[1] // 2
    body[y - 2 : y + 2, x - 12 : x + 12] = _darker(material, 0.5)


def _labels(part: Pixels, scene: Scene, f: Furniture, card: Card, wanted: str) -> None:
    things = scene.holds(f)
    # What the goal is about comes first, so that it is never among those left out.
    things.sort(key=lambda thing: scene.home.types.get(thing) != wanted)
    space = card.lines * card.columns
    shown = things if len(things) <= space else things[: space - 1]
    column = (card.width - 2 * PAD) // card.columns
    for i, thing in enumerate(shown):
        y, x = PAD + LINE * (1 + i // card.columns) + 2, PAD + 4 + column * (i % card.columns)
        _label(part, y, x, scene, thing, wanted)
    if len(shown) < len(things):
        i = space - 1
        y, x = PAD + LINE * (1 + i // card.columns) + 2, PAD + 4 + column * (i % card.columns)
        _write(part, y, x, f"+ {len(things) - len(shown)} more", _FAINT)


def _label(pixels: Pixels, y: int, x: int, scene: Scene, thing: str, wanted: str) -> int:
    """Write a thing's name and its marks; return where they end."""
    colour = _WANTED if scene.home.types.get(thing) == wanted else _INK
    x = _write(pixels, y, x, scene.name(thing), colour) + 6
    for state, (_, mark) in MARKS.items():
        if scene.has(thing, state):
            _mark(pixels, y + 3, x, mark)
            x += 12
    return x


def _mark(pixels: Pixels, y: int, x: int, colour: Colour) -> None:
    pixels[y : y + 9, x : x + 9] = _darker(colour, 0.7)
    pixels[y + 1 : y + 8, x + 1 : x + 8] = colour


def _agent(pixels: Pixels, scene: Scene, plan: Plan) -> None:
    """Draw who plays as a disc on the free floor, next to what is in reach, and what is held."""
    y, x = _standing(scene, plan)
    radius = np.hypot(*np.mgrid[-18:19, -18:19])
    spot = pixels[y - 18 : y + 19, x - 18 : x + 19]
    spot[radius <= 18] = (255, 255, 255)
    spot[radius <= 15.5] = _AGENT
    for eye in (12, 24):
        spot[15:21, eye - 2 : eye + 3] = (255, 255, 255)
    if not scene.held:
        return
    name = scene.name(scene.held)
    marks = sum(scene.has(scene.held, state) for state in MARKS)
    width = text_mask(name).shape[1] + 16 + 13 * marks
    left = x + 24 if x + 26 + width < plan.floor[3] else x - 24 - width
    tag = pixels[y - 14 : y + 14, left : left + width]
    tag[:] = _AGENT
    tag[2:-2, 2:-2] = (255, 255, 255)
    _label(tag, 6, 8, scene, scene.held, "")


def _standing(scene: Scene, plan: Plan) -> tuple[int, int]:
    """Return where on the free floor the disc is drawn: in the middle of what is in reach."""
    top, left, bottom, right = plan.floor
    here = [plan.cards[f.id] for f in scene.home.furniture.values() if f.location == scene.at]
    if not here:
        return bottom - 30, (left + right) // 2
    side = here[0].side
    here = [card for card in here if card.side == side]
    y = sum(card.top + card.height // 2 for card in here) // len(here)
    x = sum(card.left + card.width // 2 for card in here) // len(here)
    if side == 4:
        y = max(card.top + card.height for card in here) + 26
    y = {0: top + 24, 2: bottom - 26}.get(side, y)
    x = {1: right - 26, 3: left + 26}.get(side, x)
    return max(top + 20, min(y, bottom - 20)), max(left + 20, min(x, right - 20))


def _legend(pixels: Pixels, plan: Plan) -> None:
    y, x = plan.height - FOOT + 9, 18
    for word, colour in MARKS.values():
        _mark(pixels, y + 3, x, colour)
        x = _write(pixels, y, x + 14, word, _FAINT) + 22
    x = _write(pixels, y, x, "in reach: blue frame", _AGENT) + 22
    _write(pixels, y, x, "asked for", _WANTED)


def _write(
    pixels: Pixels, y: int, x: int, text: str, colour: Colour, dot: int = 2, fits: str = ""
) -> int:
    """Write a line, cut at the picture's edge; return where it ends.

    Args:
        pixels: what to write on.
        y: of the line's top.
        x: of its left end.
        text: what to write.
        colour: of the ink.
        dot: pixels a dot.
        fits: another text on the same line from the left; nothing is written where they overlap.
    """
    mask = text_mask(text, dot)
    if fits and x < PAD + 8 + text_mask(fits, dot).shape[1]:
        return x
    spot = pixels[y : y + mask.shape[0], x : x + mask.shape[1]]
    spot[mask[: spot.shape[0], : spot.shape[1]]] = colour
    return x + int(mask.shape[1])


def _darker(colour: Colour, share: float) -> Colour:
    r, g, b = colour
    return int(r * share), int(g * share), int(b * share)


def sketch(scene: Scene) -> str:
    """Return a moment of a game as lines of text: what is where, then what is closed or empty.

    What one stands at is marked "@".
    """
    closed: dict[str, list[str]] = {}
    empty: dict[str, list[str]] = {}
    lines = []
    width = max((len(f.name) for f in scene.home.furniture.values()), default=0) + 7
    for f in scene.home.furniture.values():
        here = f.location == scene.at
        things = [] if scene.closed(f) else scene.holds(f)
        if things or here:
            words = ", ".join(described(scene, thing) for thing in things) or (
                "closed" if scene.closed(f) else "nothing"
            )
            name = f"{f.name} (open)" if f.openable and not scene.closed(f) else f.name
            lines.append(f"{'@' if here else ' '} {name:<{width}}  {words}")
        else:
            group = closed if scene.closed(f) else empty
            group.setdefault(f.kind, []).append(f.name.rpartition(" ")[2])
    lines += [f"  closed: {_numbered(closed)}"] if closed else []
    lines += [f"  empty: {_numbered(empty)}"] if empty else []
    return "\n".join(lines)


def described(scene: Scene, thing: str) -> str:
    """Return what a thing is called and what it is: "apple 1 (hot, clean)"."""
    states = ", ".join(word for state, (word, _) in MARKS.items() if scene.has(thing, state))
    return f"{scene.name(thing)} ({states})" if states else scene.name(thing)


def _numbered(groups: Mapping[str, list[str]]) -> str:
    """Return "cabinet 1-4, drawer 2"."""
    parts = []
    for kind, numbers in groups.items():
        runs: list[list[int]] = []
        for number in sorted(int(n) for n in numbers if n.isdecimal()):
            if runs and number == runs[-1][-1] + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        shown = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
        parts.append(f"{kind} {', '.join(shown)}".strip())
    return "; ".join(parts)
