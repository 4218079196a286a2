#!/usr/bin/env python3
"""design.py - the rows of the benchmark grid: a seeded covering design of operation, dtype, n and distribution.

    bench/grid/design.py cpu|gpu [--rows N] [--seed N] [--max-bytes N] [--list]

Prints how many pairs of levels the rows cover. Each row is the candidate that covers the most pairs that the rows
before it do not cover. So the first N rows are the same for every larger N, and the id of a row is its description,
such as "pairs/i32/8/65537/zipf".

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import itertools
import random
from dataclasses import dataclass

# In the order of ech_dtype, enum grid_dist (data.h) and enum grid_op (grid.h).
DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")
DISTS = ("uniform", "unit", "normal", "sorted", "reversed", "equal", "two", "few16", "few1000", "and3", "zipf",
         "heavy", "ids", "permutation", "timestamps", "prices", "counters", "clusters", "exponential", "lognormal",
         "pareto", "nearly", "appended", "runs", "repeats", "organ", "sawtooth", "range1e6", "range100", "highbits",
         "sparse", "wide", "spikes")
INTEGERS, WIDE = DTYPES[:8], DTYPES[:8] + DTYPES[10:]
FLOATS = ("f32", "f64")
# name: (dtypes, values of param, bytes of the other arrays per element, the smallest n)
OPS = {
    "sort": (DTYPES, (0,), 0, 0),
    "pairs": (DTYPES, (4, 8, 16), 0, 0),
    "argsort": (DTYPES, (4, 8), 8, 0),
    "topk": (DTYPES, (10, 1000), 0, 0),
    "sum": (DTYPES, (0,), 0, 0),
    "min": (DTYPES, (0,), 0, 0),
    "variance": (DTYPES[8:], (0,), 0, 0),
    "scan": (WIDE, (0,), 0, 0),
    "bincount": (INTEGERS, (100, 4096), 0, 0),
    "histogram": (FLOATS, (256,), 0, 0),
    "select": (DTYPES, (0,), 0, 0),
    "compact": (DTYPES, (0,), 1, 0),
    "partition": (DTYPES, (0,), 1, 0),
    "unique": (DTYPES, (0,), 0, 0),
    "distinct": (DTYPES, (0,), 0, 0),
    "rle_encode": (DTYPES, (0,), 8, 0),
    "rle_decode": (DTYPES, (0,), 8, 0),
    "merge": (DTYPES, (0,), 0, 0),
    "search": (DTYPES, (0,), 8, 0),
    "sort_rows": (DTYPES, (32, 1000), 0, 2000),
    "sort_segments": (DTYPES, (30, 3000), 0, 6000),
    "reduce_rows": (WIDE, (32, 1000), 0, 2000),
    "reduce_segments": (WIDE, (30, 3000), 0, 6000),
    "gather": (DTYPES, (0,), 8, 0),
    "transpose": (DTYPES, (0,), 0, 100),
    "median": (DTYPES, (0,), 0, 0),
    "quantile": (FLOATS, (0,), 0, 0),
    "matvec": (FLOATS, (0,), 0, 100),
    "spmv": (FLOATS, (16,), 8, 1000),
}
SIZES = {
    "gpu": (10, 33, 100, 257, 1000, 1024, 4095, 4096, 4097, 10**4, 2**14 - 1, 2**14 + 1, 2**16, 2**16 + 1, 10**5,
            2**18 - 1, 2**20, 2**20 + 1, 2**22, 2**22 + 1, 10**7, 2**24, 2**24 + 1, 2**26, 2**26 - 1, 2**28,
            2**28 - 1, 2**30),
    "cpu": (10, 11, 16, 17, 33, 64, 100, 128, 255, 257, 512, 1000, 1024, 2049, 4096, 4097, 10**4, 2**14 + 1, 2**16,
            2**16 - 1, 10**5, 2**18 + 1, 10**6, 2**20, 2**20 + 1, 2**22 - 1, 10**7, 2**24, 2**24 + 1, 2**26, 2**28,
            2**30),
}
MAX_BYTES = {"gpu": 7 << 30, "cpu": 1 << 26}
CANDIDATES = 24


def bytes_of(dtype):
    """The bytes of an element."""
    return int(dtype.lstrip("iubf")) // 8


@dataclass(frozen=True)
class Row:
    """A row; param is described in OPS and grid.h."""

    op: str
    dtype: str
    param: int
    n: int
    dist: str

    @property
    def id(self):
        return f"{self.op}/{self.dtype}/{self.param}/{self.n}/{self.dist}"

    @classmethod
    def parse(cls, text):
        op, dtype, param, n, dist = text.split("/")
        return cls(op, dtype, int(param), int(n), dist)

    def pairs(self):
        """The pairs of levels that the row covers."""
        levels = (("op", self.op), ("dtype", self.dtype), ("n", self.n), ("dist", self.dist))
        form = ("form", f"{self.op} {self.param}")
        return list(itertools.combinations(levels, 2)) + [(form, levels[1]), (form, levels[2])]


def allowed(row, max_bytes):
    """Whether a row exists: its arrays have at most max_bytes, and the operation has such a dtype and n."""
    dtypes, _, others, least = OPS[row.op]
    if row.dtype not in dtypes or row.n < least:
        return False
    if row.op == "topk" and row.param >= row.n:
        return False
    if row.op == "bincount" and bytes_of(row.dtype) == 1 and row.param > 100:
        return False
    if row.op in ("sort_segments", "reduce_segments", "sort_rows", "reduce_rows") and row.n < 2 * row.param:
        return False
    others += row.param if row.op == "pairs" else 0
    return row.n * (bytes_of(row.dtype) + others) <= max_bytes


def all_pairs(sizes, max_bytes):
    """The pairs that some row covers, each with a row that covers it."""
    found = {}
    for op, (dtypes, params, _, _) in OPS.items():
        for dtype, param, n in itertools.product(dtypes, params, sizes):
            row = Row(op, dtype, param, n, DISTS[0])
            if allowed(row, max_bytes):
                for pair in row.pairs():
                    found.setdefault(pair, row)
    # Every distribution exists for every level of the others.
    for pair, row in list(found.items()):
        if pair[1] == ("dist", DISTS[0]):
            for dist in DISTS:
                found.setdefault((pair[0], ("dist", dist)), Row(row.op, row.dtype, row.param, row.n, dist))
    return found


class Design:
    """The rows in their order; next() appends one."""

    def __init__(self, device, seed=1, max_bytes=None):
        self.sizes, self.max_bytes = SIZES[device], max_bytes or MAX_BYTES[device]
        self.random = random.Random(f"{device} {seed}")
        self.witness = all_pairs(self.sizes, self.max_bytes)
        self.order = sorted(self.witness, key=repr)
        self.random.shuffle(self.order)
        self.missing = dict.fromkeys(self.order)
        self.seen, self.rows = set(), []

    def draw(self, **fixed):
        """A random row with the given levels, or None if there is none among a few attempts."""
        for _ in range(20):
            op = fixed.get("op") or self.random.choice(list(OPS))
            row = Row(op, fixed.get("dtype") or self.random.choice(OPS[op][0]),
                      fixed["param"] if "param" in fixed else self.random.choice(OPS[op][1]),
                      fixed.get("n") or self.random.choice(self.sizes), fixed.get("dist") or self.random.choice(DISTS))
            if row.id not in self.seen and allowed(row, self.max_bytes):
                return row
        return None

    def candidate(self, pair):
        """A row that covers the pair."""
        fixed = dict(pair)
        if "form" in fixed:
            fixed["op"], param = fixed.pop("form").split()
            fixed["param"] = int(param)
        return self.draw(**fixed) or self.witness[pair]

    def next(self):
        """Appends the best of several candidates that cover the first missing pairs."""
        wanted = list(itertools.islice(self.missing, CANDIDATES))
        options = [self.candidate(pair) for pair in wanted] if wanted else [self.draw()]
        options = [row for row in options if row is not None] or [self.draw()]
        best = max(options, key=lambda row: sum(pair in self.missing for pair in row.pairs()))
        for pair in best.pairs():
            self.missing.pop(pair, None)
        self.seen.add(best.id)
        self.rows.append(best)
        return best

    def extend(self, rows):
        """The first rows of the design; 0: until all pairs are covered."""
        while len(self.rows) < rows or not rows and self.missing:
            self.next()
        return self.rows[:rows] if rows else self.rows

    def coverage(self):
        covered = len(self.order) - len(self.missing)
        share = covered / len(self.order)
        return f"{len(self.rows)} rows cover {covered} of {len(self.order)} pairs of levels ({share:.1%})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=("cpu", "gpu"))
    parser.add_argument("--rows", type=int, default=0, help="0, the default: until all pairs are covered")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-bytes", type=int)
    parser.add_argument("--list", action="store_true", help="print the ids of the rows")
    arguments = parser.parse_args()
    design = Design(arguments.device, arguments.seed, arguments.max_bytes)
    for row in design.extend(arguments.rows):
        if arguments.list:
            print(row.id)
    print("#" if arguments.list else "", design.coverage())


if __name__ == "__main__":
    main()
