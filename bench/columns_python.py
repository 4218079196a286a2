"""columns_python.py - measures sorts by columns and sorts of records, compared with NumPy, pandas, polars and CuPy.

    bench/columns_python.py LIBRARY [--device cpu|cuda] [--threads N] >columns.csv

Prints CSV rows.  The competitors are numpy.lexsort(), DataFrame.sort_values(kind="stable") of pandas,
polars.arg_sort_by(maintain_order=True), cupy.lexsort(), and numpy.sort() of a structured array for records; those that
are not installed are skipped.  polars runs with as many threads as Echelon.  With --device cuda the competitor is CuPy, which takes only
columns of one type, and otherwise NumPy on the CPU.  The
table "randhie" is a data set of statsmodels with 20,190 rows, repeated 50 times, sorted by three columns: int32
descending, float64 and int8.  All results are compared with that of Echelon.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import datetime
import os
import sys

ARGS = argparse.ArgumentParser()
ARGS.add_argument("library")
ARGS.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
ARGS.add_argument("--threads", type=int, default=1)
ARGS = ARGS.parse_args()
os.environ["POLARS_MAX_THREADS"] = str(ARGS.threads)

import numpy as np  # noqa: E402

from contest import Echelon, alternate, module, summary  # noqa: E402

RNG = np.random.default_rng(22)
DTYPES = {"int8": "i8", "uint8": "u8", "int32": "i32", "uint32": "u32", "int64": "i64", "float32": "f32",
          "float64": "f64"}


def random_column(dtype, dist, n):
    if dist == "few":
        return RNG.integers(0, 100, n).astype(dtype)
    if dtype.startswith("float"):
        return RNG.standard_normal(n).astype(dtype)
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, n, dtype=dtype)


def randhie():
    """Three typed columns of the table, or None."""
    if not module("statsmodels"):
        return None
    from statsmodels.datasets import randhie as data
    table = data.load_pandas().data
    columns = [table["mdvis"].to_numpy("int32"), table["lncoins"].to_numpy("float64"),
               table["hlthp"].to_numpy("int8")]
    return [np.tile(column, 50) for column in columns]


class Columns:
    """A table, sorted by all columns, the first one descending."""

    def __init__(self, echelon, columns):
        self.echelon, self.columns, self.n = echelon, columns, len(columns[0])

    def ours(self):
        lib = self.echelon.lib
        device = module("cupy") if ARGS.device == "cuda" else np
        data = [device.asarray(column) for column in self.columns]
        out = device.empty(self.n, "uint32")
        address = (lambda a: a.data.ptr) if ARGS.device == "cuda" else (lambda a: a.ctypes.data)
        structs = [lib.struct("ech_sort_column", data=address(column), descending=int(i == 0),
                              dtype=getattr(lib, DTYPES[str(column.dtype)].upper()))
                   for i, column in enumerate(data)]
        table = (type(structs[0]) * len(structs))(*structs)
        sort = self.echelon.function("ech_argsort_columns")
        sync = self.echelon.function("ech_sync")

        def work():
            sort(ctypes.addressof(table), address(out), self.n, len(data), lib.U32, None)
            if ARGS.device == "cuda":
                sync()
            return out

        self.kept = data, structs, table
        return work

    def works(self):
        works = {"echelon": self.ours()}
        keys = [-self.columns[0].astype("float64") if self.columns[0].dtype.kind == "f" else ~self.columns[0]]
        keys = (keys + self.columns[1:])[::-1]
        if ARGS.device == "cuda":
            cupy = module("cupy")
            if len({column.dtype for column in self.columns}) == 1:
                stacked = cupy.asarray(np.stack(keys))

                def lexsort():
                    result = cupy.lexsort(stacked)
                    cupy.cuda.get_current_stream().synchronize()
                    return result

                works[f"CuPy-{cupy.__version__}"] = lexsort
            else:
                works[f"NumPy-{np.__version__}"] = lambda: np.lexsort(keys)
            return works
        works[f"NumPy-{np.__version__}"] = lambda: np.lexsort(keys)
        pandas, polars = module("pandas"), module("polars")
        names = [f"c{i}" for i in range(len(self.columns))]
        ascending = [i > 0 for i in range(len(names))]
        if pandas:
            frame = pandas.DataFrame(dict(zip(names, self.columns)))
            works[f"pandas-{pandas.__version__}"] = lambda: frame.sort_values(
                names, ascending=ascending, kind="stable").index.to_numpy()
        if polars:
            table = polars.DataFrame(dict(zip(names, self.columns)))
            works[f"polars-{polars.__version__}"] = lambda: table.select(polars.arg_sort_by(
                names, descending=[not up for up in ascending], maintain_order=True)).to_series().to_numpy()
        return works


class Records:
    """Records of 24 bytes: an integer of 64 bits, a float, a string of 8 bytes; sorted by the string and the float."""

    def __init__(self, echelon, n):
        self.echelon, self.n = echelon, n
        self.records = np.zeros(n, [("id", "u8"), ("price", "f8"), ("symbol", "S8")])
        self.records["id"] = np.arange(n)
        self.records["price"] = RNG.integers(0, 10000, n) / 100
        symbols = np.array([bytes(RNG.integers(65, 91, 4, dtype=np.uint8)) for _ in range(1000)])
        self.records["symbol"] = symbols[RNG.integers(0, 1000, n)]

    def works(self):
        lib, out = self.echelon.lib, np.empty_like(self.records)
        structs = [lib.struct("ech_record_key", offset_bytes=16, kind=lib.KEY_BYTES, width_bytes=8),
                   lib.struct("ech_record_key", offset_bytes=8, dtype=lib.F64)]
        keys = (type(structs[0]) * 2)(*structs)
        sort = self.echelon.function("ech_sort_records")

        def work():
            sort(self.records.ctypes.data, out.ctypes.data, self.n, 24, ctypes.addressof(keys), 2, None)
            return out

        self.kept = keys, out
        return {"echelon": work,
                f"NumPy-{np.__version__}": lambda: np.sort(self.records, order=("symbol", "price"), kind="stable")}


def to_host(result):
    return result.get() if hasattr(result, "get") else np.asarray(result)


def measure(op, dtype, n, shape, dist, works):
    wanted = None
    for name, work in works.items():
        result = to_host(work())
        if wanted is not None and not np.array_equal(result, wanted):
            sys.exit(f"{op} {dtype} {n} {dist}: {name} has another result")
        wanted = result.copy() if wanted is None else wanted
    for name, times in alternate(works, seconds=1.0).items():
        least, median = summary(times)
        print(f"{op},{dtype},{n},{shape},{dist},{ARGS.threads},{name},{least:.6f},{median:.6f},{len(times)},equal",
              flush=True)


def main():
    echelon = Echelon(ARGS.library, ARGS.device, ARGS.threads if ARGS.device == "cpu" else 0)
    print(f"# {datetime.date.today()}; columns_python.py; device: {ARGS.device}; echelon {echelon.version}; contenders "
          "alternate; ms is the minimum of the repetitions; rows of CuPy and of Echelon compared with it end with a "
          "synchronisation of the GPU")
    print("op,dtype,n,shape,dist,threads,contender,ms,ms_median,repetitions,result")
    sizes = (1000, 10**5, 10**6) if ARGS.device == "cpu" else (10**5, 10**7)
    tables = (("int32", "float32"), ("int64", "int64"), ("uint8", "float64", "int32"), ("float64",) * 4)
    for n in sizes:
        for dtypes in tables:
            for dist in ("random", "few"):
                columns = [random_column(dtype, dist, n) for dtype in dtypes]
                measure("argsort-columns", "+".join(DTYPES[dtype] for dtype in dtypes), n, f"{len(dtypes)} columns",
                        dist, Columns(echelon, columns).works())
        if ARGS.device == "cpu":
            measure("sort-records", "string8+f64", n, "24 bytes", "1000 symbols", Records(echelon, n).works())
    columns = randhie()
    if columns:
        measure("argsort-columns", "i32+f64+i8", len(columns[0]), "3 columns", "randhie",
                Columns(echelon, columns).works())


if __name__ == "__main__":
    main()
