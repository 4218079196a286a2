#!/usr/bin/env python3
"""acg.py - conjugate gradients by aCG (https://github.com/ParCoreLab/aCG) and by ech_dist_solve(), on GPUs, as CSV.

    bench/acg.py BUILD ACG [SIDE] [FOLDER]

BUILD has bench_dist_solve; ACG is the program acg-cuda, built with NCCL.  The matrix is that of Poisson's equation on a
cube of SIDE points per side (200), f64; the right side is 1 everywhere.  200 iterations without a preconditioner.
FOLDER (/dev/shm) receives the matrix for aCG: Matrix Market with binary data, the lower triangle.  aCG divides the rows
among several GPUs by METIS, or by a vector of part numbers, which begin with 1: a vector that begins with 0 makes it
fail with "index out of bounds".  Needs NumPy and, for several GPUs, mpirun.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys

import numpy as np

ITERATIONS = 200


def write_matrix(path, side):
    """The lower triangle by rows, whose indices begin with 1."""
    n = side**3
    rows = np.arange(n, dtype=np.int32)
    points = (rows // side**2, rows // side % side, rows % side)
    exists = [(at > 0, step, -1.0) for at, step in zip(points, (side**2, side, 1))] + [(rows >= 0, 0, 6.0)]
    keep = np.stack([mask for mask, _, _ in exists], axis=1)
    row = np.repeat(rows[:, None], 4, axis=1)[keep] + 1
    column = np.stack([rows - step for _, step, _ in exists], axis=1)[keep] + 1
    value = np.broadcast_to(np.array([v for _, _, v in exists]), keep.shape)[keep]
    with open(path, "wb") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {len(row)}\n".encode())
        for array, kind in ((row, np.int32), (column, np.int32), (value, np.float64)):
            file.write(array.astype(kind).tobytes())


def write_parts(path, n, parts):
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket vector array integer general\n{n}\n")
        file.writelines(f"{i * parts // n + 1}\n" for i in range(n))


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout[-500:]}")
    return done.stdout


def acg(program, matrix, n, gpus, solver):
    command = [program, "--binary", "-q", "--solver", solver, "--max-iterations", str(ITERATIONS)]
    command += ["--residual-rtol", "0"]
    if gpus > 1:
        write_parts(matrix + ".parts", n, gpus)
        command += ["--comm", "nccl", "--partition=" + matrix + ".parts"]
    else:
        command += ["--comm", "none"]
    out = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(gpus)] + command + [matrix])
    seconds = float(re.search(r"total solver time: ([0-9.]+)", out)[1])
    residual = re.search(r"^ *residual 2-norm: (\S+)", out, re.M)[1]
    print(f"aCG {solver},{gpus},{n},{ITERATIONS},{seconds / ITERATIONS * 1e3:.4f},{residual}", flush=True)


def echelon(build, side, gpus):
    out = run([build + "/bench/bench_dist_solve", "--ranks", str(gpus), "--side", str(side), "--iterations",
               str(ITERATIONS), "--jacobi", "0"])
    call, ranks, unknowns, iterations, _, ms, residual = out.splitlines()[-1].split(",")
    print(f"{call},{ranks},{unknowns},{iterations},{ms},{residual}", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: bench/acg.py BUILD ACG [SIDE] [FOLDER]")
    build, program = sys.argv[1:3]
    side, folder = int((sys.argv[3:] or ["200"])[0]), (sys.argv[4:] or ["/dev/shm"])[0]
    matrix, n = os.path.join(folder, f"acg.{os.getpid()}.mtx"), side**3
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = len(visible.split(",")) if visible else len(run(["nvidia-smi", "-L"]).splitlines())
    print("solver,gpus,unknowns,iterations,ms_per_iteration,residual")
    try:
        write_matrix(matrix, side)
        for gpus in (1, 2, 4):
            if gpus > count:
                break
            echelon(build, side, gpus)
            for solver in ("acg", "acg-pipelined"):
                acg(program, matrix, n, gpus, solver)
    finally:
        for path in (matrix, matrix + ".parts"):
            if os.path.exists(path):
                os.remove(path)


if __name__ == "__main__":
    main()
