#!/usr/bin/env python3
"""mutate.py - plants single faults in the source and reports which ones the tests do not detect.

    mutate.py --tree TREE --results FILE.csv [--count N] [--seed S] [--files PATTERN ...] [--list]
    mutate.py --results FILE.csv --report

TREE is a second checkout of the repository, with a build in TREE/build (cmake -S TREE -B TREE/build
-G Ninja, then ninja -C TREE/build).  Its sources are changed and restored: do not work in it.

A mutant is one change at one place: an operator, a bound, a constant, a condition, a swapped pair of
arguments, a mask, or a removed call of a function without a result (barriers, fences, waits).  The
seed determines the order of all mutants of the files; the first N that FILE.csv does not contain are
run, so that a run can be continued, and several machines can use different seeds.  The tests are
those of the folder: the programs of the operation on the CPU, quick cases first, and quick cases on
the emulator, or the golden tests of the command.  If a header is part of several modules of kernels, one is compiled.

Results: killed (a test fails, the compiler rejects it, or it takes too long) or survived.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import csv
import fnmatch
import os
import random
import re
import signal
import subprocess
import sys
import time

FIELDS = ["file", "line", "column", "before", "after", "result", "how", "seconds", "text"]
LIMIT_S = 300  # per program; a mutant that takes longer is killed

# Operations whose name is not the name of their folder and programs for folders without operations.
PROGRAMS = {
    "core": ["api", "context", "memory", "explain", "algorithm", "sort", "reduce"],
    "cpu": ["parallel", "threads", "context", "sort", "reduce", "matmul", "direct"],
    "cuda": ["launch", "driver", "exchange", "memory", "sort", "sort_host"],
}

# Pairs of a pattern and its replacements.  The pattern is matched in code, never in comments, texts
# or directives.  \\b and spaces keep -> and ++ and casts apart from operators.
OPERATORS = [
    (r"(?<=[\w)\]] )<(?= [\w(*&!-])", ["<=", ">="]),
    (r"(?<=[\w)\]] )>(?= [\w(*&!-])", [">=", "<="]),
    (r"(?<=[\w)\]] )<=(?= )", ["<"]),
    (r"(?<=[\w)\]] )>=(?= )", [">"]),
    (r"(?<=[\w)\]] )==(?= )", ["!="]),
    (r"(?<=[\w)\]] )!=(?= )", ["=="]),
    (r"(?<=[\w)\]] )\+(?= )", ["-"]),
    (r"(?<=[\w)\]] )-(?= )", ["+"]),
    (r"(?<=[\w)\]] )\*(?= )", ["+"]),
    (r"(?<=[\w)\]] )/(?= )", ["*"]),
    (r"(?<=[\w)\]] )%(?= )", ["/"]),
    (r"(?<=[\w)\]] )&(?= )", ["|"]),
    (r"(?<=[\w)\]] )\|(?= )", ["&"]),
    (r"(?<=[\w)\]] )\^(?= )", ["|"]),
    (r"(?<=[\w)\]] )<<(?= )", [">>"]),
    (r"(?<=[\w)\]] )>>(?= )", ["<<"]),
    (r"(?<=[\w)\]] )&&(?= )", ["||"]),
    (r"(?<=[\w)\]] )\|\|(?= )", ["&&"]),
    (r"(?<=[\w)\]] )\+=(?= )", ["-="]),
    (r"(?<=[\w)\]] )-=(?= )", ["+="]),
    (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]),
    (r"(?<=[(=<>+*/%-] )\d+(?=[;,) ])", ["+1"]),  # a constant: one more
    (r"(?<= - )\d+(?=[;,) ])", ["+1"]),
]


def code_of(text):
    """The text with comments, strings, characters and directives replaced by blanks."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\\n])*\"|'(\\.|[^'\\\n])+'", blank, text,
                  flags=re.S)
    return re.sub(r"^[ \t]*#(\\\n|[^\n])*", blank, text, flags=re.M)


