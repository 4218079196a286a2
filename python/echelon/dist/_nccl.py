"""Loads the NCCL of the package nvidia-nccl-cu13 or nvidia-nccl-cu12 of PyPI, before the library opens libnccl.so.2.

The library then gets this file, because it is loaded under the same name. PyTorch and CuPy of the same environment use
it, too. The variable ECHELON_NCCL, and a libnccl.so.2 that the process has already loaded, have priority; without the
package the library searches for the libnccl.so.2 of the system.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import importlib.util
import os
from pathlib import Path

NAME = "libnccl.so.2"


def _is_loaded():
    try:
        ctypes.CDLL(NAME, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def packaged():
    """The paths of NCCL in packages of PyPI, whose folder nvidia/nccl is a namespace package."""
    try:
        spec = importlib.util.find_spec("nvidia.nccl")
    except (ImportError, ValueError):  # there is no package nvidia, or it is another one
        return []
    folders = dict.fromkeys(spec and spec.submodule_search_locations or ())
    return [str(path) for path in (Path(folder, "lib", NAME) for folder in folders) if path.exists()]


def load():
    """Loads NCCL, if a package has it."""
    if os.environ.get("ECHELON_NCCL") or _is_loaded():
        return
    for path in packaged():
        try:
            ctypes.CDLL(path)  # stays loaded
            return
        except OSError:  # another NCCL may be usable; the library reports a failure
            continue
