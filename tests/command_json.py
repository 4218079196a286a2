#!/usr/bin/env python3
"""command_json.py - runs each subcommand that has --json with odd inputs, and parses the output strictly.

    command_json.py ECHELON    in an empty directory

Standard output has the JSON, or standard error if standard output has data.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import subprocess
import sys

ODD = b'a "q\\\n\t\x01\xff\xc3\xa9\xc2\x85 b'  # quotes, a backslash, control characters, invalid UTF-8
SHOWN = 'a "q\\\n\t\x01\ufffd\u00e9\x85 b'
COLUMNS = {
    "empty": b"",
    "one": b"7\n",
    "largest": b"0\n18446744073709551615\n",
    "smallest": b"-9223372036854775808\n9223372036854775807\n",
    "floats": b"-inf\n-1e308\n-0\n5e-324\n0.1\n1e308\ninf\nnan\n",
    "nan": b"nan\nnan\n",
}
# {in} is the input and {out} an output. An input may be an error for a subcommand, which must then print a message.
# A line of a subcommand without --json is not run.
COMMANDS = [
    "reduce sum {in}",
    "reduce minmax {in}",
    "sort {in} -o {out}",
    "sort --argsort {in} -o {out}",
    "topk {in} -o {out}",
    "merge {in} {in} -o {out}",
    "set union {in} {in} -o {out}",
    "search {in} {in} -o {out}",
    "unique {in} -o {out}",
    "select nonzero {in} -o {out}",
    "shuf {in} -o {out}",
    "scan max {in} -o {out}",
    "reduce sum,size,minmax --nan ignore -k 1 --by 1 {in}",
    "unique --string {in} -o {out}",
    "stats --string {in}",
    "stats {in}",
    "quantile -k 1 --by 1 {in}",
    "quantile -q 0,0.5,1 {in}",
    "hist {in}",
    "hist --bytes {in}",
]
# These report on standard error, because the data is on standard output.
DATA = ["sort {in}", "unique --count {in}", "scan {in}"]
GENERAL = [
    "info",
    "explain sort",
    "explain solve --nnz 5",
    "gf2 info --rank {bits}",
    "gf2 rank --pivots {bits}",
    "matrix info {matrix}",
    "solve {matrix} {side} -o {out}",
    "solve --method lu {matrix} {side} -o {out}",
    "solve --method jacobi {infinite} {side} -o {out}",
    "records --record 16 --keys 0:u32 {records} -o {out}",
    "check {sorted}",
    "check --record 16 --key 0:4 {records}",
    "bench sort reduce -N 100 --repetitions 1",
    "bench copy -N 1 --type f64 --repetitions 1",
    "profile sort -N 100",
    "profile reduce --op sum -N 1 --type f64",
    "ladder reduce --device simt -N 100",
    "emulate {kernel}:k --arg a:f32:2",
]
ECHELON = "echelon"
failures, tested, skipped, passed = [], set(), 0, 0


def refuse(word):
    raise ValueError(word + " is not JSON")


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a name occurs twice: %s" % names)
    return dict(pairs)


def parse(text):
    return json.loads(text.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)


def run(words, files):
    """Returns exit status, standard output and standard error."""
    line = [os.fsencode(word) for word in words.split()]
    line = [files.get(word.strip(b"{}"), word) if word[:1] == b"{" else word for word in line]
    if line[0] == b"emulate":
        line[1] = files[b"kernel"] + b":k"
    done = subprocess.run([ECHELON, *line, b"--json"], stdin=subprocess.DEVNULL, capture_output=True)
    tested.add(words.split()[0])
    return done.returncode, done.stdout, done.stderr


def write(name, content):
    with open(name, "wb") as file:
        file.write(content)
    return name


def check(words, files, what, data=False):
    """Runs a command and returns the parsed JSON, or None without a result."""
    global passed, skipped
    code, out, err = run(words, files)
    text = err if data else out
    if code == 3 or b"no emulator" in err or b"has no kernels" in err or b"no C++ compiler" in err:
        skipped += 1
        print("skip", words + ":", err.decode(errors="replace").strip())
        return None
    if code not in (0, 1) and not text:  # an error, which has a message instead of JSON
        if not err.startswith(b"echelon " + words.split()[0].encode() + b": "):
            failures.append((words, what, code, err))
        return None
    try:
        value = parse(text)
    except ValueError as error:
        failures.append((words, what, code, str(error), text[:500], err[:500]))
        return None
    passed += 1
    return value


def expect(truth, *what):
    global passed
    if truth:
        passed += 1
    else:
        failures.append(what)


def check_columns(with_json):
    """Columns of numbers in files with an odd name; the numbers of stats are exact."""
    exact = {}
    commands = [words for words in COMMANDS if words.split()[0] in with_json]
    for name, content in COLUMNS.items():
        files = {b"in": write(ODD + b".txt", content), b"out": b"out.txt"}
        for words in commands:
            value = check(words, files, name)
            if value is not None:
                expect(value["input"] == SHOWN + ".txt", words, name, value["input"])
                expect("output" not in value or value["output"] == "out.txt", words, value.get("output"))
            if words.startswith("stats"):
                exact[name] = value
        for words in DATA:
            check(words, files, name, data=True)
    expect(exact["largest"]["max"] == 2**64 - 1 and exact["largest"]["sum"] == 2**64 - 1, exact["largest"])
    expect(exact["smallest"]["min"] == -(2**63) and exact["smallest"]["max"] == 2**63 - 1, exact["smallest"])
    expect(exact["floats"]["max"] is None and exact["floats"]["nan"] == 1, exact["floats"])
    expect(exact["empty"]["n"] == 0, exact["empty"])


def check_general():
    """Matrices, records, kernels and commands without an input."""
    head = b"%%MatrixMarket matrix array real general\n"
    files = {
        b"bits": write(ODD + b".pbm", b"P1\n2 1\n1 0\n"),
        b"matrix": write(ODD + b".mtx", head + b"2 2\n2\n0\n0\n1e-300\n"),
        b"side": write(b"side.mtx", head + b"2 1\n1\n1\n"),
        b"infinite": write(b"infinite.mtx", head + b"2 2\n1e-308\n1e308\n1e308\n1e-308\n"),
        b"sorted": write(b"sorted.raw", bytes(100) + bytes([1]) * 100),
        b"records": write(ODD + b".raw", bytes(32)),
        b"kernel": write(ODD + b".cu", b"extern \"C\" __global__ void k(float *a) { a[threadIdx.x] = 0.0f / 0.0f; }\n"),
        b"out": b"out.npy",
    }
    values = {words: check(words, files, "general") for words in GENERAL}
    if values["matrix info {matrix}"] is not None:
        expect(values["matrix info {matrix}"].get("input", SHOWN + ".mtx") == SHOWN + ".mtx", values)


def commands_with_json():
    overview = subprocess.run([ECHELON, "--help"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^  ([a-z0-9]+)  ", overview.split("Commands:\n")[1], re.M)
    for name in names:
        page = subprocess.run([ECHELON, "help", name], capture_output=True, text=True).stdout
        if re.search(r"^      --json", page, re.M):
            yield name


def main():
    with_json = list(commands_with_json())
    check_columns(with_json)
    check_general()
    missing = [name for name in with_json if name not in tested]
    expect(not missing, "not tested:", missing)
    for failure in failures:
        print("FAIL", *failure)
    print("%d passed, %d failed, %d skipped" % (passed, len(failures), skipped))
    return 1 if failures else 0


if __name__ == "__main__":
    ECHELON = sys.argv[1]
    sys.exit(main())
