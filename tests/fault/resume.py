#!/usr/bin/env python3
"""resume.py - "echelon sort --resume": killed at random moments and continued, with a full disk, and twice at once.

    resume.py --command build/cli/echelon [--inject build/tests/fault/inject.so] [--count N] [--seed N]

- kill: SIGKILL at up to three random moments, then the same command once more. The output is that of a sort without
  interruption, the input is unchanged, and no other file remains.
- calls: with --inject, SIGKILL before or after a call of the system that changes a file; then the same command.
- fill: at a random moment another process fills the file system of the output and of the temporary files. The
  command ends with status 0 and the complete output, or with status 2 and a message about the space; in that case it
  continues when there is space again.
- memory: the peak of the resident memory is at most the budget and FIXED, as without --resume.
- twice: two processes sort to the same output. One of them succeeds; the other one, too, or it ends with status 2.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

import large

# The options of the sort, and the input.
CASES = [
    ("--type u32", "a.u32", False),
    ("--record 100 --key 0:10 --verify", "a.records", False),
    ("--string", "a.txt", False),
    ("--argsort --type u32 --format raw", "a.u32", False),
    ("-n -r -u", "a.txt", False),
]


class Tests(large.Tests):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.continued = 0
        self.inject = os.path.abspath(options.inject) if options.inject else None

    def sort(self, case, out, moment=None, report=False):
        """Sorts with --resume; kills the command after some seconds. Returns the status and the messages."""
        words = case[0] + " --resume" + (" --timing" if report else "")
        process, source = self.start((words, case[1], False), out)
        if moment is not None:
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
        return self.finish(process, source)

    def kill(self, case):
        good, seconds = self.expect(case)
        out = self.folder + "/out/out"
        moments = [self.rng.uniform(0, 1.1 * seconds) for _ in range(self.rng.randrange(1, 4))]
        status, reason = None, None
        for moment in moments:
            status, error = self.sort(case, out, moment)
            if status not in (0, -signal.SIGKILL):
                reason = "status %s: %s" % (status, error)
            if status == 0:
                break
        if status != 0:
            status, error = self.sort(case, out, report=True)
            self.continued += b"continued" in error
            if status != 0:
                reason = "status %s: %s" % (status, error)
        reason = reason or self.judge(out, good, True)
        self.clean(self.folder + "/out", self.folder + "/tmp")
        self.counts.result("kill %s %s after %s s" % (case[1], case[0], moments), reason)

    def calls(self, case, count):
        """Kills the command at one in some of its calls. inject.c counts them."""
        good, _ = self.expect(case)
        out, counter = self.folder + "/out/out", self.folder + "/count"
        clean = dict(self.environment)
        fault = dict(clean, LD_PRELOAD=self.inject, FAULT_COUNT=counter, FAULT_SIGNAL="9", ECHELON_TRANSFERS="none")
        self.environment = dict(fault, FAULT="signal:-1")
        status, error = self.sort(case, out)
        with open(counter) as file:
            calls = int(file.read())
        self.clean(self.folder + "/out", self.folder + "/tmp")
        killed = 0
        for i in range(count):
            position = calls - 1 - i if i < count // 2 else self.rng.randrange(calls)
            self.environment = dict(fault, FAULT="signal:%d" % position)
            status, _ = self.sort(case, out)
            killed += status == -signal.SIGKILL
            self.environment = clean
            status, error = self.sort(case, out)
            reason = "status %s: %s" % (status, error) if status else self.judge(out, good, True)
            self.clean(self.folder + "/out", self.folder + "/tmp")
            self.counts.result("calls %s %s FAULT=signal:%d" % (case[1], case[0], position), reason)
        self.counts.result("calls %s" % case[1], None if killed > count // 2 else "only %d runs were killed" % killed)

    def clean(self, *folders):
        for folder in folders:
            for name in os.listdir(folder):
                if name != "tmp":
                    os.remove(folder + "/" + name)

    def fill(self, case, small):
        good, seconds = self.expect(case)
        out = small + "/out"
        moment = self.rng.uniform(0, 1.5 * seconds)
        process, source = self.start((case[0] + " --resume", case[1], False), out)
        time.sleep(moment)
        with open(small + "/filler", "wb") as file:
            try:
                while process.poll() is None:
                    os.write(file.fileno(), bytes(1 << 18))
            except OSError:
                pass
            status, error = self.finish(process, source)
        os.remove(small + "/filler")
        reason = None
        if status != 0 and (status != 2 or b"space" not in error):
            reason = "status %s: %s" % (status, error)
        elif status != 0:
            status, error = self.sort(case, out)
            reason = "status %s: %s" % (status, error) if status else None
        reason = reason or self.judge(out, good, True)
        self.clean(small, small + "/tmp")
        self.counts.result("fill %s %s after %.3f s" % (case[1], case[0], moment), reason)

    def twice(self, case):
        good, _ = self.expect(case)
        out = self.folder + "/out/out"
        started = [self.start((case[0] + " --resume", case[1], False), out) for _ in range(2)]
        ended = [self.finish(*one) for one in started]
        reason = None
        if not any(status == 0 for status, _ in ended):
            reason = "both failed: %s" % ended
        for status, error in ended:
            if status != 0 and (status != 2 or b"another process" not in error):
                reason = "status %s: %s" % (status, error)
        reason = reason or self.judge(out, good, True)
        self.clean(self.folder + "/out", self.folder + "/tmp")
        self.counts.result("twice %s %s" % (case[1], case[0]), reason)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--inject")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.command = os.path.abspath(options.command)
    folder = tempfile.mkdtemp()
    try:
        tests = Tests(options, folder)
        inputs = {name: large.digest(folder + "/inputs/" + name) for name in os.listdir(folder + "/inputs")}
        for i in range(options.count):
            tests.kill(CASES[i % len(CASES)])
        if options.count >= 20:
            tests.fill_all(options.count, CASES, "130m")
            tests.counts.result("continued", None if tests.continued else "no sort was continued")
        for case in CASES[:options.count // 5]:
            tests.twice(case)
        for case in CASES if tests.inject else []:
            tests.calls(case, options.count)
        for case in CASES[:options.count // 5]:
            tests.memory((case[0] + " --resume", case[1], False))
        changed = [name for name in inputs if large.digest(folder + "/inputs/" + name) != inputs[name]]
        tests.counts.result("inputs", "%s has changed" % changed[0] if changed else None)
    finally:
        shutil.rmtree(folder)
    counts = tests.counts
    print("%d sorts were continued" % tests.continued)
    print("%d passed, %d failed, %d skipped" % (counts.passed, counts.failed, counts.skipped))
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
