#!/usr/bin/env python3
"""chart.py - draws figures of the benchmarks' CSV as SVG.

    bench/chart.py docs/performance/h200.svg             writes the chart of that name
    bench/chart.py --check docs/performance/h200.svg     fails when it is not that of the CSV

h200: the operations' rates beside CUB's.  Each bar is GB/s of bytes that must be read and written, of one
row of bench/results/h200_*_OP.csv; ROWS says which.  The line is what a device copy reaches.
gf2: times of products and eliminations over GF(2) by size, on a GPU, on a core, and M4RI's.
sort: uniform keys sorted in a second by how many there are, beside CUB's.

SPDX-License-Identifier: Apache-2.0
"""
import math
import pathlib
import sys
from xml.sax.saxutils import escape

from table import RESULTS, read

# label, file's operation, and the columns by which its row is found
ROWS = (
    ("sum f32, 2^28", "reduce", {"op": "sum", "dtype": "f32", "n": 2**28, "shape": "whole"}),
    ("sum u8, 2^30", "reduce", {"op": "sum", "dtype": "u8", "n": 2**30, "shape": "whole"}),
    ("minmax f32, 2^28", "reduce", {"op": "minmax", "dtype": "f32", "n": 2**28, "shape": "whole"}),
    ("sum f32, rows of 1000", "reduce", {"op": "sum", "dtype": "f32", "shape": "rows of 1000"}),
    ("scan i32, 2^28", "scan", {"op": "scan_sum", "dtype": "i32", "n": 2**28, "shape": "inclusive"}),
    ("scan f32, 2^28", "scan", {"op": "scan_sum", "dtype": "f32", "n": 2**28, "shape": "inclusive"}),
    ("scan f64, 2^28", "scan", {"op": "scan_sum", "dtype": "f64", "n": 2**28, "shape": "inclusive"}),
    ("scan f32, rows of 32", "scan", {"op": "scan_sum", "dtype": "f32", "shape": "rows=32"}),
    ("bytes counted, uniform", "histogram",
     {"op": "bincount", "dtype": "u8", "n": 2**30, "shape": "bins=256", "dist": "uniform"}),
    ("bytes counted, all equal", "histogram",
     {"op": "bincount", "dtype": "u8", "n": 2**30, "shape": "bins=256", "dist": "constant"}),
    ("2048 bins, u32 uniform", "histogram",
     {"op": "bincount", "dtype": "u32", "n": 2**28, "shape": "bins=2048", "dist": "uniform"}),
    ("65536 bins, u32 uniform", "histogram",
     {"op": "bincount", "dtype": "u32", "n": 2**28, "shape": "bins=65536", "dist": "uniform"}),
    ("select u32, half kept", "select",
     {"op": "select_if", "dtype": "u32", "n": 2**28, "shape": "kept=50%"}),
    ("unique u32, 16 values", "select",
     {"op": "unique", "dtype": "u32", "n": 2**28, "dist": "few16"}),
    ("runs of 10 encoded, u32", "select",
     {"op": "encode_runs", "dtype": "u32", "n": 2**28, "dist": "runs10"}),
    ("reverse u32, 2^28", "arrange",
     {"op": "reverse", "dtype": "u32", "n": 2**28, "shape": "apart", "dist": "any"}),
)
LEFT, WIDTH, BAR, ROW, TOP, MOST = 190, 520, 9, 26, 58, 5000
OURS, OTHER = "#2a6fbb", "#c9ccd1"


def find(rows, wanted):
    """The rates of the row: ours, the other's name and rate."""
    ours = other = name = None
    for row in rows:
        if any(str(value) != row[key] for key, value in wanted.items()):
            continue
        if row["contender"] == "echelon":
            ours = float(row["gb_per_s"])
        else:
            name, other = row["contender"], float(row["gb_per_s"])
    return ours, name, other


def bar(y, rate, color):
    x = rate / MOST * WIDTH
    return (f'<rect x="{LEFT}" y="{y}" width="{x:.1f}" height="{BAR}" fill="{color}"/>'
            f'<text x="{LEFT + x + 4:.1f}" y="{y + BAR - 1}" class="n">{rate:.0f}</text>')


