"""The common floating-point type of operands, by the rules of NumPy, and operands converted to it.

SPDX-License-Identifier: Apache-2.0
"""
from .._runtime.errors import DTypeError
from .._runtime.native import declared as c
from .view import View, contiguous_strides

_SMALL = (c.ECH_I8, c.ECH_U8)  # every value is an f16
_MIDDLE = (c.ECH_I16, c.ECH_U16)  # every value is an f32
_HALVES = (c.ECH_F16, c.ECH_BF16)


def common_float(codes, half=False):
    """The ech_dtype of a result: f64 for integers, otherwise the smallest float type that represents all operands.

    half: whether f16 and bf16 are possible; otherwise they become f32.
    """
    floats = {code for code in codes if code >= c.ECH_F16}
    integers = set(codes) - floats
    if not floats or c.ECH_F64 in floats or integers - set(_SMALL + _MIDDLE):
        return c.ECH_F64
    if c.ECH_F32 in floats or len(floats) > 1 or integers & set(_MIDDLE) or not half:
        return c.ECH_F32
    return floats.pop()


def check_number(view, name):
    """The View, if its elements are numbers."""
    if view.kind == "time":
        raise DTypeError(f"{name} has dtype {view.dtype}, but must have numbers")
    return view


def cast(job, view, code):
    """The View, or that of a copy with another dtype in C order."""
    if view.code == code:
        return view
    family = view.family
    return job.add(family.view(family.cast(view.array, family.dtype(code))))


def reshaped(view, shape):
    """The View of a contiguous array with another shape of the same size."""
    return View(view.array, view.family, view.pointer, tuple(shape), None, view.code, view.device, view.readonly,
                view.kind)


def extent(view):
    """The addresses of the first byte of an array, and of the byte after the last one."""
    if view.size == 0:
        return view.pointer, view.pointer
    strides = view.strides or contiguous_strides(view.shape, view.itemsize)
    steps = [(n - 1) * stride for n, stride in zip(view.shape, strides)]
    return (view.pointer + sum(step for step in steps if step < 0),
            view.pointer + sum(step for step in steps if step > 0) + view.itemsize)


def overlap(first, second):
    """Whether the memory ranges of two arrays have common bytes."""
    a, b = extent(first), extent(second)
    return a[0] < b[1] and b[0] < a[1]
