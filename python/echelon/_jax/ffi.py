"""XLA calls a handler with a frame that contains the buffers and attributes of a call.

The structs are those of version 0 of XLA's FFI (xla/ffi/api/c_api.h in the folder jax.ffi.include_dir()). A handler is
a Python function (context, arguments, results, attributes); XLA calls it in threads of its own.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import threading

from .._arrays.view import CODES
from .._runtime.context import opened
from .._runtime.errors import ArgumentError, CanceledError, Error, OutOfMemoryError, UnsupportedError

_P, _SIZE, _I64, _INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_int
_METADATA, _EXECUTE, _SCALAR = 1, 3, 3
_DTYPES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
           10: "float16", 11: "float32", 12: "float64", 16: "bfloat16"}
_SCALARS = {4: ctypes.c_int32, 5: ctypes.c_int64, 8: ctypes.c_uint32, 9: ctypes.c_uint64, 11: ctypes.c_float,
            12: ctypes.c_double, 1: ctypes.c_bool}
_ERROR_CODES = ((OutOfMemoryError, 8), (ArgumentError, 3), (UnsupportedError, 12), (CanceledError, 1), (Exception, 13))


def _struct(name, *fields):
    """A struct that begins with its size and a list of extensions, as all structs of the interface."""
    head = [("struct_size", _SIZE), ("extension_start", _P)]
    return type(name, (ctypes.Structure,), {"_fields_": head + [(field, kind) for field, kind in fields]})


Extension = type("Extension", (ctypes.Structure,), {"_fields_": [("struct_size", _SIZE), ("type", _INT), ("next", _P)]})
MetadataExtension = type("MetadataExtension", (ctypes.Structure,),
                         {"_fields_": [("base", Extension), ("metadata", _P)]})
Version = _struct("Version", ("major", _INT), ("minor", _INT))
Metadata = type("Metadata", (ctypes.Structure,), {"_fields_": [("struct_size", _SIZE), ("version", Version),
                                                               ("traits", ctypes.c_uint32)]})
Buffer = _struct("Buffer", ("dtype", _INT), ("data", _P), ("rank", _I64), ("dims", ctypes.POINTER(_I64)))
Values = _struct("Values", ("size", _I64), ("types", ctypes.POINTER(_INT)),
                 ("values", ctypes.POINTER(ctypes.POINTER(Buffer))))
Span = type("Span", (ctypes.Structure,), {"_fields_": [("ptr", _P), ("len", _SIZE)]})
Scalar = type("Scalar", (ctypes.Structure,), {"_fields_": [("dtype", _INT), ("value", _P)]})
Attributes = _struct("Attributes", ("size", _I64), ("types", ctypes.POINTER(_INT)),
                     ("names", ctypes.POINTER(ctypes.POINTER(Span))), ("values", ctypes.POINTER(_P)))
Frame = _struct("Frame", ("api", _P), ("ctx", _P), ("stage", _INT), ("args", Values), ("rets", Values),
                ("attrs", Attributes), ("future", _P))
_API_FUNCTIONS = ("Error_Create", "Error_GetMessage", "Error_Destroy", "Handler_Register", "Stream_Get",
                  "Type_Register", "ExecutionContext_Get", "State_Set", "State_Get", "DeviceMemory_Allocate",
                  "DeviceMemory_Free", "ThreadPool_Schedule", "ThreadPool_NumThreads", "Future_Create",
                  "Future_SetAvailable", "Future_SetError", "RunId_Get", "DeviceOrdinal_Get")
Api = _struct("Api", ("version", Version), ("internal", _P), *((name, _P) for name in _API_FUNCTIONS))
ErrorArgs = _struct("ErrorArgs", ("message", ctypes.c_char_p), ("code", _INT))
StreamArgs = _struct("StreamArgs", ("ctx", _P), ("stream", _P))
DeviceArgs = _struct("DeviceArgs", ("ctx", _P), ("device", ctypes.c_int32))
HANDLER = ctypes.CFUNCTYPE(_P, _P)
_FUNCTION = ctypes.CFUNCTYPE(_P, _P)


class Array:
    """A buffer of a call: its address, shape and ech_dtype."""

    __slots__ = ("pointer", "shape", "code", "size")

    def __init__(self, buffer):
        self.pointer = buffer.data
        self.shape = tuple(buffer.dims[i] for i in range(buffer.rank))
        name = _DTYPES.get(buffer.dtype)
        if name is None:
            raise UnsupportedError(f"XLA passed a buffer with the unsupported dtype {buffer.dtype}")
        self.code = CODES[name]
        self.size = 1
        for n in self.shape:
            self.size *= n


_free, _lock = {}, threading.Lock()  # contexts by device; XLA's threads have no thread-local variables of Python


def _take(device):
    with _lock:
        contexts = _free.setdefault(device, [])
        if contexts:
            return contexts.pop()
    return opened(device)


def _give(context):
    with _lock:
        _free[context.device].append(context)


def _ask(api, name, kind, ctx, field):
    """Calls a function of XLA that returns one value. None if this version of XLA does not have it."""
    offset = getattr(Api, name).offset
    if api.struct_size < offset + ctypes.sizeof(_P) or not getattr(api, name):
        return None
    args = kind(struct_size=ctypes.sizeof(kind), ctx=ctx)
    if _FUNCTION(getattr(api, name))(ctypes.addressof(args)):
        raise UnsupportedError(f"XLA's function {name} failed")
    return getattr(args, field)


def _attributes(attrs):
    found = {}
    for i in range(attrs.size):
        span = attrs.names[i].contents
        scalar = Scalar.from_address(attrs.values[i])
        if attrs.types[i] == _SCALAR and scalar.dtype in _SCALARS:
            name = ctypes.string_at(span.ptr, span.len).decode()
            found[name] = _SCALARS[scalar.dtype].from_address(scalar.value).value
    return found


def _execute(function, frame, api, gpu):
    device = "cpu"
    if gpu:
        device = f"cuda:{_ask(api, 'DeviceOrdinal_Get', DeviceArgs, frame.ctx, 'device') or 0}"
    context = _take(device)
    try:
        if gpu:
            context.set_stream(_ask(api, "Stream_Get", StreamArgs, frame.ctx, "stream") or 0)
        arrays = [[Array(values.values[i].contents) for i in range(values.size)] for values in (frame.args, frame.rets)]
        function(context, *arrays, _attributes(frame.attrs))
    finally:
        _give(context)


def handler(function, gpu):
    """A function pointer for XLA. The caller keeps it alive."""
    def called(address):
        frame = Frame.from_address(address)
        api = Api.from_address(frame.api)
        if frame.extension_start:
            extension = MetadataExtension.from_address(frame.extension_start)
            if extension.base.type == _METADATA:
                metadata = Metadata.from_address(extension.metadata)
                metadata.version.major, metadata.version.minor = api.version.major, api.version.minor
                metadata.traits = 0
                return None
        if frame.stage != _EXECUTE:
            return None
        try:
            _execute(function, frame, api, gpu)
            return None
        except Exception as error:
            return _error(api, error)

    return HANDLER(called)


def _error(api, error):
    code = next(code for kind, code in _ERROR_CODES if isinstance(error, kind))
    text = str(error) if isinstance(error, Error) else repr(error)
    args = ErrorArgs(struct_size=ctypes.sizeof(ErrorArgs), message=f"echelon: {text}".encode(), code=code)
    return _FUNCTION(api.Error_Create)(ctypes.addressof(args))
