"""System: a linear system A x = b, prepared for one or more calls of ech_solve().

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import time
from typing import Any, NamedTuple, Optional

from .. import _arrays
from .._arrays.view import NAMES, dtype_name
from .._ops.common import cast
from .._ops.floats import check_number, common_float
from .._ops.products import Matrices
from .._runtime import context as contexts
from .._runtime import native
from .._runtime.call import Job
from .._runtime.errors import ArgumentError, DTypeError, Error, from_status
from .._runtime.native import declared as c
from . import _callbacks as callbacks
from ._csr import Matrix, find_parts, in_order

PRECONDITIONERS = ("none", "jacobi", "block-jacobi", "ssor", "ilu0", "ic0", "ilut")
_SPARSE_ONLY = ("ssor", "ilu0", "ic0", "ilut")
_HISTORY = 10000
_STATUS = {
    c.ECH_SOLVE_STATUS_CONVERGED_RTOL: "converged", c.ECH_SOLVE_STATUS_CONVERGED_ATOL: "converged",
    c.ECH_SOLVE_STATUS_STOPPED_ITERATIONS: "iterations", c.ECH_SOLVE_STATUS_STOPPED_DIVERGED: "diverged",
    c.ECH_SOLVE_STATUS_STOPPED_BREAKDOWN: "breakdown", c.ECH_SOLVE_STATUS_STOPPED_STAGNATED: "stagnated",
    c.ECH_SOLVE_STATUS_STOPPED_INDEFINITE: "indefinite", c.ECH_SOLVE_STATUS_STOPPED_NAN: "nan",
    c.ECH_SOLVE_STATUS_STOPPED_MONITOR: "monitor", c.ECH_SOLVE_STATUS_STOPPED_SINGULAR: "singular",
}
_UNFINISHED = ("iterations", "stagnated", "monitor")


class SolveReport(NamedTuple):
    """What an iterative solver reports.

    converged: whether |b - A x|, computed from the returned x, satisfies the tolerance. status: "converged",
    "iterations", "diverged", "breakdown", "stagnated", "indefinite", "nan" or "singular"; text: a sentence about it.
    method, preconditioner: those that were used; "function" for a preconditioner that is not named. iterations,
    applications, restarts: numbers of iterations, of products with A, and of restarts because the true residual
    exceeded that of the method. residual: |b - A x|. b_norm: |b|. failed_index: the row of "singular" and, for "ic0",
    "indefinite". bounds: the bounds of the eigenvalues that were used. seconds: the time of the call. history: the
    residual at the start and after each iteration, as the method computes it; at most 10,000 of them.
    """

    converged: bool
    status: str
    text: str
    method: str
    preconditioner: str
    iterations: int
    applications: int
    restarts: int
    residual: float
    b_norm: float
    failed_index: int
    bounds: Optional[tuple]
    seconds: float
    history: list

    @property
    def info(self):
        """The number that SciPy's solvers return: 0, the number of iterations, or a negative number."""
        if self.converged:
            return 0
        if self.status in _UNFINISHED:
            return max(self.iterations, 1)
        return {"diverged": -2, "breakdown": -3, "indefinite": -5, "nan": -6, "singular": -8}[self.status]


class Source(NamedTuple):
    """Where products come from: a sparse matrix (Parts), a dense array, or a function."""

    parts: Any
    dense: Any
    function: Any
    shape: Optional[tuple]
    dtype: Any
    diagonal: Any


def source_of(x, name):
    """The Source of a matrix, an array, an object with matvec, or a function."""
    parts = find_parts(x, name)
    if parts is not None:
        return Source(parts, None, None, parts.shape, None, None)
    function = getattr(x, "matvec", None)
    if function is None and callable(x) and _arrays.family_of(x) is None:
        function = x
    if function is None:
        view = _arrays.view(x, name)
        if view.ndim != 2:
            raise ArgumentError(f"{name} has {view.ndim} dimensions, but must have two")
        return Source(None, x, None, view.shape, None, None)
    shape = getattr(x, "shape", None)
    diagonal = getattr(x, "diagonal", None)
    return Source(None, None, function, tuple(shape) if shape is not None else None, getattr(x, "dtype", None),
                  diagonal if callable(diagonal) else None)


