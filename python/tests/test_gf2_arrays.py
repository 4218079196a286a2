"""echelon.gf2 with arrays of other libraries than NumPy and PyTorch, and with arguments of different libraries.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest
from conftest import same
from echelon import gf2
from test_gf2 import bits


def packed(x):
    return np.packbits(x, axis=1, bitorder="little")


def problem(rng):
    """(a, syndromes, order) of odd sizes."""
    a = bits(rng, (20, 131))
    return a, (rng.integers(0, 2, (5, 131)) @ a.T % 2).astype("uint8"), rng.permutation(131)


# Functions of the constructor of an array, and of the three arrays of problem().
CALLS = {
    "rank": lambda new, a, s, o: gf2.rank(new(a)),
    "rref": lambda new, a, s, o: gf2.rref(new(a)),
    "rref of bool": lambda new, a, s, o: gf2.rref(new(a.astype(bool))),
    "pivots": lambda new, a, s, o: gf2.pivots(new(a), column_order=new(o)),
    "nullspace": lambda new, a, s, o: gf2.nullspace(new(a)),
    "mul": lambda new, a, s, o: gf2.mul(new(a), new(a.T)),
    "solve": lambda new, a, s, o: gf2.solve(new(a), new(s.T), certificate=True)[0],
    "solve for a vector": lambda new, a, s, o: gf2.solve(new(a), new(s[0]), solvable=True)[0],
    "echelon_batched": lambda new, a, s, o: gf2.echelon_batched(new(a[None])).form,
    "rank_batched": lambda new, a, s, o: gf2.rank_batched(new(np.stack([a, 0 * a]))),
    "solve_batched": lambda new, a, s, o: gf2.solve_batched(new(a), new(s)).x,
    "Matrix": lambda new, a, s, o: gf2.Matrix(new(a)).to_dense(),
    "index": lambda new, a, s, o: gf2.Matrix(new(a))[::-2, new(o)].to_dense(),
    "to_packed": lambda new, a, s, o: gf2.Matrix(new(a)).to_packed(),
    "from_packed": lambda new, a, s, o: gf2.Matrix.from_packed(new(packed(a)), 131).to_dense(),
    "whole words": lambda new, a, s, o: gf2.Matrix.from_packed(new(packed(a[:, :128])), 128).to_packed(),
    "osd": lambda new, a, s, o: gf2.osd(new(a), new(s), new(o)).errors,
    "osd, llrs": lambda new, a, s, o: gf2.osd(new(a), new(s), llrs=new(o * 1.0)).errors,
    "osd, packed": lambda new, a, s, o: gf2.osd(new(a), new(packed(s)), new(o), bit_packed=True).errors,
}
ARITHMETIC = {
    "osd of order 2": lambda new, a, s, o: gf2.osd(new(a), new(s), new(o), osd_order=2).errors,
    "plu": lambda new, a, s, o: gf2.plu(new(a))[1],
    "pluq": lambda new, a, s, o: gf2.pluq(new(a)).q,
}


def compare(rng, new, kind, call, to_numpy=np.asarray):
    """Compares the results for another library and for NumPy."""
    arrays = problem(rng)
    result, expected = call(new, *arrays), call(np.ascontiguousarray, *arrays)
    if isinstance(expected, int):
        assert result == expected
        return
    assert isinstance(result, kind)
    result = to_numpy(result)
    same(result.astype(expected.dtype), expected)
    assert result.dtype == expected.dtype or expected.dtype.itemsize == 8  # JAX has 32-bit integers


@pytest.mark.parametrize("name", [*CALLS, *ARITHMETIC])
def test_jax(rng, name):
    jax = pytest.importorskip("jax")
    if name in ARITHMETIC and jax.default_backend() != "cpu":
        pytest.skip("on a GPU these functions need arrays of PyTorch or CuPy")
    compare(rng, lambda x: jax.numpy.asarray(np.ascontiguousarray(x)), jax.Array, {**CALLS, **ARITHMETIC}[name])


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", [*CALLS, *ARITHMETIC])
def test_device_arrays(rng, name, device):
    """Arrays of GPU libraries without arithmetic."""
    def new(x):
        return echelon.DeviceArray.from_numpy(np.ascontiguousarray(x), device)
    if name in CALLS:
        compare(rng, new, echelon.DeviceArray, CALLS[name], lambda x: x.to_numpy())
        return
    with pytest.raises(NotImplementedError, match="needs those of PyTorch or CuPy"):
        ARITHMETIC[name](new, *problem(rng))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*CALLS, *ARITHMETIC])
def test_cupy(rng, name):
    cupy = pytest.importorskip("cupy")
    compare(rng, cupy.asarray, cupy.ndarray, {**CALLS, **ARITHMETIC}[name], cupy.asnumpy)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*CALLS, *ARITHMETIC])
def test_torch_on_a_gpu(rng, name):
    torch = pytest.importorskip("torch")
    compare(rng, lambda x: torch.as_tensor(np.ascontiguousarray(x), device="cuda"), torch.Tensor,
            {**CALLS, **ARITHMETIC}[name], lambda x: x.cpu().numpy())


def test_the_last_argument_determines_the_type(rng):
    torch = pytest.importorskip("torch")
    a, b = bits(rng, (4, 6)), bits(rng, (6, 3))
    tensor = torch.from_numpy(b)
    for first in (a, gf2.Matrix(a), a.tolist()):
        assert torch.equal(gf2.mul(first, tensor), torch.from_numpy(gf2.mul(a, b)))
        assert type(gf2.mul(first, gf2.Matrix(b))) is gf2.Matrix
        same(gf2.mul(first, b), gf2.mul(a, b))
    assert isinstance(gf2.mul(torch.from_numpy(a), b.tolist()), torch.Tensor)
    syndromes = torch.zeros((2, 4), dtype=torch.int32)
    assert gf2.osd(a, syndromes, range(6)).errors.dtype is torch.int32


def test_vectors_of_pandas(rng):
    pandas = pytest.importorskip("pandas")
    a = bits(rng, (4, 6))
    result = gf2.mul(a, pandas.Series([1, 0, 1, 1, 0, 1]))
    assert isinstance(result, pandas.Series)
    same(result.to_numpy(), gf2.mul(a, np.array([1, 0, 1, 1, 0, 1])))
    assert gf2.rank(pandas.DataFrame(a)) == gf2.rank(a)


def test_masks_as_positions(rng):
    a = bits(rng, (5, 7))
    matrix, mask = gf2.Matrix(a), np.array([True, False, True, True, False])
    same(matrix[mask].to_dense(), a[mask])
    same(matrix[mask.tolist()].to_dense(), a[mask])
    same(matrix[:, [True] + [False] * 6].to_dense(), a[:, :1])
    with pytest.raises(echelon.ArgumentError, match="mask"):
        matrix[[True, False]]


def test_numbers_beyond_the_types_of_the_library():
    assert gf2.echelon(np.eye(3, dtype="u1"), max_rank=2**64 + 1).rank == 3
    with pytest.raises(echelon.ArgumentError, match="shape"):
        echelon.sparse.matvec(echelon.sparse.CSR([1.0], [0], [0, 1], (1, 2**64 + 1)), [1.0])
