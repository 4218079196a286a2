"""Columns of any library: column(x) returns where the elements or strings of x are, and which of them are null.

Arrays of NumPy, PyTorch and CuPy, columns of pandas and polars, Arrow arrays, and lists of strings are columns.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .. import _arrays
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from . import pandas_parts, parts, text
from .arrow import import_arrow
from .numpy_family import NumPy
from .parts import Part

ARROW = ("__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_device_array__")


class Strings:
    """Strings as in Arrow: string i consists of the bytes from offsets[i] to offsets[i + 1].

    offsets   the View of [n + 1], i32 or i64
    bytes     the View of [total_bytes], u8
    """

    __slots__ = ("offsets", "bytes")

    def __init__(self, offsets, data):
        self.offsets, self.bytes = offsets, data

    @property
    def total_bytes(self):
        return self.bytes.shape[0]


class Column:
    """A column. It keeps its memory alive.

    n          the number of elements
    view       the View of [n]; of [n, width_bytes] u8 for key kinds other than ECH_KEY_DTYPE; None for strings.
               Times are i64 or i32 of kind "", and their NaT are null. bool is u8 of kind "bool". Categories are codes
               or ranks. The View may have strides
    strings    the Strings, or None
    validity   the address of a bitmap, or None if no element is null
    validity_offset   the number of the bit of element 0
    key_kind, width_bytes   as in ech_sort_column
    device     "cpu" or "cuda:0"
    family     its result(x) converts an array, such as one of indices, to the library of the column
    """

    __slots__ = ("n", "view", "strings", "validity", "validity_offset", "key_kind", "width_bytes", "device", "family",
                 "part")

    def __init__(self, part, family, view=None, name="x"):
        self.n, self.key_kind, self.part, self.family = part.n, part.kind, part, family
        self.view, self.strings, self.width_bytes = view or part.view, None, 0
        if part.offsets is not None:
            self.strings = Strings(NumPy.view(part.offsets), NumPy.view(part.data))
        elif self.view is None:
            self.view = NumPy.view(part.values, name)
        if part.kind != c.ECH_KEY_DTYPE:
            self.width_bytes = part.values.shape[1]
        self.device = self.view.device if self.view is not None else "cpu"
        if part.view is not None:
            self.family = part.view.family
        self.validity = None if part.bitmap is None else _address_of(part.bitmap)
        self.validity_offset = part.bit

    @property
    def null_count(self):
        valid = self.part.valid()
        return 0 if valid is None else self.n - int(np.count_nonzero(valid))


def _address_of(bitmap):
    return NumPy.view(bitmap).pointer if isinstance(bitmap, np.ndarray) else bitmap.pointer


def read(x, name="x"):
    """The Part of an object in host memory that is not an array of numbers, or None."""
    if pandas_parts.is_pandas(x):
        return pandas_parts.read(x, name)
    chunks = _chunks_of(x, name)
    if chunks is not None:
        form, chunks = chunks
        if form[:1] == "+":
            raise DTypeError(f"{name} is {type(x).__name__} of several or nested columns; pass one column")
        return parts.decode(chunks, name) if chunks else parts.empty(form, name)
    if isinstance(x, np.ndarray) and x.dtype.kind in "SUOT":
        return _text_of(x, name)
    if isinstance(x, (list, tuple)) and text.is_text(x):
        return of_objects(x, name)
    return None


def _without_views(x):
    """A column of strings of polars as Arrow strings with offsets, if pyarrow is installed: polars converts faster."""
    try:
        import polars
        import pyarrow  # noqa: F401  to_arrow() needs it
        return x.to_arrow(compat_level=polars.CompatLevel.oldest())
    except (ImportError, AttributeError, TypeError):  # no pyarrow, or an old version of polars
        return x


def _chunks_of(x, name):
    """The format and the Chunks of an object with an Arrow interface, or None."""
    library = type(x).__module__.partition(".")[0]
    if library == "polars" and str(getattr(x, "dtype", "")) in ("String", "Binary"):
        x = _without_views(x)
    if any(hasattr(x, attribute) for attribute in ARROW):
        return import_arrow(x, name)
    if library == "polars" and hasattr(x, "to_arrow"):  # before version 1.3
        return import_arrow(x.to_arrow(), name)
    if library == "pyarrow" and hasattr(x, "chunks"):  # before version 16
        found = [import_arrow(chunk, name) for chunk in (x.chunks or [x.combine_chunks()])]
        return found[0][0], [chunk for _, chunks in found for chunk in chunks]
    return None


def _text_of(x, name):
    if x.ndim != 1:
        raise ArgumentError(f"{name} has {x.ndim} dimensions, but must have one")
    if x.dtype.kind == "S":
        width = max(x.dtype.itemsize, 1)
        values = np.ascontiguousarray(x).view(np.uint8).reshape(len(x), x.dtype.itemsize)
        return Part(len(x), values if x.dtype.itemsize else np.zeros((len(x), width), np.uint8),
                    kind=c.ECH_KEY_BYTES)
    if x.dtype.kind == "U":
        offsets, data = text.from_fixed(x)
        return Part(len(x), offsets=offsets, data=data)
    return of_objects(x.tolist(), name)


def of_objects(objects, name):
    """The Part of Python strings."""
    offsets, data, valid = text.from_objects(objects, name)
    return Part(len(objects), offsets=offsets, data=data).mark(valid)


def with_nat(values):
    """The Part of datetime64 or timedelta64: integers, with a bitmap if there are NaT."""
    if not values.dtype.isnative:
        NumPy.view(values)  # raises
    part = Part(len(values), values.view(np.int64), time=values.dtype)
    return part.mark(~np.isnat(values))


def column(x, name="x"):
    """The Column of an object of any library; name is for error messages."""
    part = read(x, name)
    if part is not None:
        family = _arrays.family_of(x)
        return Column(part, family.of(x) if hasattr(family, "of") else family or NumPy, name=name)
    view = _arrays.view(x, name)
    if view.ndim != 1:
        raise ArgumentError(f"{name} has {view.ndim} dimensions, but a column has one")
    if view.kind == "time":
        return Column(with_nat(view.array), view.family)
    return Column(Part(view.shape[0]), view.family, view)
