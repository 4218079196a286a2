"""sparse_scipy.py - measures sparse products on the CPU, compared with other libraries on the same data.

    bench/sparse_scipy.py LIBRARY [MATRIX.mtx...]

LIBRARY is libechelon.so.  Competitors: SciPy; MKL and SuiteSparse:GraphBLAS, if the packages mkl and
suitesparse-graphblas of PyPI are installed.  "MKL, optimized" is its product after mkl_sparse_optimize(), whose
time does not count.  Prints a table of GB/s, counting entries, offsets, x and y once each: the best of several
runs that alternate, in CPU time for one thread, and in wall time for all threads.  For a matrix from a file it
also prints the error relative to the sum of the magnitudes, against sums that are rounded once.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import glob
import sys
import time
from math import fsum

import numpy as np
import scipy.io
import scipy.sparse as sp

from structs import Csr

try:
    mkl = ctypes.CDLL(glob.glob(sys.prefix + "/lib/libmkl_rt.so*")[0])
except (OSError, IndexError):
    mkl = None
try:
    import suitesparse_graphblas
    from suitesparse_graphblas import ffi, lib as gb
    suitesparse_graphblas.initialize()
    gb.GrB_Global_set_INT32(gb.GrB_GLOBAL, 1, gb.GxB_NTHREADS)
except ImportError:
    gb = None

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


class Description(ctypes.Structure):  # struct matrix_descr of MKL: a general matrix
    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]


def mkl_product(a, optimized):
    """A function that computes A x with MKL."""
    letter, real = ("s", ctypes.c_float) if a.dtype == np.float32 else ("d", ctypes.c_double)
    address = ctypes.c_void_p
    begin, handle, plain = a.indptr.ctypes.data, address(), Description(20, 0, 0)
    if getattr(mkl, f"mkl_sparse_{letter}_create_csr")(
            ctypes.byref(handle), 0, a.shape[0], a.shape[1], address(begin),
            address(begin + a.indptr.itemsize), address(a.indices.ctypes.data), address(a.data.ctypes.data)):
        sys.exit("mkl_sparse_create_csr failed")
    if optimized:
        mkl.mkl_sparse_set_mv_hint(handle, 10, plain, 1000)
        mkl.mkl_sparse_optimize(handle)
    product = getattr(mkl, f"mkl_sparse_{letter}_mv")
    product.argtypes = [ctypes.c_int, real, address, Description, address, real, address]
    y = np.empty(a.shape[0], a.dtype)

    def run(x):
        if product(10, 1, handle, plain, x.ctypes.data, 0, y.ctypes.data):
            sys.exit("mkl_sparse_mv failed")
        return y
    return run


def graphblas_product(a):
    """A function that computes A x with SuiteSparse:GraphBLAS; its vectors are made before the first product."""
    code, n = ("FP32" if a.dtype == np.float32 else "FP64"), a.shape[1]
    kind, cell = getattr(gb, f"GrB_{code}"), "float" if code == "FP32" else "double"
    offsets, columns = a.indptr.astype(np.uint64), a.indices.astype(np.uint64)
    matrix, vector, result = ffi.new("GrB_Matrix*"), ffi.new("GrB_Vector*"), ffi.new("GrB_Vector*")
    good = getattr(gb, f"GrB_Matrix_import_{code}")(
        matrix, kind, a.shape[0], n, ffi.from_buffer("uint64_t[]", offsets), ffi.from_buffer("uint64_t[]", columns),
        ffi.from_buffer(f"{cell}[]", a.data), len(offsets), len(columns), len(a.data), gb.GrB_CSR_FORMAT) == 0
    gb.GrB_Vector_new(vector, kind, n)
    gb.GrB_Vector_new(result, kind, a.shape[0])
    ready = []

    def run(x):
        nonlocal good
        if not ready:
            at = np.arange(n, dtype=np.uint64)
            good &= getattr(gb, f"GrB_Vector_build_{code}")(
                vector[0], ffi.from_buffer("uint64_t[]", at), ffi.from_buffer(f"{cell}[]", x), n,
                getattr(gb, f"GrB_PLUS_{code}")) == 0
            ready.append(True)
        good &= gb.GrB_mxv(result[0], ffi.NULL, ffi.NULL, getattr(gb, f"GrB_PLUS_TIMES_SEMIRING_{code}"), matrix[0],
                           vector[0], ffi.NULL) == 0
        if not good:
            sys.exit("GraphBLAS failed")

    def values(x):
        run(x)
        y, at, count = np.zeros(a.shape[0], a.dtype), np.empty(a.shape[0], np.uint64), ffi.new("GrB_Index*")
        found, count[0] = np.empty(a.shape[0], a.dtype), a.shape[0]
        getattr(gb, f"GrB_Vector_extractTuples_{code}")(ffi.from_buffer("uint64_t[]", at),
                                                       ffi.from_buffer(f"{cell}[]", found), count, result[0])
        y[at[:count[0]]] = found[:count[0]]
        return y
    return run, values


def measure(calls, clock):
    """The best time of each call; the calls alternate."""
    best = [np.inf] * len(calls)
    for turn in range(16):
        for k, call in enumerate(calls):
            begin = clock()
            call()
            if turn:
                best[k] = min(best[k], clock() - begin)
    return best


def row(ctx, name, a):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, a.shape[1]).astype(a.dtype)
    y = np.empty(a.shape[0], a.dtype)
    size = (a.nnz * (a.indices.itemsize + a.dtype.itemsize) + a.indptr.nbytes + x.nbytes + y.nbytes)
    rivals = [lambda x: a @ x]
    results = [a @ x]
    if mkl:
        mkl.MKL_Set_Num_Threads(1)
        rivals += [mkl_product(a, False), mkl_product(a, True)]
        results += [rival(x).copy() for rival in rivals[1:]]
    if gb:
        run, values = graphblas_product(a)
        rivals.append(run)
        results.append(values(x))
    lib.ech_set_threads(ctx, 1)
    times = measure([lambda: spmv(ctx, a, x, y)] + [lambda rival=rival: rival(x) for rival in rivals], time.process_time)
    lib.ech_set_threads(ctx, 0)
    times.insert(1, measure([lambda: spmv(ctx, a, x, y)], time.perf_counter)[0])
    wrong = [k for k, result in enumerate(results)
             if not np.allclose(y, result, rtol=1e-4 if a.dtype == np.float32 else 1e-10, atol=1e-3)]
    print(f"| {name} | {a.dtype} | {a.shape[0]:,} | {a.nnz:,} | "
          + " | ".join(f"{size / seconds * 1e-9:.1f}" for seconds in times) + " |"
          + (f" WRONG: {wrong}" if wrong else ""), flush=True)


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
    a = sp.csr_matrix((rng.uniform(-1, 1, rows * length), columns.ravel(),
                       np.arange(rows + 1, dtype=np.int32) * length), shape=(rows, cols))
    a.sum_duplicates()  # GraphBLAS refuses equal columns in a row
    return a


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
print("| | dtype | rows | entries | Echelon, 1 thread | all threads | SciPy |"
      + (" MKL | MKL, optimized |" if mkl else "") + (" GraphBLAS |" if gb else "")
      + "\n|" + "---|" * (7 + 2 * bool(mkl) + bool(gb)))
row(context, "Poisson 2-D", grid(1500, 2))
row(context, "Poisson 2-D", grid(1500, 2).astype(np.float32))
row(context, "Poisson 3-D", grid(120, 3))
row(context, "rows of 32", fixed(400000, 400000, 32))
row(context, "rows of 1000", fixed(10000, 100000, 1000))
row(context, "one row", fixed(1, 1 << 23, 1 << 23))
for file in sys.argv[2:]:
    check(context, file)
