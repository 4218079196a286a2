"""The common floating-point type of operands, by the rules of NumPy, and the memory of arrays.

SPDX-License-Identifier: Apache-2.0
"""
import functools

from .._arrays.view import View
from .._runtime.errors import DTypeError
from .._runtime.native import declared as c
from .common import cast, common_code

__all__ = ["cast", "check_number", "common_float", "extent", "overlap", "reshaped"]


def common_float(codes, half=False):
    """The ech_dtype of a result: f64 for integers, otherwise the smallest float type that represents all operands.

    half: whether f16 and bf16 are possible; otherwise they become f32.
    """
    code = functools.reduce(common_code, codes)
    if code < c.ECH_F16:
        return c.ECH_F64
    return code if half else max(code, c.ECH_F32)


def check_number(view, name):
    """The View, if its elements are numbers."""
    if view.kind == "time":
        raise DTypeError(f"{name} has dtype {view.dtype}, but must have numbers")
    return view


def reshaped(view, shape):
    """The View of a contiguous array with another shape of the same size."""
    return View(view.array, view.family, view.pointer, tuple(shape), None, view.code, view.device, view.readonly,
                view.kind)


def extent(view):
    """The addresses of the first byte of an array, and of the byte after the last one."""
    if view.strides is None or view.size == 0:
        return view.pointer, view.pointer + view.nbytes
    strides = view.strides
    steps = [(n - 1) * stride for n, stride in zip(view.shape, strides)]
    return (view.pointer + sum(step for step in steps if step < 0),
            view.pointer + sum(step for step in steps if step > 0) + view.itemsize)


def overlap(first, second):
    """Whether the memory ranges of two arrays have common bytes."""
    a, b = extent(first), extent(second)
    return a[0] < b[1] and b[0] < a[1]
