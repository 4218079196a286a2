/*
 * 3_chunks.cu - many blocks; each thread copies a contiguous chunk.
 *
 * Idea:   thread i copies 32 contiguous elements, as a CPU thread would
 * Cost:   every load of a warp reads 32 words that are 128 bytes apart: 32 sectors of 32 bytes, of
 *         which 4 bytes each are used
 * Wastes: eight times the necessary memory traffic, unless the caches keep the other bytes
 * From:   the usual division of loops among CPU cores; on a GPU this is the mistake to know
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void copy_3(const element *in, uint64_t n, element *out)
{
    uint64_t begin = 32 * global_thread();
    for (uint64_t i = begin; i < begin + 32 && i < n; i++) out[i] = in[i];
}
