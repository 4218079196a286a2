"""Echelon: sorting and data-parallel operations on the arrays of NumPy, PyTorch, CuPy and other libraries.

Arrays in host memory are processed by the CPU, arrays in GPU memory by their GPU, on the current stream of their
library. Results have the type of the input.

SPDX-License-Identifier: Apache-2.0
"""
from ._declarations import VERSION as _VERSION
from ._ops.sort import argsort, argsort_segments, is_sorted, sort, sort_pairs, sort_segments
from ._ops.search import searchsorted
from ._ops.unique import mode, unique, unique_all, unique_counts, unique_inverse, unique_values
from ._ops.sets import intersect1d, isin, merge, merge_many, merge_pairs, set_operation, setdiff1d, setxor1d, union1d
from ._ops.topk import top_k, topk_segments
from ._ops.partition import argpartition, nth_element, partition
from ._ops.quantile import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from ._ops.select import (compress, nonzero, partition_3way, partition_flags, partition_if, rle_decode, rle_encode,
                          select_if, unique_by_key, unique_consecutive)
from ._ops.arrange import (flip, matrix_transpose, permutation, repeat, roll, sample, scatter, shuffle, take,
                           take_along_axis)
from ._runtime.call import get_device, set_device
from ._runtime.context import close_contexts, set_memory_limit, set_threads, synchronize
from ._runtime.errors import (ArgumentError, CanceledError, DeviceError, DTypeError, Error, NoDeviceError,
                              OutOfMemoryError, UnsupportedError)

__version__ = ".".join(map(str, _VERSION))
__all__ = [
    "ArgumentError", "CanceledError", "DTypeError", "DeviceError", "Error", "NoDeviceError", "OutOfMemoryError",
    "UnsupportedError", "argpartition", "argsort", "argsort_segments", "close_contexts", "compress", "flip",
    "get_device", "intersect1d", "is_sorted", "isin", "matrix_transpose", "median", "merge", "merge_many",
    "merge_pairs", "mode", "nanmedian", "nanpercentile", "nanquantile", "nonzero", "nth_element", "partition",
    "partition_3way", "partition_flags", "partition_if", "percentile", "permutation", "quantile", "repeat",
    "rle_decode", "rle_encode", "roll", "sample", "scatter", "searchsorted", "select_if", "set_device",
    "set_memory_limit", "set_operation", "set_threads", "setdiff1d", "setxor1d", "shuffle", "sort", "sort_pairs",
    "sort_segments", "synchronize", "take", "take_along_axis", "top_k", "topk_segments", "union1d", "unique",
    "unique_all", "unique_by_key", "unique_consecutive", "unique_counts", "unique_inverse", "unique_values",
]
