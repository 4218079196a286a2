"""Iterative and direct solvers of linear systems, with the signatures of scipy.sparse.linalg.

A and M are given in any of these forms:

- a sparse matrix of scipy.sparse, cupyx.scipy.sparse or PyTorch, or an echelon.sparse.CSR;
- a dense array;
- an object with shape, dtype and matvec, such as a LinearOperator of SciPy; for M = "jacobi" also with diagonal();
- a function that returns the product with a vector.

M approximates the inverse of A, as in SciPy, or is the name of a preconditioner of the library: "jacobi" (the diagonal
of A), "block-jacobi" (its diagonal blocks), "ssor", "ilu0" (incomplete LU), "ic0" (incomplete Cholesky), "ilut"
(incomplete LU with the largest elements). The last four need a sparse A.

A solver returns (x, info). info is 0 only if |b - A x| <= max(rtol |b|, atol) for the returned x; it is the number of
iterations if they did not suffice or x no longer improved; it is negative if the method failed: -2 the residual grew,
-3 division by zero, -5 A or M is not positive definite, -6 NaN or infinity, -8 a zero on the diagonal or a zero pivot.
With report=True a solver returns (x, info, SolveReport).

spsolve(), splu() and factorized() are direct: they factor A with a library of sparse direct solvers.

SPDX-License-Identifier: Apache-2.0
"""
import math

from .._runtime.arguments import flag, integer, number
from .._runtime.call import operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.public import publish
from ._direct import SparseDirectReport, SparseLU, factorized, splu, spsolve
from ._system import SolveReport, System

__all__ = ["SolveReport", "SparseDirectReport", "SparseLU", "bicgstab", "cg", "chebyshev", "factorized",
           "gauss_seidel", "gmres", "jacobi", "minres", "richardson", "solve", "sor", "splu", "spsolve"]

_METHODS = ("auto", "richardson", "jacobi", "chebyshev", "cg", "minres", "bicgstab", "gmres", "gauss-seidel", "sor")
_SMALLEST = 5e-324  # a tolerance that only the residual 0 satisfies


def _tolerance(x, name):
    value = number(x, name)
    if not 0 <= value < math.inf:
        raise ArgumentError(f"{name} is {value}, but must be finite and at least 0")
    return value


def _iterations(maxiter, default):
    """The maximum number of iterations or cycles; 2^48 is beyond every run, and its products are below 2^64."""
    return default if maxiter is None else min(integer(maxiter, "maxiter", 1), 2**48)


def _tolerances(rtol, atol):
    rtol, atol = _tolerance(rtol, "rtol"), _tolerance(atol, "atol")
    return {"rtol": rtol, "atol": atol if rtol or atol else _SMALLEST}


def _bounds(bounds):
    if bounds is None:
        return {}
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise ArgumentError(f"bounds is {bounds!r}, but must be a pair of numbers") from None
    lower, upper = _tolerance(lower, "bounds[0]"), _tolerance(upper, "bounds[1]")
    if not 0 < lower <= upper:
        raise ArgumentError(f"bounds is {(lower, upper)}, but must be a pair of numbers with 0 < lower <= upper")
    return {"lower": lower, "upper": upper}


def _omega(omega, most=None):
    if omega is None:
        return {}
    value = _tolerance(omega, "omega")
    if not 0 < value or most is not None and value >= most:
        limit = f" and less than {most}" if most else ""
        raise ArgumentError(f"omega is {value}, but must be greater than 0{limit}")
    return {"omega": value}


def _finish(system, outcome, report):
    x = system.job.finish(system.x)
    return (x, outcome.info, outcome) if report else (x, outcome.info)


def _observer(system, callback):
    """The function that calls callback(x) after each iteration."""
    if callback is None:
        return None
    if not callable(callback):
        raise DTypeError(f"callback is {callback!r}, but must be a function or None")

    def observe(iteration, _):
        if iteration:
            callback(system.iterate())

    return observe


def _run(system, method, *, rtol, atol, maxiter, callback, report, most=None, **settings):
    """One call of a solver. most: the number of iterations for maxiter None; None: chosen by the library."""
    limit, report = _iterations(maxiter, most or 0), flag(report, "report")
    outcome = system.run(method, _observer(system, callback), report, **_tolerances(rtol, atol),
                         max_iterations=limit, **settings)
    return _finish(system, outcome, report)


