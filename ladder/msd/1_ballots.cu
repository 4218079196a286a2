/*
 * 1_ballots.cu - digits ranked by ballots, one per bit.
 *
 * Idea:   eight ballots leave the lanes whose digit is the same. The rank of a key is the number of
 *         these lanes before it, plus the count of the digit in the keys that the warp ranked
 *         before, plus the counts of the warps before: the order of the input
 * Cost:   nine ballots per 32 keys; a row of 256 counters per warp; two barriers per tile
 * Wastes: about 25 instructions per key: the ranking takes at least as long as the memory traffic
 * From:   the ranking of CUB's radix sort (Merrill and Garland); see radix 2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/msd/msd.cuh"

template <int KEYS>
static __device__ inline void msd_1_rank(uint32_t *slot, uint32_t *rows, uint32_t *count)
{
    const unsigned lane = threadIdx.x % 32;
    uint32_t *row = rows + threadIdx.x / 32 * MSD_BINS;
    for (unsigned d = lane; d < MSD_BINS; d += 32) row[d] = 0;
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        const uint32_t digit = slot[k];
        const bool there = digit != MSD_NONE;
        uint32_t same = __ballot_sync(ALL_LANES, there); /* lanes of the same digit */
#pragma unroll
        for (unsigned b = 0; b < 8; b++) {
            const uint32_t ones = __ballot_sync(ALL_LANES, digit >> b & 1);
            same &= digit >> b & 1 ? ones : ~ones;
        }
        const uint32_t earlier = __popc(same & ((1u << lane) - 1));
        __syncwarp(); /* the row is cleared, or the previous keys are counted */
        if (there) slot[k] |= (row[digit] + earlier) << 16;
        __syncwarp(); /* all lanes have read the count */
        if (there && earlier == 0) row[digit] += __popc(same);
    }
    msd_warps(rows, count);
#pragma unroll
    for (int k = 0; k < KEYS; k++)
        if (slot[k] != MSD_NONE) slot[k] += row[slot[k] & 0xffff] << 16;
}

extern "C" __global__ void msd_1_first(const element *in, uint64_t n, uint32_t *out,
                                       const uint32_t *starts)
{
    __shared__ msd_shared<uint32_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_first<uint32_t, MSD_KEYS, true, msd_1_rank<MSD_KEYS>>(sh, rows, in, n, out, starts);
}

extern "C" __global__ void msd_1_second(const uint32_t *in, uint64_t n, uint32_t *out,
                                        const uint32_t *starts, unsigned stride, unsigned bits,
                                        uint32_t *parts)
{
    __shared__ msd_shared<uint32_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_second<uint32_t, MSD_KEYS, true, msd_1_rank<MSD_KEYS>>(sh, rows, in, n, out, starts, stride,
                                                               bits, parts);
}

extern "C" __global__ void msd_1_first_pairs(const element *in, uint64_t n, uint64_t *out,
                                             const uint32_t *starts)
{
    __shared__ msd_shared<uint64_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_first<uint64_t, MSD_KEYS, true, msd_1_rank<MSD_KEYS>>(sh, rows, in, n, out, starts);
}

extern "C" __global__ void msd_1_second_pairs(const uint64_t *in, uint64_t n, uint64_t *out,
                                              const uint32_t *starts, unsigned stride,
                                              unsigned bits, uint32_t *parts)
{
    __shared__ msd_shared<uint64_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_second<uint64_t, MSD_KEYS, true, msd_1_rank<MSD_KEYS>>(sh, rows, in, n, out, starts, stride,
                                                               bits, parts);
}

#include "ladder/msd/finish.cuh" /* whose large buckets use msd_1_rank() */
