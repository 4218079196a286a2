"""Sorts of strings, and the keys that stand for strings in a sort by several columns.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .._arrays import columns
from .._arrays.numpy_family import NumPy, unmasked
from .._arrays.parts import Part
from .._arrays.text import offsets_of
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .column_sort import argsort_column, nulls_first
from .sort import index_code

_MOST_BYTES = 512  # of the columns of a sort
# Strings that are at most this long are padded, which is faster than ranking them: with equal lengths, and with others
# (measured with 10^6 strings on two cores of a Xeon with AVX-512, November 2026).
_MOST_EQUAL, _MOST_PADDED = 64, 20


def code_points(x):
    """[n, width] of bytes in the order of the code points of an array of NumPy with dtype U."""
    width = x.dtype.itemsize // 4
    x = np.ascontiguousarray(x, x.dtype.newbyteorder("="))
    if not x.size or not width:
        return np.zeros((x.size, 1), np.uint8)
    codes = x.view(np.uint32).reshape(x.size, width)
    top = int(codes.max())
    kind = np.dtype("u1") if top < 256 else np.dtype(">u2") if top < 65536 else np.dtype(">u4")
    return codes.astype(kind).view(np.uint8).reshape(x.size, width * kind.itemsize)


def column_of(x, name):
    """The Column of an object; strings of NumPy with a fixed width become bytes.

    The dtypes of ml_dtypes, such as bfloat16, also have the kind V, but are numbers.
    """
    x = unmasked(x, name)
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind == "U":
        return columns.Column(Part(len(x), code_points(x), kind=c.ECH_KEY_BYTES), NumPy)
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.type is np.void and x.dtype.names is None and x.itemsize:
        values = np.ascontiguousarray(x).view(np.uint8).reshape(len(x), x.itemsize)
        return columns.Column(Part(len(x), values, kind=c.ECH_KEY_BYTES), NumPy)
    if isinstance(x, np.ndarray) and not x.flags.aligned:  # a field of a structured array
        x = x.copy()
    return columns.column(x, name)


def variable(column):
    """The Column of bytes of a fixed width as one of strings. This changes no order: the widths are equal."""
    part = column.part
    text = Part(part.n, offsets=offsets_of(np.full(part.n, column.width_bytes)),
                data=np.ascontiguousarray(part.values).reshape(-1))
    text.bitmap, text.bit = part.bitmap, part.bit
    return columns.Column(text, column.family)


def _positions(job, order):
    """The View of the position of each string in a sorted sequence."""
    result, numbers = job.empty(order.shape, order.code), job.empty(order.shape, order.code)
    n = order.size
    job.call("ech_iota", numbers.pointer, n, order.code, None, None)
    job.call("ech_scatter", numbers.pointer, order.pointer, result.pointer, n, n, order.code, order.itemsize)
    return result.array


def ranked(column):
    """The Column of numbers whose order is that of strings; equal strings have equal numbers.

    A string has the position a in ascending order and d in descending order. Both sorts are stable, and therefore a - d
    is the same for all equal strings, and increases with the string.
    """
    if column.strings is None:
        column = variable(column)
    job = Job(column.strings.bytes)
    if column.n:
        code = c.ECH_I32 if column.n < 2**30 else c.ECH_I64
        orders = [job.add(NumPy.view(_order(column, code, descending))) for descending in (False, True)]
        ranks = _positions(job, orders[0]) - _positions(job, orders[1])
    else:
        ranks = np.zeros(0, np.int32)
    part = Part(column.n, ranks)
    part.bitmap, part.bit = column.part.bitmap, column.part.bit
    return columns.Column(part, column.family)


def padded(column):
    """The Column of short strings as bytes of a fixed width, or None if a string is long.

    The strings are padded with zeros. If their lengths differ, the length follows, because "a" precedes "a\\0".
    """
    part, n = column.part, column.n
    lengths = np.diff(part.offsets)
    width = int(lengths.max()) if n else 0
    are_equal = n > 0 and int(lengths.min()) == width
    if not 0 < width <= (_MOST_EQUAL if are_equal else _MOST_PADDED):
        return None
    data = part.data[int(part.offsets[0]):int(part.offsets[-1])]
    if are_equal:
        values = data.reshape(n, width)
    else:
        values = np.zeros((n, width + 1), np.uint8)
        values[:, :width][np.arange(width) < lengths[:, None]] = data
        values[:, width] = lengths
    result = Part(n, values, kind=c.ECH_KEY_BYTES)
    result.bitmap, result.bit = part.bitmap, part.bit
    return columns.Column(result, column.family)


def fixed(column):
    """The Column that stands for one of strings in a sort by several columns."""
    return padded(column) or ranked(column)


def _order(column, code, descending):
    """The array of the positions that sort a Column of strings."""
    family, column.family = column.family, NumPy
    try:
        return argsort_column(column, code, descending, "last")
    finally:
        column.family = family


def _strings_of(x):
    column = column_of(np.zeros(0, "U1") if isinstance(x, (list, tuple)) and not x else x, "x")
    if column.strings is None and column.key_kind != c.ECH_KEY_BYTES:
        raise DTypeError(f"x is {type(x).__name__} of {column.view.dtype}, but must contain strings or bytes")
    if column.strings is None and column.width_bytes > _MOST_BYTES:
        return variable(column)
    return column


@operation
def argsort_strings(x, /, *, descending=False, nulls="last", dtype=None, out=None):
    """Return the positions that sort strings.

    x: [n], strings or bytes: a list, an array of NumPy (dtype S, U, object or StringDType), or a column of pandas,
    polars or Arrow. descending: from the largest to the smallest. nulls: "last" or "first", the place of missing
    values, also in descending order. dtype: of the result: int64 (the default), int32, uint32 or uint64. out: an array
    [n] of this dtype.

    Returns an array [n] of positions, in the library of x. The order is that of code points, which for UTF-8 is that of
    the bytes; a prefix precedes the longer string. The sort is stable. Raises DTypeError if x has other elements.

    >>> import echelon
    >>> echelon.argsort_strings(["pear", "apple", "fig"])
    array([1, 2, 0])
    """
    nulls_first(nulls)
    column = _strings_of(x)
    return argsort_column(column, index_code(dtype, column.n), descending, nulls, out)


@operation
def sort_strings(x, /, *, descending=False, nulls="last"):
    """Sort strings.

    x, descending, nulls: as for argsort_strings().

    Returns the strings in order, as an object of the type of x.

    >>> import echelon
    >>> echelon.sort_strings(["pear", "apple", "fig"])
    ['apple', 'fig', 'pear']
    """
    nulls_first(nulls)
    column = _strings_of(x)
    family, column.family = column.family, NumPy
    order = argsort_column(column, c.ECH_I64, descending, nulls)
    if isinstance(x, (list, tuple)):
        return type(x)([x[i] for i in order.tolist()])
    if isinstance(x, np.ndarray):
        return x[order]
    if not hasattr(family, "take"):
        raise ArgumentError(f"x is {type(x).__name__}, which cannot be rearranged; use argsort_strings()")
    return family.take(x, order)
