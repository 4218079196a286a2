#!/usr/bin/env python3
"""command_faults.py - runs each subcommand with faulty files, closed and full outputs, and signals.

    command_faults.py ECHELON    in an empty directory

A fault must end with its exit status and a message that begins with the name of the subcommand; there must be no crash
and no temporary file.

SPDX-License-Identifier: Apache-2.0
"""

import functools
import os
import re
import signal
import subprocess
import sys
import time

HEAD = b"%%MatrixMarket matrix array real general\n"
RANDOM = bytes((i * i * 37 + i * 101 + 13) % 251 for i in range(5000))
FILES = {
    "in.txt": b"1\n2\n3\n",
    "many.u32": bytes(400000),
    "many.pbm": b"P4\n4096 4096\n" + bytes(4096 * 512),
    "in.pbm": b"P1\n2 2\n1 0\n0 1\n",
    "side.pbm": b"P1\n1 2\n1\n0\n",
    "in.mtx": HEAD + b"2 2\n2\n0\n0\n1\n",
    "side.mtx": HEAD + b"2 1\n1\n1\n",
    "k.cu": b'extern "C" __global__ void k(float *a) { a[threadIdx.x] = 1; }\n',
    "empty": b"",
    "garbage": RANDOM,
    "zeros": bytes(5000),
    "cut.npy": b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }",
}
# A line for each subcommand that reads a file: words with {} for the faulty input, the exit status for an empty file and
# for one with zero bytes, and whether it writes a file with -o.
READERS = [
    ("sort --type u32 {}", 0, 0, True),
    ("sort -c --type u32 {}", 0, 0, False),
    ("sort --argsort {}", 0, 2, True),
    ("records --record 4 --keys 0:u32 --reverse {}", 0, 0, True),
    ("check --record 4 --key 0:4 {}", 0, 0, False),
    ("check --summaries {}", 0, 2, False),
    ("topk {}", 0, 2, True),
    ("merge in.txt {}", 0, 2, True),
    ("merge {} in.txt", 0, 2, True),
    ("set union in.txt {}", 0, 2, True),
    ("set union {} in.txt", 0, 2, True),
    ("search in.txt {}", 0, 2, True),
    ("search {} in.txt", 0, 2, True),
    ("unique {}", 0, 2, True),
    ("select >1 {}", 0, 2, True),
    ("shuf {}", 0, 0, True),
    ("stats {}", 0, 2, False),
    ("quantile {}", 2, 2, True),
    ("hist {}", 0, 2, False),
    ("hist --bytes {}", 0, 0, False),
    ("reduce sum {}", 0, 2, True),
    ("reduce size --by 1 {}", 0, 0, True),
    ("stats --string {}", 0, 0, False),
    ("scan sum {}", 0, 2, True),
    ("gf2 rref {}", 2, 2, True),
    ("gf2 rank {}", 2, 2, False),
    ("gf2 solve in.pbm {}", 2, 2, True),
    ("gf2 mul {} in.pbm", 2, 2, True),
    ("gf2 info {}", 2, 2, False),
    ("gf2 convert {}", 2, 2, True),
    ("gf2 rank --order {} in.pbm", 2, 2, False),
    ("matrix info {}", 2, 2, False),
    ("matmul in.mtx {}", 2, 2, True),
    ("matmul {} in.mtx", 2, 2, True),
    ("solve in.mtx {}", 2, 2, True),
    ("solve {} side.mtx", 2, 2, True),
    ("solve --initial-guess {} in.mtx side.mtx", 2, 2, True),
    ("profile sort {}", 0, 2, False),
    ("emulate {}:k --arg a:f32:4", 2, 2, False),
    ("ladder reduce --device simt --input {}", 2, 2, False),
]
# Lines that print something on standard output: a result for the pipe and the full disk.
PRINTERS = [
    "sort in.txt",
    "records --record 4 --keys 0:u32 many.u32",
    "topk in.txt",
    "merge in.txt in.txt",
    "set union in.txt in.txt",
    "search in.txt in.txt",
    "unique in.txt",
    "select >0 in.txt",
    "shuf in.txt",
    "stats in.txt",
    "stats --json in.txt",
    "quantile in.txt",
    "hist in.txt",
    "hist --json in.txt",
    "reduce sum in.txt",
    "reduce size --by 1 in.txt",
    "stats --string in.txt",
    "scan in.txt",
    "gen",
    "gen -N 100k",
    "gen records -N 100",
    "check --record 4 --key 0:4 many.u32",
    "bench copy -N 10 --repetitions 1",
    "gf2 rref in.pbm",
    "gf2 rank in.pbm",
    "gf2 info --json in.pbm",
    "matrix info in.mtx",
    "matmul in.mtx in.mtx",
    "solve in.mtx side.mtx",
    "explain sort",
    "explain gf2 rref",
    "ladder",
    "info",
    "info --json",
    "completion bash",
    "completion fish",
    "completion zsh",
    "sort --help",
    "sort --version",
    "help sort",
]
# Lines with {} for an output.
WRITERS = [
    "gen -o {}",
    "gen -N 100k --format npy -o {}",
    "gen records -N 1k -o {}",
    "check --record 4 --key 0:4 many.u32 -o {}",
    "bench copy -N 10 --repetitions 1 --csv {}",
    "shuf --permutation 100k -o {}",
    "hist in.txt --svg {}",
    "gf2 rref in.pbm -o out.pbm --transform {}",
    "gf2 solve in.pbm side.pbm -o out.pbm --certificate {}",
    "matrix info in.mtx --spy {}",
    "solve in.mtx side.mtx -o out.npy --history {}",
    "solve in.mtx side.mtx -o out.npy --plot {}",
    "emulate k.cu:k --arg a:f32:4 -o a={}",
    "emulate k.cu:k --arg a:f32:4 --html {}",
]
# Lines that wait for standard input, for signals.
WAITERS = [
    "sort -o out.txt",
    "records --record 4 --keys 0:u32 -o out.raw",
    "topk -o out.txt",
    "merge in.txt - -o out.txt",
    "set union in.txt - -o out.txt",
    "search in.txt -o out.txt",
    "unique -o out.txt",
    "select >0 -o out.txt",
    "shuf -o out.txt",
    "check",
    "stats",
    "quantile -o out.txt",
    "hist --svg out.svg",
    "reduce sum -o out.txt",
    "scan -o out.txt",
    "gf2 rref -o out.pbm",
    "matrix info",
    "matmul in.mtx - -o out.npy",
    "solve in.mtx - -o out.npy",
]
REPORT = re.compile("emulate|solve")  # these report on standard error in addition
ECHELON = "echelon"
counts = {"passed": 0, "failed": 0, "skipped": 0}


