#!/usr/bin/env python3
"""poisson_cg.py [SIDE] - the conjugate gradient solvers of Echelon and of SciPy on the Laplacian of a SIDE x SIDE grid.

The calls are the same: a program that uses scipy.sparse.linalg.cg() changes one line, its import. Without SciPy, only
the solver of Echelon runs. Both times are the minimum of three calls.

SPDX-License-Identifier: Apache-2.0
"""
import inspect
import sys
import time

import echelon.sparse
import numpy as np
from echelon.sparse.linalg import cg

try:
    import scipy.sparse
    import scipy.sparse.linalg
except ImportError:
    scipy = None


def laplacian(side):
    """The entries of the matrix of a grid: 4 on the diagonal, -1 for each neighbour."""
    cells = np.arange(side * side, dtype=np.int32).reshape(side, side)
    pairs = [(cells[:, 1:], cells[:, :-1]), (cells[1:], cells[:-1])]
    rows = np.concatenate([cells.ravel()] + [x.ravel() for a, b in pairs for x in (a, b)])
    columns = np.concatenate([cells.ravel()] + [x.ravel() for a, b in pairs for x in (b, a)])
    values = np.where(rows == columns, 4.0, -1.0)
    return echelon.sparse.csr_from_coo(rows, columns, values, (cells.size, cells.size))


def timed(solver, *arguments, **options):
    """The result of a solver, and the minimum time of three calls."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        x, info = solver(*arguments, **options)
        seconds.append(time.perf_counter() - start)
    return x, info, min(seconds)


def show(name, matrix, b, x, info, seconds):
    residual = np.linalg.norm(b - echelon.sparse.matvec(matrix, x)) / np.linalg.norm(b)
    print(f"{name:8} info {info}, {seconds * 1000:9.2f} ms, |b - A x| = {residual:.1e} |b|")


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    matrix = laplacian(side)
    b = np.ones(side * side)
    print(f"{b.size} unknowns, {matrix.data.size} entries")

    x, info, seconds = timed(cg, matrix, b, rtol=1e-8)
    show("Echelon", matrix, b, x, info, seconds)
    failed = info != 0

    if scipy:
        for_scipy = scipy.sparse.csr_array(matrix[:3], shape=matrix.shape)
        solver = scipy.sparse.linalg.cg
        name = "rtol" if "rtol" in inspect.signature(solver).parameters else "tol"  # before SciPy 1.12
        y, info, other_seconds = timed(solver, for_scipy, b, **{name: 1e-8})
        show("SciPy", matrix, b, y, info, other_seconds)
        difference = np.abs(x - y).max() / np.abs(y).max()
        print(f"maximum difference {difference:.1e}, speedup {other_seconds / seconds:.2f}")
        failed = failed or difference > 1e-6
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
