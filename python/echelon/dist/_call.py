"""Call: one call of a distributed operation, which fails on all ranks if it fails on one.

    with Call(comm, "sort") as call:
        view = ...                      checks of this rank: a failure is reported to the other ranks
        share = call.begin(view.size)   collective: raises an exception if a check has failed on any rank
        call.run("ech_dist_sort", ...)  collective
                                        any other failure after begin() aborts the communicator

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._arrays.numpy_family import address
from .._runtime import context as contexts
from .._runtime import errors, native
from .._runtime.call import Job
from .._runtime.errors import ArgumentError, Error
from .._runtime.native import declared as c
from .._runtime.native import functions
from ._communicator import need

EVEN = 2**64 - 1  # ECH_DIST_EVEN
_FAILED = 2**55  # the number of elements that a rank reports whose checks have failed
_UNUSED = ctypes.create_string_buffer(8)  # an array without elements, for libraries whose empty arrays have no address


class DistJob(Job):
    """A Job whose calls use the context of the communicator, if it has one."""

    __slots__ = ("comm",)

    def __init__(self, comm, *views):
        super().__init__(*views)
        self.comm = comm
        if comm._context is None:
            return
        if self.device not in ("cpu", comm.device):
            raise ArgumentError(f"the array is on {self.device}, but the device of this rank is {comm.device}")
        self.context = comm._context

    def call(self, name, *arguments):
        """Calls a function of the library."""
        if self.comm._context is not None and self.context.handle is None:
            raise ArgumentError("the communicator is closed")
        super().call(name, *arguments)


def place(view):
    """The address of an array, which is not NULL."""
    return view.pointer or ctypes.addressof(_UNUSED)


class Call:
    """A call of the function with this name."""

    def __init__(self, comm, name):
        self.comm, self.name = need(comm), name
        self.job, self.begun, self.agreed = None, False, False

    def __enter__(self):
        return self

    def job_of(self, *views):
        """The Job of the call."""
        self.job = DistJob(self.comm, *views)
        return self.job

    def begin(self, n):
        """Reports to the other ranks that the checks of this rank have passed. Returns the Share of n elements."""
        share = self._share(n)
        self.begun = True
        if share.total >= _FAILED:
            self.raise_agreed(self._failure_of_others())
        return share

    def run(self, name, *arguments):
        """Calls a collective function of the library with the context and the communicator."""
        try:
            self.job.call(name, self.comm.handle, *arguments)
        except Exception as error:
            self.agreed = True
            raised = self.comm._error(error)
            if raised is not error:
                raise raised from error
            raise

    def raise_agreed(self, error):
        """Raises an exception that every rank raises here."""
        self.agreed = True
        raise error

    def __exit__(self, kind, error, traceback):
        if error is None or self.agreed or not self.comm._handle:
            return
        if self.begun or not isinstance(error, Exception):
            self.comm.abort(f"{self.name}() failed with {kind.__name__}: {error}")
        else:
            self._report(error)

    # ---- Failures of checks ----

    def _share(self, n):
        try:
            return self.comm.share(n)
        except BaseException:
            self.agreed = True
            raise

    def _report(self, error):
        """Reports the failure of the checks of this rank."""
        name = type(error).__name__ if isinstance(error, Error) else Error.__name__
        try:
            self._share(_FAILED)
            self._gather(f"{name}:rank {self.comm.rank}: {error}".encode(errors="replace") + b"\0")
        except Error:
            pass  # the communicator has failed; the exception of this rank is more useful

    def _failure_of_others(self):
        """The exception of the lowest rank whose checks have failed."""
        text = self._gather(b"").partition(b"\0")[0].decode(errors="replace")
        name, _, message = text.partition(":")
        return getattr(errors, name)(message)

    def _gather(self, text):
        """The texts of all ranks, in the order of ranks."""
        total = self.comm.share(len(text)).total
        mine, everything = np.frombuffer(text + b"\0", np.uint8), np.empty(total, np.uint8)
        context = self.comm._context or contexts.get("cpu")
        options = native.struct(c.ech_topk_options, unsorted=1)
        context.check(functions.ech_dist_topk(context.handle, self.comm.handle, address(mine), address(everything),
                                              None, len(text), total, c.ECH_U8, c.ECH_I64,
                                              ctypes.addressof(options)))
        return everything.tobytes()


def flat_view(job, view):
    """The View, or that of a copy, with one dimension in C order."""
    view = job.contiguous(view)
    if view.ndim != 1:
        view = job.add(view.family.view(view.family.reshape(view.array, (view.size,))))
    return view


def view_of(x, name="x"):
    """The View of an array of any library."""
    return _arrays.view(x, name)
