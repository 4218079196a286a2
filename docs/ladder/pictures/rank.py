"""rank.py - five keys, the rank of each, and where it goes; the swap in shared memory.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, INK, PALE, WARM

KEYS = [1, 5, 2, 4, 2]
WIDTH, LEFT = 44, 130


def before(i, t):
    """Whether key i comes before key t; equal keys keep their order."""
    return KEYS[i] < KEYS[t] or (KEYS[i] == KEYS[t] and i < t)


def swap(svg, y, ranks):
    """Rungs 3 and 4: the phases of the swap, with a line per barrier."""
    n = len(KEYS)
    svg.text(12, y, "Rungs 3 and 4: the result overwrites x, which is in shared memory", bold=True)
    phases = [("count in x", KEYS, PALE), ("own = x[t]", KEYS, COOL),
              ("x[rank] = own", sorted(KEYS), WARM)]
    y += 18
    for i, (text, values, fill) in enumerate(phases):
        svg.text(LEFT - 10, y + 17, text, "end")
        svg.row(LEFT, y, values, WIDTH, fills=[fill] * n)
        if i == 1:
            svg.text(LEFT + n * WIDTH + 14, y + 17, "rung 4 takes its key before it counts")
        if i == len(phases) - 1:
            continue
        svg.line(12, y + 34, LEFT + n * WIDTH, y + 34, INK, 2, "6 3")
        svg.text(LEFT + n * WIDTH + 14, y + 38, ["barrier: all threads have counted (rung 3)",
                                                 "barrier: x may be overwritten"][i])
        y += 42
    for t in range(n):
        svg.text(LEFT + (t + 0.5) * WIDTH, y + 42, ranks[t], "middle", 11)
    svg.text(LEFT - 10, y + 42, "rank of thread t", "end", 11)


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
    swap(svg, y + 170, ranks)
