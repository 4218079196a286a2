"""The transport of workers of Dask: messages are remote procedure calls between workers.

Each worker has a mailbox, to which its handlers for the messages of other workers write. Messages are sent in pieces,
so that none occupies the event loop for long.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import concurrent.futures

import numpy as np
from distributed.protocol import to_serialize

from ..dist._transport import pieces

_PIECE_BYTES = 32 << 20
_NAME = "echelon"


class Mailbox:
    """The messages that have arrived at a worker: in the event loop of the worker."""

    def __init__(self, worker):
        self.waiting, self.reasons = {}, {}  # by group
        worker.handlers["echelon_message"] = self.message
        worker.handlers["echelon_abort"] = self.abort

    def slot(self, group, source, number):
        """The future of one message."""
        slots = self.waiting.setdefault(group, {})
        if (source, number) not in slots:
            slots[source, number] = asyncio.get_running_loop().create_future()
            if group in self.reasons:
                slots[source, number].set_exception(ConnectionError(self.reasons[group]))
        return slots[source, number]

    async def message(self, group, source, number, data):
        slot = self.slot(group, source, number)
        if not slot.done():
            slot.set_result(np.array(data))  # a worker of the same process sends its own memory

    async def abort(self, group, reason):
        self.reasons.setdefault(group, reason)
        for slot in self.waiting.get(group, {}).values():
            if not slot.done():
                slot.set_exception(ConnectionError(reason))

    async def receive(self, group, source, number, data):
        try:
            data[:] = memoryview(await self.slot(group, source, number)).cast("B")
        finally:
            self.waiting.get(group, {}).pop((source, number), None)

    def forget(self, group):
        for slot in self.waiting.pop(group, {}).values():
            if slot.done():
                slot.exception()  # it has been reported
        self.reasons.pop(group, None)


async def install(dask_worker):
    """Prepares a worker, in its event loop. The argument has the name that Client.run() fills."""
    if _NAME not in dask_worker.extensions:
        dask_worker.extensions[_NAME] = Mailbox(dask_worker)


class Transport:
    """Moves data between workers; it is used by a thread that is not that of the event loop."""

    def __init__(self, worker, addresses, rank, group):
        self.worker, self.addresses, self.rank, self.group = worker, addresses, rank, group
        self.size, self.reason = len(addresses), None
        self.mailbox = worker.extensions[_NAME]
        self.sent, self.received = [0] * self.size, [0] * self.size

    def _wait(self, coroutine, limit):
        future = asyncio.run_coroutine_threadsafe(coroutine, self.worker.loop.asyncio_loop)
        try:
            return future.result(limit)
        except (TimeoutError, concurrent.futures.TimeoutError):
            future.cancel()
            raise TimeoutError(f"rank {self.rank} waited {limit:g} s for another worker; raise time_limit if it still "
                               "works") from None

    def _numbered(self, messages, counts):
        """(rank, number, memoryview); the numbers continue those of earlier calls."""
        for rank, _, data in pieces(messages, _PIECE_BYTES):
            yield rank, counts[rank], data
            counts[rank] += 1

    async def _send(self, rank, number, data):
        await self.worker.rpc(self.addresses[rank]).echelon_message(
            group=self.group, source=self.rank, number=number, data=to_serialize(np.frombuffer(data, np.uint8)))

    async def _exchange(self, sends, receives):
        tasks = [asyncio.ensure_future(self._send(*piece)) for piece in sends]
        tasks += [asyncio.ensure_future(self.mailbox.receive(self.group, *piece)) for piece in receives]
        try:
            await asyncio.gather(*tasks)
        except BaseException:  # also a cancellation: no task may access the memory of a message any more
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    def exchange(self, sends, receives, limit):
        if self.reason is not None:
            raise ConnectionError(self.reason)
        self._wait(self._exchange(list(self._numbered(sends, self.sent)),
                                  list(self._numbered(receives, self.received))), limit)

    def allgather(self, send, receive, limit):
        n, others = len(send), [r for r in range(self.size) if r != self.rank]
        self.exchange([(r, send) for r in others], [(r, receive[r * n:(r + 1) * n]) for r in others], limit)
        receive[self.rank * n:(self.rank + 1) * n] = send

    async def _tell(self, reason):
        async def tell(address):
            await self.worker.rpc(address).echelon_abort(group=self.group, reason=reason)

        await asyncio.gather(*(tell(address) for r, address in enumerate(self.addresses) if r != self.rank),
                             return_exceptions=True)

    def abort(self, reason):
        if self.reason is None:
            self.reason = reason
            try:
                self._wait(self._tell(reason), 5)
            except TimeoutError:
                pass  # of a worker that does not answer; the others know

    def poll(self):
        return self.reason or self.mailbox.reasons.get(self.group)

    def close(self):
        self.worker.loop.add_callback(self.mailbox.forget, self.group)
