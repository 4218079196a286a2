"""gf2_gauss.py - one column of Gaussian elimination over GF(2): find and swap, then add; and a panel.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, PALE, WARM

CELL = 22
ROWS = ["10110100", "01011010", "00010111", "00001101", "00110010", "10101001"]


def bits(svg, x, y, title, rows, fill):
    svg.text(x, y, title, bold=True)
    for i, row in enumerate(rows):
        svg.row(x, y + 12 + i * CELL, list(row), CELL, CELL,
                [fill(i, j) for j in range(len(row))], size=11)


def add(a, b):
    return "".join("01"[p != q] for p, q in zip(a, b))


def draw(svg):
    swapped = list(ROWS)
    swapped[2], swapped[4] = swapped[4], swapped[2]
    added = [add(row, swapped[2]) if i != 2 and row[2] == "1" else row
             for i, row in enumerate(swapped)]
    bits(svg, 12, 24, "Column 2: the first row with a 1", ROWS,
         lambda i, j: WARM if (i, j) == (4, 2) else COOL if j < 2 else PALE)
    bits(svg, 270, 24, "... is swapped into row 2", swapped,
         lambda i, j: WARM if i == 2 else COOL if j < 2 else PALE)
    bits(svg, 500, 24, "... and added to all rows with a 1", added,
         lambda i, j: WARM if i == 2 else GREEN if swapped[i][2] == "1" and j > 1 else
         COOL if j < 2 else PALE)
    y = 210
    svg.text(12, y, "A panel: pivots are found in a few columns first; the other bits are then updated once",
             bold=True)
    svg.box(12, y + 14, 90, 120, "done", COOL)
    svg.box(102, y + 14, 60, 30, "pivots", WARM)
    svg.box(102, y + 44, 60, 90, "panel", PALE)
    svg.box(162, y + 14, 260, 30, "pivot rows, unchanged", WARM)
    svg.box(162, y + 44, 260, 90, "each row adds the pivot rows it needs", GREEN)
