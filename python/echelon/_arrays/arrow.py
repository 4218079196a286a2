"""The Arrow C data, stream and device interfaces: arrays of pyarrow, polars and others as memory, without a copy.

Facts: the Arrow specification, "The Arrow C data interface". import_arrow(x) moves the structs out of the capsules.
A release callback runs once, when the last array that refers to the memory is released.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .._runtime.errors import ArgumentError, DTypeError, Error
from . import capsules

_address = ctypes.c_void_p


class ArrowSchema(ctypes.Structure):
    """The type of an array: a format string and, for nested types, children."""

    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", _address),
                ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", _address),
                ("dictionary", _address), ("release", _address), ("private_data", _address)]


class ArrowArray(ctypes.Structure):
    """The length, the offset and the buffers of an array."""

    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", _address),
                ("children", _address), ("dictionary", _address), ("release", _address), ("private_data", _address)]


class ArrowDeviceArray(ctypes.Structure):
    """An array in the memory of a device, and an event after which its contents are valid."""

    _fields_ = [("array", ArrowArray), ("device_id", ctypes.c_int64), ("device_type", ctypes.c_int32),
                ("sync_event", _address), ("reserved", ctypes.c_int64 * 3)]


class ArrowArrayStream(ctypes.Structure):
    """An iterator over arrays of one type."""

    _fields_ = [("get_schema", _address), ("get_next", _address), ("get_last_error", _address),
                ("release", _address), ("private_data", _address)]


_RELEASE = ctypes.PYFUNCTYPE(None, _address)  # keeps the GIL, which release functions written in Python need
_GET = ctypes.CFUNCTYPE(ctypes.c_int, _address, _address)
_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, _address)


class Owned:
    """A struct of the interface that was moved out of its producer's memory; it is released once."""

    __slots__ = ("struct", "root", "__weakref__")

    def __init__(self, kind, source=None):
        self.struct = kind()
        self.root = self.struct.array if kind is ArrowDeviceArray else self.struct
        if source is not None:
            offset = getattr(kind, "release", ArrowArray.release).offset  # ArrowDeviceArray begins with ArrowArray
            release = ctypes.c_void_p.from_address(source + offset)
            if not release.value:
                raise ArgumentError("the Arrow interface returned a capsule whose contents were used before")
            ctypes.memmove(ctypes.addressof(self.struct), source, ctypes.sizeof(kind))
            release.value = None  # the source counts as released

    def __del__(self, release=_RELEASE, addressof=ctypes.addressof):
        root = self.root
        if root.release:
            release(root.release)(addressof(root))


class Chunk:
    """An array: its type, its length, and the addresses of its buffers."""

    __slots__ = ("format", "length", "null_count", "offset", "buffers", "dictionary", "ordered", "owner",
                 "device", "event")

    def __init__(self, schema, array, owner, device="cpu", event=None):
        self.format = schema.format.decode()
        self.length, self.offset, self.null_count = array.length, array.offset, array.null_count
        addresses = (_address * max(array.n_buffers, 1)).from_address(array.buffers) if array.buffers else ()
        self.buffers = [addresses[i] or 0 for i in range(array.n_buffers)]
        self.owner, self.device, self.event, self.dictionary = owner, device, event, None
        self.ordered = bool(schema.flags & 1)
        if schema.dictionary:
            values = ArrowSchema.from_address(schema.dictionary)
            self.dictionary = Chunk(values, ArrowArray.from_address(array.dictionary), owner, device)

    @property
    def validity(self):
        """The address of the bitmap, or 0 if there is none."""
        return self.buffers[0] if self.buffers and self.null_count != 0 else 0


def _taken(capsule, name, kind):
    """The struct in a capsule, moved."""
    source = capsules.pointer(capsule, name)
    if source is None:
        raise DTypeError(f"the Arrow interface returned a capsule that is not {name.decode()}")
    return Owned(kind, source)


def _stream_chunks(capsule, name):
    """All arrays of a stream."""
    stream = _taken(capsule, b"arrow_array_stream", ArrowArrayStream)
    source, schema, chunks = ctypes.addressof(stream.struct), Owned(ArrowSchema), []

    def get(function, target):
        status = _GET(function)(source, ctypes.addressof(target.struct))
        if status:
            text = _LAST_ERROR(stream.struct.get_last_error)(source) or b""
            raise Error(f"{name}: the Arrow stream failed with error {status}: {text.decode(errors='replace')}")

    get(stream.struct.get_schema, schema)
    while True:
        array = Owned(ArrowArray)
        get(stream.struct.get_next, array)
        if not array.struct.release:
            return schema.struct.format.decode(), chunks
        chunks.append(Chunk(schema.struct, array.struct, array))


_DEVICES = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}


def _device_chunk(x, name):
    schema, array = x.__arrow_c_device_array__()
    schema, array = _taken(schema, b"arrow_schema", ArrowSchema), _taken(array, b"arrow_device_array", ArrowDeviceArray)
    struct = array.struct
    device = _DEVICES.get(struct.device_type)
    if device is None:
        raise ArgumentError(f"{name} is on an Arrow device of type {struct.device_type}, but the devices are the CPU "
                            "and CUDA")
    if device == "cuda":
        device = f"cuda:{max(struct.device_id, 0)}"
    event = _address.from_address(struct.sync_event).value if struct.sync_event else None
    return schema.struct.format.decode(), [Chunk(schema.struct, struct.array, array, device, event)]


def import_arrow(x, name="x"):
    """The format and the list of Chunks of an object with an Arrow interface."""
    try:
        return _import(x, name)
    except (Error, MemoryError):
        raise
    except Exception as error:
        raise ArgumentError(f"{name} cannot be exported as an Arrow array: {error}") from error


def _import(x, name):
    if hasattr(x, "__arrow_c_device_array__"):
        try:
            return _device_chunk(x, name)
        except NotImplementedError:
            pass  # only the other interface supports this type
    if hasattr(x, "__arrow_c_array__"):
        schema, array = x.__arrow_c_array__()
        schema, array = _taken(schema, b"arrow_schema", ArrowSchema), _taken(array, b"arrow_array", ArrowArray)
        return schema.struct.format.decode(), [Chunk(schema.struct, array.struct, array)]
    return _stream_chunks(x.__arrow_c_stream__(), name)
