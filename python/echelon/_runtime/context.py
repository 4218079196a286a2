"""Contexts: one per thread, device and array library, opened by the first call that needs it.

A context is closed when its thread ends; those of the main thread are closed when the interpreter exits. Contexts of
daemon threads, which may be in a call then, stay open until the process ends. After fork() the child forgets the
contexts of its parent and opens its own; it cannot use a GPU if its parent has used one.

A callback of a call (an allocator, an operator of a solver) may make calls itself. The context of the outer call is
busy, so that these use another one.

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import ctypes
import os
import threading
import weakref

from . import cuda, errors, fast, native
from .arguments import integer
from .native import declared, functions

_local = threading.local()
_open_contexts = weakref.WeakSet()
_open_lock = threading.Lock()
_process = os.getpid()
_gpu = {"used": False, "lost": False}  # lost: the process that forked this one has used a GPU or the emulator
_exiting = []  # not empty when the interpreter exits


class Context:
    """An open context of the library. One thread at a time may use it."""

    handle = None  # also if __init__() was not called

    def __init__(self, device):
        self.handle = None
        handle = ctypes.c_void_p()
        _check_device(device)
        status = functions.ech_open(ctypes.addressof(handle), device.encode())
        if status:
            hint = ", from the variable ECHELON_DEVICE" if device == os.environ.get("ECHELON_DEVICE") else ""
            raise errors.from_status(status, native.error_text() + hint)
        self.handle, self.device, self.process = handle.value, device, _process
        if functions.ech_device_name(self.handle) != b"cpu":
            note_gpu()
        self.stream, self.stream_owner = 0, None
        self.allocator = None  # keeps the callbacks alive
        self.failure = None  # the first exception of a callback of the current call
        self.busy = False  # a call runs, in which a callback may run
        self.nested = None  # the context for calls of callbacks
        self.kept = []  # (objects, event) of work that other streams have queued
        with _open_lock:
            _open_contexts.add(self)

    def close(self):
        """Waits for queued work and closes the context. In a child of fork() it only forgets it."""
        handle, self.handle = self.handle, None
        fast.contexts_changed()
        if handle and self.process == os.getpid():
            self._leave_stream(handle)
            functions.ech_close(handle)
            self.nested = None
        self.kept = []

    def _leave_stream(self, handle):
        """Waits for the GPU, and returns to the default stream: the owner may have destroyed the other stream."""
        if self.stream and functions.ech_set_stream(handle, None) == 0:
            self.stream = 0
            cuda.synchronize(self.device)

    def synchronize(self):
        """Waits for queued work, and raises the errors that it found."""
        self._leave_stream(self.handle)
        self.check(functions.ech_sync(self.handle))
        self.kept = []

    def __del__(self, exiting=_exiting):
        if self.handle and not exiting:  # at exit, a daemon thread may be in a call
            self.close()

    def error(self, status):
        """The exception of a status, or that of a callback."""
        failure, self.failure = self.failure, None
        if failure is not None and (status == 0 or not isinstance(failure, Exception)):
            return failure
        exception = errors.from_status(status, native.error_text(self.handle))
        if failure is not None:
            exception.__cause__ = failure
        return exception

    def check(self, status):
        if status:
            raise self.error(status)

    def set_stream(self, stream, owner=None):
        """Selects the stream (an address) of the calls that follow. It must exist until another one is selected.

        owner: an object that keeps it, or None.
        """
        if stream != self.stream:
            self.check(functions.ech_set_stream(self.handle, stream))
            self.stream, self.stream_owner = stream, owner

    def set_allocator(self, allocate, release):
        """allocate(bytes, stream) returns an address or 0; release(address, bytes, stream) takes it back.

        An exception must not pass through C code: the call that is running raises it when it has returned.
        """
        this = weakref.ref(self)  # without a cycle, the context is closed as soon as its thread ends

        def fail(error):
            context = this()
            if context is not None and context.failure is None:
                context.failure = error

        def allocate_checked(_, size, stream):
            try:
                return allocate(size, stream or 0)
            except BaseException as error:
                fail(error)
                return 0

        def release_checked(_, pointer, size, stream):
            try:
                release(pointer, size, stream or 0)
            except BaseException as error:
                fail(error)

        kinds = dict(declared.ech_allocator._fields_)
        self.allocator = native.struct(declared.ech_allocator, allocate=kinds["allocate"](allocate_checked),
                                       release=kinds["release"](release_checked))
        self.check(functions.ech_set_allocator(self.handle, ctypes.addressof(self.allocator)))


def note_gpu():
    """The driver is initialised in this process, so that children of fork() cannot use a GPU."""
    _gpu["used"] = True


def _check_device(device):
    if not isinstance(device, str):
        raise errors.DTypeError(f"device is {type(device).__name__}, but must be a str such as 'cpu' or 'cuda:0'")
    if "\0" in device:
        raise errors.ArgumentError(f"device is {device!r}, which is not the name of a device")
    if _gpu["lost"] and device != "cpu":
        raise errors.NoDeviceError(
            f"{device} cannot be used in this process: it was created by fork(), and its parent had used a GPU. Use "
            "multiprocessing.get_context('spawn'), or call no function on a GPU before fork()")


def get(device, family=None):
    """The context of this thread for a device. A family with an allocator for GPU memory has contexts of its own."""
    try:
        context = _local.contexts[device, family]
        return context if not context.busy else _nested(context, device, family)
    except (AttributeError, KeyError):
        pass
    if not hasattr(_local, "contexts"):
        _local.contexts = {}
    context = opened(device, family)
    _local.contexts[device, family] = context
    return context


class _Fast:
    """Takes the place of a family for the contexts of the extension."""

    @staticmethod
    def allocator(device):
        return None


def own_handle():
    """The address of the context of this thread that only the extension echelon_fast uses, so that it is never busy."""
    return get("cpu", _Fast).handle


def opened(device, family=None):
    """A new context, with the settings of set_threads() and set_memory_limit()."""
    context = Context(device)
    allocator = family.allocator(device) if family is not None else None
    if allocator is not None:
        context.set_allocator(*allocator)
    _configure(context)
    return context


def _nested(context, device, family):
    """A context for the calls of a callback, while context is busy."""
    while context.busy:
        if context.nested is None:
            context.nested = opened(device, family)
        context = context.nested
    return context


_settings = {"threads": 0, "memory_limit": 0}


def _configure(context):
    if _settings["threads"]:
        context.check(functions.ech_set_threads(context.handle, _settings["threads"]))
    if _settings["memory_limit"]:
        context.check(functions.ech_set_memory_limit(context.handle, _settings["memory_limit"]))


def contexts():
    """The open contexts of this thread, without those for callbacks."""
    return list(getattr(_local, "contexts", {}).values())


def _idle_contexts(function):
    """The same, if the thread is not in a call."""
    found = contexts()
    if any(context.busy for context in found):
        raise errors.Error(f"{function}() was called by a callback of a call that is running")
    return found


def set_threads(threads):
    """Limit the number of CPU threads of a call, for contexts of this thread and those opened later by any thread.

    threads: 0 stands for all processors that the process may use.

    >>> import echelon
    >>> echelon.set_threads(0)
    """
    threads = integer(threads, "threads", 0, 2**31 - 1)
    idle = _idle_contexts("set_threads")
    _settings["threads"] = threads
    for context in idle:
        context.check(functions.ech_set_threads(context.handle, threads))


def set_memory_limit(size):
    """Limit the device memory that a context may hold, for the contexts that set_threads() describes.

    size: bytes; 0 stands for no limit.

    >>> import echelon
    >>> echelon.set_memory_limit(0)
    """
    size = integer(size, "size", 0, 2**64 - 1)
    idle = _idle_contexts("set_memory_limit")
    _settings["memory_limit"] = size
    for context in idle:
        context.check(functions.ech_set_memory_limit(context.handle, size))


def synchronize():
    """Wait for the work that calls of this thread have queued, and raise the errors that it found.

    >>> import echelon
    >>> echelon.synchronize()
    """
    for context in _idle_contexts("synchronize"):
        context.synchronize()


def close_contexts():
    """Close the contexts of this thread and release their memory. The next call opens a new one.

    >>> import echelon
    >>> echelon.close_contexts()
    """
    for context in _idle_contexts("close_contexts"):
        context.close()
    _local.contexts = {}


def open_count():
    """The number of open contexts of all threads of this process."""
    with _open_lock:
        return sum(context.handle is not None for context in _open_contexts)


@atexit.register
def _close_at_exit():
    if not any(context.busy for context in contexts()):
        close_contexts()
    _exiting.append(True)


def _forget():
    """In a child of fork(): the locks may be held for ever, and the contexts belong to the parent."""
    global _local, _process, _open_contexts, _open_lock
    _process = os.getpid()
    _gpu["lost"] = _gpu["lost"] or _gpu["used"]
    _local, _open_contexts, _open_lock = threading.local(), weakref.WeakSet(), threading.Lock()
    fast.contexts_changed()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
