"""The iterative solvers of echelon.sparse.linalg, compared with SciPy and with the residual of the system.

ECHELON_DATA names a folder with matrices in Matrix Market format that are not part of the repository.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import inspect
import os
import threading
from pathlib import Path

import echelon
import numpy as np
import pytest
from echelon.sparse import CSR
from echelon.sparse import linalg as solvers

GENERAL = ["bicgstab", "gmres"]
DEFINITE = ["cg", "minres", "bicgstab", "gmres", "chebyshev", "richardson", "jacobi", "gauss_seidel", "sor", "solve"]
WITH_M = ["cg", "minres", "bicgstab", "gmres", "chebyshev", "richardson"]
DATA = Path(os.environ.get("ECHELON_DATA", Path(__file__).parents[3] / "shared" / "data"))


def csr_of(dense, index="int32"):
    rows, cols = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(index)
    return CSR(dense[rows, cols], cols.astype(index), indptr, dense.shape)


def poisson(side, dtype="float64"):
    """The 2-D Laplacian plus 0.5 I, as a dense matrix."""
    line = 2 * np.eye(side) - np.eye(side, k=1) - np.eye(side, k=-1)
    return (np.kron(line, np.eye(side)) + np.kron(np.eye(side), line) + 0.5 * np.eye(side * side)).astype(dtype)


def convection(side):
    n = side * side
    return poisson(side) + 0.4 * np.eye(n, k=1) - 0.4 * np.eye(n, k=-1)


def scaled(dense, rng):
    """A symmetric matrix with different elements on the diagonal."""
    d = np.exp(rng.uniform(-2, 2, len(dense)))
    return d[:, None] * dense * d


class Operator:
    """The minimum that an operator needs."""

    def __init__(self, dense):
        self.shape, self.dtype, self.dense, self.calls = dense.shape, dense.dtype, dense, 0

    def matvec(self, x):
        self.calls += 1
        return self.dense @ x

    def diagonal(self):
        return self.dense.diagonal()


def assert_solved(dense, x, info, b, rtol=1e-5):
    assert info == 0
    assert isinstance(x, np.ndarray) and x.shape == (len(dense),)
    limit = rtol * np.linalg.norm(b)
    assert np.linalg.norm(b - dense.astype("f8") @ x) <= limit * (1 + 1e-6) + 1e-30


@pytest.mark.parametrize("name", DEFINITE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_definite(rng, name, dtype, index):
    dense = poisson(9, dtype)
    b = rng.normal(size=81).astype(dtype)
    x, info, report = getattr(solvers, name)(csr_of(dense, index), b, report=True)
    assert_solved(dense, x, info, b)
    assert x.dtype == np.dtype(dtype)
    assert report.converged and report.status == "converged" and report.info == 0 and report.iterations > 1
    true_residual = np.linalg.norm(b.astype("f8") - dense.astype("f8") @ x)
    assert report.residual == pytest.approx(true_residual, rel=1e-2 if dtype == "float32" else 1e-8)
    assert report.b_norm == pytest.approx(np.linalg.norm(b))
    assert report.applications >= report.iterations and report.seconds > 0
    assert len(report.history) == report.iterations + 1


@pytest.mark.parametrize("name", GENERAL + ["solve"])
def test_general(rng, name):
    dense = convection(8)
    b = rng.normal(size=64)
    x, info = getattr(solvers, name)(csr_of(dense), b, rtol=1e-10)
    assert_solved(dense, x, info, b, 1e-10)


@pytest.mark.parametrize("form", ["csr", "dense", "fortran", "operator", "function", "list"])
@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab", "gmres"])
def test_forms(rng, form, name):
    dense = poisson(6)
    b = rng.normal(size=36)
    a = {"csr": csr_of(dense), "dense": dense, "fortran": np.asfortranarray(dense), "operator": Operator(dense),
         "function": lambda x: dense @ x, "list": dense.tolist()}[form]
    x, info = getattr(solvers, name)(a, b, rtol=1e-9)
    assert_solved(dense, x, info, b, 1e-9)


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array", "coo_array", "dia_array", "operator"])
@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab", "gmres"])
def test_scipy(rng, form, name):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    scipy_solvers = pytest.importorskip("scipy.sparse.linalg")
    dense = poisson(7)
    b = rng.normal(size=49)
    a = scipy_solvers.aslinearoperator(dense) if form == "operator" else getattr(scipy_sparse, form)(dense)
    x, info = getattr(solvers, name)(a, b, rtol=1e-10)
    assert_solved(dense, x, info, b, 1e-10)
    solver = getattr(scipy_solvers, name)
    wanted, wanted_info = solver(a, b, **{"rtol" if "rtol" in inspect.signature(solver).parameters else "tol": 1e-12})
    assert wanted_info == 0
    np.testing.assert_allclose(x, wanted, atol=1e-8)


def test_signatures_of_scipy():
    """Every parameter of SciPy exists in the same place, except for output of minres() to the terminal."""
    scipy_solvers = pytest.importorskip("scipy.sparse.linalg")
    if "tol" in inspect.signature(scipy_solvers.cg).parameters:
        pytest.skip("this version of SciPy has parameters that later versions removed")
    for name in ("cg", "bicgstab", "gmres", "minres"):
        theirs = inspect.signature(getattr(scipy_solvers, name)).parameters
        mine = inspect.signature(getattr(solvers, name)).parameters
        assert list(mine)[:3] == list(theirs)[:3] == ["A", "b", "x0"]
        assert set(theirs) - set(mine) <= {"show", "check"}
        for parameter in set(theirs) & set(mine):
            assert mine[parameter].default == theirs[parameter].default, parameter


# ---- Preconditioners ----

@pytest.mark.parametrize("name", WITH_M)
@pytest.mark.parametrize("form", ["csr", "dense", "operator", "function"])
def test_preconditioners(rng, name, form):
    dense = scaled(poisson(6), rng)
    inverse = np.diag(1 / dense.diagonal())
    m = {"csr": csr_of(inverse), "dense": inverse, "operator": Operator(inverse),
         "function": lambda r: r / dense.diagonal()}[form]
    b = rng.normal(size=36)
    call = getattr(solvers, name)
    x, info, report = call(csr_of(dense), b, M=m, rtol=1e-9, report=True)
    assert_solved(dense, x, info, b, 1e-9)
    assert report.preconditioner == "function"
    _, _, plain = call(csr_of(dense), b, rtol=1e-9, report=True, maxiter=20000)
    _, _, named = call(csr_of(dense), b, M="jacobi", rtol=1e-9, report=True)
    assert report.iterations < plain.iterations
    assert abs(report.iterations - named.iterations) <= 1 + named.iterations // 20


@pytest.mark.parametrize("name", WITH_M)
@pytest.mark.parametrize("m", ["none", "jacobi", "block-jacobi", "ssor", "ilu0", "ic0"])
def test_named_preconditioners(rng, name, m):
    dense = poisson(8)
    b = rng.normal(size=64)
    x, info, report = getattr(solvers, name)(csr_of(dense), b, M=m, report=True)
    assert_solved(dense, x, info, b)
    assert report.preconditioner == m


def test_incomplete_factors_of_unordered_matrices(rng):
    """SciPy permits columns in any order and duplicates."""
    dense = poisson(8)
    a = csr_of(dense)
    b = rng.normal(size=64)
    order = np.concatenate([rng.permutation(np.arange(i, j)) for i, j in zip(a.indptr, a.indptr[1:])])
    twice = np.repeat(order, 2)
    messy = CSR(a.data[twice] / 2, a.indices[twice], 2 * a.indptr, a.shape)
    for m in ("jacobi", "ilu0", "ic0", "ssor", "block-jacobi"):
        wanted = solvers.cg(a, b, M=m, report=True)
        found = solvers.cg(messy, b, M=m, report=True)
        assert found[1] == 0 and found[2].iterations == wanted[2].iterations
        np.testing.assert_allclose(found[0], wanted[0], atol=1e-12)
    for name in ("gauss_seidel", "solve", "jacobi"):
        assert getattr(solvers, name)(messy, b)[1] == 0
    for index in ("u4", "i8", "u8"):
        typed = messy._replace(indices=messy.indices.astype(index), indptr=messy.indptr.astype(index))
        assert np.array_equal(solvers.cg(typed, b, M="ic0")[0], solvers.cg(messy, b, M="ic0")[0])


def test_solve_options(rng):
    dense = poisson(10)
    b = rng.normal(size=100)
    a = csr_of(dense)
    for method in ("auto", "richardson", "jacobi", "chebyshev", "cg", "minres", "bicgstab", "gmres", "gauss-seidel",
                   "sor"):
        x, info, report = solvers.solve(a, b, method=method, report=True)
        assert_solved(dense, x, info, b)
        assert report.method == ("cg" if method == "auto" else method)
    short, long = (solvers.solve(a, b, method="gmres", restart=k, rtol=1e-9, report=True)[2] for k in (2, 100))
    assert short.iterations > long.iterations
    small, large = (solvers.solve(a, b, method="cg", M="block-jacobi", block=k, report=True)[2] for k in (1, 20))
    assert large.iterations < small.iterations
    slow, fast = (solvers.solve(a, b, method="sor", omega=w, rtol=1e-8, report=True)[2] for w in (0.5, 1.4))
    assert fast.iterations < slow.iterations
    eigenvalues = np.linalg.eigvalsh(dense)
    given = solvers.chebyshev(a, b, bounds=(eigenvalues[0], eigenvalues[-1]), report=True)[2]
    assert given.bounds == (eigenvalues[0], eigenvalues[-1])
    found = solvers.chebyshev(a, b, report=True)[2]
    assert found.bounds[0] == pytest.approx(eigenvalues[0], rel=0.1)
    assert solvers.cg(a, b, report=True)[2].bounds is None


@pytest.mark.parametrize("form", ["csr", "dense", "operator"])
@pytest.mark.parametrize("m", [None, "jacobi"])
def test_minres_shift(rng, form, m):
    dense = poisson(6)
    b = rng.normal(size=36)
    a = {"csr": csr_of(dense), "dense": dense, "operator": Operator(dense)}[form]
    x, info = solvers.minres(a, b, shift=2.25, rtol=1e-9, maxiter=500, M=m)
    assert_solved(dense - 2.25 * np.eye(36), x, info, b, 1e-9)


# ---- Ends ----

def test_not_converged(rng):
    dense = poisson(20)
    b = rng.normal(size=400)
    for name in ("cg", "minres", "bicgstab", "gmres", "solve"):
        x, info, report = getattr(solvers, name)(csr_of(dense), b, rtol=1e-12, maxiter=5, report=True)
        assert info == report.iterations == 5 and report.status == "iterations" and not report.converged
        assert report.residual > 1e-12 * report.b_norm
        assert report.residual == pytest.approx(np.linalg.norm(b - dense @ x))
        assert len(report.history) == 6


def test_indefinite_and_singular(rng):
    indefinite = np.diag(np.array([1.0, -1.0, 2.0, -3.0]))
    b = np.ones(4)
    assert solvers.cg(indefinite, b)[1] == -5
    assert solvers.minres(indefinite, b)[1] == 0
    singular = np.diag(np.array([1.0, 0.0, 2.0, 3.0]))
    for name in ("minres", "bicgstab", "gmres"):
        x, info, report = getattr(solvers, name)(singular, b, report=True)
        assert info != 0 and not report.converged, name
    assert solvers.jacobi(singular, b)[1] == -8
    assert solvers.cg(csr_of(singular), b, M="ilu0", report=True)[2].failed_index == 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(value):
    a, b = np.eye(3), np.ones(3)
    for name in ("cg", "minres", "bicgstab", "gmres", "jacobi", "solve"):
        call = getattr(solvers, name)
        assert call(a, b * value)[1] == -6
        bad = a.copy()
        bad[1, 2] = value
        assert call(bad, b)[1] != 0
        assert call(a, b, x0=b * value)[1] == -6


def test_diverged():
    a = np.array([[1.0, 5.0], [5.0, 1.0]])
    assert solvers.jacobi(a, np.ones(2) * [1, -1])[1] < 0


def test_small_and_zero(rng):
    for name in DEFINITE:
        call = getattr(solvers, name)
        x, info = call(csr_of(np.array([[4.0]])), np.array([8.0]))
        assert info == 0 and x[0] == pytest.approx(2, rel=1e-4)
        x, info = call(csr_of(np.zeros((0, 0))), np.zeros(0))
        assert info == 0 and x.shape == (0,)
        x, info, report = call(csr_of(poisson(3)), np.zeros(9), x0=np.ones(9), report=True)
        assert info == 0 and not x.any() and report.iterations == 0


def test_initial_guess(rng):
    dense = poisson(10)
    exact = rng.normal(size=100)
    b = dense @ exact
    before = exact.copy()
    for name in DEFINITE:
        x, info, report = getattr(solvers, name)(csr_of(dense), b, x0=exact, report=True)
        assert info == 0 and report.iterations == 0 and np.array_equal(x, exact) and x is not exact
    assert np.array_equal(exact, before)
    x, info = solvers.cg(csr_of(dense), b[:, None], x0=exact[:, None].astype("f4"), rtol=1e-12)
    assert_solved(dense, x, info, b, 1e-12)


def test_tolerances(rng):
    dense = poisson(8)
    b = rng.normal(size=64)
    x, info = solvers.cg(dense, b, rtol=0, atol=1e-3)
    assert info == 0 and 1e-8 < np.linalg.norm(b - dense @ x) <= 1e-3
    assert solvers.cg(np.eye(4), np.ones(4), rtol=0)[1] == 0
    assert solvers.cg(dense, b, rtol=0, maxiter=1000)[1] != 0


def test_dtypes(rng):
    dense = poisson(5)
    b = np.arange(25)
    assert solvers.cg(dense.astype("f4"), b.astype("f4"))[0].dtype == np.float32
    assert solvers.cg(dense.astype("f4"), b)[0].dtype == np.float64
    assert solvers.cg(csr_of(dense.astype("f4")), b.astype("f8"))[0].dtype == np.float64
    assert solvers.cg((2 * dense).astype("i8"), b)[0].dtype == np.float64
    assert solvers.cg(Operator(dense.astype("f4")), b.astype("f4"))[0].dtype == np.float32
    assert solvers.cg(lambda x: dense @ x, b.astype("f4"))[1] == 0
    assert solvers.cg(dense, b.tolist())[1] == 0
    assert solvers.cg(dense, np.repeat(b, 2)[::2])[1] == 0


# ---- Callbacks ----

@pytest.mark.parametrize("name", ["cg", "bicgstab", "minres", "chebyshev", "richardson", "jacobi", "gauss_seidel"])
@pytest.mark.parametrize("m", [None, "operator"])
def test_callback(rng, name, m):
    dense = poisson(6)
    b = rng.normal(size=36)
    seen = []
    options = {"M": Operator(np.eye(36) / 4)} if m and name in WITH_M else {}
    x, info, report = getattr(solvers, name)(csr_of(dense), b, callback=lambda xk: seen.append(xk.copy()),
                                             report=True, **options)
    assert info == 0 and len(seen) == report.iterations
    assert np.array_equal(seen[-1], x)
    residuals = [np.linalg.norm(b - dense @ xk) for xk in seen]
    np.testing.assert_allclose(residuals, report.history[1:], rtol=1e-6, atol=1e-12)


def test_callback_like_scipy(rng):
    scipy_solvers = pytest.importorskip("scipy.sparse.linalg")
    dense = poisson(6)
    b = rng.normal(size=36)
    for name in ("cg", "bicgstab"):
        mine, theirs = [], []
        getattr(solvers, name)(dense, b, callback=lambda x: mine.append(x.copy()), maxiter=5)
        getattr(scipy_solvers, name)(dense, b, callback=lambda x: theirs.append(x.copy()), maxiter=5)
        assert len(mine) == len(theirs) == 5
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    mine, theirs = [], []
    solvers.gmres(dense, b, callback=mine.append, callback_type="pr_norm", restart=10)
    scipy_solvers.gmres(dense, b, callback=theirs.append, callback_type="pr_norm", restart=10)
    np.testing.assert_allclose(mine[:10], theirs[:10], rtol=1e-6)


def test_gmres_callbacks(rng):
    dense = convection(10)
    b = rng.normal(size=100)
    x0 = rng.normal(size=100)
    norms, iterates = [], []
    x, info, report = solvers.gmres(dense, b, x0, callback=norms.append, report=True, rtol=1e-8, restart=5)
    assert info == 0 and len(norms) == report.iterations
    np.testing.assert_allclose(np.array(norms) * np.linalg.norm(b), report.history[1:])
    x, info, report = solvers.gmres(dense, b, x0, callback=lambda xk: iterates.append(xk.copy()), callback_type="x",
                                    report=True, rtol=1e-8, restart=5)
    assert_solved(dense, x, info, b, 1e-8)
    assert len(iterates) == -(-report.iterations // 5) and np.array_equal(iterates[-1], x)
    assert len(report.history) == report.iterations + 1
    for kind, limit in ((None, 3), ("legacy", 3), ("pr_norm", 15), ("x", 15)):
        _, info, report = solvers.gmres(dense, b, restart=5, maxiter=3, callback=lambda _: None, callback_type=kind,
                                        rtol=1e-14, report=True)
        assert info == report.iterations == limit


class Stop(Exception):
    pass


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, StopIteration, SystemExit])
def test_exceptions_of_callbacks(rng, error):
    dense = poisson(5)
    b = rng.normal(size=25)
    calls = []

    def fail(x):
        calls.append(1)
        if len(calls) == 3:
            raise error("third call")
        return x

    for call in (lambda: solvers.cg(dense, b, callback=fail), lambda: solvers.gmres(fail, b),
                 lambda: solvers.cg(dense, b, M=fail), lambda: solvers.gmres(dense, b, callback=fail)):
        calls.clear()
        with pytest.raises(error, match="third call"):
            call()
        assert len(calls) == 3
    assert solvers.cg(dense, b)[1] == 0


def test_calls_in_callbacks(rng):
    """A function may call the library, also the solvers, but not close the contexts."""
    dense = poisson(5)
    b = rng.normal(size=25)

    def product(x):
        echelon.sort(x)
        inner, info = solvers.cg(lambda v: echelon.linalg.matmul(dense, v), b, callback=echelon.sort)
        assert info == 0
        with pytest.raises(echelon.Error, match="close_contexts"):
            echelon.close_contexts()
        return echelon.linalg.matmul(dense, x)

    seen = []
    x, info = solvers.cg(product, b, M=lambda r: echelon.sparse.matvec(csr_of(np.eye(25)), r),
                         callback=lambda xk: seen.append(echelon.sort(xk)))
    assert_solved(dense, x, info, b)
    assert seen


def test_vectors_outlive_the_call(rng):
    dense = poisson(5)
    b = rng.normal(size=25)
    kept = []

    def product(x):
        kept.append(x)
        return dense @ x

    solvers.cg(product, b, callback=kept.append, M=lambda r: kept.append(r) or r)
    gc.collect()
    np.random.default_rng(0).random(100000)
    assert np.isfinite(np.sum(kept))


def test_results_of_functions(rng):
    dense = poisson(4)
    b = rng.normal(size=16)
    for convert in (lambda y: y[:, None], lambda y: y.tolist(), lambda y: y.astype("f4"),
                    lambda y: np.repeat(y, 2)[::2]):
        assert solvers.cg(lambda x: convert(dense @ x), b, rtol=1e-3)[1] == 0
    for bad, error, text in ((lambda x: x[:3], ValueError, r"the result of A has shape \(3,\)"),
                             (lambda x: x * 1j, TypeError, "the result of A has dtype complex"),
                             (lambda x: None, TypeError, "the result of A is NoneType"),
                             (lambda x: np.zeros((2, 2, 4)), ValueError, "the result of A has shape")):
        with pytest.raises(error, match=text):
            solvers.cg(bad, b)
    with pytest.raises(ValueError, match="the result of M has shape"):
        solvers.cg(dense, b, M=lambda r: r[1:])


def test_threads(rng):
    dense = poisson(8)
    b = rng.normal(size=64)
    wanted = solvers.cg(csr_of(dense), b)[0]
    results = []
    threads = [threading.Thread(target=lambda: results.append(solvers.cg(lambda x: dense @ x, b)[0]))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(np.allclose(x, wanted, atol=1e-6) for x in results)


def test_explain_and_profile(rng):
    dense = poisson(4)
    b = rng.normal(size=16)
    for a in (csr_of(dense), dense, lambda x: dense @ x):
        calls = echelon.explain(solvers.cg, a, b, M=lambda r: r / 4)
        plans = [call.plan for call in calls if call.function == "ech_solve"]
        assert len(plans) == 1 and plans[0]["algorithm"]["name"] == "cg"
        assert plans[0]["precond"] == "a function of the caller"
    with echelon.profile() as profile:
        solvers.cg(lambda x: echelon.linalg.matmul(dense, x), b)
    assert {"ech_solve", "ech_matvec"} <= {call.function for call in profile.calls}


# ---- Errors ----

A, B = poisson(3), np.ones(9)


@pytest.mark.parametrize("call, error, text", [
    (lambda: solvers.cg(A[:4], B), ValueError, r"A has shape \(4, 9\)"),
    (lambda: solvers.cg(A[0], B), ValueError, "A has 1 dimensions"),
    (lambda: solvers.cg(csr_of(A), np.ones(8)), ValueError, r"b has shape \(8,\)"),
    (lambda: solvers.cg(A, np.ones((9, 2))), ValueError, "b has shape"),
    (lambda: solvers.cg(A, 1.0), ValueError, "b has shape"),
    (lambda: solvers.cg(A, B, x0=np.ones(3)), ValueError, "x0 has shape"),
    (lambda: solvers.cg(A * 1j, B), TypeError, "A has dtype complex"),
    (lambda: solvers.cg(A, B * 1j), TypeError, "b has dtype complex"),
    (lambda: solvers.cg(Operator(A * 1j), B), TypeError, "A has dtype complex"),
    (lambda: solvers.cg(A, B.astype("M8[s]")), TypeError, "b has dtype"),
    (lambda: solvers.cg("text", B), TypeError, "A has dtype"),
    (lambda: solvers.cg(object(), B), TypeError, "A is object"),
    (lambda: solvers.cg(A, B, rtol=-1), ValueError, "rtol is -1"),
    (lambda: solvers.cg(A, B, atol=np.nan), ValueError, "atol is nan"),
    (lambda: solvers.cg(A, B, rtol="x"), TypeError, "rtol is 'x'"),
    (lambda: solvers.cg(A, B, maxiter=0), ValueError, "maxiter is 0"),
    (lambda: solvers.cg(A, B, maxiter=1.5), TypeError, "maxiter is 1.5"),
    (lambda: solvers.cg(A, B, M="amg"), ValueError, "M is 'amg'"),
    (lambda: solvers.cg(A, B, M=np.eye(3)), ValueError, "M has shape"),
    (lambda: solvers.cg(A, B, M=Operator(A * 1j)), TypeError, "M has dtype"),
    (lambda: solvers.cg(A, B, M="ic0"), ValueError, "M is 'ic0', which needs a sparse"),
    (lambda: solvers.cg(lambda x: x, B, M="jacobi"), ValueError, "diagonal"),
    (lambda: solvers.cg(lambda x: x, B, M="block-jacobi"), ValueError, "M is 'block-jacobi'"),
    (lambda: solvers.cg(A, B, callback=3), TypeError, "callback is 3"),
    (lambda: solvers.gmres(A, B, restart=1001), ValueError, "restart is 1001"),
    (lambda: solvers.gmres(A, B, callback_type="y"), ValueError, "callback_type is 'y'"),
    (lambda: solvers.gmres(A, B, callback=3), TypeError, "callback is 3"),
    (lambda: solvers.minres(A, B, shift="x"), TypeError, "shift is 'x'"),
    (lambda: solvers.minres(A, B, shift=np.inf), ValueError, "shift is inf"),
    (lambda: solvers.minres(csr_of(A), B, shift=1, M="ic0"), ValueError, "M is 'ic0'"),
    (lambda: solvers.gauss_seidel(A, B), ValueError, "A must be a sparse matrix"),
    (lambda: solvers.sor(csr_of(A), B, omega=2), ValueError, "omega is 2"),
    (lambda: solvers.jacobi(A, B, omega=0), ValueError, "omega is 0"),
    (lambda: solvers.chebyshev(A, B, bounds=(2, 1)), ValueError, "bounds is"),
    (lambda: solvers.chebyshev(A, B, bounds=3), ValueError, "bounds is 3"),
    (lambda: solvers.solve(A, B, method="magic"), ValueError, "method is 'magic'"),
    (lambda: solvers.solve(A, B, M="jacobi"), ValueError, "M is given"),
    (lambda: solvers.solve(A, B, method="cg", block=33), ValueError, "block is 33"),
    (lambda: solvers.cg(A, B, stream=1), ValueError, "stream is given"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call()
    assert isinstance(raised.value, echelon.Error)


# ---- Other libraries, and real matrices ----

def devices():
    return ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", devices())
@pytest.mark.filterwarnings("ignore:Sparse")
def test_torch(rng, device):
    torch = pytest.importorskip("torch")
    dense = torch.tensor(poisson(8), device=device)
    b = torch.tensor(rng.normal(size=64), device=device)

    def product(x):
        assert isinstance(x, torch.Tensor) and x.device == b.device
        return dense @ x

    limit = 1e-8 * float(b.norm()) * 1.000001
    for a in (dense.to_sparse_csr(), dense.to_sparse_coo(), dense, product):
        for m in (None, torch.eye(64, device=device, dtype=torch.float64) / 4, lambda r: r / 4,
                  (torch.eye(64, device=device, dtype=torch.float64) / 4).to_sparse_csr()):
            seen = []
            x, info, report = solvers.cg(a, b, M=m, rtol=1e-8, report=True,
                                         callback=lambda xk: seen.append(float((b - dense @ xk).norm())))
            assert info == 0 and x.device == b.device and float((b - dense @ x).norm()) <= limit
            np.testing.assert_allclose(seen, report.history[1:], rtol=1e-5, atol=1e-12)
    for name in DEFINITE:
        x, info = getattr(solvers, name)(dense.to_sparse_csr(), b, rtol=1e-8)
        assert info == 0 and float((b - dense @ x).norm()) <= limit
    for m in ("jacobi", "ilu0", "ic0", "ssor", "block-jacobi"):
        assert solvers.bicgstab(dense.to_sparse_csr(), b, M=m)[1] == 0
    with pytest.raises(Stop):
        solvers.cg(dense, b, callback=lambda x: (_ for _ in ()).throw(Stop()))
    if device == "cuda":
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        x, info = solvers.cg(dense.to_sparse_csr(), b, rtol=1e-8, stream=stream)
        stream.synchronize()
        assert info == 0 and float((b - dense @ x).norm()) <= limit
        with pytest.raises(echelon.ArgumentError, match="device"):
            solvers.cg(csr_of(poisson(8)), b)
        with pytest.raises(echelon.ArgumentError, match="the result of A is on device cpu"):
            solvers.cg(lambda x: x.cpu(), b)


@pytest.mark.gpu
def test_cupy(rng):
    cupy = pytest.importorskip("cupy")
    import cupyx.scipy.sparse
    import cupyx.scipy.sparse.linalg
    dense = cupy.asarray(poisson(8))
    b = cupy.asarray(rng.normal(size=64))
    matrix = cupyx.scipy.sparse.csr_matrix(dense)
    for a in (matrix, dense, cupyx.scipy.sparse.linalg.aslinearoperator(matrix), lambda x: dense @ x):
        x, info = solvers.cg(a, b, M=lambda r: r / 4, rtol=1e-8)
        assert info == 0 and float(cupy.linalg.norm(b - dense @ x)) <= 1.0001e-8 * float(cupy.linalg.norm(b))
    starts = cupy.asnumpy(matrix.indptr)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(starts, starts[1:])])  # columns in descending order
    messy = cupyx.scipy.sparse.csr_matrix((matrix.data[order], matrix.indices[order], matrix.indptr), shape=(64, 64))
    assert solvers.cg(messy, b, M="ic0")[1] == 0


@pytest.mark.parametrize("name, m", [("bcsstk16", "ic0"), ("jagmesh7", None), ("olm500", "ilu0")])
def test_real_matrices(rng, name, m):
    scipy_io = pytest.importorskip("scipy.io")
    path = DATA / f"{name}.mtx"
    if not path.exists():
        pytest.skip(f"{name}.mtx is not in {DATA.name}; ECHELON_DATA names the folder")
    matrix = scipy_io.mmread(path).tocsr().astype(float)
    b = matrix @ np.ones(matrix.shape[0])
    solver = solvers.cg if m == "ic0" else solvers.gmres if m else solvers.minres
    x, info, report = solver(matrix, b, M=m, rtol=1e-7, maxiter=20000, report=True)
    assert info == 0, report
    assert np.linalg.norm(b - matrix @ x) <= 1.0001e-7 * np.linalg.norm(b)


@pytest.mark.parametrize("options", [{"method": np.zeros(0)}, {"report": np.zeros(2)}, {"method": ["cg"]}])
def test_arrays_as_options(options):
    with pytest.raises((echelon.ArgumentError, echelon.DTypeError), match=next(iter(options))):
        solvers.solve(np.eye(2), np.ones(2), **options)
    with pytest.raises(echelon.ArgumentError, match="callback_type"):
        solvers.gmres(np.eye(2), np.ones(2), callback_type=np.zeros(2))
