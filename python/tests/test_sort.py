"""sort(), argsort() and their relatives on arrays of NumPy, compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "bool"]


def numbers(rng, shape, dtype):
    """Random numbers with repetitions; floats contain NaN, infinities and zeros of both signs."""
    if np.dtype(dtype).kind != "f":
        return rng.integers(0, 100, shape).astype(dtype)
    x = rng.normal(size=shape).astype(dtype)
    flat = x.reshape(-1)
    flat[rng.random(flat.shape) < 0.2] = 0.5
    for value in (np.nan, np.inf, -np.inf):
        flat[rng.random(flat.shape) < 0.05] = value
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 31, 1000])
def test_sort(rng, dtype, n):
    x = numbers(rng, n, dtype)
    before = x.copy()
    same(echelon.sort(x), np.sort(x))
    same(echelon.sort(x, descending=True), np.sort(x)[::-1])
    same(x, before)
    same(echelon.argsort(x), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 4), (1, 7), (7, 1), (0, 3), (3, 0), (2, 1, 3)])
def test_axes(rng, shape):
    base = numbers(rng, shape, "float32")
    strided = numbers(rng, tuple(2 * n for n in shape), "float32")[tuple(slice(None, None, 2) for _ in shape)]
    for x in (base, np.asfortranarray(base), base.T, base[::-1], strided):
        for axis in (None, *range(-x.ndim, x.ndim)):
            same(echelon.sort(x, axis=axis), np.sort(x, axis=axis))
            same(echelon.argsort(x, axis=axis), np.argsort(x, axis=axis, kind="stable"))
            for out in (np.empty_like(np.sort(x, axis=axis)), np.zeros_like(np.sort(x, axis=axis).T).T):
                assert echelon.sort(x, axis=axis, out=out) is out
                assert np.array_equal(out, np.sort(x, axis=axis), equal_nan=True)


def test_in_place(rng):
    x = numbers(rng, (30, 40), "float64")
    for axis in (0, 1):
        y = x.copy()
        assert echelon.sort(y, axis=axis, out=y) is y
        same(y, np.sort(x, axis=axis))


def test_descending_argsort_is_stable():
    assert echelon.argsort(np.array([1, 2, 1, 2]), descending=True).tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("dtype", ["M8[ns]", "M8[D]", "m8[s]"])
def test_times(rng, dtype):
    x = rng.integers(-9, 9, (50, 3)).astype("int64").view(dtype)
    x[::5] = "NaT"
    for axis in (0, 1, None):
        same(echelon.sort(x, axis=axis), np.sort(x, axis=axis))
        same(echelon.argsort(x, axis=axis), np.argsort(x, axis=axis, kind="stable"))
    y = x.copy()
    echelon.sort(y, axis=0, out=y)
    same(y, np.sort(x, axis=0))


@pytest.mark.parametrize("index", ["int32", "uint32", "int64", "uint64", np.int32, np.dtype("u8")])
def test_index_dtypes(rng, index):
    x = numbers(rng, 100, "int16")
    same(echelon.argsort(x, dtype=index), np.argsort(x, kind="stable").astype(index))


def test_sort_pairs(rng):
    keys, values = rng.integers(0, 9, 200), rng.random((200, 3))
    order = np.argsort(keys, kind="stable")
    k, v = echelon.sort_pairs(keys, values)
    same(k, keys[order])
    same(v, values[order])
    out = np.empty(400, keys.dtype)[::2], np.empty((200, 3))
    echelon.sort_pairs(keys, values, out=out)
    same(out[1], v)
    same(out[0].copy(), k)


def test_segments(rng):
    x = numbers(rng, 100, "float32")
    offsets = np.array([0, 10, 10, 63, 100])
    parts = [np.sort(x[a:b]) for a, b in zip(offsets, offsets[1:])]
    same(echelon.sort_segments(x, offsets), np.concatenate(parts))
    parts = [np.argsort(x[a:b], kind="stable") for a, b in zip(offsets, offsets[1:])]
    same(echelon.argsort_segments(x, offsets), np.concatenate(parts))
    gap = echelon.sort_segments(x, [5, 50])
    same(gap[:5], x[:5])
    same(gap[50:], x[50:])


def test_is_sorted():
    assert echelon.is_sorted(np.array([1, 2, 3]))
    assert not echelon.is_sorted(np.array([1, 3, 2]))
    assert echelon.is_sorted(np.array([], "f4"))
    assert echelon.is_sorted(np.array([3, 1], "i1"), descending=True)


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.sort(x, axis=1), echelon.ArgumentError, "axis is 1"),
    (lambda x: echelon.sort(x, axis="0"), TypeError, "axis is '0'"),
    (lambda x: echelon.sort(np.float32(1)), ValueError, "x has no dimensions"),
    (lambda x: echelon.sort(x.astype(">i4")), echelon.DTypeError, "swapped"),
    (lambda x: echelon.sort(x + 1j), TypeError, "complex"),
    (lambda x: echelon.sort("text"), TypeError, "x has dtype"),
    (lambda x: echelon.sort(object()), TypeError, "x is object"),
    (lambda x: echelon.sort(x, out=np.empty(3)), ValueError, "out has shape"),
    (lambda x: echelon.sort(x, out=np.empty(4, "f4")), TypeError, "out has dtype"),
    (lambda x: echelon.sort(x, out=[0.0] * 4), TypeError, "out is list"),
    (lambda x: echelon.sort(x, stream=1), ValueError, "stream is given"),
    (lambda x: echelon.sort(x, stream="a"), TypeError, "stream is str"),
    (lambda x: echelon.argsort(x, dtype="f4"), TypeError, "dtype is float32"),
    (lambda x: echelon.sort_pairs(x, x[:2]), ValueError, "values has length 2"),
    (lambda x: echelon.sort_segments(x, [0, 9]), ValueError, "offsets"),
    (lambda x: echelon.sort_segments(x, [0.0, 1.0]), TypeError, "offsets has dtype"),
    (lambda x: echelon.sort_segments(x, []), TypeError, "offsets has dtype"),
    (lambda x: echelon.set_device("gpu"), ValueError, "gpu"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 4.0, 3.0, 2.0]))
    assert isinstance(raised.value, echelon.Error)


def test_read_only():
    x = np.array([2, 1])
    x.flags.writeable = False
    same(echelon.sort(x), np.array([1, 2]))
    with pytest.raises(echelon.ArgumentError, match="read-only"):
        echelon.sort(x, out=x)


def test_buffers():
    assert echelon.sort(memoryview(b"cab")).tobytes() == b"abc"
    assert echelon.sort(bytearray(b"cab")).tobytes() == b"abc"
    import array
    assert echelon.sort(array.array("d", [2, 1])).tolist() == [1, 2]


def test_bool_with_axes_that_need_a_copy(rng):
    x = rng.random((3, 1, 4)) < 0.5
    for view in (x[:, :, ::-1], x.transpose(1, 2, 0), rng.random((3, 4, 2)) < 0.5):
        for axis in range(3):
            same(echelon.sort(view, axis=axis), np.sort(view, axis=axis))


def test_arrays_as_options(rng):
    x = rng.random(5)
    for options in ({"axis": np.zeros(2)}, {"nulls": np.zeros(0)}, {"nulls": np.array(["last", "first"])}):
        for call in (echelon.sort, echelon.argsort):
            with pytest.raises((echelon.ArgumentError, echelon.DTypeError), match=next(iter(options))):
                call(x, **options)
