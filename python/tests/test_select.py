"""Selections, partitions by flags and tests, and runs, compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import operator

import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers

TESTS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">=": operator.ge, ">": operator.gt}


@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]", "m8[D]"])
@pytest.mark.parametrize("shape", [(0,), (1,), (37,), (5, 8), (3, 4, 5), (0, 3), (3, 0)])
def test_compress(rng, dtype, shape):
    base = numbers(rng, shape, dtype)
    for x in (base, base.T, base[::-1]):
        for axis in (None, *range(-x.ndim, x.ndim)):
            n = x.size if axis is None else x.shape[axis]
            for condition in (rng.random(n) < 0.5, rng.random(n // 2) < 0.5, rng.integers(0, 2, n), np.zeros(n)):
                same(echelon.compress(condition, x, axis=axis), np.ascontiguousarray(np.compress(condition, x, axis)))
            flags = rng.random(n) < 0.5
            expected = np.ascontiguousarray(np.compress(~flags, x, axis))
            same(echelon.compress(flags, x, axis=axis, invert=True), expected)
            packed = np.packbits(flags, bitorder="little")
            same(echelon.compress(packed, x, axis=axis, packed=True, invert=True), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (9,), (5, 8), (3, 4, 5), (0, 3), (3, 0)])
def test_nonzero(rng, dtype, shape):
    x = numbers(rng, shape, dtype)
    x[rng.random(shape) < 0.5] = 0
    for y in (x, x.T):
        for ours, theirs in zip(echelon.nonzero(y), np.nonzero(y)):
            same(ours, theirs)
        for ours, theirs in zip(echelon.nonzero(y, dtype="int32"), np.nonzero(y)):
            same(ours, theirs.astype("int32"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compare", TESTS)
def test_select_if(rng, dtype, compare):
    x = numbers(rng, (30, 9), dtype).T
    value = {"b": True, "f": 0.5}.get(x.dtype.kind, 50)
    flags = TESTS[compare](x, x.dtype.type(value)).reshape(-1)
    flat = x.reshape(-1)
    same(echelon.select_if(x, compare, value), flat[flags])
    same(echelon.select_if(x, compare, value, invert=True), flat[~flags])
    same(echelon.select_if(x, compare, value, positions=True, dtype="u4"), np.flatnonzero(flags).astype("u4"))
    found, count = echelon.partition_if(x, compare, value)
    same(found, np.concatenate([flat[flags], flat[~flags]]))
    assert count == flags.sum() and type(count) is int
    out = np.empty(2 * x.size, dtype)[::2]
    assert echelon.partition_if(flat, compare, value, out=out)[0] is out
    same(out.copy(), found)


def test_other_tests(rng):
    x = numbers(rng, 100, "float32")
    same(echelon.select_if(x, "isnan", positions=True), np.flatnonzero(np.isnan(x)))
    same(echelon.select_if(x, "nonzero"), x[x != 0])
    y = rng.integers(0, 16, 100).astype("uint8")
    same(echelon.select_if(y, "has_any", 5), y[(y & 5) != 0])
    same(echelon.select_if(y, "has_all", 5), y[(y & 5) == 5])
    same(echelon.select_if(y, "has_none", 5), y[(y & 5) == 0])


def test_partitions(rng):
    x, flags = rng.random((40, 3)), rng.random(40) < 0.3
    expected = np.concatenate([x[flags], x[~flags]])
    found, count = echelon.partition_flags(x, flags)
    same(found, expected)
    assert count == flags.sum()
    out = np.empty((3, 40)).T
    assert echelon.partition_flags(x, np.packbits(flags, bitorder="little"), packed=True, out=out)[0] is out
    same(out.copy("C"), expected)
    same(echelon.partition_flags(x, flags, invert=True)[0], np.concatenate([x[~flags], x[flags]]))
    y = x.copy()
    echelon.partition_flags(y, flags, out=y)
    same(y, expected)
    assert echelon.partition_flags(np.empty((3, 0)), [True, False, True])[1] == 2
    for dtype in ("int8", "float32", "uint64"):
        z = numbers(rng, 200, dtype)
        low, high = (-0.25, 0.5) if dtype == "float32" else (20, 30)
        less, between = z < low, (z >= low) & (z <= high)
        found, counts = echelon.partition_3way(z, low, high)
        same(found, np.concatenate([z[less], z[between], z[~less & ~between]]))
        assert counts == (less.sum(), between.sum())
        echelon.partition_3way(z, low, high, out=z)
        same(z, found)
    same(echelon.partition_3way(np.empty(0), 1, 2)[0], np.empty(0))


@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]"])
@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_runs(rng, dtype, n):
    x = (rng.integers(0, 3, n) * (rng.random(n) < 0.5)).astype(dtype)
    if dtype.startswith("f"):
        x[x == 2] = np.nan
    groups = [list(group) for _, group in itertools.groupby(x.view("u1" if x.dtype == bool else f"u{x.itemsize}")
                                                            .tolist())]
    lengths = np.array([len(group) for group in groups], np.int64)
    starts = np.cumsum(lengths) - lengths
    values, found = echelon.rle_encode(x)
    same(values, x[starts])
    same(found, lengths)
    same(echelon.rle_decode(values, found), x)
    same(echelon.rle_decode(values, found.astype("u2"), total=n), x)
    same(echelon.unique_consecutive(x), x[starts])
    result = echelon.unique_consecutive(x, return_inverse=True, return_counts=True)
    same(result[0][result[1]], x)
    same(result[2], lengths)
    moved = rng.random((n, 2))
    same(echelon.unique_by_key(x, moved)[1], moved[starts])
    same(echelon.unique_by_key(x, moved, invert=True)[1], np.delete(moved, starts, axis=0))


def test_rle_decode_of_items(rng):
    x, lengths = rng.random((5, 2, 3)), np.array([2, 0, 1, 7, 0])
    same(echelon.rle_decode(x, lengths), np.repeat(x, lengths, axis=0))
    out = np.empty((10, 2, 3))
    assert echelon.rle_decode(x, lengths, out=out) is out
    same(out, np.repeat(x, lengths, axis=0))


def test_torch(rng):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(rng.integers(0, 3, (8, 5)))
    assert torch.equal(echelon.select_if(x, "==", 2), x[x == 2])
    assert torch.equal(torch.stack(echelon.nonzero(x)), torch.stack(torch.nonzero(x, as_tuple=True)))
    for ours, theirs in zip(echelon.unique_consecutive(x, return_inverse=True, return_counts=True),
                            torch.unique_consecutive(x.reshape(-1), return_inverse=True, return_counts=True)):
        assert torch.equal(ours.reshape(-1), theirs)
    assert torch.equal(echelon.compress(x[0] > 0, x, axis=1), x[:, x[0] > 0])
    half = torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16)
    assert echelon.select_if(half, ">=", 2).tolist() == [2, 3]


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.compress([True] * 5, x), ValueError, "condition has length 5"),
    (lambda x: echelon.compress([[True]], x), ValueError, "condition has 2 dimensions"),
    (lambda x: echelon.compress([True], x, axis=1), ValueError, "axis is 1"),
    (lambda x: echelon.compress([True], x, packed=True), TypeError, "condition has dtype bool"),
    (lambda x: echelon.compress(np.zeros(2, "u1"), x, packed=True), ValueError, "condition has length 2"),
    (lambda x: echelon.nonzero(1.0), ValueError, "x has no dimensions"),
    (lambda x: echelon.select_if(x, "=", 1), ValueError, "compare is '='"),
    (lambda x: echelon.select_if(x, "<"), ValueError, "value is missing"),
    (lambda x: echelon.select_if(x, "isnan", 1), ValueError, "has no value"),
    (lambda x: echelon.select_if(x, "<", "a"), TypeError, "value is 'a'"),
    (lambda x: echelon.select_if(x.astype("i1"), "<", 128), ValueError, "value is 128"),
    (lambda x: echelon.select_if(x.astype("i1"), "<", 0.5), ValueError, "value is 0.5"),
    (lambda x: echelon.select_if(x.astype("u8"), "<", -1), ValueError, "value is -1"),
    (lambda x: echelon.select_if(x, "has_any", 1), TypeError, "only for integers"),
    (lambda x: echelon.select_if(x.astype("M8[s]"), "<", 1), TypeError, "use compress"),
    (lambda x: echelon.partition_3way(x, 2, 1), ValueError, "low"),
    (lambda x: echelon.partition_flags(x, [True]), ValueError, "flags has length 1"),
    (lambda x: echelon.rle_decode(x, [1, 1]), ValueError, "lengths has length 2"),
    (lambda x: echelon.rle_decode(x, [1, -1, 1, 1]), ValueError, "lengths contains -1"),
    (lambda x: echelon.rle_decode(x, [1, 1, 1, 1], total=3), ValueError, "add up to more"),
    (lambda x: echelon.rle_decode(x, [1.0] * 4), TypeError, "lengths has dtype"),
    (lambda x: echelon.rle_decode(x, [2**62] * 4), ValueError, "lengths"),
    (lambda x: echelon.unique_by_key(x, x[:1]), ValueError, "values has length 1"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0, 3.0, 4.0]))
    assert isinstance(raised.value, echelon.Error)
