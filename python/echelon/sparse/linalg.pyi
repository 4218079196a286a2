"""Types of the functions of echelon.sparse.linalg.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any

from ._direct import SparseDirectReport as SparseDirectReport
from ._direct import SparseLU as SparseLU
from ._system import SolveReport as SolveReport

_Stream = Any  # None, an address, or an object with __cuda_stream__
def bicgstab(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., M: Any = ...,
    callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def cg(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., M: Any = ...,
    callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def chebyshev(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., M: Any = ...,
    bounds: Any = ..., callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def factorized(A: Any, *, algorithm: Any = ..., stream: _Stream = ...) -> Any: ...
def gauss_seidel(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ...,
    callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def gmres(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., restart: Any = ..., maxiter: Any = ...,
    M: Any = ..., callback: Any = ..., callback_type: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def jacobi(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., omega: Any = ...,
    callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def minres(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., shift: float = ..., maxiter: Any = ...,
    M: Any = ..., callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def richardson(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., M: Any = ...,
    omega: Any = ..., bounds: Any = ..., callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def solve(
    A: Any, b: Any, x0: Any = ..., *, method: str = ..., rtol: float = ..., atol: float = ..., maxiter: Any = ...,
    M: Any = ..., restart: Any = ..., block: Any = ..., omega: Any = ..., bounds: Any = ..., drop_tolerance: Any = ...,
    fill: Any = ..., callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def sor(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., omega: Any = ...,
    callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def splu(A: Any, *, algorithm: Any = ..., condition: bool = ..., stream: _Stream = ...) -> SparseLU: ...
def spsolve(
    A: Any, b: Any, *, algorithm: Any = ..., refine: Any = ..., transpose: bool = ..., condition: bool = ...,
    info: bool = ..., stream: _Stream = ...,
) -> Any: ...
