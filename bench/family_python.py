#!/usr/bin/env python3
"""family_python.py - the sort family on the CPU, compared with NumPy, pandas, polars, pyarrow and the C++ library.

    bench/family_python.py [--threads N] [--std LIBRARY] [--only PATTERN] [--sizes N ...] LIBECHELON >family.csv

LIBRARY is build/bench/libfamily_std.so.  --only selects rows whose "op,dtype,n,dist" matches a regular expression.  N threads
are those of Echelon, polars and pyarrow; NumPy, pandas and the C++ library use one thread.

The contenders:
    merge       numpy.sort(kind="stable") of concatenate(), DataFrame.merge_sorted() of polars, std::merge
    merge_many  numpy.sort(), also with kind="stable"
    sort_rows   numpy.sort(axis=1)
    unique      numpy.unique(), unique() and value_counts() of pandas, polars and pyarrow, which return any order;
                by appearance: pandas.factorize(), dictionary_encode() of pyarrow
    search      numpy.searchsorted(), search_sorted() of polars and pyarrow, std::lower_bound in a loop
    set         union1d() etc. of NumPy, with assume_unique if possible; methods of pandas.Index; std::set_union etc.
    quantile    quantile() of the four libraries
    partition   numpy.partition(), std::nth_element of a copy
    strings     numpy.argsort(kind="stable") of fixed width, arg_sort() of polars, array_sort_indices() of pyarrow

Contenders of a row get the same arrays in memory and run alternately; ms is the minimum of the times per call.  Calls
of less than 50 us are repeated, so their data and their code are in caches.  Each call allocates its outputs.
Conversions of inputs are not measured.  A result that differs from the one of Echelon is "wrong".  Elements in any
order are sorted before they are compared.  Quantiles are compared in f32.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import datetime
import os
import re
import sys

SIZES = [10**3, 10**5, 10**7]
INPUTS = [("u32", "random"), ("u32", "sorted"), ("u32", "few"), ("u32", "zipf"), ("u64", "random"), ("f32", "random"),
          ("f64", "random")]
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--std")
    parser.add_argument("--only", default="")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    return parser.parse_args()


if __name__ == "__main__":
    ARGS = arguments()
    os.environ["POLARS_MAX_THREADS"] = str(ARGS.threads)  # polars reads it when it is imported

import numpy as np  # noqa: E402

from contest import Echelon, alternate, module, summary  # noqa: E402
from family_data import STRINGS, distinct, numbers_of, strings_of  # noqa: E402

pandas, polars, pyarrow = module("pandas"), module("polars"), module("pyarrow")
if pyarrow:
    import pyarrow.compute


def at(array):
    """The address of an array that is not read-only."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array))


def listed(result):
    """A result as a tuple of NumPy arrays."""
    return tuple(np.asarray(part) for part in (result if isinstance(result, tuple) else (result,)))


def by_value(result):
    """The same, in ascending order of the first array."""
    parts = listed(result)
    order = np.argsort(parts[0], kind="stable")
    return tuple(part[order] for part in parts)


