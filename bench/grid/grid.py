#!/usr/bin/env python3
"""grid.py - measures the rows of the benchmark grid, and writes a CSV file.

    bench/grid/grid.py cpu|gpu MODULE --csv FILE [--rows N] [--seed N] [--seconds N] [--only TEXT] [--threads N]
        [--max-bytes N]

MODULE is grid_cpu.so or grid_gpu.so. A file that exists is continued: its rows are not measured again. The exit status
is 0 if all rows are in the file, 3 if the time limit ended the run, and 1 if the program must be started again.

Every contender computes a row once, and the results are compared with Echelon's. All are then timed briefly. The two
fastest competitors, and those within 20 % of them, are measured in turn with Echelon, several times; the medians are
written. A row during which a previous run ended is written as "crashed" and not repeated.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import csv
import datetime
import gc
import os
import shlex
import statistics
import sys
import time
import warnings
from pathlib import Path

from design import DTYPES, Design, bytes_of

FIELDS = ("id", "op", "dtype", "param", "n", "dist", "library", "version", "ns", "gb_per_s", "limit", "verdict")
UNSUPPORTED = collections.Counter()  # calls of Python libraries, by library and exception
ROUNDS, BATCH_NS = 7, {"cpu": 2e6, "gpu": 4e5}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("device", choices=("cpu", "gpu"))
    parser.add_argument("module", type=Path)
    parser.add_argument("--csv", type=Path, required=True, help="the file to write or to continue")
    parser.add_argument("--rows", type=int, default=0, help="of the design; 0: until all pairs are covered")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="after which no further row begins")
    parser.add_argument("--only", default="", help="only rows whose id contains one of these texts, separated by commas")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--max-bytes", type=int, help="of the arrays of a row")
    return parser.parse_args(arguments)


class Native:
    """A contender of the module."""

    def __init__(self, module, number):
        self.module, self.number = module, number
        self.library, self.version = module.contenders[number]

    def check(self):
        """1: equal, 0: wrong, -1: not supported."""
        return self.module.check(self.number) if self.number else 1

    def time(self, calls):
        return self.module.time(self.number, calls)


class Python:
    """A contender in Python: the work is a function without parameters."""

    def __init__(self, module, backend, library, work):
        self.module, self.backend, self.library, self.work = module, backend, library, work
        self.version = backend.versions[library]

    def check(self):
        case = self.module.arrays().contents
        try:
            parts = list(self.backend.results(self.work()))
        except Exception as error:  # each library has its own exceptions for what it does not support
            if "illegal" in str(error):  # a fault of the GPU ends all later work of the process
                sys.exit(f"{self.library}: {error}")
            UNSUPPORTED[f"{self.library}: {type(error).__name__}"] += 1
            return -1
        for number, (pointer, dtype, n, owner) in enumerate(parts[:case.n_slots]):
            slot, stride = case.slots[number], bytes_of(dtype)
            if self.module.row.op == "pairs" and number == 1:
                n, stride = n * stride // slot.stride_bytes, slot.stride_bytes
            if self.module.row.op == "partition":
                n = slot.n  # the order of the other elements differs
            if not self.module.check_array(number, pointer, DTYPES.index(dtype), stride, n):
                return 0
            del owner
        return 1

    def time(self, calls):
        work = self.work
        for number in range(-self.module.lead(), calls):
            if number == 0:
                self.module.mark()
            work()
        return self.module.since_mark() / calls


def contenders(module, backends):
    """Echelon, then the competitors that may support the row."""
    import rivals
    found = [Native(module, number) for number in range(len(module.contenders))]
    for backend in backends:
        if not backend.supports(module.row.dtype):
            continue
        try:
            a = module.views(backend.view, backend)
            if hasattr(backend, "convert"):
                backend.convert(a)
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            continue  # a dtype that the library does not have
        for library in backend.libraries:
            try:
                work = rivals.call(library, backend.modules[library], a) if library in backend.modules else None
            except (TypeError, ValueError, RuntimeError, ImportError):
                work = None
            if work:
                found.append(Python(module, backend, library, work))
    return found


def brief(contender, target):
    """Nanoseconds per call, the best of two batches, and the calls of a batch."""
    first = contender.time(1)
    calls = max(1, min(20000, int(target / max(first, 1))))
    return (first, calls) if first > 5e8 else (min(contender.time(calls) for _ in range(2)), calls)


def measure(device, able):
    """Median nanoseconds of each contender."""
    times, calls = {}, {}
    for contender in able:
        times[contender], calls[contender] = brief(contender, BATCH_NS[device])
        if calls[contender] > 1:  # the first estimate includes start-up
            calls[contender] = max(1, min(20000, int(BATCH_NS[device] / max(times[contender], 1))))
    others = sorted((c for c in able[1:]), key=times.get)
    best = [c for i, c in enumerate(others) if i < 2 or times[c] < 1.2 * times[others[0]]]
    found = {c: [] for c in able[:1] + best}
    slow = sum(times[c] * calls[c] for c in found)
    rounds = ROUNDS if slow < 1e8 else 5 if slow < 1e9 else 3
    for turn in range(rounds):
        order = list(found) if turn % 2 else list(found)[::-1]
        for contender in order:
            found[contender].append(contender.time(calls[contender]))
    times.update({c: statistics.median(t) for c, t in found.items()})
    return times


def lines(row, module, device, backends):
    """The lines of a row in the CSV file."""
    about = [row.id, row.op, row.dtype, row.param, row.n, row.dist]
    able, wrong = [], set()
    for contender in contenders(module, backends):
        verdict = contender.check()
        if verdict == -1:
            continue
        able.append(contender)
        if verdict == 0:
            wrong.add(contender)
    gc.disable()
    times = measure(device, able)
    gc.enable()
    case = module.arrays().contents
    moved = case.read + case.written
    calls = max(1, min(20000, int(BATCH_NS[device] / times[able[0]])))
    limit = min(module.limit(calls) for _ in range(3)) / times[able[0]]
    for contender in able:
        verdict = "wrong" if contender in wrong else "echelon" if contender is able[0] else "equal"
        ns = times[contender]
        yield about + [contender.library, contender.version, f"{ns:.1f}", f"{moved / ns:.2f}",
                       f"{min(limit, 9.99):.3f}" if contender is able[0] else "", verdict]


def reason_line(row, reason):
    return [row.id, row.op, row.dtype, row.param, row.n, row.dist, "echelon", "", "", "", "", reason]


def read_ids(path):
    if not path.exists():
        return set()
    with path.open() as file:
        return {line.split(",", 1)[0] for line in file if not line.startswith("#")}


def write(path, rows):
    """Appends lines at once, so that an interrupted run leaves whole rows."""
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def header(path, arguments, module, design, backends):
    versions = {c[0]: c[1] for c in module.contenders}
    for backend in backends:
        versions.update(backend.versions)
    words = [word for word in sys.argv[1:] if not os.path.isabs(word)]
    text = (f"# {datetime.date.today()}; grid.py {shlex.join(words)}; load {os.getloadavg()[0]:.1f}\n"
            f"# device: {module.machine().decode()}\n# versions: "
            + "; ".join(f"{name} {version}" for name, version in versions.items())
            + f"\n# design: seed {arguments.seed}; {design.coverage()}\n")
    if not path.exists():
        path.write_text(text + ",".join(FIELDS) + "\n")


def preload():
    """Loads PyTorch and CuPy before the module: their cuBLAS may be newer than that of the toolkit, and only the first
    one of the same name is loaded."""
    for name in ("torch", "cupy"):
        try:
            __import__(name)
        except ImportError:
            pass


def report(done, design, begin, status):
    end = "the file has all rows of the design" if status == 0 else "the time limit ended the run"
    print(f"{done} rows in {time.monotonic() - begin:.0f} s; {end}")
    for reason, count in UNSUPPORTED.items():
        print(f"not supported: {count} calls of {reason}")
    print(design.coverage(), flush=True)
    return status


def main():
    arguments = parse(None)
    begin = time.monotonic()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "ECHELON_THREADS"):
        if arguments.device == "cpu":
            os.environ[name] = str(arguments.threads)
    warnings.simplefilter("ignore")  # of PyTorch's sparse matrices
    import arrays
    design = Design(arguments.device, arguments.seed, arguments.max_bytes)
    only = arguments.only.split(",")
    rows = [row for row in design.extend(arguments.rows) if any(text in row.id for text in only)]
    if arguments.device == "gpu":
        preload()
    module = arrays.Module(arguments.module.resolve(), arguments.threads)
    backends = arrays.backends(arguments.device == "gpu", module)
    if arguments.device == "cpu" and any("torch" in b.modules for b in backends):
        backends[-1].torch.set_num_threads(arguments.threads)
    header(arguments.csv, arguments, module, design, backends)
    done, marker = read_ids(arguments.csv), arguments.csv.with_suffix(".current")
    if marker.exists():
        crashed = marker.read_text()
        write(arguments.csv, [reason_line(row, "crashed") for row in rows if row.id == crashed and crashed not in done])
        done.add(crashed)
    rows = [row for row in rows if row.id not in done]
    for number, row in enumerate(rows):
        if time.monotonic() - begin > arguments.seconds:
            marker.unlink(missing_ok=True)
            return report(number, design, begin, 3)
        marker.write_text(row.id)
        reason = module.start(row, arguments.seed)
        found = [reason_line(row, f"skipped: {reason}".replace(",", ";"))] if reason else \
            list(lines(row, module, arguments.device, backends))
        write(arguments.csv, found)
        best = min((float(line[8]) for line in found[1:] if line[-1] == "equal"), default=0)
        if not reason:
            print(f"{row.id:44s} {float(found[0][8]):14.0f} ns  ratio {best / float(found[0][8]):6.2f}"
                  + "".join(f"  WRONG: {line[6]}" for line in found if line[-1] == "wrong"), flush=True)
        else:
            print(f"{row.id:44s} {reason}", flush=True)
        module.end()
        if row.n * bytes_of(row.dtype) > 1 << 26:
            for backend in backends:
                backend.release()
    marker.unlink(missing_ok=True)
    return report(len(rows), design, begin, 0)


if __name__ == "__main__":
    sys.exit(main())
