/*
 * search/cpu/operation.c - ech_lower_bound() and ech_upper_bound() on the CPU: threads search for
 * blocks of needles.
 *
 *     binary    each needle is searched in the whole array, several needles at a time
 *     sorted    the positions of a block of sorted needles are in a range of the array, which the
 *               first and the last one of them determine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cpu/cpu.h"
#include "cpu/vector.h"
#include "search/cpu/few.h"

#include <string.h>

enum {
    LANES = 16,          /* needles that are searched together */
    FEW_LANES = 4,       /* the same if there are fewer than LANES */
    BLOCK = 1024,        /* needles of a part */
    SORTED_BLOCK = 256,  /* sorted needles between two that are searched in the whole array */
    FORMS_BYTES = 16384, /* elements that are encoded once for a part: at most so many bytes ... */
    FORMS_SHARE = 8      /* ... and so many elements per needle */
};

#define FROM u8
#include "search/cpu/width.h"
#define FROM u16
#include "search/cpu/width.h"
#define FROM u32
#include "search/cpu/width.h"
#define FROM u64
#include "search/cpu/width.h"

typedef void search_function(const struct echi_search *s, size_t first, size_t count, bool sorted,
                             size_t *at);

static search_function *const widths[9] = {
    [1] = search_u8, [2] = search_u16, [4] = search_u32, [8] = search_u64
};

enum { BINARY, SORTED, ALGORITHMS };

static const struct {
    const char *name, *what;
} algorithms[] = {
    [BINARY] = { "binary", "threads search for 16 needles at a time in the whole array" },
    [SORTED] = { "sorted", "threads search for blocks of 256 needles in the range between the "
                           "positions of the first and the last one" },
};

static ech_status choose(const struct echi_search *s, int *algorithm)
{
    *algorithm = s->needles_sorted ? SORTED : BINARY;
    if (!s->algorithm) return ECH_OK;
    for (*algorithm = 0; *algorithm < ALGORITHMS; ++*algorithm)
        if (strcmp(s->algorithm, algorithms[*algorithm].name) == 0) return ECH_OK;
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for searches on the CPU; available: binary, sorted",
                     s->algorithm);
}

static ech_status plan(const void *request, void *algorithm, size_t *work_bytes)
{
    *work_bytes = 0;
    return choose(request, algorithm);
}

struct job {
    const struct echi_search *s;
    bool sorted;
};

static void run_block(void *arg, size_t i, int thread)
{
    const struct job *job = arg;
    const struct echi_search *s = job->s;
    const size_t first = i * BLOCK, count = echi_min(BLOCK, s->m - first);
    size_t at[BLOCK];
    (void)thread;
    const size_t step = job->sorted ? SORTED_BLOCK : BLOCK;
    for (size_t j = 0; j < count; j += step)
        widths[s->key_bytes](s, first + j, echi_min(step, count - j), job->sorted, at + j);
    if (s->index_bytes == 8)
        for (size_t j = 0; j < count; j++) ((uint64_t *)s->positions)[first + j] = at[j];
    else
        for (size_t j = 0; j < count; j++) ((uint32_t *)s->positions)[first + j] = (uint32_t)at[j];
}

static ech_status run(ech_ctx *ctx, const void *request, const void *algorithm, void *work)
{
    const struct echi_search *s = request;
    struct job job = { s, *(const int *)algorithm == SORTED };
    const size_t step_bytes = 4 * (size_t)echi_bit_length(s->n); /* as of memory, per needle */
    (void)work;
    echi_parallel(
        echi_parallel_for_bytes(ctx, s->m < SIZE_MAX / 256 ? s->m * (8 + step_bytes) : SIZE_MAX),
        s->m / BLOCK + (s->m % BLOCK != 0), run_block, &job);
    return ECH_OK;
}

static bool search_at_once(const void *request)
{
    const struct echi_search *s = request;
    struct job job = { s, s->needles_sorted };
    if (s->m > BLOCK || s->algorithm) return false;
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512 && echi_search_few_avx512(s)) return true;
#endif
    if (s->m) run_block(&job, 0, 0);
    return true;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    int chosen;
    const ech_status status = choose(request, &chosen);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithms[chosen].name, "%s", algorithms[chosen].what);
    echi_explain_algorithm(e, false, algorithms[!chosen].name, "%s", algorithms[!chosen].what);
    return ECH_OK;
}

const struct echi_operation echi_cpu_search = {
    .plan = plan, .plan_bytes = sizeof(int), .explain = explain, .run = run, .quick = search_at_once
};
