"""gf2_gauss.py - Gaussian elimination over GF(2): one column, the grid that shrinks with the matrix, and a
panel of four columns.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GREEN, GRID, PALE, WARM

CELL = 22
ROWS = ["10110100", "01011010", "00010111", "00001101", "00110010", "00101001"]


def bits(svg, x, y, title, rows, fill):
    svg.text(x, y, title, bold=True)
    for i, row in enumerate(rows):
        svg.row(x, y + 12 + i * CELL, list(row), CELL, CELL,
                [fill(i, j) for j in range(len(row))], size=11)


def add(a, b):
    return "".join("01"[p != q] for p, q in zip(a, b))


def column(svg, y):
    swapped = list(ROWS)
    swapped[2], swapped[4] = swapped[4], swapped[2]
    added = [add(row, swapped[2]) if i > 2 and row[2] == "1" else row
             for i, row in enumerate(swapped)]
    bits(svg, 12, y, "Column 2: the first row with a 1", ROWS,
         lambda i, j: WARM if (i, j) == (4, 2) else COOL if j < 2 else PALE)
    bits(svg, 270, y, "... is swapped into row 2", swapped,
         lambda i, j: WARM if i == 2 else COOL if j < 2 else PALE)
    bits(svg, 500, y, "... and added to the rows below with a 1", added,
         lambda i, j: WARM if i == 2 else GREEN if i > 2 and swapped[i][2] == "1" and j > 1 else
         COOL if j < 2 else PALE)


def grids(svg, y):
    """A matrix of 8 x 8 squares of 32 rows and 32 columns, n = 256; a block has 256 threads."""
    side = 15
    svg.text(12, y, "The grid: blocks for the rows below the pivot and the words that remain, n = 256", bold=True)
    for k, finished in enumerate((0, 3, 6)):
        x = 12 + 255 * k
        for i in range(8):
            for j in range(8):
                rest = i >= finished and j >= finished
                svg.box(x + j * side, y + 14 + i * side, side, side, fill=GREEN if rest else PALE)
        words, rows = 8 - finished, 256 - 32 * finished
        lanes = 1
        while lanes < words:
            lanes *= 2
        blocks = -(-rows * lanes // 256)
        for line, text in enumerate((f"column {32 * finished}", f"{rows} rows, {words} words",
                                     f"{lanes} threads per row",
                                     f"{blocks} block" + "s" * (blocks > 1))):
            svg.text(x + 8 * side + 10, y + 32 + 18 * line, text, size=11)


def panel(svg, y):
    svg.text(12, y, "A panel: pivots are found in its columns first; the other columns are then updated once", bold=True)
    svg.box(12, y + 14, 90, 120, "done", COOL)
    svg.box(102, y + 14, 60, 30, "pivots", WARM)
    svg.box(102, y + 44, 60, 90, "panel", PALE)
    svg.box(162, y + 14, 260, 30, "pivot rows, unchanged", WARM)
    svg.box(162, y + 44, 260, 90, "each row adds the pivot rows it needs", GREEN)


def draw(svg):
    column(svg, 24)
    svg.line(12, 186, 690, 186, GRID)
    grids(svg, 214)
    svg.line(12, 366, 690, 366, GRID)
    panel(svg, 394)
