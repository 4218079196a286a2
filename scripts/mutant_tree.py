#!/usr/bin/env python3
"""mutant_tree.py - for mutate.py: how the files of a build are made, and which tests run a file.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
import subprocess
import sys
import threading

# Operations whose name is not the name of their folder and programs for folders without operations.
PROGRAMS = {
    "core": ["api", "context", "memory", "explain", "algorithm", "sort", "reduce"],
    "cpu": ["parallel", "threads", "context", "sort", "reduce", "matmul", "direct"],
    "cuda": ["driver", "context", "memory", "explain", "scan", "sort_host"],
}

# Programs that do not select a device, and programs with few cases, all of which are run.
NO_DEVICE = {"test_parallel", "test_threads", "test_launch", "test_driver", "test_exchange",
             "test_explain", "test_pack", "test_plan", "test_predicate"}
SLOW = {"test_sort_host", "test_sort_memory"}  # only with --again
ORDERED = {"reduce", "scan", "select", "sort"}  # blocks look back at other blocks
WHOLE = {"test_sort_host", "test_sort_memory", "test_histogram_api", "test_context", "test_memory",
         "test_api", "test_algorithm"}


def quick_cases(program):
    """The arguments that ctest uses on the emulator."""
    if program in WHOLE:
        return ["--device", "simt", "--quick"]
    if program == "test_sort":
        return ["--device", "simt", "--quick", "--every", "21", "--one-way"]
    return ["--device", "simt", "--quick", "--every", "7"]


def relevant(module, case):
    """Whether a case may use a module, as far as the names show."""
    found = re.search(r"_(bf|[fkw])(\d+)", module)
    if not found:
        return True
    kind, size = found.groups()
    if kind == "w":
        element = re.search(r"bytes=(\d+)", case)
        return not element or int(element.group(1)) % int(size) == 0
    kinds = {"k": ("u", "i", "f", "bf"), "f": ("f",), "bf": ("bf",)}[kind]
    types = re.findall(r"(?<![a-z0-9])(u|i|f|bf)(8|16|32|64)(?!\d)", case)
    return not types or any(k in kinds and s == size for k, s in types)


class Tree:
    """The unchanged checkout: how each file is built, and which tests a folder has."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.build = os.path.join(self.path, "build")
        self.programs = {folder: list(tests) for folder, tests in PROGRAMS.items()}
        with open(os.path.join(self.path, "src/operations.def")) as file:
            for folder, tests in re.findall(r"^OPERATION\(\w+,\s*(\w+),[^\"\n]*(?:\"([^\"]*)\")?",
                                            file.read(), re.M):
                self.programs.setdefault(folder, []).extend(tests.split() + ["explain"])
        with open(os.path.join(self.path, "tests/test.c")) as file:
            self.stop = ["--stop"] if '"--stop"' in file.read() else []
        self.deps = {}  # source or header: objects that include it
        target = None
        for line in self.ninja("deps").split("\n"):
            if line.startswith(" "):
                name = os.path.relpath(os.path.join(self.build, line.strip()), self.path)
                self.deps.setdefault(name, []).append(target)
            elif line:
                target = line.split(":")[0]
        self.compilers = {c["output"]: re.sub(r"^\S*ccache ", "", c["command"])
                          for c in json.loads(self.ninja("compdb")) if " -c " in c["command"]}
        self.linkers = {}
        self.case_lines = {}
        self.seconds = {}  # of the compilation of an object
        with open(self.build + "/.ninja_log") as file:
            for line in file:
                words = line.split("\t")
                if len(words) == 5:
                    self.seconds[words[3]] = (int(words[1]) - int(words[0])) / 1000
        self.lock = threading.Lock()
        self.library = os.path.relpath(os.path.realpath(self.build + "/src/libechelon.so"),
                                       self.build)
        tests = json.loads(subprocess.check_output(
            ["ctest", "--test-dir", self.build, "--show-only=json-v1"], text=True))["tests"]
        self.golden = [t for t in tests if re.match("(cli_|fuzz_|test_gf2_check)", t["name"])]

    def ninja(self, *tool):
        return subprocess.check_output(["ninja", "-t", *tool], cwd=self.build, text=True)

    def linker(self, target):
        """The command that links a target; empty if there is no such target."""
        if target not in self.linkers:
            result = subprocess.run(["ninja", "-t", "commands", target], cwd=self.build, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            found = [line for line in result.stdout.split("\n")
                     if re.search(r" (-o|qc) %s " % re.escape(target), line + " ")]
            self.linkers[target] = found[-1] if found else ""
        return self.linkers[target]

    def cases(self, program, folder):
        """The quick cases of a program on the emulator: (seconds, id, executed lines)."""
        with self.lock:
            if program not in self.case_lines:
                path = os.path.join(folder, program)
                test = os.path.join(self.build, "tests", program)
                if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(test):
                    os.makedirs(folder, exist_ok=True)
                    with open(path + ".new", "w") as file:
                        subprocess.run([test, "--lines"] + quick_cases(program), stdout=file,
                                       stderr=subprocess.DEVNULL,
                                       env=dict(os.environ, ECHELON_SIMT="profile"))
                    os.replace(path + ".new", path)
                cases = {}
                with open(path) as file:
                    for line in file:
                        if line.startswith("lines "):
                            _, seconds, case = line.rstrip("\n").split(" ", 2)
                            entry = cases.setdefault(case, [0, set()])
                            entry[0] += float(seconds)
                            lines = entry[1]
                        elif line.startswith("  ") and cases:
                            lines.add(sys.intern(os.path.basename(line.strip())))
                self.case_lines[program] = sorted((seconds, case, lines) for case, (seconds, lines)
                                                  in cases.items())
        return self.case_lines[program]

    def modules(self, name):
        """The objects of the modules of kernels that contain this file."""
        return sorted(o for o in self.deps.get(name, [])
                      if re.match(r"src/\w+/CMakeFiles/simt_", o))
