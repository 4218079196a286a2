"""groups.py - sorts of rows and segments: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .ordering import sort_options, sort_order
from .values import INDICES

ROWS, SEGMENTS, ARGSORT = 0, 1, 2  # ech_sort_call; an argsort adds ARGSORT


class Groups:
    """Groups of elements.  at, to: the places of their elements in the input and the output, group after group."""

    def __init__(self, lengths, at, to, in_n, out_n):
        self.group = np.repeat(np.arange(len(lengths)), lengths)
        self.first = np.cumsum(lengths) - lengths
        self.at, self.to, self.in_n, self.out_n = at, to, in_n, out_n

    def order(self, t, dtype, keys, pairs, fields):
        """The elements, numbered group after group, in sorted order within each group."""
        order = sort_order(t, dtype, keys[self.at], pairs, fields["order"], fields["descending"],
                           fields.get("begin_bit", 0), fields.get("end_bit", 0))
        return order[np.argsort(self.group[order], kind="stable")]

    def place(self, before, elements):
        after = before.copy()
        after[self.to] = elements
        return after


def shape(t, n):
    """Rows and columns of about n elements, many or few of them."""
    if t.flag(0.05):
        return t.pick([(0, 3), (3, 0), (0, 0)])
    rows = min(max(1, n), t.pick([1, 2, 3, 17, max(1, int(n ** 0.5)), max(1, n // 7), t.between(1, 3000)]))
    return rows, max(1, n) // rows


def layout(t, rows, cols):
    """Strides of rows and elements, and the number of elements from the first to the last."""
    kind = t.pick(["plain", "plain", "gaps", "columns", "spread"])
    if kind == "plain":
        strides = (0, 0)
    elif kind == "gaps":
        strides = (cols + t.between(0, 5), 1)
    elif kind == "columns":
        strides = (1, rows + t.between(0, 3))
    else:
        element = t.between(1, 4)
        strides = (cols * element + t.between(0, 9), element)
    return strides


def places(rows, cols, strides):
    row, element = strides
    return (np.arange(rows)[:, None] * row + np.arange(cols)[None, :] * element).reshape(-1).astype(np.int64)


def rows_of(t, same):
    """Random rows, and the fields of their strides.  same: the output has the strides of the input."""
    rows, cols = shape(t, t.size(huge=1_000_000))
    t.note(rows=rows, cols=cols)
    ins = layout(t, rows, cols)
    outs = ins if same or t.flag() else layout(t, rows, cols)
    outs = ins if outs == (0, 0) else outs
    fields = dict(zip(("row_stride", "element_stride", "out_row_stride", "out_element_stride"), ins + (0, 0)))
    if outs != ins:
        fields["out_row_stride"], fields["out_element_stride"] = outs
    element = ins[1] or 1
    ins = (ins[0] or cols * element, element)
    outs = (fields["out_row_stride"] or ins[0], fields["out_element_stride"] or ins[1])
    at, to = places(rows, cols, ins), places(rows, cols, outs)
    extents = [int(x.max()) + 1 if len(x) else 0 for x in (at, to)]
    t.note(**fields)
    return Groups(np.full(rows, cols, np.int64), at, to, *extents), (rows, cols), fields


def segments_of(t):
    """Random segments, their offsets, and their ends or None."""
    n = t.size(huge=1_000_000)
    count = t.pick([0, 1, 2, t.between(1, 70), t.between(1, 3000), n // t.pick([3, 40, 1000])])
    cuts = np.sort(t.rng.integers(0, n + 1, 2 * count + 1))
    if t.flag(0.3):
        cuts = np.sort(cuts // t.between(1, 100) * t.pick([0, 1, 1]))
    index = t.pick(INDICES)
    gaps = t.flag()
    begins = cuts[0:2 * count:2] if gaps else np.sort(cuts[:count + 1])[:count]
    ends = cuts[1:2 * count + 1:2] if gaps else np.sort(cuts[:count + 1])[1:]
    lengths = ends - begins
    at = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    offsets = begins if gaps else np.sort(cuts[:count + 1])
    t.note(segments=count, n=n, gaps=gaps, offsets=index)
    arrays = (t.put(offsets.astype(index.storage)), t.put(ends.astype(index.storage)) if gaps else None)
    return Groups(lengths, at, at, n, n), n, count, index, arrays


def options_of(t, call, n, groups, dtype, value_bytes, fields):
    options = t.struct("ech_sort_options", **fields)
    plain = (call, n, groups, dtype.code, value_bytes, t.address(options))
    options.algorithm = t.algorithm("ech_sort_segments_explain", *plain)
    for name, value in t.work("ech_sort_segments_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    return t.address(options)


def contents_of(t, n):
    size = t.pick([1, 2, 4, 8, 16, t.between(1, 40)])
    t.note(value_bytes=size)
    return size, np.frombuffer(t.rng.bytes(n * size), np.uint8).reshape(n, size)


def wrong_offsets(t, n, count, arrays):
    """Sometimes makes the offsets wrong, and returns whether it did."""
    offsets, ends = arrays
    if not count or not t.flag(0.1):
        return False
    s = t.between(0, count - 1)
    after = ends if ends else offsets
    begin = int(offsets.a[s])
    after.a[s if ends else s + 1] = t.pick([begin - 1 if begin else n + 1, n + 1, n + 9])
    offsets.copy = offsets.raw[offsets.begin:offsets.begin + offsets.size].copy()
    if ends:
        ends.copy = ends.raw[ends.begin:ends.begin + ends.size].copy()
    return True


def pointer(array):
    return array.p if array else None


COVERS = ("ech_sort_segments_workspace", "ech_sort_segments_explain")


@operation("sort_rows", "ech_sort_rows", *COVERS, weight=2)
def sort_rows(t):
    dtype, place = t.dtype(), t.flag(0.3)
    g, (rows, cols), strides = rows_of(t, place)
    keys = t.data(dtype, g.in_n)
    fields = {**sort_options(t, dtype, False), **strides}
    options = options_of(t, ROWS, rows * cols, rows, dtype, 0, fields)
    order = g.order(t, dtype, keys, False, fields)
    in_ = t.put(keys, writable=place)
    out = in_ if place else t.out(g.out_n, dtype.storage)
    wanted = g.place(out.a, keys[g.at][order])
    t.call("ech_sort_rows", in_.p, out.p, rows, cols, dtype.code, options)
    t.same("keys", out.a, wanted)


@operation("sort_pairs_rows", "ech_sort_pairs_rows", *COVERS, weight=2)
def sort_pairs_rows(t):
    dtype, places_in = t.dtype(), (t.flag(0.3), t.flag(0.3))
    g, (rows, cols), strides = rows_of(t, any(places_in))
    keys = t.data(dtype, g.in_n)
    size, contents = contents_of(t, g.in_n)
    fields = {**sort_options(t, dtype, True), **strides}
    options = options_of(t, ROWS, rows * cols, rows, dtype, size, fields)
    order = g.order(t, dtype, keys, True, fields)
    k, v = t.put(keys, writable=places_in[0]), t.put(contents, writable=places_in[1])
    k_out = k if places_in[0] else t.out(g.out_n, dtype.storage)
    v_out = v if places_in[1] else t.out((g.out_n, size), np.uint8)
    wanted = g.place(k_out.a, keys[g.at][order]), g.place(v_out.a, contents[g.at][order])
    t.call("ech_sort_pairs_rows", k.p, v.p, k_out.p, v_out.p, rows, cols, dtype.code, size, options)
    t.same("keys", k_out.a, wanted[0])
    t.same("values", v_out.a, wanted[1])


@operation("argsort_rows", "ech_argsort_rows", *COVERS, weight=2)
def argsort_rows(t):
    dtype, index = t.dtype(), t.pick(INDICES)
    g, (rows, cols), strides = rows_of(t, False)
    keys = t.data(dtype, g.in_n)
    fields = {**sort_options(t, dtype, True), **strides}
    options = options_of(t, ROWS + ARGSORT, rows * cols, rows, dtype, index.bytes, fields)
    order = g.order(t, dtype, keys, True, fields)
    out = t.out(g.out_n, index.storage)
    wanted = g.place(out.a, (order - g.first[g.group]).astype(index.storage))
    t.call("ech_argsort_rows", t.put(keys).p, out.p, rows, cols, dtype.code, index.code, options)
    t.same("index", out.a, wanted)


@operation("sort_segments", "ech_sort_segments", *COVERS, weight=2)
def sort_segments(t):
    dtype, place = t.dtype(), t.flag(0.3)
    g, n, count, index, arrays = segments_of(t)
    keys = t.data(dtype, n)
    fields = sort_options(t, dtype, False)
    options = options_of(t, SEGMENTS, n, count, dtype, 0, fields)
    order = g.order(t, dtype, keys, False, fields)
    in_ = t.put(keys, writable=place)
    out = in_ if place else t.out(n, dtype.storage)
    wanted = g.place(out.a, keys[g.at][order])
    arguments = (in_.p, pointer(arrays[0]), pointer(arrays[1]), out.p, n, count, dtype.code, index.code, options)
    if wrong_offsets(t, n, count, arrays):
        t.fails("ECH_ERR_ARG", "ech_sort_segments", *arguments)
        return
    t.call("ech_sort_segments", *arguments)
    t.same("keys", out.a, wanted)


@operation("sort_pairs_segments", "ech_sort_pairs_segments", *COVERS, weight=2)
def sort_pairs_segments(t):
    dtype, places_in = t.dtype(), (t.flag(0.3), t.flag(0.3))
    g, n, count, index, arrays = segments_of(t)
    keys = t.data(dtype, n)
    size, contents = contents_of(t, n)
    fields = sort_options(t, dtype, True)
    options = options_of(t, SEGMENTS, n, count, dtype, size, fields)
    order = g.order(t, dtype, keys, True, fields)
    k, v = t.put(keys, writable=places_in[0]), t.put(contents, writable=places_in[1])
    k_out = k if places_in[0] else t.out(n, dtype.storage)
    v_out = v if places_in[1] else t.out((n, size), np.uint8)
    wanted = g.place(k_out.a, keys[g.at][order]), g.place(v_out.a, contents[g.at][order])
    t.call("ech_sort_pairs_segments", k.p, v.p, pointer(arrays[0]), pointer(arrays[1]), k_out.p, v_out.p, n, count,
           dtype.code, size, index.code, options)
    t.same("keys", k_out.a, wanted[0])
    t.same("values", v_out.a, wanted[1])


@operation("argsort_segments", "ech_argsort_segments", *COVERS, weight=2)
def argsort_segments(t):
    dtype, index = t.dtype(), t.pick(INDICES)
    g, n, count, offsets, arrays = segments_of(t)
    keys = t.data(dtype, n)
    fields = sort_options(t, dtype, True)
    options = options_of(t, SEGMENTS + ARGSORT, n, count, dtype, index.bytes, fields)
    order = g.order(t, dtype, keys, True, fields)
    out = t.out(n, index.storage)
    wanted = g.place(out.a, (order - g.first[g.group]).astype(index.storage))
    t.call("ech_argsort_segments", t.put(keys).p, pointer(arrays[0]), pointer(arrays[1]), out.p, n, count, dtype.code,
           index.code, offsets.code, options)
    t.same("index", out.a, wanted)
