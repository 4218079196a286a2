"""matrices.py - dense and sparse products: bit-identical to the orders of docs/matmul.md and docs/sparse.md.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import ctypes.util

import numpy as np

from . import values
from .case import operation
from .sums import adjacent
from .values import BF16, F16, F32, F64, INDICES

LIBM = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
LIBM.fma.restype = ctypes.c_double
LIBM.fma.argtypes = [ctypes.c_double] * 3
LIBM.fmaf.restype = ctypes.c_float
LIBM.fmaf.argtypes = [ctypes.c_float] * 3
FMA = {np.float64: np.frompyfunc(LIBM.fma, 3, 1), np.float32: np.frompyfunc(LIBM.fmaf, 3, 1)}


def fma(a, b, c, kind):
    """a b + c, rounded once, element by element."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if a.size == 0:
        return np.zeros(a.shape, kind)
    return np.asarray(FMA[kind](a.astype(kind), b.astype(kind), c.astype(kind))).astype(kind)


def matrix(t, dtype, rows, cols, stride):
    """A matrix with elements between its rows, as an array [rows][stride]."""
    kind = t.pick(["moderate", "moderate", "integers", "special"])
    if kind == "integers":
        a = dtype.store(t.rng.integers(-9, 10, rows * stride).astype(np.float64))
    elif kind == "special" and t.flag(0.3):
        a = values.random_array(t.rng, dtype, rows * stride, "mixed")
    else:
        a = values.moderate(t.rng, dtype, rows * stride, 1.0)
    return a.reshape(rows, stride)


def scale(t):
    return t.pick([0.0, 1.0, 1.0, 1.0, -1.0, 0.1, 2.5])


def tiled(dtype, out, alpha, a, b, beta, c):
    """The algorithm "tiled" of docs/matmul.md; a: [m][k], b: [k][n]."""
    kind = np.float64 if dtype is F64 else np.float32
    alpha, beta = kind(alpha), kind(beta)
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    if alpha == 0 or k == 0:
        if beta == 0:
            return out.store(np.zeros((m, n), kind))
        return c if beta == 1 else out.store(beta * out.value(c).astype(kind))
    s = np.zeros((m, n), kind)
    x, y = dtype.value(a).astype(kind), dtype.value(b).astype(kind)
    for i in range(k):
        s = fma(x[:, i:i + 1], y[i:i + 1, :], s, kind)
    r = alpha * s
    if beta != 0:
        r = fma(beta, out.value(c).astype(kind), r, kind)
    return out.store(r)


def bounded(t, what, dtype, out, found, alpha, a, b, beta, c):
    """Within the bound of any order of summation, and rounded to the dtype out, for finite results."""
    x, y, z = (kind.value(part).astype(np.longdouble) for kind, part in ((dtype, a), (dtype, b), (out, c)))
    old = beta * z if beta else np.zeros_like(z)
    exact = alpha * (x @ y) + old
    size = abs(alpha) * (np.abs(x) @ np.abs(y)) + np.abs(old)
    unit = 2.0**-53 if dtype is F64 else 2.0**-24
    bound = (2 * a.shape[1] + 8) * unit * size
    limit = np.finfo(np.float64 if dtype is F64 else np.float32).max / 4
    if out in (F16, BF16):  # the smallest numbers of f16 are multiples of 2^-24
        bound = bound + 2.0**-(out.fraction + 1) * (np.abs(exact) + bound) + 2.0**-25
        limit = 60000 if out is F16 else limit
    found = out.value(found)
    usable = np.isfinite(size) & (size < limit)
    t.near(what, np.where(usable, found, 0), np.where(usable, exact, 0), np.where(usable, bound, 0) + 1e-37)


