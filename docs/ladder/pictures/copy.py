"""copy.py - which lane loads which word: one chunk per lane, and adjacent words in adjacent lanes.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

WORD, WORDS, LANES = 20, 32, 4


def strip(svg, x, y, title, lane_of, note):
    """A row of words in sectors of eight; the words of the first load are coloured."""
    svg.text(x, y, title, bold=True)
    for lane in range(LANES):
        svg.box(x + 60 + lane * 150, y + 12, 60, 24, f"lane {lane}", fill=WARM)
        to = next(i for i in range(WORDS) if lane_of(i) == lane)
        svg.arrow(x + 90 + lane * 150, y + 36, x + WORD * (to + 0.5), y + 78, COOL)
    for i in range(WORDS):
        lane = lane_of(i)
        svg.box(x + i * WORD, y + 80, WORD, 22, "" if lane is None else lane,
                fill=PALE if lane is None else WARM, size=10)
    for i in range(0, WORDS + 1, 8):
        svg.line(x + i * WORD, y + 76, x + i * WORD, y + 108, width=2)
    svg.text(x, y + 124, note)


def draw(svg):
    strip(svg, 12, 24, "Rung 3: one chunk per lane (here of 8 words), its first load",
          lambda i: i // 8 if i % 8 == 0 else None,
          "every lane touches a different sector: 32 sectors per warp, one word used of each")
    strip(svg, 12, 180, "Rung 4: adjacent lanes load adjacent words",
          lambda i: i if i < LANES else None,
          "32 lanes touch four sectors, and use all of them")
