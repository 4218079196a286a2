"""Capsules of the C interface of Python, and NumPy arrays over memory that another object owns.

The functions of ctypes.pythonapi are shared by all users of ctypes, so this module declares its own prototypes.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np


def _function(name, result, *parameters):
    return ctypes.PYFUNCTYPE(result, *parameters)((name, ctypes.pythonapi))


_get_pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_is_valid = _function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_set_name = _function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)


def pointer(capsule, name):
    """The address in a capsule with this name, which is bytes; None if it has another name."""
    return _get_pointer(capsule, name) if _is_valid(capsule, name) else None


def rename(capsule, name):
    """Changes the name of a capsule. name must be a constant: the capsule refers to its bytes."""
    _set_name(capsule, name)


class Memory:
    """Memory at an address as NumPy sees it. owner is alive as long as an array refers to the memory."""

    __slots__ = ("__array_interface__", "owner", "__weakref__")

    def __init__(self, address, shape, typestr, owner, strides=None, readonly=True):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, readonly), "shape": shape, "typestr": typestr,
                                    "strides": strides}


def array_at(address, shape, dtype, owner, strides=None, readonly=True):
    """An array of NumPy over memory that owner keeps alive. The memory is not read."""
    dtype = np.dtype(dtype)
    shape = tuple(shape)
    if not address or 0 in shape:
        array = np.empty(shape, dtype)
        array.flags.writeable = not readonly
        return array
    plain = dtype if dtype.kind in "biufmM" else np.dtype(f"u{dtype.itemsize}")  # the interface has no bfloat16
    array = np.asarray(Memory(address, shape, plain.str, owner, strides, readonly))
    return array if plain is dtype else array.view(dtype)