@operation
def cg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, report=False):
    """Solve A x = b with conjugate gradients, for a symmetric positive definite A.

    A: [n, n], in any form that the module describes. b: [n] or [n, 1]. x0: [n], the initial guess; None: 0. rtol, atol:
    the tolerance: |b - A x| <= max(rtol |b|, atol). maxiter: the maximum number of iterations; None: 10 n. M: the
    preconditioner, which must be symmetric positive definite: an approximation of the inverse of A, or a name.
    callback: a function that is called with x after each iteration; x is changed by the next iteration. report:
    whether to return a SolveReport, too.

    Returns (x, info); x is an array [n] of float32 or float64, the common type of A, b and x0. Raises ArgumentError for
    shapes that do not match and for invalid indices of a sparse matrix, DTypeError for complex numbers, and the
    exceptions of functions that it calls.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, info = echelon.sparse.linalg.cg(A, numpy.array([1.0, 2.0]), rtol=1e-12)
    >>> numpy.round(x, 6), info
    (array([0.090909, 0.636364]), 0)
    """
    system = System(A, b, x0, M)
    return _run(system, "cg", rtol=rtol, atol=atol, maxiter=maxiter, callback=callback, report=report,
                most=10 * system.n)


@operation
def bicgstab(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, report=False):
    """Solve A x = b with the stabilised biconjugate gradient method, for any A.

    A, b, x0, rtol, atol, maxiter, M, callback, report: as for cg(); M need not be symmetric.

    Returns (x, info) as cg() does.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [0.0, 3.0]])
    >>> x, info = echelon.sparse.linalg.bicgstab(A, numpy.array([1.0, 3.0]))
    >>> numpy.round(x, 4) + 0.0, info
    (array([0., 1.]), 0)
    """
    system = System(A, b, x0, M)
    return _run(system, "bicgstab", rtol=rtol, atol=atol, maxiter=maxiter, callback=callback, report=report,
                most=10 * system.n)


@operation
def minres(A, b, x0=None, *, rtol=1e-5, atol=0.0, shift=0.0, maxiter=None, M=None, callback=None, report=False):
    """Solve (A - shift I) x = b with the minimum residual method, for a symmetric A.

    A, b, x0, rtol, atol, M, callback, report: as for cg(); M = "jacobi" uses the absolute values of the diagonal.
    shift: a number. maxiter: the maximum number of iterations; None: 5 n.

    Returns (x, info) as cg() does. SciPy's function has no atol, and estimates the residual instead of computing it.

    >>> import echelon, numpy
    >>> A = numpy.array([[0.0, 1.0], [1.0, 0.0]])
    >>> x, info = echelon.sparse.linalg.minres(A, numpy.array([1.0, 2.0]))
    >>> numpy.round(x, 6), info
    (array([2., 1.]), 0)
    """
    system = System(A, b, x0, M, _shift(shift))
    return _run(system, "minres", rtol=rtol, atol=atol, maxiter=maxiter, callback=callback, report=report,
                most=5 * system.n)


def _shift(shift):
    value = number(shift, "shift")
    if not math.isfinite(value):
        raise ArgumentError(f"shift is {value}, but must be finite")
    return value


@operation
def gmres(A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None, callback=None,
          callback_type=None, report=False):
    """Solve A x = b with the restarted generalised minimum residual method, for any A.

    restart: the number of iterations per cycle, at most 1,000; None: 20. maxiter: the maximum number of iterations;
    for callback_type "x" and "pr_norm" the maximum number of cycles, as in SciPy; None: 10 n. callback_type:
    "pr_norm" and "legacy": callback receives |b - A x| / |b| after each iteration; "x": it receives x after each
    cycle, where the solver starts again; None: "legacy". A, b, x0, rtol, atol, M, report: as for cg(); M need not be
    symmetric.

    Returns (x, info) as cg() does. M is applied from the right, so the residual is that of the system.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [0.0, 3.0]])
    >>> x, info = echelon.sparse.linalg.gmres(A, numpy.array([1.0, 3.0]))
    >>> numpy.round(x, 4) + 0.0, info
    (array([0., 1.]), 0)
    """
    if callback_type is not None and not isinstance(callback_type, str) or \
            callback_type not in (None, "legacy", "pr_norm", "x"):
        raise ArgumentError(f"callback_type is {callback_type!r}, but must be 'x', 'pr_norm' or 'legacy'")
    report = flag(report, "report")
    system = System(A, b, x0, M)
    cycle = min(20 if restart is None else integer(restart, "restart", 1, 1000), max(system.n, 1))
    limit = _iterations(maxiter, 10 * system.n)
    tolerances = _tolerances(rtol, atol)
    if callback_type == "x" and callback is not None:
        outcome = _cycles(system, cycle, limit, _observer(system, callback), report, tolerances)
        return _finish(system, outcome, report)
    if callback_type in ("x", "pr_norm"):
        limit *= cycle
    outcome = system.run("gmres", _residual_observer(system, callback), report, restart=cycle,
                         max_iterations=limit, **tolerances)
    return _finish(system, outcome, report)


