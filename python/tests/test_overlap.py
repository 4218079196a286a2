"""out= that overlaps the inputs of a call: the result is that of separate arrays, for every function with out=.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same

N = 1001


def _x(rng):
    return rng.integers(0, N, N)


def _indices(rng):
    return rng.integers(-N, N, N)


def _lengths(rng):
    return rng.permutation(np.repeat([0, 2, 1], [N // 2, N // 2, 1]))


def _offsets(rng):
    return np.concatenate([[0], np.sort(rng.integers(0, N, N - 2)), [N]])


# name: the makers of the arguments, and the call with out=; out has the shape and dtype of each argument.
CALLS = {
    "sort": ([_x], echelon.sort),
    "argsort": ([_x], echelon.argsort),
    "argsort of rows": ([lambda rng: _x(rng).reshape(7, 143)], lambda x, out: echelon.argsort(x, axis=0, out=out)),
    "sort_segments": ([_x, _offsets], echelon.sort_segments),
    "argsort_columns": ([lambda rng: _x(rng) % 7, _x],
                        lambda *columns, out: echelon.argsort_columns(list(columns), out=out)),
    "lexsort": ([_x, lambda rng: _x(rng) % 7], lambda *keys, out: echelon.lexsort(list(keys), out=out)),
    "take": ([_x, _indices], echelon.take),
    "take_along_axis": ([_x, _indices], echelon.take_along_axis),
    "scatter": ([_x, lambda rng: rng.permutation(N), _x], echelon.scatter),
    "repeat": ([_x, _lengths], echelon.repeat),
    "rle_decode": ([_x, _lengths], echelon.rle_decode),
    "partition": ([_x], lambda x, out: echelon.partition(x, 5, out=out)),
    "argpartition": ([_x], lambda x, out: echelon.argpartition(x, 5, out=out)),
    "partition_if": ([_x], lambda x, out: echelon.partition_if(x, ">", 50, out=out)[0]),
    "partition_3way": ([_x], lambda x, out: echelon.partition_3way(x, 50, 90, out=out)[0]),
    "flip": ([_x], echelon.flip),
    "roll": ([_x], lambda x, out: echelon.roll(x, 3, out=out)),
    "shuffle": ([_x], lambda x, out: echelon.shuffle(x, seed=1, out=out)),
    "sample": ([_x], lambda x, out: echelon.sample(x, N, out=out)),
    "cumulative_sum": ([_x], echelon.cumulative_sum),
    "scan": ([_x], lambda x, out: echelon.scan(x, exclusive=True, reverse=True, out=out)),
    "searchsorted": ([_x, _x, lambda rng: rng.permutation(N)],
                     lambda keys, x, sorter, out: echelon.searchsorted(np.sort(keys), x, out=out)),
    "sorter": ([lambda rng: np.arange(N)[::-1].copy(), _x, lambda rng: np.arange(N)[::-1].copy()],
               lambda keys, x, sorter, out: echelon.searchsorted(keys, x, sorter=sorter, out=out)),
    "partition_flags": ([lambda rng: _x(rng).astype("u1"), lambda rng: (_x(rng) % 2).astype("u1")],
                        lambda x, flags, out: echelon.partition_flags(x, flags, out=out)[0]),
    "isin": ([lambda rng: _x(rng) % 2 == 0, lambda rng: np.zeros(N, bool)], echelon.isin),
    "nanmin": ([lambda rng: np.where(rng.random((N, 1)) < 0.5, np.nan, 1.0)],
               lambda x, out: echelon.nanmin(x, axis=1, keepdims=True, out=out)),
    "std": ([lambda rng: rng.random((N, 1))], lambda x, out: echelon.std(x, axis=1, keepdims=True, out=out)),
    "matmul": ([lambda rng: rng.random((40, 40)), lambda rng: rng.random((40, 40))], echelon.linalg.matmul),
    "solve": ([lambda rng: rng.random((40, 40)), lambda rng: rng.random((40, 40))], echelon.linalg.solve),
    "inv": ([lambda rng: rng.random((40, 40))], echelon.linalg.inv),
    "matrix_transpose": ([lambda rng: rng.random((40, 40))], echelon.matrix_transpose),
}


@pytest.mark.parametrize("name", CALLS)
def test_out_is_an_argument(rng, name):
    makers, call = CALLS[name]
    arrays = [make(rng) for make in makers]
    out = np.empty_like(arrays[0])
    expected = call(*(x.copy() for x in arrays), out=out).copy()
    for i in range(len(arrays)):
        for turned in (False, True):
            given = [x.copy() for x in arrays]
            target = given[i][::-1] if turned else given[i]
            same(call(*given, out=target), expected)


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1]])
@pytest.mark.parametrize("call", [echelon.sort, echelon.argsort, echelon.flip, echelon.cumulative_sum, echelon.shuffle])
def test_out_is_a_view_of_a_matrix(rng, call, view):
    x = rng.integers(0, 100, (60, 60))
    for axis in (0, 1):
        expected = call(x.copy(), axis=axis)
        changed = x.copy()
        same(call(changed, axis=axis, out=view(changed)), expected)


def test_out_is_a_row_of_the_reduced_array(rng):
    x = rng.random((50, 50))
    for call in (echelon.sum, echelon.max, echelon.mean, echelon.var):
        expected = call(x, axis=0)
        for part in (lambda a: a[0], lambda a: a[:, 3], lambda a: a[-1][::-1]):
            changed = x.copy()
            same(call(changed, axis=0, out=part(changed)), expected)


def test_pairs(rng):
    keys, values = rng.integers(0, 50, N), np.arange(N)
    expected = echelon.sort_pairs(keys, values)
    changed = keys.copy(), values.copy()
    same(echelon.sort_pairs(*changed, out=changed[::-1])[0], expected[0])  # the outputs are exchanged
    same(changed[0], expected[1])
    expected = echelon.sort_pairs(keys, keys)[0]
    for place in (0, 1):
        both = keys.copy()
        out = [np.empty_like(keys), np.empty_like(keys)]
        out[place] = both
        for result in echelon.sort_pairs(both, both, out=out):
            same(result, expected)


def test_sparse_products(rng):
    indptr = np.concatenate([np.zeros(N // 2, int), np.full(N - N // 2, N // 2), [N]])
    matrix = echelon.sparse.CSR(rng.random(N), rng.integers(0, N, N), indptr, (N, N))
    x = rng.random(N)
    expected = echelon.sparse.matvec(matrix, x)
    same(echelon.sparse.matvec(matrix, x.copy(), out=matrix.data.copy()), expected)
    same(echelon.sparse.matvec(matrix, x, out=x), expected)
    shared = echelon.sparse.CSR(matrix.data.copy(), *matrix[1:])
    x = rng.random(N)
    expected = echelon.sparse.matvec(matrix, x)
    same(echelon.sparse.matvec(shared, x, out=shared.data), expected)
