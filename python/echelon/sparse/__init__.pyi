"""Types of the functions of echelon.sparse.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any, TypeVar

from . import linalg as linalg
from ._csr import CSR as CSR

_A = TypeVar("_A")  # the type of the first array, which the result has, too
_Stream = Any  # None, an address, or an object with __cuda_stream__
def check(A: Any, /, *, ordered: bool = ..., stream: _Stream = ...) -> None: ...
def csr_from_coo(rows: _A, cols: Any, data: Any, shape: Any, /, *, stream: _Stream = ...) -> _A: ...
def diagonal(A: _A, /, *, stream: _Stream = ...) -> _A: ...
def matmul(
    A: _A, x: Any, /, *, alpha: float = ..., beta: float = ..., check: bool = ..., out: Any = ...,
    stream: _Stream = ...,
) -> _A: ...
def matvec(
    A: _A, x: Any, /, *, alpha: float = ..., beta: float = ..., check: bool = ..., out: Any = ...,
    stream: _Stream = ...,
) -> _A: ...
def transpose(A: _A, /, *, stream: _Stream = ...) -> _A: ...
