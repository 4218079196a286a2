/*
 * 2_sizes.cu - lanes that read neighbouring elements of 1, 2, 4 and 8 bytes.
 *
 * Idea:   lane l adds up 256 elements from element l on: lanes are one element apart
 * Cost:   one pass a load of up to 4 bytes a lane; of 8 bytes two, each of half a warp
 * Wastes: with 1 or 2 bytes, banks that stay unused
 * From:   the lecture's char and short arrays: the first hardware gave a word to lanes that want
 *         the same of it, and 4 lanes that want its 4 bytes were served one after another.  Today a
 *         word goes to all lanes that want any part of it.  8 bytes were two requests then, each of
 *         words that are 2 apart
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

union banks_2_tile {
    uint32_t words[1280];
    unsigned char of_1[5120];
    uint16_t of_2[2560];
    uint64_t of_8[640];
};

/* Both halves of an element of 8 bytes, which is read once. */
static __device__ inline uint32_t banks_2_fold(uint64_t x)
{
    return (uint32_t)x + (uint32_t)(x >> 32);
}

extern "C" __global__ void banks_2(const uint32_t *in, uint64_t n, uint32_t bytes, uint32_t *sums)
{
    __shared__ banks_2_tile x;
    uint64_t first = 256 * global_thread(); /* of the accesses */
    unsigned lane = threadIdx.x % 32;
    uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < 1280; i += blockDim.x) x.words[i] = in[i];
    __syncthreads(); /* all of x is there */
    if (first >= n) return;
    unsigned count = n - first < 256 ? (unsigned)(n - first) : 256;
    if (bytes == 1) {
#pragma unroll 16
        for (unsigned i = 0; i < count; i++) sum += x.of_1[lane + i];
    } else if (bytes == 2) {
#pragma unroll 16
        for (unsigned i = 0; i < count; i++) sum += x.of_2[lane + i];
    } else if (bytes == 4) {
#pragma unroll 16
        for (unsigned i = 0; i < count; i++) sum += x.words[lane + i];
    } else {
#pragma unroll 16
        for (unsigned i = 0; i < count; i++) sum += banks_2_fold(x.of_8[lane + i]);
    }
    sums[global_thread()] = sum;
}
