"""scale_model.py - the model of the time of distributed sorts (docs/performance/scale.md).

A sort of n keys of b bytes on each of p ranks takes

    T = E(p) + n b (P + max(S, f / L))             method `partition`: copies between GPUs, which overlap with sorts
    T = E(p) + T(1) + n b (f / L + M log2(p))      method `runs`: NCCL, several machines

with these parameters:
    P     seconds per byte before the exchange: count, move
    S     seconds per byte of the sorts of buckets
    T(1)  the time of a sort on one GPU
    M     seconds per byte of a merge of two runs
    f     the part of the data that comes from other ranks, 1 - 1/p; from other machines 1 - g/p with g GPUs each
    L     bytes per second that a GPU receives while all exchange
    E(p)  steps in which the ranks wait for each other, and the work of the processor

SPDX-License-Identifier: Apache-2.0
"""
import math

import scale_chart

N = 2**30
# Measured steps of a sort of 2^30 u32 per GPU on two H200, 2026-11-27, ms: range 1.15, count 1.2, move 3.95, shared
# ranges 0.3; sort 9.1. Merge of 2^30 u32 with 4-byte values per GPU: 5.75.
BEFORE, SORT, MERGE = 6.6e-3 / (4 * N), 9.1e-3 / (4 * N), 5.75e-3 / (8 * N)
SORTS = (("u32", 4, {"op": "sort", "dtype": "u32", "data": "random"}),
         ("u64", 8, {"op": "sort", "dtype": "u64", "data": "random"}))
SMALL = 2**22  # elements per GPU for E(p)

# Several machines.
GPUS_PER_NODE, NODES = 8, (1, 2, 8, 32, 64)
NETWORK = 45e9  # bytes per second per GPU: an adapter of 400 Gbit/s for each
LATENCY, HOST_NETWORK, MESSAGE = 5e-6, 10e9, 2e-6  # seconds; bytes per second of host memory; seconds per message
STEPS, NOTE_BYTES, SPLIT = 10, 504, 2048  # agreements; bytes of a note; bytes of counters of a splitter and round


def times_of(tables, file, wanted, size):
    """Seconds by number of ranks."""
    return {ranks: ms / 1e3 for ranks, ms in scale_chart.points(tables, file, "ms", wanted, size)}


def before(ranks, nbytes, single):
    """Seconds of the method `runs` besides the exchange; single: of a sort on one GPU."""
    return single + nbytes * MERGE * math.log2(ranks)


def sort_time(nbytes, ranks, link, overlap, fixed, single):
    """link: None if the exchange is hidden by the sorts."""
    share = nbytes * (1 - 1 / ranks) / link if link else 0
    if overlap:
        return fixed + nbytes * BEFORE + max(nbytes * SORT, share)
    return fixed + before(ranks, nbytes, single) + share


def fit_link(time, nbytes, ranks, overlap, fixed, single):
    """L for this time; None if the exchange is hidden."""
    left = time - fixed - (nbytes * BEFORE if overlap else before(ranks, nbytes, single))
    return None if overlap and left <= nbytes * SORT * 1.05 else nbytes * (1 - 1 / ranks) / left


def validate(tables):
    """Rows: sort, communicator, ranks, keys per GPU, measured and model in seconds, L, fitted."""
    rows = []
    for file, comm in (("dist", "copies"), ("dist_nccl", "NCCL")):
        overlap, links = file == "dist", {}
        fixed = times_of(tables, file, SORTS[0][2], SMALL) or times_of(tables, "dist", SORTS[0][2], SMALL)
        for name, key_bytes, wanted in SORTS:
            for size in (N, 2**26):
                single = times_of(tables, "dist", wanted, size)[1]
                for ranks, time in times_of(tables, file, wanted, size).items():
                    if ranks == 1:
                        continue
                    fits, nbytes = ranks not in links, size * key_bytes
                    if fits:
                        links[ranks] = fit_link(time, nbytes, ranks, overlap, fixed[ranks], single)
                    model = sort_time(nbytes, ranks, links[ranks], overlap, fixed[ranks], single)
                    rows.append((name, comm, ranks, size, time, model, links[ranks], fits))
    return rows


def steps(ranks, key_bytes):
    """Agreements, and a round of counters per byte of the key, which the ranks add together, in seconds."""
    agree = LATENCY * math.ceil(math.log2(ranks)) + NOTE_BYTES * ranks / HOST_NETWORK
    return (STEPS + 2 * key_bytes) * agree + key_bytes * 2 * SPLIT * ranks / HOST_NETWORK


def on_nodes(nodes, nbytes, key_bytes, single):
    """The parts of the time on several machines, in seconds."""
    ranks = nodes * GPUS_PER_NODE
    return {"GPU": before(ranks, nbytes, single), "network": nbytes * (1 - GPUS_PER_NODE / ranks) / NETWORK,
            "messages": 2 * ranks * MESSAGE, "steps": steps(ranks, key_bytes)}


def cpu_ranks(tables, file, size):
    """CPU ranks sort by the method `runs`: T = T(1) + n (merge log2(p) + exchange).  Rows: ranks, measured, model."""
    wanted = {"op": "sort", "dtype": "u32", "data": "random"}
    times = times_of(tables, file, wanted, size)
    if not {1, 2} <= times.keys():
        return []
    level = times[2] - times[1]
    return [(ranks, time, times[1] + level * max(1, math.log2(ranks)) * (ranks > 1)) for ranks, time in times.items()]
