/*
 * 1_one_thread.cu - columns sorted in parallel, then merged by one thread.
 *
 * Idea:   the thread holds the heads of all columns, and takes the minimum in each step
 * Cost:   n * columns comparisons, one after another
 * Wastes: all threads except one
 * From:   the article's first merge, of which only the first line is left.
 *         column_merge_1_columns is the first phase without a merge
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/column_merge/columns.cuh"

extern "C" __global__ void column_merge_1(const uint32_t *in, uint64_t n, uint32_t *out,
                                          unsigned columns)
{
    __shared__ unsigned long long heads[1024];
    unsigned t = threadIdx.x, count = (unsigned)n; /* fits in shared memory */
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    load_columns(in, count, columns, x, y);
    if (t > 0) return;
    for (unsigned c = 0; c < columns; c++) {
        heads[c] = column_head(x, 0, column_count(count, columns, c), columns, c);
        if (c < count) y[c] = 0; /* the number of keys taken from the column */
    }
    for (unsigned k = 0; k < count; k++) {
        unsigned long long least = NO_HEAD;
        for (unsigned c = 0; c < columns; c++)
            if (heads[c] < least) least = heads[c];
        unsigned c = (unsigned)least & 1023;
        out[k] = (uint32_t)(least >> 32);
        heads[c] = column_head(x, ++y[c], column_count(count, columns, c), columns, c);
    }
}

extern "C" __global__ void column_merge_1_columns(const uint32_t *in, uint64_t n, uint32_t *out,
                                                  unsigned columns)
{
    unsigned count = (unsigned)n; /* fits in shared memory */
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    load_columns(in, count, columns, x, y);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) out[i] = x[i];
}
