#!/usr/bin/env python3
"""chart.py - draws charts of the benchmark results (CSV) as SVG.

    bench/chart.py docs/performance/h200.svg             writes the chart of that name
    bench/chart.py --check docs/performance/h200.svg     fails if the chart does not match the CSV

h200: throughput of operations compared with CUB and Thrust.  Each bar is one row of
bench/results/h200_*_OP.csv, selected by ROWS, in GB/s of the bytes that must be read and written.  The
dashed line is the throughput of a device copy.
gf2: time versus size of products and eliminations over GF(2), on a GPU and on one CPU core, and of M4RI.
sort: Gkeys/s versus n for uniform keys, compared with CUB.
family: speedup of sorts and related operations over their fastest competitor.  Each dot is one case of
bench/results/h200_*_OP.csv, selected by FAMILY.
scale: time versus number of GPUs (scale_chart.py).

SPDX-License-Identifier: Apache-2.0
"""
import math
import pathlib
import re
import statistics
import sys
import textwrap
from xml.sax.saxutils import escape

import scale_chart
from table import CASE, RESULTS, is_ours, read

# label, operation of the file, and the column values that select the row
ROWS = (
    ("sum f32, 2^28", "reduce", {"op": "sum", "dtype": "f32", "n": 2**28, "shape": "whole"}),
    ("sum u8, 2^30", "reduce", {"op": "sum", "dtype": "u8", "n": 2**30, "shape": "whole"}),
    ("minmax f32, 2^28", "reduce", {"op": "minmax", "dtype": "f32", "n": 2**28, "shape": "whole"}),
    ("sum f32, rows of 1000", "reduce", {"op": "sum", "dtype": "f32", "shape": "rows of 1000"}),
    ("scan i32, 2^28", "scan", {"op": "scan_sum", "dtype": "i32", "n": 2**28, "shape": "inclusive"}),
    ("scan f32, 2^28", "scan", {"op": "scan_sum", "dtype": "f32", "n": 2**28, "shape": "inclusive"}),
    ("scan f64, 2^28", "scan", {"op": "scan_sum", "dtype": "f64", "n": 2**28, "shape": "inclusive"}),
    ("scan f32, rows of 32", "scan", {"op": "scan_sum", "dtype": "f32", "shape": "rows=32"}),
    ("histogram u8, uniform", "histogram",
     {"op": "bincount", "dtype": "u8", "n": 2**30, "shape": "bins=256", "dist": "uniform"}),
    ("histogram u8, constant", "histogram",
     {"op": "bincount", "dtype": "u8", "n": 2**30, "shape": "bins=256", "dist": "constant"}),
    ("histogram u32, 2048 bins", "histogram",
     {"op": "bincount", "dtype": "u32", "n": 2**28, "shape": "bins=2048", "dist": "uniform"}),
    ("histogram u32, 65536 bins", "histogram",
     {"op": "bincount", "dtype": "u32", "n": 2**28, "shape": "bins=65536", "dist": "uniform"}),
    ("select u32, half selected", "select",
     {"op": "select_if", "dtype": "u32", "n": 2**28, "shape": "kept=50%"}),
    ("unique u32, 16 values", "select",
     {"op": "unique", "dtype": "u32", "n": 2**28, "dist": "few16"}),
    ("run-length encoding u32", "select",
     {"op": "encode_runs", "dtype": "u32", "n": 2**28, "dist": "runs10"}),
    ("reverse u32, 2^28", "arrange",
     {"op": "reverse", "dtype": "u32", "n": 2**28, "shape": "apart", "dist": "any"}),
)
LEFT, WIDTH, BAR, ROW, TOP, MOST = 190, 520, 9, 26, 58, 5000
ECHELON, OTHER, LOSS = "#2a6fbb", "#9aa3ad", "#c0503a"


def start(width, height):
    """The first lines of a chart.  Its background is opaque, so it is legible on pages with a dark background."""
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            "<style>.n{font-size:9px;fill:#444}</style>",
            '<rect width="100%" height="100%" fill="white"/>']


def caption(texts, width):
    """The lines of a caption: the run's machine, versions and date, wrapped to the width of the chart."""
    parts = [part for text in texts for part in text.split("; ")]
    parts = [re.sub(r"^(CUDA|driver interface) (\d+)0(\d)0$", r"\1 \2.\3", part) for part in parts]
    parts = [re.sub(r"^CUB (\d)0*(\d+)0(\d)$", r"CUB \1.\2.\3", part) for part in parts]
    return textwrap.wrap("; ".join(dict.fromkeys(parts)), int(width / 5.2))


def draw_caption(lines, top):
    return [f'<text x="10" y="{top + 13 * i}" class="n">{escape(line)}</text>' for i, line in enumerate(lines)]


def find(rows, wanted):
    """The rates of the row: Echelon's, the competitor's name and its rate."""
    echelon = other = name = None
    for row in rows:
        if any(str(value) != row[key] for key, value in wanted.items()):
            continue
        if row["contender"] == "echelon":
            echelon = float(row["gb_per_s"])
        else:
            name, other = row["contender"], float(row["gb_per_s"])
    return echelon, name, other


