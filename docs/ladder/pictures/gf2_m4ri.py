"""gf2_m4ri.py - the table of linear combinations of three pivot rows in Gray code, and its use.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, PALE, WARM

CELL = 22
PIVOTS = ["100101", "010011", "001110"]
ROWS = ["101001", "011010", "110111", "000110"]


def add(a, b):
    return "".join("01"[p != q] for p, q in zip(a, b))


def bits(svg, x, y, row, fills=None):
    svg.row(x, y, list(row), CELL, CELL, fills or [PALE] * len(row), size=11)


def draw(svg):
    svg.text(12, 24, "k = 3 pivot rows", bold=True)
    for q, row in enumerate(PIVOTS):
        bits(svg, 12, 36 + q * CELL, row, [WARM] * 3 + [PALE] * 3)
        svg.text(152, 52 + q * CELL, f"p{q}")
    svg.text(240, 24, "Their linear combinations, each by one addition to the previous one", bold=True)
    table, total = {0: "000000"}, "000000"
    for i in range(8):
        gray, before = i ^ i >> 1, (i - 1) ^ (i - 1) >> 1
        y = 36 + i * (CELL + 4)
        if i:
            row = (gray ^ before).bit_length() - 1
            total = add(total, PIVOTS[row])
            svg.text(310, y + 15, f"+ p{row}", size=11)
        table[gray] = total
        svg.text(240, y + 15, format(gray, "03b")[::-1], size=12)
        bits(svg, 350, y, total, [GREEN if i < 4 else COOL] * 6)
    svg.text(490, 52, "stored in shared memory", size=11)
    svg.text(490, 52 + 4 * (CELL + 4), "these plus p2: not stored", size=11)
    svg.text(12, 140, "Each row: k bits select an entry", bold=True)
    for i, row in enumerate(ROWS):
        which = sum(int(bit) << q for q, bit in enumerate(row[:3]))
        y = 152 + i * 2 * (CELL + 2)
        bits(svg, 12, y, row, [WARM] * 3 + [PALE] * 3)
        bits(svg, 12, y + CELL, add(row, table[which]), [PALE] * 3 + [GREEN] * 3)
        svg.text(152, y + 16, f"entry {row[:3]}", size=10)
