"""Sets, multisets and merges compared with NumPy and with counters.

SPDX-License-Identifier: Apache-2.0
"""
from collections import Counter

import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers

FUNCTIONS = ["union1d", "intersect1d", "setdiff1d", "setxor1d"]


def without_nan(x):
    return np.nan_to_num(x, nan=0.25) if x.dtype.kind == "f" else x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n1, n2", [(0, 0), (0, 9), (9, 0), (1, 1), (100, 40), (33, 500)])
def test_sets(rng, dtype, name, n1, n2):
    x1, x2 = without_nan(numbers(rng, n1, dtype)), without_nan(numbers(rng, n2, dtype))
    same(getattr(echelon, name)(x1, x2), getattr(np, name)(x1, x2))
    same(echelon.isin(x1, x2), np.isin(x1, x2))
    same(echelon.isin(x1, x2, invert=True), np.isin(x1, x2, invert=True))
    if name != "union1d":
        u1, u2 = rng.permutation(np.unique(x1)), rng.permutation(np.unique(x2))
        same(getattr(echelon, name)(u1, u2, assume_unique=True), getattr(np, name)(u1, u2))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
def test_membership_of_integers(rng, dtype):
    """In a table of the range of x2, and if the range is too large for a table."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.max], dtype)
    x1 = np.concatenate([rng.integers(info.min, info.max, 70000, dtype, endpoint=True), ends])
    x1[::3] = info.max - rng.integers(0, 100, x1[::3].shape, dtype)
    wide = np.concatenate([x1[1:200:2], ends])
    for x2 in (x1[::9][:5], x1[:3000:3], wide, np.arange(20, 90, dtype=dtype), x1[:1]):
        same(echelon.isin(x1, x2), np.isin(x1, x2))
        same(echelon.isin(x1, x2, invert=True), np.isin(x1, x2, invert=True))


def test_shapes_and_dtypes(rng):
    x1, x2 = rng.integers(0, 50, (6, 8)), rng.integers(0, 50, (5, 4)).astype("f4")
    for name in FUNCTIONS:
        same(getattr(echelon, name)(x1.T, x2[::2]), getattr(np, name)(x1.T, x2[::2]))
    same(echelon.isin(x1.T, x2), np.isin(x1.T, x2))
    out = np.empty((8, 6), bool)
    assert echelon.isin(x1, x2, out=out.T) is not None
    same(out, np.isin(x1, x2).T.copy())
    assert echelon.isin(3, [3, 4]) and not echelon.isin(2, [3, 4])


def test_nan_and_times():
    nan = np.array([np.nan, 1])
    same(echelon.intersect1d(nan, nan), np.array([1, np.nan]))
    assert echelon.isin(nan, [np.nan]).tolist() == [True, False]
    days, hours = np.array(["2020", "NaT", "2021"], "M8[D]"), np.array(["2021-01-01T00", "NaT"], "M8[h]")
    same(echelon.intersect1d(days, hours), np.array(["2021", "NaT"], "M8[h]"))
    same(echelon.setdiff1d(days, hours), np.array(["2020"], "M8[D]"))
    same(echelon.setdiff1d(np.array([2**53 + 1, 5]), np.array([5], "u1")), np.array([2**53 + 1]))
    same(echelon.isin(days, hours), np.array([False, True, True]))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_multisets(rng, dtype, descending):
    x1, x2 = (echelon.sort(without_nan(numbers(rng, n, dtype)), descending=descending) for n in (90, 120))
    m, n = Counter(x1.tolist()), Counter(x2.tolist())
    for operation, expected in (("union", m | n), ("intersection", m & n), ("difference", m - n),
                                ("symmetric_difference", (m - n) | (n - m))):
        result = echelon.set_operation(x1, x2, operation, descending=descending)
        assert result.dtype == x1.dtype and Counter(result.tolist()) == expected
        assert echelon.is_sorted(result, descending=descending)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]"])
def test_merges(rng, dtype, descending):
    parts = [echelon.sort(numbers(rng, n, dtype), descending=descending) for n in (7, 0, 100, 33)]
    whole = np.concatenate(parts)
    expected = echelon.sort(whole, descending=descending)
    order = echelon.argsort(whole, descending=descending)
    same(echelon.merge_many(whole, np.cumsum([0, 7, 0, 100, 33]), descending=descending) + whole.dtype.type(0)
         if whole.dtype.kind == "f" else echelon.merge_many(whole, [0, 7, 7, 107, 140], descending=descending),
         expected + expected.dtype.type(0) if whole.dtype.kind == "f" else expected)
    values = rng.random((140, 2))
    keys, moved = echelon.merge_many(whole, [0, 7, 7, 107, 140], values=values, descending=descending)
    same(moved, values[order])
    same(keys, whole[order])
    first, second = parts[0], parts[2]
    both = np.concatenate([first, second])
    merged = echelon.merge(first, second, descending=descending)
    order = echelon.argsort(both, descending=descending)
    same(merged, both[order])
    out = np.empty(214, first.dtype)[::2]
    assert echelon.merge(first, second, descending=descending, out=out) is out
    same(out.copy(), merged)
    outs = np.empty_like(whole), np.empty((2, 140)).T
    assert echelon.merge_many(whole, [0, 7, 7, 107, 140], values=values, descending=descending, out=outs)[0] is outs[0]
    same(outs[0], keys)
    same(outs[1].copy("C"), moved)
    outs = np.empty(107, first.dtype), np.empty((107, 2))
    assert echelon.merge_pairs(first, values[:7], second, values[7:107], descending=descending, out=outs)[1] is outs[1]
    same(outs[0], merged)
    same(outs[1], values[:107][order])
    keys, moved = echelon.merge_pairs(first, values[:7], second, values[7:107], descending=descending)
    same(keys, merged)
    same(moved, values[:107][order])


def test_torch(rng):
    torch = pytest.importorskip("torch")
    x1, x2 = torch.from_numpy(rng.integers(0, 30, 50)), torch.from_numpy(rng.integers(0, 30, 20))
    for name in FUNCTIONS:
        assert torch.equal(getattr(echelon, name)(x1, x2), torch.from_numpy(getattr(np, name)(x1.numpy(), x2.numpy())))
    assert torch.equal(echelon.isin(x1, x2), torch.isin(x1, x2))
    assert torch.equal(echelon.isin(x1, [1, 2]), torch.isin(x1, torch.tensor([1, 2])))
    assert echelon.union1d(torch.tensor([True, False]), torch.tensor([True])).tolist() == [False, True]
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    assert echelon.merge(half, half).dtype == torch.bfloat16


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.set_operation(x, x, "minus"), ValueError, "operation is 'minus'"),
    (lambda x: echelon.set_operation(x, x, []), ValueError, "operation is"),
    (lambda x: echelon.merge(x.reshape(2, 2), x), ValueError, "x1 has 2 dimensions"),
    (lambda x: echelon.merge(x, x, out=np.empty(4)), ValueError, "out has shape"),
    (lambda x: echelon.merge_pairs(x, x, x, x[:2]), ValueError, "values2 has length 2"),
    (lambda x: echelon.merge_pairs(x, x, x, x.astype("f4")), TypeError, "values2 has dtype"),
    (lambda x: echelon.merge_pairs(x, np.ones((4, 2)), x, np.ones((4, 3))), ValueError, "values2 has shape"),
    (lambda x: echelon.merge_many(x, [0, 9]), ValueError, "offsets"),
    (lambda x: echelon.merge_many(x, [0, 4], values=x[:1]), ValueError, "values has length 1"),
    (lambda x: echelon.merge_many(x, [0, 4], out=x[:2]), ValueError, "out has shape"),
    (lambda x: echelon.merge_pairs(x, x, x, x, out=(np.empty(8), x)), ValueError, r"out\[1\] has shape"),
    (lambda x: echelon.isin(x, x, out=x), TypeError, "out has dtype"),
    (lambda x: echelon.isin(x, np.array(["2020"], "M8[Y]")), TypeError, "cannot be compared"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0, 3.0, 4.0]))
    assert isinstance(raised.value, echelon.Error)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32"])
def test_bool_has_the_dtype_of_the_other_array(dtype):
    x, y = np.array([True, False]), np.array([1, 3]).astype(dtype)
    same(echelon.union1d(x, y), np.union1d(x, y))
    same(echelon.intersect1d(y, x), np.intersect1d(y, x))
