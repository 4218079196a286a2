#!/usr/bin/env python3
"""simt_tiles.py - runs cases on the SIMT emulator, and fails if a kernel is not launched, or never with enough blocks.

    simt_tiles.py --cases LIST --programs FOLDER [--check] --write TALLY       runs the lines of tests/kernel_cases.txt
    simt_tiles.py --modules FOLDER --exceptions FILE [--check] --read PATH     counts; PATH: a tally, or a folder of them
    simt_tiles.py --cases ... --modules ... [--five OPERATIONS] [--also COMMAND...]    both; COMMAND runs after the cases

A tally is a file that a run with ECHELON_SIMT_TALLY writes. Every kernel of every module in the folder must be launched,
those of OPERATIONS ("scan,reduce") with at least five blocks. --check: only the lines with the word "check", and one
block is enough. A line of the exceptions is "module kernel blocks reason": patterns of the shell for a module and a
kernel, the number of blocks that suffices, and the reason; the first line that matches counts. "1,long": only the run
without --check launches the kernel.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

LADDERS = "ladder_"  # ctest runs each of their kernels with ladder.sh


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    for name in ("--cases", "--programs", "--write", "--modules", "--exceptions"):
        parser.add_argument(name)
    parser.add_argument("--five", default="")
    parser.add_argument("--read", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--also", nargs=argparse.REMAINDER)
    return parser.parse_args()


def lines_of(path):
    with open(path) as file:
        return [line for line in file if line.strip() and line[0] != "#"]


def run(command, tally, options=""):
    """Runs a program; returns whether it succeeded."""
    environment = dict(os.environ, ECHELON_SIMT_TALLY=tally)
    if options:
        environment["ECHELON_SIMT"] = options
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print("FAIL %s: status %d\n%s" % (" ".join(command), done.returncode, done.stdout))
    return done.returncode == 0


def run_cases(options, tally):
    """Runs the lines of the list, and the other command; returns the numbers of those that pass and that fail."""
    results = []
    for line in lines_of(options.cases):
        when, program, *words = line.split()
        when, *emulator = when.split(",")
        if when == "check" or not options.check:
            program = os.path.join(options.programs, "test_" + program)
            results.append(run([program, "--device", "simt"] + words, tally, ",".join(emulator)))
    if options.also:
        results.append(run(options.also, tally))
    return results.count(True), results.count(False)


def read(paths):
    """The largest number of blocks of each (module, kernel); 0: not launched."""
    most = {}
    for path in paths:
        for name in [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]:
            for line in lines_of(name):
                module, kernel, _, blocks = line.split()
                key = module.replace(".so", ""), kernel
                most[key] = max(most.get(key, 0), int(blocks))
    return most


def blocks_needed(options, rows, used, module, kernel):
    for row in rows:
        if fnmatch.fnmatch(module, row[0]) and fnmatch.fnmatch(kernel, row[1]):
            used.add(tuple(row))
            blocks, _, long = row[2].partition(",")
            return min(int(blocks), 0 if long else 1) if options.check else int(blocks)
    five = options.five and re.match("(%s)_" % options.five.replace(",", "|"), module)
    return 5 if five and not options.check else 1


def count(options, most):
    """Compares the launches with what is needed; returns the numbers of kernels that pass and that fail."""
    rows = [line.split(None, 3) for line in lines_of(options.exceptions)]
    modules = sorted(name[:-3] for name in os.listdir(options.modules)
                     if name.endswith(".so") and not name.startswith(LADDERS))
    used, passed, failures = set(), 0, []
    loaded = {module for module, _ in most}
    for module in modules:
        if module not in loaded:
            failures.append("%s: no kernel of this module was launched" % module)
    for (module, kernel), blocks in sorted(most.items()):
        if module not in modules:
            continue  # a module of the emulator's own tests
        least = blocks_needed(options, rows, used, module, kernel)
        if blocks >= least:
            passed += 1
        else:
            failures.append("%s %s: at most %d blocks instead of %d" % (module, kernel, blocks, least))
    for row in rows:
        if tuple(row) not in used:
            failures.append("%s: the exception matches no kernel: %s" % (options.exceptions, " ".join(row[:2])))
    for failure in failures:
        print("FAIL " + failure)
    if failures:
        print("Each kernel needs a case in tests/kernel_cases.txt, or an exception with a reason.")
    return passed, len(failures) or int(not passed)


def main():
    options = arguments()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tally = options.write or os.path.join(folder, "tally")
        if options.cases:
            passed, failed = run_cases(options, tally)
        if options.modules:
            paths = options.read + ([tally] if options.cases else [])
            kernels, missing = count(options, read(paths))
            passed, failed = passed + kernels, failed + missing
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
