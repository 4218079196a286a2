/*
 * 4_two_levels.cu - the minimum of each chunk of columns, then the minimum of the chunks.
 *
 * Idea:   one thread computes the minimum of the heads of a chunk of about sqrt(columns), then
 *         every thread computes the minimum of the chunks: two levels instead of log2(columns),
 *         with more work in each
 * Cost:   n steps of 2 sqrt(columns) comparisons and three barriers, for any number of columns
 * Wastes: threads without a chunk wait
 * From:   the article's fourth merge, a reduction in chunks; its code is lost
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/column_merge/columns.cuh"

extern "C" __global__ void column_merge_4(const uint32_t *in, uint64_t n, uint32_t *out,
                                          unsigned columns)
{
    __shared__ unsigned long long heads[1024], of_chunk[32];
    unsigned t = threadIdx.x, count = (unsigned)n; /* fits in shared memory */
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    unsigned size = 1;
    while (size * size < columns) size++;
    unsigned chunks = (columns + size - 1) / size;
    unsigned first = t * size, end = first + size < columns ? first + size : columns;
    load_columns(in, count, columns, x, y);
    unsigned taken = 0, mine = t < columns ? column_count(count, columns, t) : 0;
    unsigned long long head = column_head(x, 0, mine, columns, t);
    for (unsigned k = 0; k < count; k++) {
        heads[t] = head;
        __syncthreads(); /* all heads are written */
        if (t < chunks) {
            unsigned long long least = NO_HEAD;
            for (unsigned c = first; c < end; c++) least = heads[c] < least ? heads[c] : least;
            of_chunk[t] = least;
        }
        __syncthreads(); /* the minima of all chunks are written */
        unsigned long long least = NO_HEAD;
        for (unsigned c = 0; c < chunks; c++) least = of_chunk[c] < least ? of_chunk[c] : least;
        if (head != NO_HEAD && head == least) {
            out[k] = (uint32_t)(head >> 32);
            head = column_head(x, ++taken, mine, columns, t);
        }
        __syncthreads(); /* all have read the minima before they are overwritten */
    }
}
