"""Arrays of CuPy.

This module is imported when the first array of CuPy is seen, so that CuPy is not a requirement.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib

import cupy

from .._runtime import context as contexts
from .._runtime import cuda
from .._runtime.errors import ArgumentError
from .numpy_family import NumPy, code_and_kind
from .view import View, simplified


class _Address:
    """A stream of another library, for Stream.from_external()."""

    def __init__(self, address):
        self.address = address

    def __cuda_stream__(self):
        return 0, self.address


def _external(address, index):
    """The stream of CuPy with this address."""
    if hasattr(getattr(cupy.cuda, "Stream", None), "from_external"):
        return cupy.cuda.Stream.from_external(_Address(address))
    return cupy.cuda.ExternalStream(address, index)


def _current(index):
    """A context manager in which this device is the current one.

    Callbacks run while the library has made the primary context of the device current. There the manager of CuPy would
    leave the device as the current one of the thread.
    """
    return contextlib.nullcontext() if cupy.cuda.runtime.getDevice() == index else cupy.cuda.Device(index)


class CuPy:
    """The family of cupy.ndarray. The dtypes are those of NumPy."""

    name = "cupy"
    pools = True
    arithmetic = True
    dtype = NumPy.dtype
    bool_dtype = NumPy.bool_dtype

    @staticmethod
    def view(x, name="x"):
        code, kind = code_and_kind(x.dtype, name)
        shape = x.shape
        strides = None if x.flags.c_contiguous else simplified(shape, x.strides, x.itemsize)
        pointer = x.data.ptr
        if pointer % x.itemsize:
            raise ArgumentError(f"{name} is not aligned to the size of its elements; copy it with {name}.copy()")
        return View(x, CuPy, pointer, shape, strides, code, f"cuda:{x.device.id}", False, kind)

    @staticmethod
    def empty(shape, dtype, device):
        with cupy.cuda.Device(cuda.index_of(device)):
            return cupy.empty(shape, dtype)

    @staticmethod
    def contiguous(x):
        with x.device:
            return cupy.array(x, order="C")

    @staticmethod
    def moveaxis(x, source, destination):
        return cupy.moveaxis(x, source, destination)

    @staticmethod
    def reshape(x, shape):
        with x.device:
            return x.reshape(shape)

    @staticmethod
    def retyped(x, dtype):
        return x.view(dtype)

    @staticmethod
    def cast(x, dtype):
        with x.device:
            return cupy.array(x, dtype, order="C")

    @staticmethod
    def copy_to(target, source):
        with target.device:
            target[...] = source

    @staticmethod
    def head(x, count):
        with x.device:
            return x[:count] if 2 * count >= len(x) else x[:count].copy()

    @staticmethod
    def result(x):
        return x

    @staticmethod
    def stream(device):
        """The current stream of CuPy on the device."""
        with cupy.cuda.Device(cuda.index_of(device)):
            return cupy.cuda.get_current_stream().ptr

    @staticmethod
    def stream_owner(device):
        """The object of the current stream, which CuPy destroys with its last reference."""
        with cupy.cuda.Device(cuda.index_of(device)):
            return cupy.cuda.get_current_stream()

    @staticmethod
    @contextlib.contextmanager
    def on_stream(device, stream):
        """A context manager in which this is the current stream."""
        index = cuda.index_of(device)
        with _current(index), _external(stream, index):
            yield

    @staticmethod
    def allocator(device):
        """The current allocator of CuPy, by default its memory pool."""
        index = cuda.index_of(device)
        blocks = {}

        def allocate(size, stream):
            with _current(index), _external(stream, index):
                memory = cupy.cuda.alloc(size)
            blocks[memory.ptr] = memory
            return memory.ptr

        def release(pointer, size, stream):
            with _current(index), _external(stream, index):
                del blocks[pointer]

        return allocate, release

    @staticmethod
    def keep(view, stream):
        """Keeps the array until the work on this stream has finished: the pool does not know that stream."""
        cuda.keep(contexts.get(view.device, CuPy), view.device, stream, view.array)