def draw():
    tables = {}
    for path in sorted(RESULTS.glob("h200_*_*.csv")):
        tables[path.stem.split("_")[-1]] = read(path)
    found = [(label, *find(tables[op][1], wanted)) for label, op, wanted in ROWS if op in tables]
    found = [row for row in found if row[1] is not None]
    about = next(iter(tables.values()))[0]
    height = TOP + ROW * len(found) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{height}" '
           f'font-family="sans-serif" font-size="12">',
           "<style>.n{font-size:9px;fill:#444}</style>",
           f'<rect width="100%" height="100%" fill="white"/>',
           '<text x="10" y="20" font-size="15">Echelon beside CUB and Thrust on an NVIDIA H200, GB/s'
           "</text>",
           f'<rect x="{LEFT}" y="32" width="10" height="10" fill="{OURS}"/>'
           f'<text x="{LEFT + 15}" y="41">Echelon</text>',
           f'<rect x="{LEFT + 90}" y="32" width="10" height="10" fill="{OTHER}"/>'
           f'<text x="{LEFT + 105}" y="41">CUB, Thrust</text>']
    roof = LEFT + 4220 / MOST * WIDTH
    bottom = TOP + ROW * len(found)
    out.append(f'<line x1="{roof:.1f}" x2="{roof:.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="#999" '
               f'stroke-dasharray="3 3"/><text x="{roof - 30:.1f}" y="{TOP - 9}" class="n">'
               "device copy</text>")
    for i, (label, ours, _, other) in enumerate(found):
        y = TOP + ROW * i
        out.append(f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(label)}</text>')
        out.append(bar(y, ours, OURS))
        if other is not None:
            out.append(bar(y + BAR + 1, other, OTHER))
    out.append(f'<text x="10" y="{height - 12}" class="n">{escape("; ".join(about)[:150])}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


SERIES = (  # name, file, contender's first letters, colour
    ("M4RI, one core", "cpu_amd_zen4_gf2_1t.csv", "M4RI", "#c0803a"),
    ("Echelon, one core", "cpu_amd_zen4_gf2_1t.csv", "Echelon", "#6a9fd8"),
    ("Echelon, H200", "h200_*_gf2.csv", "echelon", "#2a6fbb"),
)


def points(pattern, contender, op):
    """n and milliseconds of square matrices, of full rank where that matters."""
    _, rows = read(sorted(RESULTS.glob(pattern))[-1])
    found = {}
    for row in rows:
        if not row["contender"].startswith(contender):
            continue
        if row["op"] == op and row.get("case") in ("full", "-") and "x" in row["shape"]:
            n, m = row["shape"].split("x")
            if n == m:
                found[int(n)] = float(row["ms"])
        wanted = ("gf2_mul", "square") if op == "mul" else ("gf2_echelon", "full")
        if (row["op"], row["shape"]) == wanted and row["dist"] in ("random", "reduced"):
            found[int(row["n"])] = float(row["ms"])
    return sorted(found.items())


def panel(left, title, op):
    """Both scales are logarithmic: n from 2^10 to 2^17, 10 us to 10 s."""
    top, width, height = 60, 330, 260
    across = lambda n: left + width * (math.log2(n) - 10) / 7
    up = lambda ms: top + height * (1 - (math.log10(ms) + 2) / 6)
    out = [f'<text x="{left + width / 2}" y="{top - 12}" text-anchor="middle">{escape(title)}</text>']
    for power, name in zip(range(-2, 5), ("10 us", "0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s")):
        y = up(10.0**power)
        out.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{name}</text>')
    for power in range(10, 18):
        x = across(2**power)
        out.append(f'<text x="{x:.1f}" y="{top + height + 18}" text-anchor="middle">2^{power}</text>')
    for name, pattern, contender, color in SERIES:
        line = [(across(n), up(ms)) for n, ms in points(pattern, contender, op)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in line]
    return out


def draw_gf2():
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="860" height="380" font-family="sans-serif" '
           'font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for i, (name, _, _, color) in enumerate(SERIES):
        out.append(f'<rect x="{70 + 160 * i}" y="12" width="10" height="10" fill="{color}"/>'
                   f'<text x="{86 + 160 * i}" y="21">{escape(name)}</text>')
    out += panel(70, "product of n x n bits", "mul")
    out += panel(500, "reduced echelon form, full rank", "rref")
    out.append("</svg>")
    return "\n".join(out) + "\n"


def sort_panel(left, title, rows, wanted):
    """Both scales are logarithmic: n from 2^9 to 2^30, 0.05 to 100 10^9 keys a second."""
    top, width, height = 60, 230, 260
    across = lambda n: left + width * (math.log2(n) - 9) / 21
    up = lambda rate: top + height * (1 - math.log(rate / 0.05) / math.log(100 / 0.05))
    out = [f'<text x="{left + width / 2}" y="{top - 12}" text-anchor="middle">{escape(title)}</text>']
    for rate in (0.1, 1, 10, 100):
        out.append(f'<path d="M{left} {up(rate):.1f}h{width}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{up(rate) + 4:.1f}" text-anchor="end">{rate}</text>')
    for power in range(10, 31, 4):
        out.append(f'<text x="{across(2**power):.1f}" y="{top + height + 18}" '
                   f'text-anchor="middle">2^{power}</text>')
    for contender, color in (("cub", "#c0803a"), ("echelon", OURS)):
        line = sorted((int(row["n"]), float(row["gkeys_per_s"])) for row in rows
                      if row["contender"] == contender and row["dist"] == "uniform"
                      and all(row[key] == value for key, value in wanted.items()))
        places = [(across(n), up(rate)) for n, rate in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in places]
    return out


def draw_sort():
    about, rows = read(sorted(RESULTS.glob("h200_*_sort.csv"))[-1])
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="880" height="390" font-family="sans-serif" '
           'font-size="12">', "<style>.n{font-size:9px;fill:#444}</style>",
           '<rect width="100%" height="100%" fill="white"/>']
    for i, (name, color) in enumerate((("Echelon", OURS), ("CUB", "#c0803a"))):
        out.append(f'<rect x="{50 + 100 * i}" y="12" width="10" height="10" fill="{color}"/>'
                   f'<text x="{66 + 100 * i}" y="21">{name}</text>')
    out.append('<text x="260" y="21">10^9 sorted in a second, by n</text>')
    for left, title, wanted in (
            (50, "keys, u32", {"op": "keys", "dtype": "u32"}),
            (340, "keys, u64", {"op": "keys", "dtype": "u64"}),
            (630, "pairs, u32 and 4 bytes", {"op": "pairs", "dtype": "u32", "value_bytes": "4"})):
        out += sort_panel(left, title, rows, wanted)
    out.append(f'<text x="10" y="378" class="n">{escape("; ".join(about)[:170])}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


CHARTS = {"h200": draw, "gf2": draw_gf2, "sort": draw_sort}


def main():
    paths = [pathlib.Path(word) for word in sys.argv[1:] if word != "--check"]
    for path in paths:
        text = CHARTS[path.stem]()
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path}: not that of bench/results; run bench/chart.py {path}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
