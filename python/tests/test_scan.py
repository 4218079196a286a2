"""Cumulative operations and histograms on arrays of NumPy, compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_cumulative_integers(rng, dtype):
    x = rng.integers(0, 3, (3, 4, 5)).astype(dtype)
    for array in (x, x.T, x[::-1, :, ::2]):
        for axis in (0, 1, 2, -1):
            same(echelon.cumulative_sum(array, axis=axis), np.cumsum(array, axis=axis))
            same(echelon.cumulative_prod(array, axis=axis), np.cumprod(array, axis=axis))
    same(echelon.cumulative_sum(x[0, 0], include_initial=True), np.concatenate([[0], np.cumsum(x[0, 0])])
         .astype(np.cumsum(x).dtype))
    grown = echelon.cumulative_prod(x, axis=1, include_initial=True)
    assert grown.shape == (3, 5, 5) and (grown[:, 0] == 1).all() and (grown[:, 1:] == np.cumprod(x, axis=1)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_cumulative_floats(rng, dtype):
    x = rng.random((17, 300)).astype(dtype)
    for axis in (0, 1):
        actual = echelon.cumulative_sum(x, axis=axis)
        assert actual.dtype == dtype
        np.testing.assert_allclose(actual.astype("f8"), np.cumsum(x.astype("f8"), axis=axis), rtol=2e-3)
        wide = echelon.cumulative_sum(x, axis=axis, dtype="float64")
        np.testing.assert_allclose(wide, np.cumsum(x.astype("f8"), axis=axis), rtol=1e-12)


def test_dtype(rng):
    x = rng.integers(-50, 50, 100).astype("i1")
    same(echelon.cumulative_sum(x, dtype="int8"), np.cumsum(x, dtype="i1"))
    same(echelon.cumulative_sum(x, dtype="int32"), np.cumsum(x, dtype="i4"))
    same(echelon.cumulative_sum(x, dtype=np.float32), np.cumsum(x, dtype="f4"))


@pytest.mark.parametrize("op, ufunc", [("sum", np.add), ("prod", np.multiply), ("min", np.minimum),
                                       ("max", np.maximum), ("and", np.bitwise_and), ("or", np.bitwise_or),
                                       ("xor", np.bitwise_xor)])
def test_scan(rng, op, ufunc):
    x = rng.integers(0, 100, (6, 7)).astype("u2")
    for axis in (0, 1):
        expected = ufunc.accumulate(x, axis=axis, dtype="u2")
        same(echelon.scan(x, op, axis=axis), expected)
        same(echelon.scan(x, op, axis=axis, reverse=True),
             np.flip(ufunc.accumulate(np.flip(x, axis), axis=axis, dtype="u2"), axis).copy())
        shifted = np.moveaxis(echelon.scan(x, op, axis=axis, exclusive=True, init=5), axis, -1)
        assert (shifted[:, 0] == 5).all()
        assert (shifted[:, 1:] == np.moveaxis(ufunc(expected, np.array(5, "u2")), axis, -1)[:, :-1]).all()
        y = x.copy()
        assert echelon.scan(y, op, axis=axis, out=y) is y
        same(y, expected)


def test_segments_and_keys(rng):
    x = rng.integers(0, 9, 100)
    offsets = np.array([0, 10, 63, 100])
    expected = np.concatenate([np.cumsum(x[a:b]) for a, b in zip(offsets, offsets[1:])])
    same(echelon.scan_segments(x, offsets), expected)
    same(echelon.scan_by_key(np.repeat([1, 2, 1], np.diff(offsets)), x), expected)
    inner = echelon.scan_segments(x, offsets[1:3])
    same(inner[:10], x[:10])
    same(inner[63:], x[63:])
    same(echelon.scan_segments(x.astype("f4"), offsets, dtype="float64"), expected.astype("f8"))


@pytest.mark.parametrize("dtype", INTEGERS + ["float32", "float64"])
def test_histogram(rng, dtype):
    x = rng.integers(0, 100, 1000).astype(dtype)
    for arguments in ({}, {"bins": 7, "range": (0, 50)}, {"bins": [0, 1, 2, 50, 80]},
                      {"bins": 4, "range": (0.5, 20.25)}, {"bins": np.array([0.5, 3.5, 90])},
                      {"bins": 5, "density": True}):
        counts, edges = echelon.histogram(x, **arguments)
        expected, expected_edges = np.histogram(x.astype("f8"), **arguments)
        np.testing.assert_allclose(counts, expected)
        np.testing.assert_allclose(edges, expected_edges)
    weights = rng.integers(0, 5, 1000)
    for kind in ("i4", "f4", "f8", "u1"):
        counts, _ = echelon.histogram(x, 9, weights=weights.astype(kind))
        np.testing.assert_allclose(counts, np.histogram(x.astype("f8"), 9, weights=weights)[0])


def test_histogram_of_random_floats(rng):
    x = rng.normal(size=10_000)
    x[::100] = np.nan
    counts, edges = echelon.histogram(x, 100, (-3, 3))
    expected, _ = np.histogram(x[~np.isnan(x)], 100, (-3, 3))
    assert np.abs(counts - expected).max() <= 2 and counts.sum() == expected.sum()


def test_bincount(rng):
    for dtype in ("u1", "i8", "i4", "u2"):
        x = rng.integers(0, 50, 300).astype(dtype)
        same(echelon.bincount(x), np.bincount(x))
        same(echelon.bincount(x, minlength=99), np.bincount(x, minlength=99))
        same(echelon.bincount(x, bins=10), np.bincount(x)[:10])
        w = rng.integers(0, 9, 300).astype("f8")
        same(echelon.bincount(x, w), np.bincount(x, w))
    assert echelon.bincount(np.empty(0, "i4")).shape == (0,)


def test_histogram2d(rng):
    x, y = rng.integers(0, 20, (2, 500)).astype("f4")
    for arguments in ({}, {"bins": (3, 8)}, {"bins": 4, "range": ((0, 8), (2, 30))}):
        actual, expected = echelon.histogram2d(x, y, **arguments), np.histogram2d(x, y, **arguments)
        for a, b in zip(actual, expected):
            np.testing.assert_allclose(a, b)


def test_histogram2d_of_different_dtypes(rng):
    x, y = rng.integers(0, 20, 500), rng.normal(size=500)
    for pair in ((x, y), (y, x), (x.astype("u1"), x), (x > 9, y.astype("f4"))):
        counts, *edges = echelon.histogram2d(*pair, bins=(5, 7))
        expected, *expected_edges = np.histogram2d(*(a.astype("f8") for a in pair), bins=(5, 7))
        np.testing.assert_array_equal(counts, expected)
        for a, b in zip(edges, expected_edges):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("values", [[2**60 + 1, 2**61 - 1, 2**61 + 3], [2**60], [2**63 - 1] * 3, [-2**63 + 1, 5],
                                    [2**53 + 1, 0]])
def test_histogram_counts_integers_that_are_no_floats(values):
    for dtype in ("i8", "u8"):
        if dtype == "i8" or min(values) >= 0:
            counts, edges = echelon.histogram(np.array(values, dtype), 3)
            assert counts.sum() == len(values) and edges[0] <= min(values) and int(edges[-1]) >= max(values)
    assert echelon.histogram(np.array([2**64 - 1, 2**64 - 2], "u8"), 3)[0].sum() == 2
    with pytest.raises(ValueError, match="two different ends"):
        echelon.histogram(np.array([1e300]), 3)


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.cumulative_sum(x.reshape(2, 2)), ValueError, "axis is None"),
    (lambda x: echelon.cumulative_sum(np.float32(1)), ValueError, "no dimensions"),
    (lambda x: echelon.scan(x, "mean"), ValueError, "op is 'mean'"),
    (lambda x: echelon.scan(x, "xor"), TypeError, "needs integers"),
    (lambda x: echelon.scan(x, init="a"), TypeError, "init is 'a'"),
    (lambda x: echelon.scan(x.astype("i1"), init=300), ValueError, "init is 300"),
    (lambda x: echelon.scan_segments(x, [0, 5]), ValueError, "offsets"),
    (lambda x: echelon.scan_by_key(x[:2], x), ValueError, "values has length 4"),
    (lambda x: echelon.histogram(x, 0), ValueError, "bins is 0"),
    (lambda x: echelon.histogram(x, "auto"), TypeError, "bins is 'auto'"),
    (lambda x: echelon.histogram(x, [1]), ValueError, "at least 2"),
    (lambda x: echelon.histogram(x, [1, 1]), ValueError, "ascending"),
    (lambda x: echelon.histogram(x, 3, (1, np.inf)), ValueError, "finite range"),
    (lambda x: echelon.histogram(x, 3, (2, 1)), ValueError, "range is"),
    (lambda x: echelon.histogram(x, 3, 5), TypeError, "range is 5"),
    (lambda x: echelon.histogram(x, weights=x[1:]), ValueError, "weights has shape"),
    (lambda x: echelon.histogram(x * np.nan), ValueError, "finite range"),
    (lambda x: echelon.bincount(x), TypeError, "integers"),
    (lambda x: echelon.bincount(np.array([-1])), ValueError, "contains -1"),
    (lambda x: echelon.histogram2d(x, x[1:]), ValueError, "y has shape"),
    (lambda x: echelon.histogram2d(x, x.astype("M8[s]")), TypeError, "y has dtype"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 4.0, 3.0, 2.0]))
    assert isinstance(raised.value, echelon.Error)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", ["and", "or", "xor", "min", "max"])
def test_bytes_of_bool(rng, op, reverse):
    x = rng.random(50) < 0.8
    result = echelon.scan(x, op, exclusive=True, reverse=reverse)
    assert result.dtype == bool and result.view("u1").max() <= 1
    assert bool(result[-1 if reverse else 0]) is (op in ("and", "min"))
    assert echelon.scan_segments(x, [0, 9, 9, 50], op, exclusive=True).view("u1").max() <= 1
    with pytest.raises(echelon.ArgumentError, match="init is 2"):
        echelon.scan(x, op, init=2)
