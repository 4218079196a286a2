/*
 * 2_surplus.cu - the pivots of a panel from its first k + m rows, by one warp.
 *
 * Idea:   k + m random rows of k columns have rank k, except with a probability of about 2^-m. So a
 *         lane holds the k bits of one row, a ballot finds a pivot, and shuffles swap and add rows.
 *         If the rank is too small, the block searches all rows, as in rung 1
 * Cost:   one load per row, then a few warp operations per column; two barriers per panel
 * Wastes: few rows are examined, but the panel is still one block, while all others wait
 * From:   the M4RI method takes more than k rows for a panel, because k rows are often dependent;
 *         that 32 of them fit in a warp is our addition
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/gf2_panel.cuh"

/* Exchanges x of lanes p and q. */
static __device__ inline uint32_t gf2_m4ri_2_swap(uint32_t x, unsigned p, unsigned q)
{
    unsigned lane = threadIdx.x % 32, from = lane == p ? q : lane == q ? p : lane;
    return __shfl_sync(ALL_LANES, x, (int)from);
}

/* width + surplus <= 32; *failed counts the panels that needed other rows. */
extern "C" __global__ void gf2_m4ri_2_panel(uint32_t *a, uint64_t n, uint64_t stride,
                                            uint64_t begin, uint32_t width, uint32_t surplus,
                                            gf2_state<1> *state, uint32_t *failed)
{
    __shared__ uint32_t swapped[32], column[32], count;
    const unsigned t = threadIdx.x;
    const uint64_t first = (uint64_t)state->first + state->count, left = n - first;
    uint32_t sum = 0; /* the original pivot rows that were added to this lane's row */
    if (t < 32) {
        bool there = t < width + surplus && t < left;
        uint32_t bits = there ? gf2_bits(a + (first + t) * stride, stride, begin, width) : 0;
        unsigned p = 0;
        for (unsigned c = 0; c < width; c++) {
            uint32_t ones = __ballot_sync(ALL_LANES, t >= p && bits >> c & 1);
            if (!ones) continue;
            unsigned found = (unsigned)__ffs((int)ones) - 1;
            bits = gf2_m4ri_2_swap(bits, p, found);
            sum = gf2_m4ri_2_swap(sum, p, found);
            if (t == p) {
                sum ^= 1u << p;
                swapped[p] = found;
                column[p] = c;
            }
            uint32_t pivot = __shfl_sync(ALL_LANES, bits, (int)p);
            uint32_t pivot_sum = __shfl_sync(ALL_LANES, sum, (int)p);
            if (t != p && bits >> c & 1) {
                bits ^= pivot;
                sum ^= pivot_sum;
            }
            p++;
        }
        if (t == 0) count = p;
    }
    __syncthreads(); /* the pivots are found */
    if (count < width && width + surplus < left) {
        gf2_panel<1>(a, n, stride, begin, width, state);
        if (t == 0 && state->count > count) (*failed)++;
        return;
    }
    for (uint64_t j = begin / 32 + t; j < stride; j += blockDim.x)
        for (unsigned q = 0; q < count; q++) { /* a thread swaps its own words only */
            uint32_t *to = &a[(first + q) * stride + j],
                     *from = &a[(first + swapped[q]) * stride + j];
            uint32_t x = *to;
            *to = *from;
            *from = x;
        }
    if (t < count) state->column[t] = column[t];
    if (t < count) state->sum[t][0] = sum;
    if (t == 0) state->first = (uint32_t)first;
    if (t == 0) state->count = count;
}
