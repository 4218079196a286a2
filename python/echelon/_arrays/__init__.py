"""Arrays of every library: view(x) returns the family of an array and where its elements are.

A family is a class with static methods (numpy_family.NumPy documents them). Families of other libraries are imported
when the first object of that library is seen.

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np

from .._runtime.errors import ArgumentError
from .numpy_family import NumPy, NumPySubclass
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
    return NumPySubclass if isinstance(x, np.ndarray) else None


# Libraries of columns: the module, the names of its types, and the name in column_family.
_COLUMNS = [("pyarrow", ("Array", "ChunkedArray"), "PYARROW"), ("polars", ("Series",), "POLARS"),
            ("pandas", ("Series", "Index"), "PANDAS")]


def _column_family(x):
    library = type(x).__module__.partition(".")[0]
    for module, names, reader in _COLUMNS:
        types = tuple(getattr(sys.modules.get(module), name, ()) for name in names)
        if isinstance(x, types) or module == "pandas" and _is_extension(x):
            from . import column_family
            return getattr(column_family, reader)
        if library == module:
            return None
    if hasattr(type(x), "__dlpack__"):
        return None
    if any(hasattr(type(x), f"__arrow_c_{kind}__") for kind in ("array", "stream", "device_array")):
        from . import column_family
        return column_family.OTHER
    return None


def _is_extension(x):
    """Whether an object is an extension array of pandas."""
    pandas = sys.modules.get("pandas")
    api = getattr(getattr(pandas, "api", None), "extensions", None)
    return api is not None and isinstance(x, api.ExtensionArray)


def _foreign_family(x):
    if not any(hasattr(x, f"__{name}__") for name in ("dlpack", "cuda_array_interface", "dlpack_c_exchange_api")):
        return None
    from . import foreign_family
    return foreign_family.family_of(x)


# In this order. Each returns a family, or None if the object is not one of its arrays.
FINDERS = [_numpy_family, _torch_family, _cupy_family, _column_family, _foreign_family]
_PLAIN = frozenset((bool, bytearray, bytes, float, int, list, memoryview, range, str, tuple, type(None)))


def family_of(x):
    """The family of an array, or None if it must be converted to an array of NumPy."""
    kind = type(x)
    family = _families.get(kind)
    if family is None and kind not in _PLAIN:
        for find in FINDERS:
            family = find(x)
            if family is not None:
                _families[kind] = family
                break
    return family


def view(x, name="x", nulls="error"):
    """The View of an array, a column, a buffer, a sequence of numbers, or a number.

    nulls: what to do with the nulls of a column: "error" raises ArgumentError; "skip" returns a View without them.
    """
    family = _families.get(type(x)) or family_of(x)
    if family is None:
        return NumPy.view(NumPy.convert(x, name), name)
    return family.view(x, name) if nulls == "error" else family.view(x, name, *_skipping(family))


def _skipping(family):
    """The argument that makes a family of columns skip nulls. Other arrays have none."""
    return ("skip",) if hasattr(family, "column_or_view") else ()


def column_or_view(x, name="x"):
    """(Column, None) for a column that a View does not represent: with nulls, strings, categories, decimals.

    (None, View) for all other objects.
    """
    family = _families.get(type(x)) or family_of(x)
    if hasattr(family, "column_or_view"):
        return family.column_or_view(x, name)
    return None, view(x, name)


def assign(target, source):
    """Copies the elements of a View to one of the same shape and dtype, also of another library."""
    family = target.family
    if family is source.family or isinstance(target.array, np.ndarray) and isinstance(source.array, np.ndarray):
        family.copy_to(target.array, source.array)
    elif target.device == "cpu":
        from .layout import memory
        memory(target)[...] = memory(source)
    elif family.name in ("torch", "cupy"):
        family.copy_to(target.array, sys.modules[family.name].from_dlpack(source.array))
    else:
        raise ArgumentError(f"the output is an array of another library than the input ({source.family.name}), which "
                            "on a GPU is supported only for outputs of PyTorch and CuPy")
