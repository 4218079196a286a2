"""Cumulative operations along an axis, in segments and in runs of equal keys.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math

from .. import _arrays
from .._arrays.layout import along_last, moved_back
from .._arrays.view import dtype_name, normalized_axis
from .._runtime import native
from .._runtime.arguments import choice, flag, number
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .sort import one_dimension, same_length, segments_of

OPS = {"sum": c.ECH_OP_SUM, "prod": c.ECH_OP_PRODUCT, "min": c.ECH_OP_MIN, "max": c.ECH_OP_MAX, "and": c.ECH_OP_AND,
       "or": c.ECH_OP_OR, "xor": c.ECH_OP_XOR}
WIDE = {c.ECH_I8: c.ECH_I64, c.ECH_I16: c.ECH_I64, c.ECH_I32: c.ECH_I64, c.ECH_U8: c.ECH_U64, c.ECH_U16: c.ECH_U64,
        c.ECH_U32: c.ECH_U64, c.ECH_F16: c.ECH_F64, c.ECH_BF16: c.ECH_F64, c.ECH_F32: c.ECH_F64}
_C_TYPES = {c.ECH_I8: ctypes.c_int8, c.ECH_I16: ctypes.c_int16, c.ECH_I32: ctypes.c_int32, c.ECH_I64: ctypes.c_int64,
            c.ECH_U8: ctypes.c_uint8, c.ECH_U16: ctypes.c_uint16, c.ECH_U32: ctypes.c_uint32,
            c.ECH_U64: ctypes.c_uint64, c.ECH_F32: ctypes.c_float, c.ECH_F64: ctypes.c_double}


class Plan:
    """The dtypes and options of a scan."""

    def __init__(self, job, op, view, dtype, wide_integers, argument="x", **options):
        self.name, self.op = op, choice(op, OPS, "op")
        if view.kind == "time":
            raise DTypeError(f"{argument} has dtype {view.dtype}, which cumulative operations do not support")
        self.kind, sums = "", op in ("sum", "prod")
        if op in ("and", "or", "xor") and view.is_float:
            raise DTypeError(f"{argument} has dtype {view.dtype}, but op {op!r} needs integers")
        self.code = None if dtype is None else _arrays.code_of(dtype_name(dtype), "dtype")
        if self.code is None:
            grows = sums and wide_integers and not view.is_float
            self.code = WIDE.get(view.code, view.code) if grows else view.code
            if view.kind == "bool":
                self.code, self.kind = (c.ECH_I64, "") if grows else (view.code, "bool" if not sums else "")
        self.source = view
        computed = view.code
        wide = sums and self.code != view.code and WIDE.get(view.code) in (self.code, c.ECH_U64) and \
            (self.code == WIDE.get(view.code) or view.kind == "bool" and self.code == c.ECH_I64)
        if wide:
            computed = self.code
        elif self.code != view.code:  # converted before it is scanned, as in NumPy
            converted = view.family.cast(view.array, view.family.dtype(self.code))
            self.source, computed = job.add(view.family.view(converted)), self.code
        self.computed = computed
        self.options = native.struct(c.ech_scan_options, accumulate_wide=int(wide), **options)

    def set_init(self, init):
        """The value that precedes the first element."""
        if init is None and self.kind == "bool" and self.options.exclusive and self.name in ("and", "min"):
            init = True  # the identity element of bytes is 255, which is no bool
        if init is None:
            return
        kind = _C_TYPES.get(self.computed)
        if kind is None:
            raise DTypeError("init is not supported for float16 and bfloat16: pass dtype='float32'")
        try:
            self.init = kind(number(init, "init") if self.computed >= c.ECH_F16 else init.__index__())
        except (AttributeError, TypeError):
            raise DTypeError(f"init is {init!r}, but must be a number of the result's dtype") from None
        if self.computed < c.ECH_F16 and self.init.value != init:
            raise ArgumentError(f"init is {init}, which dtype {_arrays.NAMES[self.computed]} cannot represent")
        if self.kind == "bool" and init not in (0, 1):
            raise ArgumentError(f"init is {init!r}, but must be True or False")
        self.options.init = ctypes.addressof(self.init)


def _scan(x, op, axis, dtype, out, wide_integers, init=None, first=False, **options):
    view = _arrays.view(x)
    job = Job(view)
    if view.ndim == 0:
        raise ArgumentError("x has no dimensions, but must have at least one")
    if axis is None:
        if view.ndim != 1:
            raise ArgumentError(f"axis is None, but x has {view.ndim} dimensions: state the axis")
        axis = 0
    axis = normalized_axis(axis, view.ndim)
    plan = Plan(job, op, view, dtype, wide_integers, **options)
    plan.set_init(init)
    first = flag(first, "include_initial")
    if first:
        job.need_arithmetic()
    shape = tuple(n + int(first and i == axis) for i, n in enumerate(view.shape))
    last = axis == view.ndim - 1 and not first
    target = job.output(out, shape, plan.code, plan.kind, view, same=view) if out is not None or last or first else None
    source = along_last(job, plan.source, axis)
    direct = last and target.contiguous
    result = target if direct else job.empty(source.shape, plan.code, plan.kind, view)
    cols = source.shape[-1]
    rows = math.prod(source.shape[:-1])
    if source.size:
        job.call("ech_scan_rows", plan.op, source.pointer, result.pointer, rows, cols, plan.source.code,
                 ctypes.byref(plan.options))
    if direct:
        return job.finish(target, out)
    result = moved_back(job, result, axis, view.ndim)
    if not first:
        return job.finish(result) if target is None else job.finish(target, out, result)
    places = [slice(None)] * view.ndim
    places[axis] = slice(0, 1)
    target.array[tuple(places)] = 0 if op == "sum" else 1
    places[axis] = slice(1, None)
    job.family.copy_to(target.array[tuple(places)], result.array)
    return job.finish(target, out)


@operation
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False, out=None):
    """Return the cumulative sum along an axis: each element is the sum of all elements up to and with it.

    x: array. axis: required if x has more than one dimension. dtype: of the result; by default int64 for bool and
    signed integers and uint64 for unsigned ones (modulo 2^64), otherwise that of x. include_initial: the result begins
    with 0 and is one element longer. out: array of the shape and dtype of the result, which receives it.

    The bits of float results are the same on every device. Raises ArgumentError for an invalid axis or out, and
    DTypeError for an unsupported dtype.

    >>> import echelon, numpy
    >>> echelon.cumulative_sum(numpy.array([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    return _scan(x, "sum", axis, dtype, out, True, first=include_initial)


@operation
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False, out=None):
    """Return the cumulative product along an axis: each element is the product of all elements up to and with it.

    x, axis, dtype, include_initial, out: as for cumulative_sum(); the initial element is 1.

    >>> import echelon, numpy
    >>> echelon.cumulative_prod(numpy.array([1, 2, 3]))
    array([1, 2, 6])
    """
    return _scan(x, "prod", axis, dtype, out, True, first=include_initial)


def _flags(exclusive, reverse, ignore_nan):
    """Fields of the options."""
    return {"exclusive": flag(exclusive, "exclusive"), "reverse": flag(reverse, "reverse"),
            "nan": flag(ignore_nan, "ignore_nan")}


@operation
def scan(x, /, op="sum", *, axis=-1, exclusive=False, reverse=False, init=None, ignore_nan=False, dtype=None,
         out=None):
    """Combine each element with all elements before it.

    x: array. op: "sum", "prod", "min", "max", "and", "or" or "xor". axis: the axis. exclusive: without the element
    itself; the first result is then init, or the identity of op. reverse: from the last element to the first. init: a
    number that precedes the first element. ignore_nan: skip NaN. dtype: of the result, by default that of x; integers
    are added modulo 2^bits. out: array of the shape of x, which receives the result; it may be x.

    Returns an array of the shape of x. A NaN propagates, also in "min" and "max", unless ignore_nan is set. Raises
    ArgumentError for an invalid axis, op or out, and DTypeError for an unsupported dtype.

    >>> import echelon, numpy
    >>> echelon.scan(numpy.array([3, 1, 4]), "max", exclusive=True, init=0)
    array([0, 3, 3])
    """
    return _scan(x, op, axis, dtype, out, False, init, **_flags(exclusive, reverse, ignore_nan))


@operation
def scan_segments(x, offsets, /, op="sum", *, exclusive=False, reverse=False, init=None, ignore_nan=False, dtype=None):
    """Scan each segment of an array.

    x: [n]. offsets: [segments + 1], integers; segment s is x[offsets[s]:offsets[s + 1]]. op, exclusive, reverse, init,
    ignore_nan, dtype: as for scan().

    Returns an array [n]; elements outside all segments are those of x. Raises ArgumentError for offsets that decrease
    or exceed n; if they are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.scan_segments(numpy.array([1, 2, 3, 4]), [0, 2, 4])
    array([1, 3, 3, 7])
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    plan = Plan(job, op, view, dtype, False, **_flags(exclusive, reverse, ignore_nan))
    plan.set_init(init)
    places, segments = segments_of(job, offsets)
    result = job.add(job.family.view(job.family.cast(plan.source.array, job.family.dtype(plan.code))
                                     if plan.source.code != plan.code else
                                     job.family.contiguous(plan.source.array)))
    if view.size:
        job.call("ech_scan_segments", plan.op, job.contiguous(plan.source).pointer, places.pointer, result.pointer,
                 view.size, segments, plan.source.code, places.code, ctypes.byref(plan.options))
    return job.finish(result)


@operation
def scan_by_key(keys, values, /, op="sum", *, exclusive=False, reverse=False, init=None, ignore_nan=False, dtype=None):
    """Scan each run of equal keys.

    keys: [n]. values: [n]. op, exclusive, reverse, init, ignore_nan, dtype: as for scan().

    Returns an array [n]. Raises ArgumentError if the lengths differ.

    >>> import echelon, numpy
    >>> echelon.scan_by_key(numpy.array([7, 7, 3]), numpy.array([1, 2, 5]))
    array([1, 3, 5])
    """
    key_view = one_dimension(_arrays.view(keys, "keys"), "keys")
    view = one_dimension(_arrays.view(values, "values"), "values")
    job = Job(view, key_view)
    n = same_length(key_view, view, "values")
    plan = Plan(job, op, view, dtype, False, "values", **_flags(exclusive, reverse, ignore_nan))
    plan.set_init(init)
    result = job.empty((n,), plan.code, plan.kind, view)
    if n:
        job.call("ech_scan_by_key", plan.op, job.contiguous(key_view).pointer, job.contiguous(plan.source).pointer,
                 result.pointer, n, key_view.code, plan.source.code, ctypes.byref(plan.options))
    return job.finish(result)
