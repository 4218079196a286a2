"""Sorts by several columns, of records and of strings, compared with Python's sorted() and with pandas.

SPDX-License-Identifier: Apache-2.0
"""
import uuid

import echelon
import numpy as np
import pytest
from conftest import same
from test_sort import DTYPES, numbers

WORDS = ["", "a", "a\0", "ab", "b", "Zürich", "zoë", "日本", "日本語", "\U0001f600", "\uffff", "word " * 20,
         "word " * 20 + "x"]


def order_of(columns, descending):
    """The positions from stable sorts by one column after the other; a column is a list of values of Python."""
    order = list(range(len(columns[0])))
    for column, reverse in list(zip(columns, descending))[::-1]:
        order.sort(key=column.__getitem__, reverse=reverse)  # equal elements keep their order, also with reverse
    return order


@pytest.mark.parametrize("descending", [False, True, [True, False, True]])
@pytest.mark.parametrize("dtype", DTYPES)
def test_argsort_columns(rng, dtype, descending):
    n = 300
    third = numbers(rng, n, dtype)
    table = {"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n).astype("u1"), "c": third}
    directions = descending if isinstance(descending, list) else [descending] * 3
    keys = [table["a"].tolist(), table["b"].tolist(), echelon.searchsorted(np.sort(third), third).tolist()]
    expected = np.array(order_of(keys, directions))
    same(echelon.argsort_columns(table, descending=descending), expected)
    same(echelon.argsort_columns(list(table.values()), descending=descending, dtype="u4"), expected.astype("u4"))
    records = np.empty(n, [("c", dtype), ("a", "i8"), ("b", "u1")])  # fields that are not aligned
    for name, values in table.items():
        records[name] = values
    same(echelon.argsort_columns(records, by=["a", "b", "c"], descending=descending), expected)
    same(echelon.sort_records(records, order=["a", "b", "c"], descending=descending)["a"].copy(), table["a"][expected])
    out = np.empty(2 * n, "i4")[::2]
    assert echelon.argsort_columns(table, by=["a", "b", "c"], descending=descending, dtype="i4",
                                   out=out) is out
    assert np.array_equal(out, expected)


def test_lexsort(rng):
    keys = [rng.integers(0, 3, 200), rng.integers(0, 3, 200).astype("f4"), numbers(rng, 200, "float64")]
    for chosen in (keys, keys[::-1], keys[:1], tuple(keys)):
        same(echelon.lexsort(chosen), np.lexsort(chosen))
    matrix = rng.integers(0, 3, (4, 50))
    for x in (matrix, np.asfortranarray(matrix), matrix[:, ::-1], matrix[::2]):
        same(echelon.lexsort(x), np.lexsort(x))
        same(echelon.argsort_columns(np.asarray(x).T), np.lexsort(x[::-1]))
        same(echelon.argsort_columns(np.asarray(x).T, by=[1, 0]), np.lexsort(x[:2]))
    same(echelon.lexsort([keys[0][:0]]), np.zeros(0, int))
    times = rng.integers(0, 9, 200).view("M8[s]")
    same(echelon.lexsort([keys[0], times]), np.lexsort([keys[0], times]))


def texts(rng, n):
    return [WORDS[i] for i in rng.integers(0, len(WORDS), n)]


@pytest.mark.parametrize("descending", [False, True])
def test_strings(rng, descending):
    words = texts(rng, 300)
    expected = sorted(range(300), key=words.__getitem__, reverse=descending)
    plain = [word.replace("\0", "") for word in words]  # arrays of NumPy do not contain a final zero
    fixed = sorted(range(300), key=plain.__getitem__, reverse=descending)
    assert echelon.argsort_strings(words, descending=descending).tolist() == expected
    assert echelon.sort_strings(words, descending=descending) == [words[i] for i in expected]
    array = np.array(plain)
    for x in (array, array[::-1][::-1], np.array(plain, object), array.astype(array.dtype.newbyteorder(">"))):
        assert echelon.argsort_strings(x, descending=descending).tolist() == fixed
        assert echelon.sort_strings(x, descending=descending).tolist() == [plain[i] for i in fixed]
    ascii_words = np.array([word.encode() for word in plain])
    assert echelon.argsort_strings(ascii_words, descending=descending).tolist() == fixed
    if hasattr(getattr(np, "dtypes", None), "StringDType"):
        x = np.array(words, np.dtypes.StringDType())
        assert echelon.argsort_strings(x, descending=descending).tolist() == expected
        assert echelon.sort_strings(x, descending=descending).tolist() == [words[i] for i in expected]
    wide = np.array([(b"x" * 600) + word.encode() for word in plain])
    assert echelon.argsort_strings(wide, descending=descending).tolist() == fixed
    same(echelon.argsort_strings([], dtype="i4"), np.zeros(0, "i4"))
    assert echelon.sort_strings([]) == []


@pytest.mark.parametrize("make", [np.array, lambda x: np.array([s.encode() for s in x]), lambda x: np.array(x, object),
                                  lambda x: np.array([s.encode().ljust(600, b"\1") for s in x])])
def test_strings_among_columns(rng, make):
    n = 200
    words = [word.replace("\0", "") for word in texts(rng, n)]
    numbers_, more = rng.integers(0, 3, n), texts(rng, n)
    table = {"words": make(words), "numbers": numbers_, "more": more}
    keys = [make(words).tolist(), numbers_.tolist(), more]
    for descending in ([False] * 3, [True, False, True], [False, True, False]):
        expected = order_of(keys, descending)
        assert echelon.argsort_columns(table, descending=descending).tolist() == expected
        expected = order_of(keys[1:] + keys[:1], descending)
        assert echelon.argsort_columns(table, by=["numbers", "more", "words"],
                                       descending=descending).tolist() == expected


@pytest.mark.parametrize("choices", [WORDS, WORDS[:11], ["", "a", "a\0", "a\0\0", "\0"], ["aaa", "aab", "a\0b"], [""],
                                     ["x" * 40 + "a", "x" * 40 + "b"]])
def test_lists_of_strings_among_columns(rng, choices):
    words = [choices[i] for i in rng.integers(0, len(choices), 100)]
    number = rng.integers(0, 3, 100)
    for descending in (False, True):
        expected = order_of([words, number.tolist()], [descending, False])
        assert echelon.argsort_columns([words, number], descending=[descending, False]).tolist() == expected
    words[::7] = [None] * len(words[::7])
    keys = [[(word is None, word or "") for word in words], number.tolist()]
    assert echelon.argsort_columns([words, number]).tolist() == order_of(keys, [False, False])
    assert echelon.argsort_columns([[], number[:0]]).tolist() == []


def test_uuids(rng):
    ids = [uuid.UUID(bytes=rng.bytes(16)).bytes for _ in range(50)]
    x = np.frombuffer(b"".join(ids), "V16")
    assert echelon.argsort_columns([x]).tolist() == sorted(range(50), key=ids.__getitem__)
    assert echelon.argsort_columns([x[::-1]]).tolist() == sorted(range(50), key=ids[::-1].__getitem__)


def frames(rng, n):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": texts(rng, n), "number": rng.integers(0, 5, n),
                              "value": rng.normal(size=n).round(1), "day": rng.integers(0, 5, n).view("M8[s]")})
    frame["maybe"] = pandas.array(rng.integers(0, 3, n), "Int64")
    frame.loc[rng.random(n) < 0.2, ["name", "maybe", "day"]] = None
    return frame


