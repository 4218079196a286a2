"""Memory layouts of arguments: strides, broadcasts, overlaps, alignment, read-only and empty arrays, subclasses.

SPDX-License-Identifier: Apache-2.0
"""
import array
import mmap

import echelon
import numpy as np
import pytest
from conftest import same
from echelon import _arrays
from echelon._arrays import layout
from echelon._arrays.numpy_family import NumPy
from numpy.lib.stride_tricks import as_strided, sliding_window_view


def layouts(rng, shape=(6, 7, 8)):
    """Views of random numbers with strides of many kinds."""
    base = rng.normal(size=tuple(2 * n for n in shape))
    yield base[:shape[0], :shape[1], :shape[2]]
    yield base[::2, ::-2, ::2]
    yield base[::-1, ::-1, ::-1][:4]
    yield base.transpose(2, 0, 1)[1:5]
    yield np.asfortranarray(base)[:3]
    yield np.broadcast_to(base[0, :, :5], (4, base.shape[1], 5))
    yield np.broadcast_to(base[:3, :1, :5], (3, 4, 5))
    yield np.broadcast_to(base[0, 0, 0], (2, 3, 4))
    yield base[:, :0]
    yield base[:1, :1]
    yield sliding_window_view(base[0, 0], 5)[None]


def test_layouts(rng):
    for x in layouts(rng):
        before = x.copy()
        for axis in (0, 1, 2, None):
            same(echelon.sort(x, axis=axis), np.sort(x, axis=axis))
            same(echelon.argsort(x, axis=axis), np.argsort(x, axis=axis, kind="stable"))
        same(x.copy(), before)


def test_torch_layouts(rng):
    torch = pytest.importorskip("torch")
    base = torch.from_numpy(rng.normal(size=(6, 8, 10)))
    for x in (base, base.permute(2, 0, 1), base[:, ::2, ::3], base[:1].expand(4, 8, 10), base[:, :0],
              base[0, 0].expand(2, 3, 10)):
        for axis in range(3):
            assert torch.equal(echelon.sort(x, axis=axis), x.sort(dim=axis).values)
            assert torch.equal(echelon.argsort(x, axis=axis), x.sort(dim=axis, stable=True).indices)


def test_huge_broadcasts():
    """An input of stride 0 is copied; the copy of an enormous one is refused as NumPy does."""
    x = np.broadcast_to(np.float32(3), (1000, 1000))
    same(echelon.sort(x, axis=0), np.sort(x, axis=0))
    with pytest.raises(MemoryError):
        echelon.sort(np.broadcast_to(np.float32(3), (1 << 50,)))


@pytest.mark.parametrize("make", [
    lambda x: as_strided(x, (4, 5), (0, 8)),
    lambda x: as_strided(x, (4, 5), (8, 0)),
    lambda x: as_strided(x, (4, 5), (8, 8)),
    lambda x: as_strided(x, (4, 5), (16, 8)),
    lambda x: as_strided(x[30:], (4, 5), (-8, 8)),
])
def test_out_with_several_elements_at_one_place(make):
    out = make(np.zeros(100))
    with pytest.raises(echelon.ArgumentError, match="several elements are at one place"):
        echelon.sort(np.ones((4, 5)), out=out)
    with pytest.raises(echelon.ArgumentError, match="read-only"):
        echelon.sort(np.ones((4, 5)), out=np.broadcast_to(np.zeros(5), (4, 5)))


def test_distinct(rng):
    """Every slice of an array has distinct elements."""
    base = np.zeros((5, 6, 7))
    for _ in range(300):
        order = rng.permutation(3)
        key = tuple(slice(*sorted(rng.integers(0, 7, 2)), int(rng.integers(1, 4))) for _ in range(3))
        x = base.transpose(order)[key]
        assert layout.distinct(NumPy.view(x)) and layout.distinct(NumPy.view(x[::-1]))


@pytest.mark.parametrize("overlap", [lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1],
                                     lambda x: x[::-1, ::-1].T])
@pytest.mark.parametrize("axis", [0, 1])
def test_overlapping_out(rng, overlap, axis):
    x = rng.normal(size=(9, 9))
    for name, expected in (("sort", np.sort(x, axis=axis)), ("cumulative_sum", np.cumsum(x, axis=axis))):
        y = x.copy()
        out = overlap(y)
        assert getattr(echelon, name)(y, axis=axis, out=out) is out
        assert np.allclose(out, expected)


