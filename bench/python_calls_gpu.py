#!/usr/bin/env python3
"""python_calls_gpu.py - measures the time that one call of the Python package takes on the CPU, for small arrays on a GPU.

    PYTHONPATH=build/python bench/python_calls_gpu.py >calls_gpu.csv

Prints CSV rows: functions of the package with tensors of PyTorch and arrays of CuPy, and the functions of these
libraries. Each is called many times without a synchronisation, as a program does that queues its work; ms is the
minimum of the mean times of the repetitions. Results are compared before they are measured.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import platform
import sys
import time

import echelon
import numpy as np

try:
    import torch
    if not torch.cuda.is_available():
        raise ImportError
except ImportError:
    sys.exit("this benchmark needs PyTorch and a GPU")
try:
    import cupy
except ImportError:
    cupy = None

CALLS, REPETITIONS = 300, 9
FIELDS = "op,dtype,n,shape,dist,threads,contender,ms,ms_median,repetitions,result"


def pairs(n):
    """Rows of the name, the contenders of one array library, and whether results are compared."""
    host = np.random.default_rng(24).normal(size=n).astype("f4")
    x, k = torch.from_numpy(host).cuda(), min(n, 10)
    y, places = torch.sort(x)[0], torch.randint(0, n, (n,), device="cuda")
    for op, ours, theirs in (
            ("sort", lambda: echelon.sort(x), lambda: torch.sort(x, stable=True)[0]),
            ("argsort", lambda: echelon.argsort(x), lambda: torch.argsort(x, stable=True)),
            ("top_k", lambda: echelon.top_k(x, k)[0], lambda: torch.topk(x, k)[0]),
            ("sum", lambda: echelon.sum(x), lambda: torch.sum(x)),
            ("cumulative_sum", lambda: echelon.cumulative_sum(x), lambda: torch.cumsum(x, 0)),
            ("searchsorted", lambda: echelon.searchsorted(y, x), lambda: torch.searchsorted(y, x)),
            ("take", lambda: echelon.take(x, places), lambda: torch.take(x, places))):
        yield op, {"echelon-torch": ours, "torch": theirs}
    if cupy is None:
        return
    a, b, p = (cupy.from_dlpack(t) for t in (x, y, places))
    for op, ours, theirs in (
            ("sort", lambda: echelon.sort(a), lambda: cupy.sort(a)),
            ("argsort", lambda: echelon.argsort(a), lambda: cupy.argsort(a)),
            ("sum", lambda: echelon.sum(a), lambda: cupy.sum(a)),
            ("cumulative_sum", lambda: echelon.cumulative_sum(a), lambda: cupy.cumsum(a)),
            ("searchsorted", lambda: echelon.searchsorted(b, a), lambda: cupy.searchsorted(b, a)),
            ("take", lambda: echelon.take(a, p), lambda: cupy.take(a, p))):
        yield op, {"echelon-CuPy": ours, "CuPy": theirs}


def to_numpy(x):
    return x.cpu().numpy() if isinstance(x, torch.Tensor) else cupy.asnumpy(x)


def measure(works):
    """Mean times of a call in milliseconds, for repetitions that alternate between the contenders."""
    times = {name: [] for name in works}
    for _ in range(REPETITIONS):
        for name, work in works.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(CALLS):
                work()
            times[name].append(1000 * (time.perf_counter() - begin) / CALLS)
    return times


def main():
    gpu = torch.cuda.get_device_name()
    versions = f"echelon {echelon.__version__}, PyTorch {torch.__version__}"
    versions += f", CuPy {cupy.__version__}" if cupy else ""
    print(f"# {datetime.date.today()}; python_calls_gpu.py; {gpu}; {versions}, Python {platform.python_version()}; "
          "calls are queued; ms is the minimum of the repetitions")
    print(FIELDS)
    for n in (100, 10000):
        for op, works in pairs(n):
            results = [to_numpy(work()) for work in works.values()]
            np.testing.assert_allclose(results[0], results[1], rtol=1e-3, atol=1e-3)
            for contender, times in measure(works).items():
                times.sort()
                print(f"{op},f32,{n},,random,,{contender},{times[0]:.6f},{times[len(times) // 2]:.6f},{REPETITIONS},equal",
                      flush=True)


if __name__ == "__main__":
    main()
