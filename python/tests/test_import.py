"""The import of the package: messages if something is missing, and the names that the public modules show.

SPDX-License-Identifier: Apache-2.0
"""
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import echelon
import pytest
from echelon._runtime import native

PACKAGE = Path(echelon.__file__).parent
VERSION = "{}.{}".format(*native.declared.VERSION)
MODULES = [echelon, echelon.dist, echelon.gf2, echelon.linalg, echelon.sparse, echelon.sparse.linalg]


def failure(program, package=PACKAGE, **variables):
    """The last line that a Python prints which runs a program; the program must fail."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ECHELON_")}
    environment.update(variables, PYTHONPATH=str(package.parent))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 1, run
    return run.stderr.splitlines()[-1]


def copied(folder, *omitted):
    """A copy of the package without the library and these files."""
    target = folder / "echelon"
    shutil.copytree(PACKAGE, target, ignore=lambda _, names: [name for name in names if name in ("_lib", *omitted)])
    return target


def test_library_that_is_no_library(tmp_path):
    path = tmp_path / "garbage.so"
    for create in (False, True):
        if create:
            path.write_text("garbage")
        text = failure("import echelon", ECHELON_LIBRARY=str(path))
        assert text.startswith("ImportError: echelon cannot load its library: ") and str(path) in text
        assert "The variable ECHELON_LIBRARY names this library: correct it" in text


def test_library_of_another_project():
    other = "libm.so.6"
    text = failure("import echelon", ECHELON_LIBRARY=other)
    assert f"{other} has no function ech_" in text and f"version {VERSION} that this package needs" in text


def test_library_of_another_version(tmp_path):
    package = copied(tmp_path)
    path = package / "_declarations.py"
    path.write_text(path.read_text() + "\nVERSION = (0, 99, 0)\n")
    text = failure("import echelon", package, ECHELON_LIBRARY=native.path)
    found = native.functions.ech_version().decode()
    assert f"{native.path} has version {found}, but this package needs version 0.99. The variable" in text


def test_package_without_library(tmp_path):
    package = copied(tmp_path)
    path = package / "_declarations.py"
    path.write_text(path.read_text() + "\nVERSION = (0, 99, 0)\n")
    text = failure("import echelon", package)
    assert "libechelon.so.0.99: cannot open" in text and "The package contains no library: set ECHELON_LIBRARY" in text


def test_source_folder(tmp_path):
    text = failure("import echelon", copied(tmp_path, "_declarations.py"))
    assert text.startswith("ImportError: echelon: this is the source folder") and "pip install ." in text


def test_without_numpy():
    text = failure("import sys; sys.modules['numpy'] = None; import echelon")
    assert text == "ImportError: echelon needs NumPy 1.23 or later: pip install numpy"


@pytest.mark.parametrize("device", ["gpu", "cuda:9999"])
def test_device_of_the_environment(device):
    text = failure("import echelon; echelon.sort([2, 1])", ECHELON_LIBRARY=native.path, ECHELON_DEVICE=device)
    assert f'device is "{device}"' in text or "no GPU can be used" in text
    assert text.endswith("from the variable ECHELON_DEVICE")


@pytest.mark.parametrize("package, module", [("echelon", "torch"), ("echelon", "jax"), ("echelon", "dask"),
                                             ("echelon.gf2", "mod2")])
def test_modules_on_demand(package, module):
    library = {"torch": "torch", "jax": "jax", "dask": "dask", "mod2": "scipy"}[module]
    program = f"import sys; sys.modules['{library}'] = None; import {package}; "
    text = failure(program + f"{package}.{module}", ECHELON_LIBRARY=native.path)
    assert text.startswith(f"AttributeError: {package}.{module} needs ")
    text = failure(program + f"import {package}.{module}", ECHELON_LIBRARY=native.path)
    assert text.startswith("ModuleNotFoundError: ") and library in text


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="module echelon has no attribute srot"):
        echelon.srot  # noqa: B018


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_names(module):
    assert [name for name in dir(module) if not name.startswith("__")] == sorted(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert "._" not in value.__module__, name
            assert inspect.getdoc(value), f"{name} has no docstring"
