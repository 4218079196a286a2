"""Products with sparse matrices, construction from coordinates, transposes, diagonals and checks.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .. import _arrays
from .._arrays.layout import ranges_overlap
from .._ops.common import cast
from .._ops.floats import check_number, common_float
from .._ops.sort import one_dimension
from .._runtime import native
from .._runtime.arguments import number
from .._runtime.call import operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from ._csr import Matrix, call_of, csr_of_coo, parts_of


def _product(matrix, x, alpha, beta, out, valid, ndim):
    """alpha A x + beta out, for a vector or a matrix x."""
    parts = parts_of(matrix)
    job = call_of([(x, "x"), (parts.data, "A.data")])
    view = check_number(job.view(x, "x"), "x")
    if view.ndim != ndim:
        raise ArgumentError(f"x has {view.ndim} dimensions, but must have {'one' if ndim == 1 else 'two'}")
    code = common_float([job.view(parts.data, "A.data").code, view.code])
    a = Matrix(job, parts, code)
    if view.shape[0] != a.cols:
        raise ArgumentError(f"x has shape {view.shape}, but A has {a.cols} columns")
    view = job.contiguous(cast(job, view, code))
    alpha, beta = number(alpha, "alpha"), number(beta, "beta")
    if out is None and beta:
        raise ArgumentError(f"beta is {beta}, but out is not given")
    target = job.output(out, (a.rows,) + view.shape[1:], code)
    place = target
    if not target.contiguous or ranges_overlap(target, view):
        place = job.empty(target.shape, code)
        if beta:
            place.family.copy_to(place.array, target.array)
    if valid:
        a.check(job)
    if target.size == 0:
        return job.finish(target, out)
    if ndim == 1:
        job.call("ech_spmv", alpha, a.address, view.pointer, beta, place.pointer, None)
    else:
        n = view.shape[1]
        job.call("ech_spmm", alpha, a.address, n, view.pointer, n, beta, place.pointer, n, None)
    return job.finish(target, out, place)


@operation
def matvec(A, x, /, *, alpha=1.0, beta=0.0, check=True, out=None):
    """Multiply a sparse matrix by a vector: alpha A x + beta out.

    A: sparse matrix [m, n]. x: [n]. alpha, beta: numbers; with beta 0, out is not read. check: whether to validate
    the indices of A; without it, invalid indices give wrong results. out: [m] of the dtype of the result.

    Returns an array [m] of dtype float32 or float64, the common type of A and x. It is bit-identical on every device.
    Entries with the same row and column are added. Raises ArgumentError for invalid indices and shapes; if A is in GPU
    memory, synchronize() raises the error of invalid indices.

    >>> import echelon, numpy
    >>> A = echelon.sparse.csr_from_coo([0, 1, 1], [0, 0, 1], [2.0, 1.0, 3.0], (2, 2))
    >>> echelon.sparse.matvec(A, numpy.array([1.0, 1.0]))
    array([2., 4.])
    """
    return _product(A, x, alpha, beta, out, check, 1)


@operation
def matmul(A, x, /, *, alpha=1.0, beta=0.0, check=True, out=None):
    """Multiply a sparse matrix by a dense matrix: alpha A x + beta out.

    A: sparse matrix [m, n]. x: [n, k]. alpha, beta, check: as for matvec(). out: [m, k] of the dtype of the result.

    Returns an array [m, k]. Each column is bit-identical to the result of matvec() with that column of x. Raises
    errors as matvec() does.

    >>> import echelon, numpy
    >>> A = echelon.sparse.csr_from_coo([0, 1, 1], [0, 0, 1], [2.0, 1.0, 3.0], (2, 2))
    >>> echelon.sparse.matmul(A, numpy.eye(2))
    array([[2., 0.],
           [1., 3.]])
    """
    return _product(A, x, alpha, beta, out, check, 2)


def _common_index(job, views):
    """The Views of row and column numbers with one index dtype."""
    codes = {view.code for view in views}
    if len(codes) == 1 and codes <= {c.ECH_I32, c.ECH_I64}:
        return views
    return [cast(job, view, c.ECH_I64) for view in views]


@operation
def csr_from_coo(rows, cols, data, shape, /):
    """Make a CSR matrix from entries in any order (COO format).

    rows, cols: [n] of integers, the row and the column of each entry. data: [n], the values. shape: (m, n).

    Returns a CSR, whose columns are in ascending order in each row. Values with the same row and column are added in
    the order of the input. Its data are float32 or float64; its indices are int32 if rows and cols are, otherwise
    int64. Raises ArgumentError for an index out of range, with its position.

    >>> import echelon
    >>> A = echelon.sparse.csr_from_coo([1, 0, 1], [1, 0, 1], [3.0, 2.0, 1.0], (2, 2))
    >>> A.data, A.indices, A.indptr
    (array([2., 4.]), array([0, 1]), array([0, 1, 2]))
    """
    job = call_of([(data, "data"), (rows, "rows"), (cols, "cols")])
    values = one_dimension(check_number(job.view(data, "data"), "data"), "data")
    places = [_integers(job, x, name) for x, name in ((rows, "rows"), (cols, "cols"))]
    for view, name in zip(places, ("rows", "cols")):
        if view.size != values.size:
            raise ArgumentError(f"{name} has length {view.size}, but data has length {values.size}")
    try:
        limits = tuple(n.__index__() for n in shape)
    except (AttributeError, TypeError):
        raise DTypeError(f"shape is {shape!r}, but must be two integers") from None
    if len(limits) != 2 or min(limits) < 0 or max(limits) >= 2**63:
        raise ArgumentError(f"shape is {shape!r}, but must be two integers from 0 to 2^63 - 1")
    places = [job.contiguous(view) for view in _common_index(job, places)]
    values = job.contiguous(cast(job, values, common_float([values.code])))
    return csr_of_coo(job, *places, values, limits, values.size)


def _integers(job, x, name):
    view = one_dimension(job.view(x, name), name)
    if view.size == 0 and _arrays.family_of(x) is None:  # an empty list
        return job.empty((0,), c.ECH_I64)
    if view.code >= c.ECH_F16 or view.kind:
        raise DTypeError(f"{name} has dtype {view.dtype}, but must have integers")
    return view


def _matrix(A):
    """The call, the Parts and the Matrix of a sparse matrix, validated."""
    parts = parts_of(A)
    job = call_of([(parts.data, "A.data")])
    code = common_float([check_number(job.view(parts.data, "A.data"), "A.data").code])
    matrix = Matrix(job, parts, code)
    matrix.check(job)
    return job, parts, matrix


@operation
def transpose(A, /):
    """Transpose a sparse matrix.

    A: sparse matrix [m, n].

    Returns a CSR matrix [n, m] of the library of A. The entries of a row are in the order of the rows of A. Raises
    ArgumentError for invalid indices; if A is in GPU memory, synchronize() raises it.

    >>> import echelon
    >>> A = echelon.sparse.csr_from_coo([0, 0], [0, 1], [2.0, 1.0], (1, 2))
    >>> echelon.sparse.transpose(A).indptr
    array([0, 1, 2])
    """
    job, parts, a = _matrix(A)
    indptr, indices = (job.empty((n,), a.indptr.code) for n in (a.cols + 1, a.nnz))
    data = job.empty((a.nnz,), a.data.code)
    out = native.struct(c.ech_csr, rows=a.cols, cols=a.rows, nnz=a.nnz, row_offsets=indptr.pointer,
                        col_indices=indices.pointer, values=data.pointer, index_dtype=indptr.code, dtype=data.code)
    job.call("ech_csr_transpose", a.address, ctypes.addressof(out), None)
    return parts.make(data.array, indices.array, indptr.array, (a.cols, a.rows))


@operation
def diagonal(A, /):
    """Return the diagonal of a sparse matrix.

    A: sparse matrix [m, n].

    Returns an array [min(m, n)] of dtype float32 or float64: the first entry at each position, and 0 if there is none.
    Raises ArgumentError as transpose() does.

    >>> import echelon
    >>> echelon.sparse.diagonal(echelon.sparse.csr_from_coo([0, 0], [0, 1], [2.0, 1.0], (2, 2)))
    array([2., 0.])
    """
    job, _, a = _matrix(A)
    out = job.empty((min(a.rows, a.cols),), a.data.code)
    if out.size:
        job.call("ech_csr_diagonal", a.address, out.pointer)
    return job.finish(out)


@operation
def check(A, /, *, ordered=False):
    """Validate a sparse matrix.

    A: sparse matrix. ordered: whether the columns of each row must be strictly ascending.

    Returns None. Raises ArgumentError if the row offsets do not begin with 0 or decrease, if a column is out of range,
    or if ordered and the columns are not strictly ascending. The message names the first invalid row. Waits for a GPU.

    >>> import echelon, numpy
    >>> A = echelon.sparse.CSR(numpy.ones(2), numpy.array([0, 5]), numpy.array([0, 1, 2]), (2, 2))
    >>> try:
    ...     echelon.sparse.check(A)
    ... except echelon.ArgumentError:
    ...     print("A is invalid")
    A is invalid
    """
    parts = parts_of(A)
    job = call_of([(parts.data, "A.data")])
    code = common_float([check_number(job.view(parts.data, "A.data"), "A.data").code])
    Matrix(job, parts, code).check(job, ordered)
    job.call("ech_sync")
