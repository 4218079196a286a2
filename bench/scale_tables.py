#!/usr/bin/env python3
"""scale_tables.py - generates the tables of docs/performance/scale.md from the CSV files of scale.sh.

    bench/scale_tables.py docs/performance/scale.md            rewrites the text between markers
    bench/scale_tables.py --check docs/performance/scale.md    fails if a table differs from the CSV files

Markers: <!-- scale:begin NAME --> and <!-- scale:end -->, with the name of a table below.

SPDX-License-Identifier: Apache-2.0
"""
import re
import sys

sys.dont_write_bytecode = True
import markers  # noqa: E402 - the folder of this script is first in the search path
import scale_chart  # noqa: E402
import scale_model  # noqa: E402

MARKERS = re.compile(r"(<!-- scale:begin (?P<name>[a-z-]+) -->\n).*?(<!-- scale:end -->)", re.S)
TABLES, ABOUT = scale_chart.load(scale_chart.MACHINES)
LINK = 359e9  # bytes per second in each direction between two GPUs: kernels that store aligned runs of 128 bytes
OPERATIONS = (("sort", "u32", "sort of u32"), ("sort", "u64", "sort of u64"),
              ("sort_pairs", "u32", "sort of u32 with 4-byte values"), ("argsort", "u32", "argsort of u32"),
              ("sum", "u32", "sum"),
              ("scan", "u32", "prefix sum"), ("topk", "u32", "largest 100"),
              ("histogram", "u32", "histogram, 256 bins"), ("histogram_edges", "u32", "histogram, 256 bins by edges"),
              ("bincount", "u8", "bincount of u8"),
              ("quantiles", "u32", "3 quantiles"), ("unique", "u32", "distinct elements"),
              ("shuffle", "u32", "shuffle"), ("rebalance", "u32", "rebalance"))
DATA = (("random", "random bits"), ("sorted", "ascending over all ranks"), ("equal", "equal"),
        ("skewed", "random lengths"))


def number(ms):
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def find(file, time="ms", size=2**30, **wanted):
    """Milliseconds by number of ranks."""
    return dict(scale_chart.points(TABLES, file, time, wanted, size))


def table(first, rows, extra=None):
    """rows: (label, milliseconds by number of ranks).  extra: a column's name, and its value for these times."""
    ranks = sorted({r for _, times in rows for r in times})
    names = [f"{r} GPU{'s' if r > 1 else ''}" for r in ranks] + ([extra[0]] if extra else [])
    lines = ["| " + " | ".join([first] + names) + " |", "|---|" + "---:|" * len(names)]
    for label, times in rows:
        cells = [number(times[r]) if r in times else "" for r in ranks] + ([extra[1](times)] if extra else [])
        lines.append("| " + " | ".join([label] + cells) + " |")
    return lines


def weak(times):
    """Elements per second on the most GPUs, divided by those on one."""
    most = max(times)
    return f"{most * times[1] / times[most]:.2f}" if 1 in times and most > 1 else ""


def strong(times):
    most = max(times)
    return f"{times[1] / times[most]:.2f}" if 1 in times and most > 1 else ""


def operations():
    rows = [(label, find("dist", op=op, dtype=dtype, data="random")) for op, dtype, label in OPERATIONS]
    return table("operation", [row for row in rows if row[1]], ("speedup", weak))


def limits():
    """Sorts on two GPUs: fractions of the time of the link, and of one GPU with as many elements."""
    lines = ["| sort | ms | link, ms | fraction | one GPU, ms | fraction |", "|---|" + "---:|" * 5]
    for (op, dtype, label), element_bytes in zip(OPERATIONS[:3], (4, 8, 8)):
        times = find("dist", op=op, dtype=dtype, data="random")
        link = 2**30 * element_bytes / 2 / LINK * 1e3
        lines.append(f"| {label} | {number(times[2])} | {number(link)} | {link / times[2]:.2f} | {number(times[1])} "
                     f"| {times[1] / times[2]:.2f} |")
    return lines


def sizes():
    rows = []
    for size, name in ((2**26, "2^26"), (2**22, "2^22")):
        rows += [(f"{label}, {name}", find("dist", size=size, op=op, dtype=dtype, data="random"))
                 for op, dtype, label in OPERATIONS]
    return table("operation, elements per GPU", [row for row in rows if row[1]])


def keys():
    rows = [(f"{name}: {label}", find("dist", op=op, dtype=dtype, data=data))
            for op, dtype, name in OPERATIONS[:3] for data, label in DATA]
    return table("keys", [row for row in rows if row[1]])


