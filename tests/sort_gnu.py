#!/usr/bin/env python3
"""sort_gnu.py - compares "echelon sort" with GNU sort on random text, with random keys and options.

    python3 tests/sort_gnu.py --command build/cli/echelon --cases 300 --seed 1
    python3 tests/sort_gnu.py --command build/cli/echelon --seed 1 --case 17    runs exactly one case, and keeps it

A case depends only on the seed and its number. A case that fails prints its options, and the file with its input. Two
versions of GNU sort differ in two points, which are avoided with the older one: the order of NaN, and versions
that consist only of a suffix (docs/sort-command.md). The exit status is 77 if there is no GNU sort.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENVIRONMENT = {**os.environ, "LC_ALL": "C", "ECHELON_DEVICE": "cpu"}


def number(rnd):
    """Returns a number, or what resembles one."""
    return rnd.choice([
        f"{rnd.randrange(-1000, 1000)}", "-0", "0", f"00{rnd.randrange(99)}", ".5", "-.5", "1.50", "1.5", "5.", ".",
        f"{rnd.randrange(-5, 5)}.{rnd.randrange(100)}", "1e3", "1E-2", "nan", "-nan", "inf", "-inf", "Infinity",
        "0x1p3", f"{rnd.randrange(-5, 9)}K", f"{rnd.randrange(9)}.5M", "1Ki", "3k", "2G", "1000", "0K", "", "-", "+3",
        "9" * rnd.randrange(1, 130), f"{rnd.randrange(10**30)}", "1.0000000000000000001", "  7", "1e400", "1e-4950",
        f"-{rnd.randrange(10**20)}.{rnd.randrange(10**20)}", "1,000"])


def version(rnd):
    """Returns a version or a file name."""
    return rnd.choice([
        f"file-{rnd.randrange(3)}.{rnd.randrange(12)}.tar.gz", f"a{'0' * rnd.randrange(3)}{rnd.randrange(20)}", "a~b",
        "a.b~", "..", ".", "x", "a..b", "a.1", "a.b.c1", f"1.{rnd.randrange(3)}~rc{rnd.randrange(3)}", "", "a", "a0",
        "a00b", "a-b", "x.y.", "z.~1~", ".hidden", "a" * 9 + "1"])


def word(rnd):
    """Returns the text of one field."""
    kind = rnd.randrange(6)
    if kind < 2:
        return number(rnd)
    if kind == 2:
        return version(rnd)
    if kind == 3:
        return rnd.choice(["Jan", "feb", "MAR", "apr", "xyz", "ju", "JULy", "dec1", " nov"])
    return "".join(rnd.choice("abAB_- \t.,:;0~\r") for _ in range(rnd.randrange(7)))


def text(rnd, separator, cases):
    """Returns the lines of an input."""
    if rnd.random() < 0.15:
        return bytes(rnd.choice([rnd.randrange(256), 10, 10, 0, 32, 97, 48, 1]) for _ in range(rnd.randrange(300)))
    n = rnd.choice([1, 10, 40]) if cases or rnd.random() < 0.9 else 3000
    words = [word(rnd) for _ in range(rnd.randrange(1, 40))]
    lines = [separator.join(rnd.choice(words) if rnd.random() < 0.5 else word(rnd) for _ in range(rnd.randrange(1, 5)))
             for _ in range(rnd.randrange(1, n + 1))]
    return "\n".join(lines).encode() + rnd.choice([b"\n", b"\n", b""])


def letters(rnd):
    """Returns ordering letters that can be combined."""
    word = rnd.choice(["", "", "n", "n", "g", "h", "M", "V", "d", "f", "i", "df", "if", "fi", "dfV", "Vf", "nf", "di"])
    return word + ("r" if rnd.random() < 0.3 else "") + ("b" if rnd.random() < 0.3 else "")


def key(rnd):
    """Returns a value of -k."""
    word = f"{rnd.randrange(1, 5)}"
    if rnd.random() < 0.3:
        word += f".{rnd.randrange(1, 5)}"
    word += letters(rnd)
    if rnd.random() < 0.7:
        word += f",{rnd.randrange(1, 5)}"
        if rnd.random() < 0.3:
            word += f".{rnd.randrange(0, 5)}"
        if rnd.random() < 0.3:
            word += "b"
    return word


def ends_early(option):
    """Returns whether a key may end before it begins."""
    found = re.match(r"-k(\d+)(\.\d+)?([a-zA-Z]*),(\d+)(\.\d+)?", option)
    return bool(found) and (int(found[4]) < int(found[1]) or (found[4] == found[1] and bool(found[5]))
                            or "b" in found[3])


class Gnu:
    """GNU sort, and the points in which its versions differ."""

    def __init__(self):
        self.path = shutil.which("sort")
        told = subprocess.run([self.path, "--version"], capture_output=True, check=False) if self.path else None
        self.found = bool(told and b"GNU coreutils" in told.stdout)
        self.new_nan = self.found and self.lines(["-g"], b"nan\n-nan\n") == b"-nan\nnan\n"
        self.new_suffix = self.found and self.lines(["-V"], b".b\n.5\n") == b".5\n.b\n"

    def lines(self, options, data):
        """Returns the output for an input."""
        return subprocess.run([self.path, *options], input=data, capture_output=True, env=ENVIRONMENT,
                              check=False).stdout

    def avoid(self, options, data):
        """Removes what versions of GNU sort order differently; old ones compare undefined bytes of NaN."""
        words = " ".join(options)
        if "g" in words and not self.new_nan:
            data = re.sub(rb"(?i)nan", b"non", data)
        if "V" in words and not self.new_suffix:
            data = re.sub(rb"\.(?![0-9])", b"_", data)
        return data


class Case:
    """A random input and random options."""

    def __init__(self, gnu, seed, number_of_case, quick):
        rnd = self.random = random.Random(f"{seed} {number_of_case}")
        separator = rnd.choice([" ", "\t", ",", ":", "  "])
        data = text(rnd, separator, quick)
        self.options = [f"-k{key(rnd)}" for _ in range(rnd.choice([0, 1, 1, 1, 2, 3]))]
        if rnd.random() < 0.5:
            self.options.append(f"-t{separator[0]}")
        self.options += [flag for flag in ("-s", "-u") if rnd.random() < 0.25]
        self.options += [f"-{letter}" for letter in letters(rnd)]
        data = gnu.avoid(self.options, data)
        if rnd.random() < 0.1:
            self.options.append("-z")
            data = data.replace(b"\n", b"\0")
        if not any(option[:2] in ("-k", "-n", "-g", "-h", "-M", "-V", "-s", "-z", "-t", "-b", "-d", "-f", "-i")
                   for option in self.options):
            self.options.append("-s")  # lines, also if all are numbers
        self.data = data
        self.mode = rnd.choice(["sort"] * 6 + ["check", "quiet", "files", "files0", "merge", "random", "output", "debug"])

        if self.mode == "debug" and any(ends_early(option) for option in self.options):
            self.mode = "sort"  # versions of GNU sort underline a key that is empty at different places

    def end(self):
        """Returns the byte that ends a record."""
        return b"\0" if "-z" in self.options else b"\n"


def run(program, options, data=None, folder=None):
    """Returns the exit status and the output."""
    done = subprocess.run([*program, *options], input=data, capture_output=True, env=ENVIRONMENT, cwd=folder,
                          check=False)
    return done.returncode, done.stdout


def write_parts(case, folder, gnu, sort):
    """Writes the input as two or three files, sorted if the option is -m; returns their names."""
    rnd, names = case.random, []
    records = case.data.split(case.end())
    for i in range(rnd.randrange(2, 4)):
        part = case.end().join(records[i::3])
        if sort:
            part = gnu.lines([option for option in case.options if option != "-u"], part)
        names.append(f"part{i}")
        Path(folder, names[-1]).write_bytes(part)
    return names


def arguments(case, folder, gnu):
    """Returns the options and operands of the mode, for both commands, and the data of standard input."""
    options = list(case.options)
    if case.mode in ("check", "quiet"):
        return [*options, "-c" if case.mode == "check" else "-C"], case.data
    if case.mode == "debug":
        return [*options, "--debug"], case.data
    if case.mode in ("files", "merge"):
        extra = ["-m"] if case.mode == "merge" else []
        return [*options, *extra, *write_parts(case, folder, gnu, case.mode == "merge")], None
    if case.mode == "files0":
        names = write_parts(case, folder, gnu, False)
        Path(folder, "names").write_bytes("\0".join(names).encode())
        return [*options, "--files0-from=names"], None
    return options, case.data


def check_random(case, command):
    """Checks that a random order contains the same lines, equal ones together."""
    end = case.end()
    options = ["-R"] + (["-z"] if end == b"\0" else [])
    status, out = run([command, "sort"], options, case.data)
    want = case.data.split(end)
    if want[-1] == b"":
        want.pop()
    got = out.split(end)[:-1]
    groups = [line for i, line in enumerate(got) if i == 0 or line != got[i - 1]]
    return status == 0 and sorted(want) == sorted(got) and len(groups) == len(set(groups))


def check_output(case, command, gnu, folder):
    """Checks -o with the input as output."""
    Path(folder, "data").write_bytes(case.data)
    status, _ = run([command, "sort"], [*case.options, "data", "-o", "data"], None, folder)
    return status == 0 and Path(folder, "data").read_bytes() == gnu.lines(case.options, case.data)


def check_case(case, command, gnu, folder):
    """Returns whether both commands agree."""
    if case.mode == "random":
        return check_random(case, command)
    if case.mode == "output":
        return check_output(case, command, gnu, folder)
    options, data = arguments(case, folder, gnu)
    return run([gnu.path], options, data, folder) == run([command, "sort"], options, data, folder)


def main():
    """Runs the cases and prints how many agree."""
    parser = argparse.ArgumentParser(description="compares echelon sort with GNU sort")
    parser.add_argument("--command", required=True, help="the command echelon")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run exactly this case")
    parser.add_argument("--quick", action="store_true", help="only short inputs")
    args = parser.parse_args()
    gnu = Gnu()
    if not gnu.found:
        print("skip: there is no GNU sort\n0 passed, 0 failed, 1 skipped")
        return 77
    command = str(Path(args.command).resolve())
    failed, numbers = 0, [args.case] if args.case is not None else range(args.cases)
    for i in numbers:
        case = Case(gnu, args.seed, i, args.quick)
        with tempfile.TemporaryDirectory() as folder:
            if check_case(case, command, gnu, folder):
                continue
        failed += 1
        kept = Path(tempfile.gettempdir(), f"sort_gnu_{args.seed}_{i}")
        kept.write_bytes(case.data)
        print(f"FAIL --seed {args.seed} --case {i}: {case.mode} {case.options} with {kept}")
    print(f"{len(numbers) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