def mutants_of(path, text):
    """All mutants of a file: (offset, length, replacement)."""
    code = code_of(text)
    found = []
    for pattern, replacements in OPERATORS:
        for match in re.finditer(pattern, code):
            for replacement in replacements:
                if replacement == "+1":
                    replacement = str(int(match.group(0)) + 1)
                found.append((match.start(), len(match.group(0)), replacement))
    # Conditions.
    for match in re.finditer(r"\b(?:if|while) \(", code):
        depth, at = 1, match.end()
        while at < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        condition = text[match.end():at - 1]
        if "\n" not in condition:
            found.append((match.end(), len(condition), "!(%s)" % condition))
    # Statements that call a function: barriers, fences, waits, copies.
    for match in re.finditer(r"^[ \t]+([a-z_]\w*\([^;{}]*\);)$", code, re.M):
        if not re.match(r"(return|if|while|for|switch|sizeof)\b", match.group(1)):
            found.append((match.start(1), len(match.group(1)), ";"))
    # Two arguments that are names.
    for match in re.finditer(r"\b\w+\(([a-z]\w*), ([a-z]\w*)(?=[,)])", code):
        if match.group(1) != match.group(2):
            found.append((match.start(1), match.end(2) - match.start(1),
                          "%s, %s" % (match.group(2), match.group(1))))
    # Declarations of functions have no semantics.
    return [m for m in found if not re.match(r"\s*(static|extern|ECH_API|struct|enum)\b[^=]*\($",
                                             code[code.rfind("\n", 0, m[0]) + 1:m[0]] + "(")]


