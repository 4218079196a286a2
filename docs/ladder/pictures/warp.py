"""warp.py - four keys by four bits: the ballot of each pass, and the new position of each key.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, INK, PALE, WARM

KEYS = [7, 14, 4, 1]
WIDTH, LEFT = 92, 110


def draw(svg):
    svg.text(12, 24, "7 14 4 1, sorted by one bit after another: zeros first, each group keeps its order",
             bold=True)
    keys, y = list(KEYS), 44
    for bit in range(4):
        ones = [key >> bit & 1 for key in keys]
        zeros = ones.count(0)
        places = [zeros + sum(ones[:i]) if ones[i] else ones[:i].count(0) for i in range(4)]
        svg.text(LEFT - 12, y + 17, f"by bit {bit}", "end")
        for i, key in enumerate(keys):
            svg.box(LEFT + i * WIDTH, y, WIDTH - 12, 26, f"{key} = {key:04b}",
                    WARM if ones[i] else PALE)
        ballot = "".join(str(one) for one in reversed(ones))
        svg.text(LEFT + 4 * WIDTH + 6, y + 17, f"ballot {ballot}: zeros {zeros}, ones {4 - zeros}")
        moved = [0] * 4
        for i, place in enumerate(places):
            moved[place] = keys[i]
            svg.arrow(LEFT + i * WIDTH + WIDTH / 2 - 6, y + 27,
                      LEFT + place * WIDTH + WIDTH / 2 - 6, y + 63, INK if ones[i] else COOL)
        keys, y = moved, y + 64
    svg.text(LEFT - 12, y + 17, "sorted", "end")
    for i, key in enumerate(keys):
        svg.box(LEFT + i * WIDTH, y, WIDTH - 12, 26, f"{key} = {key:04b}")
    svg.text(12, y + 56, "position of a 0 = zeros before it;  "
             "position of a 1 = all zeros + ones before it")
