#!/usr/bin/env python3
"""site.py - writes the pages of the documentation site, as one folder of Markdown, from the files of this repository.

    scripts/site.py build/site-pages     (scripts/site.sh does this before it runs MkDocs)

The pages below docs/ are written to be read in the repository, too, so their links lead to files outside docs/.  This
script adds these files to the folder and changes the links:

    README.md                  the start page; docs/README.md becomes contents.md
    CHANGELOG.md, ...          pages of the same name
    include/**.h               pages of the header reference (header_reference.py)
    cli/echelon*.1             the pages of the command (manual_page.py)
    src/sort/README.md, ...    pages below source/
    src/sort/sort.c, ...       pages below source/ that show the file
    examples, ...              pages below source/ that list the folder
    bench/results/*.csv, ...   copies below source/

Only files that a page links to are added.  Names such as `ech_sort()` become links to the header reference.  A link to
a missing file stays as it is, and MkDocs reports it.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import posixpath
import re
import shutil
import sys

import header_reference
import manual_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAPPED = {"README.md": "index.md", "docs/README.md": "contents.md", "CHANGELOG.md": "changelog.md",
          "CONTRIBUTING.md": "contributing.md", "CONVENTIONS.md": "conventions.md", "SECURITY.md": "security.md",
          "cli/echelon.1": "command.md", "include/echelon.h": "reference/index.md",
          "docs/performance": "contents.md#performance", "docs/contributing": "contributing.md"}
MAPPED.update({f"cli/{page.name}": f"command/{page.stem[len('echelon-'):]}.md"
               for page in sorted((ROOT / "cli").glob("echelon-*.1"))})
# By the beginning of a page's name.
MATTER = {"index.md": "hide: [navigation]", "source/": "search: {exclude: true}\nhide: [navigation, toc]",
          "lab/": "search: {boost: 0.5}", "guide/|reference/": "search: {boost: 2}"}
LANGUAGES = {".c": "c", ".h": "c", ".cu": "cuda", ".cuh": "cuda", ".py": "python", ".sh": "bash", ".cmake": "cmake",
             ".cff": "yaml", ".json": "json", ".yml": "yaml", ".hpp": "cpp", ".jl": "julia"}
COPIED = {".csv", ".npy", ".svg", ".png", ".gz", ".bin"}
FENCED = re.compile(r"(^ *(`{3,}).*?^ *\2 *$)", re.M | re.S)
CODE = re.compile(r"(^ *(`{3,}).*?^ *\2 *$|`+[^`]+`+)", re.M | re.S)
LINK = re.compile(r'(\]\(|\b(?:href|src)=")([^)\s"#]*)(#[^)\s"]*)?(?=[\s)"])')
TABLE = re.compile(r"^([^|\s][^\n]*\n)(\|[^\n]*\n\|[ :|-]+\n)", re.M)
NESTED = re.compile(r"^ {2,3}(?=[-*] )", re.M)
WHOLE_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\))")
NAME = re.compile(r"`(ech_\w+)(\([^`]*\))?`")

pages = {}    # path in the repository: name of the page or file on the site, maybe with an anchor
sources = {}  # name of a page on the site: path in the repository
texts = {}    # name of a generated page: its Markdown
anchors = {}  # name of a function or type: name of its page


def is_external(target):
    return re.match(r"[a-z]+:|/", target) is not None


def targets(text):
    """The relative links of a page, without anchors."""
    for piece in CODE.split(text)[::3]:
        for match in LINK.finditer(piece):
            if match.group(2) and not is_external(match.group(2)):
                yield match.group(2)


def first_sentence(path):
    """The first sentence of a source file, which states its purpose."""
    head = path.read_text(errors="replace")[:800] if path.is_file() else ""
    match = re.search(r"^(?:/\*|#|\"\"\"|//)?\s*\**\s*\S+ - (.*?)(?:\*/|\.(?:\s|$))", head, re.S | re.M)
    return re.sub(r"\s*\n[ *#]*", " ", match.group(1)).strip() if match else ""


def listing(path):
    lines = [f"# {path}/", ""]
    for entry in sorted((ROOT / path).iterdir()):
        if entry.is_file() and not entry.name.startswith("."):
            lines.append(f"- [{entry.name}]({entry.name}) {first_sentence(entry)}")
    return "\n".join(lines) + "\n"


def shown(path):
    text = (ROOT / path).read_text(errors="replace")
    language = LANGUAGES.get(pathlib.Path(path).suffix, "cmake" if path.endswith("CMakeLists.txt") else "text")
    return f"# {path}\n\n``````{language}\n{text}\n``````\n"


def add(path, kept):
    """Gives a file or folder of the repository a place on the site; the new page as a list, if it is one."""
    file = ROOT / path
    if path in pages or not file.exists() or path.startswith(".."):
        return []
    if path in MAPPED:
        name = MAPPED[path]
    elif path.startswith("docs/") and path[len("docs/"):] in kept:
        name = path[len("docs/"):]
    elif path.startswith("include/echelon/") and path.endswith(".h"):
        name = f"reference/{file.stem}.md"
    elif (file / "README.md").exists():
        new = add(f"{path}/README.md", kept)
        pages[path] = pages[f"{path}/README.md"]
        return new
    elif file.is_dir():
        name = f"source/{path}/index.md"
    elif path.endswith(".md") or file.suffix in COPIED:
        name = f"source/{path}"
    else:
        name = f"source/{path}.md"
    pages[path] = name
    if path in MAPPED and file.is_dir():
        return []
    sources[name] = path
    if not name.endswith(".md"):
        return []
    if file.is_dir():
        sources[name] = path + "/"
        texts[name] = listing(path)
    elif path.startswith("include/") and path.endswith(".h"):
        texts[name], names = header_reference.page(file)
        anchors.update({n: name for n in names})
    elif path.startswith("cli/") and path.endswith(".1"):
        texts[name] = manual_page.page(file)
    else:
        texts[name] = file.read_text() if path.endswith(".md") else shown(path)
    for pattern, matter in MATTER.items():
        if re.match(pattern, name):
            texts[name] = f"---\n{matter}\n---\n{texts[name]}"
    return [name]


def resolve(name, target):
    """The path in the repository to which a link of the page of this name leads."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(sources[name]), target))


