"""Products of dense matrices and vectors: matmul and vecdot of echelon.linalg.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._arrays.layout import along_last, ranges_overlap
from .._arrays.view import FLOAT_CODES, NAMES, contiguous_strides, dtype_name
from .._runtime import native
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .common import cast
from .floats import check_number, common_float, with_shape

_HALVES = (c.ECH_F16, c.ECH_BF16)


class Matrices:
    """The matrices in the last two axes of an array: element (i, j) is at i * stride + j, or j * stride + i."""

    __slots__ = ("view", "stride", "transposed")

    def __init__(self, job, view, transposable=True):
        """Copies the array if its strides do not permit that. Only with transposable, transposed may be True."""
        layout = _layout(view, transposable)
        if layout is None:
            view = job.contiguous(view)
            layout = max(view.shape[-1], 1), False
        self.view = view
        self.stride, self.transposed = layout

    def distances(self, batch):
        """[count] of int64: the bytes from the first matrix to each one of a batch, to whose shape it is broadcast."""
        view = self.view
        strides = view.strides or contiguous_strides(view.shape, view.itemsize)
        total = np.zeros(batch, np.int64)
        for axis, (n, stride) in enumerate(zip(view.shape[:-2], strides), len(batch) - view.ndim + 2):
            if n != 1:
                total += (np.arange(n) * stride).reshape([-1 if i == axis else 1 for i in range(len(batch))])
        return total.reshape(-1)


def _layout(view, transposable):
    """The distance of the rows in elements, and whether the matrices are transposed; None: neither."""
    rows, cols = view.shape[-2:]
    if view.strides is None:
        return max(cols, 1), False
    if any(stride % view.itemsize for stride in view.strides):
        return None
    row, col = (stride // view.itemsize for stride in view.strides[-2:])
    if (col == 1 or cols <= 1) and (row >= cols or rows <= 1):
        return (row if rows > 1 else max(cols, 1)), False
    if transposable and (row == 1 or rows <= 1) and (col >= rows or cols <= 1):
        return (col if cols > 1 else max(rows, 1)), True
    return None


def broadcast(first, second):
    """The common shape of two batches."""
    if not first or not second or first == second:
        return first or second
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        raise ArgumentError(f"x1 is a batch of shape {first} and x2 of shape {second}, which cannot be broadcast "
                            "together") from None


def algorithm_of(algorithm):
    """The name of an algorithm as the library expects it."""
    if algorithm is None:
        return None
    if isinstance(algorithm, str):
        return algorithm.encode(errors="replace").replace(b"\0", b"?")
    raise DTypeError(f"algorithm is {algorithm!r}, but must be a string or None")


def regular(distances, itemsize):
    """The distance of consecutive matrices in elements, or None if it is not always the same."""
    steps = np.diff(distances)
    if steps.size == 0:
        return 0
    step = int(steps[0])
    return step // itemsize if step >= 0 and step % itemsize == 0 and (steps == step).all() else None


def _multiply(job, a, b, target, batch, shape, options):
    """target = a b for each pair of matrices; shape: m, n and k."""
    code, places, steps = a.view.code, [], (0, 0, 0)
    if batch:
        places = [x.distances(batch) for x in (a, b, target)]
        steps = [regular(distances, x.view.itemsize) for distances, x in zip(places, (a, b, target))]
    count = places[0].size if batch else 1
    if None not in steps and (count == 1 or steps[2]):
        if count > 1:
            options.batch_count = count
            options.a_batch_stride, options.b_batch_stride, options.c_batch_stride = steps
        job.call("ech_matmul", *shape, 1.0, a.view.pointer, a.stride, b.view.pointer, b.stride, 0.0,
                 target.view.pointer, target.stride, code, ctypes.addressof(options))
        return
    pointers = [(distances + x.view.pointer).astype(np.uint64) for distances, x in zip(places, (a, b, target))]
    job.call("ech_matmul_pointers", count, *shape, 1.0, pointers[0].ctypes.data, a.stride, pointers[1].ctypes.data,
             b.stride, 0.0, pointers[2].ctypes.data, target.stride, code, ctypes.addressof(options))


def _result_code(code, dtype):
    """The ech_dtype of a product of operands with this ech_dtype."""
    if dtype is None:
        return code
    text = dtype_name(dtype)
    wanted = _arrays.CODES.get(text)
    if wanted != code and not (code in _HALVES and wanted == c.ECH_F32):
        allowed = f"{NAMES[code]} or float32" if code in _HALVES else NAMES[code]
        raise DTypeError(f"dtype is {text}, but must be {allowed}")
    return wanted


def operands(x1, x2):
    """The call and the Views of two arrays with numbers in the common floating-point type."""
    views = [_arrays.view(x1, "x1"), _arrays.view(x2, "x2")]
    if _arrays.family_of(x1) is None and _arrays.family_of(x2) is not None:
        job = Job(views[1])
        views[0] = job.view(x1, "x1")
    else:
        job = Job(views[0])
        views[1] = job.view(x2, "x2")
    for view, name in zip(views, ("x1", "x2")):
        check_number(view, name)
    if not any(view.code in FLOAT_CODES for view in views):
        raise DTypeError(f"x1 and x2 have dtypes {views[0].dtype} and {views[1].dtype}; products of integers are not "
                         "supported: convert one of them to a floating-point type")
    code = common_float([view.code for view in views], half=True)
    return job, [cast(job, view, code) for view in views], code


@operation
def matmul(x1, x2, /, *, dtype=None, algorithm=None, out=None):
    """Multiply matrices.

    x1: [..., m, k] or [k]. x2: [..., k, n] or [k]. The axes before the last two are batches and are broadcast. dtype:
    of the result; for float16 and bfloat16 it may be float32, without rounding of the sums. algorithm: "blas", a
    library of the vendor; "tiled", which is bit-identical on every device; None: "blas" if it is found. out: an array
    of the shape and dtype of the result, which must not be x1 or x2.

    Returns an array [..., m, n] of the common type of x1 and x2: float16, bfloat16, float32 or float64. An argument
    with one dimension is a row (x1) or a column (x2), and the result does not have this dimension. float16 and
    bfloat16 are accumulated in float32. Raises ArgumentError for shapes that do not match, and DTypeError if both
    arguments have integers.

    >>> import echelon, numpy
    >>> echelon.linalg.matmul(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([1.0, 1.0]))
    array([3., 7.])
    """
    job, (first, second), code = operands(x1, x2)
    if first.ndim == 0 or second.ndim == 0:
        raise ArgumentError(f"{'x1' if first.ndim == 0 else 'x2'} has no dimensions, but must have at least one")
    k, rows = first.shape[-1], second.shape[-2 if second.ndim > 1 else -1]
    if k != rows:
        raise ArgumentError(f"x1 has shape {first.shape} and x2 {second.shape}: x1 has {k} columns, but x2 has {rows} "
                            "rows")
    batch = broadcast(first.shape[:-2], second.shape[:-2])
    shape = batch + first.shape[-2:-1] + (second.shape[-1:] if second.ndim > 1 else ())
    result = _result_code(code, dtype)
    target = job.output(out, shape, result)
    if target.size == 0:
        return job.finish(target, out)
    c_shape = batch + (first.shape[-2] if first.ndim > 1 else 1, second.shape[-1] if second.ndim > 1 else 1)
    if first.ndim == 1:
        first = with_shape(job.contiguous(first), (1, k))
    if second.ndim == 1:
        second = with_shape(job.contiguous(second), (k, 1))
    place = _place(job, target, c_shape, (first, second) if out is not None else ())
    options = native.struct(c.ech_matmul_options, accumulate_wide=int(result != code),
                            algorithm=algorithm_of(algorithm))
    _product(job, first, second, place, batch, options)
    if place.view.pointer == target.pointer:
        return job.finish(target, out)
    family = target.family
    return job.finish(target, out, family.view(family.reshape(place.view.array, shape)))


def _place(job, target, shape, inputs):
    """The Matrices that receive a result: those of target, or a new array if target overlaps the inputs."""
    if not any(ranges_overlap(target, view) for view in inputs):
        if target.contiguous:
            return Matrices(job, with_shape(target, shape))
        if len(shape) == target.ndim and _layout(target, False):
            return Matrices(job, target, transposable=False)
    return Matrices(job, job.empty(shape, target.code))


def _product(job, first, second, place, batch, options):
    a, b = Matrices(job, first), Matrices(job, second)
    (m, k), n = first.shape[-2:], second.shape[-1]
    single = not batch and options.algorithm is None and a.view.code in (c.ECH_F32, c.ECH_F64)
    if single and n == 1 and place.stride == 1 and (b.stride == 1 or b.transposed):
        _times_vector(job, a, a.transposed, b.view.pointer, place)
    elif single and m == 1 and not a.transposed:
        _times_vector(job, b, not b.transposed, a.view.pointer, place)
    else:
        options.transpose_a, options.transpose_b = int(a.transposed), int(b.transposed)
        _multiply(job, a, b, place, batch, (m, n, k), options)


def _times_vector(job, a, transpose, x, place):
    """place = a x, or its transpose: transpose refers to the matrix in memory."""
    rows, cols = a.view.shape[-2:]
    options = native.struct(c.ech_matvec_options, transpose=int(transpose))
    shape = (cols, rows) if a.transposed else (rows, cols)
    job.call("ech_matvec", *shape, 1.0, a.view.pointer, a.stride, x, 0.0, place.view.pointer, a.view.code,
             ctypes.addressof(options))


@operation
def vecdot(x1, x2, /, *, axis=-1):
    """Compute dot products along an axis.

    x1, x2: arrays whose shapes are broadcast, except for the axis. axis: the axis, which has the same length in both.

    Returns an array without this axis, of the common type of x1 and x2, as matmul() does.

    >>> import echelon, numpy
    >>> echelon.linalg.vecdot(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([1.0, 1.0]))
    array([3., 7.])
    """
    job, views, code = operands(x1, x2)
    for view, name in zip(views, ("x1", "x2")):
        if view.ndim == 0:
            raise ArgumentError(f"{name} has no dimensions, but must have at least one")
    first, second = (along_last(job, view, axis) for view in views)
    k = first.shape[-1]
    if second.shape[-1] != k:
        raise ArgumentError(f"x1 has length {k} along axis {axis}, but x2 has length {second.shape[-1]}")
    batch = broadcast(first.shape[:-1], second.shape[:-1])
    target = job.empty(batch, code)
    if target.size:
        a = Matrices(job, with_shape(first, first.shape[:-1] + (1, k)))
        b = Matrices(job, with_shape(second, second.shape[:-1] + (k, 1)))
        place = Matrices(job, with_shape(target, batch + (1, 1)))
        _multiply(job, a, b, place, batch, (1, 1, k), native.struct(c.ech_matmul_options))
    return job.finish(target)
