"""iterate.py - the elements of A that a warp loads at a time: one thread per row, one warp per row, and
rows without zeros.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

CELL, N, WIDTH = 18, 16, 4


def entry(row, column):
    return abs(row - column) in (0, 1, WIDTH)


def matrix(svg, x, y, title, loaded, notes):
    """A of 16 x 16; the elements of one load are coloured, and nonzeros have a sign."""
    svg.text(x, y, title, bold=True)
    for row in range(N):
        for column in range(N):
            text = ("5" if row == column else "-1") if entry(row, column) else ""
            svg.box(x + column * CELL, y + 12 + row * CELL, CELL, CELL, text,
                    WARM if loaded(row, column) else PALE, size=8)
    for i, note in enumerate(notes):
        svg.text(x, y + 30 + N * CELL + 16 * i, note, size=11)


def draw(svg):
    matrix(svg, 12, 24, "1: one thread per row", lambda row, column: column == 5,
           ["each lane loads from its own row:", "as many sectors as lanes"])
    matrix(svg, 330, 24, "2: one warp per row", lambda row, column: row == 5,
           ["adjacent elements: few sectors,", "mostly zeros"])
    svg.text(648, 24, "3: rows without zeros", bold=True)
    for row in range(N):
        columns = [column for column in range(N) if entry(row, column)]
        svg.row(648, 36 + row * CELL, columns, CELL, CELL,
                [COOL if column == row else PALE for column in columns], size=8)
    svg.text(648, 54 + N * CELL, "the column of each entry", size=11)
