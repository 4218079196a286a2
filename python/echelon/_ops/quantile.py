"""Quantiles, percentiles and medians.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._arrays.layout import along_last
from .._arrays.numpy_family import address, unmasked
from .._runtime import native
from .._runtime.arguments import choice, flag
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from .common import cast, current_device, namespace, reshaped
from .sort import flattened, options_of
from .time_keys import encoded, restored

METHODS = {"linear": c.ECH_QUANTILE_LINEAR, "inverted_cdf": c.ECH_QUANTILE_INVERTED_CDF,
           "averaged_inverted_cdf": c.ECH_QUANTILE_AVERAGED_INVERTED_CDF,
           "closest_observation": c.ECH_QUANTILE_CLOSEST_OBSERVATION,
           "interpolated_inverted_cdf": c.ECH_QUANTILE_INTERPOLATED_INVERTED_CDF, "hazen": c.ECH_QUANTILE_HAZEN,
           "weibull": c.ECH_QUANTILE_WEIBULL, "median_unbiased": c.ECH_QUANTILE_MEDIAN_UNBIASED,
           "normal_unbiased": c.ECH_QUANTILE_NORMAL_UNBIASED, "lower": c.ECH_QUANTILE_LOWER,
           "higher": c.ECH_QUANTILE_HIGHER, "midpoint": c.ECH_QUANTILE_MIDPOINT, "nearest": c.ECH_QUANTILE_NEAREST}

# Rows with fewer elements are sorted; longer ones are processed by one call per row. On two cores of a Xeon with
# AVX-512 the times are equal at about 4,000 elements (f32, i32, f64, November 2026).
_SORTED_COLS = 4096
_SIGNED = {c.ECH_U16: c.ECH_I16, c.ECH_U32: c.ECH_I32, c.ECH_U64: c.ECH_I64}


def _fractions(q, name, scale):
    """q as an array of f64 from 0 to 1."""
    try:
        fractions = np.asarray(unmasked(q, name), np.float64) / scale
    except (TypeError, ValueError, OverflowError) as error:
        raise DTypeError(f"{name} cannot be converted to numbers: {error}") from None
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise ArgumentError(f"{name} is {q}, but each must be from 0 to {scale}")
    return np.asarray(fractions, order="C")


def _places(n, fractions, method):
    """The quantiles of the numbers 0 to n - 1, which are where the quantiles of n sorted elements are."""
    numbers, places = np.arange(n, dtype=np.float64), np.empty(fractions.size)
    job = Job(_arrays.view(numbers))
    job.call("ech_quantiles", address(numbers), address(places), address(fractions), n, fractions.size,
             c.ECH_F64, method, None)
    job.call("ech_sync")
    return places


def _one_call_each(job, source, fractions, method, code, ignore):
    """The View [rows, fractions] of the quantiles of rows."""
    rows, n = source.shape
    result = job.empty((rows, fractions.size), code)
    options = ctypes.byref(native.struct(c.ech_quantile_options, nan=c.ECH_NAN_IGNORE if ignore else 0))
    for row in range(rows):
        job.call("ech_quantiles", source.pointer + row * n * source.itemsize,
                 result.pointer + row * fractions.size * result.itemsize, address(fractions), n, fractions.size,
                 source.code, method, options)
    return result


def _columns(view, positions):
    """An array of some columns. PyTorch does not index every unsigned type."""
    family, signed = view.family, _SIGNED.get(view.code)
    if family.name != "torch" or signed is None:
        return view.array[:, positions]
    return family.retyped(family.retyped(view.array, family.dtype(signed))[:, positions], family.dtype(view.code))


def _between(xp, a, b, weight):
    """The numbers between a and b, computed as ech_quantiles() does."""
    difference = b - a
    result = xp.where(weight < 0.5, a + difference * weight, b - difference * (1 - weight))
    result = xp.where(xp.isinf(difference), a * (1 - weight) + b * weight, result)
    return xp.where((weight == 0) | (a == b), a, xp.where(weight == 1, b, result)) + 0.0


def _from_sorted(job, source, fractions, method, code):
    """The same as _one_call_each(), from a sort of the rows."""
    rows, n = source.shape
    ordered = job.empty(source.shape, source.code)
    job.call("ech_sort_rows", source.pointer, ordered.pointer, rows, n, source.code, options_of(False))
    with current_device(source):
        return _of_ordered(job, source, ordered, fractions, method, code)


def _of_ordered(job, source, ordered, fractions, method, code):
    """The View [rows, fractions] of the quantiles of sorted rows."""
    n = source.shape[1]
    places = _places(n, fractions, method)
    lower = np.floor(places).astype(int)
    a, xp = _columns(ordered, lower.tolist()), namespace(source)
    if code == source.code and not _interpolates(method):
        result = a + 0 if source.is_float else a
    else:
        family = source.family
        b = _columns(ordered, np.minimum(lower + 1, n - 1).tolist())
        weight = family.view(xp.asarray(places - lower, **_device_of(source))).array
        a, b = (family.cast(array, family.dtype(c.ECH_F64)) for array in (a, b))
        with np.errstate(invalid="ignore", over="ignore"):
            result = _between(xp, a, b, weight)
    if source.is_float:
        last = ordered.array[:, -1:]
        result = xp.where(last != last, xp.asarray(float("nan"), dtype=result.dtype, **_device_of(source)), result)
    return job.contiguous(job.add(source.family.view(result)))


def _interpolates(method):
    return native.functions.ech_quantile_dtype(method, c.ECH_F32) == c.ECH_F64


def _device_of(view):
    return {"device": view.array.device} if view.family.name == "torch" else {}


def _of_times(job, view, source, fractions, method, ignore):
    """The View of quantiles of times, which NumPy interpolates: in integers, towards the lower or the higher time."""
    rows, n = source.shape
    ordered = job.empty(source.shape, source.code)
    job.call("ech_sort_rows", source.pointer, ordered.pointer, rows, n, source.code, options_of(False))
    ordered = restored(job, ordered, view).array
    xp = namespace(view)
    result = xp.full((rows, fractions.size), "NaT", view.dtype)
    known = (~xp.isnat(ordered)).sum(axis=1).tolist()
    for row, count in enumerate(known):
        if count == 0 or count < n and not ignore:
            continue
        places = _places(count, fractions, method)
        lower = np.floor(places).astype(int)
        weight = xp.asarray(places - lower)
        a, b = ordered[row][lower], ordered[row][np.minimum(lower + 1, count - 1)]
        result[row] = xp.where(weight < 0.5, a + (b - a) * weight, b - (b - a) * (1 - weight))
    return job.add(view.family.view(result))


def _quantiles(x, q, axis, method, keepdims, out, ignore, name, scale=1):
    view = _arrays.view(x)
    job = Job(view)
    method = choice(method, METHODS, "method")
    fractions = _fractions(q, name, scale)
    shape, ndim = view.shape, view.ndim
    everything = axis is None
    view, axis = flattened(job, view, axis)
    n = view.shape[axis]
    if n == 0 and not (view.is_float or _interpolates(method) or view.kind == "time"):
        raise ArgumentError(f"x has no elements along the axis, and {view.dtype} cannot represent NaN")
    before, after = view.shape[:axis], view.shape[axis + 1:]
    source = along_last(job, encoded(job, view), axis)
    source = reshaped(job, source, (source.size // n if n else int(np.prod(before + after, dtype=int)), n))
    result = _computed(job, view, source, fractions.reshape(-1), method, ignore)
    family = view.family
    turned = family.moveaxis(result.array, -1, 0)
    if flag(keepdims, "keepdims"):
        kept = (1,) * ndim if everything else shape[:axis] + (1,) + shape[axis + 1:]
    else:
        kept = before + after
    result = reshaped(job, job.contiguous(job.add(family.view(turned))), fractions.shape + kept)
    if out is None:
        return job.finish(result)
    return job.finish(job.output(out, result.shape, result.code, result.kind, result), out, result)


def _computed(job, view, source, fractions, method, ignore):
    """The View [rows, fractions] with the dtype of the result."""
    rows, n = source.shape
    if view.kind == "time":
        return _of_times(job, view, source, fractions, method, ignore)
    code = native.functions.ech_quantile_dtype(method, source.code)
    if not (rows and fractions.size):
        result = job.empty((rows, fractions.size), code)
    elif 1 < rows and 0 < n < _SORTED_COLS and not (ignore and view.is_float):
        result = _from_sorted(job, source, fractions, method, code)
    else:
        result = _one_call_each(job, source, fractions, method, code, ignore)
    if view.is_float:
        return cast(job, result, view.code)
    if view.kind == "bool" and code == source.code:
        return job.add(view.family.view(view.family.retyped(result.array, view.family.bool_dtype())))
    return result


@operation
def quantile(x, /, q, *, axis=None, method="linear", keepdims=False, out=None):
    """Compute quantiles of an array along an axis.

    x: array of any shape. q: a number from 0 to 1, or an array of them of any shape, in host memory. axis: the axis;
    None, the default, uses the flattened array. method: the name of a method of numpy.quantile(): "linear", "lower",
    "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased" or "normal_unbiased". keepdims: whether the axis
    remains, with size 1. out: an array of the shape and dtype of the result.

    Returns an array with the shape of q, followed by that of x without the axis. Its dtype is that of x if x has floats
    or if the result of the method is an element ("lower", "higher", "nearest", "inverted_cdf", "closest_observation"),
    otherwise float64. Interpolation is computed in float64. If there is a NaN, the result is NaN, and NaT for times;
    nanquantile() ignores them. Raises ArgumentError for a q outside [0, 1], and if integers have no elements.

    >>> import echelon, numpy
    >>> echelon.quantile(numpy.array([[1, 2], [3, 10]]), [0.5, 1])
    array([ 2.5, 10. ])
    >>> echelon.quantile(numpy.array([[1, 2], [3, 10]]), 0.5, axis=0, method="lower")
    array([1, 2])
    """
    return _quantiles(x, q, axis, method, keepdims, out, False, "q")


@operation
def nanquantile(x, /, q, *, axis=None, method="linear", keepdims=False, out=None):
    """Compute quantiles of the elements that are not NaN.

    x, q, axis, method, keepdims, out: as for quantile().

    Returns an array as quantile() does. If all elements are NaN, the result is NaN.

    >>> import echelon, numpy
    >>> echelon.nanquantile(numpy.array([1.0, float("nan"), 3.0]), 0.5).item()
    2.0
    """
    return _quantiles(x, q, axis, method, keepdims, out, True, "q")


@operation
def percentile(x, /, q, *, axis=None, method="linear", keepdims=False, out=None):
    """Compute percentiles of an array along an axis: quantile() with q from 0 to 100.

    x, axis, method, keepdims, out: as for quantile(). q: numbers from 0 to 100.

    Returns an array as quantile() does.

    >>> import echelon, numpy
    >>> echelon.percentile(numpy.array([1, 2, 3]), 75).item()
    2.5
    """
    return _quantiles(x, q, axis, method, keepdims, out, False, "q", 100)


@operation
def nanpercentile(x, /, q, *, axis=None, method="linear", keepdims=False, out=None):
    """Compute percentiles of the elements that are not NaN: nanquantile() with q from 0 to 100.

    x, axis, method, keepdims, out: as for quantile(). q: numbers from 0 to 100.

    Returns an array as quantile() does.

    >>> import echelon, numpy
    >>> echelon.nanpercentile(numpy.array([1.0, float("nan"), 3.0]), 100).item()
    3.0
    """
    return _quantiles(x, q, axis, method, keepdims, out, True, "q", 100)


@operation
def median(x, /, *, axis=None, keepdims=False, out=None):
    """Compute the median of an array along an axis.

    x, axis, keepdims, out: as for quantile().

    Returns the quantile of 0.5; of an even number of elements, it is the mean of the two in the middle.

    >>> import echelon, numpy
    >>> echelon.median(numpy.array([[1, 5, 2], [7, 7, 0]]), axis=1)
    array([2., 7.])
    """
    return _quantiles(x, 0.5, axis, "linear", keepdims, out, False, "q")


@operation
def nanmedian(x, /, *, axis=None, keepdims=False, out=None):
    """Compute the median of the elements that are not NaN.

    x, axis, keepdims, out: as for quantile().

    Returns an array as median() does. If all elements are NaN, the result is NaN.

    >>> import echelon, numpy
    >>> echelon.nanmedian(numpy.array([1.0, float("nan"), 3.0, 8.0])).item()
    3.0
    """
    return _quantiles(x, 0.5, axis, "linear", keepdims, out, True, "q")
