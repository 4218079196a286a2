/*
 * 2_fewer_threads.cu - more keys than threads.
 *
 * Idea:   of T threads each takes ceil(n / T) neighbouring keys, one after another
 * Cost:   n * n comparisons, n * ceil(n / T) steps: past T keys the time is n * n again
 * Wastes: as before; and the keys of neighbouring threads lie apart
 * From:   the course's variant for large arrays, which lost the rest of n / T
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_2(const element *in, uint64_t n, uint64_t *rank, element *out)
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
