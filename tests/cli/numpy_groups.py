"""Compares reduce --by and quantile --by of structured arrays with NumPy, for all types of numbers and keys.

SPDX-License-Identifier: Apache-2.0
"""
import json
import subprocess

import numpy as np

TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
KEYS = ["i2", "u4", "i8", "f4", "f8", "S4", ">i4", ">f8"]
EXACT = ["size", "min", "max", "argmin", "argmax", "count"]
BITS = ["sum", "product", "and", "or", "xor"]
FAILED = []


def make_array(rng, key_type, value_type):
    """Return records with few keys, among them NaN and -0, and arbitrary values."""
    n = int(rng.integers(1, 300))
    array = np.zeros(n, dtype=[("k", key_type), ("v", value_type)])
    keys = rng.integers(-5, 6, n)
    if key_type[0] == "S":
        array["k"] = [b"abcd"[:abs(key) % 5] for key in keys]
    else:
        array["k"] = abs(keys) if key_type[0] == "u" else keys
    if key_type[-2] == "f":
        array["k"][rng.random(n) < 0.2] = np.nan
        array["k"][rng.random(n) < 0.1] = -0.0
    if value_type[0] == "f":
        array["v"] = rng.normal(size=n)
        array["v"][rng.random(n) < 0.05] = np.nan
    else:
        info = np.iinfo(value_type)
        array["v"] = rng.integers(info.min, info.max, n, dtype=value_type, endpoint=True)
    return array


def find_groups(keys):
    """Return the positions of each distinct key, in ascending order with NaN last."""
    if keys.dtype.kind == "S":
        return [np.nonzero(keys == key)[0] for key in sorted(set(keys.tolist()))]
    return [np.nonzero((keys == key) | ((keys != keys) & (key != key)))[0] for key in np.unique(keys)]


def echelon(*words):
    """Return the groups that the command prints."""
    words = ["echelon", *words, "--by", "k", "-k", "v", "--json", "a.npy"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["groups"]


def expected(array, rows):
    """Return the exact results of a group."""
    values = array["v"][rows]
    key = array["k"][rows[0]]
    results = {
        "key": [key.decode() if array["k"].dtype.kind == "S" else key], "size": len(rows), "min": values.min(),
        "max": values.max(), "argmin": rows[values.argmin()], "argmax": rows[values.argmax()],
        "count": np.count_nonzero(values)
    }
    if values.dtype.kind != "f":
        wide = np.int64 if values.dtype.kind == "i" else np.uint64
        results.update(sum=values.astype(wide).sum(), product=values.astype(wide).prod())
        results.update({"and": np.bitwise_and.reduce(values), "or": np.bitwise_or.reduce(values)})
        results["xor"] = np.bitwise_xor.reduce(values)
    return results


def same(got, want):
    """Return whether a number of JSON, in which NaN is null, is this number, in its own type."""
    if isinstance(want, str):
        return got == want
    if want != want:
        return got is None
    return got is not None and type(want)(got) == want


def check(what, good):
    """Record a difference."""
    if not good:
        FAILED.append(what)
        print("different:", what)


def check_groups(rng, key_type, value_type):
    """Compare all results of one array."""
    name = "%s by %s" % (value_type, key_type)
    array = make_array(rng, key_type, value_type)
    np.save("a.npy", array)
    groups = find_groups(array["k"])
    operations = EXACT + (BITS if value_type[0] != "f" else [])
    found = echelon("reduce", ",".join(operations))
    check(name, len(found) == len(groups))
    for rows, got in zip(groups, found):
        want = expected(array, rows)
        check(name, same(got["key"][0], want["key"][0]))
        for operation in operations:
            check(name + ": " + operation, same(got[operation], want[operation]))
    for rows, got in zip(groups, echelon("quantile", "-q", "0.1,0.5")):
        for q, want in zip((0.1, 0.5), np.quantile(array["v"][rows].astype("f8"), (0.1, 0.5))):
            value = got["q%g" % q]
            check(name + ": quantile", np.isclose(np.nan if value is None else value, want, rtol=1e-13, equal_nan=True))


def main():
    """Compare every type of numbers with two types of keys."""
    rng = np.random.default_rng(7)
    for i, value_type in enumerate(TYPES):
        for key_type in (KEYS[i % len(KEYS)], KEYS[(i + 3) % len(KEYS)]):
            check_groups(rng, key_type, value_type)
    print("different" if FAILED else "same")


main()
