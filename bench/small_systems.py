"""small_systems.py - measures batches of small systems on the CPU by the Python package, compared with NumPy.

    OPENBLAS_NUM_THREADS=1 bench/small_systems.py [THREADS [BATCH...]]

The package echelon must be importable. Each row is the minimum of several alternating calls, in nanoseconds per system:
CPU time for one thread, wall time for several. solve() of Echelon refines and estimates the condition; NumPy's does
not.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time

import numpy as np

import echelon

SIZES = (1, 2, 3, 4, 8, 16, 32)
REPETITIONS = 7


def measure(functions, systems, clock):
    """The shortest time of each function, in nanoseconds per system; they are called in turn."""
    best = [float("inf")] * len(functions)
    for _ in range(REPETITIONS):
        for i, function in enumerate(functions):
            begin = clock()
            for _ in range(max(1, 2000 // systems)):
                function()
            spent = (clock() - begin) / max(1, 2000 // systems)
            best[i] = min(best[i], spent)
    return [seconds / systems * 1e9 for seconds in best]


def systems_of(batch, n, dtype):
    """Matrices with a large diagonal, and right-hand sides."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((batch, n, n)).astype(dtype) + n * np.eye(n, dtype=dtype)
    return a, rng.standard_normal((batch, n, 1)).astype(dtype)


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    clock = time.process_time if threads == 1 else time.perf_counter
    echelon.set_threads(threads)
    print("function,dtype,n,batch,threads,echelon_ns,numpy_ns,speedup")
    for batch in [int(text) for text in sys.argv[2:]] or [100, 1000, 100000]:
        for dtype in (np.float32, np.float64):
            for n in SIZES:
                if batch * n * n > 2**25:
                    continue
                a, b = systems_of(batch, n, dtype)
                for name in ("solve", "inv", "det", "slogdet"):
                    arguments = (a, b) if name == "solve" else (a,)
                    ours, theirs = getattr(echelon.linalg, name), getattr(np.linalg, name)
                    times = measure([lambda: ours(*arguments), lambda: theirs(*arguments)], batch, clock)
                    print(f"{name},{np.dtype(dtype).name},{n},{batch},{threads},{times[0]:.0f},{times[1]:.0f},"
                          f"{times[1] / times[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
