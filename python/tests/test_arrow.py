"""Functions on columns of pyarrow, polars and pandas: types of results, nulls, times; release of Arrow arrays.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import datetime
import gc
import sys
import types
import weakref

import echelon
import numpy as np
import pytest
from echelon import _arrays
from echelon._arrays import arrow
from echelon._runtime import cuda

pa = pytest.importorskip("pyarrow")
TIME = datetime.datetime(2020, 1, 2)
LISTS = {
    "int": [3, 1, 2, 1],
    "nulls": [3, None, -1, None, 2],
    "float": [1.5, None, -1.0, float("inf")],
    "bool": [True, None, False, True],
    "text": ["b", None, "a", "", "ab"],
    "time": [TIME, None, TIME - datetime.timedelta(1)],
    "date": [TIME.date(), None, datetime.date(1960, 1, 1)],
    "clock": [datetime.time(2), None, datetime.time(1, 30)],
    "duration": [datetime.timedelta(2), None, datetime.timedelta(-1)],
}


def order_of(values, descending, first):
    """The stable order of a list; None is first or last."""
    valid = [i for i, value in enumerate(values) if value is not None]
    nulls = [i for i, value in enumerate(values) if value is None]
    valid.sort(key=lambda i: values[i])
    if descending:
        valid = sorted(reversed(valid), key=lambda i: values[i])[::-1]
    return nulls + valid if first else valid + nulls


def columns_of(values):
    """The same column in several libraries: (column, function that returns a list)."""
    array = pa.array(values)
    yield array, lambda x: x.to_pylist()
    yield pa.chunked_array([array[:1], array[1:]]), lambda x: x.to_pylist()
    try:
        import polars as pl
        yield pl.Series("s", values), lambda x: x.to_list()
    except ImportError:
        pass
    try:
        import pandas as pd
    except ImportError:
        return
    as_list = lambda x: [None if pd.isna(value) else value for value in x]  # noqa: E731
    yield pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])), name="s"), as_list
    if not isinstance(values[0], (datetime.date, datetime.time)) or isinstance(values[0], datetime.datetime):
        yield pd.Series(pd.array(values), name="s"), as_list
        yield pd.Index(pd.array(values), name="s"), as_list
        yield pd.array(values), as_list


@pytest.mark.parametrize("kind", LISTS)
def test_sorts(kind):
    values = LISTS[kind]
    for x, as_list in columns_of(values):
        for descending in (False, True):
            for nulls in ("last", "first"):
                options = {"descending": descending, "nulls": nulls}
                order = order_of(values, descending, nulls == "first")
                result, positions = echelon.sort(x, **options), echelon.argsort(x, **options)
                assert type(result) is type(x)
                assert as_list(result) == [values[i] for i in order], (type(x), options)
                assert list(map(int, as_list(positions))) == order, (type(x), options)
                assert getattr(result, "dtype", 0) == getattr(x, "dtype", 0)
                assert getattr(result, "name", 0) == getattr(x, "name", 0)
                assert getattr(result, "type", 0) == getattr(x, "type", 0)


def test_time_zones():
    pd = pytest.importorskip("pandas")
    zoned = pd.Series(pd.date_range("2020", periods=3, tz="Europe/Berlin"))[::-1]
    result = echelon.sort(zoned)
    assert result.dtype == zoned.dtype
    assert result.tolist() == sorted(zoned)
    assert result.index.tolist() == [0, 1, 2]
    array = pa.array([3, 1], pa.timestamp("ms", "UTC"))
    assert echelon.sort(array).equals(pa.array([1, 3], pa.timestamp("ms", "UTC")))


def test_categories():
    pd = pytest.importorskip("pandas")
    x = pd.Series(pd.Categorical(["low", None, "high", "low"], ["low", "high"]))
    result = echelon.sort(x)
    assert result.dtype == x.dtype
    assert result.tolist()[:3] == ["low", "low", "high"]
    assert echelon.argsort(x).tolist() == [0, 3, 2, 1]


def test_nulls_of_other_functions():
    x = pa.array([1, None, 2])
    with pytest.raises(echelon.ArgumentError, match=r"keys contains nulls \(1 of 3\)"):
        echelon.sort_pairs(x, np.arange(3))
    skipped = _arrays.view(x, nulls="skip")
    assert skipped.array.tolist() == [1, 2]
    times = _arrays.view(pa.array([TIME, None]))
    assert times.kind == "time" and np.isnat(times.array[1])
    with pytest.raises(echelon.DTypeError, match="keys is StringArray of strings"):
        echelon.sort_pairs(pa.array(["a"]), np.arange(1))


def test_reductions_skip_nulls():
    for x, _ in columns_of([3, None, -1, None, 2]):
        assert [int(str(f(x))) for f in (echelon.sum, echelon.min, echelon.max, echelon.count_nonzero)] == [4, -1, 3, 3]
        assert float(str(echelon.mean(x))) == 4 / 3
        assert [int(str(value)) for value in echelon.minmax(x)] == [-1, 3]
        with pytest.raises(echelon.ArgumentError, match="x contains nulls"):
            echelon.argmax(x)
        with pytest.raises(echelon.ArgumentError, match="x contains nulls"):
            echelon.cumulative_sum(x)
    for x, _ in columns_of([True, None, False]):
        assert str(echelon.any(x)).lower() == "true" and str(echelon.all(x)).lower() == "false"
    for x, _ in columns_of(LISTS["time"]):
        assert str(echelon.max(x)).startswith("2020-01-02")


@pytest.mark.parametrize("call, error, text", [
    (lambda x: echelon.sort(x, nulls="middle"), echelon.ArgumentError, "nulls is 'middle'"),
    (lambda x: echelon.sort(np.zeros(2), nulls="middle"), echelon.ArgumentError, "nulls is .middle."),
    (lambda x: echelon.sort(x, stream=0), echelon.ArgumentError, "all arrays are in host memory"),
    (lambda x: echelon.sort(x, descending=2), echelon.DTypeError, "descending is 2"),
    (lambda x: echelon.argsort(x, descending="no"), echelon.DTypeError, "descending is 'no'"),
    (lambda x: echelon.sort(x, axis=1), echelon.ArgumentError, "axis is 1"),
    (lambda x: echelon.sort(x, out=np.empty(3)), echelon.ArgumentError, "out is given"),
    (lambda x: echelon.argsort(x, out=np.empty(2, "i8")), echelon.ArgumentError, "out has shape"),
    (lambda x: echelon.argsort(np.arange(3), out=pa.array([0, 0, 0])), echelon.ArgumentError, "out is read-only"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(pa.array([1, None, 2]))


def test_out():
    out = np.zeros(6, np.int64)[::2]
    assert echelon.argsort(pa.array([5, None, 1]), out=out) is out
    assert out.tolist() == [2, 0, 1]


@pytest.mark.parametrize("n", [0, 1, 100_001])
def test_large(rng, n):
    values, mask = rng.normal(size=n).astype("f4"), rng.random(n) < 0.3
    array = pa.array(values, mask=mask)
    result = echelon.sort(array)
    assert np.array_equal(result.drop_null().to_numpy(), np.sort(values[~mask]))
    assert result.null_count == mask.sum()


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"])
def test_random_columns(rng, dtype):
    """Slices and chunks of random columns, compared with the sort of pyarrow."""
    for _ in range(20):
        n = int(rng.integers(0, 300))
        values = rng.integers(0, 50, n).astype(dtype)
        mask = rng.random(n) < rng.choice([0, 0.3, 1])
        array = pa.array(values, mask=mask)
        first = int(rng.integers(0, n + 1))
        last = int(rng.integers(first, n + 1))
        cut = int(rng.integers(first, last + 1))
        for x in (array[first:last], pa.chunked_array([array[first:cut], array[cut:last]])):
            for descending in (False, True):
                nulls = str(rng.choice(["last", "first"]))
                order = order_of(x.to_pylist(), descending, nulls == "first")
                assert echelon.argsort(x, descending=descending, nulls=nulls).to_pylist() == order
                result = echelon.sort(x, descending=descending, nulls=nulls)
                assert result.equals(x.take(pa.array(order, pa.int64()))) or dtype == "f2"
                assert result.to_pylist() == [x[i].as_py() for i in order]


class Producer:
    """An Arrow array of i32 whose release callback counts its calls."""

    released = 0

    def __init__(self, values, fail=False):
        self.values, self.fail = np.array(values, np.int32), fail

    def __arrow_c_array__(self, requested_schema=None):
        cls = type(self)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

        def release_array(address):
            cls.released += 1
            arrow.ArrowArray.from_address(address).release = None

        def release_schema(address):
            arrow.ArrowSchema.from_address(address).release = None

        callbacks = kind(release_array), kind(release_schema)
        buffers = (ctypes.c_void_p * 2)(None, self.values.ctypes.data)
        array = arrow.ArrowArray(length=len(self.values), n_buffers=2, buffers=ctypes.addressof(buffers),
                                 release=ctypes.cast(callbacks[0], ctypes.c_void_p).value)
        schema = arrow.ArrowSchema(format=b"i", release=ctypes.cast(callbacks[1], ctypes.c_void_p).value)
        self.kept = callbacks, buffers, array, schema
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi))
        return (new(ctypes.addressof(schema), b"wrong" if self.fail else b"arrow_schema", None),
                new(ctypes.addressof(array), b"arrow_array", None))


def test_release():
    Producer.released = 0
    producer = Producer([3, 1, 2])
    view = _arrays.view(producer)
    assert Producer.released == 0
    array = view.array[1:]
    del view
    gc.collect()
    assert Producer.released == 0 and array.tolist() == [1, 2]
    del array
    gc.collect()
    assert Producer.released == 1
    assert echelon.sort(producer).tolist() == [1, 2, 3]
    gc.collect()
    assert Producer.released == 2
    with pytest.raises(echelon.DTypeError, match="capsule"):
        echelon.sort(Producer([1], fail=True))


class Unknown:
    """An object of an unknown library with an Arrow interface."""

    def __init__(self, values):
        self.array = pa.array(values)

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("result", [None, 1, (), (None, None), ("a", "b", "c"), [1, 2]])
def test_results_that_are_no_capsules(result):
    for method in ("__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_device_array__"):
        kind = type("Odd", (), {method: lambda self, requested_schema=None: result})
        with pytest.raises(echelon.Error, match="x cannot be exported|capsule"):
            echelon.sort(kind())


def test_other_libraries():
    assert type(echelon.sort(Unknown([3, 1, 2]))) is np.ndarray
    for descending in (False, True):
        for nulls in ("last", "first"):
            values = [3.0, None, 1.0]
            result = echelon.sort(Unknown(values), descending=descending, nulls=nulls)
            order = order_of(values, descending, nulls == "first")
            assert result.tolist() == [values[i] for i in order]
            assert echelon.argsort(Unknown(values), descending=descending, nulls=nulls).tolist() == order
    assert echelon.argsort(Unknown(["b", "a"])).tolist() == [1, 0]
    with pytest.raises(echelon.UnsupportedError, match="use argsort"):
        echelon.sort(Unknown(["b", "a"]))


class DeviceProducer(Producer):
    """The same as an array of a GPU, whose memory is not read."""

    event = ctypes.c_void_p(4711)
    bitmap, offset = 0, 0

    def __arrow_c_array__(self, requested_schema=None):
        raise ValueError("not in host memory")

    def __arrow_c_device_array__(self, requested_schema=None):
        schema, _ = super().__arrow_c_array__()
        callbacks, buffers, array, _ = self.kept
        buffers[0] = self.bitmap
        array.offset, array.null_count, array.length = self.offset, -1 if self.bitmap else 0, 2
        struct = arrow.ArrowDeviceArray(array=array, device_id=1, device_type=2,
                                        sync_event=ctypes.addressof(self.event))
        self.device = struct
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi))
        return schema, new(ctypes.addressof(struct), b"arrow_device_array", None)


def test_device_arrays(monkeypatch):
    waits = []
    monkeypatch.setattr(cuda, "delay", lambda *arguments: waits.append(arguments))
    Producer.released = DeviceProducer.released = 0
    producer = DeviceProducer([3, 1, 2])
    producer.offset = 1
    view = _arrays.view(producer)
    assert (view.pointer, view.shape, view.device) == (producer.values.ctypes.data + 4, (2,), "cuda:1")
    assert view.readonly and waits == [("cuda:1", 0, 4711)]
    assert _arrays.column_or_view(producer)[0] is None
    producer.bitmap = producer.values.ctypes.data
    column, _ = _arrays.column_or_view(producer)
    assert (column.validity, column.validity_offset, column.device) == (producer.bitmap, 1, "cuda:1")
    assert column.view.pointer == view.pointer and column.family is view.family
    with pytest.raises(echelon.ArgumentError, match="keys may contain nulls in GPU memory"):
        _arrays.view(producer, "keys")
    with pytest.raises(echelon.UnsupportedError, match="x may contain nulls in GPU memory"):
        echelon.sort(producer)
    del view, column
    gc.collect()
    assert DeviceProducer.released == 5


def test_memory_outlives_the_array():
    array = pa.array(np.arange(1000))
    view = _arrays.view(array)
    alive = weakref.ref(array)
    del array
    gc.collect()
    assert alive() is None
    assert view.array.sum() == 499500


def test_ordered_dictionaries_that_differ():
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(words), ordered=True)
              for words in (["b", "a"], ["b", "a"], ["a", "b"])]
    same = echelon.argsort(pa.chunked_array(chunks[:2]))
    assert same.to_pylist() == [0, 2, 1, 3]
    with pytest.raises(echelon.ArgumentError, match="ordered dictionaries"):
        echelon.argsort(pa.chunked_array(chunks))


def test_views_of_strings():
    if not hasattr(pa, "string_view"):
        pytest.skip("this version of pyarrow has no views of strings")
    x = pa.array(["b", None, "a string that is longer than 12 bytes", "a"], pa.string_view())
    for column in (x, pa.chunked_array([x])):
        result = echelon.sort(column)
        assert result.type == x.type
        assert result.to_pylist() == ["a", "a string that is longer than 12 bytes", "b", None]


def test_pandas_that_another_thread_imports(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", types.ModuleType("pandas"))  # without attributes, as at that time
    assert echelon.argsort_columns([np.array([2, 1])]).tolist() == [1, 0]


class Again:
    """An object that exports the same capsules in each call."""

    def __init__(self, x):
        self.capsules = x.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


def test_capsules_are_used_once():
    x = Again(pa.array([3, None, 1]))
    assert echelon.argsort(x).tolist() == [2, 0, 1]
    with pytest.raises(echelon.ArgumentError, match="used before"):
        echelon.argsort(x)


def test_binary_without_bytes():
    x = pa.array([b"", None, b""], pa.binary(0))
    assert echelon.argsort(x).to_pylist() == [0, 2, 1]
    assert echelon.argsort(pa.chunked_array([x, x]), nulls="first").to_pylist() == [1, 4, 0, 2, 3, 5]
