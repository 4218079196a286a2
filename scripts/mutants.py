#!/usr/bin/env python3
"""mutants.py - finds the places at which mutate.py plants faults.

SPDX-License-Identifier: Apache-2.0
"""
import fnmatch
import os
import random
import re
import subprocess

# Pairs of a pattern and its replacements.  The pattern is matched in code, never in comments, texts
# or directives.  \\b and spaces keep -> and ++ and casts apart from operators.
OPERATORS = [
    (r"(?<=[\w)\]] )<(?= [\w(*&!-])", ["<=", ">="]),
    (r"(?<=[\w)\]] )>(?= [\w(*&!-])", [">=", "<="]),
    (r"(?<=[\w)\]] )<=(?= )", ["<"]),
    (r"(?<=[\w)\]] )>=(?= )", [">"]),
    (r"(?<=[\w)\]] )==(?= )", ["!="]),
    (r"(?<=[\w)\]] )!=(?= )", ["=="]),
    (r"(?<=[\w)\]] )\+(?= )", ["-"]),
    (r"(?<=[\w)\]] )-(?= )", ["+"]),
    (r"(?<=[\w)\]] )\*(?= )", ["+"]),
    (r"(?<=[\w)\]] )/(?= )", ["*"]),
    (r"(?<=[\w)\]] )%(?= )", ["/"]),
    (r"(?<=[\w)\]] )&(?= )", ["|"]),
    (r"(?<=[\w)\]] )\|(?= )", ["&"]),
    (r"(?<=[\w)\]] )\^(?= )", ["|"]),
    (r"(?<=[\w)\]] )<<(?= )", [">>"]),
    (r"(?<=[\w)\]] )>>(?= )", ["<<"]),
    (r"(?<=[\w)\]] )&&(?= )", ["||"]),
    (r"(?<=[\w)\]] )\|\|(?= )", ["&&"]),
    (r"(?<=[\w)\]] )\+=(?= )", ["-="]),
    (r"(?<=[\w)\]] )-=(?= )", ["+="]),
    (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]),
    (r"(?<=[(=<>+*/%-] )\d+(?=[;,) ])", ["+1"]),  # a constant: one more
    (r"(?<= - )\d+(?=[;,) ])", ["+1"]),
]


def code_of(text):
    """The text with comments, strings, characters and directives replaced by blanks."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\\n])*\"|'(\\.|[^'\\\n])+'", blank, text,
                  flags=re.S)
    return re.sub(r"^[ \t]*#(\\\n|[^\n])*", blank, text, flags=re.M)


def mutants_of(path, text):
    """All mutants of a file: (offset, length, replacement)."""
    code = code_of(text)
    found = []
    for pattern, replacements in OPERATORS:
        for match in re.finditer(pattern, code):
            for replacement in replacements:
                if replacement == "+1":
                    replacement = str(int(match.group(0)) + 1)
                found.append((match.start(), len(match.group(0)), replacement))
    # Conditions.
    for match in re.finditer(r"\b(?:if|while) \(", code):
        depth, at = 1, match.end()
        while at < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        condition = text[match.end():at - 1]
        if "\n" not in condition:
            found.append((match.end(), len(condition), "!(%s)" % condition))
    # Statements that call a function: barriers, fences, waits, copies.
    for match in re.finditer(r"^[ \t]+([a-z_]\w*(?:<[^;<>()]*>)?\([^;{}]*\);)$", code, re.M):
        if not re.match(r"(return|if|while|for|switch|sizeof)\b", match.group(1)):
            found.append((match.start(1), len(match.group(1)), ";"))
    # Two arguments that are names.
    for match in re.finditer(r"\b\w+\(([a-z]\w*), ([a-z]\w*)(?=[,)])", code):
        if match.group(1) != match.group(2):
            found.append((match.start(1), match.end(2) - match.start(1),
                          "%s, %s" % (match.group(2), match.group(1))))
    # Declarations of functions have no semantics.
    return [m for m in found if not re.match(r"\s*(static|extern|ECH_API|struct|enum)\b[^=]*\($",
                                             code[code.rfind("\n", 0, m[0]) + 1:m[0]] + "(")]


def sources(tree, patterns):
    names = subprocess.check_output(["git", "-C", tree, "ls-files", "src", "cli"], text=True)
    return [name for name in names.split() if re.search(r"\.(c|h|cu|cuh)$", name)
            and not name.startswith("src/simt/")
            and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def all_mutants(tree, patterns, seed):
    found = []
    for name in sources(tree, patterns):
        with open(os.path.join(tree, name)) as file:
            text = file.read()
        for start, length, after in mutants_of(name, text):
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            found.append({"file": name, "line": line, "column": column, "start": start,
                          "before": text[start:start + length], "after": after,
                          "text": text.split("\n")[line - 1].strip()})
    random.Random(seed).shuffle(found)
    return found


def function_lines(text, line):
    """The lines of the function, or of the other text between two functions, around a line."""
    lines = text.split("\n")
    first = line
    while first > 1 and lines[first - 2] != "}":
        first -= 1
    last = line
    while last < len(lines) and lines[last - 1] != "}":
        last += 1
    return first, last
