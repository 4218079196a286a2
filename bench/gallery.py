#!/usr/bin/env python3
"""gallery.py - writes docs/emulate-gallery.md: each planted fault of tests/simt with its kernel and what
"echelon emulate" reports.

    bench/gallery.py --command build/cli/echelon            runs all faults and writes the page
    bench/gallery.py --check                                fails if a kernel on the page differs from its source,
                                                            or if a fault is missing
    bench/gallery.py --check --command COMMAND --every 12   also runs every 12th fault, and fails if the kinds of
                                                            findings are not those of the page

The kinds of findings do not depend on the compiler; their texts may, so they are not compared.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
from truth_table import PLANTED  # noqa: E402

PAGE = ROOT / "docs" / "emulate-gallery.md"
SIMT = ROOT / "tests" / "simt"
FAULT = re.compile(r"^FAULT\((\w+), *(\w+), *(\d+), *(\d+), *(\d+), *(\d+), *(\d+), *\"([^\"]*)\"", re.M)

GROUPS = [
    ("Races", "race"),
    ("Uninitialised reads", "uninitialized"),
    ("Accesses out of bounds", "bounds"),
    ("Misaligned accesses", "misaligned"),
    ("Divergent barriers", "divergent_barrier"),
    ("Wrong masks and lanes", "mask"),
    ("Deadlocks", "deadlock"),
    ("Launches that exceed a limit", "launch"),
    ("Faults without a finding", "yield weak"),
]

# The faults that truth_table.py does not list, because neither tool has a finding.
SILENT = {
    "lookback_value": "a look-back adds the inclusive prefix that it finds, but not the aggregates before it",
    "weak_no_fence": "no fence between data and flag, all accesses volatile",
    "weak_block_fence": "`__threadfence_block()` between data and flag, all accesses volatile",
    "weak_gather": "thread 0 sets the flag for its block without a fence after the barrier",
}

HEAD = """\
# Gallery: planted faults and what is reported

