"""Random calls of every public function: each returns, or raises an exception of the package; inputs do not change.

The environment variable ECHELON_FUZZ is the number of calls, 500 by default. `ECHELON_FUZZ=10000 python3 -m pytest
python/tests/test_fuzz.py` is the long form.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import inspect
import operator
import os
import types

import echelon
import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402  may be missing
from hypothesis import strategies as st  # noqa: E402

CALLS = int(os.environ.get("ECHELON_FUZZ", 500))
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", "M8[s]", "m8[D]", ">i4", ">f8", "c8",
          "S3", "U2", "O"]
USUAL = DTYPES[:12]
try:
    from ml_dtypes import bfloat16 as BFLOAT16
except ImportError:
    BFLOAT16 = "f4"
EXCLUDED = {"set_device", "set_memory_limit", "set_threads", "profile", "explain", "close_contexts"}  # change settings
MODULES = ("linalg", "gf2", "sparse", "sparse.linalg")


def functions():
    found = {name: getattr(echelon, name) for name in echelon.__all__}
    for module in MODULES:
        namespace = operator.attrgetter(module)(echelon)
        found.update((f"{module}.{name}", getattr(namespace, name)) for name in namespace.__all__)
    return {name: function for name, function in found.items()
            if callable(function) and not inspect.isclass(function) and name not in EXCLUDED}


FUNCTIONS = functions()


@functools.lru_cache(None)
def parameters(name):
    return list(inspect.signature(FUNCTIONS[name]).parameters.values())


@st.composite
def arrays(draw, like=None):
    """An array of NumPy of any dtype, shape, strides and flags; often with the dtype and shape of like."""
    if like is not None and draw(st.integers(0, 3)):
        dtype, shape = like.dtype, like.shape
    else:
        dtype = np.dtype(draw(st.sampled_from(USUAL * 3 + DTYPES)))
        shape = tuple(draw(st.lists(st.integers(0, 7), min_size=draw(st.integers(0, 1)), max_size=3)))
    if dtype.kind == "O":
        return np.array([None] * 3, object)
    size = int(np.prod(shape))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    if dtype.kind in "SU":
        x = rng.integers(0, 50, size).astype(dtype)
    elif draw(st.booleans()):
        bits = np.frombuffer(rng.bytes(size * dtype.itemsize), dtype if dtype.kind != "b" else np.uint8)
        x = bits.copy() if dtype.kind != "b" else bits > 127
    else:
        x = rng.integers(0, draw(st.sampled_from([2, 5, 100])), size).astype(dtype)
    x = x.reshape(shape)
    form = draw(st.integers(0, 9))
    if form == 0:
        x = np.asfortranarray(x)
    elif form == 1 and x.ndim:
        x = x[::-1]
    elif form == 2 and x.ndim:
        x = np.repeat(x, 2, axis=-1)[..., ::2]
    elif form == 3:
        x = np.broadcast_to(x, (2, *shape))
    elif form == 4:
        x.flags.writeable = False
    elif form == 6:
        x = np.ma.array(x, mask=rng.random(x.shape) < draw(st.sampled_from([0, 0.3])))
    elif form == 7 and x.dtype == "f4":
        x = x.astype(BFLOAT16)
    elif form == 5 and x.ndim:
        x = np.sort(x, axis=-1) if dtype.kind not in "SUO" else x
    return x


JUNK = st.one_of(st.none(), st.integers(-3, 9), st.integers(), st.floats(), st.booleans(), st.text(max_size=3),
                 st.lists(st.integers(-2, 9), max_size=5), st.tuples(st.integers(0, 3), st.integers(0, 9)),
                 st.dictionaries(st.text(max_size=2), st.integers(), max_size=2), st.binary(max_size=3),
                 st.builds(object), st.sampled_from([10**400, -10**400, 2**31, 2**63, 2**64]),
                 st.sampled_from(["sum", "max", "largest", "left", "linear", "union", "float64",
                                                     "int32", "<", "less", "sort"]))
SMALL = st.one_of(st.none(), st.integers(0, 6), st.booleans())


@st.composite
def argument(draw, parameter, first):
    """A value for a parameter: an array for positional ones, mostly a fitting value for the others."""
    positional = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    if positional:
        return draw(st.one_of(arrays(first), arrays(first), arrays(first), st.integers(0, 6), JUNK))
    if draw(st.integers(0, 4)) == 0:
        return draw(st.one_of(JUNK, arrays(first)))
    if parameter.default is not inspect.Parameter.empty:
        return draw(st.one_of(st.just(parameter.default), SMALL, st.sampled_from(["sum", "min", "mean", "less", 2])))
    return draw(st.one_of(SMALL, arrays(first)))


def snapshot(values):
    return [(x, np.ma.getdata(x).tobytes()) for x in values if isinstance(x, np.ndarray) and x.dtype != object]


@settings(max_examples=CALLS, deadline=None, database=None, derandomize=CALLS <= 500,
          suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_calls(data):
    name = data.draw(st.sampled_from(sorted(FUNCTIONS)))
    args, options = [], {}
    for parameter in parameters(name):
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        required = parameter.default is inspect.Parameter.empty
        if not required and data.draw(st.integers(0, 2)):
            continue
        first = next((x for x in args if isinstance(x, np.ndarray)), None)
        value = data.draw(argument(parameter, first))
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            args.append(value)
        else:
            options[parameter.name] = value
    outputs = options.get("out")
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    before = snapshot([*args, *(value for key, value in options.items() if key != "out")])
    try:
        with np.errstate(all="ignore"):
            result = FUNCTIONS[name](*args, **options)
        assert not isinstance(result, types.GeneratorType)
    except echelon.Error:
        pass
    for array, contents in before:
        if not any(isinstance(out, np.ndarray) and np.may_share_memory(out, array) for out in outputs):
            assert np.ma.getdata(array).tobytes() == contents, "the call changed an input"
