/*
 * 5_conflicts.cu - bank conflicts: words with a stride of two.
 *
 * Idea:   the word of lane l is at position 2 l: lanes l and l + 16 access the same one of the 32
 *         banks
 * Cost:   two wavefronts per request instead of one; with 16 banks, each half warp needs two
 *         instead of one
 * Wastes: the odd banks
 * From:   arrays of structs with two words
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_5(const element *in, uint64_t n, element *out)
{
    __shared__ element s[64];
    unsigned lane = threadIdx.x, other = 31 - lane;
    uint64_t first = (uint64_t)blockIdx.x * 32;
    if (first + lane < n) s[2 * lane] = in[first + lane];
    __syncwarp(); /* all lanes have stored their words */
    if (first + other < n) out[first + other] = s[2 * other];
}
