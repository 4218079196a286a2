"""gf2_m4ri.py - the table of linear combinations of three pivot rows in Gray code, its use, and the pivots
that a warp finds in a few rows.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, GRID, PALE, WARM

CELL = 22
PIVOTS = ["100101", "010011", "001110"]
ROWS = ["101001", "011010", "110111", "000110"]
LANES = ["000", "000", "110", "011", "110", "101", "001"]  # the k bits of each lane's row


def add(a, b):
    return "".join("01"[p != q] for p, q in zip(a, b))


def bits(svg, x, y, row, fills=None):
    svg.row(x, y, list(row), CELL, CELL, fills or [PALE] * len(row), size=11)


def table(svg):
    svg.text(12, 24, "k = 3 pivot rows", bold=True)
    for q, row in enumerate(PIVOTS):
        bits(svg, 12, 36 + q * CELL, row, [WARM] * 3 + [PALE] * 3)
        svg.text(152, 52 + q * CELL, f"p{q}")

    svg.text(240, 24, "Their linear combinations, each by one addition to the previous one", bold=True)
    entries, total = {0: "000000"}, "000000"
    for i in range(8):
        gray, before = i ^ i >> 1, (i - 1) ^ (i - 1) >> 1
        y = 36 + i * (CELL + 4)
        if i:
            row = (gray ^ before).bit_length() - 1
            total = add(total, PIVOTS[row])
            svg.text(310, y + 15, f"+ p{row}", size=11)
        entries[gray] = total
        svg.text(240, y + 15, format(gray, "03b")[::-1], size=12)
        bits(svg, 350, y, total, [GREEN if i < 4 else COOL] * 6)
    svg.text(490, 52, "stored in shared memory", size=11)
    svg.text(490, 52 + 4 * (CELL + 4), "these plus p2: not stored", size=11)

    svg.text(12, 140, "Each row: k bits select an entry", bold=True)
    for i, row in enumerate(ROWS):
        which = sum(int(bit) << q for q, bit in enumerate(row[:3]))
        y = 152 + i * 2 * (CELL + 2)
        bits(svg, 12, y, row, [WARM] * 3 + [PALE] * 3)
        bits(svg, 12, y + CELL, add(row, entries[which]), [PALE] * 3 + [GREEN] * 3)
        svg.text(152, y + 16, f"entry {row[:3]}", size=10)


def step(rows, p, c):
    """One column in a warp: the first row from p on with bit c is swapped to p and added to the others."""
    ones = [lane for lane in range(p, len(rows)) if rows[lane][c] == "1"]
    rows[p], rows[ones[0]] = rows[ones[0]], rows[p]
    return [add(row, rows[p]) if lane != p and row[c] == "1" else row for lane, row in enumerate(rows)], ones[0]


def surplus(svg, y):
    svg.text(12, y, "A panel of k + m = 3 + 4 rows in a warp: lane l holds k bits of row l", bold=True)
    rows, found = list(LANES), None
    for c in range(-1, 3):
        x = 12 + (c + 1) * 190
        if c >= 0:
            rows, found = step(rows, c, c)
            svg.text(x, y + 26, f"column {c}: ballot, lane {found}", size=11)
        else:
            svg.text(x, y + 26, "loaded", size=11)
        for lane, row in enumerate(rows):
            svg.text(x, y + 48 + lane * CELL, f"lane {lane}", size=10)
            bits(svg, x + 48, y + 34 + lane * CELL, row, [WARM if lane <= c else PALE] * 3)


def draw(svg):
    table(svg)
    svg.line(12, 360, 760, 360, GRID)
    surplus(svg, 390)
