"""Linear algebra over GF(2), the field of 0 and 1 with addition modulo 2.

Matrices are arrays [rows, cols] of bool or integers, which are taken modulo 2, or a Matrix with 64 columns per word.
Results have the type of the input: arrays for arrays, a Matrix for a Matrix, and galois.GF2 for galois.GF2. Matrices of
scipy.sparse are converted to arrays of NumPy. If a function has two matrices of different types, the result has the
type of the last one. The module mod2, a replacement of ldpc.mod2, needs SciPy.

SPDX-License-Identifier: Apache-2.0
"""
from .._runtime.public import modules_on_demand, publish
from ._batched import echelon_batched, rank_batched, solve_batched
from ._elimination import LinAlgError, echelon, inverse, left_nullspace, nullspace, pivots, rank, rref, solve
from ._factors import plu, pluq
from ._matrix import Matrix
from ._osd import osd
from ._products import add, matrix, mul, transpose

__all__ = [
    "LinAlgError", "Matrix", "add", "echelon", "echelon_batched", "inverse", "left_nullspace", "matrix", "mul",
    "nullspace", "osd", "pivots", "plu", "pluq", "rank", "rank_batched", "rref", "solve", "solve_batched",
    "transpose",
]
__getattr__ = modules_on_demand(__name__, mod2="SciPy")
__dir__ = publish(globals())