@pytest.mark.parametrize("by", [["name", "number"], ["number", "maybe", "value"], ["day", "name"], ["maybe"], "name",
                                ["maybe", "day", "name", "number"]])
@pytest.mark.parametrize("nulls", ["first", "last"])
def test_pandas(rng, by, nulls):
    frame = frames(rng, 250)
    for descending in (False, True):
        columns = by if isinstance(by, list) else [by]
        expected = frame.reset_index().sort_values(columns, ascending=not descending, na_position=nulls, kind="stable")
        order = echelon.argsort_columns(frame, by=by, descending=descending, nulls=nulls)
        assert isinstance(order, np.ndarray) and order.tolist() == expected["index"].tolist()


def test_arrow_and_polars(rng):
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    frame = frames(rng, 250)
    by = ["number", "name", "day"]
    expected = echelon.argsort_columns(frame, by=by)
    table = pyarrow.Table.from_pandas(frame)
    same(echelon.argsort_columns(table, by=by), expected)
    same(echelon.argsort_columns(table.combine_chunks().to_batches()[0], by=by), expected)
    same(echelon.argsort_columns(pyarrow.concat_tables([table[:100], table[100:]]), by=by), expected)
    other = polars.from_arrow(table)
    same(echelon.argsort_columns(other, by=by), expected)
    ours = other[echelon.argsort_columns(other, by=by, nulls="first")]
    assert ours.equals(other.sort(by, nulls_last=False, maintain_order=True))
    words = table["name"]
    assert echelon.argsort_strings(words).to_pylist() == echelon.argsort_columns(table, by=["name"]).tolist()
    assert echelon.sort_strings(other["name"], nulls="first").to_list() == \
        other["name"].sort(nulls_last=False).to_list()


