"""Job: one call of an operation, from the arrays of its arguments to the arrays of its result.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import inspect
import operator
import os
import re
import threading

import numpy as np

from .. import _arrays
from .._arrays import layout
from .._arrays.numpy_family import NumPy, address
from . import context as contexts
from . import fast, native
from .errors import ArgumentError, DTypeError, OutOfMemoryError, UnsupportedError

_host_device = os.environ.get("ECHELON_DEVICE") or "cpu"
_given = threading.local()  # stream: the argument of the call that runs
_STREAM = "stream: the stream of a GPU: an address, an object, or None, the current stream of the arrays' library."
containers = []  # functions that return the arrays of an object, such as a sparse matrix, or None for other objects
recorders = []  # those of explain() and profile(), of all threads


def get_device():
    """Return the device that processes arrays in host memory: "cpu", unless set_device() or the variable
    ECHELON_DEVICE selected another one.

    >>> import echelon
    >>> echelon.set_device(echelon.get_device())
    """
    return _host_device


def set_device(device):
    """Select the device for arrays in host memory; arrays in GPU memory are processed by their GPU.

    device: "cpu", "cuda", "cuda:1", or "auto": the GPU if that is estimated to be faster. Raises NoDeviceError if
    there is no such device.

    >>> import echelon
    >>> echelon.set_device("cpu")
    """
    global _host_device
    contexts.get(device)
    _host_device = device
    fast.device_changed(device)


def host_context():
    """The context of arrays in host memory."""
    return contexts.get(_host_device)


def _pointer_of(stream):
    """The address of a stream: a number, or an object of CUDA's Python libraries."""
    found = stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair = protocol() if callable(protocol) else protocol
        found = pair[1] if isinstance(pair, tuple) and len(pair) == 2 else None
    else:
        for attribute in ("cuda_stream", "ptr"):
            if hasattr(stream, attribute):
                found = getattr(stream, attribute)
                break
    try:
        pointer = operator.index(None if isinstance(found, bool) else found)
    except TypeError:
        raise DTypeError(f"stream is {type(stream).__name__}, but must be None, an address, or an object with "
                         "__cuda_stream__") from None
    if not (0 <= pointer <= 2 or 4096 <= pointer < 2**64):
        raise ArgumentError(f"stream is {pointer}, which is not the address of a stream")
    return pointer


def _arrays_in(arguments):
    """The arrays in the arguments of a call, also in lists and tuples."""
    for argument in arguments:
        contents = next(filter(None, (find(argument) for find in containers)), None)
        if contents:
            yield from contents
        elif isinstance(argument, (list, tuple)):
            yield from _arrays_in(argument)
        elif hasattr(argument, "__echelon_arrays__"):  # such as gf2.Matrix
            yield from argument.__echelon_arrays__()
        elif _arrays.family_of(argument) is not None:
            yield argument


def _on_stream(function, stream, args, options):
    """Calls a function while stream is the current stream of the array's library."""
    pointer = _pointer_of(stream)
    views = [_arrays.view(x) for x in _arrays_in((*args, *options.values()))
             if not hasattr(_arrays.family_of(x), "column_or_view")]  # columns are in host memory
    views = [view for view in views if view.device != "cpu"]
    if not views:
        raise ArgumentError("stream is given, but all arrays are in host memory")
    first = views[0]
    if pointer == first.family.stream(first.device):
        return function(*args, **options)
    outer, _given.stream = getattr(_given, "stream", None), stream
    try:
        with first.family.on_stream(first.device, pointer):
            return function(*args, **options)
    finally:
        _given.stream = outer
        for view in views:
            view.family.keep(view, pointer)


def operation(function):
    """Adds the parameter stream to a function: None, the current stream of the array's library, or another stream.

    The function itself always works on the current stream.
    """
    @functools.wraps(function)
    def wrapper(*args, stream=None, **options):
        if stream is None:
            return function(*args, **options)
        return _on_stream(function, stream, args, options)

    if function.__doc__:  # before the example; python -OO removes docstrings
        wrapper.__doc__ = re.sub(r"\n\n( *)>>>", rf"\n\n\1{_STREAM}\n\n\1>>>", function.__doc__, count=1)
    signature = inspect.signature(function)
    parameter = inspect.Parameter("stream", inspect.Parameter.KEYWORD_ONLY, default=None)
    wrapper.__signature__ = signature.replace(parameters=[*signature.parameters.values(), parameter])
    wrapper._torchdynamo_disable = True  # torch.compile() calls the function and does not trace what it does
    return wrapper


def _recorded(context, name, arguments, function):
    """Calls a function through the last recorder of this thread."""
    thread = threading.get_ident()
    for recorder in reversed(list(recorders)):  # other threads change the list
        if recorder.thread == thread:
            return recorder.run(context, name, arguments, function)
    return function(context.handle, *arguments)


