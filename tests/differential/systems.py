"""systems.py - direct and iterative solvers: exact where the header promises it, error bounds elsewhere.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import math
from fractions import Fraction

import numpy as np

from .case import operation
from .matrices import Csr
from .values import F32, F64

UNIT = {"f32": 2.0**-24, "f64": 2.0**-53}


def exact_determinant(a):
    """The determinant of a matrix of integers, by fraction-free elimination."""
    rows = [[Fraction(int(x)) for x in row] for row in a]
    n, sign, result = len(rows), 1, Fraction(1)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        result *= rows[k][k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    return sign * result


def direct_options(t, call, m, n, nrhs, dtype, **fields):
    options = t.struct("ech_direct_options", **fields)
    plain = (t.lib.constants["ECH_DIRECT_CALL_" + call], m, n, nrhs, dtype.code, t.address(options))
    options.algorithm = t.algorithm("ech_direct_explain", *plain)
    for name, value in t.work("ech_direct_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    return options


def wide(rows, cols, dtype, a, gap):
    """[rows][cols + gap], with NaN between the rows."""
    table = np.full((rows, cols + gap), np.nan, dtype.storage)
    table[:, :cols] = a
    return table


DIRECT = ("ech_direct_workspace", "ech_direct_explain", "ech_direct_status_text", "ech_factor_name")


@operation("solve_direct", "ech_solve_direct", "ech_inverse", *DIRECT)
def solve_direct(t):
    dtype = t.dtype([F32, F64])
    unit = UNIT[dtype.name]
    n = t.pick([0, 1, 2, t.between(1, 12), t.between(1, 60), t.between(1, 150)])
    factor = t.pick(["AUTO", "LU", "CHOLESKY", "QR"])
    m = n + t.between(0, 30) if factor in ("AUTO", "QR") and t.flag(0.4) else n
    inverse = t.flag(0.25)
    m = n if inverse else m
    nrhs = n if inverse else t.pick([0, 1, 1, 3, t.between(1, 20)])
    kind = t.pick(["dominant", "random", "integers", "spd", "zero column", "not finite"])
    a = t.rng.standard_normal((m, n))
    if kind == "integers":
        a = t.rng.integers(-5, 6, (m, n)).astype(float)
    if kind == "dominant":
        a[:n] += np.diag(np.sign(t.rng.random(n) - 0.5) * (n + 1.0))
    if factor == "CHOLESKY" or kind == "spd":
        a = a[:n]
        a = a @ a.T / max(n, 1) + np.eye(n)
        a, m = (a + a.T) / 2, n
    if kind == "zero column" and n:
        column = t.between(0, n - 1)
        a[:, column] = 0
        if m == n and factor == "CHOLESKY":
            a[column, :] = 0
    a = a.astype(dtype.storage)
    symmetric = bool(m == n and (a == a.T).all())
    bad_row = None
    if kind == "not finite" and n:
        bad_row, column = t.between(0, m - 1), t.between(0, n - 1)
        column = min(column, bad_row)  # Cholesky does not read above the diagonal
        a[bad_row, column] = t.pick([np.nan, np.inf])
        if factor == "CHOLESKY":  # the element is also in this row of the symmetric matrix
            bad_row = column
    b = np.eye(n, dtype=dtype.storage) if inverse else t.rng.standard_normal((m, nrhs)).astype(dtype.storage)
    refine = t.pick([0, 0, -1, 3])
    t.note(m=m, n=n, nrhs=nrhs, factor=factor, kind=kind, inverse=inverse, refine=refine)
    options = direct_options(t, "INVERSE" if inverse else "SOLVE", m, n, nrhs, dtype,
                             kind=t.lib.constants["ECH_FACTOR_" + factor], refine=refine)
    gaps = [t.pick([0, 0, 2]) for _ in range(3)]
    a_in, b_in = t.put(wide(m, n, dtype, a, gaps[0])), t.put(wide(m, nrhs, dtype, b, gaps[1]))
    out = t.put(wide(n, nrhs, dtype, 7.0, gaps[2]), writable=True)
    report = t.struct("ech_direct_report")
    if inverse:
        t.call("ech_inverse", n, a_in.p, n + gaps[0], out.p, n + gaps[2], dtype.code, t.address(options),
               t.address(report))
    else:
        t.call("ech_solve_direct", m, n, a_in.p, n + gaps[0], nrhs, b_in.p, nrhs + gaps[1], out.p, nrhs + gaps[2],
               dtype.code, t.address(options), t.address(report))
    t.true("elements between the rows changed", bool(np.isnan(out.a[:, nrhs:]).all()))
    if options.algorithm == b"blocked" and not inverse and report.status == 0:
        again, other = t.put(wide(n, nrhs, dtype, 7.0, gaps[2]), writable=True), t.struct("ech_direct_report")
        t.threads()
        t.call("ech_solve_direct", m, n, a_in.p, n + gaps[0], nrhs, b_in.p, nrhs + gaps[1], again.p, nrhs + gaps[2],
               dtype.code, t.address(options), t.address(other))
        t.same("x with other threads", again.a[:, :nrhs], out.a[:, :nrhs])
        t.equal("report with other threads", repr((other.log_abs, other.rcond, other.backward_error)),
                repr((report.log_abs, report.rcond, report.backward_error)))
    status, x = report.status, out.a[:, :nrhs].astype(np.float64)
    t.true("no text", t.lib.raw("ech_direct_status_text", status) not in (b"?", b""))
    t.true("no name", t.lib.raw("ech_factor_name", report.kind) in (b"auto", b"lu", b"cholesky", b"qr"))
    t.note(status=status, rcond=report.rcond, backward_error=report.backward_error)
    if bad_row is not None:
        t.equal("status", status, t.lib.DIRECT_STATUS_NOT_FINITE)
        t.equal("failed_index", report.failed_index, bad_row)
        return
    if n == 0:
        t.equal("status", status, 0)
        return
    lower = np.tril(a) + np.tril(a, -1).T if factor == "CHOLESKY" else a
    lower = lower.astype(np.float64)
    if kind == "zero column":
        expected = t.lib.DIRECT_STATUS_INDEFINITE if report.kind == t.lib.FACTOR_CHOLESKY else (
            t.lib.DIRECT_STATUS_SINGULAR)
        t.equal("status", status, expected)
        t.equal("failed_index", report.failed_index, column)
        return
    singular = np.linalg.svd(lower, compute_uv=False)
    condition = singular[0] / singular[-1] if singular[-1] > 0 else np.inf
    if condition > 0.01 / unit:  # a nearly singular matrix may have any outcome
        return
    t.equal("status", status, 0)
    if m == n:
        sign, log_abs = np.linalg.slogdet(lower)
        if factor != "AUTO" or not symmetric:
            t.equal("kind", report.kind, t.lib.constants["ECH_FACTOR_" + ("LU" if factor == "AUTO" else factor)])
        t.equal("sign", report.sign, int(sign))
        t.near("log_abs", report.log_abs, log_abs, 50 * n * unit * condition + 1e-5 * (dtype is F32))
    if nrhs == 0:
        return
    if m == n:
        measured = np.linalg.qr(lower)[1] if report.kind == t.lib.FACTOR_QR else lower
        rcond = 1 / (np.linalg.norm(measured, 1) * np.linalg.norm(np.linalg.inv(measured), 1))
        t.true(f"rcond is {report.rcond}, the matrix has {rcond}",
               rcond * (1 - 1e-3 - 50 * n * unit * condition) <= report.rcond <= 30 * rcond + 1e-300)
    expected = np.linalg.lstsq(lower, b.astype(np.float64), rcond=None)[0]
    scale = np.linalg.norm(expected, axis=0) + 1e-300
    growth = condition if m == n else condition + condition**2 * (
        np.linalg.norm(b.astype(np.float64) - lower @ expected, axis=0) / (singular[0] * scale) if nrhs else 0)
    error = np.linalg.norm(x - expected, axis=0) / scale
    reference = 60 * (n + 5) * 2.0**-53 * growth
    t.near("x", error, 0, 60 * (n + 5) * unit * growth + reference)
    if m == n and refine >= 0 and not inverse and condition < 0.001 / unit / n:
        t.true(f"backward_error is {report.backward_error}", report.backward_error <= 20 * unit)


@operation("determinant", "ech_determinant", *DIRECT[:2])
def determinant(t):
    dtype = t.dtype([F32, F64])
    n = t.pick([0, 1, 2, 3, t.between(1, 10)])
    a = t.rng.integers(-4, 5, (n, n))
    if n > 1 and t.flag(0.2):
        a[:, t.between(0, n - 1)] = 0
    exact = exact_determinant(a)
    t.note(n=n, exact=exact)
    options = direct_options(t, "DETERMINANT", n, n, 0, dtype)
    sign, log_abs = ctypes.c_int(), ctypes.c_double()
    t.call("ech_determinant", n, t.put(a.astype(dtype.storage)).p, n, dtype.code, t.address(options),
           ctypes.addressof(sign), ctypes.addressof(log_abs))
    if exact == 0:
        if n and (a == 0).all(axis=0).any():
            t.equal("sign", sign.value, 0)
            t.equal("log_abs", log_abs.value, -math.inf)
        return
    t.equal("sign", sign.value, 1 if exact > 0 else -1)
    found = sign.value * math.exp(log_abs.value)
    size = float(np.prod(np.linalg.norm(a.astype(float), axis=1))) if n else 1.0
    t.near("determinant", found, float(exact), 100 * (n + 1) * UNIT[dtype.name] * size + 1e-9 * abs(float(exact)))


# ---- Iterative solvers ----

METHODS = "AUTO RICHARDSON JACOBI CHEBYSHEV CG MINRES BICGSTAB GMRES GAUSS_SEIDEL SOR".split()
PRECONDS = "NONE JACOBI SSOR ILU0 IC0 BLOCK_JACOBI".split()
SYMMETRIC_METHODS = ("CHEBYSHEV", "CG", "MINRES", "RICHARDSON")
APPLY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
MONITOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_double)


def dominant_system(t, dtype, n, symmetric):
    """A diagonally dominant matrix: every method converges."""
    density = min(1.0, 4 / max(n, 1))
    a = t.rng.standard_normal((n, n)) * (t.rng.random((n, n)) < density)
    if symmetric:
        a = np.tril(a, -1)
        a = a + a.T
    np.fill_diagonal(a, 0)
    np.fill_diagonal(a, 1.2 * np.abs(a).sum(axis=1) + 0.5)
    return a.astype(dtype.storage)


@operation("solve", "ech_solve", "ech_solve_workspace", "ech_solve_explain", "ech_solve_status_text",
           "ech_method_name", "ech_method_from_name", "ech_precond_name", "ech_precond_from_name", "ech_csr_check")
def solve(t):
    dtype = t.dtype([F32, F64])
    n = t.pick([0, 1, 2, t.between(1, 20), t.between(1, 100), t.between(1, 400)])
    method, form = t.pick(METHODS), t.pick(["csr", "csr", "dense", "apply"])
    precond = t.pick(PRECONDS)
    if method in ("GAUSS_SEIDEL", "SOR"):
        form = "csr"
    if form != "csr" and precond not in ("NONE", "JACOBI"):
        precond = "JACOBI"
    if method in ("JACOBI", "GAUSS_SEIDEL", "SOR"):
        precond = "NONE"
    if form == "apply" and t.device != "cpu":  # the function would receive arrays in device memory
        form = "dense"
    symmetric = method in SYMMETRIC_METHODS or precond == "IC0" or t.flag()
    if method in ("CG", "MINRES", "CHEBYSHEV", "RICHARDSON") and precond == "ILU0":
        precond = "IC0"
    a = dominant_system(t, dtype, n, symmetric)
    nrhs = t.pick([1, 1, 2, 3])
    b = t.rng.standard_normal((nrhs, n)).astype(dtype.storage)
    if t.flag(0.1):
        b[0] = 0
    start = t.flag(0.3)
    step = n + t.pick([0, 0, 2])
    t.note(n=n, method=method, precond=precond, form=form, symmetric=symmetric, nrhs=nrhs, start=start)
    operator = t.struct("ech_operator", n=n, dtype=dtype.code)
    if form == "csr":
        rows, columns = np.nonzero(a)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        index = t.pick([np.int32, np.int64])
        arrays = [t.put(offsets.astype(index)), t.put(columns.astype(index)), t.put(a[rows, columns])]
        csr = t.struct("ech_csr", rows=n, cols=n, nnz=len(rows), row_offsets=arrays[0].p, col_indices=arrays[1].p,
                       values=arrays[2].p, index_dtype=2 if index is np.int32 else 3, dtype=dtype.code)
        operator.csr = t.address(csr)
    elif form == "dense":
        operator.dense, operator.stride = t.put(a).p, n
    else:
        code = ctypes.c_float if dtype is F32 else ctypes.c_double

        def apply(user, ctx, x, y):
            x = np.ctypeslib.as_array(ctypes.cast(x, ctypes.POINTER(code)), (n,))
            np.ctypeslib.as_array(ctypes.cast(y, ctypes.POINTER(code)), (n,))[:] = a @ x
            return 0

        callback = APPLY(apply)
        t.kept.append(callback)
        operator.apply = ctypes.cast(callback, ctypes.c_void_p).value
        operator.diagonal = t.put(np.diag(a).copy()).p
    rtol = t.pick([0.0, 1e-4, 1e-3])
    capacity = t.pick([0, 5, 2000])
    history = t.out((nrhs, capacity), np.float64)
    options = t.struct("ech_solve_options", method=t.lib.constants["ECH_METHOD_" + method],
                       precond=t.lib.constants["ECH_PRECOND_" + precond], rtol=rtol, use_initial_guess=int(start),
                       history=history.p if capacity else None, history_capacity=capacity,
                       check_every=t.pick([0, 1, 7]), block=t.pick([0, 3, 32]), restart=t.pick([0, 5, 50]))
    t.lib.explain("ech_solve_explain", t.device.encode(), t.address(operator), t.address(options))
    for name, value in t.work("ech_solve_workspace", t.address(operator), t.address(options)).items():
        setattr(options, name, value)
    t.threads()
    seen = []
    if t.flag(0.3):
        callback = MONITOR(lambda user, rhs, iteration, residual: seen.append((rhs, iteration)) or 0)
        t.kept.append(callback)
        options.monitor = ctypes.cast(callback, ctypes.c_void_p).value
    b_in = np.zeros((nrhs, step), dtype.storage)
    b_in[:, :n] = b
    guess = np.zeros((nrhs, step), dtype.storage)
    if start:
        guess[:, :n] = t.rng.standard_normal((nrhs, n)) * 0.1
    x = t.put(guess, writable=True)
    reports = (t.lib.structs["ech_solve_report"] * nrhs)()
    for report in reports:
        report.size = ctypes.sizeof(report)
    t.call("ech_solve", t.address(operator), nrhs, t.put(b_in).p, step, x.p, step, t.address(options),
           ctypes.addressof(reports))
    if form != "apply" and t.flag(0.4):  # neither threads nor check_every have an effect
        again = t.put(guess, writable=True)
        other = (t.lib.structs["ech_solve_report"] * nrhs)()
        for report in other:
            report.size = ctypes.sizeof(report)
        if not options.work:
            options.check_every = t.pick([1, 3, 200])
        t.threads()
        t.call("ech_solve", t.address(operator), nrhs, t.put(b_in).p, step, again.p, step, t.address(options),
               ctypes.addressof(other))
        t.same("x with other threads", again.a, x.a)
        t.equal("iterations and residuals with other threads", [(r.iterations, r.residual) for r in other],
                [(r.iterations, r.residual) for r in reports])
    wide_a = a.astype(np.float64)
    tolerance = rtol or (1e-8 if dtype is F64 else 1e-5)
    unit = UNIT[dtype.name]
    for i, report in enumerate(reports):
        text = t.lib.raw("ech_solve_status_text", report.status)
        t.true("no text", text not in (b"?", b""))
        for kind, value in (("method", report.method), ("precond", report.precond)):
            name = t.lib.raw(f"ech_{kind}_name", value)
            t.equal("number of a name", t.lib.raw(f"ech_{kind}_from_name", name), value)
        t.equal("elements between solutions", x.a[i, n:].tolist(), [0] * (step - n))
        solution = x.a[i, :n].astype(np.float64)
        right = b[i].astype(np.float64)
        norm = float(np.linalg.norm(right))
        t.near("b_norm", report.b_norm, norm, 1e-6 * norm)
        residual = float(np.linalg.norm(right - wide_a @ solution))
        noise = 4 * (n + 4) * unit * float(np.linalg.norm(np.abs(wide_a) @ np.abs(solution)) + norm)
        t.near("residual", report.residual, residual, 1e-3 * residual + noise)
        # Outcomes with the default tolerance are guaranteed for these matrices; f32 may reach its accuracy.
        if report.status <= 0 and (dtype is F64 or tolerance > 1e-4):
            t.true(f"right-hand side {i}: {text.decode()}, {report.iterations} iterations", False)
        if report.status == t.lib.SOLVE_STATUS_CONVERGED_RTOL:
            t.true(f"residual {residual} of {norm}", residual <= tolerance * norm + noise)
        if norm == 0 and n:
            t.true("x of b = 0", not solution.any() and report.iterations == 0)
        if capacity and report.history_count:
            t.true("history_count", report.history_count >= 1)


@operation("csr_check", "ech_csr_check")
def csr_check(t):
    rows, cols, nnz = t.between(1, 200), t.between(1, 200), t.between(1, 2000)
    a = Csr(t, rows, cols, nnz, in_order=True)
    kind = t.pick(["valid", "offset", "column", "order", "first", "last"])
    t.note(kind=kind)
    offsets, columns = a.offsets, a.columns
    fails = kind != "valid"
    if kind == "offset":
        decreases = [i for i in range(1, rows) if offsets[i] > 0]
        if not decreases:
            return
        i = t.pick(decreases)
        offsets[i] = offsets[i - 1] - 1 if offsets[i - 1] > 0 else offsets[i + 1] + 1
    elif kind == "column":
        columns[t.between(0, a.nnz - 1)] = cols + t.between(0, 5)
    elif kind == "order":
        same = np.flatnonzero(a.at[1:] == a.at[:-1])
        if len(same) == 0:
            return
        e = int(t.pick(same))
        columns[e], columns[e + 1] = columns[e + 1], columns[e] if t.flag() else columns[e + 1]
    elif kind == "first":
        offsets[0] = 1
    elif kind == "last":
        offsets[-1] -= 1
    s = a.struct(t)
    if fails:
        t.fails("ECH_ERR_ARG", "ech_csr_check", t.address(s), 1)
        if kind == "order":
            t.call("ech_csr_check", t.address(s), 0)
    else:
        t.call("ech_csr_check", t.address(s), 1)
