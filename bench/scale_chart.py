"""scale_chart.py - draws time versus number of GPUs, as a chart of chart.py.

The points are those of the files of MACHINES in bench/results, which scale.sh writes: MACHINE_*_dist*.csv.

SPDX-License-Identifier: Apache-2.0
"""
import math
from xml.sax.saxutils import escape

from table import RESULTS, read

COLORS = ("#2a6fbb", "#c0803a", "#4a9a5a", "#8a5ab0", "#c0503a", "#6a737c")
TOP, WIDTH, HEIGHT = 130, 230, 280
SIZE = 2**30
MACHINES = ("h200x8",)
# title, name and points of each line: (file, time, values of columns)
PANELS = (
    ("sorts, 2^30 elements per GPU", (
        ("u32", "dist", "ms", {"op": "sort", "dtype": "u32", "data": "random"}),
        ("u64", "dist", "ms", {"op": "sort", "dtype": "u64", "data": "random"}),
        ("u32, 4-byte values", "dist", "ms", {"op": "sort_pairs", "data": "random"}),
        ("u32, NCCL", "dist_nccl", "ms", {"op": "sort", "dtype": "u32"}),
        ("u32, skewed", "dist", "ms", {"op": "sort", "dtype": "u32", "data": "skewed"}),
        ("u32, ascending", "dist", "ms", {"op": "sort", "dtype": "u32", "data": "sorted"}))),
    ("other operations, 2^30 u32 per GPU", (
        ("sum", "dist", "ms", {"op": "sum", "data": "random"}),
        ("prefix sum", "dist", "ms", {"op": "scan", "data": "random"}),
        ("largest 100", "dist", "ms", {"op": "topk", "data": "random"}),
        ("histogram", "dist", "ms", {"op": "histogram", "data": "random"}),
        ("quantiles", "dist", "ms", {"op": "quantiles", "data": "random"}),
        ("unique", "dist", "ms", {"op": "unique", "data": "random"}))),
    ("the same work on more GPUs", (
        ("sort of 2^32 u32 in host memory", "dist_host", "ms", {"op": "sort"}),
        ("GF(2) echelon form, 2^18 rows", "dist_gf2", "ms", {"call": "ech_dist_gf2_echelon", "rows": str(2**18)}),
        ("GF(2) rank, 2^18 rows", "dist_gf2", "ms", {"call": "ech_dist_gf2_rank", "rows": str(2**18)}),
        ("CG iteration per 10^8 unknowns", "dist_solve", "ms_per_iteration", {"call": "ech_dist_solve"}))),
)


def points(tables, file, time, wanted, size=SIZE):
    """(ranks, milliseconds), ascending; of arrays with this many elements per rank."""
    found = {}
    for row in tables.get(file, ()):
        if any(row[key] != value for key, value in wanted.items()):
            continue
        ranks, ms = int(row["ranks"]), float(row[time])
        if "elements" in row and file != "dist_host" and int(row["elements"]) != ranks * size:
            continue
        found[ranks] = ms * 1e8 / int(row["unknowns"]) if "unknowns" in row else ms
    return sorted(found.items())


def time_name(ms):
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms"


def panel(left, title, lines):
    """Both axes are logarithmic."""
    times = [ms for _, line in lines for _, ms in line]
    low, high = math.floor(math.log10(min(times)) * 2) / 2, math.ceil(math.log10(max(times)) * 2) / 2
    most = max(ranks for _, line in lines for ranks, _ in line)
    across = lambda ranks: left + WIDTH * math.log2(ranks) / math.log2(max(most, 2))
    up = lambda ms: TOP + HEIGHT * (high - math.log10(ms)) / (high - low)
    out = [f'<text x="{left + WIDTH / 2}" y="44" text-anchor="middle">{escape(title)}</text>']
    for tick in (base * 10.0**power for power in range(-2, 7) for base in (1, 2, 5)):
        if 10**low <= tick <= 10**high:
            out.append(f'<path d="M{left} {up(tick):.1f}h{WIDTH}" stroke="#ddd"/>'
                       f'<text x="{left - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{time_name(tick)}</text>')
    for ranks in (power for power in (1, 2, 4, 8) if power <= most):
        out.append(f'<text x="{across(ranks):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{ranks}</text>')
    for i, (name, line) in enumerate(lines):
        color, x, y = COLORS[i], left + i % 2 * 140, 58 + i // 2 * 16
        if max(len(name) for name, _ in lines) > 20:
            x, y = left, 58 + i * 16
        out.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{color}"/>'
                   f'<text x="{x + 15}" y="{y + 9}">{escape(name)}</text>')
        path = "L".join(f"{across(ranks):.1f} {up(ms):.1f}" for ranks, ms in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{across(ranks):.1f}" cy="{up(ms):.1f}" r="2.5" fill="{color}"/>' for ranks, ms in line]
    return out


def load(machines):
    """The rows of each kind of file of some machines, and their descriptions."""
    tables, about = {}, []
    for path in (path for machine in machines for path in sorted(RESULTS.glob(f"{machine}_*_dist*.csv"))):
        heading, rows = read(path)
        about += heading
        tables.setdefault(path.stem.split("_", 2)[2], []).extend(rows)
    return tables, about


def draw(start, caption, draw_caption):
    """The chart.  The functions are those of chart.py."""
    tables, about = load(MACHINES)
    width = 3 * (WIDTH + 70) + 10
    about = caption(about + ["both axes are logarithmic"], width)
    out = start(width, TOP + HEIGHT + 44 + 13 * len(about))
    out.append('<text x="10" y="20" font-size="15">Time versus number of GPUs</text>')
    for i, (title, lines) in enumerate(PANELS):
        found = [(name, points(tables, file, time, wanted)) for name, file, time, wanted in lines]
        found = [(name, line) for name, line in found if line]
        if found:
            out += panel(66 + i * (WIDTH + 70), title, found)
    out += draw_caption(about, TOP + HEIGHT + 42)
    out.append("</svg>")
    return "\n".join(out) + "\n"
