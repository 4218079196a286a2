#!/usr/bin/env python3
"""sort_frame.py [ROWS [THREADS]] - sorts a table of orders by three columns with Echelon, pandas and polars.

Every library returns the positions of the rows in the order, then the whole table in the order. The results must be
equal. polars and Echelon use THREADS threads (default: all processors that the process may use); pandas uses one.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
import time

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
THREADS = int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0))
os.environ["POLARS_MAX_THREADS"] = str(THREADS)  # before polars is imported

import echelon  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow  # noqa: E402, F401  polars.from_pandas() needs it

SORTS = [["region", "day", "amount"], ["customer", "day", "amount"], ["region", "product", "quantity"],
         ["token", "day", "amount"], ["day"], ["product"], ["token"]]


def orders(rows):
    """A table with integers, floats, times, strings with many repetitions, and strings without repetitions."""
    rng = np.random.default_rng(1)
    products = np.array([f"product {i:03d}" for i in range(200)])
    customers = np.array([f"customer {i:06d}" for i in range(max(rows // 20, 1))])
    return pd.DataFrame({
        "region": rng.integers(0, 50, rows, dtype=np.int32), "quantity": rng.integers(1, 100, rows, dtype=np.int16),
        "amount": rng.gamma(2, 40, rows).round(2),
        "day": (19_000 + rng.integers(0, 1000, rows)).astype("M8[D]").astype("M8[s]"),
        "product": products[rng.integers(0, len(products), rows)],
        "customer": customers[rng.integers(0, len(customers), rows)],
        "token": [f"{number:016x}" for number in rng.integers(0, 2**63, rows)]})


def best(function, repetitions=3):
    """The result and the minimum time in milliseconds."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        result = function()
        times.append(1e3 * (time.perf_counter() - start))
    return result, min(times)


def measure(frame, table, by):
    """The times of the positions and of the sorted table, after a check that the results are equal."""
    order, a = best(lambda: echelon.argsort_columns(frame, by=by))
    _, b = best(lambda: echelon.argsort_columns(table, by=by))
    ours, c = best(lambda: frame.take(echelon.argsort_columns(frame, by=by)))
    others, d = best(lambda: table[echelon.argsort_columns(table, by=by)])
    theirs, e = best(lambda: frame.sort_values(by, kind="stable"))
    positions, f = best(lambda: table.select(pl.arg_sort_by(by, maintain_order=True)).to_series())
    _, g = best(lambda: table.select(pl.arg_sort_by(by)).to_series())
    sorted_table, h = best(lambda: table.sort(by, maintain_order=True))
    assert np.array_equal(order, positions.to_numpy()), f"the positions differ from those of polars: {by}"
    assert ours.equals(theirs), f"the table differs from that of pandas: {by}"
    assert others.equals(sorted_table), f"the table differs from that of polars: {by}"
    return a, b, f, g, c, e, d, h


def main():
    echelon.set_threads(THREADS)
    frame = orders(ROWS)
    table = pl.from_pandas(frame)
    print(f"{ROWS} rows, {THREADS} threads; Echelon {echelon.__version__}, pandas {pd.__version__}, polars "
          f"{pl.__version__}; minimum of 3, in milliseconds\n")
    print("                            |         positions of rows           |    pandas, table  |    polars, table")
    print("                            | Echelon on   polars  polars,        |                   |")
    print("columns                     | pandas polars stable  not stable    | Echelon   pandas  | Echelon   polars")
    for by in SORTS:
        a, b, f, g, c, e, d, h = measure(frame, table, by)
        print(f"{', '.join(by):27} | {a:6.0f} {b:6.0f} {f:6.0f}  {g:6.0f}        | {c:7.0f}  {e:7.0f}  | "
              f"{d:7.0f}  {h:7.0f}", flush=True)


if __name__ == "__main__":
    main()
