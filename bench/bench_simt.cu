/*
 * bench_simt.cu - kernels for bench_simt.c that repeat one operation, to measure its rate in the
 * SIMT emulator (src/simt).
 *
 * No kernel has a fault.  Each thread writes one word at the end, so the compiler cannot remove the
 * work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>

enum { PLACES = 8, MOST_THREADS = 1024 };

static __device__ inline uint32_t global_id(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Threads that start and end. */
extern "C" __global__ void threads(uint32_t *data, uint32_t rounds)
{
    if (rounds == 0) data[global_id()] = rounds;
}

extern "C" __global__ void barriers(uint32_t *data, uint32_t rounds)
{
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) __syncthreads();
    data[global_id()] = rounds;
}

extern "C" __global__ void shuffles(uint32_t *data, uint32_t rounds)
{
    uint32_t x = threadIdx.x;
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) x = __shfl_xor_sync(0xffffffffu, x, 1) + i;
    data[global_id()] = x;
}

/* One read and one write per round, cycling through PLACES words per thread; lanes are adjacent. */
extern "C" __global__ void shared_accesses(uint32_t *data, uint32_t rounds)
{
    __shared__ uint32_t words[PLACES * MOST_THREADS];
    for (uint32_t i = 0; i < PLACES; i++) words[i * blockDim.x + threadIdx.x] = i;
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) words[i % PLACES * blockDim.x + threadIdx.x] += i;
    data[global_id()] = words[threadIdx.x];
}

extern "C" __global__ void global_accesses(uint32_t *data, uint32_t rounds)
{
    uint32_t threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) data[i % PLACES * threads + global_id()] += i;
}

/* Each thread has its own word, so there is no contention. */
extern "C" __global__ void global_atomics(uint32_t *data, uint32_t rounds)
{
    uint32_t threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) atomicAdd(&data[i % PLACES * threads + global_id()], i);
}
