"""column() of the package: columns of pandas, polars, pyarrow, NumPy and lists, compared with their Python values.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import decimal

import echelon
import numpy as np
import pytest
from echelon import _arrays
from echelon._arrays import columns, parts
from echelon._arrays.columns import column
from echelon._arrays.numpy_family import NumPy
from echelon._ops import column_sort
from echelon._runtime.native import declared as c

pa = pytest.importorskip("pyarrow")

DAY = datetime.date(2020, 1, 2)
TIME = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
VALUES = {
    "int": [1, None, 3, -7, 2**40],
    "float": [1.5, None, -0.0, float("inf")],
    "bool": [True, None, False, True, True, True, True, True, True, False, None],
    "text": ["b", None, "", "a longer string than twelve bytes", "\u00e9\u4e2d"],
    "bytes": [b"x", None, b"\0y", b"0123456789abcdef"],
    "date": [DAY, None, DAY + datetime.timedelta(3)],
    "time": [TIME, None, TIME - datetime.timedelta(days=30000)],
    "duration": [datetime.timedelta(1), None, datetime.timedelta(seconds=-5)],
    "decimal": [decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")],
}
EPOCH = {"date": DAY.__class__(1970, 1, 1), "time": datetime.datetime(1970, 1, 1), "duration": datetime.timedelta(0)}


def contents(col):
    """The elements of a Column as Python objects: None for nulls, bytes for strings."""
    valid = np.ones(col.n, bool)
    if col.validity is not None:
        byte = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * ((col.validity_offset + col.n + 7) // 8))
                                     .from_address(col.validity))
        places = col.validity_offset + np.arange(col.n)
        valid = byte[places // 8] >> (places % 8) & 1 == 1
    if col.strings is not None:
        offsets, data = col.strings.offsets.array, col.strings.bytes.array.tobytes()
        found = [data[a:b] for a, b in zip(offsets, offsets[1:])]
    elif col.key_kind != c.ECH_KEY_DTYPE:
        found = [int.from_bytes(row.tobytes(), "little", signed=True) for row in col.view.array]
    else:
        found = col.view.array.tolist()
    return [value if ok else None for value, ok in zip(found, valid)]


def expected(kind, values, unit="us"):
    """The same for the values of VALUES."""
    if kind == "text":
        return [None if value is None else value.encode() for value in values]
    if kind == "decimal":
        return [None if value is None else int(value * 100) for value in values]
    if kind in EPOCH:
        step = datetime.timedelta(days=1) if kind == "date" else datetime.timedelta(microseconds=1)
        return [None if value is None else (value - EPOCH[kind]) // step for value in values]
    return values


@pytest.mark.parametrize("kind", VALUES)
def test_arrow(kind):
    values = VALUES[kind]
    array = pa.array(values)
    assert contents(column(array)) == expected(kind, values)
    assert contents(column(array[1:])) == expected(kind, values[1:])
    assert contents(column(array[2:])) == expected(kind, values[2:])
    assert contents(column(array[:0])) == []
    chunks = pa.chunked_array([array, array[1:], array[:1]])
    assert contents(column(chunks)) == expected(kind, values + values[1:] + values[:1])
    assert contents(column(pa.chunked_array([], array.type))) == []
    assert column(array).null_count == 1 + (kind == "bool")
    assert column(array[2:3]).validity is None


@pytest.mark.parametrize("kind", VALUES)
def test_polars(kind):
    pl = pytest.importorskip("polars")
    values = VALUES[kind]
    series = pl.Series("s", values)
    assert contents(column(series)) == expected(kind, values)
    assert contents(column(series[1:])) == expected(kind, values[1:])
    assert contents(column(pl.concat([series, series[1:]], rechunk=False))) == expected(kind, values + values[1:])


@pytest.mark.parametrize("kind", VALUES)
def test_pandas(kind):
    pd = pytest.importorskip("pandas")
    values = VALUES[kind]
    arrow = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values)])))
    assert contents(column(arrow)) == expected(kind, values)
    assert contents(column(arrow[1:])) == expected(kind, values[1:])
    if kind in ("text", "bytes"):
        assert contents(column(pd.Series(values, dtype=object))) == expected(kind, values)
        assert contents(column(values)) == expected(kind, values)
    if kind in ("int", "bool", "text", "time", "duration"):
        for x in (pd.Series(pd.array(values)), pd.Index(pd.array(values))):
            scale = 1000 if "[ns]" in str(x.dtype) else 1  # before version 3
            found = [value if value is None or scale == 1 else value // scale for value in contents(column(x))]
            assert found == expected(kind, values)


def test_pandas_dtypes():
    pd = pytest.importorskip("pandas")
    assert contents(column(pd.Series(["b", None, "a", "b"], dtype="category"))) == [1, None, 0, 1]
    zoned = pd.Series(pd.to_datetime(["2020-01-01", None])).dt.tz_localize("Europe/Berlin").dt.as_unit("s")
    assert contents(column(zoned)) == [1577833200, None]
    assert contents(column(pd.Series([3, 1], dtype="int16"))) == [3, 1]
    assert contents(column(pd.Series(pd.period_range("1970-01-03", periods=2)))) == [2, 3]
    with pytest.raises(echelon.DTypeError, match="Sparse"):
        column(pd.Series([1, 2], dtype="Sparse[int]"))


def test_dictionaries():
    one, two = pa.array(["b", "a", None, "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()
    assert contents(column(one)) == [1, 0, None, 1]
    assert contents(column(pa.chunked_array([one, two]))) == [1, 0, None, 1, 2, 0]
    assert contents(column(pa.array([5.0, 2.0, 5.0]).dictionary_encode())) == [1, 0, 1]
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["b", "a"]), ordered=True)
    assert contents(column(ordered)) == [0, 1, None]


def test_long_string_views():
    pl = pytest.importorskip("polars")
    values = [("x" * (i % 40)) + str(i) for i in range(5000)] + ["y" * 5_000_000]
    assert contents(column(pl.Series(values))) == [value.encode() for value in values]


def test_numpy():
    assert contents(column(np.array(["b", "", "\u00e9\u4e2d"]))) == [b"b", b"", "\u00e9\u4e2d".encode()]
    assert contents(column(np.array([b"b", b""])))[0] == ord("b")
    assert contents(column(np.array(["1970-01-02", "NaT"], "M8[D]"))) == [1, None]
    assert contents(column(np.arange(9)[::-2])) == [8, 6, 4, 2, 0]
    assert contents(column([2.5, 1.0])) == [2.5, 1.0]
    assert contents(column(["b", None, "a"])) == [b"b", None, b"a"]


@pytest.mark.parametrize("make, error, text", [
    (lambda: ["a", b"b"], echelon.DTypeError, "col contains both"),
    (lambda: ["a", 1], echelon.DTypeError, "col contains 1"),
    (lambda: np.zeros((2, 2)), echelon.ArgumentError, "col has 2 dimensions"),
    (lambda: np.array([["a"]]), echelon.ArgumentError, "col has 2 dimensions"),
    (lambda: np.array([1], ">i4"), echelon.DTypeError, "col has dtype >i4"),
    (lambda: pa.array([[1], [2]]), echelon.DTypeError, "col is ListArray"),
    (lambda: pa.table({"a": [1]}), echelon.DTypeError, "col is Table"),
    (lambda: object(), echelon.DTypeError, "col is object"),
])
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        column(make(), "col")


def test_column_whose_elements_are_at_one_place():
    values = np.broadcast_to(np.int64(5), (1000,))
    part = parts.Part(1000, values).mark(np.arange(1000) % 2 == 0)
    order = column_sort.argsort_column(columns.Column(part, NumPy), _arrays.CODES["int64"], False, "last")
    assert order.tolist() == [*range(0, 1000, 2), *range(1, 1000, 2)]
