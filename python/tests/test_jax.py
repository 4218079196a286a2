"""echelon.jax: results inside jit(), gradients and vmap(), on the CPU and on a GPU if JAX has one.

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import echelon.jax as ej  # noqa: E402  JAX may be missing
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "float16", "bfloat16", "float32", "bool"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_results(rng, dtype, axis):
    x = jnp.asarray(rng.integers(0, 20, (7, 9))).astype(dtype)
    n = x.shape[axis]
    for descending in (False, True):
        expected = jnp.argsort(x, axis=axis, stable=True, descending=descending)
        np.testing.assert_array_equal(jax.jit(lambda x: ej.argsort(x, axis, descending))(x), expected)
        actual = jax.jit(lambda x: ej.sort(x, axis, descending))(x)
        np.testing.assert_array_equal(actual, jnp.take_along_axis(x, expected, axis))
        assert actual.dtype == x.dtype
        values, indices = jax.jit(lambda x: ej.top_k(x, 3, axis, "largest" if descending else "smallest"))(x)
        np.testing.assert_array_equal(indices, jax.lax.slice_in_dim(expected, 0, min(3, n), axis=axis % 2))
        np.testing.assert_array_equal(values, jnp.take_along_axis(x, indices, axis))
    if dtype != "bool":
        np.testing.assert_allclose(jax.jit(lambda x: ej.cumsum(x, axis))(x).astype("f4"),
                                   jnp.cumsum(x.astype("i4"), axis).astype(x.dtype).astype("f4"))


def test_empty_and_small():
    assert ej.sort(jnp.zeros((0,))).shape == (0,)
    assert ej.sort(jnp.zeros((3, 0))).shape == (3, 0)
    assert ej.top_k(jnp.zeros((3, 4)), 0)[0].shape == (3, 0)
    assert ej.top_k(jnp.zeros((3, 4)), np.int64(2), np.int64(0))[0].shape == (2, 4)
    assert ej.cumsum(jnp.ones((1,))).tolist() == [1]
    assert ej.segment_sum(jnp.ones((3,)), jnp.array([0])).shape == (0,)


def test_gradients(rng):
    x = jnp.asarray(rng.normal(size=(4, 5)), "float32")
    offsets = jnp.array([1, 3, 3, 19])
    for function in (lambda x: ej.sort(x, 0), lambda x: ej.sort(x, descending=True), lambda x: ej.top_k(x, 2)[0],
                     lambda x: ej.cumsum(x, 0), lambda x: ej.cumsum(x, reverse=True),
                     lambda x: ej.segment_sum(x.reshape(-1), offsets)):
        check_grads(function, (x,), order=1, modes=["rev"], atol=1e-2, rtol=1e-2)


def test_vmap(rng):
    x = jnp.asarray(rng.normal(size=(3, 4, 5)), "float32")
    np.testing.assert_array_equal(jax.vmap(ej.sort)(x), jnp.sort(x))
    np.testing.assert_array_equal(jax.vmap(lambda x: ej.top_k(x, 2)[1])(x), jax.lax.top_k(x, 2)[1])
    sums = jax.vmap(lambda x: ej.segment_sum(x.reshape(-1), jnp.array([0, 7, 20])))(x)
    np.testing.assert_allclose(sums[:, 0], x.reshape(3, -1)[:, :7].sum(1), rtol=1e-5)


def test_many_calls_at_once(rng):
    """XLA calls the handlers in its own threads."""
    x = jnp.asarray(rng.normal(size=(64, 1000)), "float32")
    for _ in range(20):
        results = [ej.sort(x + i) for i in range(4)]
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result, jnp.sort(x + i))


def test_settings_reach_the_contexts(monkeypatch):
    """set_threads() and set_memory_limit() hold for contexts that XLA's threads open later."""
    from echelon._jax import ffi
    from echelon._runtime import context
    configured = []
    monkeypatch.setattr(ffi, "_free", {})
    monkeypatch.setattr(context, "_configure", configured.append)
    ej.sort(jnp.array([2, 1])).block_until_ready()
    assert len(configured) == 1


@pytest.mark.parametrize("call, error, text", [
    (lambda x: ej.sort(x, 2), echelon.ArgumentError, "axis is 2"),
    (lambda x: ej.sort(x[0, 0]), echelon.ArgumentError, "no dimensions"),
    (lambda x: ej.sort(x * 1j), echelon.DTypeError, "complex64"),
    (lambda x: ej.top_k(x, 9), echelon.ArgumentError, "k is 9"),
    (lambda x: ej.top_k(x, 1, mode="best"), echelon.ArgumentError, "mode is 'best'"),
    (lambda x: ej.segment_sum(x, x), echelon.ArgumentError, "dimensions"),
    (lambda x: ej.segment_sum(x[0], x[0]), echelon.DTypeError, "offsets has dtype"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(jnp.ones((3, 4), "float32"))


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="on a GPU the offsets are checked later")
def test_errors_of_data():
    with pytest.raises(Exception, match="offsets"):
        ej.segment_sum(jnp.ones(3), jnp.array([0, 9])).block_until_ready()
    assert ej.sort(jnp.array([2, 1])).tolist() == [1, 2]
