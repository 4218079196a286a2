"""Contexts: one per thread, device and array library, opened by the first call that needs it.

A context is closed when its thread ends or the interpreter exits. After fork() the child forgets the contexts of its
parent and opens its own; a GPU cannot be used in a child of a process that has used one.

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import contextlib
import ctypes
import os
import threading
import weakref

from . import errors, native
from .native import declared, functions

_local = threading.local()
_open_contexts = weakref.WeakSet()
_open_lock = threading.Lock()
_process = os.getpid()


class Context:
    """An open context of the library."""

    def __init__(self, device):
        handle = ctypes.c_void_p()
        self.handle = None
        status = functions.ech_open(ctypes.addressof(handle), device.encode())
        if status:
            raise errors.from_status(status, native.error_text())
        self.handle, self.device, self.process = handle.value, device, _process
        self.stream = 0
        self.allocator = None  # keeps the callbacks alive
        self.failure = None  # the exception of a callback
        self.busy = False  # a call runs; only the exit of the interpreter reads it in another thread
        self.kept = []  # (objects, event) of work that other streams have queued
        with _open_lock:
            _open_contexts.add(self)

    def close(self):
        """Waits for queued work and closes the context. In a child of fork() it only forgets it."""
        handle, self.handle = self.handle, None
        if handle and self.process == os.getpid():
            functions.ech_close(handle)
        self.kept = []

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter is shutting down
            pass

    def error(self, status):
        """The exception of a status, or that which a callback raised."""
        failure, self.failure = self.failure, None
        exception = errors.from_status(status, native.error_text(self.handle))
        if failure is not None:
            exception.__cause__ = failure
        return exception

    def check(self, status):
        if status:
            raise self.error(status)

    def set_stream(self, stream):
        """Selects the stream (an address) of the calls that follow."""
        if stream != self.stream:
            self.check(functions.ech_set_stream(self.handle, stream))
            self.stream = stream

    def set_allocator(self, allocate, release):
        """allocate(bytes, stream) returns an address or 0; release(address, bytes, stream) takes it back."""
        def allocate_checked(_, size, stream):
            try:
                return allocate(size, stream or 0)
            except Exception as error:
                self.failure = error
                return 0

        def release_checked(_, pointer, size, stream):
            try:
                release(pointer, size, stream or 0)
            except Exception as error:
                self.failure = error

        kinds = dict(declared.ech_allocator._fields_)
        self.allocator = native.struct(declared.ech_allocator, allocate=kinds["allocate"](allocate_checked),
                                       release=kinds["release"](release_checked))
        self.check(functions.ech_set_allocator(self.handle, ctypes.addressof(self.allocator)))


def get(device, family=None):
    """The context of this thread for a device. A family with an allocator for GPU memory has contexts of its own."""
    try:
        return _local.contexts[device, family]
    except (AttributeError, KeyError):
        pass
    if not hasattr(_local, "contexts"):
        _local.contexts = {}
    context = Context(device)
    allocator = family.allocator(device) if family is not None else None
    if allocator is not None:
        context.set_allocator(*allocator)
    _configure(context)
    _local.contexts[device, family] = context
    return context


@contextlib.contextmanager
def nested():
    """While a callback of a call runs, this thread uses other contexts, since the call uses its own."""
    outer, inner = getattr(_local, "contexts", {}), getattr(_local, "inner", {})
    _local.contexts, _local.inner = inner, {}
    try:
        yield
    finally:
        _local.contexts, _local.inner = outer, _local.contexts


_settings = {"threads": 0, "memory_limit": 0}


def _configure(context):
    if _settings["threads"]:
        context.check(functions.ech_set_threads(context.handle, _settings["threads"]))
    if _settings["memory_limit"]:
        context.check(functions.ech_set_memory_limit(context.handle, _settings["memory_limit"]))


def contexts():
    """The open contexts of this thread, including those of its callbacks."""
    return [context for name in ("contexts", "inner") for context in getattr(_local, name, {}).values()]


def set_threads(threads):
    """Limit the number of CPU threads of a call, for contexts of this thread and those opened later by any thread.

    threads: 0 stands for all processors that the process may use.

    >>> import echelon
    >>> echelon.set_threads(0)
    """
    threads = int(threads)
    if threads < 0:
        raise errors.ArgumentError(f"threads is {threads}, but must be at least 0")
    _settings["threads"] = threads
    for context in contexts():
        context.check(functions.ech_set_threads(context.handle, threads))


def set_memory_limit(size):
    """Limit the device memory in bytes that a context may hold, with the scope of set_threads(). 0: no limit.

    >>> import echelon
    >>> echelon.set_memory_limit(0)
    """
    size = int(size)
    if size < 0:
        raise errors.ArgumentError(f"size is {size}, but must be at least 0")
    _settings["memory_limit"] = size
    for context in contexts():
        context.check(functions.ech_set_memory_limit(context.handle, size))


def synchronize():
    """Wait for the work that calls of this thread have queued, and raise the errors that it found.

    >>> import echelon
    >>> echelon.synchronize()
    """
    for context in contexts():
        context.check(functions.ech_sync(context.handle))
        context.kept = []


def close_contexts():
    """Close the contexts of this thread. The next call opens a new one."""
    for context in contexts():
        context.close()
    _local.contexts, _local.inner = {}, {}


@atexit.register
def _close_all():
    with _open_lock:
        remaining = list(_open_contexts)
    for context in remaining:
        if not context.busy:  # otherwise a daemon thread uses it
            context.close()


def _forget():
    global _local, _process, _open_contexts, _open_lock
    _process = os.getpid()
    _local, _open_contexts, _open_lock = threading.local(), weakref.WeakSet(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
