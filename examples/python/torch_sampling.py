#!/usr/bin/env python3
"""torch_sampling.py - top-k sampling of logits in a model of PyTorch: echelon.torch.topk() compared with torch.topk().

    python3 torch_sampling.py --rows 64 --columns 128000 --k 50 --device cuda

A module selects the k largest logits of each row and draws one of them with the Gumbel-max trick. It runs eagerly and
under torch.compile(), with the function of either library. All four variants receive the same noise and must draw the
same logits; times are medians of alternating calls.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import statistics
import sys
import time

import echelon
import echelon.torch
import torch


class TopKSampler(torch.nn.Module):
    """Draws one of the k most probable columns of each row."""

    def __init__(self, k, temperature, topk):
        super().__init__()
        self.k, self.temperature, self.topk = k, temperature, topk

    def forward(self, logits, noise):
        """logits: [rows, columns]. noise: [rows, k], Gumbel distributed. Returns the columns, [rows]."""
        values, columns = self.topk(logits, self.k)
        drawn = torch.argmax(values / self.temperature + noise, -1, keepdim=True)
        return columns.gather(-1, drawn).squeeze(-1)


def gumbel(shape, device):
    """Numbers whose addition to logits makes argmax a draw from their softmax."""
    return -torch.log(torch.empty(shape, device=device).exponential_())


def times(variants, logits, noise, repeats):
    """Seconds of calls of each variant; the variants alternate."""
    seconds = {name: [] for name in variants}
    for _ in range(repeats):
        for name, sample in variants.items():
            start = time.perf_counter()
            sample(logits, noise)
            if logits.is_cuda:
                torch.cuda.synchronize()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--columns", type=int, default=128_000)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=0, help="of the CPU; 0: the default of each library")
    parser.add_argument("--backend", default="inductor", help="of torch.compile(); aot_eager needs no compiler")
    parser.add_argument("--repeats", type=int, default=15)
    o = parser.parse_args()
    if o.threads:
        torch.set_num_threads(o.threads)
        echelon.set_threads(o.threads)
    torch.manual_seed(1)
    logits = torch.randn(o.rows, o.columns, device=o.device)
    noise = gumbel((o.rows, o.k), o.device)

    variants = {}
    for name, topk in (("torch.topk", torch.topk), ("echelon.torch.topk", echelon.torch.topk)):
        sampler = TopKSampler(o.k, o.temperature, topk)
        variants[name] = sampler
        variants[name + ", compiled"] = torch.compile(sampler, backend=o.backend, fullgraph=True)

    # Columns with equal logits may be drawn in either order, so that the logits are compared.
    drawn = {name: logits.gather(1, sample(logits, noise)[:, None]) for name, sample in variants.items()}
    expected = drawn["torch.topk"]
    failed = [name for name, values in drawn.items() if not torch.equal(values, expected)]

    seconds = {name: statistics.median(found) for name, found in times(variants, logits, noise, o.repeats).items()}
    print(f"{o.rows} x {o.columns} logits, k = {o.k}, {o.device}")
    for name, time_of_call in seconds.items():
        print(f"{name:30} {1000 * time_of_call:10.3f} ms, {'other' if name in failed else 'equal'} draws")
    print(f"speedup over torch.topk: {seconds['torch.topk'] / seconds['echelon.torch.topk']:.2f}, compiled "
          f"{seconds['torch.topk, compiled'] / seconds['echelon.torch.topk, compiled']:.2f}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
