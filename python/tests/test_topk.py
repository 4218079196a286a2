"""top_k() compared with the stable argsort.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers


def expected_of(x, k, axis, mode="largest"):
    """The values and the indices from argsort()."""
    order = echelon.argsort(x, axis=axis, descending=mode == "largest")
    index = np.ascontiguousarray(np.take(order, range(k), axis=axis))
    return np.take_along_axis(x, index, axis), index


@pytest.mark.parametrize("dtype", [*DTYPES, "M8[s]"])
@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("n, k", [(1, 1), (5, 0), (9, 9), (200, 7), (3000, 600)])
def test_arrays(rng, dtype, mode, n, k):
    x = numbers(rng, n, dtype)
    values, index = echelon.top_k(x, k, mode=mode)
    expected = expected_of(x, k, 0, mode)
    same(values, expected[0])
    same(index, expected[1])
    values, index = echelon.top_k(x, k, mode=mode, sorted=False, dtype="int32")
    same(index, np.sort(expected[1]).astype("int32"))
    same(values, x[index])


@pytest.mark.parametrize("shape", [(4, 50), (2, 3, 20), (1, 7), (7, 1), (0, 3), (2, 0, 3), (5, 4, 3)])
def test_axes(rng, shape):
    base = numbers(rng, shape, "float32")
    for x in (base, np.asfortranarray(base), base[::-1], np.repeat(base, 2, axis=0)[::2]):
        for axis in range(-x.ndim, x.ndim):
            k = min(x.shape[axis], 2)
            values, index = echelon.top_k(x, k, axis=axis)
            expected = expected_of(x, k, axis)
            same(values, expected[0])
            same(index, expected[1])
            out = np.empty(values.shape[::-1], x.dtype).T, np.empty(values.shape, np.int64)
            found = echelon.top_k(x, k, axis=axis, out=out)
            assert found[0] is out[0] and found[1] is out[1]
            assert np.array_equal(out[0], values, equal_nan=True) and np.array_equal(out[1], index)
    if base.size > 2:
        same(echelon.top_k(base, 3, axis=None)[1], echelon.argsort(base, axis=None, descending=True)[:3])


def test_counts(rng):
    x = rng.integers(1, 99, (6, 20))
    counts = np.array([0, 1, 2, 3, 4, 4])
    values, index = echelon.top_k(x, 4, counts=counts)
    everything = echelon.top_k(x, 4)
    for row, count in enumerate(counts):
        assert values[row].tolist() == everything[0][row, :count].tolist() + [0] * (4 - count)
        assert index[row].tolist() == everything[1][row, :count].tolist() + [-1] * (4 - count)
    columns = echelon.top_k(np.ascontiguousarray(x.T), 4, axis=0, counts=counts)
    same(np.ascontiguousarray(columns[0].T), values)
    with pytest.raises(ValueError, match="count"):
        echelon.top_k(x, 4, counts=counts + 1)


def test_segments(rng):
    x, offsets = numbers(rng, 100, "float64"), [0, 3, 3, 60, 100]
    values, index = echelon.top_k_segments(x, offsets, 5)
    for row, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        expected = expected_of(x[begin:end], min(5, end - begin), 0)
        same(values[row, :len(expected[0])].copy(), expected[0])
        same(index[row, :len(expected[0])].copy(), expected[1])
        assert (values[row, end - begin:] == 0).all() and (index[row, end - begin:] == -1).all()
    assert echelon.top_k_segments(x, offsets, 5, counts=[1, 1, 1, 1])[1][:, 1:].max() == -1
    times = rng.integers(1, 9, 100).view("M8[s]")
    assert np.isnat(echelon.top_k_segments(times, [0, 1], 1)[0]).tolist() == [[False]]
    assert echelon.top_k_segments(times, [0, 1], 2)[0].view("i8")[0, 1] == 0


def test_torch(rng):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(rng.permutation(600).reshape(20, 30))
    for axis in (0, 1):
        for ours, theirs in zip(echelon.top_k(x, 4, axis=axis), torch.topk(x, 4, dim=axis)):
            assert torch.equal(ours, theirs)
    half = torch.randn(50, dtype=torch.float32).to(torch.bfloat16)
    assert torch.equal(echelon.top_k(half, 3, mode="smallest")[0], half.sort().values[:3])


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.top_k(x, 5), ValueError, "k is 5, but must be from 0 to 4"),
    (lambda x: echelon.top_k(x, -1), ValueError, "k is -1"),
    (lambda x: echelon.top_k(x, 1.5), TypeError, "k is 1.5"),
    (lambda x: echelon.top_k(x, 1, mode="best"), ValueError, "mode is 'best'"),
    (lambda x: echelon.top_k(x, 1, axis=1), ValueError, "axis is 1"),
    (lambda x: echelon.top_k(x, 1, counts=[1, 1]), ValueError, "counts has shape"),
    (lambda x: echelon.top_k(x.reshape(2, 2), 1, counts=[0.5, 1]), TypeError, "counts has dtype"),
    (lambda x: echelon.top_k(x, 1, out=(np.empty(2), np.empty(1, "i8"))), ValueError, r"out\[0\] has shape"),
    (lambda x: echelon.top_k_segments(x, [0, 9], 1), ValueError, "offsets"),
    (lambda x: echelon.top_k_segments(x, [0, 4], 1, counts=[1, 2]), ValueError, "counts has shape"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0, 3.0, 4.0]))
    assert isinstance(raised.value, echelon.Error)
