/*
 * 1_one_bit.cu - a radix sort with one bit per pass, by a prefix sum over the whole array.
 *
 * Idea:   for bit k: b is the bit of each key, s its exclusive prefix sum, the number of ones
 *         before it. Zeros come first and keep their order: they move to i - s; ones follow: they
 *         move to zeros + s. Each pass is stable, so after the last bit the keys are sorted.
 *         Floats: all bits of negative floats are inverted, the sign bit of others, and inverted
 *         back at the end
 * Cost:   a pass writes the bits, scans them by tiles, tiles of tiles ..., and moves the keys:
 *         about 36 bytes per key; 32 passes
 * Wastes: a 32-bit counter, read and written four times, for a single bit
 * From:   the lecture's formula; Blelloch (1990). The lecture goes from bit 31 to bit 0, which does
 *         not sort; a row of the table shows it. Here the lowest bit is the first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* Maps keys to order-preserving unsigned integers. */
extern "C" __global__ void radix_1_flip(const element *in, uint64_t n, uint32_t *keys)
{
    if (global_thread() < n) keys[global_thread()] = order_bits(in[global_thread()]);
}

extern "C" __global__ void radix_1_flip_back(const uint32_t *keys, uint64_t n, element *out)
{
    if (global_thread() < n) from_order_bits(keys[global_thread()], &out[global_thread()]);
}

extern "C" __global__ void radix_1_bits(const uint32_t *keys, uint64_t n, unsigned bit,
                                        uint32_t *counts)
{
    if (global_thread() < n) counts[global_thread()] = keys[global_thread()] >> bit & 1;
}

/* Scans each tile of 1024 counts in place, and stores its sum. */
extern "C" __global__ void radix_1_scan(uint32_t *counts, uint64_t n, uint32_t *sums)
{
    __shared__ uint32_t of_warp[32];
    const unsigned t = threadIdx.x, lane = t % 32;
    const uint64_t i = global_thread();
    const uint32_t mine = i < n ? counts[i] : 0;
    uint32_t sum = mine; /* inclusive prefix in the warp */
    for (unsigned s = 1; s < 32; s *= 2) {
        uint32_t left = __shfl_up_sync(ALL_LANES, sum, s);
        if (lane >= s) sum += left;
    }
    if (lane == 31) of_warp[t / 32] = sum;
    __syncthreads(); /* the sums of all warps are written */
    uint32_t before = lane < t / 32 ? of_warp[lane] : 0;
    for (unsigned s = 16; s > 0; s /= 2) before += __shfl_xor_sync(ALL_LANES, before, s);
    if (i < n) counts[i] = before + sum - mine;
    if (t == 1023) sums[blockIdx.x] = before + sum;
}

/* Adds its exclusive prefix to each tile except the first. */
extern "C" __global__ void radix_1_add(uint32_t *counts, uint64_t n, const uint32_t *sums)
{
    const uint64_t tile = (uint64_t)blockIdx.x + 1, i = tile * 1024 + threadIdx.x;
    if (i < n) counts[i] += sums[tile];
}

extern "C" __global__ void radix_1_move(const uint32_t *keys, uint64_t n, unsigned bit,
                                        const uint32_t *ones_before, uint32_t *out)
{
    const uint64_t i = global_thread();
    if (i >= n) return;
    const uint64_t zeros = n - ones_before[n - 1] - (keys[n - 1] >> bit & 1);
    const uint32_t key = keys[i], ones = ones_before[i];
    out[key >> bit & 1 ? zeros + ones : i - ones] = key;
}