@pytest.mark.parametrize("overlap", [lambda x: x, lambda x: x.T, lambda x: x[::-1], lambda x: x[::-1, ::-1].T])
@pytest.mark.parametrize("call", [
    lambda x, out: echelon.sort(x, axis=0, out=out),
    lambda x, out: echelon.cumulative_sum(x, axis=1, out=out),
    lambda x, out: echelon.cumulative_prod(x, axis=0, out=out),
    lambda x, out: echelon.flip(x, axis=0, out=out),
    lambda x, out: echelon.roll(x, 2, axis=1, out=out),
    lambda x, out: echelon.take(x, [3, 1, 2, 0, 4, 5, 7, 6, 8], axis=0, out=out),
    lambda x, out: echelon.scatter(x, [3, 1, 2], x[:3] + 1, out=out),
    lambda x, out: echelon.matrix_transpose(x, out=out),
    lambda x, out: echelon.partition(x, 3, axis=1, out=out),
    lambda x, out: echelon.linalg.matmul(x, x, out=out),
])
def test_overlapping_out_of_other_functions(rng, call, overlap):
    """The result does not depend on whether out is other memory. Functions may refuse an overlap."""
    x = rng.normal(size=(9, 9))
    expected = np.zeros((9, 9))
    call(x, expected)
    y = x.copy()
    out = overlap(y)
    try:
        call(y, out)
    except echelon.ArgumentError as error:
        assert "out" in str(error) and "overlap" in str(error)
        same(y, x)
    else:
        same(out.copy(), expected)


def test_partly_overlapping_out(rng):
    memory = rng.normal(size=1000)
    for first, last in (((0, 500), (1, 501)), ((1, 501), (0, 500)), ((0, 500), (499, 999)), ((0, 500), (500, 1000))):
        y = memory.copy()
        expected = np.sort(y[slice(*first)])
        out = y[slice(*last)]
        echelon.sort(y[slice(*first)], out=out)
        same(out, expected)
    y = memory.copy()
    expected = np.sort(y[::2])
    echelon.sort(y[::2], out=y[1::2])
    same(y[1::2].copy(), expected)
    same(y[::2], memory[::2])


def test_overlapping_outputs(rng):
    keys, values = rng.normal(size=50), np.arange(50.0)
    memory = np.zeros(100)
    order = np.argsort(keys)
    out = memory[::2], memory[1::2]  # distinct elements
    echelon.sort_pairs(keys, values, out=out)
    same(out[0].copy(), keys[order])
    same(out[1].copy(), values[order])
    for out in ((memory[:50], memory[:50]), (memory[1:51], memory[:50]), (memory[:50], memory[98:48:-1])):
        with pytest.raises(echelon.ArgumentError, match=r"out\[1\] overlaps another output"):
            echelon.sort_pairs(keys, values, out=out)
    with pytest.raises(echelon.ArgumentError, match="overlap"):
        echelon.top_k(keys, 5, out=(memory[:5], memory[:5].view(np.int64)))
    k, v = keys.copy(), values.copy()
    echelon.sort_pairs(k, v, out=(v, k))
    same(v, keys[order])
    same(k, values[order])


def test_overlap_with_another_dtype():
    x = np.arange(10.0)[::-1].copy()
    out = x.view(np.int64)
    echelon.argsort(x, out=out)
    same(out, np.arange(10)[::-1])


def test_overlapping_out_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.rand(9, 9)
    expected = x.sort(dim=0).values
    out = x.T
    echelon.sort(x, axis=0, out=out)
    assert torch.equal(out, expected)


def test_out_of_another_library(rng):
    torch = pytest.importorskip("torch")
    x = rng.normal(size=(5, 6))
    for axis in (0, 1):
        for out in (torch.zeros(5, 6, dtype=torch.float64), torch.zeros(6, 5, dtype=torch.float64).T):
            assert echelon.sort(x.T.copy().T, axis=axis, out=out) is out
            same(out.numpy().copy(), np.sort(x, axis=axis))
        out = np.zeros((6, 5)).T
        echelon.sort(torch.from_numpy(x)[:, ::1], axis=axis, out=out)
        same(out.copy(), np.sort(x, axis=axis))
    memory = torch.zeros(60, dtype=torch.float64)
    memory[:30] = torch.from_numpy(x.reshape(-1))
    echelon.sort(memory.numpy()[:30], out=memory[1:31])  # overlaps in another layout
    same(memory.numpy()[1:31].copy(), np.sort(x.reshape(-1)))
    times = x.view("M8[s]")
    with pytest.raises(echelon.DTypeError, match="out has dtype torch.int64"):
        echelon.sort(times, out=torch.zeros(5, 6, dtype=torch.int64))


