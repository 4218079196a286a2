"""View: what the library needs to know about an array of any Python library.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .._runtime.arguments import integer
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c

NAMES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
         "float64")
BYTES = (1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8)
CODES = {name: code for code, name in enumerate(NAMES)}
INDEX_CODES = (c.ECH_I32, c.ECH_U32, c.ECH_I64, c.ECH_U64)
FLOAT_CODES = (c.ECH_F16, c.ECH_BF16, c.ECH_F32, c.ECH_F64)


class View:
    """An array in memory.

    array     the object of the array's library; it keeps the memory alive
    family    the array library, which makes results of the same type
    pointer   the address of the first element
    shape     a tuple
    strides   a tuple, in bytes; None if the array is contiguous in C order
    code      the ech_dtype of the elements in memory
    kind      "" for numbers, "bool", or "time" (datetime64 and timedelta64: i64, in which the minimum is NaT)
    device    "cpu" or "cuda:0"
    readonly  whether the array must not be written
    final     None, or the View of out= to which the elements are copied at the end, because it overlaps an input
    """

    __slots__ = ("array", "family", "pointer", "shape", "strides", "code", "kind", "device", "readonly", "final",
                 "_size")

    def __init__(self, array, family, pointer, shape, strides, code, device="cpu", readonly=False, kind=""):
        self.array, self.family, self.pointer, self.shape, self.strides = array, family, pointer, shape, strides
        self.code, self.kind, self.device, self.readonly = code, kind, device, readonly
        self.final = self._size = None

    @property
    def size(self):
        """The number of elements."""
        if self._size is None:
            size = 1
            for n in self.shape:
                size *= n
            self._size = size
        return self._size

    @property
    def itemsize(self):
        return BYTES[self.code]

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def nbytes(self):
        return self.size * BYTES[self.code]

    @property
    def dtype(self):
        """The dtype of the array's library."""
        return self.array.dtype

    @property
    def contiguous(self):
        return self.strides is None

    @property
    def is_float(self):
        return self.code >= c.ECH_F16


def contiguous_strides(shape, itemsize):
    """The strides in bytes of an array in C order."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def simplified(shape, strides, itemsize):
    """None if an array with these strides is contiguous in C order, otherwise the strides."""
    if strides is None:
        return None
    step = itemsize
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n == 0:
            return None
        if n != 1 and stride != step:
            return tuple(strides)
        step *= n
    return None


def code_of(name, what="x"):
    """The ech_dtype that the dtype with this name has in memory."""
    try:
        return CODES[name]
    except KeyError:
        raise DTypeError(f"{what} has dtype {name}, but the dtypes are bool, {', '.join(NAMES)}") from None


def dtype_name(dtype, what="dtype"):
    """The name of a dtype that is given as a name, or as an object of an array library."""
    text = str(dtype)
    if text.startswith("torch."):
        return text[len("torch."):]
    if text in CODES:
        return text
    try:
        return np.dtype(dtype).name
    except TypeError:
        raise DTypeError(f"{what} is {text}, which is not a dtype") from None


def normalized_axis(axis, ndim, name="axis"):
    """An axis as a number from 0 to ndim - 1."""
    number = integer(axis, name)
    if not -ndim <= number < ndim:
        raise ArgumentError(f"{name} is {number}, but the array has {ndim} dimensions")
    return number + ndim if number < 0 else number


def check_indices(view, name):
    """The View, if it has a dtype of indices."""
    if view.code not in INDEX_CODES or view.kind:
        raise DTypeError(f"{name} has dtype {view.dtype}, but must have int32, uint32, int64 or uint64")
    return view
