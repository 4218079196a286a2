/*
 * 3_misaligned.cu - sectors: adjacent words that do not begin at a sector.
 *
 * Idea:   a warp copies 32 adjacent words, beginning one word after a sector begins
 * Cost:   five sectors per request: the words of the first and the last one are used only in part
 * Wastes: a fifth of the sectors
 * From:   arrays that begin at an arbitrary element
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_3(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    if (i >= n) return;
    uint64_t next = (i + 1) % n;
    out[next] = in[next];
}
