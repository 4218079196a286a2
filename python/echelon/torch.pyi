"""Types of the functions of echelon.torch.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any, NamedTuple

from torch import Tensor

class SortResult(NamedTuple):
    values: Tensor
    indices: Tensor
class TopKResult(NamedTuple):
    values: Tensor
    indices: Tensor
def argsort(x: Any, dim: int = ..., descending: bool = ...) -> Tensor: ...
def cumsum(x: Any, dim: int = ..., reverse: bool = ...) -> Tensor: ...
def segment_reduce(x: Any, offsets: Any, op: str = ...) -> Tensor: ...
def sort(x: Any, dim: int = ..., descending: bool = ...) -> SortResult: ...
def topk(x: Any, k: int, dim: int = ..., largest: bool = ...) -> TopKResult: ...
