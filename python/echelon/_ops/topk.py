"""top_k: the k largest or smallest elements of an array along an axis, and of segments.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._arrays.layout import along_last, moved_back, rows_of
from .._arrays.numpy_family import address
from .._arrays.view import check_indices
from .._runtime import native
from .._runtime.arguments import choice, flag, integer, two_outputs
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from .common import as_dtype_of
from .sort import flattened, index_code, one_dimension, segments_of
from .time_keys import encoded

_MODES = {"largest": 0, "smallest": 1}


def _options(mode, is_sorted, **fields):
    return native.struct(c.ech_topk_options, smallest=choice(mode, _MODES, "mode"),
                         unsorted=1 - flag(is_sorted, "sorted"), **fields)


def _filled(job, view, byte):
    """Sets all bytes of a contiguous array."""
    value = np.full(view.itemsize, byte, np.uint8)
    if view.size:
        job.call("ech_fill", view.pointer, view.size, view.itemsize, address(value))


def _counts(job, counts, shape):
    """The View of the counts, contiguous."""
    view = job.contiguous(check_indices(job.view(counts, "counts"), "counts"))
    if view.shape != shape:
        raise ArgumentError(f"counts has shape {view.shape}, but must have shape {shape}")
    return view


@operation
def top_k(x, k, /, *, axis=-1, mode="largest", sorted=True, counts=None, dtype=None, out=None):
    """Select the k largest or smallest elements of an array along an axis.

    x: array of any shape. k: 0 to the size of the axis. axis: the axis; None selects from the flattened array. mode:
    "largest" or "smallest". sorted: whether the best element is first; False: the elements keep the order of x. counts:
    None, or an array of integers with the shape of x without the axis: how many elements, at most k, are selected of
    each row; the other elements of the row become 0, and their indices -1. dtype: of the indices: int64 (the default),
    int32, uint32 or uint64. out: a pair of arrays (values, indices) that receive the results.

    Returns (values, indices), with the shape of x in which the axis has the size k. Indices count along the axis. The
    elements are the first k of the stable sort in descending order, or in ascending order for "smallest": NaN is the
    largest, and of equal elements the one with the lower index is selected. Raises ArgumentError if k exceeds the size
    of the axis. If x is in GPU memory and counts are greater than k, synchronize() raises the error.

    >>> import echelon, numpy
    >>> echelon.top_k(numpy.array([[3, 1, 4], [1, 5, 9]]), 2)
    (array([[4, 3],
           [9, 5]]), array([[2, 0],
           [2, 1]]))
    """
    view = _arrays.view(x)
    job = Job(view)
    view, axis = flattened(job, view, axis)
    cols = view.shape[axis]
    k = integer(k, "k", 0, cols)
    code = index_code(dtype, cols)
    shape = view.shape[:axis] + (k,) + view.shape[axis + 1:]
    out = two_outputs(out)
    targets = (None if out[0] is None else job.output(out[0], shape, view.code, view.kind, view, "out[0]", view),
               None if out[1] is None else job.output(out[1], shape, code, name="out[1]", same=view))
    options = _options(mode, sorted)
    if counts is not None:
        number = _counts(job, counts, view.shape[:axis] + view.shape[axis + 1:])
        options.counts, options.counts_dtype = number.pointer, number.code
    results = _select(job, view, axis, k, code, options, counts is not None)
    return tuple(_returned(job, target, given, result) for target, given, result in zip(targets, out, results))


def _returned(job, target, out, result):
    if out is None:
        return job.finish(result)
    return job.finish(target, out, result)


def _select(job, view, axis, k, code, options, fill):
    """The Views of the values and the indices."""
    source = encoded(job, view)
    rows = rows_of(source, axis)
    if rows is None:
        source = along_last(job, source, axis)
        rows = rows_of(source, source.ndim - 1)
    last = view.shape[:axis] + view.shape[axis + 1:] + (k,)
    values, indices = job.empty(last, view.code), job.empty(last, code)
    if fill:
        _filled(job, values, 0 if view.kind != "time" else 0xFF)
        _filled(job, indices, 0xFF)
    options.row_stride, options.element_stride = rows.row_stride, rows.element_stride
    if values.size:
        job.call("ech_topk_rows", source.pointer, values.pointer, indices.pointer, rows.rows, rows.cols, k, source.code,
                 code, ctypes.byref(options))
    values = as_dtype_of(job, values, view)
    return moved_back(job, values, axis, view.ndim), moved_back(job, indices, axis, view.ndim)


@operation
def top_k_segments(x, offsets, k, /, *, mode="largest", sorted=True, counts=None, dtype=None):
    """Select the k largest or smallest elements of each segment of an array.

    x: [n]. offsets: [segments + 1], integers; segment s is x[offsets[s]:offsets[s + 1]]. k: at least 0. mode, sorted
    and dtype: as for top_k(). counts: None, or [segments], integers: how many elements, at most k, are selected of each
    segment.

    Returns (values, indices), each [segments, k]. Indices count from the start of the segment. If a segment has fewer
    than k elements, all are selected; the other elements of its row are 0, and their indices are -1. Raises
    ArgumentError for offsets that decrease or exceed n; if they are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.top_k_segments(numpy.array([3, 1, 4, 1, 5]), [0, 3, 5], 2)[0]
    array([[4, 3],
           [5, 1]])
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    places, segments = segments_of(job, offsets)
    k = integer(k, "k", 0)
    code = index_code(dtype, view.size)
    options = _options(mode, sorted)
    if counts is not None:
        number = _counts(job, counts, (segments,))
        options.counts, options.counts_dtype = number.pointer, number.code
    source = job.contiguous(encoded(job, view))
    values, indices = job.empty((segments, k), view.code), job.empty((segments, k), code)
    _filled(job, values, 0 if view.kind != "time" else 0xFF)
    _filled(job, indices, 0xFF)
    if values.size:
        job.call("ech_topk_segments", source.pointer, places.pointer, None, values.pointer, indices.pointer, view.size,
                 segments, k, source.code, code, places.code, ctypes.byref(options))
    return job.finish(as_dtype_of(job, values, view)), job.finish(indices)
