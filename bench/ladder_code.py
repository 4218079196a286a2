#!/usr/bin/env python3
"""ladder_code.py - copies the code of the rungs into the pages of the ladders.

    bench/ladder_code.py docs/ladder/*.md             rewrites the text between markers
    bench/ladder_code.py --check docs/ladder/*.md     fails if a page differs from the code, or if the page of a
                                                      ladder does not link every rung
    bench/ladder_code.py --complete docs/ladder/*.md  the same, and fails if a page does not show every rung's code,
                                                      or if the index names other pages to read before

Markers in a page; the files are relative to ladder/:

    <!-- code:begin rank/3_parallel_swap.cu -->                       the code of the file
    <!-- code:diff rank/3_parallel_swap.cu rank/4_registers.cu -->    the lines that differ
    <!-- code:from all -->    the "From:" lines of all rungs: where each comes from
    <!-- code:end -->

The head comment of a file, its includes and its include guard are omitted.

SPDX-License-Identifier: Apache-2.0
"""
import difflib
import pathlib
import re
import sys

LADDER = pathlib.Path(__file__).resolve().parent.parent / "ladder"
PAGES = LADDER.parent / "docs" / "ladder"
BEGIN = r"<!-- code:(?P<what>begin|diff|from) (?P<files>[^>]*?) -->\n"
SECTION = re.compile(f"({BEGIN}).*?(<!-- code:end -->)", re.S)
CONTEXT = 3  # lines around a difference


def code(name):
    """The lines of a file from the first one that is neither comment, include nor include guard."""
    path = LADDER / name
    if not path.is_file():
        raise ValueError(f"ladder/{name} does not exist")
    text = re.sub(r"\A\s*/\*.*?\*/\n", "", path.read_text(), flags=re.S)
    guard = re.match(r"#ifndef (\w+)\n#define \1\n", text)
    if guard:
        text = re.sub(r"\n#endif[^\n]*\n*\Z", "\n", text[guard.end():])
    text = re.sub(r"^#include [^\n]*\n", "", text, flags=re.M)
    return text.strip("\n").split("\n")


def differences(old, new):
    """A unified diff without file names and line numbers: "@@" begins each part except the first."""
    lines = list(difflib.unified_diff(code(old), code(new), n=CONTEXT, lineterm=""))[3:]
    if not lines:
        raise ValueError(f"{old} and {new} do not differ")
    return ["@@" if line.startswith("@@ ") else line.rstrip(" ") for line in lines]


def origins():
    """A table of the sources of all rungs, from their head comments."""
    rows = ["| rung | from |", "|---|---|"]
    for line in (LADDER / "ladders.txt").read_text().splitlines():
        name = line.split(" ")[0]
        paths = (LADDER / name).glob("[0-9]*.cu") if re.match("[a-z]", line) else []
        for path in sorted(paths, key=lambda path: int(path.name.split("_")[0])):
            found = re.search(r"^ \* From: +(.*?)\n \*\n", path.read_text(), re.M | re.S)
            if not found:
                raise ValueError(f"ladder/{name}/{path.name} has no line From:")
            text = re.sub(r"\s*\n \* +", " ", found[1]).replace("|", r"\|")
            rows.append(f"| [{name} {path.name.split('_')[0]}](../../ladder/{name}/{path.name}) | {text} |")
    return "\n".join(rows)


def block(what, files):
    names = files.split()
    if what == "from":
        if names != ["all"]:
            raise ValueError(f'"code:from {files}" must be "code:from all"')
        return origins()
    if len(names) != (2 if what == "diff" else 1):
        raise ValueError(f'"code:{what} {files}" must name {"two files" if what == "diff" else "one file"}')
    lines = differences(*names) if what == "diff" else code(names[0])
    return "\n".join(["```diff" if what == "diff" else "```cuda"] + lines + ["```"])


def rewrite(text):
    """Raises ValueError if a marker has no end, or names a file that does not exist."""
    def section(match):
        return match[1] + "\n" + block(match["what"], match["files"]) + "\n\n" + match[4]

    if len(re.findall("<!-- code:", text)) != 2 * len(SECTION.findall(text)):
        raise ValueError("a marker code:begin, code:diff or code:end is incomplete or has no counterpart")
    return SECTION.sub(section, text)


def missing(page, text, complete):
    """What the page of a ladder lacks of its rungs."""
    shown = [match["files"].split()[-1] for match in re.finditer(BEGIN, text) if match["files"].split()]
    for path in sorted((LADDER / page.stem).glob("[0-9]*.cu")):
        name = f"{page.stem}/{path.name}"
        if f"](../../ladder/{name})" not in text:
            yield f"has no link to ../../ladder/{name}"
        if complete and name not in shown:
            yield f"does not show the code of {name}: add <!-- code:begin {name} --> and <!-- code:end -->"


def misplaced(text):
    """The rows of the index whose last column differs from the line "Before this page:" of the ladder's page."""
    for name, before in re.findall(r"^\| \[(\w+)\]\(\1\.md\) \|[^|]*\| *([^|]*?) *\|$", text, re.M):
        page = PAGES / f"{name}.md"
        found = re.search(r"^Before this page: (.*(?:\n.+)*)", page.read_text() if page.is_file() else "", re.M)
        if not found:
            yield f'{page.name} has no line "Before this page:"'
            continue
        wanted = re.findall(r"\]\((\w+)\.md\)", found[1].split(". ")[0].replace("(README.md)", ""))
        if wanted and sorted(wanted) != sorted(before.split(", ")):
            yield f'names "{before}" before {name}, but {page.name} names "{", ".join(wanted)}"'


def main(words):
    complete = "--complete" in words
    check = complete or "--check" in words
    problems = []
    for name in (word for word in words if not word.startswith("--")):
        page = pathlib.Path(name)
        text = page.read_text()
        try:
            new = rewrite(text)
        except ValueError as error:
            problems.append(f"{name}: {error}")
            continue
        if not check and new != text:
            page.write_text(new)
        if check:
            if new != text:
                problems.append(f"{name}: differs from the code of the rungs; run bench/ladder_code.py {name}")
            problems += [f"{name}: {lack}" for lack in missing(page, text, complete)]
        if complete and page.name == "README.md":
            problems += [f"{name}: {row}" for row in misplaced(text)]
    for problem in problems:
        print(problem)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
