"""command.py - the subcommands of the command, on files in random formats; invalid inputs.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np

from . import values
from .bits import Elimination, nullspace, product, random_bits
from .case import OPERATIONS, Difference, operation
from .ordering import permutation_of, sort_order
from .sets import combined
from .sums import BELOW, NOWHERE, OPS, bins_by_edges, op_names, reduction, same_scan, scan_rows_of
from .values import BF16, DTYPES, F64, I64, U64

COMMAND = {"path": None, "directory": None}
# Subcommands without a differential test, and the reason.
EXCEPTIONS = {
    "bench": "prints times; tests/cli/bench.sh tests what it prints",
    "profile": "runs kernels on the emulator; tests/cli/profile.sh and the tests of the emulator test it",
    "ladder": "the kernels of the course; the tests ladder_* run them",
    "emulate": "runs the user's kernel on the emulator; tests/cli/emulate*.sh and fuzz_kernel test it",
}


def coverage_failures():
    """Subcommands of `echelon --help` without a test and without an entry in EXCEPTIONS."""
    if not available():
        return []
    text = subprocess.run([COMMAND["path"], "--help"], capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"^  (\w+)  +\w", text.split("Commands:")[1], flags=re.M))
    tested = {name.removeprefix("echelon_") for name in OPERATIONS if name.startswith("echelon_")}
    failures = [f"the subcommand {name} has no operation" for name in sorted(names - tested - set(EXCEPTIONS))]
    return failures + [f"{name} is an exception, but not a subcommand" for name in sorted(set(EXCEPTIONS) - names)]


def available():
    return os.access(COMMAND["path"], os.X_OK)


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def echelon(t, *words, status=0, stdin=None):
    """Runs the command in the empty directory of the case and checks its exit status."""
    words = [str(word) for word in words]
    t.note(command=" ".join(words))
    environment = {**os.environ, "ECHELON_DEVICE": "cpu"}
    done = subprocess.run([COMMAND["path"], *words], cwd=COMMAND["directory"], capture_output=True, input=stdin,
                          env=environment, timeout=120)
    err = done.stderr.decode(errors="replace")
    if done.returncode != status:
        raise Difference(f"exit status {done.returncode} instead of {status}: {err[:300]}")
    if status == 2:
        t.true(f"the message {err[:200]!r} does not name the subcommand", err.startswith(f"echelon {words[0]}: "))
    return Result(done.returncode, done.stdout, err)


def clean():
    for path in Path(COMMAND["directory"]).iterdir():
        path.unlink()


def file(name):
    return Path(COMMAND["directory"]) / name


# ---- Columns of numbers ----

def spelled(dtype, a):
    """Numbers as text that reads back as the same number."""
    x = dtype.value(a)
    if dtype.kind != "f":
        return [str(v) for v in x.tolist()]
    return [repr(v) for v in x.astype(np.float64).tolist()]


class Column:
    """A file with a column of random numbers.  lines: the lines of a text, header: its first line."""

    def __init__(self, t, dtypes=DTYPES, most=20_000, distributions=values.DISTRIBUTIONS, forms=None):
        clean()
        self.dtype = dtype = t.dtype(dtypes)
        n = t.size(t.pick([200, most]))
        a = t.data(dtype, n, distributions)
        form = self.form = t.pick(forms or ["npy", "npy", "raw", "type", "text", "table"])
        self.header, self.lines, self.options = None, None, []
        if form in ("text", "table") and dtype.kind == "f":  # text has one NaN
            a = np.where(dtype.is_nan(a), dtype.bits.type(dtype.nan), a.view(dtype.bits)).astype(dtype.bits).view(
                dtype.storage)
        self.a, self.n = a, n
        if form == "npy":
            self.name, big = "in.npy", t.flag(0.3)
            stored = a.astype(a.dtype.newbyteorder(">")) if big and dtype is not BF16 else a
            np.save(file(self.name), stored)
            if dtype is BF16:
                self.options = ["-y", "bf16"]
        elif form == "raw":
            self.name = t.pick(["in.raw", "in.bin", "in"])
            file(self.name).write_bytes(a.tobytes())
            self.options = ["-y", dtype.name] + (["--format", "raw"] if self.name == "in" else [])
        elif form == "type":
            self.name = "in." + dtype.name
            file(self.name).write_bytes(a.tobytes())
        else:
            self.text(t, a)
        t.note(form=form, n=n)

    def text(self, t, a):
        numbers = spelled(self.dtype, a)
        self.options = ["-y", self.dtype.name]
        if self.form == "text":
            self.name = t.pick(["in.txt", "in.text", "in.txt"])
            self.lines = [t.pick(["", "", " "]) + number + t.pick(["", "", " "]) for number in numbers]
        else:
            self.name = t.pick(["in.csv", "in.tsv"])
            separator = t.pick([",", ";", "\t"])
            other = ["x", "", '"a b"', "7", "nan", '"q""' + separator + '"']
            self.lines = []
            for number in numbers:
                if t.flag(0.1):
                    number = f'"{number}"'
                self.lines.append(separator.join([t.pick(other), number, t.pick(other)]))
            head = separator.join(["left", "value", "right"])
            kind = t.pick(["name", "number", "plain"])
            if kind != "plain":
                self.header = head
            self.options += ["--column", "value" if kind == "name" else "2", "-t", "tab" if separator == "\t" else separator]
            if kind == "number":
                self.options.append("--header")
            elif kind == "plain":
                self.options.append("--no-header")
        lines = ([self.header] if self.header else []) + self.lines
        text = "\n".join(lines) + ("\n" if lines and t.flag(0.8) else "")
        if not lines:
            text = ""
        if lines and not text.endswith("\n") and not lines[-1]:
            text += "\n"
        file(self.name).write_text(text)

    def input(self, t):
        """The words for the input, and the bytes of standard input."""
        common = self.options + ["--threads", t.between(1, 3)]
        if t.flag(0.15) and self.form in ("npy",):
            return [*common, "-"], file(self.name).read_bytes()
        return [*common, self.name], None


def read_numbers(t, path, dtype):
    """The numbers of an output file: .npy, raw or text."""
    if path.suffix == ".npy":
        a = np.load(path)
        return a.astype(a.dtype.newbyteorder("=")).view(dtype.storage)
    if path.suffix in (".txt", ".csv"):
        return parse(dtype, path.read_text().split("\n")[:-1])
    return np.frombuffer(path.read_bytes(), dtype.storage)


def parse(dtype, words):
    if dtype.kind != "f":
        return np.array([int(word) for word in words], dtype.storage)
    return dtype.store(np.array([float(word) for word in words], np.float64 if dtype is F64 else np.float32))


def lines_of(c, t, data):
    """The lines of a text output, without the header of the input."""
    text = data.decode()
    t.true("the output does not end in a newline", not text or text.endswith("\n"))
    lines = text.split("\n")[:-1]
    if c.header and (lines or c.n):
        t.equal("header", lines[:1], [c.header])
        lines = lines[1:]
    return lines


def one_nan(dtype, a):
    if dtype.kind != "f":
        return a
    return np.where(dtype.is_nan(a), dtype.bits.type(dtype.nan), a.view(dtype.bits)).astype(dtype.bits).view(
        dtype.storage)


def check_numbers(t, c, words, stdin, expected, exact=True):
    """Runs the command; text inputs are compared as lines, others as numbers.  expected: positions in the input."""
    if c.lines is not None:
        found = lines_of(c, t, echelon(t, *words, stdin=stdin).out)
        t.equal("lines", found, [c.lines[i] for i in expected])
        return
    name = t.pick(["out.npy", "out.raw", "out.txt"] if c.dtype is not BF16 else ["out.raw"])
    in_place = t.flag(0.1) and stdin is None and c.form != "npy"
    if in_place:
        name = c.name
    echelon(t, *words, "-o", name, stdin=stdin)
    found, want = read_numbers(t, file(name), c.dtype), c.a[expected]
    if name.endswith(".txt"):
        found, want = one_nan(c.dtype, found), one_nan(c.dtype, want)
    if exact:
        t.same("numbers", found, want)
    else:
        t.same("keys of the numbers", c.dtype.equal_key(found), c.dtype.equal_key(want))


@operation("echelon_sort", weight=1.5)
def echelon_sort(t):
    c = Column(t)
    words, stdin = c.input(t)
    total, reverse, what = t.flag(0.2), t.flag(0.4), t.pick(["sort", "sort", "argsort", "rows", "unique", "check"])
    index = what == "argsort" or what == "rows" and t.flag(0.3)
    pairs = c.lines is not None or index or what in ("check", "unique")
    options = (["--order", "total"] if total else []) + (["-r"] if reverse else [])
    begin = end = 0
    if t.flag(0.2) and what != "unique":
        begin = t.between(0, c.dtype.width - 1)
        end = t.between(begin + 1, c.dtype.width)
        options += ["--bits", f"{begin}:{end}"]
    order = sort_order(t, c.dtype, c.a, pairs, total, reverse, begin, end)
    t.note(what=what)
    if what == "sort":
        check_numbers(t, c, ["sort", *options, *words], stdin, order)
    elif what == "rows":
        cols = t.pick([i for i in range(1, 200) if c.n % i == 0] + [max(1, c.n)])
        order = order[np.argsort(order // cols, kind="stable")]
        options += ["--rows", cols]
        if index:
            echelon(t, "sort", "--argsort", *options, *words, "-o", "i.npy", stdin=stdin)
            t.same("permutation", np.load(file("i.npy")), (order % cols).astype(np.uint64))
        else:
            check_numbers(t, c, ["sort", *options, *words], stdin, order)
        if c.n:
            echelon(t, "sort", *options[:-1], c.n + 1, *words, stdin=stdin, status=2)
    elif what == "argsort":
        echelon(t, "sort", "--argsort", *options, *words, "-o", "i.npy", stdin=stdin)
        t.same("permutation", np.load(file("i.npy")), order.astype(np.uint64))
    elif what == "unique":
        key = c.dtype.rank(c.a, total=total, collapse=True)[order]
        first = np.concatenate([[True], key[1:] != key[:-1]]) if c.n else np.zeros(0, bool)
        check_numbers(t, c, ["sort", "-u", *options, *words], stdin, order[first], exact=False)
    else:
        key = c.dtype.rank(c.a, total=total, collapse=True)
        if end:
            key = key >> c.dtype.bits.type(begin) & c.dtype.bits.type((1 << (end - begin)) - 1)
        wrong = (key[1:] > key[:-1]) if reverse else (key[1:] < key[:-1])
        echelon(t, "sort", "-c", *options, *words, stdin=stdin, status=int(wrong.any()))


@operation("echelon_sort_axis")
def echelon_sort_axis(t):
    clean()
    dtype = t.dtype([dtype for dtype in DTYPES if dtype is not BF16])
    shape = t.pick([(0, 3), (4, 0), (1, 5), (t.between(1, 40), t.between(1, 40)), (t.between(1, 9), t.between(1, 3000))])
    axis, index, fortran = t.between(0, 1), t.flag(0.4), t.flag()
    a = t.data(dtype, shape[0] * shape[1]).reshape(shape)
    t.note(shape=shape, axis=axis, index=index, fortran=fortran)
    np.save(file("in.npy"), np.asfortranarray(a) if fortran else a)
    lines = a if axis else a.T
    order = np.array([sort_order(t, dtype, line, index, False, False, 0, 0) for line in lines], np.int64)
    order = order.reshape(lines.shape)
    want = order.astype(np.uint64) if index else np.take_along_axis(lines, order, 1)
    words = (["--argsort"] if index else []) + (["--axis", axis] if not axis or t.flag() else [])
    name = t.pick(["out.npy", "in.npy", "out.raw"])
    echelon(t, "sort", *words, "in.npy", "-o", name)
    found = np.load(file(name)) if name.endswith(".npy") else np.fromfile(file(name), want.dtype).reshape(shape)
    t.equal("shape", found.shape, shape)
    t.same("numbers", found, want if axis else want.T)


@operation("echelon_topk")
def echelon_topk(t):
    c = Column(t)
    words, stdin = c.input(t)
    total, smallest, unsorted, index = t.flag(0.2), t.flag(), t.flag(0.3), t.flag(0.3)
    options = (["--order", "total"] if total else []) + (["--smallest"] if smallest else [])
    options += ["--unsorted"] if unsorted else []
    order = sort_order(t, c.dtype, c.a, True, total, not smallest, 0, 0)
    cols, k = max(1, c.n), 10
    if t.flag(0.3):
        cols = t.pick([i for i in range(1, 200) if c.n % i == 0] + [cols])
        order = order[np.argsort(order // cols, kind="stable")]
        options += ["--rows", cols]
    if t.flag(0.8):
        k = t.pick([0, 1, 3, 100, t.between(0, c.n + 3)])
        options += ["-K", k]
    kept = order[np.arange(c.n) % cols < k]
    kept = np.sort(kept) if unsorted else kept
    words = ["topk", *options, *words]
    if index:
        echelon(t, *words, "--index", "-o", "i.npy", stdin=stdin)
        t.same("positions", np.load(file("i.npy")), (kept % cols).astype(np.uint64))
    else:
        check_numbers(t, c, words, stdin, kept)


@operation("echelon_merge")
def echelon_merge(t):
    clean()
    dtype = t.dtype([dtype for dtype in DTYPES if dtype is not BF16])
    count, total, reverse = t.between(1, 6), t.flag(0.2), t.flag()
    t.note(count=count, total=total, reverse=reverse)
    options = (["--order", "total"] if total else []) + (["-r"] if reverse else [])
    files = []
    for i in range(count):
        a = t.data(dtype, t.size())
        files.append(a[sort_order(t, dtype, a, True, total, reverse, 0, 0)])
        np.save(file(f"{i}.npy"), files[-1])
    names = [f"{i}.npy" for i in range(count)]
    both = np.concatenate(files)
    want = both[sort_order(t, dtype, both, True, total, reverse, 0, 0)]
    echelon(t, "merge", *options, *names, "-o", "out.npy")
    t.same("numbers", np.load(file("out.npy")), want)
    rank = dtype.rank(want, total=total, collapse=True)
    if len(want) and rank[0] != rank[-1]:
        np.save(file("wrong.npy"), want[::-1])
        found = echelon(t, "merge", *options, *names, "wrong.npy", "-o", "no.npy", status=2)
        t.equal("message", "wrong.npy: not sorted" in found.err, True)


@operation("echelon_set")
def echelon_set(t):
    clean()
    dtype = t.dtype([dtype for dtype in DTYPES if dtype is not BF16])
    total, reverse, name = t.flag(0.2), t.flag(), t.pick(["union", "intersection", "difference", "symmetric"])
    t.note(operation=name, total=total, reverse=reverse)
    options = (["--order", "total"] if total else []) + (["-r"] if reverse else [])
    files = []
    for i in range(2):
        a = t.data(dtype, t.size(3000))
        if i and len(files[0]):
            a = np.concatenate([a, t.rng.choice(files[0], t.between(0, 500))])
        files.append(a[sort_order(t, dtype, a, True, total, reverse, 0, 0)])
        np.save(file(f"{i}.npy"), files[-1])
    want = combined(name, *files, *(dtype.rank(a, total=total, collapse=True) for a in files), reverse)
    echelon(t, "set", *options, name, "0.npy", "1.npy", "-o", "out.npy")
    t.same("numbers", np.load(file("out.npy")), want)


@operation("echelon_unique")
def echelon_unique(t):
    c = Column(t, distributions=("few", "few", "equal", "moderate", "mixed", "extremes"))
    words, stdin = c.input(t)
    option = t.pick([None, "--repeated", "--singletons", "--by-count", "--count", "--appearance", "--index",
                     "--inverse", "--mode"])
    runs = t.flag(0.3) and option in (None, "--repeated", "--singletons", "--by-count", "--count")
    order = np.arange(c.n) if runs else sort_order(t, c.dtype, c.a, True, False, False, 0, 0)
    key = c.dtype.equal_key(c.a)[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if c.n else np.zeros(0, int)
    counts = np.diff(np.append(starts, c.n))
    first = order[starts]
    if option in ("--index", "--inverse"):
        echelon(t, "unique", option, *words, "-o", "i.npy", stdin=stdin)
        inverse = np.empty(c.n, np.uint64)
        inverse[order] = np.repeat(np.arange(len(starts)), counts)
        t.same("positions", np.load(file("i.npy")), inverse if option == "--inverse" else first.astype(np.uint64))
        return
    if option == "--appearance":
        first = np.sort(first)
    elif option == "--mode":
        first = first[[np.argmax(counts)]] if c.n else first
    elif option == "--repeated":
        first, counts = first[counts > 1], counts[counts > 1]
    elif option == "--singletons":
        first, counts = first[counts == 1], counts[counts == 1]
    elif option == "--by-count":
        by = np.argsort(-counts, kind="stable")
        first, counts = first[by], counts[by]
    words = ["unique", *(["--runs"] if runs else []), *([option] if option else []), *words]
    if option != "--count":
        check_numbers(t, c, words, stdin, first, exact=False)
    elif c.lines is not None:
        lines = echelon(t, *words, stdin=stdin).out.decode().split("\n")[:-1]  # no header
        t.equal("lines", [line.split(None, 1)[0] for line in lines], [str(count) for count in counts.tolist()])
        t.equal("lines", [re.sub(r"^ *\d+ ", "", line) for line in lines], [c.lines[i] for i in first])
    else:
        echelon(t, *words, "-o", "out.npy", stdin=stdin)
        records = np.load(file("out.npy"))
        found = records["value"].astype(records["value"].dtype.newbyteorder("=")).view(c.dtype.storage)
        t.same("counts", records["count"].astype(np.uint64), counts.astype(np.uint64))
        t.same("keys", c.dtype.equal_key(found), c.dtype.equal_key(c.a[first]))


def condition(t, c):
    """WHERE: a text and which elements pass."""
    x = c.dtype.value(c.a)
    kind = t.pick(["<", "<=", "==", "=", "!=", ">=", ">", "nan", "!=nan", "zero", "nonzero"] +
                  ([] if c.dtype.kind == "f" else ["&", "&=", "!&"]))
    if kind == "nan":
        return kind, c.dtype.is_nan(c.a)
    if kind == "!=nan":
        return kind, ~c.dtype.is_nan(c.a)
    if kind in ("zero", "nonzero"):
        return kind, (x == 0) == (kind == "zero")
    if "&" in kind:
        mask = t.between(0, min(c.dtype.limits()[1], 2**62))
        both = c.a & c.dtype.storage.type(mask)
        return f"{kind}{t.pick([str(mask), hex(mask)])}", {"&": both != 0, "&=": both == mask, "!&": both == 0}[kind]
    usable = c.a[~c.dtype.is_nan(c.a)] if c.n else c.a
    if len(usable) and t.flag(0.8):
        number = spelled(c.dtype, usable[t.between(0, len(usable) - 1)].reshape(1))[0]
    else:
        number = t.pick(["3", "-2.5", "0.5", "1e3", "0"])
    if c.dtype.kind == "f":
        v = c.dtype.value(parse(c.dtype, [number]))[0]
        compared = x
    else:
        v, compared = Fraction(number), None
    test = {"<": "__lt__", "<=": "__le__", "==": "__eq__", "=": "__eq__", "!=": "__ne__", ">=": "__ge__",
            ">": "__gt__"}[kind]
    if compared is None:
        unique, inverse = np.unique(x, return_inverse=True)
        table = np.array([getattr(Fraction(int(u)), test)(v) for u in unique.tolist()], bool)
        return kind + number, table[inverse] if len(x) else np.zeros(0, bool)
    return kind + number, getattr(compared, test)(v)


@operation("echelon_select")
def echelon_select(t):
    c = Column(t)
    words, stdin = c.input(t)
    where, passed = condition(t, c)
    invert, what = t.flag(0.3), t.pick(["numbers", "numbers", "count", "index"])
    kept = np.flatnonzero(passed ^ invert)
    words = ["select", *(["-v"] if invert else []), where, *words]
    if what == "numbers":
        check_numbers(t, c, words, stdin, kept)
    elif what == "count":
        t.equal("count", int(echelon(t, *words, "--count", stdin=stdin).out), len(kept))
    else:
        echelon(t, *words, "--index", "-o", "i.npy", stdin=stdin)
        t.same("positions", np.load(file("i.npy")), kept.astype(np.uint64))


@operation("echelon_shuf")
def echelon_shuf(t):
    seed = t.between(0, 2**62)
    if t.flag(0.3):
        clean()
        n = t.between(0, 3000)
        found = echelon(t, "shuf", "--permutation", n, "--seed", seed).out.split()
        t.equal("permutation", [int(word) for word in found], permutation_of(n, seed).tolist())
        return
    c = Column(t, forms=["npy", "raw", "type", "text"])
    p = permutation_of(c.n, seed).astype(np.int64)
    words = ["shuf", "--seed", seed]
    if t.flag():
        k = t.between(0, c.n + 3)
        words, p = [*words, "-K", k], p[:k]
    options = [] if c.lines is not None else c.options
    check_numbers(t, c, [*words, *options, c.name], None, p)


@operation("echelon_stats")
def echelon_stats(t):
    c = Column(t, distributions=("moderate", "few", "equal", "sorted", "extremes", "mixed"))
    words, stdin = c.input(t)
    found = json.loads(echelon(t, "stats", "--json", *words, stdin=stdin).out)
    x = c.dtype.value(c.a[~c.dtype.is_nan(c.a)])
    t.equal("n", found["n"], c.n)
    t.equal("nan", found["nan"], c.n - len(x))
    if not len(x) or not np.isfinite(x.astype(np.float64)).all():
        return
    t.equal("distinct", found["distinct"], len(np.unique(x)))
    wide = x.astype(np.float64)
    scale = float(np.abs(wide).max())
    exact = sum(x.tolist()) if c.dtype.kind != "f" else float(np.longdouble(0) + x.astype(np.longdouble).sum())
    if c.dtype.kind != "f":
        t.equal("sum", found["sum"], exact)
    elif scale < 1e300 / max(c.n, 1):
        t.near("sum", found["sum"], exact, 1e-10 * scale * c.n)
    if scale < 1e150:
        t.near("mean", found["mean"], wide.mean(), 1e-9 * scale)
        t.near("sd", found["sd"], (wide / scale).std() * scale if scale else 0.0, 1e-7 * scale)
        for p in (1, 5, 25, 50, 75, 95, 99):
            want, got = np.percentile(wide, p), float(found[f"{p}%"])
            shortest = c.dtype.kind == "f" and np.array_equal(*(c.dtype.store(np.array([v])) for v in (want, got)))
            if not shortest:  # a number of the input is printed with the digits of its type
                t.near(f"{p}%", got, want, 1e-9 * scale)
    for name, value in (("min", x.min()), ("max", x.max())):
        t.same(name, parse(c.dtype, [str(found[name])]) + c.dtype.storage.type(0) if c.dtype is not BF16
               else c.dtype.value(parse(c.dtype, [str(found[name])])) + 0,
               c.dtype.store(np.array([value + value.dtype.type(0)])) if c.dtype is not BF16
               else np.array([value + np.float32(0)], np.float32))


@operation("echelon_quantile")
def echelon_quantile(t):
    c = Column(t, distributions=("moderate", "uniform"))
    words, stdin = c.input(t)
    if not c.n:
        return
    method, q = t.pick(["linear", "hazen", "midpoint"]), [t.pick([0.0, 1.0, float(t.rng.random())]) for _ in range(3)]
    echelon(t, "quantile", "-q", ",".join(map(repr, q)), "--method", method, *words, "-o", "out.npy", stdin=stdin)
    want = np.quantile(c.dtype.value(c.a).astype(np.float64) + 0.0, np.array(q), method=method)
    t.same("quantiles", np.load(file("out.npy")), np.where(np.isnan(want), np.nan, want + 0.0))


@operation("echelon_reduce")
def echelon_reduce(t):
    c = Column(t, distributions=("moderate", "few", "mixed", "uniform", "special", "extremes"))
    words, stdin = c.input(t)
    op = t.pick([name for name in op_names(c.dtype, OPS)])
    rows, table = 1, c.a.reshape(1, -1)
    wide, ignore, ddof, test = t.flag(0.3), t.flag(0.3), 0, None
    ddof = t.between(0, 1) if op in ("VARIANCE", "STDDEV") else 0
    options = []
    if c.n and t.flag(0.3):
        cols = t.pick([k for k in range(1, c.n + 1) if c.n % k == 0][:40])
        rows, table = c.n // cols, c.a.reshape(-1, cols)
        options += ["--rows", cols]
    if table.shape[1] == 0 and op in ("MIN", "MAX", "MINMAX", "ARGMIN", "ARGMAX"):
        return
    if op in ("ANY", "ALL", "COUNT"):
        test = ("NONZERO", None)
    if op in ("MIN", "MAX", "MINMAX", "ARGMIN", "ARGMAX") and ignore and c.dtype.is_nan(table).all(axis=1).any():
        ignore = False
    options += ["--nan", "ignore"] if ignore else []
    options += ["--accumulate-wide"] if wide else []
    options += ["--ddof", ddof] if ddof else []
    name = "sd" if op == "STDDEV" else op.lower()
    echelon(t, "reduce", name, *options, *words, "-o", "out.npy", stdin=stdin)
    found = np.load(file("out.npy"))
    expected = reduction(op, c.dtype, table, wide, ignore, ddof, test)
    t.same("result", found.reshape(-1).astype(found.dtype.newbyteorder("=")), expected.reshape(-1))
    if rows == 1 and op in ("SUM", "PRODUCT") and c.dtype.kind != "f":
        printed = echelon(t, "reduce", name, *words, stdin=stdin).out.split()
        t.equal("printed", [int(word) for word in printed], [int(expected[0])])


@operation("echelon_hist")
def echelon_hist(t):
    c = Column(t, distributions=("moderate", "few", "mixed", "uniform", "extremes", "sorted"))
    words, stdin = c.input(t)
    if t.flag():
        edges = sorted({t.between(-60 if c.dtype.kind != "u" else 0, 100) for _ in range(t.between(2, 8))})
        if len(edges) < 2:
            edges = [0, 10]
        found = json.loads(echelon(t, "hist", "--json", "--edges", ",".join(map(str, edges)), *words, stdin=stdin).out)
        bin_ = bins_by_edges(c.dtype, c.a, c.dtype.store(np.array(edges, np.float64)), True)
        t.equal("counts", [row["count"] for row in found["bins"]],
                np.bincount(bin_[bin_ >= 0], minlength=len(edges) - 1).tolist())
        below, nan = int((bin_ == BELOW).sum()), int((bin_ == NOWHERE).sum())
        t.equal("below, above, nan", (found["below"], found["above"], found["nan"]),
                (below, int((bin_ < 0).sum()) - below - nan, nan))
        return
    x = c.dtype.value(c.a)
    finite = x[np.isfinite(x.astype(np.float64))] if c.dtype.kind == "f" else x
    if not len(finite) or (c.dtype.kind == "f" and float(np.abs(finite.astype(np.float64)).max()) > 1e30):
        return
    bins = t.between(1, 30)
    found = json.loads(echelon(t, "hist", "--json", "--bins", bins, *words, stdin=stdin).out)
    counted = sum(row["count"] for row in found["bins"])
    t.equal("all numbers", counted + found["below"] + found["above"] + found["nan"], c.n)
    t.equal("finite numbers", counted, len(finite))
    if c.dtype.kind != "f":
        low = np.array([row["lower"] for row in found["bins"]], object)
        ends = list(low) + [found["bins"][-1]["upper"]]
        unique, counts = np.unique(finite, return_counts=True)
        expected = [0] * len(low)
        for u, count in zip(unique.tolist(), counts.tolist()):
            expected[max(i for i in range(len(low)) if ends[i] <= u)] += count
        t.equal("counts", [row["count"] for row in found["bins"]], expected)


@operation("echelon_scan")
def echelon_scan(t):
    c = Column(t, dtypes=[d for d in DTYPES if d is not BF16], forms=["npy", "raw", "type"],
               distributions=("moderate", "few", "mixed", "uniform", "special", "extremes"))
    words, stdin = c.input(t)
    op = t.pick(op_names(c.dtype, OPS[:7]))
    exclusive, reverse, wide, ignore = t.flag(), t.flag(0.3), t.flag(0.3), t.flag(0.3)
    out = {"i": I64, "u": U64, "f": F64}[c.dtype.kind] if wide and op in ("SUM", "PRODUCT") else c.dtype
    options = ["-x"] if exclusive else []
    options += ["-r"] if reverse else []
    options += ["--accumulate-wide"] if out is not c.dtype or (wide and op in ("SUM", "PRODUCT")) else []
    options += ["--nan", "ignore"] if ignore else []
    init = None
    if t.flag(0.3):
        init = values.moderate(t.rng, out, 1)
        options += ["--init=" + spelled(out, init)[0]]
    echelon(t, "scan", op.lower(), *options, *words, "-o", "out.npy", stdin=stdin)
    found = np.load(file("out.npy"))
    found = found.astype(found.dtype.newbyteorder("="))
    x = c.a[::-1] if reverse else c.a
    expected = c.a.astype(out.storage)[:0]
    if c.n:
        expected = scan_rows_of(op, c.dtype, np.ascontiguousarray(x).reshape(1, -1), out, exclusive, ignore, init)[0]
    same_scan(t, op, out, found, np.ascontiguousarray(expected[::-1] if reverse else expected))


@operation("echelon_gen", weight=0.5)
def echelon_gen(t):
    clean()
    dtype = t.dtype()
    n, seed = t.between(0, 5000), t.between(0, 2**62)
    kinds = "uniform normal sorted reversed almost constant few zipf hot and2 and4 and8".split()
    kind = t.pick(kinds + (["nan-mix"] if dtype.kind == "f" else []))
    common = ["gen", kind, "-y", dtype.name, "-N", n, "--seed", seed] + (["--values", 5] if kind == "few" else [])
    echelon(t, *common, "-o", "a.raw")
    echelon(t, *common, "-o", "b.npy")
    a = np.frombuffer(file("a.raw").read_bytes(), dtype.storage)
    t.same("formats", np.load(file("b.npy")), a)
    t.equal("n", len(a), n)
    key = dtype.equal_key(a)
    if kind == "sorted":
        t.true("not sorted", bool((key[1:] >= key[:-1]).all()))
    elif kind == "reversed":
        t.true("not reversed", bool((key[1:] <= key[:-1]).all()))
    elif kind in ("constant", "few"):
        t.true("too many values", len(np.unique(key)) <= (1 if kind == "constant" else 5))
    elif kind == "uniform" and dtype.kind == "f" and n:
        t.true("not from 0 to 1", bool(((dtype.value(a) >= 0) & (dtype.value(a) <= 1)).all()))
    t.true("the seed has no effect", n < 100 or kind != "uniform" or
           echelon(t, *common[:-1], seed + 1, "--format", "raw").out != a.tobytes())


# ---- Matrices over GF(2) ----

def write_bits(t, name, a):
    """Writes a matrix of bits; returns the name and the options for reading it."""
    rows, cols = a.shape
    kind = t.pick(["pbm", "pbm-text", "npy", "mtx", "packed"])
    if kind == "pbm":
        file(name + ".pbm").write_bytes(b"P4\n%d %d\n" % (cols, rows) + np.packbits(a, axis=1).tobytes())
        return name + ".pbm", []
    if kind == "pbm-text":
        text = "\n".join("".join(map(str, row)) if t.flag() else " ".join(map(str, row)) for row in a.tolist())
        file(name + ".pbm").write_text(f"P1\n# random\n{cols} {rows}\n{text}\n")
        return name + ".pbm", []
    if kind == "npy":
        np.save(file(name + ".npy"), np.asarray(a.astype(t.pick(["?", "<i8", ">i2", "u1"])), order=t.pick("CF")))
        return name + ".npy", []
    if kind == "packed":
        order = t.pick(["little", "big"])
        np.save(file(name + ".npy"), np.packbits(a, axis=1, bitorder=order))
        return name + ".npy", [order, cols]
    at = np.argwhere(a)
    lines = [f"{i + 1} {j + 1}" for i, j in at[t.rng.permutation(len(at))].tolist()]
    head = "%%MatrixMarket matrix coordinate pattern general\n"
    file(name + ".mtx").write_text(head + f"{rows} {cols} {len(at)}\n" + "".join(line + "\n" for line in lines))
    return name + ".mtx", []


def read_bits(name):
    return np.load(file(name)).astype(np.uint8)


@operation("echelon_gf2", weight=1.5)
def echelon_gf2(t):
    clean()
    rows, cols = t.between(1, t.pick([12, 90])), t.between(1, t.pick([12, 150]))
    what = t.pick("rref rank solve nullspace inverse mul transpose info convert".split())
    if what == "inverse":
        cols = rows
    a = random_bits(t, rows, cols)
    name, packed = write_bits(t, "a", a)
    names = [name]
    b = None
    if what in ("solve", "mul"):
        b = random_bits(t, rows if what == "solve" else cols, t.between(1, 20))
        if what == "solve" and t.flag():
            b = product(a, random_bits(t, cols, b.shape[1]))
        if packed:  # one option describes both inputs
            np.save(file("b.npy"), np.packbits(b, axis=1, bitorder=packed[0]))
            names.append("b.npy")
        else:
            second, also = write_bits(t, "b", b)
            if also:
                np.save(file("b.npy"), b)
                second = "b.npy"
            names.append(second)
    options = []
    if packed:
        options = ["--packed", f"{packed[0]}:{cols}" + (f",{b.shape[1]}" if b is not None else "")]
    check = ["--check"] if t.flag(0.3) and what not in ("info", "convert", "rank", "transpose") else []
    words = ["gf2", what, *options, *check, *names]
    out = ["-o", "out.npy", "--format", "npy"]
    t.note(rows=rows, cols=cols)
    if what == "rref":
        reduced, columns, max_rank = t.flag(0.7), None, 0
        extra = [] if reduced else ["--form", "echelon"]
        if t.flag(0.3):
            columns = range(t.between(1, cols))
            extra += ["--columns", len(columns)]
        if t.flag(0.2):
            max_rank = t.between(1, 10)
            extra += ["--max-rank", max_rank]
        e = Elimination(a, columns, max_rank, reduced)
        found = echelon(t, *words, *extra, *out, "--transform", "t.npy", "--pivots")
        t.equal("pivots", [int(word) for word in found.out.split()], e.pivots)
        t.same("echelon form", read_bits("out.npy"), e.result)
        if file("t.npy").exists():
            t.same("transform", read_bits("t.npy"), e.transform)
    elif what == "rank":
        t.equal("rank", int(echelon(t, *words).out), Elimination(a).rank)
    elif what == "solve":
        e = Elimination(a)
        tb = product(e.transform, b)
        possible = ~tb[e.rank:].any(axis=0)
        expected = np.zeros((cols, b.shape[1]), np.uint8)
        expected[e.pivots] = tb[:e.rank] * possible
        echelon(t, *words, *out, "--certificate", "y.npy", status=int(not possible.all()))
        t.same("x", read_bits("out.npy"), expected)
        if file("y.npy").exists():
            y = read_bits("y.npy")
            t.true("certificates", not product(y, a).any() and not y[possible].any() and
                   bool((np.diag(product(y, b))[~possible] == 1).all()))
    elif what == "nullspace":
        left = t.flag()
        basis = nullspace(np.ascontiguousarray(a.T) if left else a)
        echelon(t, *words, *out, *(["--left"] if left else []))
        t.same("basis", read_bits("out.npy").reshape(basis.shape), basis)
    elif what == "inverse":
        e = Elimination(a)
        echelon(t, *words, *out, status=int(e.rank < rows))
        if e.rank == rows:
            t.same("inverse", read_bits("out.npy"), e.transform)
        else:
            t.true("an output file", not file("out.npy").exists())
    elif what == "mul":
        echelon(t, *words, *out)
        t.same("product", read_bits("out.npy"), product(a, b))
    elif what == "transpose":
        echelon(t, *words, *out)
        t.same("transpose", read_bits("out.npy"), a.T)
    elif what == "info":
        found = json.loads(echelon(t, *words, "--json", "--rank").out)
        t.equal("rows, columns, rank", (found["rows"], found["columns"], found["rank"]),
                (rows, cols, Elimination(a).rank))
        t.equal("ones", found["ones"], int(a.sum()))
    else:
        way = t.pick(["pbm", "pbm-text", "npy-little", "npy-big", "mtx", "alist", "jcf"])
        if way == "jcf" and (~a.any(axis=1)).any():  # a zero row before a nonzero row has no representation
            way = "alist"
        suffix = {"pbm-text": "pbm", "npy-little": "npy", "npy-big": "npy"}.get(way, way)
        echelon(t, *words, "-o", "c." + suffix, "--format", way)
        back = ["--packed", f"{way[4:]}:{cols}"] if way.startswith("npy-") else []
        echelon(t, "gf2", "convert", *back, "c." + suffix, *out)
        t.same("converted", read_bits("out.npy"), a)


# ---- Matrices of numbers ----

def write_matrix(t, name, a, kind=None):
    kind = kind or t.pick(["npy", "array", "coordinate"])
    rows, cols = a.shape
    if kind == "npy":
        np.save(file(name + ".npy"), np.asarray(a, order=t.pick("CF")))
        return name + ".npy"
    if kind == "array":
        numbers = "".join(f"{x!r}\n" for x in a.T.reshape(-1).tolist())
        file(name + ".mtx").write_text(f"%%MatrixMarket matrix array real general\n{rows} {cols}\n{numbers}")
        return name + ".mtx"
    lines = [f"{i + 1} {j + 1} {a[i, j].item()!r}\n" for i, j in np.argwhere(a != 0).tolist()]
    if lines:  # duplicate entries are added
        lines.append(lines[0].rsplit(" ", 1)[0] + " 0\n")
    order = t.rng.permutation(len(lines))
    file(name + ".mtx").write_text("%%MatrixMarket matrix coordinate real general\n% random\n"
                                   f"{rows} {cols} {len(lines)}\n" + "".join(lines[i] for i in order))
    return name + ".mtx"


def read_matrix(path, shape):
    if path.suffix == ".npy":
        return np.load(path).reshape(shape)
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    numbers = np.array([float(x) for x in lines[1:]])
    return numbers.reshape(shape[::-1]).T


@operation("echelon_matmul")
def echelon_matmul(t):
    clean()
    m, k, n = (t.between(1, 40) for _ in range(3))
    a, b = (t.rng.standard_normal(shape).round(t.between(0, 6)) for shape in ((m, k), (k, n)))
    ta, tb, single = t.flag(0.3), t.flag(0.3), t.flag(0.3)
    names = write_matrix(t, "a", np.ascontiguousarray(a.T) if ta else a), write_matrix(
        t, "b", np.ascontiguousarray(b.T) if tb else b)
    options = (["--transpose-a"] if ta else []) + (["--transpose-b"] if tb else [])
    options += (["-y", "f32"] if single else []) + (["--check"] if t.flag(0.3) else [])
    out = t.pick(["out.npy", "out.mtx"])
    echelon(t, "matmul", *options, *names, "-o", out)
    x, y = (a.astype(np.float32), b.astype(np.float32)) if single else (a, b)
    x, y = x.astype(np.longdouble), y.astype(np.longdouble)
    unit = 2.0**-24 if single else 2.0**-53
    t.near("product", read_matrix(file(out), (m, n)), x @ y, (2 * k + 8) * unit * (np.abs(x) @ np.abs(y)))


@operation("echelon_solve")
def echelon_solve(t):
    clean()
    n, nrhs = t.between(1, 40), t.between(1, 3)
    method = t.pick("auto jacobi gauss-seidel sor cg minres bicgstab gmres lu cholesky qr direct".split())
    a = t.rng.standard_normal((n, n)) * (t.rng.random((n, n)) < 0.3)
    if method in ("cg", "minres", "cholesky") or t.flag():
        a = a + a.T
    np.fill_diagonal(a, 0)
    np.fill_diagonal(a, 1.3 * np.abs(a).sum(axis=1) + 1)
    b = t.rng.standard_normal((n, nrhs))
    sparse = "coordinate" if method in ("gauss-seidel", "sor") else None
    names = write_matrix(t, "a", a, sparse), write_matrix(t, "b", b)
    out = t.pick(["x.npy", "x.mtx"])
    echelon(t, "solve", "--method", method, *names, "-o", out)
    x = read_matrix(file(out), (n, nrhs))
    residual = np.linalg.norm(b - a @ x, axis=0)
    t.near("residual", residual, 0, 1.1e-8 * np.linalg.norm(b, axis=0) + 1e-12)


@operation("echelon_matrix")
def echelon_matrix(t):
    clean()
    m, n = t.between(1, 30), t.between(1, 30)
    a = t.rng.integers(-3, 4, (m, n)) * (t.rng.random((m, n)) < t.pick([0.2, 0.7, 1.0])) * 1.0
    symmetric = m == n and t.flag()
    if symmetric:
        a = a + a.T
    name = write_matrix(t, "a", a)
    found = json.loads(echelon(t, "matrix", "info", "--json", "--no-condition", "--no-picture", name).out)
    t.equal("shape", (found["rows"], found["columns"]), (m, n))
    for norm, order in (("norm_1", 1), ("norm_infinity", np.inf), ("norm_frobenius", "fro")):
        expected = np.linalg.norm(a, order)
        t.near(norm, found[norm], expected, 6e-6 * expected)  # six digits
    at = np.argwhere(a)
    if len(at) and name.endswith("npy"):
        t.equal("bandwidth", (found["bandwidth_lower"], found["bandwidth_upper"]),
                (max(0, int((at[:, 0] - at[:, 1]).max())), max(0, int((at[:, 1] - at[:, 0]).max()))))


# ---- Reports and invalid input ----

@operation("echelon_explain", weight=0.3)
def echelon_explain(t):
    clean()
    dtype, n = t.dtype(), t.between(0, 2**30)
    found = json.loads(echelon(t, "explain", "sort", "--json", "-y", dtype.name, "-N", n).out)
    expected = t.lib.explain("ech_sort_explain", b"cpu", n, dtype.code, 0, None)
    t.equal("workspace", found["workspace_bytes"], expected["workspace_bytes"])
    t.equal("algorithm", found["algorithm"], expected["algorithm"])


@operation("echelon_info", weight=0.1)
def echelon_info(t):
    clean()
    found = json.loads(echelon(t, "info", "--json").out)
    t.equal("version", found["version"], t.lib.raw("ech_version").decode())


@operation("echelon_help", weight=0.1)
def echelon_help(t):
    clean()
    name = t.pick("sort topk merge set unique select shuf stats hist reduce scan gen gf2 matrix matmul solve explain".split())
    t.equal("help", echelon(t, "help", name).out, echelon(t, name, "--help").out)


@operation("echelon_invalid")
def echelon_invalid(t):
    """Invalid input gives status 2 and a message, and leaves no output file."""
    clean()
    kind = t.pick("truncated header text range integer columns quotes npy-size type option pbm mtx shape".split())
    subcommand = t.pick(["sort", "topk", "unique", "scan", "stats", "reduce", "hist", "select"])
    words = {"reduce": ["reduce", "max"], "select": ["select", ">0"]}.get(subcommand, [subcommand])
    out = [] if subcommand in ("stats", "hist") else ["-o", "out." + t.pick(["txt", "npy"])]
    n = t.between(2, 60)
    t.note(kind=kind)
    if kind == "truncated":  # a raw file with a part of an element
        file("in.u32").write_bytes(t.rng.bytes(4 * n + t.between(1, 3)))
        words += ["in.u32"]
        out = out if not out else ["-o", "out.u32"]
    elif kind == "header":
        np.save(file("in.npy"), np.arange(n, dtype=np.int32))
        data = bytearray(file("in.npy").read_bytes())
        at = t.pick([0, 1, 5, 6, t.between(10, 50)])
        data[at] ^= t.between(1, 255) if at < 10 else 0x80
        file("in.npy").write_bytes(data)
        words += ["in.npy"]
    elif kind == "npy-size":
        np.save(file("in.npy"), np.arange(n, dtype=np.int32))
        data = file("in.npy").read_bytes()
        file("in.npy").write_bytes(data[:-t.between(1, 4 * n)] if t.flag() else data + t.rng.bytes(t.between(1, 9)))
        words += ["in.npy"]
    elif kind in ("text", "range", "integer"):
        lines = [str(t.between(0, 100)) for _ in range(n)]
        bad = {"text": t.pick(["x", "", "1 2", "0x", "--1", "1e", "1,2", "."]), "range": t.pick(["300", "-1", "1.5"]),
               "integer": str(2**64 + t.between(0, 100))}[kind]
        lines[t.between(0, n - 1)] = bad
        file("in.txt").write_text("\n".join(lines) + "\n")
        words += ["in.txt"] + (["-y", "u8"] if kind == "range" else [])
    elif kind in ("columns", "quotes"):
        lines = [f"a,{t.between(0, 100)},b" for _ in range(n)]
        lines[t.between(1, n - 1)] = t.pick(["a", "a;1"]) if kind == "columns" else t.pick(['a,"1,b', 'a,"1"2,b'])
        file("in.csv").write_text("\n".join(lines) + "\n")
        words += ["--column", "2", "-t", ",", "in.csv"]
    elif kind == "type":
        file("in.bin").write_bytes(t.rng.bytes(8 * n) + b"\xff" * 8)
        words += t.pick([["in.bin"], ["in.bin", "-y", "f31"], ["missing.txt"], ["in.bin", "-y"]])
    elif kind == "option":
        file("in.txt").write_text("1\n2\n")
        words += ["in.txt"] + t.pick([["--nonsense"], ["-Z"], ["in.txt"], ["--threads", "x"], ["--format", "xml"]])
        out = []
    elif kind == "pbm":
        data = t.pick([b"P4\n9 3\n\0\0\0", b"P1\n3 2\n01011", b"P5\n1 1\n\0", b"P1\n-1 2\n", b"P1\n2 2\n0120",
                       b"P4\n99999999999 9999999999\n"])
        file("in.pbm").write_bytes(data)
        words, out = ["gf2", t.pick(["rank", "rref", "transpose", "info"]), "in.pbm"], []
        if words[1] in ("rref", "transpose"):
            out = ["-o", "out.npy"]
    elif kind == "mtx":
        head = "%%MatrixMarket matrix coordinate real general\n"
        file("in.mtx").write_text(t.pick([head + "2 2 1\n3 1 1.0\n", head + "2 2 2\n1 1 1.0\n", head + "2 2 1\n1 1 x\n",
                                          "%%MatrixMarket matrix\n1 1 1\n", head + "2 2\n", head + "2 2 1\n0 1 1\n"]))
        words, out = ["matmul", "in.mtx", "in.mtx"], ["-o", "out.npy"]
    else:
        np.save(file("a.npy"), np.ones((2, t.between(4, 6))))
        np.save(file("b.npy"), np.ones((3, 2)))
        words, out = [t.pick(["matmul", "solve"]), "a.npy", "b.npy"], ["-o", "out.npy"]
    before = sorted(path.name for path in Path(COMMAND["directory"]).iterdir())
    found = echelon(t, *words, *out, status=2)
    t.equal("files", sorted(path.name for path in Path(COMMAND["directory"]).iterdir()), before)
    t.true("no message", len(found.err) > 15)
    if kind not in ("option",):
        t.true("no output", not found.out)
