#!/usr/bin/env python3
"""large.py - sorts of files that are larger than their memory budget: ended at random moments, on a full disk, and
with the memory that the kernel counts.

    large.py --command build/cli/echelon [--count N] [--seed N]

- kill: SIGKILL at a random moment. The input is unchanged, the output is the old or the complete one, and no other
  file remains in its folder or in the folder of temporary files.
- fill: at a random moment another process fills the file system of the output and of the temporary files. The
  command ends with status 0 and the complete output, or with status 2, a message about the space, and the old output.
- memory: the peak of the resident memory is at most the budget and FIXED. Where a memory cgroup can be made, the sort
  also runs in one with this limit.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

OLD = b"the old contents\n"
BUDGET = 16 << 20
FIXED = 12 << 20 # the program, the library, stacks

# The options of the sort, the input, and whether it is a pipe.
CASES = [
    ("--type u32", "a.u32", False),
    ("--type u32 --format raw", "a.u32", True),
    ("--argsort --type u32 --format raw", "a.u32", False),
    ("--record 100 --key 0:10", "a.records", False),
    ("--string", "a.txt", False),
    ("--string", "a.txt", True),
    ("-n -r -u", "a.txt", False),
]


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def result(self, name, reason):
        if reason:
            print("FAIL %s: %s" % (name, reason))
            self.failed += 1
        else:
            self.passed += 1

    def skip(self, name, reason):
        print("skip %s: %s" % (name, reason))
        self.skipped += 1


def digest(path):
    """The hash of a file. This process stays small, because its peak memory would count as that of its children."""
    value = hashlib.sha1()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            value.update(block)
    return value.digest()


class Tests:
    def __init__(self, options, folder):
        self.command, self.folder = options.command, folder
        self.counts = Counts()
        self.rng = random.Random(options.seed)
        self.environment = dict(os.environ, ECHELON_DEVICE="cpu", TMPDIR=folder + "/tmp")
        self.good = {}
        for name in "inputs", "out", "tmp":
            os.mkdir(folder + "/" + name)
        for words in ("uniform -N 6M --type u32 -o a.u32", "uniform -N 1600k --type i64 -o a.txt"):
            subprocess.check_call([self.command, "gen"] + words.split(), cwd=folder + "/inputs")
        os.link(folder + "/inputs/a.u32", folder + "/inputs/a.records")

    def start(self, case, out, prefix=()):
        options, name, pipe = case
        path = self.folder + "/inputs/" + name
        words = list(prefix) + [self.command, "sort", "-S", str(BUDGET), "-o", out] + options.split()
        source = subprocess.Popen(["cat", path], stdout=subprocess.PIPE) if pipe else None
        process = subprocess.Popen(words + ([] if pipe else [path]), env=self.environment,
                                   stdin=source.stdout if pipe else subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if source:
            source.stdout.close()
        return process, source

    def finish(self, process, source):
        error = process.communicate()[1]
        if source:
            source.wait()
        return process.returncode, error

    def expect(self, case):
        """The complete output of a case, and the time it takes."""
        if case not in self.good:
            out = self.folder + "/out/good"
            begin = time.monotonic()
            status, error = self.finish(*self.start(case, out))
            if status:
                raise SystemExit("status %s: %s" % (status, error))
            self.good[case] = digest(out), time.monotonic() - begin
            os.remove(out)
        return self.good[case]

    def judge(self, out, good, complete):
        """The reason why the files are wrong; None: they are right."""
        folders = [os.path.dirname(out)] + ([self.folder + "/tmp"] if "tmp" in os.listdir(self.folder) else [])
        for folder in folders:
            for name in os.listdir(folder):
                if name not in (os.path.basename(out), "filler", "tmp"):
                    return "the file %s remains" % name
        contents = digest(out)
        if contents == good:
            return None
        if complete:
            return "the output is wrong"
        return None if contents == hashlib.sha1(OLD).digest() else "the output is neither old nor complete"

    def kill(self, case):
        good, seconds = self.expect(case)
        out = self.folder + "/out/out"
        with open(out, "wb") as file:
            file.write(OLD)
        moment = self.rng.uniform(0, 1.1 * seconds)
        process, source = self.start(case, out)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        status, _ = self.finish(process, source)
        reason = self.judge(out, good, status == 0)
        if status not in (0, -signal.SIGKILL):
            reason = "status %s" % status
        os.remove(out)
        self.counts.result("kill %s %s after %.3f s" % (case[1], case[0], moment), reason)

    def fill(self, case, small):
        good, seconds = self.expect(case)
        out = small + "/out"
        with open(out, "wb") as file:
            file.write(OLD)
        moment = self.rng.uniform(0, seconds)
        process, source = self.start(case, out)
        time.sleep(moment)
        with open(small + "/filler", "wb") as file:
            try:
                while process.poll() is None:
                    os.write(file.fileno(), bytes(1 << 18))
            except OSError:
                pass
        status, error = self.finish(process, source)
        reason = self.judge(out, good, status == 0)
        if status != 0 and (status != 2 or b"space" not in error):
            reason = "status %s: %s" % (status, error)
        for name in os.listdir(small):
            if name != "tmp":
                os.remove(small + "/" + name)
        self.counts.result("fill %s %s after %.3f s" % (case[1], case[0], moment), reason)

    def fill_all(self, count, cases=CASES, size="100m"):
        small = self.folder + "/small"
        os.mkdir(small)
        if subprocess.call(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", small], stderr=subprocess.DEVNULL):
            self.counts.skip("fill", "cannot mount a file system")
            return
        try:
            os.mkdir(small + "/tmp")
            self.environment["TMPDIR"] = small + "/tmp"
            for i in range(count):
                self.fill(cases[i % len(cases)], small)
        finally:
            self.environment["TMPDIR"] = self.folder + "/tmp"
            subprocess.call(["umount", small])

    def memory(self, case):
        out = self.folder + "/out/out"
        process, source = self.start(case, out)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status # it was waited for
        if source:
            source.wait()
        peak = usage.ru_maxrss << 10
        reason = "status %s: %s" % (status, error) if status else None
        if not reason and peak > BUDGET + FIXED:
            reason = "the peak is %d bytes" % peak
        self.counts.result("memory of %s %s" % (case[1], case[0]), reason or self.judge(out, self.expect(case)[0], True))

    def cgroup(self, case):
        """A group of version 2 or 1, whose limit counts the page cache, too."""
        for root, limit in (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
            group = root + "/echelon-test-%d" % os.getpid()
            if not os.path.exists(root + "/cgroup.procs"):
                continue
            try:
                os.mkdir(group)
            except OSError:
                continue
            try:
                with open(group + "/" + limit, "w") as file:
                    file.write(str(BUDGET + FIXED))
                out = self.folder + "/out/out"
                join = ["sh", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"', group]
                status, error = self.finish(*self.start(case, out, join))
                reason = "status %s: %s" % (status, error) if status else self.judge(out, self.expect(case)[0], True)
                self.counts.result("cgroup of %s %s" % (case[1], case[0]), reason)
                return
            except OSError:
                continue
            finally:
                os.rmdir(group)
        self.counts.skip("cgroup of %s %s" % (case[1], case[0]), "cannot make a memory cgroup")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.command = os.path.abspath(options.command)
    folder = tempfile.mkdtemp()
    try:
        tests = Tests(options, folder)
        inputs = {name: digest(folder + "/inputs/" + name) for name in os.listdir(folder + "/inputs")}
        for i in range(options.count):
            tests.kill(CASES[i % len(CASES)])
        tests.fill_all(options.count)
        for case in CASES[:max(options.count, 1)]:
            tests.memory(case)
            tests.cgroup(case)
        changed = [name for name in inputs if digest(folder + "/inputs/" + name) != inputs[name]]
        tests.counts.result("inputs", "%s has changed" % changed[0] if changed else None)
    finally:
        shutil.rmtree(folder)
    counts = tests.counts
    print("%d passed, %d failed, %d skipped" % (counts.passed, counts.failed, counts.skipped))
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
