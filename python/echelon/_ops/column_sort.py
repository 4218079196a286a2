"""sort() and argsort() of columns with nulls, strings, categories or decimals.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .._arrays.numpy_family import NumPy
from .._runtime import native
from .._runtime.arguments import flag
from .._runtime.call import Job
from .._runtime.errors import ArgumentError, UnsupportedError
from .._runtime.native import declared as c


def nulls_first(nulls):
    """0 or 1 for the parameter nulls."""
    if not isinstance(nulls, str) or nulls not in ("first", "last"):
        raise ArgumentError(f"nulls is {nulls!r}, but must be 'last' or 'first'")
    return int(nulls == "first")


def strided(job, view):
    """The View of a column that the library can read, and the distance of its elements in bytes; 0: no gaps."""
    if view.strides is None:
        return view, 0
    if view.ndim > 1 or view.strides[0] <= 0:
        return job.contiguous(view), 0
    return view, view.strides[0]


def argsort_column(column, code, descending, nulls, out=None):
    """The positions that sort a Column, as ech_dtype code."""
    first, descending = nulls_first(nulls), flag(descending, "descending")
    strings = column.strings
    job = Job(strings.bytes if strings is not None else column.view)
    if strings is not None:
        job.add(strings.offsets)
    job.family = column.family
    target = job.output(out, (column.n,), code)
    result = target if target.contiguous else job.empty((column.n,), code)
    if column.n and strings is not None:
        options = native.struct(c.ech_strings_options, descending=descending, nulls_first=first,
                                validity=column.validity, validity_offset=column.validity_offset)
        job.call("ech_argsort_strings", strings.offsets.pointer, strings.bytes.pointer, result.pointer, column.n,
                 strings.total_bytes, strings.offsets.code, code, ctypes.byref(options))
    elif column.n:
        view, stride = strided(job, column.view)
        key = native.struct(c.ech_sort_column, data=view.pointer, dtype=view.code, descending=descending,
                            nulls_first=first, validity=column.validity, validity_offset=column.validity_offset,
                            kind=column.key_kind, width_bytes=column.width_bytes, stride_bytes=stride)
        job.call("ech_argsort_columns", ctypes.byref(key), result.pointer, column.n, 1, code, None)
    return job.finish(target, out, result)


def sort_column(x, column, descending, nulls, sort):
    """The elements of the column x in order. sort is the function for arrays without nulls."""
    family, part = column.family, column.part
    if part.values is not None and part.kind == c.ECH_KEY_DTYPE and not part.coded:
        valid = part.valid()
        values = part.values[valid]
        if part.time is not None:
            values = values.astype("int64").view(part.time)
        ordered = sort(values, descending=descending)
        return family.with_nulls(ordered, len(valid) - len(ordered), nulls_first(nulls))
    if part.view is not None:
        raise UnsupportedError("x may contain nulls in GPU memory, which sort() does not support; use argsort()")
    column.family = NumPy  # the positions are an array of NumPy
    return family.take(x, argsort_column(column, c.ECH_I64, descending, nulls))
