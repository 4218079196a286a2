"""Operators for PyTorch with gradients, for use in models and with torch.compile().

    import echelon.torch

registers the operators torch.ops.echelon.* with torch.library. They accept tensors on the CPU and on CUDA devices, run
on the current stream, and have fake implementations, so that torch.compile() and torch.export() trace them. The
functions of the package itself, such as echelon.sort(), also accept tensors, but have no gradients.

SPDX-License-Identifier: Apache-2.0
"""
from typing import NamedTuple, Tuple

import torch
from torch import Tensor

from ._ops import reduce as _reduce
from ._ops import scan as _scan
from ._ops import sort as _sort
from ._ops import topk as _topk
from ._runtime.errors import ArgumentError, DTypeError
from ._runtime.public import publish

if not hasattr(torch.library, "register_autograd"):
    raise ImportError(f"echelon.torch needs PyTorch 2.4 or newer, but this is version {torch.__version__}")

__all__ = ["SortResult", "TopKResult", "argsort", "cumsum", "segment_reduce", "sort", "topk"]


class SortResult(NamedTuple):
    """The sorted elements, and their positions (int64) along the dimension."""

    values: Tensor
    indices: Tensor


class TopKResult(NamedTuple):
    """The largest or smallest elements in order, and their positions (int64) along the dimension."""

    values: Tensor
    indices: Tensor


def _dimension(x, dim):
    if not isinstance(dim, int):
        raise DTypeError(f"dim is {dim!r}, but must be an integer")
    if not -x.dim() <= dim < x.dim():
        raise ArgumentError(f"dim is {dim}, but x has {x.dim()} dimensions")
    return dim % x.dim()


def _integers(x):
    """int64 for bool and integers, as PyTorch has for sums; otherwise the dtype of x."""
    return x.dtype if x.dtype.is_floating_point else torch.int64


# ---- Sort ------------------------------------------------------------------------------------------------------------


@torch.library.custom_op("echelon::sort", mutates_args=())
def _sort_op(x: Tensor, dim: int, descending: bool) -> Tuple[Tensor, Tensor]:
    x = x.detach()
    indices = _sort.argsort(x, axis=dim, descending=descending)
    return x.gather(dim, indices), indices


@_sort_op.register_fake
def _(x, dim, descending):
    return torch.empty_like(x, memory_format=torch.contiguous_format), torch.empty(
        x.shape, dtype=torch.int64, device=x.device)


def _save_indices(ctx, inputs, output):
    ctx.save_for_backward(output[1])
    ctx.mark_non_differentiable(output[1])
    ctx.shape, ctx.dim = inputs[0].shape, inputs[-2] if len(inputs) == 3 else inputs[2]


def _scatter_back(ctx, values_grad, _):
    indices, = ctx.saved_tensors
    grad = torch.zeros(ctx.shape, dtype=values_grad.dtype, device=values_grad.device)
    return grad.scatter(ctx.dim, indices, values_grad)


_sort_op.register_autograd(lambda ctx, values, indices: (_scatter_back(ctx, values, indices), None, None),
                           setup_context=_save_indices)


def sort(x, dim=-1, descending=False):
    """Sort a tensor along a dimension, with the positions. The gradient of values flows back to x.

    x: tensor with at least one dimension. dim: the dimension. descending: from the largest to the smallest.

    Returns SortResult(values, indices), as torch.sort(stable=True). The sort is stable; NaN is the largest value.

    >>> import torch, echelon.torch
    >>> echelon.torch.sort(torch.tensor([3., 1., 2.])).values
    tensor([1., 2., 3.])
    """
    return SortResult(*_sort_op(x, _dimension(x, dim), bool(descending)))


def argsort(x, dim=-1, descending=False):
    """Return the positions that sort a tensor along a dimension: sort(x, dim, descending).indices.

    x, dim, descending: as for sort().

    >>> import torch, echelon.torch
    >>> echelon.torch.argsort(torch.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
    """
    return sort(x.detach(), dim, descending).indices


# ---- Top-k -----------------------------------------------------------------------------------------------------------


@torch.library.custom_op("echelon::topk", mutates_args=())
def _topk_op(x: Tensor, k: int, dim: int, largest: bool) -> Tuple[Tensor, Tensor]:
    values, indices = _topk.top_k(x.detach(), k, axis=dim, mode="largest" if largest else "smallest")
    return values, indices


@_topk_op.register_fake
def _(x, k, dim, largest):
    shape = list(x.shape)
    shape[dim] = k
    return x.new_empty(shape), torch.empty(shape, dtype=torch.int64, device=x.device)


_topk_op.register_autograd(lambda ctx, values, indices: (_scatter_back(ctx, values, indices), None, None, None),
                           setup_context=_save_indices)


def topk(x, k, dim=-1, largest=True):
    """Return the k largest or smallest elements along a dimension in order, with their positions.

    x: tensor with at least one dimension. k: 0 to the size of the dimension dim. largest: False selects the smallest.

    Returns TopKResult(values, indices), as torch.topk(). Equal elements are in the order of their positions; NaN is the
    largest value. The gradient of values flows back to x.

    >>> import torch, echelon.torch
    >>> echelon.torch.topk(torch.tensor([3., 1., 2.]), 2)
    TopKResult(values=tensor([3., 2.]), indices=tensor([0, 2]))
    """
    dim = _dimension(x, dim)
    if not isinstance(k, int):
        raise DTypeError(f"k is {k!r}, but must be an integer")
    if not 0 <= k <= x.shape[dim]:
        raise ArgumentError(f"k is {k}, but must be from 0 to {x.shape[dim]}, the size of dimension {dim}")
    return TopKResult(*_topk_op(x, k, dim, bool(largest)))


