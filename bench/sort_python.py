"""sort_python.py - measures torch.sort, cupy.sort and cupy.argsort on the GPU.

    bench/sort_python.py [ROWS] >python.csv        only rows whose name begins with ROWS: "argsort,i64"

Prints CSV rows in the format of gpu_sort.  Keys are in device memory, sorts are out of place.  torch.sort
always returns keys and 64-bit indices.  Exits with 77 if neither torch nor CuPy finds a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import statistics
import sys

REPEATS = 7


def rivals():
    """(name, module, sort(keys, what), an event) of each available library."""
    found = []
    try:
        import torch
        if torch.cuda.is_available():
            found.append(torch)
    except ImportError:
        pass
    try:
        import cupy
        if cupy.cuda.is_available():
            found.append(cupy)
    except ImportError:
        pass
    return found


def keys_of(module, dtype, n):
    """Uniform bits; f32 and f64 uniform in [0, 1)."""
    unit = dtype.startswith("f")
    name = {"i": "int", "u": "uint", "f": "float"}[dtype[0]] + dtype[1:]
    if module.__name__ == "torch":
        kind = getattr(module, name)
        if unit:
            return module.rand(n, device="cuda", dtype=kind)
        bits = module.randint(-2**62, 2**62, (n,), device="cuda") * 2 + module.randint(
            0, 2, (n,), device="cuda")
        return bits if dtype == "i64" else bits.view(module.int32)[::2].clone()
    if unit:
        return module.random.random(n, dtype=name)
    words = module.random.randint(0, 2**32, n * int(dtype[1:]) // 32, dtype="uint32")
    return words.view(name)


def milliseconds(module, work):
    times = []
    for _ in range(REPEATS + 1):
        if module.__name__ == "torch":
            begin, end = (module.cuda.Event(enable_timing=True) for _ in range(2))
        else:
            begin, end = module.cuda.Event(), module.cuda.Event()
        begin.record()
        result = work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) if module.__name__ == "torch" else
                     module.cuda.get_elapsed_time(begin, end))
        del result
    return sorted(times[1:])


def bench(module, what, dtype, n):
    torch = module.__name__ == "torch"
    keys = keys_of(module, dtype, n)
    if what == "argsort":
        value_bytes, work = 8, (lambda: module.sort(keys)) if torch else lambda: module.argsort(keys)
    else:
        value_bytes, work = 0, lambda: module.sort(keys)
    times = milliseconds(module, work)
    ms = statistics.median(times)
    dist = "unit" if dtype.startswith("f") else "uniform"
    print(f"{what},{dtype},{n},{value_bytes},{dist},{module.__name__}-{module.__version__},{ms:.6f},"
          f"{times[0]:.6f},{times[-1]:.6f},{n / ms * 1e-6:.4f},,", flush=True)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    modules = rivals()
    if not modules:
        return 77
    for module in modules:
        torch = module.__name__ == "torch"
        rows = [("argsort", "i32", 2**28), ("argsort", "i64", 2**28)]
        if not torch:
            rows = [("keys", d, 2**28) for d in ("u32", "u64", "f32", "f64")] + [
                ("keys", "u32", 2**16), ("keys", "u32", 2**20)] + rows
        for row in rows:
            if ",".join(map(str, row)).startswith(wanted):
                bench(module, *row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
