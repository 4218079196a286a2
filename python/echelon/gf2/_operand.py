"""Operand: an argument of a function over GF(2), and how a result of its type is made.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import sys

import numpy as np

from .. import _arrays
from .._arrays.view import check_indices
from .._runtime import native
from .._runtime.call import Job
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from ._layout import dense_view, unpack
from ._matrix import Matrix, pack


def plain(x, name):
    """An array for matrices of scipy.sparse and galois, and the class of galois that results need."""
    sparse, galois = sys.modules.get("scipy.sparse"), sys.modules.get("galois")
    if galois is not None and isinstance(x, getattr(galois, "FieldArray", ())):
        if type(x).order != 2:
            raise DTypeError(f"{name} is an array over a field of order {type(x).order}, but the order must be 2")
        return x.view(np.ndarray), type(x)
    if hasattr(sparse, "issparse") and sparse.issparse(x):
        if x.dtype.kind not in "biu":
            raise DTypeError(f"{name} has dtype {x.dtype}, but must have bool or an integer dtype")
        return (x.astype("uint8") if x.dtype.kind == "b" else x).toarray().astype("uint8"), None
    return x, None


class Operand:
    """A matrix, or with vectors=True also a vector, which becomes a row (as_column: a column).

    bits    the Matrix
    packed  whether the argument is a Matrix; otherwise code, kind and wrap are those of results
    vector  whether the argument has one dimension
    """

    __slots__ = ("bits", "packed", "vector", "code", "kind", "wrap")

    def __init__(self, x, name, job=None, vectors=False, as_column=False):
        self.packed, self.vector = isinstance(x, Matrix), False
        self.code, self.kind, self.wrap = c.ECH_U8, "", None
        if self.packed:
            self.bits = x
            if job is not None:
                job.add(x._view)
            return
        x, self.wrap = plain(x, name)
        own = job is None or _arrays.family_of(x) is not None  # a list becomes an array like the other argument
        view = _arrays.view(x, name) if job is None else job.view(x, name)
        if view.size == 0 and _arrays.family_of(x) is None and view.is_float:  # an empty list
            view = _arrays.view(np.empty(view.shape, "uint8"))
        view = dense_view(view, name, (1, 2) if vectors else (2,))
        self.code, self.kind, self.vector = view.code, view.kind, view.ndim == 1
        shape = view.shape
        if self.vector:
            shape = (shape[0], 1) if as_column else (1, shape[0])
        self.bits = pack(Job(view) if own else job, view, *shape)

    @property
    def shape(self):
        return self.bits.shape

    def job(self):
        """A Job for the result."""
        return Job(self.bits._view)

    def result(self, job, bits, vector=False):
        """What a function returns: a Matrix or an array like the argument. vector: with one dimension."""
        if self.packed and not vector:
            return bits
        shape = (bits.rows * bits.cols,) if vector else bits.shape
        return self.wrapped(job.finish(unpack(job, bits, shape, self.code, self.kind)))

    def wrapped(self, array):
        """The array, or that of galois."""
        return array if self.wrap is None else array.view(self.wrap)


def operands(a, b, vectors=(False, False), as_column=(False, False), names=("a", "b")):
    """The Operands of two arguments, and the Job. Numbers and sequences move to the device of the other argument."""
    first_is_array = isinstance(a, Matrix) or _arrays.family_of(a) is not None
    order = (0, 1) if first_is_array else (1, 0)
    found, job = [None, None], None
    for i in order:
        found[i] = Operand((a, b)[i], names[i], job, vectors[i], as_column[i])
        job = job or found[i].job()
    second = Job(found[1].bits._view, found[0].bits._view)  # the result is like the second argument
    return found[0], found[1], second


def indices(job, x, name, shape=None):
    """The View of an array of indices in C order. The library checks their values."""
    view = job.view(x, name)
    if view.size == 0 and view.is_float and _arrays.family_of(x) is None:
        view = job.view(np.empty(view.shape, "int64"), name)
    check_indices(view, name)
    if shape is not None and view.shape != shape:
        raise ArgumentError(f"{name} has shape {view.shape}, but must have shape {shape}")
    return job.contiguous(view)


def echelon_options(job, order=None, **fields):
    """Options of eliminations. order: the View of column_order."""
    if order is not None:
        fields.update(column_order=order.pointer, pivot_cols=order.shape[-1])
    return native.struct(c.ech_gf2_echelon_options, index_dtype=c.ECH_I64 if order is None else order.code, **fields)


def number(job, call, *arguments):
    """Calls a function that writes a u32 in host memory, at the place of the argument NUMBER; returns it."""
    found = ctypes.c_uint32()
    job.call(call, *(ctypes.addressof(found) if argument is NUMBER else argument for argument in arguments))
    job.call("ech_sync")
    return found.value


NUMBER = object()
