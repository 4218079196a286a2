"""DLPack: tensors of other libraries as memory, and memory as capsules, without copies.

Facts: the specification of DLPack 1.3 and of the Array API. The deleter of a tensor runs once, when the last array
that refers to its memory is released.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .._runtime import cuda
from .._runtime.errors import ArgumentError, DTypeError, Error
from . import capsules

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
READ_ONLY, IS_COPIED = 1, 2
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_NAMES = {_INT: "int", _UINT: "uint", _FLOAT: "float"}
_CODES = {"i": _INT, "u": _UINT, "f": _FLOAT, "b": _BOOL}


class DLDevice(ctypes.Structure):
    """A kind of device and its number."""

    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    """The type of an element."""

    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    """A strided array; strides are in elements, NULL in C order."""

    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32), ("dtype", DLDataType),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    """A tensor with a deleter, before version 1.0."""

    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DLPackVersion(ctypes.Structure):
    """The version of a struct."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLManagedTensorVersioned(ctypes.Structure):
    """A tensor with a deleter and flags."""

    _fields_ = [("version", DLPackVersion), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("dl_tensor", DLTensor)]


_DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # keeps the GIL, which deleters written in Python need
_KINDS = {b"dltensor_versioned": (DLManagedTensorVersioned, b"used_dltensor_versioned"),
          b"dltensor": (DLManagedTensor, b"used_dltensor")}


class Managed:
    """A managed tensor at an address, which this object owns."""

    __slots__ = ("address", "kind", "__weakref__")

    def __init__(self, address, kind=DLManagedTensorVersioned):
        self.address, self.kind = address, kind

    def __del__(self, deleter=_DELETER):
        managed = self.kind.from_address(self.address)
        if managed.deleter:
            deleter(managed.deleter)(self.address)


class Tensor:
    """What a DLTensor describes. strides are in bytes, or None in C order; dtype is that of NumPy."""

    __slots__ = ("pointer", "shape", "strides", "dtype", "device", "readonly", "owner")

    def __init__(self, owner, name):
        managed = owner.kind.from_address(owner.address)
        tensor, flags = managed.dl_tensor, getattr(managed, "flags", 0)
        version = getattr(managed, "version", None)
        if version is not None and version.major != 1:
            raise ArgumentError(f"{name} has DLPack version {version.major}.{version.minor}, but 1.x is supported")
        ndim = tensor.ndim
        self.owner, self.readonly = owner, bool(flags & (READ_ONLY | IS_COPIED))
        self.dtype = _dtype_of(tensor.dtype, name)
        self.shape = _numbers(tensor.shape, ndim)
        self.strides = None
        if tensor.strides:
            self.strides = tuple(n * self.dtype.itemsize for n in _numbers(tensor.strides, ndim))
        self.pointer = (tensor.data or 0) + tensor.byte_offset
        self.device = _place(tensor.device.device_type, tensor.device.device_id, name)


def _numbers(address, count):
    return tuple((ctypes.c_int64 * count).from_address(address)) if count else ()


def _place(kind, index, name):
    if kind in (CPU, CUDA_HOST):
        return "cpu"
    if kind in (CUDA, CUDA_MANAGED):
        return f"cuda:{index}"
    raise ArgumentError(f"{name} is on a DLPack device of type {kind}, but the devices are the CPU and CUDA")


def bfloat16():
    """The dtype of ml_dtypes."""
    from .numpy_family import NumPy
    return NumPy.dtype(9)


def _dtype_of(dtype, name):
    if dtype.lanes == 1 and dtype.bits % 8 == 0:
        if dtype.code in _NAMES and (dtype.code != _FLOAT or dtype.bits > 8) and dtype.bits <= 64:
            return np.dtype(f"{_NAMES[dtype.code]}{dtype.bits}")
        if (dtype.code, dtype.bits) == (_BFLOAT, 16):
            return bfloat16()
        if (dtype.code, dtype.bits) == (_BOOL, 8):
            return np.dtype(bool)
    raise DTypeError(f"{name} has DLPack dtype code {dtype.code} with {dtype.bits} bits and {dtype.lanes} lanes, which "
                     "is not supported")


def take(capsule, name="x"):
    """The Managed tensor of a capsule, which cannot be used again."""
    for label, (kind, used) in _KINDS.items():
        address = capsules.pointer(capsule, label)
        if address is not None:
            capsules.rename(capsule, used)
            return Managed(address, kind)
    raise DTypeError(f"{name}.__dlpack__() returned {type(capsule).__name__}, which is not a new DLPack capsule")


