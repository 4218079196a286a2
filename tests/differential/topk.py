"""topk.py - the k smallest or largest elements of arrays, rows and segments: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .groups import Groups, layout, pointer, rows_of, segments_of, wrong_offsets
from .values import INDICES

ARRAY, ROWS, SEGMENTS = 0, 1, 2  # ech_topk_call
MOST_OUTPUT = 2_000_000


class Selection:
    """The options and outputs of one call, and the expected outputs."""

    def __init__(self, t, call, dtype, keys, groups, count, k, fields):
        self.t, self.dtype, self.k, self.count = t, dtype, k, count
        self.index = t.pick(INDICES)
        self.fields = dict(fields, smallest=int(t.flag()), unsorted=int(t.flag(0.3)), order=int(t.flag(0.3)))
        self.counts = self.make_counts() if t.flag(0.3) else None
        strides = layout(t, count, k) if call != ARRAY else (0, 0)
        self.fields.update(out_row_stride=strides[0], out_element_stride=strides[1])
        t.note(k=k, index=self.index, **self.fields)
        row, element = strides[0] or k * (strides[1] or 1), strides[1] or 1
        self.select(keys, groups, row, element)
        outputs = t.pick([(True, False), (False, True), (True, True)])
        extent = (count - 1) * row + (k - 1) * element + 1 if count and k else 0
        self.values = t.out(extent, dtype.storage) if outputs[0] else None
        self.indices = t.out(extent, self.index.storage) if outputs[1] else None
        self.wanted = [after(self.values, self.to, keys[groups.at][self.selected]),
                       after(self.indices, self.to, self.positions.astype(self.index.storage))]

    def make_counts(self):
        dtype = self.t.pick(INDICES)
        counts = self.t.rng.integers(0, self.k + 1, self.count)
        wrong = bool(self.count and self.k and self.t.flag(0.1))
        if wrong:
            counts[self.t.between(0, self.count - 1)] = self.k + 1
        self.t.note(counts=dtype, wrong_count=wrong)
        array = self.t.put(counts.astype(dtype.storage))
        self.fields.update(counts=array.p, counts_dtype=dtype.code)
        self.wrong = wrong
        return counts

    def select(self, keys, groups, row, element):
        """The selected elements, numbered group after group, and their places in the output."""
        fields = {"order": self.fields["order"], "descending": not self.fields["smallest"]}
        order = groups.order(self.t, self.dtype, keys, True, fields)
        rank = np.arange(len(order)) - groups.first[groups.group]
        some = np.full(self.count, self.k) if self.counts is None else np.minimum(self.counts, self.k)
        kept = rank < some[groups.group]
        self.selected, group = order[kept], groups.group[kept]
        if self.fields["unsorted"]:
            self.selected = np.sort(self.selected)
        self.positions = self.selected - groups.first[group]
        self.to = group * row + rank[kept] * element

    def options(self, call, n):
        t = self.t
        options = t.struct("ech_topk_options", **self.fields)
        plain = (call, n, self.count, self.k, self.dtype.code, t.address(options))
        options.algorithm = t.algorithm("ech_topk_explain", *plain)
        for name, value in t.work("ech_topk_workspace", *plain).items():
            setattr(options, name, value)
        t.threads()
        return t.address(options)

    def outputs(self):
        return pointer(self.values), pointer(self.indices)

    def check(self, name, *arguments, wrong=False):
        """Makes the call and compares the outputs."""
        if wrong or (self.counts is not None and self.wrong):
            self.t.fails("ECH_ERR_ARG", name, *arguments)
            return
        self.t.call(name, *arguments)
        for what, array, wanted in zip(("values", "indices"), (self.values, self.indices), self.wanted):
            if array:
                self.t.same(what, array.a, wanted)


def after(array, to, elements):
    if array is None:
        return None
    wanted = array.a.copy()
    wanted[to] = elements
    return wanted


def number(t, most):
    return min(most, t.pick([1, 2, 10, t.between(0, 70), t.between(0, 3000), t.between(0, most), most]))


COVERS = ("ech_topk_workspace", "ech_topk_explain")


@operation("topk", "ech_topk", *COVERS, weight=2)
def topk(t):
    dtype, n = t.dtype(), t.size(huge=1_000_000)
    keys = t.data(dtype, n)
    at = np.arange(n)
    s = Selection(t, ARRAY, dtype, keys, Groups(np.array([n]), at, at, n, n), 1, number(t, n), {})
    options = s.options(ARRAY, n)
    s.check("ech_topk", t.put(keys).p, *s.outputs(), n, s.k, dtype.code, s.index.code, options)


@operation("topk_rows", "ech_topk_rows", *COVERS, weight=2)
def topk_rows(t):
    dtype = t.dtype()
    groups, (rows, cols), strides = rows_of(t, True)
    fields = {name: strides[name] for name in ("row_stride", "element_stride")}
    keys = t.data(dtype, groups.in_n)
    s = Selection(t, ROWS, dtype, keys, groups, rows, number(t, cols), fields)
    options = s.options(ROWS, rows * cols)
    s.check("ech_topk_rows", t.put(keys).p, *s.outputs(), rows, cols, s.k, dtype.code, s.index.code, options)


@operation("topk_segments", "ech_topk_segments", *COVERS, weight=2)
def topk_segments(t):
    dtype = t.dtype()
    groups, n, count, index, arrays = segments_of(t)
    keys = t.data(dtype, n)
    k = number(t, MOST_OUTPUT // (4 * count) if count else 3000)
    s = Selection(t, SEGMENTS, dtype, keys, groups, count, k, {})
    options = s.options(SEGMENTS, n)
    wrong = wrong_offsets(t, n, count, arrays) and s.k > 0
    s.check("ech_topk_segments", t.put(keys).p, pointer(arrays[0]), pointer(arrays[1]), *s.outputs(), n, count, s.k,
            dtype.code, s.index.code, index.code, options, wrong=wrong)
