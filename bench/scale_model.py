"""scale_model.py - the model of the time of distributed sorts (docs/performance/scale.md).

A sort of n keys of b bytes on each of p ranks by the method `partition` takes

    T = E(p) + n b (P + max(S, f / L))    the exchange overlaps with the sorts: copies between GPUs
    T = E(p) + n b (P + S + f / L)        all data is exchanged first: NCCL, several machines

with these parameters:
    P     seconds per byte before the exchange: count, move
    S     seconds per byte of the sorts of buckets
    f     the part of the data that comes from other ranks, 1 - 1/p; from other machines 1 - g/p with g GPUs each
    L     bytes per second that a GPU receives while all exchange
    E(p)  steps in which the ranks wait for each other, and the work of the processor

SPDX-License-Identifier: Apache-2.0
"""
import math

import scale_chart

N = 2**30
# Measured steps of a sort of 2^30 u32 per GPU on two H200, 2026-11-27, ms: count 1.05, move 5.0, shared ranges 0.5;
# sort 9.4.
BEFORE, SORT = 6.55e-3 / (4 * N), 9.4e-3 / (4 * N)
SORTS = (("u32", 4, {"op": "sort", "dtype": "u32", "data": "random"}),
         ("u64", 8, {"op": "sort", "dtype": "u64", "data": "random"}))
SMALL = 2**22  # elements per GPU for E(p)

# Several machines.
GPUS_PER_NODE, NODES = 8, (1, 2, 8, 32, 64)
NETWORK = 45e9  # bytes per second per GPU: an adapter of 400 Gbit/s for each
LATENCY, HOST_NETWORK, MESSAGE = 5e-6, 10e9, 2e-6  # seconds; bytes per second of host memory; seconds per message
STEPS, NOTE_BYTES, BINS, BUCKETS = 10, 504, 8192, 2048  # of the method partition
PLAN = 30e-6  # seconds per rank: every rank adds the counters of all ranks, measured with 64 to 384 ranks


def times_of(tables, file, wanted, size):
    """Seconds by number of ranks."""
    return {ranks: ms / 1e3 for ranks, ms in scale_chart.points(tables, file, "ms", wanted, size)}


def sort_time(nbytes, ranks, link, overlap, fixed):
    """link: None if the exchange is hidden by the sorts."""
    share = (1 - 1 / ranks) / link if link else 0
    return fixed + nbytes * (BEFORE + (max(SORT, share) if overlap else SORT + share))


def fit_link(time, nbytes, ranks, overlap, fixed):
    """L for this time; None if the exchange is hidden."""
    left = (time - fixed) / nbytes - BEFORE - SORT * (not overlap)
    return None if overlap and left <= SORT * 1.05 else (1 - 1 / ranks) / left


def validate(tables):
    """Rows: sort, communicator, ranks, keys per GPU, measured and model in seconds, L, fitted."""
    rows = []
    for file, comm in (("dist", "copies"), ("dist_nccl", "NCCL")):
        overlap, links = file == "dist", {}
        fixed = times_of(tables, file, SORTS[0][2], SMALL) or times_of(tables, "dist", SORTS[0][2], SMALL)
        for name, key_bytes, wanted in SORTS:
            for size in (N, 2**26):
                for ranks, time in times_of(tables, file, wanted, size).items():
                    if ranks == 1:
                        continue
                    fits = ranks not in links
                    if fits:
                        links[ranks] = fit_link(time, size * key_bytes, ranks, overlap, fixed[ranks])
                    model = sort_time(size * key_bytes, ranks, links[ranks], overlap, fixed[ranks])
                    rows.append((name, comm, ranks, size, time, model, links[ranks], fits))
    return rows


def steps(ranks):
    """Agreements, gathers of counters and the choice of buckets, in seconds."""
    agree = LATENCY * math.ceil(math.log2(ranks)) + NOTE_BYTES * ranks / HOST_NETWORK
    return STEPS * agree + BINS * 4 * ranks / HOST_NETWORK + PLAN * ranks


def on_nodes(nodes, nbytes):
    """The parts of the time on several machines, in seconds."""
    ranks = nodes * GPUS_PER_NODE
    return {"GPU": nbytes * (BEFORE + SORT), "network": nbytes * (1 - GPUS_PER_NODE / ranks) / NETWORK,
            "messages": 2 * BUCKETS * MESSAGE, "steps": steps(ranks)}


def cpu_ranks(tables, file, size):
    """CPU ranks sort by the method `runs`: T = T(1) + n (merge log2(p) + exchange).  Rows: ranks, measured, model."""
    wanted = {"op": "sort", "dtype": "u32", "data": "random"}
    times = times_of(tables, file, wanted, size)
    if not {1, 2} <= times.keys():
        return []
    level = times[2] - times[1]
    return [(ranks, time, times[1] + level * max(1, math.log2(ranks)) * (ranks > 1)) for ranks, time in times.items()]
