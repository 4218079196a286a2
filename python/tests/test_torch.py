"""echelon.torch: results, gradients, fake tensors and torch.compile().

SPDX-License-Identifier: Apache-2.0
"""
import echelon
import pytest

torch = pytest.importorskip("torch", minversion="2.4")
import echelon.torch as et  # noqa: E402  PyTorch may be missing

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
OPERATORS = {
    "sort": lambda x, o: et.sort(x, 0)[0],
    "sort descending": lambda x, o: et.sort(x, 1, True)[0],
    "topk": lambda x, o: et.topk(x, 2)[0],
    "topk smallest": lambda x, o: et.topk(x, 3, 0, largest=False)[0],
    "cumsum": lambda x, o: et.cumsum(x, 0),
    "cumsum reverse": lambda x, o: et.cumsum(x, 1, reverse=True),
    "segment sum": lambda x, o: et.segment_reduce(x.reshape(-1), o),
    "segment mean": lambda x, o: et.segment_reduce(x.reshape(-1), o, "mean")[[0, 2]],
    "segment min": lambda x, o: et.segment_reduce(x.reshape(-1), o, "min")[[0, 2]],
    "segment max": lambda x, o: et.segment_reduce(x.reshape(-1), o, "max")[[0, 2]],
}


def data(device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    torch.manual_seed(1)
    return torch.randn(5, 6, dtype=torch.float64, device=device), torch.tensor([2, 9, 9, 28], device=device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", OPERATORS)
def test_gradients(device, name):
    x, offsets = data(device)
    torch.autograd.gradcheck(lambda x: OPERATORS[name](x, offsets), x.requires_grad_())
    torch.autograd.gradgradcheck(lambda x: OPERATORS[name](x, offsets), x)


@pytest.mark.parametrize("device", DEVICES)
def test_results(device):
    x, offsets = data(device)
    for dim in (0, 1):
        for descending in (False, True):
            expected = torch.sort(x, dim=dim, descending=descending, stable=True)
            actual = et.sort(x, dim, descending)
            assert torch.equal(actual.values, expected.values) and torch.equal(actual.indices, expected.indices)
            assert torch.equal(et.argsort(x, dim, descending), expected.indices)
            expected = torch.topk(x, 3, dim, largest=descending)
            actual = et.topk(x, 3, dim, descending)
            assert torch.equal(actual.values, expected.values) and torch.equal(actual.indices, expected.indices)
        torch.testing.assert_close(et.cumsum(x, dim), torch.cumsum(x, dim))
    assert et.cumsum(torch.ones(3, dtype=torch.int32, device=device)).dtype is torch.int64
    flat = x.reshape(-1)
    assert torch.allclose(et.segment_reduce(flat, offsets.int()),
                          torch.stack([flat[2:9].sum(), flat[9:9].sum(), flat[9:28].sum()]))
    assert et.sort(flat[:0]).values.shape == (0,) and et.topk(flat, 0).indices.shape == (0,)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.int64])
def test_dtypes(device, dtype):
    x = (data(device)[0] * 10).to(dtype)
    offsets = torch.tensor([0, 10, 30], device=device)
    for function in (lambda: et.sort(x).values, lambda: et.topk(x, 2).values, lambda: et.cumsum(x),
                     lambda: et.segment_reduce(x.reshape(-1), offsets),
                     lambda: et.segment_reduce(x.reshape(-1), offsets, "mean"),
                     lambda: et.segment_reduce(x.reshape(-1), offsets, "max")):
        function()
    for op in ("sum", "mean", "max"):
        torch.library.opcheck(torch.ops.echelon.segment_reduce.default, (x.reshape(-1), offsets, op))


@pytest.mark.parametrize("device", DEVICES)
def test_opcheck(device):
    """The schemas, the fake implementations and the gradients agree with what the operators do."""
    x, offsets = data(device)
    for tensor in (x, x.T, x.clone().requires_grad_()):
        torch.library.opcheck(torch.ops.echelon.sort.default, (tensor, 1, False))
        torch.library.opcheck(torch.ops.echelon.topk.default, (tensor, 2, 0, True))
        torch.library.opcheck(torch.ops.echelon.cumsum.default, (tensor, 0, True))
        torch.library.opcheck(torch.ops.echelon.segment_reduce.default, (tensor.reshape(-1), offsets, "sum"))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.gpu)])
def test_compile(device, backend):
    x, offsets = data(device)

    def model(x):
        values, indices = et.topk(x, 3)
        return et.cumsum(values.softmax(-1)) * indices + et.sort(x, 1).values[:, :3]

    compiled = torch.compile(model, backend=backend, fullgraph=True)
    x.requires_grad_()
    torch.testing.assert_close(compiled(x), model(x))
    eager, = torch.autograd.grad(model(x).sum(), x)
    traced, = torch.autograd.grad(compiled(x).sum(), x)
    torch.testing.assert_close(traced, eager)


def test_compile_around_a_function_of_the_package(capfd):
    """The function is called, not traced."""
    compiled = torch.compile(lambda x: echelon.sort(x + 1) * 2, backend="eager")
    assert compiled(torch.tensor([3.0, 1.0])).tolist() == [4.0, 8.0]
    assert "AttributeError" not in capfd.readouterr().err


@pytest.mark.gpu
def test_graph_capture():
    x, offsets = data("cuda")
    flat = x.reshape(-1).clone()
    functions = (lambda: et.sort(x).values, lambda: et.topk(x, 2).values, lambda: et.cumsum(x),
                 lambda: et.segment_reduce(flat, offsets))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for function in functions:
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [function() for function in functions]
    x.copy_(torch.randn_like(x))
    flat.copy_(x.reshape(-1))
    graph.replay()
    torch.cuda.synchronize()
    for result, function in zip(results, functions):
        assert torch.equal(result, function())


@pytest.mark.parametrize("call, error, text", [
    (lambda x: et.sort(x, 2), echelon.ArgumentError, "dim is 2"),
    (lambda x: et.sort(x, "0"), echelon.DTypeError, "dim is '0'"),
    (lambda x: et.topk(x, 9), echelon.ArgumentError, "k is 9"),
    (lambda x: et.topk(x, 1.5), echelon.DTypeError, "k is 1.5"),
    (lambda x: et.segment_reduce(x, x), echelon.ArgumentError, "dimensions"),
    (lambda x: et.segment_reduce(x[0], x[0]), echelon.DTypeError, "offsets has dtype"),
    (lambda x: et.segment_reduce(x[0], torch.tensor([0, 1]), "median"), echelon.ArgumentError, "op is 'median'"),
    (lambda x: et.segment_reduce(x[0], torch.tensor([5, 1])), echelon.ArgumentError, "offsets"),
    (lambda x: et.cumsum(x.to(torch.complex64)), echelon.DTypeError, "complex64"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(torch.ones(3, 4))


@pytest.mark.filterwarnings("ignore")  # of PyTorch, about nested and fake tensors
def test_tensors_without_memory():
    from torch._subclasses import FakeTensorMode
    with FakeTensorMode():
        fake = torch.empty(3)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    for call in (lambda: echelon.sort(fake), lambda: echelon.sort(nested),
                 lambda: torch.func.vmap(echelon.sort)(torch.ones(2, 3))):
        with pytest.raises(echelon.ArgumentError, match="x "):
            call()
