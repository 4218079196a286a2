"""GPU arrays of libraries that this package does not know, as DeviceArray; results are DeviceArray, or converted.

Work runs on the legacy default stream, on which the memory is also allocated. Another stream that a call names waits
for it, and it waits for that stream.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib

import numpy as np

from .._runtime import context as contexts
from .._runtime import cuda, native
from .._runtime.errors import ArgumentError, UnsupportedError
from .device_array import DeviceArray, extent_of, positions_of
from .numpy_family import NumPy, code_and_kind
from .view import View, contiguous_strides


class DeviceFamily:
    """The methods of a family (NumPy documents them) on DeviceArray."""

    name = "device"
    pools = False
    arithmetic = False
    dtype = staticmethod(NumPy.dtype)
    bool_dtype = staticmethod(NumPy.bool_dtype)

    def view(self, x, name="x"):
        code, kind = code_and_kind(x.dtype, name)
        if x.pointer % x.dtype.itemsize:
            raise ArgumentError(f"{name} is not aligned to the size of its elements; copy it")
        return View(x, self, x.pointer, x.shape, x.strides, code, x.device, x.readonly, kind)

    def empty(self, shape, dtype, device):
        return DeviceArray.empty(shape, dtype, device)

    def contiguous(self, x):
        copy = self.empty(x.shape, x.dtype, x.device)
        if x.size:
            self.copy_to(copy, x)
        return copy

    def moveaxis(self, x, source, destination):
        sources = [axis % x.ndim for axis in (source if isinstance(source, tuple) else (source,))]
        places = [axis % x.ndim for axis in (destination if isinstance(destination, tuple) else (destination,))]
        order = [axis for axis in range(x.ndim) if axis not in sources]
        for place, axis in sorted(zip(places, sources)):
            order.insert(place, axis)
        strides = x.strides or contiguous_strides(x.shape, x.dtype.itemsize)
        return x.view([x.shape[i] for i in order], [strides[i] for i in order])

    def reshape(self, x, shape):
        if x.strides is not None:
            x = self.contiguous(x)
        shape, known = list(shape), 1
        for n in shape:
            known *= 1 if n == -1 else n
        return x.view([x.size // max(known, 1) if n == -1 else n for n in shape])

    def retyped(self, x, dtype):
        return x.view(dtype=dtype)

    def cast(self, x, dtype):
        """A copy with another dtype, converted on the host."""
        if x.dtype == dtype:
            return self.contiguous(x)
        plain = x if x.strides is None else self.contiguous(x)
        host = np.empty(plain.shape, plain.dtype)
        self._copy(x.device, host.ctypes.data, plain.pointer, host.nbytes)
        return self._on_device(host.astype(dtype), x.device)

    def copy_to(self, target, source):
        if target.strides is None and source.strides is None:
            self._context(target.device, "ech_copy_async", target.pointer, source.pointer, source.nbytes)
        elif target.strides is None:
            self._move("ech_gather", source, target)
        elif source.strides is None:
            self._move("ech_scatter", target, source)
        else:
            self.copy_to(target, self.contiguous(source))

    def head(self, x, count):
        first = x.view((count,) + x.shape[1:], x.strides)
        return first if 2 * count >= len(x) else self.contiguous(first)

    def result(self, x):
        return x

    def stream(self, device):
        return 0

    def stream_owner(self, device):
        return None

    @contextlib.contextmanager
    def on_stream(self, device, stream):
        """Orders the work inside after that of the stream, and the stream after the work."""
        if cuda.capturing(device, stream):
            raise UnsupportedError("graphs can be captured only with arrays of PyTorch and CuPy")
        own = self.stream(device)
        cuda.order(device, stream, own)
        try:
            yield
        finally:
            cuda.order(device, own, stream)

    def allocator(self, device):
        return None

    def keep(self, view, stream):
        """Nothing is to do: the stream of the memory waits for the work."""

    def _context(self, device, name, *arguments):
        """Calls a function on this thread's context and the family's stream."""
        context = contexts.get(device)
        if device != "cpu":
            context.set_stream(self.stream(device))
        context.check(getattr(native.functions, name)(context.handle, *arguments))

    def _copy(self, device, to, source, size):
        if size:
            self._context(device, "ech_copy", to, source, size)

    def _on_device(self, host, device):
        """A copy of a contiguous array of NumPy."""
        copy = self.empty(host.shape, host.dtype, device)
        self._copy(device, copy.pointer, host.ctypes.data, host.nbytes)
        return copy

    def _move(self, name, strided, plain):
        """Copies between an array with strides and one in C order of the same shape."""
        itemsize = strided.dtype.itemsize
        if any(stride % itemsize for stride in strided.strides):
            raise ArgumentError("an array has strides that are not multiples of the size of its elements; copy it")
        low, extent = extent_of(strided)
        places = self._on_device(positions_of(strided), strided.device)
        base = strided.pointer + low
        first, last = (base, plain.pointer) if name == "ech_gather" else (plain.pointer, base)
        self._context(strided.device, name, first, places.pointer, last, strided.size, extent // itemsize,
                      native.declared.ECH_I64, itemsize)


DEVICE = DeviceFamily()
