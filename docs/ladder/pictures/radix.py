"""radix.py - the passes of a radix sort of four keys by one bit, in both orders, and one pass in full.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GRID, PALE, WARM

KEYS = [7, 14, 4, 1]
WIDTH = 62


def bits(key):
    return f"{key:2d} {key:04b}"


def passes(svg, x, y, bits_in_order, title, result):
    svg.text(x, y, title, bold=True)
    y += 14
    keys = list(KEYS)
    for bit in bits_in_order:
        svg.row(x, y, [bits(key) for key in keys], WIDTH,
                fills=[WARM if key >> bit & 1 else PALE for key in keys])
        svg.text(x + 4 * WIDTH + 10, y + 17, f"bit {bit}: ones in colour")
        order = [i for i in range(4) if not keys[i] >> bit & 1]
        order += [i for i in range(4) if keys[i] >> bit & 1]
        for to, source in enumerate(order):
            svg.arrow(x + WIDTH * (source + 0.5), y + 26, x + WIDTH * (to + 0.5), y + 58,
                      WARM if keys[source] >> bit & 1 else COOL)
        keys = [keys[i] for i in order]
        y += 58
    svg.row(x, y, [bits(key) for key in keys], WIDTH)
    svg.text(x + 4 * WIDTH + 10, y + 17, result)
    return y + 26


def one_pass(svg, x, y):
    keys, bit = [5, 2, 7, 4, 3, 6, 1, 0], 0
    ones = [key >> bit & 1 for key in keys]
    before = [sum(ones[:i]) for i in range(8)]
    zeros = 8 - sum(ones)
    places = [zeros + before[i] if ones[i] else i - before[i] for i in range(8)]
    out = [None] * 8
    for i in range(8):
        out[places[i]] = keys[i]
    svg.text(x, y, "One pass: a prefix sum gives the position of each key", bold=True)
    y += 14
    for name, values in (("key", keys), ("b, its bit", ones), ("s, ones before it", before),
                         ("b ? zeros + s : i - s", places), ("after the pass", out)):
        svg.text(x, y + 17, name)
        svg.row(x + 160, y, values, 36, fills=[WARM if one else PALE for one in ones]
                if name != "after the pass" else [PALE] * zeros + [WARM] * (8 - zeros))
        y += 34


def draw(svg):
    end = passes(svg, 12, 24, range(4), "Lowest bit first; equal bits keep their order", "sorted")
    passes(svg, 12 + 4 * WIDTH + 160, 24, range(3, -1, -1),
           "Highest bit first, over the whole array", "ordered by bit 0 first")
    svg.line(12, end + 20, 500, end + 20, GRID)
    one_pass(svg, 12, end + 48)