def _residual_observer(system, callback):
    if callback is None:
        return None
    if not callable(callback):
        raise DTypeError(f"callback is {callback!r}, but must be a function or None")
    norm = system.norm_of_b()

    def observe(iteration, residual):
        if iteration:
            callback(residual / norm)

    return observe


def _cycles(system, cycle, limit, observe, report, tolerances):
    """GMRES as one call per cycle, with a call of observe() after each."""
    total = None
    for index in range(1, limit + 1):
        outcome = system.run("gmres", None, report, restart=cycle, max_iterations=cycle, **tolerances)
        system.has_guess = True
        if outcome.iterations or total is None:
            observe(index, outcome.residual)
        total = outcome if total is None else outcome._replace(
            iterations=total.iterations + outcome.iterations, applications=total.applications + outcome.applications,
            restarts=total.restarts + outcome.restarts, seconds=total.seconds + outcome.seconds,
            history=total.history + outcome.history[1:])
        if outcome.status != "iterations":
            break
    return total


@operation
def chebyshev(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, bounds=None, callback=None, report=False):
    """Solve A x = b with the Chebyshev iteration, for a symmetric positive definite A.

    bounds: a pair of numbers between which the eigenvalues of M A are; None: they are estimated. maxiter: None: 10 n,
    but at least 1,000 and at most 100,000. A, b, x0, rtol, atol, M, callback, report: as for cg().

    Returns (x, info) as cg() does. The report contains the bounds that were used.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, info = echelon.sparse.linalg.chebyshev(A, numpy.array([1.0, 2.0]), bounds=(2, 5))
    >>> numpy.round(x, 3), info
    (array([0.091, 0.636]), 0)
    """
    return _run(System(A, b, x0, M), "chebyshev", rtol=rtol, atol=atol, maxiter=maxiter, callback=callback,
                report=report, **_bounds(bounds))


@operation
def richardson(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, omega=None, bounds=None, callback=None,
               report=False):
    """Solve A x = b with the Richardson iteration: x += omega M (b - A x).

    omega: the step; None: 2 / (lower + upper). bounds: (lower, upper), between which the eigenvalues of M A are; None:
    they are estimated for a symmetric positive definite A. maxiter: as for chebyshev(). A, b, x0, rtol, atol, M,
    callback, report: as for cg().

    Returns (x, info) as cg() does.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, info = echelon.sparse.linalg.richardson(A, numpy.array([1.0, 2.0]), omega=0.25)
    >>> numpy.round(x, 3), info
    (array([0.091, 0.636]), 0)
    """
    return _run(System(A, b, x0, M), "richardson", rtol=rtol, atol=atol, maxiter=maxiter, callback=callback,
                report=report, **_omega(omega), **_bounds(bounds))


@operation
def jacobi(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, omega=None, callback=None, report=False):
    """Solve A x = b with the Jacobi iteration: x += omega D^-1 (b - A x), where D is the diagonal of A.

    A: diagonally dominant; an operator needs diagonal(). omega: the step; None: 1. maxiter: as for chebyshev(). b, x0,
    rtol, atol, callback, report: as for cg().

    Returns (x, info) as cg() does.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, info = echelon.sparse.linalg.jacobi(A, numpy.array([1.0, 2.0]))
    >>> numpy.round(x, 3), info
    (array([0.091, 0.636]), 0)
    """
    return _run(_with_own_preconditioner(A, b, x0, "jacobi"), "jacobi", rtol=rtol, atol=atol, maxiter=maxiter,
                callback=callback, report=report, **_omega(omega))


def _with_own_preconditioner(A, b, x0, needs):
    """A System for a method that needs the diagonal, or the entries of A in order, but has no M."""
    return System(A, b, x0, None, needs=needs)


@operation
def gauss_seidel(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, callback=None, report=False):
    """Solve A x = b with the Gauss-Seidel iteration, for a symmetric positive definite or diagonally dominant A.

    A: sparse matrix. maxiter: as for chebyshev(). b, x0, rtol, atol, callback, report: as for cg(). The rows are
    processed in their order on every device.

    Returns (x, info) as cg() does.

    >>> import echelon, numpy
    >>> A = echelon.sparse.csr_from_coo([0, 0, 1, 1], [0, 1, 0, 1], [4.0, 1.0, 1.0, 3.0], (2, 2))
    >>> x, info = echelon.sparse.linalg.gauss_seidel(A, numpy.array([1.0, 2.0]))
    >>> numpy.round(x, 3), info
    (array([0.091, 0.636]), 0)
    """
    return _run(_with_own_preconditioner(A, b, x0, "order"), "gauss-seidel", rtol=rtol, atol=atol, maxiter=maxiter,
                callback=callback, report=report)


