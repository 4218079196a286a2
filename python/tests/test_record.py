"""explain(), profile() and devices().

SPDX-License-Identifier: Apache-2.0
"""
import re
import threading
from pathlib import Path

import echelon
import numpy as np
import pytest
from echelon._runtime import record
from echelon._runtime.native import declared
from test_libraries import CALLS


def test_every_explanation_has_its_parameters():
    for name, (function, extra) in record._EXPLAINED.items():
        known = {"device", "format", "text", "capacity_bytes", "value_bytes", "element_bytes", *extra,
                 *declared.FUNCTIONS[name][2]}
        missing = set(declared.FUNCTIONS[function][2]) - known
        assert not missing, (name, function, missing)


def test_every_operation_is_explained():
    """Every C function that takes a context and that a module of the package calls has an explanation."""
    package = Path(echelon.__file__).parent
    called = set()
    for path in package.rglob("*.py"):
        called |= set(re.findall(r'call\(f?"(ech_\w+)"', path.read_text()))
    unexplained = {"ech_sync", "ech_copy", "ech_copy_async", "ech_sample", "ech_malloc", "ech_csr_check",
                   "ech_csr_diagonal", "ech_sparse_factor_solve"}
    missing = {name for name in called if name not in record._EXPLAINED and not name.startswith("ech_gf2_")}
    assert missing - unexplained == set()


@pytest.mark.parametrize("call", CALLS)
def test_explain(rng, call):
    a, i = rng.normal(size=(20, 3)).astype("f4"), rng.integers(0, 9, 20).astype("i4")
    for entry in echelon.explain(CALLS[call], a, i, echelon):
        assert entry.plan["operation"] and entry.device == echelon.get_device(), entry
        assert entry.function in repr(entry) and entry.milliseconds > 0


def test_profile(rng):
    x = rng.random(100)
    with echelon.profile() as outer:
        echelon.sort(x)
        with echelon.profile() as inner:
            echelon.sum(x)
        other = threading.Thread(target=echelon.sort, args=(x,))
        other.start()
        other.join()
    assert [call.function for call in outer.calls] == ["ech_sort", "ech_reduce_rows"]
    assert [call.function for call in inner.calls] == ["ech_reduce_rows"]
    assert outer.calls[0].n == 100 and outer.calls[0].dtype == "float64"
    assert "ech_sort" in str(outer) and outer.milliseconds > 0
    echelon.sort(x)
    assert len(outer.calls) == 2


def test_errors_are_raised():
    with echelon.profile() as p, pytest.raises(echelon.ArgumentError):
        echelon.sort_segments(np.arange(3), [0, 9])
    assert p.calls[-1].function == "ech_sort_segments"


def test_devices():
    found = echelon.devices()
    assert found[-1].name == "cpu" and found[-1].memory_bytes > 0
    assert all(device.name.startswith("cuda:") for device in found[:-1])


def test_nested_profiles():
    x = np.arange(9)[::-1]
    with echelon.profile() as outer:
        with echelon.profile() as inner:
            echelon.sort(x)
        with pytest.raises(KeyError):
            with echelon.profile():
                echelon.argsort(x)
                raise KeyError
        echelon.explain(echelon.sum, x)
        echelon.unique(x)
    assert [call.function for call in inner.calls] == ["ech_sort"]
    assert [call.function for call in outer.calls] == ["ech_sort", "ech_argsort", "ech_reduce_rows", "ech_unique_all"]
