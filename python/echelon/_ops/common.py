"""What several modules of operations need: common dtypes, elements as arguments, items along an axis, counts.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import sys

import numpy as np

from .. import _arrays
from .._arrays.view import BYTES, CODES, INDEX_CODES, NAMES, normalized_axis
from .._runtime.arguments import number as as_float
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .sort import options_of
from .time_keys import encoded, restored

_WITH_BFLOAT16 = {1: c.ECH_BF16, 2: c.ECH_F32, 4: c.ECH_F64, 8: c.ECH_F64}  # by the size of an integer


def namespace(view):
    """The module of the array's library: numpy, torch or cupy."""
    if isinstance(view.array, np.ndarray):
        return np
    return sys.modules[view.family.name]


def current_device(view):
    """A context manager in which the operators of CuPy run on the device of an array."""
    return view.array.device if view.family.name == "cupy" else contextlib.nullcontext()


def common_code(first, second):
    """The ech_dtype to which NumPy promotes two dtypes; bfloat16 is promoted like float16."""
    if first == second:
        return first
    if c.ECH_BF16 not in (first, second):
        return CODES[np.promote_types(NAMES[first], NAMES[second]).name]
    other = second if first == c.ECH_BF16 else first
    if other >= c.ECH_F16:
        return max(other, c.ECH_F32)
    return _WITH_BFLOAT16[BYTES[other]]


def cast(job, view, code):
    """The View, or that of a copy with this ech_dtype."""
    if view.code == code and not view.kind:
        return view
    return job.add(view.family.view(view.family.cast(view.array, view.family.dtype(code))))


def _common_times(job, first, second, names):
    """Two arrays of times with the finer of their units."""
    try:
        if first.kind != second.kind or first.dtype.kind != second.dtype.kind:
            raise TypeError
        dtype = np.promote_types(first.dtype, second.dtype)
    except TypeError:
        raise DTypeError(f"{names[0]} has dtype {first.dtype} and {names[1]} has dtype {second.dtype}, which cannot "
                         "be compared") from None
    return [_in_unit(job, view, dtype, name) for view, name in zip((first, second), names)]


def _in_unit(job, view, dtype, name):
    """The View of times in a finer unit; NumPy before version 2.5 does not report an overflow."""
    if view.dtype == dtype:
        return view
    try:
        converted = view.array.astype(dtype)
        exact = np.array_equal(converted.astype(view.dtype).view("int64"), view.array.view("int64"))
    except OverflowError:
        exact = False
    if not exact:
        raise ArgumentError(f"{name} has dtype {view.dtype} and contains times that {dtype} cannot represent")
    return job.add(view.family.view(converted))


def promoted(job, first, second, names=("x1", "x2")):
    """The Views of two arrays, converted to their common dtype if they differ."""
    if "time" in (first.kind, second.kind):
        return _common_times(job, first, second, names)
    if first.kind == second.kind == "bool":
        return first, second
    if first.kind == "bool":
        code = second.code
    elif second.kind == "bool":
        code = first.code
    else:
        code = common_code(first.code, second.code)
    return cast(job, first, code), cast(job, second, code)


def index_view(job, x, name):
    """The View of an array of indices, contiguous; int8 and other small integers become int64."""
    view = job.view(x, name)
    if view.kind or view.is_float:
        if view.size or view.kind or _arrays.family_of(x) is not None:
            raise DTypeError(f"{name} has dtype {view.dtype}, but must have an integer dtype")
        return cast(job, view, c.ECH_I64)  # an empty list
    return job.contiguous(view if view.code in INDEX_CODES else cast(job, view, c.ECH_I64))


def element(value, view, name):
    """One element in host memory with the dtype of view, as an array of NumPy. The caller keeps it alive."""
    if view.kind == "time":
        try:
            time = np.asarray(value, view.dtype)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"{name} is {value!r}, which is no {view.dtype}: {error}") from None
        return time.reshape(1).view("int64") - 1
    try:
        number = np.asarray(value)
        scalar = number.reshape(()).item()
        if not isinstance(scalar, (bool, int, float)):
            raise ValueError
    except (TypeError, ValueError):
        raise DTypeError(f"{name} is {value!r}, but must be a number") from None
    if view.code == c.ECH_BF16:
        return _bfloat16_bits(as_float(scalar, name))
    dtype = np.dtype(NAMES[view.code])
    if view.is_float:
        with np.errstate(over="ignore"):
            return np.full(1, as_float(scalar, name), dtype)
    limits = np.iinfo(dtype)
    if scalar != scalar or scalar in (float("inf"), float("-inf")) or int(scalar) != scalar or \
            not limits.min <= scalar <= limits.max:
        raise ArgumentError(f"{name} is {value!r}, which {view.dtype} cannot represent")
    return np.full(1, int(scalar), dtype)


