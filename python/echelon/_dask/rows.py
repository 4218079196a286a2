"""Rows of data frames that move to other ranks.

SPDX-License-Identifier: Apache-2.0
"""
import pickle

import numpy as np
import pandas


class Exchange:
    """Exchanges objects with all ranks by a transport."""

    def __init__(self, transport, limit):
        self.transport, self.limit = transport, limit

    def numbers(self, values):
        """[ranks][k] of an array [k] of int64 of each rank."""
        values = np.ascontiguousarray(values, np.int64)
        found = np.empty((self.transport.size, values.size), np.int64)
        self.transport.allgather(memoryview(values).cast("B"), memoryview(found).cast("B"), self.limit)
        return found

    def everything(self, buffers):
        """The buffers that all ranks have for this rank; buffers[r] is for rank r."""
        rank = self.transport.rank
        sizes = self.numbers([len(buffer) for buffer in buffers])[:, rank]
        found = [bytearray(size) for size in sizes]
        self.transport.exchange([(r, memoryview(data)) for r, data in enumerate(buffers) if r != rank and len(data)],
                                [(r, memoryview(data)) for r, data in enumerate(found) if r != rank and len(data)],
                                self.limit)
        found[rank] = buffers[rank]
        return found


def moved(exchange, frame, positions):
    """The rows at these positions of the concatenation of the frames of all ranks."""
    ends = np.cumsum(exchange.numbers([len(frame)])[:, 0])
    owners = np.searchsorted(ends, positions, side="right")
    order = np.argsort(owners, kind="stable")
    cuts = np.searchsorted(owners[order], np.arange(len(ends) + 1))
    wanted = [(positions[order[a:b]] - (ends[r - 1] if r else 0)).astype(np.int64)
              for r, (a, b) in enumerate(zip(cuts, cuts[1:]))]
    requests = exchange.everything([rows.tobytes() for rows in wanted])
    answers = exchange.everything([pickle.dumps(frame.take(np.frombuffer(rows, np.int64)), 5) for rows in requests])
    received = pandas.concat([pickle.loads(answer) for answer in answers])
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.arange(len(order))
    return received.take(inverse)
