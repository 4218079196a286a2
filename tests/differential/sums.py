"""sums.py - reductions, scans and histograms.

Results are bit-identical to the orders of operations of docs/reduce.md and docs/scan.md, which are written here with
operations of NumPy on many rows at once.

SPDX-License-Identifier: Apache-2.0
"""

from fractions import Fraction

import numpy as np

from . import values
from .case import operation
from .ordering import passes, random_test, run_data, run_starts
from .values import DTYPES, F32, F64, I64, INDICES, INTEGERS, U8, U64

OPS = "SUM PRODUCT MIN MAX AND OR XOR ARGMIN ARGMAX MINMAX ANY ALL COUNT MEAN VARIANCE NORM STDDEV".split()
FLOAT_OPS = ("SUM", "PRODUCT", "MEAN", "VARIANCE", "NORM", "STDDEV")


def op_names(dtype, names=OPS):
    return [op for op in names if dtype.kind != "f" or op not in ("AND", "OR", "XOR")]


def canonical(dtype, x):
    """Numbers as elements of a float dtype, each NaN the canonical one."""
    return dtype.store(x)


# ---- The tree of docs/reduce.md, of each row of an array ----

def adjacent(x, op, axis):
    """Combines adjacent pairs until one is left; an element without a partner is carried."""
    x = np.moveaxis(x, axis, -1)
    while x.shape[-1] > 1:
        paired = op(x[..., 0:x.shape[-1] // 2 * 2:2], x[..., 1::2])
        x = np.concatenate([paired, x[..., -1:]], axis=-1) if x.shape[-1] % 2 else paired
    return x[..., 0]


def chunks_of(x, identity, bytes_):
    """[rows][chunks][8][lanes], padded with the identity element."""
    lanes = 512 // bytes_
    rows, n = x.shape
    chunks = max(1, -(-n // (8 * lanes)))
    lines = 8
    if n <= lanes:  # lanes and lines without elements change nothing
        lines, lanes = 1, 1 << max(n - 1, 0).bit_length()
    padded = np.full((rows, chunks * lines * lanes), identity, x.dtype)
    padded[:, :n] = x
    return padded.reshape(rows, chunks, lines, lanes)


def lane_sums(x, op):
    total = x[:, :, 0]
    for line in range(1, x.shape[2]):
        total = op(total, x[:, :, line])
    return adjacent(total, op, -1)


def tree(x, op, identity, bytes_):
    return adjacent(lane_sums(chunks_of(x, identity, bytes_), op), op, -1)


SCALES = (0, -600, 600)  # exponents of the factors of distances


def chunk_moments(dtype, a, used, exponent):
    """n, offset, m2 and center of each chunk; the distances are multiplied by 2**exponent."""
    whole = dtype in (I64, U64)
    mask = chunks_of(used.astype(np.float64), 0.0, dtype.bytes) > 0
    if whole:
        x = chunks_of(a.view(np.uint64) ^ np.uint64(1 << 63 if dtype is I64 else 0), np.uint64(0), dtype.bytes)
    else:
        x = chunks_of(dtype.value(a).astype(np.float64), 0.0, dtype.bytes)
    rows, chunks = x.shape[:2]
    first = mask.reshape(rows, chunks, -1).argmax(axis=-1)
    center = np.take_along_axis(x.reshape(rows, chunks, -1), first[..., None], -1)[..., 0]
    d = distances(x, center[:, :, None, None], exponent)
    n = mask.reshape(rows, chunks, -1).sum(axis=-1).astype(np.float64)
    s1 = lane_sums(np.where(mask, d, -0.0), np.add)
    s2 = lane_sums(np.where(mask, d * d, -0.0), np.add)
    m2 = s2 - s1 * s1 / n
    offset = s1 / n
    if dtype.bytes < 8:
        center, offset = np.zeros_like(center), center + offset
    return n, np.where(n > 0, offset, 0.0), np.where((m2 < 0) | (n == 0), 0.0, m2), center, s2


def distances(x, center, exponent):
    if x.dtype == np.uint64:
        return np.where(x < center, -(center - x).astype(np.float64), (x - center).astype(np.float64))
    if exponent < 0:
        return np.ldexp(x, exponent) - np.ldexp(center, exponent)
    return np.ldexp(x - center, exponent)


def select(conditions, cases):
    """For each place the parts of the first case whose condition holds; the last case has none."""
    return tuple(np.select(conditions, parts[:-1], parts[-1]) for parts in zip(*cases))


def out_of_range(values):
    return [~(values <= np.finfo(np.float64).max), values < 2.0 ** -900]


def add_moments(a, b, exponent):
    n, offset, m2, center, scale = a
    b_n, b_offset, b_m2, b_center, b_scale = b
    offset, b_offset = np.ldexp(offset, exponent - scale), np.ldexp(b_offset, exponent - b_scale)
    m2, b_m2 = np.ldexp(m2, 2 * (exponent - scale)), np.ldexp(b_m2, 2 * (exponent - b_scale))
    both = n + b_n
    delta = distances(b_center, center, exponent) + (b_offset - offset)
    return (both, offset + delta * (b_n / both), (m2 + b_m2) + delta * delta * (n * b_n / both), center,
            np.full(n.shape, exponent))


def moments(dtype, a, used):
    """The sum of squared deviations of each row, the exponent of its factor, and the number of elements."""
    cases = []
    for exponent in SCALES if dtype is F64 else (0,):
        parts = chunk_moments(dtype, a, used, exponent)
        cases.append(parts[:4] + (np.full(parts[0].shape, exponent),))
        if not exponent:
            squares = parts[4]
    if len(cases) > 1:
        high, low = np.isposinf(squares), squares < 2.0 ** -900
        cases = [select([high, low], [cases[1], cases[2], cases[0]])]
    values = cases[0]
    while values[0].shape[1] > 1:
        pairs = values[0].shape[1] // 2 * 2
        left, right = (tuple(part[:, side:pairs:2] for part in values) for side in (0, 1))
        merged = add_moments(left, right, 0)
        if dtype is F64:
            others = [add_moments(left, right, exponent) for exponent in SCALES[1:]]
            merged = select(out_of_range(merged[2]), others + [merged])
        merged = select([right[0] == 0, left[0] == 0], [left, right, merged])
        if values[0].shape[1] % 2:
            merged = tuple(np.concatenate([part, old[:, -1:]], axis=1) for part, old in zip(merged, values))
        values = merged
    return values[2][:, 0], values[4][:, 0], values[0][:, 0]


def of_moments(op, dtype, a, used, ddof):
    m2, exponent, n = moments(dtype, a, used)
    x = np.where(n > ddof, m2 / (n - ddof), np.nan)
    return np.ldexp(x, -2 * exponent) if op == "VARIANCE" else np.ldexp(np.sqrt(x), -exponent)


def float_reduction(op, dtype, a, wide, ignore, ddof, other=None):
    """Sums, products, means, variances and norms of rows, as floats; other: the second operand of a dot product."""
    nan = dtype.is_nan(a)
    if other is not None:
        nan = nan | dtype.is_nan(other)
    used = ~nan if ignore else np.ones(a.shape, bool)
    narrow = dtype.kind == "f" and dtype is not F64 and not wide
    kind = np.float32 if narrow and op in ("SUM", "PRODUCT") else np.float64
    x = dtype.value(a).astype(kind)
    if other is not None:
        x = x * dtype.value(other).astype(kind)
    if op == "NORM":
        x = x * x
    count = used.sum(axis=1).astype(np.float64)
    if op in ("VARIANCE", "STDDEV"):
        result = of_moments(op, dtype, a, used, ddof)
    elif op == "PRODUCT":
        result = tree(np.where(used, x, kind(1)), np.multiply, kind(1), dtype.bytes)
    else:
        result = tree(np.where(used, x, kind(-0.0)), np.add, kind(-0.0), dtype.bytes)
        result = np.where(result == 0, kind(0), result)
        if op == "MEAN":
            result = np.where(count > 0, result / count, np.nan)
        elif op == "NORM":
            result = np.sqrt(result)
    return canonical(F32 if narrow else F64, result)


def extreme(dtype, a, ignore, largest, equal_zeros=False):
    """Minima or maxima of rows, and their positions; empty: the identity element and the maximum of u64."""
    rows = a.shape[0]
    key = dtype.extreme_key(a, largest)
    if equal_zeros and dtype.kind == "f":
        key = np.where(dtype.value(a) == 0, dtype.bits.type(1 << (dtype.width - 1)), key)
    used = ~dtype.is_nan(a) if ignore else np.ones(a.shape, bool)
    if dtype.kind == "f":
        identity = dtype.store(np.array([-np.inf if largest else np.inf], np.float64))[0]
    else:
        identity = dtype.storage.type(dtype.limits()[0 if largest else 1])
    if a.shape[1] == 0:
        return np.full(rows, identity, dtype.storage), np.full(rows, 2**64 - 1, np.uint64)
    worst = dtype.bits.type(0 if largest else (1 << dtype.width) - 1)
    key = np.where(used, key, worst)
    best = key.max(axis=1) if largest else key.min(axis=1)
    at = ((key == best[:, None]) & used).argmax(axis=1)
    found = a[np.arange(rows), at]
    found = np.where(dtype.is_nan(found), dtype.bits.type(dtype.nan if dtype.kind == "f" else 0),
                     found.view(dtype.bits)).astype(dtype.bits).view(dtype.storage)
    empty = ~used.any(axis=1)
    return (np.where(empty, dtype.bits.type(identity.view(dtype.bits)), found.view(dtype.bits)).astype(
        dtype.bits).view(dtype.storage), np.where(empty, np.uint64(2**64 - 1), at.astype(np.uint64)))


def reduction(op, dtype, a, wide=False, ignore=False, ddof=0, test=None, other=None):
    """Reduces the rows of a."""
    rows = a.shape[0]
    if op in ("MEAN", "VARIANCE", "NORM", "STDDEV") or (dtype.kind == "f" and op in ("SUM", "PRODUCT")):
        return float_reduction(op, dtype, a, wide, ignore, ddof, other)
    if op in ("SUM", "PRODUCT"):
        out = U64 if dtype.kind == "u" else I64
        x = a.astype(out.storage)
        if other is not None:
            x = x * other.astype(out.storage)
        return x.sum(axis=1, dtype=out.storage) if op == "SUM" else x.prod(axis=1, dtype=out.storage)
    if op in ("AND", "OR", "XOR"):
        ufunc = {"AND": np.bitwise_and, "OR": np.bitwise_or, "XOR": np.bitwise_xor}[op]
        return ufunc.reduce(a, axis=1, initial=dtype.storage.type(-1 if dtype.kind == "i" else dtype.limits()[1])
                            if op == "AND" else dtype.storage.type(0), dtype=dtype.storage)
    if op in ("MIN", "MAX"):
        return extreme(dtype, a, ignore, op == "MAX")[0]
    if op == "MINMAX":
        return np.stack([extreme(dtype, a, ignore, False)[0], extreme(dtype, a, ignore, True)[0]], axis=1)
    if op in ("ARGMIN", "ARGMAX"):
        return extreme(dtype, a, ignore, op == "ARGMAX", equal_zeros=True)[1]
    passed = passes(dtype, test[0], a.reshape(-1), test[1]).reshape(a.shape)
    nan = dtype.is_nan(a) if ignore else np.zeros(a.shape, bool)
    if op != "ALL":
        passed = passed & ~nan
    if op == "COUNT":
        return passed.sum(axis=1).astype(np.uint64)
    if op == "ANY":
        return passed.any(axis=1).astype(np.uint8)
    return (passed | nan).all(axis=1).astype(np.uint8)


def out_dtype(t, op, dtype, wide):
    code = t.lib.raw("ech_reduce_dtype", t.lib.constants["ECH_OP_" + op], dtype.code, int(wide))
    if op in ("ARGMIN", "ARGMAX", "COUNT"):
        expected = U64
    elif op in ("ANY", "ALL"):
        expected = U8
    elif op in ("MEAN", "VARIANCE", "NORM", "STDDEV") or (op in ("SUM", "PRODUCT") and dtype.kind == "f"):
        expected = F32 if dtype.kind == "f" and dtype is not F64 and not wide else F64
    elif op in ("SUM", "PRODUCT"):
        expected = U64 if dtype.kind == "u" else I64
    else:
        expected = dtype
    t.equal("ech_reduce_dtype()", code, expected.code)
    return expected


def by_length(offsets, reduce_rows, out):
    """Applies reduce_rows(starts, length) to segments of equal length together."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    for length in np.unique(lengths):
        which = np.flatnonzero(lengths == length)
        step = max(1, 2_000_000 // (int(length) + 32))
        for begin in range(0, len(which), step):
            part = which[begin:begin + step]
            out[part] = reduce_rows(starts[part], int(length))


def rows_at(a, starts, length):
    return a[starts[:, None] + np.arange(length)]


def random_offsets(t, n, segments, whole=False):
    cuts = np.sort(t.rng.integers(0, n + 1, segments + 1))
    if segments and t.flag(0.2):
        cuts[t.between(0, segments):] = cuts[t.between(0, segments)]
        cuts = np.sort(cuts)
    if whole or t.flag():
        cuts[0], cuts[-1] = 0, n
    return cuts


def random_groups(t, n, most):
    """Runs of equal keys, or up to most segments: (n, offsets, dtype of the keys or offsets, keys or None)."""
    if t.flag():
        dtype = t.pick(DTYPES)
        keys = run_data(t, dtype, n)
        t.note(key=dtype)
        return len(keys), np.append(np.flatnonzero(run_starts(dtype, keys)), len(keys)), dtype, keys
    dtype = t.pick(INDICES)
    offsets = random_offsets(t, n, t.size(most))
    t.note(offsets=dtype)
    return n, offsets, dtype, None


def call_options(t, family, call, op, n, groups, dtype, fields):
    """The options of a reduction or a scan, with the workspace of the query; also checks its explanation."""
    options = t.struct("ech_%s_options" % family, **fields)
    plain = (t.lib.constants["ECH_%s_CALL_%s" % (family.upper(), call)], t.lib.constants["ECH_OP_" + op], n, groups,
             dtype.code, t.address(options))
    t.lib.explain("ech_%s_explain" % family, t.device.encode(), *plain)
    for name, bytes_ in t.work("ech_%s_workspace" % family, *plain).items():
        setattr(options, name, bytes_)
    t.threads()
    return t.address(options)


def reduce_options(t, call, op, n, groups, dtype, **fields):
    return call_options(t, "reduce", call, op, n, groups, dtype, fields)


def reduce_case(t, a, dtype):
    """A random operator with its options: (op, fields of the options, arguments of the oracle)."""
    op = t.pick(op_names(dtype))
    wide, ignore, ddof = t.flag(0.3), t.flag(0.3), t.between(0, 1) if op in ("VARIANCE", "STDDEV") else 0
    test = random_test(t, dtype, a) if op in ("ANY", "ALL", "COUNT") else None
    t.note(op=op, wide=wide, ignore=ignore, ddof=ddof)
    fields = {"nan": int(ignore), "accumulate_wide": int(wide), "ddof": ddof}
    if test:
        fields["compare"] = t.lib.constants["ECH_COMPARE_" + test[0]]
        fields["value"] = None if test[1] is None else t.put(test[1]).p
    return op, fields, {"wide": wide, "ignore": ignore, "ddof": ddof, "test": test}


SUM_DATA = ("moderate", "moderate", "mixed", "uniform", "special", "few", "equal", "zeros", "extremes", "low", "sorted")
COMMON = ("ech_reduce_dtype", "ech_reduce_workspace", "ech_reduce_explain")


@operation("reduce", "ech_reduce", *COMMON)
def reduce(t):
    dtype, n = t.dtype(), t.size(huge=3_000_000)
    a = t.data(dtype, n, SUM_DATA)
    op, fields, oracle = reduce_case(t, a, dtype)
    out_type = out_dtype(t, op, dtype, oracle["wide"])
    options = reduce_options(t, "ROWS", op, n, t.between(0, 1), dtype, **fields)
    out = t.out(2 if op == "MINMAX" else 1, out_type.storage)
    t.call("ech_reduce", t.lib.constants["ECH_OP_" + op], t.put(a).p, out.p, n, dtype.code, options)
    t.same("result", out.a, reduction(op, dtype, a.reshape(1, -1), **oracle).reshape(-1))


@operation("reduce_rows", "ech_reduce_rows", *COMMON)
def reduce_rows(t):
    dtype, n = t.dtype(), t.size()
    cols = t.pick([0, 1, 2, 3, 5, 16, 31, 33, 100, 127, t.between(1, 600), max(1, n)])
    rows = min(n // max(cols, 1), 50_000)
    n = rows * cols
    a = t.data(dtype, n, SUM_DATA)
    op, fields, oracle = reduce_case(t, a, dtype)
    t.note(rows=rows, cols=cols)
    out_type = out_dtype(t, op, dtype, oracle["wide"])
    options = reduce_options(t, "ROWS", op, n, rows, dtype, **fields)
    shape = (rows, 2) if op == "MINMAX" else rows
    out, expected = t.out(shape, out_type.storage), np.empty(shape, out_type.storage)
    t.call("ech_reduce_rows", t.lib.constants["ECH_OP_" + op], t.put(a).p, out.p, rows, cols, dtype.code, options)
    by_length(np.arange(rows + 1) * cols,
              lambda starts, length: reduction(op, dtype, rows_at(a, starts, length), **oracle), expected)
    t.same("results", out.a, expected)


@operation("reduce_segments", "ech_reduce_segments", "ech_reduce_by_key", *COMMON)
def reduce_segments(t):
    dtype, n = t.dtype(), t.size(100_000)
    n, offsets, group_dtype, keys = random_groups(t, n, 5000)
    by_key = keys is not None
    segments = len(offsets) - 1
    a = t.data(dtype, n, SUM_DATA)
    op, fields, oracle = reduce_case(t, a, dtype)
    t.note(n=n, segments=segments)
    out_type = out_dtype(t, op, dtype, oracle["wide"])
    options = reduce_options(t, "BY_KEY" if by_key else "SEGMENTS", op, n, segments, dtype, **fields)
    expected = np.empty((segments, 2) if op == "MINMAX" else segments, out_type.storage)
    by_length(offsets, lambda starts, length: reduction(op, dtype, rows_at(a, starts, length), **oracle), expected)
    code, in_ = t.lib.constants["ECH_OP_" + op], t.put(a)
    if by_key:
        out = t.out((n, 2) if op == "MINMAX" else n, out_type.storage)
        keys_out, count = t.out(n, group_dtype.storage), t.out(1, np.uint64)
        t.call("ech_reduce_by_key", code, t.put(keys).p, in_.p, keys_out.p, out.p, count.p, n, group_dtype.code,
               dtype.code, options)
        t.equal("count", int(count.a[0]), segments)
        t.same("keys", keys_out.a[:segments], keys[offsets[:-1]])
        t.same("results", out.a[:segments], expected)
        return
    out = t.out(expected.shape, out_type.storage)
    bad = segments and t.flag(0.05)
    if bad:
        offsets[t.between(1, segments)] = t.pick([n + 1, 2**31 - 1])
    arguments = (code, in_.p, t.put(offsets.astype(group_dtype.storage)).p, out.p, n, segments, dtype.code,
                 group_dtype.code, options)
    if bad:
        t.fails("ECH_ERR_ARG", "ech_reduce_segments", *arguments)
        return
    t.call("ech_reduce_segments", *arguments)
    t.same("results", out.a, expected)


@operation("dot", "ech_dot", *COMMON)
def dot(t):
    dtype, n = t.dtype(), t.size()
    a = t.data(dtype, n, SUM_DATA)
    b = a if t.flag(0.1) else t.data(dtype, n, SUM_DATA)
    wide, ignore = t.flag(0.3), t.flag(0.3)
    t.note(wide=wide, ignore=ignore)
    out_type = out_dtype(t, "SUM", dtype, wide)
    options = reduce_options(t, "DOT", "SUM", n, 0, dtype, nan=int(ignore), accumulate_wide=int(wide))
    out, first = t.out(1, out_type.storage), t.put(a)
    t.call("ech_dot", first.p, first.p if b is a else t.put(b).p, out.p, n, dtype.code, options)
    t.same("result", out.a, reduction("SUM", dtype, a.reshape(1, -1), wide, ignore, other=b.reshape(1, -1)))


# ---- Scan: docs/scan.md ----

def scan_network(op, x, first, heads, bytes_, exclusive, kind):
    """Sums or products of floats.  x: [rows][n] in forward order, NaN that are ignored are replaced."""
    f = np.add if op == "SUM" else np.multiply
    rows, n = x.shape
    v = 16 // bytes_
    lines = -(-n // (32 * v))
    padded = np.zeros((rows, lines * 32 * v), kind)
    padded[:, :n] = x
    head = np.zeros((rows, lines * 32 * v), bool)
    if heads is not None:
        head[:, :n] = heads
    padded, head = padded.reshape(rows, lines, 32, v), head.reshape(rows, lines, 32, v)
    u = np.empty_like(padded)
    for j in range(v):
        with_first = f(kind(first), padded[..., j])
        before = padded[..., j] if j == 0 else f(u[..., j - 1], padded[..., j])
        u[..., j] = np.where(head[..., j], with_first, before)
    lane_head = head.any(axis=-1)
    lanes = u[..., v - 1].copy()
    window = lane_head.copy()  # any head among the last s lanes
    s = 1
    while s < 32:
        combined = f(lanes[..., :-s], lanes[..., s:])
        lanes[..., s:] = np.where(window[..., s:], lanes[..., s:], combined)
        wider = window.copy()
        wider[..., s:] |= window[..., :-s]
        window = wider
        s *= 2
    line_cut = lane_head.any(axis=-1)
    before = np.empty((rows, lines), kind)
    groups = np.full(rows, first, kind)

    def after(base, fold):
        return base if fold is None else np.where(fold[1], fold[0], f(base, fold[0]))

    def add(fold, x, cut):
        if fold is None:
            return x, cut
        return np.where(cut, x, f(fold[0], x)), fold[1] | cut

    tile = group = None
    for line in range(lines):
        before[:, line] = after(after(groups, group), tile)
        tile = add(tile, lanes[:, line, 31], line_cut[:, line])
        if (line + 1) % 32 == 0:
            group, tile = add(group, *tile), None
        if (line + 1) % 1024 == 0:
            groups, group = after(groups, group), None
    base = np.empty((rows, lines, 32), kind)
    base[..., 0] = before
    below = np.logical_or.accumulate(lane_head, axis=-1)[..., :-1]
    base[..., 1:] = np.where(below, lanes[..., :-1], f(before[..., None], lanes[..., :-1]))
    cut = np.logical_or.accumulate(head, axis=-1)
    result = np.where(cut, u, f(base[..., None], u))
    if exclusive:
        shifted = np.concatenate([base[..., None], result[..., :-1]], axis=-1)
        result = np.where(head, kind(first), shifted)
    return result.reshape(rows, -1)[:, :n]


def scan_rows_of(op, dtype, a, out, exclusive, ignore, init, heads=None):
    """Scans the rows of a in forward order; heads: where a segment begins."""
    rows, n = a.shape
    if dtype.kind == "f" and op in ("SUM", "PRODUCT"):
        kind = np.float64 if out is F64 else np.float32
        neutral = kind(-0.0) if op == "SUM" else kind(1)
        x = dtype.value(a).astype(kind)
        if ignore:
            x = np.where(np.isnan(x), neutral, x)
        if init is not None and not (ignore and out.is_nan(init)[0]):
            first = out.value(init)[0]
        else:
            first = kind(0) if op == "SUM" and (exclusive or ignore) else neutral
        return canonical(out, scan_network(op, x, first, heads, dtype.bytes, exclusive, kind))
    if op in ("MIN", "MAX"):
        largest = op == "MAX"
        key = dtype.extreme_key(a, largest)
        if dtype.kind == "f":
            end = dtype.store(np.array([-np.inf if largest else np.inf], np.float64))
        else:
            end = np.array([dtype.limits()[0 if largest else 1]], dtype.storage)
        identity = dtype.rank(end, total=True)[0]
        if ignore:
            key = np.where(dtype.is_nan(a), identity, key)
        first = identity
        if init is not None and not (ignore and dtype.is_nan(init)[0]):
            first = dtype.extreme_key(init, largest)[0]
        f = np.maximum if largest else np.minimum
    else:
        key = a.astype(out.storage).view(out.bits)
        f = {"SUM": np.add, "PRODUCT": np.multiply, "AND": np.bitwise_and, "OR": np.bitwise_or,
             "XOR": np.bitwise_xor}[op]
        identity = out.bits.type({"PRODUCT": 1, "AND": (1 << out.width) - 1}.get(op, 0))
        first = identity if init is None else init.view(out.bits)[0]
    result = np.empty((rows, n), key.dtype)
    cuts = [0, n] if heads is None else sorted({0, n, *np.flatnonzero(heads[0])})
    for begin, end_ in zip(cuts[:-1], cuts[1:]):
        part = np.concatenate([np.full((rows, 1), first, key.dtype), key[:, begin:end_]], axis=1)
        part = f.accumulate(part, axis=1)
        result[:, begin:end_] = part[:, :-1] if exclusive else part[:, 1:]
    if op in ("MIN", "MAX"):
        return unrank(dtype, result)
    return result.view(out.storage)


def unrank(dtype, key):
    """The element with this key of Dtype.extreme_key()."""
    sign = dtype.bits.type(1 << (dtype.width - 1))
    if dtype.kind == "u":
        return key
    if dtype.kind == "i":
        return (key ^ sign).view(dtype.storage)
    u = np.where(key & sign, key ^ sign, ~key).astype(dtype.bits)
    return u.view(dtype.storage)


def same_scan(t, op, dtype, found, expected):
    """Bit-identical, except that minima and maxima may be any NaN."""
    if op in ("MIN", "MAX") and dtype.kind == "f":
        nan = dtype.bits.type(dtype.nan)
        found, expected = (np.where(dtype.is_nan(a), nan, a.view(dtype.bits)).astype(dtype.bits) for a in (
            found, expected))
    t.same("results", found, expected)


def scan_case(t, dtype):
    op = t.pick(op_names(dtype, OPS[:7]))
    exclusive, reverse, wide, ignore = t.flag(), t.flag(0.3), t.flag(0.3), t.flag(0.3)
    out = dtype
    if wide and op in ("SUM", "PRODUCT"):
        out = {"i": I64, "u": U64, "f": F64}[dtype.kind]
    init = t.data(out, 1, ("moderate", "uniform", "special")) if t.flag(0.4) else None
    t.note(op=op, exclusive=exclusive, reverse=reverse, wide=wide, ignore=ignore, init=init)
    fields = {"exclusive": int(exclusive), "reverse": int(reverse), "accumulate_wide": int(wide), "nan": int(ignore),
              "init": None if init is None else t.put(init).p}
    return op, out, fields, {"exclusive": exclusive, "ignore": ignore, "init": init}, reverse


def scan_options(t, call, op, n, groups, dtype, fields):
    return call_options(t, "scan", call, op, n, groups, dtype, fields)


@operation("scan", "ech_scan", "ech_scan_rows", "ech_scan_workspace", "ech_scan_explain", weight=1.5)
def scan(t):
    dtype, n = t.dtype(), t.size(huge=1_500_000)
    as_rows = t.flag(0.4)
    cols = n
    if as_rows:
        cols = t.pick([0, 1, 2, 3, 7, 32, 100, 127, t.between(1, 3000), max(1, n)])
    rows = min(n // max(cols, 1), 20_000) if as_rows else 1
    a = t.data(dtype, rows * cols, SUM_DATA)
    op, out, fields, oracle, reverse = scan_case(t, dtype)
    t.note(rows=rows, cols=cols)
    options = scan_options(t, "ROWS", op, rows * cols, rows if as_rows else 0, dtype, fields)
    place = out.bytes == dtype.bytes and t.flag(0.3)
    in_ = t.put(a, writable=place)
    result = in_ if place else t.out(rows * cols, out.storage)
    code = t.lib.constants["ECH_OP_" + op]
    if as_rows:
        t.call("ech_scan_rows", code, in_.p, result.p, rows, cols, dtype.code, options)
    else:
        t.call("ech_scan", code, in_.p, result.p, n, dtype.code, options)
    table = a.reshape(rows, cols)
    table = table[:, ::-1] if reverse else table
    expected = np.empty((rows, cols), out.storage)
    step = max(1, 2_000_000 // (cols + 512))
    for begin in range(0, rows if cols else 0, step):
        expected[begin:begin + step] = scan_rows_of(op, dtype, np.ascontiguousarray(table[begin:begin + step]), out,
                                                    **oracle)
    expected = expected[:, ::-1] if reverse else expected
    same_scan(t, op, out, result.a.view(out.storage), np.ascontiguousarray(expected).reshape(-1))


@operation("scan_segments", "ech_scan_segments", "ech_scan_by_key", "ech_scan_workspace", "ech_scan_explain",
           weight=1.5)
def scan_segments(t):
    dtype, n = t.dtype(), t.size(60_000)
    n, offsets, group_dtype, keys = random_groups(t, n, 3000)
    by_key = keys is not None
    segments = len(offsets) - 1
    a = t.data(dtype, n, SUM_DATA)
    op, out, fields, oracle, reverse = scan_case(t, dtype)
    t.note(n=n, segments=segments)
    options = scan_options(t, "BY_KEY" if by_key else "SEGMENTS", op, n, segments, dtype, fields)
    place = out.bytes == dtype.bytes and t.flag(0.3)
    in_ = t.put(a, writable=place)
    result = in_ if place else t.out(n, out.storage)
    before = result.a.view(out.storage).copy()
    code = t.lib.constants["ECH_OP_" + op]
    low, high = int(offsets[0]), int(offsets[-1])
    if by_key:
        t.call("ech_scan_by_key", code, t.put(keys).p, in_.p, result.p, n, group_dtype.code, dtype.code, options)
    else:
        t.call("ech_scan_segments", code, in_.p, t.put(offsets.astype(group_dtype.storage)).p, result.p, n, segments,
               dtype.code, group_dtype.code, options)
    heads = np.zeros((1, n + 1), bool)
    starts, ends = offsets[:-1], offsets[1:]
    starts, ends = starts[starts < ends], ends[starts < ends]
    heads[0, (n - ends) if reverse else starts] = True
    x = a[::-1] if reverse else a
    expected = np.empty((1, n), out.storage)
    if n:
        expected = scan_rows_of(op, dtype, np.ascontiguousarray(x).reshape(1, -1), out, heads=heads[:, :n], **oracle)
    expected = expected[0, ::-1] if reverse else expected[0]
    found = result.a.view(out.storage)
    same_scan(t, op, out, found[low:high], np.ascontiguousarray(expected[low:high]))
    t.same("elements in no segment", np.concatenate([found[:low], found[high:]]),
           np.concatenate([before[:low], before[high:]]))


# ---- Histogram ----

BELOW, ABOVE, NOWHERE = -1, -2, -3


def bins_of(t, dtype, a, bins, lower, upper, include_right):
    """The bin of each element, or BELOW, ABOVE, NOWHERE."""
    if dtype.kind == "f":
        kind = np.float64 if dtype is F64 else np.float32
        x = dtype.value(a).astype(kind)
        lo, hi = kind(lower), kind(upper)
        place = np.floor((x - lo) * (kind(bins) / (hi - lo)))
        bin_ = np.minimum(np.nan_to_num(place, nan=0, posinf=bins, neginf=0), bins - 1).astype(np.int64)
        below, above = x < lo, (x > hi) if include_right else (x >= hi)
        bin_ = np.where(below, BELOW, np.where(above, ABOVE, bin_))
        if include_right:
            bin_ = np.where(x == hi, bins - 1, bin_)
        return np.where(np.isnan(x), NOWHERE, bin_)
    lo, hi = int(lower), int(upper)
    unique, inverse = np.unique(a, return_inverse=True)
    found = np.empty(len(unique), np.int64)
    for i, x in enumerate(unique.tolist()):
        if x < lo:
            found[i] = BELOW
        elif x == hi and include_right:
            found[i] = bins - 1
        else:
            found[i] = ABOVE if x >= hi else (x - lo) * bins // (hi - lo)
    return found[inverse] if len(a) else np.zeros(0, np.int64)


def bins_by_edges(dtype, a, edges, include_right):
    key, cuts = dtype.equal_key(a), dtype.equal_key(edges)
    bins = len(edges) - 1
    bin_ = np.searchsorted(cuts, key, side="right").astype(np.int64) - 1
    bin_ = np.where(bin_ < 0, BELOW, np.where(bin_ >= bins, ABOVE, bin_))
    if include_right:
        bin_ = np.where(key == cuts[-1], bins - 1, bin_)
    return np.where(dtype.is_nan(a), NOWHERE, bin_)


def counters(bin_, bins, outside):
    """The counter of each bin; -1: not counted."""
    drop = np.int64(-1)
    if outside == "CLAMP":
        return np.where(bin_ == BELOW, 0, np.where(bin_ == ABOVE, bins - 1, np.where(bin_ == NOWHERE, drop, bin_)))
    if outside == "COUNT":
        return np.where(bin_ < 0, bins - 1 - bin_, bin_)
    return np.where(bin_ < 0, drop, bin_)


def weighted_counts(t, slots, size, weights, dtype, before):
    if dtype.kind != "f":
        out = U64 if dtype.kind == "u" else I64
        sums = np.zeros(size, out.storage)
        np.add.at(sums, slots[slots >= 0], weights[slots >= 0].astype(out.storage))
        return sums if before is None else sums + before.view(out.storage)
    x = weights.astype(np.float64)
    finite = x[np.isfinite(x)]
    top = float(np.abs(finite).max()) if len(finite) else 0.0
    result = np.zeros(size)
    if top:
        exponent = int(np.frexp(top)[1])  # top < 2^exponent
        shift = exponent - 147
    sums = {}
    special = {}
    for slot, w in zip(slots.tolist(), x.tolist()):
        if slot < 0:
            continue
        if not np.isfinite(w):
            special[slot] = special.get(slot, 0.0) + w
            continue
        numerator, denominator = abs(w).as_integer_ratio()
        scaled = (numerator << max(-shift, 0)) // (denominator << max(shift, 0)) if w else 0
        sums[slot] = sums.get(slot, 0) + (scaled if w >= 0 else -scaled)
    for slot, total in sums.items():
        try:
            result[slot] = float(Fraction(total) * Fraction(2) ** shift) if total else 0.0
        except OverflowError:
            result[slot] = np.inf if total > 0 else -np.inf
    for slot, w in special.items():
        result[slot] = w
    if before is not None:
        result = before.view(np.float64) + result
    return result


HISTOGRAM = ("ech_histogram_workspace", "ech_histogram_explain")


def histogram_options(t, dtype, n, total_bins, fields):
    options = t.struct("ech_histogram_options", **fields)
    plain = (n, dtype.code, total_bins, t.address(options))
    options.algorithm = t.algorithm("ech_histogram_explain", *plain)
    for name, value in t.work("ech_histogram_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    return t.address(options)


def histogram_fields(t, n, two=False):
    channels = 1 if two else t.pick([0, 1, 1, 1, 2, 3, 4])
    outside = t.pick(["DROP", "CLAMP"] if two else ["DROP", "CLAMP", "COUNT"])
    n -= n % max(channels, 1)
    weights_dtype = t.pick([None, None, *(values.BY_NAME[name] for name in ("i32", "u32", "i64", "u64", "f32", "f64"))])
    fields = {"channels": channels, "outside": t.lib.constants["ECH_OUTSIDE_" + outside],
              "include_right": int(t.flag()), "accumulate": int(t.flag(0.3))}
    weights = None
    if weights_dtype:
        if weights_dtype.kind == "f":
            n = min(n, 20_000)
            n -= n % max(channels, 1)
        weights = t.data(weights_dtype, n, ("moderate", "moderate", "uniform", "mixed", "few", "extremes"))
        if weights_dtype.kind == "f" and t.flag(0.7):
            weights = np.where(np.isfinite(weights), weights, weights_dtype.storage.type(1))
        fields.update(weights=t.put(weights).p, weights_dtype=weights_dtype.code)
    t.note(weights_type=weights_dtype, outside_name=outside, n=n, **fields)
    return n, fields, weights, weights_dtype, outside, max(channels, 1)


def check_counts(t, call, slots, size, fields, weights, weights_dtype):
    """Calls call(counts) and compares the counters."""
    floats = weights_dtype is not None and weights_dtype.kind == "f"
    if fields["accumulate"] and floats:
        initial = t.rng.standard_normal(size)
    else:
        initial = t.rng.integers(0, 1000, size).astype(np.uint64)
    counts = t.put(initial, writable=True)
    call(counts.p)
    before = initial if fields["accumulate"] else None
    if weights is None:
        expected = np.bincount(slots[slots >= 0], minlength=size).astype(np.uint64)
        expected = expected if before is None else expected + before
    else:
        expected = weighted_counts(t, slots, size, weights, weights_dtype, before)
    found = counts.a.view(expected.dtype)
    if floats:
        nan = np.isnan(found) & np.isnan(expected)
        zero = (found == 0) & (expected == 0)
        found = np.where(nan | zero, expected, found)
    t.same("counts", found, expected)


@operation("histogram", "ech_histogram", "ech_histogram_edges", "ech_bincount", *HISTOGRAM)
def histogram(t):
    call = t.pick(["even", "edges", "bincount"])
    dtype, n = t.dtype(INTEGERS if call == "bincount" else DTYPES), t.size(huge=1_500_000)
    n, fields, weights, weights_dtype, outside, channels = histogram_fields(t, n)
    bins = t.pick([1, 2, 10, 100, 255, 256, 257, t.between(1, 5000), t.between(1, 100_000)])
    t.note(call=call, bins=bins)
    a = t.data(dtype, n)
    if call == "bincount":
        if t.flag(0.7) and n:
            low = 0 if dtype.kind == "u" else -2
            a = t.rng.integers(low, min(bins + 3, dtype.limits()[1] + 1), n).astype(dtype.storage)
        bin_ = np.where(a < 0, BELOW, np.where(a.astype(np.float64) >= bins, ABOVE, a.astype(np.int64)))
    elif call == "edges":
        candidates = np.concatenate([t.data(dtype, bins + 1, ("uniform", "moderate")), a[:bins]])
        candidates = candidates[~dtype.is_nan(candidates)]
        _, first = np.unique(dtype.equal_key(candidates), return_index=True)
        edges = candidates[first]
        if len(edges) > bins + 1:
            edges = edges[np.sort(t.rng.permutation(len(edges))[:bins + 1])]
        if len(edges) < 2:
            edges = dtype.store(np.array([0, 1], np.float64))
        bins = len(edges) - 1
        t.note(bins=bins)
        bin_ = bins_by_edges(dtype, a, edges, fields["include_right"])
    else:
        if dtype.kind == "f":
            scale = t.pick([1.0, 3.0, 100.0])
            lower, upper = sorted(t.rng.standard_normal(2) * scale)
            if dtype is not F64:
                lower, upper = float(np.float32(lower)), float(np.float32(upper))
            if not lower < upper:
                upper = lower + 1
        else:
            low, high = dtype.limits()
            kind = t.between(0, 2)
            if kind == 0 or dtype.width == 64:
                lower = t.between(-200, 200)
                upper = lower + t.between(1, 1000)
            elif kind == 1:
                lower, upper = low, high + 1
            else:
                lower, upper = sorted((t.between(low, high), t.between(low, high)))
                upper += lower == upper
        t.note(lower=repr(lower), upper=repr(upper))
        bin_ = bins_of(t, dtype, a, bins, lower, upper, fields["include_right"])
    slots = counters(bin_, bins, outside)
    stride = bins + (3 if outside == "COUNT" else 0)
    slots = np.where(slots < 0, -1, slots + np.arange(n) % channels * stride)
    options = histogram_options(t, dtype, n, bins * channels, fields)
    in_ = t.put(a)

    def run(counts):
        if call == "bincount":
            t.call("ech_bincount", in_.p, counts, n, dtype.code, bins, options)
        elif call == "edges":
            t.call("ech_histogram_edges", in_.p, t.put(edges).p, counts, n, dtype.code, bins, options)
        else:
            t.call("ech_histogram", in_.p, counts, n, dtype.code, bins, float(lower), float(upper), options)

    check_counts(t, run, slots, stride * channels, fields, weights, weights_dtype)


@operation("histogram_2d", "ech_histogram_2d", *HISTOGRAM)
def histogram_2d(t):
    dtype, n = t.dtype(), t.size()
    n, fields, weights, weights_dtype, outside, _ = histogram_fields(t, n, two=True)
    ranges, arrays, bin_, sizes = [], [], [], []
    for _ in range(2):
        bins = t.pick([1, 2, 10, 100, t.between(1, 300)])
        a = t.data(dtype, n)
        lower = t.between(0 if dtype.kind == "u" else -60, 60)
        upper = lower + t.between(1, 60)
        ranges.append((bins, float(lower), float(upper)))
        arrays.append(a)
        sizes.append(bins)
        bin_.append(counters(bins_of(t, dtype, a, bins, lower, upper, fields["include_right"]), bins, outside))
    t.note(ranges=ranges)
    slots = np.where((bin_[0] < 0) | (bin_[1] < 0), -1, bin_[0] * sizes[1] + bin_[1])
    options = histogram_options(t, dtype, n, sizes[0] * sizes[1], {**fields, "dimensions": 2})
    x, y = t.put(arrays[0]), t.put(arrays[1])
    check_counts(t, lambda counts: t.call("ech_histogram_2d", x.p, y.p, counts, n, dtype.code, *ranges[0], *ranges[1],
                                          options), slots, sizes[0] * sizes[1], fields, weights, weights_dtype)
