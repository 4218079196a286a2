/*
 * 2_atomic_min.cu - one thread a column, and one word for which all compete.
 *
 * Idea:   every thread puts its column's head to the word by atomicMin(); whose head it then is
 *         writes it out and goes on to its next
 * Cost:   n steps of one atomic and one barrier
 * Wastes: atomics on one word are served one after another: a step waits for all columns
 * From:   the course's second merge, for distinct keys.  Here the word's lower half is the column,
 *         so that one thread alone owns the least; three words in turn spare the barrier that would
 *         keep the next step's word from being cleared too soon
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns.cuh"

extern "C" __global__ void column_merge_2(const uint32_t *in, uint64_t n, uint32_t *out,
                                          unsigned columns)
{
    __shared__ unsigned long long least[3];
    unsigned t = threadIdx.x, count = (unsigned)n; /* of one block's shared memory */
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    if (t < 3) least[t] = NO_HEAD;
    load_columns(in, count, columns, x, y);
    unsigned taken = 0, mine = t < columns ? column_count(count, columns, t) : 0;
    unsigned long long head = column_head(x, 0, mine, columns, t);
    for (unsigned k = 0; k < count; k++) {
        if (head != NO_HEAD) atomicMin(&least[k % 3], head);
        __syncthreads();                          /* all heads have been put */
        if (t == 0) least[(k + 2) % 3] = NO_HEAD; /* all have read it, a step ago */
        if (head != NO_HEAD && least[k % 3] == head) {
            out[k] = (uint32_t)(head >> 32);
            head = column_head(x, ++taken, mine, columns, t);
        }
    }
}
