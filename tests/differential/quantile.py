"""quantile.py - elements of given ranks, partitions around them and quantiles.

Elements and partitions follow from a stable argsort.  Quantiles are compared with numpy.quantile()
and numpy.nanquantile() of the same numbers as f64.

SPDX-License-Identifier: Apache-2.0
"""

import warnings

import numpy as np

from .case import operation
from .ordering import sort_order
from .values import INDICES

COVERS = ("ech_quantile_workspace", "ech_quantile_explain")
NTH, PARTITION, QUANTILES = 0, 1, 2  # ech_quantile_call
METHODS = ("linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
           "hazen", "weibull", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")
DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def make_options(t, call, n, count, dtype, **fields):
    options = t.struct("ech_quantile_options", **fields)
    plain = (call, n, count, dtype.code, t.address(options))
    options.algorithm = t.algorithm("ech_quantile_explain", *plain)
    for name, value in t.work("ech_quantile_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    return t.address(options)


def partition_order(order, ranks):
    """The positions of a partition: ascending between ranks."""
    found, begin = order.copy(), 0
    for rank in [*sorted(set(ranks)), len(order)]:
        found[begin:rank] = np.sort(found[begin:rank])
        begin = rank + 1
    return found


@operation("nth_element", "ech_nth_element", *COVERS)
def nth_element(t):
    dtype, n, index = t.dtype(), max(1, t.size()), t.pick(INDICES)
    a = t.data(dtype, n)
    rank = t.between(0, n - 1)
    at = sort_order(t, dtype, a, True, False, False, 0, 0)[rank]
    t.note(n=n, rank=rank, index=index)
    in_, value = t.put(a), t.out(1, dtype.storage)
    position = t.out(1, index.storage) if t.flag() else None
    t.call("ech_nth_element", in_.p, value.p, position.p if position else 0, n, rank, dtype.code, index.code,
           make_options(t, NTH, n, 1, dtype))
    t.same("value", value.a, a[at:at + 1])
    if position:
        t.equal("index", int(position.a[0]), int(at))


@operation("partition_at", "ech_partition_at", *COVERS)
def partition_at(t):
    dtype, n, index = t.dtype(), t.size(), t.pick(INDICES)
    a = t.data(dtype, n)
    count = t.pick([0, 1, 1, 2, 3, 16, 17, 127]) if n else 0
    ranks = np.array([t.between(0, n - 1) for _ in range(count)], np.uint64)
    order = partition_order(sort_order(t, dtype, a, True, False, False, 0, 0), [int(rank) for rank in ranks])
    t.note(n=n, count=count, index=index)
    in_ = t.put(a)
    out = t.out(n, dtype.storage) if t.flag(0.8) else None
    positions = t.out(n, index.storage) if out is None or t.flag() else None
    t.kept.append(ranks)
    t.call("ech_partition_at", in_.p, out.p if out else 0, positions.p if positions else 0, n, ranks.ctypes.data, count,
           dtype.code, index.code, make_options(t, PARTITION, n, count, dtype))
    if out:
        t.same("out", out.a, a[order])
    if positions:
        t.same("index", positions.a, order.astype(index.storage))


def numbers(dtype, a):
    """As f64; zeros are +0."""
    return dtype.value(a).astype(np.float64) + 0.0


@operation("quantiles", "ech_quantiles", "ech_quantile_dtype", *COVERS)
def quantiles(t):
    dtype, n, method, ignore = t.dtype(), max(1, t.size()), t.pick(METHODS), t.flag()
    a = t.data(dtype, n)
    exact = method in DISCRETE and dtype.kind != "f"
    x = a if exact else numbers(dtype, a)
    count = t.pick([1, 1, 2, 5, 16, 17, 300])
    q = np.array([t.pick([0, 1, t.between(0, n) / n, t.rng.random()]) for _ in range(count)], np.float64)
    result = t.lib.raw("ech_quantile_dtype", METHODS.index(method), dtype.code)
    t.equal("dtype", result, dtype.code if method in DISCRETE else 11)
    t.note(n=n, method=method, ignore=ignore, count=count)
    in_, out = t.put(a), t.out(count, dtype.storage if method in DISCRETE else np.float64)
    t.kept.append(q)
    t.call("ech_quantiles", in_.p, out.p, q.ctypes.data, n, count, dtype.code, METHODS.index(method),
           make_options(t, QUANTILES, n, count, dtype, nan=int(ignore)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            want = (np.nanquantile if ignore else np.quantile)(x, q, method=method)
    if exact:
        t.same("quantiles", out.a, want)
        return
    found = numbers(dtype, out.a) if method in DISCRETE else out.a
    # NumPy's differences may overflow, and it subtracts infinities.
    finite = x[np.isfinite(x)]
    wide = len(finite) and finite.max() / 2 - finite.min() / 2 > 8e307
    clear = np.isfinite(want) if wide or np.isinf(x).any() else np.ones(count, bool)
    want = np.where(np.isnan(want), np.nan, want + 0.0)
    t.same("quantiles", np.where(np.isnan(found), np.nan, found)[clear], want[clear])
    if dtype.kind == "f" and method in DISCRETE:
        nans = out.a.view(dtype.bits)[np.isnan(found)]
        t.true("a NaN is not canonical", (nans == dtype.nan).all())
