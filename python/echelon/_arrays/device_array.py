"""DeviceArray: an array in GPU memory, for results of libraries that have no allocator of their own.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .._runtime import context as contexts
from .._runtime import cuda, native
from .._runtime.errors import ArgumentError
from . import capsules, dlpack
from .device_memory import Block
from .view import simplified


class DeviceArray:
    """An array in GPU memory.

    Functions return it for inputs that have only `__cuda_array_interface__`. Other libraries import it without a copy,
    with `__dlpack__` or `__cuda_array_interface__`: `cupy.asarray(x)`, `torch.from_dlpack(x)`,
    `numba.cuda.as_cuda_array(x)`. to_numpy() copies it to the host.

    shape: a tuple. dtype: that of NumPy. device: such as "cuda:0". strides: in bytes, or None in C order.

    >>> import echelon, numpy
    >>> x = echelon.DeviceArray.from_numpy(numpy.array([[1, 2], [3, 4]]), "cpu")
    >>> x.shape, len(x), x.device
    ((2, 2), 2, 'cpu')
    >>> x.to_numpy()
    array([[1, 2],
           [3, 4]])
    """

    __slots__ = ("pointer", "shape", "strides", "dtype", "device", "readonly", "owner", "__weakref__")

    def __init__(self, pointer, shape, strides, dtype, device, owner, readonly=False):
        self.pointer, self.shape, self.dtype, self.device = pointer, tuple(shape), np.dtype(dtype), device
        self.strides = simplified(self.shape, strides, self.dtype.itemsize)
        self.owner, self.readonly = owner, readonly

    @classmethod
    def empty(cls, shape, dtype, device):
        """A new array in C order, with undefined contents."""
        dtype = np.dtype(dtype)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        block = Block(device, size)
        return cls(block.pointer, shape, None, dtype, device, block)

    @classmethod
    def from_numpy(cls, array, device):
        """A copy of an array of NumPy on a device."""
        array = np.asarray(array, order="C")
        copy = cls.empty(array.shape, array.dtype, device)
        copy_bytes(device, copy.pointer, array.ctypes.data, array.nbytes)
        return copy

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self):
        """The size of the elements in bytes."""
        return self.size * self.dtype.itemsize

    def view(self, shape=None, strides=None, dtype=None):
        """The same memory with another shape and other strides, or another dtype of the same size."""
        shape, strides = (self.shape, self.strides) if shape is None else (shape, strides)
        return DeviceArray(self.pointer, shape, strides, dtype or self.dtype, self.device, self.owner, self.readonly)

    def __getitem__(self, key):
        """A part of the array in the same memory. key: integers, slices, an ellipsis and None."""
        plain = self.placeholder() if self.size else np.empty(self.shape, self.dtype)
        parts = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(part, (int, np.integer, slice, type(None), type(Ellipsis))) for part in parts):
            raise TypeError("a DeviceArray is indexed by integers, slices, an ellipsis and None")
        found = plain[parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)]
        return DeviceArray(found.__array_interface__["data"][0] if found.size else 0, found.shape, found.strides,
                           self.dtype, self.device, self.owner, self.readonly)

    def to_numpy(self):
        """A copy as an array of NumPy. It waits for the work that writes the array."""
        if self.strides is None:
            host = np.empty(self.shape, self.dtype)
            copy_bytes(self.device, host.ctypes.data, self.pointer, host.nbytes)
            return host
        low, extent = extent_of(self)
        span = np.empty(extent, np.uint8)
        copy_bytes(self.device, span.ctypes.data, self.pointer + low, extent)
        strided = capsules.array_at(span.ctypes.data - low, self.shape, self.dtype, span, self.strides)
        return np.array(strided, order="C")

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("a DeviceArray can become an array of NumPy only with a copy")
        host = self.to_numpy()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self):
        return f"<echelon.DeviceArray of {self.dtype} {self.shape} on {self.device}>"

    def placeholder(self):
        """An array of NumPy with this address, for capsules. Its memory must not be read."""
        return capsules.array_at(self.pointer, self.shape, self.dtype, self, self.strides, self.readonly)

    def __dlpack_device__(self):
        return (dlpack.CPU, 0) if self.device == "cpu" else (dlpack.CUDA, cuda.index_of(self.device))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy:
            raise BufferError("a DeviceArray is exported without a copy: pass copy=None or copy=False")
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"a DeviceArray on {self.device} cannot be exported to DLPack device {dl_device}")
        if self.device == "cpu":
            if stream is not None:
                raise ArgumentError("stream is given, but the array is in host memory")
        elif stream != -1:
            if stream == 0:
                raise ArgumentError("stream is 0, which DLPack does not define; 1 is the legacy default stream")
            cuda.order(self.device, 0, 1 if stream is None else int(stream))
        return dlpack.export(self.placeholder(), self.device, max_version)

    @property
    def __cuda_array_interface__(self):
        if self.device == "cpu":
            raise AttributeError("the array is in host memory")
        plain = np.dtype("u2") if self.dtype.name == "bfloat16" else self.dtype
        return {"version": 3, "shape": self.shape, "strides": self.strides, "typestr": plain.str,
                "data": (self.pointer if self.size else 0, self.readonly), "stream": 1}


def extent_of(x):
    """The first byte relative to the pointer, and the number of bytes from it to the end of the last element."""
    steps = [(n - 1) * stride for n, stride in zip(x.shape, x.strides)]
    low = sum(step for step in steps if step < 0)
    return low, sum(step for step in steps if step > 0) - low + x.dtype.itemsize


def positions_of(x):
    """[size] of int64: the position of each element in C order, in elements from the first byte of extent_of(x)."""
    low, _ = extent_of(x)
    places = np.zeros(x.shape, np.int64)
    for axis, (n, stride) in enumerate(zip(x.shape, x.strides)):
        steps = np.arange(n, dtype=np.int64) * stride
        places += steps.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return ((places - low) // x.dtype.itemsize).reshape(-1)


def copy_bytes(device, to, source, size):
    """Copies to or from the memory of a device, and waits."""
    if size:
        context = contexts.get(device)
        if device != "cpu":
            context.set_stream(0)
        context.check(native.functions.ech_copy(context.handle, to, source, size))
