#!/usr/bin/env python3
"""differential.py - compares the library and the command with NumPy and exact Python on random input.

    python3 tests/differential.py --seconds 45 --seed 1           runs random cases for 45 seconds
    python3 tests/differential.py --seed 1 --only sort --case 7   runs exactly one case
    python3 tests/differential.py --list                          prints the operations

A case depends only on its operation, the seed and its number. Each failure prints the command that repeats the case.
The exit status is 1 if there is a difference, or if a function of the library or a subcommand has no test. It is 77 if
NumPy is missing.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import faulthandler
import mmap
import os
import signal
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of NumPy
try:
    import numpy
except ImportError:
    print("skip: NumPy is not installed for", sys.executable)
    sys.exit(77)
from differential import case, command, library
from differential import bits, calls, command_family, groups, matrices, ordering  # noqa: F401  they register operations
from differential import columns, quantile, search, sets, strings, sums, systems, tables, topk, unique  # noqa: F401

SOURCE = Path(__file__).resolve().parents[1]
HANG_SECONDS = 300
USE_COMMAND = ("echelon_", "csv_")  # operations whose names begin with one of these run the command
# Functions without a differential test, and the reason. A name that ends in "_" is a prefix.
EXCEPTIONS = {
    "ech_set_stream": "needs a stream of CUDA; test_context and test_stream test it",
    "ech_set_private_stream": "needs a GPU; test_stream tests it",
    "ech_get_stream": "needs a GPU; test_stream tests it",
    "ech_record_event": "needs an event of CUDA; test_stream tests it",
    "ech_wait_event": "needs an event of CUDA; test_stream tests it",
    "ech_comm_": "needs several ranks; test_comm tests it",
    "ech_dist_": "needs several ranks; test_dist, _select, _linear and _gf2 compare it with one device",
    "ech_solve_sparse": "uses optional libraries; test_sparse_direct tests each of them",
    "ech_solve_sparse_explain": "the text depends on the installed libraries; tests/cli/solve_sparse tests it",
    "ech_sparse_factor_": "uses optional libraries; test_sparse_direct tests each of them",
}


def coverage_failures(lib):
    """Functions of the library without a test and without an entry in EXCEPTIONS, and obsolete entries."""
    covered = {name for op in case.OPERATIONS.values() for name in op.covers}
    exported = set(lib.exported)
    prefixes = tuple(name for name in EXCEPTIONS if name.endswith("_"))
    names = {name for name in EXCEPTIONS if not name.endswith("_")}
    untested = {name for name in exported - covered - names if not name.startswith(prefixes)}
    failures = [f"{name} is exported, but no operation tests it" for name in sorted(untested)]
    failures += [f"{name} is tested, but not exported" for name in sorted(covered - exported)]
    failures += [f"{name} is an exception, but is not exported" for name in sorted(names - exported)]
    failures += [f"{name} is an exception, but is tested" for name in sorted(names & covered)]
    failures += [f"{prefix} is an exception, but no function has this prefix" for prefix in prefixes
                 if not any(name.startswith(prefix) for name in exported)]
    return failures


class Runner:
    def __init__(self, options, current):
        self.options, self.current = options, current
        self.lib = library.Library(options.library)
        command.COMMAND.update(path=os.path.abspath(options.command), directory=options.directory)
        self.handle = ctypes.c_void_p()
        self.failures = 0

    def repeat(self, name, index):
        o = self.options
        words = ["python3", os.path.relpath(__file__), f"--seed {o.seed} --only {name} --case {index}"]
        words += [f"--library {os.path.relpath(o.library)}", f"--command {os.path.relpath(o.command)}"]
        words += [f"--device {o.device}"] if o.device != "cpu" else []
        words += [f"--cpu {o.cpu}"] if o.cpu != "best" else []
        return " ".join(words)

    def open(self):
        if self.handle.value:
            self.lib.raw("ech_close", self.handle.value)
        self.lib.call("ech_open", ctypes.addressof(self.handle), self.options.device.encode())

    def run_case(self, op, index):
        text = self.repeat(op.name, index).encode()[:4000]
        self.current[:] = struct.pack("<dI", time.time(), len(text)) + text + bytes(len(self.current) - 12 - len(text))
        t = case.Case(self.lib, self.handle.value, self.options.device, self.options.seed, op.name, index)
        begin = time.monotonic()
        try:
            op.function(t)
            problem = None
        except (case.Difference, library.Status) as error:
            problem = str(error)
        except Exception:  # a fault of the test
            problem = "".join(traceback.format_exc().splitlines(True)[-9:])
        t.release()
        op.seconds += time.monotonic() - begin
        op.cases += 1
        if self.options.verbose:
            print(f"{op.name} {index}:", ", ".join(f"{key}={value}" for key, value in t.notes.items()))
        if problem is None:
            return
        op.failures += 1
        self.failures += 1
        if op.failures <= self.options.most:
            print(f"FAIL {op.name}, case {index}: {problem}")
            print("    ", ", ".join(f"{key}={value}" for key, value in t.notes.items()))
            print("    ", self.repeat(op.name, index), flush=True)
        if "ECH_ERR_DEVICE" in problem:
            self.open()

    def run(self):
        o = self.options
        names = o.only or sorted(case.OPERATIONS)
        if o.device != "cpu":  # the command is tested on the CPU, and memory is that of the host
            names = [name for name in names if o.only or not name.startswith(USE_COMMAND)]
        if not command.available():
            print("skip: the command", o.command, "does not exist")
            names = [name for name in names if not name.startswith(USE_COMMAND)]
        operations = [case.OPERATIONS[name] for name in names]
        self.open()
        if o.case is not None:
            for op in operations:
                self.run_case(op, o.case)
        else:
            begin = last = time.monotonic()
            while time.monotonic() - begin < o.seconds:
                op = min(operations, key=lambda op: (op.seconds / op.weight, op.name))
                self.run_case(op, o.first + op.cases)
                if time.monotonic() - last > 600:
                    last = time.monotonic()
                    print(sum(op.cases for op in operations), "cases,", self.failures, "failures", flush=True)
        self.lib.raw("ech_close", self.handle.value)
        if not o.only:
            problems = coverage_failures(self.lib) + command.coverage_failures()
            if all(op.cases >= 20 for op in operations) and o.device == "cpu":
                covered = {name for op in operations for name in op.covers}
                problems += [f"{name} was never called" for name in sorted(covered - self.lib.called)]
            for problem in problems:
                print("FAIL", problem)
            self.failures += len(problems)
        if o.case is None:
            for op in operations:
                print(f"{op.name:24} {op.cases:8} cases, {op.seconds:7.1f} s, {op.failures} failed")
        total = sum(op.cases for op in operations)
        failed = sum(op.failures for op in operations)
        print(f"{total - failed} passed, {self.failures} failed, 0 skipped", flush=True)
        return 1 if self.failures else 0


def run_variants(options):
    """Runs the cases with the instruction sets of the CPU, which the library chooses once per process."""
    variants = {"best": 0.5, "avx2": 0.25, "portable": 0.25}  # shares of the time
    if options.cpu != "all":
        variants = {options.cpu: 1}
    elif options.case is not None or options.device != "cpu":
        variants = {"best": 1}
    status, seconds = 0, options.seconds
    for number, (options.cpu, share) in enumerate(variants.items()):
        options.seconds, options.first = seconds * share, 1_000_000_000 * number  # other cases
        if options.cpu != "best":
            os.environ["ECHELON_CPU"] = options.cpu
        print(f"NumPy {numpy.__version__}, seed {options.seed}, device {options.device}, "
              f"instruction set {options.cpu}, {options.library}", flush=True)
        status |= guarded(options)
    return status


def guarded(options):
    """Runs the cases in a child process, so that a crash or an endless loop is reported with its case."""
    current = mmap.mmap(-1, 4096)
    child = os.fork()
    if child == 0:
        faulthandler.enable()
        try:
            status = Runner(options, current).run()
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        os._exit(status)
    hangs = False
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        began, length = struct.unpack("<dI", current[:12])
        if began and time.time() - began > HANG_SECONDS and not hangs:
            hangs = True
            print(f"FAIL a case runs for more than {HANG_SECONDS} s")
            os.kill(child, signal.SIGABRT)
        time.sleep(0.05)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    length = struct.unpack("<dI", current[:12])[1]
    print(f"FAIL the process ended with signal {os.WTERMSIG(status)} in\n    ", current[12:12 + length].decode())
    print("0 passed, 1 failed, 0 skipped")
    return 1


def main():
    parser = argparse.ArgumentParser(description="Compares Echelon with NumPy and exact Python on random input.")
    parser.add_argument("--seconds", type=float, default=45, help="how long to run, default 45")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", default=str(SOURCE / "build/src/libechelon.so"))
    parser.add_argument("--command", default=str(SOURCE / "build/cli/echelon"))
    parser.add_argument("--device", default="cpu", help="cpu, simt or cuda")
    parser.add_argument("--cpu", default="all", choices=["all", "best", "avx512", "avx2", "portable"],
                        help="the instruction set of the CPU; default: the best one half of the time, then the others")
    parser.add_argument("--only", action="append", help="only this operation; may be repeated")
    parser.add_argument("--case", type=int, help="only the case with this number")
    parser.add_argument("--most", type=int, default=5, help="failures to print per operation, default 5")
    parser.add_argument("--list", action="store_true", help="print the operations")
    parser.add_argument("--verbose", action="store_true", help="print each case")
    options = parser.parse_args()
    if options.list:
        for op in sorted(case.OPERATIONS.values(), key=lambda op: op.name):
            print(op.name, *op.covers)
        return 0
    unknown = [name for name in options.only or [] if name not in case.OPERATIONS]
    if unknown:
        parser.error(f"no operation is called {unknown[0]}; --list prints them")
    with tempfile.TemporaryDirectory() as options.directory:
        return run_variants(options)


if __name__ == "__main__":
    sys.exit(main())
