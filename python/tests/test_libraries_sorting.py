"""The sort family and rearranging operations with the arrays of other libraries: the results are those with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from libraries import EVERY, EVERY_GPU, library

CALLS = {
    "searchsorted": lambda a, i, u: echelon.searchsorted(echelon.sort(a[:, 0]), a),
    "searchsorted sorter": lambda a, i, u: echelon.searchsorted(i, i, side="right", sorter=echelon.argsort(i)),
    "searchsorted list": lambda a, i, u: echelon.searchsorted(echelon.sort(i), [1, 4], dtype="int32"),
    "searchsorted number": lambda a, i, u: echelon.searchsorted(echelon.sort(i), 2.5),
    "unique_all": lambda a, i, u: echelon.unique_all(i),
    "unique_all matrix": lambda a, i, u: echelon.unique_all(a),
    "unique appearance": lambda a, i, u: echelon.unique(i, True, True, True, sorted=False),
    "unique_values u4": lambda a, i, u: echelon.unique_values(u),
    "mode": lambda a, i, u: echelon.mode(i),
    "union1d": lambda a, i, u: echelon.union1d(i, u),
    "intersect1d": lambda a, i, u: echelon.intersect1d(i, i[:5]),
    "setdiff1d": lambda a, i, u: echelon.setdiff1d(i, a),
    "setdiff1d same": lambda a, i, u: echelon.setdiff1d(i, i[5:9]),
    "setxor1d list": lambda a, i, u: echelon.setxor1d(i, [1, 77]),
    "isin": lambda a, i, u: echelon.isin(i, i[:3]),
    "isin list": lambda a, i, u: echelon.isin(a, [0.5, 1], invert=True),
    "set_operation": lambda a, i, u: echelon.set_operation(echelon.sort(i), echelon.sort(i[3:]), "difference"),
    "merge": lambda a, i, u: echelon.merge(echelon.sort(i), echelon.sort(i)),
    "merge_pairs": lambda a, i, u: echelon.merge_pairs(echelon.sort(i), a, echelon.sort(i), a),
    "merge_many": lambda a, i, u: echelon.merge_many(echelon.sort_segments(i, [0, 7, 20]), [0, 7, 20], values=a),
    "top_k": lambda a, i, u: echelon.top_k(a, 2),
    "top_k axis 0": lambda a, i, u: echelon.top_k(a, 7, axis=0, mode="smallest", sorted=False, dtype="int32"),
    "top_k counts": lambda a, i, u: echelon.top_k(a.T, 4, counts=[0, 2, 4]),
    "top_k_segments": lambda a, i, u: echelon.top_k_segments(i, [0, 2, 20], 5),
    "partition": lambda a, i, u: echelon.partition(i, [3, -2]),
    "argpartition": lambda a, i, u: echelon.argpartition(i, 4, dtype="int32"),
    "partition axis": lambda a, i, u: echelon.partition(a, 4, axis=0),
    "nth_element": lambda a, i, u: echelon.nth_element(a, 30, return_index=True),
    "median": lambda a, i, u: echelon.median(i),
    "median u4": lambda a, i, u: echelon.quantile(u.reshape(4, 5), [0.1, 0.7], axis=1),
    "quantile": lambda a, i, u: echelon.quantile(a, [0.1, 0.5], axis=0, method="hazen"),
    "quantile lower u4": lambda a, i, u: echelon.quantile(u.reshape(4, 5), 0.6, axis=1, method="lower"),
    "nanquantile": lambda a, i, u: echelon.nanquantile(a, [0.1, 0.5], axis=0, keepdims=True),
    "percentile": lambda a, i, u: echelon.percentile(a[3:], 30),
    "compress": lambda a, i, u: echelon.compress(i, a, axis=0),
    "compress list": lambda a, i, u: echelon.compress([True, False, True], a, axis=1, invert=True),
    "nonzero": lambda a, i, u: echelon.nonzero(i.reshape(4, 5)),
    "select_if": lambda a, i, u: echelon.select_if(a, "<", 0.25),
    "select_if positions": lambda a, i, u: echelon.select_if(i, "has_any", 3, positions=True),
    "partition_flags": lambda a, i, u: echelon.partition_flags(a, i),
    "partition_if": lambda a, i, u: echelon.partition_if(i, ">=", 4),
    "partition_3way": lambda a, i, u: echelon.partition_3way(i, 2, 5),
    "rle_encode": lambda a, i, u: echelon.rle_encode(i // 4),
    "rle_decode": lambda a, i, u: echelon.rle_decode(a, i),
    "rle_decode total": lambda a, i, u: echelon.rle_decode(a, [2] * 20, total=40),
    "unique_consecutive": lambda a, i, u: echelon.unique_consecutive(i // 4, return_inverse=True, return_counts=True),
    "unique_by_key": lambda a, i, u: echelon.unique_by_key(i // 4, a),
    "take": lambda a, i, u: echelon.take(a, i, axis=0),
    "take negative": lambda a, i, u: echelon.take(a.T, -1 - i, axis=-1),
    "take list": lambda a, i, u: echelon.take(a, [[0, -1], [1, 2]], axis=-1),
    "take_along_axis": lambda a, i, u: echelon.take_along_axis(a, echelon.argsort(a, axis=0), axis=0),
    "take_along_axis wide": lambda a, i, u: echelon.take_along_axis(a, i[:4].reshape(4, 1) - 9, axis=0),
    "scatter": lambda a, i, u: echelon.scatter(a, [3, -1], a[:2]),
    "scatter number": lambda a, i, u: echelon.scatter(i, [3, -1], 5),
    "flip": lambda a, i, u: echelon.flip(a, axis=1),
    "roll": lambda a, i, u: echelon.roll(a, (3, 1), axis=(0, 1)),
    "matrix_transpose": lambda a, i, u: echelon.matrix_transpose(a.reshape(2, 10, 3)),
    "repeat": lambda a, i, u: echelon.repeat(a, i, axis=0),
    "repeat number": lambda a, i, u: echelon.repeat(a, 3, axis=1),
    "shuffle": lambda a, i, u: echelon.shuffle(a, seed=3),
    "sample": lambda a, i, u: echelon.sample(a, 5, seed=3),
    "argsort_columns": lambda a, i, u: echelon.argsort_columns([i, u, a[:, 1]], descending=[True, False, True]),
    "argsort_columns matrix": lambda a, i, u: echelon.argsort_columns(a),
    "lexsort": lambda a, i, u: echelon.lexsort([a[:, 0], i], dtype="int32"),
}


def check(lib, expected, actual):
    """Asserts that a result, or each part of it, is the same."""
    if isinstance(expected, tuple):
        assert len(expected) == len(actual)
        for one, other in zip(expected, actual):
            check(lib, one, other)
    elif isinstance(expected, int):
        assert actual == expected
    else:
        assert isinstance(actual, lib.kind), type(actual)
        converted = lib.to_numpy(actual)
        assert converted.dtype == expected.dtype and converted.shape == expected.shape
        np.testing.assert_array_equal(converted, expected)


def inputs(rng):
    a, i = rng.normal(size=(20, 3)).astype("f4"), rng.integers(0, 9, 20).astype("i4")
    a[2, 1] = np.nan
    return a, i, rng.integers(0, 9, 20).astype("u4") + np.uint32(2**31)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("call", CALLS)
def test_same_results(rng, name, call):
    lib, arrays = library(name), inputs(rng)
    check(lib, CALLS[call](*arrays), CALLS[call](*map(lib.make, arrays)))


@pytest.mark.parametrize("name", EVERY)
def test_out(rng, name):
    lib, (a, _, _) = library(name), inputs(rng)
    out = lib.make(np.zeros((3, 20), "f4")).T
    for function in (lambda x, **o: echelon.flip(x, axis=0, **o), lambda x, **o: echelon.shuffle(x, seed=2, **o),
                     lambda x, **o: echelon.partition(x, 3, axis=0, **o), lambda x, **o: echelon.roll(x, 2, **o),
                     lambda x, **o: echelon.scatter(x, [1], x[:1], **o)):
        assert function(lib.make(a), out=out) is out
        np.testing.assert_array_equal(lib.to_numpy(out), function(a))
    positions = lib.make(np.zeros(20, "i4"))
    assert echelon.permutation(20, seed=5, out=positions) is positions
    np.testing.assert_array_equal(lib.to_numpy(positions), echelon.permutation(20, seed=5))


@pytest.mark.gpu
@pytest.mark.parametrize("name", EVERY_GPU)
@pytest.mark.parametrize("call", [
    lambda x: echelon.take(x, [100]), lambda x: echelon.take(x, [-101]), lambda x: echelon.scatter(x, [100], x[:1]),
    lambda x: echelon.take_along_axis(x, [100]), lambda x: echelon.merge_many(x, [0, 9]),
    lambda x: echelon.top_k_segments(x, [0, 101], 1), lambda x: echelon.rle_decode(x, [2] * 100, total=100)])
def test_errors_of_queued_calls(name, call):
    x = library(name).make(np.zeros(100, "f4"))
    with pytest.raises(echelon.ArgumentError):
        call(x)
        echelon.synchronize()
    assert echelon.sort(x).shape == (100,)
