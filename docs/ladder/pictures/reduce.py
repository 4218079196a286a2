"""reduce.py - two trees over eight words: adjacent pairs first, and the upper half added to the lower.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GRID, PALE, WARM

VALUES = [3, 1, 4, 1, 5, 9, 2, 6]
WIDTH = 40


def tree(svg, x, y, title, pairs_of):
    """Rows of the array, one per step; pairs_of(s) lists (to, from)."""
    svg.text(x, y, title, bold=True)
    y, values = y + 14, list(VALUES)
    svg.row(x, y, values, WIDTH)
    for step in range(3):
        pairs = pairs_of(step)
        for to, source in pairs:
            values[to] += values[source]
            for place in (to, source):
                svg.line(x + WIDTH * (place + 0.5), y + 26, x + WIDTH * (to + 0.5), y + 60,
                         COOL if place == to else WARM)
        y += 60
        fills = [WARM if any(to == i for to, _ in pairs) else PALE for i in range(8)]
        svg.row(x, y, values, WIDTH, fills=fills)
        threads = len(pairs)
        svg.text(x + 8 * WIDTH + 10, y + 17, f"step {step + 1}: {threads} active")
    return y + 26


def draw(svg):
    tree(svg, 12, 24, "Rungs 1 and 2: adjacent pairs first",
         lambda step: [(i, i + (1 << step)) for i in range(0, 8, 2 << step)])
    tree(svg, 12, 290, "Rungs 3 to 5: the upper half is added to the lower",
         lambda step: [(i, i + (4 >> step)) for i in range(4 >> step)])
    svg.line(12, 262, 470, 262, GRID)
