"""topk_python.py - measures ech_topk() and ech_topk_rows() next to NumPy, torch and CuPy.

    bench/topk_python.py LIBRARY cpu  [--threads N] >cpu.csv      NumPy's partition, and torch.topk if it is installed
    bench/topk_python.py LIBRARY cuda [--images FILE] >gpu.csv    torch.topk, torch.kthvalue and cupy.partition

LIBRARY is libechelon.so.  Each result is compared with that of NumPy or torch; the script fails if one differs.  The
rows "neighbours" are real input: distances between images of digits, which scikit-learn bundles.  FILE is a .npy file
with these images, [1797][64] of u8, for machines without scikit-learn.  1,797 images are too few, so each is repeated,
shifted by one pixel and with noise, until there are 10,000.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import datetime
import statistics
import sys
import time

import numpy as np

from contest import Echelon, module

REPEATS = 7
F32, I64 = np.dtype("float32"), np.dtype("int64")
CPU_CASES = [(1, 10**7, 10), (1, 10**7, 1000), (1, 10**7, 100_000), (1, 10**7, 2_000_000), (10_000, 1000, 10),
             (10_000, 1000, 100), (100_000, 64, 8), (1000, 10_000, 100)]
GPU_CASES = [(1, 2**28, 10), (1, 2**28, 1000), (1, 2**28, 100_000), (4_194_304, 64, 8), (100_000, 1000, 10),
             (65_536, 4096, 16), (10_000, 10_000, 100), (2048, 131_072, 16)]
NEIGHBOURS = (10_000, 10_000, 100)


def digits(path):
    if path:
        return np.load(path)
    from sklearn.datasets import load_digits
    return load_digits().data.astype(np.uint8)


def distances(images):
    """The squared distances between 10,000 images, f32."""
    rng = np.random.default_rng(1)
    n = NEIGHBOURS[0]
    picture = images[np.arange(n) % len(images)].reshape(n, 8, 8).astype(F32)
    for copy in range(1, -(-n // len(images))):
        part = slice(copy * len(images), (copy + 1) * len(images))
        picture[part] = np.roll(picture[part], 1 if copy % 2 else -1, axis=1 + copy // 2 % 2)
        picture[part] += rng.normal(0, 1, picture[part].shape).astype(F32)
    flat = picture.reshape(n, 64)
    squares = (flat * flat).sum(axis=1)
    return squares[:, None] + squares[None, :] - 2 * flat @ flat.T


class TopK(Echelon):
    def prepare(self, device, rows, cols, k, unsorted=False):
        """The options of a call, with a size of the workspace."""
        options = self.lib.struct("ech_topk_options", smallest=1, unsorted=int(unsorted))
        size = ctypes.c_size_t()
        call = self.lib.TOPK_CALL_ROWS
        self.lib.call("ech_topk_workspace", device.encode(), call, rows * cols, rows, k, self.lib.F32,
                      ctypes.addressof(options), ctypes.addressof(size))
        return options, size.value

    def run(self, keys, values, indices, rows, cols, k, options):
        self.call("ech_topk_rows", keys, values, indices, rows, cols, k, self.lib.F32, self.lib.I64,
                  ctypes.addressof(options))


def row(dist, shape, contender, times, gigabytes):
    rows, cols, k = shape
    ms = statistics.median(times)
    print(f"topk,f32,{rows * cols},{rows} x {cols} k={k},{dist},{contender},{ms:.6f},{min(times):.6f},{max(times):.6f},"
          f"{gigabytes / ms * 1e3:.2f},0,", flush=True)


def wall(work):
    times = []
    for _ in range(REPEATS + 1):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1e3)
    return times[1:]


def numpy_topk(keys, k):
    """The k smallest of each row and their positions, in ascending order; ties in any order."""
    at = np.argpartition(keys, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(keys, at, 1)
    order = np.argsort(values, axis=1)
    return np.take_along_axis(values, order, 1), np.take_along_axis(at, order, 1)


def on_cpu(echelon, dist, shape, keys):
    rows, cols, k = shape
    gigabytes = keys.nbytes * 1e-9
    values, indices = np.empty((rows, k), F32), np.empty((rows, k), I64)
    expected = np.sort(np.partition(keys, k - 1, axis=1)[:, :k], axis=1)
    for name, unsorted in ("echelon", False), ("echelon unsorted", True):
        options, size = echelon.prepare("cpu", rows, cols, k, unsorted)
        work = np.empty(size + 256, np.uint8)
        options.work, options.work_bytes = work.ctypes.data + -work.ctypes.data % 256, size
        row(dist, shape, name, wall(lambda: echelon.run(keys.ctypes.data, values.ctypes.data, indices.ctypes.data, rows,
                                                        cols, k, options)), gigabytes)
        if not np.array_equal(np.sort(values, axis=1), expected) or \
                not np.array_equal(np.take_along_axis(keys, indices, 1), values):
            raise SystemExit(f"{dist} {shape}: the result of {name} differs from that of NumPy")
    row(dist, shape, "numpy.partition", wall(lambda: np.partition(keys, k - 1, axis=1)), gigabytes)
    row(dist, shape, "numpy.argpartition+argsort", wall(lambda: numpy_topk(keys, k)), gigabytes)
    torch = module("torch")
    if torch:
        tensor = torch.from_numpy(keys)
        row(dist, shape, "torch.topk", wall(lambda: torch.topk(tensor, k, dim=1, largest=False)), gigabytes)


def events(torch, work):
    times = []
    for _ in range(REPEATS + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return times[1:]


def on_gpu(echelon, torch, dist, shape, keys):
    rows, cols, k = shape
    gigabytes = keys.numel() * 4e-9
    values = torch.empty((rows, k), dtype=torch.float32, device="cuda")
    indices = torch.empty((rows, k), dtype=torch.int64, device="cuda")
    options, size = echelon.prepare("cuda", rows, cols, k)
    work = torch.empty(size + 256, dtype=torch.uint8, device="cuda")
    options.work, options.work_bytes = work.data_ptr() + -work.data_ptr() % 256, size
    echelon.call("ech_set_stream", torch.cuda.current_stream().cuda_stream)
    row(dist, shape, "echelon", events(torch, lambda: echelon.run(
        keys.data_ptr(), values.data_ptr(), indices.data_ptr(), rows, cols, k, options)), gigabytes)
    found = torch.topk(keys, k, dim=1, largest=False)
    if not torch.equal(found.values, values) or not torch.equal(torch.gather(keys, 1, indices), values):
        raise SystemExit(f"{dist} {shape}: the result differs from that of torch.topk")
    del found
    name = f"torch-{torch.__version__}"
    row(dist, shape, name, events(torch, lambda: torch.topk(keys, k, dim=1, largest=False)), gigabytes)
    row(dist, shape, name + " kthvalue", events(torch, lambda: torch.kthvalue(keys, k, dim=1)), gigabytes)
    cupy = module("cupy")
    if cupy and rows * cols < 2**27:
        array = cupy.asarray(keys)
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            row(dist, shape, f"cupy-{cupy.__version__} partition",
                events(torch, lambda: cupy.partition(array, k - 1, axis=1)), gigabytes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("device", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--images")
    args = parser.parse_args()
    echelon = TopK(args.library, args.device, args.threads)
    torch = module("torch")
    if args.device == "cuda" and not (torch and torch.cuda.is_available()):
        print("topk_python.py: torch finds no GPU", file=sys.stderr)
        return 77
    if torch and args.threads:
        torch.set_num_threads(args.threads)
    print(f"# {datetime.date.today()}; by topk_python.py {args.device}; threads {args.threads or 'all'}; NumPy "
          f"{np.__version__}, torch {torch.__version__ if torch else 'none'}, echelon {echelon.version}")
    if args.device == "cuda":
        print(f"# device: {torch.cuda.get_device_name()}")
    print("op,dtype,n,shape,dist,contender,ms,ms_min,ms_max,gb_per_s,workspace_bytes,result")
    rng = np.random.default_rng(7)
    if args.device == "cpu":
        for shape in CPU_CASES:
            on_cpu(echelon, "normal", shape, rng.standard_normal(shape[:2], F32))
        on_cpu(echelon, "neighbours", NEIGHBOURS, distances(digits(args.images)))
    else:
        for shape in GPU_CASES:
            on_gpu(echelon, torch, "normal", shape, torch.randn(shape[:2], device="cuda"))
        on_gpu(echelon, torch, "neighbours", NEIGHBOURS, torch.from_numpy(distances(digits(args.images))).cuda())
    return 0


if __name__ == "__main__":
    sys.exit(main())