def test_torch(rng):
    torch = pytest.importorskip("torch")
    keys = [rng.integers(0, 3, 100), rng.random(100)]
    order = echelon.lexsort([torch.from_numpy(key) for key in keys[::-1]])
    assert isinstance(order, torch.Tensor) and order.tolist() == np.lexsort(keys[::-1]).tolist()
    matrix = torch.from_numpy(rng.integers(0, 3, (60, 3)))
    assert echelon.argsort_columns(matrix).tolist() == np.lexsort(matrix.numpy().T[::-1]).tolist()


RECORD = [("flag", "?"), ("id", "<i2"), ("size", ">u4"), ("value", "f8"), ("code", "S3"), ("uuid", "V16"),
          ("bytes", "u1", (4,)), ("text", "U5"), ("day", "M8[D]"), ("swapped", ">i4"), ("half", "f2")]


def records(rng, n):
    x = np.zeros(n, RECORD)
    x["flag"], x["id"], x["size"] = rng.random(n) < 0.5, rng.integers(-3, 3, n), rng.integers(0, 600, n)
    x["value"], x["code"] = numbers(rng, n, "float64"), rng.choice([b"a", b"b", b"abc", b""], n)
    x["uuid"] = np.frombuffer(rng.integers(0, 2, 16 * n).astype("u1").tobytes(), "V16")
    x["bytes"], x["text"] = rng.integers(0, 2, (n, 4)), rng.choice(["a", "é", "日", ""], n)
    x["day"], x["swapped"], x["half"] = rng.integers(0, 3, n), rng.integers(-2, 2, n), rng.integers(0, 3, n)
    return x


def keys_of(x, name):
    """A field as a list of values that Python compares."""
    if name in ("uuid", "bytes"):
        return [row.tobytes() for row in x[name]]
    if x[name].dtype.kind == "f":
        return np.searchsorted(np.sort(x[name]), x[name]).tolist()
    return x[name].tolist()


@pytest.mark.parametrize("order", [["id"], "size", ["flag", "size"], ["value", "id"], ["code", "uuid"],
                                   ["bytes", "id", "value"], ["text", "id"], ["day", "text"], ["swapped", "size", "id"],
                                   ["half", "flag"]])
def test_records(rng, order):
    x = records(rng, 300)
    names = order if isinstance(order, list) else [order]
    for descending in (False, True, [i % 2 == 0 for i in range(len(names))]):
        directions = descending if isinstance(descending, list) else [descending] * len(names)
        expected = x[order_of([keys_of(x, name) for name in names], directions)]
        same(echelon.sort_records(x, order=order, descending=descending), expected)
        twice = np.repeat(x, 2)[::2]
        same(echelon.sort_records(twice, order=order, descending=descending), expected)
        y = x.copy()
        assert echelon.sort_records(y, order=order, descending=descending, out=y) is y
        same(y, expected)
        out = np.empty(600, x.dtype)[::2]
        assert echelon.sort_records(x, order=order, descending=descending, out=out) is out
        same(out.copy(), expected)
    same(echelon.sort_records(x[:0], order=order), x[:0])


def test_records_by_all_fields(rng):
    x = np.zeros(100, [("a", "i4"), ("b", "f4")])
    x["a"], x["b"] = rng.integers(0, 5, 100), rng.random(100)
    same(echelon.sort_records(x), np.sort(x, kind="stable"))


def small_table():
    return {"a": np.array([1, 2]), "b": np.array([1, 2])}


