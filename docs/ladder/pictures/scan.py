"""scan.py - the up-sweep and the down-sweep of eight elements, and the decoupled look-back of a tile.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, GRID, PALE, WARM

VALUES = [3, 1, 4, 1, 5, 9, 2, 6]
WIDTH = 44


def row(svg, x, y, values, changed, note):
    svg.row(x, y, values, WIDTH, fills=[WARM if i in changed else PALE for i in range(8)])
    svg.text(x + 8 * WIDTH + 10, y + 17, note)


def edge(svg, x, y, source, to, colour):
    svg.arrow(x + WIDTH * (source + 0.5), y + 26, x + WIDTH * (to + 0.5), y + 58, colour)


def tree(svg, x, y):
    values = list(VALUES)
    svg.text(x, y, "Up-sweep: sums of pairs, of fours, of all", bold=True)
    y += 14
    row(svg, x, y, values, [], "the elements")
    for s in (1, 2, 4):
        rights = range(2 * s - 1, 8, 2 * s)
        for right in rights:
            edge(svg, x, y, right - s, right, WARM)
            edge(svg, x, y, right, right, COOL)
            values[right] += values[right - s]
        y += 58
        row(svg, x, y, values, rights, f"s = {s}: {8 // (2 * s)} addition" + "s" * (s < 4))
    y += 62
    svg.text(x, y - 8, "Down-sweep: left = parent, right = parent + left sum; the root is 0",
             bold=True)
    values[7] = 0
    row(svg, x, y, values, [7], "the root is 0")
    for s in (4, 2, 1):
        changed = []
        for right in range(2 * s - 1, 8, 2 * s):
            edge(svg, x, y, right, right - s, GREEN)
            edge(svg, x, y, right - s, right, WARM)
            edge(svg, x, y, right, right, COOL)
            values[right - s], values[right] = values[right], values[right] + values[right - s]
            changed += [right - s, right]
        y += 58
        row(svg, x, y, values, changed, f"s = {s}: {8 // (2 * s)} addition" + "s" * (s < 4))
    return y + 26


def look_back(svg, x, y):
    svg.text(x, y, "Decoupled look-back: tile 6 computes its exclusive prefix", bold=True)
    y += 14
    words = ["310", "40", "402", "51", "47", "60", "?"]
    fills = [GREEN, PALE, GREEN, PALE, PALE, PALE, WARM]
    svg.row(x, y, words, 76, fills=fills)
    for i in range(7):
        svg.text(x + 76 * i + 38, y + 42, f"tile {i}", "middle", 11)
    svg.arrow(x + 76 * 6 + 38, y + 62, x + 76 * 2 + 38, y + 62, COOL)
    svg.line(x + 76 * 6 + 38, y + 48, x + 76 * 6 + 38, y + 62, COOL)
    svg.text(x + 76 * 2 + 38, y + 82, "exclusive prefix of tile 6: 60 + 47 + 51 + 402 = 560")
    for column, fill, text in ((0, GREEN, "inclusive prefix"), (150, PALE, "aggregate"), (260, WARM, "tile 6")):
        svg.box(x + column, y + 96, 14, 14, fill=fill)
        svg.text(x + column + 20, y + 108, text)


def draw(svg):
    end = tree(svg, 12, 24)
    svg.line(12, end + 20, 540, end + 20, GRID)
    look_back(svg, 12, end + 48)
