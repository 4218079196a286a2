"""Rows: an axis of an array as rows of elements with two strides, without a copy where the strides permit it.

SPDX-License-Identifier: Apache-2.0
"""
from .._runtime.errors import ArgumentError
import numpy as np

from .capsules import array_at
from .view import normalized_axis


class Rows:
    """rows x cols elements; element j of row i is at i * row_stride + j * element_stride (in elements)."""

    __slots__ = ("rows", "cols", "row_stride", "element_stride")

    def __init__(self, rows, cols, row_stride, element_stride):
        self.rows, self.cols, self.row_stride, self.element_stride = rows, cols, row_stride, element_stride

    @property
    def plain(self):
        """Whether the rows follow each other without gaps."""
        return self.element_stride == 1 and (self.row_stride == self.cols or self.rows <= 1)

    @property
    def valid(self):
        """Whether the library accepts the strides: positive, and no two elements at the same place."""
        row, element = self.row_stride, self.element_stride
        if self.rows <= 1 and element > 0:
            return True
        if row <= 0 or element <= 0:
            return False
        return row >= element * self.cols or element >= row * self.rows


def rows_of(view, axis):
    """The Rows of an array along an axis, or None if its strides do not allow that."""
    shape, itemsize = view.shape, view.itemsize
    cols = shape[axis]
    if view.strides is None:
        after = 1
        for n in shape[axis + 1:]:
            after *= n
        before = 1
        for n in shape[:axis]:
            before *= n
        if after == 1:
            return Rows(before, cols, cols, 1)
        return Rows(after, cols, 1, after) if before == 1 else None
    if any(stride % itemsize for stride in view.strides):
        return None
    strides = [stride // itemsize for stride in view.strides]
    others = [(n, stride) for i, (n, stride) in enumerate(zip(shape, strides)) if i != axis and n != 1]
    rows, row_stride = 1, cols * strides[axis]
    if others:
        rows, row_stride = others[-1]
        for n, stride in reversed(others[:-1]):
            if stride != row_stride * rows:
                return None
            rows *= n
    found = Rows(rows, cols, row_stride, strides[axis] if cols > 1 else 1)
    return found if found.valid else None


def along_last(job, view, axis):
    """The View, or that of a copy, in C order with the axis moved to the end."""
    axis = normalized_axis(axis, view.ndim)
    if axis != view.ndim - 1:
        view = job.add(view.family.view(view.family.moveaxis(view.array, axis, -1)))
    return job.contiguous(view)


def moved_back(job, view, axis, ndim):
    """The result of an operation on the last axis, with that axis at its place."""
    axis = normalized_axis(axis, ndim)
    if axis == ndim - 1:
        return view
    family = view.family
    return job.contiguous(family.view(family.moveaxis(view.array, -1, axis)))


def last_axes(job, view, axis):
    """The View in C order with the given axes at the end, and the shapes of the other and of these axes.

    axis: an axis, a tuple of axes, or None for all.
    """
    ndim = view.ndim
    if axis is None:
        axes = tuple(range(ndim))
    elif isinstance(axis, (tuple, list)):
        axes = tuple(normalized_axis(a, ndim) for a in axis)
        if len(set(axes)) != len(axes):
            raise ArgumentError(f"axis is {tuple(axis)}, in which an axis occurs twice")
    else:
        axes = (normalized_axis(axis, ndim),)
    kept = tuple(view.shape[i] for i in range(ndim) if i not in axes)
    reduced = tuple(view.shape[i] for i in axes)
    target = tuple(range(ndim - len(axes), ndim))
    if axes != target:
        view = job.add(view.family.view(view.family.moveaxis(view.array, axes, target)))
    return job.contiguous(view), kept, reduced


def with_ones(shape, axis):
    """The shape of a result with keepdims: axes that are reduced have length 1."""
    ndim = len(shape)
    axes = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = {normalized_axis(a, ndim) for a in axes}
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def distinct(view):
    """Whether no two elements of an array are at the same place."""
    if view.strides is None or view.size == 0:
        return True
    extent = view.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(view.strides, view.shape) if n > 1):
        if stride < extent:
            return False
        extent += stride * (n - 1)
    return True


def _range_of(view):
    """The addresses of the first byte and of the byte after the last one."""
    if view.strides is None:
        return view.pointer, view.pointer + view.nbytes
    steps = [stride * (n - 1) for stride, n in zip(view.strides, view.shape)]
    first = view.pointer + sum(step for step in steps if step < 0)
    return first, view.pointer + sum(step for step in steps if step > 0) + view.itemsize


def entangled(view, other, may_be=False):
    """Whether two arrays overlap. may_be: not if each element of one is at the place of the same one of the other."""
    if may_be and view.pointer == other.pointer and (view.shape, view.strides, view.code) == \
            (other.shape, other.strides, other.code):
        return False
    return ranges_overlap(view, other)


def ranges_overlap(view, other):
    """Whether the ranges of addresses of two arrays have a byte in common; an empty array has none."""
    if view.size == 0 or other.size == 0:
        return False
    (first, last), (other_first, other_last) = _range_of(view), _range_of(other)
    return first < other_last and other_first < last and view.device == other.device


def overlap(view, other):
    """Whether two arrays have a byte in common; on a GPU, whether their ranges of addresses have one."""
    if not ranges_overlap(view, other):
        return False
    if view.device != "cpu":
        return True
    try:
        return np.shares_memory(memory(view), memory(other), max_work=100_000)
    except np.exceptions.TooHardError if hasattr(np, "exceptions") else np.TooHardError:
        return True


def memory(view):
    """An array of NumPy with the bytes of a View in host memory: elements are unsigned integers of their size."""
    return array_at(view.pointer, view.shape, f"u{view.itemsize}", view.array, view.strides, view.readonly)
