/*
 * 2_shared.cu - steps that fit in a block run in shared memory, in one launch.
 *
 * Idea:   a block processes 1024 keys. The first launch sorts each such tile, all 55 steps; the
 *         steps up to 512 apart of a later merge are one launch, wider steps one launch each
 * Cost:   a barrier per step instead of a launch; memory is read and written once per up to ten
 *         steps
 * Wastes: in steps less than 32 apart a warp skips every other run of words, so it uses half of the
 *         banks: two wavefronts per access
 * From:   common practice; the lecture has no version in shared memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ inline void bitonic_2_step(element *x, unsigned count, unsigned half,
                                             unsigned flip)
{
    const unsigned pair = threadIdx.x;
    const unsigned i = pair / half * 2 * half + pair % half, j = i ^ flip;
    if (j < count) {
        element lower = x[i], upper = x[j];
        if (before(upper, lower)) {
            x[i] = upper;
            x[j] = lower;
        }
    }
    __syncthreads(); /* before the next step reads them */
}

/* Loads the tile of the block; returns its number of keys. */
static __device__ inline unsigned bitonic_2_load(element *x, const element *keys, uint64_t n)
{
    const uint64_t first = (uint64_t)blockIdx.x * 1024;
    const unsigned count = n - first < 1024 ? (unsigned)(n - first) : 1024;
    for (unsigned i = threadIdx.x; i < count; i += 512) x[i] = keys[first + i];
    __syncthreads(); /* the tile is loaded */
    return count;
}

static __device__ inline void bitonic_2_store(const element *x, element *keys, unsigned count)
{
    keys += (uint64_t)blockIdx.x * 1024;
    for (unsigned i = threadIdx.x; i < count; i += 512) keys[i] = x[i];
}

extern "C" __global__ void bitonic_2_sort(element *keys, uint64_t n)
{
    __shared__ element x[1024];
    const unsigned count = bitonic_2_load(x, keys, n);
    for (unsigned half = 1; half < 1024; half *= 2) {
        bitonic_2_step(x, count, half, 2 * half - 1);
        for (unsigned near = half / 2; near > 0; near /= 2) bitonic_2_step(x, count, near, near);
    }
    bitonic_2_store(x, keys, count);
}

extern "C" __global__ void bitonic_2_merge(element *keys, uint64_t n)
{
    __shared__ element x[1024];
    const unsigned count = bitonic_2_load(x, keys, n);
    for (unsigned near = 512; near > 0; near /= 2) bitonic_2_step(x, count, near, near);
    bitonic_2_store(x, keys, count);
}
