/*
 * 1_m4r.cu - the method of the four Russians (M4R): all linear combinations of k pivot rows in a
 * table.
 *
 * Idea:   k columns have k pivot rows and 2^k linear combinations of these. A block computes a
 *         table of them in shared memory, 32 words wide; then each row has one addition for k
 *         columns: its k bits select the entry. There is a kernel for each k (table.cuh)
 * Cost:   3 launches per k columns; 2^(k-1) additions for a table: consecutive entries in Gray code
 *         order differ by one row, and entries that include the last row are computed by adding it
 * Wastes: large k: tables with unused entries. Small k: many passes over the matrix. And the panel:
 *         5 barriers of a block per column
 * From:   Arlazarov, Dinic, Kronrod and Faradzhev (1970) for products; Bard (2006) for elimination.
 *         The panel is eliminated by Gauss
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.cuh"

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

/* One compiled copy of the update for each k; all threads take the same case. */
extern "C" __global__ void gf2_m4ri_1_add(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                          uint32_t k, uint32_t rows, const gf2_state<1> *state,
                                          const uint32_t *sums, const uint32_t *pivots)
{
    switch (k) {
    case 1:
        gf2_table_add<1>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 2:
        gf2_table_add<2>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 3:
        gf2_table_add<3>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 4:
        gf2_table_add<4>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 5:
        gf2_table_add<5>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 6:
        gf2_table_add<6>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 7:
        gf2_table_add<7>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 8:
        gf2_table_add<8>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 9:
        gf2_table_add<9>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    case 10:
        gf2_table_add<10>(a, n, stride, begin, rows, state, sums, pivots);
        break;
    }
}
