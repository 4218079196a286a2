"""Memory for results of libraries that have no allocator of their own: ech_malloc() of one context per device.

The context belongs to no thread: threads use it in turn. Memory is allocated and released in the order of the legacy
default stream. DeviceFamily.on_stream() orders other streams with it.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import ctypes
import os
import threading

from .._runtime import context as contexts
from .._runtime import native


class _Pool:
    """The context of a device, and the blocks that could not be released at once."""

    def __init__(self, device):
        self.context = contexts.Context(device)
        self.lock, self.released, self.process = threading.Lock(), collections.deque(), os.getpid()

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        with self.lock:
            self.context.check(native.functions.ech_malloc(self.context.handle, ctypes.addressof(pointer), size))
        self.drain()
        return pointer.value or 0

    def release(self, pointer, size):
        """May run at any time: in the garbage collector, while this thread has the lock."""
        self.released.append((pointer, size))
        self.drain()

    def drain(self):
        """Releases blocks, unless another call has the lock: that call does it afterwards."""
        while self.released and self.lock.acquire(blocking=False):
            try:
                while self.released:
                    pointer, size = self.released.popleft()
                    if self.context.handle and self.process == os.getpid():
                        native.functions.ech_free(self.context.handle, pointer, size)
            finally:
                self.lock.release()


_pools = {}
_pools_lock = threading.Lock()


def pool(device):
    """The pool of a device in this process."""
    found = _pools.get((device, os.getpid()))
    if found is None:
        with _pools_lock:
            found = _pools.setdefault((device, os.getpid()), _Pool(device))
    return found


def usage(device):
    """The bytes that arrays hold now."""
    now, found = ctypes.c_uint64(), pool(device)
    with found.lock:
        native.functions.ech_memory_usage(found.context.handle, 0, ctypes.addressof(now), None)
    return now.value


class Block:
    """Device memory that is released with the object."""

    __slots__ = ("pointer", "size", "pool", "__weakref__")

    def __init__(self, device, size):
        self.pool, self.size, self.pointer = pool(device), size, 0
        self.pointer = self.pool.allocate(size)

    def __del__(self):
        if self.pointer:
            self.pool.release(self.pointer, self.size)


def _forget():
    """In a child of fork() the locks may be held for ever. The blocks belong to the parent."""
    global _pools_lock
    _pools_lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
