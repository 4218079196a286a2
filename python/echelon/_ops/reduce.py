"""Reductions of arrays along axes, of segments and of runs of equal keys.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math
import numbers

from .. import _arrays
from .._arrays.layout import last_axes, with_ones
from .._arrays.view import dtype_name
from .._runtime import native
from .._runtime.arguments import choice, flag, integer, number
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .common import cast
from .sort import one_dimension, same_length, segments_of
from .time_keys import encoded, restored

OPS = {"sum": c.ECH_OP_SUM, "prod": c.ECH_OP_PRODUCT, "min": c.ECH_OP_MIN, "max": c.ECH_OP_MAX, "and": c.ECH_OP_AND,
       "or": c.ECH_OP_OR, "xor": c.ECH_OP_XOR, "argmin": c.ECH_OP_ARGMIN, "argmax": c.ECH_OP_ARGMAX,
       "any": c.ECH_OP_ANY, "all": c.ECH_OP_ALL, "count_nonzero": c.ECH_OP_COUNT, "mean": c.ECH_OP_MEAN,
       "var": c.ECH_OP_VARIANCE, "std": c.ECH_OP_STDDEV, "norm": c.ECH_OP_NORM}
_ORDERED = ("min", "max", "argmin", "argmax")
_SAME_DTYPE = ("sum", "prod", "mean", "var", "std", "norm")  # of floats, unless dtype states another one
_POSITIONS = ("argmin", "argmax", "count_nonzero")


class Plan:
    """The dtypes of a reduction: what the library computes, and what is returned."""

    def __init__(self, op, view, dtype=None, ignore_nan=False, correction=0, argument="x"):
        self.op, self.view = choice(op, OPS, "op"), view
        if view.kind == "time" and op not in _ORDERED:
            raise DTypeError(f"{argument} has dtype {view.dtype}, which {op}() does not support")
        if view.kind == "bool" and op in ("and", "min"):
            op, self.op = "all", c.ECH_OP_ALL  # its identity element is a bool, in contrast to that of bytes
        self.code = None if dtype is None else _arrays.code_of(dtype_name(dtype), "dtype")
        self.wide = self.code == c.ECH_F64 and view.code in (c.ECH_F16, c.ECH_BF16, c.ECH_F32)
        self.options = native.struct(c.ech_reduce_options, accumulate_wide=int(self.wide), ddof=correction,
                                     nan=flag(ignore_nan, "ignore_nan"))
        computed = native.functions.ech_reduce_dtype(self.op, view.code, int(self.wide))
        if computed < 0:
            raise DTypeError(f"{argument} has dtype {view.dtype}, which {op}() does not support")
        self.kind = ""
        if op in ("any", "all"):
            self.kind = "bool"
        elif op in ("min", "max", "and", "or", "xor"):
            self.kind = view.kind
        elif op in _POSITIONS or view.kind == "bool" and computed == c.ECH_U64:
            computed = c.ECH_I64  # positions and counts are below 2^63
        self.computed = computed
        if self.code is None:
            small = op in _SAME_DTYPE and view.code in (c.ECH_F16, c.ECH_BF16)
            self.code = view.code if small else computed


def _converted(job, name, view, dtype):
    """The View, as floats if dtype is a floating-point type, and as integers of dtype if it is one, for sums."""
    if dtype is None or not isinstance(name, str) or name not in ("sum", "prod") or view.kind == "time":
        return view
    code = _arrays.code_of(dtype_name(dtype), "dtype")
    if (code >= c.ECH_F16) == view.is_float:
        return view
    return cast(job, view, code if view.is_float else c.ECH_F64)


def _scaled(n, correction):
    """ddof, and the factor of the variance if correction is neither 0 nor 1."""
    if not isinstance(correction, numbers.Real) or correction != correction:
        raise DTypeError(f"correction is {correction!r}, but must be a number")
    correction = number(correction, "correction")
    if correction in (0, 1):
        return int(correction), None
    return 0, (n / (n - correction) if n > correction else math.nan)


def _reduce(name, x, axis, keepdims, out, dtype=None, ignore_nan=False, correction=0):
    view = _arrays.view(x, nulls="error" if name in ("argmin", "argmax") else "skip")
    job = Job(view)
    view = _converted(job, name, view, dtype)
    nat_is_skipped = ignore_nan and name in _ORDERED  # encoded NaT are the maximum, otherwise the minimum
    source = encoded(job, view) if (name in ("max", "argmax")) != nat_is_skipped else view
    ordered, kept, reduced = last_axes(job, source, axis)
    n = math.prod(reduced)
    rows = math.prod(kept)
    ddof, factor = _scaled(n, correction)
    plan = Plan(name, view, dtype, ignore_nan, ddof)
    if n == 0 and name in _ORDERED and rows:
        raise ArgumentError(f"x has shape {view.shape}: the {name} of no elements does not exist")
    shape = with_ones(view.shape, axis) if flag(keepdims, "keepdims") else kept
    target = None if out is None else job.output(out, shape, plan.code, plan.kind, view)
    direct = target is not None and target.contiguous and plan.code == plan.computed and factor is None
    result = target if direct else job.empty(shape, plan.computed, plan.kind, view)
    if rows:
        job.call("ech_reduce_rows", plan.op, ordered.pointer, result.pointer, rows, n, view.code,
                 ctypes.byref(plan.options))
    if source is not view and name in ("min", "max"):
        result = restored(job, result, view)
    if ignore_nan and name in ("min", "max") and view.is_float:
        _nan_where_empty(job, result, ordered, rows, n)
    if factor is not None:
        job.need_arithmetic()
        if ignore_nan and view.is_float:
            factor = _factors(job, ordered, rows, n, correction).reshape(result.shape)
        result = cast(job, result, c.ECH_F64)
        result = job.add(result.family.view(result.array * (factor if name == "var" else factor ** 0.5)))
    result = _as_planned(job, result, plan)
    return job.finish(result) if out is None else job.finish(target, out, result)


def _nan_where_empty(job, result, source, rows, n):
    """Rows that contain only NaN have the minimum NaN, as in NumPy; the library returns an infinity."""
    job.need_arithmetic()
    result.array[_nan_counts(job, source, rows, n).array.reshape(result.shape) == n] = math.nan


def _nan_counts(job, source, rows, n):
    """The number of NaN in each of the rows, [rows] of i64."""
    counts = job.empty((rows,), c.ECH_I64)
    options = native.struct(c.ech_reduce_options, compare=c.ECH_COMPARE_IS_NAN)
    if rows:
        job.call("ech_reduce_rows", c.ECH_OP_COUNT, source.pointer, counts.pointer, rows, n, source.code,
                 ctypes.byref(options))
    return counts


def _factors(job, source, rows, n, correction):
    """The factor of the variance of each row, as _scaled() computes it, from its number of elements without NaN."""
    kept = n - cast(job, _nan_counts(job, source, rows, n), c.ECH_F64).array
    divisors = kept - float(correction)
    divisors[divisors <= 0] = math.nan
    return kept / divisors


@operation
def sum(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """Return the sum of the elements along axes.

    x: array of any shape. axis: an axis, a tuple of axes, or None for all. dtype: of the result; by default int64 for
    bool and signed integers and uint64 for unsigned ones (modulo 2^64), otherwise the dtype of x. float64 also selects
    the type in which float32, float16 and bfloat16 are added. Integers are converted before they are added if dtype is
    a floating-point type, and floats if it is an integer type. keepdims: reduced axes remain with length 1. out: array
    of the shape and dtype of the result, which receives it.

    Floats are added in an order that depends only on the shape: the bits of a sum are the same on every device and
    with any number of threads. Raises ArgumentError for an invalid axis or out, and DTypeError for an unsupported
    dtype. The sum of no elements is 0. Nulls of a column of pandas, polars or Arrow are skipped.

    >>> import echelon, numpy
    >>> int(echelon.sum(numpy.array([[1, 2], [3, 4]])))
    10
    >>> echelon.sum(numpy.array([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    """
    return _reduce("sum", x, axis, keepdims, out, dtype)


@operation
def prod(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """Return the product of the elements along axes.

    x, axis, dtype, keepdims, out: as for sum(). The product of no elements is 1.

    >>> import echelon, numpy
    >>> int(echelon.prod(numpy.array([2, 3, 4])))
    24
    """
    return _reduce("prod", x, axis, keepdims, out, dtype)


@operation
def min(x, /, *, axis=None, keepdims=False, out=None):
    """Return the minimum along axes: NaN if there is a NaN, NaT if there is a NaT.

    x, axis, keepdims, out: as for sum(); the result has the dtype of x. Raises ArgumentError if there are no elements.

    >>> import echelon, numpy
    >>> float(echelon.min(numpy.array([2.0, -1.0])))
    -1.0
    """
    return _reduce("min", x, axis, keepdims, out)


@operation
def max(x, /, *, axis=None, keepdims=False, out=None):
    """Return the maximum along axes: NaN if there is a NaN, NaT if there is a NaT.

    x, axis, keepdims, out: as for min(). Raises ArgumentError if there are no elements.

    >>> import echelon, numpy
    >>> echelon.max(numpy.array([[1, 5], [3, 2]]), axis=1)
    array([5, 3])
    """
    return _reduce("max", x, axis, keepdims, out)


@operation
def argmin(x, /, *, axis=None, keepdims=False, out=None):
    """Return the position (int64) of the first minimum, along an axis or in the flattened array.

    x, keepdims, out: as for sum(). axis: an axis; None, the default, uses the flattened array. A NaN or NaT counts as
    the minimum. Raises ArgumentError if there are no elements, and DTypeError for several axes.

    >>> import echelon, numpy
    >>> int(echelon.argmin(numpy.array([3, 1, 1])))
    1
    """
    return _arg("argmin", x, axis, keepdims, out)


@operation
def argmax(x, /, *, axis=None, keepdims=False, out=None):
    """Return the position (int64) of the first maximum, along an axis or in the flattened array.

    x, axis, keepdims, out: as for argmin(). A NaN or NaT counts as the maximum.

    >>> import echelon, numpy
    >>> echelon.argmax(numpy.array([[1, 5], [3, 2]]), axis=1)
    array([1, 0])
    """
    return _arg("argmax", x, axis, keepdims, out)


def _arg(name, x, axis, keepdims, out):
    if isinstance(axis, (tuple, list)):
        raise DTypeError(f"axis is {axis}, but {name}() accepts an integer or None")
    return _reduce(name, x, axis, keepdims, out)


@operation
def mean(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """Return the arithmetic mean along axes, computed in float64 and rounded once.

    x, axis, dtype, keepdims, out: as for sum(). The result has the dtype of x for floats, and float64 otherwise, unless
    dtype states another one. The mean of no elements is NaN.

    >>> import echelon, numpy
    >>> float(echelon.mean(numpy.array([1, 2])))
    1.5
    """
    return _reduce("mean", x, axis, keepdims, out, dtype)


@operation
def var(x, /, *, axis=None, correction=0.0, dtype=None, keepdims=False, out=None):
    """Return the variance along axes: the squared deviations from the mean, divided by n - correction.

    x, axis, dtype, keepdims, out: as for mean(). correction: a number, 1 for a sample. If n is at most correction, the
    result is NaN.

    >>> import echelon, numpy
    >>> float(echelon.var(numpy.array([1.0, 2.0, 3.0]), correction=1))
    1.0
    """
    return _reduce("var", x, axis, keepdims, out, dtype, correction=correction)


@operation
def std(x, /, *, axis=None, correction=0.0, dtype=None, keepdims=False, out=None):
    """Return the standard deviation along axes: the square root of the variance.

    x, axis, correction, dtype, keepdims, out: as for var().

    >>> import echelon, numpy
    >>> float(echelon.std(numpy.array([1.0, 3.0])))
    1.0
    """
    return _reduce("std", x, axis, keepdims, out, dtype, correction=correction)


@operation
def norm(x, /, *, axis=None, keepdims=False, out=None):
    """Return the Euclidean norm along axes: the square root of the sum of squares, computed in float64.

    x, axis, keepdims, out: as for sum(). The result has the dtype of x for floats, and float64 otherwise.

    >>> import echelon, numpy
    >>> float(echelon.norm(numpy.array([3.0, 4.0])))
    5.0
    """
    return _reduce("norm", x, axis, keepdims, out)


@operation
def any(x, /, *, axis=None, keepdims=False, out=None):
    """Return, as bool, whether any element along axes is not zero. NaN is not zero.

    x, axis, keepdims, out: as for sum(). The result for no elements is False.

    >>> import echelon, numpy
    >>> bool(echelon.any(numpy.array([0, 2])))
    True
    """
    return _reduce("any", x, axis, keepdims, out)


@operation
def all(x, /, *, axis=None, keepdims=False, out=None):
    """Return, as bool, whether all elements along axes are not zero.

    x, axis, keepdims, out: as for sum(). The result for no elements is True.

    >>> import echelon, numpy
    >>> bool(echelon.all(numpy.array([0, 2])))
    False
    """
    return _reduce("all", x, axis, keepdims, out)


@operation
def count_nonzero(x, /, *, axis=None, keepdims=False, out=None):
    """Return the number (int64) of elements along axes that are not zero. NaN is not zero.

    x, axis, keepdims, out: as for sum().

    >>> import echelon, numpy
    >>> int(echelon.count_nonzero(numpy.array([0, 2, 3])))
    2
    """
    return _reduce("count_nonzero", x, axis, keepdims, out)


def _ignoring(name, summary, example):
    """The variant of a reduction that skips NaN."""
    def spread(x, /, *, axis=None, correction=0.0, dtype=None, keepdims=False, out=None):
        return _reduce(name, x, axis, keepdims, out, dtype, ignore_nan=True, correction=correction)

    def total(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
        return _reduce(name, x, axis, keepdims, out, dtype, ignore_nan=True)

    def extreme(x, /, *, axis=None, keepdims=False, out=None):
        return _reduce(name, x, axis, keepdims, out, ignore_nan=True)

    chosen = {"var": spread, "std": spread, "min": extreme, "max": extreme}.get(name, total)
    parameters = {spread: "x, axis, correction, dtype, keepdims, out", total: "x, axis, dtype, keepdims, out",
                  extreme: "x, axis, keepdims, out"}[chosen]
    chosen.__name__ = chosen.__qualname__ = "nan" + name
    chosen.__doc__ = f"""{summary}

    {parameters}: as for {name}().

    >>> import echelon, numpy
    >>> float(echelon.nan{name}(numpy.array([1.0, numpy.nan, 3.0])))
    {example}
    """
    return operation(chosen)


nansum = _ignoring("sum", "Return the sum along axes of the elements that are not NaN.", "4.0")
nanprod = _ignoring("prod", "Return the product along axes of the elements that are not NaN.", "3.0")
nanmin = _ignoring("min", "Return the minimum along axes of the elements that are not NaN; NaN if there are none.",
                   "1.0")
nanmax = _ignoring("max", "Return the maximum along axes of the elements that are not NaN; NaN if there are none.",
                   "3.0")
nanmean = _ignoring("mean", "Return the mean along axes of the elements that are not NaN; NaN if there are none.",
                    "2.0")
nanvar = _ignoring("var", "Return the variance along axes of the elements that are not NaN.", "1.0")
nanstd = _ignoring("std", "Return the standard deviation along axes of the elements that are not NaN.", "1.0")


@operation
def minmax(x, /, *, axis=None, keepdims=False):
    """Return (minimum, maximum) along axes: min() and max() in one call, which reads x once.

    x, axis, keepdims: as for min(). NaN and NaT propagate. Raises ArgumentError if there are no elements.

    >>> import echelon, numpy
    >>> [int(v) for v in echelon.minmax(numpy.array([2, 9, 4]))]
    [2, 9]
    """
    view = _arrays.view(x, nulls="skip")
    if view.kind == "time":
        return min(x, axis=axis, keepdims=keepdims), max(x, axis=axis, keepdims=keepdims)
    job = Job(view)
    ordered, kept, reduced = last_axes(job, view, axis)
    n, rows = math.prod(reduced), math.prod(kept)
    if n == 0 and rows:
        raise ArgumentError(f"x has shape {view.shape}: the minimum of no elements does not exist")
    shape = with_ones(view.shape, axis) if flag(keepdims, "keepdims") else kept
    result = job.empty((*shape, 2), view.code, view.kind, view)
    if rows:
        job.call("ech_reduce_rows", c.ECH_OP_MINMAX, ordered.pointer, result.pointer, rows, n, view.code, None)
    return job.family.result(result.array[..., 0]), job.family.result(result.array[..., 1])


@operation
def dot(x1, x2, /, *, dtype=None):
    """Return the dot product of two arrays with one dimension.

    x1, x2: [n], of the same dtype. dtype: as for sum(). The sum is computed in the type and order of sum().

    >>> import echelon, numpy
    >>> int(echelon.dot(numpy.array([1, 2, 3]), numpy.array([4, 5, 6])))
    32
    """
    first, second = one_dimension(_arrays.view(x1, "x1"), "x1"), one_dimension(_arrays.view(x2, "x2"), "x2")
    job = Job(first, second)
    n = same_length(first, second, "x2")
    if (first.code, first.kind) != (second.code, second.kind):
        raise DTypeError(f"x2 has dtype {second.dtype}, but x1 has dtype {first.dtype}")
    first, second = (_converted(job, "sum", view, dtype) for view in (first, second))
    plan = Plan("sum", first, dtype)
    result = job.empty((), plan.computed)
    job.call("ech_dot", job.contiguous(first).pointer, job.contiguous(second).pointer, result.pointer, n, first.code,
             ctypes.byref(plan.options))
    return job.finish(_as_planned(job, result, plan))


@operation
def reduce_segments(x, offsets, /, op="sum", *, dtype=None, ignore_nan=False, correction=0):
    """Reduce each segment of an array.

    x: [n]. offsets: [segments + 1], integers; segment s is x[offsets[s]:offsets[s + 1]]. op: "sum", "prod", "min",
    "max", "and", "or", "xor", "argmin", "argmax", "any", "all", "count_nonzero", "mean", "var", "std" or "norm".
    dtype: as for sum(). ignore_nan: skip NaN. correction: 0 or 1, of "var" and "std". Positions count within the
    segment.

    Returns an array [segments]. The min of an empty segment is the maximum of the dtype, its max the minimum, and its
    argmin and argmax are -1. Raises ArgumentError for offsets that decrease or exceed n; if they are in GPU memory,
    synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.reduce_segments(numpy.array([1, 2, 3, 4]), [0, 1, 4])
    array([1, 9])
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    view = _converted(job, op, view, dtype)
    places, segments = segments_of(job, offsets)
    plan = _segment_plan(op, view, dtype, ignore_nan, correction, "x")
    result = job.empty((segments,), plan.computed, plan.kind, view)
    if segments:
        job.call("ech_reduce_segments", plan.op, job.contiguous(view).pointer, places.pointer, result.pointer,
                 view.size, segments, view.code, places.code, ctypes.byref(plan.options))
    return job.finish(_as_planned(job, result, plan))


def _segment_plan(op, view, dtype, ignore_nan, correction, argument):
    correction = integer(correction, "correction", 0, 1)
    if view.kind == "time":
        raise DTypeError(f"{argument} has dtype {view.dtype}, which reductions of segments and of keys do not support")
    return Plan(op, view, dtype, ignore_nan, correction, argument)


def _as_planned(job, result, plan):
    """The View of a result with the dtype that is returned."""
    if result.code == plan.code:
        return result
    return job.add(result.family.view(result.family.cast(result.array, job.family.dtype(plan.code))))


@operation
def reduce_by_key(keys, values, /, op="sum", *, dtype=None, ignore_nan=False, correction=0):
    """Reduce each run of equal keys.

    keys: [n]. values: [n]. op, dtype, ignore_nan, correction: as for reduce_segments(). Use sort_pairs() first to
    reduce all values with one key.

    Returns (keys, values): the key of each run, and its result. If the arrays are on a GPU, the call waits for the
    number of runs.

    >>> import echelon, numpy
    >>> keys, sums = echelon.reduce_by_key(numpy.array([7, 7, 3]), numpy.array([1, 2, 5]))
    >>> keys, sums
    (array([7, 3]), array([3, 5]))
    """
    key_view = one_dimension(_arrays.view(keys, "keys"), "keys")
    view = one_dimension(_arrays.view(values, "values"), "values")
    job = Job(view, key_view)
    n = same_length(key_view, view, "values")
    view = _converted(job, op, view, dtype)
    plan = _segment_plan(op, view, dtype, ignore_nan, correction, "values")
    keys_out = job.add(key_view.family.view(key_view.family.empty((n,), key_view.dtype, key_view.device)))
    result = job.empty((n,), plan.computed, plan.kind, view)
    count = ctypes.c_uint64()
    job.call("ech_reduce_by_key", plan.op, job.contiguous(key_view).pointer, job.contiguous(view).pointer,
             keys_out.pointer, result.pointer, ctypes.addressof(count), n, key_view.code, view.code,
             ctypes.byref(plan.options))
    result = _as_planned(job, result, plan)
    return (key_view.family.result(key_view.family.head(keys_out.array, count.value)),
            job.family.result(job.family.head(result.array, count.value)))

