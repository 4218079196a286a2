"""Applies the commands except sort to files that NumPy wrote, and compares the results with NumPy's; run by
numpy_operations.sh."""

import json
import subprocess
import sys

import numpy as np

random = np.random.default_rng(7)
failures = []
PERCENTS = (1, 5, 25, 50, 75, 95, 99)
TESTS = {
    "<3": lambda x: x < 3,
    ">=2.5": lambda x: x >= 2.5,
    "==1": lambda x: x == 1,
    "!=-1": lambda x: x != -1,
    "nonzero": lambda x: x != 0,
    "!=nan": lambda x: ~np.isnan(x),
    "<=-0.5": lambda x: x <= -0.5,
}


def echelon(*words):
    return subprocess.run(["echelon", *words], check=True, stdout=subprocess.PIPE).stdout


def written(*words):
    echelon(*words, "a.npy", "-o", "o.npy")
    return np.load("o.npy")


def same(a, b, *what):
    a, b = np.asarray(a), np.asarray(b)
    if not np.array_equal(a, b, equal_nan=b.dtype.kind == "f"):
        failures.append(what)


def near(a, b, scale, *what):
    if not abs(a - b) <= 1e-9 * scale:
        failures.append((*what, a, b))


def check_select(x, what):
    exact = x.astype("f8") if x.dtype.itemsize < 8 or x.dtype.kind == "f" else x.astype(object)
    for test, passes in TESTS.items():
        if test == "!=nan":
            passed = ~np.isnan(x.astype("f8"))
        else:
            passed = np.asarray(passes(exact), dtype=bool)
        same(written("select", test), x[passed], what, "select", test)
        same(written("select", "-v", test), x[~passed], what, "select -v", test)
        same(written("select", "--index", test), np.flatnonzero(passed), what, "index", test)
        same(int(echelon("select", "--count", test, "a.npy")), passed.sum(), what, "count", test)


def check_unique(x, what):
    values, counts = np.unique(x, return_counts=True)
    by_count = np.argsort(-counts.astype("i8"), kind="stable")
    same(written("unique"), values, what, "unique")
    same(written("unique", "--repeated"), values[counts > 1], what, "unique --repeated")
    same(written("unique", "--singletons"), values[counts == 1], what, "unique --singletons")
    for words, order in (("--count",), slice(None)), (("--count", "--by-count"), by_count):
        records = written("unique", *words)
        same(records["count"], counts[order], what, words)
        same(records["value"], values[order], what, words)


def check_integers(x, what):
    wide = "i8" if x.dtype.kind == "i" else "u8"
    same(int(echelon("reduce", "sum", "a.npy")), int(x.sum(dtype=wide)), what, "sum")
    same(written("scan", "--accumulate-wide"), np.cumsum(x, dtype=wide), what, "scan --accumulate-wide")
    back = np.maximum.accumulate(x[::-1])[::-1]
    same(written("scan", "max", "-r"), back, what, "scan max")
    if len(x):
        same(int(echelon("reduce", "argmin", "a.npy")), np.argmin(x), what, "argmin")
        bins = json.loads(echelon("hist", "--json", "a.npy"))["bins"]
        edges = [bin["lower"] for bin in bins] + [bins[-1]["upper"]]
        inside = np.searchsorted(edges, x.astype(object), side="right") - 1
        counts = np.bincount(inside, minlength=len(bins))
        same([bin["count"] for bin in bins], counts, what, "hist")


def check_stats(x, what):
    y = x[~np.isnan(x.astype("f8"))].astype("f8")
    found = json.loads(echelon("stats", "--json", "a.npy"))
    same(found["nan"], len(x) - len(y), what, "nan")
    if not len(y):
        return
    scale = max(1, np.abs(y).max())
    same(found["distinct"], len(np.unique(x[~np.isnan(x.astype("f8"))])), what, "distinct")
    near(found["mean"], y.mean(), scale, what, "mean")
    near(found["sd"], y.std(), scale, what, "sd")
    for p in PERCENTS:
        # One of the numbers is printed in the digits of its own type.
        want, got = np.percentile(y, p), found["%d%%" % p]
        if x.dtype.type(got) != want:
            near(got, want, scale, what, "quantile", p)


