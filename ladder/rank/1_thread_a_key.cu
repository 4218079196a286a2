/*
 * 1_thread_a_key.cu - the final place of a key is the number of keys that come before it.
 *
 * Idea:   thread t counts the keys that are less than in[t], and writes in[t] to that place: n
 *         threads do it in n steps, and none waits for another
 * Cost:   n * n comparisons; n steps while there is a thread for every key
 * Wastes: the rank lies in global memory, and is written again for every key that is less; each
 *         warp reads all of the array by itself
 * From:   the course's enumeration sort.  It lost keys that were equal, since they had one place:
 *         here the earlier of two equal keys comes first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_1(const element *in, uint64_t n, uint64_t *rank, element *out)
{
    uint64_t t = global_thread();
    if (t >= n) return;
    rank[t] = 0;
    for (uint64_t i = 0; i < n; i++)
        if (before(in[i], in[t]) || (!before(in[t], in[i]) && i < t)) rank[t]++;
    out[rank[t]] = in[t];
}
