"""echelon.dist with threads as ranks: results are those of the functions without dist for the concatenation.

SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import echelon
import numpy as np
import pytest
from conftest import same
from echelon import dist
from echelon._runtime import native
from echelon.dist import _nccl

RANKS = [1, 2, 3, 7]


def divided(x, ranks, rng):
    """Parts of an array for each rank; some are empty."""
    return np.split(x, np.sort(rng.integers(0, len(x) + 1, ranks - 1)))


def all_ranks(ranks, function, **options):
    """The results of function(comm) of all ranks."""
    comms = dist.from_threads(ranks, **options)
    try:
        return dist.run(function, comms)
    finally:
        for comm in comms:
            comm.close()


def data(dtype, n, rng):
    x = rng.integers(0, 50, n)
    if dtype == "datetime64[s]":
        return np.where(x == 7, np.datetime64("NaT", "s"), x.astype(dtype))
    return np.where(x == 7, np.nan, x).astype(dtype) if dtype.startswith("f") else x.astype(dtype)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64", "bool", "datetime64[s]"])
def test_order(ranks, dtype, rng):
    x = data(dtype, 500, rng)
    parts = divided(x, ranks, rng)
    values = np.arange(1000, dtype="int16").reshape(500, 2)
    carried = np.split(values, np.cumsum([len(part) for part in parts])[:-1])

    def calls(comm):
        mine = parts[comm.rank]
        return (dist.sort(comm, mine), dist.sort(comm, mine[::-1], descending=True),
                dist.argsort(comm, mine, dtype="uint32"), *dist.sort_pairs(comm, mine, carried[comm.rank]),
                dist.rebalance(comm, mine), dist.shuffle(comm, carried[comm.rank], seed=5),
                *dist.unique(comm, mine, return_index=True, return_counts=True))

    found = [np.concatenate(arrays) for arrays in zip(*all_ranks(ranks, calls))]
    unique = echelon.unique(x, return_index=True, return_counts=True)
    expected = [echelon.sort(x), echelon.sort(x, descending=True), echelon.argsort(x, dtype="uint32"),
                *echelon.sort_pairs(x, values), x, echelon.shuffle(values, seed=5), *unique]
    for one, other in zip(found, expected):
        same(one, other)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_numbers(ranks, dtype, rng):
    x = data(dtype, 500, rng)
    parts = divided(x, ranks, rng)

    def calls(comm):
        mine = parts[comm.rank]
        return ([dist.top_k(comm, mine, 7), dist.top_k(comm, mine, 7, mode="smallest", sorted=False)],
                [dist.sum(comm, mine), dist.sum(comm, mine, dtype="float64"), dist.min(comm, mine),
                 dist.max(comm, mine), dist.mean(comm, mine), dist.var(comm, mine, correction=1.5),
                 dist.reduce(comm, "argmax", mine), dist.reduce(comm, "max", mine, ignore_nan=True),
                 dist.reduce(comm, "std", mine, correction=1),
                 dist.reduce(comm, "var", mine, ignore_nan=True, correction=2)],
                dist.histogram(comm, mine, 7, range=(0, 40)), dist.histogram(comm, mine, [0, 2.5, 9]),
                dist.quantile(comm, mine, [[0.1, 0.5]], ignore_nan=True), dist.quantile(comm, mine, 0.5),
                dist.scan(comm, mine, "max", init=5), dist.scan(comm, mine, reverse=True, exclusive=True))

    found = all_ranks(ranks, calls)
    top, numbers, equal, edges, quantiles, median, maxima, sums = zip(*found)
    nanmax = echelon.nanmax(x) if x.dtype.kind == "f" else echelon.max(x)
    for one in top:
        for pair, other in zip(one, (echelon.top_k(x, 7), echelon.top_k(x, 7, mode="smallest", sorted=False))):
            same(pair[0], other[0])
            same(pair[1], other[1])
    for one in numbers:
        expected = [echelon.sum(x), echelon.sum(x, dtype="float64"), echelon.min(x), echelon.max(x), echelon.mean(x),
                    echelon.var(x, correction=1.5), echelon.argmax(x), nanmax, echelon.std(x, correction=1),
                    echelon.nanvar(x, correction=2)]
        for result, other in zip(one, expected):
            same(np.asarray(result), np.asarray(other))
    for i in range(ranks):
        for pair, other in ((equal[i], echelon.histogram(x, 7, range=(0, 40))),
                            (edges[i], echelon.histogram(x, [0, 2.5, 9]))):
            same(pair[0], other[0])
            same(pair[1], other[1])
        same(quantiles[i], echelon.nanquantile(x, [[0.1, 0.5]]))
        same(np.asarray(median[i]), np.asarray(echelon.quantile(x, 0.5)))
    same(np.concatenate(maxima), echelon.scan(x, "max", init=5))
    same(np.concatenate(sums), echelon.scan(x, reverse=True, exclusive=True))


def test_range_and_weights():
    parts = [np.array([3, 1]), np.array([], int), np.array([9])]
    counts, edges = all_ranks(3, lambda comm: dist.histogram(comm, parts[comm.rank], 4,
                                                             weights=parts[comm.rank] * 10))[1]
    assert counts.tolist() == [10, 30, 0, 90] and edges.tolist() == [1, 3, 5, 7, 9]


def test_shares():
    def calls(comm):
        share = comm.share(comm.rank)
        part = dist.sort(comm, np.arange(comm.rank), n_out=comm.rank)
        comm.barrier()
        return share, len(part), comm.rank, comm.size

    assert all_ranks(3, calls)[2] == (dist.Share(3, 1, 1, 2), 2, 2, 3)


@pytest.mark.parametrize("device", ["cpu", ["cpu", "cpu"]])
def test_device(device):
    found = all_ranks(2, lambda comm: (comm.device, dist.sort(comm, [2, 1 + comm.rank]).tolist()), device=device)
    assert found == [("cpu", [1, 2]), ("cpu", [2, 2])]


def test_torch():
    torch = pytest.importorskip("torch")
    found = all_ranks(2, lambda comm: dist.sort(comm, torch.tensor([2.0] * comm.rank)))
    assert found[0].tolist() == [2.0] and found[1].shape == (0,) and isinstance(found[1], torch.Tensor)


def failures(ranks, function, **options):
    """The exceptions of all ranks, and of dist.sum() afterwards."""
    def calls(comm):
        try:
            function(comm)
        except Exception as error:
            found = error
        try:
            return found, int(dist.sum(comm, [1]))
        except Exception as error:
            return found, error

    return all_ranks(ranks, calls, **options)


def test_failed_check():
    """A rank with an invalid argument makes all ranks fail, and the communicator can still be used."""
    found = failures(3, lambda comm: dist.sort(comm, ["a"] if comm.rank == 1 else [1]))
    assert all(isinstance(error, echelon.DTypeError) and total == 3 for error, total in found)
    assert str(found[0][0]) == str(found[2][0]) == "rank 1: " + str(found[1][0])
    found = failures(2, lambda comm: dist.min(comm, np.zeros(0)))
    assert all(isinstance(error, echelon.ArgumentError) and total == 2 for error, total in found)


def test_different_calls():
    found = failures(2, lambda comm: dist.sort(comm, np.zeros(1, "f4" if comm.rank else "f8")))
    assert all("dtype is f32 on rank 1, but f64 on rank 0" in str(error) and total == 2 for error, total in found)
    found = failures(2, lambda comm: dist.sort(comm, [1], n_out=comm.rank))
    assert all("n_out" in str(error) and total == 2 for error, total in found)
    found = failures(2, lambda comm: dist.top_k(comm, [1], 3))
    assert all(str(error) == "k is 3, but the array has 2 elements" and total == 2 for error, total in found)


def test_slow_rank():
    begin = time.monotonic()
    with pytest.raises(echelon.CommunicationError, match="did not answer within 0.2 s; raise time_limit"):
        all_ranks(2, lambda comm: time.sleep(0.6) if comm.rank else dist.sum(comm, [1]), time_limit=0.2)
    assert time.monotonic() - begin < 5 and issubclass(echelon.CommunicationError, ConnectionError)


def test_exception_of_a_rank():
    def calls(comm):
        if comm.rank == 1:
            raise KeyError("lost")
        return dist.sum(comm, [1])

    with pytest.raises(KeyError, match="lost"):
        all_ranks(3, calls)
    comms = dist.from_threads(2)
    comms[0].abort("no input")
    with pytest.raises(echelon.CommunicationError, match="rank 0 has aborted it: no input"):
        comms[1].poll()


def test_invalid_arguments():
    for call, error in ((lambda: dist.from_threads(0), echelon.ArgumentError),
                        (lambda: dist.from_threads(1, time_limit=0), echelon.ArgumentError),
                        (lambda: dist.from_threads(2, device=["cpu"]), echelon.ArgumentError),
                        (lambda: dist.from_library("/nonexistent.so"), echelon.UnsupportedError),
                        (lambda: dist.sort(None, [1]), echelon.DTypeError)):
        with pytest.raises(error):
            call()
    comm, = dist.from_threads(1)
    with comm:
        assert dist.sort(comm, [2, 1]).tolist() == [1, 2]
    with pytest.raises(echelon.ArgumentError, match="closed"):
        dist.sort(comm, [1])


# ---- A transport of Python ----


class Queues:
    """A transport between threads."""

    def __init__(self, rank, boxes, condition):
        self.rank, self.size, self.boxes, self.condition, self.reason = rank, len(boxes), boxes, condition, None
        self.closed = 0

    def exchange(self, sends, receives, limit):
        with self.condition:
            for rank, data in sends:
                self.boxes[rank].setdefault(self.rank, []).append(bytes(data))
            self.condition.notify_all()
            for rank, data in receives:
                box = self.boxes[self.rank].setdefault(rank, [])
                if not self.condition.wait_for(lambda: box, limit):
                    raise TimeoutError(f"rank {rank} is silent")
                data[:] = box.pop(0)

    def allgather(self, send, receive, limit):
        n = len(send)
        self.exchange([(r, send) for r in range(self.size)],
                      [(r, receive[r * n:(r + 1) * n]) for r in range(self.size)], limit)

    def abort(self, reason):
        self.reason = self.reason or reason

    def poll(self):
        return self.reason

    def close(self):
        self.closed += 1


def transports(ranks):
    boxes, condition = [{} for _ in range(ranks)], threading.Condition()
    return [Queues(rank, boxes, condition) for rank in range(ranks)]


def test_transport():
    moving = transports(3)
    comms = [dist.from_transport(transport) for transport in moving]
    assert dist.run(lambda comm: dist.sort(comm, [5 - comm.rank, 1]).tolist(), comms) == [[1, 1], [1, 3], [4, 5]]
    for comm in comms:
        comm.close()
        comm.close()
    assert [transport.closed for transport in moving] == [1, 1, 1]


def test_transport_that_fails():
    moving = transports(2)
    comms = [dist.from_transport(transport, time_limit=0.2) for transport in moving]
    with pytest.raises(echelon.CommunicationError, match="rank 1 is silent") as caught:
        dist.sum(comms[0], [1])
    assert isinstance(caught.value.__cause__, TimeoutError)

    def interrupted(sends, receives, limit):
        raise KeyboardInterrupt

    moving[1].exchange = interrupted
    with pytest.raises(KeyboardInterrupt):
        dist.sum(comms[1], [1])


# ---- NCCL ----


def test_nccl_of_a_package(tmp_path, monkeypatch):
    """The files of the packages of NCCL are found, in the order of sys.path, without other packages named nvidia."""
    folders = [tmp_path / name for name in ("one", "two", "without", "another")]
    for folder, part in zip(folders, ("nccl/lib", "nccl/lib", "cublas/lib", ".")):
        (folder / "nvidia" / part).mkdir(parents=True)
    for folder in folders[:2]:
        (folder / "nvidia/nccl/lib/libnccl.so.2").touch()
    (folders[3] / "nvidia/__init__.py").touch()
    for name in [name for name in sys.modules if name.partition(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(folder) for folder in (folders[2], *folders[:2])])
    assert _nccl.packaged() == [f"{folder}/nvidia/nccl/lib/libnccl.so.2" for folder in folders[:2]]
    for path in ([], [str(folders[2])], [str(folders[3])]):
        monkeypatch.setattr(sys, "path", path)
        sys.modules.pop("nvidia", None)
        assert _nccl.packaged() == []
    sys.modules.pop("nvidia", None)


ON_THE_EMULATOR = """
from concurrent.futures import ThreadPoolExecutor
from test_dist import dist, transports
with ThreadPoolExecutor(2) as threads:
    comms = list(threads.map(lambda transport: dist.from_transport(transport, device="simt"), transports(2)))
