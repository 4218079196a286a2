#!/usr/bin/env python3
"""count.py - compares the instructions of calls on small arrays with the committed table bench/counts.csv.

    bench/count.py --program build/bench/bench_count [--update] [--only TEXT] [--write FILE | --read FILE]

Instructions are counted by callgrind, with the kernels for AVX2 and one thread, and do not depend on the load of the
machine. Valgrind has no AVX-512; if the processor has a counter of instructions that perf can read, the kernels for
AVX-512 are counted with it, too. Otherwise these rows are skipped.

A row whose number exceeds that of the table by more than the tolerance fails; the last line has the totals. Rows of an
instruction set that the table does not have at all are skipped; a single row that it lacks fails. Rows that
became smaller by more than the tolerance are printed: --update writes the new numbers. Numbers depend on the compiler
and on the C library, which the table names.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).with_name("counts.csv")
COLUMNS = "kernels,op,dtype,n,instructions"
TOLERANCE = {"avx2": 0.03, "avx512": 0.05}  # hardware counters also count a few instructions of interrupts
SLACK = 3  # instructions, for the shortest calls
FUNCTION = "bench_count_call"
SKIPPED = 77


def environment(kernels):
    """Returns the environment of the program: these kernels, and no library of a vendor."""
    return {**os.environ, "ECHELON_CPU": kernels, "ECHELON_BLAS": "none", "ECHELON_LAPACK": "none",
            "ECHELON_DEVICE": "cpu", "LC_ALL": "C"}


def count_by_callgrind(program, only):
    """Returns {(kernels, op, dtype, n): instructions}; None if valgrind is not installed."""
    if not shutil.which("valgrind"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--toggle-collect={FUNCTION}",
                   f"--zero-before={FUNCTION}", f"--dump-after={FUNCTION}", program, *only]
        result = subprocess.run(command, env=environment("avx2"), capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"count.py: {program} failed under valgrind:\n{result.stderr}")
        ids = result.stdout.split()
        numbers = [totals_of(f"{folder}/out.{i}") for i in range(1, len(ids) + 1)]
    return {("avx2", *name.split(",")): number for name, number in zip(ids, numbers)}


def totals_of(path):
    """Returns the number of instructions in a file of callgrind."""
    return int(re.search(r"^totals: (\d+)$", Path(path).read_text(), re.MULTILINE).group(1))


def count_by_perf(program, only):
    """Returns the counts with the kernels for AVX-512; None if the processor has no counter or no AVX-512."""
    flags = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    if "avx512bw" not in flags:
        return None
    result = subprocess.run([program, "--perf", *only], env=environment("avx512"), capture_output=True, text=True)
    if result.returncode == SKIPPED:
        return None
    if result.returncode != 0:
        sys.exit(f"count.py: {program} --perf failed:\n{result.stderr}")
    return parse(f"avx512,{line}" for line in result.stdout.split())


def parse(lines):
    """Returns the rows of a table."""
    rows = {}
    for line in lines:
        line = line.strip()
        if line and not line.startswith("#") and line != COLUMNS:
            *name, number = line.split(",")
            rows[tuple(name)] = int(number)
    return rows


def text_of(rows):
    """Returns the table as text."""
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True)
    version = compiler.stdout.split("\n")[0]
    head = [f"# Instructions per call, one thread, by bench/count.py; {version}; {' '.join(platform.libc_ver())}", COLUMNS]
    return "\n".join(head + [",".join([*name, str(number)]) for name, number in rows.items()]) + "\n"


def compare(measured, table):
    """Prints the rows that differ and the totals; returns the exit status."""
    failed = passed = 0
    known = {name[0] for name in table}
    unknown = [name for name in measured if name[0] not in known]
    for kernels in sorted({name[0] for name in unknown}):
        print(f"skip {sum(name[0] == kernels for name in unknown)} rows of {kernels}: the table has none (--update adds them)")
    for name, number in measured.items():
        expected = table.get(name)
        limit = max(SLACK, (expected or 0) * TOLERANCE[name[0]])
        if name[0] not in known:
            continue
        if expected is None:
            failed += 1
            print(f"FAIL {','.join(name)}: {number} instructions; the table has no such row")
        elif number > expected + limit:
            failed += 1
            print(f"FAIL {','.join(name)}: {number} instructions, {expected} in the table (+{number / expected - 1:.1%})")
        else:
            passed += 1
            if number < expected - limit:
                print(f"less {','.join(name)}: {number} instructions, {expected} in the table ({number / expected - 1:.1%})")
    skipped = [name for name in table if name not in measured]
    for kernels in sorted({name[0] for name in skipped}):
        print(f"skip {sum(name[0] == kernels for name in skipped)} rows of {kernels}: not counted in this run")
    print(f"{passed} passed, {failed} failed, {len(skipped) + len(unknown)} skipped")
    return 1 if failed else 0 if passed else SKIPPED


def measure(arguments):
    """Counts with all methods that this machine has."""
    rows = {}
    for what, method in (("valgrind", count_by_callgrind), ("AVX-512 with a counter of instructions", count_by_perf)):
        some = method(arguments.program, arguments.only)
        if some is None:
            print(f"skip the rows that need {what}")
        rows.update(some or {})
    return rows


def main():
    parser = argparse.ArgumentParser(description="compare instruction counts of small calls with the table")
    parser.add_argument("--program", help="bench_count")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--only", nargs="*", default=[], metavar="TEXT", help="rows whose op,dtype,n begins so")
    parser.add_argument("--read", type=Path, help="compare this table instead of counting")
    parser.add_argument("--write", type=Path, help="also write the counts to this file")
    arguments = parser.parse_args()
    if not arguments.read and not arguments.program:
        parser.error("--program or --read is required")
    measured = parse(arguments.read.open()) if arguments.read else measure(arguments)
    if arguments.write:
        arguments.write.write_text(text_of(measured))
    table = parse(arguments.table.open()) if arguments.table.exists() else {}
    if not arguments.update:
        return compare(measured, table)
    if arguments.only:
        measured = {**table, **measured}
    else:
        measured.update({name: number for name, number in table.items() if name[0] not in {m[0] for m in measured}})
    arguments.table.write_text(text_of(measured))
    print(f"{arguments.table}: {len(measured)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
