"""partition, argpartition, nth_element.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .. import _arrays
from .._arrays.layout import along_last, moved_back, rows_of
from .._arrays.numpy_family import address
from .._runtime.arguments import flag, integer
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from .common import as_dtype_of, flat
from .sort import call_rows, flattened, index_code
from .time_keys import encoded

_MOST_RANKS = 127  # of ech_partition_at()

# Several rows with fewer elements are sorted: on one core of an EPYC with AVX-512 the times are equal at about 2,000
# elements (f32, i64, November 2026).
_SORTED_COLS = 2048


def _ranks(kth, n):
    """The distinct ranks as an array of u64."""
    listed = [kth] if np.ndim(kth) == 0 else list(kth)
    ranks = set()
    for rank in listed:
        rank = integer(rank, "kth")
        if not -n <= rank < n:
            raise ArgumentError(f"kth is {rank}, but the axis has {n} elements")
        ranks.add(rank % n)
    return np.array(sorted(ranks), np.uint64)


def _partition(job, view, axis, kth, code):
    """The View of the elements, or of their positions if code is given; times stay encoded."""
    ranks = _ranks(kth, view.shape[axis])
    source = along_last(job, encoded(job, view), axis)
    result = job.empty(source.shape, source.code if code is None else code)
    rows = rows_of(source, source.ndim - 1)
    short = rows.rows > 1 and (job.device != "cpu" or rows.cols < _SORTED_COLS)
    if short or len(ranks) > _MOST_RANKS:  # a sort of all rows is faster than one call per row
        if code is None:
            call_rows(job, "sort", (source.pointer,), (result.pointer,), source.code, rows, rows, False)
        else:
            call_rows(job, "argsort", (source.pointer,), (result.pointer,), source.code, rows, rows, False, code)
        return result
    for row in range(rows.rows):
        to = result.pointer + row * rows.cols * result.itemsize
        pointers = (to, None) if code is None else (None, to)
        job.call("ech_partition_at", source.pointer + row * rows.cols * source.itemsize, *pointers, rows.cols,
                 address(ranks), len(ranks), source.code, c.ECH_I64 if code is None else code, None)
    return result


@operation
def partition(x, /, kth, *, axis=-1, out=None):
    """Partition an array around the elements of given ranks along an axis.

    x: array of any shape. kth: an integer or a sequence of integers, the ranks; negative ones count from the end. axis:
    the axis; None partitions the flattened array. out: an array of the shape and dtype of x; it may be x.

    Returns an array like x: along the axis, the element at each position r of kth is that of a sorted array; elements
    before it are not greater, and elements after it are not less. An array of one dimension keeps the order of the
    other elements between these positions. Several rows may be sorted completely, if that is faster. NaN and NaT are
    the largest values. Raises ArgumentError for a rank outside the axis.

    >>> import echelon, numpy
    >>> echelon.partition(numpy.array([5, 1, 4, 2, 3]), 2)
    array([1, 2, 3, 5, 4])
    """
    view = _arrays.view(x)
    job = Job(view)
    view, axis = flattened(job, view, axis)
    target = job.output(out, view.shape, view.code, view.kind, view, same=view)
    result = as_dtype_of(job, _partition(job, view, axis, kth, None), view)
    result = moved_back(job, result, axis, view.ndim)
    return job.finish(target if out is not None else result, out, result)


@operation
def argpartition(x, /, kth, *, axis=-1, dtype=None, out=None):
    """Return the positions that partition an array around the elements of given ranks along an axis.

    x, kth, axis: as for partition(). dtype: of the result: int64 (the default), int32, uint32 or uint64. out: an array
    of the shape of x and this dtype.

    Returns an array of positions along the axis, with the shape of x, in the order of the elements of partition().

    >>> import echelon, numpy
    >>> echelon.argpartition(numpy.array([5, 1, 4, 2, 3]), 2)
    array([1, 3, 4, 0, 2])
    """
    view = _arrays.view(x)
    job = Job(view)
    view, axis = flattened(job, view, axis)
    code = index_code(dtype, view.shape[axis])
    target = job.output(out, view.shape, code, same=view)
    result = moved_back(job, _partition(job, view, axis, kth, code), axis, view.ndim)
    return job.finish(target if out is not None else result, out, result)


@operation
def nth_element(x, n, /, *, return_index=False, dtype=None):
    """Find the element of a rank: the element at this position of the sorted array.

    x: array of any shape, which is flattened. n: the rank, from 0; negative ones count from the end. return_index:
    whether to return the position, too. dtype: of the position, as for argpartition().

    Returns the element, of no dimensions, or a pair of the element and its position in the flattened x. Equal elements
    are in the order of their positions. NaN and NaT are the largest values. Raises ArgumentError for a rank outside x.

    >>> import echelon, numpy
    >>> echelon.nth_element(numpy.array([5, 1, 4]), 1).item()
    4
    """
    return_index = flag(return_index, "return_index")
    view = _arrays.view(x)
    job = Job(view)
    size = view.size
    rank = integer(n, "n")
    if not -size <= rank < size:
        raise ArgumentError(f"n is {rank}, but x has {size} elements")
    code = index_code(dtype, size)
    source = flat(job, encoded(job, view))
    value = job.empty((), source.code)
    index = job.empty((), code) if return_index else None
    job.call("ech_nth_element", source.pointer, value.pointer, index and index.pointer, size, rank % size, source.code,
             code, None)
    value = job.finish(as_dtype_of(job, value, view))
    return (value, job.finish(index)) if return_index else value
