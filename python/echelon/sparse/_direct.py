"""Direct solvers of sparse systems: spsolve, splu and factorized of echelon.sparse.linalg.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math
import os
import threading
import warnings
import weakref
from typing import NamedTuple

from .. import _arrays
from .._ops.common import cast
from .._ops.direct import ConditionWarning, LinAlgError, _caller
from .._ops.floats import check_number, common_float
from .._runtime import context as contexts
from .._runtime import native
from .._runtime.arguments import flag, integer
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from ._csr import Matrix, parts_of

_ALGORITHMS = ("cudss", "klu", "mumps", "superlu", "dense")
_STATUS = {c.ECH_DIRECT_STATUS_SOLVED: "solved", c.ECH_DIRECT_STATUS_SINGULAR: "singular",
           c.ECH_DIRECT_STATUS_NOT_FINITE: "not finite", c.ECH_DIRECT_STATUS_NOT_FINITE_B: "not finite b",
           c.ECH_DIRECT_STATUS_OVERFLOW: "overflow"}
_UNKNOWN = 2**64 - 1
_EPS = {c.ECH_F32: 2.0**-23, c.ECH_F64: 2.0**-52}


class SparseDirectReport(NamedTuple):
    """What a direct solver of sparse systems reports.

    status: "solved", "singular", "not finite", "not finite b" or "overflow". algorithm: "klu", "mumps", "superlu",
    "cudss" or "dense", the one that was used. failed_index: the column of "singular", the row of "not finite", the
    right-hand side of "not finite b" and "overflow"; None: unknown. rcond: an estimate of 1 / (|A| |A^-1|) in the
    1-norm; None: not estimated. backward_error: |b - A x| / (|A| |x| + |b|), the maximum over the right-hand sides,
    in the maximum norm. refinements: the maximum number of refinement steps. factor_nnz: the number of entries of L
    and U; 0 if it is unknown.
    """

    status: str
    algorithm: str
    failed_index: object
    rcond: object
    backward_error: float
    refinements: int
    factor_nnz: int


def _report_of(report, has_rcond):
    status = _STATUS[report.status]
    failed = None if status == "solved" or report.failed_index == _UNKNOWN else report.failed_index
    return SparseDirectReport(status, report.algorithm.decode(), failed, report.rcond if has_rcond else None,
                              report.backward_error, report.refinements, report.factor_nnz)


def _raise_problem(report):
    """Raises the LinAlgError of an outcome that is not "solved"."""
    if report.status == "solved":
        return
    at = report.failed_index
    where = {
        "singular": "A is singular" + (f": column {at} has no pivot" if at is not None else ""),
        "not finite": f"A contains NaN or infinity in row {at}",
        "not finite b": f"b contains NaN or infinity in column {at}",
        "overflow": f"the solution of column {at} of b overflows",
    }[report.status]
    error = LinAlgError(where)
    error.report = report
    raise error


def _warn(report, code):
    if report.rcond is not None and report.rcond < _EPS[code]:
        warnings.warn(f"A is ill-conditioned (rcond is {report.rcond:.3g}): the result may be inaccurate",
                      ConditionWarning, stacklevel=_caller())


def _options(algorithm=None, refine=None, transpose=False, condition=False):
    if algorithm is not None and (not isinstance(algorithm, str) or algorithm not in _ALGORITHMS):
        raise ArgumentError(f"algorithm is {algorithm!r}, but must be None or one of "
                            f"{', '.join(map(repr, _ALGORITHMS))}")
    steps = 0 if refine is None else integer(refine, "refine", 0, 1000) or -1
    return native.struct(c.ech_sparse_direct_options, algorithm=algorithm.encode() if algorithm else None,
                         refine=steps, transpose=int(transpose), estimate_condition=int(condition))


class _Sides:
    """b as [columns, n] of one dtype, and an array for x of the same shape."""

    def __init__(self, job, b, n, code):
        self.job, self.vector = job, b.ndim == 1
        if b.ndim not in (1, 2) or b.shape[0] != n:
            raise ArgumentError(f"b has shape {b.shape}, but must have shape ({n},) or ({n}, k)")
        self.columns = 1 if self.vector else b.shape[1]
        if not self.vector:
            job.need_arithmetic()
            b = job.add(b.family.view(b.array.T))
        self.b = job.contiguous(cast(job, b, code))
        self.x = job.empty((n,) if self.vector else (self.columns, n), code)

    def result(self):
        x = self.job.finish(self.x)
        return x if self.vector else x.T


def _square(parts):
    if parts.shape[0] != parts.shape[1]:
        raise ArgumentError(f"A has shape {parts.shape}, but must be square")
    return parts.shape[0]


@operation
def spsolve(A, b, *, algorithm=None, refine=None, transpose=False, condition=False, info=False):
    """Solve the sparse linear system A x = b with a sparse LU factorization.

    A: sparse matrix, [n, n]. b: [n] or [n, k]. algorithm: "klu", "mumps", "superlu" or "cudss", libraries that must be
    installed; "dense", for n up to 4,096; None: a library that is found and suits A, otherwise "dense". refine: the
    maximum number of refinement steps, in which residuals are computed in twice the precision: 0 to 1,000; None: 10.
    transpose: whether to solve A^T x = b. condition: whether to estimate the condition number, which takes the time of
    some solutions. info: whether to return details and not to raise LinAlgError: x is then NaN if there is no solution.

    Returns x, an array of the shape of b, of dtype float32 or float64, the common type of A and b; with info the pair
    of x and a SparseDirectReport. Raises LinAlgError if A is singular, or A or b has NaN or infinity, ArgumentError for
    shapes that do not match, and UnsupportedError if no library is available. Warns with ConditionWarning if condition
    is true and x may have no correct digit. SciPy's function accepts sparse b, and warns of a singular matrix.

    >>> import echelon, numpy
    >>> A = echelon.sparse.CSR(numpy.array([2.0, 1.0, 4.0]), numpy.array([0, 1, 1]), numpy.array([0, 2, 3]), (2, 2))
    >>> echelon.sparse.linalg.spsolve(A, numpy.array([4.0, 8.0]))
    array([1., 2.])
    """
    transpose, condition = flag(transpose, "transpose"), flag(condition, "condition")
    info = flag(info, "info")
    options = _options(algorithm, refine, transpose, condition)
    parts = parts_of(A)
    n = _square(parts)
    views = _arrays.view(parts.data, "A.data"), _arrays.view(b, "b")
    job = Job(views[0]) if _arrays.family_of(b) is None else Job(views[1])
    right = check_number(job.view(b, "b"), "b")
    code = common_float([check_number(job.view(parts.data, "A.data"), "A.data").code, right.code])
    matrix = Matrix(job, parts, code)
    sides = _Sides(job, right, n, code)
    report = native.struct(c.ech_sparse_direct_report)
    job.call("ech_solve_sparse", matrix.address, sides.columns, sides.b.pointer, n, sides.x.pointer, n,
             ctypes.addressof(options), ctypes.addressof(report))
    return _outcome(sides, _report_of(report, condition), code, info)


def _outcome(sides, report, code, info):
    if not info:
        _raise_problem(report)
        _warn(report, code)
    x = sides.result()
    if report.status != "solved" and sides.x.size:
        x[...] = math.nan
    return (x, report) if info else x


def _free(factor, context):
    """Frees the factors, then closes their context. A child of fork() leaves both to its parent."""
    if context.handle is not None and context.process == os.getpid():
        native.functions.ech_sparse_factor_free(factor)
        context.close()


class SparseLU:
    """The factors of a sparse matrix, from splu(). shape: (n, n). nnz: the number of entries of L and U; 0 if it is
    unknown. algorithm: the library that computed them. report: the SparseDirectReport of the factorization.

    The factors may be used by any thread, one at a time; calls of other threads wait.
    """

    def __init__(self, A, options, condition):
        parts = parts_of(A)
        self._n = _square(parts)
        self.shape = (self._n, self._n)
        view = check_number(_arrays.view(parts.data, "A.data"), "A.data")
        job = Job(view)
        self._code, self._device, self._lock = common_float([view.code]), view.device, threading.Lock()
        self._context = job.context = contexts.opened(job.context.device)
        matrix = Matrix(job, parts, self._code)
        report, factor = native.struct(c.ech_sparse_direct_report), ctypes.c_void_p()
        job.call("ech_sync")
        job.call("ech_sparse_factor_create", matrix.address, ctypes.addressof(options), ctypes.addressof(factor),
                 ctypes.addressof(report))
        self.report = _report_of(report, condition)
        _raise_problem(self.report)
        _warn(self.report, self._code)
        self._factor = factor
        self.nnz, self.algorithm = self.report.factor_nnz, self.report.algorithm
        self._finalizer = weakref.finalize(self, _free, factor, self._context)

    def __repr__(self):
        return f"<SparseLU of shape {self.shape} by {self.algorithm}>"

    def solve(self, b, trans="N", *, refine=None, info=False):
        """Solve A x = b, or for trans = "T" or "H" A^T x = b. b: [n] or [n, k]. refine, info: as for spsolve()."""
        if not isinstance(trans, str) or trans not in ("N", "T", "H"):
            raise ArgumentError(f"trans is {trans!r}, but must be 'N', 'T' or 'H'")
        info = flag(info, "info")
        options = _options(None, refine, trans != "N")
        view = check_number(_arrays.view(b, "b"), "b")
        job = Job(view)
        if view.device != self._device:
            raise ArgumentError(f"b is on {view.device}, but A is on {self._device}")
        code = common_float([self._code, view.code])
        if code != self._code:
            raise DTypeError("b has dtype float64, but the factors are those of a float32 matrix")
        sides = _Sides(job, view, self._n, code)
        report = native.struct(c.ech_sparse_direct_report)
        if self._device != "cpu":
            job.call("ech_sync")
        with self._lock:
            job.context = self._context
            job.call("ech_sparse_factor_solve", self._factor, sides.columns, sides.b.pointer, self._n,
                     sides.x.pointer, self._n, ctypes.addressof(options), ctypes.addressof(report))
        return _outcome(sides, _report_of(report, False), code, info)


@operation
def splu(A, *, algorithm=None, condition=False):
    """Factor the sparse matrix A, for several right-hand sides.

    A: sparse matrix, [n, n]. algorithm, condition: as for spsolve().

    Returns a SparseLU. Raises LinAlgError if A is singular or has NaN or infinity, and the other exceptions of
    spsolve(). The arguments of SciPy's function that select a column order or a pivot threshold are missing.

    >>> import echelon, numpy
    >>> A = echelon.sparse.CSR(numpy.array([2.0, 1.0, 4.0]), numpy.array([0, 1, 1]), numpy.array([0, 2, 3]), (2, 2))
    >>> lu = echelon.sparse.linalg.splu(A)
    >>> lu.solve(numpy.array([4.0, 8.0])), lu.solve(numpy.array([2.0, 9.0]), "T")
    (array([1., 2.]), array([1., 2.]))
    """
    condition = flag(condition, "condition")
    return SparseLU(A, _options(algorithm, condition=condition), condition)


@operation
def factorized(A, *, algorithm=None):
    """Return a function that solves A x = b for an array b: the method solve() of splu(A, algorithm=algorithm).

    >>> import echelon, numpy
    >>> A = echelon.sparse.CSR(numpy.array([2.0, 1.0, 4.0]), numpy.array([0, 1, 1]), numpy.array([0, 2, 3]), (2, 2))
    >>> echelon.sparse.linalg.factorized(A)(numpy.array([4.0, 8.0]))
    array([1., 2.])
    """
    return SparseLU(A, _options(algorithm), False).solve
