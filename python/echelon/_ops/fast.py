"""Replaces public functions by those of the extension echelon_fast, which call the Python functions if necessary.

The modules of operations call each other without the extension: only the names in `echelon` are replaced.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import inspect

import numpy as np

from .._arrays.view import CODES, NAMES
from .._runtime import call as calls
from .._runtime import context as contexts
from .._runtime import fast, native
from .._runtime.native import declared as c
from . import reduce as reductions
from . import scan as scans
from . import sort as sorts

_DTYPES = tuple(np.dtype(name) if name != "bfloat16" else None for name in NAMES)
_NO_ROWS = (None,) * len(NAMES)
_WIDE_SCAN = native.struct(c.ech_scan_options, accumulate_wide=1)
_SMALLEST = native.struct(c.ech_topk_options, smallest=1)
replaced = {}  # the Python functions by name
_REDUCTIONS = ("sum", "min", "max", "mean", "argmin", "argmax")


def _address(function):
    return ctypes.cast(getattr(native.functions, function), ctypes.c_void_p).value


def _samples():
    """Arrays with the address, the shape, the dtype and the flags that they have."""
    base = np.zeros((3, 4), "i8")
    fixed = np.arange(5, dtype="f4")
    fixed.flags.writeable = False
    arrays = [base, base.T, base[:, ::2], base[1], fixed, np.zeros(0, "f8"), np.ones(7, "u1")[::-1], np.array(1.0)]
    return tuple((x, x.__array_interface__["data"][0], x.shape, x.dtype, x.flags.num) for x in arrays)


def _reduction_rows(name):
    """By ech_dtype: the ech_dtype and the type of the result, or None."""
    rows = []
    for code, dtype in enumerate(_DTYPES):
        computed = native.functions.ech_reduce_dtype(reductions.OPS[name], code, 0)
        if name in ("argmin", "argmax"):
            computed = c.ECH_I64  # positions are below 2^63
        rounded = code == c.ECH_F16 and computed != c.ECH_I64  # the result is float16, which C does not have
        rows.append(None if dtype is None or rounded else (computed, _DTYPES[computed].type, 0))
    return tuple(rows)


def _scan_rows():
    """By ech_dtype: the ech_dtype and the dtype of a cumulative sum, and the options."""
    rows = []
    for code, dtype in enumerate(_DTYPES):
        wide = code < c.ECH_F16 and scans.WIDE.get(code, code) != code
        result = scans.WIDE[code] if wide else code
        rows.append(None if dtype is None else (result, _DTYPES[result], ctypes.addressof(_WIDE_SCAN) if wide else 0))
    return tuple(rows)


def _operations():
    """Rows: the name, the functions of the library, their options without and with the choice, ech_op, the dtypes."""
    down = (0, ctypes.addressof(sorts.DESCENDING))
    yield "sort", ("ech_sort",), down, 0, _NO_ROWS
    yield "argsort", ("ech_argsort",), down, 0, _NO_ROWS
    for name in _REDUCTIONS:
        yield name, ("ech_reduce_rows",), (0, 0), reductions.OPS[name], _reduction_rows(name)
    yield "cumulative_sum", ("ech_scan_rows",), (0, 0), c.ECH_OP_SUM, _scan_rows()
    yield "searchsorted", ("ech_lower_bound", "ech_upper_bound"), (0, 0), 0, _NO_ROWS
    yield "top_k", ("ech_topk_rows",), (0, ctypes.addressof(_SMALLEST)), 0, _NO_ROWS


def install(namespace):
    """Replaces the functions in a namespace, if the extension can be used."""
    extension = fast.extension
    if extension is None:
        return
    try:
        extension.bind(fast.INTERFACE, np.ndarray, np.empty, _DTYPES, _samples(), calls.recorders,
                       contexts.own_handle, CODES["int64"])
    except ImportError as error:
        fast.disable(str(error))
        return
    for name, functions, options, op, rows in _operations():
        python = replaced[name] = namespace[name]
        doc = f"{name}{inspect.signature(python)}\n--\n\n{python.__doc__}"
        namespace[name] = extension.function(name, python, doc, namespace["__name__"],
                                             (_address(functions[0]), _address(functions[-1])), options, op, rows)
    fast.device_changed(calls.get_device())
