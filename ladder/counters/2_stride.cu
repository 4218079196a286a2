/*
 * 2_stride.cu - sectors: words with a stride.
 *
 * Idea:   lane l copies the 8 words from 8 l on, in 8 steps; in a step the lanes are 8 words apart
 * Cost:   32 sectors per request, because each lane is in another sector
 * Wastes: 28 of 32 bytes per sector and request; every sector is requested eight times
 * From:   the usual division of an array among the cores of a CPU
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_2(const element *in, uint64_t n, element *out)
{
    uint64_t first = 8 * global_thread();
    for (unsigned k = 0; k < 8; k++)
        if (first + k < n) out[first + k] = in[first + k];
}
