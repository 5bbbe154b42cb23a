"""Letters made of dots, for labels in pictures: small letters, digits and a few signs.

A line is a sign, the row its first row of dots stands in, and the rows. A letter is seven rows
high; two more hang below the line.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

ROWS = 9

_GLYPHS = """
a 2 .###. ....# .#### #...# .####
b 0 #.... #.... ####. #...# #...# #...# ####.
c 2 .### #... #... #... .###
d 0 ....# ....# .#### #...# #...# #...# .####
e 2 .###. #...# ##### #.... .###.
f 0 ..## .#.. #### .#.. .#.. .#.. .#..
g 2 .#### #...# #...# #...# .#### ....# .###.
h 0 #.... #.... #.##. ##..# #...# #...# #...#
i 0 # . # # # # #
j 0 ..# ... ..# ..# ..# ..# ..# ..# ##.
k 0 #... #... #..# #.#. ##.. #.#. #..#
l 0 #. #. #. #. #. #. .#
m 2 ##.#. #.#.# #.#.# #.#.# #.#.#
n 2 #.##. ##..# #...# #...# #...#
o 2 .###. #...# #...# #...# .###.
p 2 ####. #...# #...# #...# ####. #.... #....
q 2 .#### #...# #...# #...# .#### ....# ....#
r 2 #.## ##.. #... #... #...
s 2 .### #... .##. ...# ###.
t 0 .#.. .#.. #### .#.. .#.. .#.. ..##
u 2 #...# #...# #...# #..## .##.#
v 2 #...# #...# #...# .#.#. ..#..
w 2 #...# #...# #.#.# #.#.# .#.#.
x 2 #...# .#.#. ..#.. .#.#. #...#
y 2 #...# #...# #...# #...# .#### ....# .###.
z 2 ##### ...#. ..#.. .#... #####
0 0 .###. #...# #..## #.#.# ##..# #...# .###.
1 0 .#. ##. .#. .#. .#. .#. ###
2 0 .###. #...# ....# ...#. ..#.. .#... #####
3 0 ####. ....# ....# .###. ....# ....# ####.
4 0 ...#. ..##. .#.#. #..#. ##### ...#. ...#.
5 0 ##### #.... ####. ....# ....# #...# .###.
6 0 .###. #.... #.... ####. #...# #...# .###.
7 0 ##### ....# ...#. ..#.. ..#.. ..#.. ..#..
8 0 .###. #...# #...# .###. #...# #...# .###.
9 0 .###. #...# #...# .#### ....# ....# .###.
. 6 #
, 6 .# .# #.
: 3 # . . #
+ 2 ..#.. ..#.. ##### ..#.. ..#..
- 4 ###
/ 0 ....# ....# ...#. ..#.. .#... #.... #....
( 0 .# #. #. #. #. #. .#
) 0 #. .# .# .# .# .# #.
' 0 # #
? 0 .###. #...# ....# ...#. ..#.. ..... ..#..
"""


def _glyphs() -> dict[str, NDArray[np.bool_]]:
    glyphs = {" ": np.zeros((ROWS, 3), bool)}
    for line in _GLYPHS.strip().splitlines():
        sign, first, *rows = line.split(" ")
        dots = np.zeros((ROWS, len(rows[0])), bool)
        for i, row in enumerate(rows, int(first)):
            dots[i] = [dot == "#" for dot in row]
        glyphs[sign] = dots
    return glyphs


_DOTS = _glyphs()
_GAP = np.zeros((ROWS, 1), bool)


@lru_cache(maxsize=2048)
def text_mask(text: str, dot: int = 2) -> NDArray[np.bool_]:
    """Return the dots of a line of text, True where there is ink.

    Args:
        text: one line; capitals become small letters and unknown signs question marks.
        dot: pixels a dot.

    Returns:
        Shape (9 x dot, width), read-only.
    """
    columns = [part for sign in text.lower() for part in (_DOTS.get(sign, _DOTS["?"]), _GAP)]
    mask = np.concatenate(columns[:-1] or [_GAP], axis=1).repeat(dot, axis=0).repeat(dot, axis=1)
    mask.flags.writeable = False
    return mask
