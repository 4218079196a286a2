#!/usr/bin/env python3
"""signals.py - ends the command by signals while it writes files.

    signals.py --command build/cli/echelon [--inject build/tests/fault/inject.so] [--simt LIBRARY]
        [--seconds 10] [--seed 1] [--every N] [--only TEXT]

Required after each run:
- The exit status is 0, or the process was ended by the signal.
- An output has its old contents or the complete result; after status 0 it has the complete result.
- Inputs are unchanged.
- No other file or folder remains. Only SIGKILL may leave temporary files, and only of outputs that existed before, if
  the file system supports files without a name.
- A signal that the parent ignores, as nohup does, has no effect.

The first part runs for --seconds and sends signals at random moments of the run time, which it measures before.
The second part needs --inject: the command sends itself a signal before or after each operation on a file; with and
without a second thread that receives the signal. --every N tests one position in N.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import random
import re
import resource
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import faults

SIGNALS = ["KILL", "TERM", "INT", "HUP", "PIPE", "XCPU", "ALRM", "ABRT", "QUIT", "USR1", "VTALRM"]
IGNORABLE = ["HUP", "INT", "TERM"]
OLD = faults.OLD
TIME_LIMIT_S = 120

# The words after "echelon", and the output files. Outputs whose name begins with "new" do not exist before.
CASES = [
    ("sort big.npy -o out.npy", ["out.npy"]),
    ("sort big.npy -o new.npy", ["new.npy"]),
    ("sort big.u32 -o big.u32", ["big.u32"]),
    ("sort big.txt -o out.txt", ["out.txt"]),
    ("sort big.txt -o big.txt", ["big.txt"]),
    ("sort --column value big.csv -o new.csv", ["new.csv"]),
    ("sort --argsort big.npy -o out.npy --threads 2", ["out.npy"]),
    ("unique --count big.txt -o out.txt", ["out.txt"]),
    ("unique big.u32 -o new.u32", ["new.u32"]),
    ("select >0 big.npy -o out.npy", ["out.npy"]),
    ("shuf --seed 1 big.txt -o new.txt", ["new.txt"]),
    ("shuf --seed 1 big.npy -o big.npy", ["big.npy"]),
    ("scan sum big.npy -o new.npy", ["new.npy"]),
    ("hist big.npy --svg out.svg", ["out.svg"]),
    ("gen normal -N 400K --type f64 -o new.npy", ["new.npy"]),
    ("gf2 convert bits.pbm -o out.npy", ["out.npy"]),
    ("gf2 rref bits.pbm -o out.pbm --transform new.pbm", ["out.pbm", "new.pbm"]),
    ("gf2 inverse bits.pbm -o bits.pbm", ["bits.pbm"]),
    ("matmul a.npy b.npy -o out.npy", ["out.npy"]),
    ("solve --method lu s.mtx b.mtx -o new.mtx", ["new.mtx"]),
]
SIMT_CASES = [
    ("sort --device simt small.npy -o out.npy", ["out.npy"]),
    ("unique --device simt small.npy -o new.npy", ["new.npy"]),
    ("emulate kernel.cu --block 64 --arg in:f64:64=1 --arg out:f64:64 -o out=out.npy", ["out.npy"]),
    ("emulate kernel.cu --block 64 --arg in:f64:64=1 --arg out:f64:64 --html new.html", ["new.html"]),
]
# Small inputs, so that there are few calls of write().
MOMENTS = [
    ("sort a.npy -o out.npy", ["out.npy"]),
    ("sort a.npy -o new.npy", ["new.npy"]),
    ("sort a.u32 -o a.u32", ["a.u32"]),
    ("sort a.txt -o out.txt", ["out.txt"]),
    ("hist a.npy --svg new.svg", ["new.svg"]),
    ("gf2 rref m.pbm -o out.pbm --transform t.pbm", ["out.pbm", "t.pbm"]),
    ("solve --method lu s.mtx b.mtx -o out.mtx", ["out.mtx"]),
]


def make_large_inputs(folder):
    rng = random.Random(2)
    n, lines, side = 200000, 60000, 700
    values = [rng.uniform(-9, 9) for _ in range(n)]
    faults.npy(folder + "/big.npy", "<f8", "(%d,)" % n, struct.pack("<%dd" % n, *values))
    faults.npy(folder + "/small.npy", "<f8", "(3000,)", struct.pack("<3000d", *values[:3000]))
    with open(folder + "/big.u32", "wb") as file:
        file.write(rng.randbytes(4 * 3 * n))
    with open(folder + "/big.txt", "w") as file:
        file.writelines("%.6f\n" % value for value in values[:lines])
    with open(folder + "/big.csv", "w") as file:
        file.write("id,value\n")
        file.writelines("%d,%.3f\n" % pair for pair in enumerate(values[:lines]))
    with open(folder + "/bits.pbm", "w") as file: # a triangle with ones in the diagonal
        file.write("P1\n%d %d\n" % (side, side))
        for row in range(side):
            file.write("0" * row + "1" + "".join(rng.choice("01") for _ in range(side - row - 1)) + "\n")
    with open(folder + "/kernel.cu", "w") as file:
        file.write("__global__ void k(const double *in, double *out) { out[threadIdx.x] = in[threadIdx.x]; }\n")
    for name in "a.npy", "b.npy":
        faults.npy(folder + "/" + name, "<f4", "(300, 300)",
                   struct.pack("<90000f", *(rng.uniform(-1, 1) for _ in range(90000))))
    with open(folder + "/s.mtx", "w") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n500 500 999\n")
        for i in range(1, 501):
            file.write("%d %d 4\n" % (i, i) + ("%d %d -1\n" % (i + 1, i) if i < 500 else ""))
    with open(folder + "/b.mtx", "w") as file:
        file.write("%%MatrixMarket matrix array real general\n500 1\n")
        file.writelines("%d\n" % (i + 1) for i in range(500))


def inputs_of(make):
    folder = tempfile.mkdtemp()
    try:
        make(folder)
        return faults.contents(folder)
    finally:
        shutil.rmtree(folder)


def unnamed_files_work():
    folder = tempfile.mkdtemp()
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        return os.path.exists("/proc/self/fd")
    except (OSError, AttributeError):
        return False
    finally:
        shutil.rmtree(folder)


class Run:
    """One command in a folder of its own."""

    def __init__(self, options, inputs, text, outputs):
        self.options, self.words, self.outputs = options, text.split(), outputs
        used = [name for name in inputs if name in self.words]
        self.before = {name: inputs[name] for name in used}
        self.before.update({name: OLD for name in outputs if not name.startswith("new") and name not in used})
        self.folder = tempfile.mkdtemp()
        self.restore()

    def restore(self):
        present = os.listdir(self.folder)
        for name in present:
            if os.path.isdir(self.folder + "/" + name): # judge() has reported it
                shutil.rmtree(self.folder + "/" + name)
            elif name not in self.before:
                os.remove(self.folder + "/" + name)
        for name, data in self.before.items():
            with open(self.folder + "/" + name, "wb") as file:
                file.write(data)

    def start(self, ignored=None, **more):
        # "emulate" creates its temporary folder in TMPDIR.
        environment = dict(os.environ, OMP_NUM_THREADS="2", TMPDIR=self.folder, **more)
        environment.setdefault("ECHELON_DEVICE", "cpu")
        if self.options.simt:
            environment["ECHELON_LIBSIMT"] = self.options.simt
        old = signal.signal(ignored, signal.SIG_IGN) if ignored else None
        try:
            return subprocess.Popen([self.options.command] + self.words, cwd=self.folder, env=environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        finally:
            if ignored:
                signal.signal(ignored, old)

    def finish(self, process):
        """Returns the exit status, negative for a signal, and the standard error."""
        try:
            err = process.communicate(timeout=TIME_LIMIT_S)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "time limit", b""
        return process.returncode, err

    def judge(self, number, ignored, good, status, unnamed):
        """The reason why this run is wrong; None: it is right."""
        files = faults.contents(self.folder)
        if status not in ([0] if ignored else [0, -number]):
            return "status %s" % status
        for name, data in self.before.items():
            if name not in self.outputs and files.get(name) != data:
                return "the input %s has changed" % name
        for name in self.outputs:
            allowed = [good[name]] if status == 0 else [good[name], self.before.get(name)]
            if files.get(name) not in allowed:
                return "status %d, and %s is neither old nor complete" % (status, name)
        for name in os.listdir(self.folder):
            if os.path.isdir(self.folder + "/" + name):
                return "the folder %s remains" % name
        for name in sorted(set(files) - set(self.before) - set(self.outputs)):
            of = [o for o in self.outputs if re.fullmatch(r"\." + re.escape(o) + r"\.\w{6}", name)]
            if number == signal.SIGKILL and status and of and (of[0] in self.before or not unnamed):
                continue
            return "the file %s remains" % name
        return None

    def complete(self):
        """The outputs of a run without signals, and its time in seconds; None if it fails."""
        times = []
        for _ in range(3):
            self.restore()
            begin = time.monotonic()
            status, err = self.finish(self.start())
            times.append(time.monotonic() - begin)
            if status != 0:
                print("FAIL %s: status %s without a signal: %s" % (" ".join(self.words), status, err))
                return None, 0
        files = faults.contents(self.folder)
        return {name: files[name] for name in self.outputs}, statistics.median(times)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Totals:
    def __init__(self):
        self.passed = self.failed = self.ended = self.runs = 0

    def add(self, reason, what, status, err):
        self.runs += 1
        self.ended += status != 0
        if reason:
            self.failed += 1
            print("FAIL %s: %s" % (what, reason))
            sys.stdout.write(err.decode(errors="replace")[:300])
        else:
            self.passed += 1


def random_moments(options, totals, unnamed):
    rng = random.Random(options.seed)
    inputs = inputs_of(make_large_inputs)
    cases = CASES + (SIMT_CASES if options.simt else [])
    runs = []
    for text, outputs in cases:
        if options.only in text:
            run = Run(options, inputs, text, outputs)
            good, seconds = run.complete()
            totals.failed += good is None
            if good is not None:
                runs.append((run, good, seconds))
    end = time.monotonic() + options.seconds
    begun, turn = totals.runs, 0
    while runs and time.monotonic() < end:
        run, good, seconds = runs[turn % len(runs)]
        name = SIGNALS[rng.randrange(len(SIGNALS))]
        if name == "KILL" and run.words[0] == "emulate": # its compiler continues, and writes files for a while
            name = "TERM"
        number = getattr(signal, "SIG" + name)
        ignored = name in IGNORABLE and rng.random() < 0.1
        delay = rng.uniform(0, 1.1) * seconds
        run.restore()
        process = run.start(number if ignored else None)
        time.sleep(delay)
        process.send_signal(number)
        status, err = run.finish(process)
        totals.add(run.judge(number, ignored, good, status, unnamed),
                   "SIG%s%s after %.1f of %.1f ms: echelon %s" %
                   (name, " (ignored)" if ignored else "", delay * 1e3, seconds * 1e3, " ".join(run.words)),
                   status, err)
        turn += 1
    for run, _, _ in runs:
        run.close()
    print("random moments: %d runs, %d ended by the signal" % (totals.runs - begun, totals.ended))
    if options.seconds and totals.ended < (totals.runs - begun) // 3:
        print("FAIL fewer than a third of the signals met a running command")
        totals.failed += 1


def all_positions(options, totals, unnamed):
    inputs = inputs_of(faults.make_inputs)
    begun, ended, case = totals.runs, totals.ended, 0
    for text, outputs in MOMENTS:
        if options.only not in text:
            continue
        run = Run(options, inputs, text, outputs)
        good, _ = run.complete()
        if good is None:
            totals.failed += 1
            continue
        counter = run.folder + ".count"
        settings = {"LD_PRELOAD": options.inject, "ECHELON_BLAS": "none", "ECHELON_LAPACK": "none"}
        run.restore()
        run.finish(run.start(FAULT="signal:-1", FAULT_COUNT=counter, **settings))
        with open(counter) as file:
            positions = int(file.read())
        os.remove(counter)
        for position in range(positions):
            for thread in {}, {"FAULT_THREAD": "1"}:
                for name in "KILL", SIGNALS[1 + (position + case) % (len(SIGNALS) - 1)]:
                    case += 1
                    if (case * 2654435761 >> 8) % options.every:
                        continue
                    number = getattr(signal, "SIG" + name)
                    run.restore()
                    status, err = run.finish(run.start(FAULT="signal:%d" % position, FAULT_SIGNAL=str(int(number)),
                                                       **settings, **thread))
                    totals.add(run.judge(number, False, good, status, unnamed),
                               "FAULT=signal:%d FAULT_SIGNAL=%d%s echelon %s" %
                               (position, number, " FAULT_THREAD=1" if thread else "", text), status, err)
        run.close()
    print("operations on files: %d runs, %d ended by the signal" % (totals.runs - begun, totals.ended - ended))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--inject")
    parser.add_argument("--simt")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name in "command", "simt", "inject":
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in SIGNALS[1:]: # a shell ignores SIGINT and SIGQUIT for background jobs
        if signal.getsignal(getattr(signal, "SIG" + name)) == signal.SIG_IGN:
            signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
    unnamed = unnamed_files_work()
    if not unnamed:
        print("the file system supports no files without a name")
    totals = Totals()
    random_moments(options, totals, unnamed)
    if options.inject:
        all_positions(options, totals, unnamed)
    print("%d passed, %d failed, 0 skipped" % (totals.passed, totals.failed))
    return 1 if totals.failed or not totals.passed else 0


if __name__ == "__main__":
    sys.exit(main())
