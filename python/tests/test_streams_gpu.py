"""Streams, CUDA graphs, several GPUs and lifetimes, with arrays of PyTorch and CuPy. They need a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import threading

import echelon
import numpy as np
import pytest
from echelon import DeviceArray
from echelon._runtime import context as contexts
from echelon._runtime import cuda

N = 1 << 22
pytestmark = pytest.mark.gpu


@pytest.fixture
def torch():
    """PyTorch with a GPU."""
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("PyTorch has no CUDA")
    return module


@pytest.fixture
def cupy():
    """CuPy with a GPU."""
    module = pytest.importorskip("cupy")
    if not module.cuda.is_available():
        pytest.skip("CuPy has no CUDA")
    return module


class Protocol:
    """An object with __cuda_stream__."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __cuda_stream__(self):
        return 0, self.pointer


def delay(torch, stream):
    """Queues work of some milliseconds on a stream."""
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)


# ---- PyTorch ----

def test_torch_current_stream(torch):
    stream = torch.cuda.Stream()
    source = torch.rand(N, device="cuda")
    expected = source.sort().values
    x = torch.zeros_like(source)
    torch.cuda.synchronize()
    delay(torch, stream)
    with torch.cuda.stream(stream):
        x.copy_(source)
        result = echelon.sort(x)  # must run after the copy
    stream.synchronize()
    assert torch.equal(result, expected)


@pytest.mark.parametrize("form", ["object", "address", "protocol"])
def test_torch_stream_argument(torch, form):
    stream = torch.cuda.Stream()
    source = torch.rand(N, device="cuda")
    expected = source.sort().values
    x = torch.zeros_like(source)
    torch.cuda.synchronize()
    delay(torch, stream)
    with torch.cuda.stream(stream):
        x.copy_(source)
    named = {"object": stream, "address": stream.cuda_stream, "protocol": Protocol(stream.cuda_stream)}[form]
    before = torch.cuda.current_stream()
    result = echelon.sort(x, stream=named)
    assert torch.cuda.current_stream() == before
    stream.synchronize()
    assert torch.equal(result, expected)
    assert torch.equal(echelon.sort(x, stream=torch.cuda.default_stream()), expected)
    assert torch.equal(echelon.sort(x, stream=0), expected)


def test_torch_tensor_freed_while_work_is_queued(torch):
    """The memory of x must not be reused before the sort on the other stream has read it."""
    stream = torch.cuda.Stream()
    x = torch.rand(N, device="cuda")
    expected = x.sort().values
    torch.cuda.synchronize()
    delay(torch, stream)
    result = echelon.sort(x, stream=stream)
    del x
    garbage = [torch.full((N,), -1.0, device="cuda") for _ in range(8)]
    stream.synchronize()
    assert torch.equal(result, expected)
    del garbage


def test_torch_temporaries_are_safe(torch):
    """The copy of a strided tensor and the workspace are released while work is queued."""
    x = torch.rand(1024, 1024, device="cuda")
    expected = x.T.sort(dim=0).values
    results = [echelon.sort(x.T, axis=0) for _ in range(20)]
    torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)


