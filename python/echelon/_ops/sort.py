"""Sorts: sort, argsort, sort_pairs, their segmented forms, and is_sorted.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._arrays.layout import along_last, moved_back, rows_of
from .._arrays.numpy_family import NumPy, address
from .._arrays.view import INDEX_CODES, check_indices, dtype_name, normalized_axis
from .._runtime import call as calls
from .._runtime.arguments import flag, two_outputs
from .._runtime import native
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .column_sort import argsort_column, nulls_first, sort_column
from .time_keys import encoded, restored

DESCENDING = native.struct(c.ech_sort_options, descending=1)
_DESCENDING = ctypes.addressof(DESCENDING)


def options_of(descending, **fields):
    """A pointer to sort options, and None for the defaults."""
    down = flag(descending, "descending")
    if not fields:
        return _DESCENDING if down else None
    return ctypes.byref(native.struct(c.ech_sort_options, descending=down, **fields))


def index_code(dtype, n, name="dtype"):
    """The ech_dtype of indices below n; dtype is a name, a dtype of an array library, or None for int64."""
    if dtype is None:
        return c.ECH_I64
    text = dtype_name(dtype, name)
    code = _arrays.CODES.get(text)
    if code not in INDEX_CODES:
        raise DTypeError(f"{name} is {text}, but must be int32, uint32, int64 or uint64")
    limit = {c.ECH_I32: 2**31, c.ECH_U32: 2**32}.get(code, 2**63)
    if n > limit:
        raise ArgumentError(f"{name} is {text}, which cannot represent the positions of {n} elements")
    return code


def _small(x, descending):
    """sort() of an array of NumPy without strides, with few steps: their time counts for small arrays."""
    code = NumPy.codes.get(x.dtype)
    if code is None or x.ndim != 1 or not x.flags.carray:
        return None
    out = np.empty_like(x)
    context = calls.host_context()
    status = native.functions.ech_sort(context.handle, address(x), address(out), x.shape[0], code,
                                       options_of(descending))
    if status:
        raise context.error(status)
    return out


@operation
def sort(x, /, *, axis=-1, descending=False, stable=True, nulls="last", out=None):
    """Sort an array along an axis.

    x: array of any shape. axis: the axis; None sorts the flattened array. descending: from the largest to the
    smallest. stable: has no effect: equal elements that differ in their bits (-0 and +0, NaN) have a defined order.
    nulls: "last" or "first", the place of the nulls of a column of pandas, polars or Arrow, also in descending order.
    out: an array of the shape and dtype of x that receives the result; it may be x.

    Returns an array of the shape, dtype and library of x, in C order. NaN and NaT are the largest values: last in
    ascending order, first in descending order. Raises ArgumentError for an invalid axis or out, and DTypeError for an
    unsupported dtype.

    >>> import echelon, numpy
    >>> echelon.sort(numpy.array([3, 1, 2]))
    array([1, 2, 3])
    >>> echelon.sort(numpy.array([[3, 1], [2, 4]]), axis=0, descending=True)
    array([[3, 4],
           [2, 1]])
    """
    if out is None and type(axis) is int and axis in (-1, 0) and type(x) is np.ndarray and type(nulls) is str and \
            nulls == "last" and not calls.recorders:
        result = _small(x, descending)
        if result is not None:
            return result
    column, view = _column_or_view(x, axis, nulls)
    if column is not None:
        if out is not None:
            raise ArgumentError("out is given, but x is a column with nulls, strings, categories or decimals")
        return sort_column(x, column, descending, nulls, sort)
    job = Job(view)
    view, axis = flattened(job, view, axis)
    target = job.output(out, view.shape, view.code, view.kind, view, same=view)
    if view.size == 0:
        return job.finish(target, out)
    source = encoded(job, view)
    rows, places = rows_of(source, axis), rows_of(target, axis)
    if rows and places:
        call_rows(job, "sort", (source.pointer,), (target.pointer,), source.code, rows, places, descending)
        return job.finish(target, out, restored(job, target, target))
    return job.finish(target, out, _moved(job, source, axis, target, descending))


def _column_or_view(x, axis, nulls):
    """The Column of x if only sorts by columns can sort it, otherwise the View."""
    nulls_first(nulls)
    column, view = _arrays.column_or_view(x)
    if column is not None and axis is not None:
        normalized_axis(axis, 1)
    return column, view


def _moved(job, source, axis, target, descending):
    """Sorts a copy in which the axis is the last one."""
    copy = along_last(job, source, axis)
    if copy is source or copy.readonly or copy.pointer == source.pointer:
        result = job.empty(copy.shape, source.code)
    else:
        result = copy
    rows = rows_of(copy, copy.ndim - 1)
    call_rows(job, "sort", (copy.pointer,), (result.pointer,), source.code, rows, rows, descending)
    moved = moved_back(job, result, axis, source.ndim)
    if target.kind == "bool":
        return job.add(moved.family.view(moved.family.retyped(moved.array, moved.family.bool_dtype())))
    return restored(job, moved, target)


def call_rows(job, name, inputs, outputs, code, rows, places, descending, *more):
    """ech_NAME() of one row, or ech_NAME_rows()."""
    if rows.rows == 1 and rows.element_stride == 1 and places.element_stride == 1:
        job.call(f"ech_{name}", *inputs, *outputs, rows.cols, code, *more, options_of(descending))
    elif rows.plain and places.plain:
        job.call(f"ech_{name}_rows", *inputs, *outputs, rows.rows, rows.cols, code, *more, options_of(descending))
    else:
        options = options_of(descending, row_stride=rows.row_stride, element_stride=rows.element_stride,
                             out_row_stride=places.row_stride, out_element_stride=places.element_stride)
        job.call(f"ech_{name}_rows", *inputs, *outputs, rows.rows, rows.cols, code, *more, options)


def flattened(job, view, axis):
    """The View and the axis; the flattened array for axis None, which NumPy also uses for no dimensions."""
    if axis is None:
        view = job.contiguous(view)
        return job.add(view.family.view(view.family.reshape(view.array, (view.size,)))), 0
    if view.ndim == 0:
        raise ArgumentError("x has no dimensions, so that it cannot be sorted along an axis")
    return view, normalized_axis(axis, view.ndim)


@operation
def argsort(x, /, *, axis=-1, descending=False, stable=True, nulls="last", dtype=None, out=None):
    """Return the positions that sort an array along an axis.

    x: array of any shape. axis: the axis; None sorts the flattened array. descending: from the largest to the
    smallest. stable: has no effect, because the result is always stable: equal elements keep their order, also in
    descending order; -0 equals +0, and all NaN are equal. nulls: as for sort(). dtype: of the result: int64 (the
    default), int32, uint32 or uint64. out: an array of the shape of x and this dtype that receives the result.

    Returns an array of positions along the axis, with the shape and library of x. NaN and NaT are the largest values.
    Raises ArgumentError and DTypeError as sort() does.

    >>> import echelon, numpy
    >>> echelon.argsort(numpy.array([3.0, float("nan"), 1.0]))
    array([2, 0, 1])
    """
    column, view = _column_or_view(x, axis, nulls)
    if column is not None:
        return argsort_column(column, index_code(dtype, column.n), descending, nulls, out)
    job = Job(view)
    view, axis = flattened(job, view, axis)
    code = index_code(dtype, view.shape[axis])
    target = job.output(out, view.shape, code)
    if view.size == 0:
        return job.finish(target, out)
    source = encoded(job, view)
    rows, places = rows_of(source, axis), rows_of(target, axis)
    if rows and places:
        call_rows(job, "argsort", (source.pointer,), (target.pointer,), source.code, rows, places, descending, code)
        return job.finish(target, out)
    copy = along_last(job, source, axis)
    result = job.empty(copy.shape, code)
    rows = rows_of(copy, copy.ndim - 1)
    call_rows(job, "argsort", (copy.pointer,), (result.pointer,), source.code, rows, rows, descending, code)
    return job.finish(target, out, moved_back(job, result, axis, source.ndim))


@operation
def sort_pairs(keys, values, /, *, descending=False, out=None):
    """Sort keys, and move a value with each key.

    keys: [n]. values: [n] or [n, ...], of any dtype; values[i] belongs to keys[i]. descending: from the largest to the
    smallest key. out: a pair of arrays (keys, values) that receive the results; they may be the inputs.

    Returns (keys, values), of the shapes, dtypes and libraries of the inputs. The sort is stable. Raises ArgumentError
    if the lengths differ.

    >>> import echelon, numpy
    >>> keys, values = echelon.sort_pairs(numpy.array([2, 1]), numpy.array([[20, 21], [10, 11]]))
    >>> values
    array([[10, 11],
           [20, 21]])
    """
    key_view, value_view = one_dimension(_arrays.view(keys, "keys"), "keys"), _opaque(values, "values")
    job = Job(key_view, value_view)
    n = same_length(key_view, value_view, "values")
    key_out, value_out = two_outputs(out)
    key_target = job.output(key_out, key_view.shape, key_view.code, key_view.kind, key_view, "out[0]", key_view)
    value_target = job.output(value_out, value_view.shape, value_view.code, value_view.kind, value_view, "out[1]",
                              value_view)
    key_result = key_target if key_target.contiguous else job.empty(key_view.shape, key_view.code)
    value_bytes = value_view.nbytes // n if n else value_view.itemsize
    direct = value_target.contiguous and job.is_aligned(value_target, value_bytes)
    value_result = value_target if direct else job.empty(value_view.shape, value_view.code)
    source = job.contiguous(encoded(job, key_view))
    if n and value_bytes:
        job.call("ech_sort_pairs", source.pointer, job.contiguous(value_view, value_bytes).pointer, key_result.pointer,
                 value_result.pointer, n, source.code, value_bytes, options_of(descending))
    return (job.finish(key_target, key_out, restored(job, key_result, key_target)),
            job.finish(value_target, value_out, value_result))


def _opaque(values, name):
    view = _arrays.view(values, name)
    if view.ndim == 0:
        raise ArgumentError(f"{name} has no dimensions, but must have at least one")
    return view


def one_dimension(view, name):
    """The View, if it has one dimension."""
    if view.ndim != 1:
        raise ArgumentError(f"{name} has {view.ndim} dimensions, but must have one")
    return view


def same_length(first, second, name):
    """The common length of two arrays."""
    if first.shape[0] != second.shape[0]:
        raise ArgumentError(f"{name} has length {second.shape[0]}, but must have length {first.shape[0]}")
    return first.shape[0]


def segments_of(job, offsets, name="offsets"):
    """The View of offsets, contiguous, and the number of segments."""
    view = job.contiguous(check_indices(one_dimension(job.view(offsets, name), name), name))
    if view.size == 0:
        raise ArgumentError(f"{name} is empty, but must contain the number of segments plus one")
    return view, view.size - 1


@operation
def sort_segments(x, offsets, /, *, descending=False, out=None):
    """Sort each segment of an array.

    x: [n]. offsets: [segments + 1], integers; segment s is x[offsets[s]:offsets[s + 1]]. descending: from the largest
    to the smallest. out: [n], receives the result; may be x.

    Returns an array like x. Elements outside all segments keep their place. Raises ArgumentError for offsets that
    decrease or exceed n; if they are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.sort_segments(numpy.array([3, 1, 2, 5, 4]), [0, 3, 5])
    array([1, 2, 3, 4, 5])
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    places, segments = segments_of(job, offsets)
    target = job.output(out, view.shape, view.code, view.kind, view, same=view)
    source = job.contiguous(encoded(job, view))
    result = target if target.contiguous else job.empty(view.shape, view.code)
    if source.pointer != result.pointer and view.size:
        job.call("ech_copy_async", result.pointer, source.pointer, source.nbytes)
    if view.size:
        job.call("ech_sort_segments", result.pointer, places.pointer, None, result.pointer, view.size, segments,
                 view.code, places.code, options_of(descending))
    return job.finish(target, out, restored(job, result, target))


