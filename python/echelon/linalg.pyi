"""Types of the functions of echelon.linalg.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any, TypeVar

from ._ops.direct import ConditionWarning as ConditionWarning
from ._ops.direct import DirectReport as DirectReport
from ._ops.direct import LinAlgError as LinAlgError
from ._ops.direct import LstsqResult as LstsqResult
from ._ops.direct import SlogdetResult as SlogdetResult

_A = TypeVar("_A")  # the type of the first array, which the result has, too
_Stream = Any  # None, an address, or an object with __cuda_stream__
def det(x: Any, /, *, factorization: Any = ..., algorithm: str = ..., stream: _Stream = ...) -> Any: ...
def inv(
    x: Any, /, *, factorization: Any = ..., refine: int = ..., algorithm: str = ..., info: bool = ...,
    out: Any = ..., stream: _Stream = ...,
) -> Any: ...
def lstsq(
    a: Any, b: Any, /, rcond: Any = ..., *, refine: Any = ..., algorithm: str = ..., info: bool = ...,
    stream: _Stream = ...,
) -> LstsqResult: ...
def matmul(
    x1: _A, x2: Any, /, *, dtype: Any = ..., algorithm: str = ..., out: Any = ..., stream: _Stream = ...,
) -> _A: ...
def slogdet(x: Any, /, *, factorization: Any = ..., algorithm: str = ..., stream: _Stream = ...) -> SlogdetResult: ...
def solve(
    a: Any, b: Any, /, *, factorization: Any = ..., refine: Any = ..., algorithm: str = ..., info: bool = ...,
    out: Any = ..., stream: _Stream = ...,
) -> Any: ...
def vecdot(x1: _A, x2: Any, /, *, axis: int = ..., stream: _Stream = ...) -> _A: ...
