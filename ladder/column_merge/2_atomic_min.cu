/*
 * 2_atomic_min.cu - one thread per column, and one word for which all compete.
 *
 * Idea:   every thread applies atomicMin() with its column's head to the word; the thread whose
 *         head is the minimum writes it out and continues with its next key
 * Cost:   n steps of one atomic and one barrier
 * Wastes: atomics on one word are serialised: a step waits for all columns
 * From:   the article's second merge, which has distinct keys and whose code is lost. Here the
 *         lower half of the word is the column, so that exactly one thread owns the minimum; three
 *         alternating words save the barrier that would keep the next step's word from being
 *         cleared too early
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/column_merge/columns.cuh"

extern "C" __global__ void column_merge_2(const uint32_t *in, uint64_t n, uint32_t *out,
                                          unsigned columns)
{
    __shared__ unsigned long long least[3];
    unsigned t = threadIdx.x, count = (unsigned)n; /* fits in shared memory */
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    if (t < 3) least[t] = NO_HEAD;
    load_columns(in, count, columns, x, y);
    unsigned taken = 0, mine = t < columns ? column_count(count, columns, t) : 0;
    unsigned long long head = column_head(x, 0, mine, columns, t);
    for (unsigned k = 0; k < count; k++) {
        if (head != NO_HEAD) atomicMin(&least[k % 3], head);
        __syncthreads();                          /* all heads have been applied */
        if (t == 0) least[(k + 2) % 3] = NO_HEAD; /* all read it in the previous step */
        if (head != NO_HEAD && least[k % 3] == head) {
            out[k] = (uint32_t)(head >> 32);
            head = column_head(x, ++taken, mine, columns, t);
        }
    }
}
