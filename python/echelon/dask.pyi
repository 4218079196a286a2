"""Types of the functions of echelon.dask.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any, TypeVar

_C = TypeVar("_C")  # the type of the collection
def sort(
    x: _C, /, *, by: Any = ..., descending: bool = ..., client: Any = ..., time_limit: float | None = ...,
) -> _C: ...
