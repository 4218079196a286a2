/*
 * 5_vectors.cu - two 16-byte vectors per thread.
 *
 * Idea:   one instruction loads 16 bytes, and two such loads are in flight before the first is used
 * Cost:   a quarter of the requests, of sixteen sectors each
 * Wastes: almost nothing: this is the memory bandwidth
 * From:   vector loads; Little's law: bytes in flight = latency x bandwidth
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* Both arrays are aligned to 16 bytes; `vectors` is n * sizeof(element) / 16. */
extern "C" __global__ void copy_5(const uint4 *in, uint64_t vectors, uint4 *out)
{
    uint64_t i = (uint64_t)blockIdx.x * 512 + threadIdx.x;
    if (i + 256 < vectors) {
        uint4 a = in[i], b = in[i + 256];
        out[i] = a;
        out[i + 256] = b;
    } else if (i < vectors) {
        out[i] = in[i];
    }
}

/* Copies the elements after the last whole vector. */
extern "C" __global__ void copy_5_rest(const element *in, uint64_t n, uint64_t first, element *out)
{
    uint64_t i = first + threadIdx.x;
    if (i < n) out[i] = in[i];
}
