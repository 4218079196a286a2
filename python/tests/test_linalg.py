"""echelon.linalg on arrays of NumPy and PyTorch, compared with numpy.linalg.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import warnings

import echelon
import numpy as np
import pytest
from echelon import linalg

FLOATS = ["float32", "float64"]
SHAPES = [((3, 4), (4, 5)), ((1, 1), (1, 1)), ((33, 17), (17, 65)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)),
          ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((3, 2), (2, 0)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
          ((3, 4), (2, 3, 4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((0, 2, 3), (3, 2)), ((1, 2, 3), (7, 3, 2))]


def close(a, b, steps=100.0):
    """Asserts that arrays have the same type, dtype and shape, and elements that agree up to rounding."""
    assert type(a) is type(b), (type(a), type(b))
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, a.shape, b.dtype, b.shape)
    eps = {"float16": 1e-3, "float32": 1.2e-7, "float64": 2.3e-16}[a.dtype.name]
    scale = np.abs(b).max() if b.size else 0
    np.testing.assert_allclose(a, b, rtol=0, atol=steps * eps * max(scale, 1e-300))


def layouts(x):
    """x in C order, in Fortran order, with a gap, and reversed twice."""
    yield x
    yield np.asfortranarray(x)
    wide = np.zeros(x.shape[:-1] + (2 * x.shape[-1],), x.dtype)
    wide[..., ::2] = x
    yield wide[..., ::2]
    padded = np.zeros(x.shape[:-1] + (x.shape[-1] + 3,), x.dtype)
    padded[..., :x.shape[-1]] = x
    yield padded[..., :x.shape[-1]]
    yield x[..., ::-1].copy()[..., ::-1]


def matrix(rng, shape, dtype="float64"):
    """Random well-conditioned matrices."""
    n = shape[-1]
    return (rng.normal(size=shape) + 2 * np.sqrt(n + 1) * np.eye(n)).astype(dtype)


# ---- Products ----

@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_matmul(rng, dtype, shapes):
    a, b = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    wanted = np.matmul(a, b)
    for x in layouts(a):
        for y in layouts(b):
            close(linalg.matmul(x, y), wanted)


def test_matmul_halves(rng):
    a, b = rng.normal(size=(5, 40)).astype("f2"), rng.normal(size=(40, 6)).astype("f2")
    exact = a.astype("f8") @ b.astype("f8")
    close(linalg.matmul(a, b), exact.astype("f2"), 8)
    close(linalg.matmul(a, b, dtype="float32"), exact.astype("f4"))
    close(linalg.matmul(a, b.astype("f4")), exact.astype("f4"))
    stack = rng.normal(size=(3, 5, 40)).astype("f2")
    close(linalg.matmul(stack, b), (stack.astype("f8") @ b.astype("f8")).astype("f2"), 8)
    bf16 = pytest.importorskip("ml_dtypes").bfloat16
    result = linalg.matmul(a.astype(bf16), b.astype(bf16))
    assert result.dtype == bf16
    assert np.allclose(result.astype("f8"), exact, atol=0.2)
    assert linalg.matmul(a.astype(bf16), b).dtype == np.float32


def test_matmul_promotes(rng):
    a = rng.normal(size=(3, 4)).astype("f4")
    for dtype, wanted in (("i1", "f4"), ("i2", "f4"), ("i4", "f8"), ("i8", "f8"), ("f8", "f8"), ("?", "f4")):
        b = rng.integers(0, 2, (4, 2)).astype(dtype)
        close(linalg.matmul(a, b), np.matmul(a, b))
        assert linalg.matmul(a, b).dtype == np.dtype(wanted)
    close(linalg.matmul(a, [[1.0], [2], [3], [4]]), a.astype("f8") @ [[1.0], [2], [3], [4]])


@pytest.mark.parametrize("shapes", SHAPES)
def test_matmul_out(rng, shapes):
    a, b = (rng.normal(size=shape) for shape in shapes)
    wanted = np.matmul(a, b)
    for out in layouts(np.full(np.shape(wanted) or (1,), np.nan)):
        if wanted.ndim == 0:
            out = out.reshape(())
        assert linalg.matmul(a, b, out=out) is out
        close(out, np.asarray(wanted))


def test_matmul_in_place(rng):
    a, b = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    wanted = a @ b
    linalg.matmul(a, b, out=a)
    close(a, wanted)
    c = rng.normal(size=(5, 4))
    wanted = c[:4] @ b
    linalg.matmul(c[:4], b, out=c[1:])
    close(c[1:].copy(), wanted)


def test_matmul_broadcast_views(rng):
    a = np.broadcast_to(rng.normal(size=(3, 4)), (6, 3, 4))
    b = rng.normal(size=(6, 4, 2))[::-1]
    close(linalg.matmul(a, b), np.matmul(a, b))
    wide = rng.normal(size=(4, 2, 5, 3, 4))[:, :, ::2]
    close(linalg.matmul(wide, b[0]), np.matmul(wide, b[0]))


def test_algorithms(rng):
    a, b = rng.normal(size=(20, 30)), rng.normal(size=(30, 10))
    close(linalg.matmul(a, b, algorithm="tiled"), a @ b)
    with pytest.raises(echelon.ArgumentError, match="fast"):
        linalg.matmul(a, b, algorithm="fast")


def test_nan(rng):
    a = rng.normal(size=(3, 3))
    a[1, 1] = np.nan
    assert np.isnan(linalg.matmul(a, a)).tolist() == np.isnan(a @ a).tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_vecdot(rng, dtype):
    for shapes, axis in ((((3, 4), (3, 4)), -1), (((4,), (4,)), 0), (((3, 4), (4,)), -1), (((2, 3, 4), (3, 1)), -2),
                         (((0, 3), (3,)), -1), (((3, 0), (0,)), -1), (((2, 500), (3, 1, 500)), -1)):
        a, b = (rng.normal(size=shape).astype(dtype) for shape in shapes)
        moved = [np.moveaxis(x, axis, -1) for x in (a, b)]
        wanted = (moved[0] * moved[1]).sum(-1)
        close(linalg.vecdot(a, b, axis=axis), wanted, 1000)


# ---- Systems ----

def reference(a, b):
    """numpy.linalg.solve() with the broadcasting of NumPy 2."""
    columns = b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    x = np.linalg.solve(a, np.broadcast_to(columns, batch + columns.shape[-2:]))
    return x[..., 0].copy() if b.ndim == 1 else x


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shapes", [((1, 1), (1,)), ((5, 5), (5,)), ((40, 40), (40, 3)), ((2, 3, 3), (2, 3, 2)),
                                    ((2, 3, 3), (3,)), ((3, 3), (4, 3, 1)), ((2, 1, 3, 3), (5, 3, 2)), ((0, 0), (0,)),
                                    ((0, 0), (0, 2)), ((3, 3), (3, 0)), ((0, 3, 3), (3, 2)), ((2, 0, 0), (2, 0, 1))])
def test_solve(rng, dtype, shapes):
    a, b = matrix(rng, shapes[0], dtype), rng.normal(size=shapes[1]).astype(dtype)
    wanted = reference(a, b)
    for x in layouts(a):
        for y in layouts(b):
            close(linalg.solve(x, y), wanted, 1000)
    out = np.empty_like(wanted.T).T if wanted.ndim else wanted
    assert linalg.solve(a, b, out=out) is out
    close(out, wanted, 1000)


def test_solve_in_place(rng):
    a, b = matrix(rng, (6, 6)), rng.normal(size=(6, 2))
    wanted = np.linalg.solve(a, b)
    linalg.solve(a, b, out=b)
    close(b, wanted, 1000)


def test_factorizations(rng):
    a = matrix(rng, (12, 12))
    spd = a @ a.T
    b = rng.normal(size=12)
    for m, kind, used in ((a, None, "lu"), (spd, None, "cholesky"), (a, "qr", "qr"), (spd, "lu", "lu"),
                          (np.tril(spd), "cholesky", "cholesky")):
        for algorithm in (None, "blocked"):
            x, report = linalg.solve(m, b, factorization=kind, algorithm=algorithm, info=True)
            assert (report.status, report.factorization) == ("solved", used)
            assert 0 < report.rcond <= 1 and report.backward_error < 1e-14
            close(x, np.linalg.solve(spd if m is not a else a, b), 10000)
    with pytest.raises(linalg.LinAlgError, match="not positive definite"):
        linalg.solve(-spd, b, factorization="cholesky")


def test_refinement():
    n = 8
    hilbert = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
    b = hilbert @ np.ones(n)
    plain, refined = (linalg.solve(hilbert, b, refine=steps, info=True) for steps in (0, None))
    assert plain[1].refinements == 0 and refined[1].refinements > 0
    assert refined[1].backward_error <= max(plain[1].backward_error, 1e-16)


def test_reports_of_batches(rng):
    a = matrix(rng, (3, 4, 4))
    a[1, 2] = a[1, 0]
    b = rng.normal(size=(3, 4, 2))
    x, reports = linalg.solve(a, b, info=True, factorization="lu")
    assert [report.status for report in reports] == ["solved", "singular", "solved"]
    assert np.isnan(x[1]).all() and np.isfinite(x[[0, 2]]).all()
    with pytest.raises(linalg.LinAlgError, match=r"a\[1\] is singular") as raised:
        linalg.solve(a, b)
    assert raised.value.report.status == "singular"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 31, 33])
def test_small_batches(rng, dtype, n):
    a, b = matrix(rng, (40, n, n), dtype), rng.normal(size=(40, n, 2)).astype(dtype)
    x, reports = linalg.solve(a, b, info=True)
    assert (linalg.solve(a, b) == x).all() and x.dtype == dtype
    assert (linalg.solve(np.asfortranarray(a), b[..., ::-1])[..., ::-1] == x).all()
    assert (linalg.solve(a[:8].reshape(2, 4, n, n), b[:8].reshape(2, 4, n, 2)).reshape(8, n, 2) == x[:8]).all()
    single, report = linalg.solve(a[7], b[7], info=True)
    assert report == reports[7] and (single == x[7]).all()
    assert max(report.backward_error for report in reports) <= 4 * np.finfo(dtype).eps
    close(linalg.inv(a) @ a, np.broadcast_to(np.eye(n, dtype=dtype), a.shape), 1e4)
    close(linalg.det(a), np.linalg.det(a.astype("f8")).astype(dtype), 1e4)


def test_messages_of_batches(rng):
    a = matrix(rng, (6, 3, 3))
    a[2], a[4] = np.ones((3, 3)), np.nan
    with pytest.raises(linalg.LinAlgError, match=r"x\[2\] is singular"):
        linalg.inv(a)
    with pytest.raises(linalg.LinAlgError, match=r"x\[1, 1\] contains NaN"):
        linalg.inv(a[3:5].repeat(2, 0)[[0, 1, 0, 2]].reshape(2, 2, 3, 3))
    a[2] = np.diag([1.0, 1e-17, 1.0])
    with pytest.warns(linalg.ConditionWarning, match=r"a\[2\] is ill-conditioned") as caught:
        linalg.solve(a[:4], np.ones((4, 3, 1)))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("call", [lambda a: linalg.solve(a, a[0]), linalg.inv, lambda a: linalg.lstsq(a, a[0])])
def test_singular(call):
    for a in (np.zeros((3, 3)), np.ones((3, 3)), np.array([[1.0, 2], [2, 4]])):
        with pytest.raises(linalg.LinAlgError, match="singular") as raised:
            call(a)
        assert isinstance(raised.value, echelon.Error) and isinstance(raised.value, np.linalg.LinAlgError)
        assert raised.value.report.failed_index < len(a)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(rng, value):
    a = matrix(rng, (4, 4))
    bad = a.copy()
    bad[2, 1] = value
    b = rng.normal(size=4)
    for call in (lambda: linalg.solve(bad, b), lambda: linalg.inv(bad), lambda: linalg.lstsq(bad, b)):
        with pytest.raises(linalg.LinAlgError, match="NaN or infinity in row 2"):
            call()
    b[3] = value
    with pytest.raises(linalg.LinAlgError, match="b contains NaN or infinity in column 0"):
        linalg.solve(a, b)
    assert np.isnan(linalg.det(bad)) and np.isnan(linalg.slogdet(bad).logabsdet)


def test_condition_warning():
    n = 14
    hilbert = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
    for call in (lambda: linalg.solve(hilbert, np.ones(n)), lambda: linalg.inv(hilbert)):
        with pytest.warns(linalg.ConditionWarning, match="is ill-conditioned") as caught:
            call()
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linalg.solve(hilbert, np.ones(n), info=True)
        linalg.solve(hilbert[:5, :5], np.ones(5))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (50, 50), (2, 3, 4, 4), (0, 0), (0, 3, 3), (3, 0, 0)])
def test_inv_and_determinants(rng, dtype, shape):
    a = matrix(rng, shape, dtype)
    sign, logabsdet = np.linalg.slogdet(a)
    for x in layouts(a):
        close(linalg.inv(x), np.linalg.inv(a), 1000)
        close(linalg.det(x), np.linalg.det(a), 3000)
        result = linalg.slogdet(x)
        close(result.sign, sign)
        close(result.logabsdet, logabsdet, 1000)
    out = np.empty_like(a)
    assert linalg.inv(a, out=out) is out
    close(out, np.linalg.inv(a), 1000)


def test_inverse_in_place(rng):
    a = matrix(rng, (5, 5))
    wanted = np.linalg.inv(a)
    linalg.inv(a, out=a)
    close(a, wanted, 1000)
    inverse, report = linalg.inv(np.eye(3), info=True)
    assert report.status == "solved" and (inverse == np.eye(3)).all()


def test_extreme_determinants():
    assert linalg.det(np.zeros((3, 3))) == 0
    assert linalg.slogdet(np.zeros((3, 3))) == (0, -np.inf)
    huge = np.eye(400) * 1e3
    assert linalg.det(huge) == np.inf
    assert linalg.slogdet(huge).logabsdet == pytest.approx(400 * np.log(1e3))
    assert linalg.det(np.array([[0.0, 1], [1, 0]])) == -1
    assert linalg.det([[2, 0], [0, 3]]) == pytest.approx(6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shapes", [((20, 3), (20,)), ((20, 3), (20, 4)), ((5, 5), (5, 2)), ((6, 1), (6,)),
                                    ((4, 0), (4, 2)), ((7, 3), (7, 0))])
def test_lstsq(rng, dtype, shapes):
    a, b = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    x, residuals, rank, s = linalg.lstsq(np.asfortranarray(a), b)
    wanted = np.linalg.lstsq(a, b, rcond=None)
    close(x, wanted[0], 10000)
    assert rank == a.shape[1] and s is None
    if a.shape[1]:  # otherwise NumPy returns no residuals
        close(residuals, wanted[1], 1e5)


def test_lstsq_rcond(rng):
    a = rng.normal(size=(20, 3))
    a[:, 2] = a[:, 0] + 1e-9 * rng.normal(size=20)
    assert linalg.lstsq(a, a[:, 1]).rank == 3
    with pytest.raises(linalg.LinAlgError, match="less than rcond"):
        linalg.lstsq(a, a[:, 1], rcond=1e-6)


def test_integers():
    a = np.array([[3, 1], [1, 2]])
    for dtype in ("i1", "u2", "i4", "i8"):
        x = linalg.solve(a.astype(dtype), np.array([9, 8]))
        close(x, np.array([2.0, 3.0]))
        close(linalg.inv(a.astype(dtype)), np.linalg.inv(a))
    close(linalg.solve([[3, 1], [1, 2]], [9, 8]), np.array([2.0, 3.0]))
    assert linalg.solve(a.astype("f2"), np.ones(2, "f2")).dtype == np.float32


EYE = np.eye(3)


@pytest.mark.parametrize("call, error, text", [
    (lambda: linalg.matmul(EYE, np.ones(4)), ValueError, "x1 has 3 columns, but x2 has 4 rows"),
    (lambda: linalg.matmul(np.ones((2, 3, 3)), np.ones((4, 3, 3))), ValueError, "cannot be broadcast"),
    (lambda: linalg.matmul(2.0, EYE), ValueError, "x1 has no dimensions"),
    (lambda: linalg.matmul(EYE.astype(int), EYE.astype(int)), TypeError, "products of integers"),
    (lambda: linalg.matmul(EYE * 1j, EYE), TypeError, "complex"),
    (lambda: linalg.matmul(EYE, EYE.astype("M8[s]")), TypeError, "x2 has dtype"),
    (lambda: linalg.matmul(EYE, EYE, out=np.empty((3, 2))), ValueError, "out has shape"),
    (lambda: linalg.matmul(EYE, EYE, out=np.empty((3, 3), "f4")), TypeError, "out has dtype"),
    (lambda: linalg.matmul(EYE, EYE, dtype="f4"), TypeError, "dtype is float32"),
    (lambda: linalg.matmul(EYE, EYE, algorithm=3), TypeError, "algorithm is 3"),
    (lambda: linalg.vecdot(EYE, np.ones(4)), ValueError, "length"),
    (lambda: linalg.vecdot(EYE, EYE, axis=2), ValueError, "axis is 2"),
    (lambda: linalg.solve(EYE[:2], np.ones(3)), linalg.LinAlgError, "must be equal"),
    (lambda: linalg.solve(EYE[0], np.ones(3)), linalg.LinAlgError, "dimensions"),
    (lambda: linalg.solve(EYE, np.ones(4)), ValueError, "b has shape"),
    (lambda: linalg.solve(EYE, 1.0), ValueError, "b has shape"),
    (lambda: linalg.solve(np.ones((2, 3, 3)), np.ones((4, 3, 1))), ValueError, "broadcast"),
    (lambda: linalg.solve(EYE * 1j, np.ones(3)), TypeError, "complex"),
    (lambda: linalg.solve(EYE, np.ones(3), factorization="svd"), ValueError, "factorization is 'svd'"),
    (lambda: linalg.solve(EYE, np.ones(3), refine=1001), ValueError, "refine is 1001"),
    (lambda: linalg.solve(EYE, np.ones(3), refine=0.5), TypeError, "refine is 0.5"),
    (lambda: linalg.solve(EYE, np.ones(3), algorithm="none"), ValueError, "none"),
    (lambda: linalg.solve(EYE, np.ones(3), out=np.ones(4)), ValueError, "out has shape"),
    (lambda: linalg.inv(np.ones((2, 3))), linalg.LinAlgError, "must be equal"),
    (lambda: linalg.det(np.ones(3)), linalg.LinAlgError, "dimensions"),
    (lambda: linalg.lstsq(np.ones((2, 3)), np.ones(2)), echelon.UnsupportedError, "fewer rows"),
    (lambda: linalg.lstsq(EYE, np.ones(4)), linalg.LinAlgError, "b has shape"),
    (lambda: linalg.lstsq(np.ones((2, 3, 3)), np.ones(3)), linalg.LinAlgError, "two"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call()
    assert isinstance(raised.value, echelon.Error)


def test_read_only():
    a = EYE.copy()
    a.flags.writeable = False
    close(linalg.matmul(a, a), EYE)
    close(linalg.inv(a), EYE)


def test_without_vendor_libraries():
    """The results do not need BLAS or LAPACK."""
    code = ("import numpy, echelon; a = numpy.array([[4.0, 1], [2, 3]]); "
            "print(echelon.linalg.matmul(a, a).tolist(), echelon.linalg.solve(a, a[0]).round(12).tolist())")
    environment = {**os.environ, "ECHELON_BLAS": "none", "ECHELON_LAPACK": "none"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[[18.0, 7.0], [14.0, 11.0]] [1.1, -0.4]\n"


def test_explain(rng):
    """The explanation of a batch without a common distance contains the number of products."""
    a, b = rng.normal(size=(2, 1, 3, 4)), rng.normal(size=(5, 4, 2))
    call, = echelon.explain(linalg.matmul, a, b)
    assert call.function == "ech_matmul_pointers" and call.plan["operation"] == "matmul", call.plan
    call, = echelon.explain(linalg.solve, a[0, 0, :3, :3], a[0, 0, :3, 0])
    assert call.plan["operation"] == "direct_solve" and call.dtype == "float64"


# ---- PyTorch ----

def devices():
    return ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", devices())
def test_torch(rng, device):
    torch = pytest.importorskip("torch")
    a, b = matrix(rng, (3, 5, 5), "f4"), rng.normal(size=(5, 2)).astype("f4")
    x, y = torch.tensor(a, device=device), torch.tensor(b, device=device)
    assert torch.allclose(linalg.matmul(x, y), x @ y, atol=1e-4)
    assert torch.allclose(linalg.matmul(x.mT, y), x.mT @ y, atol=1e-4)
    assert torch.allclose(linalg.matmul(x.half(), y.half()).float(), x.half().float() @ y.half().float(), atol=0.1)
    assert linalg.matmul(x.bfloat16(), y.bfloat16()).dtype is torch.bfloat16
    solution = linalg.solve(x, y)
    assert solution.device == x.device and torch.allclose(solution, torch.linalg.solve(x, y), atol=1e-5)
    assert torch.allclose(linalg.inv(x), torch.linalg.inv(x), atol=1e-5)
    assert torch.allclose(linalg.det(x), torch.linalg.det(x), rtol=1e-4)
    assert torch.allclose(linalg.slogdet(x).logabsdet, torch.linalg.slogdet(x).logabsdet, atol=1e-4)
    tall = torch.tensor(rng.normal(size=(9, 3)), device=device)
    right = torch.tensor(rng.normal(size=9), device=device)
    result = linalg.lstsq(tall, right)
    assert torch.allclose(result.x, torch.linalg.lstsq(tall, right[:, None]).solution[:, 0])
    out = torch.empty((3, 5, 2), device=device)
    assert linalg.matmul(x, y, out=out) is out and torch.allclose(out, x @ y, atol=1e-4)
    with pytest.raises(linalg.LinAlgError):
        linalg.solve(torch.zeros((3, 3), device=device), torch.ones(3, device=device))
    bad = x.clone()
    bad[1] = 0
    values, reports = linalg.solve(bad, y, info=True)
    assert bool(values[1].isnan().all()) and reports[1].status == "singular"


@pytest.mark.gpu
def test_cupy(rng):
    cupy = pytest.importorskip("cupy")
    a, b = matrix(rng, (2, 6, 6)), rng.normal(size=(6, 2))
    x, y = cupy.asarray(a), cupy.asarray(b)
    close(linalg.matmul(x, y).get(), a @ b)
    close(linalg.solve(x, y).get(), np.linalg.solve(a, b), 1000)
    close(linalg.inv(x).get(), np.linalg.inv(a), 1000)
    close(linalg.det(x).get(), np.linalg.det(a), 1000)
    close(linalg.vecdot(x[0], x[1]).get(), (a[0] * a[1]).sum(-1))


@pytest.mark.parametrize("name", ["", "x", "tiled\0", "\ud800"])
def test_unknown_algorithms(name):
    for call in (echelon.linalg.matmul, echelon.linalg.solve):
        with pytest.raises(echelon.ArgumentError, match="algorithm"):
            call(np.eye(2), np.eye(2), algorithm=name)
