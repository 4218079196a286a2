"""The layout of bits: how arrays of bytes and of words are viewed and converted.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .. import _arrays
from .._arrays.device_array import DeviceArray
from .._runtime.arguments import integer
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WORDS = (c.ECH_U64, c.ECH_I64)
_INTEGER_CODES = tuple(_arrays.CODES[name] for name in INTEGERS)


def stride_of(cols):
    """The number of words of a row."""
    return (cols + 63) // 64


def word_code(family):
    """The ech_dtype of words: PyTorch has few operations on uint64."""
    return c.ECH_I64 if family.name == "torch" else c.ECH_U64


def as_bytes(job, view):
    """The View, or that of a copy, with one byte per element in C order; bit 0 is kept."""
    if view.itemsize == 1:
        return job.contiguous(view)
    family = view.family
    return job.add(family.view(family.cast(view.array, family.dtype(c.ECH_U8))))


def unpack(job, bits, shape, code, kind):
    """The View of an array of this shape and dtype with the bits of a Matrix."""
    family = job.family
    view = job.empty(shape, c.ECH_U8)
    if view.size:
        job.call("ech_gf2_unpack", bits.reference(), view.pointer)
    if kind == "bool":
        return job.add(family.view(family.retyped(view.array, family.bool_dtype())))
    if code == c.ECH_U8:
        return view
    return job.add(family.view(family.cast(view.array, family.dtype(code))))


def dense_view(view, name, dimensions):
    """The View, if it has integers or bool, and one of these numbers of dimensions."""
    if view.code not in _INTEGER_CODES or view.kind == "time":
        raise DTypeError(f"{name} has dtype {view.dtype}, but the dtypes are bool, {', '.join(INTEGERS)}")
    if view.ndim not in dimensions:
        expected = " or ".join(map(str, dimensions))
        raise ArgumentError(f"{name} has {view.ndim} dimensions, but must have {expected}")
    return view


def count_of(value, name):
    """A number of rows or columns."""
    return integer(value, name, 0, 2**32 - 1)


def position(key, n, name):
    """A range for an integer or a slice, otherwise positions from 0."""
    if isinstance(key, slice):
        return range(n)[key]
    if hasattr(key, "__index__") and np.ndim(key) == 0:
        index = key.__index__()
        if not -n <= index < n:
            raise IndexError(f"{name} {index} does not exist: the matrix has {n} {name}s")
        return range(index % n, index % n + 1)
    if key is Ellipsis or key is None or isinstance(key, tuple):
        raise ArgumentError(f"{name} is {key!r}, but must be an integer, a slice or positions")
    if isinstance(key, list) and key and not all(isinstance(number, (bool, np.bool_)) for number in key):
        return np.array(key, "int64").reshape(-1)
    if isinstance(key, list):
        key = np.array(key, bool if key else "int64")
    if isinstance(key, np.ndarray) and key.dtype == bool:
        if key.shape != (n,):
            raise ArgumentError(f"{name} is a mask of shape {key.shape}, but must have shape {(n,)}")
        return np.flatnonzero(key)
    return key


def shared_words(view):
    """The View of the words if packed rows can be used without a copy."""
    family = view.family
    row_bytes = view.shape[1] * view.itemsize if view.strides is None else view.strides[0]
    if view.strides is not None and view.strides[1] != view.itemsize:
        return None
    if view.size == 0 or row_bytes <= 0 or row_bytes % 8 or view.pointer % 8:
        return None
    if view.code in WORDS:
        return view if view.code == word_code(family) else family.view(regrouped(family, view.array, word_code(family)))
    return None if view.shape[1] % 8 else family.view(regrouped(family, view.array, word_code(family)))


def regrouped(family, array, code):
    """The same memory with elements of this ech_dtype: if they have another size, the last dimension changes."""
    dtype = family.dtype(code)
    if not isinstance(array, DeviceArray):
        return family.retyped(array, dtype)
    shape = (*array.shape[:-1], array.shape[-1] * array.dtype.itemsize // dtype.itemsize)
    strides = array.strides if array.strides is None else (*array.strides[:-1], dtype.itemsize)
    return array.view(shape, strides, dtype)
