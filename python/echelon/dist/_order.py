"""Functions whose result is elements of the array: sort, sort_pairs, argsort, top_k, unique, shuffle, rebalance.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

from .._ops.common import as_dtype_of
from .._ops.sort import index_code, one_dimension, options_of, same_length
from .._ops.time_keys import encoded, restored
from .._runtime import native
from .._runtime.arguments import choice, flag, integer
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c
from ._call import EVEN, Call, place, view_of

_MODES = {"largest": 0, "smallest": 1}


def _room(n_out, share):
    """The number of elements of the result on this rank, and the argument of the library."""
    return (share.n_out, EVEN) if n_out is None else (n_out, n_out)


def _number_out(n_out):
    return None if n_out is None else integer(n_out, "n_out", 0, 2**63 - 1)


def sort(comm, x, /, *, descending=False, n_out=None):
    """Sort the array whose parts are on the ranks.

    comm: a Communicator. x: [n], the part of this rank. descending: from the largest to the smallest. n_out: how many
    elements of the sorted array this rank receives; None, on all ranks: an even share, so that the first ranks have one
    more if the number of elements is not divisible.

    Returns consecutive elements of the sorted array, in the order of ranks: an array like x. Equal keys are divided as
    evenly as different ones. The sort is stable, as that of echelon.sort().

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> dist.sort(comm, numpy.array([3, 1, 2]))
    array([1, 2, 3])
    """
    with Call(comm, "sort") as call:
        view = one_dimension(view_of(x), "x")
        job, options, n_out = call.job_of(view), options_of(descending), _number_out(n_out)
        source = job.contiguous(encoded(job, view))
        n, requested = _room(n_out, call.begin(view.size))
        target = job.empty((n,), view.code, view.kind, view)
        call.run("ech_dist_sort", place(source), place(target), view.size, requested, source.code, options)
        return job.finish(restored(job, target, target))


def sort_pairs(comm, keys, values, /, *, descending=False, n_out=None):
    """Sort keys, and move a value with each key.

    comm: a Communicator. keys: [n], the part of this rank. values: [n] or [n, ...], of any dtype; values[i] belongs to
    keys[i]. descending and n_out: as for sort().

    Returns (keys, values), consecutive elements of the sorted arrays. The sort is stable.

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> dist.sort_pairs(comm, numpy.array([2, 1]), numpy.array([0.5, 0.25]))[1]
    array([0.25, 0.5 ])
    """
    with Call(comm, "sort_pairs") as call:
        view, carried = one_dimension(view_of(keys, "keys"), "keys"), _items(values, "values")
        job, options, n_out = call.job_of(view, carried), options_of(descending), _number_out(n_out)
        same_length(view, carried, "values")
        source, carried = job.contiguous(encoded(job, view)), job.contiguous(carried)
        n, requested = _room(n_out, call.begin(view.size))
        target = job.empty((n,), view.code, view.kind, view)
        result = job.empty((n, *carried.shape[1:]), carried.code, carried.kind, carried)
        call.run("ech_dist_sort_pairs", place(source), place(carried), place(target), place(result), view.size,
                 requested, source.code, _item_bytes(carried), options)
        return job.finish(restored(job, target, target)), job.finish(result)


def argsort(comm, x, /, *, descending=False, dtype=None, n_out=None):
    """Return the positions that sort the array whose parts are on the ranks.

    comm: a Communicator. x: [n], the part of this rank. descending and n_out: as for sort(). dtype: of the result:
    int64 (the default), int32, uint32 or uint64.

    Returns consecutive positions; they count from the first element of rank 0. Equal elements keep their order.

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> dist.argsort(comm, numpy.array([3, 1, 2]))
    array([1, 2, 0])
    """
    with Call(comm, "argsort") as call:
        view = one_dimension(view_of(x), "x")
        job, options, n_out = call.job_of(view), options_of(descending), _number_out(n_out)
        code = index_code(dtype, view.size)
        source = job.contiguous(encoded(job, view))
        n, requested = _room(n_out, call.begin(view.size))
        target = job.empty((n,), code)
        call.run("ech_dist_argsort", place(source), place(target), view.size, requested, source.code, code, options)
        return job.finish(target)


def top_k(comm, x, k, /, *, mode="largest", sorted=True, dtype=None):
    """Select the k largest or smallest elements of the array whose parts are on the ranks.

    comm: a Communicator. x: [n], the part of this rank. k: the same on all ranks, at most the number of elements of all
    ranks. mode: "largest" or "smallest". sorted: whether the best element is first; False: the elements keep their
    order in the array. dtype: of the indices: int64 (the default), int32, uint32 or uint64.

    Returns (values [k], indices [k]) on every rank, as echelon.top_k() does for the concatenation.

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> dist.top_k(comm, numpy.array([3, 1, 4]), 2)
    (array([4, 3]), array([2, 0]))
    """
    with Call(comm, "top_k") as call:
        view = one_dimension(view_of(x), "x")
        job, k, code = call.job_of(view), integer(k, "k", 0, 2**63 - 1), index_code(dtype, view.size)
        options = native.struct(c.ech_topk_options, smallest=choice(mode, _MODES, "mode"),
                                unsorted=1 - flag(sorted, "sorted"))
        source = job.contiguous(encoded(job, view))
        share = call.begin(view.size)
        if k > share.total:
            call.raise_agreed(ArgumentError(f"k is {k}, but the array has {share.total} elements"))
        values, indices = job.empty((k,), view.code), job.empty((k,), code)
        call.run("ech_dist_topk", place(source), place(values), place(indices), view.size, k, source.code, code,
                 ctypes.byref(options))
        return job.finish(as_dtype_of(job, values, view)), job.finish(indices)


def unique(comm, x, /, return_index=False, return_counts=False):
    """Find the distinct elements of the array whose parts are on the ranks.

    comm: a Communicator. x: array of any shape, the part of this rank. return_index: also return the position of the
    first occurrence of each element. return_counts: also return how often each one occurs.

    Returns an even share of the distinct elements in ascending order, or a tuple of it and of the arrays (int64) that
    are also returned.

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> dist.unique(comm, numpy.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    with Call(comm, "unique") as call:
        view = view_of(x)
        job = call.job_of(view)
        wanted = flag(return_index, "return_index"), flag(return_counts, "return_counts")
        source = job.contiguous(encoded(job, view))
        n = call.begin(view.size).n_out
        values = job.empty((n,), view.code, "bool" if view.kind == "bool" else "", view)
        more = [job.empty((n,), c.ECH_I64) if is_wanted else None for is_wanted in wanted]
        layout = native.struct(c.ech_dist_layout)
        call.run("ech_dist_unique", place(source), place(values), *(found and place(found) for found in more),
                 view.size, n, source.code, None, ctypes.addressof(layout))
        found = [restored(job, values, view), *(array for array in more if array is not None)]
        heads = tuple(job.family.result(job.family.head(array.array, layout.n_out)) for array in found)
        return heads if len(heads) > 1 else heads[0]


def shuffle(comm, x, /, *, seed=0, n_out=None):
    """Write the items of the array whose parts are on the ranks in random order.

    comm: a Communicator. x: [n, ...], the part of this rank; an item is x[i]. seed: 0 to 2^64 - 1, the same on all
    ranks. n_out: as for sort().

    Returns consecutive items of echelon.shuffle() with the same seed for the concatenation.

    >>> import numpy
    >>> from echelon import dist
    >>> comm, = dist.from_threads(1)
    >>> sorted(dist.shuffle(comm, numpy.array([3, 4, 5]), seed=1).tolist())
    [3, 4, 5]
    """
    with Call(comm, "shuffle") as call:
        view = _items(x, "x")
        job, seed, n_out = call.job_of(view), integer(seed, "seed", 0, 2**64 - 1), _number_out(n_out)
        return _moved(call, job, view, n_out, "ech_dist_shuffle", seed)


def rebalance(comm, x, /, *, n_out=None):
    """Move items between ranks, in their order, so that each rank has as many as it requests.

    comm: a Communicator. x: [n, ...], the part of this rank; an item is x[i]. n_out: as for sort().

    Returns consecutive items of the array.

    >>> import numpy
    >>> from echelon import dist
    >>> parts = [numpy.arange(3), numpy.arange(3, 4)]
    >>> dist.run(lambda comm: dist.rebalance(comm, parts[comm.rank]).tolist(), dist.from_threads(2))
    [[0, 1], [2, 3]]
    """
    with Call(comm, "rebalance") as call:
        view = _items(x, "x")
        job, n_out = call.job_of(view), _number_out(n_out)
        return _moved(call, job, view, n_out, "ech_dist_rebalance")


def _items(x, name):
    view = view_of(x, name)
    if view.ndim == 0:
        raise ArgumentError(f"{name} has no dimensions, but must have at least one")
    if _item_bytes(view) == 0:
        raise ArgumentError(f"{name} has shape {view.shape}: its items have no elements")
    return view


def _item_bytes(view):
    size = view.itemsize
    for extent in view.shape[1:]:
        size *= extent
    return size


def _moved(call, job, view, n_out, name, *more):
    source = job.contiguous(view)
    n, requested = _room(n_out, call.begin(view.shape[0]))
    target = job.empty((n, *view.shape[1:]), view.code, view.kind, view)
    call.run(name, place(source), place(target), view.shape[0], requested, _item_bytes(view), *more)
    return job.finish(target)
