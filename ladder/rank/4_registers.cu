/*
 * 4_registers.cu - rank and own key in registers.
 *
 * Idea:   data of only one thread belongs in registers: the own key is read once, before the
 *         barrier that is needed anyway, so the second barrier is unnecessary
 * Cost:   n steps with one load from shared memory each, one barrier
 * Wastes: still one block, and one key per load
 * From:   the course's last variant
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_4(element *keys, uint64_t n)
{
    __shared__ element x[1024];
    unsigned t = threadIdx.x, count = (unsigned)n, rank = 0; /* at most 1024 */
    element own = t < count ? keys[t] : (element)0;
    x[t] = own;
    __syncthreads(); /* x is loaded, and every thread has read its key */
    if (t >= count) return;
    for (unsigned i = 0; i < count; i++)
        if (before(x[i], own) || (!before(own, x[i]) && i < t)) rank++;
    keys[rank] = own;
}
