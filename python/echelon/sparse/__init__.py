"""Sparse matrices in CSR form: products, construction and checks; echelon.sparse.linalg has solvers.

A matrix is a matrix or an array of scipy.sparse or cupyx.scipy.sparse, a sparse tensor of PyTorch, or a CSR. Formats
other than CSR are converted.

SPDX-License-Identifier: Apache-2.0
"""
from .._runtime.public import publish
from . import linalg
from ._csr import CSR
from ._products import check, csr_from_coo, diagonal, matmul, matvec, transpose

__all__ = ["CSR", "check", "csr_from_coo", "diagonal", "linalg", "matmul", "matvec", "transpose"]
__dir__ = publish(globals())
