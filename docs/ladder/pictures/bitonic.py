"""bitonic.py - the comparisons of a bitonic sort of eight keys, and of five keys.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GRID, INK, WARM

KEYS = [6, 3, 8, 1, 7, 2, 5, 4]
STEP, LINE = 20, 26


def network(svg, x, y, n, title):
    svg.text(x, y, title, bold=True)
    y += 22
    values, at, columns = KEYS[:n], x + 34, []
    for half in (1, 2, 4):
        merge = [(half, 2 * half - 1)]
        near = half // 2
        while near:
            merge.append((near, near))
            near //= 2
        columns.append(merge)
    start = at
    for half_of, merge in zip((2, 4, 8), columns):
        left = at
        for half, flip in merge:
            for i in range(8):
                if i & half:
                    continue
                j = i ^ flip
                real = j < n
                svg.line(at, y + LINE * i, at, y + LINE * j, COOL if real else GRID, 2,
                         "" if real else "3 3")
                for end in (i, j):
                    svg.circle(at, y + LINE * end, 3, fill=COOL if real else GRID)
                if real and values[i] > values[j]:
                    values[i], values[j] = values[j], values[i]
                at += STEP if half > 1 or flip > 1 else 0
            at += STEP
        svg.text((left + at) / 2 - 8, y + LINE * 7 + 26, f"merge to {half_of}", "middle", 11)
        at += STEP
    for i in range(8):
        there = i < n
        svg.line(start - 14, y + LINE * i, at - 14, y + LINE * i, INK if there else GRID, 1,
                 "" if there else "3 3")
        svg.text(x + 2, y + LINE * i + 4, KEYS[i] if there else "-", fill=INK if there else GRID)
        svg.text(at, y + LINE * i + 4, values[i] if there else "-", fill=WARM if there else GRID,
                 bold=True)
    return y + LINE * 8 + 24


def draw(svg):
    y = network(svg, 12, 24, 8, "Eight keys: 6 steps; the smaller key always goes up")
    network(svg, 12, y + 16, 5, "Five keys: the missing ones never move")