print(dist.run(lambda comm: (comm.device, dist.sort(comm, [5 - comm.rank, 1]).tolist()), comms))
"""


@pytest.mark.parametrize("named", [False, True])
def test_nccl(named, tmp_path):
    """A communicator of a device uses the NCCL of a package, unless ECHELON_NCCL names another one."""
    build, source = Path(native.path).resolve().parent, Path(__file__).parents[2]
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not (build / "libechelon_simt.so").exists():
        pytest.skip("there is no C compiler or no emulator")
    library = tmp_path / "nvidia/nccl/lib/libnccl.so.2"
    library.parent.mkdir(parents=True)
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libnccl.so.2", "-o", str(library),
                    str(source / "tests/fake_libnccl.c"), f"-L{build}", "-lechelon_simt", "-lpthread"], check=True)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", ON_THE_EMULATOR], text=True, capture_output=True, env={
        **os.environ, "PYTHONPATH": path, "LD_LIBRARY_PATH": str(build), "ECHELON_NCCL": "absent.so" if named else ""})
    if named:
        assert "rank 0: NCCL was not found: absent.so" in done.stderr, done.stdout
    else:
        assert done.stdout == "[('simt', [1, 1]), ('simt', [4, 5])]\n", done.stderr


@pytest.mark.gpu
def test_gpus(rng):
    """Each GPU is a rank; with one GPU, it is two ranks."""
    torch = pytest.importorskip("torch")
    count = torch.cuda.device_count()
    comms = dist.from_gpus() if count > 1 else dist.from_threads(2, device="cuda:0")
    x = rng.integers(0, 1000, 300000).astype("int32")
    parts = [torch.tensor(part, device=comm.device) for part, comm in zip(np.array_split(x, len(comms)), comms)]

    def calls(comm):
        part = parts[comm.rank]
        return (dist.sort(comm, part), dist.argsort(comm, part), dist.sum(comm, part), dist.sort(comm, part.cpu()),
                dist.top_k(comm, part, 9)[0], dist.scan(comm, part, dtype="int64"))

    found = dist.run(calls, comms)
    assert found[0][0].device == parts[0].device and found[0][3].device.type == "cpu"
    columns = [[result.cpu() for result in column] for column in zip(*found)]
    assert np.array_equal(torch.cat(columns[0]), np.sort(x)) and np.array_equal(torch.cat(columns[3]), np.sort(x))
    assert np.array_equal(torch.cat(columns[1]), np.argsort(x, kind="stable"))
    assert all(int(total) == x.sum() for total in columns[2])
    assert np.array_equal(columns[4][1], np.sort(x)[:-10:-1])
    assert np.array_equal(torch.cat(columns[5]), np.cumsum(x.astype("int64")))
    for comm in comms:
        comm.close()
