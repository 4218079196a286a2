"""Echelon: sorting and data-parallel operations on the arrays of NumPy, PyTorch, CuPy and other libraries.

Arrays in host memory are processed by the CPU, arrays in GPU memory by their GPU, on the current stream of their
library. Results have the type of the input.

SPDX-License-Identifier: Apache-2.0
"""
from . import gf2
from ._declarations import VERSION as _VERSION
from ._ops.histogram import bincount, histogram, histogram2d
from ._ops.reduce import (all, any, argmax, argmin, count_nonzero, dot, max, mean, min, minmax, nanmax, nanmean,
                          nanmin, nanprod, nanstd, nansum, nanvar, norm, prod, reduce_by_key, reduce_segments, std,
                          sum, var)
from ._ops.scan import cumulative_prod, cumulative_sum, scan, scan_by_key, scan_segments
from ._ops.search import searchsorted
from ._ops.sets import intersect1d, isin, merge, merge_many, merge_pairs, set_operation, setdiff1d, setxor1d, union1d
from ._ops.sort import argsort, argsort_segments, is_sorted, sort, sort_pairs, sort_segments
from ._ops.topk import top_k, topk_segments
from ._ops.unique import mode, unique, unique_all, unique_counts, unique_inverse, unique_values
from ._runtime.call import get_device, set_device
from ._runtime.context import close_contexts, set_memory_limit, set_threads, synchronize
from ._runtime.devices import devices
from ._runtime.errors import (ArgumentError, CanceledError, DeviceError, DTypeError, Error, NoDeviceError,
                              OutOfMemoryError, UnsupportedError)
from ._runtime.record import explain, profile

__version__ = ".".join(map(str, _VERSION))
__all__ = [
    "ArgumentError", "CanceledError", "DTypeError", "DeviceError", "Error", "NoDeviceError", "OutOfMemoryError",
    "UnsupportedError", "all", "any", "argmax", "argmin", "argsort", "argsort_segments", "bincount",
    "close_contexts", "count_nonzero", "cumulative_prod", "cumulative_sum", "devices", "dot", "explain",
    "get_device", "gf2", "histogram", "histogram2d", "intersect1d", "is_sorted", "isin", "max", "mean", "merge",
    "merge_many", "merge_pairs", "min", "minmax", "mode", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd",
    "nansum", "nanvar", "norm", "prod", "profile", "reduce_by_key", "reduce_segments", "scan", "scan_by_key",
    "scan_segments", "searchsorted", "set_device", "set_memory_limit", "set_operation", "set_threads", "setdiff1d",
    "setxor1d", "sort", "sort_pairs", "sort_segments", "std", "sum", "synchronize", "top_k", "topk_segments",
    "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "var",
]