@operation
def argsort_segments(x, offsets, /, *, descending=False, dtype=None):
    """Return the positions that sort each segment of an array, counted from the start of the segment.

    x: [n]. offsets: as for sort_segments(), with offsets[0] = 0 and offsets[-1] = n. descending and dtype: as for
    argsort().

    Returns an array [n] of dtype. Each segment is sorted stably.

    >>> import echelon, numpy
    >>> echelon.argsort_segments(numpy.array([3, 1, 2, 5, 4]), [0, 3, 5])
    array([1, 2, 0, 1, 0])
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    places, segments = segments_of(job, offsets)
    code = index_code(dtype, view.size)
    target = job.empty(view.shape, code)
    source = job.contiguous(encoded(job, view))
    if view.size:
        job.call("ech_argsort_segments", source.pointer, places.pointer, None, target.pointer, view.size, segments,
                 source.code, code, places.code, options_of(descending))
    return job.finish(target)


@operation
def is_sorted(x, /, *, descending=False, strict=False):
    """Return whether an array is sorted.

    x: [n]. descending: from the largest to the smallest. strict: equal neighbours are not allowed.

    Returns True or False. The order is that of argsort(): -0 equals +0, and NaN are equal and the largest.

    >>> import echelon, numpy
    >>> echelon.is_sorted(numpy.array([1, 2, 2])), echelon.is_sorted(numpy.array([1, 2, 2]), strict=True)
    (True, False)
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    source = job.contiguous(encoded(job, view))
    position = ctypes.c_uint64()
    options = native.struct(c.ech_is_sorted_options, descending=flag(descending, "descending"),
                            strict=flag(strict, "strict"))
    job.call("ech_is_sorted", source.pointer, ctypes.addressof(position), view.size, source.code,
             ctypes.byref(options))
    job.call("ech_sync")
    return position.value >= view.size
