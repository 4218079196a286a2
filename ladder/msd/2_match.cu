/*
 * 2_match.cu - digits ranked by one instruction that finds equal lanes.
 *
 * Idea:   __match_any_sync() returns the lanes whose digit is the same, which takes nine ballots in
 *         rung 1; the rest is the same
 * Cost:   one match per 32 keys
 * Wastes: the hardware compares one distinct digit after another: 32 random digits of 256 take
 *         about 30 steps, equal digits one
 * From:   the match instructions of sm_70 (2017)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/msd/msd.cuh"

template <int KEYS>
static __device__ inline void msd_2_rank(uint32_t *slot, uint32_t *rows, uint32_t *count)
{
    const unsigned lane = threadIdx.x % 32;
    uint32_t *row = rows + threadIdx.x / 32 * MSD_BINS;
    for (unsigned d = lane; d < MSD_BINS; d += 32) row[d] = 0;
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        const uint32_t digit = slot[k];
        const bool there = digit != MSD_NONE;
        const uint32_t same = __match_any_sync(ALL_LANES, digit);
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

extern "C" __global__ void msd_2_first(const element *in, uint64_t n, uint32_t *out,
                                       const uint32_t *starts)
{
    __shared__ msd_shared<uint32_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_first<uint32_t, MSD_KEYS, true, msd_2_rank<MSD_KEYS>>(sh, rows, in, n, out, starts);
}

extern "C" __global__ void msd_2_second(const uint32_t *in, uint64_t n, uint32_t *out,
                                        const uint32_t *starts, unsigned stride, unsigned bits,
                                        uint32_t *parts)
{
    __shared__ msd_shared<uint32_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_second<uint32_t, MSD_KEYS, true, msd_2_rank<MSD_KEYS>>(sh, rows, in, n, out, starts, stride,
                                                               bits, parts);
}

extern "C" __global__ void msd_2_first_pairs(const element *in, uint64_t n, uint64_t *out,
                                             const uint32_t *starts)
{
    __shared__ msd_shared<uint64_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_first<uint64_t, MSD_KEYS, true, msd_2_rank<MSD_KEYS>>(sh, rows, in, n, out, starts);
}

extern "C" __global__ void msd_2_second_pairs(const uint64_t *in, uint64_t n, uint64_t *out,
                                              const uint32_t *starts, unsigned stride,
                                              unsigned bits, uint32_t *parts)
{
    __shared__ msd_shared<uint64_t, MSD_KEYS> sh;
    __shared__ uint32_t rows[MSD_WARPS * MSD_BINS];
    msd_second<uint64_t, MSD_KEYS, true, msd_2_rank<MSD_KEYS>>(sh, rows, in, n, out, starts, stride,
                                                               bits, parts);
}
