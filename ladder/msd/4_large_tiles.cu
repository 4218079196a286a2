/*
 * 4_large_tiles.cu - the same with tiles as large as shared memory allows.
 *
 * Idea:   a table of counters per warp and the ballots' registers no longer limit the tile. 11,264
 *         keys are 44 per digit: a run of 176 bytes per digit and tile instead of 64
 * Cost:   45 KB of shared memory per block
 * Wastes: a bucket that does not fit on chip, because its keys are frequent, is sorted by one block
 * From:   the library's own sort of keys
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/msd/msd.cuh"

enum { MSD_4_KEYS = 44, MSD_4_PAIRS = 22 /* 48 KB of shared memory */ };

template <int KEYS>
static __device__ inline void msd_4_rank(uint32_t *slot, uint32_t *, uint32_t *count)
{
    count[threadIdx.x] = 0;
    __syncthreads(); /* all counts are 0 */
#pragma unroll
    for (int k = 0; k < KEYS; k++) /* any order of the additions will do */
        if (slot[k] != MSD_NONE) slot[k] |= atomicAdd(&count[slot[k]], 1u) << 16;
    __syncthreads(); /* all keys are ranked and counted */
}

extern "C" __global__ void msd_4_first(const element *in, uint64_t n, uint32_t *out,
                                       const uint32_t *starts)
{
    __shared__ msd_shared<uint32_t, MSD_4_KEYS> sh;
    msd_first<uint32_t, MSD_4_KEYS, false, msd_4_rank<MSD_4_KEYS>>(sh, NULL, in, n, out, starts);
}

extern "C" __global__ void msd_4_second(const uint32_t *in, uint64_t n, uint32_t *out,
                                        const uint32_t *starts, unsigned stride, unsigned bits,
                                        uint32_t *parts)
{
    __shared__ msd_shared<uint32_t, MSD_4_KEYS> sh;
    msd_second<uint32_t, MSD_4_KEYS, false, msd_4_rank<MSD_4_KEYS>>(sh, NULL, in, n, out, starts,
                                                                    stride, bits, parts);
}

extern "C" __global__ void msd_4_first_pairs(const element *in, uint64_t n, uint64_t *out,
                                             const uint32_t *starts)
{
    __shared__ msd_shared<uint64_t, MSD_4_PAIRS> sh;
    msd_first<uint64_t, MSD_4_PAIRS, false, msd_4_rank<MSD_4_PAIRS>>(sh, NULL, in, n, out, starts);
}

extern "C" __global__ void msd_4_second_pairs(const uint64_t *in, uint64_t n, uint64_t *out,
                                              const uint32_t *starts, unsigned stride,
                                              unsigned bits, uint32_t *parts)
{
    __shared__ msd_shared<uint64_t, MSD_4_PAIRS> sh;
    msd_second<uint64_t, MSD_4_PAIRS, false, msd_4_rank<MSD_4_PAIRS>>(sh, NULL, in, n, out, starts,
                                                                      stride, bits, parts);
}
