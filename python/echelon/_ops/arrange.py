"""Rearranging: take, scatter, flip, roll, transposes, repeat, permutations, shuffles, samples.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .. import _arrays
from .._arrays.layout import along_last, moved_back, ranges_overlap
from .._arrays.numpy_family import address
from .._arrays.view import check_indices, normalized_axis
from .._runtime.arguments import integer
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .common import Items, cast, current_device, index_view, is_signed, namespace, reshaped, result_for, wrapped
from .select import decoded
from .sort import index_code


def _may_wait(job):
    """Whether a call reports an invalid index itself."""
    return job.device == "cpu"


def _indexed(job, name, source, index, target, n, extent, item_bytes):
    """ech_gather() or ech_scatter() with negative indices as in NumPy."""
    if not (n and item_bytes):
        _check_empty(job, index, extent)
        return
    if not (_may_wait(job) and is_signed(index)):
        index = wrapped(job, index, extent)
        job.call(name, source.pointer, index.pointer, target.pointer, n, extent, index.code, item_bytes)
        return
    try:  # indices are seldom negative, and the call checks them anyway
        job.call(name, source.pointer, index.pointer, target.pointer, n, extent, index.code, item_bytes)
    except ArgumentError:
        if not bool((index.array < 0).any()):
            raise
        index = wrapped(job, index, extent)
        job.call(name, source.pointer, index.pointer, target.pointer, n, extent, index.code, item_bytes)


def _check_empty(job, index, extent):
    """Checks indices of items that have no elements. Such a call is not queued."""
    low = -extent if is_signed(index) else 0
    index = cast(job, index, c.ECH_I64)  # PyTorch has no maximum of unsigned integers
    with current_device(index):
        is_outside = index.size and (int(index.array.max()) >= extent or int(index.array.min()) < low)
    if is_outside:
        raise ArgumentError(f"indices contains a position outside the {extent} items of the axis")


@operation
def take(x, indices, /, *, axis=None, out=None):
    """Read items of an array by position along an axis.

    x: array of at least one dimension. indices: integers, an array of any shape; negative ones count from the end.
    axis: the axis; None, the default, reads from the flattened array. out: an array of the shape of the result and the
    dtype of x.

    Returns an array with the shape of x in which the shape of indices replaces the axis. Raises ArgumentError for an
    index outside the axis; if the arrays are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.take(numpy.array([10, 20, 30]), numpy.array([2, 0, -1]))
    array([30, 10, 30])
    """
    view = _arrays.view(x)
    job = Job(view)
    items = Items(job, view, axis)
    index = index_view(job, indices, "indices")
    target, result = items.target(out, *index.shape)
    _indexed(job, "ech_gather", items.items, index, result, index.size, items.n, items.item_bytes)
    return items.finish(out, target, result, index.ndim)


def _flat_positions(job, index, axis, cols):
    """The View of the positions in rows of the indices along the last axis; an invalid index becomes -1."""
    index = cast(job, index, c.ECH_I64)
    xp, family, shape = namespace(index), index.family, (index.size // index.shape[-1], index.shape[-1])
    with current_device(index):
        places = xp.reshape(index.array, shape)
        invalid = (places < -cols) | (places >= cols)
    if _may_wait(job) and bool(invalid.any()):
        raise ArgumentError(f"indices contains a position outside the {cols} elements of axis {axis}")
    starts = job.add(family.view(family.empty(shape[:1], family.dtype(c.ECH_I64), job.device)))
    step = np.full(1, cols, np.int64)
    job.call("ech_iota", starts.pointer, starts.size, c.ECH_I64, None, address(step))
    with current_device(index):
        places = places + (places < 0) * cols + xp.reshape(starts.array, (shape[0], 1))
        places[invalid] = -1
    return job.contiguous(job.add(family.view(places)))


@operation
def take_along_axis(x, indices, /, *, axis=-1, out=None):
    """Read elements of each row of an array by position along an axis, as argsort() and top_k() return them.

    x: array of at least one dimension. indices: integers, an array with as many dimensions as x; dimensions other than
    axis have the size of x or 1. Negative indices count from the end. axis: the axis; None uses the flattened x and
    indices of one dimension. out: an array of the shape of the result and the dtype of x.

    Returns an array with the shape of x in which the axis has its size in indices. Raises ArgumentError for an index
    outside the axis; if the arrays are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> x = numpy.array([[3, 1, 2], [7, 9, 8]])
    >>> echelon.take_along_axis(x, echelon.argsort(x))
    array([[1, 2, 3],
           [7, 8, 9]])
    """
    view = _arrays.view(x)
    job = Job(view)
    if axis is None:
        view, axis = reshaped(job, job.contiguous(view), (view.size,)), 0
    index = index_view(job, indices, "indices")
    if index.ndim != view.ndim or view.ndim == 0:
        raise ArgumentError(f"indices has {index.ndim} dimensions and x has {view.ndim}, but must have the same number "
                            "of at least one")
    axis = normalized_axis(axis, view.ndim)
    shape = view.shape[:axis] + (index.shape[axis],) + view.shape[axis + 1:]
    if any(n not in (1, extent) for n, extent in zip(index.shape, shape)):
        raise ArgumentError(f"indices has shape {index.shape}, but the dimensions other than {axis} must have the size "
                            f"of x, {view.shape}, or 1")
    target = job.output(out, shape, view.code, view.kind, view, same=view) if out is not None else None
    if index.shape != shape:
        index = job.add(index.family.view(namespace(index).broadcast_to(index.array, shape)))
    source, places = along_last(job, view, axis), along_last(job, index, axis)
    result = job.empty(places.shape, view.code, view.kind, view)
    if result.size:
        flat = _flat_positions(job, places, axis, view.shape[axis])
        job.call("ech_gather", source.pointer, flat.pointer, result.pointer, result.size, source.size, c.ECH_I64,
                 source.itemsize)
    result = moved_back(job, result, axis, view.ndim)
    return job.finish(result if target is None else target, out, result)


@operation
def scatter(x, indices, values, /, *, out=None):
    """Write items to an array by position: a copy of x in which item indices[i] is values[i].

    x: [n] or [n, ...]. indices: [m], integers; negative ones count from the end. values: [m] or [m, ...], with the
    dtype of x and items of the same shape, or one number for all. out: an array of the shape and dtype of x that
    receives the result; it may be x: then only these items are written.

    Returns an array like x. If an index occurs several times, the item is one of these values. Raises ArgumentError for
    an index outside x; if the arrays are in GPU memory, synchronize() raises it.

    >>> import echelon, numpy
    >>> echelon.scatter(numpy.array([0, 0, 0]), [2, 0], numpy.array([5, 6]))
    array([6, 0, 5])
    """
    view = _arrays.view(x)
    job = Job(view)
    if view.ndim == 0:
        raise ArgumentError("x has no dimensions, but must have at least one")
    index = index_view(job, indices, "indices")
    if index.ndim != 1:
        raise ArgumentError(f"indices has {index.ndim} dimensions, but must have one")
    items = _scattered(job, view, values, index.size)
    target = job.output(out, view.shape, view.code, view.kind, view, same=view)
    result = target if target.contiguous else job.empty(view.shape, view.code, view.kind, view)
    if ranges_overlap(result, items) or ranges_overlap(result, index):
        result = job.empty(view.shape, view.code, view.kind, view)
    source = job.contiguous(view)
    if result.pointer != source.pointer and result.size:
        job.call("ech_copy_async", result.pointer, source.pointer, source.nbytes)
    extent = view.shape[0]
    _indexed(job, "ech_scatter", items, index, result, index.size, extent, view.nbytes // extent if extent else 0)
    return job.finish(target, out, result)


def _scattered(job, view, values, m):
    """The View of the items to write."""
    found = job.view(values, "values")
    shape = (m, *view.shape[1:])
    if _arrays.family_of(values) is None and (found.code, found.kind) != (view.code, view.kind):
        try:  # numbers and lists adopt the dtype of x if that can represent them
            converted = np.asarray(values, _arrays.NAMES[view.code] if view.kind != "bool" else bool)
            if not np.array_equal(converted, np.asarray(values)):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise DTypeError(f"values cannot be converted to {view.dtype}, the dtype of x") from None
        found = job.view(converted.tolist() if job.device != "cpu" else converted, "values")
        found = found if found.code == view.code else cast(job, found, view.code)
    if (found.code, found.kind) != (view.code, view.kind) or view.kind == "time" and found.dtype != view.dtype:
        raise DTypeError(f"values has dtype {found.dtype}, but x has dtype {view.dtype}")
    if found.ndim == 0:
        found = job.add(found.family.view(namespace(found).broadcast_to(found.array, shape)))
    if found.shape != shape:
        raise ArgumentError(f"values has shape {found.shape}, but must have shape {shape}")
    return job.contiguous(found)


def _axes(axis, ndim):
    """The axes of flip() and roll() as numbers from 0."""
    axes = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    found = [normalized_axis(number, ndim) for number in axes]
    if len(set(found)) != len(found):
        raise ArgumentError(f"axis is {axis}, which contains an axis twice")
    return found


@operation
def flip(x, /, *, axis=None, out=None):
    """Reverse the order of the items of an array along one or more axes.

    x: array of any shape. axis: the axis, or a tuple of axes; None, the default, stands for all axes. out: an array of
    the shape and dtype of x; it may be x.

    Returns an array like x; in contrast to numpy.flip(), it is a copy in C order.

    >>> import echelon, numpy
    >>> echelon.flip(numpy.array([[1, 2], [3, 4]]), axis=1)
    array([[2, 1],
           [4, 3]])
    """
    view = _arrays.view(x)
    job = Job(view)
    axes = _axes(axis, view.ndim)
    target = job.output(out, view.shape, view.code, view.kind, view, same=view)
    result = job.contiguous(view)
    if len(axes) == view.ndim and view.ndim:  # the reverse of all elements
        result = _reversed(job, result, view.size, view.itemsize)
    else:
        for number in axes:
            items = Items(job, result, number)
            turned = _reversed(job, items.items, items.n, items.item_bytes)
            result = job.add(view.family.view(items.back(turned.array)))
    if out is None and result.pointer == view.pointer and view.size:
        result = job.add(view.family.view(view.family.contiguous(view.array)))
    return job.finish(target if out is not None else result, out, result)


def _reversed(job, view, n, item_bytes):
    result = job.empty(view.shape, view.code, view.kind, view)
    if n and item_bytes:
        job.call("ech_reverse", view.pointer, result.pointer, n, item_bytes)
    return result


@operation
def roll(x, /, shift, *, axis=None, out=None):
    """Rotate the items of an array along an axis: the item at position i moves to position i + shift, modulo the size.

    x: array of any shape. shift: an integer, or a tuple of integers for several axes. axis: the axis, or a tuple of
    axes; None, the default, rotates the flattened array. out: an array of the shape and dtype of x; it may be x.

    Returns an array like x.

    >>> import echelon, numpy
    >>> echelon.roll(numpy.array([1, 2, 3, 4]), 1)
    array([4, 1, 2, 3])
    """
    view = _arrays.view(x)
    job = Job(view)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    shifts = [integer(number, "shift") for number in shifts]
    target = job.output(out, view.shape, view.code, view.kind, view, same=view)
    result = job.contiguous(view)
    if axis is None:
        result = _rotated(job, result, view.size, view.itemsize, sum(shifts))
    else:
        axes = axis if isinstance(axis, (tuple, list)) else (axis,)
        if len(shifts) not in (1, len(axes)):
            raise ArgumentError(f"shift has {len(shifts)} numbers, but axis has {len(axes)}")
        for number, by in zip(axes, shifts if len(shifts) == len(axes) else shifts * len(axes)):
            items = Items(job, result, normalized_axis(number, view.ndim))
            turned = _rotated(job, items.items, items.n, items.item_bytes, by)
            result = job.add(view.family.view(items.back(turned.array)))
        if not axes:
            result = job.add(view.family.view(view.family.contiguous(view.array)))
    return job.finish(target if out is not None else result, out, result)


def _rotated(job, view, n, item_bytes, by):
    result = job.empty(view.shape, view.code, view.kind, view)
    if n and item_bytes:
        job.call("ech_rotate", view.pointer, result.pointer, n, item_bytes, -by % n)
    return result


@operation
def matrix_transpose(x, /, *, out=None):
    """Transpose a matrix, or each matrix of an array.

    x: [rows, cols] or [..., rows, cols]. out: [..., cols, rows], of the dtype of x.

    Returns an array [..., cols, rows]; in contrast to numpy.matrix_transpose(), it is a copy in C order.

    >>> import echelon, numpy
    >>> echelon.matrix_transpose(numpy.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    view = _arrays.view(x)
    job = Job(view)
    if view.ndim < 2:
        raise ArgumentError(f"x has {view.ndim} dimensions, but must have at least two")
    rows, cols = view.shape[-2:]
    target = job.output(out, (*view.shape[:-2], cols, rows), view.code, view.kind, view, same=view)
    source = job.contiguous(view)
    result = result_for(job, target, source)
    step = rows * cols * view.itemsize
    for offset in range(0, view.nbytes, step) if step else ():
        job.call("ech_transpose", source.pointer + offset, result.pointer + offset, rows, cols, view.itemsize)
    return job.finish(target, out, result)


@operation
def repeat(x, repeats, /, *, axis=None, out=None):
    """Repeat each item of an array along an axis.

    x: array of any shape. repeats: an integer of at least 0, or an array [n] of integers: how often each item occurs in
    the result. axis: the axis, of size n; None, the default, repeats the elements of the flattened array. out: an array
    of the shape of the result and the dtype of x.

    Returns an array like x in which the axis has the size of the sum of repeats. If repeats is an array in GPU memory,
    the call waits until this sum is known.

    >>> import echelon, numpy
    >>> echelon.repeat(numpy.array([7, 5]), [2, 1])
    array([7, 7, 5])
    """
    view = _arrays.view(x)
    job = Job(view)
    items = Items(job, view, axis)
    lengths = job.view(repeats, "repeats")
    total = None
    if lengths.ndim == 0 and _arrays.family_of(repeats) is None:
        number = integer(repeats, "repeats", 0, 2**63 - 1)
        total = number * items.n
        lengths = job.empty((items.n,), c.ECH_I64)
        value = np.full(1, number, np.int64)
        job.call("ech_fill", lengths.pointer, items.n, 8, address(value))
    elif lengths.ndim == 0 or lengths.shape == (1,):
        lengths = reshaped(job, job.contiguous(lengths), (1,))
        lengths = job.add(lengths.family.view(namespace(lengths).broadcast_to(lengths.array, (items.n,))))
    if lengths.shape != (items.n,):
        raise ArgumentError(f"repeats has shape {lengths.shape}, but must be a number or have shape {(items.n,)}")
    return decoded(job, items, lengths, total, out, "repeats")


def _seed(seed):
    return integer(seed, "seed", 0, 2**64 - 1)


@operation
def permutation(n, /, *, seed=0, dtype=None, out=None):
    """Return a random permutation of the numbers from 0 to n - 1.

    n: the number of elements. seed: 0 to 2^64 - 1. dtype: of the result: int64 (the default), int32, uint32 or uint64.
    out: [n], of any array library, receives the result; dtype is then that of out.

    Returns an array [n] of NumPy, or out. The result depends only on n and seed, not on the device. The generator is
    not cryptographic.

    >>> import echelon, numpy
    >>> sorted(echelon.permutation(5, seed=1).tolist())
    [0, 1, 2, 3, 4]
    """
    n = integer(n, "n", 0, 2**62)
    seed = _seed(seed)
    if out is None:
        code = index_code(dtype, n)
        job = Job(_arrays.view(np.empty(0)))
        target = job.empty((n,), code)
    else:
        if _arrays.family_of(out) is None:
            raise DTypeError(f"out is {type(out).__name__}, but must be an array")
        target = check_indices(_arrays.view(out, "out"), "out")
        job = Job(target)
        index_code(_arrays.NAMES[target.code], n)
        target = job.output(out, (n,), target.code, same=target)
    result = result_for(job, target)
    if n:
        job.call("ech_permutation", result.pointer, n, result.code, seed)
    return job.finish(target, out, result)


@operation
def shuffle(x, /, *, seed=0, axis=0, out=None):
    """Write the items of an array in random order: item i of the result is item permutation(n, seed=seed)[i] of x.

    x: array of at least one dimension. seed: as for permutation(). axis: the axis; None shuffles the flattened array.
    out: an array of the shape and dtype of x; it may be x.

    Returns an array like x.

    >>> import echelon, numpy
    >>> sorted(echelon.shuffle(numpy.array([3, 4, 5]), seed=1).tolist())
    [3, 4, 5]
    """
    view = _arrays.view(x)
    job = Job(view)
    items, seed = Items(job, view, axis), _seed(seed)
    target, result = items.target(out, items.n)
    if items.n and items.item_bytes:
        job.call("ech_shuffle", items.pointer, result.pointer, items.n, items.item_bytes, seed)
    return items.finish(out, target, result)


@operation
def sample(x, k, /, *, seed=0, axis=0, out=None):
    """Draw k items of an array without replacement: the first k items of shuffle() with the same seed.

    x: array of at least one dimension. k: 0 to the size of the axis. seed: as for permutation(). axis: the axis; None
    draws from the flattened array. out: an array of the shape of the result and the dtype of x.

    Returns an array like x in which the axis has the size k. The items are in random order.

    >>> import echelon, numpy
    >>> bool(echelon.isin(echelon.sample(numpy.array([3, 4, 5]), 2, seed=1), [3, 4, 5]).all())
    True
    """
    view = _arrays.view(x)
    job = Job(view)
    items, seed = Items(job, view, axis), _seed(seed)
    k = integer(k, "k", 0, items.n)
    target, result = items.target(out, k)
    if k and items.item_bytes:
        job.call("ech_sample", items.pointer, result.pointer, items.n, k, items.item_bytes, seed)
    return items.finish(out, target, result)
