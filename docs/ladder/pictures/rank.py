"""rank.py - five keys, the rank of each, and where it goes.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, INK, PALE, WARM

KEYS = [1, 5, 2, 4, 2]
WIDTH, LEFT = 44, 130


def before(i, t):
    """Whether key i comes before key t; equal keys keep their order."""
    return KEYS[i] < KEYS[t] or (KEYS[i] == KEYS[t] and i < t)


def draw(svg):
    n = len(KEYS)
    ranks = [sum(before(i, t) for i in range(n)) for t in range(n)]
    svg.text(12, 24, "Thread t counts the keys that come before its own", bold=True)
    svg.text(LEFT - 10, 57, "A", "end")
    svg.row(LEFT, 40, KEYS, WIDTH)
    for t in range(n):
        y = 84 + 30 * t
        svg.text(LEFT - 10, y + 17, f"thread {t}: {KEYS[t]}", "end")
        for i in range(n):
            counted = before(i, t)
            fill = WARM if counted else "#fff" if i != t else COOL
            svg.box(LEFT + i * WIDTH, y, WIDTH, 24, KEYS[i], fill)
        svg.text(LEFT + n * WIDTH + 14, y + 17, f"rank {ranks[t]}")
    y = 84 + 30 * n + 20
    svg.text(LEFT - 10, y + 17, "A", "end")
    svg.row(LEFT, y, KEYS, WIDTH)
    svg.text(LEFT - 10, y + 97, "B", "end")
    out = [0] * n
    for t in range(n):
        out[ranks[t]] = KEYS[t]
        svg.arrow(LEFT + (t + 0.5) * WIDTH, y + 26, LEFT + (ranks[t] + 0.5) * WIDTH, y + 79, INK)
    svg.row(LEFT, y + 80, out, WIDTH, fills=[PALE] * n)
    svg.text(LEFT + n * WIDTH + 14, y + 57, "B[rank] = A[t]")
    svg.text(12, y + 134, "The earlier of the two 2s comes first, so each key has a different position")
