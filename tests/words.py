#!/usr/bin/env python3
"""words.py - finds words that docs/glossary.md replaces, in documents, comments and messages.

    python3 tests/words.py FILE...     prints file:line, the words and their replacement; exits with 1
                                       if it finds any
    python3 tests/words.py --test      checks every pattern in every kind of file

tests/words.txt has the patterns, tests/words_allowed.txt the exceptions. In C, CUDA and Python files only comments
and strings of several words are checked; in other files everything except `code`, file names and URLs.

SPDX-License-Identifier: Apache-2.0
"""
import bisect
import contextlib
import fnmatch
import functools
import io
import pathlib
import re
import sys
import tempfile
import tokenize

HERE = pathlib.Path(__file__).resolve().parent
CODE = "\0"  # stands for code, so that no match continues across it
BEFORE, AFTER = r"(?<![\w-])", r"(?!\w)"  # around the words of a pattern
QUOTE = r"""["]|(?<!\w)'|'(?!\w)"""  # not an apostrophe

C_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
FENCE = re.compile(r"^[ \t]*```(\w*)[^\n]*\n(.*?)^[ \t]*```", re.M | re.S)
INLINE_CODE = re.compile(r"(`+)(?!`)(?:[^\n]|\n(?!\s*\n))*?(?<!`)\1(?!`)")
NAMES = re.compile(r"""https?://[^\s)>"]+ | \]\([^)\s]*\) | <[a-zA-Z/!][^>]*>
                     | [\w.<>*-]*/[\w./<>*-]+ | \b[\w-]+\.(?:md|txt|[ch]|cuh?|def|py|sh|svg|csv|so|npy)\b""",
                   re.X)


def blank(text, code=" "):
    """The line breaks of the text, and `code` for everything else."""
    parts = re.split(r"(\S)", text, maxsplit=1)
    return parts[0] + code + re.sub(r"\S", " ", parts[2]) if len(parts) == 3 else text


def c_text(text):
    """Comments, and strings with a blank; everything else becomes CODE."""
    parts, end = [], 0
    for match in C_TOKEN.finditer(text):
        token = match[0]
        parts.append(blank(text[end:match.start()], CODE))
        end = match.end()
        if token.startswith("/"):
            token = re.sub(r"^/[/*]|\*/$", "  ", token)
            token = re.sub(r"^([ \t]*)\*(?= |$)", r"\1 ", token, flags=re.M)
            parts.append(re.sub(r"(?<=\S)   (?= *\S)", f" {CODE} ", token))  # between columns
        elif token[0] == '"' and " " in token:
            parts.append(re.sub(r'\\.|^"|"$', lambda escape: " " * len(escape[0]), token))
        else:
            parts.append(blank(token, CODE))
    return "".join(parts) + blank(text[end:], CODE)


