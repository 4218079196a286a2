/*
 * cuda/device/vectors.cuh - reads of a part of an array by a block, in vectors of 16 bytes where
 * they are aligned.
 *
 *     part     |head|vector vector vector vector | ...        |tail|
 *               single()         batch(): UNROLL per thread    single()
 *
 * All threads of a block call single() and batch() equally often, so that both may contain
 * operations of a warp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_VECTORS_CUH
#define ECHI_CUDA_DEVICE_VECTORS_CUH

#include "cuda/device/instance.cuh"

enum { VECTOR_KEYS = 16 / KEY_BYTES };

/* The keys of a vector. */
template <typename key> union vector_of {
    enum { KEYS = 16 / sizeof(key) };
    uint4 vector;
    key of[KEYS];
};
typedef union vector_of<ukey> keys_vector;

/* The position of key j of a batch whose first key is at this position. */
template <int KEYS = VECTOR_KEYS>
static __device__ inline uint64_t batch_position(uint64_t first, int j)
{
    return first + (uint64_t)(j / KEYS) * blockDim.x * KEYS + j % KEYS;
}

/* Calls f.batch(vectors, first) or f.single(key, position, valid) for the elements [first, end) of
 * the array.  A key that is not valid is 0. */
template <int UNROLL, typename key, typename call>
static __device__ inline void block_vectors(const key *in, uint64_t first, uint64_t end, call &f)
{
    enum { KEYS = 16 / sizeof(key), COUNT = KEYS * UNROLL };
    const uint64_t skew = (uintptr_t)(in + first) / sizeof(key) % KEYS;
    const uint64_t head = min(skew ? first + KEYS - skew : first, end);
    const uint64_t rounds = (end - head) / ((uint64_t)COUNT * blockDim.x);
    const uint64_t tail = head + rounds * COUNT * blockDim.x;
    const uint4 *from = (const uint4 *)(in + head) + threadIdx.x;
    for (uint64_t r = 0; r < rounds; r++) {
        vector_of<key> vectors[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) vectors[u].vector = from[(r * UNROLL + u) * blockDim.x];
        f.batch(vectors, head + (r * UNROLL * blockDim.x + threadIdx.x) * KEYS);
    }
    const uint64_t singles = head - first + (end - tail);
    for (uint64_t base = 0; base < singles; base += blockDim.x) {
        const uint64_t s = base + threadIdx.x,
                       i = s < head - first ? first + s : tail + s - (head - first);
        f.single(s < singles ? in[i] : (key)0, i, s < singles);
    }
}

#endif
