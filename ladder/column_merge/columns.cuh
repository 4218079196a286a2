/*
 * columns.cuh - the first phase of all merges: one thread sorts each column.
 *
 * Element i of column t is at i * columns + t, as in a row-major matrix.  With 32 columns the bank
 * of an element is its column: whatever elements the lanes of a warp access, no two share a bank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_COLUMNS_CUH
#define LADDER_COLUMNS_CUH

#include "ladder/ladder.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[]; /* x and y, n keys each */

/* The number of elements in a column; the last row may be short. */
static __device__ inline unsigned column_count(unsigned n, unsigned columns, unsigned column)
{
    return n / columns + (column < n % columns);
}

/* Radix sort, one bit per pass: zeros are compacted in place, ones are appended from a buffer y. */
static __device__ inline void sort_column(uint32_t *x, uint32_t *y, unsigned n, unsigned columns,
                                          unsigned column)
{
    unsigned count = column_count(n, columns, column);
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned zeros = 0, ones = 0;
        for (unsigned i = 0; i < count; i++) {
            uint32_t key = x[i * columns + column];
            if (key >> bit & 1)
                y[ones++ * columns + column] = key;
            else
                x[zeros++ * columns + column] = key;
        }
        for (unsigned i = 0; i < ones; i++)
            x[(zeros + i) * columns + column] = y[i * columns + column];
    }
}

/* All threads of the block load n keys into x; the first threads sort the columns. */
static __device__ inline void load_columns(const uint32_t *in, unsigned n, unsigned columns,
                                           uint32_t *x, uint32_t *y)
{
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < n; i += blockDim.x) x[i] = in[i];
    __syncthreads(); /* x is loaded */
    if (t < columns) sort_column(x, y, n, columns, t);
    __syncthreads(); /* every column is sorted */
}

/* The head of a column as a unique number: the key, then the column; NO_HEAD at the end of the
 * column. */
#define NO_HEAD 0xffffffffffffffffull

static __device__ inline unsigned long long
column_head(const uint32_t *x, unsigned i, unsigned count, unsigned columns, unsigned column)
{
    if (i >= count) return NO_HEAD;
    return (unsigned long long)x[i * columns + column] << 32 | column;
}

#endif
