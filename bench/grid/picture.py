#!/usr/bin/env python3
"""picture.py - the heat map of the benchmark grid (SVG) and the list of its weak rows (CSV), from the CSV of grid.py.

    bench/grid/picture.py FILE.csv --svg FILE.svg --red FILE.csv [--detail FILE.svg] [--title TEXT] [--check]

The map has a line per operation, and columns of dtypes, n and distributions; --detail writes one with a line per
operation and dtype. Each cell is the smallest ratio of the rows that it covers: the time of the fastest competitor
divided by Echelon's. A row below 1.10 is red, unless Echelon moves the row's bytes at 95 % or more of the speed of a
copy or read in the same run.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import csv
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from design import DISTS, DTYPES, OPS

GOAL, LIMIT = 1.10, 0.95
CELL, ROW, LEFT, TOP, GAP = 19, 15, 122, 180, 22
# from a ratio on: the colour and the text of the legend
SCALE = ((3.0, "#2166ac", "3 or more"), (1.5, "#67a9cf", "1.5 to 3"), (GOAL, "#d1e5f0", "1.10 to 1.5"),
         (0.8, "#fcbba1", "0.8 to 1.10"), (0.4, "#ef6548", "0.4 to 0.8"), (0.0, "#a50f15", "below 0.4"))
AT_LIMIT, WRONG = ("#a6d96a", "below 1.10, at 95 % of the memory's speed"), ("#000000", "a result differs")
SIZES = ((0, "10"), (30, "33"), (100, "100"), (300, "512"), (1000, "10^3"), (4000, "4,096"), (10**4, "10^4"),
         (6 * 10**4, "2^16"), (2 * 10**5, "2^18"), (10**6, "2^20"), (3 * 10**6, "2^22"), (10**7, "10^7"),
         (16 * 10**6, "2^24"), (6 * 10**7, "2^26"), (2 * 10**8, "2^28"), (10**9, "2^30"))


@dataclass
class Result:
    """A row of the grid: the ratio is None without a competitor."""

    id: str
    op: str
    dtype: str
    param: str
    n: int
    dist: str
    ns: float
    best: str = ""
    best_ns: float = 0.0
    limit: float = 0.0
    wrong: str = ""

    @property
    def ratio(self):
        return self.best_ns / self.ns if self.best else None

    @property
    def red(self):
        return self.ratio is not None and self.ratio < GOAL and self.limit < LIMIT


def read(path):
    """The comments of the file, its results, and the number of rows that were skipped."""
    comments, rows, skipped = [], {}, collections.Counter()
    with open(path, encoding="utf-8") as file:
        lines = []
        for line in file:
            (comments if line.startswith("#") else lines).append(line)
    for line in csv.DictReader(lines):
        if not line["ns"]:
            skipped[line["verdict"]] += 1
            continue
        ns = float(line["ns"])
        if line["verdict"] == "echelon":
            rows[line["id"]] = Result(line["id"], line["op"], line["dtype"], line["param"], int(line["n"]),
                                      line["dist"], ns, limit=float(line["limit"] or 0))
            continue
        row = rows[line["id"]]
        if line["verdict"] == "wrong":
            row.wrong = f"{row.wrong} {line['library']}".strip()
        elif not row.best or ns < row.best_ns:
            row.best, row.best_ns = f"{line['library']} {line['version']}", ns
    return [line[1:].strip() for line in comments], list(rows.values()), skipped


def column_of(n):
    return max(i for i, (least, _) in enumerate(SIZES) if n >= least)


def colour(results):
    """The colour and the label of a cell."""
    compared = [row for row in results if row.ratio is not None]
    if not compared:
        return WRONG[0] if any(row.wrong for row in results) else "#f2f2f2", ""
    red = [row for row in compared if row.red]
    worst = min(red or compared, key=lambda row: row.ratio)
    label = f"{worst.ratio:.1f}" if worst.ratio < 10 else f"{worst.ratio:.0f}"
    if worst.ratio < 1 or worst.red:
        label = f"{worst.ratio:.2f}".lstrip("0")
    if worst.ratio < GOAL and not worst.red:
        return AT_LIMIT[0], label
    return next(shade for least, shade, _ in SCALE if worst.ratio >= least), label


def text(x, y, words, extra=""):
    return f'<text x="{x:g}" y="{y:g}"{" " + extra if extra else ""}>{escape(words)}</text>'


def table(rows, keys, columns, key_of, left, top):
    """A table of cells: one line per key, one column per name. key_of(row) is (key, number of the column)."""
    cells = collections.defaultdict(list)
    for row in rows:
        cells[key_of(row)].append(row)
    out = []
    for number, name in enumerate(columns):
        x, y = left + CELL * number + 13, top - 5
        out.append(text(x, y, name, f'transform="rotate(-60 {x:g} {y})"'))
    for line, (key, label) in enumerate(keys):
        y = top + ROW * line
        out.append(text(left - 5, y + 11, label, 'text-anchor="end"'))
        for number in range(len(columns)):
            found = cells.get((key, number))
            if not found:
                continue
            shade, words = colour(found)
            x = left + CELL * number
            worst = sorted(found, key=lambda row: row.ratio if row.ratio is not None else 1e9)[:3]
            tip = "; ".join(f"{row.id}: {row.ratio:.2f} of {row.best}" if row.ratio is not None else
                            f"{row.id}: no competitor" for row in worst)
            out.append(f'<g><title>{escape(tip)}</title><rect x="{x}" y="{y}" width="{CELL - 1}" height="{ROW - 1}" '
                       f'fill="{shade}"/>')
            white = shade in (SCALE[0][1], SCALE[4][1], SCALE[5][1], WRONG[0])
            out.append(text(x + CELL / 2 - 0.5, y + 10, words, f'class="c{" w" if white else ""}"') + "</g>")
    return out


def summary(rows, skipped):
    compared = [row for row in rows if row.ratio is not None]
    red = sum(row.red for row in compared)
    at_limit = sum(row.ratio < GOAL and not row.red for row in compared)
    words = [f"{len(rows)} rows, {len(compared)} with a competitor; {red} below {GOAL:.2f}"]
    words.append(f"{at_limit} below {GOAL:.2f} at {LIMIT:.0%} of the memory's speed")
    wrong = sum(bool(row.wrong) for row in rows)
    words += [f"{wrong} with a result that differs"] if wrong else []
    words += [f"{sum(skipped.values())} not measured"] if skipped else []
    return "; ".join(words)


def draw(comments, rows, skipped, title, detail=False):
    """The SVG file: tables of the same lines, with columns of dtypes (unless detail), n and distributions."""
    def line_of(row):
        return (row.op, row.dtype) if detail else row.op

    present = {line_of(row) for row in rows}
    keys = [((op, dtype), f"{op} {dtype}") for op in OPS for dtype in DTYPES] if detail else [(op, op) for op in OPS]
    keys = [key for key in keys if key[0] in present]
    tables = [] if detail else [(DTYPES, lambda row: DTYPES.index(row.dtype))]
    used = sorted({column_of(row.n) for row in rows})
    tables += [([SIZES[i][1] for i in used], lambda row: used.index(column_of(row.n))),
               (DISTS, lambda row: DISTS.index(row.dist))]
    width = LEFT + sum(CELL * len(names) + GAP for names, _ in tables) + 40
    height = TOP + ROW * len(keys) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="10">',
           "<style>.c{font-size:7.5px;text-anchor:middle;fill:#222}.w{fill:#fff}.n{font-size:9px;fill:#444}</style>",
           '<rect width="100%" height="100%" fill="white"/>', text(10, 20, title, 'font-size="15"'),
           text(10, 36, "time of the fastest competitor / time of Echelon; the smallest ratio in each cell; "
                "red: below 1.10"),
           text(10, 50, summary(rows, skipped))]
    out += [text(10, 63 + 11 * i, line, 'class="n"') for i, line in enumerate(comments[:3])]
    x = 10
    for shade, label in [(shade, label) for _, shade, label in SCALE] + [AT_LIMIT, WRONG, ("#f2f2f2", "no competitor")]:
        out.append(f'<rect x="{x}" y="98" width="11" height="11" fill="{shade}"/>' + text(x + 15, 107, label))
        x += 34 + int(5.8 * len(label))
    x = LEFT
    for names, column in tables:
        labels = keys if x == LEFT else [(key, "") for key, _ in keys]
        out += table(rows, labels, names, lambda row, column=column: (line_of(row), column(row)), x, TOP)
        x += CELL * len(names) + GAP
    return "\n".join(out + ["</svg>"]) + "\n"


def red_list(rows):
    """The red rows as CSV, the smallest ratio first."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("id", "op", "dtype", "param", "n", "dist", "ratio", "ns", "competitor", "competitor_ns", "limit"))
    for row in sorted((row for row in rows if row.red), key=lambda row: (row.ratio, row.id)):
        writer.writerow((row.id, row.op, row.dtype, row.param, row.n, row.dist, f"{row.ratio:.3f}", f"{row.ns:.1f}",
                         row.best, f"{row.best_ns:.1f}", f"{row.limit:.3f}"))
    return file.getvalue()


