/*
 * sort/cuda/vectors.cuh - an array of keys as aligned vectors of 16 bytes.
 *
 *     keys      |. . .|. . . .|. . . .|. . . .|. .|
 *                head   body                   tail
 *
 * A thread reads several vectors of the body at a time, and one key at a time from the head and
 * tail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_VECTORS_CUH
#define ECHI_SORT_CUDA_VECTORS_CUH

#include "sort/cuda/common.cuh"

enum {
    VECTOR_KEYS = 16 / KEY_BYTES,
    VECTOR_LOADS = 4 /* at a time */
};

union key_vector {
    uint4 vector;
    ukey key[VECTOR_KEYS];
};

struct key_vectors {
    const uint4 *body;
    uint64_t count;      /* vectors */
    uint64_t head, tail; /* keys before the body; start of the keys after it */
};

static __device__ inline struct key_vectors key_vectors_of(const ukey *keys, uint64_t n)
{
    const uint64_t head = min((uint64_t)(-(intptr_t)keys & 15) / KEY_BYTES, n);
    struct key_vectors v = { (const uint4 *)(keys + head), (n - head) / VECTOR_KEYS, head, 0 };
    v.tail = head + v.count * VECTOR_KEYS;
    return v;
}

/* Loads vector `at` and those `step` apart after it, up to the last. */
template <typename integer>
static __device__ inline void vectors_load(const uint4 *body, integer count, integer at,
                                           integer step, union key_vector (&load)[VECTOR_LOADS])
{
#pragma unroll
    for (int j = 0; j < VECTOR_LOADS; j++)
        if (at + j * step < count) load[j].vector = body[at + j * step];
}

#endif
