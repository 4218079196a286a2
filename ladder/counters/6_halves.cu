/*
 * 6_halves.cu - bank conflicts: a layout for half warps conflicts with 32 banks.
 *
 * Idea:   the upper half of the warp is 32 words after the lower half: lanes l and l + 16 access
 *         the same one of the 32 banks, but the two halves of a warp were separate requests on the
 *         first hardware
 * Cost:   two wavefronts per request with 32 banks; no conflict with 16 banks
 * Wastes: banks 16 to 31
 * From:   rows of 16 words, tuned for the first hardware
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* Position of a lane: 0 to 15, 32 to 47. */
static __device__ inline unsigned counters_6_at(unsigned lane)
{
    return lane + (lane & 16);
}

extern "C" __global__ void counters_6(const element *in, uint64_t n, element *out)
{
    __shared__ element s[48];
    unsigned lane = threadIdx.x, other = 31 - lane;
    uint64_t first = (uint64_t)blockIdx.x * 32;
    if (first + lane < n) s[counters_6_at(lane)] = in[first + lane];
    __syncwarp(); /* all lanes have stored their words */
    if (first + other < n) out[first + other] = s[counters_6_at(other)];
}
