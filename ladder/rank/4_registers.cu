/*
 * 4_registers.cu - the rank and the own key in registers.
 *
 * Idea:   what only one thread looks at is nobody else's business: the own key is read once, before
 *         the barrier that is there anyway, so that the second one goes
 * Cost:   n steps of one load from shared memory, one barrier
 * Wastes: one block still, and one key a load
 * From:   the course's last variant
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_4(element *keys, uint64_t n)
{
    __shared__ element x[1024];
    unsigned t = threadIdx.x, count = (unsigned)n, rank = 0; /* of a block: 1024 at most */
    element own = t < count ? keys[t] : (element)0;
    x[t] = own;
    __syncthreads(); /* all of x is there, and every key is in somebody's hand */
    if (t >= count) return;
    for (unsigned i = 0; i < count; i++)
        if (before(x[i], own) || (!before(own, x[i]) && i < t)) rank++;
    keys[rank] = own;
}
