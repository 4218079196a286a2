"""msd.py - eight keys ranked by ballots and by atomics, and the two levels of a sort from the most
significant digit.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, GRID, INK, PALE, WARM

# Two bits of digit, and a letter for the rest of the key.
DIGITS = [2, 0, 2, 1, 0, 2, 3, 0]
SERVED = [3, 0, 5, 2, 7, 6, 1, 4]  # the order in which the hardware serves the lanes' atomics
COLOURS = [PALE, COOL, WARM, GREEN]
CELL = 40


def names():
    return [f"{digit}{chr(97 + i)}" for i, digit in enumerate(DIGITS)]


def ranks(order):
    """The rank of each lane among the lanes of its digit, if lanes are counted in this order."""
    count, rank = [0] * 4, [0] * 8
    for lane in order:
        rank[lane] = count[DIGITS[lane]]
        count[DIGITS[lane]] += 1
    return rank


def scatter(svg, x, y, title, order, text):
    svg.text(x, y, title, bold=True)
    rank = ranks(order)
    start = [sum(1 for digit in DIGITS if digit < d) for d in range(4)]
    y += 14
    fills = [COLOURS[digit] for digit in DIGITS]
    svg.row(x, y, names(), CELL, fills=fills)
    svg.text(x + 8 * CELL + 12, y + 17, "key of each lane: digit, name")
    svg.row(x, y + 30, rank, CELL, fills=fills)
    svg.text(x + 8 * CELL + 12, y + 47, text)
    out = [None] * 8
    for lane in range(8):
        to = start[DIGITS[lane]] + rank[lane]
        out[to] = lane
        svg.arrow(x + (lane + 0.5) * CELL, y + 57, x + (to + 0.5) * CELL, y + 99, INK)
    svg.row(x, y + 100, [names()[lane] for lane in out], CELL,
            fills=[COLOURS[DIGITS[lane]] for lane in out])
    svg.text(x + 8 * CELL + 12, y + 117, "position: keys of smaller digits + rank")
    return y + 150


def levels(svg, x, y):
    svg.text(x, y, "Two scatters, then every bucket is sorted on chip", bold=True)
    widths = [(1, "the array"), (8, "first level: 256 buckets by bits 24 to 31"),
              (32, "second level: up to 65,536 buckets by the next 8 bits"),
              (32, "each bucket by one block, in shared memory: bits 0 to 15")]
    width, y = 8 * CELL, y + 14
    for level, (parts, text) in enumerate(widths):
        for i in range(parts):
            svg.box(x + i * width / parts, y, width / parts, 22, "",
                    COLOURS[i * 4 // parts] if parts > 1 else PALE, INK if level == 3 else GRID)
        svg.text(x + width + 12, y + 16, text)
        y += 34
    return y


def draw(svg):
    y = scatter(svg, 12, 24, "Ballots: the order of the lanes, so equal digits keep their order",
                range(8), "rank: lanes of the same digit before this one")
    y = scatter(svg, 12, y + 20, "Atomics: the order in which the lanes are served", SERVED,
                "rank: the result of atomicAdd()")
    svg.text(12, y + 2, "Both are correct scatters: the keys of a digit are adjacent. "
             "Sorting each bucket by the rest of the key", size=11)
    svg.text(12, y + 18, "gives the same keys. Only values of equal keys show the difference.",
             size=11)
    levels(svg, 12, y + 54)
