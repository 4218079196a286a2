"""Elimination over GF(2): ranks, echelon forms, nullspaces, inverses, solutions and factors.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
from typing import Any, NamedTuple

import numpy as np

from .._ops import direct
from .._runtime.arguments import integer
from .._runtime.call import operation
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from ._matrix import matrix_of, new
from ._operand import NUMBER, Operand, echelon_options, indices, number, operands


class LinAlgError(ArgumentError, direct.LinAlgError):
    """A matrix is singular, or a system has no solution. It is a ValueError and a numpy.linalg.LinAlgError."""


class Echelon(NamedTuple):
    """The result of echelon()."""

    form: Any
    rank: int
    pivots: Any
    transform: Any
    rows_from: Any


def int64_of(job, view, count=None):
    """The array of indices as int64, or its first elements."""
    family = job.family
    array = view.array if view.code == c.ECH_I64 else family.cast(view.array, family.dtype(c.ECH_I64))
    return family.result(array if count is None else family.head(array, count))


def _order(job, column_order, cols):
    if column_order is None:
        return None
    order = indices(job, column_order, "column_order")
    if order.ndim != 1 or order.size > cols:
        raise ArgumentError(f"column_order has shape {order.shape}, but must have one dimension and at most {cols} "
                            "elements")
    return order


@operation
def rank(a, /, *, column_order=None):
    """Return the rank of a matrix.

    a: [m, n]. column_order: as for echelon(): the rank of these columns.

    Returns an int. The function waits until a GPU has computed it.

    >>> from echelon import gf2
    >>> gf2.rank([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    2
    """
    operand = Operand(a, "a")
    job, (m, n) = operand.job(), operand.shape
    order = _order(job, column_order, n)
    if not m or not n or order is not None and not order.size:
        return 0
    return number(job, "ech_gf2_rank", operand.bits.reference(), NUMBER, ctypes.byref(echelon_options(job, order)))


def _eliminate(job, bits, reduced, order=None, max_rank=0, transform=None, rows_from=None, in_place=False):
    """The echelon form, the rank and the View of the pivots."""
    m, n = bits.shape
    out = bits if in_place else bits.copy()
    code = c.ECH_I64 if order is None else order.code
    pivots = job.empty((min(m, n),), code)
    if not m or not n or order is not None and not order.size:
        if transform is not None and m:
            job.call("ech_gf2_identity", transform.reference())
        if rows_from is not None and m:
            job.call("ech_iota", rows_from.pointer, m, rows_from.code, None, None)
        return out, 0, pivots
    fields = {"form": c.ECH_GF2_FORM_REDUCED if reduced else c.ECH_GF2_FORM_ECHELON, "max_rank": max_rank}
    described = transform.struct() if transform is not None else None
    if described is not None:
        fields["transform"] = ctypes.addressof(described)
    if rows_from is not None:
        fields["rows_from"] = rows_from.pointer
    options = echelon_options(job, order, **fields)
    found = number(job, "ech_gf2_echelon", out.reference(), NUMBER, pivots.pointer, ctypes.byref(options))
    return out, found, pivots


@operation
def echelon(a, /, *, reduced=False, column_order=None, max_rank=None, transform=False, rows_from=False):
    """Transform a matrix to row echelon form.

    a: [m, n]; not modified. reduced: a pivot is the only one in its column. column_order: distinct columns; pivots
    are sought in these columns only, in this order, and no column is moved. max_rank: stop at this number of pivots.
    transform: also return T [m, m] with T a = form. rows_from: also return an array [m]: row i of the form is row
    rows_from[i] of a, to which other rows have been added.

    Returns a named tuple (form, rank, pivots, transform, rows_from): form has the type of a; pivots [rank] are the
    columns of the pivots of the first rows, int64; what is not requested is None. In each column the first row with a
    one becomes the pivot row, on all devices. Raises ArgumentError for invalid columns.

    >>> import numpy
    >>> from echelon import gf2
    >>> form, rank, pivots, t, _ = gf2.echelon(numpy.array([[0, 1, 1], [1, 1, 0], [1, 0, 1]]), transform=True)
    >>> form
    array([[1, 1, 0],
           [0, 1, 1],
           [0, 0, 0]])
    >>> rank, pivots.tolist(), t.tolist()
    (2, [0, 1], [[0, 1, 0], [1, 0, 0], [1, 1, 1]])
    """
    operand = Operand(a, "a")
    job, (m, n) = operand.job(), operand.shape
    order = _order(job, column_order, n)
    limit = limit_of(max_rank)
    t = new(job, m, m) if transform else None
    source = job.empty((m,), c.ECH_I64 if order is None else order.code) if rows_from else None
    if limit == 0:
        limit, order = None, job.view(np.empty(0, "int64"), "column_order")
    out, found, pivots = _eliminate(job, operand.bits, reduced, order, limit or 0, t, source,
                                    in_place=not operand.packed)
    return Echelon(operand.result(job, out), found, int64_of(job, pivots, found),
                   operand.result(job, t) if transform else None, int64_of(job, source) if rows_from else None)


def limit_of(max_rank):
    """max_rank as an int, or None."""
    if max_rank is None:
        return None
    return min(integer(max_rank, "max_rank", 0), 2**32 - 1)  # a matrix has fewer rows than that


@operation
def rref(a, /, *, column_order=None):
    """Return the reduced row echelon form of a matrix, which is unique.

    a: [m, n]. column_order: as for echelon().

    Returns a matrix of the shape and type of a. echelon(a, reduced=True) also returns the rank and the pivots.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.rref(numpy.array([[1, 1, 1], [1, 1, 0]]))
    array([[1, 1, 0],
           [0, 0, 1]])
    """
    return echelon(a, reduced=True, column_order=column_order).form


@operation
def pivots(a, /, *, column_order=None):
    """Return the pivot columns: the first independent columns.

    a: [m, n]. column_order: as for echelon(): independent columns are selected in this order.

    Returns an array [rank] of int64. The first independent rows are pivots(transpose(a)).

    >>> from echelon import gf2
    >>> gf2.pivots([[0, 1, 1, 0], [0, 1, 1, 1]])
    array([1, 3])
    """
    operand = Operand(a, "a")
    job = operand.job()
    order = _order(job, column_order, operand.shape[1])
    _, found, columns = _eliminate(job, operand.bits, False, order, in_place=not operand.packed)
    return int64_of(job, columns, found)


def _basis(operand, call, width, others):
    """A basis of a nullspace with vectors of length width; its dimension is at least width - others."""
    job = operand.job()
    basis = new(job, width, width)
    if others == 0 or width == 0:
        if width:
            job.call("ech_gf2_identity", basis.reference())
        return operand.result(job, basis)
    found = number(job, call, operand.bits.reference(), basis.reference(), NUMBER, None)
    words = job.family.head(basis.words, found)
    return operand.result(job, matrix_of(job.add(job.family.view(words)), found, width))


@operation
def nullspace(a, /):
    """Return a basis of the nullspace: of all x with a x = 0.

    a: [m, n].

    Returns a matrix [n - rank, n] with the type of a, one vector per row. Row i has a one in the i-th column without a
    pivot, and zeros in all other columns without a pivot.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.nullspace(numpy.array([[1, 1, 0], [0, 1, 1]]))
    array([[1, 1, 1]])
    """
    operand = Operand(a, "a")
    m, n = operand.shape
    return _basis(operand, "ech_gf2_nullspace", n, m)


@operation
def left_nullspace(a, /):
    """Return a basis of the left nullspace: of all y with y a = 0.

    a: [m, n].

    Returns a matrix [m - rank, m] with the type of a, one vector per row.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.left_nullspace(numpy.array([[1, 1], [0, 1], [1, 0]]))
    array([[1, 1, 1]])
    """
    operand = Operand(a, "a")
    m, n = operand.shape
    return _basis(operand, "ech_gf2_left_nullspace", m, n)


@operation
def inverse(a, /):
    """Return the inverse of a square matrix.

    a: [n, n].

    Returns [n, n], with the type of a. Raises LinAlgError, which is a ValueError, if a is singular.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.inverse(numpy.array([[1, 1], [0, 1]]))
    array([[1, 1],
           [0, 1]])
    """
    operand = Operand(a, "a")
    job, (m, n) = operand.job(), operand.shape
    if m != n:
        raise ArgumentError(f"a has shape {operand.shape}, but must be square")
    out = new(job, n, n)
    if n:
        found = number(job, "ech_gf2_inverse", operand.bits.reference(), out.reference(), NUMBER, None)
        if found < n:
            raise LinAlgError(f"a is singular: it has rank {found} and shape {operand.shape}")
    return operand.result(job, out)


@operation
def solve(a, b, /, *, solvable=False, certificate=False, column_order=None):
    """Solve a x = b.

    a: [m, n]. b: [m, k], or a vector [m]. solvable: also return which columns of b have a solution. certificate: also
    return for each column of b without a solution a proof: a y with y a = 0 and y b = 1. column_order: as for
    echelon(): x is zero outside the pivots that are found in this order.

    Returns x: [n, k] or [n], with the type of b: the solution that is 0 outside the pivots. With solvable or
    certificate it returns a tuple: x, whose columns without a solution are 0; then solvable, bool [k], or a bool for
    a vector; then, with certificate, a matrix [k, m], or [m] for a vector, with zeros for columns with a solution.
    Without both options a column without a solution raises LinAlgError, which is a ValueError.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.solve([[1, 1, 0], [0, 1, 1]], numpy.array([1, 1]))
    array([0, 1, 0])
    >>> gf2.solve([[1, 1], [1, 1]], numpy.array([1, 0]), certificate=True)
    (array([0, 0]), False, array([1, 1]))
    """
    left, right, job = operands(a, b, vectors=(False, True), as_column=(False, True))
    (m, n), (rows, k) = left.shape, right.shape
    if rows != m:
        raise ArgumentError(f"b has {rows} rows, but a has {m}")
    order = _order(job, column_order, n)
    x, flags = new(job, n, k, zero=True), job.empty((k,), c.ECH_U8)
    proof = new(job, k, m, zero=True) if certificate else None
    if k:
        _solve(job, left.bits, right.bits, x, flags, proof, order)
    if not solvable and not certificate:
        _require(job, flags, right.vector)
        return right.result(job, x, vector=right.vector)
    family = job.family
    found = on_host(job, flags)[0] != 0 if right.vector else family.retyped(flags.array, family.bool_dtype())
    results = [right.result(job, x, vector=right.vector), bool(found) if right.vector else family.result(found)]
    if certificate:
        results.append(right.result(job, proof, vector=right.vector))
    return tuple(results)


def _solve(job, a, b, x, flags, proof, order):
    """ech_gf2_solve(), also for matrices without rows or columns."""
    if order is not None and order.size == 0:  # no column may be a pivot: x is 0
        order, a = None, new(job, a.rows, 1, zero=True)
        x = new(job, 1, b.cols, zero=True)
    elif a.cols == 0:
        a, x = new(job, a.rows, 1, zero=True), new(job, 1, b.cols, zero=True)
    if a.rows == 0:
        one = ctypes.c_uint8(1)
        return job.call("ech_fill", flags.pointer, flags.size, 1, ctypes.addressof(one))
    return job.call("ech_gf2_solve", a.reference(), b.reference(), x.reference(), flags.pointer,
                    proof.reference() if proof is not None else None, ctypes.byref(echelon_options(job, order)))


def on_host(job, view):
    """A copy of an array of bytes as an array of NumPy."""
    host = np.empty(view.size, "uint8")
    if host.size:
        job.call("ech_copy", host.ctypes.data, view.pointer, host.size)
        job.call("ech_sync")
    return host


def _require(job, flags, vector):
    """Raises an error if a flag is 0."""
    host = on_host(job, flags)
    if not host.all():
        what = "the system" if vector else f"column {int(host.argmin())} of b"
        raise LinAlgError(f"{what} has no solution; pass solvable=True to get a flag, or certificate=True for a proof")
