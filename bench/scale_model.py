"""scale_model.py - the model of the time of distributed sorts (docs/performance/scale.md).

A sort of n keys of b bytes on each of p GPUs takes

    T = E(p) + n b (P + max(S, f / L))      method `partition`: copies between GPUs, or NCCL, which overlap with sorts

with these parameters:
    P     seconds per byte before the exchange: count, move
    S     seconds per byte of the sorts of buckets
    f     the part of the data that comes from other ranks, 1 - 1/p; from other machines 1 - g/p with g GPUs each
    L     bytes per second that a GPU receives while all exchange and sort; with NCCL, received keys are moved, too
    E(p)  steps in which the ranks wait for each other, and the work of the processor

E(p) and L are fitted to the times of two sizes of u32.

SPDX-License-Identifier: Apache-2.0
"""
import math

import scale_chart

N = 2**30
# Measured steps of a sort of 2^30 u32 per GPU on two H200, 2026-11-27, ms: range and tables 0.08, count 1.28, move 4.2;
# sorts 9.0.
BEFORE, SORT = 5.6e-3 / (4 * N), 9.0e-3 / (4 * N)
SORTS = (("u32", 4, {"op": "sort", "dtype": "u32", "data": "random"}),
         ("u64", 8, {"op": "sort", "dtype": "u64", "data": "random"}))
SIZES = (N, 2**26)

# Several machines.
GPUS_PER_NODE, NODES = 8, (1, 2, 8, 32, 64)
NETWORK = 45e9  # bytes per second per GPU: an adapter of 400 Gbit/s for each
LATENCY, HOST_NETWORK, MESSAGE = 5e-6, 10e9, 2e-6  # seconds; bytes per second of host memory; seconds per message
STEPS, NOTE_BYTES, COUNTS, GROUPS = 10, 504, 4 * 2**13, 10  # agreements; bytes of a note; of counts; groups of buckets


def times_of(tables, file, wanted, size):
    """Seconds by number of ranks."""
    return {ranks: ms / 1e3 for ranks, ms in scale_chart.points(tables, file, "ms", wanted, size)}


def fit(tables, file, ranks):
    """E and L for a number of GPUs, from two sizes of u32; L is None if the exchange is hidden by the sorts."""
    large, small = (times_of(tables, file, SORTS[0][2], size)[ranks] for size in SIZES)
    slope = (large - small) / (4 * (SIZES[0] - SIZES[1]))
    hidden = slope <= BEFORE + SORT * 1.05
    if hidden:
        slope = BEFORE + SORT
    return small - 4 * SIZES[1] * slope, None if hidden else (1 - 1 / ranks) / (slope - BEFORE)


def sort_time(nbytes, ranks, fixed, link):
    return fixed + nbytes * (BEFORE + max(SORT, (1 - 1 / ranks) / link if link else 0))


def validate(tables):
    """Rows: sort, communicator, ranks, keys per GPU, measured and model in seconds, E, L, whether it is fitted."""
    rows = []
    for file, comm in (("dist", "copies"), ("dist_nccl", "NCCL")):
        for name, key_bytes, wanted in SORTS:
            for size in SIZES:
                for ranks, time in times_of(tables, file, wanted, size).items():
                    if ranks == 1:
                        continue
                    fixed, link = fit(tables, file, ranks)
                    model = sort_time(size * key_bytes, ranks, fixed, link)
                    rows.append((name, comm, ranks, size, time, model, fixed, link, name == "u32"))
    return rows


def steps(ranks, key_bytes):
    """Agreements and the gather of all counts, in seconds."""
    agree = LATENCY * math.ceil(math.log2(ranks)) + NOTE_BYTES * ranks / HOST_NETWORK
    return (STEPS + key_bytes) * agree + COUNTS * ranks / HOST_NETWORK


def on_nodes(nodes, nbytes, key_bytes, link):
    """The parts of the time on several machines with NCCL, in seconds; the exchange overlaps with the sorts."""
    ranks = nodes * GPUS_PER_NODE
    network = nbytes * (1 - GPUS_PER_NODE / ranks) / NETWORK
    return {"move": nbytes * BEFORE, "sorts": nbytes * SORT, "NVLink": nbytes * (1 - 1 / GPUS_PER_NODE) / link,
            "network": network, "messages": 2 * GROUPS * ranks * MESSAGE, "steps": steps(ranks, key_bytes)}


def total(parts):
    overlap = max(parts[name] for name in ("sorts", "NVLink", "network"))
    return parts["move"] + overlap + parts["messages"] + parts["steps"]


def cpu_ranks(tables, file, size):
    """CPU ranks sort by the method `runs`: T = T(1) + n (merge log2(p) + exchange).  Rows: ranks, measured, model."""
    wanted = {"op": "sort", "dtype": "u32", "data": "random"}
    times = times_of(tables, file, wanted, size)
    if not {1, 2} <= times.keys():
        return []
    level = times[2] - times[1]
    return [(ranks, time, times[1] + level * max(1, math.log2(ranks)) * (ranks > 1)) for ranks, time in times.items()]
