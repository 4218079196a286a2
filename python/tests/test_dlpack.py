"""Arrays of other libraries by DLPack, its C exchange API and the CUDA array interface; DeviceArray.

The CUDA parts are tested on host memory that claims to be on a GPU: only addresses and calls are examined.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import echelon
import numpy as np
import pytest
from conftest import same
from echelon import DeviceArray, _arrays
from echelon._arrays import device_memory, dlpack, foreign_family
from echelon._arrays.device_family import DEVICE
from echelon._runtime import cuda

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "bool"]


class Wrapper:
    """A producer of another library: forwards DLPack of an array of NumPy. old: without the keywords of 1.0."""

    def __init__(self, array, old=False):
        self.array, self.old, self.calls = array, old, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        self.calls.append(dict(options))
        if self.old and set(options) - {"stream"}:
            raise TypeError("unexpected keyword")
        options.pop("copy", None)
        if self.old:
            return self.array.__dlpack__()
        return self.array.__dlpack__(**options)


class Failing(Wrapper):
    """A producer that cannot export."""

    def __dlpack__(self, **options):
        raise BufferError("no export today")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("old", [False, True])
def test_import(rng, dtype, old):
    x = rng.integers(0, 90, (5, 7)).astype(dtype)
    if dtype == "bool" and np.lib.NumpyVersion(np.__version__) < "1.25.0":
        pytest.skip("this version of NumPy does not export bool")
    for array in (x, x.T, x[::2, ::-3], x[:0], x[0, 0:1].reshape(())):
        view = _arrays.view(Wrapper(array, old))
        assert np.array_equal(view.array, array) and view.array.dtype == array.dtype
        assert view.pointer == array.__array_interface__["data"][0] or array.size == 0
    for axis in (0, 1):
        same(echelon.sort(Wrapper(x.T, old), axis=axis), np.sort(x.T, axis=axis))


def test_max_version_is_requested():
    x = Wrapper(np.arange(3))
    echelon.sort(x)
    assert x.calls[0] == {"max_version": (1, 0), "copy": False}


def test_memory_is_released_once():
    array = np.arange(1000)
    alive = sys.getrefcount(array)
    view = _arrays.view(Wrapper(array))
    part = view.array[10:]
    del view
    gc.collect()
    assert sys.getrefcount(array) > alive
    del part
    gc.collect()
    assert sys.getrefcount(array) == alive


def test_read_only():
    array = np.arange(4)
    array.flags.writeable = False
    wrapper = Wrapper(array)
    if not hasattr(np, "unstack"):  # NumPy before 2.1 does not export it
        pytest.skip("this version of NumPy does not export read-only arrays")
    same(echelon.sort(wrapper, descending=True), np.arange(4)[::-1])
    with pytest.raises(echelon.ArgumentError, match="out is read-only"):
        echelon.sort(np.arange(4), out=wrapper)


def test_out():
    target = np.zeros(3)
    wrapper = Wrapper(target)
    assert echelon.sort(np.array([3.0, 1.0, 2.0]), out=wrapper) is wrapper
    same(target, np.array([1.0, 2.0, 3.0]))


def test_used_capsule():
    class Used(Wrapper):
        def __init__(self):
            super().__init__(np.arange(3))
            self.capsule = self.array.__dlpack__()
            dlpack.take(self.capsule)

        def __dlpack__(self, **options):
            return self.capsule

    with pytest.raises(echelon.DTypeError, match="not a new DLPack capsule"):
        echelon.sort(Used())


@pytest.mark.parametrize("make, error, text", [
    (lambda: Failing(np.arange(3)), echelon.ArgumentError, "x cannot be exported without a copy: no export today"),
    (lambda: Wrapper(np.arange(3) + 1j), echelon.DTypeError, "x has DLPack dtype code 5"),
])
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        echelon.sort(make())


@pytest.mark.parametrize("capsule", [None, 1, "text", (), object()])
def test_results_that_are_no_capsules(capsule):
    class Odd(Wrapper):
        def __dlpack__(self, **options):
            return capsule

    with pytest.raises(echelon.DTypeError, match="not a new DLPack capsule"):
        echelon.sort(Odd(np.arange(3)))


@pytest.mark.parametrize("device", [None, (1,), ("a", "b"), 7])
def test_devices_that_are_none(device):
    class Odd(Wrapper):
        def __dlpack_device__(self):
            return device

    with pytest.raises(echelon.ArgumentError, match="x cannot be exported"):
        echelon.sort(Odd(np.arange(3)))


def test_no_namespace():
    class Odd(Wrapper):
        def __array_namespace__(self):
            raise RuntimeError("none")

    same(echelon.sort(Odd(np.array([2, 1]))), np.array([1, 2]))


def test_other_devices():
    class Metal(Wrapper):
        def __dlpack_device__(self):
            return (8, 0)

    with pytest.raises(echelon.ArgumentError, match="DLPack device of type 8"):
        echelon.sort(Metal(np.arange(3)))


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.array([3.0, 1.0, 2.0])
    result = echelon.sort(x)
    assert isinstance(result, jax.Array) and result.tolist() == [1, 2, 3]
    assert isinstance(echelon.argsort(x), jax.Array)
    with pytest.raises(echelon.ArgumentError, match="out is read-only"):
        echelon.sort(x, out=jax.numpy.zeros(3))
    half = jax.numpy.array([3, 1], dtype=jax.numpy.bfloat16)
    assert echelon.sort(half).dtype == half.dtype


def test_array_api_strict():
    xp = pytest.importorskip("array_api_strict")
    x = xp.asarray([[3, 1], [2, 4]])
    result = echelon.sort(x, axis=0)
    assert type(result) is type(x) and result.dtype == x.dtype
    assert np.array_equal(np.from_dlpack(result), [[2, 1], [3, 4]])


@pytest.fixture
def exchange(monkeypatch):
    """PyTorch as a library that is known only by the C exchange API."""
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[3.0, 1.0], [0.0, 2.0]])
    api = dlpack.ExchangeAPI.of(torch.Tensor)
    if api is None:
        pytest.skip("this version of PyTorch has no C exchange API")
    monkeypatch.setitem(_arrays._families, torch.Tensor, foreign_family.ExchangeProducer(tensor, api))
    return torch


def test_exchange(exchange, rng):
    torch = exchange
    for dtype in DTYPES:
        array = rng.integers(0, 90, (6, 5)).astype(dtype)
        x = torch.from_numpy(array)
        for axis in (0, 1):
            result = echelon.sort(x.T, axis=axis)
            assert isinstance(result, torch.Tensor)
            same(result.numpy(), np.sort(array.T, axis=axis))
    out = torch.zeros(3, dtype=torch.float64)
    assert echelon.sort(torch.tensor([2.0, 3.0, 1.0], dtype=torch.float64), out=out) is out
    assert out.tolist() == [1, 2, 3]


def test_exchange_references(exchange):
    torch = exchange
    x = torch.arange(100.0)
    before = sys.getrefcount(x)
    for _ in range(10):
        result = echelon.sort(x)
    assert sys.getrefcount(x) == before
    alive = weakref.ref(result)
    del result
    assert alive() is None


def test_exchange_allocator(exchange):
    torch = exchange
    api = dlpack.ExchangeAPI.of(torch.Tensor)
    tensor = api.empty((3, 4), np.dtype("int16"), "cpu")
    assert tensor.shape == (3, 4) and tensor.dtype == np.int16 and tensor.pointer
    with pytest.raises(echelon.ArgumentError, match="cannot be allocated"):
        api.empty((2**61,), np.dtype("f8"), "cpu")


# ---- DeviceArray, in the host memory of a context of the CPU ----

@pytest.mark.parametrize("dtype", DTYPES)
def test_device_array(rng, dtype):
    host = rng.integers(0, 90, (3, 4)).astype(dtype)
    x = DeviceArray.from_numpy(host, "cpu")
    assert (x.shape, x.dtype, len(x), x.size, x.ndim, x.nbytes) == ((3, 4), host.dtype, 3, 12, 2, host.nbytes)
    same(x.to_numpy(), host)
    same(np.asarray(x), host)
    same(np.asarray(x, dtype="f8"), host.astype("f8"))
    for version in (None, (0, 8), (1, 0), (1, 3)):
        capsule = x.__dlpack__(max_version=version)
        tensor = dlpack.Tensor(dlpack.take(capsule), "x")
        assert (tensor.pointer, tensor.shape, tensor.dtype, tensor.device) == (x.pointer, (3, 4), host.dtype, "cpu")
    assert "DeviceArray of" in repr(x) and "(3, 4)" in repr(x)
    transposed = DEVICE.moveaxis(x, 0, 1)
    same(transposed.to_numpy(), host.T.copy())
    same(echelon.sort(x, axis=0).to_numpy(), np.sort(host, axis=0))
    same(echelon.sort(transposed, axis=1).to_numpy(), np.sort(host.T, axis=1))


def test_device_family(rng):
    host = rng.normal(size=(4, 5, 6)).astype("f4")
    x = DeviceArray.from_numpy(host, "cpu")
    strides = host.strides
    reverse = DeviceArray(x.pointer + 5 * 4, (4, 5, 6), (strides[0], strides[1], -4), "f4", "cpu", x)
    same(reverse.to_numpy(), host[:, :, ::-1].copy())
    same(DEVICE.contiguous(reverse).to_numpy(), host[:, :, ::-1].copy())
    broadcast = DeviceArray(x.pointer, (3, 6), (0, 4), "f4", "cpu", x)
    same(DEVICE.contiguous(broadcast).to_numpy(), np.broadcast_to(host[0, 0], (3, 6)).copy())
    same(DEVICE.moveaxis(x, 0, -1).to_numpy(), np.moveaxis(host, 0, -1).copy())
    same(DEVICE.reshape(DEVICE.moveaxis(x, 0, -1), (-1, 4)).to_numpy(), np.moveaxis(host, 0, -1).reshape(-1, 4))
    same(DEVICE.cast(reverse, np.dtype("f8")).to_numpy(), host[:, :, ::-1].astype("f8"))
    same(DEVICE.retyped(x, np.dtype("i4")).to_numpy(), host.view("i4"))
    same(DEVICE.head(x, 1).to_numpy(), host[:1])
    same(DEVICE.head(x, 3).to_numpy(), host[:3])
    target = DEVICE.empty((5, 6, 4), "f4", "cpu")
    DEVICE.copy_to(target, DEVICE.moveaxis(x, 0, -1))
    same(target.to_numpy(), np.moveaxis(host, 0, -1).copy())
    DEVICE.copy_to(DEVICE.moveaxis(target, -1, 0), reverse)
    same(target.to_numpy(), np.moveaxis(host[:, :, ::-1], 0, -1).copy())
    for shape in ((0,), (3, 0), ()):
        empty = DeviceArray.from_numpy(np.zeros(shape, "f4"), "cpu")
        same(empty.to_numpy(), np.zeros(shape, "f4"))
        same(DEVICE.contiguous(empty).to_numpy(), np.zeros(shape, "f4"))


def test_device_array_parts(rng):
    host = rng.normal(size=(4, 5, 6))
    x = DeviceArray.from_numpy(host, "cpu")
    for key in (0, -1, slice(1, 3), (..., 0), (slice(None), 2), (1, 2, 3), (slice(None, None, -2), None, 1), (), ...,
                (slice(0, 0),)):
        part = x[key]
        assert isinstance(part, DeviceArray)
        same(part.to_numpy(), np.array(host[key], order="C"))
    for key in ([0, 1], np.array([0]), host > 0, "a"):
        with pytest.raises(TypeError, match="indexed by"):
            x[key]
    with pytest.raises(IndexError):
        x[9]


def test_device_memory_is_released():
    before = device_memory.usage("cpu")
    x = DeviceArray.empty((1000,), "f8", "cpu")
    assert device_memory.usage("cpu") == before + 8000
    y = np.from_dlpack(x)
    del x
    gc.collect()
    assert device_memory.usage("cpu") == before + 8000
    del y
    gc.collect()
    assert device_memory.usage("cpu") == before
    capsules = [DeviceArray.empty((1000,), "f8", "cpu").__dlpack__() for _ in range(3)]
    assert device_memory.usage("cpu") == before + 24000
    del capsules
    gc.collect()
    assert device_memory.usage("cpu") == before


def test_device_memory_in_threads():
    """Arrays are made in eight threads and released in others."""
    before, made = device_memory.usage("cpu"), []

    def work(seed):
        generator = np.random.default_rng(seed)
        for _ in range(50):
            host = generator.normal(size=int(generator.integers(1, 500)))
            made.append((DeviceArray.from_numpy(host, "cpu"), host))
            if len(made) > 8:
                x, expected = made.pop(0)
                same(x.to_numpy(), expected)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for x, expected in made:
        same(x.to_numpy(), expected)
    del made[:], x
    gc.collect()
    assert device_memory.usage("cpu") == before


def test_release_during_an_allocation():
    found = device_memory.pool("cpu")
    x = DeviceArray.empty((100,), "f8", "cpu")
    before = device_memory.usage("cpu")
    with found.lock:
        del x  # as if the garbage collector ran now
    assert device_memory.usage("cpu") == before
    y = DeviceArray.empty((50,), "f8", "cpu")
    assert device_memory.usage("cpu") == before - 400
    del y


@pytest.mark.parametrize("call, error, text", [
    (lambda x: x.__dlpack__(copy=True), BufferError, "without a copy"),
    (lambda x: x.__dlpack__(dl_device=(2, 0)), BufferError, "cannot be exported to DLPack device"),
    (lambda x: x.__dlpack__(stream=1), echelon.ArgumentError, "stream is given"),
    (lambda x: x.__array__(copy=False), ValueError, "only with a copy"),
    (lambda x: len(DEVICE.reshape(x, ())), TypeError, "without dimensions"),
    (lambda x: x.__cuda_array_interface__, AttributeError, "host memory"),
])
def test_device_array_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(DeviceArray.from_numpy(np.zeros(1), "cpu"))


# ---- Addresses that claim to be on a GPU ----

@pytest.fixture
def gpu(monkeypatch):
    """A list of the calls that order streams; no driver is used."""
    calls = []
    monkeypatch.setattr(cuda, "order", lambda device, first, then: calls.append((device, first, then)))
    monkeypatch.setattr(cuda, "device_of", lambda pointer: 1)
    return calls


def claimed(array):
    """An array of NumPy as if its memory were on the second GPU."""
    return DeviceArray(array.ctypes.data, array.shape, array.strides, array.dtype, "cuda:1", array)


def test_export_from_a_gpu(gpu):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in ("f4", bool, ml_dtypes.bfloat16):
        x = claimed(np.zeros((2, 3), dtype).T)
        assert x.__dlpack_device__() == (2, 1)
        for version in (None, (1, 0)):
            tensor = dlpack.Tensor(dlpack.take(x.__dlpack__(stream=7, max_version=version)), "x")
            assert (tensor.pointer, tensor.device, tensor.dtype) == (x.pointer, "cuda:1", x.dtype)
            assert tensor.strides == x.strides
    assert gpu == [("cuda:1", 0, 7)] * 6
    del gpu[:]
    x.__dlpack__(stream=-1)
    x.__dlpack__(stream=None)
    assert gpu == [("cuda:1", 0, 1)]
    with pytest.raises(echelon.ArgumentError, match="stream is 0"):
        x.__dlpack__(stream=0)
    facts = x.__cuda_array_interface__
    assert facts["version"] == 3 and facts["stream"] == 1 and facts["typestr"] == "<u2"
    assert facts["data"] == (x.pointer, False) and facts["strides"] == (2, 6) and facts["shape"] == (3, 2)


class Interface:
    """A producer with only the CUDA array interface."""

    def __init__(self, **facts):
        self.__cuda_array_interface__ = {"version": 3, "shape": (4,), "typestr": "<f4", "data": (4096, False), **facts}


def test_cuda_array_interface(gpu):
    view = _arrays.view(Interface(stream=7, strides=(8,)))
    assert (view.pointer, view.shape, view.strides, view.device) == (4096, (4,), (8,), "cuda:1")
    assert view.family is DEVICE and not view.readonly
    assert gpu == [("cuda:1", 7, 0)]
    assert _arrays.view(Interface(data=(4096, True))).readonly
    assert _arrays.view(Interface(data=(0, False), shape=(0,))).size == 0


@pytest.mark.parametrize("facts, error, text", [
    ({"mask": object()}, echelon.ArgumentError, "x has a mask"),
    ({"stream": 0}, echelon.ArgumentError, "stream 0"),
    ({"typestr": ">f4"}, echelon.DTypeError, "swapped"),
    ({"typestr": "<c8"}, echelon.DTypeError, "x has dtype complex64"),
    ({"typestr": "what"}, echelon.DTypeError, "typestr 'what'"),
    ({"shape": None}, echelon.ArgumentError, "is not valid"),
    ({"shape": (2.5,)}, echelon.ArgumentError, "is not valid"),
    ({"shape": (-1,)}, echelon.ArgumentError, "shape"),
    ({"strides": (4, 4)}, echelon.ArgumentError, "strides"),
    ({"data": 4096}, echelon.ArgumentError, "is not valid"),
    ({"data": ("a", False)}, echelon.ArgumentError, "is not valid"),
    ({"data": (4097, False)}, echelon.ArgumentError, "not aligned"),
])
def test_cuda_array_interface_errors(gpu, facts, error, text):
    with pytest.raises(error, match=text):
        _arrays.view(Interface(**facts))


def test_import_from_a_gpu(gpu):
    wrapper = Wrapper(claimed(np.zeros(3)))
    view = _arrays.view(wrapper)
    assert view.device == "cuda:1" and view.pointer == wrapper.array.pointer
    assert wrapper.calls[0]["stream"] == 1


def test_structs():
    sizes = {dlpack.DLTensor: 48, dlpack.DLManagedTensor: 64, dlpack.DLManagedTensorVersioned: 80}
    assert {kind: ctypes.sizeof(kind) for kind in sizes} == sizes
