"""unique() and its relatives compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers


def expected_of(x):
    """What NumPy returns for an array of one dimension, and the shape of the inverse as in the standard."""
    values, index, inverse, counts = np.unique(x, True, True, True)
    return values, index, inverse.reshape(x.shape), counts


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [0, 1, 77, 1000, (5, 9), (3, 0), ()])
def test_unique_all(rng, dtype, shape):
    x = np.asarray(numbers(rng, shape, dtype)) if shape != () else np.array(3, dtype)
    values, index, inverse, counts = expected_of(x)
    found = echelon.unique_all(x)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    same(found.values, values)
    same(found.indices, index)
    same(np.asarray(found.inverse_indices), np.asarray(inverse))
    same(found.counts, counts)
    same(echelon.unique_values(x), values)
    same(echelon.unique_counts(x).values, values)
    same(echelon.unique_counts(x).counts, counts)
    same(echelon.unique_inverse(x).values, values)
    same(np.asarray(echelon.unique_inverse(x).inverse_indices), np.asarray(inverse))


def test_unique_like_numpy(rng):
    x = rng.integers(0, 30, 200)
    same(echelon.unique(x), np.unique(x))
    for flags in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)):
        for found, expected in zip(echelon.unique(x, *flags), np.unique(x, *flags)):
            same(found, expected)


def test_order_of_appearance(rng):
    x = rng.integers(0, 30, 200)
    values, index, inverse, counts = echelon.unique(x, True, True, True, sorted=False)
    same(values, np.array(list(dict.fromkeys(x.tolist()))))
    same(index, np.sort(np.unique(x, return_index=True)[1]))
    same(values[inverse], x)
    assert counts.tolist() == [x.tolist().count(value) for value in values]


def test_strides_and_zeros(rng):
    x = numbers(rng, (20, 6), "float32")
    for y in (x.T, x[::2, ::3], np.asfortranarray(x)):
        same(echelon.unique_all(y).values, np.unique(y))
        found = echelon.unique_inverse(y)
        same(found.values[found.inverse_indices] + 0, np.ascontiguousarray(y) + 0)
    assert np.signbit(echelon.unique_all(np.array([-0.0, 0.0])).values).tolist() == [True]
    assert echelon.unique_all([1.0, 2.0, 1.0], dtype="uint32").indices.dtype == np.uint32


def test_times():
    x = np.array(["2021", "NaT", "2020", "NaT", "2021"], "M8[Y]")
    values, index, inverse, counts = echelon.unique_all(x)
    same(values, np.array(["2020", "2021", "NaT"], "M8[Y]"))
    assert (index.tolist(), inverse.tolist(), counts.tolist()) == ([2, 0, 1], [1, 2, 0, 2, 1], [1, 2, 2])
    assert np.isnat(echelon.mode(np.array(["2021", "NaT", "NaT"], "M8[Y]")).mode)


@pytest.mark.parametrize("dtype", DTYPES)
def test_mode(rng, dtype):
    x = numbers(rng, (30, 10), dtype)
    values, counts = np.unique(x, return_counts=True)
    found = echelon.mode(x)
    assert found.count == counts.max() and found.mode.dtype == x.dtype
    assert np.array_equal(found.mode, values[counts.argmax()], equal_nan=x.dtype.kind == "f")


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.tensor([[True, False], [True, True]])
    values, index, inverse, counts = echelon.unique_all(x)
    assert values.tolist() == [False, True] and index.tolist() == [1, 0] and counts.tolist() == [1, 3]
    assert inverse.shape == x.shape and inverse.dtype == torch.int64 and counts.dtype == torch.int64
    assert torch.equal(values[inverse], x)
    y = torch.tensor([1, 2, 1], dtype=torch.bfloat16)
    assert echelon.mode(y).mode.dtype == torch.bfloat16 and echelon.unique_values(y).tolist() == [1, 2]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    values, index = echelon.unique(pandas.Series([3, 1, 3]), return_index=True)
    assert isinstance(values, pandas.Series) and values.tolist() == [1, 3] and index.tolist() == [1, 0]


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.mode(x[:0]), ValueError, "x is empty"),
    (lambda x: echelon.unique_all(x + 1j), TypeError, "complex"),
    (lambda x: echelon.unique_all(x, dtype="f4"), TypeError, "dtype is float32"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(np.array([1.0, 2.0]))
    assert isinstance(raised.value, echelon.Error)