@operation
def sor(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, omega=None, callback=None, report=False):
    """Solve A x = b with successive over-relaxation.

    omega: the relaxation factor, greater than 0 and less than 2; None: 1, the Gauss-Seidel iteration. A, b, x0, rtol,
    atol, maxiter, callback, report: as for gauss_seidel().

    Returns (x, info) as cg() does.

    >>> import echelon, numpy
    >>> A = echelon.sparse.csr_from_coo([0, 0, 1, 1], [0, 1, 0, 1], [4.0, 1.0, 1.0, 3.0], (2, 2))
    >>> x, info = echelon.sparse.linalg.sor(A, numpy.array([1.0, 2.0]), omega=1.1)
    >>> numpy.round(x, 3), info
    (array([0.091, 0.636]), 0)
    """
    return _run(_with_own_preconditioner(A, b, x0, "order"), "sor", rtol=rtol, atol=atol, maxiter=maxiter,
                callback=callback, report=report, **_omega(omega, 2))


@operation
def solve(A, b, x0=None, *, method="auto", rtol=1e-5, atol=0.0, maxiter=None, M=None, restart=None, block=None,
          omega=None, bounds=None, drop_tolerance=None, fill=None, callback=None, report=False):
    """Solve A x = b with a method that is chosen or named, and all options of the library.

    method: "auto": conjugate gradients, the minimum residual method or GMRES, with a preconditioner, chosen by tests of
    A; or "richardson", "jacobi", "chebyshev", "cg", "minres", "bicgstab", "gmres", "gauss-seidel" or "sor". M: as for
    cg(); None for "auto", "jacobi", "gauss-seidel" and "sor". restart: of GMRES, at most 1,000; None: 30. block: rows
    per diagonal block of M = "block-jacobi", at most 32; None: 8. omega: the step of "richardson" and "jacobi", or the
    relaxation factor of "sor" and of M = "ssor". drop_tolerance, fill: of M = "ilut": elements of a row that are
    smaller than this multiple of the norm of the row of A are dropped, None: 1e-4; and the maximum number of elements
    that a row of L, and of U, has in addition to those of A, 1 to 1,000, None: 10. bounds, maxiter: as for chebyshev().
    callback: is called with x after each iteration; for "gmres" and "auto" it receives the residual
    |b - A x| instead. b, x0, rtol, atol, report: as for cg().

    Returns (x, info) as cg() does. The report contains the method and the preconditioner that were used.

    >>> import echelon, numpy
    >>> A = numpy.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, info, report = echelon.sparse.linalg.solve(A, numpy.array([1.0, 2.0]), report=True)
    >>> numpy.round(x, 4), info, report.method, report.preconditioner
    (array([0.0909, 0.6364]), 0, 'cg', 'jacobi')
    """
    if not isinstance(method, str) or method not in _METHODS:
        raise ArgumentError(f"method is {method!r}, but must be one of {', '.join(map(repr, _METHODS))}")
    report = flag(report, "report")
    own = {"auto": "order", "jacobi": "jacobi", "gauss-seidel": "order", "sor": "order"}.get(method)
    if own and M is not None:
        raise ArgumentError(f"M is given, but the method {method!r} chooses its preconditioner")
    settings = {**_omega(omega, 2 if method == "sor" or isinstance(M, str) and M == "ssor" else None),
                **_bounds(bounds)}
    if restart is not None:
        settings["restart"] = integer(restart, "restart", 1, 1000)
    if block is not None:
        settings["block"] = integer(block, "block", 1, 32)
    if drop_tolerance is not None:
        settings["drop_tolerance"] = _tolerance(drop_tolerance, "drop_tolerance") or _SMALLEST
    if fill is not None:
        settings["fill"] = integer(fill, "fill", 1, 1000)
    system = System(A, b, x0, M, needs=own)
    observe = _observer(system, callback)
    if callback is not None and method in ("auto", "gmres"):
        def observe(iteration, residual):
            if iteration:
                callback(residual)
    limit = _iterations(maxiter, 0)
    outcome = system.run(method, observe, report, max_iterations=limit, **_tolerances(rtol, atol), **settings)
    return _finish(system, outcome, report)


__dir__ = publish(globals())
