"""Columns of pandas, polars, pyarrow and other Arrow libraries as one-dimensional arrays.

Nulls: nulls of times become NaT. Other nulls are an error, unless the caller asks for a view without them.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .._runtime.errors import ArgumentError, DTypeError, UnsupportedError
from .._runtime.native import declared as c
from . import columns
from .host_family import HostFamily


class Reader:
    """What the types of a library are registered with; family is the class of their results."""

    def __init__(self, family):
        self.family = family
        self.name = family.name

    def of(self, x):
        """The family of results like x."""
        return self.family(x)

    def view(self, x, name="x", nulls="error"):
        """The View of a column of numbers, bool or times. nulls: "error", or "skip": without the nulls."""
        return self._view_of(columns.read(x, name), x, name, nulls)

    def column_or_view(self, x, name="x"):
        """(Column, None) if a View does not represent x, otherwise (None, View)."""
        part = columns.read(x, name)
        if part.offsets is None and part.kind == c.ECH_KEY_DTYPE and not part.coded and part.bitmap is None:
            return None, self._view_of(part, x, name, "error")
        return columns.Column(part, self.of(x), name=name), None

    def _view_of(self, part, x, name, nulls):
        if part.offsets is not None or part.kind != c.ECH_KEY_DTYPE or part.coded:
            what = "strings" if part.offsets is not None else "categories" if part.coded else "decimals or binary"
            raise DTypeError(f"{name} is {type(x).__name__} of {what}; this function needs numbers, bool or times")
        if part.view is not None:
            if part.bitmap is not None:
                raise ArgumentError(f"{name} may contain nulls in GPU memory, which this function does not accept")
            return part.view
        valid = part.valid()
        values = _with_times(part, valid if nulls == "error" else None)
        if valid is not None and nulls == "skip":
            values = values[valid]
        elif valid is not None and part.time is None:
            raise ArgumentError(f"{name} contains nulls ({len(valid) - np.count_nonzero(valid)} of {len(valid)}), "
                                "which this function does not accept; fill or drop them first")
        view = self.of(x).view(values, name)
        view.readonly = True
        return view


def _with_times(part, valid):
    """The values; times as datetime64 or timedelta64, with NaT for nulls."""
    if part.time is None:
        return part.values
    integers = np.ascontiguousarray(part.values, np.int64)
    if valid is not None:
        integers = np.where(valid, integers, np.iinfo(np.int64).min)
    return integers.view(part.time)


class PyArrow(HostFamily):
    """Array and ChunkedArray of pyarrow."""

    name = "pyarrow"

    def __init__(self, like):
        import pyarrow
        self.type, self.chunked = like.type, isinstance(like, pyarrow.ChunkedArray)

    def result(self, x):
        import pyarrow
        if x.ndim > 1:
            return x
        array = arrow_array(np.ascontiguousarray(x.reshape(-1)), self.type)
        if x.ndim == 0:
            return array[0]
        return pyarrow.chunked_array([array]) if self.chunked else array

    def with_nulls(self, x, count, first):
        """The elements of x before or after nulls."""
        import pyarrow
        array = arrow_with_nulls(x, self.type, count, first)
        return pyarrow.chunked_array([array]) if self.chunked else array

    @staticmethod
    def take(x, order):
        return arrow_taken(x, order)


def arrow_taken(x, order):
    """The elements at these positions. pyarrow cannot rearrange views of strings, which are converted for that."""
    import pyarrow
    plain = {"string_view": pyarrow.large_string(), "binary_view": pyarrow.large_binary()}.get(str(x.type))
    return x.take(order) if plain is None else x.cast(plain).take(order).cast(x.type)


def arrow_array(x, like):
    """An array of pyarrow from a contiguous array of NumPy; times have the type like."""
    import pyarrow
    return arrow_times(x, like) if x.dtype.kind in "mM" else pyarrow.array(x)


def arrow_with_nulls(x, like, count, first):
    """The same before or after nulls."""
    import pyarrow
    array = arrow_array(x, like)
    parts = [array, pyarrow.nulls(count, array.type)]
    return pyarrow.concat_arrays(parts[::-1] if first else parts)


def arrow_times(x, like):
    """An array of pyarrow from datetime64 or timedelta64; of the type like if that has the same unit."""
    import pyarrow
    import pyarrow.types as types
    if not types.is_temporal(like):
        return pyarrow.array(x)
    nat, integers = np.isnat(x), x.view(np.int64)
    physical = np.int32 if types.is_date32(like) or types.is_time32(like) else np.int64
    values = np.where(nat, 0, integers).astype(physical)
    validity = pyarrow.py_buffer(np.packbits(~nat, bitorder="little")) if nat.any() else None
    return pyarrow.Array.from_buffers(like, len(x), [validity, pyarrow.py_buffer(values)])


class Polars(HostFamily):
    """Series of polars."""

    name = "polars"

    def __init__(self, like):
        self.series_name, self.template = like.name, like.dtype

    def result(self, x):
        import polars
        if x.ndim == 0:
            return x[()]
        if x.ndim > 1:
            return x
        if x.dtype.kind not in "mM" or not self.template.is_temporal():
            return polars.Series(self.series_name, np.ascontiguousarray(x))
        missing = np.flatnonzero(np.isnat(x))
        series = polars.Series(self.series_name, np.ascontiguousarray(x).view(np.int64))
        if len(missing):
            series = series.scatter(missing, None)
        return series.cast(self.template)

    def with_nulls(self, x, count, first):
        """The elements of x before or after nulls."""
        import polars
        series = self.result(x)
        parts = [series, polars.Series(series.name, [None], series.dtype).new_from_index(0, count)]
        return polars.concat(parts[::-1] if first else parts)

    @staticmethod
    def take(x, order):
        return x.gather(order)


class Pandas(HostFamily):
    """Series, Index and extension arrays of pandas. A Series of results has a new index from 0."""

    name = "pandas"

    def __init__(self, like):
        import pandas
        self.kind = pandas.Series if isinstance(like, pandas.Series) else \
            pandas.Index if isinstance(like, pandas.Index) else None
        self.series_name, self.template = getattr(like, "name", None), like.dtype

    def result(self, x):
        if x.ndim == 0:
            return x[()]
        return x if x.ndim > 1 else self.wrap(self._values(np.ascontiguousarray(x)))

    def wrap(self, values):
        """The Series or Index of an array."""
        return values if self.kind is None else self.kind(values, name=self.series_name)

    def _values(self, x):
        """The array, with the missing values and the time zone that the input had."""
        import pandas
        dtype = self.template
        if isinstance(dtype, pandas.DatetimeTZDtype) and x.dtype.kind == "M":
            return pandas.DatetimeIndex(x).tz_localize("UTC").tz_convert(dtype.tz).array
        if isinstance(dtype, pandas.ArrowDtype):
            import pyarrow
            return pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array([arrow_array(x, dtype.pyarrow_dtype)]))
        if isinstance(dtype, pandas.api.extensions.ExtensionDtype) and hasattr(dtype, "numpy_dtype") \
                and x.dtype.kind in "biuf" and x.dtype.itemsize != 2 * (x.dtype.kind == "f"):
            return pandas.array(x, dtype="boolean" if x.dtype == bool else
                                x.dtype.name.replace("int", "Int").replace("u", "U").replace("float", "Float"))
        return x if self.kind is not None else pandas.array(x)

    def with_nulls(self, x, count, first):
        """The elements of x before or after nulls."""
        import pandas
        values = self._values(np.ascontiguousarray(x))
        values = pandas.array(values) if isinstance(values, np.ndarray) else values
        places = np.concatenate([np.arange(len(x)), np.full(count, -1)])
        return self.wrap(values.take(np.roll(places, count) if first else places, allow_fill=True))

    def take(self, x, order):
        taken = x.take(order)
        return taken.reset_index(drop=True) if hasattr(taken, "reset_index") else taken


class OtherArrow(HostFamily):
    """Objects with an Arrow interface of other libraries. Results are arrays of NumPy, masked if there are nulls."""

    name = "arrow"

    def __init__(self, like):
        pass

    def result(self, x):
        return x[()] if x.ndim == 0 else x

    @staticmethod
    def with_nulls(x, count, first):
        """The elements of x before or after masked ones."""
        parts = [np.ma.MaskedArray(x), np.ma.masked_all(count, x.dtype)]
        return np.ma.concatenate(parts[::-1] if first else parts)

    @staticmethod
    def take(x, order):
        raise UnsupportedError(f"x is {type(x).__name__}, of which only numbers can be sorted; use argsort()")


PYARROW, POLARS, PANDAS, OTHER = Reader(PyArrow), Reader(Polars), Reader(Pandas), Reader(OtherArrow)