def sources(tree, patterns):
    names = subprocess.check_output(["git", "-C", tree, "ls-files", "src", "cli"], text=True)
    return [name for name in names.split() if re.search(r"\.(c|h|cu|cuh)$", name)
            and not name.startswith("src/simt/")
            and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def all_mutants(tree, patterns, seed):
    found = []
    for name in sources(tree, patterns):
        with open(os.path.join(tree, name)) as file:
            text = file.read()
        for start, length, after in mutants_of(name, text):
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            found.append({"file": name, "line": line, "column": column, "start": start,
                          "before": text[start:start + length], "after": after,
                          "text": text.split("\n")[line - 1].strip()})
    random.Random(seed).shuffle(found)
    return found


class Tree:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.build = os.path.join(self.path, "build")
        self.programs = dict(PROGRAMS)
        with open(os.path.join(self.path, "src/operations.def")) as file:
            for folder, tests in re.findall(r"^OPERATION\(\w+,\s*(\w+),[^\"\n]*(?:\"([^\"]*)\")?",
                                            file.read(), re.M):
                self.programs.setdefault(folder, []).extend(tests.split() + ["explain"])
        self.deps = {}  # header: objects that include it
        deps = subprocess.run(["ninja", "-C", self.build, "-t", "deps"], text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        target = None
        for line in deps.split("\n"):
            if line.startswith(" "):
                name = os.path.relpath(os.path.join(self.build, line.strip()), self.path)
                self.deps.setdefault(name, []).append(target)
            elif line:
                target = line.split(":")[0]

    def run(self, command, limit_s=LIMIT_S, environment=None):
        """True if the command ends with 0 in time."""
        process = subprocess.Popen(command, cwd=self.path, start_new_session=True,
                                   env=dict(os.environ, **(environment or {})),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            return process.wait(limit_s) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False

    def module(self, mutant, rng):
        """A module that contains the mutant's file; None: host code."""
        objects = [o for o in self.deps.get(mutant["file"], []) if "CMakeFiles/simt_" in o]
        names = sorted({re.search(r"CMakeFiles/(simt_\w+)\.dir", o).group(1) for o in objects})
        return rng.choice(names) if names else None

    def judge(self, mutant):
        """How the mutant is killed; None: it survives."""
        name = mutant["file"]
        folder = name.split("/")[1] if name.startswith("src/") else "cli"
        rng = random.Random("%(file)s %(line)s %(column)s %(after)s" % mutant)
        module = self.module(mutant, rng) if "/cuda/" in name or name.endswith(".cuh") else None
        targets = ["echelon"] if not module or name.endswith(".c") else []
        if module:
            targets.append(module)
        if folder in ("cli", "io"):
            targets = ["echelon_cli", "fuzz_text_short", "fuzz_matrix_short", "fuzz_bits_short",
                       "fuzz_npy_short"]
        programs = ["test_" + p for p in dict.fromkeys(self.programs.get(folder, []))]
        targets += [p for p in programs if os.path.exists(self.build + "/tests/" + p)]
        if not self.run(["ninja", "-C", self.build] + targets, 1800):
            return "compiler"
        simt = {"ECHELON_LIBSIMT": self.build + "/src/libechelon_simt.so"}
        if folder in ("cli", "io"):
            tests = subprocess.run(["ctest", "--test-dir", self.build, "-N", "-R", "^(cli_|fuzz_)"],
                                   text=True, stdout=subprocess.PIPE, check=True).stdout
            for test in re.findall(r": ((?:cli|fuzz)_\w+)", tests):
                if not self.run(["ctest", "--test-dir", self.build, "-R", "^%s$" % test]):
                    return test
            return None
        for program in programs:
            path = self.build + "/tests/" + program
            if not os.path.exists(path):
                continue
            ways = []
            if not module:
                ways.append((["--device", "cpu", "--quick"], {}))
                if "/cpu/" in name:
                    ways.append((["--device", "cpu", "--quick", "--every", "3"],
                                 {"ECHELON_CPU": "portable"}))
                ways.append((["--device", "cpu"], {}))
            if "/cpu/" not in name and program not in ("test_parallel", "test_threads"):
                ways.append((["--device", "simt", "--quick", "--every", "7"], simt))
                ways.append((["--device", "simt", "--quick", "--every", "7"],
                             dict(simt, ECHELON_SIMT="seed=3,yield=5")))
            for arguments, environment in ways:
                if not self.run([path] + arguments, environment=environment):
                    return program + " " + " ".join(arguments)
        return None


def write(path, row):
    new = not os.path.exists(path)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        if new:
            writer.writeheader()
        writer.writerow(row)


def report(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    survivors = [row for row in rows if row["result"] == "survived"]
    compiler = sum(row["how"] == "compiler" for row in rows)
    for row in survivors:
        print("%(file)s:%(line)s:%(column)s: %(before)s -> %(after)s\n    %(text)s" % row)
    print("%d mutants: %d killed by tests, %d by the compiler, %d survived (%.1f %%)" %
          (len(rows), len(rows) - compiler - len(survivors), compiler, len(survivors),
           100 * len(survivors) / max(1, len(rows))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree")
    parser.add_argument("--results", required=True)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", nargs="*", default=["*"])
    parser.add_argument("--list", action="store_true", help="print the mutants, run none")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        return report(options.results)
    if not options.tree:
        parser.error("--tree is missing")
    mutants = all_mutants(options.tree, options.files, options.seed)
    if options.list:
        for m in mutants[:options.count]:
            print("%(file)s:%(line)s:%(column)s: %(before)s -> %(after)s    %(text)s" % m)
        print("%d mutants" % len(mutants))
        return 0
    done = set()
    if os.path.exists(options.results):
        with open(options.results, newline="") as file:
            done = {(r["file"], r["line"], r["column"], r["after"]) for r in csv.DictReader(file)}
    tree = Tree(options.tree)
    left = options.count
    for m in mutants:
        if not left:
            break
        if (m["file"], str(m["line"]), str(m["column"]), m["after"]) in done:
            continue
        left -= 1
        path = os.path.join(tree.path, m["file"])
        with open(path) as file:
            text = file.read()
        began = time.monotonic()
        try:
            with open(path, "w") as file:
                file.write(text[:m["start"]] + m["after"] +
                           text[m["start"] + len(m["before"]):])
            m["how"] = tree.judge(m) or ""
        finally:
            with open(path, "w") as file:
                file.write(text)
        m["result"] = "killed" if m["how"] else "survived"
        m["seconds"] = "%.0f" % (time.monotonic() - began)
        write(options.results, m)
        print("%(result)s (%(how)s, %(seconds)s s) %(file)s:%(line)s: %(before)s -> %(after)s" % m)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
