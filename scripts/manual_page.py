#!/usr/bin/env python3
"""manual_page.py - a manual page of the command as a page of Markdown, for `make docs`.

    scripts/manual_page.py cli/echelon.1     prints the page

Sections become headings, and everything below them HTML.  Only the macros that cli/*.1 use are
known: SH SS TP IP PP nf fi and fonts; another one is an error.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys
from html import escape

ESCAPES = {r"\-": "-", r"\&": "", r"\e": "\\", r"\\": "\\", r"\(aq": "'", r"\(dq": '"', r"\(em": "&mdash;",
           r"\ ": "&nbsp;", r"\(bu": "&bull;", r"\(ti": "~", r"\(ha": "^"}
TAGS = {"B": "b", "I": "i"}


def inline(text):
    """A text with escapes as HTML."""
    out, font = [], None
    for piece in re.split(r"(\\f[BIRP]|\\\(..|\\.)", text):
        if piece.startswith("\\f"):
            out.append(f"</{font}>" if font else "")
            font = TAGS.get(piece[2])
            out.append(f"<{font}>" if font else "")
        elif piece.startswith("\\"):
            if piece not in ESCAPES:
                raise ValueError(f"unknown escape {piece}")
            out.append(ESCAPES[piece])
        else:
            out.append(escape(piece, quote=False))
    out.append(f"</{font}>" if font else "")
    return "".join(out)


def arguments(line):
    """The arguments of a macro; quotes group words."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"?|((?:\\.|[^\s"])(?:\\.|\S)*)', line)]


def styled(macro, line):
    """.B and .I with all arguments in one font, .BR and the like with alternating ones."""
    words = arguments(line)
    if len(macro) == 1:
        return f"<{TAGS[macro]}>{inline(' '.join(words))}</{TAGS[macro]}>"
    out = []
    for i, word in enumerate(words):
        tag = TAGS.get(macro[i % 2])
        out.append(f"<{tag}>{inline(word)}</{tag}>" if tag else inline(word))
    return "".join(out)


def page(path):
    out, paragraph = [], []
    listed = tagged = literal = False

    def flush():
        if paragraph:
            out.append(("<dd>" if listed else "<p>") + "\n".join(paragraph) + ("</dd>" if listed else "</p>"))
            paragraph.clear()

    def end_list():
        nonlocal listed
        flush()
        if listed:
            out.append("</dl>")
        listed = False

    for line in pathlib.Path(path).read_text().splitlines():
        macro, _, rest = line[1:].partition(" ") if line.startswith(".") else ("", "", line)
        if line.startswith('.\\"') or macro == "TH":
            continue
        if macro in ("SH", "SS"):
            end_list()
            title = " ".join(arguments(rest))
            out += ["", "## " + (title.capitalize() if title != "GF2" else "GF(2)"), ""]
        elif macro == "PP":
            end_list()
        elif macro == "IP":  # another paragraph of the same item
            flush()
        elif macro == "TP":
            flush()
            if not listed:
                out.append("<dl>")
            listed = tagged = True
        elif macro == "nf":
            end_list()
            out.append('<pre class="manual">')
            literal = True
        elif macro == "fi":
            out.append("</pre>")
            literal = False
        elif macro in ("", "B", "I", "BR", "BI", "RB", "IR", "RI", "IB"):
            text = styled(macro, rest) if macro else inline(line)
            if literal:
                out.append(text)
            elif tagged:
                out.append(f"<dt>{text}</dt>")
                tagged = False
            else:
                paragraph.append(text)
        else:
            raise ValueError(f"unknown macro .{macro}")
    end_list()
    name = pathlib.Path(path).stem
    return f"# `{name.replace('-', ' ', 1)}`\n\nThis is the manual page `man {name}`.\n" + "\n".join(out) + "\n"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(page(argument))