def words_of(line, path=None):
    return [ECHELON] + [word.replace("{}", path) if path else word for word in line.split()]


def prefix(line):
    """The beginning of a message of this subcommand."""
    return "echelon " + line.split()[0] + ": "


def verdict(line, what, problems):
    """Counts a check, which also fails if a file was left behind."""
    left = sorted(set(os.listdir(".")) - set(FILES) - {"folder", "locked"})
    if left:
        problems.append("files left: %s" % left)
        for name in left:
            os.unlink(name)
    counts["failed" if problems else "passed"] += 1
    if problems:
        print("FAIL", line, "|", what, "|", "; ".join(problems))


def check(line, what, wanted, words, **options):
    """Runs the words. A status other than 0 needs a message; wanted None: any status but that of a crash."""
    options.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, **options)
    message = done.stderr.decode(errors="replace")
    problems = []
    if done.returncode not in ((0, 1, 2, 3, 4) if wanted is None else (wanted,)):
        problems.append("status %d, wanted %s: %s" % (done.returncode, wanted, message[:300]))
    if done.returncode in (2, 3, 4) and not message.startswith(prefix(line)):
        problems.append("message: %r" % message[:300])
    if done.returncode in (2, 3, 4) and message.count("\n") != 1 and not REPORT.match(line):
        problems.append("%d lines: %r" % (message.count("\n"), message[:300]))
    if done.returncode == 2 and options["stdout"] == subprocess.PIPE and done.stdout and what != "/dev/full":
        problems.append("output with an error: %r" % done.stdout[:100])
    if done.returncode == 0:
        remove("out.npy")
    verdict(line, what, problems)
    return done


def skip(line, why):
    counts["skipped"] += 1
    print("skip", line, "|", why)