`tests/simt/faults*.cu` contains kernels with one fault each. The tests of the SIMT emulator require that each
is found. This page shows each kernel and the report of [`echelon emulate`](emulate.md). `bench/gallery.py` generates
it. [simt.md](simt.md#measured-against-a-gpu-faults) compares the findings with those of NVIDIA's compute-sanitizer on
an H200.

Most kernels share a body with a correct twin. The constant argument `fixed` is 0 in the kernel with the fault, and 1 in
the twin. All kernels have the argument `a`: the arrays `a.in` of `a.n_in` words and `a.out` of `a.n_out` words, the
flags `a.flag`, which are 0, and `a.raw`, which is uninitialised. `shared_words()` is dynamic shared memory.

To run a kernel yourself, from the folder `tests/simt`:

```sh
planted() { # FILE KERNEL BLOCKS THREADS SHARED_BYTES N_IN N_OUT [OPTION]...
    echelon gen uniform -N "$6" --type u32 -o in.u32
    echelon emulate "$1.cu:$2" --grid "$3" --block "$4" --shared "$5" \\
        --arg a.in=in.u32 --arg a.n_in="$6" --arg a.out:u32:"$7"=0 --arg a.n_out="$7" \\
        --arg a.flag:u32:16=0 --arg a.raw:u32:64 --arg a.p=3 "${@:8}"
}
```
"""


class Fault:
    def __init__(self, match):
        self.file, self.kernel = match.group(1, 2)
        self.blocks, self.threads, self.shared, self.n_in, self.n_out = map(int, match.group(3, 4, 5, 6, 7))
        self.expect = match.group(8)
        self.source = (SIMT / (self.file + ".cu")).read_text()

    def group(self):
        first = self.expect.split()[0]
        return next(i for i, (_, words) in enumerate(GROUPS) if first in words.split())

    def options(self):
        """Further options of the run."""
        if self.expect not in ("yield", "weak"):
            return []
        return (["--weak"] if self.expect == "weak" else []) + ["--yield", "2", "--seeds", "30"]

    def call(self):
        numbers = (self.blocks, self.threads, self.shared, self.n_in, self.n_out)
        return " ".join(["planted", self.file, self.kernel] + [str(n) for n in numbers] + self.options())

    def run(self, command, folder):
        with open(folder + "/in.u32", "wb") as file:
            for i in range(self.n_in):
                x = (i * 2654435761 + 12345) & 0xffffffff # planted_word() of planted.h
                x = (x ^ x >> 15) * 739982445 & 0xffffffff
                file.write(struct.pack("<I", x ^ x >> 12))
        arguments = ["in=%s/in.u32" % folder, "n_in=%d" % self.n_in, "out:u32:%d=0" % self.n_out,
                     "n_out=%d" % self.n_out, "flag:u32:16=0", "raw:u32:64", "p=3"]
        words = [command, "emulate", "%s/%s.cu:%s" % (SIMT, self.file, self.kernel), "--json", "--grid", str(self.blocks),
                 "--block", str(self.threads), "--shared", str(self.shared)] + self.options()
        for argument in arguments:
            words += ["--arg", "a." + argument]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit("%s: exit status %d\n%s" % (self.kernel, done.returncode, done.stderr))
        return json.loads(done.stdout)


def faults():
    text = (SIMT / "faults.def").read_text()
    all_faults = [Fault(match) for match in FAULT.finditer(text)]
    wanted = [fault for fault in all_faults if fault.expect not in ("none", "benign")]
    return sorted(wanted, key=Fault.group) # stable: the order of faults.def in each group


# ---- The code of a kernel ----

def block_end(lines, first):
    """The line after the one that closes the braces which open at or after line `first`."""
    depth, opened = 0, False
    for i in range(first, len(lines)):
        code = re.sub(r"/\*.*?\*/|//.*|'[^']*'|\"[^\"]*\"", "", lines[i])
        depth += code.count("{") - code.count("}")
        opened |= "{" in code
        if opened and depth == 0:
            return i + 1
    sys.exit("the braces of line %d are not closed" % (first + 1))


def function_lines(lines, name, kernel):
    """The range of lines of a function of the file; None if it has none of this name."""
    begin = "extern \"C\" __global__ " if kernel else "static __device__ "
    for i, line in enumerate(lines[:-1]):
        if not line.startswith(begin):
            continue
        head = line if "(const" in line else line + " " + lines[i + 1].strip()
        if not re.search(r"\b%s\(" % name, head) or head.endswith(";"):
            continue
        first = i
        while first > 0 and re.match(r"template |/\*.*\*/$", lines[first - 1]):
            first -= 1
        return first, block_end(lines, i)
    return None


def code_of(fault):
    """The kernel and the functions that it calls, with line numbers."""
    lines = fault.source.split("\n")
    ranges, todo = [], [(fault.kernel, True)]
    while todo:
        name, kernel = todo.pop()
        span = function_lines(lines, name, kernel)
        if span is None or span in ranges:
            if kernel:
                sys.exit("%s: not found in %s.cu" % (name, fault.file))
            continue
        ranges.append(span)
        body = "\n".join(lines[span[0]:span[1]])
        todo += [(word, False) for word in set(re.findall(r"\b(\w+)(?:<\w+>)?\(", body))
                 if word not in ("shared_words", fault.kernel)]
    text, last = "", None
    for first, end in sorted(ranges):
        if last is not None and first > last:
            text += "\n"
        text += "".join(("%4d  %s" % (i + 1, lines[i])).rstrip() + "\n" for i in range(first, end))
        last = end
    return text


# ---- The page ----

def report_of(result):
    text = ""
    for finding in result["findings"]:
        place = " at %s:%d" % (os.path.basename(finding["file"]), finding["line"]) if finding["line"] else ""
        times = ", %d times" % finding["count"] if finding["count"] > 1 else ""
        explanation = re.sub(r"0x[0-9a-f]+", "0x...", finding["text"])
        text += "%s%s%s\n    %s\n" % (finding["fault"], place, times, explanation)
    for argument in result["arguments"]:
        if "depends_on_order_at" in argument:
            text += "note: %s[%d] depends on the order of blocks and warps\n" % (
                argument["name"], argument["depends_on_order_at"])
    return text


def section(fault, report):
    return "### `%s`\n\n%s\n\n```c\n%s```\n\n```sh\n%s\n```\n\n```text\n%s```\n" % (
        fault.kernel, sentence(SILENT.get(fault.kernel) or PLANTED[fault.kernel][0]), code_of(fault), fault.call(), report)


def sentence(text):
    return (text if text.startswith("`") else text[0].upper() + text[1:]) + "."


def group_text(index):
    title, words = GROUPS[index]
    text = "## %s\n\n" % title
    if "weak" in words:
        text += ("In these kernels all accesses to shared values are volatile, so there is no race to report. Only the "
                 "result is\nwrong, and only in some orders: if a block gives way between two stores (`--yield`), or "
                 "if other blocks see its\nstores in another order (`--weak`). With `--seeds`, the report notes that "
                 "the result depends on the order.\n\n")
    return text


def page(all_faults, reports):
    text, group = HEAD + "\nThere are %d planted faults.\n" % len(all_faults), None
    for fault in all_faults:
        if fault.group() != group:
            group = fault.group()
            text += "\n" + group_text(group).rstrip("\n") + "\n"
        text += "\n" + section(fault, reports[fault.kernel])
    return text


def shown_reports():
    """The report of each kernel on the page."""
    if not PAGE.exists():
        return {}
    found = re.findall(r"^### `(\w+)`\n.*?\nplanted .*?\n```\n\n```text\n(.*?)```\n", PAGE.read_text(), re.M | re.S)
    return dict(found)


def kinds(report):
    return sorted(set(re.findall(r"^(?!    )([a-z ]+?)(?: at |, \d|: |$)", report, re.M)))


def main():
    parser = argparse.ArgumentParser(description="writes or checks docs/emulate-gallery.md")
    parser.add_argument("--command")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    all_faults, failed = faults(), 0
    if not options.check and not options.command:
        parser.error("--command is needed to write the page")
    reports = shown_reports() if options.check else {}
    if options.check:
        missing = [fault.kernel for fault in all_faults if fault.kernel not in reports]
        if missing or not PAGE.exists() or page(all_faults, reports) != PAGE.read_text():
            print("FAIL docs/emulate-gallery.md is not current%s: run bench/gallery.py --command COMMAND" %
                  (" (no " + ", ".join(missing) + ")" if missing else ""))
            return 1
    passed = int(options.check)
    if options.command and not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        print("skip: no C++ compiler")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for fault in all_faults[::options.every] if options.command else []:
            report = report_of(fault.run(options.command, folder))
            if not options.check:
                reports[fault.kernel] = report
                print(fault.kernel, kinds(report))
            elif kinds(report) != kinds(reports[fault.kernel]):
                print("FAIL %s: reported %s, on the page %s" % (fault.kernel, kinds(report), kinds(reports[fault.kernel])))
                failed += 1
            passed += 1
    if not options.check:
        PAGE.write_text(page(all_faults, reports))
    print("%d passed, %d failed, 0 skipped" % (passed - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
