"""The common floating-point type of operands, by the rules of NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import functools

from .._arrays.view import View
from .._runtime.errors import DTypeError
from .._runtime.native import declared as c
from .common import common_code


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


def with_shape(view, shape):
    """The View of a contiguous array with another shape of the same size; its array keeps its shape."""
    return View(view.array, view.family, view.pointer, tuple(shape), None, view.code, view.device, view.readonly,
                view.kind)
