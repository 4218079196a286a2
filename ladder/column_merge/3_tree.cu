/*
 * 3_tree.cu - the minimum head by a tree.
 *
 * Idea:   the number of heads is halved repeatedly; the minimum of each pair remains
 * Cost:   n steps of log2(columns) halvings with a barrier each, and two more
 * Wastes: barriers: a tree of 32 columns has five, for 31 comparisons
 * From:   the article's third merge, a reduction in pairs; its code is lost
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/column_merge/columns.cuh"

extern "C" __global__ void column_merge_3(const uint32_t *in, uint64_t n, uint32_t *out,
                                          unsigned columns)
{
    __shared__ unsigned long long heads[1024];
    unsigned t = threadIdx.x, count = (unsigned)n; /* fits in shared memory */
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    unsigned half = 1;
    while (2 * half < columns) half *= 2;
    load_columns(in, count, columns, x, y);
    unsigned taken = 0, mine = t < columns ? column_count(count, columns, t) : 0;
    unsigned long long head = column_head(x, 0, mine, columns, t);
    for (unsigned k = 0; k < count; k++) {
        heads[t] = head;
        __syncthreads(); /* all heads are written */
        for (unsigned s = half; s > 0; s /= 2) {
            if (t < s && t + s < columns && heads[t + s] < heads[t]) heads[t] = heads[t + s];
            __syncthreads(); /* before the next halving reads them */
        }
        if (head != NO_HEAD && heads[0] == head) {
            out[k] = (uint32_t)(head >> 32);
            head = column_head(x, ++taken, mine, columns, t);
        }
        __syncthreads(); /* all have read the minimum before it is overwritten */
    }
}