def python_text(text):
    """Comments and strings, in their lines; everything else becomes CODE."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    parts, end = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and " " in token.string:
            parts.append(blank(text[end:begin], CODE))
            string = token.string
            if token.type == tokenize.STRING and "f" in string.lower().split(string[-1], 1)[0]:
                string = re.sub(r"\{[^{}]*\}", lambda field: blank(field[0], CODE), string)
            parts.append(re.sub(QUOTE + r"|#|\\[nt]", lambda m: " " * len(m[0]), string))
            end = begin + len(token.string)
    return "".join(parts) + blank(text[end:], CODE)


def shell_text(text):
    return re.sub(r"^[ \t]*#|" + QUOTE, lambda match: " " * len(match[0]), text, flags=re.M)


def markdown_text(text):
    """Fenced code as the language that it names."""
    def fenced(match):
        inner = python_text if match[1] == "python" else shell_text
        if match[1] in ("c", "cuda", "cpp", "diff"):  # a diff is of C or CUDA code
            inner = c_text
        lead, trail = match.start(2) - match.start(), match.end() - match.end(2)
        return blank(match[0][:lead], CODE) + inner(match[2]) + blank(match[0][-trail:], CODE)
    text = re.sub(r"^[ \t]*>|\*", lambda m: " " * len(m[0]), FENCE.sub(fenced, text), flags=re.M)
    return text.replace("|", CODE)


def man_text(text):
    text = re.sub(r"^\.TH .*|^\.\w+", lambda match: blank(match[0], CODE), text, flags=re.M)
    return re.sub(r"\\f[BIRP]|\\-|\\&|\"", lambda match: " " * len(match[0]), text)


def text_of(path, text):
    suffix = pathlib.PurePath(path).suffix
    kinds = {".md": markdown_text, ".1": man_text, ".py": python_text}
    kinds.update(dict.fromkeys((".c", ".h", ".cu", ".cuh", ".def"), c_text))
    code = INLINE_CODE if suffix == ".md" else re.compile(r"`[^`\n]+`")
    text = code.sub(lambda match: blank(match[0]), kinds.get(suffix, shell_text)(text))
    text = NAMES.sub(lambda match: blank(match[0]), text)
    return re.sub(r"\n(?=[ \t]*\n)", "\n" + CODE, text)  # between paragraphs


def table(name, columns):
    rows = []
    for number, line in enumerate((HERE / name).read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            cells = re.split(r"\t+", line)
            if len(cells) != columns:
                sys.exit(f"tests/{name}:{number}: {len(cells)} columns instead of {columns}")
            rows.append(cells)
    return rows


def words():
    """[(pattern, replacement)], examples that must match it, sentences that must match nothing."""
    rows = table("words.txt", 3)
    patterns = [(re.compile(rf"{BEFORE}(?:{pattern}){AFTER}"), write)
                for pattern, write, _ in rows if pattern != "OK"]
    examples = [example.split("; ") for pattern, _, example in rows if pattern != "OK"]
    return patterns, examples, [text for pattern, _, texts in rows if pattern == "OK" for text in texts.split("; ")]


@functools.cache
def any_of(patterns):
    """One pattern that is found in a text if one of the patterns is. It saves a search for each of them, and looks at
    what is before a word once."""
    return re.compile(rf"{BEFORE}(?:{'|'.join(patterns)}){AFTER}" if patterns else r"(?!)")


def findings(path, text, patterns):
    """[(line, words, replacement)] of a file."""
    text = text_of(path, text)
    flat = re.sub(r"\s+", " ", text)
    lower = flat.lower()
    sources = [pattern.pattern[len(BEFORE):-len(AFTER)] for pattern, _ in patterns]
    if not (any_of(tuple(p for p in sources if p.islower())).search(lower) or
            any_of(tuple(p for p in sources if not p.islower())).search(flat)):
        return []
    found = [(match.start(), match[0], write) for pattern, write in patterns
             for match in pattern.finditer(lower if pattern.pattern.islower() else flat)]
    if not found:
        return []
    blanks = [match for match in re.finditer(r"\s+", text) if match[0] != " "]
    removed = [0]  # characters that `flat` lacks, up to and with each of these
    for match in blanks:
        removed.append(removed[-1] + len(match[0]) - 1)
    starts = [match.start() - removed[i] for i, match in enumerate(blanks)]  # in `flat`
    newlines = [match.start() for match in re.finditer("\n", text)]

    def line(at):
        return bisect.bisect_left(newlines, at + removed[bisect.bisect_left(starts, at)]) + 1
    return sorted((line(at), match, write) for at, match, write in found)


def check(files):
    patterns, _, _ = words()
    allowed = [(name, re.compile(pattern, re.I)) for name, pattern, _ in table("words_allowed.txt", 3)]
    bad = 0
    for path in files:
        name = str(pathlib.PurePath(path))
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
        for line, match, write in findings(name, text, patterns):
            if not any(fnmatch.fnmatch(name, file) and pattern.fullmatch(match) for file, pattern in allowed):
                bad += 1
                print(f'{name}:{line}: "{match}": write {write}')
    return bad


# A text in each kind of file; code that is not checked; the line of the text.
KINDS = {
    "t.md": "# Title\n\n> {}\n\n```c\nint nobody; /* x */\n```\n",
    "t.1": ".TH ECHELON 1\n.TP\n\\fB{}\\fR\n",
    "t.c": 'int nobody;\nchar c = \'"\'; const char *s = "nobody";\n/* {} */\n',
    "t.h": 'int nobody;\n/*\n * {}\n */\n',
    "t.cu": 'int nobody;\n\nconst char *s = "%s, {}\\n";\n',
    "t.cuh": 'int nobody;\n\nint x; // {}\n',
    "t.def": 'ROW(nobody)\n\n/* {} */\n',
    "t.py": 'nobody = 1\n\nx = 1  # {}\n',
    "u.py": 'nobody = 1\n\n"""{}"""\n',
    "t.sh": 'x=1\n\necho "{}"\n',
    "t.cmake": 'set(x 1)\n\n# {}\n',
    "CMakeLists.txt": 'set(x 1)\n\nmessage("{}")\n',
}


def test():
    """Every example is found in every kind of file, also across lines; what may be written is not."""
    patterns, examples, allowed = words()
    bad = []
    for name, frame in KINDS.items():
        for (pattern, write), texts in zip(patterns, examples):
            for text in texts:
                found = findings(name, frame.format(text), [(pattern, write)])
                if not found or found[0][0] != 3:
                    bad.append(f"{name}: not found: {text}")
        for text in allowed:
            bad += [f"{name}:{line}: found in what may be written: {match}"
                    for line, match, _ in findings(name, frame.format(text), patterns)]
    for comment in "/* x\n * looks\n * at y */\n", "// looks\n// at y\n", 'f("looks "\n  "at y");\n':
        bad += [] if findings("t.c", comment, patterns) else [f"not found across lines: {comment}"]
    for name, text in (("t.c", "/* once   a block */\n"), ("t.c", "/* once\n *\n * A block. */\n"),
                       ("t.md", "Once\n\nA block\n"), ("t.md", "| once | a block |\n"),
                       ("t.py", "f'once {nobody} x'\n")):
        bad += [f"found across a gap: {text}"] if findings(name, text, patterns) else []
    with tempfile.TemporaryDirectory() as folder:
        for text, expected in ("/* A row that nobody reads. */\n", 1), ("int nobody; /* a row */\n", 0):
            file = pathlib.Path(folder) / "t.c"
            file.write_text(text)
            with contextlib.redirect_stdout(io.StringIO()):
                count = check([file])
            if count != expected:
                bad.append(f"{expected} findings expected: {text}")
    print(*bad, sep="\n", end="\n" if bad else "")
    return len(bad)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    sys.exit(1 if (test() if sys.argv[1] == "--test" else check(sys.argv[1:])) else 0)


if __name__ == "__main__":
    main()
