"""Sparse matrices of every library as CSR arrays: row offsets, column indices and values.

SPDX-License-Identifier: Apache-2.0
"""
import sys
from typing import Any, NamedTuple, Tuple

from .. import _arrays
from .._arrays.view import check_indices
from .._ops.common import cast, namespace
from .._ops.floats import check_number
from .._ops.sort import one_dimension
from .._runtime import call as calls
from .._runtime import native
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c


class CSR(NamedTuple):
    """A sparse matrix in CSR form, without a library of sparse matrices.

    Row i has the entries indptr[i] to indptr[i + 1] - 1; entry e has the value data[e] and is in column indices[e].
    scipy.sparse.csr_array(matrix[:3], shape=matrix.shape) is the same matrix for SciPy. data, indices: [nnz]. indptr:
    [rows + 1]. shape: (rows, columns).
    """

    data: Any
    indices: Any
    indptr: Any
    shape: Tuple[int, int]


class Parts(NamedTuple):
    """The arrays of a matrix, and the function that makes a matrix of the same library from such arrays."""

    indptr: Any
    indices: Any
    data: Any
    shape: Tuple[int, int]
    make: Any


def _parts_of_torch(matrix, name):
    """The Parts of a sparse tensor, or None for dense tensors and other objects."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(matrix, getattr(torch, "Tensor", ())) or matrix.layout is torch.strided:
        return None
    if matrix.ndim != 2:
        raise ArgumentError(f"{name} has {matrix.ndim} dimensions, but must have two")
    if matrix.layout in (torch.sparse_coo, torch.sparse_csc):
        matrix = matrix.to_sparse_csr()
    if matrix.layout is not torch.sparse_csr:
        raise ArgumentError(f"{name} has layout {matrix.layout}, but must have sparse_csr, sparse_csc or sparse_coo")
    if matrix.requires_grad and torch.is_grad_enabled():
        raise ArgumentError(f"{name} requires gradients, which this function does not compute: pass {name}.detach()")

    def make(data, indices, indptr, shape):
        return torch.sparse_csr_tensor(indptr, indices, data, shape)

    return Parts(matrix.crow_indices(), matrix.col_indices(), matrix.values(), tuple(matrix.shape), make)


def _parts_of_scipy(matrix, name):
    """The Parts of a matrix or an array of scipy.sparse or cupyx.scipy.sparse, or None for other objects."""
    if not hasattr(matrix, "tocsr") or not hasattr(matrix, "shape"):
        return None
    if len(matrix.shape) != 2:
        raise ArgumentError(f"{name} has {len(matrix.shape)} dimensions, but must have two")
    csr = matrix.tocsr()
    kind = type(csr)

    def make(data, indices, indptr, shape):
        return kind((data, indices, indptr), shape=shape)

    return Parts(csr.indptr, csr.indices, csr.data, tuple(map(int, csr.shape)), make)


def _shape_of(matrix, name):
    """The shape of a CSR, as numbers."""
    try:
        rows, cols = (n.__index__() for n in matrix.shape)
    except (AttributeError, TypeError, ValueError):
        raise DTypeError(f"{name}.shape is {matrix.shape!r}, but must be two integers") from None
    if not (0 <= rows < 2**63 and 0 <= cols < 2**63):
        raise ArgumentError(f"{name}.shape is {matrix.shape}, but must be from 0 to 2^63 - 1")
    return rows, cols


def find_parts(matrix, name="A"):
    """The Parts of a sparse matrix, or None for other objects."""
    if isinstance(matrix, CSR):
        return Parts(matrix.indptr, matrix.indices, matrix.data, _shape_of(matrix, name), CSR)
    return _parts_of_torch(matrix, name) or _parts_of_scipy(matrix, name)


def parts_of(matrix, name="A"):
    """The Parts of a sparse matrix."""
    parts = find_parts(matrix, name)
    if parts is None:
        raise DTypeError(f"{name} is {type(matrix).__name__}, but must be a sparse matrix of SciPy, CuPy or PyTorch, "
                         "or echelon.sparse.CSR")
    return parts


def _contents(matrix):
    """The arrays of a sparse matrix, for the parameter stream of operations."""
    parts = find_parts(matrix)
    return parts and parts[:3]


calls.containers.append(_contents)


class Matrix:
    """A sparse matrix as the library expects it; its arrays belong to a call.

    indptr, indices, data: Views. struct: the ech_csr. address: its address.
    """

    def __init__(self, job, parts, code, name="A"):
        """Checks the lengths, and converts the values to code and the indices to one dtype."""
        self.rows, self.cols = parts.shape
        indptr, indices = (_indices(job, x, f"{name}.{what}") for x, what in
                           ((parts.indptr, "indptr"), (parts.indices, "indices")))
        if indptr.code != indices.code:
            indptr, indices = (cast(job, view, c.ECH_I64) for view in (indptr, indices))
        data = one_dimension(check_number(job.view(parts.data, f"{name}.data"), f"{name}.data"), f"{name}.data")
        self.indptr, self.indices, self.data = indptr, indices, job.contiguous(cast(job, data, code))
        if indptr.size != self.rows + 1:
            raise ArgumentError(f"{name}.indptr has length {indptr.size}, but must have length {self.rows + 1}")
        if indices.size != data.size:
            raise ArgumentError(f"{name}.indices has length {indices.size}, but {name}.data has length {data.size}")
        self.nnz = data.size
        if job.device == "cpu":  # SciPy permits unused elements at the end
            last = int(indptr.array[-1])
            if not 0 <= last <= self.nnz:
                raise ArgumentError(f"{name}.indptr ends with {last}, but {name}.data has length {self.nnz}")
            self.nnz = last
        self.struct = native.struct(c.ech_csr, rows=self.rows, cols=self.cols, nnz=self.nnz,
                                    row_offsets=indptr.pointer, col_indices=indices.pointer,
                                    values=self.data.pointer, index_dtype=indptr.code, dtype=code)

    @property
    def address(self):
        return native.ctypes.addressof(self.struct)

    def check(self, job, ordered=False):
        """Raises ArgumentError for offsets and columns that are invalid; on a GPU, ech_sync() returns the error."""
        job.call("ech_csr_check", self.address, int(ordered))

    def is_ordered(self, job):
        """Whether the columns of each row are strictly ascending. Waits on a GPU."""
        try:
            self.check(job, ordered=True)
            job.call("ech_sync")
        except ArgumentError:
            return False
        return True


def _indices(job, x, name):
    return job.contiguous(check_indices(one_dimension(job.view(x, name), name), name))


def in_order(job, matrix, parts):
    """The Matrix, or one whose columns are in ascending order, without duplicates: their values are added."""
    if matrix.is_ordered(job):
        return matrix
    rows = cast(job, job.add(_row_of_each(job, matrix)), matrix.indices.code)
    made = csr_of_coo(job, rows, matrix.indices, matrix.data, (matrix.rows, matrix.cols), matrix.nnz)
    return Matrix(job, Parts(made.indptr, made.indices, made.data, made.shape, parts.make), matrix.data.code)


def _row_of_each(job, matrix):
    """The View of the rows of all entries, as int64."""
    view = cast(job, matrix.indptr, c.ECH_I64)
    family, indptr, library = view.family, view.array, namespace(view)
    counts = indptr[1:] - indptr[:-1]
    if family.name == "torch":
        rows = library.arange(matrix.rows, device=indptr.device)
        return family.view(library.repeat_interleave(rows, counts))
    if family.name == "cupy":
        counts = counts.get().tolist()
    return family.view(library.repeat(library.arange(matrix.rows), counts))


def csr_of_coo(job, rows, cols, data, shape, n):
    """The CSR of n entries, whose Views have one index dtype and a dtype that the library supports."""
    code = rows.code
    indptr, indices = job.empty((shape[0] + 1,), code), job.empty((n,), code)
    values = job.empty((n,), data.code)
    out = native.struct(c.ech_csr, rows=shape[0], cols=shape[1], nnz=n, row_offsets=indptr.pointer,
                        col_indices=indices.pointer, values=values.pointer, index_dtype=code, dtype=data.code)
    count = native.ctypes.c_uint64()
    job.call("ech_csr_from_coo", rows.pointer, cols.pointer, data.pointer, native.ctypes.addressof(out),
             native.ctypes.addressof(count), n, None)
    job.call("ech_sync")
    head = indptr.family.head
    return CSR(head(values.array, count.value), head(indices.array, count.value), indptr.array, tuple(shape))


def call_of(arrays):
    """The call whose results have the type of the first array of a library."""
    for x, name in arrays:
        if _arrays.family_of(x) is not None:
            return calls.Job(_arrays.view(x, name))
    return calls.Job(_arrays.view(*arrays[0]))
