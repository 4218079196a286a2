"""The transport of a communicator of mpi4py.

All operations are non-blocking, so that a wait can end at its time limit, or when another rank aborts: that rank sends
its reason through a second communicator, which each wait probes.

SPDX-License-Identifier: Apache-2.0
"""
import os
import time

from mpi4py import MPI

from .._runtime.errors import DTypeError
from ._transport import pieces

_PIECE_BYTES = 1 << 30  # MPI counts elements of a message with an int
_SPINS = 2000
_TAG, _TEXT = 1, 240


class Transport:
    """Moves data by MPI."""

    def __init__(self, comm):
        if not isinstance(comm, MPI.Intracomm):
            raise DTypeError(f"comm is {type(comm).__name__}, but must be an intracommunicator of mpi4py")
        self.data, self.control = comm.Dup(), comm.Dup()
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.reason, self.kept = None, []

    def _check_abort(self):
        """Raises an exception if another rank has aborted."""
        status = MPI.Status()
        if self.reason is None and self.control.Iprobe(MPI.ANY_SOURCE, _TAG, status):
            text = bytearray(_TEXT)
            self.control.Recv([text, MPI.BYTE], status.Get_source(), _TAG)
            self.reason = text.rstrip(b"\0").decode(errors="replace")
        if self.reason is not None:
            raise ConnectionError(self.reason)

    def _wait(self, requests, limit):
        end, turn = time.monotonic() + limit, 0
        while not MPI.Request.Testall(requests):
            turn += 1
            if turn % 16 == 0:
                self._check_abort()
                if time.monotonic() > end:
                    raise TimeoutError(f"rank {self.rank} waited {limit:g} s for another rank; raise time_limit if it "
                                       "still works")
            if turn < _SPINS:
                os.sched_yield()
            else:
                time.sleep(20e-6)

    def allgather(self, send, receive, limit):
        self._check_abort()
        if len(receive) > _PIECE_BYTES:
            n = len(send)
            self.exchange([(r, send) for r in range(self.size) if r != self.rank],
                          [(r, receive[r * n:(r + 1) * n]) for r in range(self.size) if r != self.rank], limit)
            receive[self.rank * n:(self.rank + 1) * n] = send
            return
        # MPI may access the buffers after a failure, so they belong to this object.
        self.kept = [bytearray(send), bytearray(len(receive))]
        self._wait([self.data.Iallgather([self.kept[0], MPI.BYTE], [self.kept[1], MPI.BYTE])], limit)
        receive[:] = self.kept[1]

    def exchange(self, sends, receives, limit):
        self._check_abort()
        requests = []
        try:
            for rank, _, data in pieces(receives, _PIECE_BYTES):
                requests.append(self.data.Irecv([data, MPI.BYTE], rank, _TAG))
            for rank, _, data in pieces(sends, _PIECE_BYTES):
                requests.append(self.data.Isend([data, MPI.BYTE], rank, _TAG))
            self._wait(requests, limit)
        except BaseException:
            self._cancel(requests)
            raise

    @staticmethod
    def _cancel(requests):
        """MPI must not access the memory of messages any more."""
        end = time.monotonic() + 1
        for request in requests:
            if request != MPI.REQUEST_NULL:
                request.Cancel()
        while not MPI.Request.Testall(requests) and time.monotonic() < end:
            time.sleep(20e-6)

    def poll(self):
        try:
            self._check_abort()
        except ConnectionError:
            pass
        return self.reason

    def abort(self, reason):
        """Sends the reason without waiting."""
        self.reason = self.reason or reason
        text = self.reason.encode()[:_TEXT - 1].ljust(_TEXT, b"\0")
        self.kept.append(text)
        self.kept += [self.control.Isend([text, MPI.BYTE], rank, _TAG)
                      for rank in range(self.size) if rank != self.rank]

    def close(self):
        if self.reason is None:  # otherwise MPI may still use them
            self.data.Free()
            self.control.Free()
