"""sort_rows_python.py - measures torch.sort along rows, cupy.sort and cupy.argsort on the GPU.

    bench/sort_rows_python.py >python.csv

Prints CSV rows in the format of gpu_sort_segments.  Keys are in device memory, sorts are out of place.  torch.sort
always returns keys and 64-bit indices, and cupy.argsort 64-bit indices.  Exits with 77 if neither torch nor CuPy
finds a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import statistics
import sys

from sort_python import milliseconds, rivals

SHAPES = [(16777216, 10), (4194304, 32), (1048576, 100), (524288, 300), (100000, 1000), (32768, 4096), (10000, 10000),
          (1024, 131072)]


def keys_of(module, rows, cols):
    if module.__name__ == "torch":
        return module.randint(-2**31, 2**31, (rows, cols), device="cuda", dtype=module.int32)
    return module.random.randint(0, 2**32, (rows, cols), dtype="uint32").view("int32")


def main():
    modules = rivals()
    if not modules:
        return 77
    for module in modules:
        for rows, cols in SHAPES:
            keys = keys_of(module, rows, cols)
            works = [("argsort", lambda: module.sort(keys, dim=1))]
            if module.__name__ != "torch":
                works = [("keys", lambda: module.sort(keys, axis=1)), ("argsort", lambda: module.argsort(keys, axis=1))]
            for what, work in works:
                times = milliseconds(module, work)
                ms = statistics.median(times)
                written = 4 if what == "keys" else 12 if module.__name__ == "torch" else 8
                rate = rows * cols * (4 + written) / ms * 1e-6
                print(f"{what},i32,{rows * cols},{rows} x {cols},uniform,{module.__name__}-{module.__version__},{ms:.6f},"
                      f"{times[0]:.6f},{times[-1]:.6f},{rate:.2f},0,", flush=True)
            del keys
    return 0


if __name__ == "__main__":
    sys.exit(main())
