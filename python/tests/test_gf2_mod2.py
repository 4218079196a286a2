"""echelon.gf2.mod2, compared with ldpc.mod2 and with the properties that define the results.

SPDX-License-Identifier: Apache-2.0
"""
import inspect

import numpy as np
import pytest
from conftest import same
from echelon import gf2
from test_gf2 import KINDS, bits

sparse = pytest.importorskip("scipy.sparse")
ldpc = pytest.importorskip("ldpc.mod2")
mod2 = pytest.importorskip("echelon.gf2.mod2")
SHAPES = [(1, 1), (3, 5), (5, 3), (17, 31), (31, 17), (65, 129), (64, 64)]
CASES = [(shape, kind) for shape in SHAPES for kind in KINDS if kind != "zero"]


def same_space(a, b):
    """Asserts that the rows of two matrices span the same space, and are independent."""
    a, b = (x.toarray() for x in (a, b))
    assert a.shape == b.shape and a.dtype == b.dtype
    same(gf2.rref(a), gf2.rref(b))


@pytest.fixture(params=CASES, ids=str)
def pcm(request, rng):
    return bits(rng, *request.param)


def test_names():
    public = {name for name in dir(ldpc) if not name.startswith("_") and callable(getattr(ldpc, name))
              and getattr(getattr(ldpc, name), "__module__", "").startswith("ldpc")}
    missing = public - set(mod2.__all__)
    assert missing == {"estimate_code_distance", "io_test", "csc_to_scipy_sparse"}
    for name in set(mod2.__all__) - {"PluDecomposition"}:
        theirs = list(inspect.signature(getattr(ldpc, name)).parameters)
        assert list(inspect.signature(getattr(mod2, name)).parameters) == theirs, name


def test_ranks_and_spaces(pcm):
    for x in (pcm, sparse.csr_matrix(pcm)):
        assert mod2.rank(x) == mod2.rank(x, method="sparse") == ldpc.rank(x)
        same(mod2.pivot_rows(x), ldpc.pivot_rows(x).astype("int64"))
        same_space(mod2.nullspace(x), ldpc.nullspace(x))
        same_space(mod2.kernel(x), ldpc.kernel(x))
        same(mod2.row_basis(x).toarray(), ldpc.row_basis(x).toarray())
        complement = mod2.row_complement_basis(x).toarray()
        assert complement.shape == ldpc.row_complement_basis(x).shape and (complement.sum(1) == 1).all()
        assert mod2.rank(np.vstack([pcm, complement])) == pcm.shape[1]


def test_row_echelon(pcm):
    for full in (False, True):
        for x in (pcm, pcm.astype("int64"), sparse.csr_matrix(pcm)):
            ours, theirs = mod2.row_echelon(x, full), ldpc.row_echelon(x, full)
            assert type(ours) is type(theirs) and ours[1] == theirs[1] and ours[3] == theirs[3]
            same(ours[0], theirs[0])
            same(ours[2], theirs[2])


def test_reduced_row_echelon(pcm):
    form, rank, rows, cols = mod2.reduced_row_echelon(pcm)
    theirs = ldpc.reduced_row_echelon(pcm)
    assert rank == theirs[1] and rows.dtype == theirs[2].dtype and cols.dtype == theirs[3].dtype
    same(form, rows @ pcm % 2 @ cols)
    same(form[:rank, :rank], np.eye(rank, dtype="int64"))
    assert not form[rank:].any() and form.dtype == theirs[0].dtype
    same(form, theirs[0])
    same(cols, theirs[3])


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (9, 4), (65, 65), (80, 33)])
def test_inverse(rng, shape):
    m, n = shape
    lower = np.tril(bits(rng, (m, n), dtype="int64"), -1) + np.eye(m, n, dtype="int64")
    a = lower @ (np.triu(bits(rng, (n, n), dtype="int64"), 1) + np.eye(n, dtype="int64")) % 2
    same(mod2.inverse(a), ldpc.inverse(a))
    same(mod2.inverse(a) @ a % 2, np.eye(n, dtype="int64"))
    a[:, 0] = 0
    for f in (mod2.inverse, ldpc.inverse):
        with pytest.raises(ValueError):
            f(a)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_plu(rng, pcm, full, lower):
    ours, theirs = mod2.PluDecomposition(pcm, full, lower), ldpc.PluDecomposition(pcm, full, lower)
    L, U, P = (x.toarray().astype("int64") for x in (ours.L, ours.U, ours.P))
    m, n = pcm.shape
    assert ours.rank == theirs.rank and L.shape == (m, m) and U.shape == (m, n) and P.shape == (m, m)
    same(ours.pivots, gf2.pivots(pcm))
    assert (P.sum(0) == 1).all() and (P.sum(1) == 1).all()
    same((P @ L @ U if lower else U) % 2, (pcm if lower else L @ pcm % 2).astype("int64"))
    if lower and not full:
        same(np.triu(L), np.eye(m, dtype="int64"))
    same(U, gf2.echelon(pcm.astype("int64"), reduced=full).form)
    y = (pcm @ rng.integers(0, 2, n) % 2).astype("uint8")
    x = ours.lu_solve(y)
    assert (pcm @ x % 2 == y).all() and x.dtype == np.uint8
    if not full:
        same(x, ldpc.PluDecomposition(pcm).lu_solve(y))


def test_span_and_distance(rng):
    for shape in ((1, 4), (4, 9), (7, 5)):
        pcm = bits(rng, shape)
        same(mod2.row_span(pcm).toarray(), ldpc.row_span(pcm).toarray())
    for pcm in (np.eye(3, dtype="uint8"), bits(rng, (5, 12)), np.eye(9, 10, dtype="uint8") ^ np.eye(9, 10, 1, "uint8")):
        assert mod2.compute_exact_code_distance(pcm) == ldpc.compute_exact_code_distance(pcm)
    assert mod2.row_span(np.zeros((0, 3), "uint8")).toarray().tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("call, text", [
    (lambda: mod2.rank(np.array([[2]])), "pcm contains values other than 0 and 1"),
    (lambda: mod2.rank([1, 0]), "pcm has 1 dimensions"),
    (lambda: mod2.rank([[1]], method="fast"), "method is 'fast'"),
    (lambda: mod2.row_span(np.ones((40, 2), int)), "pcm has rows: 40"),
    (lambda: mod2.compute_exact_code_distance(np.zeros((1, 40), int)), "dimension 40"),
    (lambda: mod2.inverse([[1, 1], [1, 1]]), "matrix has rank 1"),
    (lambda: mod2.PluDecomposition([[1, 1]]).lu_solve([1, 0]), "y has shape"),
    (lambda: mod2.PluDecomposition([[1], [1]]).lu_solve([1, 0]), "no solution"),
])
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
