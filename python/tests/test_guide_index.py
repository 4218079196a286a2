"""The table of functions in docs/guide/python.md is complete: it has each public name of the package, and no other.

SPDX-License-Identifier: Apache-2.0
"""
import re
from pathlib import Path

import echelon
import echelon.sparse.linalg
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "python.md"
MODULES = {module.__name__: module for module in
           (echelon, echelon.dist, echelon.linalg, echelon.sparse, echelon.sparse.linalg, echelon.gf2)}


def names_by_module():
    """The names in the first column of the tables below "All functions", by the module in the heading."""
    found = {name: [] for name in MODULES}
    text = PAGE.read_text().partition("\n## All functions\n")[2]
    for section in text.split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        module = heading.rpartition(": ")[2] if ": " in heading else "echelon"
        for name, description in re.findall(r"^\| `(\w+)` \| (.*) \|$", body, re.M):
            assert description.strip(), f"{name} has no description"
            found[module].append(name)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_every_name(module):
    listed = names_by_module()[module]
    public = {name for name in MODULES[module].__all__ if not hasattr(getattr(MODULES[module], name), "__path__")
              and type(getattr(MODULES[module], name)).__name__ != "module"}
    assert len(listed) == len(set(listed)), "a name is listed twice"
    assert set(listed) == public
