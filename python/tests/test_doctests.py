"""The examples in the docstrings of the package print what they show.

The scalars of NumPy 1 and 2 print differently, "3.5" and "np.float64(3.5)", and are compared as equal.

SPDX-License-Identifier: Apache-2.0
"""
import doctest
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path

import echelon
import pytest


class Checker(doctest.OutputChecker):
    """Ignores the type that NumPy 2 prints with a scalar."""

    def check_output(self, want, got, optionflags):
        plain = [re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", re.sub(r"\bnp\.(True|False)_", r"\1", text))
                 for text in (want, got)]
        return super().check_output(*plain, optionflags)


def modules():
    """The modules of the package, and the name of a missing library for each with examples that needs one."""
    for found in pkgutil.walk_packages(echelon.__path__, "echelon.", onerror=lambda name: None):
        try:
            yield importlib.import_module(found.name), None
        except ModuleNotFoundError as error:
            if error.name.split(".")[0] == "echelon":
                raise
            if ">>>" in Path(importlib.util.find_spec(found.name).origin).read_text():
                yield found.name, error.name


def examples():
    """One parameter for each docstring with examples; a docstring that two modules share counts once."""
    seen = set()
    for module, missing in [(echelon, None), *modules()]:
        if missing:
            yield pytest.param(None, id=module, marks=pytest.mark.skip(reason=f"{module} needs {missing}"))
            continue
        for test in doctest.DocTestFinder().find(module):
            if test.examples and test.name not in seen:
                seen.add(test.name)
                yield pytest.param(test, id=test.name)


@pytest.mark.parametrize("test", list(examples()))
def test_docstring(test):
    report = []
    result = doctest.DocTestRunner(Checker(), verbose=False).run(test, out=report.append)
    assert result.attempted > 0 and result.failed == 0, "".join(report)


def public_functions():
    """The functions of the public modules. Those of gf2.mod2 are described by ldpc."""
    for name in ("echelon", "echelon.dask", "echelon.dist", "echelon.gf2", "echelon.linalg", "echelon.sparse",
                 "echelon.sparse.linalg", "echelon.torch", "echelon.jax"):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        for key in module.__all__:
            if inspect.isroutine(getattr(module, key)):
                yield pytest.param(getattr(module, key), id=f"{name}.{key}")


@pytest.mark.parametrize("function", list(public_functions()))
def test_form(function):
    """A docstring has an example, names all parameters, and states what is returned."""
    text = inspect.getdoc(function)
    assert ">>> " in text or function.__name__ in ("from_mpi4py", "from_torch")  # they need a launcher
    for name in inspect.signature(function).parameters:
        assert re.search(rf"\b{name}\b", text), f"the docstring does not name {name}"
    returns_nothing = ("close_contexts", "set_device", "set_memory_limit", "set_threads", "synchronize")
    assert re.search(r"\b(Return|Yield)s?\b", text) or function.__name__ in returns_nothing
