"""Rearranging operations compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers

SHAPES = [(7,), (5, 8), (3, 4, 5), (1, 6), (6, 1), (0, 3), (3, 0)]


def layouts(x):
    """The array in several memory layouts."""
    return x, x.T, x[::-1], np.repeat(x, 2, axis=-1)[..., ::2], np.asfortranarray(x)


def c_order(x):
    return np.array(x, order="C")


@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]", "m8[D]"])
@pytest.mark.parametrize("shape", SHAPES)
def test_take(rng, dtype, shape):
    for x in layouts(numbers(rng, shape, dtype)):
        for axis in (None, *range(-x.ndim, x.ndim)):
            n = x.size if axis is None else x.shape[axis]
            for index in (rng.integers(-n, n, 9) if n else np.zeros(0, int),
                          rng.integers(0, max(n, 1), (2, 3 * (n > 0))),
                          np.asarray(n - 1) if n else np.zeros((0, 2), int)):
                expected = c_order(np.take(x, index, axis))
                same(np.asarray(echelon.take(x, index, axis=axis)), expected)
                out = np.empty(expected.shape[::-1], dtype).T
                assert echelon.take(x, index, axis=axis, out=out) is out
                same(c_order(out), expected)


@pytest.mark.parametrize("index", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_index_dtypes(rng, index):
    x = rng.random(100)
    positions = rng.integers(0 if index[0] == "u" else -100, 100, 50).astype(index)
    same(echelon.take(x, positions), x[positions])
    square = x[:16].reshape(4, 4)
    same(echelon.take(square, [5, -1]), np.take(square, [5, -1]))
    same(echelon.take_along_axis(x, positions), x[positions])
    same(echelon.take(x, positions[::2]), x[positions[::2]])
    same(echelon.take(x, positions.tolist()), x[positions])
    same(echelon.take(x, []), x[:0])


@pytest.mark.parametrize("shape", [(7,), (5, 8), (3, 4, 5), (0, 3), (3, 0)])
def test_take_along_axis(rng, shape):
    for x in layouts(numbers(rng, shape, "float32")):
        for axis in range(-x.ndim, x.ndim):
            n = x.shape[axis]
            order = np.argsort(x, axis=axis)
            same(echelon.take_along_axis(x, order, axis=axis), c_order(np.take_along_axis(x, order, axis)))
            same(echelon.take_along_axis(x, order - n, axis=axis), c_order(np.take_along_axis(x, order, axis)))
            narrow = np.take(order, range(n // 2), axis=axis)
            out = np.empty(narrow.shape, x.dtype)
            assert echelon.take_along_axis(x, narrow, axis=axis, out=out) is out
            same(out, c_order(np.take_along_axis(x, narrow, axis)))
            if n:
                wide = [1] * x.ndim
                wide[axis] = 3
                index = rng.integers(0, n, wide)
                same(echelon.take_along_axis(x, index, axis=axis), c_order(np.take_along_axis(x, index, axis)))
    x = rng.random((3, 4))
    same(echelon.take_along_axis(x, [5, 1], axis=None), np.take_along_axis(x, np.array([5, 1]), None))


@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]"])
@pytest.mark.parametrize("shape", [(20,), (20, 3), (20, 2, 2)])
def test_scatter(rng, dtype, shape):
    x, values = numbers(rng, shape, dtype), numbers(rng, (8, *shape[1:]), dtype)
    index = rng.permutation(20)[:8] - rng.integers(0, 2, 8) * 20
    expected, before = x.copy(), x.copy()
    expected[index] = values
    same(echelon.scatter(x, index, values), expected)
    same(x, before)
    same(echelon.scatter(np.asfortranarray(x), index, values[::-1][::-1]), expected)
    assert echelon.scatter(x, index, values, out=x) is x
    same(x, expected)
    x[index[0]] = x[3]
    same(echelon.scatter(before, index[:0], values[:0]), before)
    if dtype not in ("bool", "M8[s]"):
        expected[index] = 7
        same(echelon.scatter(before, index, 7)[index], expected[index])


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "uint32", "float64", "M8[s]"])
@pytest.mark.parametrize("shape", SHAPES)
def test_flip_and_roll(rng, dtype, shape):
    for x in layouts(numbers(rng, shape, dtype)):
        for axis in (None, *range(-x.ndim, x.ndim), tuple(range(x.ndim))[:2], ()):
            same(echelon.flip(x, axis=axis), c_order(np.flip(x, axis)))
            for shift in (0, 1, -3, 100):
                if axis != ():
                    same(echelon.roll(x, shift, axis=axis), c_order(np.roll(x, shift, axis)))
    y = numbers(rng, shape, dtype)
    expected = np.roll(np.flip(y, 0), 2, 0)
    echelon.flip(y, axis=0, out=y)
    assert echelon.roll(y, 2, axis=0, out=y) is y
    same(y, c_order(expected))
    same(echelon.roll(np.arange(12).reshape(3, 4), (1, 2), axis=(0, 1)),
         np.roll(np.arange(12).reshape(3, 4), (1, 2), (0, 1)))


def test_results_are_copies():
    x = np.arange(6).reshape(2, 3)
    for result in (echelon.flip(x, axis=()), echelon.roll(x, 0), echelon.roll(x, 0, axis=()), echelon.shuffle(x),
                   echelon.matrix_transpose(x[:1]), echelon.take(x, [0, 1], axis=0)):
        assert not np.shares_memory(result, x)
    assert echelon.flip(np.float64(3)) == 3


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "uint32", "float64", "M8[s]"])
@pytest.mark.parametrize("shape", [(5, 8), (2, 3, 4), (2, 2, 3, 1), (0, 3), (3, 0), (2, 0, 3)])
def test_matrix_transpose(rng, dtype, shape):
    for x in layouts(numbers(rng, shape, dtype)):
        if x.ndim == 2 or x.shape[-1]:
            expected = c_order(np.swapaxes(x, -1, -2))
            same(echelon.matrix_transpose(x), expected)
            out = np.empty(expected.shape[::-1], dtype).T
            assert echelon.matrix_transpose(x, out=out) is out
            same(c_order(out), expected)
    square = np.arange(9).reshape(3, 3)
    echelon.matrix_transpose(square, out=square)
    same(square, np.arange(9).reshape(3, 3).T.copy())


@pytest.mark.parametrize("shape", SHAPES)
def test_repeat(rng, shape):
    for x in layouts(numbers(rng, shape, "int16")):
        for axis in (None, *range(-x.ndim, x.ndim)):
            n = x.size if axis is None else x.shape[axis]
            for repeats in (0, 3, [2], np.array(2), rng.integers(0, 4, n), rng.integers(0, 4, n).astype("u1")):
                expected = c_order(np.repeat(x, repeats, axis))
                same(echelon.repeat(x, repeats, axis=axis), expected)
                out = np.empty(expected.shape[::-1], "int16").T
                assert echelon.repeat(x, repeats, axis=axis, out=out) is out
                same(c_order(out), expected)


def test_random(rng):
    for n in (0, 1, 2, 1000):
        p = echelon.permutation(n, seed=5)
        assert sorted(p.tolist()) == list(range(n)) and p.dtype == np.int64
        same(echelon.permutation(n, seed=5, dtype="uint32"), p.astype("uint32"))
        out = np.empty(2 * n, np.int32)[::2]
        assert echelon.permutation(n, seed=5, out=out) is out and np.array_equal(out, p)
        x = rng.random((n, 3))
        same(echelon.shuffle(x, seed=5), x[p])
        same(echelon.shuffle(x.T, seed=5, axis=1), c_order(x.T[:, p]))
        same(echelon.sample(x, n // 2, seed=5), x[p[:n // 2]])
    assert echelon.permutation(1000, seed=1).tolist() != echelon.permutation(1000, seed=2).tolist()
    y = np.arange(100.0)
    echelon.shuffle(y, seed=2**64 - 1, out=y)
    same(y, echelon.shuffle(np.arange(100.0), seed=2**64 - 1))


def test_torch(rng):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(rng.random((6, 5)))
    index = torch.from_numpy(rng.integers(0, 5, (6, 2)))
    assert torch.equal(echelon.take_along_axis(x, index), torch.take_along_dim(x, index, 1))
    assert torch.equal(echelon.take_along_axis(x, index - 5), torch.take_along_dim(x, index, 1))
    assert torch.equal(echelon.take_along_axis(x, index.numpy()), torch.take_along_dim(x, index, 1))
    assert torch.equal(echelon.take(x, [0, -1], axis=0), x[[0, -1]])
    assert torch.equal(echelon.take(x, torch.tensor([0, -1], dtype=torch.int32), axis=0), x[[0, -1]])
    assert torch.equal(echelon.flip(x, axis=1), x.flip(1))
    assert torch.equal(echelon.roll(x, 2, axis=0), x.roll(2, 0))
    assert torch.equal(echelon.matrix_transpose(x), x.T)
    assert torch.equal(echelon.repeat(x, 2, axis=1), x.repeat_interleave(2, 1))
    assert torch.equal(echelon.scatter(x, [1], torch.zeros(1, 5, dtype=torch.float64))[1], torch.zeros(5).double())
    out = torch.empty(9, dtype=torch.int32)
    assert echelon.permutation(9, out=out) is out and out.sort().values.tolist() == list(range(9))
    flags = torch.tensor([True, False])
    assert echelon.flip(flags).dtype == torch.bool


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.take(x, [4]), ValueError, "index"),
    (lambda x: echelon.take(x, [-5]), ValueError, "index"),
    (lambda x: echelon.take(x, [0.5]), TypeError, "indices has dtype float64"),
    (lambda x: echelon.take(x, [True]), TypeError, "indices has dtype bool"),
    (lambda x: echelon.take(np.float64(1), [0], axis=0), ValueError, "x has no dimensions"),
    (lambda x: echelon.take(np.empty((3, 0)), [3], axis=0), ValueError, "outside the 3 items"),
    (lambda x: echelon.take(x, [0], out=np.empty(2)), ValueError, "out has shape"),
    (lambda x: echelon.take_along_axis(x, [4]), ValueError, "outside the 4 elements"),
    (lambda x: echelon.take_along_axis(x, [[0]]), ValueError, "indices has 2 dimensions"),
    (lambda x: echelon.take_along_axis(x.reshape(2, 2), np.zeros((3, 1), int)), ValueError, "indices has shape"),
    (lambda x: echelon.scatter(x, [4], [1.0]), ValueError, "index"),
    (lambda x: echelon.scatter(x, [0], [1.0, 2.0]), ValueError, "values has shape"),
    (lambda x: echelon.scatter(x.astype(int), [0], [1.5]), TypeError, "values cannot be converted"),
    (lambda x: echelon.scatter(x, [0], np.zeros(1, "f4")), TypeError, "values has dtype float32"),
    (lambda x: echelon.scatter(x, [[0]], x), ValueError, "indices has 2 dimensions"),
    (lambda x: echelon.flip(x, axis=(0, 0)), ValueError, "twice"),
    (lambda x: echelon.roll(x, 0.5), TypeError, "shift is 0.5"),
    (lambda x: echelon.roll(x, (1, 2), axis=0), ValueError, "shift has 2 numbers"),
    (lambda x: echelon.matrix_transpose(x), ValueError, "x has 1 dimensions"),
    (lambda x: echelon.repeat(x, -1), ValueError, "repeats is -1"),
    (lambda x: echelon.repeat(x, [1, 2]), ValueError, "repeats has shape"),
    (lambda x: echelon.repeat(x, [1, -2, 1, 1]), ValueError, "repeats contains -2"),
    (lambda x: echelon.repeat(x, 1.5), TypeError, "repeats is 1.5"),
    (lambda x: echelon.permutation(-1), ValueError, "n is -1"),
    (lambda x: echelon.permutation(4, out=x), TypeError, "out has dtype float64"),
    (lambda x: echelon.permutation(4, dtype="i1"), TypeError, "dtype is int8"),
    (lambda x: echelon.permutation(4, seed=-1), ValueError, "seed is -1"),
    (lambda x: echelon.sample(x, 5), ValueError, "k is 5"),
    (lambda x: echelon.shuffle(x, seed=1.5), TypeError, "seed is 1.5"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0, 3.0, 4.0]))
    assert isinstance(raised.value, echelon.Error)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "uint64"])
def test_take_items_without_elements(dtype):
    torch = pytest.importorskip("torch")
    x, valid, outside = np.zeros((3, 0)), np.array([2, 0]).astype(dtype), np.array([2, 3]).astype(dtype)
    for make in (np.array, torch.from_numpy):
        assert tuple(echelon.take(make(x), make(valid), axis=0).shape) == (2, 0)
        with pytest.raises(echelon.ArgumentError, match="position outside"):
            echelon.take(make(x), make(outside), axis=0)
