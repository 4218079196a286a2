"""The direct solvers of echelon.sparse.linalg, compared with SciPy and with the residual of the system.

A library that is not installed is skipped, with its name; "dense" is always available.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import os
import pickle
import threading
from pathlib import Path

import echelon
import numpy as np
import pytest
from echelon.sparse import CSR
from echelon.sparse import linalg as solvers

ALGORITHMS = ["dense", "klu", "mumps", "superlu"]
DATA = Path(os.environ.get("ECHELON_DATA", Path(__file__).parents[3] / "shared" / "data"))


def csr_of(dense, index="int32"):
    rows, cols = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(index)
    return CSR(dense[rows, cols], cols.astype(index), indptr, dense.shape)


def plant(n, seed=0):
    """A synthetic matrix of the kind of chemical plants: most diagonal elements are 0, rows of very different size."""
    rng = np.random.default_rng(seed)
    a = np.zeros((n, n))
    for i in range(n):
        scale = 10 ** rng.uniform(-4, 4)
        a[i, (i + 7) % n] = scale * rng.uniform(2, 3)
        for j in rng.integers(0, n, 2):
            a[i, j] += scale * rng.uniform(-0.5, 0.5) * (j != i)
    return a


@pytest.fixture(params=ALGORITHMS)
def algorithm(request):
    try:
        solvers.splu(csr_of(np.eye(2)), algorithm=request.param)
    except echelon.UnsupportedError as error:
        pytest.skip(str(error))
    return request.param


def close(a, x, b, dtype="float64"):
    """Whether the backward error of x is at most some units of rounding."""
    a, x, b = (np.asarray(m, "longdouble") for m in (a, x, b))
    error = abs(b - a @ x).max() / (abs(a).sum(1).max() * abs(x).max() + abs(b).max())
    assert error <= 2 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_spsolve(algorithm, dtype, index):
    a = plant(80).astype(dtype)
    b = np.random.default_rng(1).standard_normal((80, 3)).astype(dtype)
    matrix = csr_of(a, index)
    for sides in (b, b[:, 0], np.asfortranarray(b), b[:, ::-1], b[:, :0]):
        x = solvers.spsolve(matrix, sides, algorithm=algorithm)
        assert x.dtype == dtype and x.shape == sides.shape
        if x.size:
            close(a, x, sides, dtype)
    x, report = solvers.spsolve(matrix, b, algorithm=algorithm, transpose=True, condition=True, info=True)
    close(a.T, x, b, dtype)
    assert report.status == "solved" and report.algorithm == algorithm and report.failed_index is None
    assert 0 < report.rcond < 1 and report.backward_error < 2 * np.finfo(dtype).eps and report.factor_nnz > 0


def test_splu(algorithm):
    a = plant(60, 2)
    b = np.random.default_rng(3).standard_normal((60, 2))
    lu = solvers.splu(csr_of(a), algorithm=algorithm, condition=True)
    assert lu.shape == (60, 60) and lu.algorithm == algorithm and lu.nnz > 0 and lu.report.rcond > 0
    assert repr(lu) == f"<SparseLU of shape (60, 60) by {algorithm}>"
    for trans, matrix in (("N", a), ("T", a.T), ("H", a.T)):
        close(matrix, lu.solve(b, trans), b)
        close(matrix, lu.solve(b[:, 0], trans), b[:, 0])
    x, report = lu.solve(b, refine=0, info=True)
    assert report.refinements == 0 and report.backward_error < 1e-9
    close(a, solvers.factorized(csr_of(a), algorithm=algorithm)(b), b)


def test_threads(algorithm):
    """Several threads use the same factors; a thread that ends does not close their context."""
    a = plant(50, 4)
    results, made = {}, []

    def make():
        made.append(solvers.splu(csr_of(a), algorithm=algorithm))

    def use(i):
        results[i] = made[0].solve(np.full(50, 1.0 + i))

    for work in ([threading.Thread(target=make)], [threading.Thread(target=use, args=(i,)) for i in range(4)]):
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
    for i in range(4):
        close(a, results[i], np.full(50, 1.0 + i))
    gc.collect()
    before = echelon._runtime.context.open_count()
    made.clear()
    gc.collect()
    assert echelon._runtime.context.open_count() == before - 1


def test_default_is_as_accurate_as_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    scipy_linalg = pytest.importorskip("scipy.sparse.linalg")
    for maker in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        a, b = plant(200, 5), np.ones(200)
        x = solvers.spsolve(maker(a), b)
        close(a, x, b)
        other = scipy_linalg.spsolve(sparse.csc_matrix(a), b)
        assert np.allclose(x, other, rtol=1e-6, atol=1e-9 * abs(other).max())


def test_duplicates_and_order():
    matrix = CSR(np.array([1.0, 2.0, 3.0, 5.0]), np.array([1, 0, 0, 1]), np.array([0, 3, 4]), (2, 2))
    assert np.array_equal(solvers.spsolve(matrix, np.array([12.0, 10.0])), [2.0, 2.0])


def test_empty():
    assert solvers.spsolve(csr_of(np.zeros((0, 0))), np.zeros(0)).shape == (0,)
    assert solvers.splu(csr_of(np.zeros((0, 0)))).solve(np.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("element, text", [(np.nan, "row 3"), (np.inf, "row 3")])
def test_not_finite(element, text):
    a = np.eye(5)
    a[3, 3] = element
    with pytest.raises(np.linalg.LinAlgError, match=text) as caught:
        solvers.spsolve(csr_of(a), np.ones(5))
    assert caught.value.report.status == "not finite" and caught.value.report.failed_index == 3
    b = np.ones((5, 2))
    b[2, 1] = element
    with pytest.raises(np.linalg.LinAlgError, match="column 1"):
        solvers.splu(csr_of(np.eye(5))).solve(b)


def test_singular(algorithm):
    a = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="A is singular: column [01] has no pivot") as caught:
        solvers.spsolve(csr_of(a), np.ones(3), algorithm=algorithm)
    assert caught.value.report.failed_index in (0, 1)
    with pytest.raises(np.linalg.LinAlgError, match="A is singular"):
        solvers.splu(csr_of(a), algorithm=algorithm)
    x, report = solvers.spsolve(csr_of(a), np.ones(3), algorithm=algorithm, info=True)
    assert np.isnan(x).all() and report.status == "singular"


def test_condition_warning():
    with pytest.warns(echelon.linalg.ConditionWarning, match="rcond"):
        solvers.spsolve(csr_of(np.diag([1.0, 1e-20])), np.ones(2), condition=True)


WRONG = [
    (lambda: solvers.spsolve(csr_of(np.ones((2, 2)))._replace(shape=(2, 3)), np.ones(2)), "must be square"),
    (lambda: solvers.spsolve(csr_of(np.eye(2)), np.ones(3)), r"b has shape \(3,\)"),
    (lambda: solvers.spsolve(csr_of(np.eye(2)), np.ones((1, 2, 2))), "b has shape"),
    (lambda: solvers.spsolve(csr_of(np.eye(2)), np.ones(2), algorithm="umfpack"), "algorithm is 'umfpack'"),
    (lambda: solvers.spsolve(csr_of(np.eye(2)), np.ones(2), refine=1001), "refine"),
    (lambda: solvers.splu(csr_of(np.eye(2))).solve(np.ones(2), "X"), "trans is 'X'"),
    (lambda: solvers.splu(csr_of(np.eye(2))).solve(np.ones(3)), "b has shape"),
    (lambda: solvers.spsolve(CSR(np.ones(2), np.array([0, 9]), np.array([0, 1, 2]), (2, 2)), np.ones(2)), "row 1 of a"),
    (lambda: solvers.spsolve(csr_of(np.eye(5000)), np.ones(5000), algorithm="dense"), "4096"),
]


@pytest.mark.parametrize("call, text", WRONG, ids=range(len(WRONG)))
def test_arguments(call, text):
    with pytest.raises((echelon.ArgumentError, echelon.UnsupportedError), match=text):
        call()


def test_types():
    for wrong in (np.eye(2), 3):
        with pytest.raises(TypeError, match="sparse matrix"):
            solvers.spsolve(wrong, np.ones(2))
    with pytest.raises(TypeError, match="float32"):
        solvers.splu(csr_of(np.eye(2, dtype="float32"))).solve(np.ones(2))
    with pytest.raises(TypeError):
        solvers.spsolve(csr_of(np.eye(2)), np.ones(2) * 1j)
    with pytest.raises(TypeError):
        pickle.dumps(solvers.splu(csr_of(np.eye(2))))


def test_ilut():
    a = plant(300, 6)
    a = np.roll(a, -7, axis=1)  # the large elements are on the diagonal
    b = a @ np.ones(300)
    counts = {}
    for drop, fill in ((None, None), (0.3, 1)):
        x, info, report = solvers.solve(csr_of(a), b, method="gmres", M="ilut", drop_tolerance=drop, fill=fill,
                                        rtol=1e-10, report=True)
        assert info == 0 and report.preconditioner == "ilut"
        counts[drop] = report.iterations
    assert counts[None] < counts[0.3]
    with pytest.raises(echelon.ArgumentError, match="drop_tolerance is -1"):
        solvers.solve(csr_of(a), b, method="gmres", M="ilut", drop_tolerance=-1)
    with pytest.raises(echelon.ArgumentError, match="fill"):
        solvers.solve(csr_of(a), b, method="gmres", M="ilut", fill=0)


def test_chemical_plant():
    """A matrix on which iterations fail, from a chemical plant model."""
    scipy_io = pytest.importorskip("scipy.io")
    path = DATA / "west0479.mtx"
    if not path.exists():
        pytest.skip(f"{path.name} is not in ECHELON_DATA")
    a = scipy_io.mmread(path).tocsr()
    b = a @ np.ones(a.shape[0])
    x, report = solvers.spsolve(a, b, info=True, condition=True)
    assert report.backward_error < 1e-16 and abs(x - 1).max() < 1e-6 and report.rcond < 1e-7
