"""Events of the CUDA driver: the order of work on two streams, and when work has finished. They never wait on the host.

A stream is an address; 0 or 1 is the legacy default stream, 2 that of the thread.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import os
import threading

from .errors import DeviceError, NoDeviceError

_NOT_READY, _CAPTURE_IMPLICIT = 600, 906
_DISABLE_TIMING = 2
_pointer = ctypes.c_void_p
_lock = threading.Lock()
_state = {"driver": None, "contexts": {}}


def _driver():
    """The library of the driver."""
    with _lock:
        if _state["driver"] is None:
            try:
                _state["driver"] = ctypes.CDLL("libcuda.so.1")
            except OSError as error:
                raise NoDeviceError(f"there is no CUDA driver: {error}") from None
            _check("cuInit", _state["driver"].cuInit(0))
        return _state["driver"]


def _check(name, status):
    if status:
        raise DeviceError(f"{name} failed with CUDA error {status}")


def _call(name, *arguments):
    _check(name, getattr(_driver(), name)(*arguments))


def index_of(device):
    """1 for "cuda:1"."""
    return int(device.partition(":")[2] or 0)


def _primary(index):
    """The primary context of a GPU. It is retained until the process ends."""
    found = _state["contexts"].get(index)
    if found is None:
        found = _pointer()
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(found), ctypes.c_int(index))
        _state["contexts"][index] = found
    return found


@contextlib.contextmanager
def current(device):
    """Makes the primary context of a device current."""
    _call("cuCtxPushCurrent_v2", _primary(index_of(device)))
    try:
        yield
    finally:
        _call("cuCtxPopCurrent_v2", ctypes.byref(_pointer()))


def synchronize(device):
    """Waits for all work of a GPU."""
    with current(device):
        _call("cuCtxSynchronize")


class Event:
    """A point in the work of a stream."""

    __slots__ = ("device", "handle", "__weakref__")

    def __init__(self, device, stream):
        """Records the event on the stream."""
        self.device, self.handle = device, _pointer()
        with current(device):
            _call("cuEventCreate", ctypes.byref(self.handle), ctypes.c_uint(_DISABLE_TIMING))
            _call("cuEventRecord", self.handle, _pointer(stream))

    def done(self):
        """Whether the work has finished. It must not be called while a graph is captured."""
        with current(self.device):
            status = _driver().cuEventQuery(self.handle)
        if status not in (0, _NOT_READY):
            _check("cuEventQuery", status)
        return status == 0

    def delay(self, stream):
        """Makes later work on a stream wait for the event."""
        delay(self.device, stream, self.handle.value)

    def __del__(self):
        handle, self.handle = self.handle, None
        if handle:
            _driver().cuEventDestroy_v2(handle)  # the driver keeps it until it has happened


def delay(device, stream, event):
    """Makes later work on a stream wait for an event (an address)."""
    with current(device):
        _call("cuStreamWaitEvent", _pointer(stream), _pointer(event), ctypes.c_uint(0))


def order(device, first, then):
    """Makes later work on the stream then wait for the work that the stream first has now."""
    first, then = (0 if stream == 1 else stream for stream in (first, then))
    if first != then:
        Event(device, first).delay(then)


def capturing(device, stream):
    """Whether work on the stream becomes part of a graph, or a capture elsewhere forbids the legacy stream."""
    state = ctypes.c_int()
    with current(device):
        status = _driver().cuStreamIsCapturing(_pointer(stream), ctypes.byref(state))
    if status == _CAPTURE_IMPLICIT:
        return True
    _check("cuStreamIsCapturing", status)
    return state.value != 0


def keep(context, device, stream, objects):
    """Keeps objects alive until the work that the stream has now has finished; later calls drop those that it has.

    A graph that is captured needs its arrays as long as it exists; the program that launches it keeps them.
    """
    if capturing(device, stream):
        return
    kept = context.kept
    kept[:] = [item for item in kept if not item[1].done()]
    kept.append((objects, Event(device, stream)))


def device_of(pointer):
    """The number of the GPU whose memory contains an address."""
    index = ctypes.c_int()
    _call("cuPointerGetAttribute", ctypes.byref(index), ctypes.c_int(9), ctypes.c_uint64(pointer))  # DEVICE_ORDINAL
    return index.value


def _forget():
    """In a child of fork(): the lock may be held for ever, and the contexts of the driver belong to the parent."""
    global _lock
    _lock = threading.Lock()
    _state.update(driver=None, contexts={})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
