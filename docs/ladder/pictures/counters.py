"""counters.py - the sectors and the banks that one request of a warp accesses in some of the rungs.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

WORD, BANK = 17, 20


def sectors(svg, y, title, words, note):
    """40 words of global memory in sectors of eight; the words that the request accesses are coloured."""
    svg.text(12, y, title, bold=True)
    for i in range(40):
        svg.box(12 + i * WORD, y + 8, WORD, 18, "", WARM if i in words else PALE)
    for i in range(0, 41, 8):
        svg.line(12 + i * WORD, y + 4, 12 + i * WORD, y + 32, width=2)
    svg.text(12 + 40 * WORD + 8, y + 22, note, size=11)


def counts(svg, x, y, banks, words, title):
    """The number of different words of each bank."""
    wanted = [len({word for word in words if word % banks == bank}) for bank in range(banks)]
    for bank, number in enumerate(wanted):
        fill = WARM if number > 1 else COOL if number else PALE
        svg.box(x + bank * BANK, y, BANK, BANK, number or "", fill, size=10)
    svg.text(x, y + 34, f"{title}: {max(wanted)} wavefront{'s' if max(wanted) > 1 else ''}", size=11)


def shared(svg, y, title, word_of):
    svg.text(12, y, title, bold=True)
    counts(svg, 12, y + 8, 32, [word_of(lane) for lane in range(32)], "a warp, 32 banks")
    counts(svg, 12 + 33 * BANK, y + 8, 16, [word_of(lane) for lane in range(16)], "lanes 0 to 15, 16 banks")


def draw(svg):
    sectors(svg, 20, "Rung 1: words 0 to 31", range(32), "4 sectors")
    sectors(svg, 70, "Rung 3: words 1 to 32", range(1, 33), "5 sectors")
    sectors(svg, 120, "Rung 2: words 0, 8, 16, ... 248", range(0, 40, 8), "32 sectors, 5 of them shown")
    shared(svg, 190, "Rung 4: position l", lambda lane: lane)
    shared(svg, 260, "Rung 5: position 2 l", lambda lane: 2 * lane)
    shared(svg, 330, "Rung 6: positions 0 to 15 and 32 to 47", lambda lane: lane + (lane & 16))
