"""arrays.py - the modules grid_cpu and grid_gpu through ctypes, and the arrays of a row as arrays of NumPy, polars,
PyTorch and CuPy, which share the memory.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import types

from design import DISTS, DTYPES, OPS

import rivals

NUMPY = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
         "f16": "f2", "bf16": "i2", "f32": "f4", "f64": "f8"}
TORCH = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
POINTER = ctypes.c_void_p


class Row(ctypes.Structure):
    """struct grid_row"""

    _fields_ = [(name, ctypes.c_int32) for name in ("op", "dtype", "dist", "param")] + \
        [(name, ctypes.c_uint64) for name in ("n", "seed")]


class Slot(ctypes.Structure):
    """struct grid_slot"""

    _fields_ = [("ours", POINTER), ("other", POINTER), ("dtype", ctypes.c_int), ("kind", ctypes.c_int),
                ("stride_bytes", ctypes.c_size_t), ("n", ctypes.c_uint64), ("tolerance", ctypes.c_double)]


class Case(ctypes.Structure):
    """struct grid_case"""

    _fields_ = [("row", Row), ("ctx", POINTER), ("bytes", ctypes.c_size_t), ("copies", ctypes.c_size_t),
                ("copy", ctypes.c_size_t), ("input", POINTER), ("aux", POINTER), ("aux2", POINTER),
                ("n_aux", ctypes.c_uint64), ("cols", ctypes.c_uint64), ("out", POINTER * 2), ("out2", POINTER * 2),
                ("count", POINTER * 2), ("out_bytes", ctypes.c_size_t), ("out2_bytes", ctypes.c_size_t),
                ("aux_bytes", ctypes.c_size_t), ("aux2_bytes", ctypes.c_size_t), ("value", ctypes.c_uint64 * 2),
                ("range", ctypes.c_double * 2), ("kept", ctypes.c_uint64), ("read", ctypes.c_double),
                ("written", ctypes.c_double), ("slots", Slot * 2), ("n_slots", ctypes.c_int)]


class Module:
    """A module, opened for its processor."""

    def __init__(self, path, threads=1):
        self.lib = ctypes.CDLL(str(path))
        for name, result, parameters in (
                ("grid_open", ctypes.c_char_p, [ctypes.c_int]), ("grid_machine", ctypes.c_char_p, []),
                ("grid_contender", ctypes.c_char_p, [ctypes.c_int]),
                ("grid_begin", ctypes.c_char_p, [ctypes.POINTER(Row)]), ("grid_end", None, []),
                ("grid_arrays", ctypes.POINTER(Case), []), ("grid_time", ctypes.c_double, [ctypes.c_int] * 2),
                ("grid_lead", ctypes.c_int, []), ("grid_mark", None, []), ("grid_since_mark", ctypes.c_double, []),
                ("grid_stream", POINTER, []),
                ("grid_check", ctypes.c_int, [ctypes.c_int]), ("grid_limit", ctypes.c_double, [ctypes.c_int]),
                ("grid_check_array", ctypes.c_int,
                 [ctypes.c_int, POINTER, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64])):
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name[5:], function)
        error = self.open(threads)
        if error:
            raise SystemExit(error.decode())
        self.contenders = []
        while name := self.contender(len(self.contenders)):
            self.contenders.append(tuple(name.decode().split("|")))

    def start(self, row, seed):
        """Generates the row's data; returns None or the reason why it cannot be measured."""
        self.row = row
        record = Row(list(OPS).index(row.op), DTYPES.index(row.dtype), DISTS.index(row.dist), row.param, row.n, seed)
        error = self.begin(ctypes.byref(record))
        return error.decode() if error else None

    def views(self, view, backend):
        """What rivals.py needs. view(pointer, dtype, n) makes an array of the backend's library."""
        case, row = self.arrays().contents, self.row
        n, pointers = case.row.n, {"in": case.input, "aux": case.aux, "aux2": case.aux2}

        def part(name, dtype, count, offset=0):
            return view(pointers[name] + offset, dtype, count)

        a = types.SimpleNamespace(op=row.op, dtype=row.dtype, param=row.param, n=n, rows=case.n_aux, cols=case.cols,
                                  range=(case.range[0], case.range[1]), flags=None, needles=None, places=None)
        a.x = [part("in", row.dtype, n, i * n * case.bytes) for i in range(case.copies)]
        if row.op == "pairs":
            a.payload = part("aux", "u32" if row.param == 4 else "i64", n * max(1, row.param // 8))
            a.payload = backend.signed(a.payload)
            if row.param == 16:
                a.payload = a.payload.reshape(-1, 2)
        elif row.op in ("compact", "partition"):
            a.flags = backend.boolean(part("aux", "u8", n))
        elif row.op == "search":
            a.needles = part("aux", row.dtype, n)
        elif row.op == "gather":
            a.places = part("aux", "i64", n)
        elif row.op == "rle_decode":
            a.values, a.lengths = part("aux", row.dtype, case.n_aux), part("aux2", "i64", case.n_aux)
        elif row.op == "reduce_segments":
            a.offsets = part("aux", "i32", case.n_aux + 1)
        elif row.op == "matvec":
            a.vector = part("aux", row.dtype, case.cols)
        elif row.op == "spmv":
            a.columns, a.vector = part("aux", "i32", n), part("aux", row.dtype, case.cols, 4 * n)
            a.row_offsets = part("aux2", "i32", case.n_aux + 1)
        elif row.op == "select":
            a.value = backend.scalar(a.x[0], n // 2)
        elif row.op == "quantile":
            a.probabilities = backend.probabilities(row.dtype)
        return a


class Numpy:
    """NumPy, and SciPy and polars, which use its arrays."""

    libraries = ("NumPy", "SciPy")

    def __init__(self, gpu, module):
        import numpy
        self.np, self.modules, self.versions = numpy, {"NumPy": numpy}, {"NumPy": numpy.__version__}
        try:
            import scipy
            self.modules["SciPy"], self.versions["SciPy"] = scipy, scipy.__version__
        except ImportError:
            pass

    def supports(self, dtype):
        return dtype != "bf16"

    def view(self, pointer, dtype, n):
        if not n:
            return self.np.empty(0, NUMPY[dtype])
        size = n * int(NUMPY[dtype][1])
        return self.np.frombuffer((ctypes.c_char * size).from_address(pointer), NUMPY[dtype])

    def signed(self, x):
        return x.view("i4") if x.dtype == "u4" else x

    def boolean(self, x):
        return x.view(bool)

    def scalar(self, x, i):
        return x[i]

    def probabilities(self, dtype):
        return rivals.NINE

    def results(self, result):
        """(pointer, dtype, elements, the object that owns the memory) of each array."""
        for part in result if isinstance(result, tuple) else (result,):
            part = self.np.ascontiguousarray(part)
            name = {"b": "u8"}.get(part.dtype.kind, f"{part.dtype.kind}{8 * part.dtype.itemsize}")
            yield part.ctypes.data, name, part.size, part

    def wait(self):
        pass

    def release(self):
        pass


class Polars(Numpy):
    libraries = ("polars",)

    def __init__(self, gpu, module):
        super().__init__(gpu, module)
        import polars
        self.pl, self.modules, self.versions = polars, {"polars": polars}, {"polars": polars.__version__}

    def supports(self, dtype):
        return dtype not in ("bf16", "f16")

    def convert(self, a):
        a.x = [self.pl.Series(x) for x in a.x]

    def results(self, result):
        yield from super().results(result.to_numpy() if isinstance(result, self.pl.Series) else result)


class Torch:
    """PyTorch on either processor."""

    libraries = ("torch",)

    def __init__(self, gpu, module):
        import torch
        if gpu and not torch.cuda.is_available():
            raise ImportError("PyTorch has no GPU")
        self.torch, self.gpu = torch, gpu
        self.modules, self.versions = {"torch": torch}, {"torch": torch.__version__}
        self.names = {getattr(torch, full): name for name, full in TORCH.items()}
        if gpu:
            torch.cuda.init()
            torch.cuda.set_stream(torch.cuda.ExternalStream(module.stream()))

    def supports(self, dtype):
        return True

    def view(self, pointer, dtype, n):
        bytes_, torch = int(NUMPY[dtype][1]), self.torch
        kind = getattr(torch, TORCH[f"i{8 * bytes_}"])
        if not n:
            return torch.empty(0, dtype=getattr(torch, TORCH[dtype]), device="cuda" if self.gpu else "cpu")
        if self.gpu:
            about = {"shape": (n,), "typestr": f"<i{bytes_}", "data": (pointer, False), "version": 2}
            memory = types.SimpleNamespace(__cuda_array_interface__=about)
            array = torch.as_tensor(memory, device="cuda")
        else:
            array = torch.frombuffer((ctypes.c_char * (n * bytes_)).from_address(pointer), dtype=kind)
        return array.view(getattr(torch, TORCH[dtype]))

    def signed(self, x):
        return x.view(self.torch.int32) if x.dtype == self.torch.uint32 else x

    def boolean(self, x):
        return x.view(self.torch.bool)

    def scalar(self, x, i):
        return x[i].item()

    def probabilities(self, dtype):
        kind = getattr(self.torch, TORCH[dtype])
        return self.torch.tensor(rivals.NINE, dtype=kind, device="cuda" if self.gpu else "cpu")

    def results(self, result):
        for part in result if isinstance(result, tuple) else (result,):
            part = part.contiguous()
            yield part.data_ptr(), self.names[part.dtype], part.numel(), part

    def release(self):
        if self.gpu:
            self.torch.cuda.empty_cache()


class Cupy(Numpy):
    libraries = ("CuPy",)

    def __init__(self, gpu, module):
        import cupy
        self.cp, self.modules, self.versions = cupy, {"CuPy": cupy}, {"CuPy": cupy.__version__}
        cupy.cuda.ExternalStream(module.stream()).use()

    def view(self, pointer, dtype, n):
        if not n:
            return self.cp.empty(0, NUMPY[dtype])
        cp, size = self.cp, n * int(NUMPY[dtype][1])
        memory = cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(pointer, size, self), 0)
        return cp.ndarray((n,), NUMPY[dtype], memory)

    def scalar(self, x, i):
        return x[i].get()[()]

    def probabilities(self, dtype):
        return self.cp.asarray(rivals.NINE)

    def results(self, result):
        for part in result if isinstance(result, tuple) else (result,):
            part = self.cp.ascontiguousarray(part)
            yield part.data.ptr, f"{part.dtype.kind}{8 * part.dtype.itemsize}", part.size, part

    def release(self):
        self.cp.get_default_memory_pool().free_all_blocks()


def backends(gpu, module):
    """The libraries that are installed."""
    found = []
    for kind in (Torch, Cupy) if gpu else (Numpy, Polars, Torch):
        try:
            found.append(kind(gpu, module))
        except ImportError as error:
            print(f"skipped: {', '.join(kind.libraries)}: {error}", flush=True)
    return found
