"""Selections: compress, nonzero, select_if, partitions by flags and tests, runs of equal elements.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .. import _arrays
from .._arrays.numpy_family import address
from .._runtime import native
from .._runtime.arguments import choice, flag, integer
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .common import Items, as_dtype_of, cast, current_device, element, flat, head, host_counts, reshaped, result_for
from .sort import index_code, one_dimension, same_length
from .time_keys import encoded

COMPARES = {"nonzero": c.ECH_COMPARE_NONZERO, "<": c.ECH_COMPARE_LESS, "<=": c.ECH_COMPARE_LESS_EQUAL,
            "==": c.ECH_COMPARE_EQUAL, "!=": c.ECH_COMPARE_NOT_EQUAL, ">=": c.ECH_COMPARE_GREATER_EQUAL,
            ">": c.ECH_COMPARE_GREATER, "isnan": c.ECH_COMPARE_IS_NAN, "has_any": c.ECH_COMPARE_HAS_ANY,
            "has_all": c.ECH_COMPARE_HAS_ALL, "has_none": c.ECH_COMPARE_HAS_NONE}
_WITHOUT_VALUE = ("nonzero", "isnan")


def _options(**fields):
    return ctypes.byref(native.struct(c.ech_select_options, **fields))


def _flags(job, flags, n, packed=False, name="flags"):
    """The View of flags as bytes, or as bits, contiguous, for n items or fewer; and the number of items."""
    view = one_dimension(job.view(flags, name), name)
    if packed:
        if view.code != c.ECH_U8 or view.kind:
            raise DTypeError(f"{name} has dtype {view.dtype}, but packed flags must have uint8")
        if view.size != (n + 7) // 8:
            raise ArgumentError(f"{name} has length {view.size}, but the bits of {n} flags need {(n + 7) // 8} bytes")
        return job.contiguous(view), n
    if view.size > n:
        raise ArgumentError(f"{name} has length {view.size}, but x has length {n}")
    if view.kind == "time" or view.itemsize != 1:
        with current_device(view):
            view = job.add(view.family.view(view.array != 0))
    return job.contiguous(view), view.size


def _count(job, flags, count, n, invert, packed):
    """Counts the flags that are set, for items without elements."""
    places = job.empty((n,), c.ECH_I64)
    job.call("ech_select_flags", None, flags.pointer, places.pointer, ctypes.addressof(count), n, 1,
             _options(invert=flag(invert, "invert"), packed=flag(packed, "packed"), positions=c.ECH_I64))


@operation
def compress(condition, x, /, *, axis=None, invert=False, packed=False):
    """Select items of an array along an axis by flags.

    condition: [m], bool or numbers; item i is selected if condition[i] is not 0. m is at most n, the size of the axis;
    items from m on are not selected. x: array of any shape. axis: the axis; None, the default, selects from the
    flattened array. invert: select the items below m whose flag is 0. packed: condition is [(n + 7) // 8] of uint8, and
    flag i is bit i % 8 of byte i // 8.

    Returns an array like x in which the axis has the size of the selection. The items keep their order. If x is in GPU
    memory, the call waits until that size is known. Raises ArgumentError if condition is too long.

    >>> import echelon, numpy
    >>> echelon.compress([True, False, True], numpy.array([[1, 2, 3], [4, 5, 6]]), axis=1)
    array([[1, 3],
           [4, 6]])
    """
    packed = flag(packed, "packed")
    view = _arrays.view(x)
    job = Job(view)
    items = Items(job, view, axis)
    flags, n = _flags(job, condition, items.n, packed, "condition")
    _, result = items.target(None, n)
    count = host_counts()
    if n and items.item_bytes:
        job.call("ech_select_flags", items.pointer, flags.pointer, result.pointer, ctypes.addressof(count), n,
                 items.item_bytes, _options(invert=flag(invert, "invert"), packed=flag(packed, "packed")))
    else:
        _count(job, flags, count, n, invert, packed)
    return items.finish(None, None, head(job, result, count[0]))


@operation
def nonzero(x, /, *, dtype=None):
    """Find the positions of the elements that are not 0.

    x: array of at least one dimension. dtype: of the positions: int64 (the default), int32, uint32 or uint64.

    Returns a tuple with an array [k] for each dimension: element i of all of them is the position of a nonzero element,
    in C order. NaN is not 0. If x is in GPU memory, the call waits until k is known.

    >>> import echelon, numpy
    >>> echelon.nonzero(numpy.array([[0, 2], [3, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    view = _arrays.view(x)
    job = Job(view)
    if view.ndim == 0:
        raise ArgumentError("x has no dimensions, but must have at least one")
    code = index_code(dtype, view.size)
    source = flat(job, view)
    found = _selected(job, source, "nonzero", None, positions=code if view.ndim == 1 else c.ECH_I64)
    if view.ndim == 1:
        return (job.finish(found),)
    places, rest = [], found.array
    with current_device(found):
        for extent in reversed(view.shape):
            places.append(job.finish(cast(job, job.add(view.family.view(rest % max(extent, 1))), code)))
            rest = rest // max(extent, 1)
    return tuple(reversed(places))


def _test(job, view, compare, value):
    """The ech_compare and the element of a test."""
    code = choice(compare, COMPARES, "compare")
    if compare in _WITHOUT_VALUE:
        if value is not None:
            raise ArgumentError(f"value is {value!r}, but the test {compare!r} has no value")
        return code, None
    if value is None:
        raise ArgumentError(f"value is missing, but the test {compare!r} needs it")
    if code >= c.ECH_COMPARE_HAS_ANY and (view.is_float or view.kind):
        raise DTypeError(f"x has dtype {view.dtype}, but the test {compare!r} is only for integers")
    if view.kind == "time":
        raise DTypeError(f"x has dtype {view.dtype}, but tests are only for numbers; use compress()")
    return code, element(value, view, "value")


def _selected(job, source, compare, value, invert=False, positions=0):
    """The View of the selected elements, or of their positions if the ech_dtype of positions is given."""
    code, number = _test(job, source, compare, value)
    result = job.empty(source.shape, positions or source.code, "" if positions else source.kind, source)
    count = host_counts()
    if source.size:
        job.call("ech_select_if", code, source.pointer, result.pointer, ctypes.addressof(count), source.size,
                 source.code, None if number is None else address(number),
                 _options(invert=flag(invert, "invert"), positions=positions))
    return head(job, result, count[0])


@operation
def select_if(x, /, compare, value=None, *, invert=False, positions=False, dtype=None):
    """Select the elements that pass a test.

    x: array of any shape, which is flattened. compare: the test of an element against value: "<", "<=", "==", "!=",
    ">=" or ">"; "nonzero" or "isnan", without a value; for integers also "has_any", "has_all" or "has_none": of the
    bits that are set in value, at least one, all or none is set. value: a number that the dtype of x can represent.
    invert: select the elements that do not pass. positions: return the positions in the flattened x. dtype: of the
    positions, as for nonzero().

    Returns the selected elements, or their positions, in the order of x. A NaN passes only "!=", "nonzero" and "isnan".
    If x is in GPU memory, the call waits until the size is known. Raises ArgumentError for an unknown test and for a
    value that x cannot contain.

    >>> import echelon, numpy
    >>> echelon.select_if(numpy.array([3, 1, 2]), ">", 1)
    array([3, 2])
    """
    positions = flag(positions, "positions")
    view = _arrays.view(x)
    job = Job(view)
    code = index_code(dtype, view.size)
    found = _selected(job, flat(job, view), compare, value, invert, code if positions else 0)
    return job.finish(found)


@operation
def partition_flags(x, flags, /, *, packed=False, invert=False, out=None):
    """Move the items of an array whose flag is set to the front.

    x: [n] or [n, ...], of any dtype. flags: [n], bool or numbers. packed: flags are bits, as for compress(). invert:
    move the items whose flag is not set to the front. out: an array of the shape and dtype of x.

    Returns (array, count): the first count items are those whose flag is set, then the others; both keep their order.
    count is an int. If x is in GPU memory, the call waits until it is known.

    >>> import echelon, numpy
    >>> echelon.partition_flags(numpy.array([1, 2, 3, 4]), [False, True, False, True])
    (array([2, 4, 1, 3]), 2)
    """
    packed = flag(packed, "packed")
    view = _arrays.view(x)
    job = Job(view)
    items = Items(job, view, 0)
    bits, n = _flags(job, flags, items.n, packed)
    if n != items.n:
        raise ArgumentError(f"flags has length {n}, but must have length {items.n}")
    target, result = items.target(out, n)
    count = host_counts()
    if n and items.item_bytes:
        job.call("ech_partition_flags", items.pointer, bits.pointer, result.pointer, ctypes.addressof(count), n,
                 items.item_bytes, _options(invert=flag(invert, "invert"), packed=flag(packed, "packed")))
    else:
        _count(job, bits, count, n, invert, packed)
    return items.finish(out, target, result), count[0]


@operation
def partition_if(x, /, compare, value=None, *, invert=False, out=None):
    """Move the elements that pass a test to the front.

    x, compare, value: as for select_if(). invert: move the elements that do not pass to the front. out: an
    array of the size of x, with one dimension, and the dtype of x.

    Returns (array, count): the flattened x, with the count elements that pass first; both parts keep their order. count
    is an int. If x is in GPU memory, the call waits until it is known.

    >>> import echelon, numpy
    >>> echelon.partition_if(numpy.array([1, 2, 3, 4]), ">", 2)
    (array([3, 4, 1, 2]), 2)
    """
    view = _arrays.view(x)
    job = Job(view)
    source = flat(job, view)
    code, number = _test(job, source, compare, value)
    target, count = job.output(out, source.shape, view.code, view.kind, view, same=view), host_counts()
    result = result_for(job, target, source)
    if source.size:
        job.call("ech_partition_if", code, source.pointer, result.pointer, ctypes.addressof(count), source.size,
                 source.code, None if number is None else address(number), _options(invert=flag(invert, "invert")))
    return job.finish(target, out, result), count[0]


@operation
def partition_3way(x, /, low, high, *, out=None):
    """Move the elements less than low to the front, and those greater than high to the end.

    x: array of any shape, which is flattened. low, high: numbers that the dtype of x can represent; low <= high.
    out: an array of the size of x, with one dimension, and the dtype of x.

    Returns (array, (less, between)): the less elements below low, then the between elements from low to high (both
    inclusive), then those above high and NaN. Each part keeps its order. The counts are ints. If x is in GPU memory,
    the call waits until they are known.

    >>> import echelon, numpy
    >>> echelon.partition_3way(numpy.array([9, 1, 5, 4, 0]), 4, 5)
    (array([1, 0, 5, 4, 9]), (2, 2))
    """
    view = _arrays.view(x)
    job = Job(view)
    if view.kind == "time":
        raise DTypeError(f"x has dtype {view.dtype}, but must have numbers")
    source = flat(job, view)
    bounds = element(low, view, "low"), element(high, view, "high")
    target, counts = job.output(out, source.shape, view.code, view.kind, view, same=view), host_counts(2)
    result = result_for(job, target, source)
    job.call("ech_partition_3way", source.pointer, result.pointer, ctypes.addressof(counts), source.size, source.code,
             address(bounds[0]), address(bounds[1]), None)
    return job.finish(target, out, result), (counts[0], counts[1])


def _runs(job, source, lengths=False):
    """The Views of the first element of each run, and of the lengths of the runs or None."""
    result, count = job.empty(source.shape, source.code), host_counts()
    sizes = job.empty(source.shape, c.ECH_I64) if lengths else None
    if source.size and lengths:
        job.call("ech_rle_encode", source.pointer, result.pointer, sizes.pointer, ctypes.addressof(count), source.size,
                 source.code, None)
    elif source.size:
        job.call("ech_unique", source.pointer, result.pointer, ctypes.addressof(count), source.size, source.code, None)
    return head(job, result, count[0]), head(job, sizes, count[0]) if lengths else None


@operation
def rle_encode(x, /):
    """Find the runs of equal elements: run-length encoding.

    x: array of any shape, which is flattened.

    Returns (values, lengths): the first element of each run, and the number of its elements, int64. -0 equals +0, and
    all NaN are equal. If x is in GPU memory, the call waits until the number of runs is known.

    >>> import echelon, numpy
    >>> echelon.rle_encode(numpy.array([7, 7, 5, 7]))
    (array([7, 5, 7]), array([2, 1, 1]))
    """
    view = _arrays.view(x)
    job = Job(view)
    values, lengths = _runs(job, flat(job, encoded(job, view)), True)
    return job.finish(as_dtype_of(job, values, view)), job.finish(lengths)


def decoded(job, items, lengths, total=None, out=None, name="lengths"):
    """What rle_decode() and repeat() return; lengths is a View."""
    if lengths.kind or lengths.is_float:
        raise DTypeError(f"{name} has dtype {lengths.dtype}, but must have an integer dtype")
    lengths = job.contiguous(lengths if lengths.code in (c.ECH_I64, c.ECH_U64) else cast(job, lengths, c.ECH_I64))
    same_length(items.items, lengths, name)
    if lengths.size and job.device == "cpu" and lengths.code == c.ECH_I64 and int(lengths.array.min()) < 0:
        raise ArgumentError(f"{name} contains {int(lengths.array.min())}, but each must be at least 0")
    if total is None:
        signed = lengths.family.retyped(lengths.array, lengths.family.dtype(c.ECH_I64))
        with current_device(lengths):
            total = int(signed.sum()) if lengths.size else 0
        if total < 0:
            raise ArgumentError(f"{name} contains numbers whose sum is negative or exceeds 2^63 - 1")
    else:
        total = integer(total, "total", 0)
    target, result = items.target(out, total)
    if items.item_bytes and items.n:
        job.call("ech_rle_decode", items.pointer, lengths.pointer, result.pointer, items.n, total, items.item_bytes,
                 None)
    return items.finish(out, target, result)


@operation
def rle_decode(values, lengths, /, *, total=None, out=None):
    """Repeat each item as many times as its length specifies: the inverse of rle_encode().

    values: [runs] or [runs, ...], of any dtype. lengths: [runs], integers of at least 0. total: None, or the sum of the
    lengths if it is known; then the call does not wait if the arrays are in GPU memory. out: [total, ...], of the dtype
    of values.

    Returns an array [total, ...]. Raises ArgumentError if a length is negative or if the sum exceeds total; if the
    arrays are in GPU memory and total is given, synchronize() raises it. If total exceeds the sum, the remaining items
    are undefined.

    >>> import echelon, numpy
    >>> echelon.rle_decode(numpy.array([7, 5]), numpy.array([2, 1]))
    array([7, 7, 5])
    """
    view = _arrays.view(values, "values")
    job = Job(view)
    return decoded(job, Items(job, view, 0), one_dimension(job.view(lengths, "lengths"), "lengths"), total, out)


@operation
def unique_consecutive(x, /, *, return_inverse=False, return_counts=False):
    """Remove repetitions of adjacent elements.

    x: array of any shape, which is flattened. return_inverse: also return the position in the result of each element of
    x, with the shape of x, int64. return_counts: also return how many elements each one stands for, int64.

    Returns the first element of each run of equal elements, or a tuple of them and of the arrays that are also
    returned, in this order, as torch.unique_consecutive(). -0 equals +0, and all NaN are equal. If x is in GPU memory,
    the call waits until the size is known.

    >>> import echelon, numpy
    >>> echelon.unique_consecutive(numpy.array([7, 7, 5, 7]), return_counts=True)
    (array([7, 5, 7]), array([2, 1, 1]))
    """
    return_inverse, return_counts = flag(return_inverse, "return_inverse"), flag(return_counts, "return_counts")
    view = _arrays.view(x)
    job = Job(view)
    source = flat(job, encoded(job, view))
    values, lengths = _runs(job, source, return_inverse or return_counts)
    result = [job.finish(as_dtype_of(job, values, view))]
    if return_inverse:
        runs, inverse = job.empty(lengths.shape, c.ECH_I64), job.empty(source.shape, c.ECH_I64)
        if source.size:
            job.call("ech_iota", runs.pointer, runs.size, runs.code, None, None)
            job.call("ech_rle_decode", runs.pointer, lengths.pointer, inverse.pointer, runs.size, inverse.size, 8, None)
        result.append(job.finish(reshaped(job, inverse, view.shape)))
    if return_counts:
        result.append(job.finish(lengths))
    return tuple(result) if len(result) > 1 else result[0]


@operation
def unique_by_key(keys, values, /, *, invert=False):
    """Keep the first key of each run of equal keys, and its value.

    keys: [n]. values: [n] or [n, ...], of any dtype. invert: keep all other keys and values.

    Returns (keys, values). If the arrays are in GPU memory, the call waits until the size is known.

    >>> import echelon, numpy
    >>> echelon.unique_by_key(numpy.array([7, 7, 5]), numpy.array([1, 2, 3]))
    (array([7, 5]), array([1, 3]))
    """
    key_view = one_dimension(_arrays.view(keys, "keys"), "keys")
    job = Job(key_view)
    moved = job.view(values, "values")
    if moved.ndim == 0:
        raise ArgumentError("values has no dimensions, but must have at least one")
    n = same_length(key_view, moved, "values")
    source = job.contiguous(encoded(job, key_view))
    moved = job.contiguous(moved, moved.nbytes // n if n else 1)
    kept, kept_values = job.empty(source.shape, source.code), job.empty(moved.shape, moved.code, moved.kind, moved)
    count, options = host_counts(), _options(invert=flag(invert, "invert"))
    if moved.nbytes:
        job.call("ech_unique_by_key", source.pointer, moved.pointer, kept.pointer, kept_values.pointer,
                 ctypes.addressof(count), n, source.code, moved.nbytes // n, options)
    elif n:
        job.call("ech_unique", source.pointer, kept.pointer, ctypes.addressof(count), n, source.code, options)
    kept = as_dtype_of(job, head(job, kept, count[0]), key_view)
    return job.finish(kept), job.finish(head(job, kept_values, count[0]))
