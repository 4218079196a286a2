"""column_merge.py - keys as a matrix with one bank per column, and two runs cut by diagonals.

SPDX-License-Identifier: Apache-2.0
"""
import random

from draw import COOL, GRID, INK, PALE, WARM

CELL = 34
A, B = [1, 3, 4, 8, 9, 12], [2, 5, 6, 7, 10, 11]


def matrix(svg, x, y, rows, title, mark=()):
    svg.text(x, y, title, bold=True)
    for i, row in enumerate(rows):
        svg.row(x, y + 12 + i * 26, row, CELL,
                fills=[WARM if (i, t) in mark else PALE for t in range(len(row))])
    for t in range(len(rows[0])):
        svg.text(x + (t + 0.5) * CELL, y + 12 + len(rows) * 26 + 15, f"bank {t}", "middle", 9)


def path(svg, x, y):
    """The grid of all pairs, the path of the merge, and the diagonals of three threads."""
    svg.text(x, y, "Merge path: the merge of two runs is a path through their grid", bold=True)
    x, y = x + 30, y + 44
    for j, key in enumerate(B):
        svg.box(x + j * CELL, y - 28, CELL, 24, key, COOL)
    for i, key in enumerate(A):
        svg.box(x - 38, y + i * CELL, 30, CELL, key, WARM)
    for k in range(7):
        svg.line(x, y + k * CELL, x + 6 * CELL, y + k * CELL, GRID)
        svg.line(x + k * CELL, y, x + k * CELL, y + 6 * CELL, GRID)
    i = j = 0
    for k in range(12):
        if k % 4 == 0 and k:
            low, high = max(0, k - 6), min(k, 6)
            svg.line(x + low * CELL, y + (k - low) * CELL, x + high * CELL, y + (k - high) * CELL,
                     COOL, 1, "4 3")
            svg.circle(x + j * CELL, y + i * CELL, 5, "", COOL)
        from_a = i < 6 and (j == 6 or A[i] <= B[j])
        svg.line(x + j * CELL, y + i * CELL, x + (j + (not from_a)) * CELL,
                 y + (i + from_a) * CELL, INK, 3)
        i, j = i + from_a, j + (not from_a)
    right = x + 6 * CELL + 16
    svg.text(right, y + 30, "down: the next key comes from the left run")
    svg.text(right, y + 50, "right: the next key comes from the upper run")
    svg.text(right, y + 84, "A thread that begins at key d of the result")
    svg.text(right, y + 104, "finds the path on diagonal d (dashed)")
    svg.text(right, y + 124, "by binary search and continues from there:")
    svg.text(right, y + 144, "three threads, four keys each")


def draw(svg):
    keys = list(range(24))
    random.Random(5).shuffle(keys)
    columns = [sorted(keys[t::6]) for t in range(6)]
    matrix(svg, 12, 24, [keys[i * 6:i * 6 + 6] for i in range(4)], "Input order")
    heads = [[columns[t][i] for t in range(6)] for i in range(4)]
    matrix(svg, 12 + 6 * CELL + 70, 24, heads, "Columns sorted: one thread each",
           mark={(0, t) for t in range(6)})
    svg.text(12 + 12 * CELL + 82, 54, "heads: the minimum is next")
    path(svg, 12, 196)