def _float_code(dtype, name):
    """The ech_dtype of the dtype of an operator."""
    text = dtype_name(dtype, f"{name}.dtype")
    if text == "bool":
        return c.ECH_U8
    if text not in _arrays.CODES:
        raise DTypeError(f"{name} has dtype {text}, but the dtypes are bool, {', '.join(NAMES)}")
    return _arrays.CODES[text]


def _code_of(source, job, name):
    """The ech_dtype of the elements of a Source, or None if it is unknown."""
    if source.function is not None:
        return None if source.dtype is None else _float_code(source.dtype, name)
    values = source.dense if source.parts is None else source.parts.data
    name = name if source.parts is None else f"{name}.data"
    return check_number(job.view(values, name), name).code


def _vector(view, n, name):
    """The View, contiguous, if it has n elements in one column."""
    if view.shape not in ((n,), (n, 1)):
        raise ArgumentError(f"{name} has shape {view.shape}, but must have shape ({n},)")
    return view


class System:
    """A x = b with a matrix in any form. x is the array of the solution; it begins with the initial guess."""

    def __init__(self, A, b, x0, M, shift=0.0, needs=None):
        """needs: "jacobi": the method needs the diagonal of A; "order": it needs the entries of A in order."""
        source = source_of(A, "A")
        self.job = job = self._job(source, b)
        right = check_number(job.view(b, "b"), "b")
        shape = source.shape
        if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
            raise ArgumentError(f"A has shape {shape}, but must be square")
        self.n = n = int(shape[0]) if shape is not None else right.shape[0] if right.ndim else 1
        right = _vector(right, n, "b")
        guess = None if x0 is None else _vector(check_number(job.view(x0, "x0"), "x0"), n, "x0")
        codes = [_code_of(source, job, "A"), right.code] + ([] if guess is None else [guess.code])
        self.code = code = common_float([one for one in codes if one is not None])
        self.b = job.contiguous(cast(job, right, code))
        self.x = job.empty((n,), code)
        self.has_guess = guess is not None
        if guess is not None and n:
            guess = job.contiguous(cast(job, guess, code))
            job.call("ech_copy", self.x.pointer, guess.pointer, guess.nbytes)
        self.vectors = callbacks.Vectors(job, n, code)
        self.remote = None  # x in device memory, if the arrays are in host memory and a callback reads it
        self.callbacks, self.precond, self.precondition = [], "none", None
        self.operator = native.struct(c.ech_operator, n=n, dtype=code)
        self._set_preconditioner(M)
        self.needs = needs or (None if self.precond == "none" else "jacobi" if self.precond == "jacobi" else "order")
        self._set_matrix(source, shift)

    @staticmethod
    def _job(source, b):
        """The call: its results have the type of b if that is an array, otherwise of A."""
        arrays = [(b, "b")]
        if source.parts is not None:
            arrays.append((source.parts.data, "A.data"))
        elif source.dense is not None:
            arrays.append((source.dense, "A"))
        for x, name in arrays:
            if _arrays.family_of(x) is not None:
                return Job(_arrays.view(x, name))
        return Job(_arrays.view(b, "b"))

    # ---- A ----

    def _set_matrix(self, source, shift):
        self.source = source
        if source.parts is not None:
            self._set_sparse(source, shift)
        elif source.dense is not None:
            self._set_dense(source, shift)
        else:
            self._set_apply(callbacks.Function(self.vectors, source.function, "the result of A", shift))
            if source.diagonal is not None and self.needs:
                self._set_diagonal(self.job.view(source.diagonal(), "A.diagonal()"), shift)

    def _set_sparse(self, source, shift):
        job = self.job
        matrix = Matrix(job, source.parts, self.code)
        matrix.check(job)
        job.call("ech_sync")
        if self.needs:
            matrix = in_order(job, matrix, source.parts)
        self.matrix = matrix
        if not shift:
            self.operator.csr = matrix.address
            return
        self._set_apply(callbacks.Product(self.vectors, callbacks.SparseFactor(matrix), shift))
        if self.needs and self.n:
            diagonal = job.empty((self.n,), self.code)
            job.call("ech_csr_diagonal", matrix.address, diagonal.pointer)
            self._set_diagonal(diagonal, shift)

    def _set_dense(self, source, shift):
        job = self.job
        matrix = Matrices(job, cast(job, job.view(source.dense, "A"), self.code), transposable=False)
        if not shift:
            self.operator.dense, self.operator.stride = matrix.view.pointer, matrix.stride
            return
        self._set_apply(callbacks.Product(self.vectors, callbacks.DenseFactor(matrix.view, matrix.stride), shift))
        if self.needs:
            self._set_diagonal(matrix.view.family.view(matrix.view.array.diagonal()), shift)

    def _set_apply(self, product):
        callback = callbacks.apply_callback("apply", product)
        self.callbacks.append(callback)
        self.operator.apply = callback.pointer

    def _set_diagonal(self, view, shift):
        view = _vector(check_number(view, "the diagonal of A"), self.n, "the diagonal of A")
        family = view.family
        moved = family.view(view.array - shift if shift else view.array)
        self.diagonal = self.job.contiguous(cast(self.job, self.job.add(moved), self.code))
        self.operator.diagonal = self.diagonal.pointer

    # ---- M ----

    def _set_preconditioner(self, M):
        if M is None:
            return
        if isinstance(M, str):
            if M not in PRECONDITIONERS:
                raise ArgumentError(f"M is {M!r}, but must be one of {', '.join(map(repr, PRECONDITIONERS))}, a "
                                    "matrix, an operator or a function")
            self.precond = M
            return
        source = source_of(M, "M")
        if source.shape is not None and source.shape != (self.n, self.n):
            raise ArgumentError(f"M has shape {source.shape}, but must have shape {(self.n, self.n)}")
        job = self.job
        if source.parts is not None:
            factor = Matrix(job, source.parts, self.code, "M")
            factor.check(job)
            job.call("ech_sync")
            product = callbacks.Product(self.vectors, callbacks.SparseFactor(factor))
        elif source.dense is not None:
            dense = Matrices(job, cast(job, check_number(job.view(source.dense, "M"), "M"), self.code), False)
            product = callbacks.Product(self.vectors, callbacks.DenseFactor(dense.view, dense.stride))
        else:
            if source.dtype is not None:
                _float_code(source.dtype, "M")
            product = callbacks.Function(self.vectors, source.function, "the result of M")
        self.precondition = callbacks.apply_callback("precondition", product)
        self.callbacks.append(self.precondition)

    def _check_preconditioner(self, method):
        sparse = bool(self.operator.csr)
        if self.precond in _SPARSE_ONLY and not sparse:
            raise ArgumentError(f"M is {self.precond!r}, which needs a sparse matrix A without a shift")
        if self.precond == "block-jacobi" and not sparse and not self.operator.dense:
            raise ArgumentError("M is 'block-jacobi', which needs a matrix A without a shift")
        if self.needs == "jacobi" and self.operator.apply and not self.operator.diagonal and self.n:
            raise ArgumentError("A has no method diagonal(), but the method or the preconditioner divides by the "
                                "diagonal")
        if method in ("gauss-seidel", "sor") and not sparse:
            raise ArgumentError(f"A must be a sparse matrix for the method {method!r}")

    # ---- The call ----

    def run(self, method, observe=None, history=False, **settings):
        """Solves the system from the current x; settings are fields of ech_solve_options.

        observe(iteration, residual) is called after each iteration.
        """
        self._check_preconditioner(method)
        functions = native.functions
        options = native.struct(c.ech_solve_options, method=functions.ech_method_from_name(method.encode()),
                                precond=functions.ech_precond_from_name(self.precond.encode()),
                                use_initial_guess=int(self.has_guess), **settings)
        if self.precondition is not None:
            options.precondition = self.precondition.pointer
        monitors = []
        if observe is not None:
            monitors.append(callbacks.monitor_callback(observe))
            options.monitor, options.check_every = monitors[0].pointer, 1
        room = min(options.max_iterations + 1 if options.max_iterations else _HISTORY, _HISTORY) if history else 0
        values = (ctypes.c_double * max(room, 1))()
        if room:
            options.history, options.history_capacity = ctypes.addressof(values), room
        report = native.struct(c.ech_solve_report)
        self._provide_workspace(options, bool(self.callbacks))
        start = time.perf_counter()
        call = self._call_observed if monitors and self.is_staged and self.n else self._call
        call(options, report, self.callbacks + monitors)
        seconds = time.perf_counter() - start
        return self._report_of(report, seconds, list(values[:min(room, report.history_count)]))

    def _provide_workspace(self, options, needed):
        """A workspace that is an array, so that functions get vectors without copies."""
        job, size = self.job, ctypes.c_size_t()
        self.vectors.belong_to(self.x)
        if not needed or self.is_staged or not self.n:
            return
        status = native.functions.ech_solve_workspace(job.context.device.encode(), ctypes.addressof(self.operator),
                                                      ctypes.addressof(options), ctypes.addressof(size))
        if status:
            raise from_status(status, native.error_text())
        memory = job.empty((size.value + 256,), c.ECH_U8)
        options.work = memory.pointer + -memory.pointer % 256
        options.work_bytes = size.value
        self.vectors.belong_to(self.x, memory)

    def _call(self, options, report, all_callbacks):
        job = self.job
        try:
            job.call("ech_solve", ctypes.addressof(self.operator), 1, self.b.pointer, self.n,
                     self.remote or self.x.pointer, self.n, ctypes.addressof(options), ctypes.addressof(report))
        except Error:
            for callback in all_callbacks:
                callback.raise_failure()
            raise
        for callback in all_callbacks:
            callback.raise_failure()

    def _report_of(self, report, seconds, history):
        functions = native.functions
        bounds = (report.lower, report.upper) if report.upper > 0 else None
        precond = "function" if self.precondition is not None else functions.ech_precond_name(report.precond).decode()
        return SolveReport(
            report.status > 0, _STATUS[report.status], functions.ech_solve_status_text(report.status).decode(),
            functions.ech_method_name(report.method).decode(), precond, report.iterations, report.applications,
            report.restarts, report.residual, report.b_norm, report.failed_index, bounds, seconds, history)

    # ---- For callbacks of the user ----

    @property
    def is_staged(self):
        """Whether the library copies the arrays from host memory to the memory of a device."""
        return self.job.device == "cpu" and self.job.context.device != "cpu"

    def iterate(self):
        """x in the current iteration, for a function that observes the solver."""
        if self.remote is None:
            return self.x.array
        context = contexts.get(self.job.context.device)  # the context of the call is in use
        family = self.x.family
        view = family.view(family.empty((self.n,), family.dtype(self.code), "cpu"))
        context.check(native.functions.ech_copy(context.handle, view.pointer, self.remote, view.nbytes))
        return view.array

    def _call_observed(self, options, report, all_callbacks):
        """_call() while x is in device memory."""
        job, size, remote = self.job, self.x.nbytes, ctypes.c_void_p()
        job.call("ech_malloc", ctypes.addressof(remote), size)
        try:
            job.call("ech_copy", remote.value, self.x.pointer, size)
            self.remote = remote.value
            self._call(options, report, all_callbacks)
            job.call("ech_copy", self.x.pointer, remote.value, size)
        finally:
            self.remote = None
            native.functions.ech_free(job.context.handle, remote.value, size)

    def norm_of_b(self):
        """|b|."""
        norm = (ctypes.c_float if self.code == c.ECH_F32 else ctypes.c_double)()
        self.job.call("ech_reduce", c.ECH_OP_NORM, self.b.pointer, ctypes.addressof(norm), self.n, self.code, None)
        self.job.call("ech_sync")
        return norm.value
