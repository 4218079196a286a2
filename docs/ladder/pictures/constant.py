"""constant.py - one constant for all lanes in one access, and a different one for each lane in many.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

CELL = 40


def lanes(svg, x, y, title, wanted, note):
    """Eight of the lanes, the words of the table that they read, and the number of accesses."""
    svg.text(x, y, title, bold=True)
    svg.row(x, y + 12, [f"lane {i}" for i in range(8)], CELL, 24, ["#fff"] * 8, size=10)
    fills = [WARM if k in wanted else PALE for k in range(8)]
    svg.row(x, y + 100, [f"c[{k}]" for k in range(8)], CELL, 24, fills, size=10)
    for lane, k in enumerate(wanted):
        svg.line(x + (lane + 0.5) * CELL, y + 36, x + (k + 0.5) * CELL, y + 100, COOL)
    svg.text(x, y + 146, note, size=11)


def draw(svg):
    lanes(svg, 12, 24, "Rungs 2 and 3: all lanes read the same word", [3] * 8,
          "one word broadcast to all lanes: one access")
    lanes(svg, 380, 24, "Rung 4: each lane reads a different word", [3, 4, 5, 6, 7, 0, 1, 2],
          "one access per distinct word: 32 for a warp")
