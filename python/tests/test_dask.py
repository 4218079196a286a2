"""echelon.dask with workers in this process, and with worker processes.

SPDX-License-Identifier: Apache-2.0
"""
import os
import types

import echelon
import numpy as np
import pytest

dask_array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
import echelon.dask  # noqa: E402

LONG = pytest.mark.skipif(not os.environ.get("ECHELON_TEST_LONG"), reason="a long test: set ECHELON_TEST_LONG")


def opened(workers, processes=False):
    return distributed.Client(n_workers=workers, threads_per_worker=1, processes=processes, dashboard_address=None)


@pytest.fixture(scope="module")
def client():
    with opened(3) as found:
        yield found


@pytest.mark.parametrize("n, chunk", [(1000, 130), (2, 1), (0, 1)])
def test_array(client, rng, n, chunk):
    x = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 50, n))
    y = echelon.dask.sort(dask_array.from_array(x, chunks=chunk), descending=n > 2)
    lengths = y.chunks[0]
    assert sum(lengths) == n and max(lengths) - min(lengths) <= 1 and y.dtype == x.dtype
    assert np.array_equal(y.compute(), echelon.sort(x, descending=n > 2), equal_nan=True)


def test_computed_array(client):
    x = dask_array.arange(100000, chunks=7000) * 7919 % 100003
    assert np.array_equal(echelon.dask.sort(x).compute(), np.sort(x.compute()))


@pytest.mark.parametrize("partitions", [1, 7])
def test_frame(client, rng, partitions):
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame({"key": rng.integers(0, 20, 200), "name": [f"row {i}" for i in range(200)],
                              "time": pandas.date_range("2026-01-01", periods=200, tz="UTC")})
    collection = frames.from_pandas(frame, npartitions=partitions)
    frame = collection.compute()  # strings may have another dtype
    pandas.testing.assert_frame_equal(echelon.dask.sort(collection, by="key").compute(),
                                      frame.sort_values("key", kind="stable"))
    expected = frame["key"].sort_values(kind="stable", ascending=False)
    pandas.testing.assert_series_equal(echelon.dask.sort(collection["key"], descending=True).compute(), expected)
    with pytest.raises(echelon.ArgumentError, match="by is 'price', but the columns are 'key', 'name', 'time'"):
        echelon.dask.sort(collection, by="price")
    with pytest.raises(echelon.ArgumentError, match=r"by is \['key'\], but"):
        echelon.dask.sort(collection, by=["key"])
    with pytest.raises(echelon.DTypeError, match="column 'name' has dtype"):
        echelon.dask.sort(collection, by="name")


def test_frame_that_is_not_aligned(client, rng):
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    whole = rng.random(50)

    def part(first):
        data = bytearray(b"x") + whole[first:first + 25].tobytes()
        keys = np.frombuffer(data, "f8", offset=1)
        assert not keys.flags.aligned
        return pandas.DataFrame(keys.reshape(-1, 1), columns=["key"], copy=False)

    collection = frames.from_map(part, [0, 25], meta=pandas.DataFrame({"key": np.empty(0)}))
    assert np.array_equal(echelon.dask.sort(collection, by="key").compute()["key"], np.sort(whole))


def test_failures(client):
    def failing(block):
        return block if block[0] else 1 // 0

    with pytest.raises(ZeroDivisionError):
        echelon.dask.sort(dask_array.arange(10, chunks=5).map_blocks(failing, dtype=int))
    with pytest.raises(echelon.DTypeError, match="complex128"):
        echelon.dask.sort(dask_array.zeros(10, chunks=5, dtype=complex))
    for x, words in ((dask_array.zeros((2, 2)), {}), (dask_array.zeros(2), {"by": "key"})):
        with pytest.raises(echelon.ArgumentError):
            echelon.dask.sort(x, **words)
    with pytest.raises(echelon.ArgumentError, match="the client is asynchronous"):
        echelon.dask.sort(dask_array.zeros(2), client=types.SimpleNamespace(asynchronous=True))
    with pytest.raises(echelon.DTypeError, match="x is list, but"):
        echelon.dask.sort([1])
    assert echelon.dask.sort(dask_array.arange(4, chunks=2)).compute().tolist() == [0, 1, 2, 3]


@LONG
def test_processes(rng):
    x = rng.integers(0, 2**40, 20_000_000)
    with opened(3, processes=True):
        assert np.array_equal(echelon.dask.sort(dask_array.from_array(x, chunks=3_000_000)).compute(), np.sort(x))


@LONG
def test_dead_worker():
    def killed(comm, transport, parts, options):
        if comm.rank == 1:
            os._exit(1)
        return echelon.dist.sum(comm, [1])

    with opened(2, processes=True) as client:
        with pytest.raises(echelon.CommunicationError):
            echelon.dask._on_workers(client, dask_array.arange(2).to_delayed().tolist(), killed, {"limit": 20})