def bar(y, rate, color):
    x = rate / MOST * WIDTH
    return (f'<rect x="{LEFT}" y="{y}" width="{x:.1f}" height="{BAR}" fill="{color}"/>'
            f'<text x="{LEFT + x + 4:.1f}" y="{y + BAR - 1}" class="n">{rate:.0f}</text>')


def rows_chart(title, legend, lines, rows, about):
    """A chart with one labelled row per operation.  legend: (text, colour, x); lines: (x, text) of vertical
    lines; rows: (label, marks at y)."""
    width = LEFT + WIDTH + 60
    bottom = TOP + ROW * len(rows)
    about = caption(about, width)
    out = start(width, bottom + 20 + 13 * len(about))
    out.append(f'<text x="10" y="20" font-size="15">{escape(title)}</text>')
    out += [f'<rect x="{LEFT + x}" y="32" width="10" height="10" fill="{color}"/>'
            f'<text x="{LEFT + x + 15}" y="41">{escape(text)}</text>' for text, color, x in legend]
    for x, text in lines:
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="#999" '
                   f'stroke-dasharray="3 3"/><text x="{x - 2.5 * len(text):.1f}" y="{TOP - 9}" class="n">'
                   f"{escape(text)}</text>")
    for i, (label, marks) in enumerate(rows):
        y = TOP + ROW * i
        out.append(f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(label)}</text>')
        out += marks(y)
    out += draw_caption(about, bottom + 18)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def draw():
    tables = {}
    for path in sorted(RESULTS.glob("h200_*_*.csv")):
        tables[path.stem.split("_")[-1]] = read(path)
    found = [(label, *find(tables[op][1], wanted)) for label, op, wanted in ROWS if op in tables]
    # Each operation has a program of its own, which the caption leaves out.
    about = [re.sub(r", gpu_\w+", "", text) for op in dict.fromkeys(row[1] for row in ROWS) if op in tables
             for text in tables[op][0]]

    def bars(echelon, other):
        return lambda y: [bar(y, echelon, ECHELON)] + ([] if other is None else [bar(y + BAR + 1, other, OTHER)])

    rows = [(label, bars(echelon, other)) for label, echelon, _, other in found if echelon is not None]
    return rows_chart("Echelon compared with CUB and Thrust on an NVIDIA H200, GB/s",
                      (("Echelon", ECHELON, 0), ("CUB, Thrust", OTHER, 90)),
                      [(LEFT + 4220 / MOST * WIDTH, "device copy")], rows, about)


FAMILY = (  # label, operation of the file, the values of its column op
    ("sort, keys", "sort", ("keys",)),
    ("sort, pairs", "sort", ("pairs",)),
    ("argsort", "sort", ("argsort",)),
    ("sort of rows", "sort_segments", ("keys", "pairs", "argsort")),
    ("argsort by columns", "columns", ("argsort-columns",)),
    ("sort of records", "records", ("sort-records",)),
    ("argsort of strings", "strings", ("argsort-strings",)),
    ("is sorted", "is_sorted", ("is_sorted",)),
    ("merge", "merge", ("merge", "merge_pairs")),
    ("merge of many runs", "merge_many", ("merge-many", "merge-many-pairs")),
    ("search", "search", ("search",)),
    ("set operations", "set", ("union", "intersection", "difference", "symmetric")),
    ("distinct elements, mode", "unique", ("unique-all", "unique-counts", "unique-appear", "mode")),
    ("top-k", "topk", ("topk", "topk-unsorted")),
    ("element of a rank", "quantile", ("nth-median", "nth-position")),
    ("partition", "quantile", ("partition-at",)),
)


def speedups(rows, ops):
    """The speedup over the fastest competitor of each case with the algorithm that the library chooses."""
    cases = {}
    for row in rows:
        if row["op"] in ops and (row["op"] != "argsort-strings" or row["shape"] == "default"):
            case = tuple(row.get(name) for name in CASE)
            cases.setdefault(case, {})[row["contender"]] = float(row["ms"])
    return sorted(min(ms for name, ms in case.items() if not is_ours(name)) / case["echelon"]
                  for case in cases.values() if "echelon" in case and any(not is_ours(name) for name in case))


