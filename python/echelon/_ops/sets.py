"""Sets and sorted arrays: union1d and its relatives, isin, operations on multisets, and merges.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._runtime import native
from .._runtime.arguments import choice, flag, two_outputs
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .common import as_dtype_of, current_device, flat, head, host_counts, promoted, reshaped, result_for, sorted_keys
from .search import search
from .sort import one_dimension, same_length, segments_of
from .time_keys import encoded

# isin() on the CPU: bytes of a table per element of the arrays, at most, and elements whose temporary arrays stay in
# the cache. With 10 bytes, the table takes 0.2 to 0.4 of the time of two searches (10^4 to 10^6 i64, one core of an
# EPYC, November 2026).
_TABLE_SHARE = 16
_BLOCK = 1 << 16

_OPERATIONS = {"union": c.ECH_SET_UNION, "intersection": c.ECH_SET_INTERSECTION, "difference": c.ECH_SET_DIFFERENCE,
               "symmetric_difference": c.ECH_SET_SYMMETRIC}


def _distinct(job, view, assume_unique=False):
    """The View of the distinct elements in ascending order; times stay encoded."""
    if assume_unique:
        return sorted_keys(job, view)
    source = flat(job, encoded(job, view))
    result, count = job.empty(source.shape, source.code), host_counts()
    if source.size:
        job.call("ech_unique_all", source.pointer, result.pointer, None, None, None, ctypes.addressof(count),
                 source.size, source.code, c.ECH_I64, None)
    return head(job, result, count[0])


def _sizes(operation, n1, n2):
    """The maximum size of a result."""
    return {c.ECH_SET_INTERSECTION: min(n1, n2), c.ECH_SET_DIFFERENCE: n1}.get(operation, n1 + n2)


def _combined(job, first, second, operation, descending=False):
    """The View of the result of a set operation on sorted arrays."""
    result, count = job.empty((_sizes(operation, first.size, second.size),), first.code), host_counts()
    if result.size:
        options = native.struct(c.ech_set_options, descending=flag(descending, "descending"))
        job.call("ech_set_operation", first.pointer, second.pointer, result.pointer, ctypes.addressof(count),
                 first.size, second.size, operation, first.code, ctypes.byref(options))
    return head(job, result, count[0])


def _set_function(x1, x2, operation, assume_unique=False):
    first = _arrays.view(x1, "x1")
    job = Job(first)
    first, second = promoted(job, first, job.view(x2, "x2"))
    sets = [_distinct(job, view, assume_unique) for view in (first, second)]
    return job.finish(as_dtype_of(job, _combined(job, *sets, operation), first))


@operation
def union1d(x1, x2, /):
    """Find the elements that occur in at least one of two arrays.

    x1, x2: arrays of any shape; they are converted to their common dtype.

    Returns the distinct elements in ascending order, with one dimension. NaN equal each other and come last. If the
    arrays are in GPU memory, the call waits until the size of the result is known.

    >>> import echelon, numpy
    >>> echelon.union1d(numpy.array([3, 1, 3]), numpy.array([2, 1]))
    array([1, 2, 3])
    """
    return _set_function(x1, x2, c.ECH_SET_UNION)


@operation
def intersect1d(x1, x2, /, *, assume_unique=False):
    """Find the elements that occur in both of two arrays.

    x1, x2: as for union1d(). assume_unique: the elements of each array are distinct, which saves time.

    Returns the distinct elements in ascending order. In contrast to NumPy, a NaN equals a NaN of the other array.

    >>> import echelon, numpy
    >>> echelon.intersect1d(numpy.array([3, 1, 3]), numpy.array([2, 3]))
    array([3])
    """
    assume_unique = flag(assume_unique, "assume_unique")
    return _set_function(x1, x2, c.ECH_SET_INTERSECTION, assume_unique)


@operation
def setdiff1d(x1, x2, /, *, assume_unique=False):
    """Find the elements of an array that do not occur in another one.

    x1, x2, assume_unique: as for intersect1d().

    Returns the distinct elements of x1 that are not in x2, with the dtype of x1, in ascending order, also with
    assume_unique. In contrast to NumPy, a NaN equals a NaN of the other array.

    >>> import echelon, numpy
    >>> echelon.setdiff1d(numpy.array([3, 1, 3]), numpy.array([2, 3]))
    array([1])
    """
    assume_unique = flag(assume_unique, "assume_unique")
    first = _arrays.view(x1, "x1")
    job = Job(first)
    second = job.view(x2, "x2")
    if (first.code, first.kind) == (second.code, second.kind) and first.kind != "time":
        return _set_function(x1, x2, c.ECH_SET_DIFFERENCE, assume_unique)
    distinct = as_dtype_of(job, _distinct(job, first, assume_unique), first)
    missing = _found(job, distinct, second, True)
    result, count = job.empty(distinct.shape, distinct.code), host_counts()
    if distinct.size:
        job.call("ech_select_flags", distinct.pointer, missing.pointer, result.pointer, ctypes.addressof(count),
                 distinct.size, distinct.itemsize, None)
    result = job.family.view(job.family.retyped(head(job, result, count[0]).array, first.dtype))
    return job.finish(job.add(result))


@operation
def setxor1d(x1, x2, /, *, assume_unique=False):
    """Find the elements that occur in exactly one of two arrays.

    x1, x2, assume_unique: as for intersect1d().

    Returns the distinct elements in ascending order. In contrast to NumPy, a NaN equals a NaN of the other array.

    >>> import echelon, numpy
    >>> echelon.setxor1d(numpy.array([3, 1, 3]), numpy.array([2, 3]))
    array([1, 2])
    """
    assume_unique = flag(assume_unique, "assume_unique")
    return _set_function(x1, x2, c.ECH_SET_SYMMETRIC, assume_unique)


@operation
def isin(x1, x2, /, *, invert=False, out=None):
    """Find out for each element of an array whether it occurs in another one.

    x1: array of any shape; the elements to find. x2: array of any shape; it is sorted first, or integers of a small
    range on the CPU are marked in a table. invert: whether the elements do not occur. out: an array of bool with the
    shape of x1.

    Returns an array of bool with the shape of x1. x1 and x2 are converted to their common dtype. In contrast to NumPy,
    a NaN equals a NaN of the other array. If the arrays are in GPU memory, the call does not wait.

    >>> import echelon, numpy
    >>> echelon.isin(numpy.array([3, 1, 4]), [4, 3])
    array([ True, False,  True])
    """
    invert = flag(invert, "invert")
    first = _arrays.view(x1, "x1")
    job = Job(first)
    result = reshaped(job, _found(job, first, job.view(x2, "x2"), invert), first.shape)
    if out is None:
        return job.finish(result)
    return job.finish(job.output(out, first.shape, c.ECH_U8, "bool"), out, result)


def _found(job, first, second, invert):
    """The View of the flags, with one dimension, of the elements that occur in second, or that do not."""
    first, second = promoted(job, first, second)
    needles = flat(job, encoded(job, first))
    plain = job.device == "cpu" and job.family.name == "numpy" and first.size and second.size
    if plain and not first.is_float:
        found = _found_by_table(_integers(needles), _integers(flat(job, encoded(job, second))), invert)
        if found is not None:
            return job.add(needles.family.view(found))
    keys = sorted_keys(job, second)
    code = c.ECH_I32 if keys.size < 2**31 else c.ECH_I64
    lower = job.empty(needles.shape, code)
    if needles.size:
        search(job, "left", keys, needles, lower)
    if plain:
        return job.add(needles.family.view(_found_at(keys.array, lower.array, needles.array, invert)))
    upper = job.empty(needles.shape, code)
    if needles.size:
        search(job, "right", keys, needles, upper)
    with current_device(lower):
        found = lower.array == upper.array if invert else lower.array != upper.array
    return job.add(lower.family.view(found))


def _integers(view):
    return view.array.view("u1") if view.kind == "bool" else view.array


def _blocks(n):
    return (slice(at, min(n, at + _BLOCK)) for at in range(0, n, _BLOCK))


def _found_by_table(x, members, invert):
    """The flags of the integers x, from a table of the range of the members; None if the table would be large."""
    low = int(members.min())
    span = int(members.max()) - low
    if span >= _TABLE_SHARE * (x.size + members.size):
        return None
    table = np.zeros(span + 3, "u1")  # the first and the last flag are those of integers outside the range
    table[_table_positions(members, low, np.empty(members.shape, "i8"))] = 1
    if invert:
        np.logical_not(table, out=table)
    found, at = np.empty(x.shape, "u1"), np.empty(min(x.size, _BLOCK), "i8")
    for block in _blocks(x.size):
        positions = _table_positions(x[block], low, at[:block.stop - block.start])
        np.take(table, positions, mode="clip", out=found[block])
    return found.view(bool)


def _table_positions(x, low, out):
    """x - low + 1 modulo 2^64, in out: integers outside the range, also those that wrap, are outside the table."""
    if x.dtype == np.uint64:
        x = x.view("i8")
    return np.subtract(x, np.array(low - 1 & 2**64 - 1, "u8").view("i8"), out=out, dtype="i8")


def _found_at(keys, lower, x, invert):
    """The flags of x, from the lower bounds in sorted keys."""
    found = np.empty(x.shape, bool)
    for block in _blocks(x.size):
        own, key = x[block], np.take(keys, lower[block], mode="clip")
        equal = (own == key) | (own != own) & (key != key)  # NaN
        found[block] = ~equal if invert else equal
    return found


def _sorted_pair(x1, x2, names=("x1", "x2")):
    """A Job, the View whose dtype the result has, and the encoded contiguous Views of two arrays."""
    first = one_dimension(_arrays.view(x1, names[0]), names[0])
    job = Job(first)
    second = one_dimension(job.view(x2, names[1]), names[1])
    first, second = promoted(job, first, second, names)
    return job, first, job.contiguous(encoded(job, first)), job.contiguous(encoded(job, second))


@operation
def set_operation(x1, x2, /, operation, *, descending=False):
    """Compute the union, the intersection or a difference of two sorted arrays as multisets.

    x1: [n1], sorted. x2: [n2], sorted. operation: what the result contains of an element that occurs m times in x1 and
    n times in x2: "union" (max(m, n) times), "intersection" (min(m, n)), "difference" (max(m - n, 0)) or
    "symmetric_difference" (|m - n|). descending: the arrays are in descending order.

    Returns a sorted array. The order is that of argsort() and is not checked; is_sorted() checks it. Raises
    ArgumentError for an unknown operation.

    >>> import echelon, numpy
    >>> echelon.set_operation(numpy.array([1, 1, 1, 2]), numpy.array([1, 3]), "difference")
    array([1, 1, 2])
    """
    code = choice(operation, _OPERATIONS, "operation")
    job, like, first, second = _sorted_pair(x1, x2)
    return job.finish(as_dtype_of(job, _combined(job, first, second, code, descending), like))


@operation
def merge(x1, x2, /, *, descending=False, out=None):
    """Merge two sorted arrays.

    x1: [n1], sorted. x2: [n2], sorted. descending: the arrays are in descending order. out: [n1 + n2].

    Returns an array [n1 + n2] of the common dtype. Equal elements of x1 precede those of x2. The order is that of
    argsort() and is not checked; is_sorted() checks it.

    >>> import echelon, numpy
    >>> echelon.merge(numpy.array([1, 4]), numpy.array([2, 3]))
    array([1, 2, 3, 4])
    """
    job, like, first, second = _sorted_pair(x1, x2)
    target = job.output(out, (first.size + second.size,), like.code, like.kind, like)
    result = result_for(job, target, first, second)
    if result.size:
        job.call("ech_merge", first.pointer, second.pointer, result.pointer, first.size, second.size, first.code,
                 _merge_options(descending))
    return job.finish(target, out, as_dtype_of(job, result, target) if like.kind == "time" else result)


def _merge_options(descending):
    return ctypes.byref(native.struct(c.ech_merge_options, descending=flag(descending, "descending")))


@operation
def merge_pairs(keys1, values1, keys2, values2, /, *, descending=False, out=None):
    """Merge two arrays of sorted keys, and move a value with each key.

    keys1: [n1], sorted. values1: [n1] or [n1, ...], of any dtype. keys2: [n2], sorted. values2: [n2] or [n2, ...], like
    values1. descending: the keys are in descending order. out: a pair of arrays (keys, values) that receive the
    results.

    Returns (keys, values), [n1 + n2] and [n1 + n2, ...]. Equal keys of keys1 precede those of keys2.

    >>> import echelon, numpy
    >>> echelon.merge_pairs(numpy.array([1, 4]), numpy.array([10, 40]), numpy.array([2]), numpy.array([20]))[1]
    array([10, 20, 40])
    """
    job, like, first, second = _sorted_pair(keys1, keys2, ("keys1", "keys2"))
    values = _values(job, values1, first, "values1"), _values(job, values2, second, "values2")
    _same_values(*values)
    n = first.size + second.size
    out = two_outputs(out)
    targets = (job.output(out[0], (n,), like.code, like.kind, like, "out[0]"),
               job.output(out[1], (n, *values[0].shape[1:]), values[0].code, values[0].kind, values[0], "out[1]"))
    keys_out, values_out = [result_for(job, target, first, second, *values) for target in targets]
    if n and values_out.nbytes:
        job.call("ech_merge_pairs", first.pointer, values[0].pointer, second.pointer, values[1].pointer,
                 keys_out.pointer, values_out.pointer, first.size, second.size, first.code, values_out.nbytes // n,
                 _merge_options(descending))
    elif n:
        job.call("ech_merge", first.pointer, second.pointer, keys_out.pointer, first.size, second.size, first.code,
                 _merge_options(descending))
    return (job.finish(targets[0], out[0], as_dtype_of(job, keys_out, like)),
            job.finish(targets[1], out[1], values_out))


def _values(job, x, keys, name):
    view = job.view(x, name)
    if view.ndim == 0:
        raise ArgumentError(f"{name} has no dimensions, but must have at least one")
    n = same_length(keys, view, name)
    return job.contiguous(view, view.nbytes // n if n else 1)


def _same_values(first, second):
    if first.shape[1:] != second.shape[1:]:
        raise ArgumentError(f"values2 has shape {second.shape}, but its elements must have the shape "
                            f"{first.shape[1:]} of those of values1")
    if first.dtype != second.dtype:
        raise DTypeError(f"values2 has dtype {second.dtype}, but values1 has dtype {first.dtype}")


@operation
def merge_many(x, offsets, /, *, values=None, descending=False, out=None):
    """Merge the sorted runs of an array.

    x: [n]. offsets: [runs + 1], integers; run r is x[offsets[r]:offsets[r + 1]] and is sorted; offsets[0] = 0 and
    offsets[-1] = n. values: None, or [n] or [n, ...], of any dtype: values[i] belongs to x[i]. descending: the runs are
    in descending order. out: an array [n] of the dtype of x; with values, a pair of arrays.

    Returns an array [n], or a pair of this array and the values in the same order. Equal elements keep their order.
    Raises ArgumentError for other offsets; if they are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.merge_many(numpy.array([1, 4, 2, 3, 0]), [0, 2, 4, 5])
    array([0, 1, 2, 3, 4])
    """
    view = one_dimension(_arrays.view(x), "x")
    job = Job(view)
    places, runs = segments_of(job, offsets)
    source = job.contiguous(encoded(job, view))
    moved = _values(job, values, view, "values") if values is not None else None
    outs = (out, None) if moved is None else two_outputs(out)
    inputs = [array for array in (source, places, moved) if array is not None]
    target = job.output(outs[0], view.shape, view.code, view.kind, view)
    keys = result_for(job, target, *inputs)
    if moved is not None:
        moved_target = job.output(outs[1], moved.shape, moved.code, moved.kind, moved, "out[1]")
        moved_out = result_for(job, moved_target, *inputs)
    n = view.size
    options = _merge_options(descending)
    if moved is not None and moved.nbytes:
        job.call("ech_merge_many_pairs", source.pointer, moved.pointer, places.pointer, keys.pointer,
                 moved_out.pointer, n, runs, source.code, moved.nbytes // n, places.code, options)
    else:
        job.call("ech_merge_many", source.pointer, places.pointer, keys.pointer, n, runs, source.code, places.code,
                 options)
    keys = job.finish(target, outs[0], as_dtype_of(job, keys, view))
    return keys if moved is None else (keys, job.finish(moved_target, outs[1], moved_out))
