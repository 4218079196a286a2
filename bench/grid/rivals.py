"""rivals.py - the competitors of the benchmark grid in Python: NumPy, SciPy, polars, PyTorch and CuPy.

call(library, module, a) returns a function without parameters whose result is an array, or a tuple of arrays in the
order of the results in echelon.c, or None if the library has no such operation. `a` has the arrays of the row as arrays
of the library: x (the inputs), and others that depend on the operation (Module.views in arrays.py).

SPDX-License-Identifier: Apache-2.0
"""
import itertools

NINE = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def cycle(function, inputs):
    """Calls of the function with the inputs in turn, from the first."""
    if len(inputs) == 1:
        only = inputs[0]
        return lambda: function(only)
    following = itertools.cycle(inputs).__next__
    return lambda: function(following())


def of_arrays(np, a):
    """Calls that NumPy and CuPy have in common."""
    def distinct_runs(x):
        first = np.empty(x.shape, bool)
        first[:1] = True
        np.not_equal(x[1:], x[:-1], out=first[1:])
        return first

    def largest(x):
        return np.sort(np.partition(x, x.size - a.param)[x.size - a.param:])[::-1].copy()

    def moved(x):
        order = np.argsort(x)
        return x[order], a.payload[order]

    def runs(x):
        first = np.flatnonzero(distinct_runs(x))
        return x[first], np.diff(np.append(first, x.size))

    half = {"dtype": "float32"} if a.dtype == "f16" else {}
    return {
        "sort": np.sort, "pairs": moved, "argsort": np.argsort, "topk": largest,
        "distinct": np.unique,
        "median": lambda x: np.partition(x, x.size // 2)[x.size // 2:x.size // 2 + 1],
        "quantile": lambda x: np.quantile(x, a.probabilities),
        "sum": lambda x: np.sum(x, **half), "min": np.min, "variance": lambda x: np.var(x, **half),
        "scan": lambda x: np.cumsum(x, dtype=x.dtype),
        "bincount": lambda x: np.bincount(x, minlength=a.param),
        "histogram": lambda x: np.histogram(x, a.param, a.range)[0],
        "select": lambda x: x[x < a.value], "compact": lambda x: x[a.flags],
        "partition": lambda x: np.concatenate((x[a.flags], x[~a.flags])),
        "unique": lambda x: x[distinct_runs(x)], "rle_encode": runs,
        "search": lambda x: np.searchsorted(x, a.needles),
        "sort_rows": lambda x: np.sort(x.reshape(-1, a.cols)),
        "reduce_rows": lambda x: np.sum(x.reshape(-1, a.cols), axis=1),
        "gather": lambda x: np.take(x, a.places),
        "transpose": lambda x: np.ascontiguousarray(x.reshape(-1, a.cols).T),
        "matvec": lambda x: x.reshape(-1, a.cols) @ a.vector,
    }


def numpy(np, a):
    calls = of_arrays(np, a)
    wide = {"i": "int64", "u": "uint64", "f": None}[a.dtype[0]] or {"f32": "float32"}.get(a.dtype, "float64")
    calls["rle_decode"] = lambda x: np.repeat(a.values, a.lengths)
    calls["merge"] = lambda x: np.sort(x, kind="stable")  # merges runs
    calls["reduce_segments"] = lambda x: np.add.reduceat(x, a.offsets[:-1], dtype=wide)
    if a.dtype == "u64":
        del calls["bincount"]  # not supported
    return calls.get(a.op)


def cupy(cp, a):
    calls = of_arrays(cp, a)
    if a.op == "spmv":
        import cupyx.scipy.sparse
        matrix = cupyx.scipy.sparse.csr_matrix((a.x[0], a.columns, a.row_offsets), shape=(a.rows, a.cols))
        # Otherwise the first product adds entries of the same row and column, and later ones read a smaller matrix.
        matrix.has_canonical_format = True
        return lambda x: matrix @ a.vector
    return calls.get(a.op)


def scipy(module, a):
    if a.op != "spmv":
        return None
    import scipy.sparse
    matrix = scipy.sparse.csr_matrix((a.x[0], a.columns, a.row_offsets), shape=(a.rows, a.cols))
    return lambda x: matrix @ a.vector


def polars(pl, a):
    """Series share the memory of NumPy's arrays."""
    flags = pl.Series(a.flags) if a.flags is not None else None
    needles = pl.Series(a.needles) if a.needles is not None else None
    places = pl.Series(a.places) if a.places is not None else None
    if a.op == "scan" and a.dtype[1:] not in ("32", "64") or a.op == "sum" and a.dtype in ("i32", "u32"):
        return None  # its result has another type
    return {
        "sort": lambda x: x.sort(), "argsort": lambda x: x.arg_sort(),
        "topk": lambda x: x.top_k(a.param).sort(descending=True),
        "sum": lambda x: x.sum(), "min": lambda x: x.min(), "variance": lambda x: x.var(ddof=0),
        "scan": lambda x: x.cum_sum(), "select": lambda x: x.filter(x < a.value), "compact": lambda x: x.filter(flags),
        "distinct": lambda x: x.unique().sort(), "search": lambda x: x.search_sorted(needles),
        "gather": lambda x: x.gather(places),
    }.get(a.op)


def torch(torch, a):
    half = {"dtype": torch.float32} if a.dtype in ("f16", "bf16") else {}

    def moved(x):
        keys, order = torch.sort(x)
        return keys, a.payload[order]

    def spmv():
        matrix = torch.sparse_csr_tensor(a.row_offsets, a.columns, a.x[0], size=(a.rows, a.cols))
        return lambda x: matrix @ a.vector

    if a.op == "spmv":
        return spmv()
    if a.op == "histogram" and a.n > 1 << 24:
        return None  # counts are f32
    return {
        "sort": lambda x: torch.sort(x).values, "pairs": moved, "argsort": torch.argsort,
        "topk": lambda x: torch.topk(x, a.param).values, "distinct": torch.unique,
        "median": lambda x: torch.kthvalue(x, x.numel() // 2 + 1).values,
        "quantile": lambda x: torch.quantile(x, a.probabilities),
        "sum": lambda x: torch.sum(x, **half), "min": torch.min,
        "variance": lambda x: torch.var(x.float() if half else x, correction=0),
        "scan": lambda x: torch.cumsum(x, 0, dtype=x.dtype),
        "bincount": lambda x: torch.bincount(x, minlength=a.param),
        "histogram": lambda x: torch.histc(x, a.param, *a.range),
        "select": lambda x: x[x < a.value], "compact": lambda x: x[a.flags],
        "partition": lambda x: torch.cat((x[a.flags], x[~a.flags])),
        "unique": torch.unique_consecutive,
        "rle_encode": lambda x: torch.unique_consecutive(x, return_counts=True),
        "rle_decode": lambda x: torch.repeat_interleave(a.values, a.lengths),
        "search": lambda x: torch.searchsorted(x, a.needles),
        "sort_rows": lambda x: torch.sort(x.view(-1, a.cols)).values,
        "reduce_rows": lambda x: torch.sum(x.view(-1, a.cols), 1),
        "gather": lambda x: torch.index_select(x, 0, a.places),
        "transpose": lambda x: x.view(-1, a.cols).t().contiguous(),
        "matvec": lambda x: torch.mv(x.view(-1, a.cols), a.vector),
    }.get(a.op)


CALLS = {"NumPy": numpy, "SciPy": scipy, "polars": polars, "torch": torch, "CuPy": cupy}


def call(library, module, a):
    function = CALLS[library](module, a)
    return None if function is None else cycle(function, a.x)
