"""A process of test_dist_processes.py: it is one rank, checks operations of echelon.dist, and prints "ok".

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
import time

import echelon
import numpy as np
from echelon import dist

LIMIT = 20


def make(engine, **options):
    """The communicator of all processes."""
    if engine == "mpi4py":
        from mpi4py import MPI
        return dist.from_mpi4py(MPI.COMM_WORLD, **options)
    if engine == "library":
        return dist.from_library(**options)
    import torch.distributed
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", init_method=sys.argv[3], rank=int(sys.argv[4]),
                                             world_size=int(sys.argv[5]))
    return dist.from_torch(**options)


def operations(engine):
    """Compares results with those for the concatenation."""
    comms = [make(engine), make(engine)]  # two at once
    comm = comms[0]
    whole = np.random.default_rng(1).integers(0, 1000, 30000)
    part = np.array_split(whole, comm.size + 1)[comm.rank + 1] if comm.rank else \
        np.concatenate(np.array_split(whole, comm.size + 1)[:2])
    share = comm.share(len(part))
    mine = slice(share.out_first, share.out_first + share.n_out)
    assert np.array_equal(dist.sort(comm, part), np.sort(whole)[mine])
    assert np.array_equal(dist.sort(comms[1], part, descending=True), np.sort(whole)[::-1][mine])
    assert np.array_equal(dist.argsort(comm, part), np.argsort(whole, kind="stable")[mine])
    assert np.array_equal(dist.rebalance(comm, part), whole[mine])
    assert dist.sum(comms[1], part) == whole.sum() and dist.min(comm, part[:comm.rank]) >= 0
    try:
        dist.sort(comm, [1] if comm.rank else "text")
        raise AssertionError("no failure")
    except echelon.DTypeError:
        pass
    assert dist.sum(comm, [1]) == comm.size
    try:
        make(engine, device="cpu")  # NCCL needs a GPU; all ranks fail, and the engine can still be used
        raise AssertionError("no failure")
    except echelon.UnsupportedError:
        pass
    assert dist.sum(comms[1], [1]) == make(engine).size
    for one in comms:
        one.close()


def abort(engine):
    """A rank aborts while the others wait."""
    comm, begin = make(engine, time_limit=LIMIT), time.monotonic()
    if comm.rank == 0:
        time.sleep(0.3)
        comm.abort("its input is missing")
        return
    try:
        dist.sum(comm, [1])
        raise AssertionError("no failure")
    except echelon.CommunicationError as error:
        assert "rank 0 has aborted it: its input is missing" in str(error), error
    assert time.monotonic() - begin < LIMIT / 2


def slow(engine):
    """A rank does not answer within the time limit."""
    comm = make(engine, time_limit=0.5)
    if comm.rank == 0:
        time.sleep(1.5)
        return
    try:
        dist.sum(comm, [1])
        raise AssertionError("no failure")
    except echelon.CommunicationError:
        pass


def main():
    engine, mode = sys.argv[1:3]
    {"operations": operations, "abort": abort, "slow": slow}[mode](engine)
    print("ok", flush=True)
    if mode != "operations":
        time.sleep(2)
        os._exit(0)  # the libraries would wait for messages of the failed communicator


if __name__ == "__main__":
    main()
