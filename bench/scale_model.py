#!/usr/bin/env python3
"""scale_model.py - the model of the time of distributed sorts, compared with measurements, and extrapolated.

    bench/scale_model.py            prints the tables of docs/performance/scale.md
    bench/scale_model.py --all      prints all measurements, too

A sort of n keys of b bytes on each of p ranks by the method `partition` takes

    T = steps(p) + n b W + n b (1 - 1/p) / L            on one machine
    T = steps(p) + n b W + n b (1 - g/p) / B + messages  on machines with g GPUs each

W: seconds per byte of the work of a GPU: count, move, sort.  L: bytes per second that a GPU receives from the others,
without the part that overlaps with sorts.  B: the same from other machines.  W and L are fitted to the times with 2 and 4
GPUs; the times with 8 GPUs are not used for the fit.  steps(p): agreements and small gathers of all ranks.

SPDX-License-Identifier: Apache-2.0
"""
import math
import sys

sys.dont_write_bytecode = True
import scale_chart  # noqa: E402 - the folder of this script is first in the search path

N = 2**30
GPUS_PER_NODE, NODES = 8, (1, 2, 8, 32, 64)
NETWORK = 45e9  # bytes per second per GPU: a 400 Gbit/s adapter for each
LATENCY, HOST_NETWORK, MESSAGE = 5e-6, 10e9, 2e-6  # seconds; bytes per second of host memory; seconds per message
STEPS, NOTE_BYTES, BINS, BUCKETS = 10, 504, 8192, 2048  # of the method partition
PLAN = 30e-6  # seconds per rank: every rank adds the counters of all ranks
CASES = (("u32", 4, {"op": "sort", "dtype": "u32", "data": "random"}),
         ("u64", 8, {"op": "sort", "dtype": "u64", "data": "random"}),
         ("u32, 4-byte values", 8, {"op": "sort_pairs", "dtype": "u32", "data": "random"}))


def table(tables, file, time, keys):
    """Time by number of ranks: a row per case, which the columns `keys` name."""
    found = {}
    for row in tables.get(file, ()):
        case = tuple(row[key] for key in keys)
        found.setdefault(case, {})[int(row["ranks"])] = row[time]
    ranks = sorted({r for times in found.values() for r in times})
    print(f"\n{file}\n\n| {' | '.join(keys)} | {' | '.join(map(str, ranks))} |")
    print("|" + "---|" * len(keys) + "---:|" * len(ranks))
    for case, times in found.items():
        print(f"| {' | '.join(case)} | {' | '.join(times.get(r, '') for r in ranks)} |")


def measured(tables):
    for file in tables:
        for row in tables[file]:
            if "elements" in row:
                row["per rank"] = f"2^{math.log2(int(row['elements']) / int(row['ranks'])):g}"
    for file in tables:
        if file.startswith("dist_solve"):
            table(tables, file, "ms_per_iteration", ("call", "unknowns"))
        elif file.startswith("dist_gf2"):
            table(tables, file, "ms", ("call", "rows"))
        elif file == "dist_host":
            table(tables, file, "ms", ("op", "dtype", "elements"))
        else:
            table(tables, file, "ms", ("op", "dtype", "data", "per rank"))


def fit(times, nbytes):
    """W and L from the times with 2 and 4 GPUs, in seconds."""
    link = (1 / 2 - 1 / 4) * -nbytes / (times[2] - times[4])
    return (times[2] - nbytes / 2 / link) / nbytes, link


def on_host(ranks, nbytes, work, link):
    return nbytes * work + nbytes * (1 - 1 / ranks) / link


def steps(ranks):
    """Agreements, gathers of counters and the choice of buckets, in seconds."""
    agree = LATENCY * math.ceil(math.log2(ranks)) + NOTE_BYTES * ranks / HOST_NETWORK
    return STEPS * agree + BINS * 4 * ranks / HOST_NETWORK + PLAN * ranks


def on_nodes(nodes, nbytes, work):
    """The parts of the time on several machines, in seconds."""
    ranks = nodes * GPUS_PER_NODE
    messages = (BUCKETS + BUCKETS // ranks * ranks) * MESSAGE
    network = nbytes * (1 - GPUS_PER_NODE / ranks) / NETWORK
    return {"GPU": nbytes * work, "network": network, "messages": messages, "steps": steps(ranks)}


def validate(tables):
    print("| sort | communicator | ranks | measured ms | model ms | difference |\n|---|---|---:|---:|---:|---:|")
    works = {}
    for file, comm in (("dist", "copies"), ("dist_nccl", "NCCL")):
        for name, key_bytes, wanted in CASES:
            times = {r: ms / 1000 for r, ms in scale_chart.points(tables, file, "ms", wanted)}
            if not {2, 4} <= times.keys():
                continue
            work, link = fit(times, N * key_bytes)
            works.setdefault(name, work)
            print(f"| {name} | {comm} | | | W = {work * 1e12:.2f} ps per byte, L = {link / 1e9:.0f} GB/s | |")
            for ranks in sorted(times.keys() - {1}):
                model = on_host(ranks, N * key_bytes, work, link)
                print(f"| {name} | {comm} | {ranks} | {times[ranks] * 1e3:.1f} | {model * 1e3:.1f} "
                      f"| {'fit' if ranks < 8 else f'{100 * (model / times[ranks] - 1):+.0f} %'} |")
    return works


def extrapolate(works):
    print("\n| keys | nodes | keys in total | GPU ms | network ms | messages ms | steps ms | sum ms | 10^9 keys/s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, key_bytes, _ in CASES:
        for nodes in NODES if name in works else ():
            parts = on_nodes(nodes, N * key_bytes, works[name])
            total, time = nodes * GPUS_PER_NODE * N, sum(parts.values())
            columns = " | ".join(f"{seconds * 1e3:.1f}" for seconds in (*parts.values(), time))
            print(f"| {name} | {nodes} | {total:.1e} | {columns} | {total / time / 1e9:.0f} |")


def main():
    tables, _ = scale_chart.load(scale_chart.MACHINE)
    if "--all" in sys.argv:
        measured(tables)
    extrapolate(validate(tables))


if __name__ == "__main__":
    main()
