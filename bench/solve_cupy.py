"""solve_cupy.py - measures Krylov solvers on the GPU, compared with CuPy: solutions to 1e-8 (f32: 1e-5).

    bench/solve_cupy.py libechelon.so >cupy.csv

Poisson's equation on a square and in a cube, random right-hand side, zero initial guess, no
preconditioner; the restart length of GMRES is 30.  A row is the best time of three of one solver, with
the number of iterations, |b - A x| / |b| computed here in f64, and whether the solver reports
convergence.  CuPy generates the systems, so both use the same device arrays.  Exits with 77 if there is
no CuPy with a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import datetime
import inspect
import sys
import time

try:
    import cupy as cp
    import cupyx.scipy.sparse as sp
    import cupyx.scipy.sparse.linalg as spl
    cp.zeros(1)
except Exception as reason:  # CuPy raises various exceptions without a driver
    print(f"no CuPy with a GPU: {reason}", file=sys.stderr)
    sys.exit(77)

from structs import Csr, Operator, Options, Report, pointer, size_t

RESTART, MOST = 30, 20000
SYSTEMS = ((256, 2), (1024, 2), (64, 3), (256, 3))

lib = ctypes.CDLL(sys.argv[1])
for call in (lib.ech_error, lib.ech_solve_status_text, lib.ech_version, lib.ech_device_name):
    call.restype = ctypes.c_char_p
for call in (lib.ech_method_from_name, lib.ech_dtype_from_name):
    call.argtypes = [ctypes.c_char_p]
lib.ech_device_name.argtypes = [pointer]
lib.ech_solve.argtypes = [pointer, ctypes.POINTER(Operator), size_t, pointer, size_t, pointer,
                          size_t, ctypes.POINTER(Options), ctypes.POINTER(Report)]
ctx = ctypes.c_void_p()
if lib.ech_open(ctypes.byref(ctx), None):
    sys.exit(lib.ech_error(None).decode())


def address(array):
    return array.__cuda_array_interface__["data"][0]


def poisson(side, dimensions, dtype):
    """2 d on the diagonal, -1 for each neighbour of a grid point."""
    line = sp.diags([-cp.ones(side - 1), 2 * cp.ones(side), -cp.ones(side - 1)], [-1, 0, 1])
    a = line
    for _ in range(dimensions - 1):
        a = sp.kron(a, sp.identity(side)) + sp.kron(sp.identity(a.shape[0]), line)
    a = a.tocsr().astype(dtype)
    a.sort_indices()
    a.indices, a.indptr = a.indices.astype("int32"), a.indptr.astype("int32")
    return a


def ours(a, b, method, rtol):
    dtype = lib.ech_dtype_from_name(b"f64" if a.dtype == "float64" else b"f32")
    csr = Csr(ctypes.sizeof(Csr), a.shape[0], a.shape[1], a.nnz, address(a.indptr), address(a.indices), address(a.data),
              lib.ech_dtype_from_name(b"i32"), dtype)
    op = Operator(size=ctypes.sizeof(Operator), n=a.shape[0], dtype=dtype, csr=ctypes.pointer(csr))
    o = Options(size=ctypes.sizeof(Options), method=lib.ech_method_from_name(method.encode()),
                rtol=rtol, max_iterations=MOST, restart=RESTART)
    x, report = cp.zeros_like(b), Report(size=ctypes.sizeof(Report))
    cp.cuda.Device().synchronize()  # Echelon's stream does not wait for CuPy's
    if lib.ech_solve(ctx, ctypes.byref(op), 1, address(b), a.shape[0], address(x), a.shape[0],
                     ctypes.byref(o), ctypes.byref(report)):
        sys.exit(lib.ech_error(ctx).decode())
    return x, report.iterations, lib.ech_solve_status_text(report.status).decode()


def theirs(a, b, method, rtol):
    solve, count = getattr(spl, method), [0]

    def look(_):
        count[0] += 1
    words = inspect.signature(solve).parameters
    options = {"rtol" if "rtol" in words else "tol": rtol, "maxiter": MOST, "callback": look}
    if "atol" in words:
        options["atol"] = 0
    if method == "gmres":
        options["restart"] = RESTART
        options["callback_type"] = "pr_norm"
    x, end = solve(a, b, **options)
    return x, count[0], "converged" if end == 0 else "not converged"


def measure(a, b, method, rtol, solve):
    times = []
    for _ in range(3):
        cp.cuda.Device().synchronize()
        begin = time.perf_counter()
        x, iterations, says = solve(a, b, method, rtol)
        cp.cuda.Device().synchronize()
        times.append(1000 * (time.perf_counter() - begin))
        if sum(times) > 20000:
            break
    left = b.astype("float64") - a.astype("float64") @ x.astype("float64")
    residual = float(cp.linalg.norm(left) / cp.linalg.norm(b.astype("float64")))
    return times, iterations, residual, says.split(":")[0].split(",")[0]


def system(side, dimensions, dtype):
    name = "f64" if dtype == "float64" else "f32"
    rtol = 1e-8 if name == "f64" else 1e-5
    a = poisson(side, dimensions, dtype)
    cp.random.seed(7)
    b = (2 * cp.random.random(a.shape[0]) - 1).astype(dtype)
    for method in ("cg", "minres", "gmres"):
        if method == "gmres" and side ** dimensions > 2 ** 20:
            continue  # too slow with restarts
        for who, solve in (("echelon", ours), (f"cupy-{cp.__version__}", theirs)):
            times, iterations, residual, says = measure(a, b, method, rtol, solve)
            result = "equal" if residual <= 1.1 * rtol else "wrong" if says == "converged" else says
            print(f"{method},{name},{a.shape[0]},{side}^{dimensions},poisson,{who},{min(times):.4f},"
                  f"{min(times):.4f},{max(times):.4f},{iterations},{residual:.2e},{says},{result}",
                  flush=True)


print(f"# {datetime.date.today()}; bench/solve_cupy.py; whole solutions, no preconditioner")
print(f"# device: {lib.ech_device_name(ctx).decode()}; CuPy {cp.__version__}; "
      f"echelon {lib.ech_version().decode()}")
print("op,dtype,n,shape,dist,contender,ms,ms_min,ms_max,iterations,residual,says,result", flush=True)
for which in SYSTEMS:
    for dtype in ("float64", "float32"):
        system(*which, dtype)