@pytest.mark.parametrize("call, error, text", [
    (lambda t: echelon.argsort_columns(t, by=["c"]), ValueError, "by contains 'c'"),
    (lambda t: echelon.argsort_columns(t, by=[]), ValueError, "there are 0 columns"),
    (lambda t: echelon.argsort_columns([t["a"]] * 17), ValueError, "there are 17 columns"),
    (lambda t: echelon.argsort_columns([t["a"], t["b"][:1]]), ValueError, r"columns\[1\] has length 1"),
    (lambda t: echelon.argsort_columns(3), TypeError, "columns is int"),
    (lambda t: echelon.argsort_columns(t, descending=[True]), ValueError, "descending has length 1"),
    (lambda t: echelon.argsort_columns(t, nulls="middle"), ValueError, "nulls is 'middle'"),
    (lambda t: echelon.argsort_columns(t, dtype="f4"), TypeError, "dtype is float32"),
    (lambda t: echelon.argsort_columns({"a": t["a"] + 1j}), TypeError, "complex"),
    (lambda t: echelon.argsort_columns({"a": np.ones((2, 2))}), ValueError, "2 dimensions"),
    (lambda t: echelon.argsort_columns(t, out=np.empty(3, "i8")), ValueError, "out has shape"),
    (lambda t: echelon.lexsort(np.array([1])), ValueError, "keys has 1 dimensions"),
    (lambda t: echelon.lexsort(5), TypeError, "keys is int"),
    (lambda t: echelon.argsort_strings([1, 2]), TypeError, "must contain strings"),
    (lambda t: echelon.argsort_strings(["a", 1]), TypeError, "x contains 1"),
    (lambda t: echelon.argsort_strings(["a"], nulls=0), ValueError, "nulls is 0"),
    (lambda t: echelon.sort_records(t["a"]), TypeError, "x is ndarray"),
    (lambda t: echelon.sort_records(np.zeros(2, RECORD), order=["x"]), ValueError, "order contains 'x'"),
    (lambda t: echelon.sort_records(np.zeros((2, 2), RECORD)), ValueError, "x has 2 dimensions"),
    (lambda t: echelon.sort_records(np.zeros(2, [("a", object)])), TypeError, "objects of Python"),
    (lambda t: echelon.sort_records(np.zeros(2, [("a", "c8")])), TypeError, "complex64"),
    (lambda t: echelon.sort_records(np.zeros(2, RECORD), out=np.zeros(2)), TypeError, "out is float64"),
    (lambda t: echelon.sort_records(np.zeros(2, RECORD), out=np.zeros(3, RECORD)), ValueError, "out has shape"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call(small_table())
    assert isinstance(raised.value, echelon.Error)


def test_masks_are_not_ignored():
    text = np.ma.array(["b", "a"], mask=[False, True])
    records = np.ma.array(np.array([(2, 1.0), (1, 2.0)], dtype=[("a", int), ("b", float)]), mask=[(0, 0), (1, 0)])
    for x in (text, text.astype("S1"), text.astype(object), np.ma.array([2, 1], mask=[True, False])):
        for call in (lambda x: echelon.argsort_columns([x]), lambda x: echelon.lexsort([x])):
            with pytest.raises(echelon.ArgumentError, match="masked"):
                call(x)
    for call in (echelon.argsort_strings, echelon.sort_strings):
        with pytest.raises(echelon.ArgumentError, match="masked"):
            call(text)
    with pytest.raises(echelon.ArgumentError, match="masked"):
        echelon.sort_records(records)
    same(echelon.argsort_columns([np.ma.array(["b", "a"])]), np.array([1, 0]))
    same(echelon.sort_records(np.ma.array(records.data)), np.sort(records.data, order=["a", "b"]))


def test_numbers_of_ml_dtypes_are_not_bytes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([3, -1, 2, -5, np.nan, 1e-3], ml_dtypes.bfloat16)
    same(echelon.argsort_columns([x]), np.array([3, 1, 5, 2, 0, 4]))
    records = np.array([(value, 0) for value in x], dtype=[("key", ml_dtypes.bfloat16), ("value", int)])
    same(echelon.sort_records(records)["key"].astype("f4"), np.sort(x.astype("f4")))
    for call in (echelon.argsort_strings, echelon.sort_strings):
        with pytest.raises(echelon.DTypeError):
            call(x)
    with pytest.raises(echelon.DTypeError, match="float8"):
        echelon.argsort_columns([x.astype(ml_dtypes.float8_e4m3fn)])
