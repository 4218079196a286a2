/*
 * 1_thread_a_key.cu - the final position of a key is the number of keys before it.
 *
 * Idea:   thread t counts the keys that are less than in[t] and writes in[t] to that position: n
 *         threads take n steps, and no thread waits for another
 * Cost:   n * n comparisons; n steps as long as there is a thread per key
 * Wastes: the rank is in global memory and is written for every smaller key; each warp reads the
 *         whole array
 * From:   the article on rank sort (2010), which counts as rank_1_distinct does and therefore needs
 *         distinct keys. Here the earlier of two equal keys comes first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_1(const element *in, uint64_t n, element *out, uint64_t *rank)
{
    uint64_t t = global_thread();
    if (t >= n) return;
    rank[t] = 0;
    for (uint64_t i = 0; i < n; i++)
        if (before(in[i], in[t]) || (!before(in[t], in[i]) && i < t)) rank[t]++;
    out[rank[t]] = in[t];
}

/* Descending: only the position changes.  The second half of out receives the index of each key. */
extern "C" __global__ void rank_1_descending(const element *in, uint64_t n, element *out,
                                             uint64_t *rank)
{
    uint64_t t = global_thread();
    if (t >= n) return;
    rank[t] = 0;
    for (uint64_t i = 0; i < n; i++)
        if (before(in[i], in[t]) || (!before(in[t], in[i]) && i < t)) rank[t]++;
    out[n - 1 - rank[t]] = in[t];
    out[n + n - 1 - rank[t]] = (element)t;
}

/* The original counts only smaller keys, so equal keys get the same rank.  Writes the ranks: keys
 * written to these positions would overwrite each other. */
extern "C" __global__ void rank_1_distinct(const element *in, uint64_t n, element *out,
                                           uint64_t *rank)
{
    uint64_t t = global_thread();
    if (t >= n) return;
    rank[t] = 0;
    for (uint64_t i = 0; i < n; i++)
        if (before(in[i], in[t])) rank[t]++;
    out[t] = (element)rank[t];
}
