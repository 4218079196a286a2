"""bitonic.py - the comparisons of a bitonic sort of eight keys, of five keys, and in alternating
directions.

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


def alternating(svg, x, y):
    """The lecture's network: an arrow points to the larger key."""
    svg.text(x, y, "Alternating directions: an arrow points to the larger key", bold=True)
    y += 22
    values, at = list(KEYS), x + 34
    first = at
    for merged in (2, 4, 8):
        near, left = merged // 2, at
        while near:
            for i in range(8):
                if i & near:
                    continue
                j = i ^ near
                up = bool(i & merged)
                ends = (j, i) if up else (i, j)
                svg.arrow(at, y + LINE * ends[0], at, y + LINE * ends[1], WARM if up else COOL, 2)
                if (values[i] > values[j]) != up:
                    values[i], values[j] = values[j], values[i]
                at += STEP if near > 1 else 0
            near //= 2
            at += STEP
        svg.text((left + at) / 2 - 8, y + LINE * 7 + 26, f"B{merged} ... B2", "middle", 11)
        at += STEP
    for i in range(8):
        svg.line(first - 14, y + LINE * i, at - 14, y + LINE * i, INK, 1)
        svg.text(x + 2, y + LINE * i + 4, KEYS[i])
        svg.text(at, y + LINE * i + 4, values[i], fill=WARM, bold=True)
    return y + LINE * 8 + 24


def draw(svg):
    y = network(svg, 12, 24, 8, "Eight keys: 6 steps; the smaller key always goes up")
    y = network(svg, 12, y + 16, 5, "Five keys: the missing ones never move")
    alternating(svg, 12, y + 16)
