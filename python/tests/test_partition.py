"""Partitions, elements of ranks and quantiles compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same
from echelon._ops.quantile import METHODS
from test_sort import DTYPES, numbers

Q = [0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1]
OLD = np.quantile([0, 1], 0.75, method="closest_observation") == 0  # by definition it is 1
AGREEING = [pytest.param(method, marks=pytest.mark.skipif(OLD and method == "closest_observation", reason="this "
                         "version of NumPy rounds closest_observation down")) for method in METHODS]


def check_partition(x, result, kth, axis):
    """Asserts that result is x, partitioned around the ranks of kth."""
    assert result.dtype == x.dtype and result.shape == x.shape
    expected = np.sort(x, axis=axis)
    assert np.array_equal(np.sort(result, axis=axis), expected, equal_nan=x.dtype.kind == "f")
    last, ordered = np.moveaxis(result, axis, -1), np.moveaxis(expected, axis, -1)
    for rank in np.atleast_1d(kth):
        rank = rank % last.shape[-1]
        assert np.array_equal(last[..., rank], ordered[..., rank], equal_nan=x.dtype.kind == "f")
        assert np.array_equal(np.sort(last[..., :rank], axis=-1), ordered[..., :rank], equal_nan=x.dtype.kind == "f")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, kth", [(1, 0), (100, 17), (101, [3, -1, 50, 50]), (1000, list(range(0, 1000, 3))),
                                        ((5, 30), [7, 2]), ((2, 2100), [700, -9])])
def test_partition(rng, dtype, shape, kth):
    x = numbers(rng, shape, dtype)
    for axis in range(x.ndim):
        ranks = np.asarray(kth) % x.shape[axis]
        check_partition(x, echelon.partition(x, ranks, axis=axis), ranks, axis)
        index = echelon.argpartition(x, ranks, axis=axis)
        assert index.dtype == np.int64
        check_partition(x, np.take_along_axis(x, index, axis), ranks, axis)


def test_partition_keeps_the_order():
    x = np.array([9, 1, 8, 3, 7, 2])
    same(echelon.partition(x, 2), np.array([1, 2, 3, 9, 8, 7]))
    same(echelon.argpartition(x, -4, dtype="u4"), np.array([1, 5, 3, 0, 2, 4], "u4"))
    assert echelon.partition(x, 2, out=x) is x
    same(x, np.array([1, 2, 3, 9, 8, 7]))
    same(echelon.partition(np.array(["2021", "NaT", "2020"], "M8[Y]"), 1), np.array(["2020", "2021", "NaT"], "M8[Y]"))
    same(echelon.partition(np.array([[3, 2], [1, 0]]), 1, axis=None), np.array([0, 1, 3, 2]))


@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]"])
def test_nth_element(rng, dtype):
    x = numbers(rng, (20, 11), dtype)
    order = np.argsort(x, axis=None, kind="stable")
    for rank in (0, 5, 100, -1, -220):
        value, index = echelon.nth_element(x, rank, return_index=True)
        assert index == order[rank]
        same(value, x.reshape(-1)[order[rank]])
        same(echelon.nth_element(x, rank) + x.dtype.type(0) if x.dtype.kind == "f" else echelon.nth_element(x, rank),
             value + x.dtype.type(0) if x.dtype.kind == "f" else value)


def close(ours, theirs):
    """Asserts that two results agree up to the rounding of their dtype."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (ours.dtype, theirs.dtype)
    tolerance = {2: 5e-3, 4: 1e-6}.get(ours.dtype.itemsize, 1e-13) if ours.dtype.kind == "f" else 0
    assert np.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", AGREEING)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "uint64", "float16", "float32", "float64"])
