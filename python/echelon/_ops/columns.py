"""Sorts by several columns: argsort_columns and lexsort.

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np

from .. import _arrays
from .._arrays.host_family import HostFamily
from .._arrays.numpy_family import NumPy
from .._runtime import native
from .._runtime.arguments import flag
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .column_sort import nulls_first, strided
from .sort import index_code
from .strings import column_of, fixed, ranked

_MOST_COLUMNS, _MOST_BYTES = 16, 512


def _is_frame(x):
    """Whether an object is a table of pandas, polars, pyarrow or another library of data frames."""
    library = sys.modules.get(type(x).__module__.partition(".")[0])
    kinds = [getattr(library, name, None) for name in ("DataFrame", "Table", "RecordBatch")]
    return isinstance(x, tuple(kind for kind in kinds if isinstance(kind, type)))


def names_of(by, available, what, parameter="by"):
    """The names in a parameter, or all names that are available."""
    names = list(available) if by is None else list(by) if isinstance(by, (list, tuple)) else [by]
    for name in names:
        if name not in available:
            raise ArgumentError(f"{parameter} contains {name!r}, but {what} has the columns {list(available)}")
    return names


def columns_in(table, by):
    """The columns of a table as pairs of a name for messages and an object."""
    if isinstance(table, np.ndarray) and table.dtype.names:
        return [(f"columns[{name!r}]", table[name]) for name in names_of(by, table.dtype.names, "the array")]
    if isinstance(table, dict):
        return [(f"columns[{name!r}]", table[name]) for name in names_of(by, list(table), "the dict")]
    if _is_frame(table):
        available = getattr(table, "column_names", None)
        available = list(table.columns if available is None else available)
        get = table.column if hasattr(table, "column_names") else table.__getitem__
        return [(f"columns[{name!r}]", get(name)) for name in names_of(by, available, "the table")]
    if _arrays.family_of(table) is not None and getattr(table, "ndim", 0) == 2:
        found = [table[:, i] for i in range(table.shape[1])]
    elif isinstance(table, (list, tuple)):
        found = list(table)
    else:
        raise DTypeError(f"columns is {type(table).__name__}, but must be a table, a dict, or a list of columns")
    return [(f"columns[{i}]", found[i]) for i in names_of(by, range(len(found)), "the list")]


def one_each(value, n, name):
    """One value per column."""
    values = list(value) if isinstance(value, (list, tuple)) else [value] * n
    if len(values) != n:
        raise ArgumentError(f"{name} has length {len(values)}, but there are {n} columns")
    return values


def _bytes_of(column):
    return column.width_bytes or column.view.itemsize


def _reduced(found):
    """The Columns without strings, and with at most 512 bytes per row."""
    found = [fixed(column) if column.strings is not None else column for column in found]
    while sum(map(_bytes_of, found)) > _MOST_BYTES:
        widest = max(range(len(found)), key=lambda i: _bytes_of(found[i]))
        if found[widest].key_kind != c.ECH_KEY_BYTES or _bytes_of(found[widest]) <= 8:
            break  # the call reports it
        found[widest] = ranked(found[widest])
    return found


def _struct(job, column, descending, nulls):
    """The ech_sort_column of a Column."""
    view, stride = strided(job, column.view)
    return native.struct(c.ech_sort_column, data=view.pointer, dtype=view.code,
                         descending=flag(descending, "descending"),
                         nulls_first=nulls_first(nulls), validity=column.validity,
                         validity_offset=column.validity_offset, kind=column.key_kind, width_bytes=column.width_bytes,
                         stride_bytes=stride)


def argsort_named(named, descending, nulls, dtype, out):
    """The positions that sort the rows of named columns."""
    if not 1 <= len(named) <= _MOST_COLUMNS:
        raise ArgumentError(f"there are {len(named)} columns, but must be 1 to {_MOST_COLUMNS}")
    descending, nulls = one_each(descending, len(named), "descending"), one_each(nulls, len(named), "nulls")
    found = [column_of(x, name) for name, x in named]
    n = found[0].n
    for column, (name, _) in zip(found, named):
        if column.n != n:
            raise ArgumentError(f"{name} has length {column.n}, but {named[0][0]} has length {n}")
    family = found[0].family
    if len(found) == 1 and found[0].strings is not None:
        from .column_sort import argsort_column
        found[0].family = NumPy
        return argsort_column(found[0], index_code(dtype, n), descending[0], nulls[0], out)
    found = _reduced(found)
    job = Job(found[0].view)
    job.family = NumPy if isinstance(family, HostFamily) else family
    for column in found:
        job.add(column.view)
    code = index_code(dtype, n)
    target = job.output(out, (n,), code)
    result = target if target.contiguous else job.empty((n,), code)
    if n:
        keys = (c.ech_sort_column * len(found))(*(_struct(job, *each) for each in zip(found, descending, nulls)))
        job.call("ech_argsort_columns", keys, result.pointer, n, len(found), code, None)
    return job.finish(target, out, result)


@operation
def argsort_columns(columns, /, *, by=None, descending=False, nulls="last", dtype=None, out=None):
    """Return the positions that sort the rows of a table by several columns.

    columns: a DataFrame of pandas or polars, a Table of pyarrow, a dict or a list of columns, a structured array of
    NumPy, or a matrix [n, columns]. A column is an array [n] of numbers, bool, times, strings or bytes of any library,
    or a list of strings. by: the names (of a list or a matrix, the numbers) of 1 to 16 columns, the most significant
    one first; None: all. descending: from the largest to the smallest; one value, or one per column. nulls: "last" or
    "first", the place of missing values, also in descending order; one value, or one per column. dtype: of the result:
    int64 (the default), int32, uint32 or uint64. out: an array [n] of this dtype.

    Returns an array [n]: position i is that of the i-th row in the order. The sort is stable. It is an array of NumPy,
    or of the library of the first column if that is PyTorch or CuPy. NaN is the largest value and not missing; NaT and
    None are missing. Strings are in the order of their code points; among several columns, long ones are first replaced
    by their ranks. Raises ArgumentError for an unknown name and for columns of different lengths.

    >>> import echelon, numpy
    >>> table = {"city": ["Rome", "Oslo", "Rome"], "year": numpy.array([2021, 2019, 2020])}
    >>> echelon.argsort_columns(table, by=["city", "year"])
    array([1, 2, 0])
    >>> echelon.argsort_columns(table, by=["city", "year"], descending=[True, False])
    array([2, 0, 1])
    """
    return argsort_named(columns_in(columns, by), descending, nulls, dtype, out)


@operation
def lexsort(keys, /, *, descending=False, dtype=None, out=None):
    """Return the positions that sort by several keys, of which the last one is the most significant, as NumPy does.

    keys: 1 to 16 arrays [n], or one array [keys, n]. descending: from the largest to the smallest; one value, or one
    per key. dtype: of the result: int64 (the default), int32, uint32 or uint64. out: an array [n] of this dtype.

    Returns an array [n] as argsort_columns() does with the keys in reverse order.

    >>> import echelon, numpy
    >>> echelon.lexsort([numpy.array([2, 1, 3]), numpy.array([1, 1, 0])])
    array([2, 1, 0])
    """
    if _arrays.family_of(keys) is None and not isinstance(keys, (list, tuple)):
        raise DTypeError(f"keys is {type(keys).__name__}, but must be a list of arrays, or an array [keys, n]")
    if _arrays.family_of(keys) is not None and keys.ndim != 2:
        raise ArgumentError(f"keys has {keys.ndim} dimensions, but must have two, or be a list of arrays")
    named = [(f"keys[{i}]", keys[i]) for i in range(len(keys))]
    directions = one_each(descending, len(named), "descending")
    return argsort_named(named[::-1], directions[::-1], "last", dtype, out)
