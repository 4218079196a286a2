"""dense_numpy.py - measures dense products and solutions on the CPU, compared with NumPy.

    OPENBLAS_NUM_THREADS=1 bench/dense_numpy.py LIBRARY THREADS >dense.csv

LIBRARY is libechelon.so.  OPENBLAS_NUM_THREADS, which NumPy reads when it is loaded, must be THREADS.
Results are the best of several alternating runs: CPU time for one thread, wall time for several.  Each
algorithm of Echelon is forced; NumPy includes its own OpenBLAS.  matmul: n x n x n.  solve: one
right-hand side, by Echelon without refinement and by NumPy's linalg.solve(); Echelon also computes the
condition estimate, the determinant and the backward error.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import datetime
import os
import re
import sys
import time

import numpy as np

from structs import DirectOptions, DirectReport, MatmulOptions, integer, pointer, real, size_t

lib = ctypes.CDLL(sys.argv[1])
threads = int(sys.argv[2])
if os.environ.get("OPENBLAS_NUM_THREADS") != str(threads):
    sys.exit(f"OPENBLAS_NUM_THREADS is not {threads}")
lib.ech_error.restype = lib.ech_version.restype = ctypes.c_char_p
lib.ech_dtype_from_name.argtypes = [ctypes.c_char_p]
lib.ech_matmul.argtypes = [pointer, size_t, size_t, size_t, real, pointer, size_t, pointer, size_t,
                           real, pointer, size_t, integer, ctypes.POINTER(MatmulOptions)]
lib.ech_solve_direct.argtypes = [pointer, size_t, size_t, pointer, size_t, size_t, pointer, size_t,
                                 pointer, size_t, integer, ctypes.POINTER(DirectOptions),
                                 ctypes.POINTER(DirectReport)]
ctx = ctypes.c_void_p()
if lib.ech_open(ctypes.byref(ctx), b"cpu"):
    sys.exit("ech_open failed")
lib.ech_set_threads(ctx, threads)
clock = time.thread_time if threads == 1 else time.perf_counter


def our_matmul(a, b, dtype, algorithm):
    n, c = len(a), np.empty_like(a)
    o = MatmulOptions(size=ctypes.sizeof(MatmulOptions), algorithm=algorithm)
    if lib.ech_matmul(ctx, n, n, n, 1.0, a.ctypes.data, n, b.ctypes.data, n, 0.0, c.ctypes.data, n,
                      dtype, ctypes.byref(o)):
        raise RuntimeError(lib.ech_error(ctx).decode())
    return c


def our_solve(a, b, dtype, algorithm):
    n, x, report = len(a), np.empty_like(b), DirectReport(size=ctypes.sizeof(DirectReport))
    o = DirectOptions(size=ctypes.sizeof(DirectOptions), kind=1, refine=-1, algorithm=algorithm)
    if lib.ech_solve_direct(ctx, n, n, a.ctypes.data, n, 1, b.ctypes.data, 1, x.ctypes.data, 1,
                            dtype, ctypes.byref(o), ctypes.byref(report)) or report.status:
        raise RuntimeError(lib.ech_error(ctx).decode())
    return x


def rows(op, name, n, flops, contenders):
    """The best time of each contender; results are compared with NumPy's, which is last."""
    answers, best, runs = {}, {}, 0
    begin = time.perf_counter()
    while runs < 5 or (runs < 15 and time.perf_counter() - begin < 5):
        for who, call in contenders.items():
            start = clock()
            try:
                answers[who] = call()
            except RuntimeError as failure:
                if runs == 0:
                    print(f"# {op} {name} {n}: {who}: {failure}", file=sys.stderr)
                continue
            best[who] = min(best.get(who, 1e9), clock() - start)
        runs += 1
    size = np.linalg.norm(answers["NumPy"])
    for who, seconds in best.items():
        off = np.linalg.norm(answers[who] - answers["NumPy"]) / size
        print(f"{op},{name},{n},{who},{1000 * seconds:.3f},{flops / seconds * 1e-9:.1f},{off:.1e}",
              flush=True)


with open("/proc/cpuinfo", encoding="utf-8") as file:
    processor = re.search(r"model name\s*: (.*)", file.read()).group(1)
print(f"# machine: {processor}, {threads} thread{'s' if threads > 1 else ''}")
print(f"# versions: Echelon {lib.ech_version().decode()}, NumPy {np.__version__}, "
      f"Python {sys.version.split()[0]}")
print(f"# date: {datetime.date.today()}")
print(f"# command: bench/dense_numpy.py libechelon.so {threads}")
print("op,dtype,n,contender,ms,gflop_per_s,off_numpy", flush=True)
rng = np.random.default_rng(1)
for dtype, name in ((np.float32, "f32"), (np.float64, "f64")):
    code = lib.ech_dtype_from_name(name.encode())
    for n in (1000, 2000, 4000):
        a = rng.uniform(-1, 1, (n, n)).astype(dtype)
        b = rng.uniform(-1, 1, (n, n)).astype(dtype)
        y = b[:, 0].copy()
        rows("matmul", name, n, 2.0 * n**3,
             {"Echelon tiled": lambda: our_matmul(a, b, code, b"tiled"),
              "Echelon blas": lambda: our_matmul(a, b, code, b"blas"), "NumPy": lambda: a @ b})
        rows("solve", name, n, 2 / 3 * n**3,
             {"Echelon blocked": lambda: our_solve(a, y, code, b"blocked"),
              "Echelon lapack": lambda: our_solve(a, y, code, b"lapack"),
              "NumPy": lambda: np.linalg.solve(a, y)})
