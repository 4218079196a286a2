/*
 * is_sorted/cuda/operation.c - ech_is_sorted() on the GPU, host code: one launch that reads the
 * array once.
 *
 *     workspace   [ struct is_sorted_words ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/steps.h"
#include "is_sorted/cuda/common.h"
#include "is_sorted/is_sorted.h"

#include <stdio.h>

/* The part of the plan that depends only on the request. */
struct is_sorted_plan {
    char module[16];
    size_t words_bytes;
};

static ech_status make_plan(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_is_sorted *s = request;
    struct is_sorted_plan *p = plan;
    struct echi_layout layout = { .base = NULL };
    snprintf(p->module, sizeof p->module, "is_sorted_k%u", 8 * (unsigned)s->key_bytes);
    p->words_bytes = sizeof(struct is_sorted_words);
    echi_part(&layout, 1, p->words_bytes);
    *work_bytes = layout.bytes;
    return ECH_OK;
}

static struct is_sorted_args args_of(const struct echi_is_sorted *s)
{
    const uint64_t part = IS_SORTED_PART_BYTES / s->key_bytes;
    const uint32_t skew = (uint32_t)((uintptr_t)s->in % 16 / s->key_bytes);
    return (struct is_sorted_args){ .in = s->in,
                                    .position = s->position,
                                    .n = s->n,
                                    .parts = (skew + (uint64_t)s->n + part - 1) / part,
                                    .skew = skew,
                                    .strict = s->strict,
                                    .order = s->order };
}

static void make_steps(const struct is_sorted_plan *plan, const struct echi_gpu *gpu, void *work,
                       struct is_sorted_args *args, struct echi_steps *steps)
{
    const uint64_t blocks = (args->parts + IS_SORTED_WARPS - 1) / IS_SORTED_WARPS;
    const unsigned most = IS_SORTED_BLOCKS * (unsigned)gpu->multiprocessors;
    steps->count = 0;
    echi_step_add(steps, (struct echi_step){ .phase = ECHI_LOOK,
                                             .kind = ECHI_ZEROS,
                                             .level = -1,
                                             .to = work,
                                             .slot = &args->words,
                                             .bytes = plan->words_bytes });
    echi_step_add(steps, (struct echi_step){ .phase = ECHI_LOOK,
                                             .kind = ECHI_LAUNCH_PDL,
                                             .module = plan->module,
                                             .name = "is_sorted_look",
                                             .blocks = blocks ? echi_cuda_least(blocks, most) : 1,
                                             .threads = IS_SORTED_THREADS,
                                             .level = -1 });
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    struct is_sorted_args args = args_of(request);
    struct echi_steps steps;
    make_steps(plan, &gpu, work, &args, &steps);
    return echi_cuda_enqueue(ctx, &steps, &args, NULL);
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_gpu gpu = echi_gpu_of(NULL);
    struct is_sorted_plan plan;
    struct is_sorted_args args = args_of(request);
    struct echi_steps steps;
    size_t bytes;
    const ech_status status = make_plan(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    make_steps(&plan, &gpu, NULL, &args, &steps);
    echi_explain_algorithm(
        e, true, "parts",
        "warps compare neighbours in chunks of %d bytes until a pair is out of order",
        (int)IS_SORTED_PART_BYTES);
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

/* The CPU reads its memory once; the GPU would have to copy all of it first. */
static bool faster_on_cpu(const ech_ctx *ctx, const void *request, bool pinned)
{
    (void)ctx;
    (void)request;
    (void)pinned;
    return true;
}

const struct echi_operation echi_cuda_is_sorted = { .plan = make_plan,
                                                    .plan_bytes = sizeof(struct is_sorted_plan),
                                                    .explain = explain,
                                                    .run = run,
                                                    .faster_on_cpu = faster_on_cpu };
