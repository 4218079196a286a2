#!/usr/bin/env python3
"""chart.py - draws the operations' rates beside CUB's as an SVG, from the benchmarks' CSV.

    bench/chart.py docs/performance/h200.svg             writes it
    bench/chart.py --check docs/performance/h200.svg     fails when it is not that of the CSV

Each bar is GB/s of bytes that must be read and written, of one row of bench/results/h200_*_OP.csv; ROWS
says which.  The line is what a device copy reaches.

SPDX-License-Identifier: Apache-2.0
"""
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


def main():
    paths = [pathlib.Path(word) for word in sys.argv[1:] if word != "--check"]
    text = draw()
    for path in paths:
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path}: not that of bench/results; run bench/chart.py {path}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
