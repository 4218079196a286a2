"""searchsorted() compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, m", [(0, 3), (1, 0), (1, 5), (33, 100), (500, 7)])
def test_dtypes(rng, dtype, n, m):
    keys, needles = np.sort(numbers(rng, n, dtype)), numbers(rng, m, dtype)
    for side in ("left", "right"):
        same(echelon.searchsorted(keys, needles, side=side), np.searchsorted(keys, needles, side))
        same(echelon.searchsorted(keys, np.sort(needles), side=side, needles_sorted=True),
             np.searchsorted(keys, np.sort(needles), side))


def test_descending(rng):
    keys, needles = np.sort(rng.integers(0, 50, 100)), rng.integers(-5, 60, 80)
    for side, other in (("left", "right"), ("right", "left")):
        same(echelon.searchsorted(keys[::-1], needles, side=side, descending=True),
             100 - np.searchsorted(keys, needles, other))


def test_shapes(rng):
    keys = np.sort(rng.random(50))
    for needles in (rng.random((3, 4)), rng.random((3, 4)).T, rng.random((0, 2)), rng.random(40)[::3], [0.5, 2], 0.25,
                    1, True):
        expected = np.searchsorted(keys, needles)
        same(echelon.searchsorted(keys, needles), expected)
        if np.ndim(needles):
            out = np.empty(expected.shape[::-1], np.int64).T
            assert echelon.searchsorted(keys, needles, out=out) is out
            assert np.array_equal(out, expected)
    same(echelon.searchsorted(keys[::-1][::-1][::2], 0.5), np.searchsorted(keys[::2], 0.5))


def test_out_may_be_an_input(rng):
    keys, needles = np.sort(rng.integers(0, 99, 50)), rng.integers(0, 99, 20)
    expected = np.searchsorted(keys, needles)
    assert echelon.searchsorted(keys, needles, out=needles) is needles
    same(needles, expected)


@pytest.mark.parametrize("sorter", [np.argsort, lambda x: np.argsort(x) - x.size, lambda x: np.argsort(x).astype("i2"),
                                    lambda x: np.argsort(x).astype("u4"), lambda x: np.argsort(x).tolist()])
def test_sorter(rng, sorter):
    x, needles = rng.integers(0, 99, 60), rng.integers(0, 99, 20)
    same(echelon.searchsorted(x, needles, sorter=sorter(x)), np.searchsorted(x, needles, sorter=np.argsort(x)))


@pytest.mark.parametrize("first, second", [("i4", "f8"), ("i4", "i8"), ("u8", "i8"), ("f4", "i4"), ("b1", "i1"),
                                           ("f2", "f4")])
def test_common_dtype(rng, first, second):
    keys, needles = np.sort(numbers(rng, 40, first)), numbers(rng, 30, second)
    same(echelon.searchsorted(keys, needles), np.searchsorted(keys, needles))


def test_times():
    keys = np.array(["2020-01-01", "2021-01-01", "NaT"], "M8[D]")
    needles = np.array(["2020-06-01T12", "2021-01-01T00", "NaT", "2022-01-01T00"], "M8[h]")
    same(echelon.searchsorted(keys, needles), np.array([1, 1, 2, 2]))
    same(echelon.searchsorted(keys, needles, side="right"), np.array([1, 2, 3, 2]))


def test_torch(rng):
    torch = pytest.importorskip("torch")
    keys, needles = np.sort(rng.random(99)).astype("f4"), rng.random((4, 5)).astype("f4")
    found = echelon.searchsorted(torch.from_numpy(keys), torch.from_numpy(needles), dtype=torch.int32)
    assert isinstance(found, torch.Tensor) and found.dtype == torch.int32
    same(found.numpy(), np.searchsorted(keys, needles).astype("i4"))
    assert echelon.searchsorted(torch.from_numpy(keys), 2.0).item() == 99
    half = torch.tensor([1, 2, 3], dtype=torch.bfloat16)
    assert echelon.searchsorted(half, torch.tensor([2, 9])).tolist() == [1, 3]


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.searchsorted(x, x, side="middle"), ValueError, "side is 'middle'"),
    (lambda x: echelon.searchsorted(x.reshape(2, 2), x), ValueError, "x1 has 2 dimensions"),
    (lambda x: echelon.searchsorted(x, x, sorter=[0, 1]), ValueError, "sorter has shape"),
    (lambda x: echelon.searchsorted(x, x, sorter=[0.0, 1, 2, 3]), TypeError, "sorter has dtype"),
    (lambda x: echelon.searchsorted(x, x, sorter=[0, 1, 2, 4]), ValueError, "index"),
    (lambda x: echelon.searchsorted(x, x, dtype="i1"), TypeError, "dtype is int8"),
    (lambda x: echelon.searchsorted(x, x, out=np.empty(3, "i8")), ValueError, "out has shape"),
    (lambda x: echelon.searchsorted(x, np.array(["2020"], "M8[D]")), TypeError, "cannot be compared"),
    (lambda x: echelon.searchsorted(x, "text"), TypeError, "x2"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0, 3.0, 4.0]))
    assert isinstance(raised.value, echelon.Error)


def test_times_that_cannot_be_compared():
    days, nanoseconds = np.array(["4000", "NaT"], "M8[D]"), np.array(["2000", "NaT"], "M8[ns]")
    for call in (echelon.isin, echelon.searchsorted, echelon.merge, echelon.union1d):
        with pytest.raises(echelon.ArgumentError, match="cannot represent"):
            call(nanoseconds, days)
        with pytest.raises(echelon.DTypeError, match="cannot be compared"):
            call(nanoseconds, nanoseconds.view("m8[ns]"))
    same(echelon.isin(nanoseconds, np.array(["2000", "NaT"], "M8[D]")), np.array([True, True]))
    with pytest.raises(echelon.DTypeError, match="bins"):
        echelon.histogram([1.0], bins=days)
