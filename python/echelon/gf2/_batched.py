"""Batches of small matrices over GF(2).

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
from typing import Any, NamedTuple

from .. import _arrays
from .._runtime import native
from .._runtime.arguments import flag
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from ._elimination import int64_of, limit_of
from ._layout import dense_view, stride_of, unpack
from ._matrix import Matrix, new, pack
from ._operand import Operand, echelon_options, indices, plain


class EchelonBatch(NamedTuple):
    """The result of echelon_batched()."""

    form: Any
    rank: Any
    pivots: Any


class Solutions(NamedTuple):
    """The result of solve_batched()."""

    x: Any
    solvable: Any


class Batch:
    """A batch of matrices: count matrices of rows x cols bits, one below the other in bits; or one, shared by all."""

    __slots__ = ("bits", "count", "rows", "cols", "shared", "operand")

    def __init__(self, bits, count, rows, cols, shared=False):
        self.bits, self.count, self.rows, self.cols, self.shared = bits, count, rows, cols, shared
        self.operand = None

    def struct(self):
        """The ech_gf2_batch that describes the batch."""
        matrix = self.bits.struct()
        return native.struct(c.ech_gf2_batch, words=matrix.words, count=self.count, rows=self.rows, cols=self.cols,
                             stride=matrix.stride, batch_stride=0 if self.shared else self.rows * matrix.stride)


class _Dense:
    """An array [count, rows, cols]."""

    __slots__ = ("batch", "view", "wrap")

    def __init__(self, x, name):
        x, self.wrap = plain(x, name)
        self.view = view = dense_view(_arrays.view(x, name), name, (3,))
        count, rows, cols = view.shape
        self.batch = Batch(pack(Job(view), view, count * rows, cols), count, rows, cols)


def order_of(job, column_order, batch):
    """The View of one order per matrix, from [columns] or [count, columns]; None for the order of the columns."""
    if column_order is None:
        return None
    order = indices(job, column_order, "column_order")
    if order.ndim not in (1, 2) or order.shape[-1] > batch.cols or order.ndim == 2 and order.shape[0] != batch.count:
        raise ArgumentError(f"column_order has shape {order.shape}, but must have shape (columns,) or "
                            f"({batch.count}, columns) with at most {batch.cols} columns")
    return repeated(job, order, batch.count) if order.ndim == 1 else order


def repeated(job, view, count):
    """The View [count, n] with the same row count times."""
    row, target, done = job.contiguous(view), job.empty((count, view.shape[0]), view.code), 1
    if count and row.size:
        job.call("ech_copy_async", target.pointer, row.pointer, row.nbytes)
    while row.size and done < count:  # doubles the number of rows
        rows = min(done, count - done)
        job.call("ech_copy_async", target.pointer + done * row.nbytes, target.pointer, rows * row.nbytes)
        done += rows
    return target


@operation
def rank_batched(a, /, *, column_order=None):
    """Return the rank of each matrix of a batch.

    a: [count, m, n]. column_order: [columns] or [count, columns]: the ranks of these columns.

    Returns an array [count] of int64.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.rank_batched(numpy.array([[[1, 0], [0, 1]], [[1, 1], [1, 1]]]))
    array([2, 1])
    """
    batch = _Dense(a, "a").batch
    job = Job(batch.bits._view)
    order, found = order_of(job, column_order, batch), ranks_of(job, batch)
    if found.size and not nothing(order):
        job.call("ech_gf2_rank_batched", ctypes.byref(batch.struct()), found.pointer,
                 ctypes.byref(echelon_options(job, order)))
    return int64_of(job, found)


def ranks_of(job, batch):
    """The View of the ranks, zeros."""
    found = job.empty((batch.count,), c.ECH_I32)
    if found.size:
        job.call("ech_fill", found.pointer, found.size, 4, ctypes.addressof(_ZERO))
    return found


_ZERO = ctypes.c_uint64(0)


def nothing(order):
    """Whether no column may be a pivot."""
    return order is not None and order.shape[-1] == 0


@operation
def echelon_batched(a, /, *, reduced=False, column_order=None, max_rank=None):
    """Transform each matrix of a batch to row echelon form, as echelon() does.

    a: [count, m, n]. reduced and max_rank: as for echelon(). column_order: [columns] for all matrices, or
    [count, columns].

    Returns a named tuple (form, rank, pivots): form like a; rank [count] and pivots [count, min(m, n)] of int64.
    pivots[i, j] is unspecified for j >= rank[i].

    >>> import numpy
    >>> from echelon import gf2
    >>> form, rank, pivots = gf2.echelon_batched(numpy.array([[[0, 1], [1, 1]]]), reduced=True)
    >>> form.tolist(), rank.tolist(), pivots.tolist()
    ([[[1, 0], [0, 1]]], [2], [[0, 1]])
    """
    reduced = flag(reduced, "reduced")
    dense = _Dense(a, "a")
    batch, limit = dense.batch, limit_of(max_rank)
    job = Job(batch.bits._view)
    order, found = order_of(job, column_order, batch), ranks_of(job, batch)
    columns = job.empty((batch.count, min(batch.rows, batch.cols)), c.ECH_I64 if order is None else order.code)
    if found.size and columns.size and not nothing(order) and limit != 0:
        eliminate(job, batch, found, columns, order, reduced, limit or 0)
    view = dense.view
    form = job.finish(unpack(job, batch.bits, view.shape, view.code, view.kind))
    return EchelonBatch(form if dense.wrap is None else form.view(dense.wrap), int64_of(job, found),
                        int64_of(job, columns))


def eliminate(job, batch, ranks, columns, order, reduced, max_rank=0):
    """ech_gf2_echelon_batched()."""
    form = c.ECH_GF2_FORM_REDUCED if reduced else c.ECH_GF2_FORM_ECHELON
    options = echelon_options(job, order, form=form, max_rank=max_rank)
    job.call("ech_gf2_echelon_batched", ctypes.byref(batch.struct()), ranks.pointer, columns.pointer,
             ctypes.byref(options))


@operation
def solve_batched(a, b, /, *, column_order=None):
    """Solve a[i] x[i] = b[i] for each i.

    a: [count, m, n]; or one matrix [m, n], or a Matrix, for all right-hand sides. b: [count, m], or a Matrix.
    column_order: [columns] for all matrices, or [count, columns]: x[i] is zero outside the pivots that are found in
    this order.

    Returns a named tuple (x, solvable): x [count, n] with the type of b, zeros if there is no solution; solvable
    [count] of bool.

    >>> import numpy
    >>> from echelon import gf2
    >>> x, solvable = gf2.solve_batched(numpy.array([[1, 1, 0], [0, 1, 1]]), numpy.array([[1, 1], [1, 0]]))
    >>> x.tolist(), solvable.tolist()
    ([[0, 1, 0], [1, 0, 0]], [True, True])
    """
    right = Operand(b, "b")
    count, rows = right.shape
    if not isinstance(a, Matrix):
        a, _ = plain(a, "a")
    if isinstance(a, Matrix) or _arrays.view(a, "a").ndim == 2:
        left = Operand(a, "a", right.job())
        batch = Batch(left.bits, count, *left.shape, shared=True)
    else:
        batch = _Dense(a, "a").batch
    if (batch.count, batch.rows) != (count, rows):
        raise ArgumentError(f"b has shape {right.shape}, but must have shape {(batch.count, batch.rows)}")
    job = Job(right.bits._view, batch.bits._view)
    order = order_of(job, column_order, batch)
    x, flags = solutions(job, batch, right.bits, order)
    family = job.family
    return Solutions(right.result(job, x), family.result(family.retyped(flags.array, family.bool_dtype())))


def solutions(job, batch, b, order):
    """The Matrix of the solutions, one per row, and the View of the flags."""
    if batch.cols == 0 or nothing(order):  # a column of zeros has the same solutions
        zeros = Batch(new(job, batch.rows, 1, zero=True), batch.count, batch.rows, 1, shared=True)
        return new(job, batch.count, batch.cols, zero=True), _solve(job, zeros, b, None)[1]
    return _solve(job, batch, b, order)


def _solve(job, batch, b, order):
    """ech_gf2_solve_batched(), in pieces whose workspace is at most WORKSPACE bytes."""
    x, flags = new(job, batch.count, batch.cols), job.empty((batch.count,), c.ECH_U8)
    own = b if b._view.strides is None and b._view.shape[1] == stride_of(b.cols) else b.copy()
    struct, options = batch.struct(), echelon_options(job, order)
    pointers = own._view.pointer, x._view.pointer, flags.pointer
    strides = 8 * stride_of(batch.rows), 8 * stride_of(batch.cols), 1
    for start, stop in _pieces(job, batch, options):
        struct.count = stop - start
        struct.words = (batch.bits._view.pointer or 0) + 8 * start * struct.batch_stride or None
        if order is not None:
            options.column_order = order.pointer + start * order.shape[1] * order.itemsize
        at = (pointer + start * stride for pointer, stride in zip(pointers, strides))
        job.call("ech_gf2_solve_batched", ctypes.byref(struct), *at, ctypes.byref(options))
    return x, flags


WORKSPACE = 2**30


def _pieces(job, batch, options):
    """The ranges of matrices of the calls."""
    count, needed = batch.count, ctypes.c_size_t()
    if count > 1 and batch.rows:
        job.context.check(native.functions.ech_gf2_workspace(
            job.context.device.encode(), c.ECH_GF2_CALL_BATCHED, batch.rows, batch.cols, count,
            ctypes.addressof(options), ctypes.addressof(needed)))
    step = count if needed.value <= WORKSPACE else max(1, count * WORKSPACE // needed.value)
    return [(start, min(start + step, count)) for start in range(0, count, step)] if count else []
