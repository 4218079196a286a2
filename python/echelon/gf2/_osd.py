"""Ordered statistics decoding (OSD) of linear codes, for a batch of syndromes.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any, NamedTuple

import numpy as np

from .. import _arrays
from .._ops.sort import argsort
from .._runtime.arguments import integer
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from ._batched import Batch, eliminate, ranks_of, repeated, solutions
from ._factors import on_device
from ._layout import stride_of, unpack
from ._matrix import Matrix, new, pack
from ._operand import Operand, indices

# Bytes of the arrays of one piece, for osd_order > 0: on a CPU they stay in the cache.
MEMORY, HOST_MEMORY = 2**28, 2**23


class OsdResult(NamedTuple):
    """The result of osd()."""

    errors: Any
    solvable: Any


@operation
def osd(H, syndromes, order=None, /, *, llrs=None, osd_order=0, method="cs", weights=None, bit_packed=False,
        batch_size=None):
    """Decode syndromes by ordered statistics: find probable errors e with H e = syndrome.

    H: [m, n], the parity check matrix; an array, a Matrix or a matrix of scipy.sparse. syndromes: [batch, m], or one
    [m]; an array or a Matrix. order: [n] or [batch, n], integers: the columns of H, the most likely errors first.
    llrs: instead of order, log-likelihood ratios log((1 - p) / p) [n] or [batch, n], floats: the smallest one is the
    most likely error; equal ones keep their order.

    osd_order: 0 solves with the first independent columns, the information set, and has zeros elsewhere (OSD-0).
    w > 0 also tries errors in other columns, and returns the candidate of minimum weight; among equal weights OSD-0,
    then the first. method: "cs" (combination sweep) tries each other column, and each pair among the first w of them;
    "e" (exhaustive) tries all 2^w subsets of the first w. weights: [n] of floats, such as log((1 - p) / p) of the
    channel; by default 1 for each column. bit_packed: syndromes and errors are packed: uint8 [batch, (m + 7) // 8] in
    the layout of stim's bit_packed=True. batch_size: syndromes per piece if osd_order > 0; by default, a piece takes
    about 8 MiB on a CPU, and 256 MiB on a GPU.

    Returns a named tuple (errors, solvable). errors: [batch, n] or [n], with the type of syndromes; it satisfies
    H e = syndrome where solvable, [batch] of bool, is true, and is 0 elsewhere. Raises ArgumentError for shapes that
    differ and for an order that is not a permutation.

    >>> import numpy
    >>> from echelon import gf2
    >>> H = numpy.array([[1, 1, 0], [0, 1, 1]])
    >>> gf2.osd(H, numpy.array([[1, 0], [1, 1]]), [2, 1, 0]).errors
    array([[0, 1, 1],
           [0, 1, 0]])
    >>> gf2.osd(H, numpy.array([[1, 0]]), [2, 1, 0], osd_order=1).errors
    array([[1, 0, 0]])
    """
    checks = Operand(H, "H", _job_of(syndromes))
    m, n = checks.shape
    if bit_packed:
        syndromes = _from_packed(syndromes, m)
    right = Operand(syndromes, "syndromes", None, vectors=True)
    if right.shape[1] != m:
        raise ArgumentError(f"syndromes has shape {right.shape}, but H has {m} rows")
    job = Job(right.bits._view, checks.bits._view)
    batch = Batch(checks.bits, right.shape[0], m, n, shared=True)
    search = _search(osd_order, method)
    order = _columns(job, order, llrs, batch)
    weights = None if weights is None else _weights(job, weights, n)
    if search and n and m:
        bits, flags = _best(job, batch, right.bits, order, search, weights, batch_size)
    else:
        bits, flags = solutions(job, batch, right.bits, order)
    family = job.family
    errors = bits.to_packed() if bit_packed else right.result(job, bits, vector=right.vector)
    solvable = family.retyped(flags.array, family.bool_dtype())
    return OsdResult(errors, family.result(solvable[0] if right.vector else solvable))


def _from_packed(syndromes, m):
    view = _arrays.view(syndromes, "syndromes")
    if view.code != c.ECH_U8 or view.kind:
        raise DTypeError(f"syndromes has dtype {view.dtype}, but must have uint8 with bit_packed=True")
    if view.ndim != 2 or view.shape[1] != (m + 7) // 8:
        raise ArgumentError(f"syndromes has shape {view.shape}, but must have shape (batch, {(m + 7) // 8}) with "
                            "bit_packed=True")
    return Matrix.from_packed(syndromes, m)


def _job_of(x):
    """A Job on the device of an array or a Matrix; None for numbers and sequences."""
    if isinstance(x, Matrix):
        return Job(x._view)
    return None if _arrays.family_of(x) is None else Job(_arrays.view(x, "syndromes"))


def _search(osd_order, method):
    """None for OSD-0, otherwise (method, order)."""
    if not isinstance(method, str) or method not in ("cs", "e"):
        raise ArgumentError(f"method is {method!r}, but must be 'cs' or 'e'")
    width = integer(osd_order, "osd_order", 0, 20 if method == "e" else 10_000)
    return (method, width) if width else None


def _columns(job, order, llrs, batch):
    """The View of the order of the columns, [batch, n]."""
    if (order is None) == (llrs is None):
        raise ArgumentError("order and llrs are " + ("missing" if order is None else "given") + "; pass one of them")
    name, shapes = "order" if llrs is None else "llrs", ((batch.cols,), (batch.count, batch.cols))
    if llrs is not None:
        view = job.view(llrs, name)
        if not view.is_float:
            raise DTypeError(f"llrs has dtype {view.dtype}, but must have a floating-point dtype")
    else:
        view = indices(job, order, name)
    if view.shape not in shapes:
        raise ArgumentError(f"{name} has shape {view.shape}, but must have shape {shapes[0]} or {shapes[1]}")
    if llrs is not None:
        view = job.add(_arrays.view(argsort(view.array, dtype="int32")))
    return repeated(job, view, batch.count) if view.ndim == 1 else view


def _check_order(job, order, n):
    """Raises an error for positions outside H, which may be columns of the augmented matrix."""
    array = job.family.cast(order.array, job.family.dtype(c.ECH_I64))
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= n:
        raise ArgumentError(f"order contains {low if low < 0 else high}, but H has {n} columns")


def _weights(job, weights, n):
    """The weights of the columns in float64."""
    family, view = job.family, job.view(weights, "weights")
    if not view.is_float:
        raise DTypeError(f"weights has dtype {view.dtype}, but must have a floating-point dtype")
    if view.shape != (n,):
        raise ArgumentError(f"weights has shape {view.shape}, but must have shape {(n,)}")
    return family.cast(view.array, family.dtype(c.ECH_F64))


def _best(job, batch, syndromes, order, search, weights, batch_size):
    """The best candidates of all syndromes, one per row, and the flags."""
    method, width = search
    m, n = batch.rows, batch.cols
    code = c.ECH_F32 if weights is None else c.ECH_F64  # sums of ones are exact in float32
    if weights is None:
        weights = on_device(job, np.ones(n, "float32"))
    if batch.count:
        _check_order(job, order, n)
    each = m * (n + 2) * 10 + (m * 2**width * 16 if method == "e" else m * width * 16 + width * width * 16)
    memory = HOST_MEMORY if job.device == "cpu" else MEMORY
    step = max(1, memory // each) if batch_size is None else integer(batch_size, "batch_size", 1)
    out, flags = new(job, batch.count, n), job.empty((batch.count,), c.ECH_U8)
    for start in range(0, batch.count, step):
        stop = min(start + step, batch.count)
        piece = _Piece(job, batch, syndromes[start:stop], order.array[start:stop], weights, code)
        errors, solvable = piece.decode(method, width)
        bits = pack(job, job.add(_arrays.view(errors)), stop - start, n)
        job.call("ech_gf2_copy", bits.reference(), 0, 0, out.reference(), start, 0, stop - start, n)
        job.family.copy_to(flags.array[start:stop], solvable)
    return out, flags


class _Piece:
    """Some syndromes, decoded with the reduced form R of [H | s | 0] for the order of each.

    If e is zero in the columns without pivots, except for those of a set S, then e at the pivot of row i is the sum of
    s and the columns S of R in row i. With signs a = 1 - 2 R the weight of these bits is
    (sum_i w_i - sum_i w_i s_i prod_S a_ij) / 2: sums of products that are matrix products for all candidates.
    """

    def __init__(self, job, batch, syndromes, order, weights, code):
        self.job, self.family, self.dtype = job, job.family, job.family.dtype(code)
        count, m, n = syndromes.rows, batch.rows, batch.cols
        self.n = n
        form = _augmented(job, batch, syndromes)
        view = job.add(_arrays.view(order))
        pivots, ranks = job.empty((count, min(m, n + 2)), view.code), ranks_of(job, form)
        eliminate(job, form, ranks, pivots, view, reduced=True)
        job.call("ech_sync")  # errors of the order, before its elements are used as indices
        self.rank = r = int(ranks.array[0])  # H is the same for all
        self.dense = unpack(job, form.bits, (count, m, n + 2), c.ECH_U8, "").array
        self.each = on_device(job, np.arange(count))[:, None]
        self.pivots = self._int64(pivots.array[:, :r])
        order = self._int64(order)
        pivotal = job.family.retyped(self._bytes(count, n), job.family.bool_dtype())
        pivotal[self.each, self.pivots] = True
        self.free = order[~pivotal[self.each, order]].reshape(count, n - r)  # in their order
        self.weights, self.free_weights = weights[self.pivots], weights[self.free]
        self.total = self.weights.sum(1)[:, None]
        self.signed = self.weights * self._signs(self.dense[:, :r, n])

    def _int64(self, x):
        return self.family.cast(x, self.family.dtype(c.ECH_I64))

    def _bytes(self, *shape):
        return on_device(self.job, np.zeros(shape, "uint8"))

    def _signs(self, x):
        return 1 - 2 * self.family.cast(x, self.dtype)

    def _floats(self, *shape):
        return self.family.empty(shape, self.dtype, self.job.device)

    def _columns(self, columns):
        """The signs of some columns of each matrix, [count, rank, columns]."""
        rows = on_device(self.job, np.arange(self.rank))[None, :, None]
        return self._signs(self.dense[self.each[:, :, None], rows, columns[:, None, :]])

    def decode(self, method, width):
        """The errors [count, n] as bytes, and whether the syndromes are solvable, as bytes."""
        width = min(width, self.free.shape[1])
        columns = self._sweep(width) if method == "cs" else self._exhaustive(width)
        count, r, n = len(self.dense), self.rank, self.n
        bits = self.dense[:, :r, n]
        errors = self._bytes(count, n + 2)
        rows = on_device(self.job, np.arange(r))[None, :]
        for column in columns:  # n + 1, the column of zeros, stands for none
            bits = bits ^ self.dense[self.each, rows, column]
            errors[self.each, column] = 1
        errors[self.each, self.pivots] = bits
        solvable = self.dense[:, r:, n].sum(1) == 0
        as_bytes = self.family.cast(solvable, self.family.dtype(c.ECH_U8))
        return self.family.contiguous(errors[:, :n] * as_bytes[:, None]), as_bytes

    def _sweep(self, width):
        """Combination sweep: two columns [count, 1] per syndrome."""
        count, others = self.free.shape
        first, second = np.triu_indices(width, 1)
        costs = self._floats(count, 1 + others + len(first))
        costs[:, :1] = (self.total - self.signed.sum(1)[:, None]) / 2
        ones = self.family.cast(self.dense[:, :self.rank, :self.n], self.dtype)
        change = (self.signed[:, None, :] @ ones)[:, 0, :]  # of the weight at the pivots, for each column
        costs[:, 1:1 + others] = costs[:, :1] + change[self.each, self.free] + self.free_weights
        if len(first):
            signs, (i, j) = self._columns(self.free[:, :width]), (on_device(self.job, x) for x in (first, second))
            products = signs.swapaxes(1, 2) @ (self.signed[:, :, None] * signs)
            costs[:, 1 + others:] = ((self.total - products[:, i, j]) / 2
                                     + self.free_weights[:, i] + self.free_weights[:, j])
        best = costs.argmin(1)
        none = np.full(1, others)
        parts = (np.concatenate([none, np.arange(others), first]), np.concatenate([none, none.repeat(others), second]))
        columns = self.family.empty((count, others + 1), self.family.dtype(c.ECH_I64), self.job.device)
        columns[:, :others], columns[:, others:] = self.free, self.n + 1
        return [columns[self.each, on_device(self.job, part)[best][:, None]] for part in parts]

    def _exhaustive(self, width):
        """All subsets of the first columns: width columns [count, 1] per syndrome."""
        count = len(self.dense)
        signs = self._columns(self.free[:, :width])
        products, costs = self._floats(count, self.rank, 2**width), self._floats(count, 2**width)
        products[:, :, :1], costs[:, :1] = self.signed[:, :, None], 0
        for j in range(width):
            half = 2**j
            products[:, :, half:2 * half] = products[:, :, :half] * signs[:, :, j:j + 1]
            costs[:, half:2 * half] = costs[:, :half] + self.free_weights[:, j:j + 1]
        best = (costs + (self.total - products.sum(1)) / 2).argmin(1)[:, None]
        return [self.free[:, j:j + 1] * (best >> j & 1) + (self.n + 1) * (1 - (best >> j & 1)) for j in range(width)]


def _augmented(job, batch, syndromes):
    """The Batch of [H | s | 0]."""
    count, m, n = syndromes.rows, batch.rows, batch.cols
    checks, words = batch.bits.copy(), stride_of(n)
    out = new(job, count * m, n + 2, zero=True)
    all_words = out.words.reshape(count, m, stride_of(n + 2))
    job.family.copy_to(all_words[:, :, :words], checks.words)
    column = pack(job, unpack(job, syndromes, (count * m,), c.ECH_U8, ""), count * m, 1)
    job.call("ech_gf2_copy", column.reference(), 0, 0, out.reference(), 0, n, count * m, 1)
    return Batch(out, count, m, n + 2)
