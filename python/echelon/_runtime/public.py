"""What a public module shows: the names of dir(), the module of its functions, and modules that are imported when used.

SPDX-License-Identifier: Apache-2.0
"""
import importlib
import types


def publish(namespace):
    """__dir__() of a public module, without the private modules that it imports.

    The functions and classes of __all__ name the public module, so that messages and help() do: echelon.ArgumentError.
    """
    for name in namespace["__all__"]:
        value = namespace[name]
        if isinstance(value, (type, types.FunctionType)) and "._" in value.__module__:
            value.__module__ = namespace["__name__"]
    names = sorted({*namespace["__all__"], *(name for name in namespace if name.startswith("__"))})
    return lambda: list(names)


def modules_on_demand(package, **libraries):
    """__getattr__() of a package that imports these modules when they are used; each needs a library."""
    def find(name):
        if name not in libraries:
            raise AttributeError(f"module {package} has no attribute {name}")
        try:
            return importlib.import_module(f"{package}.{name}")
        except ImportError as error:
            raise AttributeError(f"{package}.{name} needs {libraries[name]}: {error}") from error

    return find
