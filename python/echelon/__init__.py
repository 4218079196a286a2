"""Echelon: sorting and data-parallel operations on the arrays of NumPy, PyTorch, CuPy and other libraries.

Arrays in host memory are processed by the CPU, arrays in GPU memory by their GPU, on the current stream of their
library. Results have the type of the input.

Arrays are positional arguments, options are keywords. axis= selects an axis, out= an array that receives the result,
and stream= the stream of a GPU. In sorts NaN is the largest value. Exceptions are subclasses of echelon.Error.
explain() states how a call is computed, and devices() lists the devices.

linalg         dense matrices: products, direct solvers
sparse         sparse matrices; sparse.linalg has iterative solvers
gf2            matrices over GF(2); gf2.mod2 replaces ldpc.mod2
dist           arrays whose parts are on several GPUs or processes
dask           sorts of collections of Dask
torch, jax     operators with gradients, for torch.compile() and jax.jit()

SPDX-License-Identifier: Apache-2.0
"""
try:
    import numpy  # noqa: F401
except ImportError as error:
    raise ImportError("echelon needs NumPy 1.23 or later: pip install numpy") from error

from . import dist, gf2, linalg, sparse
from ._arrays.device_array import DeviceArray
from ._declarations import VERSION as _VERSION
from ._ops import fast as _fast
from ._ops.arrange import (flip, matrix_transpose, permutation, repeat, roll, sample, scatter, shuffle, take,
                           take_along_axis)
from ._ops.columns import argsort_columns, lexsort
from ._ops.histogram import bincount, histogram, histogram2d
from ._ops.partition import argpartition, nth_element, partition
from ._ops.quantile import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from ._ops.records import sort_records
from ._ops.reduce import (all, any, argmax, argmin, count_nonzero, dot, max, mean, min, minmax, nanmax, nanmean,
                          nanmin, nanprod, nanstd, nansum, nanvar, norm, prod, reduce_by_key, reduce_segments, std,
                          sum, var)
from ._ops.scan import cumulative_prod, cumulative_sum, scan, scan_by_key, scan_segments
from ._ops.search import searchsorted
from ._ops.select import (compress, nonzero, partition_3way, partition_flags, partition_if, rle_decode, rle_encode,
                          select_if, unique_by_key, unique_consecutive)
from ._ops.sets import intersect1d, isin, merge, merge_many, merge_pairs, set_operation, setdiff1d, setxor1d, union1d
from ._ops.sort import argsort, argsort_segments, is_sorted, sort, sort_pairs, sort_segments
from ._ops.strings import argsort_strings, sort_strings
from ._ops.topk import top_k, top_k_segments
from ._ops.unique import mode, unique, unique_all, unique_counts, unique_inverse, unique_values
from ._runtime.call import get_device, set_device
from ._runtime.context import close_contexts, set_memory_limit, set_threads, synchronize
from ._runtime.devices import devices
from ._runtime.errors import (ArgumentError, CanceledError, CommunicationError, DeviceError, DTypeError, Error,
                              NoDeviceError, OutOfMemoryError, UnsupportedError)
from ._runtime.public import modules_on_demand, publish
from ._runtime.record import explain, profile

__version__ = ".".join(map(str, _VERSION))
__all__ = [
    "ArgumentError", "CanceledError", "CommunicationError", "DTypeError", "DeviceArray", "DeviceError", "Error",
    "NoDeviceError", "OutOfMemoryError", "UnsupportedError", "all", "any", "argmax", "argmin", "argpartition",
    "argsort", "argsort_columns", "argsort_segments", "argsort_strings", "bincount", "close_contexts", "compress",
    "count_nonzero", "cumulative_prod", "cumulative_sum", "devices", "dist", "dot", "explain", "flip", "get_device",
    "gf2", "histogram", "histogram2d", "intersect1d", "is_sorted", "isin", "lexsort", "linalg", "matrix_transpose",
    "max", "mean", "median", "merge", "merge_many", "merge_pairs", "min", "minmax", "mode", "nanmax", "nanmean",
    "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "nonzero", "norm",
    "nth_element", "partition", "partition_3way", "partition_flags", "partition_if", "percentile", "permutation",
    "prod", "profile", "quantile", "reduce_by_key", "reduce_segments", "repeat", "rle_decode", "rle_encode", "roll",
    "sample", "scan", "scan_by_key", "scan_segments", "scatter", "searchsorted", "select_if", "set_device",
    "set_memory_limit", "set_operation", "set_threads", "setdiff1d", "setxor1d", "shuffle", "sort", "sort_pairs",
    "sort_records", "sort_segments", "sort_strings", "sparse", "std", "sum", "synchronize", "take", "take_along_axis",
    "top_k", "top_k_segments", "union1d", "unique", "unique_all", "unique_by_key", "unique_consecutive",
    "unique_counts", "unique_inverse", "unique_values", "var",
]
__getattr__ = modules_on_demand(__name__, dask="Dask", jax="JAX", torch="PyTorch")
__dir__ = publish(globals())
_fast.install(globals())
