"""Echelon: sorting and data-parallel operations on the arrays of NumPy, PyTorch, CuPy and other libraries.

Arrays in host memory are processed by the CPU, arrays in GPU memory by their GPU, on the current stream of their
library. Results have the type of the input.

SPDX-License-Identifier: Apache-2.0
"""
from . import gf2
from ._declarations import VERSION as _VERSION
from ._ops.sort import argsort, argsort_segments, is_sorted, sort, sort_pairs, sort_segments
from ._runtime.call import get_device, set_device
from ._runtime.context import close_contexts, set_memory_limit, set_threads, synchronize
from ._runtime.errors import (ArgumentError, CanceledError, DeviceError, DTypeError, Error, NoDeviceError,
                              OutOfMemoryError, UnsupportedError)

__version__ = ".".join(map(str, _VERSION))
__all__ = [
    "ArgumentError", "CanceledError", "DTypeError", "DeviceError", "Error", "NoDeviceError", "OutOfMemoryError",
    "UnsupportedError", "argsort", "argsort_segments", "close_contexts", "get_device", "gf2", "is_sorted", "set_device",
    "set_memory_limit", "set_threads", "sort", "sort_pairs", "sort_segments", "synchronize",
]
