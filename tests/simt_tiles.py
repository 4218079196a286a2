#!/usr/bin/env python3
"""simt_tiles.py - every kernel of some operations runs on the SIMT emulator, and with at least five blocks.

    simt_tiles.py OPERATIONS MODULES EXCEPTIONS PROGRAM ARGUMENTS... [-- PROGRAM ARGUMENTS...]...
    simt_tiles.py OPERATIONS MODULES EXCEPTIONS --read FILE...

OPERATIONS is a list like "scan,reduce". Runs the programs with ECHELON_SIMT_TALLY, or reads files that such runs have
written. MODULES is the folder of the modules. A line of EXCEPTIONS is "module kernel blocks reason": patterns
of the shell for a module and a kernel, the number of blocks that suffices, and the reason; the first line that matches
counts.

SPDX-License-Identifier: Apache-2.0
"""
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

LEAST = 5


def read(paths):
    most = {}
    for path in paths:
        with open(path) as file:
            for line in file:
                module, kernel, _, blocks = line.split()
                key = module.replace(".so", ""), kernel
                most[key] = max(most.get(key, 0), int(blocks))
    return most


def run(arguments, path):
    """Runs the programs, which are separated by "--"."""
    programs, failed = [[]], 0
    for word in arguments:
        if word == "--":
            programs.append([])
        else:
            programs[-1].append(word)
    for program in programs:
        status = subprocess.call(program, env=dict(os.environ, ECHELON_SIMT_TALLY=path))
        if status:
            print("FAIL %s: status %d" % (" ".join(program), status))
            failed += 1
    return failed


def main():
    operations, modules, exceptions = sys.argv[1:4]
    arguments = sys.argv[4:]
    with open(exceptions) as file:
        rows = [line.split(None, 3) for line in file if line.strip() and line[0] != "#"]
    failed = 0
    if arguments[0] == "--read":
        most = read(arguments[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            failed = run(arguments, folder + "/tally")
            most = read([folder + "/tally"])
    names = sorted(name[:-3] for name in os.listdir(modules)
                   if re.match("(%s)_.*\\.so$" % operations.replace(",", "|"), name))
    used = set()
    passed = 0
    for name in names:
        if not any(key[0] == name for key in most):
            print("FAIL %s: no kernel of this module was launched" % name)
            failed += 1
    for (module, kernel), blocks in sorted(most.items()):
        if module not in names:
            continue
        least = LEAST
        for row in rows:
            if fnmatch.fnmatch(module, row[0]) and fnmatch.fnmatch(kernel, row[1]):
                least = int(row[2])
                used.add(tuple(row))
                break
        if blocks >= least:
            passed += 1
        else:
            print("FAIL %s %s: at most %d blocks instead of %d" % (module, kernel, blocks, least))
            failed += 1
    for row in rows:
        if tuple(row) not in used:
            print("FAIL %s: the exception matches no kernel: %s" % (exceptions, " ".join(row[:2])))
            failed += 1
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
