#!/usr/bin/env python3
"""choices.py - what the library would do on the nominal GPU, an H200, for some 3,000 calls of all operations.

    scripts/choices.py COMMAND               prints each call with its algorithm, kernels, blocks and workspace
    scripts/choices.py COMMAND OTHER         prints the calls that two builds of the command answer differently;
                                             exits with 1 if there are any

The text is that of "echelon explain", so no GPU is needed. Compare two builds after a change of the host code that
should not change the choices of an H200: scripts/choices.py ../before/build/cli/echelon build/cli/echelon. The names of
vendor libraries depend on the machine, not on the build.

SPDX-License-Identifier: Apache-2.0
"""
import difflib
import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SIZES = ["10", "1000", "5000", "40000", "300000", "524288", "2M", "10M", "2^24", "2^25", "100M", "2^27", "2^30"]
FEW = ["1000", "100000", "2M", "2^25", "2^28"]
DIVIDED = ["100000", "1M", "20M", "200M"]
TYPES = ["u8", "i16", "bf16", "u32", "f32", "u64", "f64"]


def product(text, **lists):
    """The calls that a pattern makes from all combinations of the lists."""
    for values in itertools.product(*lists.values()):
        yield text.format(**dict(zip(lists, values)))


def calls():
    yield from product("sort --type {t} -N {n} --values {v}", t=TYPES, n=SIZES, v=[0, 4, 8, 16])
    yield from product("sort --type {t} -N {n} --argsort", t=TYPES, n=SIZES)
    yield from product("sort --type {t} -N {n} --bits 0:{b}", t=["u32", "u64"], n=SIZES, b=[8, 20, 28])
    yield from product("sort --type u32 -N {n} --algorithm {a}", n=SIZES[3:],
                       a=["onesweep", "msd", "adaptive", "buckets", "low_memory"])
    yield from product("sort --type {t} -N {n} --rows {r}", t=TYPES, n=DIVIDED, r=[10, 100, 1000, 10000, 50000])
    yield from product("sort --type {t} -N {n} --segments {s}", t=TYPES, n=FEW, s=[10, 1000])
    yield from product("topk --type {t} -N {n} -K {k}", t=TYPES, n=SIZES, k=[1, 10, 500, 1000])
    yield from product("topk --type {t} -N {n} -K {k} --rows {r}",
                       t=["u8", "f32", "f64"], n=DIVIDED, k=[1, 10], r=[100, 20000])
    yield from product("hist --type {t} -N {n} --bins {b}", t=TYPES, n=FEW, b=[16, 256, 10000, 100000, 2000000])
    yield from product("merge --type {t} -N {n} --runs {r}", t=TYPES, n=FEW, r=[2, 16])
    yield from product("set {o} --type {t} -N {n}", o=["union", "difference"], t=["u8", "u32", "f64"], n=FEW)
    yield from product("unique --type {t} -N {n}", t=TYPES, n=FEW)
    yield from product("search --type {t} -N {n} --needles {m}", t=TYPES, n=FEW, m=["100", "10000", "2M", "2^25"])
    yield from product("quantile --type {t} -N {n} --ranks {r}", t=TYPES, n=FEW, r=[1, 3, 20])
    yield from product("scan {o} --type {t} -N {n}", o=["sum", "max"], t=TYPES, n=SIZES)
    yield from product("scan --type {t} -N {n} --rows {r}", t=["u8", "u32", "f64"], n=DIVIDED, r=[10, 1000, 100000])
    yield from product("scan --type {t} -N {n} --by-key", t=["u32", "f64"], n=FEW)
    yield from product("reduce {o} --type {t} -N {n}", o=["sum", "max", "dot"], t=TYPES, n=SIZES)
    yield from product("reduce --type {t} -N {n} --rows {r}", t=["u8", "u32", "f64"], n=DIVIDED, r=[10, 1000, 100000])
    yield from product("reduce --type {t} -N {n} --segments {s}", t=["u8", "u32", "f64"], n=FEW, s=[10, 1000])
    yield from product("select {c} --type {t} -N {n}", t=["u8", "i16", "u32", "f64"], n=SIZES,
                       c=["if", "flags", "partition-if", "partition-flags", "unique", "unique-by-key", "rle-encode", "rle-decode"])
    yield from product("arrange {c} --type {t} -N {n}", t=["u8", "i16", "u32", "f64"], n=FEW + ["2^22", "2^23"],
                       c=["gather", "reverse", "transpose", "shuffle"])
    yield from product("columns --type {t} -N {n}", t=["u8", "f32", "i32,f64"], n=FEW)
    yield from product("records --type i32 -N {n} --record {r}", n=FEW, r=[16, 100])
    yield from product("strings -N {n}", n=FEW)
    yield from product("is_sorted --type {t} -N {n}", t=TYPES, n=FEW)
    yield from product("gf2 {c} --shape {n}x{n}", c=["mul", "rref", "inverse", "batch"], n=[64, 1000, 4096, 65536])
    yield from product("matmul --type {t} --shape {n}x{k} --b-columns {m} --algorithm tiled", t=["f16", "f32", "f64"],
                       n=[10, 100, 1000, 8192], k=[64, 2000], m=[16, 1000])
    yield from product("matvec --type {t} --shape {n}x{k}", t=["f32", "f64"], n=[10, 1000, 100000], k=[10, 1000])
    yield from product("csr {c} --shape {n}x{n} --nnz {z}",
                       c=["spmv", "spmm", "transpose"], n=["1000", "1M"], z=["5000", "20M"])
    yield from product("solve --method {m} --shape {n}x{n} --nnz {z}",
                       m=["cg", "gmres"], n=["10000", "1M"], z=["50000", "5M"])


def answer(command, call):
    done = subprocess.run([command, "explain", *call.split(), "--device", "cuda"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"{command} explain {call} ended with status {done.returncode}")
    return done.returncode, done.stdout


def answers(command):
    names = list(dict.fromkeys(calls()))
    with ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(lambda call: answer(command, call), names)))


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    first = answers(sys.argv[1])
    if len(sys.argv) == 2:
        for call, (_, text) in first.items():
            print(f"{call}\n{text}")
        return 0
    second, different = answers(sys.argv[2]), 0
    for call, (_, text) in first.items():
        if second[call] != first[call]:
            different += 1
            lines = second[call][1].splitlines()
            print("\n".join(difflib.unified_diff(text.splitlines(), lines, call, call, lineterm="", n=0)))
    failed = sum(status != 0 for status, _ in first.values())
    print(f"{len(first)} calls, of which {failed} are errors; {different} differ")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