def import_tensor(x, name="x", stream=None):
    """The Tensor of an object with __dlpack__. stream: after which the contents must be valid, on a GPU."""
    try:
        kind, index = x.__dlpack_device__()
        _place(int(kind), int(index), name)
        options = {} if int(kind) in (CPU, CUDA_HOST) or stream is None else {"stream": stream}
        try:
            capsule = x.__dlpack__(max_version=(1, 0), copy=False, **options)
        except TypeError:  # a producer of an earlier version
            capsule = x.__dlpack__(**options)
    except Error:
        raise
    except Exception as error:
        raise ArgumentError(f"{name} cannot be exported without a copy: {error}") from error
    return Tensor(take(capsule, name), name)


def export(array, device, max_version=None):
    """A capsule of an array of NumPy whose address is one of device ("cpu", "cuda:0").

    NumPy makes the capsule, so that its destructor and deleter are compiled code. The memory is not read.
    """
    versioned = max_version is not None and tuple(max_version) >= (1, 0)
    wide = array.dtype.kind == "V" or array.dtype.name == "bfloat16"
    plain = array.view(f"u{array.itemsize}") if wide or array.dtype == bool else array
    try:
        capsule = plain.__dlpack__(max_version=(1, 0)) if versioned else plain.__dlpack__()
    except TypeError:  # NumPy before 2.1
        capsule = plain.__dlpack__()
    for label, (kind, _) in _KINDS.items():
        address = capsules.pointer(capsule, label)
        if address is not None:
            tensor = kind.from_address(address).dl_tensor
            tensor.dtype.code = _BFLOAT if wide else _CODES[array.dtype.kind]
            if device != "cpu":
                tensor.device.device_type, tensor.device.device_id = CUDA, cuda.index_of(device)
    return capsule


class _Header(ctypes.Structure):
    _fields_ = [("version", DLPackVersion), ("prev_api", ctypes.c_void_p)]


class _Functions(ctypes.Structure):
    _fields_ = [("header", _Header)] + [(name, ctypes.c_void_p) for name in (
        "managed_tensor_allocator", "managed_tensor_from_py_object", "managed_tensor_to_py_object",
        "dltensor_from_py_object", "current_work_stream")]


_SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, _SET_ERROR)
_FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
_TO_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)


class ExchangeAPI:
    """The C functions that a type offers as __dlpack_c_exchange_api__. They do not order streams."""

    def __init__(self, address):
        functions = _Functions.from_address(address)
        self.version = functions.header.version.major, functions.header.version.minor
        self._allocate = _ALLOCATE(functions.managed_tensor_allocator)
        self._from = _FROM_OBJECT(functions.managed_tensor_from_py_object)
        self._to = _TO_OBJECT(functions.managed_tensor_to_py_object)
        self._stream = _STREAM(functions.current_work_stream)

    @classmethod
    def of(cls, kind):
        """That of a type, or None if it has none of version 1."""
        capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
        address = capsules.pointer(capsule, b"dlpack_exchange_api") if capsule is not None else None
        while address:
            header = _Header.from_address(address)
            if header.version.major == 1:
                return cls(address)
            address = header.prev_api
        return None

    def tensor(self, x, name="x"):
        """The Tensor of an object."""
        found = ctypes.c_void_p()
        if self._from(x, ctypes.addressof(found)):
            raise ArgumentError(f"{name} cannot be exported with DLPack")
        return Tensor(Managed(found.value), name)

    def object(self, capsule):
        """An object of the type's library from a capsule of version 1."""
        address = capsules.pointer(capsule, b"dltensor_versioned")
        capsules.rename(capsule, b"used_dltensor_versioned")
        found = ctypes.c_void_p()
        if self._to(address, ctypes.addressof(found)):
            raise ArgumentError("the result cannot be imported with DLPack")
        reference = ctypes.cast(ctypes.addressof(found), ctypes.POINTER(ctypes.py_object))
        result = reference.contents.value
        _drop_reference(result)
        return result

    def empty(self, shape, dtype, device):
        """A new Tensor from the allocator of the type's library."""
        sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        wide = dtype.name == "bfloat16"
        prototype = DLTensor(device=DLDevice(CPU, 0) if device == "cpu" else DLDevice(CUDA, int(device[5:])),
                             ndim=len(shape), shape=ctypes.addressof(sizes))
        prototype.dtype = DLDataType(_BFLOAT if wide else _CODES[dtype.kind], 8 * dtype.itemsize, 1)
        found, messages = ctypes.c_void_p(), []
        set_error = _SET_ERROR(lambda _, kind, message: messages.append(message.decode(errors="replace")))
        if self._allocate(ctypes.addressof(prototype), ctypes.addressof(found), None, set_error):
            raise ArgumentError(f"the result cannot be allocated: {' '.join(messages)}")
        return Tensor(Managed(found.value), "the result")

    def stream(self, device):
        """The address of the library's current stream."""
        found = ctypes.c_void_p()
        if self._stream(CUDA, int(device[5:]), ctypes.addressof(found)):
            raise ArgumentError(f"there is no current stream of device {device}")
        return found.value or 0


_drop_reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_DecRef", ctypes.pythonapi))
