/*
 * 1_m4r.cu - the method of the four Russians (M4R): all linear combinations of k pivot rows in a
 * table.
 *
 * Idea:   k columns have k pivot rows and 2^k linear combinations of these. A block computes a
 *         table of them in shared memory, 32 words wide; then each row has one addition for k
 *         columns: its k bits select the entry
 * Cost:   3 launches per k columns; 2^(k-1) additions for a table: consecutive entries in Gray code
 *         order differ by one row, and entries that include the last row are computed by adding it
 * Wastes: large k: tables with unused entries. Small k: many passes over the matrix
 * From:   Arlazarov, Dinic, Kronrod and Faradzhev (1970); as in the text, the panel is eliminated
 *         by Gauss
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/gf2_panel.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

extern "C" __global__ void gf2_m4ri_panel(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                          uint32_t width, gf2_state<1> *state)
{
    gf2_panel<1>(a, n, stride, begin, width, state);
}

extern "C" __global__ void gf2_m4ri_sums(const uint32_t *a, uint64_t n, uint64_t stride,
                                         uint64_t begin, uint32_t width, const gf2_state<1> *state,
                                         uint32_t *sums, uint32_t *pivots)
{
    gf2_sums<1>(a, n, stride, begin, width, state, sums);
    gf2_keep<1>(a, stride, begin, state, pivots);
}

/* A block updates 32 words of `rows` rows; the table [2^(k-1)][32] is in shared memory. */
extern "C" __global__ void gf2_m4ri_1_add(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                          uint32_t k, uint32_t rows, const gf2_state<1> *state,
                                          const uint32_t *sums, const uint32_t *pivots)
{
    uint32_t(*table)[32] = (uint32_t(*)[32])shared_bytes;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned entries = 1u << (k - 1), each = entries < 8 ? 1 : entries / 8;
    uint64_t j = begin / 32 + (uint64_t)blockIdx.x * 32 + lane;
    uint32_t last = gf2_pivot(state, pivots, stride, k - 1, j);
    if (warp * each < entries) { /* each warp computes a range of the Gray code */
        unsigned i = warp * each, end = i + each, gray = i ^ i >> 1;
        uint32_t sum = 0;
        for (unsigned left = gray; left; left &= left - 1)
            sum ^= gf2_pivot(state, pivots, stride, __ffs(left) - 1, j);
        table[gray][lane] = sum;
        while (++i < end) { /* the next entry differs in the lowest set bit of i */
            sum ^= gf2_pivot(state, pivots, stride, __ffs(i) - 1, j);
            table[i ^ i >> 1][lane] = sum;
        }
    }
    __syncthreads(); /* the table is complete */
    for (unsigned i = warp; i < rows; i += 8) {
        uint64_t row = (uint64_t)blockIdx.y * rows + i;
        if (row >= n) break;
        uint32_t which = sums[row];
        if (which == 0 || j >= stride) continue;
        uint32_t sum = table[which % entries][lane];
        if (which >= entries) sum ^= last;
        a[row * stride + j] ^= sum;
    }
}
