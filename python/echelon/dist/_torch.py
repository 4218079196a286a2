"""The transport of a process group of torch.distributed.

It makes a group of its own with the backend gloo, which moves data in host memory. A rank that aborts writes its reason
to the store of the default group, and closes its connections, so that the others fail at once.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import time

import torch
import torch.distributed as torch_dist

from .._runtime.errors import DTypeError
from ._transport import pieces

_PIECE_BYTES = 1 << 30


def _tensor(data):
    return torch.frombuffer(data, dtype=torch.uint8)


def ranks_of(group):
    """The ranks of a group in the default group."""
    if not torch_dist.is_available() or not torch_dist.is_initialized():
        raise RuntimeError("torch.distributed is not initialised: call torch.distributed.init_process_group()")
    if group is not None and not isinstance(group, torch_dist.ProcessGroup):
        raise DTypeError(f"group is {type(group).__name__}, but must be a process group of torch.distributed")
    return torch_dist.get_process_group_ranks(group or torch_dist.group.WORLD)


class Transport:
    """Moves data by gloo."""

    def __init__(self, group=None):
        self.ranks = ranks_of(group)
        self.group = torch_dist.new_group(self.ranks, backend="gloo", use_local_synchronization=True)
        self.rank, self.size = torch_dist.get_rank(self.group), len(self.ranks)
        self.store = getattr(torch_dist.distributed_c10d, "_get_default_store", lambda: None)()
        self.key, self.reason = f"echelon/{self.group.group_name}", None

    def _wait(self, works, limit):
        end = time.monotonic() + limit
        try:
            for work in works:
                work.wait(datetime.timedelta(seconds=max(end - time.monotonic(), 0.001)))
        except RuntimeError as error:
            if time.monotonic() >= end:
                raise TimeoutError(f"rank {self.rank} waited {limit:g} s for another rank; raise time_limit if it "
                                   "still works") from error
            raise ConnectionError(self.poll() or f"another rank has ended: {error}") from error

    def allgather(self, send, receive, limit):
        n = len(send)
        self.exchange([(r, send) for r in range(self.size) if r != self.rank],
                      [(r, receive[r * n:(r + 1) * n]) for r in range(self.size) if r != self.rank], limit)
        receive[self.rank * n:(self.rank + 1) * n] = send

    def exchange(self, sends, receives, limit):
        if self.reason is not None or self.group is None:
            raise ConnectionError(self.reason or "the communicator is closed")
        try:
            works = [torch_dist.irecv(_tensor(data), self.ranks[rank], self.group, number)
                     for rank, number, data in pieces(receives, _PIECE_BYTES)]
            works += [torch_dist.isend(_tensor(data), self.ranks[rank], self.group, number)
                      for rank, number, data in pieces(sends, _PIECE_BYTES)]
        except RuntimeError as error:
            raise ConnectionError(self.poll() or f"another rank has ended: {error}") from error
        self._wait(works, limit)

    def poll(self):
        if self.reason is None and self.store is not None:
            try:
                if self.store.check([self.key]):
                    self.reason = self.store.get(self.key).decode(errors="replace")
            except Exception:  # the process of the store has ended
                self.store = None
        return self.reason

    def abort(self, reason):
        if self.reason is None and self.poll() is None:
            self.reason = reason
            if self.store is not None:
                try:
                    self.store.set(self.key, reason)
                except Exception:  # the process of the store has ended
                    self.store = None
        self.close()

    def close(self):
        """Closes the connections of this rank, when the last reference to the group is released."""
        if self.group is not None and torch_dist.is_initialized():
            group, self.group = self.group, None
            torch_dist.destroy_process_group(group)