def draw_family():
    across = lambda speedup: LEFT + WIDTH * (math.log2(speedup) + 2) / 11  # 1/4 to 512
    rows, versions, dates = [], [], []
    for label, op, ops in FAMILY:
        path = sorted(path for path in RESULTS.glob(f"h200_*_{op}.csv") if path.stem.split("_", 2)[2] == op)[-1]
        about, table = read(path)
        found = speedups(table, ops)
        dates.append(path.stem.split("_")[1])
        versions += [part for text in about for part in text.split("; ") if re.match("device|driver|CUDA|CUB", part)]

        def dots(y, found=found):
            middle = statistics.median(found)
            return ([f'<circle cx="{across(x):.1f}" cy="{y + 9}" r="3" fill="{ECHELON if x >= 1 else LOSS}" '
                     'fill-opacity="0.45"/>' for x in found]
                    + [f'<path d="M{across(middle):.1f} {y + 2}v14" stroke="#222" stroke-width="2"/>'
                       f'<text x="{LEFT + WIDTH + 8}" y="{y + 13}" class="n">{middle:.2f}</text>'])

        rows.append((label, dots))
    lines = [(across(2.0**power), f"{2**power}" if power >= 0 else f"1/{2**-power}") for power in range(-2, 10)]
    about = [f"sorts and related operations, {min(dates)} to {max(dates)}",
             "one dot per case: type, n, shape and distribution; the line and the number are the median of the cases",
             "fastest competitor: CUB, Thrust, torch or CuPy, in the same file; the axis is logarithmic",
             *dict.fromkeys(versions)]
    return rows_chart("Speedup over the fastest competitor on an NVIDIA H200",
                      (("Echelon is faster", ECHELON, 0), ("Echelon is slower", LOSS, 140)), lines, rows, about)


SERIES = (  # name, file, prefix of the contender, colour
    ("M4RI, one core", "cpu_amd_zen4_gf2_1t.csv", "M4RI", "#c0803a"),
    ("Echelon, one core", "cpu_amd_zen4_gf2_1t.csv", "Echelon", "#6a9fd8"),
    ("Echelon, H200", "h200_*_gf2.csv", "echelon", "#2a6fbb"),
)


def points(pattern, contender, op):
    """n and milliseconds of square matrices; of full rank, for eliminations."""
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
    """Both axes are logarithmic: n from 2^10 to 2^17, 10 us to 10 s."""
    top, width, height = 84, 330, 260
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
    about = [part for _, pattern, _, _ in SERIES[1:]
             for text in read(sorted(RESULTS.glob(pattern))[-1])[0] for part in text.split("; ")]
    about = caption([part for part in about
                     if re.match("machine|versions|date|library|2|device|driver|CUDA", part)], 860)
    out = start(860, 394 + 13 * len(about))
    out.append('<text x="10" y="20" font-size="15">Time versus n</text>')
    for i, (name, _, _, color) in enumerate(SERIES):
        out.append(f'<rect x="{70 + 160 * i}" y="34" width="10" height="10" fill="{color}"/>'
                   f'<text x="{86 + 160 * i}" y="43">{escape(name)}</text>')
    out += panel(70, "product of two n x n matrices over GF(2)", "mul")
    out += panel(500, "reduced echelon form, n x n, full rank", "rref")
    out += draw_caption(about, 388)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def sort_panel(left, title, rows, wanted):
    """Both axes are logarithmic: n from 2^9 to 2^30, 0.05 to 100 Gkeys/s."""
    top, width, height = 84, 230, 260
    across = lambda n: left + width * (math.log2(n) - 9) / 21
    up = lambda rate: top + height * (1 - math.log(rate / 0.05) / math.log(100 / 0.05))
    out = [f'<text x="{left + width / 2}" y="{top - 12}" text-anchor="middle">{escape(title)}</text>']
    for rate in (0.1, 1, 10, 100):
        out.append(f'<path d="M{left} {up(rate):.1f}h{width}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{up(rate) + 4:.1f}" text-anchor="end">{rate}</text>')
    for power in range(10, 31, 4):
        out.append(f'<text x="{across(2**power):.1f}" y="{top + height + 18}" '
                   f'text-anchor="middle">2^{power}</text>')
    for contender, color in (("cub", "#c0803a"), ("echelon", ECHELON)):
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
    about = caption([re.sub(r"; torch [^;]*; CuPy [^;]*", "", text.replace(", sort_python.py", ""))
                     for text in about], 880)
    out = start(880, 394 + 13 * len(about))
    out.append('<text x="10" y="20" font-size="15">Sort: Gkeys/s versus n, uniform keys, NVIDIA H200</text>')
    for i, (name, color) in enumerate((("Echelon", ECHELON), ("CUB", "#c0803a"))):
        out.append(f'<rect x="{50 + 100 * i}" y="34" width="10" height="10" fill="{color}"/>'
                   f'<text x="{66 + 100 * i}" y="43">{name}</text>')
    for left, title, wanted in (
            (50, "keys, u32", {"op": "keys", "dtype": "u32"}),
            (340, "keys, u64", {"op": "keys", "dtype": "u64"}),
            (630, "pairs, u32 keys and 4-byte values", {"op": "pairs", "dtype": "u32", "value_bytes": "4"})):
        out += sort_panel(left, title, rows, wanted)
    out += draw_caption(about, 388)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def draw_scale():
    return scale_chart.draw(start, caption, draw_caption)


CHARTS = {"h200": draw, "gf2": draw_gf2, "sort": draw_sort, "family": draw_family, "scale": draw_scale}


def main():
    paths = [pathlib.Path(word) for word in sys.argv[1:] if word != "--check"]
    for path in paths:
        text = CHARTS[path.stem]()
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} does not match bench/results: run bench/chart.py {path}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
