"""Functions whose result is computed from the elements: reductions, scans, histograms, quantiles.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math

import numpy as np

from .. import _arrays
from .._arrays.numpy_family import address
from .._ops.common import cast
from .._ops.histogram import Input, _edges, _ends, _is_integer, _number_of_bins
from .._ops.quantile import METHODS, _fractions
from .._ops.reduce import _ORDERED, Plan as ReducePlan, _as_planned, _converted, _scaled
from .._ops.scan import Plan as ScanPlan
from .._ops.time_keys import encoded, restored
from .._runtime import native
from .._runtime.arguments import choice, flag
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from ._call import Call, flat_view, place, view_of


def reduce(comm, op, x, /, *, dtype=None, ignore_nan=False, correction=0.0):
    """Reduce the array whose parts are on the ranks to one element.

    comm: a Communicator. op: "sum", "prod", "min", "max", "and", "or", "xor", "argmin", "argmax", "any", "all",
    "count_nonzero", "mean", "var", "std" or "norm". x: array of any shape, the part of this rank. dtype: of the result,
    as for echelon.sum(). ignore_nan: skip NaN. correction: of "var" and "std": the divisor is the number of elements
    minus this number.

    Returns the result on every rank, with the bits of the function of echelon with this name for the concatenation;
    positions count from the first element of rank 0.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: int(dist.reduce(comm, "sum", numpy.arange(4))), dist.from_threads(2))
    [12, 12]
    """
    return _reduce(comm, op, x, dtype, ignore_nan, correction)


def _reduce(comm, op, x, dtype=None, ignore_nan=False, correction=0.0):
    with Call(comm, op if isinstance(op, str) else "reduce") as call:
        view = view_of(x)
        job = call.job_of(view)
        view = _converted(job, op, view, dtype)
        nat_is_skipped = ignore_nan and op in _ORDERED
        is_encoded = view.kind == "time" and (op in ("max", "argmax")) != nat_is_skipped
        source = flat_view(job, encoded(job, view) if is_encoded else view)
        ddof, _ = _scaled(view.size, correction)
        plan = ReducePlan(op, view, dtype, ignore_nan, ddof)
        total = call.begin(view.size).total
        if total == 0 and op in _ORDERED:
            call.raise_agreed(ArgumentError(f"the {op} of no elements does not exist"))
        result = job.empty((), plan.computed, plan.kind, view)
        call.run("ech_dist_reduce", plan.op, place(source), place(result), view.size, source.code,
                 ctypes.byref(plan.options))
        if is_encoded and op in ("min", "max"):
            result = restored(job, result, view)
        if ignore_nan and op in ("min", "max") and view.is_float:
            _set_nan(call, job, result, source, total)
        if op in ("var", "std") and ignore_nan and view.is_float and _scaled(total, correction)[1] is not None:
            total -= _nan_count(call, job, source)
        factor = _scaled(total, correction)[1]
        if factor is not None:
            job.need_arithmetic()
            result = cast(job, result, c.ECH_F64)
            result = job.add(result.family.view(result.array * (factor if op == "var" else factor ** 0.5)))
        return job.finish(_as_planned(job, result, plan))


def _set_nan(call, job, result, source, total):
    """If all elements are NaN, the minimum is NaN, as in NumPy; the library returns an infinity."""
    if _nan_count(call, job, source) == total:
        result.array[()] = math.nan


def _nan_count(call, job, source):
    """The number of NaN on all ranks."""
    counted = job.empty((), c.ECH_I64)
    options = native.struct(c.ech_reduce_options, compare=c.ECH_COMPARE_IS_NAN)
    call.run("ech_dist_reduce", c.ECH_OP_COUNT, place(source), place(counted), source.size, source.code,
             ctypes.byref(options))
    return int(job.to_numpy(counted))


def sum(comm, x, /, *, dtype=None):
    """Return the sum of the array whose parts are on the ranks.

    comm: a Communicator. x: array of any shape, the part of this rank. dtype: as for echelon.sum().

    Returns the result on every rank. The bits of a sum of floats do not depend on the number of ranks.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: float(dist.sum(comm, numpy.full(2, 0.5))), dist.from_threads(2))
    [2.0, 2.0]
    """
    return _reduce(comm, "sum", x, dtype)


def min(comm, x, /):
    """Return the minimum of the array whose parts are on the ranks: NaN if there is a NaN.

    comm: a Communicator. x: array of any shape, the part of this rank, which may be empty if another one is not.

    Returns the result on every rank.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: int(dist.min(comm, numpy.arange(comm.rank))), dist.from_threads(3))
    [0, 0, 0]
    """
    return _reduce(comm, "min", x)


def max(comm, x, /):
    """Return the maximum of the array whose parts are on the ranks: NaN if there is a NaN.

    comm and x: as for min().

    Returns the result on every rank.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: int(dist.max(comm, numpy.arange(comm.rank))), dist.from_threads(3))
    [1, 1, 1]
    """
    return _reduce(comm, "max", x)


def mean(comm, x, /, *, dtype=None):
    """Return the arithmetic mean of the array whose parts are on the ranks.

    comm: a Communicator. x: array of any shape, the part of this rank. dtype: as for echelon.mean().

    Returns the result on every rank.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: float(dist.mean(comm, numpy.array([comm.rank]))), dist.from_threads(2))
    [0.5, 0.5]
    """
    return _reduce(comm, "mean", x, dtype)


def var(comm, x, /, *, correction=0.0, dtype=None):
    """Return the variance of the array whose parts are on the ranks.

    comm: a Communicator. x: array of any shape, the part of this rank. correction and dtype: as for echelon.var().

    Returns the result on every rank.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: float(dist.var(comm, numpy.array([comm.rank]))), dist.from_threads(2))
    [0.25, 0.25]
    """
    return _reduce(comm, "var", x, dtype, correction=correction)


def scan(comm, x, /, op="sum", *, exclusive=False, reverse=False, init=None, ignore_nan=False, dtype=None):
    """Combine each element of the array whose parts are on the ranks with all elements before it.

    comm: a Communicator. x: [n], the part of this rank. op, exclusive, reverse, init, ignore_nan and dtype: as for
    echelon.scan(); init precedes the first element of all ranks.

    Returns an array [n] for the elements of this rank.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: dist.scan(comm, numpy.array([1, 2])).tolist(), dist.from_threads(2))
    [[1, 3], [4, 6]]
    """
    with Call(comm, "scan") as call:
        view = view_of(x)
        if view.ndim != 1:
            raise ArgumentError(f"x has {view.ndim} dimensions, but must have one")
        job = call.job_of(view)
        plan = ScanPlan(job, op, view, dtype, False, exclusive=flag(exclusive, "exclusive"),
                        reverse=flag(reverse, "reverse"), nan=flag(ignore_nan, "ignore_nan"))
        plan.set_init(init)
        source = job.contiguous(plan.source)
        call.begin(view.size)
        target = job.empty(view.shape, plan.code, plan.kind, view)
        call.run("ech_dist_scan", plan.op, place(source), place(target), view.size, source.code,
                 ctypes.byref(plan.options))
        return job.finish(target)


class _Input(Input):
    """The elements and weights of a histogram of a communicator."""

    def __init__(self, call, x, weights):
        view = view_of(x)
        if view.kind == "time":
            raise DTypeError(f"x has dtype {view.dtype}, which histograms do not support")
        self.job = call.job_of(view)
        self.view = self.flat(view)
        self.weights, self.counts = None, c.ECH_I64
        if weights is not None:
            self.set_weights(self.job.view(weights, "weights"), view.shape)
            if self.weights.is_float:
                raise DTypeError(f"weights has dtype {self.weights.dtype}, but must have integers")

    def options(self, **fields):
        weights = {} if self.weights is None else {"weights": place(self.weights), "weights_dtype": self.weights.code}
        return native.struct(c.ech_histogram_options, **weights, **fields)


def histogram(comm, x, /, bins=10, range=None, *, weights=None):
    """Count the elements in each of several bins, for the array whose parts are on the ranks.

    comm: a Communicator. x: array of any shape, the part of this rank. bins: the number of bins, or an array of edges,
    the same on all ranks. range: as for echelon.histogram(), by default the minimum and the maximum of all ranks.
    weights: None on all ranks, or integers of the shape of x.

    Returns (counts, edges) on every rank.

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> dist.histogram(comm, numpy.array([1, 2, 2, 5]), bins=2, range=(1, 5))[0]
    array([3, 1])
    """
    with Call(comm, "histogram") as call:
        data = _Input(call, x, weights)
        job, options = data.job, data.options(include_right=1)
        if isinstance(bins, str):
            raise DTypeError(f"bins is {bins!r}: compute the edges with numpy.histogram_bin_edges()")
        if getattr(bins, "ndim", 0) == 0 and not isinstance(bins, (list, tuple)):
            number, limits = _number_of_bins(bins), None if range is None else _pair(range)
            lower, upper = _limits(call, data, call.begin(data.view.size).total, limits)
            if not _is_integer(lower, upper):
                data.as_floats()
            counts, edges = job.empty((number,), data.counts), np.linspace(lower, upper, number + 1)
            call.run("ech_dist_histogram", place(data.view), place(counts), data.view.size, data.view.code, number,
                     lower, upper, ctypes.byref(options))
        else:
            edges = np.array(_edges(bins, job))
            places = _fitting(data, edges)
            call.begin(data.view.size)
            counts = job.empty((len(edges) - 1,), data.counts)
            call.run("ech_dist_histogram_edges", place(data.view), places.pointer, place(counts), data.view.size,
                     data.view.code, len(edges) - 1, ctypes.byref(options))
        return job.finish(counts), job.finish(job.from_numpy(edges))


def _pair(limits):
    """The ends of the bins."""
    try:
        lower, upper = (float(v) for v in limits)
    except (TypeError, ValueError, OverflowError):
        raise DTypeError(f"range is {limits!r}, but must be a pair of numbers") from None
    if not lower <= upper or math.isinf(upper - lower):
        raise ArgumentError(f"range is ({lower}, {upper}), but must be two finite numbers in ascending order")
    return lower, upper


def _limits(call, data, total, limits):
    """The ends of the bins, as numpy.histogram() chooses them."""
    job, view = data.job, data.view
    lower, upper = limits or (0.0, 1.0)
    if limits is None and total:
        found = job.empty((2,), view.code)
        call.run("ech_dist_reduce", c.ECH_OP_MINMAX, place(view), place(found), view.size, view.code, None)
        if _arrays.NAMES[view.code] == "bfloat16":
            found = cast(job, found, c.ECH_F32)
        lower, upper = _ends(*job.to_numpy(found).tolist())
        if not (math.isfinite(lower) and math.isfinite(upper)):
            call.raise_agreed(ArgumentError(f"the bins would range from {lower} to {upper}: state a finite range"))
    return (lower - 0.5, upper + 0.5) if lower == upper else (lower, upper)


def _fitting(data, edges):
    """The View of edges in the dtype of the elements, which become float64 if that cannot represent the edges."""
    name = _arrays.NAMES[data.view.code]
    if name == "bfloat16" or not np.array_equal(edges.astype(name).astype("float64"), edges.astype("float64")):
        data.view, name = data.cast(data.view, c.ECH_F64), "float64"
    return _arrays.view(np.ascontiguousarray(edges, name), "bins")


def quantile(comm, x, q, /, *, method="linear", ignore_nan=False):
    """Compute quantiles of the array whose parts are on the ranks.

    comm: a Communicator. x: array of any shape, the part of this rank. q: a number from 0 to 1, or an array of them of
    any shape, in host memory, the same on all ranks. method: as for echelon.quantile(). ignore_nan: skip NaN;
    otherwise the result is NaN if there is one.

    Returns an array with the shape of q on every rank.

    >>> import numpy
    >>> from echelon import dist
    >>> dist.run(lambda comm: float(dist.quantile(comm, numpy.array([comm.rank]), 0.5)), dist.from_threads(3))
    [1.0, 1.0, 1.0]
    """
    with Call(comm, "quantile") as call:
        view = view_of(x)
        if view.kind == "time":
            raise DTypeError(f"x has dtype {view.dtype}, which quantile() of several ranks does not support")
        job, number = call.job_of(view), choice(method, METHODS, "method")
        fractions, source = _fractions(q, "q", 1), flat_view(job, view)
        options = native.struct(c.ech_quantile_options,
                                nan=c.ECH_NAN_IGNORE if flag(ignore_nan, "ignore_nan") else 0)
        code = native.functions.ech_quantile_dtype(number, view.code)
        total = call.begin(view.size).total
        if total == 0 and code < c.ECH_F16:
            call.raise_agreed(ArgumentError(f"the array has no elements, and {view.dtype} cannot represent NaN"))
        values = fractions.reshape(-1)
        result = job.empty(fractions.shape, code, "bool" if view.kind == "bool" and code == view.code else "", view)
        if values.size:
            call.run("ech_dist_quantiles", place(source), place(result), address(values), view.size, values.size,
                     view.code, number, ctypes.byref(options))
        return job.finish(cast(job, result, view.code) if view.is_float else result)
