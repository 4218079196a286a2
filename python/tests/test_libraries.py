"""Every function with the arrays of other libraries: the results are those with NumPy, in the input's library.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from libraries import DEVICE_ARRAYS, EVERY, EVERY_GPU, library

CALLS = {
    "sort": lambda a, i, e: e.sort(a, axis=0),
    "sort middle": lambda a, i, e: e.sort(a.reshape(4, 5, 3), axis=1, descending=True),
    "sort transposed": lambda a, i, e: e.sort(a.T, axis=0),
    "argsort": lambda a, i, e: e.argsort(a, axis=1),
    "argsort int32": lambda a, i, e: e.argsort(i, dtype="int32"),
    "sort_pairs": lambda a, i, e: e.sort_pairs(i, a),
    "sort_segments": lambda a, i, e: e.sort_segments(i, [0, 3, 20]),
    "argsort_segments": lambda a, i, e: e.argsort_segments(i, [0, 3, 20]),
    "is_sorted": lambda a, i, e: e.is_sorted(i),
    "sum": lambda a, i, e: e.sum(a, axis=0),
    "sum all": lambda a, i, e: e.sum(i),
    "sum float64": lambda a, i, e: e.sum(a, axis=1, dtype="float64", keepdims=True),
    "mean": lambda a, i, e: e.mean(a, axis=(0, 1)),
    "var": lambda a, i, e: e.var(a, axis=0, correction=1),
    "std": lambda a, i, e: e.std(a, correction=2.5),
    "min": lambda a, i, e: e.min(a, axis=1),
    "argmax": lambda a, i, e: e.argmax(a, axis=0),
    "any": lambda a, i, e: e.any(i),
    "nanmax": lambda a, i, e: e.nanmax(a, axis=0),
    "minmax": lambda a, i, e: e.minmax(a),
    "norm": lambda a, i, e: e.norm(a, axis=1),
    "dot": lambda a, i, e: e.dot(i, i),
    "reduce_segments": lambda a, i, e: e.reduce_segments(i, [0, 3, 3, 20], "max"),
    "reduce_by_key": lambda a, i, e: e.reduce_by_key(i, i),
    "cumulative_sum": lambda a, i, e: e.cumulative_sum(a, axis=0),
    "cumulative_sum initial": lambda a, i, e: e.cumulative_sum(i, include_initial=True),
    "cumulative_prod": lambda a, i, e: e.cumulative_prod(i, dtype="float32"),
    "scan": lambda a, i, e: e.scan(i, "max", exclusive=True, init=3),
    "scan_segments": lambda a, i, e: e.scan_segments(i, [0, 3, 20]),
    "scan_by_key": lambda a, i, e: e.scan_by_key(i, i),
    "histogram": lambda a, i, e: e.histogram(i, 5),
    "histogram edges": lambda a, i, e: e.histogram(a, [-1.0, 0.0, 0.5]),
    "histogram density": lambda a, i, e: e.histogram(i, 4, (0, 8), density=True),
    "bincount": lambda a, i, e: e.bincount(i),
    "histogram2d": lambda a, i, e: e.histogram2d(i, i, 3),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("call", CALLS)
def test_same_results(rng, name, call):
    lib = library(name)
    a, i = rng.normal(size=(20, 3)).astype("f4"), rng.integers(0, 9, 20).astype("i4")
    a[2, 1] = np.nan
    expected = CALLS[call](a, i, echelon)
    actual = CALLS[call](lib.make(a), lib.make(i), echelon)
    if not isinstance(expected, tuple):
        expected, actual = (expected,), (actual,)
    for one, other in zip(expected, actual):
        if isinstance(one, (bool, int)):
            assert one == other
            continue
        assert isinstance(other, lib.kind), type(other)
        converted = lib.to_numpy(other)
        assert converted.dtype == one.dtype and converted.shape == one.shape
        np.testing.assert_array_equal(converted, one)


@pytest.mark.parametrize("name", DEVICE_ARRAYS)
@pytest.mark.parametrize("call", sorted(set(CALLS) - {"sort middle", "sort transposed"}))
def test_device_arrays(rng, name, call):
    """Arrays without operators have the same results, or the function raises UnsupportedError."""
    if call in ("std", "nanmax", "cumulative_sum initial", "histogram density"):
        lib = library(name)
        with pytest.raises(echelon.UnsupportedError, match="PyTorch or CuPy"):
            CALLS[call](lib.make(rng.normal(size=(20, 3))), lib.make(rng.integers(0, 9, 20)), echelon)
    else:
        test_same_results(rng, name, call)


@pytest.mark.parametrize("name", EVERY)
def test_out(rng, name):
    lib = library(name)
    x = rng.normal(size=(6, 7))
    a, out = lib.make(x), lib.make(np.zeros((6, 7)))
    for axis in (0, 1):
        assert echelon.sort(a, axis=axis, out=out) is out
        np.testing.assert_array_equal(lib.to_numpy(out), np.sort(x, axis=axis))
    transposed = lib.make(np.zeros((7, 6))).T
    echelon.sort(a, axis=0, out=transposed)
    np.testing.assert_array_equal(lib.to_numpy(transposed), np.sort(x, axis=0))
    assert echelon.sort(a, out=a) is a
    np.testing.assert_array_equal(lib.to_numpy(a), np.sort(x))


def test_torch_dtypes():
    torch = pytest.importorskip("torch")
    x = torch.tensor([2.5, -1.0, float("nan"), 0.0])
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert echelon.sort(x.to(dtype)).tolist()[:3] == [-1.0, 0.0, 2.5]
        assert echelon.sort(x.to(dtype)).dtype is dtype
    assert echelon.sort(torch.tensor([True, False])).tolist() == [False, True]
    assert echelon.argsort(x, dtype=torch.int32).dtype is torch.int32
    with pytest.raises(echelon.DTypeError, match="complex64"):
        echelon.sort(x.to(torch.complex64))
    with pytest.raises(echelon.ArgumentError, match="meta"):
        echelon.sort(x.to("meta"))
    with pytest.raises(echelon.ArgumentError, match="layout"):
        echelon.sort(x.to_sparse())
    with pytest.raises(echelon.ArgumentError, match="requires gradients"):
        echelon.sort(x.requires_grad_())
    with torch.no_grad():
        echelon.sort(x)


@pytest.mark.gpu
def test_mixed_devices():
    x = library("torch-cuda").make(np.arange(4))
    with pytest.raises(echelon.ArgumentError, match="different devices"):
        echelon.sort_pairs(x, x.cpu())


ITEMS = {
    "take": lambda a, i, e: e.take(a, i, axis=0),
    "compress": lambda a, i, e: e.compress(i > 2, a, axis=0),
    "partition_flags": lambda a, i, e: e.partition_flags(a, i > 2)[0],
    "shuffle": lambda a, i, e: e.shuffle(a, seed=3),
    "sample": lambda a, i, e: e.sample(a, 5, seed=3),
    "flip": lambda a, i, e: e.flip(a, axis=0),
    "roll": lambda a, i, e: e.roll(a, 3, axis=0),
    "rle_decode": lambda a, i, e: e.rle_decode(a, i),
    "sort_pairs": lambda a, i, e: e.sort_pairs(i, a)[1],
    "merge_pairs": lambda a, i, e: e.merge_pairs(i[:1], a[:1], i[1:2], a[1:2])[1],
    "unique_by_key": lambda a, i, e: e.unique_by_key(i, a)[1],
}


@pytest.mark.parametrize("name", EVERY_GPU)
@pytest.mark.parametrize("call", ITEMS)
def test_items_without_alignment(rng, name, call):
    """In GPU memory, the library needs items of 16 bytes at multiples of 16: arrays at other addresses are copied."""
    lib = library(name)
    a, i = rng.integers(0, 99, 81).astype("i4"), rng.integers(0, 9, 20).astype("i4")
    expected = ITEMS[call](a[1:].reshape(20, 4), i, echelon)
    actual = ITEMS[call](lib.make(a)[1:].reshape(20, 4), lib.make(i), echelon)
    np.testing.assert_array_equal(lib.to_numpy(actual), expected)