class Family:
    """The operations.  Each method yields (shape, dist, n, {contender: (call, function that lists its result)})."""

    def __init__(self, args):
        self.echelon = Echelon(args.library, "cpu", args.threads)
        self.lib, self.std = self.echelon.lib, None
        if args.std:
            self.std = ctypes.CDLL(args.std).family_std
            self.std.restype = ctypes.c_size_t
            self.std.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                                 ctypes.c_size_t, ctypes.c_void_p]
        if pyarrow:
            pyarrow.set_cpu_count(args.threads)

    def code(self, dtype):
        return self.lib.constants["ECH_" + dtype.upper()]

    def options(self, name, **fields):
        """The address of a struct, which lives as long as this object."""
        self.kept = self.lib.struct(name, **fields)
        return ctypes.addressof(self.kept)

    def std_call(self, op, dtype, a, b, n_out, kind=None, n_b=None):
        """A call of the C++ library, whose output has n_out elements, of the type of a if kind is None."""
        words, pointers, std = (op.encode(), dtype.encode()), (at(a), at(b)), self.std
        n_a, n_b, kind = len(a), len(b) if n_b is None else n_b, kind or a.dtype

        def call():
            out = np.empty(n_out, kind)
            return out[:std(*words, pointers[0], n_a, pointers[1], n_b, at(out))]

        return call

    # ---- Merges ----

    def merge(self, dtype, dist, n):
        a, b = (np.sort(numbers_of(dtype, dist, n // 2, seed)) for seed in (1, 2))
        call, code = self.echelon.function("ech_merge"), self.code(dtype)

        p_a, p_b = at(a), at(b)

        def echelon():
            out = np.empty(n, a.dtype)
            call(p_a, p_b, at(out), n // 2, n // 2, code, None)
            return out

        found = {"echelon": echelon, "NumPy": lambda: np.sort(np.concatenate((a, b)), kind="stable")}
        if self.std:
            found["libstdc++"] = self.std_call("merge", dtype, a, b, n)
        if polars:
            frames = [polars.DataFrame({"k": x}) for x in (a, b)]
            found["polars"] = lambda: frames[0].merge_sorted(frames[1], "k")["k"]
        yield "2 arrays", found

    def merge_many(self, dtype, dist, n):
        call, code = self.echelon.function("ech_merge_many"), self.code(dtype)
        for runs in (16, 1000):
            if runs * 10 > n:
                continue
            keys = numbers_of(dtype, dist, n)
            offsets = np.linspace(0, n, runs + 1).astype(np.int64)
            for begin, end in zip(offsets, offsets[1:]):
                keys[begin:end].sort()

            def echelon(keys=keys, runs=runs, p_keys=at(keys), p_offsets=at(offsets)):
                out = np.empty(n, keys.dtype)
                call(p_keys, p_offsets, at(out), n, runs, code, self.lib.I64, None)
                return out

            yield f"{runs} runs", {"echelon": echelon, "NumPy stable": lambda keys=keys: np.sort(keys, kind="stable"),
                                   "NumPy": lambda keys=keys: np.sort(keys)}

    def sort_rows(self, dtype, dist, n):
        call, code = self.echelon.function("ech_sort_rows"), self.code(dtype)
        for cols in (10, 100, 1000):
            if cols * 10 > n:
                continue
            keys = numbers_of(dtype, dist, n).reshape(-1, cols)

            def echelon(keys=keys, cols=cols, p_keys=at(keys)):
                out = np.empty_like(keys)
                call(p_keys, at(out), n // cols, cols, code, None)
                return out

            yield f"rows of {cols}", {"echelon": echelon, "NumPy": lambda keys=keys: np.sort(keys, axis=1)}

    # ---- Distinct elements ----

    def unique(self, dtype, dist, n):
        keys, code, i64 = numbers_of(dtype, dist, n), self.code(dtype), self.lib.I64
        call, p_keys = self.echelon.function("ech_unique_all"), at(keys)
        appearance = self.options("ech_unique_options", appearance=1)

        def echelon(counts, inverse, options=None):
            def work():
                values, count = np.empty(n, keys.dtype), np.empty(1, np.uint64)
                c = np.empty(n, np.uint64) if counts else None
                i = np.empty(n, np.int64) if inverse else None
                call(p_keys, at(values), None, at(i) if inverse else None, at(c) if counts else None, at(count), n,
                     code, i64, options)
                m = int(count[0])
                return (values[:m],) + ((c[:m],) if counts else ()) + ((i,) if inverse else ())
            return work

        def structs(result):
            return by_value((result.field(0).to_numpy(), result.field(1).to_numpy()))

        def dictionary(result):
            return result.dictionary.to_numpy(), result.indices.to_numpy()

        works = [{"echelon": echelon(0, 0), "NumPy": lambda: np.unique(keys)},
                 {"echelon": echelon(1, 0), "NumPy": lambda: np.unique(keys, return_counts=True)},
                 {"echelon": echelon(1, 1), "NumPy": lambda: tuple(np.unique(keys, return_inverse=True, return_counts=True)[i] for i in (0, 2, 1))},
                 {"echelon": echelon(0, 1, appearance)}]
        if pandas:
            series = pandas.Series(keys)
            works[0]["pandas"] = (lambda: pandas.unique(keys), by_value)
            works[1]["pandas"] = (
                lambda: series.value_counts(sort=False), lambda r: by_value((r.index.to_numpy(), r.to_numpy())))
            works[3]["pandas"] = lambda: pandas.factorize(keys)[::-1]
        if polars:
            column = polars.Series("k", keys)
            works[0]["polars"] = (column.unique, by_value)
            works[1]["polars"] = (
                column.value_counts, lambda r: by_value((r["k"].to_numpy(), r["count"].to_numpy())))
        if pyarrow:
            array = pyarrow.array(keys)
            works[0]["pyarrow"] = (array.unique, by_value)
            works[1]["pyarrow"] = (array.value_counts, structs)
            works[3]["pyarrow"] = (array.dictionary_encode, dictionary)
        names = "values", "values + counts", "values + counts + inverse", "values + inverse by appearance"
        yield from zip(names, works)

    # ---- Searches ----

    def search(self, dtype, dist, n):
        call, code, i64 = self.echelon.function("ech_lower_bound"), self.code(dtype), self.lib.I64
        keys = np.sort(numbers_of(dtype, "random" if dist == "sorted" else dist, n))
        hint = self.options("ech_search_options", needles_sorted=1) if dist == "sorted" else None
        column = polars.Series(keys) if polars else None
        array = pyarrow.array(keys) if pyarrow and hasattr(pyarrow.compute, "search_sorted") else None
        for m in dict.fromkeys((1000, n)):
            needles = numbers_of(dtype, dist, m, 2)

            def echelon(m=m, p_keys=at(keys), p_needles=at(needles)):
                out = np.empty(m, np.int64)
                call(p_keys, p_needles, at(out), n, m, code, i64, hint)
                return out

            found = {"echelon": echelon, "NumPy": lambda needles=needles: np.searchsorted(keys, needles)}
            if self.std:
                found["libstdc++"] = self.std_call("search", dtype, keys, needles, m, np.int64)
            if polars:
                wanted = polars.Series(needles)
                found["polars"] = lambda wanted=wanted: column.search_sorted(wanted, "left")
            if array is not None:
                values = pyarrow.array(needles)
                found["pyarrow"] = lambda values=values: pyarrow.compute.search_sorted(array, values)
            yield f"{m} needles", found

    # ---- Set operations ----

    def set(self, dtype, dist, n):
        """Arrays without repetitions, so that the semantics of NumPy and pandas are those of Echelon; for "few" with
        repetitions, and the C++ library only."""
        call, code = self.echelon.function("ech_set_operation"), self.code(dtype)
        pairs = [("half common", distinct(dtype, n // 2, 1), distinct(dtype, n // 2, 2))]
        if dist == "few":
            pairs = [("repetitions", *(np.sort(numbers_of(dtype, dist, n // 2, seed)) for seed in (1, 2)))]
        elif dist != "random":
            return
        elif dtype == "u32":
            pairs.append(("1000 : 1", pairs[0][1], distinct(dtype, n // 2, 3)[::1000].copy()))
        for shape, a, b in pairs:
            for number, name in enumerate(("union", "intersection", "difference", "symmetric")):
                def echelon(a=a, b=b, number=number, p_a=at(a), p_b=at(b)):
                    size = (len(a) + len(b), min(len(a), len(b)), len(a), len(a) + len(b))[number]
                    out, count = np.empty(size, a.dtype), np.empty(1, np.uint64)
                    call(p_a, p_b, at(out), at(count), len(a), len(b), number, code, None)
                    return out[:int(count[0])]

                found = {"echelon": echelon}
                if self.std:
                    found["libstdc++"] = self.std_call(name, dtype, a, b, n)
                if shape != "repetitions":
                    found.update(self.set_of_python(name, a, b))
                yield f"{name}: {shape}", found

    @staticmethod
    def set_of_python(name, a, b):
        how = {"union": lambda: np.union1d(a, b), "intersection": lambda: np.intersect1d(a, b, assume_unique=True),
               "difference": lambda: np.setdiff1d(a, b, assume_unique=True),
               "symmetric": lambda: np.setxor1d(a, b, assume_unique=True)}
        found = {"NumPy": how[name]}
        if pandas:
            left, right = pandas.Index(a), pandas.Index(b)
            method = getattr(left, "symmetric_difference" if name == "symmetric" else name)
            found["pandas"] = lambda: method(right)
        return found

    # ---- Elements of ranks ----

    def quantile(self, dtype, dist, n):
        keys, code = numbers_of(dtype, dist, n), self.code(dtype)
        call = self.echelon.function("ech_quantiles")

        def same(result):  # libraries round differently
            return (np.asarray(result, np.float64).astype(np.float32),)

        for qs in ([0.5], QUANTILES):
            array = np.array(qs)

            def echelon(array=array, p_keys=at(keys), p_array=at(array)):
                out = np.empty(len(array))
                call(p_keys, at(out), p_array, n, len(array), code, self.lib.QUANTILE_LINEAR, None)
                return out

            found = {"echelon": (echelon, same), "NumPy": (lambda array=array: np.quantile(keys, array), same)}
            if pandas:
                series = pandas.Series(keys)
                found["pandas"] = (lambda qs=qs: series.quantile(qs), same)
            if polars and len(qs) == 1:
                column = polars.Series(keys)
                found["polars"] = (lambda: [column.quantile(0.5, "linear")], same)
            if pyarrow:
                values = pyarrow.array(keys)
                found["pyarrow"] = (lambda qs=qs: pyarrow.compute.quantile(values, qs), same)
            yield "median" if len(qs) == 1 else f"{len(qs)} quantiles", found

    def partition(self, dtype, dist, n):
        keys, code = numbers_of(dtype, dist, n), self.code(dtype)
        call, nth, k = self.echelon.function("ech_partition_at"), self.echelon.function("ech_nth_element"), n // 2
        ranks = np.array([k], np.uint64)
        p_keys, p_ranks = at(keys), at(ranks)

        def element():
            out = np.empty(1, keys.dtype)
            nth(p_keys, at(out), None, n, k, code, self.lib.I64, None)
            return out

        def echelon():
            out = np.empty(n, keys.dtype)
            call(p_keys, at(out), None, n, p_ranks, 1, code, self.lib.I64, None)
            return out

        def halves(result):
            out = np.asarray(result)
            return np.sort(out[:k]), out[k:k + 1], np.sort(out[k:])

        works = {"echelon": echelon, "NumPy": lambda: np.partition(keys, k)}
        if self.std:
            works["libstdc++"] = self.std_call("partition", dtype, keys, keys, n, n_b=k)
        yield "nth element", {name: element if name == "echelon" else (work, lambda r: (r[k:k + 1],))
                              for name, work in works.items()}
        yield "partition", {name: (work, halves) for name, work in works.items()}

    # ---- Strings ----

    def strings(self, dtype, dist, n):
        strings, offsets, data = strings_of(dist, n)
        call, total = self.echelon.function("ech_argsort_strings"), len(data)
        data = data.copy()  # np.frombuffer() returns a read-only array
        p_offsets, p_data = at(offsets), at(data)

        def echelon():
            out = np.empty(n, np.uint32)
            call(p_offsets, p_data, at(out), n, total, self.lib.I64, self.lib.U32, None)
            return out

        def sorted_strings(result):
            return (fixed[np.asarray(result)],)

        fixed = np.array(strings, "S")
        found = {"echelon": (echelon, sorted_strings),
                 "NumPy": (lambda: np.argsort(fixed, kind="stable"), sorted_strings)}
        if pyarrow:
            buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
            array = pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), n, buffers)
            found["pyarrow"] = (lambda: pyarrow.compute.array_sort_indices(array), sorted_strings)
        if pyarrow and polars:
            column = polars.from_arrow(pyarrow.LargeStringArray.from_buffers(n, *buffers[1:]))
            found["polars"] = (column.arg_sort, sorted_strings)
        yield "argsort", found


def measure(case, threads, contenders):
    calls, views = {}, {}
    for name, work in contenders.items():
        calls[name], views[name] = work if isinstance(work, tuple) else (work, listed)
    expected = views["echelon"](calls["echelon"]())
    results = {}
    for name, call in calls.items():
        found = views[name](call())
        equal = len(found) == len(expected) and all(np.array_equal(x, y) for x, y in zip(found, expected))
        results[name] = "equal" if equal else "wrong"
        del found
    del expected
    for name, times in alternate(calls).items():
        least, median = summary(times)
        print(f'{",".join(case)},{threads},{name},{least:.6f},{median:.6f},{len(times)},{results[name]}', flush=True)


def header(args, echelon):
    versions = [f"{m.__name__} {m.__version__}" for m in (np, pandas, polars, pyarrow) if m]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    print(f"# {datetime.date.today()}; family_python.py; Echelon {echelon.version}, {', '.join(versions)}, libstdc++")
    print(f"# machine: {model}, {os.cpu_count()} cores, virtual machine with occasional other load; contenders alternate; ms "
          "is the minimum of the repetitions")
    print("# threads are those of Echelon, polars and pyarrow; other libraries use one thread; each call allocates its outputs")
    print("op,dtype,n,shape,dist,threads,contender,ms,ms_median,repetitions,result")


def main(args):
    family = Family(args)
    header(args, family.echelon)
    cases = [(name, dtype, dist, n)
             for name in ("merge", "merge_many", "sort_rows", "unique", "search", "set", "quantile", "partition")
             for dtype, dist in INPUTS for n in args.sizes]
    cases += [("strings", "bytes", make.__name__, min(n, 10**6)) for make in STRINGS for n in args.sizes]
    for name, dtype, dist, n in cases:
        if not re.search(args.only, f"{name},{dtype},{n},{dist}"):
            continue
        for shape, contenders in getattr(family, name)(dtype, dist, n):
            words = [name, dtype, str(n), shape, dist]
            measure(words, args.threads, contenders)
    return 0


if __name__ == "__main__":
    sys.exit(main(ARGS))