# ---- Cumulative sum --------------------------------------------------------------------------------------------------


@torch.library.custom_op("echelon::cumsum", mutates_args=())
def _cumsum_op(x: Tensor, dim: int, reverse: bool) -> Tensor:
    name = str(_integers(x)).rpartition(".")[2]
    return _scan.scan(x.detach(), "sum", axis=dim, reverse=reverse, dtype=name)


@_cumsum_op.register_fake
def _(x, dim, reverse):
    return torch.empty(x.shape, dtype=_integers(x), device=x.device)


def _save_cumsum(ctx, inputs, output):
    ctx.dim, ctx.reverse = inputs[1], inputs[2]


_cumsum_op.register_autograd(lambda ctx, grad: (_cumsum_op(grad, ctx.dim, not ctx.reverse), None, None),
                             setup_context=_save_cumsum)


def cumsum(x, dim=-1, reverse=False):
    """Return the cumulative sum along a dimension.

    x: tensor with at least one dimension. dim: the dimension. reverse: from the last element to the first. The result
    has the dtype of x for floats and int64 otherwise. It has a gradient.

    >>> import torch, echelon.torch
    >>> echelon.torch.cumsum(torch.tensor([1., 2., 3.]))
    tensor([1., 3., 6.])
    """
    return _cumsum_op(x, _dimension(x, dim), bool(reverse))


# ---- Segments --------------------------------------------------------------------------------------------------------

_SEGMENT_OPS = ("sum", "mean", "min", "max")


@torch.library.custom_op("echelon::segment_reduce", mutates_args=())
def _segment_op(x: Tensor, offsets: Tensor, op: str) -> Tensor:
    result = _reduce.reduce_segments(x.detach(), offsets, op)
    return result if result.dtype == _segment_dtype(x, op) else result.to(_segment_dtype(x, op))


def _segment_dtype(x, op):
    if op == "mean" and not x.dtype.is_floating_point:
        return torch.float64
    return _integers(x) if op == "sum" else x.dtype


@_segment_op.register_fake
def _(x, offsets, op):
    return torch.empty((offsets.shape[0] - 1,), dtype=_segment_dtype(x, op), device=x.device)


@torch.library.custom_op("echelon::segment_positions", mutates_args=())
def _segment_positions(x: Tensor, offsets: Tensor, op: str) -> Tensor:
    """The position in x of the minimum or maximum of each segment; 0 for empty ones."""
    offsets = offsets.to(torch.int64)
    inside = _reduce.reduce_segments(x.detach(), offsets, "arg" + op)
    return torch.where(inside < 0, 0, inside + offsets[:-1])


@_segment_positions.register_fake
def _(x, offsets, op):
    return torch.empty((offsets.shape[0] - 1,), dtype=torch.int64, device=x.device)


def _save_segments(ctx, inputs, output):
    x, offsets, op = inputs
    ctx.op, ctx.n = op, x.shape[0]
    ctx.save_for_backward(offsets, *([x] if op in ("min", "max") else []))


def _segment_backward(ctx, grad):
    offsets = ctx.saved_tensors[0].to(torch.int64)
    lengths = offsets[1:] - offsets[:-1]
    if ctx.op in ("min", "max"):
        places = _segment_positions(ctx.saved_tensors[1], offsets, ctx.op)
        zero = torch.zeros(ctx.n, dtype=grad.dtype, device=grad.device)
        return zero.index_add(0, places, torch.where(lengths > 0, grad, 0)) if ctx.n else zero, None, None
    if ctx.op == "mean":
        grad = grad / lengths.clamp(min=1)
    element = torch.arange(ctx.n, device=grad.device)
    segment = torch.searchsorted(offsets, element, right=True) - 1
    valid = (segment >= 0) & (segment < lengths.shape[0])
    if not lengths.shape[0]:
        return torch.zeros(ctx.n, dtype=grad.dtype, device=grad.device), None, None
    return torch.where(valid, grad[segment.clamp(0, lengths.shape[0] - 1)], 0), None, None


_segment_op.register_autograd(_segment_backward, setup_context=_save_segments)


def segment_reduce(x, offsets, op="sum"):
    """Reduce each segment of a tensor with one dimension. The result has a gradient.

    x: [n]. offsets: [segments + 1], int32 or int64 on the device of x; segment s is x[offsets[s]:offsets[s + 1]]. op:
    "sum", "mean", "min" or "max". Returns a tensor [segments] of the dtype of x (sums of integers: int64; means of
    integers: float64). The gradient of min and max flows to the first such element. Offsets that decrease or exceed n
    raise ArgumentError, on a GPU in echelon.synchronize().

    >>> import torch, echelon.torch
    >>> echelon.torch.segment_reduce(torch.tensor([1., 2., 3.]), torch.tensor([0, 1, 3]))
    tensor([1., 5.])
    """
    if op not in _SEGMENT_OPS:
        raise ArgumentError(f"op is {op!r}, but the operators are {', '.join(_SEGMENT_OPS)}")
    if x.dim() != 1 or offsets.dim() != 1:
        raise ArgumentError(f"x and offsets have {x.dim()} and {offsets.dim()} dimensions, but must have one each")
    if offsets.shape[0] < 1:
        raise ArgumentError("offsets is empty, but must contain the number of segments plus one")
    if offsets.dtype not in (torch.int32, torch.int64):
        raise DTypeError(f"offsets has dtype {offsets.dtype}, but must have int32 or int64")
    if offsets.device != x.device:
        raise ArgumentError(f"offsets is on device {offsets.device}, but x is on {x.device}")
    return _segment_op(x, offsets, op)


__dir__ = publish(globals())