class Job:
    """The context, the family of the results, and the arrays that must stay alive during the call."""

    __slots__ = ("context", "family", "device", "views", "stream", "outputs")

    def __init__(self, *views):
        """views: at least one; all are on one device. The first one determines the type of the results."""
        first = views[0]
        self.family, self.device = first.family, first.device
        self.views, self.outputs = list(views), []
        for view in views:
            if view.device != first.device:
                raise ArgumentError(f"the arrays are on different devices: {first.device} and {view.device}")
        if first.device == "cpu":
            self.context, self.stream = contexts.get(_host_device), 0
        else:
            self.context = contexts.get(first.device, self.family if self.family.pools else None)
            self.stream = self.family.stream(first.device)

    @classmethod
    def on_host(cls):
        """A call with arrays of NumPy that need no Views."""
        job = cls.__new__(cls)
        job.family, job.device, job.views, job.outputs = NumPy, "cpu", [], []
        job.context, job.stream = contexts.get(_host_device), 0
        return job

    def add(self, view):
        """Another array of the call."""
        if view.device != self.device:
            raise ArgumentError(f"the arrays are on different devices: {self.device} and {view.device}")
        self.views.append(view)
        return view

    def view(self, x, name):
        """The View of another array of the call. Numbers and sequences are converted to arrays on the call's device."""
        found = _arrays.view(x, name)
        if found.device != self.device and _arrays.family_of(x) is None:
            return self.from_numpy(found.array)
        return self.add(found)

    def need_arithmetic(self):
        """Raises UnsupportedError if the arrays of the family have no operators, such as * and []."""
        if not self.family.arithmetic:
            raise UnsupportedError("for arrays in GPU memory this function needs those of PyTorch or CuPy; pass "
                                   "torch.from_dlpack(x)")

    def to_numpy(self, view):
        """A copy of a contiguous array as an array of NumPy; the call waits for it."""
        copy = np.empty(view.shape, _arrays.NAMES[view.code])
        if view.size:
            self.call("ech_copy", address(copy), view.pointer, view.nbytes)
        return copy

    def from_numpy(self, array):
        """The View of a new array of the family with the values of an array of NumPy."""
        source = _arrays.view(np.ascontiguousarray(array))
        if self.family.name == "numpy":
            return self.add(source)
        target = self.empty(array.shape, source.code)
        if source.nbytes:
            self.call("ech_copy", target.pointer, source.pointer, source.nbytes)
        return target

    def moved(self, x, name):
        """The View of an argument like view(), which is copied to the call's device also from an array of NumPy."""
        if self.device != "cpu":
            found = _arrays.view(x, name)
            if found.device == "cpu" and found.family.name == "numpy":
                return self.from_numpy(found.array)
        return self.view(x, name)

    def is_aligned(self, view, item_bytes):
        """Whether the library can use the View as items of this size. In GPU memory they are aligned to the largest
        power of two that divides it, at most 16."""
        return self.device == "cpu" or view.pointer % min(item_bytes & -item_bytes or 1, 16) == 0

    def contiguous(self, view, item_bytes=1):
        """The View, or that of a copy in C order, aligned for items of this size."""
        if view.strides is None and self.is_aligned(view, item_bytes):
            return view
        return self.add(view.family.view(view.family.contiguous(view.array)))

    def empty(self, shape, code, kind="", like=None):
        """A new array of the family. kind "bool" and "time" restore the dtype of like."""
        family = self.family
        if kind == "bool":
            dtype = family.bool_dtype()
        elif kind == "time":
            dtype = like.dtype
        else:
            dtype = family.dtype(code)
        try:
            array = family.empty(shape, dtype, self.device)
        except (MemoryError, OverflowError, RuntimeError, ValueError) as error:
            raise OutOfMemoryError(f"cannot allocate a result of shape {tuple(shape)}: {error}") from error
        view = family.view(array)
        self.views.append(view)
        return view

    def output(self, out, shape, code, kind="", like=None, name="out", same=None):
        """The View of out, checked; without out a new array, and also if out overlaps an input.

        same: the View of an input in whose place the function can write the result.
        """
        if out is None:
            return self.empty(shape, code, kind, like)
        if _arrays.family_of(out) is None:
            raise DTypeError(f"{name} is {type(out).__name__}, but must be an array")
        view = _arrays.view(out, name)
        if view.shape != tuple(shape):
            raise ArgumentError(f"{name} has shape {view.shape}, but the result has shape {tuple(shape)}")
        if (view.code, view.kind) != (code, kind) or kind == "time" and like is not None and view.dtype != like.dtype:
            expected = kind if kind == "bool" else like.dtype if kind == "time" else _arrays.NAMES[code]
            raise DTypeError(f"{name} has dtype {view.dtype}, but the result has dtype {expected}")
        if view.readonly:
            raise ArgumentError(f"{name} is read-only")
        if not layout.distinct(view):
            raise ArgumentError(f"{name} has shape {view.shape} and strides {view.strides}: several elements are at "
                                "one place")
        if any(layout.overlap(view, other) for other in self.outputs):
            raise ArgumentError(f"{name} overlaps another output")
        self.outputs.append(view)
        if any(layout.entangled(view, other, other is same) for other in self.views):
            self.add(view)
            result = self.empty(shape, code, kind, like)
            _arrays.assign(result, view)  # functions may leave elements as they are
            result.final = view
            return result
        return self.add(view)

    def finish(self, target, out=None, computed=None):
        """What the function returns: out, or the new array. computed is copied to out if it is another array."""
        if out is not None:
            if computed is not None and computed is not target:
                _arrays.assign(target, computed)
            if target.final is not None:
                _arrays.assign(target.final, target)
            return out
        return self.family.result((computed or target).array)

    def call(self, name, *arguments):
        """Calls a function of the library with the context, and raises its error."""
        context = self.context
        if context.busy or context.handle is None:  # a callback runs, or close_contexts() was called
            context = self.context = self._another()
        if context.stream != self.stream:  # also if a finalizer has used the context since this object was made
            owner = getattr(_given, "stream", None)
            context.set_stream(self.stream, owner or self.family.stream_owner(self.device))
        function = getattr(native.functions, name)
        context.busy = True
        try:
            if recorders:
                status = _recorded(context, name, arguments, function)
            else:
                status = function(context.handle, *arguments)
        finally:
            context.busy = False
        if status or context.failure is not None:
            raise context.error(status)

    def _another(self):
        """The context that a new Job would get."""
        if self.device == "cpu":
            return contexts.get(_host_device)
        return contexts.get(self.device, self.family if self.family.pools else None)
