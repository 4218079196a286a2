"""ordering.py - sorts, selections and movements of elements: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from . import values
from .case import operation
from .values import INDICES


# ---- Sort ----

def sort_order(t, dtype, keys, pairs, total, descending, begin, end):
    rank = dtype.rank(keys, total=total, collapse=pairs)
    width = dtype.width
    end = end or width
    if begin == end:
        return np.arange(len(keys))
    rank = rank >> dtype.bits.type(begin) if begin else rank
    if end - begin < width:
        rank = rank & dtype.bits.type((1 << (end - begin)) - 1)
    if descending:
        rank = ~rank
        if end - begin < width:
            rank = rank & dtype.bits.type((1 << (end - begin)) - 1)
    return np.argsort(rank, kind="stable")


def sort_options(t, dtype, pairs):
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3))}
    if t.flag(0.3):
        begin, end = sorted((t.between(0, dtype.width), t.between(0, dtype.width)))
        fields.update(begin_bit=begin, end_bit=end)
        if end == 0:
            fields["begin_bit"] = 0
    t.note(**fields)
    return fields


@operation("sort", "ech_sort", "ech_sort_workspace", "ech_sort_explain", "ech_is_sorted", weight=2)
def sort(t):
    dtype, n = t.dtype(), t.size(huge=3_000_000)
    keys = t.data(dtype, n)
    fields = sort_options(t, dtype, False)
    options = t.struct("ech_sort_options", **fields)
    plain = (n, dtype.code, 0, t.address(options))
    options.algorithm = t.algorithm("ech_sort_explain", *plain)
    for name, value in t.work("ech_sort_workspace", *plain).items():
        setattr(options, name, value)
    order = sort_order(t, dtype, keys, False, fields["order"], fields["descending"],
                       fields.get("begin_bit", 0), fields.get("end_bit", 0))
    t.threads()
    place = t.flag(0.3)
    t.note(in_place=place)
    in_ = t.put(keys, writable=place)
    out = in_ if place else t.out(n, dtype.storage)
    t.call("ech_sort", in_.p, out.p, n, dtype.code, t.address(options))
    t.same("keys", out.a, keys[order])
    if not fields.get("end_bit"):
        check = t.struct("ech_is_sorted_options", descending=fields["descending"], order=fields["order"])
        position = t.out(1, np.uint64)
        t.call("ech_is_sorted", out.p, position.p, n, dtype.code, t.address(check))
        t.equal("position", int(position.a[0]), n)


@operation("sort_pairs", "ech_sort_pairs", "ech_sort_workspace", "ech_sort_explain", weight=2)
def sort_pairs(t):
    dtype, n = t.dtype(), t.size(huge=1_000_000)
    keys = t.data(dtype, n)
    size = t.pick([1, 2, 4, 8, 16, t.between(1, 40)])
    t.note(value_bytes=size)
    contents = np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size)
    fields = sort_options(t, dtype, True)
    options = t.struct("ech_sort_options", **fields)
    plain = (n, dtype.code, size, t.address(options))
    options.algorithm = t.algorithm("ech_sort_explain", *plain)
    for name, value in t.work("ech_sort_workspace", *plain).items():
        setattr(options, name, value)
    order = sort_order(t, dtype, keys, True, fields["order"], fields["descending"],
                       fields.get("begin_bit", 0), fields.get("end_bit", 0))
    t.threads()
    keys_in_place, values_in_place = t.flag(0.3), t.flag(0.3)
    t.note(in_place=(keys_in_place, values_in_place))
    k, v = t.put(keys, writable=keys_in_place), t.put(contents, writable=values_in_place)
    k_out = k if keys_in_place else t.out(n, dtype.storage)
    v_out = v if values_in_place else t.out((n, size), np.uint8)
    t.call("ech_sort_pairs", k.p, v.p, k_out.p, v_out.p, n, dtype.code, size, t.address(options))
    t.same("keys", k_out.a, keys[order])
    t.same("values", v_out.a, contents[order])


@operation("argsort", "ech_argsort", "ech_argsort_workspace", "ech_argsort_explain", weight=2)
def argsort(t):
    dtype, n, index = t.dtype(), t.size(huge=1_000_000), t.pick(INDICES)
    t.note(index=index)
    keys = t.data(dtype, n)
    fields = sort_options(t, dtype, True)
    options = t.struct("ech_sort_options", **fields)
    plain = (n, dtype.code, index.code, t.address(options))
    options.algorithm = t.algorithm("ech_argsort_explain", *plain)
    for name, value in t.work("ech_argsort_workspace", *plain).items():
        setattr(options, name, value)
    order = sort_order(t, dtype, keys, True, fields["order"], fields["descending"],
                       fields.get("begin_bit", 0), fields.get("end_bit", 0))
    t.threads()
    out = t.out(n, index.storage)
    t.call("ech_argsort", t.put(keys).p, out.p, n, dtype.code, index.code, t.address(options))
    t.same("index", out.a, order.astype(index.storage))


@operation("merge", "ech_merge", "ech_merge_pairs", "ech_merge_workspace", "ech_merge_explain", weight=2)
def merge(t):
    dtype, sizes = t.dtype(), (t.size(huge=1_000_000), t.size())
    size = t.pick([0, 0, 1, 2, 4, 8, 16, t.between(1, 40)])
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3))}
    t.note(sizes=sizes, value_bytes=size, **fields)
    keys = []
    for n in sizes:
        k = t.data(dtype, n)
        keys.append(k[sort_order(t, dtype, k, True, fields["order"], fields["descending"], 0, 0)])
    contents = [np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size) for n in sizes]
    options = t.struct("ech_merge_options", **fields)
    plain = (*sizes, dtype.code, size, t.address(options))
    options.algorithm = t.algorithm("ech_merge_explain", *plain)
    for name, value in t.work("ech_merge_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    both = np.concatenate(keys)
    order = sort_order(t, dtype, both, True, fields["order"], fields["descending"], 0, 0)
    a, b = (t.put(k).p for k in keys)
    out, last = t.out(sum(sizes), dtype.storage), (*sizes, dtype.code)
    if size:
        values = t.out((sum(sizes), size), np.uint8)
        a_values, b_values = (t.put(v).p for v in contents)
        t.call("ech_merge_pairs", a, a_values, b, b_values, out.p, values.p, *last, size, t.address(options))
        t.same("values", values.a, np.concatenate(contents)[order])
    else:
        t.call("ech_merge", a, b, out.p, *last, t.address(options))
    t.same("keys", out.a, both[order])


@operation("is_sorted", "ech_is_sorted", "ech_is_sorted_workspace", "ech_is_sorted_explain")
def is_sorted(t):
    dtype, n = t.dtype(), t.size()
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3)), "strict": int(t.flag(0.3))}
    keys = t.data(dtype, n)
    rank = dtype.rank(keys, total=fields["order"], collapse=True)
    if t.flag(0.7):
        keys = keys[np.argsort(~rank if fields["descending"] else rank, kind="stable")]
        if n and t.flag():
            keys[t.between(0, n - 1)] = t.data(dtype, 1)[0]
        rank = dtype.rank(keys, total=fields["order"], collapse=True)
    options = t.struct("ech_is_sorted_options", **fields)
    plain = (n, dtype.code, t.address(options))
    t.lib.explain("ech_is_sorted_explain", t.device.encode(), *plain)
    for name, value in t.work("ech_is_sorted_workspace", *plain).items():
        setattr(options, name, value)
    t.note(**fields)
    t.threads()
    a, b = rank[:-1], rank[1:]
    wrong = b > a if fields["descending"] else b < a
    if fields["strict"]:
        wrong |= a == b
    at = np.flatnonzero(wrong)
    out = t.out(1, np.uint64)
    t.call("ech_is_sorted", t.put(keys).p, out.p, n, dtype.code, t.address(options))
    t.equal("position", int(out.a[0]), int(at[0]) + 1 if len(at) else n)


# ---- Select ----

COMPARISONS = "NONZERO LESS LESS_EQUAL EQUAL NOT_EQUAL GREATER_EQUAL GREATER IS_NAN HAS_ANY HAS_ALL HAS_NONE".split()


def passes(dtype, compare, a, v):
    """ech_compare in NumPy."""
    x = dtype.value(a)
    y = dtype.value(v) if v is not None else None
    if compare == "NONZERO":
        return x != 0
    if compare == "IS_NAN":
        return dtype.is_nan(a)
    if compare.startswith("HAS"):
        both = a & v
        return {"HAS_ANY": both != 0, "HAS_ALL": both == v, "HAS_NONE": both == 0}[compare]
    return {"LESS": x < y, "LESS_EQUAL": x <= y, "EQUAL": x == y, "NOT_EQUAL": x != y,
            "GREATER_EQUAL": x >= y, "GREATER": x > y}[compare]


def random_test(t, dtype, a):
    """A test of elements: its name and its value."""
    compare = t.pick(COMPARISONS if dtype.kind != "f" else COMPARISONS[:8])
    if compare in ("NONZERO", "IS_NAN"):
        v = None
    elif len(a) and t.flag(0.7):
        v = a[t.between(0, len(a) - 1)].reshape(1)
    else:
        v = t.data(dtype, 1)
    t.note(compare=compare, value=v)
    return compare, v


def select_options(t, call, n, element, value, **fields):
    options = t.struct("ech_select_options", **fields)
    plain = (t.lib.constants["ECH_SELECT_CALL_" + call], n, element, value, t.address(options))
    t.lib.explain("ech_select_explain", t.device.encode(), *plain)
    for name, bytes_ in t.work("ech_select_workspace", *plain).items():
        setattr(options, name, bytes_)
    t.note(**fields)
    t.threads()
    return t.address(options)


@operation("select_flags", "ech_select_flags", "ech_partition_flags", "ech_select_workspace", "ech_select_explain")
def select_flags(t):
    n, size, partition = t.size(), t.pick([1, 2, 4, 8, 16, t.between(1, 40)]), t.flag(0.4)
    packed, invert = t.flag(), t.flag(0.3)
    set_ = t.rng.random(n) < t.pick([0, 0.01, 0.5, 0.9, 1])
    contents = np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size)
    bytes_ = np.packbits(set_, bitorder="little") if packed else (set_ * t.rng.integers(1, 256, n)).astype(np.uint8)
    if packed and n % 8:
        bytes_[-1] |= (0xFF << n % 8) & 0xFF & t.between(0, 255)
    kept = ~set_ if invert else set_
    t.note(bytes=size, partition=partition)
    fields = {"packed": int(packed), "invert": int(invert)}
    positions = None
    if not partition and t.flag(0.3):
        positions = t.pick(INDICES)
        if positions.code:
            fields["positions"] = positions.code
    name = "PARTITION_FLAGS" if partition else "FLAGS"
    options = select_options(t, name, n, size, 0, **fields)
    count = t.out(1, np.uint64)
    in_, flags = t.put(contents), t.put(bytes_)
    if partition:
        out = t.out((n, size), np.uint8)
        t.call("ech_partition_flags", in_.p, flags.p, out.p, count.p, n, size, options)
        t.same("elements", out.a, np.concatenate([contents[kept], contents[~kept]]))
    elif positions:
        out = t.out(n, positions.storage)
        t.call("ech_select_flags", None if t.flag() else in_.p, flags.p, out.p, count.p, n, size, options)
        t.same("positions", out.a[:kept.sum()], np.flatnonzero(kept).astype(positions.storage))
    else:
        out = t.out((n, size), np.uint8)
        t.call("ech_select_flags", in_.p, flags.p, out.p, count.p, n, size, options)
        t.same("elements", out.a[:kept.sum()], contents[kept])
    t.equal("count", int(count.a[0]), int(kept.sum()))


@operation("select_if", "ech_select_if", "ech_partition_if", "ech_select_workspace", "ech_select_explain")
def select_if(t):
    dtype, n, partition, invert = t.dtype(), t.size(), t.flag(0.4), t.flag(0.3)
    a = t.data(dtype, n)
    compare, v = random_test(t, dtype, a)
    kept = passes(dtype, compare, a, v) ^ invert
    fields = {"invert": int(invert)}
    positions = t.pick(INDICES) if not partition and t.flag(0.3) else None
    if positions:
        fields["positions"] = positions.code
    options = select_options(t, "PARTITION_IF" if partition else "IF", n, dtype.bytes, 0, **fields)
    count, in_ = t.out(1, np.uint64), t.put(a)
    value = None if v is None else t.put(v).p
    out = t.out(n, positions.storage if positions else dtype.storage)
    t.note(partition=partition)
    name = "ech_partition_if" if partition else "ech_select_if"
    t.call(name, t.lib.constants["ECH_COMPARE_" + compare], in_.p, out.p, count.p, n, dtype.code, value, options)
    t.equal("count", int(count.a[0]), int(kept.sum()))
    if partition:
        t.same("elements", out.a, np.concatenate([a[kept], a[~kept]]))
    elif positions:
        t.same("positions", out.a[:kept.sum()], np.flatnonzero(kept).astype(positions.storage))
    else:
        t.same("elements", out.a[:kept.sum()], a[kept])


@operation("partition_3way", "ech_partition_3way", "ech_select_workspace", "ech_select_explain")
def partition_3way(t):
    dtype, n = t.dtype(), t.size()
    a = t.data(dtype, n)
    limits = np.concatenate([a[:2], t.data(dtype, 2)]) if t.flag() else t.data(dtype, 4)
    limits = limits[~dtype.is_nan(limits)]
    if len(limits) < 2:
        limits = np.zeros(2, dtype.storage)
    limits = limits[np.argsort(dtype.value(limits), kind="stable")]
    low, high = limits[:1], limits[-1:]
    options = select_options(t, "PARTITION_3WAY", n, dtype.bytes, 0)
    x = dtype.value(a)
    first = x < dtype.value(low)
    second = (x >= dtype.value(low)) & (x <= dtype.value(high))
    rest = ~(first | second)
    out, counts = t.out(n, dtype.storage), t.out(2, np.uint64)
    t.note(low=low, high=high)
    t.call("ech_partition_3way", t.put(a).p, out.p, counts.p, n, dtype.code, t.put(low).p, t.put(high).p, options)
    t.same("counts", counts.a, np.array([first.sum(), second.sum()], np.uint64))
    t.same("elements", out.a, np.concatenate([a[first], a[second], a[rest]]))


def run_starts(dtype, a):
    """The first element of each run of equal elements."""
    key = dtype.equal_key(a)
    return np.concatenate([[True], key[1:] != key[:-1]]) if len(a) else np.zeros(0, bool)


def run_data(t, dtype, n):
    a = t.data(dtype, n)
    if t.flag():
        a = np.repeat(a, t.rng.integers(0, t.pick([3, 20, 300]), n))[:n]
    return a


@operation("unique", "ech_unique", "ech_unique_by_key", "ech_rle_encode", "ech_select_workspace", "ech_select_explain")
def unique(t):
    dtype, n = t.dtype(), t.size()
    a = run_data(t, dtype, n)
    n = len(a)
    starts = run_starts(dtype, a)
    at = np.flatnonzero(starts)
    count, in_, out = t.out(1, np.uint64), t.put(a), t.out(n, dtype.storage)
    call = t.pick(["UNIQUE", "UNIQUE_BY_KEY", "RLE_ENCODE"])
    t.note(call=call, n=n)
    if call == "RLE_ENCODE":
        options = select_options(t, call, n, dtype.bytes, 0)
        lengths = t.out(n, np.uint64)
        t.call("ech_rle_encode", in_.p, out.p, lengths.p, count.p, n, dtype.code, options)
        t.same("lengths", lengths.a[:len(at)], np.diff(np.append(at, n)).astype(np.uint64))
        kept = starts
    else:
        invert = t.flag(0.3)
        size = t.pick([1, 2, 4, 8, 16, t.between(1, 40)])
        options = select_options(t, call, n, dtype.bytes, size, invert=int(invert))
        kept = starts ^ invert
        if call == "UNIQUE":
            t.call("ech_unique", in_.p, out.p, count.p, n, dtype.code, options)
        else:
            contents = np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size)
            values_out = t.out((n, size), np.uint8)
            t.call("ech_unique_by_key", in_.p, t.put(contents).p, out.p, values_out.p, count.p, n, dtype.code, size,
                   options)
            t.same("values", values_out.a[:kept.sum()], contents[kept])
    t.equal("count", int(count.a[0]), int(kept.sum()))
    t.same("elements", out.a[:kept.sum()], a[kept])


@operation("rle_decode", "ech_rle_decode", "ech_select_workspace", "ech_select_explain")
def rle_decode(t):
    runs, size = t.size(20_000), t.pick([1, 2, 4, 8, 16, t.between(1, 40)])
    lengths = t.rng.integers(0, t.pick([2, 4, 30]), runs).astype(np.uint64)
    if runs and t.flag(0.2):
        lengths[t.between(0, runs - 1)] = t.between(0, 50_000)
    total = int(lengths.sum())
    contents = np.frombuffer(t.rng.bytes(runs * size), np.uint8).reshape(runs, size)
    n = total + t.pick([0, 0, 1, 100])
    options = select_options(t, "RLE_DECODE", runs, size, 0)
    in_, out, lengths_in = t.put(contents), t.out((n, size), np.uint8), t.put(lengths)
    before = out.a.copy()
    t.note(runs=runs, total=total, n=n, bytes=size)
    if total and t.flag(0.1):
        t.fails("ECH_ERR_ARG", "ech_rle_decode", in_.p, lengths_in.p, out.p, runs, total - 1, size, options)
        t.same("unwritten elements", out.a, before)
        return
    t.call("ech_rle_decode", in_.p, lengths_in.p, out.p, runs, n, size, options)
    t.same("elements", out.a[:total], np.repeat(contents, lengths.astype(np.int64), axis=0))
    t.same("elements beyond the lengths", out.a[total:], before[total:])


# ---- Arrange ----

def explain_arrange(t, call, n, size):
    t.lib.explain("ech_arrange_explain", t.device.encode(), t.lib.constants["ECH_ARRANGE_CALL_" + call], n, size)
    t.threads()


def elements(t, n, size=None):
    size = size or t.pick([1, 2, 4, 8, 16, t.between(1, 70)])
    t.note(bytes=size)
    return np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size), size


@operation("gather", "ech_gather", "ech_scatter", "ech_arrange_explain")
def gather(t):
    n, other, index = t.size(), t.size(), t.pick(INDICES)
    scatter = t.flag()
    t.note(index=index, scatter=scatter, other=other)
    if scatter:
        other = max(other, n)
        at = t.rng.permutation(other)[:n].astype(index.storage)
    else:
        n = n if other else 0
        at = t.rng.integers(0, max(other, 1), n).astype(index.storage)
    contents, size = elements(t, n if scatter else other)
    explain_arrange(t, "SCATTER" if scatter else "GATHER", n, size)
    bad = n and t.flag(0.05)
    if bad:
        at[t.between(0, n - 1)] = index.storage.type(t.pick([other, index.limits()[1], index.limits()[0] or other]))
    in_, position, out = t.put(contents), t.put(at), t.out((other if scatter else n, size), np.uint8)
    before = out.a.copy()
    name = "ech_scatter" if scatter else "ech_gather"
    arguments = (in_.p, position.p, out.p, n, other, index.code, size)
    if bad:
        t.fails("ECH_ERR_ARG", name, *arguments)
        return
    t.call(name, *arguments)
    if scatter:
        before[at.astype(np.int64)] = contents
        t.same("elements", out.a, before)
    else:
        t.same("elements", out.a, contents[at.astype(np.int64)])


@operation("reverse", "ech_reverse", "ech_rotate", "ech_arrange_explain")
def reverse(t):
    n = t.size()
    contents, size = elements(t, n)
    if t.flag():
        explain_arrange(t, "REVERSE", n, size)
        place = t.flag()
        in_ = t.put(contents, writable=place)
        out = in_ if place else t.out((n, size), np.uint8)
        t.note(call="reverse", in_place=place)
        t.call("ech_reverse", in_.p, out.p, n, size)
        t.same("elements", out.a, contents[::-1])
        return
    explain_arrange(t, "ROTATE", n, size)
    by = t.pick([0, 1, n // 2, n, t.between(0, 2 * n + 1), t.between(0, 2**62)])
    out = t.out((n, size), np.uint8)
    t.note(call="rotate", by=by)
    t.call("ech_rotate", t.put(contents).p, out.p, n, size, by)
    t.same("elements", out.a, np.roll(contents, -(by % n) if n else 0, axis=0))


@operation("transpose", "ech_transpose", "ech_arrange_explain")
def transpose(t):
    n = t.size()
    rows = t.pick([1, 2, 3, 7, 8, 64, max(1, int(n ** 0.5)), max(1, n), t.between(1, 300)])
    cols = n // rows
    if t.flag(0.03):
        cols = 0
    contents, size = elements(t, rows * cols)
    explain_arrange(t, "TRANSPOSE", rows * cols, size)
    t.note(rows=rows, cols=cols)
    out = t.out((cols, rows, size), np.uint8)
    t.call("ech_transpose", t.put(contents).p, out.p, rows, cols, size)
    t.same("elements", out.a, contents.reshape(rows, cols, size).transpose(1, 0, 2))


@operation("fill", "ech_fill", "ech_arrange_explain")
def fill(t):
    n = t.size()
    value, size = elements(t, 1, t.between(100, 1500) if t.flag(0.1) else None)
    if size > 100:
        n = min(n, 2000)
    explain_arrange(t, "FILL", n, size)
    out = t.out((n, size), np.uint8)
    t.call("ech_fill", out.p, n, size, t.put(value).p)
    t.same("elements", out.a, np.repeat(value, n, axis=0))


@operation("iota", "ech_iota", "ech_arrange_explain")
def iota(t):
    dtype, n = t.dtype(), t.size()
    start = t.data(dtype, 1) if t.flag(0.8) else None
    step = t.data(dtype, 1) if t.flag(0.8) else None
    explain_arrange(t, "IOTA", n, dtype.bytes)
    out = t.out(n, dtype.storage)
    t.note(start=start, step=step)
    t.call("ech_iota", out.p, n, dtype.code, None if start is None else t.put(start).p,
           None if step is None else t.put(step).p)
    i = np.arange(n, dtype=np.uint64)
    if dtype.kind != "f":
        a = 0 if start is None else int(start[0])
        d = 1 if step is None else int(step[0])
        expected = (np.uint64(a % 2**64) + i * np.uint64(d % 2**64)).astype(dtype.bits).view(dtype.storage)
    else:
        kind = np.float64 if dtype is values.F64 else np.float32
        a = kind(0) if start is None else dtype.value(start)[0]
        d = kind(1) if step is None else dtype.value(step)[0]
        # n < 2^29, so i is exact in f64, and the f64 product of i and an f32 is exact
        product = i.astype(np.float64) * np.float64(d)
        expected = dtype.store(kind(a) + product.astype(kind))
    t.same("elements", out.a, expected)


GOLDEN = 0x9E3779B97F4A7C15
M64 = 2**64 - 1


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def permutation_of(n, seed):
    """The permutation that docs/arrange.md defines."""
    a = 8
    while a * a < n:
        a += 2
    b = max(-(-n // a), 8)
    state = mix(mix((seed + GOLDEN) & M64) ^ n)
    key = [np.uint64(mix((state + (r + 1) * GOLDEN) & M64) >> 32) for r in range(8)]
    u = np.uint64

    def below(x, k, m):
        h = (x ^ k) * u(0x7FEB352D) & u(0xFFFFFFFF)
        h = (h ^ h >> u(15)) * u(0x846CA68B) & u(0xFFFFFFFF)
        return h * u(m) >> u(32)

    p = np.arange(n, dtype=np.uint64)
    todo = np.arange(n)
    while len(todo):
        row, column = p[todo] // u(a), p[todo] % u(a)
        for r in range(0, 8, 2):
            column = (column + below(row, key[r], a)) % u(a)
            row = (row + below(column, key[r + 1], b)) % u(b)
        p[todo] = row * u(a) + column
        todo = todo[p[todo] >= n]
    return p


@operation("shuffle", "ech_permutation", "ech_shuffle", "ech_sample", "ech_arrange_explain")
def shuffle(t):
    n, seed = t.size(100_000), t.pick([0, 1, t.between(0, 2**62), 2**64 - 1])
    p = permutation_of(n, seed)
    call = t.pick(["permutation", "shuffle", "sample"])
    t.note(call=call, seed=seed)
    if call == "permutation":
        index = t.pick(INDICES)
        t.note(index=index)
        explain_arrange(t, "PERMUTATION", n, index.bytes)
        out = t.out(n, index.storage)
        t.call("ech_permutation", out.p, n, index.code, seed)
        t.same("permutation", out.a, p.astype(index.storage))
        return
    contents, size = elements(t, n)
    k = n if call == "shuffle" else t.between(0, n)
    explain_arrange(t, "SHUFFLE", k, size)
    out, in_ = t.out((k, size), np.uint8), t.put(contents)
    if call == "shuffle":
        t.call("ech_shuffle", in_.p, out.p, n, size, seed)
    else:
        t.call("ech_sample", in_.p, out.p, n, k, size, seed)
    t.same("elements", out.a, contents[p[:k].astype(np.int64)])