def _bfloat16_bits(value):
    """A bfloat16 as u16, rounded to the nearest even one. A NaN stays a NaN."""
    with np.errstate(over="ignore"):
        single = np.full(1, value, np.float32)
    bits = int(single.view(np.uint32)[0])
    if value == value:
        bits += 0x7FFF + (bits >> 16 & 1)
    else:
        bits |= 0x400000
    return np.full(1, bits >> 16 & 0xFFFF, np.uint16)


def host_counts(n=1):
    """n numbers of u64 in host memory: a call that writes them waits for its work."""
    return (ctypes.c_uint64 * n)()


def head(job, view, count):
    """The View of the first elements of an array."""
    return job.add(view.family.view(view.family.head(view.array, count)))


def flat(job, view):
    """The View, or that of a copy, with one dimension in C order."""
    view = job.contiguous(view)
    return view if view.ndim == 1 else reshaped(job, view, (view.size,))


def reshaped(job, view, shape):
    """The View of a contiguous array with another shape."""
    return job.add(view.family.view(view.family.reshape(view.array, shape)))


def writable(target, *inputs):
    """Whether a call can write its result to target: it is contiguous and overlaps no contiguous input."""
    if not target.contiguous:
        return False
    begin, end = target.pointer, target.pointer + target.nbytes
    return all(view.pointer >= end or begin >= view.pointer + view.nbytes for view in inputs)


def result_for(job, target, *inputs):
    """The View that a call writes: target, or a new array if target is not writable."""
    return target if writable(target, *inputs) else job.empty(target.shape, target.code, target.kind, target)


class Items:
    """An array as items along an axis: item i, of item_bytes, contains all elements with the index i.

    items is contiguous and has the axis first. axis None stands for the flattened array.
    """

    def __init__(self, job, view, axis, name="axis"):
        self.job = job
        if axis is None:
            view, axis = flat(job, view), 0
        if view.ndim == 0:
            raise ArgumentError("x has no dimensions, and therefore no axis")
        self.axis = normalized_axis(axis, view.ndim, name)
        self.source = view
        if self.axis:
            view = job.add(view.family.view(view.family.moveaxis(view.array, self.axis, 0)))
        self.n, self.rest = view.shape[0], view.shape[1:]
        count = 1
        for extent in self.rest:
            count *= extent
        self.item_bytes = count * view.itemsize
        self.items = job.contiguous(view, self.item_bytes)

    @property
    def pointer(self):
        return self.items.pointer

    def shape(self, *leading):
        """The shape of a result whose axis is replaced by these dimensions."""
        before = self.source.shape[:self.axis]
        return (*before, *leading, *self.source.shape[self.axis + 1:])

    def target(self, out, *leading):
        """The View of the result, out or new, and the View that the call writes, with these dimensions first."""
        source, target = self.source, None
        if out is not None:
            target = self.job.output(out, self.shape(*leading), source.code, source.kind, source,
                                     same=source)
            if not self.axis and writable(target, self.items) and self.job.is_aligned(target, self.item_bytes):
                return target, target
        result = self.job.empty((*leading, *self.rest), source.code, source.kind, source)
        return target or (None if self.axis else result), result

    def back(self, array, leading=1):
        """An array with these dimensions first, with its axis at its place, in C order."""
        if not self.axis:
            return array
        family = self.source.family
        places = tuple(range(self.axis, self.axis + leading))
        view = self.job.add(family.view(family.moveaxis(array, tuple(range(leading)), places)))
        return self.job.contiguous(view).array

    def finish(self, out, target, result, leading=1):
        """What the function returns, after the call has written result."""
        job = self.job
        if target is result:
            return job.finish(target, out)
        array = self.back(result.array, leading)
        if out is not None:
            return job.finish(target, out, job.add(self.source.family.view(array)))
        return self.source.family.result(array)


def wrapped(job, view, n):
    """The View of indices in which -1 stands for n - 1, and so on."""
    if not is_signed(view):
        return view
    index = cast(job, view, c.ECH_I64).array if n > 2**31 - 1 else view.array
    with current_device(view):
        return job.contiguous(job.add(view.family.view(index + (index < 0) * n)))


def is_signed(view):
    return view.code <= c.ECH_I64


def sorted_keys(job, view, descending=0):
    """The View of the sorted elements of an array with one dimension; times stay encoded."""
    source = flat(job, encoded(job, view))
    result = job.empty(source.shape, source.code)
    if view.size:
        job.call("ech_sort", source.pointer, result.pointer, source.size, source.code, options_of(descending))
    return result


def as_dtype_of(job, view, like):
    """The View of computed keys with the dtype of like: bool and times are restored, in place."""
    if like.kind == "bool":
        return job.add(view.family.view(view.family.retyped(view.array, view.family.bool_dtype())))
    return restored(job, view, like)
