#!/usr/bin/env python3
"""mutate.py - plants single faults in the source and reports which ones the tests do not detect.

    mutate.py --tree TREE --results FILE.csv [--count N] [--seed S] [--jobs N] [--files PATTERN ...]
    mutate.py --tree TREE --results FILE.csv --again [--jobs N]
    mutate.py --tree TREE [--seed S] [--count N] [--files PATTERN ...] --list
    mutate.py --results FILE.csv --report

TREE is a checkout of the repository with a complete build in TREE/build (cmake -S TREE
-B TREE/build -G Ninja, then ninja -C TREE/build).  Nothing in TREE changes: each of the --jobs has
a folder with the changed source and what was built from it, and links to all other files of the
build.

A mutant is one change at one place: an operator, a bound, a constant, a condition, a swapped pair
of arguments, a mask, or a removed call of a function without a result (barriers, fences, waits).
The seed determines the order of all mutants of the files; the first N that FILE.csv does not
contain are run, so that a run can be continued, and several machines can use different seeds.

The tests are those of the folder: the programs of the operation on the CPU, quick cases first, and
quick cases on the emulator, or the golden tests of the command.  Each program ends at its first
failure.  Cases that killed earlier mutants of the folder run first; this changes the time, not the
result.  A header of kernels that is part of several modules is compiled into one of them, selected
at random.  --again runs more tests for each survivor of FILE.csv: other modules, more cases, and
more orders of execution.

Results: killed (a test fails, the compiler rejects it, or it takes too long), survived, or same
(the compiler generates the same instructions as before, in each module).

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import csv
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from mutant_tree import NO_DEVICE, ORDERED, SLOW, WHOLE, Tree, quick_cases, relevant
from mutants import all_mutants, function_lines

FIELDS = ["file", "line", "column", "before", "after", "result", "how", "seconds", "module",
          "cases", "text"]
LIMIT_S = 300  # per program; a mutant that takes longer is killed
HISTORY = 12  # cases per program that killed the latest mutants, tried first
SOME_S = 20  # seconds of cases of a program for a mutant of host code, without --again
MODULES = 4  # modules per survivor with --again


class Worker:
    """A folder with a copy of the sources, and with links to the build or what was built again."""

    def __init__(self, tree, shared, path):
        self.tree, self.shared, self.path = tree, shared, path
        self.build = os.path.join(path, "build")
        for name in ("src", "cli", "include"):
            shutil.copytree(os.path.join(tree.path, name), os.path.join(path, name))
        os.makedirs(self.build + "/src/echelon")
        self.made = []  # files of the build that are not links
        for folder in ("src", "src/echelon"):
            for name in os.listdir(os.path.join(tree.build, folder)):
                if ".so" in name:
                    self.link(folder + "/" + name)
        self.environment = dict(os.environ, LD_LIBRARY_PATH=self.build + "/src",
                                ECHELON_LIBSIMT=self.build + "/src/libechelon_simt.so")
        libraries = subprocess.check_output(["ldd", tree.build + "/tests/test_api"], text=True,
                                            env=self.environment)
        if self.build + "/src/libechelon.so" not in libraries:
            sys.exit("LD_LIBRARY_PATH does not select the library of the tests")

    def link(self, name):
        """A link to a file of the build; all names of the library lead to one file."""
        to = os.path.join(self.tree.build, name)
        if os.path.basename(name).startswith("libechelon.so") and name != self.tree.library:
            to = os.path.basename(self.tree.library)
        os.symlink(to, os.path.join(self.build, name))

    # ---- Build ----

    def place(self, name):
        """The path of a file of the build."""
        made = os.path.join(self.build, name)
        return made if name in self.made else os.path.join(self.tree.build, name)

    def shell(self, command):
        return subprocess.run(command, shell=True, cwd=self.tree.build, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def output(self, name):
        path = os.path.join(self.build, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(path):
            os.unlink(path)
        self.made.append(name)
        return path

    def moved(self, text):
        """The text with paths of the sources of this folder."""
        return re.sub(r"%s/(?=(src|cli|include)\b)" % re.escape(self.tree.path),
                      lambda _: self.path + "/", text)

    def compile(self, name):
        """Compiles an object; "compiler" if that fails, "same" if its code is that of the tree."""
        command = self.moved(self.tree.compilers[name])
        source = command.split(" -c ")[1].split()[0]
        generated = os.path.relpath(os.path.join(self.tree.build, source), self.tree.build)
        if not generated.startswith("../"):
            with open(os.path.join(self.tree.build, source)) as file:
                text = self.moved(file.read())
            copy = self.output(generated)
            with open(copy, "w") as file:
                file.write(text)
            command = command.replace(" -c " + source, " -c " + copy)
        object_file = self.output(name)
        command = re.sub(r" -M[DTF]( (?!-)\S+)?", "", command)
        command = command.replace(" -o " + name, " -o " + object_file)
        command += " -ffile-prefix-map=%s/=%s/" % (self.path, self.tree.path)
        if not self.shell(command):
            return "compiler"
        codes = []
        for path in (object_file, os.path.join(self.tree.build, name)):
            stripped = os.path.join(self.path, "stripped.o")
            subprocess.run(["objcopy", "--strip-debug", path, stripped], check=True)
            with open(stripped, "rb") as file:
                codes.append(file.read())
        return "same" if codes[0] == codes[1] else ""

    def relink(self, target):
        """Links a target again if one of its parts was built again; False if that fails."""
        command = self.tree.linker(target)
        parts = set(command.split())
        for part in sorted(parts):
            if part.endswith(".a") and part != target and not self.relink(part):
                return False
        if not parts & set(self.made):
            return True
        words = {name: os.path.join(self.build, name) for name in self.made}
        words[target] = self.output(target)
        return self.shell("".join(words.get(w, w) for w in re.split(r"(\s+)", command)))

    def clean(self):
        for name in dict.fromkeys(self.made):
            path = os.path.join(self.build, name)
            if os.path.exists(path):
                os.unlink(path)
            if re.match(r"src/(echelon/)?[^/]*\.so", name):
                self.link(name)
        self.made = []

    # ---- Tests ----

    def run(self, command, options="", limit_s=None):
        """None if a command ends with 0 or 77 (skipped) in time; else its first failed case."""
        key = " ".join([os.path.basename(command[0]), options] + command[1:])[:400]
        passed_s = self.shared["times"].get(key)
        if not limit_s:
            limit_s = LIMIT_S if passed_s is None else min(LIMIT_S, 60 + 8 * passed_s)
        environment = dict(self.environment, **dict(o.split("=", 1) for o in options.split()))
        if self.shared["verbose"]:
            print("    %s %s %s" % (time.strftime("%H:%M:%S"), key, limit_s))
            sys.stdout.flush()
        began = time.monotonic()
        with open(os.path.join(self.path, "output"), "w+") as output:
            process = subprocess.Popen(command, cwd=self.path, start_new_session=True,
                                       env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.DEVNULL)
            self.shared["running"].add(process.pid)
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return "more than %.0f s" % limit_s
            finally:
                self.shared["running"].discard(process.pid)
            if status in (0, 77):
                self.shared["times"][key] = max(time.monotonic() - began, passed_s or 0)
                return None
            output.seek(0)
            text = output.read()
        if "no case id begins with" in text:
            return None
        case = re.search(r"^FAIL '(.*)'$", text, re.M)
        return case.group(1) if case else "status %d" % status

    def program(self, program, arguments, options="", limit_s=None):
        """How a test program fails; None: it passes."""
        path = self.place("tests/" + program)
        case = self.run([path] + arguments + self.tree.stop, options, limit_s)
        if not case:
            return None
        history = self.shared["history"].setdefault(program, [])
        if case in history:
            history.remove(case)
        history.insert(0, case)
        del history[HISTORY:]
        first = [a for a in arguments if "(" not in a and " " not in a]
        return " ".join([options, program] + first).strip() + ": " + case

    def simt_ways(self, program):
        """More cases for survivors."""
        if program in WHOLE:
            return []
        if program == "test_sort":
            return [(["--device", "simt", "--cover"], "")]
        return [(["--device", "simt", "--quick", "--every", "2"], "")]

    def covering(self, program, mutant, module):
        """The quick cases that run the line of a mutant, otherwise its function or its file."""
        name = os.path.basename(mutant["file"])
        first, last = mutant["function"]
        cases = [c for c in self.tree.cases(program, self.shared["lines"])
                 if relevant(module, c[1])]
        near = {"%s:%d" % (name, line) for line in range(first, last + 1)}
        at = "%s:%d" % (name, mutant["line"])
        exact = [c for c in cases if at in c[2]]
        around = [c for c in cases if at not in c[2] and near & c[2]]
        if not exact and not around:
            exact = [c for c in cases if any(l.startswith(name + ":") for l in c[2])]
        return [(c[1], c[0]) for c in exact + around]

    def run_cases(self, program, cases, options):
        """Runs cases, the first of them first, in processes of at most 64."""
        more = ["--one-way"] if program == "test_sort" else []
        count = 6
        while cases:
            limit_s = min(LIMIT_S, 40 + 10 * sum(case[1] for case in cases[:count]))
            how = self.program(program, ["--device", "simt"] + more +
                               [case[0] for case in cases[:count]], options, limit_s)
            if how:
                return how
            cases, count = cases[count:], 64
        return None

    def some_cases(self, program):
        """Quick cases that take together about SOME_S seconds."""
        cases = [(c[1], c[0]) for c in self.tree.cases(program, self.shared["lines"])]
        random.Random(program).shuffle(cases)
        history = self.shared["history"].get(program, [])
        cases.sort(key=lambda case: case[0] not in history)
        left, chosen = SOME_S, []
        for case in cases:
            if case[1] < left:
                chosen.append(case)
                left -= case[1]
        return chosen

    def kernel_programs(self, folder, deep):
        programs = ["test_" + p for p in dict.fromkeys(self.tree.programs.get(folder, []))]
        return [p for p in programs if p != "test_explain" and (deep or p not in SLOW) and
                os.path.exists(self.tree.build + "/tests/" + p)]

    def test_kernels(self, folder, module, mutant, deep):
        programs = self.kernel_programs(folder, deep)
        chosen = {p: self.covering(p, mutant, module) for p in programs}
        history = {c for p in programs for c in self.shared["history"].get(p, [])}
        for p in programs:  # cases that killed others come first
            chosen[p].sort(key=lambda case: case[0] not in history)
        mutant["cases"] = sum(map(len, chosen.values()))
        orders = [""]
        if deep or folder in ORDERED:
            orders.append("ECHELON_SIMT=seed=3,yield=5")
        if deep:
            orders += ["ECHELON_SIMT=seed=2,yield=4,weak=1",
                       "ECHELON_SIMT=seed=3,yield=64,threads=2", "ECHELON_SIMT=sm=80",
                       "ECHELON_SIMT=sm=75"]
        for options in orders:
            for program in programs:
                how = self.run_cases(program, chosen[program], options)
                if how:
                    return how
        if not deep:
            return None
        for program in programs:
            for arguments, options in self.simt_ways(program):
                how = self.program(program, arguments, options)
                if how:
                    return how
        if folder in ("sort", "select"):
            script = ["sh", self.tree.path + "/tests/simt_orders.sh", self.place("cli/echelon")]
            return "simt_orders" if self.run(script) else None
        return None

    def test_host(self, name, folder, programs, deep):
        for program in programs:
            ways = []
            if "/cuda/" not in name or program in NO_DEVICE:
                ways.append((["--device", "cpu", "--quick"], ""))
                if "/cpu/" in name:
                    ways.append((["--device", "cpu", "--quick", "--every", "3"],
                                 "ECHELON_CPU=portable"))
                ways.append((["--device", "cpu"], ""))
            if "/cpu/" not in name and program not in NO_DEVICE:
                if deep or program in WHOLE or "/cuda/" not in name:
                    ways.append((quick_cases(program), ""))
                else:
                    how = self.run_cases(program, self.some_cases(program), "")
                    if how:
                        return how
                if deep:
                    ways += self.simt_ways(program)
            for arguments, options in ways:
                how = self.program(program, arguments, options)
                if how:
                    return how
        return None

    def test_golden(self):
        for test in self.tree.golden:
            words = [self.place(os.path.relpath(w, self.tree.build))
                     if w.startswith(self.tree.build) else w for w in test["command"]]
            options = [v for p in test["properties"] if p["name"] == "ENVIRONMENT"
                       for v in p["value"] if " " not in v]
            options = [o.replace(self.tree.build + "/cli/echelon", self.place("cli/echelon"))
                       for o in options]
            if self.run(words, " ".join(options)):
                return test["name"]
        return None

    # ---- Verdict ----

    def judge(self, mutant, deep):
        """Sets the result of a mutant, and how it was found."""
        path = os.path.join(self.path, mutant["file"])
        with open(path) as file:
            text = file.read()
        mutant["function"] = function_lines(text, mutant["line"])
        try:
            with open(path, "w") as file:
                file.write(text[:mutant["start"]] + mutant["after"] +
                           text[mutant["start"] + len(mutant["before"]):])
            name = mutant["file"]
            modules = self.tree.modules(name) if "/cuda/" in name else []
            how = self.judge_kernels(mutant, modules, deep) if modules else \
                self.judge_host(mutant, deep)
        finally:
            self.clean()
            with open(path, "w") as file:
                file.write(text)
        mutant["how"] = how
        mutant["result"] = how if how in ("same", "survived") else "killed"

    @staticmethod
    def parts_of(module):
        """The folder and the name of a module."""
        return re.match(r"src/(\w+)/CMakeFiles/simt_(\w+)\.dir", module).groups()

    def judge_kernels(self, mutant, modules, deep):
        """Tests one module.  Modules that compile fast, and whose kernels many cases run, are more
        likely."""
        rng = random.Random("%(file)s %(line)s %(column)s %(after)s" % mutant)
        chance = {}
        for module in modules:
            folder, name = self.parts_of(module)
            cases = sum(len(self.covering(p, mutant, name))
                        for p in self.kernel_programs(folder, False))
            weight = min(cases, 20) / (1 + self.tree.seconds.get(module, 1))
            chance[module] = rng.random() ** (1 / (0.001 + weight))
        tested = 0
        order = sorted(modules, key=chance.get, reverse=True)
        for module, more in [(m, False) for m in order] + [(m, True) for m in order if deep]:
            if tested == (MODULES if deep else 1) and not more:
                continue
            self.clean()
            state = self.compile(module)
            if state == "compiler":
                return state
            if state == "same":
                continue
            folder, name = self.parts_of(module)
            if not self.relink("src/echelon/%s.so" % name):
                return "compiler"
            mutant["module"] = name
            how = self.test_kernels(folder, name, mutant, more)
            tested += 1
            if how or more:
                return how or "survived"
        return "survived" if tested else "same"

    def judge_host(self, mutant, deep):
        name = mutant["file"]
        folder = name.split("/")[1] if name.startswith("src/") else "cli"
        golden = folder in ("cli", "io")
        programs = re.findall(r"^tests/CMakeFiles/(test_\w+)\.dir/",
                              "\n".join(self.tree.deps.get(name, [])), re.M)
        programs += ["test_" + p for p in self.tree.programs.get(folder, [])]
        programs = [p for p in dict.fromkeys(programs) if (deep or p not in SLOW) and
                    os.path.exists(self.tree.build + "/tests/" + p)]
        targets = [self.tree.library] + ["tests/" + p for p in programs]
        if golden:
            targets += ["cli/echelon", "tests/cli/test_gf2_check"]
            targets += ["tests/fuzz/fuzz_%s_short" % t for t in ("text", "matrix", "bits", "npy")]
        parts = set()
        for target in targets:
            words = self.tree.linker(target).split()
            parts.update(words)
            for archive in words:
                if archive.endswith(".a"):
                    parts.update(self.tree.linker(archive).split())
        changed = [o for o in self.tree.deps.get(name, []) if o in parts]
        states = []
        for part in changed:
            states.append(self.compile(part))
            if states[-1] == "compiler":
                return "compiler"
        if all(s == "same" for s in states):
            return "same" if states else "survived"
        for target in targets:
            if not self.relink(target):
                return "compiler"
        how = self.test_golden() if golden else self.test_host(name, folder, programs, deep)
        return how or "survived"
def write(path, row):
    new = not os.path.exists(path)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="", extrasaction="ignore")
        if new:
            writer.writeheader()
        writer.writerow(row)


def read(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def key_of(row):
    return row["file"], str(row["line"]), str(row["column"]), row["after"]


def report(path):
    rows = read(path)
    count = collections.Counter(row["result"] for row in rows)
    compiler = sum(row["how"] == "compiler" for row in rows)
    for row in rows:
        if row["result"] == "survived":
            print("%(file)s:%(line)s:%(column)s: %(before)s -> %(after)s\n    %(text)s" % row)
    print("%d mutants: %d killed by tests, %d by the compiler, %d with the same code, "
          "%d survived (%.1f %%)" %
          (len(rows), count["killed"] - compiler, compiler, count["same"], count["survived"],
           100 * count["survived"] / max(1, len(rows) - count["same"])))


def run_all(options, mutants):
    """Judges the mutants with several workers; returns after the last one."""
    tree = Tree(options.tree)
    work = tempfile.mkdtemp(prefix="mutate-", dir=options.work)
    shared = {"history": {}, "times": {}, "running": set(), "stopped": False,
              "verbose": options.verbose,
              "lines": options.results + ".lines"}
    for row in read(options.results):
        case = re.match(r"(?:ECHELON_SIMT=\S+ )?(test_\w+) [^:]*: (\w+\(.*)$", row["how"])
        if case:
            shared["history"].setdefault(case.group(1), []).insert(0, case.group(2))
    for program, cases in shared["history"].items():
        shared["history"][program] = list(dict.fromkeys(cases))[:HISTORY]
    lock = threading.Lock()
    todo = queue.SimpleQueue()
    for m in mutants:
        todo.put(m)

    def loop(worker):
        while True:
            try:
                m = todo.get_nowait()
            except queue.Empty:
                return
            began = time.monotonic()
            worker.judge(m, options.again)
            if shared["stopped"]:
                return
            m["seconds"] = "%.0f" % (time.monotonic() - began)
            with lock:
                if options.again:
                    for row in read(options.results):
                        write(options.results + ".new", m if key_of(row) == key_of(m) else row)
                    os.replace(options.results + ".new", options.results)
                else:
                    write(options.results, m)
                print("%(result)s (%(how)s, %(seconds)s s) %(file)s:%(line)s: %(before)s -> "
                      "%(after)s" % m)
                sys.stdout.flush()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # A program that a shell starts in the background ignores these, and so would the tests.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        threads = []
        for i in range(options.jobs):
            worker = Worker(tree, shared, os.path.join(work, str(i)))
            threads.append(threading.Thread(target=loop, args=(worker,), daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        shared["stopped"] = True
        for process in list(shared["running"]):
            os.killpg(process, signal.SIGKILL)
        shutil.rmtree(work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree")
    parser.add_argument("--results")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", help="folder for the copies; default: that of temporary files")
    parser.add_argument("--files", nargs="*", default=["*"])
    parser.add_argument("--line", type=int, help="only the mutants of this line")
    parser.add_argument("--again", action="store_true", help="run more tests for all survivors")
    parser.add_argument("--list", action="store_true", help="print the mutants, run none")
    parser.add_argument("--verbose", action="store_true", help="print each program that is run")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.list and not options.results:
        parser.error("--results is missing")
    if options.report:
        return report(options.results)
    if not options.tree:
        parser.error("--tree is missing")
    mutants = all_mutants(options.tree, options.files, options.seed)
    mutants = [m for m in mutants if options.line in (None, m["line"])]
    if options.list:
        for m in mutants[:options.count]:
            print("%(file)s:%(line)s:%(column)s: %(before)s -> %(after)s    %(text)s" % m)
        print("%d mutants" % len(mutants))
        return 0
    results = {key_of(row): row["result"] for row in read(options.results)}
    if options.again:
        mutants = [m for m in mutants if results.get(key_of(m)) == "survived"]
    else:
        mutants = [m for m in mutants if key_of(m) not in results][:options.count]
    run_all(options, mutants)
    return 0


if __name__ == "__main__":
    sys.exit(main())
