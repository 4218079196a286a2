#!/usr/bin/env python3
"""strategies.py - writes Markdown tables of the strategies of an operation from its source.

    python3 scripts/strategies.py OPERATION...         prints the tables
    python3 scripts/strategies.py --write FILE...      writes them between the markers of documents
    python3 scripts/strategies.py --check FILE...      exits with 1 if a document has different tables

A table contains the rows in src/OPERATION/{cuda,cpu}/*.c with the fields name, what (the strategy does) and
when (it is chosen). In a document it is between <!-- strategies:OPERATION:begin --> and
<!-- strategies:OPERATION:end -->.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
NAME_WHAT, WHEN = rf"\.name =\s*{TEXT},\s*\.what =\s*{TEXT},", rf"\s*\.when =\s*{TEXT},"
ROW = re.compile(NAME_WHAT + WHEN)
DEFINITION = re.compile(r"(\w+) = \{\s*$")
LISTED = re.compile(r"strategies\[\] = \{\s*((?:&\w+,\s*)+)\}")
MARKERS = re.compile(r"(<!-- strategies:(\w+):begin -->\n)(.*?)(<!-- strategies:\2:end -->)", re.S)


def joined(literals):
    """The text of adjacent string literals."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def rows_of(text):
    """The rows of a source file, each with the name of its variable if it is not in an array."""
    for match in ROW.finditer(text):
        owner = DEFINITION.search(text[: match.start()].rstrip())
        yield (owner.group(1) if owner else "", *(joined(field) for field in match.groups()))


def tables_of(operation):
    """(device, path, rows) of each table; rows are name, what, when."""
    for folder, device in (("cuda", "GPU"), ("cpu", "CPU")):
        files = sorted((ROOT / "src" / operation / folder).glob("*.c"))
        texts = {path: path.read_text() for path in files}
        named = {owner: row for text in texts.values() for owner, *row in rows_of(text) if owner}
        for path, text in texts.items():
            if len(list(rows_of(text))) != len(re.findall(NAME_WHAT, text)):
                sys.exit(f"{path}: a strategy has .name and .what, but no .when after them")
            rows = [row for owner, *row in rows_of(text) if not owner]
            listed = LISTED.search(text)
            if listed:  # rows in separate files
                rows = [named[name] for name in re.findall(r"&(\w+)", listed.group(1))]
            if rows:
                yield device, path.relative_to(ROOT), rows


def markdown(operation):
    lines = []
    for device, path, rows in tables_of(operation):
        lines += [f"On the {device} ([{path}](../{path})):", ""]
        lines += ["| strategy | what it does | when it is chosen |", "|---|---|---|"]
        for name, *texts in rows:
            what, when = (text.replace("|", "\\|") for text in texts)
            lines.append(f"| `{name}` | {what} | {when} |")
        lines.append("")
    if not lines:
        sys.exit(f"strategies.py: src/{operation} has no table of strategies")
    return "\n".join(lines) + "\n"


def documents(names, write):
    """Updates the documents, or returns the number of documents with different tables."""
    different = 0
    for name in names:
        path = pathlib.Path(name)
        text = path.read_text()
        found = {match.group(2) for match in MARKERS.finditer(text)}
        if path.stem not in found:
            print(f"{name} has no tables between the markers strategies:{path.stem}")
            different += 1
        new = MARKERS.sub(lambda m: m.group(1) + "\n" + markdown(m.group(2)) + m.group(4), text)
        if new != text:
            different += 1
            if write:
                path.write_text(new)
            else:
                print(f"{name}: run python3 scripts/strategies.py --write {name}")
    return 0 if write else different


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    if sys.argv[1] in ("--write", "--check"):
        sys.exit(1 if documents(sys.argv[2:], sys.argv[1] == "--write") else 0)
    for operation in sys.argv[1:]:
        print(markdown(operation), end="")


if __name__ == "__main__":
    main()
