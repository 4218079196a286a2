"""histogram64.py - the banks that threads access, in four orders of counters.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, GRID, WARM

# Values that eight of the threads count; the threads are 0 to 7 and 16 to 23.
THREADS = list(range(8)) + list(range(16, 24))
VALUES = [5, 5, 20, 3, 9, 40, 41, 62, 33, 7, 18, 5, 50, 26, 11, 2]


def banks(svg, x, y, title, place, banks_there, note):
    svg.text(x, y, title, bold=True)
    words = {}
    for thread, value in zip(THREADS, VALUES):
        words.setdefault(place(thread, value) // 4 % banks_there, []).append((thread, value))
    y += 8
    most = 1
    for bank in range(banks_there):
        left = x + 25 * bank
        svg.box(left, y, 23, 16, bank, size=9)
        for k, (thread, _) in enumerate(words.get(bank, [])):
            svg.box(left, y + 18 + 16 * k, 23, 15, thread, WARM if k else COOL, size=9)
            most = max(most, k + 1)
    svg.text(x, y + 34 + 16 * most, note, size=11)
    return y + 34 + 16 * most + 30


def draw(svg):
    svg.text(12, 24, "The bank that each of the threads 0 to 7 and 16 to 23 accesses, for 16 values", size=12)
    y = 52
    y = banks(svg, 12, y, "64 thread + value, 32 banks", lambda t, v: 64 * t + v, 32,
              "the bank depends on the value: if all values are equal, 16 threads access each of two banks")
    y = banks(svg, 12, y, "64 value + thread, 32 banks", lambda t, v: 64 * v + t, 32,
              "four neighbouring threads access one bank (of two, selected by the value's parity)")
    y = banks(svg, 12, y, "permuted for 16 banks, on 32", lambda t, v: 64 * v + t % 16 * 4 + t // 16,
              32, "threads t and t + 16 collide if their values have the same parity")
    banks(svg, 12, y, "permuted for 32 banks",
          lambda t, v: (v // 2 * 32 + t % 32) * 4 + v % 2 * 2 + t // 32, 32,
          "bank t belongs to thread t, whatever the values are")
    svg.line(12, 34, 12 + 25 * 32 - 2, 34, GRID)
    svg.box(500, 12, 14, 14, "", COOL)
    svg.text(520, 24, "served at once", size=11)
    svg.box(630, 12, 14, 14, "", WARM)
    svg.text(650, 24, "waits if its word is different", size=11)
