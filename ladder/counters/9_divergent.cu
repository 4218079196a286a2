/*
 * 9_divergent.cu - divergent branches: half of the lanes do the work.
 *
 * Idea:   lanes with odd numbers copy two words, lanes with even numbers none
 * Cost:   one divergent branch per warp, and two load and two store requests instead of one
 * Wastes: half of the lanes in every instruction of the branch
 * From:   the first reduction of the lecture
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_9(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    if (i >= n) return;
    if (i % 2) {
        out[i - 1] = in[i - 1];
        out[i] = in[i];
    } else if (i + 1 == n) {
        out[i] = in[i]; /* without an odd neighbour */
    }
}
