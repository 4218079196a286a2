"""The order of driver calls of _runtime/cuda.py and of the family of CuPy, with a driver and a CuPy that only record.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import gc
import sys
import types

import echelon
import numpy as np
import pytest
from echelon._runtime import call, cuda
from echelon._runtime import context as contexts


class Driver:
    """Records calls; events have happened when their address is in done."""

    def __init__(self):
        self.calls, self.done, self.capture, self.status, self.events = [], set(), 0, {}, 100

    def __getattr__(self, name):
        def function(*arguments):
            values = [getattr(value, "value", None) for value in arguments]
            if name not in ("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRetain"):
                self.calls.append((name, *[value for value in values if value is not None]))
            if name == "cuEventCreate":
                self.events += 1
                arguments[0]._obj.value = self.events
            if name == "cuStreamIsCapturing":
                arguments[1]._obj.value = self.capture
            if name == "cuPointerGetAttribute":
                arguments[0]._obj.value = 3
            if name == "cuEventQuery":
                return 0 if arguments[0].value in self.done else 600
            return self.status.get(name, 0)
        return function

    def names(self):
        """The names of the calls, which are then forgotten."""
        found = [entry[0] for entry in self.calls]
        del self.calls[:]
        return found


@pytest.fixture
def driver(monkeypatch):
    """The driver that the module uses."""
    found = Driver()
    monkeypatch.setattr(cuda, "_state", {"driver": found, "contexts": {}})
    return found


def test_order(driver):
    cuda.order("cuda:0", 5000, 6000)
    assert driver.calls == [("cuEventCreate", 2), ("cuEventRecord", 101, 5000), ("cuStreamWaitEvent", 6000, 101, 0),
                            ("cuEventDestroy_v2", 101)]
    del driver.calls[:]
    cuda.order("cuda:0", 1, 0)
    cuda.order("cuda:0", 5000, 5000)
    assert driver.calls == []


def test_events(driver):
    event = cuda.Event("cuda:1", 5000)
    assert not event.done()
    driver.done.add(101)
    assert event.done()
    driver.names()
    del event
    assert driver.names() == ["cuEventDestroy_v2"]


def test_capturing(driver):
    assert not cuda.capturing("cuda:0", 5000)
    driver.capture = 1
    assert cuda.capturing("cuda:0", 5000)
    driver.capture, driver.status["cuStreamIsCapturing"] = 0, 906
    assert cuda.capturing("cuda:0", 0)
    driver.status["cuStreamIsCapturing"] = 700
    with pytest.raises(echelon.DeviceError, match="cuStreamIsCapturing failed with CUDA error 700"):
        cuda.capturing("cuda:0", 0)
    assert cuda.device_of(4096) == 3


def test_keep(driver):
    context = types.SimpleNamespace(kept=[])
    first, second = np.zeros(1), np.zeros(2)
    cuda.keep(context, "cuda:0", 5000, first)
    cuda.keep(context, "cuda:0", 5000, second)
    assert [item[0] is x for item, x in zip(context.kept, (first, second))] == [True, True]
    driver.done.add(101)
    driver.capture = 1
    driver.names()
    cuda.keep(context, "cuda:0", 5000, first)  # a query is not allowed
    assert driver.names() == ["cuStreamIsCapturing"] and len(context.kept) == 2
    driver.capture = 0
    cuda.keep(context, "cuda:0", 5000, first)
    assert len(context.kept) == 2 and context.kept[0][0] is second


def test_failures(driver):
    driver.status["cuEventRecord"] = 400
    with pytest.raises(echelon.DeviceError, match="cuEventRecord failed with CUDA error 400"):
        cuda.Event("cuda:0", 5000)
    gc.collect()
    assert driver.names()[-1] == "cuEventDestroy_v2"


def test_without_a_driver(monkeypatch):
    monkeypatch.setattr(cuda, "_state", {"driver": None, "contexts": {}})
    monkeypatch.setattr(cuda.ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError("no file")))
    with pytest.raises(echelon.NoDeviceError, match="no CUDA driver: no file"):
        cuda.capturing("cuda:0", 0)


# ---- CuPy ----

class Stream:
    """A stream that can be made current."""

    current = [0]

    def __init__(self, pointer, device_id=-1):
        self.ptr, self.device_id = pointer, device_id

    def __enter__(self):
        Stream.current.append(self.ptr)
        return self

    def __exit__(self, *_):
        Stream.current.pop()


class Array:
    """An array of NumPy with the attributes of cupy.ndarray."""

    def __init__(self, array, index=1):
        self.array, self.device = array, Device(index)
        self.data = types.SimpleNamespace(ptr=array.ctypes.data)

    def __getattr__(self, name):
        return getattr(self.array, name)


class Device(contextlib.nullcontext):
    """A device that can be made current."""

    def __init__(self, index):
        super().__init__()
        self.id = index


@pytest.fixture
def cupy(monkeypatch, driver):
    """The family of a CuPy that has arrays in host memory."""
    blocks = []

    def alloc(size):
        memory = types.SimpleNamespace(ptr=4096 * (len(blocks) + 1), size=size, stream=Stream.current[-1])
        blocks.append(memory)
        return memory

    module = types.ModuleType("cupy")
    module.ndarray, module.blocks = Array, blocks
    module.empty = lambda shape, dtype: Array(np.empty(shape, dtype))
    runtime = types.SimpleNamespace(getDevice=lambda: 0)
    module.cuda = types.SimpleNamespace(runtime=runtime, Device=Device, ExternalStream=Stream, alloc=alloc,
                                        get_current_stream=lambda: Stream(Stream.current[-1]))
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(echelon._arrays, "_families", dict(echelon._arrays._families))
    monkeypatch.delitem(sys.modules, "echelon._arrays.cupy_family", raising=False)
    yield module
    sys.modules.pop("echelon._arrays.cupy_family", None)


def test_cupy_view(cupy):
    x = Array(np.zeros((4, 6), np.float32)[:, ::2])
    view = echelon._arrays.view(x)
    assert (view.family.name, view.device, view.shape, view.strides) == ("cupy", "cuda:1", (4, 3), (24, 8))
    assert view.pointer == x.array.ctypes.data
    with pytest.raises(echelon.ArgumentError, match="x is not aligned"):
        echelon._arrays.view(Array(np.zeros(9, np.uint8)[1:].view(np.float64)))


def test_cupy_streams(cupy):
    family = echelon._arrays.view(Array(np.zeros(3))).family
    assert family.stream("cuda:1") == 0
    with family.on_stream("cuda:1", 5000):
        assert family.stream("cuda:1") == 5000
    assert family.stream("cuda:1") == 0
    allocate, release = family.allocator("cuda:1")
    pointer = allocate(1000, 6000)
    assert (cupy.blocks[0].size, cupy.blocks[0].stream) == (1000, 6000)
    release(pointer, 1000, 6000)
    with pytest.raises(KeyError):
        release(pointer, 1000, 6000)


def test_stream_argument_keeps_arrays(cupy, driver, monkeypatch):
    """stream= makes it the current stream, and keeps the arrays until its work has finished, also after an error."""
    x, context = Array(np.zeros(3)), types.SimpleNamespace(kept=[])
    family = echelon._arrays.view(x).family
    monkeypatch.setattr(sys.modules[family.__module__].contexts, "get", lambda device, key=None: context)

    @call.operation
    def work(array, fail=False):
        assert family.stream("cuda:1") == 5000
        if fail:
            raise ValueError("stop")
        return 7

    assert work(x, stream=5000) == 7
    assert context.kept[0][0] is x and driver.calls[-1] == ("cuEventRecord", 101, 5000)
    with pytest.raises(ValueError, match="stop"):
        work(x, fail=True, stream=5000)
    assert len(context.kept) == 2
    driver.capture = 1
    work(x, stream=5000)
    assert len(context.kept) == 2


def test_context_keeps_the_stream(cupy, monkeypatch):
    """The stream of the last call must exist until another one is selected."""
    x, selected = Array(np.zeros(3)), []
    context = contexts.Context("cpu")
    monkeypatch.setattr(contexts, "get", lambda device, key=None: context)
    monkeypatch.setattr(contexts.functions, "ech_set_stream", lambda handle, stream: selected.append(stream) or 0)
    view = echelon._arrays.view(x)
    with Stream(7000):
        job = call.Job(view)
        job.call("ech_sync")
    assert selected == [7000] and context.stream_owner.ptr == 7000

    @call.operation
    def work(array):
        call.Job(echelon._arrays.view(array)).call("ech_sync")

    argument = Protocol((0, 8192))
    work(x, stream=argument)
    assert selected == [7000, 8192] and context.stream_owner is argument
    work(x)
    assert selected == [7000, 8192, 0] and context.stream_owner is not argument


class Protocol:
    """An object with __cuda_stream__."""

    def __init__(self, result):
        self.result = result

    def __cuda_stream__(self):
        return self.result


@pytest.mark.parametrize("stream, pointer", [
    (0, 0), (1, 1), (2, 2), (2**64 - 4096, 2**64 - 4096), (np.int64(8192), 8192), (Protocol((0, 8192)), 8192),
    (types.SimpleNamespace(ptr=8192), 8192), (types.SimpleNamespace(cuda_stream=8192), 8192),
])
def test_addresses_of_streams(stream, pointer):
    assert call._pointer_of(stream) == pointer


@pytest.mark.parametrize("stream, error, text", [
    (3, echelon.ArgumentError, "stream is 3"), (-1, echelon.ArgumentError, "stream is -1"),
    (2**64, echelon.ArgumentError, "stream is 1844"), (1.0, echelon.DTypeError, "stream is float"),
    (True, echelon.DTypeError, "stream is bool"), ("a", echelon.DTypeError, "stream is str"),
    (Protocol(8192), echelon.DTypeError, "stream is Protocol"), (Protocol((0, None)), echelon.DTypeError, "Protocol"),
    (Protocol((0, 7)), echelon.ArgumentError, "stream is 7"),
])
def test_streams_that_are_none(stream, error, text):
    with pytest.raises(error, match=text):
        call._pointer_of(stream)