def test_alignment():
    memory = np.zeros(81, np.uint8)
    x = memory[1:].view(np.float64)
    assert not x.flags.aligned
    with pytest.raises(echelon.ArgumentError, match="x is not aligned.*x.copy"):
        echelon.sort(x)
    with pytest.raises(echelon.ArgumentError, match="out is not aligned"):
        echelon.sort(np.zeros(10), out=x)
    records = np.zeros(4, np.dtype([("a", "u1"), ("b", "f8")]))
    with pytest.raises(echelon.ArgumentError, match="not aligned"):
        echelon.sort(records["b"])
    same(echelon.sort(records["a"]), np.zeros(4, np.uint8))
    aligned = np.zeros(4, np.dtype([("a", "i4"), ("b", "i4"), ("c", "i4")]))
    aligned["b"] = [3, 1, 2, 0]
    same(echelon.sort(aligned["b"]), np.arange(4, dtype="i4"))


def test_alignment_of_tensors():
    torch = pytest.importorskip("torch")
    x = torch.frombuffer(bytearray(81), dtype=torch.uint8)[1:]
    try:
        misaligned = torch.from_numpy(x.numpy()).view(torch.float64)
    except RuntimeError:
        pytest.skip("PyTorch makes no misaligned tensor here")
    with pytest.raises(echelon.ArgumentError, match="x is not aligned"):
        echelon.sort(misaligned)


def test_misaligned_arrow_buffers():
    pa = pytest.importorskip("pyarrow")
    memory = b"x" + np.array([3, 1, 2], np.int32).tobytes()
    column = pa.Array.from_buffers(pa.int32(), 3, [None, pa.py_buffer(memory).slice(1)])
    assert echelon.sort(column).to_pylist() == [1, 2, 3]


def test_read_only(tmp_path):
    x = np.arange(4)[::-1].copy()
    x.flags.writeable = False
    same(echelon.sort(x), np.arange(4))
    with pytest.raises(echelon.ArgumentError, match="out is read-only"):
        echelon.sort(np.arange(4), out=x)
    path = tmp_path / "x"
    path.write_bytes(np.array([2.0, 1.0]).tobytes())
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        view = np.frombuffer(memory)
        same(echelon.sort(view), np.array([1.0, 2.0]))
        del view


@pytest.mark.parametrize("kind", "ifbmMu")
def test_byte_order(kind):
    x = np.array([1, 2]).astype({"b": ">i2", "m": ">m8[s]", "M": ">M8[s]"}.get(kind, f">{kind}4"))
    with pytest.raises(echelon.DTypeError, match="bytes are swapped.*newbyteorder"):
        echelon.sort(x)
    with pytest.raises(echelon.DTypeError, match="out has dtype"):
        echelon.sort(x.astype(x.dtype.newbyteorder("=")), out=x)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_empty(shape):
    x = np.zeros(shape, np.float32)
    for axis in (None, *range(len(shape))):
        same(echelon.sort(x, axis=axis), np.sort(x, axis=axis))
        same(echelon.argsort(x, axis=axis), np.argsort(x, axis=axis))
    out = np.empty_like(x)
    assert echelon.sort(x, out=out) is out


def test_no_dimensions():
    x = np.array(3.0)
    with pytest.raises(echelon.ArgumentError, match="no dimensions"):
        echelon.sort(x)
    same(echelon.sort(x, axis=None), np.array([3.0]))
    assert echelon.sum(x) == 3


def test_buffers():
    for x in (array.array("i", [3, 1, 2]), memoryview(array.array("i", [3, 1, 2])), [3, 1, 2], (3, 1, 2), range(3)):
        assert echelon.sort(x).tolist() == sorted(x)

    class Interface:
        values = np.array([3, 1, 2])
        __array_interface__ = values.__array_interface__

    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.array([3, 1, 2])

    assert echelon.sort(Interface()).tolist() == [1, 2, 3]
    assert echelon.sort(Array()).tolist() == [1, 2, 3]


def test_subclasses(tmp_path):
    child = np.array([[3, 1], [2, 4]]).view(type("Child", (np.ndarray,), {}))
    same(echelon.sort(child, axis=0), np.array([[2, 1], [3, 4]]))
    memory = np.memmap(tmp_path / "m", np.float32, "w+", shape=(5,))
    memory[:] = [5, 4, 3, 2, 1]
    same(echelon.sort(memory), np.arange(1, 6, dtype="f4"))
    assert echelon.sort(memory, out=memory) is memory
    same(np.array(memory), np.arange(1, 6, dtype="f4"))
    masked = np.ma.MaskedArray([3, 1, 2], [False, True, False])
    with pytest.raises(echelon.ArgumentError, match="x is a masked array"):
        echelon.sort(masked)
    same(echelon.sort(np.ma.MaskedArray([3, 1])), np.array([1, 3]))
    records = np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    with pytest.raises(echelon.DTypeError, match="x has dtype"):
        echelon.sort(records)


