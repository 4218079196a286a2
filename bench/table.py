#!/usr/bin/env python3
"""table.py - generates the tables of measurements in Markdown files from the CSV files of the benchmarks.

    bench/table.py docs/performance/*.md               rewrites the text between markers
    bench/table.py --check docs/performance/*.md       fails if a table differs from the CSV file

Markers in a file specify the places of its tables and their contents:

    <!-- bench:begin FILE.csv ... [brief] [times] [across=COLUMN] [COLUMN=VALUE,...] ... -->
    <!-- bench:end -->

FILE.csv is in bench/results; without a name, all files are used.  brief: only the largest n of each kind
of case, with random data.  times: time per call, even if the CSV file has rates.  COLUMN=VALUE,...: only rows with one of these values;
the table has the column if there are several.  across=COLUMN: a column for each value of COLUMN, with Echelon's time or
rate and, in brackets, the speedup over the best competitor.  A CSV file begins with
"# text" lines that state machine, versions, date and command, or has columns of these names.  A row is the
time of one contender in one case.  In the table every case is a row and every contender a column: 10^9
keys per second, GB/s if the CSV file has gb_per_s, or times if it has runs_per_s; short times are added in
microseconds.  The last column is the speedup of Echelon over its best competitor, even if it is below 1.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import markers  # noqa: E402 - the folder of this script is first in the search path

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
MARKERS = re.compile(r"(<!-- bench:begin(?P<what>[^>]*)-->\n).*?(<!-- bench:end -->)", re.S)
CASE = ("op", "case", "dtype", "n", "value_bytes", "shape", "dist", "threads")
ABOUT = ("machine", "device", "versions", "date", "command")
LABELS = {  # names in older CSV files, and those of today
    "lean": "low_memory", "russians": "m4r", "roof": "ceiling",
    "encode_runs": "rle_encode", "decode_runs": "rle_decode",
    "batch solve in order": "batch ordered solve",
}


def read(path):
    """The "#" lines, and the rows as dictionaries."""
    lines = path.read_text().splitlines()
    about = [line.lstrip("# ").strip() for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(line for line in lines if line and not line.startswith("#")))
    for name in ABOUT:
        values = list(dict.fromkeys(row[name] for row in rows if row.get(name)))
        if values and not (name == "command" and len(values) > 1):
            about.append(f"{name}: {', '.join(values)}")
    return about, rows


def count(n):
    n = int(n)
    for power in range(10, 64):
        if n == 1 << power:
            return f"2^{power}"
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if n >= unit and n % (unit // 10) == 0:
            return f"{n / unit:g} {name}"
    return str(n)


def brief(cases):
    """The largest n of each kind of case, with random data."""
    best = {}
    for case in cases:
        c = dict(zip(CASE, case))
        if c["dist"] not in ("", "random", "uniform", "unit", "power", "few16", "runs10",
                             "reduced"):
            continue
        kind = (c["op"], c["case"], c["dtype"], c["value_bytes"], c["shape"], c["threads"])
        if kind not in best or int(c["n"]) > int(dict(zip(CASE, best[kind]))["n"]):
            best[kind] = case
    return list(best.values())


def is_ours(contender):
    return contender.lower().startswith("echelon")


def cell(speed, row, unit):
    """A speed, or a time.  GB/s are rounded to integers; short calls add their time."""
    if unit == "gkeys_per_s":
        return f"{speed:.3g}"
    ms = float(row["ms"])
    if unit in ("runs_per_s", "ms"):
        return f"{ms:.3g} ms" if ms >= 1 else f"{1000 * ms:.3g} us"
    return f"{speed:.0f}" + (f" ({1000 * ms:.3g} us)" if ms < 0.2 else "")


def table(path, short, times, wanted, across):
    about, rows = read(path)
    rows = [row for row in rows if all(row[name] in values for name, values in wanted.items())]
    unit = "ms" if times else next((unit for unit in ("gb_per_s", "runs_per_s") if any(row.get(unit) for row in rows)),
                "gkeys_per_s")
    contenders = list(dict.fromkeys(row["contender"] for row in rows))
    contenders.sort(key=lambda name: not is_ours(name))
    cells = {}
    for row in rows:
        cells.setdefault(tuple(row.get(name) or "" for name in CASE), {})[row["contender"]] = row
    cases = brief(cells) if short else list(cells)
    shown = [i for i, name in enumerate(CASE) if any(case[i] for case in cases) and len(wanted.get(name, "..")) > 1]
    titles = {"value_bytes": "values", "case": "case"}
    if unit == "gkeys_per_s":
        titles.update({"dist": "keys", "op": "sort of"})
    head = [titles.get(CASE[i], CASE[i]) for i in shown] + [LABELS.get(name, name) for name in contenders]
    head.append("speedup over the best")
    rows_of = {}  # a case without the column across: the cells of that row
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join("---" if i < len(shown) else "---:" for i in range(len(head))) + "|"]
    for case in cases:
        wrong = {name for name, row in cells[case].items() if row.get("result") == "wrong"
                 or row.get("verified") in ("0", "no", "false")}
        speeds = {name: 1 / float(row[unit]) if times else float(row[unit])
                  for name, row in cells[case].items() if row.get(unit) and name not in wrong}
        ours = [s for name, s in speeds.items() if is_ours(name)]
        others = [s for name, s in speeds.items() if not is_ours(name)]
        words = [count(case[i]) if CASE[i] == "n" and case[i] else
                 f"{case[i]} B" if CASE[i] == "value_bytes" and case[i] not in ("", "0") else
                 "-" if CASE[i] == "value_bytes" else LABELS.get(case[i], case[i]) for i in shown]
        words += [cell(speeds[name], cells[case][name], unit) if name in speeds else
                  "wrong" if name in wrong else "" for name in contenders]
        ratio = f"{max(ours) / max(others):.2f}" if ours and others else ""
        lines.append("| " + " | ".join([*words, ratio]) + " |")
        at = CASE.index(across) if across else 0
        if across and ours:
            row = rows_of.setdefault(tuple(word for i, word in zip(shown, words) if i != at), {})
            best = max((s, name) for name, s in speeds.items() if is_ours(name))[1]
            row[case[at]] = cell(speeds[best], cells[case][best], unit) + (f" ({ratio})" if ratio else "")
    if across:
        lines = across_lines([titles.get(CASE[i], CASE[i]) for i in shown if CASE[i] != across], rows_of, across)
    what = {"gkeys_per_s": "10^9 keys per second", "gb_per_s": "GB/s (and microseconds of short calls)",
            "runs_per_s": "Time per run", "ms": "Time per call"}[unit]
    return "\n".join([f"{what}; {markers.about('; '.join(about))}.", ""] + lines)


def across_lines(head, rows_of, across):
    """A line per row of rows_of, a column per value of the column across."""
    values = list(dict.fromkeys(value for row in rows_of.values() for value in row))
    names = [count(value) if across == "n" else LABELS.get(value, value) for value in values]
    lines = ["| " + " | ".join(head + names) + " |", "|" + "---|" * len(head) + "---:|" * len(values)]
    return lines + ["| " + " | ".join([*case, *(row.get(value, "") for value in values)]) + " |"
                    for case, row in rows_of.items()]


def rewrite(text):
    def section(match):
        words = match["what"].split()
        wanted = {name: values.split(",") for name, _, values in (word.partition("=") for word in words) if values}
        across = wanted.pop("across", [""])[0]
        names = [word for word in words if word not in ("brief", "times") and "=" not in word]
        paths = [RESULTS / name for name in names] or sorted(RESULTS.glob("*.csv"))
        tables = [table(path, "brief" in words, "times" in words, wanted, across) for path in paths if path.exists()]
        body = "\n\n".join(tables) if tables else "No measurements yet; run `make bench`."
        return f"{match[1]}\n{body}\n\n{match[3]}"

    return MARKERS.sub(section, text)


if __name__ == "__main__":
    sys.exit(markers.main("table.py", rewrite))
