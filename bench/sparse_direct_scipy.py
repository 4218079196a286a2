"""sparse_direct_scipy.py - measures sparse direct solvers, compared with SciPy, CuPy and dense LU.

    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 bench/sparse_direct_scipy.py [--dense] [MATRIX.mtx...] >direct.csv
    ECHELON_DEVICE=cuda bench/sparse_direct_scipy.py --gpu [--only TEXT] [MATRIX.mtx...] >direct.csv
    bench/sparse_direct_scipy.py --table direct.csv

Each MATRIX is enlarged: copies of it are blocks on the diagonal, and three random elements couple each block with the
block before. The result is synthetic, and has about 10^4, 10^5 and 10^6 rows. 2-D and 3-D Laplacians follow. b = A x for
a random x. A row is one solver: the best CPU time of several runs, which alternate between the solvers, from A and b to
x; the number of entries of L and U; the backward error |b - A x| / (|A| |x| + |b|) in the maximum norm, computed here;
and |x - solution| / |solution|. One thread. --dense: also the dense LU of Echelon for n up to 12,000.

--gpu: elapsed time with all threads, A and b in host memory, larger Laplacians, and CuPy's spsolve() (the QR
factorization of cuSOLVER) for n up to 16,000.

--only: the matrices whose name contains TEXT. A solver that took more than 20 s for a matrix (--gpu: 2 s) runs once, and omits the larger ones of the same kind.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import datetime
import sys
import time


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    names = list(dict.fromkeys(row["who"] for row in rows))
    print("| | n | entries | " + " | ".join(names) + " |\n|---|---|---|" + "---|" * len(names))
    for matrix in dict.fromkeys(row["matrix"] for row in rows):
        found = {row["who"]: row for row in rows if row["matrix"] == matrix}
        first = next(iter(found.values()))
        cells = [f'{float(found[who]["s"]):.3g} s, {float(found[who]["backward_error"]):.0e}' if who in found else ""
                 for who in names]
        print(f'| {matrix} | {int(first["n"]):,} | {int(first["entries"]):,} | {" | ".join(cells)} |')


if sys.argv[1:2] == ["--table"]:
    table(sys.argv[2])
    sys.exit()

import echelon
import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from echelon.sparse import linalg as solvers

try:
    import cupy
    import cupyx.scipy.sparse as cupyx_sparse
    import cupyx.scipy.sparse.linalg as cupyx_linalg
except ImportError:
    cupy = None

COUPLINGS = 3
GPU = "--gpu" in sys.argv
SLOW = 2 if GPU else 20  # seconds
seconds_of = time.perf_counter if GPU else time.process_time


def enlarged(block, copies):
    rng, n = np.random.default_rng(1), block.shape[0]
    count = COUPLINGS * (copies - 1)
    row = rng.integers(0, n, count) + np.repeat(np.arange(1, copies), COUPLINGS) * n
    column = rng.integers(0, n, count) + np.repeat(np.arange(copies - 1), COUPLINGS) * n
    coupling = sp.csr_matrix((rng.standard_normal(count), (row, column)), shape=(n * copies, n * copies))
    return (sp.block_diag([block] * copies, format="csr") + coupling).tocsr()


def laplacian(side, dimensions):
    line, one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side)), sp.eye(side)
    result = line
    for _ in range(dimensions - 1):
        result = sp.kron(result, one) + sp.kron(sp.eye(result.shape[0]), line)
    return result.tocsr()


def matrices(paths):
    for path in paths:
        block = scipy.io.mmread(path).tocsr()
        name = path.rpartition("/")[2].partition(".")[0]
        for n in (10**4, 10**5, 10**6):
            copies = -(-n // block.shape[0])
            yield f"{name} x {copies:,}, synthetic", enlarged(block, copies)
    for side in (16, 25, 40) if GPU else (16, 25):
        yield f"Laplacian, {side}^3", laplacian(side, 3)
    for side in (100, 300, 600, 1000) if GPU else (100, 300):
        yield f"Laplacian, {side}^2", laplacian(side, 2)


def available(algorithm):
    try:
        solvers.splu(sp.eye(2).tocsr(), algorithm=algorithm)
    except echelon.UnsupportedError:
        print(f"# not available: {algorithm}")
        return False
    return True


def solver_of(algorithm, refine=None):
    def run(a, b):
        x, report = solvers.spsolve(a, b, algorithm=algorithm, refine=refine, info=True)
        return x, report.factor_nnz
    return run


def scipy_solver(a, b):
    lu = spl.splu(a.tocsc())
    return lu.solve(b), lu.L.nnz + lu.U.nnz - a.shape[0]


def cupy_solver(a, b):
    return cupy.asnumpy(cupyx_linalg.spsolve(cupyx_sparse.csr_matrix(a), cupy.asarray(b))), 0


def dense_solver(a, b):
    return echelon.linalg.solve(a.toarray(), b, factorization="lu"), a.shape[0] ** 2


def measure(name, a, run):
    rng = np.random.default_rng(2)
    x = rng.standard_normal(a.shape[0])
    b = a @ x
    best = {}
    for turn in range(3 if a.shape[0] < 500000 else 2):
        for who, solve in run.items():
            if turn and best[who][0] > SLOW:
                continue
            start = seconds_of()
            y, nnz = solve(a, b)
            seconds = seconds_of() - start
            if who not in best or seconds < best[who][0]:
                best[who] = seconds, nnz, y
    for who, (seconds, nnz, y) in best.items():
        error = abs(b - a @ y).max() / (abs(a).sum(1).max() * abs(y).max() + abs(b).max())
        print(f"{name},{a.shape[0]},{a.nnz},{who},{seconds:.4g},{nnz},{error:.2g},"
              f"{abs(x - y).max() / abs(x).max():.2g}", flush=True)
    return [who for who in best if best[who][0] > SLOW]


def main():
    words = [word for word in sys.argv[1:] if word not in ("--dense", "--gpu")]
    only = ""
    if "--only" in words:
        at = words.index("--only")
        only = words[at + 1]
        del words[at:at + 2]
    if not GPU:
        echelon.set_threads(1)
    print(f"# versions: Echelon {echelon.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}")
    how = "elapsed time" if GPU else "CPU time of one thread"
    print(f"# date: {datetime.date.today()}; {how}, best of 2 or 3 alternating runs")
    run = {"Echelon": solver_of(None), "Echelon without refinement": solver_of(None, 0)}
    run.update({name: solver_of(name) for name in ("cudss", "klu", "mumps", "superlu") if available(name)})
    run["SciPy splu"] = scipy_solver
    print("matrix,n,entries,who,s,factor_nnz,backward_error,error")
    slow = {}
    for name, a in matrices(words):
        if only not in name:
            continue
        a.sum_duplicates()
        name = name.replace(",", "")
        kind = name.split(" x ")[0] if " x " in name else name.partition("^")[2]
        chosen = {who: solve for who, solve in run.items() if who not in slow.get(kind, ())}
        if GPU and cupy and a.shape[0] <= 16000:
            chosen["CuPy spsolve"] = cupy_solver
        if "--dense" in sys.argv and a.shape[0] <= 12000 and "synthetic" in name:
            chosen["Echelon dense LU"] = dense_solver
        slow[kind] = slow.get(kind, []) + measure(name, a, chosen)


main()
