"""sparse_scipy.py - measures sparse products on the CPU, compared with SciPy on the same data.

    bench/sparse_scipy.py LIBRARY [MATRIX.mtx...]

LIBRARY is libechelon.so.  Prints a table of GB/s, counting entries, offsets, x and y once each: the best of
several runs, in CPU time for one thread and in wall time for all threads.  For a matrix from a file it also
prints the error relative to the sum of the magnitudes, against sums that are rounded once.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import sys
import time
from math import fsum

import numpy as np
import scipy.io
import scipy.sparse as sp

from structs import Csr

lib = ctypes.CDLL(sys.argv[1])
lib.ech_dtype_from_name.argtypes = [ctypes.c_char_p]
lib.ech_error.restype = ctypes.c_char_p
lib.ech_spmv.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(Csr), ctypes.c_void_p,
                         ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
SHORT = {"int32": b"i32", "int64": b"i64", "float32": b"f32", "float64": b"f64"}


def open_cpu():
    ctx = ctypes.c_void_p()
    if lib.ech_open(ctypes.byref(ctx), b"cpu"):
        sys.exit("ech_open failed")
    return ctx


def of(a):
    return Csr(ctypes.sizeof(Csr), a.shape[0], a.shape[1], a.nnz, a.indptr.ctypes.data, a.indices.ctypes.data,
               a.data.ctypes.data, lib.ech_dtype_from_name(SHORT[str(a.indices.dtype)]),
               lib.ech_dtype_from_name(SHORT[str(a.dtype)]))


def spmv(ctx, a, x, y):
    if lib.ech_spmv(ctx, 1.0, ctypes.byref(of(a)), x.ctypes.data, 0.0, y.ctypes.data, None):
        sys.exit(lib.ech_error(ctx).decode())


def measure(call, clock):
    call()
    times = []
    for _ in range(15):
        begin = clock()
        call()
        times.append(clock() - begin)
    return min(times)


def row(ctx, name, a):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, a.shape[1]).astype(a.dtype)
    y = np.empty(a.shape[0], a.dtype)
    size = (a.nnz * (a.indices.itemsize + a.dtype.itemsize) + a.indptr.nbytes + x.nbytes + y.nbytes)
    figures = []
    for threads, clock in ((1, time.thread_time), (0, time.perf_counter)):
        lib.ech_set_threads(ctx, threads)
        figures.append(size / measure(lambda: spmv(ctx, a, x, y), clock) * 1e-9)
    figures.append(size / measure(lambda: a @ x, time.thread_time) * 1e-9)
    close = np.allclose(y, a @ x, rtol=1e-4 if a.dtype == np.float32 else 1e-10, atol=1e-3)
    print(f"| {name} | {a.dtype} | {a.shape[0]:,} | {a.nnz:,} | {figures[0]:.1f} | {figures[1]:.1f} "
          f"| {figures[2]:.1f} |{'' if close else ' WRONG'}", flush=True)


def grid(side, dimensions):
    one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side), format="csr")
    a = one
    for _ in range(dimensions - 1):
        a = sp.kronsum(a, one, format="csr")
    a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)
    return a


def fixed(rows, cols, length):
    rng = np.random.default_rng(2)
    columns = np.sort(rng.integers(0, cols, (rows, length), dtype=np.int32), axis=1)
    return sp.csr_matrix((rng.uniform(-1, 1, rows * length), columns.ravel(),
                          np.arange(rows + 1, dtype=np.int32) * length), shape=(rows, cols))


def check(ctx, path):
    a = sp.csr_matrix(scipy.io.mmread(path), dtype=np.float64)
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, a.shape[1])
    y = np.empty(a.shape[0])
    spmv(ctx, a, x, y)
    worst = 0.0
    for i in range(a.shape[0]):
        parts = a.data[a.indptr[i]:a.indptr[i + 1]] * x[a.indices[a.indptr[i]:a.indptr[i + 1]]]
        if len(parts):
            worst = max(worst, abs(fsum(parts) - y[i]) / max(fsum(abs(parts)), 1e-300))
    print(f"{path.rsplit('/', 1)[-1]}: {a.shape[0]} x {a.shape[1]}, {a.nnz} entries, error {worst:.1e}"
          " of the sum of magnitudes")


context = open_cpu()
print("| | dtype | rows | entries | echelon, 1 thread | all | SciPy |\n|---|---|---|---|---|---|---|")
row(context, "Poisson 2-D", grid(1500, 2))
row(context, "Poisson 2-D", grid(1500, 2).astype(np.float32))
row(context, "Poisson 3-D", grid(120, 3))
row(context, "rows of 32", fixed(400000, 400000, 32))
row(context, "rows of 1000", fixed(10000, 100000, 1000))
row(context, "one row", fixed(1, 1 << 23, 1 << 23))
for file in sys.argv[2:]:
    check(context, file)