def changed_links(name, text):
    def change(match):
        target, anchor = match.group(2), match.group(3) or ""
        if not target or is_external(target):
            return match.group(0)
        found = pages.get(resolve(name, target))
        if found is None:
            return match.group(0)
        found, _, own = found.partition("#")
        anchor = f"#{own}" if own else anchor
        return match.group(1) + posixpath.relpath(found, posixpath.dirname(name) or ".") + anchor
    return LINK.sub(change, text)


def linked_names(name, text, own):
    """Makes `ech_sort()` a link to the reference, except in headings, links and below its own heading.  own is the
    heading before the text; also returns the last one in it."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("#"):
            own = line
        else:
            parts = WHOLE_LINK.split(line)
            for i in range(0, len(parts), 2):
                parts[i] = NAME.sub(
                    lambda m: m.group(0) if m.group(1) not in anchors or f"#{m.group(1)} " in own else
                    f"[{m.group(0)}]({posixpath.relpath(anchors[m.group(1)], posixpath.dirname(name) or '.')}"
                    f"#{m.group(1)})", parts[i])
            line = "".join(parts)
        lines.append(line)
    return "\n".join(lines), own


def finished(name, markdown):
    """A page with its links changed and names linked."""
    if name.startswith("source/") and not sources[name].endswith((".md", "/")):
        return markdown
    pieces = CODE.split(markdown)  # text, code, its fence, text, ...
    for i in range(0, len(pieces), 3):
        pieces[i] = changed_links(name, pieces[i])
    pieces = FENCED.split("".join(piece for i, piece in enumerate(pieces) if i % 3 != 2))
    own = ""
    for i in range(0, len(pieces), 3):
        pieces[i], own = linked_names(name, pieces[i], own)
    text = "".join(piece for i, piece in enumerate(pieces) if i % 3 != 2)
    # Python-Markdown requires an empty line before a table, four blanks before an item within a list, and an
    # attribute on HTML that contains Markdown.
    text = NESTED.sub("    ", TABLE.sub(r"\1\n\2", text))
    return text.replace("\n<details>", '\n<details markdown="1">')


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/site.py DIRECTORY")
    out = pathlib.Path(sys.argv[1])
    kept = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*")
            if path.suffix in (".md", ".svg", ".png")}
    first = [path for path in MAPPED if (ROOT / path).is_file()]
    first += [f"include/echelon/{header.name}" for header in sorted((ROOT / "include/echelon").glob("*.h"))]
    first += [f"docs/{name}" for name in sorted(kept)]
    for path in first:
        add(path, kept)
    for name in (names := list(texts)):  # grows
        for target in targets(texts[name]):
            names += add(resolve(name, target), kept)
    shutil.rmtree(out, ignore_errors=True)
    for name, path in sources.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if name in texts:
            file.write_text(finished(name, texts[name]))
        else:
            shutil.copyfile(ROOT / path, file)
    for path in (ROOT / "scripts/site").iterdir():
        shutil.copyfile(path, out / path.name)


if __name__ == "__main__":
    main()
