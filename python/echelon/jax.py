"""Functions for JAX: they run inside jax.jit() on the CPU and on CUDA devices, with gradients and jax.vmap().

    import echelon.jax

registers the operations with XLA's foreign function interface. The functions of the package itself, such as
echelon.sort(), also accept arrays of JAX, but only outside of traced functions.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import functools

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays.view import normalized_axis
from ._jax import ffi
from ._runtime import native
from ._runtime.arguments import integer
from ._runtime.errors import ArgumentError, DTypeError
from ._runtime.native import declared as c
from ._runtime.public import publish

if not hasattr(jax, "ffi"):
    raise ImportError(f"echelon.jax needs JAX 0.4.38 or newer, but this is version {jax.__version__}")

__all__ = ["argsort", "cumsum", "segment_sum", "sort", "top_k"]
_handlers = []  # keeps the function pointers alive
_functions = native.functions


def _target(function):
    """Registers a handler for the CPU and for CUDA, and returns its name."""
    name = "echelon_" + function.__name__.strip("_")
    for platform, gpu in (("cpu", False), ("CUDA", True)):
        pointer = ffi.handler(function, gpu)
        _handlers.append(pointer)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(pointer), platform=platform, api_version=1)
    return name


def _rows(array):
    """The rows and columns of a buffer, whose last dimension is the axis."""
    cols = array.shape[-1]
    return (array.size // cols if cols else 0), cols


@_target
def _sort(context, arguments, results, attributes):
    (x,), (out,) = arguments, results
    options = native.struct(c.ech_sort_options, descending=int(attributes["descending"]))
    context.check(_functions.ech_sort_rows(context.handle, x.pointer, out.pointer, *_rows(x), x.code,
                                           ctypes.byref(options)))


@_target
def _argsort(context, arguments, results, attributes):
    (x,), (out,) = arguments, results
    options = native.struct(c.ech_sort_options, descending=int(attributes["descending"]))
    context.check(_functions.ech_argsort_rows(context.handle, x.pointer, out.pointer, *_rows(x), x.code, out.code,
                                              ctypes.byref(options)))


@_target
def _top_k(context, arguments, results, attributes):
    (x,), (values, indices) = arguments, results
    options = native.struct(c.ech_topk_options, smallest=int(attributes["smallest"]))
    if values.size:
        context.check(_functions.ech_topk_rows(context.handle, x.pointer, values.pointer, indices.pointer, *_rows(x),
                                               values.shape[-1], x.code, indices.code, ctypes.byref(options)))


@_target
def _cumsum(context, arguments, results, attributes):
    (x,), (out,) = arguments, results
    options = native.struct(c.ech_scan_options, reverse=int(attributes["reverse"]))
    context.check(_functions.ech_scan_rows(context.handle, c.ECH_OP_SUM, x.pointer, out.pointer, *_rows(x), x.code,
                                           ctypes.byref(options)))


@_target
def _segment_sum(context, arguments, results, attributes):
    (x, offsets), (out,) = arguments, results
    context.check(_functions.ech_reduce_segments(context.handle, c.ECH_OP_SUM, x.pointer, offsets.pointer, out.pointer,
                                                 x.size, out.size, x.code, offsets.code, None))


def _call(target, results, *arrays, vmap="broadcast_all", **attributes):
    return jax.ffi.ffi_call(target, results, vmap_method=vmap)(
        *arrays, **{name: np.int64(value) for name, value in attributes.items()})


def _checked(x, axis):
    """x as an array of JAX, and its axis as a number from 0."""
    x = jnp.asarray(x)
    if x.ndim == 0:
        raise ArgumentError("x has no dimensions, but must have at least one")
    if jnp.issubdtype(x.dtype, jnp.complexfloating) or x.dtype.name.startswith("float8"):
        raise DTypeError(f"x has dtype {x.dtype}, which is not supported")
    return x, normalized_axis(axis, x.ndim)


def _like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def _sorted(x, descending):
    return _call(_sort, _like(x), x, descending=descending)


def _sorted_forward(x, descending):
    indices = _call(_argsort, jax.ShapeDtypeStruct(x.shape, jnp.int32), x, descending=descending)
    return jnp.take_along_axis(x, indices, -1), indices


def _sorted_backward(descending, indices, grad):
    return (jnp.put_along_axis(jnp.zeros_like(grad), indices, grad, -1, inplace=False),)


_sorted.defvjp(_sorted_forward, _sorted_backward)


def sort(x, axis=-1, descending=False):
    """Sort an array along an axis. NaN is the largest value.

    x: array with at least one dimension. axis: the axis. descending: from the largest to the smallest. Returns an array
    like x, which has a gradient.

    >>> import jax.numpy, echelon.jax
    >>> echelon.jax.sort(jax.numpy.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    x, axis = _checked(x, axis)
    return jnp.moveaxis(_sorted(jnp.moveaxis(x, axis, -1), bool(descending)), -1, axis)


def argsort(x, axis=-1, descending=False):
    """Return the positions (int32) that sort an array along an axis, stably.

    x, axis, descending: as for sort().

    >>> import jax.numpy, echelon.jax
    >>> echelon.jax.argsort(jax.numpy.array([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    x, axis = _checked(x, axis)
    x = jnp.moveaxis(jax.lax.stop_gradient(x), axis, -1)
    indices = _call(_argsort, jax.ShapeDtypeStruct(x.shape, jnp.int32), x, descending=bool(descending))
    return jnp.moveaxis(indices, -1, axis)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _selected(x, k, smallest):
    shape = (*x.shape[:-1], k)
    return tuple(_call(_top_k, (jax.ShapeDtypeStruct(shape, x.dtype), jax.ShapeDtypeStruct(shape, jnp.int32)), x,
                       smallest=smallest))


def _selected_forward(x, k, smallest):
    values, indices = _selected(x, k, smallest)
    return (values, indices), (indices, jnp.zeros_like(x))


def _selected_backward(k, smallest, saved, grads):
    indices, zeros = saved
    return (jnp.put_along_axis(zeros, indices, grads[0], -1, inplace=False),)


_selected.defvjp(_selected_forward, _selected_backward)


def top_k(x, k, axis=-1, mode="largest"):
    """Return the k largest or smallest elements along an axis in order, and their positions (int32).

    x: array with at least one dimension. k: 0 to the size of the axis. mode: "largest" or "smallest". If elements are
    equal, the one with the lower position is first. The values have a gradient.

    >>> import jax.numpy, echelon.jax
    >>> echelon.jax.top_k(jax.numpy.array([3, 1, 2]), 2)[1].tolist()
    [0, 2]
    """
    x, axis = _checked(x, axis)
    if mode not in ("largest", "smallest"):
        raise ArgumentError(f"mode is {mode!r}, but must be 'largest' or 'smallest'")
    k = integer(k, "k", 0, x.shape[axis])
    values, indices = _selected(jnp.moveaxis(x, axis, -1), k, mode == "smallest")
    return jnp.moveaxis(values, -1, axis), jnp.moveaxis(indices, -1, axis)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def _cumulated(x, reverse):
    return _call(_cumsum, _like(x), x, reverse=reverse)


_cumulated.defvjp(lambda x, reverse: (_cumulated(x, reverse), None),
                  lambda reverse, _, grad: (_cumulated(grad, not reverse),))


def cumsum(x, axis=-1, reverse=False):
    """Return the cumulative sum along an axis in the dtype of x; with reverse, from the last element to the first.

    >>> import jax.numpy, echelon.jax
    >>> echelon.jax.cumsum(jax.numpy.array([1, 2, 3])).tolist()
    [1, 3, 6]
    """
    x, axis = _checked(x, axis)
    if x.dtype == bool:
        x = x.astype(jnp.int32)
    return jnp.moveaxis(_cumulated(jnp.moveaxis(x, axis, -1), bool(reverse)), -1, axis)


@jax.custom_vjp
def _summed(x, offsets):
    result = jax.ShapeDtypeStruct((offsets.shape[0] - 1,), x.dtype)
    return _call(_segment_sum, result, x, offsets, vmap="sequential")


def _summed_backward(saved, grad):
    offsets, n = saved
    segment = jnp.searchsorted(offsets, jnp.arange(n.shape[0], dtype=offsets.dtype), side="right") - 1
    valid = (segment >= 0) & (segment < grad.shape[0])
    spread = grad[jnp.clip(segment, 0, grad.shape[0] - 1)] if grad.shape[0] else jnp.zeros(n.shape, grad.dtype)
    return jnp.where(valid, spread, 0), None


_summed.defvjp(lambda x, offsets: (_summed(x, offsets), (offsets, jnp.empty_like(x))), _summed_backward)


def segment_sum(x, offsets):
    """Return the sum of each segment of an array with one dimension.

    x: [n], float32, float64 or 64-bit integers. offsets: [segments + 1], int32 or int64; segment s is
    x[offsets[s]:offsets[s + 1]]. The result has the dtype of x, and a gradient. Offsets that decrease or exceed n raise
    an error on the CPU; on a GPU the results are then undefined.

    >>> import jax.numpy, echelon.jax
    >>> echelon.jax.segment_sum(jax.numpy.array([1., 2., 3.]), jax.numpy.array([0, 1, 3])).tolist()
    [1.0, 5.0]
    """
    x, offsets = jnp.asarray(x), jnp.asarray(offsets)
    if x.ndim != 1 or offsets.ndim != 1:
        raise ArgumentError(f"x and offsets have {x.ndim} and {offsets.ndim} dimensions, but must have one each")
    if x.dtype.name not in ("float32", "float64", "int64", "uint64"):
        raise DTypeError(f"x has dtype {x.dtype}, but must have float32, float64, int64 or uint64")
    if offsets.dtype.name not in ("int32", "int64"):
        raise DTypeError(f"offsets has dtype {offsets.dtype}, but must have int32 or int64")
    if not offsets.shape[0]:
        raise ArgumentError("offsets is empty, but must contain the number of segments plus one")
    return _summed(x, offsets)


__dir__ = publish(globals())
