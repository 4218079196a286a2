"""sets.py - union, intersection and differences of sorted arrays: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .ordering import sort_order

NAMES = ("union", "intersection", "difference", "symmetric")


def kept(name, m, n):
    """The ranges that are in the result, as (first, end), of m equal elements of a and of n of b."""
    return {"union": ((0, m), (min(m, n), n)), "intersection": ((0, min(m, n)), (n, n)),
            "difference": ((min(m, n), m), (n, n)), "symmetric": ((min(m, n), m), (min(m, n), n))}[name]


def runs(group, count):
    """How often each group occurs, and where it begins.  Equal numbers are adjacent."""
    begins = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]])) if len(group) else np.zeros(0, np.int64)
    starts = np.zeros(count, np.int64)
    starts[group[begins]] = begins
    return np.bincount(group, minlength=count), starts


def positions(name, key_a, key_b, descending):
    """The positions of the result in the two arrays, one after the other.  Equal elements have equal keys."""
    values, group = np.unique(np.concatenate([key_a, key_b]), return_inverse=True)
    (m, first_a), (n, first_b) = (runs(part, len(values)) for part in (group[:len(key_a)], group[len(key_a):]))
    found = [np.zeros(0, np.int64)]
    for v in range(len(values))[::-1 if descending else 1]:
        (low, high), (from_b, to_b) = kept(name, int(m[v]), int(n[v]))
        found.append(np.arange(first_a[v] + low, first_a[v] + high))
        found.append(len(key_a) + np.arange(first_b[v] + from_b, first_b[v] + to_b))
    return np.concatenate(found)


def combined(name, a, b, key_a, key_b, descending):
    return np.concatenate([a, b])[positions(name, key_a, key_b, descending)]


@operation("set", "ech_set_operation", "ech_set_operation_pairs", "ech_set_operation_workspace",
           "ech_set_operation_explain", weight=2)
def set_operation(t):
    dtype, sizes, code = t.dtype(), (t.size(5000), t.size(5000)), t.between(0, 3)
    size = t.pick([0, 0, 1, 2, 4, 8, 16, t.between(1, 40)])
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3))}
    t.note(sizes=sizes, operation=NAMES[code], value_bytes=size, **fields)
    keys = []
    for n in sizes:
        k = t.data(dtype, n)
        if keys and len(keys[0]) and n and t.flag():
            k = np.where(t.rng.random(n) < 0.5, t.rng.choice(keys[0], n), k).astype(k.dtype)
        keys.append(k[sort_order(t, dtype, k, True, fields["order"], fields["descending"], 0, 0)])
    contents = [np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size) for n in sizes]
    options = t.struct("ech_set_options", **fields)
    plain = (*sizes, code, dtype.code, size, t.address(options))
    options.algorithm = t.algorithm("ech_set_operation_explain", *plain)
    for name, value in t.work("ech_set_operation_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    ranks = [dtype.rank(k, total=fields["order"], collapse=True) for k in keys]
    at = positions(NAMES[code], *ranks, fields["descending"])
    room = (sum(sizes), min(sizes), sizes[0], sum(sizes))[code]
    out, count = t.out(room, dtype.storage), t.out(1, np.uint64)
    a, b = (t.put(k).p for k in keys)
    last = (*sizes, code, dtype.code)
    if size:
        values = t.out((room, size), np.uint8)
        a_values, b_values = (t.put(v).p for v in contents)
        t.call("ech_set_operation_pairs", a, a_values, b, b_values, out.p, values.p, count.p, *last, size,
               t.address(options))
        t.same("values", values.a[:len(at)], np.concatenate(contents)[at])
    else:
        t.call("ech_set_operation", a, b, out.p, count.p, *last, t.address(options))
    t.equal("count", int(count.a[0]), len(at))
    t.same("keys", out.a[:len(at)], np.concatenate(keys)[at])