def check_search(x, what):
    sorted_x = np.sort(x)
    np.save("s.npy", sorted_x)
    for side, words in (("left", ()), ("right", ("--upper",))):
        echelon("search", *words, "s.npy", "a.npy", "-o", "o.npy")
        same(np.load("o.npy"), np.searchsorted(sorted_x, x, side), what, "search", side)


def check_records():
    """Structured arrays and matrices, compared with stable sorts."""
    n = 2000
    fields = [("a", "<i2"), ("b", "|S3"), ("c", "<f4"), ("d", ">u2"), ("e", "<f8", (2,)), ("f", "?")]
    x = np.zeros(n, np.dtype(fields, align=True))
    x["a"] = random.integers(-3, 3, n)
    x["b"] = random.integers(97, 99, (n, 3)).astype("u1").view("S3")[:, 0]
    x["c"] = random.integers(-2, 2, n) / 2
    x["c"][::9] = np.nan
    x["d"] = random.integers(0, 600, n)
    x["e"] = random.random((n, 2))
    x["f"] = random.integers(0, 2, n)
    np.save("a.npy", x)
    for keys in (("a",), ("f", "b"), ("b", "c"), ("d", "a", "c"), ("c", "b", "f", "a")):
        # The last column of a sort by codes is the most significant one.
        codes = [np.unique(x[k], return_inverse=True)[1] for k in keys]
        order = np.lexsort(codes[::-1])
        same(written("records", "--keys", ",".join(keys), "--argsort"), order, keys, "argsort")
        whole = x.view(f"V{x.itemsize}")[order]  # with the bytes between the fields
        if written("records", "--keys", ",".join(keys)).tobytes() != whole.tobytes():
            failures.append((keys, "records"))
    order = np.lexsort((x["a"], ~x["f"]))
    same(written("records", "--keys", "f:desc,a", "--argsort"), order, "f:desc,a")
    for m in (random.integers(0, 5, (n, 4)), np.asfortranarray(random.integers(0, 5, (n, 4)).astype(">i2"))):
        np.save("a.npy", m)
        order = np.lexsort((m[:, 0], m[:, 2]))
        same(written("records", "--keys", "2,0"), m[order], m.dtype.str, "matrix")


def check(x):
    what = (x.dtype.str, len(x))
    np.save("a.npy", x)
    if len(x):
        same(written("reduce", "minmax"), [x.min(), x.max()], what, "minmax")
    same(int(echelon("reduce", "count", "a.npy")), np.count_nonzero(x), what, "count")
    check_select(x, what)
    check_unique(x, what)
    check_stats(x, what)
    check_search(x, what)
    if x.dtype.kind in "iu":
        check_integers(x, what)
    same(np.sort(written("shuf")), np.sort(x), what, "shuf")
    same(len(written("shuf", "-K", "5")), min(5, len(x)), what, "shuf -K")
    if len(x) % 10 == 0:
        np.save("a.npy", np.asfortranarray(x.reshape(-1, 10)))
        if len(x):
            same(written("reduce", "max"), x.reshape(-1, 10).max(axis=1), what, "rows")
        same(written("reduce", "count"), np.count_nonzero(x.reshape(-1, 10), axis=1), what, "rows")


count = 0
for letter in "bhilBHILefd":
    for byte_order in "<>" if letter in "lf" else "<":
        dtype = np.dtype(letter).newbyteorder(byte_order)
        for n in (0, 1, 10, 3001):
            if dtype.kind == "f":
                x = (4 * random.standard_normal(n)).round(1).astype(dtype)
                x[n // 2 :: 7] = np.nan
                x[n // 3 :: 5] = -0.0
            else:
                limits = np.iinfo(dtype)
                native = dtype.newbyteorder("=")
                x = random.integers(limits.min, limits.max, n, native, endpoint=True)
                x = (x % 7 if n == 10 else x).astype(dtype)
            check(x)
            count += 1
check_records()
for failure in failures:
    print(*failure)
print(count, "arrays,", len(failures), "failures")
sys.exit(bool(failures))
