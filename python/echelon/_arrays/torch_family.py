"""Tensors of PyTorch on the CPU and on CUDA devices.

This module is imported when the first tensor is seen, so that PyTorch is not a requirement.

SPDX-License-Identifier: Apache-2.0
"""
import torch

from .._runtime import cuda
from .._runtime.errors import ArgumentError, DTypeError
from .view import BYTES, CODES, NAMES, View, simplified

_CODES = {getattr(torch, name): code for name, code in CODES.items() if hasattr(torch, name)}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}
_BOOL = torch.bool
_RAW_STREAM = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # the function that compiled models call


class Torch:
    """The family of torch.Tensor."""

    name = "torch"
    pools = True
    arithmetic = True

    @staticmethod
    def view(x, name="x"):
        code, kind = _CODES.get(x.dtype), ""
        if code is None:
            if x.dtype is not _BOOL:
                raise DTypeError(f"{name} has dtype {x.dtype}, but the dtypes are bool, {', '.join(NAMES)}")
            code, kind = CODES["uint8"], "bool"
        device = x.device
        if device.type == "cpu":
            place = "cpu"
        elif device.type == "cuda":
            place = f"cuda:{device.index}"
        else:
            raise ArgumentError(f"{name} is on device {device}, but the devices are cpu and cuda")
        if x.layout is not torch.strided or x.is_nested:
            raise ArgumentError(f"{name} has layout {x.layout}, but must be a dense tensor")
        if x.requires_grad and torch.is_grad_enabled():
            raise ArgumentError(f"{name} requires gradients, which this function does not compute: pass "
                                f"{name}.detach(), or use echelon.torch")
        readonly = x.is_neg()
        if readonly:
            x = x.resolve_neg()  # a copy
        shape = tuple(x.shape)
        strides = None
        try:
            if not x.is_contiguous():
                size = x.element_size()
                strides = simplified(shape, tuple(stride * size for stride in x.stride()), size)
            pointer = x.data_ptr()
        except RuntimeError as error:  # of torch.func
            raise ArgumentError(f"{name} is a tensor without memory: {error}") from error
        if not pointer and x.numel():  # of torch.compile
            raise ArgumentError(f"{name} is a tensor without memory")
        if pointer % BYTES[code]:
            raise ArgumentError(f"{name} is not aligned to the size of its elements; copy it with {name}.clone()")
        return View(x, Torch, pointer, shape, strides, code, place, readonly, kind)

    @staticmethod
    def dtype(code):
        try:
            return _DTYPES[code]
        except KeyError:
            raise DTypeError(f"this version of PyTorch has no dtype {NAMES[code]}") from None

    @staticmethod
    def bool_dtype():
        return _BOOL

    @staticmethod
    def empty(shape, dtype, device="cpu"):
        return torch.empty(shape, dtype=dtype, device=device)

    @staticmethod
    def contiguous(x):
        return x.clone(memory_format=torch.contiguous_format)

    @staticmethod
    def moveaxis(x, source, destination):
        return x.movedim(source, destination)

    @staticmethod
    def reshape(x, shape):
        return x.reshape(shape)

    @staticmethod
    def retyped(x, dtype):
        return x.view(dtype)

    @staticmethod
    def cast(x, dtype):
        return x.to(dtype).contiguous()

    @staticmethod
    def copy_to(target, source):
        target.copy_(source)

    @staticmethod
    def head(x, count):
        return x[:count] if 2 * count >= len(x) else x[:count].clone()

    @staticmethod
    def result(x):
        return x

    @staticmethod
    def stream(device):
        """The current stream of PyTorch."""
        if device == "cpu":
            return 0
        if _RAW_STREAM is not None:  # 0.1 us instead of 3.4
            return _RAW_STREAM(cuda.index_of(device))
        return torch.cuda.current_stream(device).cuda_stream

    @staticmethod
    def on_stream(device, stream):
        """A context manager in which this is the current stream."""
        return torch.cuda.stream(_stream_at(stream, device))

    @staticmethod
    def stream_owner(device):
        """An object that keeps the current stream, or None if it is never destroyed."""
        return None

    @staticmethod
    def allocator(device):
        """The caching allocator of PyTorch."""
        if device == "cpu":
            return None
        index = cuda.index_of(device)

        def allocate(size, stream):
            return torch.cuda.caching_allocator_alloc(size, index, stream)

        def release(pointer, size, stream):
            torch.cuda.caching_allocator_delete(pointer)

        return allocate, release

    @staticmethod
    def keep(view, stream):
        """Informs the allocator that work on this stream uses the tensor."""
        view.array.record_stream(_stream_at(stream, view.array.device))


def _stream_at(pointer, device):
    """The stream of PyTorch with an address. 0 and 1 are the legacy default stream, which ExternalStream rejects."""
    if pointer in (0, 1):
        return torch.cuda.default_stream(device)
    return torch.cuda.ExternalStream(pointer, device=device)