def test_torch_graph(torch):
    """Capture: without synchronisation, with memory of the graph's pool."""
    x = torch.rand(N, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            echelon.sort(x), echelon.argsort(x), echelon.cumulative_sum(x), echelon.top_k(x, 10)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        keys, places = echelon.sort(x), echelon.argsort(x)
        sums, top = echelon.cumulative_sum(keys), echelon.top_k(x, 10)
    for seed in range(3):
        torch.manual_seed(seed)
        x.copy_(torch.rand(N, device="cuda"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(keys, x.sort().values)
        assert torch.equal(places, x.sort(stable=True).indices)
        assert torch.allclose(sums, torch.cumsum(keys, 0), rtol=1e-4)
        assert torch.equal(top[0], x.topk(10).values)


def test_torch_graph_with_strided_input(torch):
    x = torch.rand(512, 300, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        echelon.sort(x.T[::2], axis=0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        result = echelon.sort(x.T[::2], axis=0)
    x.copy_(torch.rand(512, 300, device="cuda"))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(result, x.T[::2].sort(dim=0).values)


def test_torch_stream_argument_in_a_graph(torch):
    """stream= names the stream that is captured."""
    x = torch.rand(N, device="cuda")
    stream = torch.cuda.Stream()
    echelon.sort(x, stream=stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        result = echelon.sort(x, stream=stream)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(result, x.sort().values)


def test_torch_threads(torch):
    """Eight threads, each on a stream of its own."""
    failures = []

    def work(seed):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            generator = torch.Generator("cuda").manual_seed(seed)
            x = torch.rand(N // 8, device="cuda", generator=generator)
            for _ in range(10):
                result = echelon.sort(x)
            stream.synchronize()
            if not torch.equal(result, x.sort().values):
                failures.append(seed)

    before = contexts.open_count()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    gc.collect()
    assert not failures
    assert contexts.open_count() == before


def test_torch_several_gpus(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    for index in (1, 0):
        x = torch.rand(N, device=f"cuda:{index}")
        result = echelon.sort(x)
        assert result.device == x.device and torch.equal(result, x.sort().values)
        stream = torch.cuda.Stream(index)
        stream.wait_stream(torch.cuda.current_stream(index))
        result = echelon.sort(x, stream=stream)
        stream.synchronize()
        assert torch.equal(result, x.sort().values)
    with pytest.raises(echelon.ArgumentError, match="different devices"):
        echelon.sort_pairs(torch.rand(3, device="cuda:0"), torch.rand(3, device="cuda:1"))


def test_torch_memory_comes_from_its_allocator(torch):
    x = torch.rand(N, device="cuda")
    echelon.sort(x)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = echelon.sort(x)
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    assert peak > result.numel() * 4  # the result and a workspace
    assert torch.cuda.memory_allocated() - before < result.numel() * 4 + (1 << 20)


def test_torch_errors(torch):
    x = torch.rand(10, device="cuda")
    with pytest.raises(echelon.ArgumentError, match="different devices"):
        echelon.sort_pairs(x, torch.rand(10))
    with pytest.raises(echelon.ArgumentError, match="stream is 7"):
        echelon.sort(x, stream=7)


def test_torch_out_of_memory(torch):
    free, _ = torch.cuda.mem_get_info()
    x = torch.empty(int(free * 0.45) // 4, device="cuda")  # the result fits, the workspace does not
    with pytest.raises((echelon.OutOfMemoryError, torch.cuda.OutOfMemoryError)):
        echelon.argsort(x, dtype="int64")
    del x
    torch.cuda.empty_cache()
    y = torch.rand(1000, device="cuda")
    assert torch.equal(echelon.sort(y), y.sort().values)


# ---- CuPy ----

def test_cupy_current_stream(cupy):
    source = cupy.random.random(N)
    expected = cupy.sort(source)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        x = source.copy()
        result = echelon.sort(x)
    stream.synchronize()
    assert cupy.array_equal(result, expected)


@pytest.mark.parametrize("form", ["object", "address", "protocol"])
def test_cupy_stream_argument(cupy, form):
    x = cupy.random.random(N)
    expected = cupy.sort(x)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    named = {"object": stream, "address": stream.ptr, "protocol": Protocol(stream.ptr)}[form]
    before = cupy.cuda.get_current_stream()
    result = echelon.sort(x, stream=named)
    assert cupy.cuda.get_current_stream() == before
    stream.synchronize()
    assert cupy.array_equal(result, expected)


def test_cupy_array_freed_while_work_is_queued(cupy):
    """An array of the default stream's pool stays alive until the work on the other stream has read it."""
    stream = cupy.cuda.Stream(non_blocking=True)
    big = cupy.random.random(1 << 25)
    x = cupy.random.random(N)
    expected = cupy.sort(x)
    cupy.cuda.Device().synchronize()
    kept = contexts.get(f"cuda:{x.device.id}", echelon._arrays.family_of(x)).kept
    del kept[:]
    for _ in range(4):
        echelon.sort(big, stream=stream)
    result = echelon.sort(x, stream=stream)
    assert any(item[0] is x for item in kept)
    del x
    garbage = [cupy.full(N, -1.0) for _ in range(8)]
    stream.synchronize()
    assert cupy.array_equal(result, expected)
    echelon.sort(result, stream=stream)  # drops what has finished
    assert all(item[0] is result for item in kept)
    del garbage


def test_cupy_graph(cupy):
    x = cupy.random.random(N)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        for _ in range(2):
            keys, places = echelon.sort(x), echelon.argsort(x)
    stream.synchronize()
    with stream:
        stream.begin_capture()
        echelon.sort(x, out=keys)
        echelon.argsort(x, out=places)
        graph = stream.end_capture()
    for seed in range(3):
        x[...] = cupy.random.RandomState(seed).random_sample(N)
        cupy.cuda.Device().synchronize()
        graph.launch(stream)
        stream.synchronize()
        assert cupy.array_equal(keys, cupy.sort(x))
        assert cupy.array_equal(x[places], keys)


def test_cupy_stream_argument_in_a_graph(cupy):
    """No event is queried and nothing is kept while a graph is captured."""
    x = cupy.random.random(N)
    out = cupy.empty_like(x)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    echelon.sort(x, out=out, stream=stream)
    stream.synchronize()
    kept = contexts.get(f"cuda:{x.device.id}", echelon._arrays.family_of(x)).kept
    count = len(kept)
    stream.begin_capture()
    echelon.sort(x, out=out, stream=stream)
    graph = stream.end_capture()
    assert len(kept) == count
    out[...] = 0
    cupy.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    assert cupy.array_equal(out, cupy.sort(x))


def test_cupy_several_gpus(cupy):
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two GPUs")
    with cupy.cuda.Device(1):
        x = cupy.random.random(N)
        expected = cupy.sort(x)
    result = echelon.sort(x)  # the current device is 0
    assert result.device == x.device and cupy.cuda.runtime.getDevice() == 0
    with cupy.cuda.Device(1):
        assert cupy.array_equal(result, expected)


# ---- Other libraries: DLPack, the CUDA array interface, DeviceArray ----

class Interface:
    """A producer with only the CUDA array interface, on a stream."""

    def __init__(self, tensor, stream):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "version": 3, "stream": stream}


class Capsules:
    """A producer with only DLPack."""

    def __init__(self, tensor):
        self.tensor, self.streams = tensor, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream)


def test_interface(torch):
    stream = torch.cuda.Stream()
    source = torch.rand(1024, 700, device="cuda")
    x = torch.zeros_like(source)
    torch.cuda.synchronize()
    delay(torch, stream)
    with torch.cuda.stream(stream):
        x.copy_(source)
    for axis in (0, 1):
        result = echelon.sort(Interface(x.T, stream.cuda_stream), axis=axis)  # waits for the copy on the GPU
        assert isinstance(result, DeviceArray) and result.device == "cuda:0"
        expected = source.T.sort(dim=axis).values
        assert torch.equal(torch.from_dlpack(result), expected)
        assert torch.equal(torch.as_tensor(result, device="cuda"), expected)
        assert np.array_equal(result.to_numpy(), expected.cpu().numpy())
        assert np.array_equal(result[1:3, ::2].to_numpy(), expected[1:3, ::2].cpu().numpy())


def test_interface_stream_argument(torch):
    stream = torch.cuda.Stream()
    x = torch.rand(N, device="cuda")
    torch.cuda.synchronize()
    result = echelon.sort(Interface(x, None), stream=stream)
    with torch.cuda.stream(stream):
        copy = torch.from_dlpack(result).clone()
    stream.synchronize()
    assert torch.equal(copy, x.sort().values)


def test_capsules(torch):
    x = torch.rand(N, device="cuda")
    wrapper = Capsules(x)
    result = echelon.sort(wrapper)
    assert wrapper.streams == [1] and isinstance(result, DeviceArray)
    assert torch.equal(torch.from_dlpack(result), x.sort().values)
    out = torch.empty_like(x)
    echelon.sort(wrapper, out=Capsules(out))
    torch.cuda.synchronize()
    assert torch.equal(out, x.sort().values)


def test_device_array_is_released_in_stream_order(torch):
    from echelon._arrays import device_memory
    x = torch.rand(N, device="cuda")
    expected = x.sort().values
    gc.collect()
    before = device_memory.usage("cuda:0")
    for _ in range(20):
        tensor = torch.from_dlpack(echelon.sort(Interface(x, 1)))
        assert torch.equal(tensor, expected)
    assert device_memory.usage("cuda:0") == before + 4 * N
    del tensor
    gc.collect()
    assert device_memory.usage("cuda:0") == before


def test_exchange(torch, monkeypatch):
    """PyTorch as a library that is known only by the C exchange API: its allocator, its current stream."""
    from echelon import _arrays
    from echelon._arrays import dlpack, foreign_family
    api = dlpack.ExchangeAPI.of(torch.Tensor)
    if api is None:
        pytest.skip("this version of PyTorch has no C exchange API")
    monkeypatch.setitem(_arrays._families, torch.Tensor, foreign_family.ExchangeProducer(torch.zeros(1), api))
    stream = torch.cuda.Stream()
    source = torch.rand(512, 300, device="cuda")
    x = torch.zeros_like(source)
    torch.cuda.synchronize()
    delay(torch, stream)
    with torch.cuda.stream(stream):
        x.copy_(source)
        assert api.stream("cuda:0") == stream.cuda_stream
        result = echelon.sort(x.T, axis=1)
    stream.synchronize()
    assert isinstance(result, torch.Tensor) and result.is_cuda
    assert torch.equal(result, source.T.sort(dim=1).values)


def test_jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    x = jax.random.uniform(jax.random.PRNGKey(1), (N,))
    result = echelon.sort(x)
    assert isinstance(result, jax.Array) and result.device == x.device
    assert bool((result == jax.numpy.sort(x)).all())


def test_events(torch):
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    delay(torch, first)
    event = cuda.Event("cuda:0", first.cuda_stream)
    assert not event.done()
    cuda.order("cuda:0", first.cuda_stream, second.cuda_stream)
    after = cuda.Event("cuda:0", second.cuda_stream)
    assert not after.done()
    second.synchronize()
    assert event.done() and after.done()
    assert not cuda.capturing("cuda:0", first.cuda_stream)
    x = torch.rand(10, device="cuda")
    assert cuda.device_of(x.data_ptr()) == 0


def test_capture_without_a_known_allocator(torch):
    """Arrays of unknown libraries use the legacy stream, which a graph cannot contain."""
    stream = torch.cuda.Stream()
    x = Interface(torch.rand(10, device="cuda"), None)
    echelon.sort(x, stream=stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        torch.rand(10, device="cuda").sort()
        with pytest.raises(echelon.UnsupportedError, match="captured only with"):
            echelon.sort(x, stream=stream)


def test_fork_after_use_of_a_gpu(torch):
    """A child of a process that has used a GPU gets a clear error, and can still use the CPU."""
    import subprocess
    import sys
    program = """
import os, sys, numpy, echelon
x = numpy.random.default_rng(1).random(1000)
echelon.set_device("cuda")
echelon.sort(x)
child = os.fork()
if child == 0:
    try:
        echelon.sort(x)
    except echelon.NoDeviceError as error:
        assert "spawn" in str(error), error
        echelon.set_device("cpu")
        assert (echelon.sort(x) == numpy.sort(x)).all()
        os._exit(7)
    os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 7
