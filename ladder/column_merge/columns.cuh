/*
 * columns.cuh - the first phase, which all merges share: every column sorted by one thread.
 *
 * Element i of column t lies at i * columns + t, as in a matrix that is stored by rows.  With 32
 * columns the bank of an element is its column's number: whatever elements the lanes of a warp look
 * at, no two want the same bank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_COLUMNS_CUH
#define LADDER_COLUMNS_CUH

#include "ladder/ladder.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[]; /* x and y, of n keys each */

/* How many of n elements are in a column: the last row may be short. */
static __device__ inline unsigned column_count(unsigned n, unsigned columns, unsigned column)
{
    return n / columns + (column < n % columns);
}

/* By radix, one bit a pass: zeros close up in place, ones wait in y and then follow them. */
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

/* Loads n keys into x by all threads of the block and sorts the columns by the first of them. */
static __device__ inline void load_columns(const uint32_t *in, unsigned n, unsigned columns,
                                           uint32_t *x, uint32_t *y)
{
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < n; i += blockDim.x) x[i] = in[i];
    __syncthreads(); /* all of x is there */
    if (t < columns) sort_column(x, y, n, columns, t);
    __syncthreads(); /* every column is sorted */
}

/* The head of a column as a number that no other column's equals, and the lower column's is less of
 * equal keys; NO_HEAD of one that has ended. */
#define NO_HEAD 0xffffffffffffffffull

static __device__ inline unsigned long long
column_head(const uint32_t *x, unsigned i, unsigned count, unsigned columns, unsigned column)
{
    if (i >= count) return NO_HEAD;
    return (unsigned long long)x[i * columns + column] << 32 | column;
}

#endif
