"""Operations on an array whose parts are on several ranks: GPUs of a process, processes of MPI or torch.distributed.

A Communicator connects the ranks. Every rank calls the same functions in the same order, with its part of the array.
The array is the concatenation of the parts in the order of ranks; a part may be empty. Results have the same bits as
those of the function of the package echelon for the concatenation, for every number of ranks.

If a call fails on one rank, it raises an exception on every rank. A rank that ends or does not answer within the time
limit causes a CommunicationError.

SPDX-License-Identifier: Apache-2.0
"""
from .._runtime.errors import CommunicationError
from .._runtime.public import publish
from ._communicator import (Communicator, Share, from_gpus, from_library, from_mpi4py, from_threads, from_torch,
                            from_transport, run)
from ._numbers import histogram, max, mean, min, quantile, reduce, scan, sum, var
from ._order import argsort, rebalance, shuffle, sort, sort_pairs, top_k, unique

__all__ = ["CommunicationError", "Communicator", "Share", "argsort", "from_gpus", "from_library", "from_mpi4py",
           "from_threads", "from_torch", "from_transport", "histogram", "max", "mean", "min", "quantile", "rebalance",
           "reduce", "run", "scan", "shuffle", "sort", "sort_pairs", "sum", "top_k", "unique", "var"]
__dir__ = publish(globals())
