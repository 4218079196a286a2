/*
 * 2_sizes.cu - lanes that read adjacent elements of 1, 2, 4 and 8 bytes.
 *
 * Idea:   lane l adds up 256 elements, beginning at element l: lanes are one element apart
 * Cost:   one wavefront per load of up to 4 bytes per lane; two for 8 bytes, one per half warp
 * Wastes: with 1 or 2 bytes, unused banks
 * From:   the lecture's char and short arrays. On the first hardware, lanes shared a word only if
 *         they read the same bytes of it; 4 lanes that read its 4 bytes were serialised. Today a
 *         word is broadcast to all lanes that read any part of it. 8 bytes were two requests, each
 *         of words that are 2 apart
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

/* Adds both halves of an 8-byte element, which is read once. */
static __device__ inline uint32_t banks_2_fold(uint64_t x)
{
    return (uint32_t)x + (uint32_t)(x >> 32);
}

extern "C" __global__ void banks_2(const uint32_t *in, uint64_t n, uint32_t bytes, uint32_t *sums)
{
    __shared__ banks_2_tile x;
    uint64_t first = 256 * global_thread(); /* of this thread's accesses */
    unsigned lane = threadIdx.x % 32;
    uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < 1280; i += blockDim.x) x.words[i] = in[i];
    __syncthreads(); /* x is loaded */
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
