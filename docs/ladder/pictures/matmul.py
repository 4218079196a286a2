"""matmul.py - a tile of 16 x 16 words in 16 banks: a column of it, without and with padding.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

CELL, ROWS, COLUMN = 20, 16, 3


def tile(svg, x, y, title, line, note):
    """Rows of `line` words; each box shows its bank, and one column is coloured."""
    svg.text(x, y, title, bold=True)
    for row in range(ROWS):
        fills = [WARM if k == COLUMN else PALE for k in range(16)] + ["#fff"] * (line - 16)
        svg.row(x, y + 12 + row * CELL, [(row * line + k) % 16 for k in range(line)], CELL, CELL,
                fills, size=9)
        svg.text(x + line * CELL + 6, y + 26 + row * CELL, f"row {row}: lane {row}", size=9)
    bottom = y + 12 + ROWS * CELL
    banks = {(row * line + COLUMN) % 16 for row in range(ROWS)}
    for bank in range(16):
        wanted = bank in banks
        svg.box(x + bank * CELL, bottom + 22, CELL, CELL, bank, COOL if wanted else PALE, size=9)
    svg.text(x, bottom + 16, f"banks of the column: {len(banks)}", size=10)
    svg.text(x, bottom + 60, note, size=11)


def draw(svg):
    tile(svg, 12, 24, "16 words per row", 16, "one bank delivers 16 words: 16 wavefronts")
    tile(svg, 470, 24, "17 words per row, one unused", 17, "each bank delivers one word: one wavefront")
