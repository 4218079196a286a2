"""Sorts files that NumPy wrote, and compares the results with NumPy's; run by numpy.sh."""

import subprocess
import sys

import numpy as np

random = np.random.default_rng(5)
failures = []


def echelon(*words):
    return subprocess.run(["echelon", *words], check=True, stdout=subprocess.PIPE).stdout


def expect(truth, *what):
    if not truth:
        failures.append(what)


def check(array, version):
    what = (array.dtype.str, len(array), version)
    floats = array.dtype.kind == "f"
    with open("a.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    with open("a.npy", "rb") as file:
        header = file.read()[: -array.nbytes or None]
    in_order = np.sort(array, kind="stable")

    whole = echelon("sort", "a.npy", "-o", "o.npy")
    with open("o.npy", "rb") as file:
        whole = file.read()
    out = np.load("o.npy")
    expect(whole[: len(header)] == header, what, "header")
    expect(np.array_equal(out, in_order, equal_nan=floats), what, "values")
    bits = np.dtype("u%d" % array.itemsize)
    expect(np.array_equal(np.sort(out.view(bits)), np.sort(array.view(bits))), what, "bits")
    echelon("sort", "-c", "o.npy")

    echelon("sort", "-r", "a.npy", "-o", "r.npy")
    expect(np.array_equal(np.load("r.npy"), out[::-1], equal_nan=floats), what, "reverse")
    echelon("sort", "--argsort", "a.npy", "-o", "i.npy")
    expect(np.array_equal(np.load("i.npy"), np.argsort(array, kind="stable")), what, "argsort")
    unique, first = np.unique(array, return_index=True)
    echelon("sort", "-u", "a.npy", "-o", "u.npy")
    expect(np.array_equal(np.load("u.npy"), unique, equal_nan=floats), what, "unique")
    echelon("sort", "-u", "--argsort", "a.npy", "-o", "u.npy")
    index = np.load("u.npy")
    if floats:
        expect(np.array_equal(array[index], unique, equal_nan=True), what, "unique index")
    else:
        expect(np.array_equal(index, first), what, "unique index")


count = 0
for letter in "?bhilBHILefd":
    for byte_order in "<>":
        dtype = np.dtype(letter).newbyteorder(byte_order)
        for n in (0, 1, 2, 1000, 30011):
            if letter == "?":
                array = random.integers(0, 2, n).astype(dtype)
            else:
                array = np.frombuffer(random.bytes(n * dtype.itemsize), dtype=dtype)
            for version in ((1, 0), (2, 0), (3, 0)) if n == 2 else ((1, 0),):
                check(array, version)
                count += 1
for failure in failures:
    print(*failure)
print(count, "arrays,", len(failures), "failures")
sys.exit(bool(failures))
