"""echelon.gf2, compared with an elimination in Python integers.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import pickle

import echelon
import numpy as np
import pytest
from conftest import same
from echelon import gf2

SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (3, 63), (63, 64), (64, 65), (65, 64), (7, 130), (130, 7)]
LARGE = [(200, 300), (300, 200)]
KINDS = ["full", "low rank", "zero"]


def bits(rng, shape, kind="full", dtype="uint8"):
    """Random bits; those of low rank have many equal and zero rows and columns."""
    m, n = shape
    x = rng.integers(0, 2, shape)
    if kind == "low rank":
        k = max(1, min(m, n) // 2)
        x = rng.integers(0, 2, (m, k)) @ rng.integers(0, 2, (k, n)) % 2
        x[:, ::3] = 0
    return (x * (kind != "zero")).astype(dtype)


def eliminate(a, order=None, limit=None, reduced=True):
    """(form, pivots, transform, rows_from) of the procedure that the documentation describes, one row at a time."""
    form, m = a.astype(int) % 2, a.shape[0]
    transform, rows, pivots = np.eye(m, dtype=int), np.arange(m), []
    for column in range(a.shape[1]) if order is None else order:
        at = len(pivots)
        below = np.flatnonzero(form[at:, column])
        if not below.size or limit is not None and at >= limit:
            continue
        for x in (form, transform, rows):
            x[[at, at + below[0]]] = x[[at + below[0], at]]
        for i in np.flatnonzero(form[:, column]):
            if i > at or reduced and i < at:
                form[i] ^= form[at]
                transform[i] ^= transform[at]
        pivots.append(column)
    return form, pivots, transform, rows


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=SHAPES + LARGE, ids=str)
def shape(request):
    return request.param


def test_echelon(rng, shape, kind):
    a = bits(rng, shape, kind, "int64")
    for reduced in (False, True):
        form, pivots, transform, rows = eliminate(a, reduced=reduced)
        result = gf2.echelon(a, reduced=reduced, transform=True, rows_from=True)
        same(result.form, form)
        assert result.rank == len(pivots) == gf2.rank(a)
        same(result.pivots, np.array(pivots, "int64"))
        same(result.transform, transform)
        same(result.rows_from, rows)
    same(gf2.rref(a), form)
    same(gf2.pivots(a), np.array(pivots, "int64"))


@pytest.mark.parametrize("index", ["int32", "uint32", "int64", "uint64"])
def test_column_order(rng, kind, index):
    a = bits(rng, (40, 70), kind, "int64")
    for count in (0, 1, 30, 70):
        order = rng.permutation(70)[:count].astype(index)
        form, pivots, transform, rows = eliminate(a, order)
        result = gf2.echelon(a, reduced=True, column_order=order, transform=True, rows_from=True)
        same(result.form, form)
        same(result.pivots, np.array(pivots, "int64"))
        same(result.transform, transform)
        same(result.rows_from, rows)
        assert gf2.rank(a, column_order=order) == len(pivots)
    for limit in (0, 1, 5, 100):
        form, pivots, _, _ = eliminate(a, limit=limit)
        result = gf2.echelon(a, reduced=True, max_rank=limit)
        same(result.form, form)
        assert result.rank == len(pivots)


def test_nullspaces(rng, shape, kind):
    a = bits(rng, shape, kind, "int64")
    m, n = shape
    _, pivots, _, _ = eliminate(a)
    for x, basis, length in ((a, gf2.nullspace(a), n), (a.T, gf2.left_nullspace(a), m)):
        assert basis.shape == (length - len(pivots), length) and basis.dtype == a.dtype
        assert not (x @ basis.T % 2).any()
        free = np.setdiff1d(np.arange(length), eliminate(x)[1])
        same(basis[:, free], np.eye(len(free), dtype="int64"))


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 150])
def test_inverse(rng, n):
    lower, upper = np.tril(bits(rng, (n, n), dtype=int), -1), np.triu(bits(rng, (n, n), dtype=int), 1)
    a = (lower + np.eye(n, dtype=int)) @ (upper + np.eye(n, dtype=int)) % 2
    same(gf2.inverse(a) @ a % 2, np.eye(n, dtype=int))
    if n > 1:
        a[0] = a[1]
        with pytest.raises(np.linalg.LinAlgError, match=f"a is singular: it has rank {n - 1}"):
            gf2.inverse(a)


def test_solve(rng, shape, kind):
    m, n = shape
    a, b = bits(rng, shape, kind, "int64"), rng.integers(0, 2, (m, 9))
    b[:, :6] = a @ rng.integers(0, 2, (n, 6)) % 2
    _, pivots, _, _ = eliminate(a)
    x, solvable, proof = gf2.solve(a, b, certificate=True)
    assert x.shape == (n, 9) and proof.shape == (9, m) and solvable.dtype == bool and solvable[:6].all()
    same(solvable, np.array([len(eliminate(np.column_stack([a, y]))[1]) == len(pivots) for y in b.T]))
    assert (a @ x % 2 == b * solvable).all() and not np.delete(x, pivots, axis=0).any()
    assert not (proof @ a % 2).any()
    same((proof * b.T).sum(1) % 2 == 0, solvable)
    same(gf2.solve(a, b, solvable=True)[0], x)
    same(gf2.solve(a, b[:, :6]), x[:, :6])
    same(gf2.solve(a, b[:, 0]), x[:, 0])
    if not solvable[-1]:
        with pytest.raises(gf2.LinAlgError, match="the system has no solution"):
            gf2.solve(a, b[:, -1])
        vector, flag, y = gf2.solve(a, b[:, -1], certificate=True)
        assert not vector.any() and flag is False
        same(y, proof[-1])


def test_solve_with_an_order(rng):
    a, order = bits(rng, (20, 40), "low rank", "int64"), rng.permutation(40)
    b = a @ rng.integers(0, 2, 40) % 2
    x = gf2.solve(a, b, column_order=order)
    assert (a @ x % 2 == b).all() and set(np.flatnonzero(x)) <= set(eliminate(a, order)[1])
    assert gf2.solve(a, 0 * b, column_order=[]).tolist() == [0] * 40
    assert gf2.solve(a, b, column_order=[], solvable=True)[1] is bool(not b.any())


def test_factors(rng, shape, kind):
    a = bits(rng, shape, kind, "int64")
    m, n = shape
    p, lower, upper, q = gf2.pluq(a)
    rank = gf2.rank(a)
    assert lower.shape == (m, rank) and upper.shape == (rank, n) and p.dtype == q.dtype == np.int64
    same(a[p][:, q], lower @ upper % 2)
    same(np.triu(lower), np.eye(m, rank, dtype=int))
    same(np.tril(upper), np.eye(rank, n, dtype=int))
    same(q[:rank], gf2.pivots(a))
    P, L, U = gf2.plu(a)
    k = min(m, n)
    assert P.shape == (m, m) and L.shape == (m, k) and U.shape == (k, n)
    same(P @ L @ U % 2, a)
    same(np.triu(L), np.eye(m, k, dtype=int))
    assert (np.sort(P, axis=0)[:-1] == 0).all() and (P.sum(0) == 1).all()
    p, same_l, _ = gf2.plu(a, p_indices=True)
    same((same_l @ U % 2)[p], a)


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 1, 1), (3, 0, 4), (0, 3, 4), (65, 130, 63), (200, 100, 300)])
def test_products(rng, sizes):
    m, k, n = sizes
    a, b, c = (bits(rng, s, dtype="int64") for s in ((m, k), (k, n), (m, k)))
    same(gf2.mul(a, b), a @ b % 2)
    same(gf2.add(a, c), a ^ c)
    same(gf2.transpose(a), np.ascontiguousarray(a.T))
    x, y = rng.integers(0, 2, k), rng.integers(0, 2, k)
    same(gf2.mul(a, x), a @ x % 2)
    same(gf2.mul(x, b), x @ b % 2)
    assert gf2.mul(x, y) == x @ y % 2
    packed = gf2.matrix(a)
    assert (packed @ gf2.matrix(b)) == gf2.matrix(a @ b % 2)
    assert type(packed @ b) is np.ndarray and type(a.T @ packed) is gf2.Matrix
    assert packed + packed == gf2.Matrix.zeros(m, k) and packed.T.T == packed


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_dtypes(rng, dtype):
    a = rng.integers(0, 2, (20, 70)).astype(dtype)
    result = gf2.rref(a)
    same(result, eliminate(a)[0].astype(dtype))
    same(gf2.Matrix.from_dense(a).to_dense(dtype), a)
    if dtype != "bool":  # values are taken modulo 2
        odd = a + 2 * rng.integers(0, 60, a.shape).astype(dtype)
        same(gf2.rref(odd), result)
    if dtype.startswith("i"):
        same(gf2.rref(-a), result)


def test_layouts(rng):
    big = bits(rng, (60, 140), dtype="int32")
    for a in (big[::2, ::2], np.asfortranarray(big), big[::-1, ::-1], big.T, big[:, 3:70]):
        before = a.copy()
        same(gf2.rref(a), eliminate(a)[0].astype("int32"))
        same(np.ascontiguousarray(a), np.ascontiguousarray(before))
        a.flags.writeable = False
        same(gf2.rref(a), eliminate(a)[0].astype("int32"))
    assert gf2.rank([[1, 0], [1, 0]]) == 1 and gf2.rank([[True, False]]) == 1
    assert gf2.rref([[3, 2]]).tolist() == [[1, 0]]


def test_matrix_in_matrix_out(rng):
    dense = bits(rng, (50, 90))
    a, square = gf2.matrix(dense), gf2.Matrix.identity(50)
    before = a.copy()
    for f in (gf2.rref, gf2.nullspace, gf2.left_nullspace, gf2.transpose):
        result = f(a)
        assert type(result) is gf2.Matrix
        same(result.to_dense(), f(dense))
    for x, y in zip(gf2.echelon(a, transform=True), gf2.echelon(dense, transform=True)):
        assert x == y if isinstance(x, int) or x is None else (np.asarray(x) == y).all()
    for x, y in zip((*gf2.pluq(a), *gf2.plu(a)), (*gf2.pluq(dense), *gf2.plu(dense))):
        same(np.asarray(x), y)
    assert gf2.inverse(square) == square
    b = dense[:, :3]
    assert type(gf2.solve(a, gf2.matrix(b))) is gf2.Matrix
    same(gf2.solve(a, b), gf2.solve(dense, b))
    assert a == before


@pytest.mark.parametrize("cols", [0, 1, 7, 8, 9, 63, 64, 65, 128, 200])
def test_packed(rng, cols):
    dense = bits(rng, (9, cols))
    packed = np.packbits(dense, axis=1, bitorder="little")
    for x in (packed, np.asfortranarray(packed), packed[::-1][::-1]):
        a = gf2.Matrix.from_packed(x, cols)
        same(a.to_dense(), dense)
        same(a.to_packed(), packed)
    same(gf2.Matrix.from_packed(a.words, cols, copy=False).to_dense(), dense)
    dirty = np.full((9, (cols + 63) // 64), ~np.uint64(0))
    assert gf2.Matrix.from_packed(dirty, cols).to_packed().sum() == np.packbits(
        np.ones((9, cols), "uint8"), axis=1, bitorder="little").sum()


def test_sharing(rng):
    packed = np.packbits(bits(rng, (4, 128)), axis=1, bitorder="little")
    shared, copied = gf2.Matrix.from_packed(packed, 128), gf2.Matrix.from_packed(packed, 128, copy=True)
    assert np.shares_memory(shared.words, packed) and not np.shares_memory(copied.words, packed)
    shared[0, 5] = 1 - shared[0, 5]
    assert shared != copied and shared[1:] == copied[1:]
    wide = np.zeros((4, 32), "uint8")
    part = gf2.Matrix.from_packed(wide[:, 8:16], 64, copy=False)
    part[:, :] = 1
    assert wide[:, 8:16].all() and not wide[:, :8].any() and not wide[:, 16:].any()
    packed.flags.writeable = False
    fixed = gf2.Matrix.from_packed(packed, 128)
    assert fixed.readonly and gf2.rref(fixed).shape == (4, 128)
    with pytest.raises(echelon.ArgumentError, match="read-only"):
        fixed[0, 0] = 1


def test_indexing(rng):
    dense = bits(rng, (70, 150))
    a = gf2.matrix(dense)
    keys = [np.s_[3:60, 5:140], np.s_[:], np.s_[::2, ::-1], np.s_[-3:], np.s_[:, 64:128], np.s_[5:5], np.s_[:, -1:],
            np.s_[10:2:-3, 100:7:-1]]
    for key in keys:
        same(a[key].to_dense(), np.ascontiguousarray(dense[key]))
    same(a[[3, 3, 1]].to_dense(), dense[[3, 3, 1]])
    same(a[np.array([1, 2]), [0, 149, 5]].to_dense(), dense[[1, 2]][:, [0, 149, 5]])
    same(a[2].to_dense(), dense[2:3])
    same(a[:, -1].to_dense(), dense[:, -1:])
    assert a[5, 9] == dense[5, 9] and isinstance(a[5, 9], int) and len(a) == 70
    copy = a[:]
    copy[3:10, 70:90] = 0
    dense[3:10, 70:90] = 0
    copy[0], copy[:, 2] = gf2.matrix(dense[1:2]), np.ones((70, 1), int)
    dense[0], dense[:, 2] = dense[1], 1
    copy[10:20, 0:64] = copy[30:40, 64:128]
    dense[10:20, 0:64] = dense[30:40, 64:128]
    copy[0:10] = copy[5:15]
    dense[0:10] = dense[5:15].copy()
    same(copy.to_dense(), dense)
    assert copy != a and a.count_ones() == int(np.asarray(a).sum())


def test_random():
    a = gf2.Matrix.random(300, 500, probability=0.25, seed=3)
    assert a == gf2.Matrix.random(300, 500, probability=0.25, seed=3) != gf2.Matrix.random(300, 500, seed=3)
    assert 0.2 < a.count_ones() / 150_000 < 0.3
    assert gf2.Matrix.random(3, 3, probability=1).to_dense().all()


@pytest.mark.parametrize("shape", [(0, 3, 4), (5, 0, 4), (5, 3, 0), (1, 1, 1), (9, 20, 30), (4, 65, 130), (3, 130, 65)],
                         ids=str)
def test_batches(rng, shape):
    count, m, n = shape
    a = np.array([bits(rng, (m, n), KINDS[i % 3], "int64") for i in range(count)], "int64").reshape(shape)
    single, many = rng.permutation(n), np.array([rng.permutation(n) for _ in range(count)], "int64").reshape(count, n)
    for order in (None, single, many, many[:, :n // 2]):
        orders = [None] * count if order is None else np.broadcast_to(order, (count, order.shape[-1]))
        expected = [eliminate(x, y) for x, y in zip(a, orders)]
        form, ranks, pivots = gf2.echelon_batched(a, reduced=True, column_order=order)
        same(form, np.array([e[0] for e in expected], "int64").reshape(shape))
        same(ranks, np.array([len(e[1]) for e in expected], "int64"))
        same(gf2.rank_batched(a, column_order=order), ranks)
        assert all(p[:len(e[1])].tolist() == [int(c) for c in e[1]] for p, e in zip(pivots, expected))
        x0 = rng.integers(0, 2, (count, n))
        b = np.array([u @ v % 2 for u, v in zip(a, x0)], "int64").reshape(count, m)
        b[::2] = rng.integers(0, 2, b[::2].shape)
        x, solvable = gf2.solve_batched(a, b, column_order=order)
        assert x.shape == (count, n) and x.dtype == b.dtype and solvable.dtype == bool
        for i in range(count):
            y, flag = gf2.solve(a[i], b[i], solvable=True, column_order=None if order is None else orders[i])
            assert flag == solvable[i]
            same(x[i], y)


def test_batches_of_one_matrix(rng):
    a, b = bits(rng, (30, 70)), bits(rng, (50, 30))
    x, solvable = gf2.solve_batched(a, b)
    assert solvable.all() and (x @ a.T % 2 == b).all()
    for matrix in (gf2.matrix(a), a.tolist()):
        packed = gf2.solve_batched(matrix, gf2.matrix(b))
        assert packed.x == gf2.matrix(x)
    limited = gf2.echelon_batched(np.array([a, a]), max_rank=3)
    assert limited.rank.tolist() == [3, 3]
    assert gf2.echelon_batched(np.array([a, a]), max_rank=0).rank.tolist() == [0, 0]


def test_galois(rng):
    galois = pytest.importorskip("galois")
    a = galois.GF2(bits(rng, (20, 20), "low rank"))
    result = gf2.rref(a)
    assert type(result) is galois.GF2 and np.array_equal(result, a.row_reduce())
    assert np.array_equal(gf2.rref(gf2.nullspace(a)), a.null_space())
    assert type(gf2.Matrix.identity(20) @ a) is galois.GF2
    assert type(gf2.echelon_batched(np.stack([a, a]).view(galois.GF2)).form) is galois.GF2
    with pytest.raises(TypeError, match="a is an array over a field of order 4"):
        gf2.rank(galois.GF(4)([[1, 2]]))


def test_sparse(rng):
    sparse = pytest.importorskip("scipy.sparse")
    a = bits(rng, (30, 40), "low rank")
    for form in (sparse.csr_matrix, sparse.coo_array, sparse.csc_array):
        same(gf2.rref(form(a)), gf2.rref(a))
    double = sparse.coo_array(([1, 1, 1], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert gf2.rref(double).tolist() == [[0, 1], [0, 0]]
    with pytest.raises(TypeError, match="a has dtype float64"):
        gf2.rank(sparse.csr_matrix(a.astype(float)))


def test_torch(rng):
    torch = pytest.importorskip("torch")
    dense = bits(rng, (30, 70), dtype="int64")
    check_torch(torch, rng, dense, torch.from_numpy(dense))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(1, 1), (63, 65), (300, 1000)], ids=str)
def test_torch_on_a_gpu(rng, shape):
    torch = pytest.importorskip("torch")
    dense = bits(rng, shape, dtype="int64")
    check_torch(torch, rng, dense, torch.from_numpy(dense).cuda())


def check_torch(torch, rng, dense, x):
    """Compares the results for a tensor and for an array of NumPy."""
    def equal(a, b):
        assert isinstance(a, torch.Tensor) and a.device == x.device
        same(a.cpu().numpy(), np.asarray(b))
    for f in (gf2.rref, gf2.nullspace, gf2.left_nullspace, gf2.transpose, gf2.pivots):
        equal(f(x), f(dense))
    for a, b in zip((*gf2.pluq(x), *gf2.plu(x)), (*gf2.pluq(dense), *gf2.plu(dense))):
        equal(a, b)
    packed = gf2.matrix(x)
    assert packed.device == ("cpu" if x.device.type == "cpu" else "cuda:0") and packed @ packed.T == gf2.matrix(
        x) @ gf2.transpose(packed)
    same(packed.to_packed().cpu().numpy(), gf2.matrix(dense).to_packed())
    assert gf2.Matrix.from_packed(packed.to_packed(), x.shape[1]) == packed and packed[::-1, [0]].shape == (len(x), 1)
    b = gf2.mul(x, x.T.contiguous()[:, :3].bool())
    assert b.dtype is torch.bool
    y, flags, proof = gf2.solve(x, b, certificate=True)
    assert flags.all() and not proof.any()
    equal(gf2.mul(x, y), b.cpu().numpy())
    batch = torch.stack([x, 0 * x, x])
    equal(gf2.echelon_batched(batch).form, gf2.echelon_batched(np.stack([dense, 0 * dense, dense])).form)
    equal(gf2.rank_batched(batch), np.array([gf2.rank(dense), 0, gf2.rank(dense)]))
    order, syndromes = rng.permutation(x.shape[1]), dense @ rng.integers(0, 2, (dense.shape[1], 5)) % 2
    for width, method in ((0, "cs"), (3, "cs"), (3, "e")):
        errors, solvable = gf2.osd(x, torch.from_numpy(np.ascontiguousarray(syndromes.T)).to(x.device),
                                   torch.from_numpy(order).to(x.device), osd_order=width, method=method)
        assert solvable.all()
        equal(errors, gf2.osd(dense, syndromes.T, order, osd_order=width, method=method).errors)


@pytest.mark.gpu
def test_streams_and_devices(rng):
    torch = pytest.importorskip("torch")
    x, dense = torch.ones((3, 70), dtype=torch.uint8, device="cuda"), np.ones((3, 70), "uint8")
    stream = torch.cuda.Stream()
    assert gf2.rank(gf2.matrix(x), stream=stream) == gf2.rank(x, stream=stream.cuda_stream) == 1
    with pytest.raises(ValueError, match="different devices"):
        gf2.add(x, dense)
    with pytest.raises(ValueError, match="different devices"):
        gf2.matrix(x) @ gf2.matrix(dense).T
    assert gf2.mul(x, [1] * 70).tolist() == [0, 0, 0]


@pytest.mark.parametrize("call, error, text", [
    (lambda a: gf2.rank(a.astype("f4")), TypeError, "a has dtype float32"),
    (lambda a: gf2.rank(a.astype(">i4")), TypeError, "swapped"),
    (lambda a: gf2.rank(a.astype("m8[s]")), TypeError, "a has dtype timedelta64"),
    (lambda a: gf2.rank(a[0]), ValueError, "a has 1 dimensions, but must have 2"),
    (lambda a: gf2.rank("text"), TypeError, "a has dtype"),
    (lambda a: gf2.rank(None), TypeError, "a is NoneType"),
    (lambda a: gf2.inverse(a), ValueError, r"a has shape \(3, 5\), but must be square"),
    (lambda a: gf2.mul(a, a), ValueError, "a has 5 columns, but b has 3 rows"),
    (lambda a: gf2.mul(a, a[0, :4]), ValueError, "a has 5 columns, but b has 4 rows"),
    (lambda a: gf2.mul(a[:, 0], a.T), ValueError, "a has 3 columns, but b has 5 rows"),
    (lambda a: gf2.add(a, a.T), ValueError, r"b has shape \(5, 3\)"),
    (lambda a: gf2.solve(a, a.T), ValueError, "b has 5 rows, but a has 3"),
    (lambda a: gf2.solve(a, a[0]), ValueError, "b has 5 rows, but a has 3"),
    (lambda a: gf2.solve(0 * a, a[:, 0] | 1), np.linalg.LinAlgError, "the system has no solution"),
    (lambda a: gf2.solve(0 * a, [[0, 1]] * 3), gf2.LinAlgError, "column 1 of b has no solution"),
    (lambda a: gf2.rank(a, column_order=[5]), ValueError, "column_order"),
    (lambda a: gf2.rank(a, column_order=[-1]), ValueError, "column_order"),
    (lambda a: gf2.rank(a, column_order=[2**32]), ValueError, "column_order"),
    (lambda a: gf2.rank(a, column_order=[1, 1]), ValueError, "column_order"),
    (lambda a: gf2.rank(a, column_order=[0.5]), TypeError, "column_order has dtype float64"),
    (lambda a: gf2.rank(a, column_order=[[0]]), ValueError, "column_order has shape"),
    (lambda a: gf2.rank(a, column_order=range(6)), ValueError, "column_order has shape"),
    (lambda a: gf2.echelon(a, max_rank=-1), ValueError, "max_rank is -1"),
    (lambda a: gf2.echelon(a, max_rank="1"), TypeError, "max_rank is '1'"),
    (lambda a: gf2.rank_batched(a), ValueError, "a has 2 dimensions, but must have 3"),
    (lambda a: gf2.rank_batched([a], column_order=[[0], [1]]), ValueError, "column_order has shape"),
    (lambda a: gf2.rank_batched([a], column_order=[7]), ValueError, "column_order"),
    (lambda a: gf2.rank_batched([a], column_order=[0, 0]), ValueError, "column_order"),
    (lambda a: gf2.solve_batched(a, a), ValueError, "b has shape"),
    (lambda a: gf2.solve_batched([a], a[:, :3]), ValueError, "b has shape"),
    (lambda a: gf2.Matrix.from_packed(a, 5), ValueError, "does not fit cols = 5"),
    (lambda a: gf2.Matrix.from_packed(a.astype("u4"), 5), TypeError, "packed has dtype uint32"),
    (lambda a: gf2.Matrix.from_packed(a[0].astype("u1"), 5), ValueError, "packed has 1 dimensions"),
    (lambda a: gf2.Matrix.from_packed(a, 40, copy=False), ValueError, "copy is False"),
    (lambda a: gf2.Matrix.from_packed(a, -1), ValueError, "cols is -1"),
    (lambda a: gf2.Matrix.zeros(2**32, 1), ValueError, "rows is 4294967296"),
    (lambda a: gf2.Matrix.zeros(1.5, 1), TypeError, "rows is 1.5"),
    (lambda a: gf2.Matrix.random(2, 2, probability=2), ValueError, "probability"),
    (lambda a: gf2.matrix(a)[3], IndexError, "row 3 does not exist: the matrix has 3 rows"),
    (lambda a: gf2.matrix(a)[[3]], ValueError, r"index\[0\] is out of range"),
    (lambda a: gf2.matrix(a)[[-1]], ValueError, r"index\[0\] is out of range"),
    (lambda a: gf2.matrix(a)[None], ValueError, "row is None"),
    (lambda a: gf2.matrix(a)[0.5], TypeError, "index"),
    (lambda a: gf2.matrix(a).__setitem__((0, [1]), 0), ValueError, "assigned"),
    (lambda a: gf2.matrix(a).__setitem__(0, [[1]]), ValueError, "value has shape"),
    (lambda a: gf2.matrix(a).to_dense("f4"), TypeError, "dtype is float32"),
    (lambda a: gf2.rank(a, stream=1), ValueError, "stream is given"),
    (lambda a: gf2.rank(gf2.matrix(a), stream=1), ValueError, "stream is given"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(np.ones((3, 5), "uint8"))


def test_copies_and_pickles(rng):
    a = gf2.Matrix(bits(rng, (5, 70)))
    for b in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert a == b and not np.shares_memory(a.words, b.words)
    for name in ("rows", "cols", "shape", "words"):
        with pytest.raises(AttributeError):
            setattr(a, name, 7)


@pytest.mark.parametrize("call", [
    lambda x: gf2.echelon(np.eye(2, dtype="u1"), transform=x), lambda x: gf2.plu(np.eye(2, dtype="u1"), p_indices=x),
    lambda x: gf2.solve(np.eye(2, dtype="u1"), [1, 0], solvable=x), lambda x: echelon.isin([1], [1], invert=x),
    lambda x: echelon.intersect1d([1], [1], assume_unique=x), lambda x: echelon.nth_element([1], 0, return_index=x),
    lambda x: echelon.linalg.solve(np.eye(2), [1.0, 0.0], info=x),
    lambda x: echelon.select_if([1], ">", 0, positions=x),
])
def test_arrays_as_flags(call):
    for value in (np.zeros(2), np.zeros(0), "x", 2):
        with pytest.raises(echelon.DTypeError, match="must be True or False"):
            call(value)
