"""course.py - the ladders in levels: an arrow leads from a ladder to those that need it.

SPDX-License-Identifier: Apache-2.0
"""
from draw import COOL, PALE, WARM

WIDTH, HEIGHT, ACROSS, DOWN = 108, 28, 128, 74

# The ladders of each level, and those that each of them needs.
LEVELS = (
    {"copy": ()},
    {"counters": ("copy",), "rank": ("copy",), "warp": ("copy",), "reduce": ("copy",), "banks": ("copy",)},
    {"bitonic": ("rank",), "column_merge": ("warp", "reduce", "banks"), "scan": ("reduce", "banks"),
     "matmul": ("banks",), "constant": ("banks",), "gf2_gauss": ("banks",), "histogram64": ("banks",)},
    {"radix": ("scan", "warp"), "iterate": ("matmul", "reduce"), "gf2_m4ri": ("gf2_gauss",),
     "histogram256": ("histogram64",)},
    {"msd": ("radix", "histogram256")},
)
FILL = {"copy": WARM, "counters": WARM}


def draw(svg):
    most = max(len(level) for level in LEVELS)
    place = {}
    for row, level in enumerate(LEVELS):
        first = 12 + (most - len(level)) * ACROSS / 2
        for i, name in enumerate(level):
            place[name] = (first + i * ACROSS, 12 + row * DOWN)
    for level in LEVELS:
        for name, needs in level.items():
            for other in needs:
                svg.arrow(place[other][0] + WIDTH / 2, place[other][1] + HEIGHT, place[name][0] + WIDTH / 2,
                          place[name][1] - 2, COOL)
    for name, (x, y) in place.items():
        svg.box(x, y, WIDTH, HEIGHT, name, FILL.get(name, PALE))
