"""python_calls.py - measures the time of one call of the Python package for small arrays.

    PYTHONPATH=build/python bench/python_calls.py >calls.csv

Prints CSV rows: a function of the package, the same call of the library through ctypes (with a result that exists
already, and without checks of the arguments), and the function of NumPy. Arrays are f64 in host memory, on one thread.
The results of the package and of NumPy are compared before they are measured.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import datetime
import platform
import sys

import echelon
import numpy as np
from contest import alternate, summary
from echelon._runtime import call as calls
from echelon._runtime import native
from echelon._runtime.native import declared as c

SIZES = [1, 10, 100, 1000, 10000]
RNG = np.random.default_rng(24)
FIELDS = "op,dtype,n,shape,dist,threads,contender,ms,ms_median,repetitions,result"


def operations(n):
    """Rows of the name, the call of the package, the call of NumPy, and the function of the library with arguments."""
    x, y = RNG.normal(size=n), np.sort(RNG.normal(size=n))
    places = RNG.integers(0, n, n)
    out, index, one = np.empty(n), np.empty(n, "i8"), np.empty(1)
    x_, y_, p_, out_, index_, one_ = (array.ctypes.data for array in (x, y, places, out, index, one))
    keep = (x, y, places, out, index, one)
    f64, i64 = c.ECH_F64, c.ECH_I64
    rows = [
        ("sort", lambda: echelon.sort(x), lambda: np.sort(x), ("ech_sort", x_, out_, n, f64, None)),
        ("argsort", lambda: echelon.argsort(x), lambda: np.argsort(x, kind="stable"),
         ("ech_argsort", x_, index_, n, f64, i64, None)),
        ("sum", lambda: echelon.sum(x), lambda: np.sum(x), ("ech_reduce", c.ECH_OP_SUM, x_, one_, n, f64, None)),
        ("max", lambda: echelon.max(x), lambda: np.max(x), ("ech_reduce", c.ECH_OP_MAX, x_, one_, n, f64, None)),
        ("cumulative_sum", lambda: echelon.cumulative_sum(x), lambda: np.cumsum(x),
         ("ech_scan", c.ECH_OP_SUM, x_, out_, n, f64, None)),
        ("searchsorted", lambda: echelon.searchsorted(y, x), lambda: np.searchsorted(y, x),
         ("ech_lower_bound", y_, x_, index_, n, n, f64, i64, None)),
        ("take", lambda: echelon.take(x, places), lambda: np.take(x, places),
         ("ech_gather", x_, p_, out_, n, n, i64, 8)),
        ("median", lambda: echelon.median(x), lambda: np.median(x), None),
        ("unique_values", lambda: echelon.unique_values(x), lambda: np.unique(x), None),
        ("top_k", lambda: echelon.top_k(x, min(n, 5))[0], lambda: np.sort(x)[::-1][:min(n, 5)], None),
    ]
    return keep, [row for row in rows if hasattr(echelon, row[0])]


def bare(name, *arguments):
    """A call of the library whose arguments are converted before it is measured."""
    names = c.FUNCTIONS[name][2]
    if len(names) != len(arguments) + 1:
        sys.exit(f"{name} has the parameters {names}")
    function, handle = getattr(native.functions, name), calls.host_context().handle
    if function(handle, *arguments):
        sys.exit(f"{name}: {native.error_text(handle)}")
    return lambda: function(handle, *arguments)


def processor():
    device = native.struct(c.ech_device)
    native.functions.ech_device_get(native.functions.ech_device_count() - 1, ctypes.addressof(device))
    return device.description.decode(), device.features.decode()


def main():
    echelon.set_threads(1)
    print(f"# {datetime.date.today()}; python_calls.py; {', '.join(processor())}; echelon {echelon.__version__}, NumPy "
          f"{np.__version__}, Python {platform.python_version()}; one thread; contenders alternate; ms is the minimum of "
          "the repetitions")
    print(FIELDS)
    for n in SIZES:
        keep, rows = operations(n)
        for op, ours, theirs, call in rows:
            np.testing.assert_allclose(np.asarray(ours()), np.asarray(theirs()), rtol=1e-12, atol=1e-12)
            works = {"echelon": ours, f"NumPy-{np.__version__}": theirs}
            if call:
                works["ctypes"] = bare(*call)
            for contender, times in alternate(works).items():
                least, median = summary(times)
                print(f"{op},f64,{n},,random,1,{contender},{least:.6f},{median:.6f},{len(times)},equal", flush=True)
        del keep


if __name__ == "__main__":
    main()
