"""banks.py - the banks that the lanes of a warp access: words 1, 2 and 32 apart, padded, bytes, a broadcast,
and six lanes in one bank.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, INK, PALE, WARM

CELL, BANKS = 22, 32


def line(svg, y, title, bank_of, note):
    """The banks with the number of distinct words accessed in each, and lines from the first eight lanes."""
    svg.text(12, y, title, bold=True)
    wanted = [set() for _ in range(BANKS)]
    for lane in range(32):
        wanted[bank_of(lane) % BANKS].add(bank_of(lane))
    for lane in range(8):
        x = 12 + (lane + 0.5) * CELL
        svg.box(12 + lane * CELL, y + 8, CELL, 18, lane, "#fff", size=9)
        svg.line(x, y + 26, 12 + (bank_of(lane) % BANKS + 0.5) * CELL, y + 58, COOL)
    svg.text(12 + 8 * CELL + 6, y + 21, "lanes 0 to 7 of 32", size=10)
    for bank, words in enumerate(wanted):
        fill = WARM if len(words) > 1 else COOL if words else PALE
        svg.box(12 + bank * CELL, y + 58, CELL, CELL, len(words) or "", fill, size=10)
    svg.text(12 + BANKS * CELL + 8, y + 73, note, size=11, fill=INK)


def draw(svg):
    svg.text(12, 20, "32 banks: the number of distinct words that a warp accesses in each")
    line(svg, 48, "Words 1 apart", lambda lane: lane, "1 wavefront")
    line(svg, 156, "Words 2 apart", lambda lane: 2 * lane, "2 wavefronts")
    line(svg, 264, "Words 32 apart", lambda lane: 32 * lane, "32 wavefronts")
    line(svg, 372, "Words 33 apart", lambda lane: 33 * lane, "1 wavefront")
    line(svg, 480, "Bytes: four lanes share a word", lambda lane: lane // 4, "1 wavefront")
    line(svg, 588, "A broadcast: all lanes read word 7", lambda lane: 7, "1 wavefront")
    line(svg, 696, "Six lanes in bank 0", lambda lane: 32 * lane if lane < 6 else lane, "6 wavefronts")
