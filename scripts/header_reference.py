#!/usr/bin/env python3
"""header_reference.py - the public headers as pages of Markdown, for `make docs`.

    scripts/header_reference.py include/echelon/sort.h     prints the page of a header

A page has the sections of the header, and below each section one heading per declaration: the
declaration as code, then the comment before it as text.  Structs and enumerations keep the comments
of their members.  scripts/site.py calls page(), and links names of functions to their headings.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

SECTION = re.compile(r"/\* ---- (.*?) -*-{4} \*/")
NAMES = re.compile(r"\b(ech_\w+)\(|^typedef (?:enum|struct) (\w+) |\(\*(ech_\w+)\)\(|^typedef struct \w+ (\w+);|"
                   r"^#define (ECH_\w+)", re.M)
CODE = re.compile(r'(\bech_\w+\([^()]*\)|\b(?:ech|ECH|ECHELON)_\w*\*?|\b[a-z_]+->\w+|\bcu[A-Z]\w+|\bcuda[A-Z]\w+|'
                  r'"[a-z0-9?][\w:?.-]*"|\b\w+\[[^\]]*\](?:\[[^\]]*\])*(?:\.\w+)?|(?:\[[\w +*>-]+\])+|\bsizeof\(\w+\)|'
                  r'\bdocs/[\w/]+\.md|\bechelon/\w+\.h|\b[a-z]\w*_\w+\b|\b[a-zA-Z]:[0-9]+)')
UP = "ROOT/"  # stands for the way from a header to the root of the repository


def chunks(text):
    """The parts of a header that blank lines separate, blank lines within braces or comments aside."""
    part, depth, comment = [], 0, False
    for line in text.splitlines():
        if not line.strip() and not depth and not comment:
            if part:
                yield part
            part = []
            continue
        part.append(line)
        code = re.sub(r"/\*.*?\*/", "", line)
        if comment:
            comment = "*/" not in line
            continue
        comment = "/*" in code
        if not line.startswith('extern "C"'):
            depth += code.split("/*")[0].count("{") - code.split("/*")[0].count("}")
        depth = max(depth, 0)
    if part:
        yield part


def comment_of(part):
    """The lines of the comment with which a part begins, without its frame; the lines after it."""
    if not part[0].startswith("/*"):
        return [], part
    end = next(i for i, line in enumerate(part) if "*/" in line)
    lines = [re.sub(r"^(/\*| \*/?) ?", "", line) for line in part[: end + 1]]
    lines = [re.sub(r" ?\*/\s*$", "", line) for line in lines]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines, part[end + 1:]


def prose(text):
    """A text of a comment as Markdown: names are code, everything else stands for itself."""
    out = []
    text = re.sub(r"`(\w+)`", r"\1", re.sub(r"  +", " ", text))
    for i, piece in enumerate(CODE.split(text)):
        if i % 2:
            link = re.fullmatch(r"docs/([\w/]+\.md)", piece)
            header = re.fullmatch(r"echelon/(\w+)\.h", piece)
            out.append(f"[{piece}]({UP}docs/{link.group(1)})" if link else
                       f"[{piece}]({UP}include/{header.group(0)})" if header else f"`{piece}`")
        else:
            out.append(re.sub(r"([\\`*_\[\]#])", r"\\\1", piece).replace("<", "&lt;").replace(">", "&gt;"))
    return "".join(out)


def text_of(lines):
    """A comment as Markdown: paragraphs, lists, descriptions of parameters, code."""
    out, level = [], []  # level: columns at which the texts of open list items begin

    def item(column, text_column, text):
        while level and level[-1][0] >= column:
            level.pop()
        out.append([4 * len(level), text])
        level.append((column, text_column))

    for line in lines:
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            if out and out[-1] is not None:
                out.append(None)
            continue
        bullet = re.match(r"(\s+)- ((?:\w+\. +)?)(.*)", line)
        named = re.match(r'(\s+)(\S.*?)(\s\s+)(\S.*)', line) if indent else None
        continues = level and indent >= level[-1][1] - 1
        if bullet:
            label = f"**{bullet.group(2).strip()}** " if bullet.group(2) else ""
            item(indent, indent + 2, f"- {label}{prose(bullet.group(3))}")
        elif named and indent >= 2 and not (continues and indent == level[-1][1] and len(named.group(2)) > 16) \
                and not re.search(r"[.,;:]$", named.group(2)) and len(named.group(2)) <= 24:
            names = named.group(2).strip('"')
            item(indent, indent + len(named.group(2)) + len(named.group(3)), f"- `{names}`: {prose(named.group(4))}")
        elif indent and not continues and (not out or out[-1] is None or out[-1][1].startswith("\t")):
            out.append([0, "\t" + line[4:]])  # code
        elif out and out[-1] is not None and (indent == 0 or continues) and (indent or not level):
            out[-1][1] += " " + prose(line.strip())
        elif level and indent:
            out[-1][1] += " " + prose(line.strip())
        else:
            level.clear()
            out += [None, [0, prose(line.strip())]]
    text = []
    code = False
    for i, entry in enumerate(out):
        if entry is None:
            text += ["```", ""] if code else [""]
            code = False
            continue
        if entry[1].startswith("\t") and not code:
            text += ["```c"]
            code = True
        if entry[1].startswith("- ") and text and text[-1] and not text[-1].lstrip().startswith("- "):
            text.append("")
        text.append(" " * entry[0] + entry[1].lstrip("\t") if not code else entry[1][1:])
    if code:
        text.append("```")
    return "\n".join(text)


def names_of(code):
    """The names that a declaration declares, in order."""
    found = []
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    if bare.startswith("typedef enum") or (bare.startswith("typedef struct") and "{" in bare):
        return [re.search(r"}\s*(\w+);", bare).group(1)]
    for match in NAMES.finditer(bare):
        name = next(group for group in match.groups() if group)
        if name not in found:
            found.append(name)
    return found


def is_function(code):
    return code.startswith("ECH_API")


def page(path):
    """(the page of a header, {name: its anchor})."""
    text = pathlib.Path(path).read_text()
    # Only the C form of what C and C++ write differently, and no assertions.
    text = re.sub(r"/\*[^\n]*\*/\n#ifdef __cplusplus\nstatic_assert.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus\ntemplate.*?#else\n(.*?)#endif\n", r"\1", text, flags=re.S)
    parts = list(chunks(re.sub(r"/\* clang-format.*?\*/\n", "", text)))
    head, _ = comment_of(parts[0])
    name = "echelon.h" if pathlib.Path(path).name == "echelon.h" else f"echelon/{pathlib.Path(path).name}"
    sentence = re.sub(r"^\S+ - ", "", head[0])
    body = [line for line in head[1:] if not line.startswith("SPDX")]
    out = [f"# {name}", "", prose(sentence[0].upper() + sentence[1:]), "", text_of(body), ""]
    anchors = {}
    for part in parts[1:]:
        lines, code = comment_of(part)
        section = SECTION.fullmatch(part[0].strip())
        if section:
            out += [f"## {section.group(1)}", ""]
            continue
        code = [line for line in code if not re.match(r"#(if|ifdef|ifndef|endif|else|elif)|extern \"C\"|}$", line)]
        code = [line for line in code if not re.match(r"#define (ECHELON_\w+_H|ECHELON_H|ECH_API)", line)]
        if not code:
            if lines and not part[0].startswith("#"):
                out += [text_of(lines), ""]
            continue
        if code[0].startswith("#include"):
            includes = [re.match(r"#include <(.*)>", line).group(1) for line in code]
            ours = [i for i in includes if i.startswith("echelon/")]
            out += ["Includes " + ", ".join(
                f"[`<{i}>`]({i.split('/')[1] if name != 'echelon.h' else i})" if i in ours else f"`<{i}>`"
                for i in includes) + ".", ""]
            continue
        declared = names_of("\n".join(code))
        if is_function(code[0]):
            code = [line[8:] if line.startswith(("ECH_API ", "        ")) else line for line in code]
        anchors.update({n: n for n in declared})
        label = ", ".join(n + ("()" if is_function(part[len(part) - len(code)]) else "") for n in declared)
        if code[0].startswith("#define"):
            label = "Version" if "ECH_VERSION" in code[0] else declared[0]
        out += [f"### {label} {{ #{declared[0]} }}", ""]
        out += ["".join(f'<a id="{n}"></a>' for n in declared[1:]), ""] if declared[1:] else []
        out += ["```c", *code, "```", "", text_of(lines), ""]
    up = "../" if name == "echelon.h" else "../../"
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).replace(f"]({UP}", f"]({up}"), anchors


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(page(argument)[0])
