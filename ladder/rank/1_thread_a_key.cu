/*
 * 1_thread_a_key.cu - the final position of a key is the number of keys before it.
 *
 * Idea:   thread t counts the keys that are less than in[t] and writes in[t] to that position: n
 *         threads take n steps, and no thread waits for another
 * Cost:   n * n comparisons; n steps as long as there is a thread per key
 * Wastes: the rank is in global memory and is written for every smaller key; each warp reads the
 *         whole array
 * From:   the course's enumeration sort. It lost equal keys, because they got one position; here
 *         the earlier of two equal keys comes first
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
