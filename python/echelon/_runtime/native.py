"""The shared library: where it is found, and its functions with the declarations of the header.

The wheel contains the library in the folder _lib. The environment variable ECHELON_LIBRARY names another one.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
from pathlib import Path

from .. import _declarations as declared

_PACKAGE = Path(__file__).resolve().parents[1]


def _candidates():
    """The paths to try, in order. The name without a folder is looked up by the dynamic linker."""
    named = os.environ.get("ECHELON_LIBRARY")
    if named:
        return [named]
    soname = "libechelon.so.{}.{}".format(*declared.VERSION)
    inside = [path for path in (_PACKAGE / "_lib" / soname, _PACKAGE / "_lib" / "libechelon.so") if path.exists()]
    return [str(path) for path in inside] or [soname]


def _load():
    failures = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            failures.append(str(error))
    raise ImportError("echelon: cannot load the library: " + "; ".join(failures))


library, path = _load()


class Functions:
    """The functions of the library as attributes."""


def _declare():
    functions = Functions()
    for name, (result, arguments, _) in declared.FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"echelon: {path} has no function {name}; it has another version than the package")
        function.restype, function.argtypes = result, arguments
        setattr(functions, name, function)
    version = functions.ech_version_number()
    if version // 100 != declared.VERSION[0] * 100 + declared.VERSION[1]:
        raise ImportError(f"echelon: {path} has version {functions.ech_version().decode()}, but the package needs "
                          "{}.{}".format(*declared.VERSION))
    return functions


functions = _declare()


def struct(kind, /, **fields):
    """A struct with its size and these fields; the others are zero."""
    return kind(size=ctypes.sizeof(kind), **fields)


def error_text(handle=None):
    """The message of the last failure in a context, or in this thread of a function without a context."""
    return functions.ech_error(handle).decode(errors="replace")
