"""python_libraries.py - measures the Python package, compared with NumPy, SciPy, PyTorch, JAX, CuPy, polars, pandas,
ldpc and galois.

    PYTHONPATH=build/python bench/python_libraries.py [--threads N] [--device cpu|cuda] [--only OP] [--sizes N,N]
        [--libraries NAME,NAME] [--limit SECONDS] >python.csv

Prints a CSV file. Libraries that are not installed are omitted, and the header names them. Each result is compared
with that of NumPy, or for large arrays on a GPU with that of another library, before it is measured; the libraries then
run alternately. JAX on the CPU is measured up to 10^6 elements.

"ms" is the median of the repetitions. With one thread on the CPU it is the CPU time of the calling thread, and for JAX
and polars that of the process, so that other programs on the machine hardly change it; otherwise it is elapsed time.
With 10^6 elements or more, each measured call follows a call of the same library: otherwise the first of the libraries
also pays for pages that the others have returned to the system. On a GPU "ms" is the elapsed time of a call and a
synchronisation; before each call with 10^6 elements or more, 256 MiB of other data are written, so that the arrays are
not in the cache.

The last line on standard error is the number of rows, skipped and wrong results. The exit status is 1 if a result is
wrong.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import datetime
import functools
import os
import platform
import sys
import time
from pathlib import Path

ARGS = argparse.ArgumentParser()
ARGS.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
ARGS.add_argument("--threads", type=int, default=1, help="of the CPU")
ARGS.add_argument("--only", default="", help="only operations whose name contains this text")
ARGS.add_argument("--sizes", type=lambda text: [int(float(word)) for word in text.split(",")], help="such as 1e6,1e7")
ARGS.add_argument("--seconds", type=float, default=0.03, help="of measurements of each library in each case")
ARGS.add_argument("--limit", type=float, default=1e9, help="seconds after which no further case begins")
ARGS.add_argument("--libraries", type=lambda text: text.split(","), help="such as NumPy,torch; default: all")
ARGS = ARGS.parse_args()
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # they select kernels for another processor
    os.environ.pop(name, None)
if ARGS.device == "cpu":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ[name] = str(ARGS.threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    if ARGS.threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import echelon  # noqa: E402
import echelon.gf2  # noqa: E402
import echelon.sparse.linalg  # noqa: E402
import numpy as np  # noqa: E402

import python_cases  # noqa: E402
import python_matrices  # noqa: E402
from contest import alternate, module, summary  # noqa: E402

GPU = ARGS.device == "cuda"
NAMES = {"NumPy": "numpy", "SciPy": "scipy", "torch": "torch", "CuPy": "cupy", "JAX": "jax", "polars": "polars",
         "pandas": "pandas", "ldpc": "ldpc", "galois": "galois"}
POOLED = ("JAX", "polars")  # compute in threads of their own, also with one thread
ON_GPU = ("torch", "CuPy", "JAX")
SHORT = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}
BURST = 300e-6  # seconds of repeated short calls: the libraries disturb each other's caches when they alternate
TOTALS = {"rows": 0, "skipped": 0, "wrong": 0}


def host(result):
    """A result as arrays of NumPy."""
    if isinstance(result, (tuple, list)):
        return tuple(host(part) for part in result)
    for method in ("cpu", "get"):  # of PyTorch and CuPy
        if type(result).__module__.startswith(("torch", "cupy")) and hasattr(result, method):
            result = getattr(result, method)()
    return result.to_numpy() if hasattr(result, "to_numpy") else np.asarray(result)


class Libraries:
    """The modules that are installed, and how each receives arrays and waits for its work."""

    def __init__(self):
        self.modules = {"echelon": echelon}
        usable = ("NumPy", "SciPy", *ON_GPU) if GPU else [name for name in NAMES if name != "CuPy"]
        wanted = [name for name in NAMES if name in (ARGS.libraries or NAMES) and name in usable]
        for name in wanted:
            found = module(NAMES[name])
            if found is not None:
                self.modules[name] = found
        self.missing = [name for name in wanted if name not in self.modules]
        self.torch, self.cupy, self.jax = (self.modules.get(name) for name in ON_GPU)
        if self.torch and not GPU:
            self.torch.set_num_threads(ARGS.threads)
        if self.jax:
            self.jax.config.update("jax_enable_x64", True)
        if "SciPy" in self.modules:
            import scipy.linalg  # noqa: F401
        if GPU and not (self.torch and self.torch.cuda.is_available()):
            sys.exit("python_libraries.py: PyTorch with a GPU is needed for --device cuda")
        if not GPU:
            echelon.set_threads(ARGS.threads)
        self.cold = self.torch.empty(1 << 28, dtype=self.torch.uint8, device="cuda") if GPU else None

    def place(self, name, arrays, frame):
        """The arrays of a library, on the device."""
        if name in ("polars", "pandas"):
            made = self.modules[name]
            return (made.DataFrame({f"c{i}": x for i, x in enumerate(arrays)}),) if frame else \
                tuple(made.Series(x) for x in arrays)
        if name == "JAX":
            return tuple(self.jax.numpy.asarray(x) for x in arrays)
        if name == "CuPy":
            return tuple(self.cupy.asarray(x) for x in arrays)
        if name == "torch" or GPU and name == "echelon":
            return tuple(self.torch.from_numpy(x).to(ARGS.device) for x in arrays)
        return arrays

    def work(self, name, call, arrays, frame):
        """A function without parameters that computes a result and waits for it."""
        placed = self.place(name, arrays, frame)
        if name == "JAX":
            jitted = self.jax.jit(functools.partial(call, self.jax.numpy))
            return lambda: self.jax.block_until_ready(jitted(*placed))
        if not GPU or name not in ("echelon", *ON_GPU):
            return lambda: call(self.modules[name], *placed)
        return self.synchronised(lambda: call(self.modules[name], *placed))

    def synchronised(self, work):
        wait = self.torch.cuda.synchronize

        def both():
            result = work()
            wait()
            return result
        return both

    def flush(self, _):
        """Writes other data."""
        self.cold.add_(1)
        self.torch.cuda.synchronize()


def warm(work):
    """Calls a work, so that the measured call finds the same memory of the allocator and the system, whichever library
    was measured before it. The result is released at once."""
    work()


def log(text):
    print(text, file=sys.stderr, flush=True)


def matches(found, wanted, operation):
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(matches(a, b, operation) for a, b in zip(found, wanted))
    if found.shape != wanted.shape:
        return False
    if operation.exact or not wanted.size:
        return np.array_equal(found, wanted)
    scale = np.abs(wanted).max()
    return bool(np.abs(found.astype("float64") - wanted.astype("float64")).max() <= operation.tolerance * scale)


def measure(libraries, case, works, ok, judge=None):
    """Runs each work once, drops those that fail, measures the others, and prints the rows. ok(result) checks; the
    work of judge is correct."""
    op, dtype, n, shape, dist = case
    verdicts = {judge: "equal"}
    for name in [name for name in works if name != judge]:
        try:
            verdicts[name] = "equal" if ok(works[name]()) else "wrong"
        except Exception as error:  # a limit of another library must not end the run
            outcome = "wrong" if name == "echelon" else "skipped"
            log(f"{outcome} {op} {dtype} n={n}: {name}: {type(error).__name__}: {str(error)[:200]}")
            TOTALS[outcome] += 1
            del works[name]
            continue
        if verdicts[name] == "wrong":
            log(f"wrong {op} {dtype} n={n}: {name}")
            TOTALS["wrong"] += 1
    options = {"burst": BURST}
    if not GPU and ARGS.threads == 1:
        options["clocks"] = {name: time.process_time if name in POOLED else time.thread_time for name in works}
    if n >= 10**6:
        options["before"] = libraries.flush if GPU else warm
    for name, times in alternate(works, least=5 if GPU else 3, most=60, seconds=ARGS.seconds, **options).items():
        least, median = summary(times)
        print(f'{op},{SHORT.get(dtype, dtype)},{n},{shape},{dist},{"" if GPU else ARGS.threads},{name},{median:.6g},'
              f"{least:.6g},{len(times)},{verdicts[name]}", flush=True)
        TOTALS["rows"] += 1


def run(libraries, operation, dtype, n, rng):
    """One case of an operation."""
    arrays, shape = operation.data(rng, dtype, n)
    contenders = [name for name in operation.calls if name in libraries.modules
                  and (name in ("echelon", *ON_GPU) if GPU else name != "JAX" or n <= 10**6)]
    canonical = operation.canonical or (lambda result, arrays: result)
    works = {name: libraries.work(name, operation.calls[name], arrays, operation.frame) for name in contenders}
    judge = "NumPy" if not GPU or n <= 10**6 or len(contenders) < 2 else contenders[1]
    reference = works.get(judge) or functools.partial(operation.calls["NumPy"], np, *arrays)
    wanted = canonical(host(reference()), arrays)

    def ok(result):
        return matches(canonical(host(result), arrays), wanted, operation)

    measure(libraries, (operation.name, dtype, n, shape, operation.dist), works, ok, judge)


def header(libraries):
    versions = [f"echelon {echelon.__version__}", f"Python {platform.python_version()}"]
    versions += [f"{name} {m.__version__}" for name, m in libraries.modules.items() if name != "echelon"]
    with open("/proc/cpuinfo") as lines:
        processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    if GPU:
        print(f"# machine: {libraries.torch.cuda.get_device_name()}; {processor}, {os.cpu_count()} processors")
    else:
        print(f"# machine: {processor}, {os.cpu_count()} processors, shared with other programs: load average "
              f"{os.getloadavg()[0]:.1f} at the start; {ARGS.threads} thread{'s' * (ARGS.threads > 1)}")
    print(f"# versions: {', '.join(versions)}; not installed: {', '.join(libraries.missing) or 'none'}")
    if module("threadpoolctl"):
        np.ones((2, 2)) @ np.ones((2, 2))
        echelon.linalg.matmul(np.ones((64, 64)), np.ones((64, 64)))
        pools = {f"{pool['internal_api']} {pool.get('architecture', '')} of {Path(pool['filepath']).parent.name}: "
                 f"{pool['num_threads']}" for pool in module("threadpoolctl").threadpool_info()}
        print(f"# threads by threadpoolctl: {', '.join(sorted(pools))}")
    kind = "CPU time" if not GPU and ARGS.threads == 1 else "elapsed time"
    print(f"# date: {datetime.date.today()}; command: python_libraries.py {' '.join(sys.argv[1:])}".rstrip() +
          f"; {kind}, ms is the median of repetitions that alternate between the libraries")
    print("op,dtype,n,shape,dist,threads,contender,ms,ms_min,repetitions,result", flush=True)


def chosen(operation, place, n):
    """If a size is measured: 10^7 with two dtypes, and 10^8 with one dtype on a GPU."""
    if ARGS.sizes is not None:
        return n in ARGS.sizes
    return place < (4 if n < 10**7 else 2 if n < 10**8 else 1) and (GPU or n <= operation.cpu_limit)


def main():
    libraries = Libraries()
    header(libraries)
    begin = time.monotonic()
    plan = [(operation.name, functools.partial(run, libraries, operation, dtype, n))
            for operation in python_cases.OPERATIONS for place, dtype in enumerate(operation.dtypes)
            for n in operation.sizes if chosen(operation, place, n)]
    plan += [(name, functools.partial(special, libraries, name, function, size))
             for name, function, size in python_matrices.cases(ARGS.device)]
    late = []
    for name, work in plan:
        if ARGS.only in name:
            if time.monotonic() - begin > ARGS.limit:
                late.append(name)
                continue
            try:
                work(np.random.default_rng(24))
            except Exception as error:  # such as memory that is not sufficient
                log(f"skip {name}: {type(error).__name__}: {str(error)[:200]}")
                TOTALS["skipped"] += 1
    if late:
        log(f"skip {len(late)} cases after {ARGS.limit:g} s: {', '.join(dict.fromkeys(late))}")
        TOTALS["skipped"] += len(late)
    log(f"{TOTALS['rows']} rows, {TOTALS['skipped']} skipped, {TOTALS['wrong']} wrong, "
        f"{time.monotonic() - begin:.0f} s")
    return 1 if TOTALS["wrong"] or not TOTALS["rows"] else 0


def special(libraries, name, function, size, rng):
    found = function(libraries.modules, ARGS.device, rng, size)
    if found is None:
        log(f"skip {name}: a library is not installed")
        TOTALS["skipped"] += 1
        return
    dtype, n, shape, dist, works, ok = found
    if GPU:
        works = {key: libraries.synchronised(work) for key, work in works.items()}
    measure(libraries, (name, dtype, n, shape, dist), works, ok)


if __name__ == "__main__":
    sys.exit(main())
