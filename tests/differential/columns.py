"""columns.py - sorts by several columns and sorts of records, compared with numpy.lexsort().

SPDX-License-Identifier: Apache-2.0
"""

import ctypes

import numpy as np

from .case import operation
from .values import INDICES

NAMES = ("ech_argsort_columns", "ech_argsort_columns_workspace", "ech_argsort_columns_explain")


def column(t, n):
    """The struct of a random column, and its keys for lexsort(), the more significant one last."""
    dtype = t.dtype()
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.2)), "nulls_first": int(t.flag())}
    data = t.data(dtype, n)
    if t.flag(0.3) and n:  # ties
        data = data[t.rng.integers(0, min(n, t.pick([1, 3, 100])), n)]
    rank = dtype.rank(data, total=fields["order"], collapse=True)
    keys = [~rank if fields["descending"] else rank]
    if t.flag(0.4):
        offset = t.between(0, 40)
        bits = t.rng.random(offset + n) < t.pick([0.0, 0.1, 0.9, 1.0])
        valid = bits[offset:]
        keys = [np.where(valid, keys[0], 0), valid if fields["nulls_first"] else ~valid]
        fields.update(validity=t.put(np.packbits(bits, bitorder="little")).p, validity_offset=offset)
    t.note(**fields)
    return t.struct("ech_sort_column", data=t.put(data).p, dtype=dtype.code, **fields), keys


@operation("argsort_columns", *NAMES, weight=2)
def argsort_columns(t):
    n, index = t.size(most=100_000), t.pick(INDICES)
    count = t.pick([1, 2, 2, 3, t.between(1, 16)])
    if count > 4:
        n = min(n, 20_000)
    columns, keys = zip(*(column(t, n) for _ in range(count)))
    wanted = np.lexsort([key for some in reversed(keys) for key in some])
    table = (type(columns[0]) * count)(*columns)
    t.note(index=index, count=count)
    options = t.struct("ech_columns_options")
    plain = (ctypes.addressof(table), n, count, index.code, t.address(options))
    options.algorithm = t.algorithm(NAMES[2], *plain)
    for name, value in t.work(NAMES[1], *plain).items():
        setattr(options, name, value)
    t.threads()
    indices = t.out(n, index.storage)
    t.call(NAMES[0], ctypes.addressof(table), indices.p, *plain[1:])
    t.same("indices", indices.a, wanted.astype(index.storage))


RECORDS = ("ech_sort_records", "ech_sort_records_workspace", "ech_sort_records_explain")


def record_key(t, raw):
    """The struct of a random key of records, and its bytes as keys for lexsort(), the last one first."""
    size = raw.shape[1]
    lib = t.lib
    width, kind = t.between(1, min(size, 20)), t.pick([lib.KEY_BYTES, lib.KEY_UNSIGNED, lib.KEY_SIGNED])
    offset, descending = t.between(0, size - width), int(t.flag())
    part = raw[:, offset:offset + width]
    if kind != lib.KEY_BYTES:
        part = part[:, ::-1]
    part = part ^ np.uint8(255 if descending else 0)
    if kind == lib.KEY_SIGNED:
        part[:, 0] ^= np.uint8(128)
    t.note(offset=offset, kind=kind, width=width, descending=descending)
    key = t.struct("ech_record_key", offset_bytes=offset, kind=kind, width_bytes=width, descending=descending)
    return key, [part[:, i] for i in range(width)]


@operation("sort_records", *RECORDS)
def sort_records(t):
    n, size, count = t.size(most=30_000), t.between(1, 40), t.pick([1, 2, 3])
    raw = t.rng.integers(0, t.pick([2, 256]), (n, size), dtype=np.uint8)
    keys, parts = zip(*(record_key(t, raw) for _ in range(count)))
    order = np.lexsort([part for some in reversed(parts) for part in reversed(some)])
    table = (type(keys[0]) * count)(*keys)
    t.note(size=size, count=count)
    options = t.struct("ech_columns_options")
    plain = (n, size, ctypes.addressof(table), count, 0, t.address(options))
    options.algorithm = t.algorithm(RECORDS[2], *plain)
    for name, value in t.work(RECORDS[1], *plain).items():
        setattr(options, name, value)
    t.threads()
    records, out = t.put(raw.ravel()), t.out(n * size, np.uint8)
    t.call(RECORDS[0], records.p, out.p, n, size, ctypes.addressof(table), count, t.address(options))
    t.same("records", out.a, raw[order].ravel())
