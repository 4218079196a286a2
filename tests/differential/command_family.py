"""command_family.py - the subcommands records, check and search, on .npy files and raw records.

SPDX-License-Identifier: Apache-2.0
"""
import json
import zlib

import numpy as np

from .case import operation
from .command import clean, echelon, file
from .ordering import sort_order
from .values import BF16, DTYPES

TYPES = [dtype for dtype in DTYPES if dtype is not BF16]


def field(t, n, number):
    """The contents of a field of n records: its name, its type in NumPy, its type for the command, a rank per record."""
    if t.flag(0.3):
        width = t.between(1, 12)
        data = t.rng.integers(0, t.pick([2, 256]), (n, width), dtype=np.uint8)
        rank = [data[:, i] for i in reversed(range(width))]
        return f"f{number}", f"V{width}", f"bytes{width}", data, rank
    dtype = t.dtype(TYPES)
    data = t.data(dtype, n)
    if t.flag(0.5) and n:
        data = data[t.rng.integers(0, min(n, 3), n)]
    raw = data.view(np.uint8).reshape(n, data.dtype.itemsize)
    return f"f{number}", data.dtype.str, dtype.name, raw, [dtype.rank(data, total=False, collapse=True)]


@operation("echelon_records")
def echelon_records(t):
    clean()
    n, structured, argsort, reverse = t.size(3000), t.flag(), t.flag(0.3), t.flag(0.3)
    fields = [field(t, n, i) for i in range(t.between(1, 5))]
    raw = np.ascontiguousarray(np.concatenate([contents for _, _, _, contents, _ in fields], axis=1))
    offsets = np.cumsum([0] + [contents.shape[1] for _, _, _, contents, _ in fields])
    if structured:
        np.save(file("in.npy"), raw.view([(name, kind) for name, kind, _, _, _ in fields]).ravel())
        words = ["in.npy"]
    else:
        file("in.raw").write_bytes(raw.tobytes())
        words = ["--record", raw.shape[1], "in.raw"]
    keys, parts = [], []
    for i in t.rng.permutation(len(fields))[:t.between(1, len(fields))]:
        descending = t.flag()
        place = fields[i][0] if structured and t.flag() else f"{offsets[i]}:{fields[i][2]}"
        keys.append(place + (":desc" if descending else t.pick(["", ":asc"])))
        parts.append([~part if descending != reverse else part for part in fields[i][4]])
    order = np.lexsort([part for some in reversed(parts) for part in some]) if n else np.arange(0)
    options = ["--keys", ",".join(keys)] + (["-r"] if reverse else []) + (["--argsort"] if argsort else [])
    t.note(n=n, structured=structured)
    if argsort:
        echelon(t, "records", *options, *words, "-o", "out.npy")
        t.same("positions", np.load(file("out.npy")), order.astype(np.uint64))
    else:
        name = "out.npy" if structured else "out.raw"
        echelon(t, "records", *options, *words, "-o", name)
        found = np.load(file(name)).view(np.uint8) if structured else np.frombuffer(file(name).read_bytes(), np.uint8)
        t.same("records", found, raw[order].ravel())


@operation("echelon_search")
def echelon_search(t):
    clean()
    dtype, total, reverse, upper = t.dtype(TYPES), t.flag(0.2), t.flag(), t.flag()
    t.note(total=total, reverse=reverse, upper=upper)
    options = (["--order", "total"] if total else []) + (["-r"] if reverse else []) + (["--upper"] if upper else [])
    array, needles = t.data(dtype, t.size(3000)), t.data(dtype, t.size(3000))
    if len(array):
        needles = np.concatenate([needles, t.rng.choice(array, t.between(0, 200))])
    array = array[sort_order(t, dtype, array, True, total, reverse, 0, 0)]
    np.save(file("array.npy"), array)
    np.save(file("needles.npy"), needles)
    ranks = [dtype.rank(a, total=total, collapse=True) for a in (array, needles)]
    if reverse:
        ranks = [~rank for rank in ranks]
    wanted = np.searchsorted(*ranks, side="right" if upper else "left").astype(np.uint64)
    echelon(t, "search", *options, "array.npy", "needles.npy", "-o", "out.npy")
    t.same("positions", np.load(file("out.npy")), wanted)
    if len(array) and ranks[0][0] != ranks[0][-1]:
        np.save(file("wrong.npy"), array[::-1])
        found = echelon(t, "search", *options, "wrong.npy", "needles.npy", "-o", "no.npy", status=2)
        t.equal("message", "wrong.npy: not sorted" in found.err, True)


@operation("echelon_check", weight=0.5)
def echelon_check(t):
    """The order, the checksum and the counts of records with a key of bytes."""
    clean()
    n, width, values = t.size(3000), t.between(1, 40), t.pick([2, 256])
    begin = t.between(0, width - 1)
    end = t.between(begin + 1, width)
    records = t.rng.integers(0, values, (n, width), dtype=np.uint8)
    keys = [bytes(record[begin:end]) for record in records]
    if t.flag(0.7):
        order = sorted(range(n), key=keys.__getitem__)
        records, keys = records[order], [keys[i] for i in order]
    file("in.raw").write_bytes(records.tobytes())
    wrong = [i for i in range(1, n) if keys[i] < keys[i - 1]]
    t.note(n=n, width=width)
    text = echelon(t, "check", "--record", width, "--key", f"{begin}:{end - begin}", "--json", "in.raw",
                   status=1 if wrong else 0).out
    found = json.loads(text)
    t.equal("sorted", found["sorted"], not wrong)
    t.equal("records", found["records"], n)
    t.equal("checksum", int(found["checksum"], 16), sum(zlib.crc32(bytes(record)) for record in records))
    if wrong:
        t.equal("unordered", (found["unordered_records"], found["first_unordered"]), (len(wrong), wrong[0]))
    else:
        t.equal("duplicates", found["duplicate_keys"], sum(a == b for a, b in zip(keys, keys[1:])))
