"""echelon.sparse: products, construction, transposes and checks of matrices of SciPy, PyTorch and plain arrays.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from echelon import sparse
from test_linalg import close as nearly


def close(a, b, steps=100.0):
    """Asserts that the arrays agree: floats up to rounding."""
    if a.dtype.kind == "f":
        nearly(a, b, steps)
    else:
        assert type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)


SHAPES = [(1, 1), (3, 5), (50, 31), (0, 4), (4, 0), (0, 0), (200, 200)]


def random_csr(rng, shape, dtype="float64", index="int32", density=0.2):
    """A CSR and the equal dense matrix. Some rows are empty."""
    dense = rng.normal(size=shape).astype(dtype)
    dense[rng.random(shape) > density] = 0
    dense[::4] = 0
    rows, cols = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(index)
    return sparse.CSR(dense[rows, cols], cols.astype(index), indptr, shape), dense


def of_scipy(matrix, make=None):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    return (make or scipy_sparse.csr_array)(scipy_sparse.csr_array(matrix[:3], shape=matrix.shape))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_products(rng, shape, dtype, index):
    a, dense = random_csr(rng, shape, dtype, index)
    x, wide = (rng.normal(size=(shape[1],) + more).astype(dtype) for more in ((), (3,)))
    close(sparse.matvec(a, x), dense @ x)
    close(sparse.matmul(a, wide), dense @ wide)
    close(sparse.matmul(a, np.asfortranarray(wide)[:, ::-1]), dense @ wide[:, ::-1])
    close(sparse.matvec(a, np.repeat(x, 2)[::2], check=False), dense @ x)
    assert sparse.matmul(a, wide[:, :0]).shape == (shape[0], 0)
    y = rng.normal(size=shape[0]).astype(dtype)
    wanted = 2 * (dense @ x) - 3 * y
    assert sparse.matvec(a, x, alpha=2, beta=-3, out=y) is y
    close(y, wanted, 300)
    z = np.zeros((shape[0], 6), dtype)[:, ::2]
    z[:] = 1
    sparse.matmul(a, wide, beta=0.5, out=z)
    close(z.copy(), (dense @ wide + 0.5).astype(dtype), 300)


def test_in_place(rng):
    a, dense = random_csr(rng, (20, 20))
    x = rng.normal(size=20)
    wanted = dense @ x
    sparse.matvec(a, x, out=x)
    close(x, wanted)


def test_dtypes(rng):
    a, dense = random_csr(rng, (6, 6), density=0.5)
    integers = sparse.CSR(np.arange(a.data.size), a.indices, a.indptr, a.shape)
    x = np.ones(6, "f4")
    assert sparse.matvec(integers, x).dtype == np.float64
    assert sparse.matvec(a._replace(data=a.data.astype("f4")), x).dtype == np.float32
    assert sparse.matvec(a._replace(data=a.data.astype("f2")), x).dtype == np.float32
    assert sparse.matvec(a._replace(indptr=a.indptr.astype("i8")), [1, 2, 3, 4, 5, 6]).dtype == np.float64
    close(sparse.matvec(a._replace(indices=a.indices.astype("u4")), np.ones(6)), dense.sum(1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_construction(rng, shape, index):
    a, dense = random_csr(rng, shape, index=index)
    rows, cols = np.nonzero(dense)
    order = rng.permutation(rows.size)
    rows, cols, data = (x[order] for x in (rows.astype(index), cols.astype(index), dense[rows, cols]))
    made = sparse.csr_from_coo(rows, cols, data, shape)
    for part, wanted in zip(made[:3], a[:3]):
        close(part, wanted)
    assert made.shape == shape
    twice = sparse.csr_from_coo(np.tile(rows, 2), np.tile(cols, 2), np.tile(data, 2), shape)
    close(twice.data, 2 * a.data)
    close(twice.indices, a.indices)


@pytest.mark.parametrize("shape", SHAPES)
def test_transpose_and_diagonal(rng, shape):
    a, dense = random_csr(rng, shape, density=0.5)
    turned = sparse.transpose(a)
    wanted, _ = random_csr_of(dense.T)
    for part, other in zip(turned[:3], wanted[:3]):
        assert np.array_equal(part, other)
    assert turned.shape == shape[::-1]
    close(sparse.diagonal(a), np.diagonal(dense).copy())


def random_csr_of(dense):
    rows, cols = np.nonzero(dense)
    return sparse.CSR(dense[rows, cols], cols, np.searchsorted(rows, np.arange(dense.shape[0] + 1)), dense.shape), dense


def test_duplicates_and_unordered_columns():
    a = sparse.CSR(np.array([1.0, 2, 3]), np.array([1, 0, 1]), np.array([0, 3, 3]), (2, 2))
    close(sparse.matvec(a, np.array([1.0, 10.0])), np.array([42.0, 0.0]))
    sparse.check(a)
    with pytest.raises(echelon.ArgumentError, match=r"row\[0\]"):
        sparse.check(a, ordered=True)


DATA, INDICES, INDPTR = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 1]), np.array([0, 2, 2, 3])


def broken(**parts):
    whole = dict(data=DATA, indices=INDICES, indptr=INDPTR, shape=(3, 3))
    whole.update(parts)
    return sparse.CSR(**whole)


BROKEN = [
    (broken(indices=np.array([0, 3, 1])), ValueError, "column"),
    (broken(indices=np.array([0, -1, 1])), ValueError, "column"),
    (broken(indices=np.array([0, 2**40, 1])), ValueError, "column"),
    (broken(indptr=np.array([0, 3, 2, 3])), ValueError, "row"),
    (broken(indptr=np.array([1, 2, 2, 3])), ValueError, "row"),
    (broken(indptr=np.array([0, 2**50, 2, 3])), ValueError, "row"),
    (broken(indptr=np.array([0, -5, 2, 3])), ValueError, "row"),
    (broken(indptr=np.array([0, 2, 2, 9])), ValueError, "indptr ends with 9"),
    (broken(indptr=np.array([0, 2, 2, -1])), ValueError, "indptr ends with -1"),
    (broken(indptr=np.array([0, 2, 3])), ValueError, "indptr has length 3"),
    (broken(indptr=np.array([], "i4")), ValueError, "indptr has length 0"),
    (broken(indptr=INDPTR.astype("f8")), TypeError, "indptr has dtype float64"),
    (broken(indices=INDICES.astype("i2")), TypeError, "indices has dtype int16"),
    (broken(indices=INDICES[:2]), ValueError, "indices has length 2"),
    (broken(indices=INDICES[:, None]), ValueError, "indices has 2 dimensions"),
    (broken(data=DATA * 1j), TypeError, "complex"),
    (broken(data=DATA.astype("M8[s]")), TypeError, "has dtype datetime64"),
    (broken(data=None), TypeError, "NoneType"),
    (broken(shape=(3, -1)), ValueError, "shape"),
    (broken(shape=(3,)), TypeError, "shape"),
    (broken(shape=("3", 3)), TypeError, "shape"),
    ("text", TypeError, "A is str"),
    (np.eye(3), TypeError, "A is ndarray"),
]


@pytest.mark.parametrize("matrix, error, text", BROKEN)
def test_broken_matrices(matrix, error, text):
    calls = [lambda: sparse.matvec(matrix, np.ones(3)), lambda: sparse.matmul(matrix, np.ones((3, 2))),
             lambda: sparse.transpose(matrix), lambda: sparse.diagonal(matrix), lambda: sparse.check(matrix)]
    if isinstance(matrix, sparse.CSR):
        calls.append(lambda: sparse.linalg.cg(matrix, np.ones(3)))
        calls.append(lambda: sparse.linalg.gmres(np.eye(3), np.ones(3), M=matrix))
    for call in calls:
        with pytest.raises(error, match=text) as raised:
            call()
        assert isinstance(raised.value, echelon.Error)


def test_unchecked_matrices_do_not_crash():
    for matrix in (broken(indices=np.array([0, 2**40, -1])), broken(indptr=np.array([0, 2**50, -7, 3]))):
        assert sparse.matvec(matrix, np.ones(3), check=False).shape == (3,)


def test_random_structures(rng):
    """Random offsets and columns are rejected or accepted by check(); no call crashes, also without a check."""
    accepted = 0
    for _ in range(300):
        n, nnz = rng.integers(1, 6), rng.integers(0, 12)
        spread = rng.choice([1, 3, 2**40])
        indptr = np.append(rng.integers(-1, 3 * spread, n), nnz)
        if rng.random() < 0.5:
            indptr = np.sort(np.append(0, rng.integers(0, nnz + 1, n)))
            indptr[-1] = nnz
        columns = rng.integers(0, n + rng.integers(0, 2) * spread, nnz)
        matrix = sparse.CSR(rng.normal(size=nnz), columns, indptr, (int(n), int(n)))
        x = np.ones(n)
        try:
            sparse.check(matrix)
        except echelon.ArgumentError:
            for call in (sparse.transpose, sparse.diagonal, lambda a: sparse.linalg.cg(a, x, M="ilu0", maxiter=3)):
                with pytest.raises(echelon.ArgumentError):
                    call(matrix)
            sparse.matvec(matrix, x, check=False)
            continue
        accepted += 1
        dense = np.zeros((n, n))
        np.add.at(dense, (np.repeat(np.arange(n), np.diff(indptr)), matrix.indices), matrix.data)
        close(sparse.matvec(matrix, x), dense @ x, 1e4)
        for m in ("ilu0", "jacobi", "ssor"):
            sparse.linalg.bicgstab(matrix, x, M=m, maxiter=3)
    assert 30 < accepted < 270


@pytest.mark.parametrize("call, error, text", [
    (lambda a: sparse.matvec(a, np.ones(2)), ValueError, "x has shape"),
    (lambda a: sparse.matvec(a, np.ones((3, 1))), ValueError, "x has 2 dimensions"),
    (lambda a: sparse.matmul(a, np.ones(3)), ValueError, "x has 1 dimensions"),
    (lambda a: sparse.matvec(a, np.ones(3) * 1j), TypeError, "complex"),
    (lambda a: sparse.matvec(a, np.ones(3), beta=1), ValueError, "out is not given"),
    (lambda a: sparse.matvec(a, np.ones(3), alpha="x"), TypeError, "alpha is 'x'"),
    (lambda a: sparse.matvec(a, np.ones(3), out=np.ones(2)), ValueError, "out has shape"),
    (lambda a: sparse.matvec(a, np.ones(3), out=np.ones(3, "f4")), TypeError, "out has dtype"),
    (lambda a: sparse.csr_from_coo([0], [3], [1.0], (3, 3)), ValueError, r"cols\[0\] is not a column"),
    (lambda a: sparse.csr_from_coo([0], [-1], [1.0], (3, 3)), ValueError, r"cols\[0\] is not a column"),
    (lambda a: sparse.csr_from_coo([0, 1], [1], [1.0], (3, 3)), ValueError, "rows has length 2"),
    (lambda a: sparse.csr_from_coo([0.5], [1], [1.0], (3, 3)), TypeError, "rows has dtype"),
    (lambda a: sparse.csr_from_coo([0], [1], [1.0], (3, -3)), ValueError, "shape"),
    (lambda a: sparse.csr_from_coo([0], [1], [1.0], 3), TypeError, "shape"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(broken())
    assert isinstance(raised.value, echelon.Error)


# ---- Libraries ----

@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array", "coo_matrix", "bsr_array", "lil_matrix",
                                  "dok_array", "dia_array"])
def test_scipy(rng, form):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    a, dense = random_csr(rng, (12, 12))
    matrix = getattr(scipy_sparse, form)(of_scipy(a))
    x = rng.normal(size=12)
    close(sparse.matvec(matrix, x), dense @ x)
    close(sparse.diagonal(matrix), np.diagonal(dense).copy())
    turned = sparse.transpose(matrix)
    assert turned.format == "csr" and np.array_equal(turned.toarray(), dense.T)
    assert type(turned) is (scipy_sparse.csr_array if form.endswith("_array") else scipy_sparse.csr_matrix)


def test_scipy_unused_elements(rng):
    a, dense = random_csr(rng, (9, 9))
    matrix = of_scipy(a)
    matrix.data, matrix.indices = np.append(matrix.data, [7.0, 7.0]), np.append(matrix.indices, [99, 99])
    close(sparse.matvec(matrix, np.ones(9)), dense.sum(1))


def test_scipy_one_dimension():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    row = scipy_sparse.coo_array(np.ones(3))
    if row.ndim == 2:
        pytest.skip("this version of SciPy has no sparse arrays of one dimension")
    with pytest.raises(echelon.ArgumentError, match="A has 1 dimensions"):
        sparse.matvec(row, np.ones(3))


def devices():
    return ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", devices())
@pytest.mark.filterwarnings("ignore:Sparse")
def test_torch(rng, device):
    torch = pytest.importorskip("torch")
    a, dense = random_csr(rng, (20, 20))
    matrix = torch.sparse_csr_tensor(*(torch.tensor(part) for part in (a.indptr, a.indices, a.data)), a.shape)
    matrix, whole = matrix.to(device), torch.tensor(dense, device=device)
    x = torch.tensor(rng.normal(size=20), device=device)
    for form in (matrix, matrix.to_sparse_coo(), matrix.to_sparse_csc()):
        y = sparse.matvec(form, x)
        assert y.device == x.device and torch.allclose(y, whole @ x)
    turned = sparse.transpose(matrix)
    assert turned.layout is torch.sparse_csr and torch.equal(turned.to_dense(), whole.T)
    assert torch.equal(sparse.diagonal(matrix), whole.diagonal())
    out = torch.empty_like(x)
    assert sparse.matvec(matrix, x, out=out) is out and torch.allclose(out, whole @ x)
    wide = torch.stack([x, 2 * x], 1)
    assert torch.allclose(sparse.matmul(matrix, wide), whole @ wide)
    with pytest.raises(echelon.ArgumentError, match="layout"):
        sparse.matvec(matrix.to_sparse_bsr((2, 2)), x)
    with pytest.raises(echelon.ArgumentError, match="gradients"):
        sparse.matvec(matrix.clone().requires_grad_(), x)
    with pytest.raises(echelon.DTypeError, match="A is Tensor"):
        sparse.matvec(whole, x)
    places = [torch.tensor(part, device=device) for part in (rng.integers(0, 5, 30), rng.integers(0, 5, 30))]
    values = torch.tensor(rng.normal(size=30), device=device)
    made = sparse.csr_from_coo(*places, values, (5, 5))
    wanted = torch.sparse_coo_tensor(torch.stack(places), values, (5, 5)).to_dense()
    assert torch.allclose(torch.sparse_csr_tensor(made.indptr, made.indices, made.data, made.shape).to_dense(), wanted)
    if device == "cuda":
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        y = sparse.matvec(matrix, x, stream=stream)
        stream.synchronize()
        assert torch.allclose(y, whole @ x)
        with pytest.raises(echelon.ArgumentError, match="different devices"):
            sparse.matvec(of_scipy(a), x)


@pytest.mark.gpu
def test_cupy(rng):
    cupy = pytest.importorskip("cupy")
    import cupyx.scipy.sparse
    a, dense = random_csr(rng, (20, 20))
    matrix = cupyx.scipy.sparse.csr_matrix(of_scipy(a))
    x = cupy.asarray(rng.normal(size=20))
    for form in (matrix, matrix.tocsc(), matrix.tocoo()):
        close(sparse.matvec(form, x).get(), dense @ x.get())
    assert np.array_equal(sparse.transpose(matrix).toarray().get(), dense.T)
    close(sparse.diagonal(matrix).get(), np.diagonal(dense).copy())
    sparse.matvec(cupyx.scipy.sparse.csr_matrix((matrix.data, matrix.indices + 30, matrix.indptr), shape=(20, 20)), x)
    with pytest.raises(echelon.ArgumentError, match="column"):
        echelon.synchronize()
