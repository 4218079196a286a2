"""histogram256.py - four lanes that count equal values in one tagged counter, round by round.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, GRID, PALE, WARM

LANES = [3, 8, 17, 30]
WINNERS = [17, 3, 30, 8]


def draw(svg):
    x, y, width = 12, 24, 96
    svg.text(x, y, "Four lanes of a warp have the same value; its counter contains (last writer, count)",
             bold=True)
    y += 16
    svg.text(x, y + 17, "counter")
    svg.box(x + 70, y, 110, 26, "(-, 41)")
    waiting = list(LANES)
    for turn, winner in enumerate(WINNERS):
        y += 48
        count = 42 + turn
        svg.text(x, y + 17, f"round {turn + 1}")
        for k, lane in enumerate(LANES):
            left = x + 70 + (width + 8) * k
            if lane in waiting:
                svg.box(left, y, width, 26, f"({lane}, {count})", GREEN if lane == winner else WARM)
            else:
                svg.box(left, y, width, 26, "done", PALE)
        left = x + 70 + (width + 8) * 4 + 26
        svg.arrow(left - 28, y + 13, left - 4, y + 13, COOL)
        svg.box(left, y, 110, 26, f"({winner}, {count})")
        waiting.remove(winner)
    y += 46
    svg.line(x, y - 10, x + 620, y - 10, GRID)
    svg.text(x, y + 8, "All lanes write; one write is the last. The lane that reads its own number has counted;"
             " the others try again.")
