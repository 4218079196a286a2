"""The functions of ldpc.mod2, with their names, parameters and types of results, computed by Echelon.

Replace `from ldpc import mod2` by `from echelon.gf2 import mod2`. Matrices are arrays of NumPy or matrices of
scipy.sparse that contain 0 and 1 only; other values raise ArgumentError, which is a ValueError. Bases of nullspaces
may differ from those of ldpc, but span the same space. These names are not available: estimate_code_distance, which
samples at random, io_test and csc_to_scipy_sparse.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
import scipy.sparse

from .._runtime.errors import ArgumentError
from .._runtime.public import publish
from . import _elimination as elimination
from . import _factors as factors
from ._elimination import LinAlgError
from ._matrix import Matrix
from ._operand import plain

__all__ = [
    "PluDecomposition", "compute_exact_code_distance", "inverse", "kernel", "nullspace", "pivot_rows", "rank",
    "reduced_row_echelon", "row_basis", "row_complement_basis", "row_echelon", "row_span",
]


def _matrix(x, name):
    """A Matrix of zeros and ones, and the array from which it was made."""
    x, _ = plain(x, name)
    array = np.asarray(x)
    if array.ndim != 2:
        raise ArgumentError(f"{name} has {array.ndim} dimensions, but must have 2")
    if array.size and not np.isin(array, (0, 1)).all():
        raise ArgumentError(f"{name} contains values other than 0 and 1")
    return Matrix.from_dense(array if array.dtype.kind in "biu" else array.astype("uint8")), array


def _sparse(bits):
    """A Matrix as a matrix of scipy.sparse in CSR format."""
    return scipy.sparse.csr_matrix(bits.to_dense())


def _check_method(method):
    if not isinstance(method, str) or method not in ("dense", "sparse"):
        raise ArgumentError(f"method is {method!r}, but must be 'dense' or 'sparse'")


def rank(pcm, method="dense"):
    """Return the rank. method: "dense" or "sparse"; it has no effect.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.rank(numpy.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))
    2
    """
    _check_method(method)
    return elimination.rank(_matrix(pcm, "pcm")[0])


def nullspace(pcm, method="dense"):
    """Return a basis of the nullspace, one vector per row, in CSR format. method: as for rank().

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.nullspace(numpy.array([[1, 1, 0], [0, 1, 1]])).toarray()
    array([[1, 1, 1]], dtype=uint8)
    """
    _check_method(method)
    return _sparse(elimination.nullspace(_matrix(pcm, "pcm")[0]))


def kernel(pcm, method="dense"):
    """Return a basis of the nullspace, as nullspace() does."""
    return nullspace(pcm, method)


def pivot_rows(mat):
    """Return the first independent rows as an array of int64.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.pivot_rows(numpy.array([[1, 1], [1, 1], [0, 1]]))
    array([0, 2])
    """
    return elimination.pivots(_matrix(mat, "mat")[0].T)


def row_basis(pcm):
    """Return the first independent rows of pcm in CSR format.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.row_basis(numpy.array([[1, 1], [1, 1], [0, 1]])).toarray()
    array([[1, 1],
           [0, 1]], dtype=uint8)
    """
    bits = _matrix(pcm, "pcm")[0]
    return _sparse(bits[elimination.pivots(bits.T)])


def row_complement_basis(pcm):
    """Return the first unit vectors that, with the rows of pcm, span the whole space, in CSR format.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.row_complement_basis(numpy.array([[0, 1]])).toarray()
    array([[1, 0]], dtype=uint8)
    """
    bits = _matrix(pcm, "pcm")[0]
    m, n = bits.shape
    both = Matrix.zeros(n, m + n)
    both[:, :m], both[:, m:] = bits.T, Matrix.identity(n)
    pivots = elimination.pivots(both)
    return _sparse(Matrix.identity(n)[pivots[pivots >= m] - m])


def _combinations(rows, first, last):
    """The sums of the rows that the bits of each number from first to last - 1 select."""
    numbers = np.arange(first, last, dtype="uint64").reshape(-1, 1)
    return Matrix.from_packed(numbers, rows.rows) @ rows


def _check_rows(rows, name, what):
    if rows > 30:
        raise ArgumentError(f"{name} has {what} {rows}; 2^{rows} vectors are too many, the limit is 30")


def row_span(pcm):
    """Return all 2^m sums of the m rows of pcm in CSR format: row i is the sum of the rows that the bits of i select.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.row_span(numpy.array([[1, 1, 0], [0, 1, 1]])).toarray().tolist()
    [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    """
    bits = _matrix(pcm, "pcm")[0]
    _check_rows(bits.rows, "pcm", "rows:")
    if bits.rows == 0:
        return _sparse(Matrix.zeros(1, bits.cols))
    return _sparse(_combinations(bits, 0, 2**bits.rows))


def compute_exact_code_distance(pcm):
    """Return the minimum weight of a non-zero vector of the nullspace, by enumeration; -1 if there is none.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.compute_exact_code_distance(numpy.array([[1, 1, 0], [0, 1, 1]]))
    3
    """
    words = elimination.nullspace(_matrix(pcm, "pcm")[0])
    if words.rows == 0:
        return -1
    _check_rows(words.rows, "pcm", "a nullspace of dimension")
    step, least = max(1, 2**26 // max(1, words.cols)), words.cols
    for first in range(1, 2**words.rows, step):
        found = _combinations(words, first, min(first + step, 2**words.rows)).to_dense()
        least = min(least, int(found.sum(1).min()))
    return least


def row_echelon(matrix, full=False):
    """Return [form, rank, transform, pivot_cols]: a row echelon form; full: the reduced one.

    transform @ matrix is form modulo 2, and pivot_cols is a list.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.row_echelon(numpy.array([[1, 1, 1], [1, 1, 1], [0, 1, 0]]))[0]
    array([[1, 1, 1],
           [0, 1, 0],
           [0, 0, 0]])
    """
    bits, array = _matrix(matrix, "matrix")
    found = elimination.echelon(bits, reduced=full, transform=True)
    return [found.form.to_dense().astype(array.dtype), found.rank, found.transform.to_dense("int64"),
            found.pivots.tolist()]


def reduced_row_echelon(matrix):
    """Return [form, rank, rows, cols] with form = rows @ matrix @ cols modulo 2, which begins with the identity.

    cols is the permutation matrix that moves the pivot columns to the front.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> mod2.reduced_row_echelon(numpy.array([[0, 0, 1, 1], [1, 1, 1, 0]]))[0]
    array([[1, 0, 1, 1],
           [0, 1, 0, 1]])
    """
    bits, _ = _matrix(matrix, "matrix")
    found = elimination.echelon(bits, reduced=True, transform=True)
    order = np.concatenate([found.pivots, np.setdiff1d(np.arange(bits.cols), found.pivots)])
    moves = Matrix.identity(bits.cols)[:, order]
    return [found.form[:, order].to_dense("int64"), found.rank, found.transform.to_dense("int64"),
            moves.to_dense("int64")]


def inverse(matrix):
    """Return the inverse, or a left inverse of a matrix whose columns are independent, as int64.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> a = numpy.array([[1, 1], [0, 1], [1, 1]])
    >>> mod2.inverse(a) @ a % 2
    array([[1, 0],
           [0, 1]])
    """
    bits, _ = _matrix(matrix, "matrix")
    found = elimination.echelon(bits, reduced=True, transform=True)
    if found.rank < bits.cols:
        raise LinAlgError(f"matrix has rank {found.rank} and shape {bits.shape}: it has no left inverse")
    return found.transform[:bits.cols].to_dense("int64")


class PluDecomposition:
    """Factors pcm = P L U modulo 2, in CSR format: P and L are [m, m], U is a row echelon form [m, n].

    full_reduce: U is the reduced form, and L is then not triangular. lower_triangular: False: L is the matrix with
    L pcm = U instead, and P is unused. pivots are the pivot columns. lu_solve() raises LinAlgError, which is a
    ValueError, if there is no solution; ldpc returns a vector that solves only some equations.

    >>> import numpy
    >>> from echelon.gf2 import mod2
    >>> plu = mod2.PluDecomposition(numpy.array([[0, 1], [1, 1]]))
    >>> plu.rank, plu.pivots.tolist(), plu.lu_solve(numpy.array([1, 0])).tolist()
    (2, [0, 1], [1, 1])
    """

    def __init__(self, pcm, full_reduce=False, lower_triangular=True):
        self._bits = bits = _matrix(pcm, "pcm")[0]
        m, n = bits.shape
        found = elimination.echelon(bits, reduced=full_reduce, transform=True, rows_from=True)
        self._rank, self._pivots = found.rank, found.pivots
        self._order, self._lower, self._upper = found.rows_from, found.transform, found.form
        if lower_triangular and full_reduce:
            self._lower = elimination.inverse(found.transform)[found.rows_from]
        elif lower_triangular:
            p, small, self._upper = factors.plu(bits, p_indices=True)
            self._order, self._lower = np.argsort(p), Matrix.identity(m)
            self._lower[:, :small.cols] = small
            if n < m:
                upper = Matrix.zeros(m, n)
                upper[:n] = self._upper
                self._upper = upper

    @property
    def rank(self):
        """The rank."""
        return self._rank

    @property
    def pivots(self):
        """The pivot columns, an array of int64."""
        return self._pivots

    @property
    def P(self):
        """The permutation matrix."""
        return _sparse(Matrix.identity(self._bits.rows)[:, self._order])

    @property
    def L(self):
        """The lower triangular matrix."""
        return _sparse(self._lower)

    @property
    def U(self):
        """The row echelon form."""
        return _sparse(self._upper)

    def lu_solve(self, y):
        """Return the x [n] with pcm x = y that is 0 outside the pivots. y: [m]."""
        y = np.asarray(y)
        if y.ndim != 1 or len(y) != self._bits.rows:
            raise ArgumentError(f"y has shape {y.shape}, but must have shape {(self._bits.rows,)}")
        return elimination.solve(self._bits, y.astype("uint8"))


__dir__ = publish(globals())