@functools.lru_cache(maxsize=None)
def missing_parts():
    """The subcommands that cannot run in this build, each with the message: there is no emulator, or no kernel."""
    probes = {"profile": "profile sort -N 1", "emulate": "emulate k.cu:k --arg a:f32:4"}
    why = {}
    for name, line in probes.items():
        done = subprocess.run(words_of(line), stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            why[name] = done.stderr.decode(errors="replace").strip()
    if "profile" in why:
        why["ladder"] = why["profile"]
    return why


def check_inputs():
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    with open("locked", "w") as file:
        file.write("1\n")
    os.chmod("locked", 0)
    os.chmod(".", 0o755)
    why = missing_parts()
    for line, empty, zeros, writes in READERS:
        if line.split()[0] in why:
            skip(line, why[line.split()[0]])
            continue
        output = " -o out.npy" if writes else ""
        for name, wanted in (("missing", 2), ("folder", 2), ("in.txt/x", 2), ("garbage", None), ("cut.npy", 2)):
            if name == "cut.npy" and ("record" in line or "--bytes" in line or "shuf" in line):
                wanted = None
            check(line, name, wanted, words_of(line + output, name))
        check(line, "empty", empty, words_of(line, "empty"))
        check(line, "zeros", zeros, words_of(line, "zeros"))
        check(line, "locked", 2, words_of(line, "locked"), **nobody)


def remove(name):
    if os.path.exists(name):
        os.unlink(name)


def check_outputs():
    for line in PRINTERS:
        with open("/dev/full", "wb") as full:
            check_full(line, full)
        check_pipe(line)
        check_closed(line)
    for line, _, _, writes in READERS:
        if not writes:
            continue
        name = "in.pbm" if "gf2" in line else "side.mtx" if "solve in" in line or "guess" in line else "in.mtx"
        if "gf2" not in line and "matmul" not in line and "solve" not in line:
            name = "many.u32" if "record" in line else "in.txt"
        check(line, "-o /dev/full", 2, words_of(line + " -o /dev/full", name))
        check(line, "-o folder", 2, words_of(line + " -o folder", name))
        check(line, "-o missing/x", 2, words_of(line + " -o missing/x", name))


def check_writers():
    why = missing_parts()
    for line in WRITERS:
        if line.split()[0] in why:
            skip(line, why[line.split()[0]])
            continue
        for name in ("/dev/full", "folder", "missing/x", "in.txt/x", ""):
            check(line, name or "no name", 2, words_of(line.replace("{}", "") if not name else line, name))


def check_full(line, full):
    done = subprocess.run(words_of(line), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=60)
    message = done.stderr.decode().splitlines()
    problems = []
    if done.returncode != 2 or not message or not re.match(r"echelon( [a-z0-9]+)?: standard output: ", message[-1]):
        problems.append("status %d: %s" % (done.returncode, message))
    verdict(line, "a full disk", problems)


def check_pipe(line):
    """A reader that has ended, as in "echelon ... | head -1": the command ends by SIGPIPE, without a message."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(words_of(line), stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    message = "" if line.startswith("solve") else done.stderr.decode()
    problems = []
    if done.returncode != -signal.SIGPIPE or message:
        problems.append("status %d: %s" % (done.returncode, message))
    verdict(line, "a closed pipe", problems)


def check_closed(line):
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *words_of(line)], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=60)
    message = done.stderr.decode().splitlines()
    problems = []
    if done.returncode != 2 or not message or not message[-1].startswith("echelon"):
        problems.append("status %d: %s" % (done.returncode, message))
    verdict(line, "a closed output", problems)


def check_signals():
    """All commands wait for input at the same time, so that the test is short."""
    for number in (signal.SIGINT, signal.SIGTERM):
        running = [(line, subprocess.Popen(words_of(line), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE)) for line in WAITERS]
        time.sleep(0.3)
        for line, process in running:
            process.send_signal(number)
        for line, process in running:
            _, message = process.communicate(timeout=60)
            problems = []
            if process.returncode != -number or message:
                problems.append("status %d: %r" % (process.returncode, message))
            verdict(line, signal.Signals(number).name, problems)


def check_options():
    """Options that every subcommand must treat in the same way."""
    overview = subprocess.run([ECHELON, "--help"], check=True, capture_output=True, text=True).stdout
    for name in re.findall(r"^  ([a-z0-9]+)  ", overview.split("Commands:\n")[1], re.M):
        if name == "help":
            continue
        for words in ("--no-such-option", "--color=", "--color auto --color auto"):
            check(name, words, 2, words_of(name + " " + words))
        for words in ("--version", "--help --colo=never"):
            check(name, words, 0, words_of(name + " " + words))


def main():
    for name, content in FILES.items():
        with open(name, "wb") as file:
            file.write(content)
    os.mkdir("folder")
    check_inputs()
    check_outputs()
    check_writers()
    check_signals()
    check_options()
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    ECHELON = sys.argv[1]
    sys.exit(main())
