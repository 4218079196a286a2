#!/usr/bin/env python3
"""links.py FILE... - checks the links of Markdown files: each relative link leads to a file or folder that exists, and
each anchor to a heading or an <a id> of its page.  Also checks that mkdocs.yml lists every page below docs/.

Needs only Python; `make docs` checks the same on the site.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import pathlib
import posixpath
import re
import sys
import urllib.parse

FENCED = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1 *$", re.M | re.S)
SPAN = re.compile(r"(`+)[^`]+?\1")
LINK = re.compile(r'\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|\b(?:href|src)="([^"]+)"|^\[[^\]]+\]:\s+(\S+)', re.M)
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')


def without_code(text):
    return SPAN.sub("", FENCED.sub("", text))


@functools.lru_cache(maxsize=None)
def anchors_of(path):
    """The anchors of a page, as code hosts compute them from headings."""
    found, text = set(), FENCED.sub("", pathlib.Path(path).read_text())
    for heading in HEADING.findall(text):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()).replace(" ", "-")
        same = 0
        while f"{anchor}-{same}" in found if same else anchor in found:
            same += 1
        found.add(f"{anchor}-{same}" if same else anchor)
    return found | set(ANCHOR.findall(text))


def dead_links(path):
    for match in LINK.finditer(without_code(pathlib.Path(path).read_text())):
        link = next(group for group in match.groups() if group)
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), urllib.parse.unquote(target))) if target \
            else path
        if not pathlib.Path(target).exists():
            yield f"{path}: {link}: there is no {target}"
        elif anchor and target.endswith(".md") and anchor not in anchors_of(target):
            yield f"{path}: {link}: {target} has no heading for #{anchor}"


def unlisted():
    listed = set(re.findall(r"([\w./-]+\.md)\s*$", pathlib.Path("mkdocs.yml").read_text(), re.M))
    for page in sorted(pathlib.Path("docs").rglob("*.md")):
        name = page.relative_to("docs").as_posix()
        if name != "README.md" and name not in listed:
            yield f"mkdocs.yml does not list {name}"


def main():
    found = [line for path in sys.argv[1:] for line in dead_links(path)] + list(unlisted())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
