"""The type stubs (*.pyi) declare the public functions with the parameters that they have.

SPDX-License-Identifier: Apache-2.0
"""
import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import echelon
import pytest

PACKAGE = Path(echelon.__file__).parent
STUBS = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.pyi"))
OPTIONAL = {"echelon.torch": "torch", "echelon.jax": "jax", "echelon.dask": "distributed"}


def module_of(stub):
    parts = ["echelon", *stub.with_suffix("").parts]
    name = ".".join(part for part in parts if part != "__init__")
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    return importlib.import_module(name)


def declared(function):
    """(name, kind, whether it has a default) of the parameters of a function in a stub."""
    a = function.args
    defaults = [False] * (len(a.posonlyargs) + len(a.args) - len(a.defaults)) + [True] * len(a.defaults)
    kinds = [inspect.Parameter.POSITIONAL_ONLY] * len(a.posonlyargs) + \
        [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(a.args)
    found = [(p.arg, kind, default) for p, kind, default in zip(a.posonlyargs + a.args, kinds, defaults)]
    if a.vararg:
        found.append((a.vararg.arg, inspect.Parameter.VAR_POSITIONAL, False))
    found += [(p.arg, inspect.Parameter.KEYWORD_ONLY, default is not None)
              for p, default in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        found.append((a.kwarg.arg, inspect.Parameter.VAR_KEYWORD, False))
    return found


@pytest.mark.parametrize("stub", STUBS, ids=str)
def test_stub(stub):
    module = module_of(stub)
    tree = ast.parse((PACKAGE / stub).read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = set(functions) | {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    names |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
              if alias.asname}
    assert names == set(module.__all__)
    for name, node in functions.items():
        actual = [(p.name, p.kind, p.default is not p.empty)
                  for p in inspect.signature(getattr(module, name)).parameters.values()]
        assert declared(node) == actual, f"{stub}: {name}"


def test_every_public_module_has_a_stub():
    modules = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if not path.name.startswith("_")
               or path.name == "__init__.py"}
    public = {path for path in modules
              if not any(part.startswith("_") and part != "__init__.py" for part in path.parts)}
    assert {path.with_suffix(".pyi") for path in public if path.name != "mod2.py"} == set(STUBS)


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np
import numpy.typing as npt
import echelon

x: npt.NDArray[np.float64] = np.zeros(3)
y: npt.NDArray[np.float64] = echelon.sort(x, axis=0, descending=True)
values: npt.NDArray[np.float64] = echelon.top_k(x, 2)[0]
name: str = echelon.devices()[0].name
rank: int = echelon.gf2.rank(x)
with echelon.profile() as p:
    p.calls
echelon.sort(x, order=1)  # expect an error
""")
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
                          str(tmp_path / "cache"), str(program)], capture_output=True, text=True,
                         env={"MYPYPATH": str(PACKAGE.parent)}, check=False)
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and 'Unexpected keyword argument "order"' in errors[0], run.stdout
