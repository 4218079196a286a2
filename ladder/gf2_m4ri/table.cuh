/*
 * table.cuh - the update of the method of the four Russians, compiled for each k.
 *
 * K is a template parameter, so the loops over the pivot rows and over the Gray code are unrolled:
 * the pivot rows are in registers, and each step knows which of them to add.
 *
 *     table   [2^(K-1)][32 words] in shared memory: entry g is the sum of the pivot rows that are
 *             bits of g.  Entries that include pivot row K - 1 are computed from the others
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_GF2_TABLE_CUH
#define LADDER_GF2_TABLE_CUH

#include "ladder/gf2_panel.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* A block of 8 warps computes the table for 32 words, and updates these words of `rows` rows. */
template <int K>
static __device__ inline void
gf2_table_add(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin, uint32_t rows,
              const gf2_state<1> *state, const uint32_t *sums, const uint32_t *pivots)
{
    const unsigned entries = 1u << (K - 1), warps = entries < 8 ? entries : 8;
    const unsigned each = entries / warps; /* entries per warp, a power of two */
    uint32_t(*table)[32] = (uint32_t(*)[32])shared_bytes;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint64_t j = begin / 32 + (uint64_t)blockIdx.x * 32 + lane;
    uint32_t pivot[K];
#pragma unroll
    for (int q = 0; q < K; q++) pivot[q] = gf2_pivot(state, pivots, stride, q, j);
    if (warp < warps) { /* each warp computes a range of the Gray code */
        unsigned i = warp * each, gray = i ^ i >> 1;
        uint32_t sum = 0;
#pragma unroll
        for (int q = 0; q < K - 1; q++) sum ^= gray >> q & 1 ? pivot[q] : 0;
        table[gray][lane] = sum;
#pragma unroll
        for (unsigned step = 1; step < each; step++) {
            sum ^= pivot[__ffs(step) - 1]; /* one bit differs: the lowest set bit of the step */
            table[(i + step) ^ (i + step) >> 1][lane] = sum;
        }
    }
    __syncthreads(); /* the table is complete */
    for (unsigned r = warp; r < rows; r += 8) {
        uint64_t row = (uint64_t)blockIdx.y * rows + r;
        if (row >= n) break;
        uint32_t which = sums[row];
        if (which == 0 || j >= stride) continue;
        uint32_t sum = table[which % entries][lane];
        if (which >= entries) sum ^= pivot[K - 1];
        a[row * stride + j] ^= sum;
    }
}

#endif
