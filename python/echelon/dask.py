"""Sorts of collections of Dask: the workers of a cluster are the ranks of a communicator (echelon.dist).

The data moves from worker to worker in one exchange, through the connections that Dask has. No worker needs more memory
than for its part and its share of the result.

SPDX-License-Identifier: Apache-2.0
"""
import uuid
from collections.abc import Hashable

import dask.array
import distributed
import numpy as np

from . import dist
from ._dask.transport import Transport, install
from ._runtime.arguments import flag
from ._runtime.errors import ArgumentError, CommunicationError, DTypeError
from ._runtime.public import publish
from .dist._call import view_of

__all__ = ["sort"]
_LIMIT = 300.0


def sort(x, /, *, by=None, descending=False, client=None, time_limit=None):
    """Sort a Dask array with one dimension, or a DataFrame or Series of Dask by the numbers of a column.

    x: a collection. by: the name of the column of a DataFrame. descending: from the largest to the smallest. client: a
    distributed.Client; None: the current one. time_limit: how many seconds a worker waits for the others in one step;
    None: 300.

    Returns a collection like x with one part on each worker of the cluster; an array has no part for a worker without
    elements. It is computed when the function returns, as after persist(). The parts have the same length, or one
    element more or less, also if many keys are equal. The sort is stable, and NaN is the largest value; the rows of a
    DataFrame keep their index. Raises the exception of the worker that fails.

    >>> import dask.array, distributed, echelon.dask, numpy
    >>> with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None):
    ...     y = echelon.dask.sort(dask.array.from_array(numpy.array([3, 1, 2]), chunks=2))
    ...     y.chunks, y.compute()
    (((2, 1),), array([1, 2, 3]))
    """
    options = {"descending": bool(flag(descending, "descending")),
               "limit": _LIMIT if time_limit is None else time_limit}
    client = client or _current()
    if client.asynchronous:
        raise ArgumentError("the client is asynchronous, but sort() waits: call it in a thread, with a synchronous "
                            "client")
    if isinstance(x, dask.array.Array):
        return _sort_array(client, x, by, options)
    kind = type(x).__name__
    if not hasattr(x, "to_delayed") or kind not in ("DataFrame", "Series"):
        raise DTypeError(f"x is {kind}, but must be an array, a DataFrame or a Series of Dask")
    return _sort_frame(client, x, by, options)


def _current():
    try:
        return distributed.default_client()
    except ValueError:
        raise ArgumentError("there is no client: create a distributed.Client first, or pass client") from None


def _sort_array(client, x, by, options):
    if by is not None:
        raise ArgumentError(f"by is {by!r}, but an array has no columns")
    if x.ndim != 1:
        raise ArgumentError(f"x has {x.ndim} dimensions, but must have one")
    view_of(np.empty(0, x.dtype))  # raises the exception here, and not on every worker
    futures = _on_workers(client, x.to_delayed().ravel().tolist(), _sort_arrays, x.dtype, options)
    lengths = client.gather(client.map(len, futures, pure=False))
    return dask.array.concatenate([dask.array.from_delayed(dask.delayed(future), (n,), x.dtype)
                                   for future, n in zip(futures, lengths)])


def _sort_frame(client, x, by, options):
    import dask.dataframe

    frame = x._meta
    if frame.ndim == 1:
        if by is not None:
            raise ArgumentError(f"by is {by!r}, but a Series has no columns")
    elif not isinstance(by, Hashable) or by not in frame.columns:
        raise ArgumentError(f"by is {by!r}, but the columns are {', '.join(map(repr, frame.columns))}")
    _check_column(frame if frame.ndim == 1 else frame[by])
    futures = _on_workers(client, x.to_delayed(), _sort_rows, frame, by, options)
    return dask.dataframe.from_delayed(futures, meta=frame)


def _check_column(column):
    from pandas.api import types

    if not (types.is_numeric_dtype(column) or types.is_datetime64_any_dtype(column)
            or types.is_timedelta64_dtype(column)):
        raise DTypeError(f"column {column.name!r} has dtype {column.dtype}, but must have numbers, times or durations; "
                         "sort_values() of Dask sorts text")


def _on_workers(client, parts, function, *arguments):
    """Runs function(comm, parts of this worker, *arguments) on all workers; returns the futures of the results."""
    computed = client.compute(parts)
    distributed.wait(computed)  # the ranks begin together
    _raise_failures(computed)
    addresses = sorted(client.nthreads())
    if not addresses:
        raise ArgumentError("the cluster has no workers")
    client.run(install, workers=addresses)
    cuts = np.linspace(0, len(parts), len(addresses) + 1).round().astype(int)
    group = uuid.uuid4().hex
    futures = [client.submit(_as_rank, addresses, rank, group, function, computed[cuts[rank]:cuts[rank + 1]],
                             *arguments, workers=[address], allow_other_workers=False, pure=False,
                             key=f"echelon-sort-{group}-{rank}")
               for rank, address in enumerate(addresses)]
    _wait(client, futures, addresses)
    _raise_failures(futures)
    return futures


def _raise_failures(futures):
    """Raises the exception of a task; a failure of a communicator is the consequence of another one."""
    failures = [future.exception() for future in futures if future.status == "error"]
    if failures:
        raise next((error for error in failures if not isinstance(error, CommunicationError)), failures[0])


def _wait(client, futures, addresses):
    """Waits for the ranks. A task that needs a worker that has ended would wait for ever."""
    while True:
        try:
            distributed.wait(futures, timeout=1)
            return
        except (TimeoutError, distributed.TimeoutError):
            lost = sorted(set(addresses) - set(client.nthreads()))
        if lost:
            client.cancel(futures)
            raise CommunicationError(f"the worker {lost[0]} has ended during the sort")


# ---- On a worker ----


def _as_rank(addresses, rank, group, function, parts, *arguments):
    """A task of a worker, which is a rank."""
    worker = distributed.get_worker()
    distributed.secede()  # other tasks of the worker can run while this one waits
    transport = Transport(worker, addresses, rank, group)
    with dist.from_transport(transport, time_limit=arguments[-1]["limit"]) as comm:
        return function(comm, transport, parts, *arguments)


def _sort_arrays(comm, transport, parts, dtype, options):
    part = np.concatenate(parts) if parts else np.empty(0, dtype)
    return dist.sort(comm, part, descending=options["descending"])


def _sort_rows(comm, transport, parts, empty, by, options):
    import pandas

    from ._dask.rows import Exchange, moved

    frame = pandas.concat(parts) if parts else empty
    first = comm.share(len(frame)).first
    keys = (frame if frame.ndim == 1 else frame[by]).to_numpy()
    keys = np.require(keys, requirements="A")  # a part that another worker has sent may be at any address
    _, positions = dist.sort_pairs(comm, keys, np.arange(first, first + len(frame)), descending=options["descending"])
    return moved(Exchange(transport, options["limit"]), frame, positions)


__dir__ = publish(globals())