def test_quantile(rng, method, dtype):
    x = (rng.integers(0, 100, (6, 5, 7)) if np.dtype(dtype).kind != "f" else rng.normal(size=(6, 5, 7))).astype(dtype)
    reference = x.astype("f4") if dtype == "float16" else x  # NumPy's index of float16 is rounded
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            for q in (0.5, Q, [Q, Q]):
                theirs = np.quantile(reference, np.array(q), axis=axis, method=method, keepdims=keepdims)
                ours = echelon.quantile(x, q, axis=axis, method=method, keepdims=keepdims)
                close(ours, theirs.astype(dtype) if x.dtype.kind == "f" else theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", AGREEING)
def test_nan(rng, method):
    x = rng.normal(size=(40, 9))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[3] = np.nan
    for axis in (None, 0, 1):
        close(echelon.quantile(x, Q, axis=axis, method=method), np.quantile(x, Q, axis=axis, method=method))
        close(echelon.nanquantile(x, Q, axis=axis, method=method), np.nanquantile(x, Q, axis=axis, method=method))


@pytest.mark.parametrize("method", METHODS)
def test_both_ways_agree(rng, method, monkeypatch):
    """A sort of the rows and one call per row have bit-identical results."""
    import echelon._ops.quantile as module
    for dtype in ("float64", "float32", "int64", "bool"):
        x = numbers(rng, (50, 23), dtype)
        if dtype == "float64":
            x[1], x[2] = 1.7e308 * rng.choice([-1, 1], 23), rng.choice([np.inf, -np.inf, -0.0], 23)
        results = []
        for limit in (0, 10**6):
            monkeypatch.setattr(module, "_SORTED_COLS", limit)
            results.append(echelon.quantile(x, Q, axis=1, method=method))
        same(*results)


def test_infinities():
    x = np.array([np.inf, 1, -np.inf])
    assert echelon.quantile(x, [0, 0.5, 1]).tolist() == [-np.inf, 1, np.inf]
    assert echelon.quantile(np.array([x, x]), [0, 0.5, 1], axis=1).tolist() == [[-np.inf] * 2, [1, 1], [np.inf] * 2]


def test_median_and_percentile(rng):
    x = rng.integers(0, 1000, (9, 14))
    for axis in (None, 0, 1):
        close(echelon.median(x, axis=axis, keepdims=True), np.median(x, axis=axis, keepdims=True))
        close(echelon.percentile(x, [5, 50, 99], axis=axis), np.percentile(x, [5, 50, 99], axis=axis))
        y = np.where(x < 300, np.nan, x)
        close(echelon.nanmedian(y, axis=axis), np.nanmedian(y, axis=axis))
        close(echelon.nanpercentile(y, 25, axis=axis), np.nanpercentile(y, 25, axis=axis))
    out = np.empty((14, 3)).T
    assert echelon.quantile(x, [0.1, 0.2, 0.3], axis=0, out=out) is out
    close(out, np.quantile(x, [0.1, 0.2, 0.3], axis=0))
    assert np.isnan(echelon.median(np.empty(0)))
    assert echelon.median(np.empty((0, 3)), axis=1).shape == (0,)
    assert np.isnan(echelon.median(np.empty((3, 0)), axis=1)).tolist() == [True] * 3


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]"])
def test_times(rng, dtype):
    x = rng.integers(0, 10**9, (5, 20)).view(dtype)
    for axis in (None, 0, 1):
        same(echelon.quantile(x, Q, axis=axis), np.quantile(x, Q, axis=axis))
    x[0, 0] = "NaT"
    assert np.isnat(echelon.quantile(x, 0.5)) and np.isnat(echelon.median(x, axis=1)).tolist() == [True] + [False] * 4
    same(echelon.nanquantile(x, Q), np.quantile(x.reshape(-1)[1:], Q))


def test_torch(rng):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(rng.normal(size=(30, 8)).astype("f4"))
    q = torch.tensor([0.25, 0.5])
    for axis in (0, 1):
        assert torch.allclose(echelon.quantile(x, q, axis=axis), torch.quantile(x, q, dim=axis))
    assert torch.allclose(echelon.median(x), torch.quantile(x, 0.5))
    counts = torch.from_numpy(rng.integers(0, 99, (5, 9)).astype("u4"))
    assert torch.equal(echelon.quantile(counts, 0.5, axis=1, method="nearest").to(torch.int64),
                       counts.to(torch.int64).sort(dim=1).values[:, 4])
    assert echelon.median(counts, axis=1).dtype == torch.float64
    half = torch.tensor([[1, 2, 4], [3, 3, 9]], dtype=torch.bfloat16)
    assert echelon.median(half, axis=1).tolist() == [2, 3] and echelon.median(half).dtype == torch.bfloat16
    assert torch.equal(echelon.partition(half, 1)[:, 1], torch.tensor([2, 3], dtype=torch.bfloat16))


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.partition(x, 4), ValueError, "kth is 4"),
    (lambda x: echelon.partition(x, -5), ValueError, "kth is -5"),
    (lambda x: echelon.partition(x, 1.0), TypeError, "kth is 1.0"),
    (lambda x: echelon.argpartition(x, [0, 9]), ValueError, "kth is 9"),
    (lambda x: echelon.partition(x[:0], 0), ValueError, "kth is 0"),
    (lambda x: echelon.partition(x, 0, axis=3), ValueError, "axis is 3"),
    (lambda x: echelon.nth_element(x, 4), ValueError, "n is 4"),
    (lambda x: echelon.nth_element(x[:0], 0), ValueError, "n is 0"),
    (lambda x: echelon.quantile(x, 1.5), ValueError, "q is 1.5"),
    (lambda x: echelon.quantile(x, np.nan), ValueError, "q is nan"),
    (lambda x: echelon.percentile(x, [50, 101]), ValueError, "from 0 to 100"),
    (lambda x: echelon.quantile(x, "a"), TypeError, "q cannot be converted"),
    (lambda x: echelon.quantile(x, 0.5, method="best"), ValueError, "method is 'best'"),
    (lambda x: echelon.quantile(x, 0.5, out=np.empty(1)), ValueError, "out has shape"),
    (lambda x: echelon.quantile(x[:0].astype(int), 0.5, method="lower"), ValueError, "x has no elements"),
    (lambda x: echelon.median(x, axis=1), ValueError, "axis is 1"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0, 3.0, 4.0]))
    assert isinstance(raised.value, echelon.Error)