def differs(path, contents):
    """Whether a file has other contents; prints its name if so."""
    found = not path.exists() or path.read_text() != contents
    if found:
        print(f"{path} is not that of the CSV file")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("csv", type=Path)
    parser.add_argument("--svg", type=Path, required=True)
    parser.add_argument("--red", type=Path, required=True)
    parser.add_argument("--detail", type=Path, help="the file of the larger map")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the files differ")
    parser.add_argument("--title", default="", help="the default names the device")
    arguments = parser.parse_args()
    comments, rows, skipped = read(arguments.csv)
    device = next((line for line in comments if line.startswith("device: ")), "device: unknown")[8:].split(";")[0]
    date = comments[0].split(";")[0] if comments else ""
    title = arguments.title or f"Benchmark grid: {device}, {date}"
    files = {arguments.svg: draw(comments, rows, skipped, title), arguments.red: red_list(rows)}
    if arguments.detail:
        files[arguments.detail] = draw(comments, rows, skipped, title, detail=True)
    if arguments.check:
        return max(differs(path, contents) for path, contents in files.items())
    for path, contents in files.items():
        path.write_text(contents)
    print(summary(rows, skipped))
    for reason, count in skipped.items():
        print(f"not measured: {count}: {reason}")
    for row in rows:
        if row.wrong:
            print(f"differs: {row.id}: {row.wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
