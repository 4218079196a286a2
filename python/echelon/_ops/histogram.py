"""Histograms with bins of equal or any width, in one and two dimensions, and counts of integers.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math

import numpy as np

from .. import _arrays
from .._runtime import native
from .._runtime.arguments import flag, integer
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .sort import one_dimension

_WEIGHTS = (c.ECH_I32, c.ECH_U32, c.ECH_I64, c.ECH_U64, c.ECH_F32, c.ECH_F64)


_MOST = 2**48  # numbers of bins beyond every memory


def _number_of_bins(bins, name="bins"):
    return integer(bins, name, 1, _MOST)


def _minmax(job, view):
    """The minimum and the maximum of a contiguous array as numbers. On a GPU the call waits for them."""
    result = job.empty((2,), view.code)
    job.call("ech_reduce", c.ECH_OP_MINMAX, view.pointer, result.pointer, view.size, view.code, None)
    if _arrays.NAMES[view.code] == "bfloat16":
        result = job.add(result.family.view(result.family.cast(result.array, result.family.dtype(c.ECH_F32))))
    return job.to_numpy(result).tolist()


def _limits(job, view, limits, name="range"):
    """The lower and the upper end of the bins, as numpy.histogram() chooses them."""
    if limits is None:
        if view.size == 0:
            return 0.0, 1.0
        lower, upper = _ends(*_minmax(job, view))
    else:
        try:
            lower, upper = (float(v) for v in limits)
        except (TypeError, ValueError, OverflowError):
            raise DTypeError(f"{name} is {limits!r}, but must be a pair of numbers") from None
        if lower > upper:
            raise ArgumentError(f"{name} is ({lower}, {upper}), but the first number must not be the larger one")
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise ArgumentError(f"the bins would range from {lower} to {upper}: state a finite {name}")
    if lower == upper:
        lower, upper = lower - 0.5, upper + 0.5
        if lower == upper:
            raise ArgumentError(f"the bins would range from {lower} to {upper}: state a {name} with two different ends")
    return lower, upper


def _ends(low, high):
    """The minimum and the maximum as floats: below and above them if they are integers that no float64 is equal to."""
    lower, upper = float(low), float(high)
    if isinstance(low, int):
        if lower > low or lower == low == high and lower - 0.5 == lower:
            lower = math.nextafter(lower, -math.inf)
        if upper < high or low == high == upper and upper + 0.5 == upper:
            upper = math.nextafter(upper, math.inf)
    return lower, upper


class Input:
    """The elements and weights of a histogram, flattened, in dtypes that the library accepts."""

    def __init__(self, x, weights=None):
        view = _arrays.view(x)
        if view.kind == "time":
            raise DTypeError(f"x has dtype {view.dtype}, which histograms do not support")
        self.job = Job(view)
        self.view = self.flat(view)
        self.weights, self.counts = None, c.ECH_I64
        if weights is not None:
            self.set_weights(self.job.view(weights, "weights"), view.shape)

    def flat(self, view):
        view = self.job.contiguous(view)
        if view.ndim != 1:
            view = self.job.add(view.family.view(view.family.reshape(view.array, (view.size,))))
        return view

    def set_weights(self, weights, shape):
        if weights.shape != shape:
            raise ArgumentError(f"weights has shape {weights.shape}, but x has shape {shape}")
        if weights.kind == "time":
            raise DTypeError(f"weights has dtype {weights.dtype}, but must have numbers")
        self.weights = self.flat(weights)
        if weights.code not in _WEIGHTS or weights.kind == "bool":
            self.weights = self.cast(self.weights, c.ECH_F64 if weights.is_float else c.ECH_I64)
        self.counts = {c.ECH_U32: c.ECH_U64, c.ECH_U64: c.ECH_U64, c.ECH_I32: c.ECH_I64,
                       c.ECH_I64: c.ECH_I64}.get(self.weights.code, c.ECH_F64)

    def cast(self, view, code):
        return self.job.add(view.family.view(view.family.cast(view.array, view.family.dtype(code))))

    def as_floats(self):
        """Compare integers as float64, as NumPy does."""
        if not self.view.is_float:
            self.view = self.cast(self.view, c.ECH_F64)

    def options(self, **fields):
        weights = {} if self.weights is None else {"weights": self.weights.pointer, "weights_dtype": self.weights.code}
        return native.struct(c.ech_histogram_options, **weights, **fields)


def _is_integer(*numbers):
    return all(number == math.floor(number) and -2.0**63 <= number <= 2.0**64 for number in numbers)


def _edges(bins, job):
    """Edges of any width as an array of NumPy, checked."""
    view = one_dimension(_arrays.view(bins, "bins"), "bins")
    if view.kind == "time":
        raise DTypeError(f"bins has dtype {view.dtype}, but must have numbers")
    if view.device != "cpu":
        if _arrays.NAMES[view.code] == "bfloat16":
            raise DTypeError("bins has dtype bfloat16: pass the edges as float32")
        array = np.empty(view.shape, _arrays.NAMES[view.code])
        job.call("ech_copy", array.__array_interface__["data"][0], job.contiguous(view).pointer, view.nbytes)
    else:
        array = np.asarray(view.array)
    if array.size < 2:
        raise ArgumentError(f"bins has {array.size} edges, but must have at least 2")
    if not np.all(array[:-1] < array[1:]):
        raise ArgumentError("bins has edges that are not in strictly ascending order")
    return array


def _density(job, counts, edges):
    """Counts divided by their sum and the widths of the bins."""
    job.need_arithmetic()
    family = job.family
    widths = job.from_numpy(np.diff(edges.astype("float64"))).array
    values = family.cast(counts, family.dtype(c.ECH_F64))
    return values / widths / values.sum()


@operation
def histogram(x, /, bins=10, range=None, *, density=False, weights=None):
    """Count the elements in each of several bins.

    x: array of any shape. bins: the number of bins of equal width between the ends of range, or an array of edges
    [bins + 1] in strictly ascending order. range: (lower, upper), by default the minimum and the maximum. density:
    return the density, whose integral is 1, in place of counts. weights: array of the shape of x; an element adds its
    weight, not 1.

    Returns (counts, edges): counts is int64 [bins], with weights int64, uint64 or float64. A bin contains its lower
    edge; only the last one also contains its upper edge. Elements outside and NaN are not counted. With bins of equal
    width, the bin of a float is computed by one multiplication in its own precision, and that of an integer exactly:
    a float whose distance from an edge is a rounding error may be counted in the neighbouring bin. Raises
    ArgumentError for invalid bins and for a range that is not finite.

    >>> import echelon, numpy
    >>> counts, edges = echelon.histogram(numpy.array([1, 2, 2, 5]), bins=2, range=(1, 5))
    >>> counts, edges
    (array([3, 1]), array([1., 3., 5.]))
    """
    data = Input(x, weights)
    job = data.job
    if isinstance(bins, str):
        raise DTypeError(f"bins is {bins!r}: compute the edges with numpy.histogram_bin_edges()")
    options = data.options(include_right=1)
    if getattr(bins, "ndim", 0) == 0 and not isinstance(bins, (list, tuple)):
        number = _number_of_bins(bins)
        lower, upper = _limits(job, data.view, range)
        if not _is_integer(lower, upper):
            data.as_floats()
        counts = job.empty((number,), data.counts)
        edges = np.linspace(lower, upper, number + 1)
        job.call("ech_histogram", data.view.pointer, counts.pointer, data.view.size, data.view.code, number, lower,
                 upper, ctypes.byref(options))
    else:
        edges = np.array(_edges(bins, job))  # a copy, because it is returned
        counts = _count_between(data, edges, options)
    edge_array = job.finish(job.from_numpy(edges))
    if flag(density, "density"):
        return _density(job, counts.array, edges), edge_array
    return job.finish(counts), edge_array


def _count_between(data, edges, options):
    """Counts with edges of any width, in the dtype of the elements if it represents the edges."""
    job, number = data.job, len(edges) - 1
    name = _arrays.NAMES[data.view.code]
    if name == "bfloat16" or not np.array_equal(edges.astype(name).astype("float64"), edges.astype("float64")):
        data.view = data.cast(data.view, c.ECH_F64)
        name = "float64"
    places = _arrays.view(np.ascontiguousarray(edges, name), "bins")
    counts = job.empty((number,), data.counts)
    job.call("ech_histogram_edges", data.view.pointer, places.pointer, counts.pointer, data.view.size, data.view.code,
             number, ctypes.byref(options))
    return counts


@operation
def bincount(x, /, weights=None, minlength=0, *, bins=None):
    """Count how many times each of the integers 0, 1, ... occurs.

    x: integers [n], not negative. weights: [n]; an element adds its weight, not 1. minlength: the minimum length of
    the result. bins: the length of the result; larger elements are then not counted, and the maximum is not computed.

    Returns counts [max(x) + 1], [minlength] or [bins], of the dtypes of histogram().

    >>> import echelon, numpy
    >>> echelon.bincount(numpy.array([0, 1, 1, 3]))
    array([1, 2, 0, 1])
    """
    data = Input(x, weights)
    view, job = data.view, data.job
    one_dimension(_arrays.view(x), "x")
    if view.is_float:
        raise DTypeError(f"x has dtype {view.dtype}, but must have integers")
    if bins is not None:
        number = _number_of_bins(bins)
    else:
        number = 0
        if view.size:
            lower, upper = _minmax(job, view)
            if lower < 0:
                raise ArgumentError(f"x contains {lower}, but must not contain negative numbers")
            number = upper + 1
        number = max(number, integer(minlength, "minlength", 0, _MOST))
    counts = job.empty((number,), data.counts)
    if number:
        job.call("ech_bincount", view.pointer, counts.pointer, view.size, view.code, number,
                 ctypes.byref(data.options()))
    return job.finish(counts)


@operation
def histogram2d(x, y, /, bins=10, range=None, *, weights=None):
    """Count pairs (x[i], y[i]) in a grid of bins of equal width.

    x, y: [n]; if their dtypes differ, they are compared as float64. bins: a number, or a pair of numbers (x_bins,
    y_bins). range: a pair of pairs ((x_lower, x_upper), (y_lower, y_upper)), by default the minima and maxima. weights:
    [n].

    Returns (counts [x_bins, y_bins], x_edges, y_edges), otherwise as histogram().

    >>> import echelon, numpy
    >>> counts, _, _ = echelon.histogram2d(numpy.array([0, 1, 1]), numpy.array([0, 0, 1]), bins=2)
    >>> counts
    array([[1, 0],
           [1, 1]])
    """
    data = Input(x, weights)
    job = data.job
    other = job.view(y, "y")
    if other.shape != _arrays.view(x).shape:
        raise ArgumentError(f"y has shape {other.shape}, but x has shape {_arrays.view(x).shape}")
    if other.kind == "time":
        raise DTypeError(f"y has dtype {other.dtype}, which histograms do not support")
    numbers = (bins, bins) if not isinstance(bins, (tuple, list)) else bins
    ranges = (None, None) if range is None else range
    for pair, name in ((numbers, "bins"), (ranges, "range")):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentError(f"{name} is {pair!r}, but must have one entry for x and one for y")
    x_bins, y_bins = (_number_of_bins(n) for n in numbers)
    other = data.flat(other)
    limits = [_limits(job, data.view, ranges[0]), _limits(job, other, ranges[1])]
    if other.code != data.view.code or not (_is_integer(*limits[0], *limits[1]) or other.is_float):
        data.view, other = data.cast(data.view, c.ECH_F64), data.cast(other, c.ECH_F64)
    counts = job.empty((x_bins, y_bins), data.counts)
    job.call("ech_histogram_2d", data.view.pointer, other.pointer, counts.pointer, other.size, other.code, x_bins,
             *limits[0], y_bins, *limits[1], ctypes.byref(data.options(include_right=1)))
    edges = [job.finish(job.from_numpy(np.linspace(*limits[i], n + 1)))
             for i, n in enumerate((x_bins, y_bins))]
    return job.finish(counts), edges[0], edges[1]
