"""Arrays of libraries that this package does not know: DLPack, and the CUDA array interface.

A type is registered with a Producer, which imports its arrays and converts results. Arrays in host memory are
processed as arrays of NumPy, those in GPU memory as DeviceArray.

SPDX-License-Identifier: Apache-2.0
"""
import operator
import sys

import numpy as np

from .._runtime import cuda
from .._runtime.errors import ArgumentError, DTypeError
from . import capsules, dlpack
from .device_array import DeviceArray
from .device_family import DEVICE, DeviceFamily
from .host_family import HostFamily


class Producer:
    """Imports arrays with __dlpack__, and converts results with from_dlpack of their namespace."""

    name = "dlpack"

    def __init__(self, x):
        self.immutable = type(x).__module__.partition(".")[0] in ("jax", "jaxlib")
        self.namespace = _namespace_of(x)

    def tensor(self, x, name):
        """The Tensor of an array, whose contents are valid for work on the legacy default stream."""
        return dlpack.import_tensor(x, name, 1)

    def view(self, x, name="x"):
        """The View of an array; its family converts results."""
        tensor = self.tensor(x, name)
        readonly = tensor.readonly or self.immutable
        if tensor.device == "cpu":
            array = capsules.array_at(tensor.pointer, tensor.shape, tensor.dtype, tensor.owner, tensor.strides,
                                      readonly)
            return _Host(self).view(array, name)
        array = DeviceArray(tensor.pointer, tensor.shape, tensor.strides, tensor.dtype, tensor.device, tensor.owner,
                            readonly)
        return self.device_family().view(array, name)

    def device_family(self):
        """The family of arrays in GPU memory."""
        return _Device(self)

    def host_result(self, x):
        """An array of NumPy as an array of the library."""
        if self.namespace is None:
            return x[()] if x.ndim == 0 else x
        try:
            return self.namespace.from_dlpack(x)
        except (BufferError, TypeError, ValueError):  # a dtype that NumPy does not export, such as bfloat16
            return self.namespace.asarray(x)

    def device_result(self, x):
        """A DeviceArray as an array of the library."""
        return x if self.namespace is None else self.namespace.from_dlpack(x)


def _namespace_of(x):
    """The module of the library with from_dlpack(), or None."""
    protocol = getattr(x, "__array_namespace__", None)
    try:
        found = protocol() if protocol is not None else sys.modules.get(type(x).__module__.partition(".")[0])
    except Exception:  # an array that names none; results are arrays of NumPy
        return None
    return found if hasattr(found, "from_dlpack") else None


class _Host(HostFamily):
    name = "dlpack"

    def __init__(self, producer):
        self.producer = producer

    def result(self, x):
        return self.producer.host_result(x)


class _Device(DeviceFamily):
    name = "dlpack"

    def __init__(self, producer):
        self.producer = producer

    def result(self, x):
        return self.producer.device_result(x)


class ExchangeProducer(Producer):
    """Arrays of a type with the C exchange API: no capsules, the library's own memory and its current stream."""

    name = "exchange"

    def __init__(self, x, api):
        self.immutable, self.api = False, api

    def tensor(self, x, name):
        return self.api.tensor(x, name)

    def device_family(self):
        return _Exchange(self)

    def host_result(self, x):
        capsule = dlpack.export(x, "cpu", (1, 0))
        if capsules.pointer(capsule, b"dltensor_versioned") is None:
            return x  # NumPy before 2.1
        return self.api.object(capsule)

    def device_result(self, x):
        return self.api.object(dlpack.export(x.placeholder(), x.device, (1, 0)))


class _Exchange(_Device):
    name = "exchange"

    def empty(self, shape, dtype, device):
        tensor = self.producer.api.empty(shape, np.dtype(dtype), device)
        return DeviceArray(tensor.pointer, tensor.shape, tensor.strides, tensor.dtype, device, tensor.owner)

    def stream(self, device):
        return self.producer.api.stream(device)


class CudaInterface:
    """Imports arrays that have only __cuda_array_interface__. Results are DeviceArray."""

    name = "cuda_array_interface"

    @staticmethod
    def view(x, name="x"):
        """The View of an array. The legacy default stream waits for the stream of the interface."""
        try:
            facts = x.__cuda_array_interface__
            dtype, mask, stream = facts["typestr"], facts.get("mask"), facts.get("stream")
            shape, strides = _numbers(tuple(facts["shape"])), _numbers(facts.get("strides"))
            pointer, readonly = _numbers(facts["data"])
        except Exception as error:
            raise ArgumentError(f"{name}.__cuda_array_interface__ is not valid: {error!r}") from error
        if min(shape, default=0) < 0 or strides is not None and len(strides) != len(shape):
            raise ArgumentError(f"{name}.__cuda_array_interface__ has shape {shape} and strides {strides}")
        if mask is not None:
            raise ArgumentError(f"{name} has a mask, which is not supported")
        try:
            dtype = np.dtype(dtype)
        except TypeError:
            raise DTypeError(f"{name} has typestr {dtype!r}, which is not a dtype") from None
        device = _device_at(pointer)
        if stream == 0:
            raise ArgumentError(f"{name}.__cuda_array_interface__ has stream 0, which is not defined; 1 is the legacy "
                                "default stream")
        if stream is not None:
            cuda.order(device, stream, 0)
        array = DeviceArray(pointer, shape, strides, dtype, device, x, bool(readonly))
        return DEVICE.view(array, name)


def _numbers(values):
    """A tuple of integers, or None."""
    return None if values is None else tuple(operator.index(value or 0) for value in values)


def _device_at(pointer):
    """The device of an address; the first one if the array is empty."""
    return f"cuda:{cuda.device_of(pointer)}" if pointer else "cuda:0"


def family_of(x):
    """The family of an object with one of the protocols, or None."""
    kind = type(x)
    if kind is DeviceArray:
        return DEVICE
    api = dlpack.ExchangeAPI.of(kind)
    if api is not None:
        return ExchangeProducer(x, api)
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        return Producer(x)
    return CudaInterface if hasattr(x, "__cuda_array_interface__") else None
