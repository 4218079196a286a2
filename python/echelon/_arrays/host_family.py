"""The base of families of other libraries in host memory: their arrays are processed as arrays of NumPy.

SPDX-License-Identifier: Apache-2.0
"""
from .numpy_family import NumPy


class HostFamily(NumPy):
    """An object per array of another library. It converts results to that library."""

    def view(self, x, name="x"):
        """The View of an array of NumPy whose results this family converts."""
        found = NumPy.view(x, name)
        found.family = self
        return found

    def result(self, x):
        """The object of the other library."""
        raise NotImplementedError
