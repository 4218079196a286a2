"""python_cases.py - the operations that python_libraries.py measures: their data, sizes, and calls of each library.

A call receives the module of a library and the arrays. CALLS of the name "NumPy" define the result; the other results
are compared with it after `canonical` has been applied: argsorts without a unique result, for example, are compared by
the keys in their order.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import typing

import numpy as np

SIZES = (100, 10**4, 10**6)
LARGE = (10**7,)
ALL = SIZES + LARGE + (10**8,)
TYPES = ("float32", "float64", "int32", "int64")
BINS = 1000
NINE = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


@dataclasses.dataclass
class Operation:
    """An operation: data(generator, dtype, n) returns the arrays, and the description of the shape."""

    name: str
    data: typing.Callable
    calls: dict
    dtypes: tuple = ("float32",)
    sizes: tuple = ALL
    dist: str = "random"
    exact: bool = True
    canonical: typing.Callable = None  # (result, arrays) -> arrays of NumPy
    tolerance: float = 1e-4
    cpu_limit: int = 10**7  # larger sizes are measured only on a GPU
    frame: bool = False  # polars and pandas receive a table of all arrays


def numbers(rng, dtype, n):
    """Normal floats, or integers of the full range."""
    if dtype.startswith("float"):
        return rng.standard_normal(n, dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype)


def one(rng, dtype, n):
    return (numbers(rng, dtype, n),), ""


def uniform(rng, dtype, n):
    """Floats from 0 to 1, or integers from 0 to 999, whose sums do not cancel."""
    x = rng.random(n, dtype) if dtype.startswith("float") else rng.integers(0, 1000, n, dtype)
    return (x,), ""


def bins(rng, dtype, n):
    return (rng.integers(0, BINS, n, dtype),), f"{BINS} bins"


def square(rng, dtype, n):
    """A matrix of about n elements; n = 10^7 has rows of 1,000."""
    cols = min(1000, round(n**0.5))
    return (numbers(rng, dtype, n // cols * cols).reshape(-1, cols),), f"{n // cols} x {cols}"


def logits(rng, dtype, n):
    return (rng.standard_normal((n // 128_000, 128_000), dtype),), f"{n // 128_000} x 128000 k=50"


def tenths(rng, dtype, n):
    """About n / 10 distinct values."""
    return (rng.integers(0, max(10, n // 10), n).astype(dtype),), ""


def needles(rng, dtype, n):
    return (np.sort(numbers(rng, dtype, n)), numbers(rng, dtype, n)), ""


def positions(rng, dtype, n):
    return (numbers(rng, dtype, n), rng.integers(0, n, n, "int64")), ""


def members(rng, dtype, n):
    return (rng.integers(0, 10 * n, n, dtype), rng.integers(0, 10 * n, max(1, n // 10), dtype)), "n / 10 values"


def columns(rng, dtype, n):
    return (rng.integers(0, 1000, n, "int32"), rng.integers(0, 100, n).astype("float32"),
            rng.integers(0, 2**40, n, "int64")), "3 columns"


def system(rng, dtype, n):
    side = round(n**0.5)
    a = rng.standard_normal((side, side)) + side**0.5 * np.eye(side)
    return (a.astype(dtype), rng.standard_normal(side).astype(dtype)), f"{side} x {side}"


def factors(rng, dtype, n):
    side = round(n**0.5)
    return tuple(rng.standard_normal((side, side), "float32").astype(dtype) for _ in range(2)), f"{side} x {side}"


def edges(x):
    """The parameters of histogram: bins from -4 to 4, which contain nearly all normal numbers."""
    return {"bins": 100, "range": (-4.0, 4.0)}


def chained(stable):
    """The argsort by columns of a library that sorts by one: sorts by the last column first."""
    def argsort(module, *keys):
        order = stable(module, keys[-1])
        for key in keys[-2::-1]:
            order = order[stable(module, key[order])]
        return order
    return argsort


def pandas_columns(pandas, frame):
    return frame.sort_values(list(frame.columns), kind="stable").index


def polars_columns(polars, frame):
    return frame.select(polars.arg_sort_by(frame.columns, maintain_order=True)).to_series()


def by_position(result, arrays):
    """The elements at the positions that an argsort returns."""
    x, places = arrays[0], np.asarray(result)
    return np.take_along_axis(x, places, -1)


def two(result, arrays):
    """Values and counts, by value: some libraries do not sort them."""
    values, counts = (np.asarray(part) for part in result)
    order = np.argsort(values, kind="stable")
    return values[order], counts[order]


def kth(result, arrays):
    """The element at the middle, if it partitions the others."""
    x = np.asarray(result)
    middle = x.size // 2
    assert (x[:middle] <= x[middle]).all() and (x[middle:] >= x[middle]).all()
    return x[middle]


def numpy_top(np, x, k):
    """The k largest elements of each row in order, with their positions."""
    places = np.argpartition(x, x.shape[-1] - k, axis=-1)[..., x.shape[-1] - k:]
    values = np.take_along_axis(x, places, -1)
    order = np.argsort(-values, axis=-1)
    return np.take_along_axis(values, order, -1), np.take_along_axis(places, order, -1)


def jax_top(jnp, x, k):
    import jax
    return jax.lax.top_k(x, k)


def first(result, arrays):
    return np.asarray(result[0])


def polars_unique(polars, x):
    table = x.value_counts()
    return table.to_series(0), table.to_series(1)


def pandas_unique(pandas, x):
    table = x.value_counts(sort=False)
    return table.index, table


NUMBERS = [
    Operation("sort", one, {
        "echelon": lambda e, x: e.sort(x), "NumPy": lambda np, x: np.sort(x),
        "torch": lambda torch, x: torch.sort(x).values, "CuPy": lambda cp, x: cp.sort(x),
        "JAX": lambda jnp, x: jnp.sort(x), "polars": lambda polars, x: x.sort()}, TYPES),
    Operation("argsort", one, {
        "echelon": lambda e, x: e.argsort(x), "NumPy": lambda np, x: np.argsort(x),
        "torch": lambda torch, x: torch.argsort(x), "CuPy": lambda cp, x: cp.argsort(x),
        "JAX": lambda jnp, x: jnp.argsort(x), "polars": lambda polars, x: x.arg_sort()},
        ("float32", "int64"), canonical=by_position),
    Operation("sort axis 0", square, {
        "echelon": lambda e, x: e.sort(x, axis=0), "NumPy": lambda np, x: np.sort(x, axis=0),
        "torch": lambda torch, x: torch.sort(x, dim=0).values, "CuPy": lambda cp, x: cp.sort(x, axis=0),
        "JAX": lambda jnp, x: jnp.sort(x, axis=0)}, ("float32",), (10**4, 10**6, 10**7)),
    Operation("sort rows", square, {
        "echelon": lambda e, x: e.sort(x), "NumPy": lambda np, x: np.sort(x),
        "torch": lambda torch, x: torch.sort(x).values, "CuPy": lambda cp, x: cp.sort(x),
        "JAX": lambda jnp, x: jnp.sort(x)}, ("float32",), (10**4, 10**6, 10**7)),
    Operation("top_k k=20", one, {
        "echelon": lambda e, x: e.top_k(x, 20), "NumPy": lambda np, x: numpy_top(np, x, 20),
        "torch": lambda torch, x: torch.topk(x, 20), "CuPy": lambda cp, x: numpy_top(cp, x, 20),
        "JAX": lambda jnp, x: jax_top(jnp, x, 20)}, ("float32", "int64"), canonical=first),
    Operation("top_k logits", logits, {
        "echelon": lambda e, x: e.top_k(x, 50), "NumPy": lambda np, x: numpy_top(np, x, 50),
        "torch": lambda torch, x: torch.topk(x, 50), "CuPy": lambda cp, x: numpy_top(cp, x, 50),
        "JAX": lambda jnp, x: jax_top(jnp, x, 50)}, ("float32",), (8_192_000,), canonical=first),
    Operation("unique with counts", tenths, {
        "echelon": lambda e, x: e.unique_counts(x), "NumPy": lambda np, x: np.unique(x, return_counts=True),
        "torch": lambda torch, x: torch.unique(x, return_counts=True),
        "CuPy": lambda cp, x: cp.unique(x, return_counts=True), "polars": polars_unique, "pandas": pandas_unique},
        ("int32", "float64"), dist="n / 10 values", canonical=two),
    Operation("searchsorted", needles, {
        "echelon": lambda e, x, v: e.searchsorted(x, v), "NumPy": lambda np, x, v: np.searchsorted(x, v),
        "torch": lambda torch, x, v: torch.searchsorted(x, v), "CuPy": lambda cp, x, v: cp.searchsorted(x, v),
        "JAX": lambda jnp, x, v: jnp.searchsorted(x, v)}, ("float32", "int64"), SIZES + LARGE, cpu_limit=10**6),
    Operation("partition", one, {
        "echelon": lambda e, x: e.partition(x, x.shape[0] // 2),
        "NumPy": lambda np, x: np.partition(x, x.shape[0] // 2),
        "CuPy": lambda cp, x: cp.partition(x, x.shape[0] // 2)}, ("float32", "int64"), SIZES + LARGE, canonical=kth),
    Operation("median", one, {
        "echelon": lambda e, x: e.median(x), "NumPy": lambda np, x: np.median(x),
        "torch": lambda torch, x: torch.quantile(x, 0.5), "CuPy": lambda cp, x: cp.median(x),
        "JAX": lambda jnp, x: jnp.median(x), "polars": lambda polars, x: x.median()},
        ("float32", "float64"), SIZES + LARGE, exact=False),
    Operation("quantile of 9", one, {
        "echelon": lambda e, x: e.quantile(x, NINE), "NumPy": lambda np, x: np.quantile(x, NINE),
        "torch": lambda torch, x: torch.quantile(x, torch.tensor(NINE, dtype=x.dtype, device=x.device)),
        "CuPy": lambda cp, x: cp.quantile(x, cp.asarray(NINE)),
        "JAX": lambda jnp, x: jnp.quantile(x, jnp.asarray(NINE))}, ("float64",), SIZES + LARGE, exact=False),
    Operation("take", positions, {
        "echelon": lambda e, x, i: e.take(x, i), "NumPy": lambda np, x, i: np.take(x, i),
        "torch": lambda torch, x, i: torch.take(x, i), "CuPy": lambda cp, x, i: cp.take(x, i),
        "JAX": lambda jnp, x, i: jnp.take(x, i)}, ("float32",)),
    Operation("isin", members, {
        "echelon": lambda e, x, v: e.isin(x, v), "NumPy": lambda np, x, v: np.isin(x, v),
        "torch": lambda torch, x, v: torch.isin(x, v), "CuPy": lambda cp, x, v: cp.isin(x, v),
        "JAX": lambda jnp, x, v: jnp.isin(x, v), "polars": lambda polars, x, v: x.is_in(v.implode()),
        "pandas": lambda pandas, x, v: x.isin(v)},
        ("int64",), SIZES + LARGE, cpu_limit=10**6),
    Operation("argsort_columns", columns, {
        "echelon": lambda e, *x: e.argsort_columns(x), "NumPy": lambda np, *x: np.lexsort(x[::-1]),
        "torch": chained(lambda torch, x: torch.argsort(x, stable=True)),
        "CuPy": chained(lambda cp, x: cp.argsort(x, kind="stable")),
        "JAX": lambda jnp, *x: jnp.lexsort(x[::-1]), "polars": polars_columns, "pandas": pandas_columns},
        ("i32+f32+i64",), SIZES + LARGE, cpu_limit=10**6, frame=True),
]
SUMS = [
    Operation("cumulative_sum", uniform, {
        "echelon": lambda e, x: e.cumulative_sum(x), "NumPy": lambda np, x: np.cumsum(x),
        "torch": lambda torch, x: torch.cumsum(x, 0), "CuPy": lambda cp, x: cp.cumsum(x),
        "JAX": lambda jnp, x: jnp.cumsum(x)}, ("float64", "int64"), exact=False),
    Operation("sum", uniform, {
        "echelon": lambda e, x: e.sum(x), "NumPy": lambda np, x: np.sum(x),
        "torch": lambda torch, x: torch.sum(x), "CuPy": lambda cp, x: cp.sum(x), "JAX": lambda jnp, x: jnp.sum(x),
        "polars": lambda polars, x: x.sum()}, TYPES, exact=False),
    Operation("mean", uniform, {
        "echelon": lambda e, x: e.mean(x), "NumPy": lambda np, x: np.mean(x),
        "torch": lambda torch, x: torch.mean(x), "CuPy": lambda cp, x: cp.mean(x), "JAX": lambda jnp, x: jnp.mean(x),
        "polars": lambda polars, x: x.mean()}, ("float32",), exact=False),
    Operation("var", uniform, {
        "echelon": lambda e, x: e.var(x), "NumPy": lambda np, x: np.var(x),
        "torch": lambda torch, x: torch.var(x, correction=0), "CuPy": lambda cp, x: cp.var(x),
        "JAX": lambda jnp, x: jnp.var(x), "polars": lambda polars, x: x.var(ddof=0)},
        ("float32", "float64"), exact=False),
    Operation("histogram 100 bins", one, {
        "echelon": lambda e, x: e.histogram(x, **edges(x)), "NumPy": lambda np, x: np.histogram(x, **edges(x)),
        "torch": lambda torch, x: (torch.histc(x, 100, -4.0, 4.0),), "CuPy": lambda cp, x: cp.histogram(x, **edges(x)),
        "JAX": lambda jnp, x: jnp.histogram(x, **edges(x))}, ("float32",), dist="normal", canonical=first,
        exact=False, tolerance=1e-3),
    Operation("bincount", bins, {
        "echelon": lambda e, x: e.bincount(x, bins=BINS), "NumPy": lambda np, x: np.bincount(x, minlength=BINS),
        "torch": lambda torch, x: torch.bincount(x, minlength=BINS),
        "CuPy": lambda cp, x: cp.bincount(x, minlength=BINS), "JAX": lambda jnp, x: jnp.bincount(x, length=BINS)},
        ("int64",)),
    Operation("linalg.solve", system, {
        "echelon": lambda e, a, b: e.linalg.solve(a, b), "NumPy": lambda np, a, b: np.linalg.solve(a, b),
        "SciPy": lambda scipy, a, b: scipy.linalg.solve(a, b), "torch": lambda torch, a, b: torch.linalg.solve(a, b),
        "CuPy": lambda cp, a, b: cp.linalg.solve(a, b), "JAX": lambda jnp, a, b: jnp.linalg.solve(a, b)},
        ("float32", "float64"), (100, 10**4, 10**6, 16 * 10**6), exact=False, tolerance=1e-2, cpu_limit=10**6),
    Operation("linalg.matmul", factors, {
        "echelon": lambda e, a, b: e.linalg.matmul(a, b), "NumPy": lambda np, a, b: np.matmul(a, b),
        "torch": lambda torch, a, b: torch.matmul(a, b), "CuPy": lambda cp, a, b: cp.matmul(a, b),
        "JAX": lambda jnp, a, b: jnp.matmul(a, b, precision="highest")},
        ("float32", "float64"), (100, 10**4, 10**6, 16 * 10**6), exact=False, cpu_limit=10**6),
]
OPERATIONS = NUMBERS + SUMS
