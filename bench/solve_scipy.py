"""solve_scipy.py - measures solvers of linear systems of real matrices on the CPU, compared with SciPy.

    OPENBLAS_NUM_THREADS=1 bench/solve_scipy.py LIBRARY MATRIX.mtx... >solve.csv
    bench/solve_scipy.py --table solve.csv

LIBRARY is libechelon.so.  If a file has no values, the graph's Laplacian + I is used.  b = A x for
random x.  Both start at zero, use one thread, and stop at a residual of 1e-8 |b| or after 20,000
products with A.  A row is one method and preconditioner of one library: iterations; the best CPU time of
several runs, including the setup of the preconditioner; |b - A x| / |b| computed here in long double;
|x - solution| / |solution|; and whether the solver reports convergence.  Preconditioners: none, diagonal,
and incomplete factors.  Echelon has ILU(0), and IC(0) for CG and MINRES.  SciPy has only spilu() (ILUTP,
with up to ten times the entries of A); it is also measured with as many entries as A ("spilu, 1x").  The
restart length of GMRES is 50.  Direct solvers: dense A, and SciPy's sparse solver.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import ctypes
import datetime
import os
import re
import sys
import time
import warnings


def time_of(row):
    ms = float(row["ms"])
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.2g} ms"


def cell(row):
    """Iterations and time; -: no solution; the residual is added to a solution wrongly reported."""
    if row is None or not row["residual"]:
        return "-"
    if float(row["residual"]) > 1.01e-8 and row["says"] != "converged":
        return "-"
    text = f'{row["iterations"]}: {time_of(row)}'
    return text if float(row["residual"]) <= 1.01e-8 else f'({float(row["residual"]):.0e}) {text}'


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    found = {(r["matrix"], r["method"], r["precond"], r["who"]): r for r in rows}
    print("| | | no M: Echelon | SciPy | diagonal: Echelon | SciPy | IC(0), ILU(0): Echelon "
          "| SciPy, spilu |\n|---|---|---|---|---|---|---|---|")
    for matrix in dict.fromkeys(r["matrix"] for r in rows):
        for method in ("cg", "minres", "bicgstab", "gmres"):
            mine = "ic0" if method in ("cg", "minres") else "ilu0"
            pairs = (("none", "none"), ("jacobi", "jacobi"), (mine, "spilu"))
            cells = [cell(found.get((matrix, method, m, who))) for pair in pairs
                     for m, who in zip(pair, ("Echelon", "SciPy"))]
            if set(cells) != {"-"}:
                print(f"| {matrix} | {method} | {' | '.join(cells)} |")
    print("\n| | LU, dense: Echelon | SciPy | sparse: SciPy |\n|---|---|---|---|")
    for matrix in dict.fromkeys(r["matrix"] for r in rows):
        direct = [("dense, blocked", "Echelon"), ("dense", "SciPy"), ("sparse", "SciPy")]
        direct = [found[matrix, "LU", m, who] for m, who in direct]
        print(f"| {matrix} | " + " | ".join(f'{time_of(r)}, error {float(r["error"]):.0e}'
                                            for r in direct) + " |")


if sys.argv[1:2] == ["--table"]:
    table(sys.argv[2])
    sys.exit()

import numpy as np
import scipy
import scipy.io
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from structs import (Csr, DirectOptions, DirectReport, Operator, Options, Report, integer, pointer,
                     size_t)

RTOL, PRODUCTS, RESTART = 1e-8, 20000, 50

lib = ctypes.CDLL(sys.argv[1])
lib.ech_error.restype = lib.ech_solve_status_text.restype = lib.ech_direct_status_text.restype = \
    lib.ech_method_name.restype = lib.ech_precond_name.restype = lib.ech_version.restype = \
    ctypes.c_char_p
for call in (lib.ech_method_from_name, lib.ech_precond_from_name, lib.ech_dtype_from_name):
    call.argtypes = [ctypes.c_char_p]
lib.ech_solve.argtypes = [pointer, ctypes.POINTER(Operator), size_t, pointer, size_t, pointer,
                          size_t, ctypes.POINTER(Options), ctypes.POINTER(Report)]
lib.ech_solve_direct.argtypes = [pointer, size_t, size_t, pointer, size_t, size_t, pointer, size_t,
                                 pointer, size_t, integer, ctypes.POINTER(DirectOptions),
                                 ctypes.POINTER(DirectReport)]
I32, F64 = lib.ech_dtype_from_name(b"i32"), lib.ech_dtype_from_name(b"f64")
ctx = ctypes.c_void_p()
if lib.ech_open(ctypes.byref(ctx), b"cpu"):
    sys.exit("ech_open failed")
lib.ech_set_threads(ctx, 1)


def load(path):
    a = scipy.io.mmread(path).tocsr().astype(np.float64)
    with open(path, encoding="ascii") as file:
        pattern = " pattern " in file.readline()
    name = os.path.basename(path).removesuffix(".mtx")
    if pattern:  # degree + 1 on the diagonal, -1 for an edge
        edges = sp.csr_matrix(((a + a.T) != 0), dtype=np.float64)
        edges.setdiag(0)
        edges.eliminate_zeros()
        a = (sp.diags(np.asarray(edges.sum(axis=1)).ravel() + 1) - edges).tocsr()
        name += ", Laplacian + I"
    a.sort_indices()
    a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)
    return name, a


def true_residual(a, b, x):
    """b - A x in long double."""
    terms = a.data.astype(np.longdouble) * x[a.indices].astype(np.longdouble)
    sums = np.zeros(a.shape[0], np.longdouble)
    np.add.at(sums, np.repeat(np.arange(a.shape[0]), np.diff(a.indptr)), terms)
    return float(np.linalg.norm((b - sums).astype(np.float64)) / np.linalg.norm(b))


def measure(solve):
    """The result, and the minimum CPU time of several runs in ms."""
    times = []
    while len(times) < 5 and sum(times) < 2:
        begin = time.thread_time()
        answer = solve()
        times.append(time.thread_time() - begin)
    return answer, 1000 * min(times)


def say(name, a, b, solution, method, precond, who, solve):
    (x, iterations, claim), ms = measure(solve)
    residual = error = ""
    if x is not None and np.isfinite(x).all():
        residual = f"{true_residual(a, b, x):.2e}"
        error = f"{np.linalg.norm(x - solution) / np.linalg.norm(solution):.2e}"
    claim = re.sub(r"[:;,].*", "", claim)
    print(f'"{name}",{a.shape[0]},{a.nnz},{method},"{precond}",{who},{iterations},{ms:.3f},'
          f"{residual},{error},{claim}", flush=True)


def ours(a, b, method, precond):
    csr = Csr(ctypes.sizeof(Csr), a.shape[0], a.shape[1], a.nnz, a.indptr.ctypes.data, a.indices.ctypes.data,
              a.data.ctypes.data, I32, F64)
    op = Operator(size=ctypes.sizeof(Operator), n=a.shape[0], dtype=F64, csr=ctypes.pointer(csr))
    iterations = PRODUCTS // 2 if method == "bicgstab" else PRODUCTS
    o = Options(size=ctypes.sizeof(Options), method=lib.ech_method_from_name(method.encode()),
                precond=lib.ech_precond_from_name(precond.encode()), rtol=RTOL,
                max_iterations=iterations, restart=RESTART)

    def solve():
        x, report = np.zeros(a.shape[0]), Report(size=ctypes.sizeof(Report))
        if lib.ech_solve(ctx, ctypes.byref(op), 1, b.ctypes.data, a.shape[0], x.ctypes.data,
                         a.shape[0], ctypes.byref(o), ctypes.byref(report)):
            sys.exit(lib.ech_error(ctx).decode())
        return x, report.iterations, lib.ech_solve_status_text(report.status).decode()
    return solve


def theirs(a, b, method, precond):
    n = a.shape[0]
    symmetric = method in ("cg", "minres")

    def preconditioner():
        if precond == "none":
            return None
        if precond == "jacobi":
            inverse = 1 / a.diagonal()
            if not np.isfinite(inverse).all():
                raise RuntimeError("a zero on the diagonal")
            return spl.LinearOperator((n, n), lambda r: inverse * r.ravel(), dtype=np.float64)
        more = {"fill_factor": 1, "drop_tol": 0} if precond == "spilu, 1x" else {}
        if symmetric:
            more |= {"diag_pivot_thresh": 0, "permc_spec": "MMD_AT_PLUS_A",
                     "options": {"SymmetricMode": True}}
        factors = spl.spilu(a.tocsc(), **more)
        return spl.LinearOperator((n, n), factors.solve, dtype=np.float64)

    def solve():
        count = [0]

        def look(_):
            count[0] += 1
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                m = preconditioner()
                if method == "gmres":
                    x, end = spl.gmres(a, b, rtol=RTOL, atol=0, restart=RESTART, M=m,
                                       maxiter=PRODUCTS // RESTART, callback=look,
                                       callback_type="pr_norm")
                elif method == "minres":
                    x, end = spl.minres(a, b, rtol=RTOL, M=m, maxiter=PRODUCTS, callback=look)
                elif method == "bicgstab":
                    x, end = spl.bicgstab(a, b, rtol=RTOL, atol=0, M=m, maxiter=PRODUCTS // 2,
                                          callback=look)
                else:
                    x, end = spl.cg(a, b, rtol=RTOL, atol=0, M=m, maxiter=PRODUCTS, callback=look)
        except (RuntimeError, ValueError) as failure:
            return None, count[0], str(failure).strip() or "failed"
        claim = "converged" if end == 0 else "broke down" if end < 0 else "not converged"
        return x, count[0], claim
    return solve


def directly(a, b, dense, algorithm):
    def solve():
        x, report = np.zeros(a.shape[0]), DirectReport(size=ctypes.sizeof(DirectReport))
        o = DirectOptions(size=ctypes.sizeof(DirectOptions), kind=1, algorithm=algorithm)
        n = a.shape[0]
        if lib.ech_solve_direct(ctx, n, n, dense.ctypes.data, n, 1, b.ctypes.data, 1,
                                x.ctypes.data, 1, F64, ctypes.byref(o), ctypes.byref(report)):
            return None, 0, lib.ech_error(ctx).decode()
        return x, report.refinements, lib.ech_direct_status_text(report.status).decode()
    return solve


def system(path):
    name, a = load(path)
    solution = np.random.default_rng(7).uniform(-1, 1, a.shape[0])
    b = a @ solution
    dense = a.toarray()
    pairs = {"none": ["none"], "jacobi": ["jacobi"], "": ["spilu", "spilu, 1x"]}
    for method in ("cg", "minres", "bicgstab", "gmres"):
        for mine, others in pairs.items():
            mine = mine or ("ic0" if method in ("cg", "minres") else "ilu0")
            say(name, a, b, solution, method, mine, "Echelon", ours(a, b, method, mine))
            for other in others:
                say(name, a, b, solution, method, other, "SciPy", theirs(a, b, method, other))
    say(name, a, b, solution, "auto", "", "Echelon", ours(a, b, "auto", "none"))
    say(name, a, b, solution, "LU", "dense, blocked", "Echelon", directly(a, b, dense, b"blocked"))
    say(name, a, b, solution, "LU", "dense, lapack", "Echelon", directly(a, b, dense, b"lapack"))
    say(name, a, b, solution, "LU", "dense", "SciPy",
        lambda: (scipy.linalg.solve(dense, b, assume_a="general"), 0, "solved"))
    say(name, a, b, solution, "LU", "sparse", "SciPy",
        lambda: (spl.spsolve(a.tocsc(), b), 0, "solved"))


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return re.search(r"model name\s*: (.*)", file.read()).group(1)


print(f"# machine: {processor()}, 1 thread")
print(f"# versions: Echelon {lib.ech_version().decode()}, SciPy {scipy.__version__}, "
      f"NumPy {np.__version__}, Python {sys.version.split()[0]}")
print(f"# date: {datetime.date.today()}")
print("# command: bench/solve_scipy.py libechelon.so MATRIX.mtx...")
print("matrix,n,entries,method,precond,who,iterations,ms,residual,error,says", flush=True)
for file in sys.argv[2:]:
    system(file)
