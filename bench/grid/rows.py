#!/usr/bin/env python3
"""rows.py - measures single rows of the benchmark grid with every contender, and prints a table.

    bench/grid/rows.py MODULE [--rounds N] [--without TEXT,...] ROW...

MODULE is grid_cpu.so. A ROW is an id such as "sort/f64/0/1000/uniform"; it need not be in the design. Every contender
that supports the row and has Echelon's result is timed in turn in each round, on one thread; a cell is the median in
microseconds. --without leaves out contenders whose names contain one of these texts. ECHELON_CPU selects Echelon's
instruction set, and NPY_DISABLE_CPU_FEATURES that of NumPy. The exit status is 1 if a contender's result differs.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import statistics
import sys
from pathlib import Path

import grid
from design import Row


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("module", type=Path)
    parser.add_argument("rows", nargs="+", metavar="ROW")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--without", default="", help="texts, separated by commas")
    return parser.parse_args(arguments)


def row_of(text):
    op, dtype, param, n, dist = text.split("/")
    return Row(op, dtype, int(param), int(n), dist)


def able(module, backends, without):
    """Echelon and the contenders that support the row, and the names of those with another result."""
    found, wrong = [], []
    for contender in grid.contenders(module, backends):
        if any(text and text in contender.library for text in without):
            continue
        verdict = contender.check()
        if verdict == 1:
            found.append(contender)
        elif verdict == 0:
            wrong.append(contender.library)
    return found, wrong


def medians(found, rounds):
    """Nanoseconds per call, by the name of the contender."""
    calls = {}
    for contender in found:
        contender.time(1)  # includes start-up
        calls[contender] = max(1, min(20000, int(grid.BATCH_NS["cpu"] / max(contender.time(1), 1))))
    times = {contender: [] for contender in found}
    for turn in range(rounds):
        for contender in found if turn % 2 else found[::-1]:
            times[contender].append(contender.time(calls[contender]))
    return {contender.library: statistics.median(t) for contender, t in times.items()}


def main():
    arguments = parse(None)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "ECHELON_THREADS"):
        os.environ[name] = "1"
    import arrays
    module = arrays.Module(arguments.module.resolve(), 1)
    backends = arrays.backends(False, module)
    differs = False
    print(module.machine().decode(), flush=True)
    for text in arguments.rows:
        reason = module.start(row_of(text), 1)
        if reason:
            sys.exit(f"{text}: {reason}")
        found, wrong = able(module, backends, arguments.without.split(","))
        times = medians(found, arguments.rounds)
        own = times.pop("echelon")
        best = min(times.values()) / own if times else 0
        cells = "  ".join(f"{name} {t / 1e3:.2f}" for name, t in times.items())
        print(f"{text:36s} echelon {own / 1e3:.2f}  {cells}  speedup {best:.2f}"
              + "".join(f"  WRONG: {name}" for name in wrong), flush=True)
        differs = differs or bool(wrong)
        module.end()
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
