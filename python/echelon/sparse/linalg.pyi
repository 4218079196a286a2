"""Types of the functions of echelon.sparse.linalg.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any

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
    M: Any = ..., restart: Any = ..., block: Any = ..., omega: Any = ..., bounds: Any = ..., callback: Any = ...,
    report: bool = ..., stream: _Stream = ...,
) -> Any: ...
def sor(
    A: Any, b: Any, x0: Any = ..., *, rtol: float = ..., atol: float = ..., maxiter: Any = ..., omega: Any = ...,
    callback: Any = ..., report: bool = ..., stream: _Stream = ...,
) -> Any: ...
