"""Makers of arrays for the tests that run with every array library: NumPy, PyTorch and CuPy.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest


class Library:
    """make() converts an array of NumPy, to_numpy() converts back, kind is the type of the arrays."""

    def __init__(self, kind, make, to_numpy):
        self.kind, self.make, self.to_numpy = kind, make, to_numpy


def _torch(device):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    return Library(torch.Tensor, lambda x: torch.from_numpy(np.array(x)).to(device), lambda x: x.cpu().numpy())


def _cupy():
    cupy = pytest.importorskip("cupy")
    if not cupy.cuda.runtime.getDeviceCount():
        pytest.skip("CuPy has no GPU")
    return Library(cupy.ndarray, cupy.asarray, cupy.asnumpy)


def library(name):
    """The library "numpy", "torch", "torch-cuda", "cupy", "device" or "device-cuda"; skips the test without it."""
    if name == "numpy":
        return Library((np.ndarray, np.generic), np.asarray, np.asarray)
    if name == "cupy":
        return _cupy()
    if name.startswith("device"):  # arrays without operators, in host or GPU memory
        device = "cuda:0" if name == "device-cuda" else "cpu"
        return Library(echelon.DeviceArray if device != "cpu" else (echelon.DeviceArray, np.ndarray, np.generic),
                       lambda x: echelon.DeviceArray.from_numpy(np.ascontiguousarray(x), device),
                       lambda x: x.to_numpy() if isinstance(x, echelon.DeviceArray) else np.asarray(x))
    return _torch("cuda" if name == "torch-cuda" else "cpu")


DEVICE_ARRAYS = ["device", pytest.param("device-cuda", marks=pytest.mark.gpu)]
EVERY = ["torch", pytest.param("torch-cuda", marks=pytest.mark.gpu), pytest.param("cupy", marks=pytest.mark.gpu)]
EVERY_GPU = EVERY[1:]