@pytest.mark.parametrize("make, text", [
    (lambda: np.array([1 + 1j]), "complex128"),
    (lambda: np.array(["a"]), "<U1"),
    (lambda: np.array([object()]), "x"),
    (lambda: np.zeros(2, "V3"), "V3"),
    (lambda: np.zeros(2, np.longdouble), "float128|longdouble"),
    (lambda: {1, 2}, "set"),
    (lambda: None, "NoneType"),
    (lambda: [[1], [2, 3]], "x cannot be converted|x is list"),
    (lambda: (i for i in range(3)), "generator"),
    (lambda: {"a": 1}, "dict"),
])
def test_dtypes(make, text):
    with pytest.raises(echelon.DTypeError, match=text):
        echelon.sort(make())


def test_tensors_that_are_no_memory():
    torch = pytest.importorskip("torch")
    with pytest.raises(echelon.ArgumentError, match="x has layout"):
        echelon.sort(torch.tensor([1.0, 2.0]).to_sparse())
    with pytest.raises(echelon.ArgumentError, match="device meta"):
        echelon.sort(torch.empty(3, device="meta"))
    with pytest.raises(echelon.ArgumentError, match="requires gradients"):
        echelon.sort(torch.tensor([1.0], requires_grad=True))
    with pytest.raises(echelon.DTypeError, match="complex64"):
        echelon.sort(torch.tensor([1j]))
    negative = torch.tensor([1 + 2j, 3 + 4j, 5 + 1j]).conj().imag
    assert negative.is_neg()
    assert echelon.sort(negative).tolist() == [-4, -2, -1]
    with pytest.raises(echelon.ArgumentError, match="out is read-only"):
        echelon.sort(torch.rand(3), out=negative)


def test_family_is_found_once_per_type():
    x = np.zeros(3).view(type("Child", (np.ndarray,), {}))
    assert _arrays.family_of(x) is _arrays.family_of(x)
    assert _arrays.family_of([1]) is None and _arrays.family_of(object()) is None


HUGE = 10**400  # no float64
BEYOND = {
    "value": lambda: echelon.select_if(np.ones(2), "<", HUGE),
    "high": lambda: echelon.partition_3way(np.ones(2), 0, HUGE),
    "init": lambda: echelon.scan([1.0, 2.0], init=HUGE),
    "q": lambda: echelon.quantile([1.0], HUGE),
    "correction": lambda: echelon.var([1.0, 2.0], correction=HUGE),
    "rcond": lambda: echelon.linalg.lstsq(np.eye(2), [1.0, 2.0], rcond=HUGE),
    "rtol": lambda: echelon.sparse.linalg.cg(np.eye(2), [1.0, 2.0], rtol=HUGE),
    "shift": lambda: echelon.sparse.linalg.minres(np.eye(2), [1.0, 2.0], shift=HUGE),
    "alpha": lambda: echelon.sparse.matvec(echelon.sparse.csr_from_coo([0], [0], [1.0], (1, 1)), [1.0], alpha=HUGE),
    "probability": lambda: echelon.gf2.Matrix.random(2, 2, probability=HUGE),
    "seed": lambda: echelon.gf2.Matrix.random(2, 2, seed="x"),
    "repeats": lambda: echelon.repeat([1, 2], 2**63),
    "batch_size": lambda: echelon.gf2.osd(np.array([[1, 1]]), np.array([[1]]), [0, 1], osd_order=1, batch_size="x"),
    "shape": lambda: echelon.sparse.csr_from_coo([0], [0], [1.0], (1, 2**64)),
}


@pytest.mark.parametrize("name", BEYOND)
def test_numbers_that_no_type_represents(name):
    with pytest.raises((echelon.ArgumentError, echelon.DTypeError), match=name):
        BEYOND[name]()


@pytest.mark.parametrize("call", [lambda: echelon.permutation(2**62), lambda: echelon.repeat([1], 2**62),
                                  lambda: echelon.histogram([1.0], bins=2**47),
                                  lambda: echelon.bincount(np.array([2**64 - 1], "u8"))])
def test_results_that_no_memory_can_hold(call):
    with pytest.raises(echelon.OutOfMemoryError, match="cannot allocate"):
        call()


def test_edges_are_a_copy():
    edges = np.array([0.0, 1.0, 2.0])
    assert not np.shares_memory(echelon.histogram([0.5], bins=edges)[1], edges)
