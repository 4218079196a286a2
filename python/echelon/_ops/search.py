"""searchsorted: positions in a sorted array.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .. import _arrays
from .._runtime import native
from .._runtime.arguments import choice, flag
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from .common import flat, index_view, promoted, result_for, wrapped
from .sort import index_code, one_dimension
from .time_keys import encoded

_SIDES = {"left": "ech_lower_bound", "right": "ech_upper_bound"}


def search(job, side, keys, needles, positions, descending=False, needles_sorted=False):
    """Writes the positions of needles in keys; the Views are contiguous, encoded and have one dtype."""
    options = native.struct(c.ech_search_options, descending=flag(descending, "descending"),
                            needles_sorted=flag(needles_sorted, "needles_sorted"))
    job.call(_SIDES[side], keys.pointer, needles.pointer, positions.pointer, keys.size, needles.size, keys.code,
             positions.code, ctypes.byref(options))


@operation
def searchsorted(x1, x2, /, *, side="left", sorter=None, descending=False, needles_sorted=False, dtype=None, out=None):
    """Find the positions at which elements can be inserted into a sorted array so that it remains sorted.

    x1: [n], sorted. x2: of any shape; the elements to find. side: "left" for the first such position, "right" for the
    last one. sorter: [n], integers that sort x1, such as argsort(x1); then x1 need not be sorted. descending: x1 is in
    descending order. needles_sorted: x2 is probably in the order of x1, or nearly so; this affects only the time.
    dtype: of the result: int64 (the default), int32, uint32 or uint64. out: an array of the shape of x2 and this dtype.

    Returns the positions, from 0 to n, with the shape of x2. x1 and x2 are converted to their common dtype. The order
    is that of argsort(): -0 equals +0, and NaN are equal and the largest. The order of x1 is not checked: is_sorted()
    does that. Raises ArgumentError for an unknown side and for a sorter of another length.

    >>> import echelon, numpy
    >>> echelon.searchsorted(numpy.array([1, 3, 3, 7]), numpy.array([3, 8]))
    array([1, 4])
    >>> echelon.searchsorted(numpy.array([1, 3, 3, 7]), 3, side="right").item()
    3
    """
    choice(side, _SIDES, "side")
    keys = one_dimension(_arrays.view(x1, "x1"), "x1")
    job = Job(keys)
    keys, needles = promoted(job, keys, job.view(x2, "x2"))
    code = index_code(dtype, keys.size + 1)
    target = job.output(out, needles.shape, code)
    keys = job.contiguous(encoded(job, keys))
    if sorter is not None:
        keys = _in_order(job, keys, sorter)
    needles = flat(job, encoded(job, needles))
    result = result_for(job, target, keys, needles)
    if needles.size:
        search(job, side, keys, needles, result, descending, needles_sorted)
    return job.finish(target, out, result)


def _in_order(job, keys, sorter):
    """The View of the keys in the order of sorter."""
    index = index_view(job, sorter, "sorter")
    if index.shape != keys.shape:
        raise ArgumentError(f"sorter has shape {index.shape}, but must have shape {keys.shape}")
    index = wrapped(job, index, keys.size)
    ordered = job.empty(keys.shape, keys.code)
    if keys.size:
        job.call("ech_gather", keys.pointer, index.pointer, ordered.pointer, keys.size, keys.size, index.code,
                 keys.itemsize)
    return ordered
