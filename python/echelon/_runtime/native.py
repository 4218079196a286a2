"""The shared library: where it is found, and its functions with the declarations of the header.

The wheel contains the library in the folder _lib. The environment variable ECHELON_LIBRARY names another one.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
from pathlib import Path

try:
    from .. import _declarations as declared
except ImportError as missing:
    raise ImportError("echelon: this is the source folder of the package, which the build completes. Run "
                      "`pip install .` in the root of the checkout, and start Python in another folder than "
                      "python/.") from missing

_PACKAGE = Path(__file__).resolve().parents[1]


def _version():
    """Major and minor version, which the package and the library have in common."""
    return "{}.{}".format(*declared.VERSION)


def _candidates():
    """The paths to try, in order. The name without a folder is looked up by the dynamic linker."""
    named = os.environ.get("ECHELON_LIBRARY")
    if named:
        return [named]
    soname = "libechelon.so." + _version()
    inside = [path for path in (_PACKAGE / "_lib" / soname, _PACKAGE / "_lib" / "libechelon.so") if path.exists()]
    return [str(path) for path in inside] or [soname]


def _advice():
    """What to do if the library cannot be used."""
    if os.environ.get("ECHELON_LIBRARY"):
        return "The variable ECHELON_LIBRARY names this library: correct it, or unset it to use that of the package."
    if (_PACKAGE / "_lib").exists():
        return "Reinstall the package: pip install --force-reinstall echelon-sort."
    return "The package contains no library: set ECHELON_LIBRARY to the path of libechelon.so, or reinstall it."


def _load():
    failures = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            failures.append(str(error))
    raise ImportError(f"echelon cannot load its library: {'; '.join(failures)}. {_advice()}")


library, path = _load()


class Functions:
    """The functions of the library as attributes."""


def _declare():
    functions = Functions()
    for name, (result, arguments, _) in declared.FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"echelon: {path} has no function {name}, so it is not the library of version "
                              f"{_version()} that this package needs. {_advice()}")
        function.restype, function.argtypes = result, arguments
        setattr(functions, name, function)
    version = functions.ech_version_number()
    if version // 100 != declared.VERSION[0] * 100 + declared.VERSION[1]:
        raise ImportError(f"echelon: {path} has version {functions.ech_version().decode()}, but this package needs "
                          f"version {_version()}. {_advice()}")
    return functions


functions = _declare()


def struct(kind, /, **fields):
    """A struct with its size and these fields; the others are zero."""
    return kind(size=ctypes.sizeof(kind), **fields)


def error_text(handle=None):
    """The message of the last failure in a context, or in this thread of a function without a context."""
    return functions.ech_error(handle).decode(errors="replace")
