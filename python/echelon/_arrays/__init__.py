"""Arrays of every library: view(x) returns the family of an array and where its elements are.

A family is a class with static methods (numpy_family.NumPy documents them). Families of other libraries are imported
when the first object of that library is seen.

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np

from .numpy_family import NumPy
from .view import BYTES, CODES, FLOAT_CODES, INDEX_CODES, NAMES, View, code_of, normalized_axis  # noqa: F401

_families = {np.ndarray: NumPy}  # by type


def _torch_family(x):
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, getattr(torch, "Tensor", ())):
        return None
    from .torch_family import Torch
    return Torch


def _cupy_family(x):
    cupy = sys.modules.get("cupy")
    if cupy is None or not isinstance(x, getattr(cupy, "ndarray", ())):
        return None
    from .cupy_family import CuPy
    return CuPy


def _numpy_family(x):
    return NumPy if isinstance(x, np.ndarray) else None


# In this order. Each returns a family, or None if the object is not one of its arrays.
FINDERS = [_numpy_family, _torch_family, _cupy_family]


def family_of(x):
    """The family of an array, or None if it must be converted to an array of NumPy."""
    kind = type(x)
    family = _families.get(kind)
    if family is None:
        for find in FINDERS:
            family = find(x)
            if family is not None:
                _families[kind] = family
                break
    return family


def view(x, name="x"):
    """The View of an array, a buffer, a sequence of numbers, or a number."""
    family = _families.get(type(x)) or family_of(x)
    if family is None:
        return NumPy.view(NumPy.convert(x, name), name)
    return family.view(x, name)
