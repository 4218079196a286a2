"""unique.py - distinct elements of unsorted arrays, and the mode: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .groups import pointer
from .ordering import sort_order
from .values import INDICES

COVERS = ("ech_unique_workspace", "ech_unique_explain")
ALL, MODE = 0, 2  # ech_unique_call


def make_options(t, call, n, dtype, **fields):
    options = t.struct("ech_unique_options", **fields)
    plain = (call, n, dtype.code, t.address(options))
    t.lib.explain("ech_unique_explain", t.device.encode(), *plain)
    for name, value in t.work("ech_unique_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    return t.address(options)


def runs_of(t, dtype, a):
    """The positions in order, and where the runs of equal elements begin in it."""
    order = sort_order(t, dtype, a, True, False, False, 0, 0)
    key = dtype.equal_key(a)[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(a) else np.zeros(0, int)
    return order, starts


@operation("unique_all", "ech_unique_all", *COVERS)
def unique_all(t):
    dtype, n, index, appearance = t.dtype(), t.size(), t.pick(INDICES), t.flag()
    a = t.data(dtype, n)
    order, starts = runs_of(t, dtype, a)
    first, counts = order[starts], np.diff(np.append(starts, n))
    inverse = np.empty(n, int)
    inverse[order] = np.repeat(np.arange(len(starts)), counts)
    if appearance:
        by = np.argsort(first)
        place = np.empty(len(by), int)
        place[by] = np.arange(len(by))
        first, counts, inverse = first[by], counts[by], place[inverse]
    t.note(n=n, index=index, appearance=appearance)
    names = ("values", "first", "inverse", "counts")
    wanted = (a[first], first.astype(index.storage), inverse.astype(index.storage), counts.astype(np.uint64))
    outputs = [t.out(n, want.dtype) if t.flag(0.7) else None for want in wanted]
    count, in_ = t.out(1, np.uint64), t.put(a)
    options = make_options(t, ALL, n, dtype, appearance=int(appearance))
    t.call("ech_unique_all", in_.p, *(pointer(out) for out in outputs), count.p, n, dtype.code, index.code, options)
    t.equal("count", int(count.a[0]), len(starts))
    for name, out, want in zip(names, outputs, wanted):
        if out is not None:
            t.same(name, out.a[:len(want)], want)


@operation("mode", "ech_mode", *COVERS)
def mode(t):
    dtype, n = t.dtype(), t.size()
    a = t.data(dtype, n)
    order, starts = runs_of(t, dtype, a)
    counts = np.diff(np.append(starts, n))
    t.note(n=n)
    value, count, in_ = t.out(min(n, 1), dtype.storage), t.out(1, np.uint64), t.put(a)
    t.call("ech_mode", in_.p, value.p, count.p, n, dtype.code, make_options(t, MODE, n, dtype))
    t.equal("count", int(count.a[0]), int(counts.max()) if n else 0)
    if n:
        t.same("value", value.a, a[order[starts[np.argmax(counts)]]][None])
