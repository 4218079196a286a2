/*
 * arrange/cpu/shuffle.c - random permutations on the CPU: computes the source positions of a batch
 * of elements, then loads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/shuffle.h"
#include "arrange/cpu/common.h"

static echi_shuffle_positions *kernel(void)
{
#ifdef ECHI_CPU_X86
    switch (echi_cpu_isa()) {
    case ECHI_AVX512:
        return echi_shuffle_avx512;
    case ECHI_AVX2:
        return echi_shuffle_avx2;
    case ECHI_PORTABLE:
        break;
    }
#endif
    return echi_shuffle_portable;
}

static void permutation_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    echi_shuffle_positions *positions = kernel();
    uint64_t from[ECHI_SHUFFLE_BATCH];
    for (size_t i = begin; i < end; i += ECHI_SHUFFLE_BATCH) {
        const size_t count = echi_min(ECHI_SHUFFLE_BATCH, end - i);
        positions(&a->map, a->first + i, count, from);
        if (a->element_bytes == 8)
            memcpy((uint64_t *)a->out + i, from, count * sizeof *from);
        else
            for (size_t j = 0; j < count; j++) ((uint32_t *)a->out)[i + j] = (uint32_t)from[j];
    }
}

INLINED void fetch_sized(const struct echi_arrange *a, size_t first, size_t count,
                         const uint64_t *from, size_t size)
{
    const char *in = a->in;
    char *out = (char *)a->out + first * size;
    for (size_t j = 0; j < count; j++) memcpy(out + j * size, in + from[j] * size, size);
}

static void shuffle_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    echi_shuffle_positions *positions = kernel();
    uint64_t from[ECHI_SHUFFLE_BATCH];
    for (size_t i = begin; i < end; i += ECHI_SHUFFLE_BATCH) {
        const size_t count = echi_min(ECHI_SHUFFLE_BATCH, end - i);
        positions(&a->map, i, count, from);
        CALL_BY_SIZE(fetch_sized, a->element_bytes, a, i, count, from)
    }
}

void echi_cpu_permutation(ech_ctx *ctx, struct echi_arrange_job *job)
{
    job->run = permutation_part;
    echi_arrange_parts(ctx, job, job->request->n, job->request->element_bytes);
}

void echi_cpu_shuffle(ech_ctx *ctx, struct echi_arrange_job *job)
{
    job->run = shuffle_part;
    echi_arrange_parts(ctx, job, job->request->n, job->request->element_bytes);
}
