"""python_calls.py - measures the time of one call of the Python package for small arrays.

    PYTHONPATH=build/python bench/python_calls.py [f32|f64] >calls.csv

Prints CSV rows: a function of the package, the same call of the library through ctypes (with a result that exists
already, and without checks of the arguments), and the function of NumPy. If the extension echelon_fast is used, there
are two rows of the package: echelon-fast with it, and echelon without it. Arrays are in host memory, on one thread;
f64 is the default. The results of the package and of NumPy are compared before they are measured.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import datetime
import platform
import sys
import types

import echelon
import numpy as np
from contest import alternate, summary
from echelon._ops import fast
from echelon._runtime import call as calls
from echelon._runtime import native
from echelon._runtime.native import declared as c

SIZES = [1, 10, 100, 1000, 10000]
DTYPES = {"f32": ("f4", c.ECH_F32), "f64": ("f8", c.ECH_F64)}
TOLERANCE = {"f32": 1e-4, "f64": 1e-12}
FIELDS = "op,dtype,n,shape,dist,threads,contender,ms,ms_median,repetitions,result"


def operations(n, dtype, code, package):
    """Rows of the name, the call of the package, the call of NumPy, and the function of the library with arguments.

    package: a namespace with the functions of the package.
    """
    rng = np.random.default_rng(24)
    x, y = rng.normal(size=n).astype(dtype), np.sort(rng.normal(size=n).astype(dtype))
    places = rng.integers(0, n, n)
    out, index, one = np.empty(n, dtype), np.empty(n, "i8"), np.empty(1, dtype)
    x_, y_, p_, out_, index_, one_ = (array.ctypes.data for array in (x, y, places, out, index, one))
    keep = (x, y, places, out, index, one)
    i64 = c.ECH_I64
    rows = [
        ("sort", lambda: package.sort(x), lambda: np.sort(x), ("ech_sort", x_, out_, n, code, None)),
        ("argsort", lambda: package.argsort(x), lambda: np.argsort(x, kind="stable"),
         ("ech_argsort", x_, index_, n, code, i64, None)),
        ("sum", lambda: package.sum(x), lambda: np.sum(x), ("ech_reduce", c.ECH_OP_SUM, x_, one_, n, code, None)),
        ("max", lambda: package.max(x), lambda: np.max(x), ("ech_reduce", c.ECH_OP_MAX, x_, one_, n, code, None)),
        ("mean", lambda: package.mean(x), lambda: np.mean(x), ("ech_reduce", c.ECH_OP_MEAN, x_, one_, n, code, None)),
        ("argmax", lambda: package.argmax(x), lambda: np.argmax(x),
         ("ech_reduce", c.ECH_OP_ARGMAX, x_, index_, n, code, None)),
        ("cumulative_sum", lambda: package.cumulative_sum(x), lambda: np.cumsum(x),
         ("ech_scan", c.ECH_OP_SUM, x_, out_, n, code, None)),
        ("searchsorted", lambda: package.searchsorted(y, x), lambda: np.searchsorted(y, x),
         ("ech_lower_bound", y_, x_, index_, n, n, code, i64, None)),
        ("take", lambda: package.take(x, places), lambda: np.take(x, places),
         ("ech_gather", x_, p_, out_, n, n, i64, x.itemsize)),
        ("median", lambda: package.median(x), lambda: np.median(x), None),
        ("unique_values", lambda: package.unique_values(x), lambda: np.unique(x), None),
        ("top_k", lambda: package.top_k(x, min(n, 5))[0], lambda: np.sort(x)[::-1][:min(n, 5)], None),
    ]
    return keep, [row for row in rows if hasattr(package, row[0])]


def bare(name, *arguments):
    """A call of the library whose arguments are converted before it is measured."""
    names = c.FUNCTIONS[name][2]
    if len(names) != len(arguments) + 1:
        sys.exit(f"{name} has the parameters {names}")
    function, handle = getattr(native.functions, name), calls.host_context().handle
    if function(handle, *arguments):
        sys.exit(f"{name}: {native.error_text(handle)}")
    return lambda: function(handle, *arguments)


def packages():
    """The package by the name of its contender: with and, if the extension is used, without the extension."""
    if not fast.replaced:
        return {"echelon": echelon}
    return {"echelon": types.SimpleNamespace(**{**vars(echelon), **fast.replaced}), "echelon-fast": echelon}


def processor():
    device = native.struct(c.ech_device)
    native.functions.ech_device_get(native.functions.ech_device_count() - 1, ctypes.addressof(device))
    return device.description.decode(), device.features.decode()


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "f64"
    if name not in DTYPES:
        sys.exit(f"the dtypes are {', '.join(DTYPES)}")
    echelon.set_threads(1)
    print(f"# {datetime.date.today()}; python_calls.py; {', '.join(processor())}; echelon {echelon.__version__}, NumPy "
          f"{np.__version__}, Python {platform.python_version()}; one thread; contenders alternate; ms is the minimum "
          "of the repetitions")
    print(FIELDS)
    for n in SIZES:
        found = {contender: operations(n, *DTYPES[name], package) for contender, package in packages().items()}
        for i, (op, _, theirs, call) in enumerate(found["echelon"][1]):
            works = {contender: rows[i][1] for contender, (_, rows) in found.items()
                     if contender == "echelon" or op in fast.replaced}
            works[f"NumPy-{np.__version__}"] = theirs
            for work in list(works.values()):
                np.testing.assert_allclose(np.asarray(work()), np.asarray(theirs()), rtol=TOLERANCE[name],
                                           atol=TOLERANCE[name])
            if call:
                works["ctypes"] = bare(*call)
            for contender, times in alternate(works).items():
                least, median = summary(times)
                print(f"{op},{name},{n},,random,1,{contender},{least:.6f},{median:.6f},{len(times)},equal", flush=True)


if __name__ == "__main__":
    main()
