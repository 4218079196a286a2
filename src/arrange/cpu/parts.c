/*
 * arrange/cpu/parts.c - divides an array into parts, which the threads take dynamically.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/common.h"

static void run_part(void *arg, size_t i, int thread)
{
    struct echi_arrange_job *job = arg;
    (void)thread;
    const size_t begin = i * job->each;
    job->run(job, begin, begin + echi_min(job->each, job->count - begin));
}

void echi_arrange_parts(ech_ctx *ctx, struct echi_arrange_job *job, size_t count,
                        size_t thing_bytes)
{
    if (count == 0) return;
    if (job->request->n <= ECHI_AT_ONCE && job->request->element_bytes <= ECHI_AT_ONCE_BYTES) {
        job->run(job, 0, count);
        return;
    }
    job->count = count;
    job->each = thing_bytes < ECHI_PART_BYTES ? ECHI_PART_BYTES / thing_bytes : 1;
    /* In place or not, about as many bytes are written as are read. */
    const int threads = echi_parallel_for_bytes(ctx, 2 * count * thing_bytes);
    echi_parallel(threads, (count - 1) / job->each + 1, run_part, job);
}
