#!/usr/bin/env python3
"""ladder_table.py - generates the tables of the ladder pages from the output of "echelon ladder --csv".

    bench/ladder_table.py docs/ladder/*.md          rewrites the text between markers
    bench/ladder_table.py --check docs/ladder/*.md  fails if a table differs from the CSV file

Markers in a page:

    <!-- ladder:begin NAME times -->    times on a GPU: bench/results/ladder_gpu.csv
    <!-- ladder:begin NAME counts -->   counters of the SIMT emulator: bench/results/ladder_simt.csv
    <!-- ladder:begin NAME claims -->   the claims about the rungs and whether they hold, from both files
    <!-- ladder:begin all claims -->    the claims of all ladders
    <!-- ladder:begin all published -->    the figures of the sources (bench/results/ladder_published.csv), and here
    <!-- ladder:end -->

SPDX-License-Identifier: Apache-2.0
"""
import csv
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import markers  # noqa: E402 - the folder of this script is first in the search path

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
FILES = {"times": "ladder_gpu.csv", "counts": "ladder_simt.csv"}
MATRICES = ("matmul", "iterate", "gf2_gauss", "gf2_m4ri")  # n is the order of a matrix
MARKERS = re.compile(r"(<!-- ladder:begin (?P<name>\w+) (?P<what>\w+) -->\n).*?(<!-- ladder:end -->)",
                     re.S)


def read(what, name):
    """The "#" lines of the CSV file, the rows of a ladder, and its claims."""
    path = RESULTS / FILES[what]
    if not path.exists():
        return [], [], []
    lines = path.read_text().splitlines()
    about = [line.lstrip("# ") for line in lines if line.startswith("#")]
    lines = [line for line in lines if line[:1] != "#"]
    rows = [row for row in csv.DictReader(lines) if name in ("all", row["ladder"])]
    return (about, [row for row in rows if row["idea"] != "claim"],
            [row for row in rows if row["idea"] == "claim"])


def size(n):
    n = int(n)
    power = n.bit_length() - 1
    return f"2^{power}" if power >= 10 and n == 1 << power else f"{n:,}"


def duration(ms):
    return f"{ms:.4g} ms" if ms >= 1 else f"{1000 * ms:.3g} us"


def rate(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def table(head, rows, numbers):
    rule = "|".join("---:" if i >= numbers else "---" for i in range(len(head)))
    return ["| " + " | ".join(head) + " |", f"|{rule}|"] + ["| " + " | ".join(row) + " |"
                                                           for row in rows]


def times(name):
    about, rows, _ = read("times", name)
    if not rows:
        return ["Not measured yet; run `echelon ladder all --csv` on a GPU."]
    arithmetic = any(float(row["operations"]) for row in rows)
    limited = any(float(row["ceiling_percent"]) for row in rows)
    counted = name not in MATRICES
    out = []
    for row in rows:
        seconds = float(row["ms"]) * 1e-3
        cells = [row["rung"], row["text"], size(row["n"])]
        if row["result"] != "right":
            out.append(cells + ["wrong"] + [""] * (counted + 2 * limited + 1))
            continue
        cells.append(duration(1000 * seconds))
        if counted:
            cells.append(rate(int(row["n"]) / seconds * 1e-9))
        if limited:
            work = float(row["operations" if arithmetic else "bytes"])
            cells += [rate(work / seconds * 1e-9), f"{float(row['ceiling_percent']):.3g} %"]
        out.append(cells + [f"{float(row['speed_up']):.2f}"])
    head = (["rung", "idea", "n", "time"] + ["10^9 per second"] * counted +
            ["GFLOP/s" if arithmetic else "GB/s", "of the ceiling"] * limited + ["speedup"])
    return [f"{rows[0]['type']}; {markers.about('; '.join(about))}.", ""] + table(head, out, 2)


def counts(name):
    _, rows, _ = read("counts", name)
    if not rows:
        return ["Not counted yet; run `echelon ladder all --csv --device simt`."]
    out = []
    for row in rows:
        branches = int(row["branches"])
        out.append([row["rung"], row["text"], size(row["n"]), row["launches"],
                    f"{float(row['sectors_per_request']):.2f}", f"{int(row['bank_conflicts']):,}",
                    f"{int(row['bank16_conflicts']):,}",
                    f"{100 * int(row['divergent']) / branches if branches else 0:.1f} %",
                    f"{int(row['barriers']):,}", f"{int(row['warp_operations']):,}", row["faults"]])
    head = ["rung", "idea", "n", "launches", "sectors per request", "bank conflicts",
            "with 16 banks", "divergent branches", "barriers", "warp operations", "races"]
    return [f"`echelon ladder {name} --device simt`, {rows[0]['type']}.", ""] + table(head, out, 2)


def claims(name):
    out = []
    for what, where in (("counts", "emulator"), ("times", "GPU")):
        for row in read(what, name)[2]:
            first = [row["ladder"]] if name == "all" else []
            out.append(first + [row["text"], where, "yes" if row["result"] == "so" else "no",
                                row["because"]])
    if not out:
        return ["Not evaluated yet."]
    if name == "all":
        order = {ladder: i for i, ladder in enumerate(dict.fromkeys(row[0] for row in out))}
        out.sort(key=lambda row: order[row[0]])
    head = (["ladder"] if name == "all" else []) + ["claim", "device", "holds", "evidence"]
    return table(head, out, len(head))


def ours(figure):
    """The time of a rung or the evidence of a claim for a published figure, and its n."""
    name, idea, words = figure["ladder"], figure["idea"], figure["claim"]
    if words:
        found = {row["because"] for what in FILES for row in read(what, name)[2]
                 if words in row["text"]}
    elif idea:
        rows = [row for row in read("times", name)[1]
                if (row["idea"], row["parameter"]) == (idea, figure["parameter"]) and row["result"] == "right"]
        n = figure["n"] or str(max((int(row["n"]) for row in rows), default=0))
        found = {(f"{duration(float(row['ms']))}, rung {row['rung']}", size(n)) for row in rows if row["n"] == n}
    else:
        return "not measured", ""
    if len(found) != 1:
        sys.exit(f"ladder_published.csv: {figure['document']}, {figure['figure']}: {len(found)} results of {name} "
                 f"match {words or idea}; correct the row")
    found = found.pop()
    return (found, "") if words else found


def published(_):
    lines = (RESULTS / "ladder_published.csv").read_text().splitlines()
    out = []
    for figure in csv.DictReader(line for line in lines if line[:1] != "#"):
        result, n = ours(figure)
        out.append([figure["document"], figure["figure"], figure["published"], figure["size"], result, n])
    head = ["document", "figure", "published", "size in the source", "here", "n"]
    return [f"Times here: {markers.about('; '.join(read('times', 'all')[0]))}.", ""] + table(head, out, len(head))


def rewrite(text):
    def section(match):
        make = {"times": times, "counts": counts, "claims": claims, "published": published}[match["what"]]
        return match[1] + "\n" + "\n".join(make(match["name"])) + "\n\n" + match[4]

    return MARKERS.sub(section, text)


if __name__ == "__main__":
    sys.exit(markers.main("ladder_table.py", rewrite))
