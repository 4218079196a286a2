#!/usr/bin/env python3
"""include_cycles.py [--build DIR] [SOURCE] - finds groups of files that depend on each other.

Without --build: headers (.h, .cuh, .def) that include each other, directly or indirectly.
With --build: also C files whose functions call each other, according to the symbol tables of the objects in
the build directory DIR (nm). A function that is called through a pointer counts for the file that takes its
address. Only cycles within one folder are listed; --all also lists cycles across folders.
--fan FILE lists the names that FILE uses from other files, and the names of FILE that other files use.
The exit status is 1 if a cycle is found, unless --allow names a file of the cycle.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

FOLDERS = ("include", "src", "cli", "ladder", "tests", "bench")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def groups(edges):
    """Strongly connected groups of two or more nodes (Tarjan), each sorted."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(start):
        work = [(start, iter(sorted(edges[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(edges[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1 or node in edges[node]:
                        found.append(sorted(group))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found)


def header_edges(source):
    """The includes of each header; paths are relative to the source folder."""
    headers = [path for folder in FOLDERS for pattern in ("*.h", "*.cuh", "*.def")
               for path in (source / folder).rglob(pattern)]
    edges = {str(path.relative_to(source)): set() for path in headers}
    for path in headers:
        name = path.relative_to(source)
        text = path.read_text(encoding="utf-8", errors="replace")
        for included in INCLUDE.findall(text):
            for root in (path.parent, source / "src", source, source / "include", source / "tests"):
                other = (root / included).resolve()
                if other.is_relative_to(source) and str(other.relative_to(source)) in edges:
                    edges[str(name)].add(str(other.relative_to(source)))
                    break
    return edges


def source_of(path, source, build):
    """The C file of an object in DIR/CMakeFiles/TARGET.dir/, or None."""
    parts = path.relative_to(build).parts
    if "CMakeFiles" not in parts:
        return None
    at = parts.index("CMakeFiles")
    inner = list(parts[at + 2:])
    folder = source.joinpath(*parts[:at])
    while inner and inner[0] == "__":
        inner, folder = inner[1:], folder.parent
    file = folder.joinpath(*inner).with_suffix("")
    return file if file.is_file() else None


def symbols(path):
    """(symbols that an object defines, symbols that it needs)."""
    defined, needed = set(), set()
    out = subprocess.run(["nm", "--format=posix", str(path)], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        name, kind = line.split()[:2]
        if kind == "U":
            needed.add(name)
        elif kind in "TWVDBRGSCi":
            defined.add(name)
    return defined, needed


def object_edges(source, build):
    """edges[a][b]: names of b that a uses, for all C files below `source` with an object."""
    files, owners = {}, {}
    for path in sorted(build.rglob("*.c.o")):
        file = source_of(path, source, build)
        if file is None:
            continue
        name = str(file.relative_to(source))
        defined, needed = symbols(path)
        known = files.setdefault(name, (set(), set()))
        known[0].update(defined)
        known[1].update(needed)
    for name, (defined, _) in files.items():
        for symbol in defined - {"main"}:
            owners.setdefault(symbol, set()).add(name)
    edges = {name: collections.defaultdict(set) for name in files}
    for name, (defined, needed) in files.items():
        for symbol in needed - defined:
            for owner in owners.get(symbol, ()):
                # A name that several tests define for themselves is ambiguous.
                if owner != name and len(owners[symbol]) == 1:
                    edges[name][owner].add(symbol)
    return edges


def within_folders(edges):
    """The edges between files of one folder."""
    folder = lambda name: str(pathlib.PurePath(name).parent)
    return {a: {b: names for b, names in others.items() if folder(a) == folder(b)}
            for a, others in edges.items()}


def print_fan(edges, name):
    for other, names in sorted(edges.get(name, {}).items()):
        print(f"uses {other}: {', '.join(sorted(names))}")
    for other in sorted(edges):
        if name in edges[other]:
            print(f"used by {other}: {', '.join(sorted(edges[other][name]))}")


def report(what, edges, allowed):
    """Prints the cycles with their calls; returns the number of cycles that are not allowed."""
    bad = 0
    for group in groups({a: set(others) for a, others in edges.items()}):
        permitted = any(name in allowed for name in group)
        bad += not permitted
        print(f"{what}{' (allowed)' if permitted else ''}: {' '.join(group)}")
        for a in group:
            for b in group:
                names = edges[a].get(b) if isinstance(edges[a], dict) else None
                if names:
                    print(f"    {a} -> {b}: {', '.join(sorted(names))}")
    return bad


def main():
    parser = argparse.ArgumentParser(description="finds cycles among headers and C files")
    parser.add_argument("source", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="a build directory, for cycles of calls")
    parser.add_argument("--all", action="store_true", help="also cycles of calls across folders")
    parser.add_argument("--allow", action="append", default=[], metavar="FILE")
    parser.add_argument("--fan", metavar="FILE")
    options = parser.parse_args()
    source = options.source.resolve()
    bad = report("headers that include each other", header_edges(source), options.allow)
    if options.build:
        edges = object_edges(source, options.build.resolve())
        if not edges:
            sys.exit(f"include_cycles.py: {options.build} has no objects of C files")
        if options.fan:
            print_fan(edges, options.fan)
            return 0
        if not options.all:
            edges = within_folders(edges)
        bad += report("files that call each other", edges, options.allow)
    print(f"{bad} cycles")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
