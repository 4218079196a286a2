"""search.py - positions in sorted arrays, and merges of sorted runs: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .ordering import sort_order
from .values import INDICES


@operation("search", "ech_lower_bound", "ech_upper_bound", "ech_search_workspace", "ech_search_explain", weight=2)
def search(t):
    dtype, n, m, index = t.dtype(), t.size(huge=1_000_000), t.size(), t.pick(INDICES)
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3)), "needles_sorted": int(t.flag())}
    upper, in_order = t.flag(), t.flag()
    t.note(n=n, m=m, index=index, upper=upper, in_order=in_order, **fields)

    def ordered(keys):
        return keys[sort_order(t, dtype, keys, True, fields["order"], fields["descending"], 0, 0)]

    array, needles = ordered(t.data(dtype, n)), t.data(dtype, m)
    if m and n and t.flag():
        needles = np.where(t.rng.integers(0, 2, m).astype(bool), needles, array[t.rng.integers(0, n, m)])
    if in_order:
        needles = ordered(needles)
    options = t.struct("ech_search_options", **fields)
    plain = (int(upper), n, m, dtype.code, t.address(options))
    options.algorithm = t.algorithm("ech_search_explain", *plain)
    for name, value in t.work("ech_search_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    ranks = [dtype.rank(keys, total=fields["order"], collapse=True) for keys in (array, needles)]
    if fields["descending"]:
        ranks = [~rank for rank in ranks]
    wanted = np.searchsorted(*ranks, side="right" if upper else "left")
    out = t.out(m, index.storage)
    t.call("ech_upper_bound" if upper else "ech_lower_bound", t.put(array).p, t.put(needles).p, out.p, n, m, dtype.code,
           index.code, t.address(options))
    t.same("positions", out.a, wanted.astype(index.storage))


@operation("merge_many", "ech_merge_many", "ech_merge_many_pairs", "ech_merge_many_workspace",
           "ech_merge_many_explain")
def merge_many(t):
    dtype, n, index = t.dtype(), t.size(huge=1_000_000), t.pick(INDICES)
    runs = t.pick([1, 2, 3, t.between(1, 20), t.between(1, 600)])
    size = t.pick([0, 0, 4, 8, t.between(1, 40)])
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3))}
    t.note(n=n, runs=runs, index=index, value_bytes=size, **fields)

    def order_of(keys):
        return sort_order(t, dtype, keys, True, fields["order"], fields["descending"], 0, 0)

    offsets = np.concatenate([[0], np.sort(t.rng.integers(0, n + 1, runs - 1)), [n]]).astype(index.storage)
    keys = t.data(dtype, n)
    for begin, end in zip(offsets[:-1].astype(int), offsets[1:].astype(int)):
        keys[begin:end] = keys[begin:end][order_of(keys[begin:end])]
    contents = np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size)
    options = t.struct("ech_merge_options", **fields)
    plain = (n, runs, dtype.code, size, t.address(options))
    if size or fields["order"]:
        options.algorithm = t.algorithm("ech_merge_many_explain", *plain)
    for name, value in t.work("ech_merge_many_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    order, in_, at = order_of(keys), t.put(keys).p, t.put(offsets).p
    out, last = t.out(n, dtype.storage), (n, runs, dtype.code)
    if size:
        values = t.out((n, size), np.uint8)
        t.call("ech_merge_many_pairs", in_, t.put(contents).p, at, out.p, values.p, *last, size, index.code,
               t.address(options))
        t.same("values", values.a, contents[order])
    else:
        t.call("ech_merge_many", in_, at, out.p, *last, index.code, t.address(options))
    t.same("keys", out.a, keys[order])
