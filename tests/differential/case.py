"""case.py - one random case: its random numbers, its guarded arrays and its calls of the library.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import zlib

import numpy as np

from . import values
from .library import Status

GUARD = 512
OPERATIONS = {}  # name: Operation


class Difference(Exception):
    """The library does not agree with the expected result or with its contract."""


class Operation:
    def __init__(self, name, function, covers, weight):
        self.name, self.function, self.covers, self.weight = name, function, covers, weight
        self.cases, self.seconds, self.failures = 0, 0.0, 0


def operation(name, *covers, weight=1.0):
    """Registers a function that runs one case.  covers: the functions of the library that it calls."""

    def register(function):
        OPERATIONS[name] = Operation(name, function, covers, weight)
        return function

    return register


class Array:
    """An array between guard zones.  a: the elements; p: the address."""

    def __init__(self, case, initial, writable, align):
        initial = np.ascontiguousarray(initial)
        size = initial.nbytes
        self.raw = np.full(size + 2 * GUARD + 512, 0xA5, np.uint8)
        base = self.raw.ctypes.data
        begin = GUARD + (-base - GUARD) % 256
        if align < 256:
            begin += align * int(case.rng.integers(0, 256 // align))
        self.begin, self.size = begin, size
        body = self.raw[begin:begin + size]
        body[:] = initial.reshape(-1).view(np.uint8)
        self.a = body.view(initial.dtype).reshape(initial.shape)
        self.p = base + begin
        self.copy = None if writable else body.copy()

    def check(self):
        if not ((self.raw[:self.begin] == 0xA5).all() and (self.raw[self.begin + self.size:] == 0xA5).all()):
            raise Difference("a guard zone was overwritten")
        if self.copy is not None and not np.array_equal(self.raw[self.begin:self.begin + self.size], self.copy):
            raise Difference("an input was modified")


class Case:
    def __init__(self, library, ctx, device, seed, name, index):
        self.lib, self.ctx, self.device = library, ctx, device
        self.rng = np.random.default_rng([seed, zlib.crc32(name.encode()), index])
        self.notes, self.arrays, self.kept = {}, [], []
        self.simt = device == "simt"

    # ---- Choices ----

    def note(self, **notes):
        self.notes.update({key: str(value) for key, value in notes.items()})

    def flag(self, p=0.5):
        return bool(self.rng.random() < p)

    def pick(self, choices):
        choices = list(choices)
        return choices[int(self.rng.integers(0, len(choices)))]

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def size(self, most=300_000, huge=0):
        """A number of elements; huge: the maximum of a rare large case."""
        most = min(most, 3000) if self.simt else most
        kind = self.rng.random()
        if huge and kind > 0.99 and not self.simt:
            n = self.between(most, huge)
        elif kind < 0.04:
            n = 0
        elif kind < 0.08:
            n = 1
        elif kind < 0.35:
            n = self.between(2, 70)
        elif kind < 0.6:
            n = (1 << self.between(4, 17)) + self.between(-3, 3)
        else:
            n = int(2 ** self.rng.uniform(1, np.log2(most)))
        n = min(n, max(most, huge))
        if n > most and kind <= 0.99:
            n = self.between(0, most)
        self.note(n=n)
        return n

    def dtype(self, choices=values.DTYPES):
        dtype = self.pick(choices)
        self.note(dtype=dtype)
        return dtype

    def data(self, dtype, n, distributions=values.DISTRIBUTIONS):
        distribution = self.pick(distributions)
        self.note(data=distribution)
        return values.random_array(self.rng, dtype, n, distribution)

    def threads(self):
        threads = self.between(1, 4)
        self.note(threads=threads)
        self.lib.call("ech_set_threads", self.ctx, threads, ctx=self.ctx)

    # ---- Arrays ----

    def put(self, initial, writable=False, align=None):
        """An input array.  writable: the call may change it."""
        initial = np.asarray(initial)
        array = Array(self, initial, writable, align or initial.dtype.itemsize)
        self.arrays.append(array)
        return array

    def out(self, shape, dtype, align=None):
        """An output array, which contains random bytes."""
        dtype = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, (int, np.integer)) else shape
        count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        junk = np.frombuffer(self.rng.bytes(min(count, 997)) * (count // 997 + 1), np.uint8)[:count]
        return self.put(junk.view(dtype).reshape(shape), writable=True, align=align)

    def scalar(self, value, dtype):
        """[1] of dtype in host memory; None is NULL."""
        if value is None:
            return None
        array = self.put(np.asarray(value).astype(dtype).reshape(1))
        return array.p

    def work(self, name, *arguments):
        """The fields work and work_bytes: half of the time a workspace of exactly the reported size."""
        bytes_ = ctypes.c_size_t()
        self.lib.call(name, self.device.encode(), *arguments, ctypes.addressof(bytes_))
        if self.flag():
            return {}
        self.note(work=bytes_.value)
        if self.device == "cpu":
            return {"work": self.out(bytes_.value, np.uint8, align=256).p, "work_bytes": bytes_.value}
        pointer = ctypes.c_void_p()
        self.lib.call("ech_malloc", self.ctx, ctypes.addressof(pointer), bytes_.value, ctx=self.ctx)
        self.kept.append((pointer.value, bytes_.value))
        return {"work": pointer.value, "work_bytes": bytes_.value}

    def algorithm(self, name, *arguments):
        """None, or an algorithm that the function ech_..._explain() lists."""
        plan = self.lib.explain(name, self.device.encode(), *arguments)
        names = [None] + [row["name"] for row in plan.get("alternatives", [])]
        if isinstance(plan.get("algorithm"), dict):
            names.append(plan["algorithm"]["name"])
        names = [name for name in names if name != "empty"]  # describes calls without work
        choice = self.pick(names)
        self.note(algorithm=choice)
        return choice.encode() if choice else None

    def struct(self, name, **fields):
        s = self.lib.struct(name, **fields)
        self.kept.append(s)
        return s

    def address(self, s):
        return ctypes.addressof(s)

    # ---- Calls ----

    def call(self, name, *arguments):
        """Calls a function with the context, waits, and checks guard zones and inputs."""
        self.lib.call(name, self.ctx, *arguments, ctx=self.ctx)
        if self.device != "cpu":
            self.lib.call("ech_sync", self.ctx, ctx=self.ctx)
        self.check_arrays()

    def check_arrays(self):
        for array in self.arrays:
            array.check()

    def fails(self, status, name, *arguments):
        """The call must fail with this status and a message."""
        try:
            self.call(name, *arguments)
        except Status as error:
            if error.status != status or not error.message:
                raise Difference(f"{error} instead of {status}") from None
            self.check_arrays()
            return
        raise Difference(f"{name} returned ECH_OK instead of {status}")

    def release(self):
        for entry in self.kept:
            if isinstance(entry, tuple):
                self.lib.raw("ech_free", self.ctx, *entry)
        self.kept.clear()

    # ---- Comparisons ----

    def same(self, what, found, expected):
        """Bit-identical."""
        found, expected = np.ascontiguousarray(found), np.ascontiguousarray(expected)
        if found.shape != expected.shape or found.dtype.itemsize != expected.dtype.itemsize:
            raise Difference(f"{what}: {found.shape} {found.dtype} instead of {expected.shape} {expected.dtype}")
        if found.size == 0:
            return
        a = found.reshape(-1).view(np.uint8).reshape(found.size, -1)
        b = expected.reshape(-1).view(np.uint8).reshape(found.size, -1)
        wrong = np.flatnonzero((a != b).any(axis=1))
        if len(wrong):
            i = wrong[0]
            raise Difference(f"{what}: {len(wrong)} of {found.size} differ; element {i} is "
                             f"{found.reshape(-1)[i]!r} ({a[i][::-1].tobytes().hex()}) instead of "
                             f"{expected.reshape(-1)[i]!r} ({b[i][::-1].tobytes().hex()})")

    def equal(self, what, found, expected):
        if found != expected:
            raise Difference(f"{what}: {found} instead of {expected}")

    def near(self, what, found, expected, bound):
        """|found - expected| <= bound, element by element."""
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        wrong = ~((np.abs(found - expected) <= bound) | (found == expected) | (np.isnan(found) & np.isnan(expected)))
        if wrong.any():
            i = int(np.flatnonzero(wrong.reshape(-1))[0])
            limit = np.broadcast_to(bound, wrong.shape).reshape(-1)[i]
            raise Difference(f"{what}: element {i} is {found.reshape(-1)[i]!r} instead of "
                             f"{expected.reshape(-1)[i]!r}, bound {limit!r}")

    def true(self, what, holds):
        if not holds:
            raise Difference(what)
