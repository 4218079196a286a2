/*
 * gpu_rank.cu - measures how many digits per second a GPU ranks, by the methods for radix sorts.
 *
 *     gpu_rank
 *
 * Keys are generated in registers, so only ranking is measured: by ballots or match with counters
 * per warp (stable), by atomic additions to counters per block whose results are used (unstable) or
 * not (a histogram).  Digits are uniform, of 16 values, or of one value.  The table in
 * docs/lab/sort.md was measured with this program.
 *
 * C++ like the other benchmarks; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error));                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { THREADS = 512, BLOCKS = 4 /* per multiprocessor */, KEYS = 8, ROUNDS = 1000, RUNS = 3 };
enum way { BALLOT, MATCH, ADD, COUNT };

/* The lanes whose low BITS digit bits equal those of this lane. */
template <int BITS> static __device__ inline uint32_t peers_by_ballot(uint32_t digit)
{
    uint32_t peers = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < BITS; bit++) {
        uint32_t lanes;
        asm volatile("{\n"
                     "  .reg .pred one;\n"
                     "  .reg .b32 masked;\n"
                     "  and.b32 masked, %1, %2;\n"
                     "  setp.ne.u32 one, masked, 0;\n"
                     "  vote.sync.ballot.b32 %0, one, 0xffffffff;\n"
                     "  @!one not.b32 %0, %0;\n"
                     "}"
                     : "=r"(lanes)
                     : "r"(digit), "r"(1u << bit));
        peers &= lanes;
    }
    return peers;
}

template <int WAY, int BITS>
static __global__ void __launch_bounds__(THREADS) rank(uint32_t *sink, uint32_t mask, int shift)
{
    extern __shared__ uint32_t counts[];
    enum { BINS = 1 << BITS, ROWS = WAY <= MATCH ? THREADS / 32 : 1 };
    for (int i = threadIdx.x; i < ROWS * BINS; i += THREADS) counts[i] = 0;
    __syncthreads();
    uint32_t *row = counts + (WAY <= MATCH ? threadIdx.x / 32 * BINS : 0);
    const uint32_t below = (1u << threadIdx.x % 32) - 1;
    uint32_t x = (blockIdx.x * THREADS + threadIdx.x + 1) * 2654435761u, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t digit[KEYS];
#pragma unroll
        for (int i = 0; i < KEYS; i++) {
            x = x * 1664525u + 1013904223u;
            digit[i] = (x & mask) >> shift;
        }
#pragma unroll
        for (int i = 0; i < KEYS; i++) {
            if (WAY <= MATCH) {
                const uint32_t peers = WAY == BALLOT ? peers_by_ballot<BITS>(digit[i])
                                                     : __match_any_sync(0xffffffffu, digit[i]);
                const uint32_t before = __popc(peers & below), first = row[digit[i]];
                __syncwarp();
                if (before == 0) row[digit[i]] = first + __popc(peers);
                __syncwarp();
                sum += first + before;
            } else if (WAY == ADD) {
                sum += atomicAdd(&row[digit[i]], 1);
            } else {
                atomicAdd(&row[digit[i]], 1);
            }
        }
    }
    __syncthreads();
    if (WAY == COUNT) sum += counts[threadIdx.x % BINS];
    if (sum == 0x12345) *sink = sum; /* keeps the compiler from removing the work */
}

template <int WAY, int BITS> static void bench(const char *name, int processors, uint32_t *sink)
{
    const size_t shared_bytes = (size_t)(WAY <= MATCH ? THREADS / 32 : 1) * 4 << BITS;
    const uint32_t blocks = (uint32_t)(processors * BLOCKS);
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaFuncSetAttribute(rank<WAY, BITS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)shared_bytes));
    printf("%-10s %2d bits", name, BITS);
    for (int values = 0; values < 3; values++) {
        float least = 1e30f;
        for (int run = 0; run <= RUNS; run++) { /* the first is a warm-up */
            float ms;
            CUDA(cudaEventRecord(begin));
            rank<WAY, BITS><<<blocks, THREADS, shared_bytes>>>(sink, values == 2 ? 0 : ~0u,
                                                               values == 0 ? 32 - BITS : 28);
            CUDA(cudaEventRecord(end));
            CUDA(cudaEventSynchronize(end));
            CUDA(cudaEventElapsedTime(&ms, begin, end));
            if (run && ms < least) least = ms;
        }
        printf(" %8.0f", (double)blocks * THREADS * KEYS * ROUNDS / least * 1e-6);
    }
    printf("\n");
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
}

int main(void)
{
    int processors;
    uint32_t *sink;
    CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaMalloc(&sink, sizeof *sink));
    printf("10^9 digits per second: uniform, 16 values, one value\n");
    bench<BALLOT, 8>("ballots", processors, sink);
    bench<BALLOT, 6>("ballots", processors, sink);
    bench<MATCH, 8>("match", processors, sink);
    bench<MATCH, 9>("match", processors, sink);
    bench<ADD, 8>("addition", processors, sink);
    bench<ADD, 11>("addition", processors, sink);
    bench<ADD, 13>("addition", processors, sink);
    bench<COUNT, 8>("count", processors, sink);
    bench<COUNT, 11>("count", processors, sink);
    CUDA(cudaFree(sink));
    return 0;
}
