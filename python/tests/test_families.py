"""The families of array libraries have the same members with the same parameters, also those that are not installed.

SPDX-License-Identifier: Apache-2.0
"""
import ast
from pathlib import Path

import echelon
import pytest

FOLDER = Path(echelon.__file__).parent / "_arrays"
FAMILIES = {"NumPy": "numpy", "Torch": "torch", "CuPy": "cupy", "DeviceFamily": "device"}
ON_A_GPU = {"on_stream", "keep"}
COLUMNS = ("PyArrow", "Polars", "Pandas", "OtherArrow")


def members(name, module):
    """The public members of a class: the names of the parameters of functions, None for other members."""
    tree = ast.parse((FOLDER / f"{module}_family.py").read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name).body
    found = {node.name: [a.arg for a in node.args.args if a.arg != "self"] for node in body
             if isinstance(node, ast.FunctionDef)}
    found.update((node.targets[0].id, None) for node in body if isinstance(node, ast.Assign))
    return {key: value for key, value in found.items() if not key.startswith("_")}


@pytest.mark.parametrize("name", ["Torch", "CuPy", "DeviceFamily"])
def test_members_of_numpy(name):
    expected, found = members("NumPy", "numpy"), members(name, FAMILIES[name])
    own = {"codes", "plain_view", "convert"}  # only for arrays of NumPy and lists
    assert set(expected) - own <= set(found)
    for key in set(expected) - own:
        if expected[key] is not None and found[key] is not None:
            assert found[key] == expected[key], key


def test_members_of_families_on_a_gpu():
    torch, cupy, device = (members(name, FAMILIES[name]) for name in ("Torch", "CuPy", "DeviceFamily"))
    assert torch == cupy | {key: torch[key] for key in ("dtype", "bool_dtype")}
    assert all(ON_A_GPU <= set(family) for family in (torch, cupy, device))
    for key in set(device) & set(torch):
        assert device[key] is None or device[key] == torch[key], key


def test_members_of_columns():
    first, *others = (members(name, "column") for name in COLUMNS)
    for other in others:
        assert {key: first[key] for key in ("result", "with_nulls", "take")} == \
            {key: other[key] for key in ("result", "with_nulls", "take")}