@operation("matmul", "ech_matmul", "ech_matmul_pointers", "ech_matmul_workspace", "ech_matmul_explain", weight=1.5)
def matmul(t):
    dtype = t.dtype(values.FLOATS)
    most = 40_000
    m, n = (t.pick([0, 1, 2, t.between(1, 40), t.between(1, 130)]) for _ in range(2))
    k = t.pick([0, 1, 2, 17, t.between(1, 40), max(1, most // max(m * n, 1))])
    k = min(k, 2000, max(1, most // max(m * n, 1)))
    wide = dtype in (F16, BF16) and t.flag()
    out = F32 if wide else dtype
    pointers = t.flag(0.3)
    count = t.pick([0, 1, 1, 2, 3]) if not pointers else t.between(0, 3)
    transposed = t.flag(0.3), t.flag(0.3)
    alpha, beta = scale(t), scale(t)
    t.note(m=m, n=n, k=k, wide=wide, count=count, transposed=transposed, alpha=alpha, beta=beta, pointers=pointers)
    options = t.struct("ech_matmul_options", transpose_a=int(transposed[0]), transpose_b=int(transposed[1]),
                       accumulate_wide=int(wide), batch_count=count)
    plain = (m, n, k, dtype.code, t.address(options))
    options.algorithm = t.algorithm("ech_matmul_explain", *plain)
    for name, value in t.work("ech_matmul_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    shapes = ((k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n), (m, n))
    strides = [cols + t.pick([0, 0, 1, 5]) for _, cols in shapes]
    products = max(count, 1) if not pointers else count
    shared = [not pointers and t.flag(0.2), not pointers and t.flag(0.2)]
    inputs, batch = [], []
    for which in range(3):
        kind = out if which == 2 else dtype
        rows, stride = shapes[which][0], strides[which]
        one = which < 2 and shared[which]
        parts = [matrix(t, kind, rows, shapes[which][1], stride) for _ in range(1 if one else products)]
        gap = t.pick([0, 0, 3])
        batch.append(0 if one else rows * stride + gap)
        if pointers:
            arrays = [t.put(part, writable=which == 2) for part in parts]
            inputs.append((parts, arrays))
        else:
            flat = np.zeros((len(parts), rows * stride + gap), kind.storage)
            for i, part in enumerate(parts):
                flat[i, :rows * stride] = part.reshape(-1)
            array = t.put(flat, writable=which == 2)
            inputs.append((parts * products if one else parts, array))
    if pointers:
        options.batch_count = 0
        lists = [t.put(np.array([array.p for array in arrays], np.uint64)) for _, arrays in inputs]
        t.call("ech_matmul_pointers", count, m, n, k, alpha, lists[0].p, strides[0], lists[1].p, strides[1], beta,
               lists[2].p, strides[2], dtype.code, t.address(options))
        found = [array.a for array in inputs[2][1]]
    else:
        if count > 1:
            options.a_batch_stride, options.b_batch_stride = batch[0], batch[1]
            options.c_batch_stride = max(batch[2], m * strides[2])
        null = alpha == 0 and t.flag()
        t.call("ech_matmul", m, n, k, alpha, None if null else inputs[0][1].p, strides[0],
               None if null else inputs[1][1].p, strides[1], beta, inputs[2][1].p, strides[2], dtype.code,
               t.address(options))
        found = [inputs[2][1].a[i, :m * strides[2]].reshape(m, strides[2]) for i in range(products)]
    plan = t.lib.explain("ech_matmul_explain", t.device.encode(), *plain)["algorithm"]["name"]
    exact = plan == "tiled"
    for i in range(products):
        a, b, c = (inputs[which][0][i][:, :shapes[which][1]] for which in range(3))
        a, b = a.T if transposed[0] else a, b.T if transposed[1] else b
        before = inputs[2][0][i]
        t.same("elements between rows", found[i][:, n:], before[:, n:])
        if exact:
            t.same(f"product {i}", found[i][:, :n], tiled(dtype, out, alpha, a, b, beta, c))
        else:
            bounded(t, f"product {i}", dtype, out, found[i][:, :n], alpha, a, b, beta, c)


def fma_chain(x, y, kind):
    """fma chains from +0 along the first axis."""
    s = np.zeros(np.broadcast_shapes(x.shape[1:], y.shape[1:]), kind)
    for i in range(x.shape[0]):
        s = fma(x[i], y[i], s, kind)
    return s


def matvec_rows(a, x, kind):
    """Row sums of docs/matmul.md: chunks of 4096, 64 lanes, folded by halves."""
    rows, n = a.shape
    chunks = -(-n // 4096)
    sums = np.zeros((rows, chunks), kind)
    for chunk in range(chunks):
        part, factor = a[:, 4096 * chunk:4096 * (chunk + 1)], x[4096 * chunk:4096 * (chunk + 1)]
        lanes = np.zeros((rows, 64), kind)
        for begin in range(0, part.shape[1], 64):
            width = min(64, part.shape[1] - begin)
            lanes[:, :width] = fma(part[:, begin:begin + width], factor[begin:begin + width], lanes[:, :width], kind)
        half = 32
        while half:
            lanes = lanes[:, :half] + lanes[:, half:2 * half]
            half //= 2
        sums[:, chunk] = lanes[:, 0]
    return sums[:, 0] if chunks == 1 else matvec_rows(sums, np.ones(chunks, kind), kind)


def matvec_columns(a, x, kind):
    rows = a.shape[0]
    blocks = -(-rows // 64)
    sums = np.zeros((blocks, a.shape[1]), kind)
    for block in range(blocks):
        part = slice(64 * block, 64 * (block + 1))
        sums[block] = fma_chain(a[part], x[part][:, None], kind)
    return sums[0] if blocks == 1 else matvec_columns(sums, np.ones(blocks, kind), kind)


@operation("matvec", "ech_matvec", "ech_matvec_workspace", "ech_matvec_explain")
def matvec(t):
    dtype, transpose = t.dtype([F32, F64]), t.flag()
    size = t.pick([t.between(0, 300), t.between(300, 20_000), 20_000])
    rows = t.pick([0, 1, 2, 64, 65, t.between(1, 200), size])
    cols = min(t.pick([0, 1, 63, 64, 65, 4096, 4097, 9000, t.between(1, 300)]), 30_000 // max(rows, 1))
    alpha, beta, stride = scale(t), scale(t), cols + t.pick([0, 0, 1, 3])
    t.note(rows=rows, cols=cols, transpose=transpose, alpha=alpha, beta=beta, stride=stride)
    a = matrix(t, dtype, rows, cols, stride)
    n_x, n_y = (rows, cols) if transpose else (cols, rows)
    x, y = matrix(t, dtype, 1, n_x, n_x)[0], matrix(t, dtype, 1, n_y, n_y)[0]
    options = t.struct("ech_matvec_options", transpose=int(transpose))
    plain = (rows, cols, dtype.code, t.address(options))
    t.lib.explain("ech_matvec_explain", t.device.encode(), *plain)
    for name, value in t.work("ech_matvec_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    out = t.put(y, writable=True)
    t.call("ech_matvec", rows, cols, alpha, t.put(a).p, stride, t.put(x).p, beta, out.p, dtype.code,
           t.address(options))
    kind = dtype.storage.type
    alpha, beta = kind(alpha), kind(beta)
    if alpha == 0 or n_x == 0:
        expected = dtype.store(np.zeros(n_y, kind)) if beta == 0 else y if beta == 1 else dtype.store(beta * y)
    else:
        table = a[:, :cols]
        s = matvec_columns(table, x, kind) if transpose else matvec_rows(table, x, kind)
        r = alpha * s
        expected = dtype.store(r if beta == 0 else fma(beta, y, r, kind))
    t.same("y", out.a, expected)


# ---- Sparse ----

class Csr:
    """A random matrix in CSR form."""

    def __init__(self, t, rows, cols, nnz, dtype=None, index=None, in_order=False):
        self.dtype, self.index = dtype or t.pick([F32, F64]), index or t.pick(INDICES)
        kind = t.pick(["uniform", "skewed", "one row", "empty rows"])
        if rows == 0 or cols == 0:
            nnz = 0
        weights = {"uniform": np.ones(rows), "skewed": t.rng.random(rows) ** 8, "one row": np.arange(rows) == rows // 2,
                   "empty rows": t.rng.random(rows) < 0.1}[kind].astype(float)
        if not weights.any():
            weights[:] = 1
        at = np.sort(t.rng.choice(rows, nnz, p=weights / weights.sum())) if nnz else np.zeros(0, np.int64)
        columns = t.rng.integers(0, max(cols, 1), nnz)
        if in_order:
            pairs = np.unique(at * max(cols, 1) + columns) if nnz else np.zeros(0, np.int64)
            at, columns = pairs // max(cols, 1), pairs % max(cols, 1)
        self.rows, self.cols, self.nnz, self.at, self.columns = rows, cols, len(at), at, columns
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=rows))]).astype(np.int64)
        self.values = matrix(t, self.dtype, 1, self.nnz, self.nnz)[0]
        t.note(rows=rows, cols=cols, nnz=self.nnz, dtype=self.dtype, index=self.index, pattern=kind)

    def struct(self, t):
        self.arrays = (t.put(self.offsets.astype(self.index.storage)), t.put(self.columns.astype(self.index.storage)),
                       t.put(self.values))
        return t.struct("ech_csr", rows=self.rows, cols=self.cols, nnz=self.nnz, row_offsets=self.arrays[0].p,
                        col_indices=self.arrays[1].p, values=self.arrays[2].p, index_dtype=self.index.code,
                        dtype=self.dtype.code)


def output_csr(t, rows, cols, nnz, index, dtype):
    arrays = (t.out(rows + 1, index.storage), t.out(nnz, index.storage), t.out(nnz, dtype.storage))
    return arrays, t.struct("ech_csr", rows=rows, cols=cols, nnz=nnz, row_offsets=arrays[0].p,
                            col_indices=arrays[1].p, values=arrays[2].p, index_dtype=index.code, dtype=dtype.code)


def csr_options(t, call, a, n):
    options = t.struct("ech_csr_options")
    plain = (t.lib.constants["ECH_CSR_CALL_" + call], t.address(a), n, t.address(options))
    t.lib.explain("ech_csr_explain", t.device.encode(), *plain)
    for name, value in t.work("ech_csr_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    return t.address(options)


def sparse_sums(a, b):
    """Row sums in the order of docs/sparse.md, of a [cols][n] matrix b."""
    kind = a.dtype.storage.type
    out = np.zeros((a.rows, b.shape[1]), kind)
    lengths = np.diff(a.offsets)
    for length in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == length)
        entries = a.offsets[rows][:, None] + np.arange(length)
        products = a.values[entries][..., None] * b[a.columns[entries]]
        chunks = []
        for begin in range(0, length, 32):
            s = products[:, begin]
            for e in range(begin + 1, min(begin + 32, length)):
                s = s + products[:, e]
            chunks.append(s)
        out[rows] = adjacent(np.stack(chunks, axis=1), np.add, 1)
    return out


def sparse_size(t):
    rows = t.pick([0, 1, 2, t.between(1, 100), t.between(1, 5000)])
    cols = t.pick([rows, 1, t.between(1, 100), t.between(1, 5000)])
    nnz = t.pick([0, 1, t.between(0, 300), t.between(0, 8000), t.between(0, 40_000)])
    return rows, cols, nnz


@operation("spmv", "ech_spmv", "ech_spmm", "ech_csr_diagonal", "ech_csr_check", "ech_csr_workspace", "ech_csr_explain")
def spmv(t):
    a = Csr(t, *sparse_size(t), in_order=t.flag(0.3))
    s, kind = a.struct(t), a.dtype.storage.type
    alpha, beta, wide = scale(t), scale(t), t.flag()
    n = t.between(0, 9) if wide else 1
    strides = [n + t.pick([0, 0, 2]) for _ in range(2)] if wide else [1, 1]
    t.note(alpha=alpha, beta=beta, n=n, wide=wide)
    b, c = matrix(t, a.dtype, a.cols, n, strides[0]), matrix(t, a.dtype, a.rows, n, strides[1])
    options = csr_options(t, "SPMM" if wide else "SPMV", s, n)
    out, in_ = t.put(c, writable=True), t.put(b)
    if wide:
        t.call("ech_spmm", alpha, t.address(s), n, in_.p, strides[0], beta, out.p, strides[1], options)
    else:
        t.call("ech_spmv", alpha, t.address(s), in_.p, beta, out.p, options)
    alpha, beta = kind(alpha), kind(beta)
    if alpha == 0 or a.cols == 0:
        old = c[:, :n]
        expected = old if beta == 1 else a.dtype.store(beta * old if beta != 0 else np.zeros_like(old))
    else:
        r = alpha * sparse_sums(a, b[:, :n])
        expected = a.dtype.store(r if beta == 0 else r + beta * c[:, :n])
    t.same("product", out.a[:, :n], expected)
    t.same("elements between rows", out.a[:, n:], c[:, n:])
    diagonal, found = np.zeros(min(a.rows, a.cols), kind), t.out(min(a.rows, a.cols), a.dtype.storage)
    for e in reversed(np.flatnonzero(a.at == a.columns)):
        diagonal[a.at[e]] = a.values[e]
    t.call("ech_csr_diagonal", t.address(s), found.p)
    t.same("diagonal", found.a, diagonal)
    same_row = a.at[1:] == a.at[:-1]
    ordered = not (same_row & (a.columns[1:] <= a.columns[:-1])).any()
    t.call("ech_csr_check", t.address(s), 0)
    if ordered:
        t.call("ech_csr_check", t.address(s), 1)
    else:
        t.fails("ECH_ERR_ARG", "ech_csr_check", t.address(s), 1)


@operation("csr_from_coo", "ech_csr_from_coo", "ech_csr_transpose", "ech_csr_check", "ech_csr_workspace",
           "ech_csr_explain")
def csr_from_coo(t):
    rows, cols, nnz = sparse_size(t)
    if t.flag(0.4):
        rows, cols = max(rows % 20, 1), max(cols % 20, 1)
    a = Csr(t, rows, cols, min(nnz, 15_000))
    kind, index = a.dtype.storage.type, a.index
    if t.flag():
        order = t.rng.permutation(a.nnz)
        at, columns, numbers = a.at[order], a.columns[order], a.values[order]
        capacity = a.nnz + t.pick([0, 0, 3])
        arrays, s = output_csr(t, rows, cols, capacity, index, a.dtype)
        options = csr_options(t, "FROM_COO", s, a.nnz)
        count = t.out(1, np.uint64)
        bad = a.nnz and t.flag(0.05)
        if bad:
            columns = columns.copy()
            columns[t.between(0, a.nnz - 1)] = t.pick([cols, 2**31 - 1])
        arguments = (t.put(at.astype(index.storage)).p, t.put(columns.astype(index.storage)).p, t.put(numbers).p,
                     t.address(s), count.p, a.nnz, options)
        t.note(call="from_coo", bad=bad)
        if bad:
            t.fails("ECH_ERR_ARG", "ech_csr_from_coo", *arguments)
            return
        t.call("ech_csr_from_coo", *arguments)
        order = np.lexsort((np.arange(a.nnz), columns, at))
        entries = []
        for e in order.tolist():
            key = (int(at[e]), int(columns[e]))
            if entries and entries[-1][0] == key:
                entries[-1][1] = entries[-1][1] + kind(numbers[e])
            else:
                entries.append([key, kind(numbers[e])])
        t.equal("nnz", int(count.a[0]), len(entries))
        new_rows = np.array([key[0] for key, _ in entries], np.int64)
        new_columns = np.array([key[1] for key, _ in entries], np.int64)
        new_values = np.array([value for _, value in entries], kind)
        n = len(entries)
        nan = np.isnan(new_values) & np.isnan(arrays[2].a[:n])
        arrays[2].a[:n][nan] = new_values[nan]
    else:
        t.note(call="transpose")
        s, source = None, a.struct(t)
        arrays, s = output_csr(t, cols, rows, a.nnz, index, a.dtype)
        t.call("ech_csr_transpose", t.address(source), t.address(s), csr_options(t, "TRANSPOSE", source, 0))
        order = np.lexsort((np.arange(a.nnz), a.columns))
        new_rows, new_columns, new_values, n = a.columns[order], a.at[order], a.values[order], a.nnz
        rows = cols
    t.same("row_offsets", arrays[0].a, np.concatenate([[0], np.cumsum(np.bincount(new_rows, minlength=rows))]).astype(
        index.storage))
    t.same("col_indices", arrays[1].a[:n], new_columns.astype(index.storage))
    t.same("values", arrays[2].a[:n], new_values)
