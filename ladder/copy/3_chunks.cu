/*
 * 3_chunks.cu - many blocks; each thread has a piece of the array for itself.
 *
 * Idea:   thread i copies 32 neighbouring elements, as a thread of a CPU would
 * Cost:   every load of a warp wants 32 words that lie 128 bytes apart: 32 sectors of 32 bytes, of
 *         which 4 bytes each are used
 * Wastes: memory is asked for eight times what is wanted, unless the caches keep the rest
 * From:   how loops are divided among the cores of a CPU; on a GPU, the mistake to know
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void copy_3(const element *in, uint64_t n, element *out)
{
    uint64_t begin = 32 * global_thread();
    for (uint64_t i = begin; i < begin + 32 && i < n; i++) out[i] = in[i];
}
