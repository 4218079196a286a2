/*
 * 3_atomics.cu - digits ranked by atomics in shared memory.
 *
 * Idea:   atomicAdd() returns the count before the addition: a number that no other key of the
 *         digit gets. That is all a scatter needs. One table of counters per block replaces the
 *         tables of the warps, their prefix sums, ballots and population counts
 * Cost:   one atomic per 32 keys
 * Wastes: lanes with the same digit are served one after another; and the order of equal digits is
 *         that in which the hardware served them, so the sort is not stable
 * From:   the library's own sort of keys, in which no one can see that order
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/msd/msd.cuh"

template <int KEYS>
static __device__ inline void msd_3_rank(uint32_t *slot, uint32_t *, uint32_t *count)
{
    count[threadIdx.x] = 0;
    __syncthreads(); /* all counts are 0 */
#pragma unroll
    for (int k = 0; k < KEYS; k++) /* any order of the additions will do */
        if (slot[k] != MSD_NONE) slot[k] |= atomicAdd(&count[slot[k]], 1u) << 16;
    __syncthreads(); /* all keys are ranked and counted */
}

extern "C" __global__ void msd_3_first(const element *in, uint64_t n, uint32_t *out,
                                       const uint32_t *starts)
{
    __shared__ msd_shared<uint32_t, MSD_KEYS> sh;
    msd_first<uint32_t, MSD_KEYS, false, msd_3_rank<MSD_KEYS>>(sh, NULL, in, n, out, starts);
}

extern "C" __global__ void msd_3_second(const uint32_t *in, uint64_t n, uint32_t *out,
                                        const uint32_t *starts, unsigned stride, unsigned bits,
                                        uint32_t *parts)
{
    __shared__ msd_shared<uint32_t, MSD_KEYS> sh;
    msd_second<uint32_t, MSD_KEYS, false, msd_3_rank<MSD_KEYS>>(sh, NULL, in, n, out, starts,
                                                                stride, bits, parts);
}

extern "C" __global__ void msd_3_first_pairs(const element *in, uint64_t n, uint64_t *out,
                                             const uint32_t *starts)
{
    __shared__ msd_shared<uint64_t, MSD_KEYS> sh;
    msd_first<uint64_t, MSD_KEYS, false, msd_3_rank<MSD_KEYS>>(sh, NULL, in, n, out, starts);
}

extern "C" __global__ void msd_3_second_pairs(const uint64_t *in, uint64_t n, uint64_t *out,
                                              const uint32_t *starts, unsigned stride,
                                              unsigned bits, uint32_t *parts)
{
    __shared__ msd_shared<uint64_t, MSD_KEYS> sh;
    msd_second<uint64_t, MSD_KEYS, false, msd_3_rank<MSD_KEYS>>(sh, NULL, in, n, out, starts,
                                                                stride, bits, parts);
}
