"""search_python.py - measures torch.searchsorted and cupy.searchsorted on the GPU.

    bench/search_python.py >python.csv

Prints CSV rows in the format of gpu_search.  Arrays are in device memory.  torch.searchsorted returns positions of 32
bits, cupy.searchsorted of 64 bits.  Exits with 77 if neither torch nor CuPy finds a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import statistics
import sys

from sort_python import milliseconds, rivals

SIZES = [1 << 20, 1 << 26, 1 << 28]
NEEDLES = [1 << 26, 1000]
DTYPES = [("i32", 4), ("i64", 8), ("f32", 4)]


def keys_of(module, dtype, n):
    if dtype == "f32":
        return module.rand(n, device="cuda") if module.__name__ == "torch" else module.random.rand(n, dtype="float32")
    if module.__name__ == "torch":
        return module.randint(0, 2**31, (n,), device="cuda", dtype=getattr(module, {"i32": "int32", "i64": "int64"}[dtype]))
    return module.random.randint(0, 2**31 - 1, n, dtype={"i32": "int32", "i64": "int64"}[dtype])


def in_order(module, keys):
    return module.sort(keys)[0] if module.__name__ == "torch" else module.sort(keys)


def main():
    modules = rivals()
    if not modules:
        return 77
    for module in modules:
        for n in SIZES:
            for dtype, size in DTYPES:
                array = in_order(module, keys_of(module, dtype, n))
                for m in NEEDLES:
                    needles = keys_of(module, dtype, m)
                    for dist in ("random", "sorted"):
                        if dist == "sorted":
                            needles = in_order(module, needles)
                        small = {"out_int32": True} if module.__name__ == "torch" else {}
                        times = milliseconds(module, lambda: module.searchsorted(array, needles, **small))
                        ms = statistics.median(times)
                        rate = (m * (size + (4 if small else 8)) + min(n * size, 32 * m)) / ms * 1e-6
                        print(f"search,{dtype},{m},in {n},{dist},{module.__name__}-{module.__version__},{ms:.6f},"
                              f"{times[0]:.6f},{times[-1]:.6f},{rate:.2f},0,", flush=True)
                    del needles
                del array
    return 0


if __name__ == "__main__":
    sys.exit(main())
