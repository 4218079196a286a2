"""Reductions on arrays of NumPy, compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import warnings

import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import numbers

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
FLOATS = ["float16", "float32", "float64"]
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}


def close(actual, expected, dtype):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, (actual.dtype, expected.dtype)
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(actual.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 0), (), (0, 1, 2)])
def test_integers(rng, dtype, axis):
    x = rng.integers(0, 3, (5, 4, 3)).astype(dtype)
    for array in (x, np.asfortranarray(x), x[::-1, ::2], x[:0] if axis == 1 else x):
        for keepdims in (False, True):
            arguments = {"axis": axis, "keepdims": keepdims}
            for name in ("sum", "prod", "any", "all", "count_nonzero"):
                expected = getattr(np, name)(array, **arguments)  # count_nonzero() of NumPy 1 returns an int
                expected = np.int64(expected) if type(expected) is int else expected
                same(getattr(echelon, name)(array, **arguments), expected)
            if array.shape[0]:
                for name in ("min", "max"):
                    same(getattr(echelon, name)(array, **arguments), getattr(np, name)(array, **arguments))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_floats(rng, dtype, axis):
    x = rng.normal(size=(31, 17)).astype(dtype)
    for array in (x, x.T, x[:, ::3]):
        for name in ("sum", "mean", "prod"):
            close(getattr(echelon, name)(array, axis=axis), getattr(np, name)(array.astype("f8"), axis=axis)
                  .astype(dtype), dtype)
        for correction in (0, 1, 2, 0.5):
            for name in ("var", "std"):
                expected = getattr(np, name)(array.astype("f8"), axis=axis, ddof=correction).astype(dtype)
                close(getattr(echelon, name)(array, axis=axis, correction=correction), expected, dtype)
        for name in ("min", "max"):
            same(getattr(echelon, name)(array, axis=axis), getattr(np, name)(array, axis=axis))
        if axis != (0, 1):
            for name in ("argmin", "argmax"):
                same(getattr(echelon, name)(array, axis=axis), getattr(np, name)(array, axis=axis))
        close(echelon.norm(array, axis=axis), np.sqrt(np.sum(np.square(array.astype("f8")), axis=axis)).astype(dtype),
              dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan(rng, dtype):
    x = numbers(rng, (20, 6), dtype)
    x[np.isinf(x)] = 1
    x[3] = np.nan
    for axis in (None, 0, 1):
        for name in ("sum", "min", "max", "mean", "argmin", "argmax"):
            np.testing.assert_allclose(getattr(echelon, name)(x, axis=axis), getattr(np, name)(x, axis=axis),
                                       rtol=1e-5)
        for name in ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"):
            np.testing.assert_allclose(getattr(echelon, name)(x, axis=axis), getattr(np, name)(x, axis=axis),
                                       rtol=1e-5)


def test_dtypes(rng):
    x = rng.random(10_000).astype("f4")
    assert echelon.sum(x, dtype="float64") == pytest.approx(x.astype("f8").sum(), rel=1e-15)
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
        result = getattr(echelon, name)(x[:5], dtype="float64")
        assert result.dtype == "f8" and result == pytest.approx(getattr(np, name)(x[:5].astype("f8")), rel=1e-6)
    assert echelon.var(x, correction=np.int64(1)) == echelon.var(x, correction=1)
    assert echelon.sum(x, dtype=np.float64).dtype == np.float64
    assert echelon.sum(np.array([200, 100], "u1"), dtype="uint8") == 44
    assert echelon.mean(np.array([1, 2], "i4")).dtype == np.float64
    assert echelon.sum(np.array([True, True])).dtype == np.int64


def test_times():
    x = np.array([[5, 3], [9, 1]], "M8[D]")
    same(echelon.max(x, axis=0), x.max(axis=0))
    same(echelon.min(x), x.min())
    x[0, 0] = "NaT"
    for axis in (None, 0, 1):
        same(echelon.max(x, axis=axis), x.max(axis=axis))
        same(echelon.min(x, axis=axis), x.min(axis=axis))
        same(echelon.argmax(x, axis=axis), x.argmax(axis=axis))
    low, high = echelon.minmax(x, axis=1)
    same(high, x.max(axis=1))
    with pytest.raises(echelon.DTypeError, match="datetime64"):
        echelon.sum(x)


def test_out(rng):
    x = rng.integers(0, 9, (4, 5))
    out = np.empty(5, "i8")
    assert echelon.sum(x, axis=0, out=out) is out
    same(out, x.sum(axis=0))
    wide = np.zeros(10, "f8")
    echelon.mean(x, axis=0, out=wide[::2])
    same(wide[::2].copy(), x.mean(axis=0))
    assert not wide[1::2].any()


def test_minmax_and_dot(rng):
    x = rng.normal(size=(7, 9))
    for axis in (None, 0, 1):
        low, high = echelon.minmax(x, axis=axis)
        same(low, x.min(axis=axis))
        same(high, x.max(axis=axis))
        low, high = echelon.minmax(x, axis=axis, keepdims=True)
        same(low, x.min(axis=axis, keepdims=True))
        same(high, x.max(axis=axis, keepdims=True))
    a, b = rng.integers(0, 9, (2, 100)).astype("i4")
    same(echelon.dot(a, b), np.int64(np.dot(a.astype("i8"), b)))
    assert echelon.dot(x[0], x[1]) == pytest.approx(np.dot(x[0], x[1]))


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "argmin", "mean", "std", "count_nonzero", "any"])
def test_segments_and_keys(rng, op):
    x = rng.normal(size=100)
    offsets = np.array([0, 10, 63, 100], "i4")
    parts = [x[a:b] for a, b in zip(offsets, offsets[1:])]
    expected = np.array([getattr(np, op)(part) for part in parts])
    actual = echelon.reduce_segments(x, offsets, op)
    np.testing.assert_allclose(actual.astype("f8"), expected.astype("f8"))
    keys, values = echelon.reduce_by_key(np.repeat([7, 3, 7], [10, 53, 37]), x, op)
    same(keys, np.array([7, 3, 7]))
    same(values, actual)


def test_empty():
    x = np.empty((0, 3), "f4")
    same(echelon.sum(x, axis=0), np.zeros(3, "f4"))
    same(echelon.sum(x, axis=1), np.empty(0, "f4"))
    assert np.isnan(echelon.mean(x))
    assert echelon.reduce_segments(np.empty(0, "i4"), [0, 0]).tolist() == [0]
    assert [len(part) for part in echelon.reduce_by_key(np.empty(0, "i4"), np.empty(0, "i4"))] == [0, 0]


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.min(x[:0]), ValueError, "no elements"),
    (lambda x: echelon.argmax(x[:0]), ValueError, "no elements"),
    (lambda x: echelon.sum(x, axis=(0, 0)), ValueError, "occurs twice"),
    (lambda x: echelon.sum(x, axis=2), ValueError, "axis is 2"),
    (lambda x: echelon.sum(x, dtype="complex64"), TypeError, "dtype has dtype complex64"),
    (lambda x: echelon.argmin(x, axis=(0,)), TypeError, "axis is"),
    (lambda x: echelon.var(x, correction="1"), TypeError, "correction"),
    (lambda x: echelon.dot(x, x.astype("f4")), TypeError, "x2 has dtype float32"),
    (lambda x: echelon.dot(x, x[1:]), ValueError, "x2 has length 3"),
    (lambda x: echelon.reduce_segments(x, [0, 9]), ValueError, "offsets"),
    (lambda x: echelon.reduce_segments(x, [2, 1]), ValueError, "offsets"),
    (lambda x: echelon.reduce_segments(x, [0, 4], "median"), ValueError, "op is 'median'"),
    (lambda x: echelon.reduce_by_key(x[1:], x), ValueError, "values has length 4"),
    (lambda x: echelon.reduce_segments(x, [0, 4], "xor"), TypeError, "xor"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 4.0, 3.0, 2.0]))
    assert isinstance(raised.value, echelon.Error)


def test_dtype_selects_the_type_of_the_sum():
    x = np.array([2**62] * 4)
    assert echelon.sum(x, dtype="float64") == 2.0**64
    assert echelon.prod(np.full(30, 10), dtype="float64") == 1e30
    assert echelon.sum(np.array([0.5, 0.5]), dtype="int64") == 0
    assert echelon.dot(x, np.ones(4, int), dtype="float64") == 2.0**64
    same(echelon.reduce_segments(x, [0, 4], dtype="float64"), np.array([2.0**64]))
    same(echelon.reduce_by_key(np.zeros(4), x, dtype="float64")[1], np.array([2.0**64]))
    same(echelon.sum(x, dtype="float32"), np.float32(2.0**64))


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]"])
def test_nan_functions_skip_nat(rng, dtype):
    x = rng.integers(-9, 9, (40, 5)).astype(dtype)
    x[rng.random(x.shape) < 0.3] = "NaT"
    x[7] = "NaT"
    for axis in (0, 1, None):
        same(echelon.nanmin(x, axis=axis), np.fmin.reduce(x, axis=axis))
        same(echelon.nanmax(x, axis=axis), np.fmax.reduce(x, axis=axis))


def test_bytes_of_bool():
    x = np.array([True, False, True])
    for op, expected in (("and", [1, 0, 1]), ("min", [1, 0, 1]), ("or", [1, 1, 0]), ("max", [1, 1, 0])):
        result = echelon.reduce_segments(x, [0, 1, 3, 3], op)
        assert result.dtype == bool
        same(result.view("u1"), np.array(expected, "u1"))


def test_correction_of_numpy():
    x = np.array([1.0, 2.0, 4.0])
    for correction in (np.int64(1), np.float32(1)):
        assert echelon.var(x, correction=correction) == echelon.var(x, correction=1)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_nan_is_not_counted_by_correction(rng, axis):
    x = rng.normal(size=(9, 6))
    x[rng.random(x.shape) < 0.3] = np.nan
    x[0] = np.nan
    x[1, 1:] = np.nan
    for correction in (0, 1, 2, 0.5):
        for keepdims in (False, True):
            for name in ("nanvar", "nanstd"):
                result = getattr(echelon, name)(x, axis=axis, correction=correction, keepdims=keepdims)
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = getattr(np, name)(x, axis=axis, ddof=correction, keepdims=keepdims)
                close(result, expected, "float64")
