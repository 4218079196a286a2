"""Communicators, and the functions that make them.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import threading
from typing import NamedTuple

from .._runtime import context as contexts
from .._runtime import native
from .._runtime.arguments import integer, number
from .._runtime.devices import devices
from .._runtime.errors import (ArgumentError, CommunicationError, DTypeError, NoDeviceError, UnsupportedError,
                               from_status)
from .._runtime.native import declared as c
from .._runtime.native import functions
from . import _nccl
from ._transport import Table


class Share(NamedTuple):
    """The part of a rank in an array: Communicator.share().

    total      the number of elements on all ranks together
    first      the position of the first element of this rank's input
    n_out      the number of elements of this rank's even share
    out_first  the position of its first element
    """
    total: int
    first: int
    n_out: int
    out_first: int


class Communicator:
    """Connects the ranks of a distributed operation. One thread at a time may use it.

    rank    the number of this rank
    size    the number of ranks
    device  the device of this rank if the communicator determines it, otherwise None: arrays in host memory are
            processed by the device of echelon.set_device(), other arrays by their GPU

    The functions from_...() make communicators. close() releases it; with MPI and with GPUs of torch.distributed, all
    ranks must call it, or end. A communicator is a context manager that closes itself.
    """

    def __init__(self, handle, device=None, context=None, table=None, over=None):
        self._handle, self._context, self._table, self._over = handle, context, table, over
        self.device = device
        self.rank, self.size = functions.ech_comm_rank(handle), functions.ech_comm_size(handle)

    def __repr__(self):
        state = "" if self._handle else ", closed"
        return f"<Communicator: rank {self.rank} of {self.size}{', ' + self.device if self.device else ''}{state}>"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is not None and self._handle:
            self.abort(f"{kind.__name__}: {error}")
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) and self._table is None and self._over is None:  # others close together
            self.close()

    @property
    def handle(self):
        """The address of the ech_comm."""
        if not self._handle:
            raise ArgumentError("the communicator is closed")
        return self._handle

    def barrier(self):
        """Wait until every rank has called it."""
        self._check(functions.ech_comm_barrier(self.handle))

    def share(self, n):
        """Return the Share of a rank that has n elements. All ranks must call it."""
        layout = native.struct(c.ech_dist_layout)
        n = integer(n, "n", 0, 2**64 - 1)
        self._check(functions.ech_dist_share(self.handle, n, ctypes.addressof(layout)))
        return Share(layout.total, layout.first, layout.n_out, layout.out_first)

    def abort(self, reason):
        """Make the calls of all ranks fail with this reason. A rank that cannot make the next call uses it."""
        functions.ech_comm_abort(self.handle, str(reason).encode(errors="replace"))

    def poll(self):
        """Raise a CommunicationError if the communicator has failed. It does not wait."""
        self._check(functions.ech_comm_poll(self.handle))

    def close(self):
        """Release the communicator."""
        handle, self._handle = self._handle, None
        if handle:
            functions.ech_comm_close(handle)
        if self._over is not None:
            self._over.close()
        self._context = None

    def _check(self, status):
        if status:
            raise self._error(from_status(status, native.error_text()))

    def _error(self, error):
        """The exception of a call, or that of the transport that must be raised in place of it."""
        error.args = (str(error).replace("options->time_limit_s", "time_limit"),)
        raised = self._table.raised() if self._table is not None else None
        if raised is not None:
            return raised
        if isinstance(error, CommunicationError) and self._table is not None:
            error.__cause__ = self._table.failure
        return error


# ---- Constructors ----


def _options(time_limit):
    """The address of the options, or None; the second value keeps them."""
    if time_limit is None:
        return None, None
    seconds = number(time_limit, "time_limit")
    if not seconds > 0:
        raise ArgumentError(f"time_limit is {time_limit!r}, but must be a positive number of seconds")
    options = native.struct(c.ech_comm_options, time_limit_s=seconds)
    return ctypes.addressof(options), options


def _checked(status):
    if status:
        raise from_status(status, native.error_text())


def from_transport(transport, *, device=None, time_limit=None):
    """Make a communicator whose data is moved by an object of Python.

    transport: an object with rank, size, exchange(), allgather(), abort(), poll() and close();
    docs/guide/python-distributed.md describes them. device: "cuda:0" and so on: a GPU of this rank, for arrays in host
    memory or in its memory, exchanged by NCCL; None: arrays may be anywhere, and are exchanged through host memory.
    time_limit: how many seconds a rank waits for the others in one step of a call; None: 300.

    Returns a Communicator, which owns the transport.

    >>> from echelon import dist
    >>> class Single:
    ...     rank, size = 0, 1
    ...     def exchange(self, sends, receives, limit): pass
    ...     def allgather(self, send, receive, limit): receive[:] = send
    ...     def abort(self, reason): pass
    ...     def poll(self): return None
    ...     def close(self): pass
    >>> dist.from_transport(Single())
    <Communicator: rank 0 of 1>
    """
    table, handle = Table(transport), ctypes.c_void_p()
    options, _kept = _options(time_limit)
    _checked(functions.ech_comm_create(ctypes.addressof(handle), ctypes.addressof(table.struct), options))
    return _with_device(Communicator(handle.value, None, None, table), device, time_limit)


def _with_device(comm, device, time_limit):
    """The communicator, or one with NCCL over it for a GPU."""
    if device is None:
        return comm
    try:
        context = contexts.opened(device)
        options, _kept = _options(time_limit)
        handle = ctypes.c_void_p()
        _nccl.load()
        _checked(functions.ech_comm_nccl_over(ctypes.addressof(handle), context.handle, comm.handle, options))
    except BaseException as error:
        comm.abort(f"{type(error).__name__}: {error}")
        comm.close()
        raise
    return Communicator(handle.value, device, context, comm._table, comm)


def from_mpi4py(comm, *, device=None, time_limit=None):
    """Make a communicator with the ranks of an intracommunicator of mpi4py, which is duplicated.

    comm: such as mpi4py.MPI.COMM_WORLD. device and time_limit: as for from_transport(). All ranks must call it.

    Returns a Communicator.
    """
    from ._mpi4py import Transport
    return from_transport(Transport(comm), device=device, time_limit=time_limit)


def from_torch(group=None, *, device=None, time_limit=None):
    """Make a communicator with the ranks of a process group of torch.distributed, whatever its backend is.

    group: None is the default group. device and time_limit: as for from_transport(); give the GPU of this rank for
    tensors in its memory. All ranks of the group must call it.

    Returns a Communicator.
    """
    from ._torch import Transport
    return from_transport(Transport(group), device=device, time_limit=time_limit)


def from_library(library=None, *, device=None, time_limit=None):
    """Make the communicator that a library provides, such as libechelon_mpi.so for the ranks of MPI_COMM_WORLD.

    library: a file name; None: the one that the variable ECHELON_COMM names, or one rank if it is not set. The package
    contains libechelon_mpi.so for MPI libraries with the standard binary interface, such as MPICH 5. device and
    time_limit: as for from_transport().

    Returns a Communicator.

    >>> from echelon import dist
    >>> dist.from_library().rank
    0
    """
    options, _kept = _options(time_limit)
    handle = ctypes.c_void_p()
    name = None if library is None else str(library).encode()
    _checked(functions.ech_comm_open(ctypes.addressof(handle), name, options))
    return _with_device(Communicator(handle.value), device, time_limit)


def _names_of_devices(device, ranks):
    if isinstance(device, str):
        return [device] * ranks
    names = list(device)
    if len(names) != ranks:
        raise ArgumentError(f"device has {len(names)} names, but there are {ranks} ranks")
    return names


def from_threads(ranks, *, device=None, time_limit=None):
    """Make the communicators of several threads of this process, each of which is a rank.

    ranks: the number of ranks, at least 1. device: None: arrays are in host memory; a name, or a list of one name for
    each rank: the devices of the ranks, whose memory may contain the arrays. time_limit: as for from_transport().

    Returns a list of a Communicator for each rank. run() starts the threads.

    >>> import numpy
    >>> from echelon import dist
    >>> parts = [numpy.array([5, 1]), numpy.array([4]), numpy.array([2, 3])]
    >>> dist.run(lambda comm: dist.sort(comm, parts[comm.rank]).tolist(), dist.from_threads(3))
    [[1, 2], [3, 4], [5]]
    """
    ranks = integer(ranks, "ranks", 1, 2**31 - 1)
    names = None if device is None else _names_of_devices(device, ranks)
    opened = [contexts.opened(name) for name in names or ()]
    array = (ctypes.c_void_p * ranks)(*(context.handle for context in opened)) if opened else None
    handles = (ctypes.c_void_p * ranks)()
    options, _kept = _options(time_limit)
    _checked(functions.ech_comm_threads(ctypes.addressof(handles), ctypes.addressof(array) if opened else None, ranks,
                                        options))
    return [Communicator(handles[r], names and names[r], opened[r] if opened else None) for r in range(ranks)]


def from_gpus(*, time_limit=None):
    """Make a communicator for each GPU that this process can use; each GPU is a rank, used by one thread.

    time_limit: as for from_transport().

    Returns a list of communicators, in the order of the GPUs. Raises NoDeviceError if there is no GPU.

    >>> import echelon
    >>> comms = echelon.dist.from_gpus() if len(echelon.devices()) > 1 else echelon.dist.from_threads(2)
    >>> echelon.dist.run(lambda comm: comm.rank, comms)[0]
    0
    """
    names = [device.name for device in devices() if device.name.startswith("cuda")]
    if not names:
        raise NoDeviceError("there is no GPU that the library can use")
    return from_threads(len(names), device=names, time_limit=time_limit)


# ---- Threads ----


def run(function, comms, /, *arguments):
    """Call function(comm, *arguments) in a thread for each communicator of from_threads() or from_gpus().

    function: a function. comms: a list of communicators. arguments: passed to each call.

    Returns the list of results, in the order of comms. If a call raises an exception, the communicators are aborted,
    and run() raises it.

    >>> from echelon import dist
    >>> dist.run(lambda comm, n: comm.rank * n, dist.from_threads(3), 10)
    [0, 10, 20]
    """
    comms = list(comms)
    if not callable(function):
        raise DTypeError(f"function is {type(function).__name__}, but must be callable")
    results, failures = [None] * len(comms), [None] * len(comms)

    def call(i):
        try:
            results[i] = function(comms[i], *arguments)
        except BaseException as error:
            failures[i] = error
            if comms[i]._handle:
                comms[i].abort(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=call, args=(i,), name=f"echelon rank {i}") for i in range(len(comms))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [error for error in failures if error is not None]
    if found:  # a failure of a communicator is the consequence of another one
        raise next((error for error in found if not isinstance(error, CommunicationError)), found[0])
    return results


def need(comm):
    """The argument, if it is a communicator."""
    if not isinstance(comm, Communicator):
        raise DTypeError(f"comm is {type(comm).__name__}, but must be a Communicator")
    if comm._context is not None and comm._context.busy:
        raise UnsupportedError("the communicator is in use by another call")
    return comm
