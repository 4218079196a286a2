"""torch_sort.py - torch.sort (keys and indices) on the GPU, for the rows where it is the peer.

Prints CSV rows as gpu_sort writes them; exits with 77 when there is no torch with a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available():
    sys.exit(77)


def bench(name, dtype, n):
    keys = torch.randint(-(2**31), 2**31, (n,), device="cuda", dtype=torch.int64).to(dtype)
    times = []
    for _ in range(8):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = torch.sort(keys)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
        del result
    times = sorted(times[1:])
    ms = statistics.median(times)
    print(f"argsort,{name},{n},8,uniform,torch-{torch.__version__},{ms:.6f},{times[0]:.6f},"
          f"{times[-1]:.6f},{n / ms * 1e-6:.4f},,", flush=True)


bench("i32", torch.int32, 2**28)
bench("i64", torch.int64, 2**28)
