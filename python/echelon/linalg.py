"""Linear algebra of dense matrices: products, direct solvers, inverses and determinants.

The functions have the names and signatures of numpy.linalg and of the Array API standard.

SPDX-License-Identifier: Apache-2.0
"""
from ._ops.direct import (ConditionWarning, DirectReport, LinAlgError, LstsqResult, SlogdetResult, det, inv, lstsq,
                          slogdet, solve)
from ._ops.products import matmul, vecdot
from ._runtime.public import publish

__all__ = ["ConditionWarning", "DirectReport", "LinAlgError", "LstsqResult", "SlogdetResult", "det", "inv", "lstsq",
           "matmul", "slogdet", "solve", "vecdot"]
__dir__ = publish(globals())
