"""constant.py - one constant for all lanes in one turn, and another for each lane in as many.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

CELL = 40


def lanes(svg, x, y, title, wanted, note):
    """Eight of the lanes, the words they want of the table, and the turns that this takes."""
    svg.text(x, y, title, bold=True)
    svg.row(x, y + 12, [f"lane {i}" for i in range(8)], CELL, 24, ["#fff"] * 8, size=10)
    fills = [WARM if k in wanted else PALE for k in range(8)]
    svg.row(x, y + 100, [f"c[{k}]" for k in range(8)], CELL, 24, fills, size=10)
    for lane, k in enumerate(wanted):
        svg.line(x + (lane + 0.5) * CELL, y + 36, x + (k + 0.5) * CELL, y + 100, COOL)
    svg.text(x, y + 146, note, size=11)


def draw(svg):
    lanes(svg, 12, 24, "Variants 2 and 3: all lanes want the same", [3] * 8,
          "one word to all lanes: one turn")
    lanes(svg, 380, 24, "Variant 4: each lane wants another", [3, 4, 5, 6, 7, 0, 1, 2],
          "as many turns as there are different words: 32 for a warp")
