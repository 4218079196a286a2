/*
 * 2_fewer_threads.cu - more keys than threads.
 *
 * Idea:   each of T threads processes ceil(n / T) adjacent keys, one after another
 * Cost:   n * n comparisons, n * ceil(n / T) steps: beyond T keys the time is O(n^2) again
 * Wastes: the same as rung 1; and the keys of adjacent threads are not adjacent
 * From:   the article's version for large arrays, whose threads take n / T keys, rounded down: the
 *         remainder is lost
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_2(const element *in, uint64_t n, element *out, uint64_t *rank)
{
    uint64_t each = (n + global_threads() - 1) / global_threads();
    uint64_t first = global_thread() * each, end = first + each < n ? first + each : n;
    for (uint64_t t = first; t < end; t++) {
        rank[t] = 0;
        for (uint64_t i = 0; i < n; i++)
            if (before(in[i], in[t]) || (!before(in[t], in[i]) && i < t)) rank[t]++;
        out[rank[t]] = in[t];
    }
}
