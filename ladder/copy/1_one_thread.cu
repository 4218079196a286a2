/*
 * 1_one_thread.cu - one thread copies the whole array.
 *
 * Idea:   a kernel is a C function; here it is a loop as on a CPU
 * Cost:   n loads and n stores, one after another
 * Wastes: the whole GPU except for one lane of one warp: a single GPU thread is slow; GPUs are fast
 *         because they run many threads
 * From:   what a C programmer writes first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void copy_1(const element *in, uint64_t n, element *out)
{
    for (uint64_t i = 0; i < n; i++) out[i] = in[i];
}
