"""Columns of pandas as arrays of NumPy: Series, Index and extension arrays. pandas is not a requirement.

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np

from .._runtime.errors import DTypeError
from .numpy_family import NumPy
from .parts import Part


def is_pandas(x):
    """Whether an object is a Series, an Index or an extension array of pandas."""
    pandas = sys.modules.get("pandas")  # without attributes while another thread imports it
    extensions = getattr(getattr(pandas, "api", None), "extensions", None)
    return isinstance(x, (getattr(pandas, "Series", ()), getattr(pandas, "Index", ()),
                          getattr(extensions, "ExtensionArray", ())))


def array_of(x):
    """The extension array of a Series or an Index."""
    return x if not hasattr(x, "array") else x.array


def read(x, name="x"):
    """The Part of a column of pandas."""
    import pandas
    from . import columns
    values = array_of(x)
    dtype = values.dtype
    if isinstance(dtype, np.dtype) or type(values).__name__ in ("NumpyExtensionArray", "PandasArray"):
        return _numpy_part(values, name)
    if hasattr(values, "__arrow_array__") and (
            isinstance(dtype, pandas.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow"):
        return columns.read(values.__arrow_array__(), name)
    if isinstance(dtype, pandas.CategoricalDtype):
        codes = np.asarray(values.codes)
        return Part(len(codes), codes, coded=True).mark(codes >= 0)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return columns.with_nat(values.tz_convert(None).to_numpy())
    if hasattr(dtype, "numpy_dtype"):
        missing = np.asarray(values.isna())
        plain = values.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
        return Part(len(plain), plain).mark(~missing)
    if isinstance(dtype, pandas.PeriodDtype):
        return Part(len(values), values.asi8, coded=True).mark(~np.asarray(values.isna()))
    if isinstance(dtype, pandas.StringDtype):
        return columns.of_objects(values.tolist(), name)
    raise DTypeError(f"{name} has dtype {dtype} of pandas, which is not supported")


def _numpy_part(values, name):
    from . import columns
    array = values.to_numpy()
    if array.dtype.kind in "mM":
        return columns.with_nat(array)
    if array.dtype.kind in "SUOT":
        return columns.read(array, name)
    NumPy.view(array, name)  # checks the dtype
    return Part(len(array), array)