def nccl():
    rows = []
    for op, dtype, label in OPERATIONS:
        for file, comm in (("dist", "copies between GPUs"), ("dist_nccl", "NCCL"), ("dist_mpi", "MPI processes, NCCL")):
            times = find(file, op=op, dtype=dtype, data="random")
            if find("dist_nccl", op=op, dtype=dtype) and times:
                rows.append((f"{label}: {comm}", times))
    return table("operation", rows)


def host():
    return table("arrays in host memory", [("sort of 2^32 u32", find("dist_host", op="sort", dtype="u32"))],
                 ("speedup", strong))


def linear():
    rows = []
    for call, label in (("ech_dist_solve", "CG"), ("ech_solve", "CG, call without ranks")):
        solves = [row for row in TABLES.get("dist_solve", ()) if row["call"] == call]
        for unknowns in sorted({row["unknowns"] for row in solves}, key=int):
            times = {int(row["ranks"]): float(row["ms_per_iteration"]) for row in solves
                     if row["unknowns"] == unknowns}
            rows.append((f"{label}: an iteration, {int(unknowns) / 1e8:.1f} x 10^8 unknowns", times))
    for call, label in (("rank", "rank"), ("echelon", "reduced echelon form"), ("mul", "product")):
        for power in range(16, 22):
            for name, ranks in (("ech_dist_gf2_", ""), ("ech_gf2_", ", call without ranks")):
                times = find("dist_gf2", call=f"{name}{call}", rows=str(2**power))
                if times:
                    rows.append((f"GF(2): {label}{ranks}, 2^{power} rows and columns", times))
    return table("operation", rows, ("speedup", strong))


def cpu():
    names = ["ranks"] + [f"{name}measured ms | model ms | difference" for name in ("threads: ", "MPI processes: ")]
    lines = ["| " + " | ".join(names) + " |", "|" + "---:|" * 7]
    found = [{row[0]: row for row in scale_model.cpu_ranks(TABLES, file, 2**22)}
             for file in ("dist_cpu", "dist_mpi_cpu")]
    for ranks in sorted(found[0].keys() | found[1].keys()):
        cells = []
        for _, time, result in (rows.get(ranks, (0, 0, 0)) for rows in found):
            cells += [number(1e3 * time), number(1e3 * result), fitted(result / time, ranks <= 2)] if time else [""] * 3
        lines.append("| " + " | ".join([str(ranks)] + cells) + " |")
    return lines


def fitted(ratio, fits):
    return f"{100 * (ratio - 1):+.0f} %" + (", fitted" if fits else "")


def model():
    lines = ["| sort | exchange | GPUs | keys per GPU | E, ms | L, GB/s | measured ms | model ms | difference |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name, comm, ranks, size, time, result, fixed, link, fits in scale_model.validate(TABLES):
        rate = f"{link / 1e9:.0f}" if link else "hidden"
        lines.append(f"| {name} | {comm} | {ranks} | 2^{size.bit_length() - 1} | {number(fixed * 1e3)} | {rate} "
                     f"| {number(time * 1e3)} | {number(result * 1e3)} | {fitted(result / time, fits)} |")
    return lines


def nodes():
    lines = ["| keys | machines with 8 GPUs | keys in total | count, move | sorts | NVLink | network | messages "
             "| steps | time, ms | 10^9 keys/s |",
             "|---|" + "---:|" * 10]
    nccl_link, link_of_one = scale_model.fit(TABLES, "dist_nccl", 4)[1], scale_model.fit(TABLES, "dist", 8)[1]
    for name, key_bytes, _ in scale_model.SORTS:
        for count in scale_model.NODES:
            link = link_of_one if count == 1 else nccl_link
            parts = scale_model.on_nodes(count, scale_model.N * key_bytes, key_bytes, link)
            keys, time = count * scale_model.GPUS_PER_NODE * scale_model.N, scale_model.total(parts)
            cells = [number(seconds * 1e3) for seconds in (*parts.values(), time)]
            cells += [f"{keys / time / 1e9:.0f}"]
            lines.append("| " + " | ".join([name, str(count), f"{keys:.1e}", *cells]) + " |")
    return lines


def about():
    return list(dict.fromkeys(ABOUT))[:1]


FOUND = {"operations": operations, "limits": limits, "sizes": sizes, "keys": keys, "nccl": nccl, "host": host,
         "linear": linear, "cpu": cpu, "model": model, "nodes": nodes}


def rewrite(text):
    return MARKERS.sub(lambda m: m[1] + "\n".join(FOUND[m["name"]]()) + "\n" + m[3], text)


if __name__ == "__main__":
    sys.exit(markers.main("scale_tables.py", rewrite))
