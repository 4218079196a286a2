#!/usr/bin/env python3
"""faults.py - lets each call of the C library fail that the command or the library makes, one per run.

    faults.py --inject build/tests/fault/inject.so [--command build/cli/echelon]
        [--operations build/tests/fault/fault_operations [--simt LIBRARY]]
        [--files build/tests/fault/sort_file] [--every N] [--only TEXT]

A run of the command in which a call fails must end with the results of a run without failures, or with exit status
2, 3 or 4 and a message on standard error.  It must not end by a signal or take longer than a minute.
An output that existed before keeps its contents, or receives the complete result.  No other file
remains.  Calls that are interrupted, or that transfer one byte, must not change the result.

operations.c states what a run of the library must do.  With --simt, it also runs on the emulator.
sort_file.c sorts a file that is larger than its memory budget.

--every N tests one position in N; the default is all.  inject.c describes the kinds of failures.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import gzip
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

KINDS = ["memory", "thread", "open", "read", "write", "file", "eintr", "short", "exist"]
HARMLESS = ["thread", "eintr", "short", "exist"]
OLD = b"the old contents\n"
NEW = ["new.npy"] # outputs that do not exist before

# The words after "echelon", and the output files; None: also the standard output may differ.
CASES = [
    ("sort a.npy -o out.npy", ["out.npy"]),
    ("sort a.txt", []),
    ("sort a.u32 -o a.u32", ["a.u32"]),
    ("sort --column value table.csv -o out.csv", ["out.csv"]),
    ("sort --argsort a.npy -o out.npy --json", ["out.npy"]),
    ("sort a.txt.gz -o out.txt.gz", ["out.txt.gz"]),
    ("stats -k value quoted.csv.zst", []),
    ("sort big.u32 -o out.u32 --threads 4", ["out.u32"]),
    ("sort a.npy -o new.npy", ["new.npy"]),
    ("unique --count a.txt", []),
    ("unique a.u32 -o out.u32", ["out.u32"]),
    ("select >0 a.npy -o out.npy", ["out.npy"]),
    ("shuf --seed 1 a.txt", []),
    ("shuf --seed 1 a.npy -o out.npy", ["out.npy"]),
    ("stats a.npy", []),
    ("stats -k value table.csv --json", []),
    ("reduce sum a.txt", []),
    ("scan sum a.npy -o out.npy", ["out.npy"]),
    ("hist a.npy --svg out.svg", ["out.svg"]),
    ("gen normal -N 5000 --type f64 -o out.npy", ["out.npy"]),
    ("gen records -N 30000 --checksum -o out.raw", ["out.raw"]),
    ("check sorted.raw -o out.sum --record 10", ["out.sum"]),
    ("check --summaries a.sum --record 10", []),
    ("gf2 rank m.pbm", []),
    ("gf2 rref m.pbm -o out.pbm", ["out.pbm"]),
    ("gf2 inverse m.pbm -o out.npy", ["out.npy"]),
    ("matmul a2.npy b2.npy -o out.npy", ["out.npy"]),
    ("matrix info s.mtx", []),
    ("solve s.mtx b.mtx -o out.mtx", ["out.mtx"]),
    ("solve --method lu s.mtx b.mtx -o out.mtx", ["out.mtx"]),
    ("explain sort -N 1M --json", []),
    ("info", None), # reports the failure
]


# The words after "sort_file", with the transfers of the external sort.
FILE_CASES = [
    ("numbers big.u32 out.u32", "none"),
    ("numbers big.u32 big.u32", "threads"),
    ("argsort big.u32 out.u32", "none"),
    ("records big.u32 out.u32", "io_uring"),
    ("stream big.u32 out.u32", "none"),
    ("stream big.u32 out.u32", "threads"),
    ("lines long.txt out.txt", "none"),
    ("resume big.u32 out.u32", "none"),
    ("resume big.u32 out.u32", "threads"),
]


def npy(path, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def zstd(data):
    """A frame of one block that is not compressed."""
    block = struct.pack("<I", len(data) << 3 | 1)[:3] + data
    return b"\x28\xb5\x2f\xfd\x60" + struct.pack("<H", len(data) - 256) + block


def make_inputs(folder):
    rng = random.Random(1)
    values = [rng.uniform(-9, 9) for _ in range(500)]
    npy(folder + "/a.npy", "<f8", "(500,)", struct.pack("<500d", *values))
    for name, n in ("a.u32", 500), ("big.u32", 300000):
        with open(folder + "/" + name, "wb") as file:
            file.write(struct.pack("<%dI" % n, *(rng.randrange(2**32) for _ in range(n))))
    with open(folder + "/long.txt", "w") as file:
        file.writelines("%d line\n" % rng.randrange(2**40) for _ in range(200000))
    with open(folder + "/sorted.raw", "wb") as file:
        file.write(b"".join(struct.pack(">QH", i // 3, 0) for i in range(300000)))
    with open(folder + "/a.sum", "wb") as file: # of two records
        for number in 0, 0, 2, 1, 99:
            file.write(struct.pack("<QQ", 0, number))
        file.write(b"0123456789" * 2)
    with open(folder + "/a.txt", "w") as file:
        file.writelines("%d\n" % rng.randrange(100) for _ in range(300))
    with open(folder + "/table.csv", "w") as file:
        file.write("id,value\n")
        file.writelines("%d,%.3f\n" % (i, rng.uniform(0, 9)) for i in range(300))
    with open(folder + "/a.txt.gz", "wb") as file:
        file.write(gzip.compress(b"".join(b"%d\n" % rng.randrange(100) for _ in range(300)), mtime=0))
    with open(folder + "/quoted.csv.zst", "wb") as file:
        lines = ['"%d\n",%d\n' % (i, rng.randrange(9)) for i in range(99)]
        file.write(zstd(("id,value\n" + "".join(lines)).encode()))
    for name in "a2.npy", "b2.npy":
        npy(folder + "/" + name, "<f4", "(20, 20)",
            struct.pack("<400f", *(rng.uniform(-1, 1) for _ in range(400))))
    with open(folder + "/m.pbm", "w") as file: # a triangle with ones in the diagonal
        file.write("P1\n30 30\n")
        for row in range(30):
            file.write(" ".join(str(1 if i == row else rng.randrange(2) if i > row else 0)
                                for i in range(30)) + "\n")
    with open(folder + "/s.mtx", "w") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n40 40 79\n")
        for i in range(1, 41):
            file.write("%d %d 4\n" % (i, i) + ("%d %d -1\n" % (i + 1, i) if i < 40 else ""))
    with open(folder + "/b.mtx", "w") as file:
        file.write("%%MatrixMarket matrix array real general\n40 1\n")
        file.writelines("%d\n" % (i + 1) for i in range(40))


def contents(folder):
    files = {}
    for name in os.listdir(folder):
        if os.path.isdir(folder + "/" + name):
            continue
        with open(folder + "/" + name, "rb") as file:
            files[name] = file.read()
    return files


# glibc ends the process if there is no memory for thread-local data, which the shared memory of the
# emulator is.
THREAD_LOCAL_BYTES = 200 << 10


# The exit status of operations.c if glibc has left a library half loaded, and how often that is
# tolerated per operation. Such a run counts as skipped.
LOADER = 3
MOST_LOADER = 2


class Runner:
    def __init__(self, options, inputs):
        self.options, self.inputs = options, inputs
        self.transfers = ""
        self.passed = self.failed = self.skipped = 0
        self.runs = 0

    def run(self, words, outputs, kind, position):
        """Returns status, standard output, standard error, files and the number of calls."""
        folder = tempfile.mkdtemp()
        counter = tempfile.mktemp()
        try:
            for name, data in self.inputs.items():
                with open(folder + "/" + name, "wb") as file:
                    file.write(data)
            for name in outputs or []:
                if name not in self.inputs and name not in NEW:
                    with open(folder + "/" + name, "wb") as file:
                        file.write(OLD)
            environment = dict(os.environ, LD_PRELOAD=self.options.inject, ECHELON_DEVICE="cpu",
                               TRANSFERS=self.transfers,
                               ECHELON_BLAS="none", ECHELON_LAPACK="none", OMP_NUM_THREADS="3",
                               FAULT="%s:%d" % (kind, position), FAULT_COUNT=counter)
            try:
                process = subprocess.run([self.options.command] + words, cwd=folder,
                                         env=environment, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         timeout=60)
                status, out, err = process.returncode, process.stdout, process.stderr
                if "--json" in words or words[0] == "info": # times and free memory
                    out = re.sub(rb"[0-9.e+-]+", b"0", out)
            except subprocess.TimeoutExpired:
                status, out, err = "time limit", b"", b""
            self.runs += 1
            calls = 0
            if os.path.exists(counter):
                with open(counter) as file:
                    calls = int(file.read())
                os.remove(counter)
            return status, out, err, contents(folder), calls
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def judge(self, kind, outputs, before, good, got):
        """The reason why this run is wrong; None: it is right."""
        status, out, err, files, _ = got
        if status not in (0, 1, 2, 3, 4):
            return "status %s" % status
        extra = sorted(set(files) - set(good[3]) - set(before))
        if extra:
            return "the file %s remains" % extra[0]
        for name in before:
            if name not in (outputs or []) and files.get(name) != before[name]:
                return "the input %s has changed" % name
        if status == good[0]:
            if outputs is not None and out != good[1]:
                return "status %d, but another standard output" % status
            for name in outputs or []:
                if files.get(name) != good[3].get(name):
                    return "status %d, but other contents of %s" % (status, name)
            return None
        if kind in HARMLESS:
            return "status %d" % status
        if status < 2:
            return "status %d instead of %d" % (status, good[0])
        if not err.startswith(b"echelon"):
            return "status %d, and the message %r" % (status, err[:100])
        for name in outputs or []:
            if files.get(name) not in (before.get(name), good[3].get(name)):
                return "status %d, and %s is neither old nor complete" % (status, name)
        return None

    def case(self, text, outputs):
        words = text.split()
        before = dict(self.inputs)
        before.update({name: OLD for name in outputs or []
                       if name not in self.inputs and name not in NEW})
        for kind in KINDS:
            if kind == "exist" and words[0] == "resume": # a manifest of another program is an error
                continue
            good = self.run(words, outputs, kind, -1)
            if b"was built without" in good[2]:
                print("skipped: echelon %s: a library is missing" % text)
                self.skipped += 1
                return
            if good[0] != 0:
                print("FAIL %s: status %s without a failure: %s" % (text, good[0], good[2]))
                self.failed += 1
                return
            first = random.Random(text + kind).randrange(self.options.every)
            for position in range(first, good[4], self.options.every):
                got = self.run(words, outputs, kind, position)
                reason = self.judge(kind, outputs, before, good, got)
                if reason:
                    print("FAIL FAULT=%s:%d echelon %s: %s" % (kind, position, text, reason))
                    sys.stdout.write(got[2].decode(errors="replace")[:300])
                    self.failed += 1
                else:
                    self.passed += 1


    def call(self, device, name):
        for kind in ["memory", "thread"] if device == "cpu" else ["memory"]:
            good = self.run_operation(device, name, kind, -1)
            if good[0] != 0 or good[2] == 0 and kind == "memory":
                print("FAIL %s on %s: status %s without a failure" % (name, device, good[0]))
                self.failed += 1
                return
            every = self.options.every
            loaders = 0
            for position in range(random.Random(name + kind).randrange(every), good[2], every):
                got = self.run_operation(device, name, kind, position)
                if got[:2] == good[:2]:
                    self.passed += 1
                    continue
                if device == "simt" and got[0] == LOADER and loaders < MOST_LOADER:
                    loaders += 1
                    self.skipped += 1
                    print("skipped: FAULT=%s:%d fault_operations %s %s: glibc cannot load a module "
                          "again" % (kind, position, device, name))
                    continue
                self.failed += 1
                print("FAIL FAULT=%s:%d fault_operations %s %s: status %s\n%s" %
                      (kind, position, device, name, got[0], got[1].decode(errors="replace")[:300]))

    def run_operation(self, device, name, kind, position):
        """Returns status, standard output and the number of calls."""
        counter = tempfile.mktemp()
        environment = dict(os.environ, LD_PRELOAD=self.options.inject, ECHELON_BLAS="none",
                           ECHELON_LAPACK="none", OMP_NUM_THREADS="3",
                           FAULT="%s:%d" % (kind, position), FAULT_COUNT=counter)
        if device == "simt":
            environment.update(ECHELON_LIBSIMT=self.options.simt,
                               FAULT_MOST=str(THREAD_LOCAL_BYTES))
        try:
            process = subprocess.run([self.options.operations, device, name], env=environment,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, timeout=60)
            status, out = process.returncode, process.stdout
        except subprocess.TimeoutExpired:
            status, out = "time limit", b""
        calls = 0
        if os.path.exists(counter):
            with open(counter) as file:
                calls = int(file.read())
            os.remove(counter)
        return status, out, calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command")
    parser.add_argument("--operations")
    parser.add_argument("--files")
    parser.add_argument("--simt")
    parser.add_argument("--inject", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name in "command", "operations", "simt", "files", "inject":
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    folder = tempfile.mkdtemp()
    try:
        make_inputs(folder)
        runner = Runner(options, contents(folder))
    finally:
        shutil.rmtree(folder)
    for text, outputs in CASES if options.command else []:
        if options.only in text:
            runner.case(text, outputs)
    runner.options.command = options.files
    for text, transfers in FILE_CASES if options.files else []:
        runner.transfers = transfers
        if options.only in text:
            runner.case(text, text.split()[2:])
    if options.operations:
        names = subprocess.check_output([options.operations, "--list"], text=True).split()
        for device in ["cpu"] + (["simt"] if options.simt else []):
            for name in names:
                if options.only in name:
                    runner.call(device, name)
    print("%d passed, %d failed, %d skipped" % (runner.passed, runner.failed, runner.skipped))
    return 1 if runner.failed or not runner.passed else 0


if __name__ == "__main__":
    sys.exit(main())
