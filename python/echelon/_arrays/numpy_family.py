"""Arrays of NumPy, and everything that NumPy converts without a copy: buffers, and __array_interface__.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .._runtime.errors import ArgumentError, DTypeError
from .view import CODES, NAMES, View, simplified

_char = ctypes.c_char.from_buffer
_address = ctypes.addressof
_CODES = {np.dtype(name): code for name, code in CODES.items() if name != "bfloat16"}
_DTYPES = [np.dtype(name) if name != "bfloat16" else None for name in NAMES]


def address(x):
    """The address of the first element. A buffer of ctypes is faster than x.ctypes, but needs a writable array."""
    try:
        return _address(_char(x))
    except (TypeError, ValueError, BufferError):
        return x.__array_interface__["data"][0]


def _bfloat16():
    """The dtype bfloat16 of ml_dtypes."""
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError("NumPy has no bfloat16: install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def code_and_kind(dtype, name):
    """How the elements of a dtype of NumPy are stored."""
    code = _CODES.get(dtype)
    if code is not None and dtype.isnative:
        return code, ""
    if not dtype.isnative:
        raise DTypeError(f"{name} has dtype {dtype.str}, in which the bytes are swapped; convert it with "
                         f"{name}.astype({name}.dtype.newbyteorder('='))")
    if dtype.kind == "b":
        return CODES["uint8"], "bool"
    if dtype.kind in "mM":
        return CODES["int64"], "time"
    if dtype.name == "bfloat16":
        return CODES["bfloat16"], ""
    raise DTypeError(f"{name} has dtype {dtype}, but the dtypes are bool, {', '.join(NAMES)}, datetime64 and "
                     "timedelta64")


def unmasked(x, name="x"):
    """The array, without the mask of a masked array, in which no element may be masked."""
    if not isinstance(x, np.ma.MaskedArray):
        return x
    if np.any(np.asarray(np.ma.getmaskarray(x)).view(bool) if x.dtype.names else np.ma.getmask(x)):
        raise ArgumentError(f"{name} is a masked array with masked elements; pass {name}.compressed() or "
                            f"{name}.filled(...)")
    return x.data


class NumPy:
    """The methods that a family has; _arrays/torch_family.py and others have the same."""

    name = "numpy"
    codes = _CODES
    pools = False  # whether it has an allocator of device memory
    arithmetic = True  # whether its arrays have operators, such as * and []

    @staticmethod
    def view(x, name="x"):
        """The View of an array."""
        code = _CODES.get(x.dtype)
        kind = ""
        if code is None or not x.dtype.isnative:
            code, kind = code_and_kind(x.dtype, name)
        flags = x.flags
        shape = x.shape
        strides = None if flags.c_contiguous else simplified(shape, x.strides, x.itemsize)
        if not flags.aligned:
            raise ArgumentError(f"{name} is not aligned to the size of its elements; copy it with {name}.copy()")
        return View(x, NumPy, address(x), shape, strides, code, "cpu", not flags.writeable, kind)

    @staticmethod
    def plain_view(x, name="x"):
        """The View of an array of a subclass, such as memmap or matrix; results are of class ndarray."""
        return NumPy.view(np.asarray(unmasked(x, name)), name)

    @staticmethod
    def convert(x, name="x"):
        """An array from a sequence, a buffer or a number."""
        try:
            array = np.asarray(x)
        except Exception as error:
            raise DTypeError(f"{name} cannot be converted to an array: {error}") from error
        if array.dtype == object:
            raise DTypeError(f"{name} is {type(x).__name__}, which is not an array of numbers")
        return array

    @staticmethod
    def dtype(code):
        """The dtype of an ech_dtype."""
        return _DTYPES[code] if NAMES[code] != "bfloat16" else _bfloat16()

    @staticmethod
    def bool_dtype():
        return np.dtype(bool)

    @staticmethod
    def empty(shape, dtype, device="cpu"):
        return np.empty(shape, dtype)

    @staticmethod
    def contiguous(x):
        """A copy in C order."""
        return np.array(x, order="C")

    @staticmethod
    def moveaxis(x, source, destination):
        return np.moveaxis(x, source, destination)

    @staticmethod
    def reshape(x, shape):
        return x.reshape(shape)

    @staticmethod
    def retyped(x, dtype):
        """The same memory with another dtype of the same size."""
        return x.view(dtype)

    @staticmethod
    def cast(x, dtype):
        """A copy with another dtype, in C order."""
        return np.array(x, dtype, order="C")

    @staticmethod
    def copy_to(target, source):
        target[...] = source

    @staticmethod
    def head(x, count):
        """The first count elements, without the memory of the others if they are many."""
        return x[:count] if 2 * count >= len(x) else x[:count].copy()

    @staticmethod
    def result(x):
        """What a function returns: an array of no dimensions becomes a scalar, as in NumPy."""
        return x[()] if x.ndim == 0 else x

    @staticmethod
    def stream(device):
        return 0

    @staticmethod
    def stream_owner(device):
        """An object that keeps the current stream, or None if it is never destroyed."""
        return None

    @staticmethod
    def allocator(device):
        return None


class NumPySubclass(NumPy):
    """The family of arrays of a subclass of ndarray."""

    @staticmethod
    def view(x, name="x"):
        return NumPy.plain_view(x, name)
