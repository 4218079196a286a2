"""bits.py - linear algebra over GF(2): Gaussian elimination of NumPy arrays of 0 and 1 as echelon/gf2.h defines it.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .values import INDICES, U32


def pack(a, stride):
    """[rows][stride] words; bit j of a row is bit j % 64 of word j / 64."""
    rows, cols = a.shape
    if rows * stride == 0:
        return np.zeros((rows, stride), np.uint64)
    padded = np.zeros((rows, stride * 64), np.uint8)
    padded[:, :cols] = a
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(rows, stride)


def unpack(words, cols):
    rows = words.shape[0]
    if words.size == 0:
        return np.zeros((rows, cols), np.uint8)
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8).reshape(rows, -1), axis=1, bitorder="little")
    return bits[:, :cols]


class Matrix:
    """A matrix with random bits outside of it, which a call must not change."""

    def __init__(self, t, a, output=False):
        rows, cols = a.shape
        self.rows, self.cols = rows, cols
        self.stride = -(-cols // 64) + t.pick([0, 0, 0, 1, 3])
        words = np.frombuffer(t.rng.bytes(rows * self.stride * 8), np.uint64).reshape(rows, self.stride).copy()
        self.mask = pack(np.ones((rows, cols), np.uint8), self.stride)
        self.outside = words & ~self.mask
        inside = words & self.mask if output == "junk" else pack(a, self.stride)
        self.array = t.put(self.outside | inside, writable=bool(output))
        self.struct = t.struct("ech_gf2", words=self.array.p if words.size else None, rows=rows, cols=cols,
                               stride=self.stride)
        self.p = t.address(self.struct)
        self.t = t

    def bits(self):
        self.t.same("bits outside the matrix", self.array.a & ~self.mask, self.outside)
        return unpack(self.array.a, self.cols)


def output(t, rows, cols):
    return Matrix(t, np.zeros((rows, cols), np.uint8), output="junk")


def random_bits(t, rows, cols):
    kind = t.pick(["dense", "dense", "sparse", "low rank", "identity", "zero", "repeated"])
    t.note(bits=kind)
    density = {"sparse": 0.03, "dense": 0.5}.get(kind, 0.5)
    if kind == "zero":
        return np.zeros((rows, cols), np.uint8)
    a = (t.rng.random((rows, cols)) < density).astype(np.uint8)
    if kind == "low rank" and rows and cols:
        rank = t.between(1, max(1, min(rows, cols) // 2))
        a = product((t.rng.random((rows, rank)) < 0.5).astype(np.uint8), (t.rng.random((rank, cols)) < 0.5).astype(
            np.uint8))
    elif kind == "identity":
        a = np.eye(rows, cols, dtype=np.uint8)[t.rng.permutation(rows)]
    elif kind == "repeated" and rows:
        a = a[t.rng.integers(0, rows, rows)]
    return a


def product(a, b):
    # f32 counts up to 2^24 exactly
    return ((a.astype(np.float32) @ b.astype(np.float32)).astype(np.int64) & 1).astype(np.uint8)


def side(t, most=None):
    most = most or (70 if t.simt else 200)
    return t.pick([0, 1, 63, 64, 65, t.between(1, 40), t.between(1, most), t.between(1, most), t.between(1, 3 * most)])


class Elimination:
    """The procedure of echelon/gf2.h, of [a | identity]."""

    def __init__(self, a, columns=None, max_rank=0, reduced=True):
        rows, cols = a.shape
        stride = -(-cols // 64)
        words = np.concatenate([pack(a, stride), pack(np.eye(rows, dtype=np.uint8), -(-rows // 64))], axis=1)
        self.from_ = np.arange(rows)
        self.pivots = []
        for column in range(cols) if columns is None else columns:
            rank = len(self.pivots)
            if rank == rows or (max_rank and rank == max_rank):
                break
            bit = words[:, column // 64] >> np.uint64(column % 64) & np.uint64(1)
            ones = np.flatnonzero(bit[rank:])
            if len(ones) == 0:
                continue
            first = rank + ones[0]
            words[[rank, first]] = words[[first, rank]]
            self.from_[[rank, first]] = self.from_[[first, rank]]
            bit = words[:, column // 64] >> np.uint64(column % 64) & np.uint64(1)
            bit[rank] = 0
            if not reduced:
                bit[:rank] = 0
            words[np.flatnonzero(bit)] ^= words[rank]
            self.pivots.append(int(column))
        self.result = unpack(words[:, :stride], cols)
        self.transform = unpack(words[:, stride:], rows)
        self.rank = len(self.pivots)


def nullspace(a):
    e = Elimination(a)
    free = [j for j in range(a.shape[1]) if j not in set(e.pivots)]
    basis = np.zeros((len(free), a.shape[1]), np.uint8)
    basis[np.arange(len(free)), free] = 1
    basis[:, e.pivots] = e.result[:e.rank][:, free].T
    return basis


def column_choice(t, cols, index, fields):
    """column_order and pivot_cols; returns the columns in which pivots are sought."""
    kind = t.pick(["all", "all", "first", "order", "order of some"])
    t.note(columns=kind)
    if kind == "all" or cols == 0:
        return None
    count = cols if kind == "order" else t.between(1, cols)
    fields["pivot_cols"] = 0 if count == cols and t.flag() else count
    if kind == "first":
        return range(count)
    order = t.rng.permutation(cols)[:count]
    fields["column_order"] = t.put(order.astype(index.storage)).p
    return order


def elimination_options(t, call, rows, cols, other, columns=True, **fields):
    index = t.pick([None, *INDICES])
    used = column_choice(t, cols, index or U32, fields) if columns else None
    if index:
        fields["index_dtype"] = index.code
    options = t.struct("ech_gf2_echelon_options", **fields)
    plain = (t.lib.constants["ECH_GF2_CALL_" + call], rows, cols, other, t.address(options))
    options.algorithm = t.algorithm("ech_gf2_explain", *plain)
    for name, value in t.work("ech_gf2_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    t.note(index=index)
    return options, index or U32, used


WORK = ("ech_gf2_workspace", "ech_gf2_explain")


@operation("gf2_move", "ech_gf2_copy", "ech_gf2_add", "ech_gf2_transpose", "ech_gf2_gather_rows", "ech_gf2_gather_cols",
           "ech_gf2_zero", "ech_gf2_identity", "ech_gf2_random", "ech_gf2_pack", "ech_gf2_unpack", "ech_gf2_count",
           "ech_gf2_equal", "ech_gf2_view", "ech_gf2_stride")
def gf2_move(t):
    rows, cols = side(t), side(t, 500)
    a = random_bits(t, rows, cols)
    m = Matrix(t, a)
    call = t.pick("copy add transpose rows cols special random pack count equal view".split())
    t.note(call=call, rows=rows, cols=cols)
    t.threads()
    t.equal("ech_gf2_stride()", t.lib.raw("ech_gf2_stride", cols), -(-cols // 64))
    if call == "copy":
        big = random_bits(t, side(t), side(t, 500))
        to = Matrix(t, big, output=True)
        r, c = t.between(0, min(rows, big.shape[0])), t.between(0, min(cols, big.shape[1]))
        fr, fc = t.between(0, rows - r), t.between(0, cols - c)
        tr, tc = t.between(0, big.shape[0] - r), t.between(0, big.shape[1] - c)
        t.note(copy=(r, c, fr, fc, tr, tc, big.shape))
        t.call("ech_gf2_copy", m.p, fr, fc, to.p, tr, tc, r, c)
        big = big.copy()
        big[tr:tr + r, tc:tc + c] = a[fr:fr + r, fc:fc + c]
        t.same("copy", to.bits(), big)
    elif call == "add":
        b = random_bits(t, rows, cols)
        place = t.flag(0.3)
        second = Matrix(t, b, output=place)
        out = second if place else output(t, rows, cols)
        t.call("ech_gf2_add", m.p, second.p, out.p)
        t.same("sum", out.bits(), a ^ b)
    elif call == "transpose":
        out = output(t, cols, rows)
        t.call("ech_gf2_transpose", m.p, out.p)
        t.same("transpose", out.bits(), a.T)
    elif call in ("rows", "cols"):
        limit = rows if call == "rows" else cols
        index = t.pick(INDICES)
        at = t.rng.integers(0, max(limit, 1), side(t) if limit else 0)
        out = output(t, len(at), cols) if call == "rows" else output(t, rows, len(at))
        arguments = (m.p, t.put(at.astype(index.storage)).p, out.p, index.code)
        t.call("ech_gf2_gather_" + call, *arguments)
        t.same("gather", out.bits(), a[at] if call == "rows" else a[:, at])
    elif call == "special":
        out = output(t, rows, cols)
        t.call("ech_gf2_zero", out.p)
        t.same("zero", out.bits(), np.zeros_like(a))
        t.call("ech_gf2_identity", out.p)
        t.same("identity", out.bits(), np.eye(rows, cols, dtype=np.uint8))
    elif call == "random":
        probability, seed = t.pick([0.0, 1.0, 0.5, float(t.rng.random())]), t.between(0, 2**62)
        out, part = output(t, rows, cols), output(t, min(rows, 40), min(cols, 70))
        t.call("ech_gf2_random", out.p, probability, seed)
        t.call("ech_gf2_random", part.p, probability, seed)
        found = out.bits()
        t.same("bits of a smaller matrix", part.bits(), found[:40, :70])
        n, ones = rows * cols, int(found.sum())
        t.note(probability=probability, seed=seed)
        t.near("ones", ones, probability * n, 7 * (n * probability * (1 - probability)) ** 0.5 + 8)
    elif call == "pack":
        bytes_ = np.frombuffer(t.rng.bytes(rows * cols), np.uint8).reshape(rows, cols)
        out = output(t, rows, cols)
        t.call("ech_gf2_pack", t.put(bytes_).p, out.p)
        t.same("pack", out.bits(), bytes_ & 1)
        back = t.out((rows, cols), np.uint8)
        t.call("ech_gf2_unpack", m.p, back.p)
        t.same("unpack", back.a, a)
    elif call == "count":
        count = t.out(1, np.uint64)
        t.call("ech_gf2_count", m.p, count.p)
        t.equal("count", int(count.a[0]), int(a.sum()))
    elif call == "equal":
        b = a.copy()
        if a.size and t.flag():
            b[t.between(0, rows - 1), t.between(0, cols - 1)] ^= 1
        equal = t.out(1, np.uint8)
        t.call("ech_gf2_equal", m.p, Matrix(t, b).p, equal.p)
        t.equal("equal", int(equal.a[0]), int((a == b).all()))
    else:
        r, c = t.between(0, rows), t.between(0, cols // 64)
        shape = t.between(0, rows - r), t.between(0, cols - 64 * c)
        view = t.struct("ech_gf2")
        t.lib.call("ech_gf2_view", m.p, r, 64 * c, *shape, t.address(view))
        count = t.out(1, np.uint64)
        t.call("ech_gf2_count", t.address(view), count.p)
        t.equal("ones of the view", int(count.a[0]), int(a[r:r + shape[0], 64 * c:64 * c + shape[1]].sum()))


@operation("gf2_mul", "ech_gf2_mul", "ech_gf2_addmul", "ech_gf2_mul_vec", *WORK)
def gf2_mul(t):
    call = t.pick(["mul", "addmul", "mul_vec"])
    rows, inner, cols = side(t), side(t), side(t)
    if t.flag(0.05) and not t.simt:
        rows, inner, cols = (t.between(500, 1500) for _ in range(3))
    a, b = random_bits(t, rows, inner), random_bits(t, inner, cols)
    t.note(call=call, rows=rows, inner=inner, cols=cols)
    fields = t.struct("ech_gf2_echelon_options")
    name = "MUL_VEC" if call == "mul_vec" else "MUL"
    plain = (t.lib.constants["ECH_GF2_CALL_" + name], rows, inner, cols, t.address(fields))
    fields.algorithm = t.algorithm("ech_gf2_explain", *plain)
    options = t.struct("ech_gf2_options", algorithm=fields.algorithm, **t.work("ech_gf2_workspace", *plain))
    t.threads()
    m = Matrix(t, a)
    if call == "mul_vec":
        out = output(t, cols, rows)
        t.call("ech_gf2_mul_vec", m.p, Matrix(t, np.ascontiguousarray(b.T)).p, out.p, t.address(options))
        t.same("product", out.bits(), product(a, b).T)
        return
    before = random_bits(t, rows, cols)
    out = Matrix(t, before, output=True)
    t.call("ech_gf2_" + call, m.p, Matrix(t, b).p, out.p, t.address(options))
    t.same("product", out.bits(), product(a, b) ^ (before if call == "addmul" else 0))


@operation("gf2_echelon", "ech_gf2_echelon", "ech_gf2_rank", *WORK, weight=1.5)
def gf2_echelon(t):
    rows, cols = side(t), side(t)
    if t.flag(0.03) and not t.simt:
        rows, cols = t.between(500, 1500), t.between(500, 1500)
    a = random_bits(t, rows, cols)
    reduced, max_rank = t.flag(0.6), t.pick([0, 0, 0, t.between(1, 60)])
    only_rank, transform, from_ = t.flag(0.3), None, None
    fields = {"form": int(not reduced), "max_rank": max_rank}
    t.note(rows=rows, cols=cols, reduced=reduced, max_rank=max_rank, only_rank=only_rank)
    if not only_rank and t.flag(0.4):
        transform = output(t, rows, rows)
        fields["transform"] = transform.p
    options, index, columns = elimination_options(t, "ECHELON", rows, cols, 0, **fields)
    if not only_rank and t.flag(0.4):
        from_ = t.out(rows, index.storage)
        options.rows_from = from_.p
    t.note(transform=bool(transform), rows_from=bool(from_))
    e = Elimination(a, columns, max_rank, reduced)
    rank = t.out(1, np.uint32)
    if only_rank:
        t.call("ech_gf2_rank", Matrix(t, a).p, rank.p, t.address(options))
        t.equal("rank", int(rank.a[0]), e.rank)
        return
    m, pivots = Matrix(t, a, output=True), t.out(min(rows, cols), index.storage) if t.flag(0.7) else None
    t.call("ech_gf2_echelon", m.p, rank.p, pivots.p if pivots else None, t.address(options))
    t.equal("rank", int(rank.a[0]), e.rank)
    t.same("echelon form", m.bits(), e.result)
    if pivots:
        t.same("pivots", pivots.a[:e.rank], np.array(e.pivots, index.storage))
    if transform:
        t.same("transform", transform.bits(), e.transform)
    if from_:
        t.same("rows_from", from_.a, e.from_.astype(index.storage))


@operation("gf2_solve", "ech_gf2_pluq", "ech_gf2_solve", "ech_gf2_nullspace", "ech_gf2_left_nullspace",
           "ech_gf2_inverse", *WORK, weight=1.5)
def gf2_solve(t):
    call = t.pick(["pluq", "solve", "solve", "nullspace", "inverse"])
    rows, cols = side(t), side(t)
    if call == "inverse":
        cols = rows
    t.note(call=call, rows=rows, cols=cols)
    a = random_bits(t, rows, cols)
    if call == "inverse" and t.flag(0.6):  # an invertible matrix
        lower = np.tril(a, -1) + np.eye(rows, dtype=np.uint8)
        upper = np.triu(random_bits(t, rows, rows), 1) + np.eye(rows, dtype=np.uint8)
        a = product(lower, upper)[t.rng.permutation(rows)]
    if call == "pluq":
        pluq(t, a)
    elif call == "solve":
        solve(t, a)
    elif call == "nullspace":
        left = t.flag()
        options, _, _ = elimination_options(t, "NULLSPACE", rows, cols, 0, columns=False)
        basis = nullspace(np.ascontiguousarray(a.T) if left else a)
        extra = t.pick([0, 0, 2])
        out, dim = output(t, len(basis) + extra, basis.shape[1]), t.out(1, np.uint32)
        t.call("ech_gf2_left_nullspace" if left else "ech_gf2_nullspace", Matrix(t, a).p, out.p, dim.p,
               t.address(options))
        t.equal("dimension", int(dim.a[0]), len(basis))
        t.same("basis", out.bits(), np.concatenate([basis, np.zeros((extra, basis.shape[1]), np.uint8)]))
    else:
        options, _, _ = elimination_options(t, "INVERSE", rows, cols, 0, columns=False)
        out, rank, e = output(t, rows, rows), t.out(1, np.uint32), Elimination(a)
        t.call("ech_gf2_inverse", Matrix(t, a).p, out.p, rank.p, t.address(options))
        t.equal("rank", int(rank.a[0]), e.rank)
        found = out.bits()
        if e.rank == rows:
            t.same("inverse", found, e.transform)


def pluq(t, a):
    rows, cols = a.shape
    fields = {}
    index = t.pick([None, *INDICES])
    order = None
    if t.flag(0.4) and cols:
        order = t.rng.permutation(cols)
        fields["column_order"] = t.put(order.astype((index or U32).storage)).p
    if index:
        fields["index_dtype"] = index.code
    index = index or U32
    options = t.struct("ech_gf2_echelon_options", **fields)
    plain = (t.lib.constants["ECH_GF2_CALL_PLUQ"], rows, cols, 0, t.address(options))
    options.algorithm = t.algorithm("ech_gf2_explain", *plain)
    for name, value in t.work("ech_gf2_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    m, rank = Matrix(t, a, output=True), t.out(1, np.uint32)
    p, q = t.out(rows, index.storage), t.out(cols, index.storage)
    t.call("ech_gf2_pluq", m.p, rank.p, p.p, q.p, t.address(options))
    e = Elimination(a, order, reduced=False)
    t.equal("rank", int(rank.a[0]), e.rank)
    t.same("p", p.a, e.from_.astype(index.storage))
    t.same("pivots of q", q.a[:e.rank], np.array(e.pivots, index.storage))
    rest = [j for j in (range(cols) if order is None else order.tolist()) if j not in set(e.pivots)]
    t.same("other columns of q", np.sort(q.a[e.rank:]), np.sort(np.array(rest, index.storage)))
    if order is None:
        t.same("order of other columns of q", q.a[e.rank:], np.array(rest, index.storage))
    both = m.bits()
    lower = np.tril(both[:, :e.rank], -1)
    lower[np.arange(e.rank), np.arange(e.rank)] = 1
    upper = np.triu(both[:e.rank])
    t.true("the diagonal of U has a zero", bool((np.diag(upper[:, :e.rank]) == 1).all()))
    t.true("bits outside L and U", not np.triu(both, 0)[e.rank:].any() and not both[e.rank:, e.rank:].any())
    t.same("L U", product(lower, upper), a[e.from_][:, q.a.astype(np.int64)])


def solve(t, a):
    rows, cols = a.shape
    k = t.pick([0, 1, 2, 64, t.between(1, 90)])
    b = random_bits(t, rows, k)
    if t.flag(0.6):
        b = product(a, random_bits(t, cols, k))
    fields = {}
    certificate = None
    if t.flag():
        certificate = output(t, k, rows)
        fields["transform"] = certificate.p  # only for the workspace
    options, _, columns = elimination_options(t, "SOLVE", rows, cols, k, **fields)
    options.transform = None
    t.note(k=k, certificate=bool(certificate))
    x, solvable = output(t, cols, k), t.out(k, np.uint8) if t.flag(0.8) else None
    t.call("ech_gf2_solve", Matrix(t, a).p, Matrix(t, b).p, x.p, solvable.p if solvable else None,
           certificate.p if certificate else None, t.address(options))
    e = Elimination(a, columns)
    tb = product(e.transform, b)
    possible = ~tb[e.rank:].any(axis=0)
    expected = np.zeros((cols, k), np.uint8)
    expected[e.pivots] = tb[:e.rank] * possible
    t.same("x", x.bits(), expected)
    if solvable:
        t.same("solvable", solvable.a, possible.astype(np.uint8))
    if certificate:
        y = certificate.bits()
        sought = list(range(cols) if columns is None else columns)
        t.true("a certificate of a column with a solution is not zero", not y[possible].any())
        t.true("y a is not zero", not product(y, a)[:, sought].any())
        t.true("y b is not 1", bool((product(y, b)[np.arange(k), np.arange(k)][~possible] == 1).all()))


@operation("gf2_batched", "ech_gf2_echelon_batched", "ech_gf2_rank_batched", "ech_gf2_solve_batched", *WORK)
def gf2_batched(t):
    call = t.pick(["echelon", "rank", "solve"])
    count, rows, cols = t.between(0, 12), t.between(0, 70), t.between(0, 140)
    if t.flag(0.3):
        rows, cols = t.between(0, 20), t.between(0, 20)
    if call == "solve" and rows and not cols:
        cols = 1
    stride = -(-cols // 64) + t.pick([0, 0, 1])
    step = rows * stride + t.pick([0, 0, 2])
    matrices = [random_bits(t, rows, cols) for _ in range(count)]
    if call != "echelon" and count and t.flag(0.2):
        step, matrices = 0, matrices[:1] * count
    words = np.frombuffer(t.rng.bytes(8 * (step * max(count - 1, 0) + rows * stride)), np.uint64).copy()
    mask = np.zeros(len(words), np.uint64)
    for i, a in enumerate(matrices):
        place = slice(i * step, i * step + rows * stride)
        inside = pack(np.ones((rows, cols), np.uint8), stride).reshape(-1)
        mask[place] |= inside
        words[place] = (words[place] & ~inside) | pack(a, stride).reshape(-1)
    t.note(call=call, count=count, rows=rows, cols=cols, step=step)
    fields = {"form": int(t.flag(0.3)), "max_rank": t.pick([0, 0, t.between(1, 20)])} if call != "solve" else {}
    index = t.pick([None, *INDICES])
    orders = [None] * count
    if cols and t.flag(0.4):
        chosen = t.between(1, cols)
        fields["pivot_cols"] = chosen
        if t.flag(0.6):
            orders = [t.rng.permutation(cols)[:chosen] for _ in range(count)]
            table = np.array(orders).reshape(count, chosen).astype((index or U32).storage)
            fields["column_order"] = t.put(table).p
        else:
            orders = [range(chosen)] * count
    if index:
        fields["index_dtype"] = index.code
    index = index or U32
    t.note(**fields)
    options = t.struct("ech_gf2_echelon_options", **fields)
    plain = (t.lib.constants["ECH_GF2_CALL_BATCHED"], rows, cols, count, t.address(options))
    options.algorithm = t.algorithm("ech_gf2_explain", *plain)
    for name, value in t.work("ech_gf2_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    array = t.put(words, writable=call == "echelon")
    batch = t.struct("ech_gf2_batch", words=array.p, count=count, rows=rows, cols=cols, stride=stride,
                     batch_stride=step)
    expected = [Elimination(a, order, fields.get("max_rank", 0), not fields.get("form", 0))
                for a, order in zip(matrices, orders)]
    rank = t.out(count, np.uint32)
    if call == "solve":
        b = [random_bits(t, rows, 1) for _ in range(count)]
        b = [product(a, random_bits(t, cols, 1)) if t.flag() else column for a, column in zip(matrices, b)]
        b_words = np.array([pack(column.T, -(-rows // 64))[0] for column in b], np.uint64)
        x, solvable = t.out((count, -(-cols // 64)), np.uint64), t.out(count, np.uint8)
        t.call("ech_gf2_solve_batched", t.address(batch), t.put(b_words).p, x.p, solvable.p, t.address(options))
        for i, e in enumerate(expected):
            tb = product(e.transform, b[i])[:, 0]
            possible = not tb[e.rank:].any()
            answer = np.zeros((1, cols), np.uint8)
            if possible:
                answer[0, e.pivots] = tb[:e.rank]
            t.equal(f"solvable[{i}]", int(solvable.a[i]), int(possible))
            t.same(f"x[{i}]", x.a[i], pack(answer, -(-cols // 64))[0])
        return
    pivots = None
    if call == "rank":
        t.call("ech_gf2_rank_batched", t.address(batch), rank.p, t.address(options))
    else:
        pivots = t.out((count, min(rows, cols)), index.storage) if t.flag(0.7) else None
        t.call("ech_gf2_echelon_batched", t.address(batch), rank.p, pivots.p if pivots else None, t.address(options))
        t.same("words outside the matrices", array.a & ~mask, words & ~mask)
    for i, e in enumerate(expected):
        t.equal(f"rank[{i}]", int(rank.a[i]), e.rank)
        if call == "echelon":
            t.same(f"matrix {i}", unpack(array.a[i * step:i * step + rows * stride].reshape(rows, stride), cols),
                   e.result)
            if pivots:
                t.same(f"pivots[{i}]", pivots.a[i, :e.rank], np.array(e.pivots, index.storage))
