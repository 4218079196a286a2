"""Fixtures of the tests of the Python package.

`python3 -m pytest python/tests` tests the package that PYTHONPATH names, such as python/ of the build directory.
ECHELON_DEVICE=simt runs the tests of arrays in host memory with the GPU kernels on the emulator. Tests with the marker
gpu need an NVIDIA GPU and are skipped without one; `pytest -m gpu` runs only these.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np
import pytest
from echelon._runtime import cuda
from echelon._runtime.native import functions

SEED = 20261126


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU")


def pytest_collection_modifyitems(items):
    if functions.ech_device_count() > 1:  # the last device is the CPU
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="there is no GPU that the library can use"))


@pytest.fixture(autouse=True)
def current_gpu(request):
    """A test on a GPU begins with GPU 0 as the current device of its thread, and must not change it.

    The collection imports JAX, which leaves the last GPU current.
    """
    if not request.node.get_closest_marker("gpu"):
        yield
        return
    first, then = cuda._primary(0), ctypes.c_void_p()
    cuda._call("cuCtxSetCurrent", first)
    yield
    cuda._call("cuCtxGetCurrent", ctypes.byref(then))
    assert then.value == cuda._primary(0).value, "the test has changed the current device"


@pytest.fixture
def rng(request):
    """A generator whose seed depends on the name of the test."""
    return np.random.default_rng([SEED, *request.node.name.encode()])


def same(a, b):
    """Asserts that two arrays have the same dtype, shape and bits, except for those of NaN."""
    assert type(a) is type(b), (type(a), type(b))
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, a.shape, b.dtype, b.shape)
    if a.dtype.kind == "f":  # NumPy may change the bits of NaN
        a, b = np.where(np.isnan(a), np.nan, a), np.where(np.isnan(b), np.nan, b)
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
