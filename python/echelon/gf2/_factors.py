"""Factors over GF(2): plu and pluq.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
from typing import Any, NamedTuple

import numpy as np

from .._ops.sort import argsort
from .._runtime.arguments import flag
from .._runtime.call import operation
from .._runtime.native import declared as c
from ._layout import word_code
from ._matrix import Matrix, new
from ._operand import NUMBER, Operand, echelon_options, number


class PLUQ(NamedTuple):
    """The result of pluq()."""

    p: Any
    L: Any
    U: Any
    q: Any


@operation
def pluq(a, /):
    """Factor a matrix into triangular matrices of its rank, with permuted rows and columns.

    a: [m, n].

    Returns a named tuple (p, L, U, q) with a[p][:, q] = L U: p [m] and q [n] are permutations of int64; L [m, rank]
    has ones on the diagonal and zeros above; U [rank, n] has ones on the diagonal and zeros below; both have the type
    of a. q contains the pivot columns first, then the others in their order.

    >>> import numpy
    >>> from echelon import gf2
    >>> a = numpy.array([[0, 0, 1], [0, 1, 1]])
    >>> p, L, U, q = gf2.pluq(a)
    >>> numpy.array_equal(a[p][:, q], gf2.mul(L, U))
    True
    """
    operand = Operand(a, "a")
    job, bits, found, p, q = _compact(operand)
    lower = _triangle(job, bits[:, :found], upper=False)
    upper = _triangle(job, bits[:found], upper=True)
    return PLUQ(job.finish(p), operand.result(job, lower), operand.result(job, upper), job.finish(q))


@operation
def plu(a, /, *, p_indices=False):
    """Factor a matrix as scipy.linalg.lu() does: a = P L U.

    a: [m, n]. p_indices: return indices p instead of the matrix P: a = (L U)[p].

    Returns (P, L, U) with the type of a: P [m, m] is a permutation matrix, or p [m] of int64; L [m, k] with
    k = min(m, n) has ones on the diagonal and zeros above; U [k, n] is a row echelon form of a. A singular matrix has
    zeros on the diagonal of U, as with SciPy; pluq() also permutes the columns, so that the diagonal is 1.

    >>> import numpy
    >>> from echelon import gf2
    >>> a = numpy.array([[0, 0, 1], [0, 1, 1]])
    >>> P, L, U = gf2.plu(a)
    >>> U
    array([[0, 1, 1],
           [0, 0, 1]])
    >>> numpy.array_equal(a, gf2.mul(gf2.mul(P, L), U))
    True
    """
    p_indices = flag(p_indices, "p_indices")
    operand = Operand(a, "a")
    job, bits, _, p, q = _compact(operand)
    k = min(operand.shape)
    lower = _triangle(job, bits[:, :k], upper=False)
    upper = _triangle(job, bits[:k], upper=True)[:, _inverse(q)]
    if p_indices:
        first = job.family.result(_inverse(p))
    else:
        first = operand.result(job, Matrix.identity(operand.shape[0], like=bits)[:, p.array])
    return first, operand.result(job, lower), operand.result(job, upper)


def _inverse(view):
    """The inverse of a permutation."""
    return argsort(view.array)


def _compact(operand):
    """A Job, the bits of L and U in one matrix, the rank, and the Views of the permutations."""
    job, (m, n) = operand.job(), operand.shape
    bits = operand.bits.copy() if operand.packed else operand.bits
    p, q = job.empty((m,), c.ECH_I64), job.empty((n,), c.ECH_I64)
    if m and n:
        found = number(job, "ech_gf2_pluq", bits.reference(), NUMBER, p.pointer, q.pointer,
                       ctypes.byref(echelon_options(job)))
        return job, bits, found, p, q
    for view in (p, q):
        if view.size:
            job.call("ech_iota", view.pointer, view.size, view.code, None, None)
    return job, bits, 0, p, q


def _triangle(job, bits, upper):
    """The bits on and above the diagonal, or those below it with ones on the diagonal."""
    m, n = bits.shape
    out = new(job, m, n, zero=True)
    for row in range(0, m, 64):  # the words that contain bits of the triangle
        first, last = (min(row, n), n) if upper else (0, min(row + 64, n))
        if last > first:
            job.call("ech_gf2_copy", bits.reference(), row, first, out.reference(), row, first, min(64, m - row),
                     last - first)
    diagonal = np.arange(min(m, n))
    ones = np.uint64(1) << (diagonal % 64).astype("uint64")
    below = ones - np.uint64(1)  # the words of the diagonal contain bits of both sides
    places = on_device(job, diagonal), on_device(job, diagonal // 64)
    mask, unit = (on_device(job, x.view(_word_type(job))) for x in (~below if upper else below, ones))
    words = out.words
    words[places] = words[places] & mask if upper else words[places] & mask | unit
    return out


def _word_type(job):
    return "int64" if word_code(job.family) == c.ECH_I64 else "uint64"


def on_device(job, x):
    """An array like x of NumPy in the library and on the device of a call."""
    job.need_arithmetic()
    return job.from_numpy(x).array
