"""sort_records: sorts of structured arrays of NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .. import _arrays
from .._arrays.numpy_family import NumPy, address, unmasked
from .._runtime import native
from .._runtime.arguments import flag
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .columns import argsort_named, names_of, one_each

_MOST_KEYS, _MOST_BYTES = 16, 512


def _key(dtype, offset, descending):
    """The ech_record_key of a field, or None if the call does not know the order of its dtype."""
    fields = {"offset_bytes": offset, "descending": flag(descending, "descending")}
    code = NumPy.codes.get(dtype) if dtype.isnative else None
    if dtype.kind == "b":
        code = c.ECH_U8
    if code is not None:
        return native.struct(c.ech_record_key, dtype=code, **fields)
    if dtype.subdtype is not None and dtype.subdtype[0] == np.uint8 or dtype.kind == "u" or \
            dtype.type in (np.bytes_, np.void) and dtype.names is None and dtype.subdtype is None:
        # bytes in the order of memcmp(), as unsigned integers with the most significant byte first
        return native.struct(c.ech_record_key, kind=c.ECH_KEY_BYTES, width_bytes=dtype.itemsize, **fields)
    return None


def _keys(x, names, descending):
    """The keys as an array of structs, or None."""
    keys = [_key(*x.dtype.fields[name][:2], each) for name, each in zip(names, descending)]
    size = sum(x.dtype.fields[name][0].itemsize for name in names)
    if not 1 <= len(keys) <= _MOST_KEYS or size > _MOST_BYTES or any(key is None for key in keys):
        return None
    return (c.ech_record_key * len(keys))(*keys)


@operation
def sort_records(x, /, *, order=None, descending=False, out=None):
    """Sort a structured array of NumPy by some of its fields.

    x: [n], a structured array. order: the names of 1 to 16 fields, or one name; None: all fields. descending: from the
    largest to the smallest; one value, or one per name. out: an array [n] of the dtype of x; it may be x.

    Returns an array like x. The sort is stable. Fields are numbers, bool, times, bytes (S and V, such as UUIDs) or text
    (U, in the order of code points). NaN is the largest value, and NaT is after all other times. Raises ArgumentError
    for an unknown name, and DTypeError for a field of another dtype.

    >>> import echelon, numpy
    >>> x = numpy.array([(2, 1.5), (1, 9.0), (2, 0.5)], dtype=[("id", "i4"), ("weight", "f8")])
    >>> [row.item() for row in echelon.sort_records(x, order=["id", "weight"])]
    [(1, 9.0), (2, 0.5), (2, 1.5)]
    """
    if not isinstance(x, np.ndarray) or not x.dtype.names:
        raise DTypeError(f"x is {type(x).__name__}, but must be a structured array of NumPy")
    x = unmasked(x)
    if x.ndim != 1:
        raise ArgumentError(f"x has {x.ndim} dimensions, but must have one")
    if x.dtype.hasobject:
        raise DTypeError(f"x has dtype {x.dtype}, which contains objects of Python")
    names = names_of(order, x.dtype.names, "x", "order")
    descending = one_each(descending, len(names), "descending")
    if out is not None:
        _check(out, x)
    source = np.ascontiguousarray(x)
    result = out if out is not None and out.flags.c_contiguous and not np.may_share_memory(out, source) \
        else np.empty(x.shape, x.dtype)
    _sort(source, result, names, descending)
    if out is None:
        return result
    if result is not out:
        out[...] = result
    return out


def _check(out, x):
    if not isinstance(out, np.ndarray) or out.dtype != x.dtype:
        raise DTypeError(f"out is {getattr(out, 'dtype', type(out).__name__)}, but the result has dtype {x.dtype}")
    if out.shape != x.shape:
        raise ArgumentError(f"out has shape {out.shape}, but the result has shape {x.shape}")
    if not out.flags.writeable:
        raise ArgumentError("out is read-only")


def _native(field):
    return field if field.dtype.isnative else field.astype(field.dtype.newbyteorder("="))


def _sort(source, result, names, descending):
    """Writes the sorted records; both arrays are contiguous."""
    n, size = len(source), source.dtype.itemsize
    keys = _keys(source, names, descending)
    job = Job(_arrays.view(np.empty(0, np.uint8)))
    if keys is None:
        fields = [(f"x[{name!r}]", _native(source[name])) for name in names]
        index = argsort_named(fields, descending, "last", None, None)
        if n:
            job.call("ech_gather", address(source), address(index), address(result), n, n, c.ECH_I64, size)
    elif n:
        job.call("ech_sort_records", address(source), address(result), n, size, keys, len(keys), None)
