/*
 * histogram/cuda/kernels.cu - histograms on the GPU, kernels.
 *
 *     histogram_shared    in shared.cuh: counters in shared memory
 *     histogram_bytes     the same for bytes, whose map is applied to 256 counts at the end
 *     histogram_bytes     the same for bytes: counts the 256 values and applies the map at the end
 *     histogram_global    in global.cuh: counters in memory, frequent ones in shared memory
 *     histogram_largest, histogram_weights, histogram_sums
 *                         in weights.cuh: each element adds a weight
 *
 * Counts are integers, whose atomic additions commute: the result does not depend on the order. A
 * 32-bit counter never overflows, because a block processes fewer than 2^32 elements.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/cuda/common.cuh"
#include "histogram/cuda/shared.cuh"
#include "histogram/cuda/mixed.cuh"
#include "histogram/cuda/edges.cuh"
#include "histogram/cuda/global.cuh"
#include "histogram/cuda/weights.cuh"

enum { BYTE_LOADS = 2 };

#if KEY_BITS == 8
/* ---- Bytes: counter[channel][byte][column] ---- */

/* Applies the map to the 256 values, after all elements are counted. */
static __device__ inline void add_bytes(const struct histogram_args &a, const uint32_t *table)
{
    for (uint32_t k = threadIdx.x; k < a.channels * 256; k += blockDim.x) {
        uint64_t sum = sum_columns(table, k, a.column_bits);
        uint64_t slot = slot_any_64(&a.x, (const ukey *)a.edges, (ukey)k);
        if (slot != ECHI_NO_SLOT) add_count(a.counts, k / 256 * a.stride + slot, sum);
    }
}

template <int CHANNELS>
static __device__ void count_bytes(const struct histogram_args &a, uint32_t *table, uint32_t size)
{
    const struct body b = body_of(a.in, a.n);
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint4 *vectors = (const uint4 *)(b.in + b.head);
    const uint32_t bits = a.column_bits, column = threadIdx.x & ((1u << bits) - 1);
    uint32_t channel = 0, step = 0; /* of vector i; increment to the next vector */
    if (CHANNELS > 1) {
        channel = (uint32_t)((b.head + thread * VECTOR) % a.channels);
        step = (uint32_t)(threads * VECTOR % a.channels);
    }
    for (uint64_t i = thread; i < b.vectors; i += BYTE_LOADS * threads) {
        uint4 load[BYTE_LOADS];
#pragma unroll
        for (int j = 0; j < BYTE_LOADS; j++)
            if (i + j * threads < b.vectors) load[j] = __ldcs(&vectors[i + j * threads]);
#pragma unroll
        for (int j = 0; j < BYTE_LOADS; j++) {
            if (i + j * threads >= b.vectors) break;
            const uint32_t words[4] = { load[j].x, load[j].y, load[j].z, load[j].w };
            uint32_t at = channel * size;
#pragma unroll
            for (int k = 0; k < 16; k++) {
                uint32_t byte = words[k / 4] >> (k % 4 * 8) & 255;
                if (CHANNELS > 1) {
                    atomicAdd(&table[at + ((byte << bits) | column)], 1u);
                    at = at + size == a.channels * size ? 0 : at + size;
                } else { /* one channel has all columns: shifts by constants */
                    atomicAdd(&table[(byte << HISTOGRAM_COLUMN_BITS) | column], 1u);
                }
            }
            channel += step;
            if (CHANNELS > 1 && channel >= a.channels) channel -= a.channels;
        }
    }
    const uint64_t ends = b.head + (a.n - b.tail);
    if (thread < ends) {
        uint64_t i = thread < b.head ? thread : b.tail + (thread - b.head);
        atomicAdd(
            &table[(uint32_t)(i % a.channels) * size + (((uint32_t)b.in[i] << bits) | column)], 1u);
    }
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS, FULL_BLOCKS)
    histogram_bytes(const __grid_constant__ struct histogram_args a)
{
    uint32_t *table = (uint32_t *)shared_bytes;
    const uint32_t size = 256u << a.column_bits;
    clear_table(table, a.channels * size);
    check_edges(a);
    if (gridDim.x == 1 && !a.add) /* no memset has cleared the counts */
        for (uint64_t k = threadIdx.x; k < a.counters; k += blockDim.x) a.counts[k] = 0;
    __syncthreads(); /* the counters are zero */

    if (a.channels == 1)
        count_bytes<1>(a, table, size);
    else
        count_bytes<HISTOGRAM_CHANNELS>(a, table, size);
    __syncthreads(); /* every byte of the block is counted */

    add_bytes(a, table);
}
#endif
