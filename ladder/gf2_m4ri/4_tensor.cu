/*
 * 4_tensor.cu - 256 columns at once; the additions are a matrix product.
 *
 * Idea:   which pivot rows to add to which rows is a matrix of bits, n x 256; its product with the
 *         256 pivot rows is what to add. Tensor cores count the ones of 256 products per element,
 *         and the lowest bit of the count is the sum over GF(2)
 * Cost:   4 launches per 256 columns; 16 x 8 sums of 256 products per instruction, no table
 * Wastes: the panel: one block finds 256 pivots while all others wait
 * From:   our addition; the instruction is of sm_80 (2020), for binary neural networks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/gf2_panel.cuh"
#include "mma.cuh"

extern "C" __global__ void gf2_m4ri_4_panel(uint32_t *a, uint64_t n, uint64_t stride,
                                            uint64_t begin, uint32_t width, gf2_state<8> *state)
{
    gf2_panel<8>(a, n, stride, begin, width, state);
}

extern "C" __global__ void gf2_m4ri_4_sums(const uint32_t *a, uint64_t n, uint64_t stride,
                                           uint64_t begin, uint32_t width,
                                           const gf2_state<8> *state, uint32_t *sums)
{
    gf2_sums<8>(a, n, stride, begin, width, state, sums);
}

/* Transposes the pivot rows: their column c is 8 words at turned + 8 c.  A block has 32 columns,
 * and a warp 32 of the rows: the ballot of one bit of all lanes is a word. */
extern "C" __global__ void gf2_m4ri_4_turn(const uint32_t *a, uint64_t stride, uint64_t begin,
                                           const gf2_state<8> *state, uint32_t *turned)
{
    uint64_t j = begin / 32 + blockIdx.x;
    uint32_t x = threadIdx.x < state->count ? a[(state->first + threadIdx.x) * stride + j] : 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t word = __ballot_sync(ALL_LANES, x >> bit & 1);
        if (threadIdx.x % 32 == bit) turned[(32 * j + bit) * 8 + threadIdx.x / 32] = word;
    }
}

/* A warp updates 16 rows, a block 32 words of 128 rows. */
extern "C" __global__ void gf2_m4ri_4_add(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                          const uint32_t *sums, const uint32_t *turned)
{
    unsigned lane = threadIdx.x % 32, t = lane % 4, g = lane / 4;
    uint64_t upper = ((uint64_t)blockIdx.y * 8 + threadIdx.x / 32) * 16 + g, lower = upper + 8;
    uint32_t which[4];
    for (unsigned half = 0; half < 2; half++) {
        which[2 * half] = upper < n ? sums[upper * 8 + 4 * half + t] : 0;
        which[2 * half + 1] = lower < n ? sums[lower * 8 + 4 * half + t] : 0;
    }
    for (unsigned four = 0; four < 32; four += 4) { /* words; lane t keeps word t of four */
        uint64_t from = begin / 32 + (uint64_t)blockIdx.x * 32 + four;
        uint32_t to_upper = 0, to_lower = 0;
        for (unsigned i = 0; i < 4 && from + i < stride; i++) {
            uint32_t sum[2] = { 0, 0 };
            for (unsigned m = 0; m < 4; m++) { /* 8 columns each */
                const uint32_t *column = turned + (32 * (from + i) + 8 * m + g) * 8 + t;
                uint32_t pivots[2] = { column[0], column[4] };
                int32_t ones[4];
                gf2_mma(ones, which, pivots);
                for (unsigned half = 0; half < 2; half++)
                    sum[half] |= ((ones[2 * half] & 1u) | (ones[2 * half + 1] & 1u) << 1)
                                 << (8 * m + 2 * t);
            }
            for (unsigned half = 0; half < 2; half++) {
                sum[half] |= __shfl_xor_sync(ALL_LANES, sum[half], 1);
                sum[half] |= __shfl_xor_sync(ALL_LANES, sum[half], 2);
            }
            if (t == i) to_upper = sum[0];
            if (t == i) to_lower = sum[1];
        }
        if (upper < n && from + t < stride) a[upper * stride + from + t] ^= to_upper;
        if (lower < n && from + t < stride) a[lower * stride + from + t] ^= to_lower;
    }
}
