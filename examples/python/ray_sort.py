#!/usr/bin/env python3
"""ray_sort.py [RANKS [N]] - sorts an array whose parts are objects of Ray: its actors are the ranks of echelon.dist.

Ray starts the actors and moves parts to them; torch.distributed connects them. Every actor returns an even share of the
sorted array as an object of Ray, so that no process needs memory for the whole array. The result is compared with that
of one process.

SPDX-License-Identifier: Apache-2.0
"""
import os
import socket
import sys
import time

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # without a warning of Ray

import echelon  # noqa: E402
import numpy as np  # noqa: E402
import ray  # noqa: E402
import torch.distributed  # noqa: E402
from echelon import dist  # noqa: E402

RANKS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
N = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000


@ray.remote
class Rank:
    """A rank. An actor with GPUs passes device="cuda:0" to from_torch(), and sorts tensors on its GPU."""

    def address(self):
        """An address of this process, at which rank 0 introduces the others."""
        with socket.socket() as probe:
            probe.bind(("", 0))
            return f"tcp://{ray.util.get_node_ip_address()}:{probe.getsockname()[1]}"

    def connect(self, address, rank, size):
        torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
        self.comm = dist.from_torch(time_limit=60)

    def sort(self, part):
        """This rank's share of the sorted array."""
        return dist.sort(self.comm, part)


def main():
    ray.init(num_cpus=RANKS, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ranks = [Rank.remote() for _ in range(RANKS)]
    address = ray.get(ranks[0].address.remote())
    ray.get([actor.connect.remote(address, rank, RANKS) for rank, actor in enumerate(ranks)])
    array = np.random.default_rng(1).integers(0, 2**40, N)
    parts = [ray.put(part) for part in np.array_split(array, RANKS)]
    start = time.perf_counter()
    shares = [actor.sort.remote(part) for actor, part in zip(ranks, parts)]
    ray.wait(shares, num_returns=RANKS)
    elapsed = time.perf_counter() - start
    found = ray.get(shares)
    assert np.array_equal(np.concatenate(found), echelon.sort(array)), "the array is not sorted"
    print(f"{N} elements on {RANKS} actors: {1000 * elapsed:.0f} ms; shares of "
          f"{min(map(len, found))} to {max(map(len, found))}")
    ray.shutdown()


if __name__ == "__main__":
    main()
