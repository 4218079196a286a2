"""A communicator whose data is moved by Python: the table of functions that calls a transport.

A transport is an object with the attributes rank and size and these methods, which raise an exception on failure:

    exchange(sends, receives, limit)  sends and receives are lists of (rank, memoryview); the messages between two
                                      ranks are matched in their order; limit: seconds
    allgather(send, receive, limit)   receive has size times the bytes of send
    abort(reason)                     makes the calls of other ranks fail, if that is possible
    poll()                            the reason of a failure, or None
    close()                           releases what the transport owns

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .._runtime import native
from .._runtime.native import declared as c

_KINDS = dict(c.ech_comm_table._fields_)
_FAILED = 7  # ECH_ERR_COMM


def memory(address, size):
    """The bytes at an address as a memoryview."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B") if size else memoryview(b"")


def _messages(address, count):
    """The list of (rank, memoryview) of an array of ech_comm_message, without empty messages."""
    if not count:
        return []
    array = (c.ech_comm_message * count).from_address(address)
    return [(message.rank, memory(message.data, message.bytes)) for message in array if message.bytes]


class Table:
    """The functions of an ech_comm_table. The exceptions of the transport are kept; they must not leave a callback."""

    def __init__(self, transport):
        self.transport, self.failure = transport, None
        functions = {"allgather": self.allgather, "exchange": self.exchange, "poll": self.poll, "abort": self.abort,
                     "close": self.close}
        self.callbacks = {name: _KINDS[name](function) for name, function in functions.items()}
        self.struct = native.struct(c.ech_comm_table, rank=transport.rank, ranks=transport.size, **self.callbacks)

    def step(self, function, *arguments):
        """Calls a method of the transport; returns the status."""
        try:
            function(*arguments)
            return 0
        except BaseException as error:  # also KeyboardInterrupt, which the call raises again
            self.failure = self.failure or error
            return _FAILED

    def allgather(self, _, send, receive, size, limit):
        ranks = self.transport.size
        return self.step(self.transport.allgather, memory(send, size), memory(receive, ranks * size), limit)

    def exchange(self, _, sends, n_sends, receives, n_receives, stream, limit):
        def move():
            self.transport.exchange(*without_own(self.transport.rank, _messages(sends, n_sends),
                                                 _messages(receives, n_receives)), limit)

        return self.step(move)

    def poll(self, _, message, capacity):
        reason = str(self.failure) or type(self.failure).__name__ if self.failure else None
        try:
            reason = reason or self.transport.poll()
        except Exception as error:
            reason = str(error)
        if message and capacity:
            text = (reason or "").encode(errors="replace")[:capacity - 1] + b"\0"
            ctypes.memmove(message, text, len(text))
        return _FAILED if reason else 0

    def abort(self, _, reason):
        self.step(self.transport.abort, (reason or b"").decode(errors="replace"))

    def close(self, _):
        self.step(self.transport.close)

    def raised(self):
        """An exception of the transport that must be raised again, such as KeyboardInterrupt, or None."""
        failure = self.failure
        return failure if failure is not None and not isinstance(failure, Exception) else None


def without_own(rank, sends, receives):
    """Copies the messages of this rank to itself, and returns the others."""
    own = [data for to, data in sends if to == rank]
    for data in (data for source, data in receives if source == rank):
        data[:] = own.pop(0)
    return [pair for pair in sends if pair[0] != rank], [pair for pair in receives if pair[0] != rank]


def pieces(messages, most):
    """(rank, number, memoryview) of pieces of at most `most` bytes; the number counts the pieces of a rank."""
    counts = {}
    for rank, data in messages:
        for start in range(0, len(data), most):
            yield rank, counts.setdefault(rank, 0), data[start:start + most]
            counts[rank] += 1
