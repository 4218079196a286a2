"""Distinct elements: unique, the functions unique_... of the Array API, and the mode.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
from typing import Any, NamedTuple

from .. import _arrays
from .._runtime import native
from .._runtime.arguments import flag
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from .common import flat, host_counts, reshaped
from .sort import index_code
from .time_keys import encoded, restored


class UniqueAllResult(NamedTuple):
    """The result of unique_all()."""
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """The result of unique_counts()."""
    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """The result of unique_inverse()."""
    values: Any
    inverse_indices: Any


class ModeResult(NamedTuple):
    """The result of mode()."""
    mode: Any
    count: Any


def _unique(x, first=False, inverse=False, counts=False, appearance=False, dtype=None):
    """values, indices, inverse_indices and counts; None for those that are not needed."""
    view = _arrays.view(x)
    job = Job(view)
    n = view.size
    code = index_code(dtype, n)
    source = flat(job, encoded(job, view))
    values = job.empty((n,), view.code, "bool" if view.kind == "bool" else "", view)
    firsts = job.empty((n,), code) if first else None
    positions = job.empty((n,), code) if inverse else None
    lengths = job.empty((n,), c.ECH_I64) if counts else None
    count = host_counts()
    if n:
        options = native.struct(c.ech_unique_options, appearance=int(appearance))
        job.call("ech_unique_all", source.pointer, values.pointer, firsts and firsts.pointer,
                 positions and positions.pointer, lengths and lengths.pointer, ctypes.addressof(count), n,
                 source.code, code, ctypes.byref(options))
    def head(found):
        return view.family.result(view.family.head(found.array, count[0]))

    values = restored(job, values, view)
    if inverse:
        positions = reshaped(job, positions, view.shape)
    return (head(values), head(firsts) if first else None, job.finish(positions) if inverse else None,
            head(lengths) if counts else None)


@operation
def unique_all(x, /, *, dtype=None):
    """Find the distinct elements of an array, their first positions, the inverse, and their counts.

    x: array of any shape. dtype: of indices and inverse_indices: int64 (the default), int32, uint32 or uint64.

    Returns a named tuple: values [k], the distinct elements in ascending order; indices [k], the position in the
    flattened x of the first occurrence of each one; inverse_indices, of the shape of x, so that
    values[inverse_indices] equals x; counts [k], int64. -0 equals +0, and values contains the one that comes first. NaN
    equal each other and are the last value, as in numpy.unique() and in contrast to the Array API standard, in which
    NaN differ. If x is in GPU memory, the call waits until k is known.

    >>> import echelon, numpy
    >>> echelon.unique_all(numpy.array([3, 1, 3])).inverse_indices
    array([1, 0, 1])
    """
    return UniqueAllResult(*_unique(x, first=True, inverse=True, counts=True, dtype=dtype))


@operation
def unique_counts(x, /):
    """Find the distinct elements of an array and how often each one occurs.

    x: array of any shape.

    Returns a named tuple with values [k] and counts [k] as those of unique_all().

    >>> import echelon, numpy
    >>> echelon.unique_counts(numpy.array([3, 1, 3])).counts
    array([1, 2])
    """
    values, _, _, counts = _unique(x, counts=True)
    return UniqueCountsResult(values, counts)


@operation
def unique_inverse(x, /, *, dtype=None):
    """Find the distinct elements of an array and the inverse.

    x: array of any shape. dtype: of inverse_indices, as for unique_all().

    Returns a named tuple with values [k] and inverse_indices as those of unique_all().

    >>> import echelon, numpy
    >>> echelon.unique_inverse(numpy.array([3, 1, 3])).values
    array([1, 3])
    """
    values, _, inverse, _ = _unique(x, inverse=True, dtype=dtype)
    return UniqueInverseResult(values, inverse)


@operation
def unique_values(x, /):
    """Find the distinct elements of an array.

    x: array of any shape.

    Returns an array [k] as the values of unique_all().

    >>> import echelon, numpy
    >>> echelon.unique_values(numpy.array([[3, 1], [3, 3]]))
    array([1, 3])
    """
    return _unique(x)[0]


@operation
def unique(x, /, return_index=False, return_inverse=False, return_counts=False, *, sorted=True, dtype=None):
    """Find the distinct elements of an array, with the parameters of numpy.unique().

    x: array of any shape. return_index, return_inverse, return_counts: also return indices, inverse_indices and counts,
    as those of unique_all(). sorted: whether the elements are in ascending order; False: in the order of their first
    occurrences, as those of pandas.unique(). dtype: of the indices, as for unique_all().

    Returns the distinct elements [k], or a tuple of them and of the arrays that are also returned.

    >>> import echelon, numpy
    >>> echelon.unique(numpy.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    >>> echelon.unique(numpy.array([3, 1, 3]), sorted=False)
    array([3, 1])
    """
    wanted = (True, flag(return_index, "return_index"), flag(return_inverse, "return_inverse"),
              flag(return_counts, "return_counts"))
    found = _unique(x, *wanted[1:], not flag(sorted, "sorted"), dtype)
    result = tuple(array for array, is_wanted in zip(found, wanted) if is_wanted)
    return result if len(result) > 1 else result[0]


@operation
def mode(x, /):
    """Find the most frequent element of an array.

    x: array of any shape, with at least one element.

    Returns a named tuple with mode and count, of no dimensions: the element, and how often it occurs. If several
    elements are equally frequent, mode is the smallest of them. NaN count as equal. Raises ArgumentError if x is empty.

    >>> import echelon, numpy
    >>> [number.item() for number in echelon.mode(numpy.array([3, 1, 3]))]
    [3, 2]
    """
    view = _arrays.view(x)
    job = Job(view)
    if view.size == 0:
        raise ArgumentError("x is empty, and therefore has no mode")
    source = flat(job, encoded(job, view))
    value = job.empty((), view.code, "bool" if view.kind == "bool" else "", view)
    count = job.empty((), c.ECH_I64)
    job.call("ech_mode", source.pointer, value.pointer, count.pointer, source.size, source.code, None)
    return ModeResult(job.finish(restored(job, value, view)), job.finish(count))
