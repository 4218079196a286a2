"""markers.py - shared by the scripts that generate tables in Markdown: the command line, and the terms of
today for those of older CSV files, which are not rewritten.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys

# Terms in the "#" lines of bench/results, and what the tables have in their place.
ABOUT = (
    ("the input kept, the workspace given", "out of place, caller-provided workspace"),
    ("the workspace given", "caller-provided workspace"),
    ("rivals: ", "competitors: "),
    ("ours is stable", "Echelon is stable"),
    ("AMD EPYC of the Zen 4 kind", "AMD EPYC (Zen 4)"),
    ("a virtual machine of 2 cores", "virtual machine with 2 cores"),
    ("other load was not watched", "other load was not monitored"),
    ("1 thread on one core, or 8 on eight, of a virtual machine",
     "virtual machine; 1 thread on 1 core, 8 threads on 8 cores"),
    ("other programs ran now and then", "other programs ran occasionally"),
    ("compilers ran now and then", "compilers ran occasionally"),
    (", in turn, four times", ", alternating, four times"),
    ("of four runs the row with the least of them", "each row is from the run with the lowest time of four"),
    ("time is the thread's own", "CPU time of the thread"),
    ("bytes that must be read and written", "rates count the bytes that must be read and written"),
    ("bytes of the matrices, each once", "rates count each matrix once"),
    ("load when it began", "load average at the start"),
    ("medians of runs whose data is in no cache", "medians of runs with cold caches"),
    ("roofs: a copy moves", "ceilings: a copy reaches"),
    ("GB/s, by run; f32 multipliers do", "GB/s, depending on the run; f32 FMA reaches"),
    ("counts are the tools' own, of racecheck a hazard for each byte",
     "counts as reported by the tools; racecheck counts each byte"),
    ("by test_simt", "test_simt"),
    ("by scripts/", "scripts/"),
    ("kernels by GNU", "kernels compiled by GNU"),
    ("p of a pattern as simt/planted.h packs it; of a fault all kinds that were found",
     "all kinds of faults found are listed"),
)


def about(words):
    """The text of the "#" lines in the terms of today."""
    for old, new in ABOUT:
        if old not in new or new not in words: # text in the terms of today contains some of the older terms
            words = words.replace(old, new)
    return words


def main(script, rewrite):
    """Applies rewrite() to the files of the command line; with --check only reports those that would change.
    Returns the exit status."""
    stale = []
    for name in (word for word in sys.argv[1:] if word != "--check"):
        path = pathlib.Path(name)
        text = path.read_text()
        new = rewrite(text)
        if new != text and "--check" in sys.argv:
            stale.append(name)
        elif new != text:
            path.write_text(new)
    for name in stale:
        print(f"{name}: a table differs from bench/results; run bench/{script} {name}")
    return bool(stale)
