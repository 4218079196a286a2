/*
 * sort/cuda/plan.c - sorts on the GPU: the table of strategies, the plan, and its execution.
 *
 *     plan_sort()     chooses a strategy, measures the workspace         from the request
 *     run_sort()      makes the steps of the strategy, enqueues them     also from the GPU
 *     explain_sort()  makes the steps for a nominal GPU, prints them
 *
 *     request                               how it is sorted
 *     keys only                             module sort_k<bits>_v0, or sort_msd_k<bits>
 *     values of 4, 8 or 16 bytes, indices   module sort_k<bits>_v<bytes>, or sort_msd_pairs_k...:
 *                                           they move with the key in each pass
 *     values of any other size, few values  their indices move with the key; then a gather
 *     of 16 bytes
 *     many indices of 8 bytes, keys of      indices of 4 bytes move with the key; then they are
 *     up to 4                               widened
 *
 *     workspace   [ (gather: sorted indices | a copy of the values; widen: sorted indices) | the
 *                 strategy's parts ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

#include "arrange/cuda/gather.h"
#include "sort/choice.h"

#include <stdio.h>
#include <string.h>

/* The first strategy that applies and is the best runs, unless one is selected by name. */
static const struct sort_strategy *const strategies[] = {
    &echi_sort_by_block,   &echi_sort_by_count, &echi_sort_by_sample,   &echi_sort_by_adaptive,
    &echi_sort_by_buckets, &echi_sort_by_msd,   &echi_sort_by_onesweep, &echi_sort_by_low_memory,
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

bool echi_sort_any(const struct echi_sort *s)
{
    (void)s;
    return true;
}

/* Values of 16 bytes of which samplesort can sort the indices: it takes a third of the time of the
 * passes of onesweep. */
static bool few_wide_values(const struct echi_sort *s)
{
    const bool named = s->algorithm && strcmp(s->algorithm, echi_sort_by_sample.name) == 0;
    const bool chosen = !s->algorithm && s->n > SORT_BLOCK_MEDIUM_THREADS * SORT_BLOCK_MEDIUM_ITEMS;
    return s->value_bytes == 16 && s->key_bytes >= 4 && (named || chosen) &&
           s->n < SORT_MSD_MIN(s->key_bytes, s->order.float_mask != 0);
}

int echi_sort_payload(const struct echi_sort *s, enum sort_end *end)
{
    const size_t v = s->value_bytes;
    const bool moves = v == 0 || v == 4 || v == 8 || (v == 16 && !few_wide_values(s));
    const int index = (uint64_t)s->n <= (uint64_t)1 << 32 ? 4 : 8;
    *end = !moves                                                                  ? SORT_GATHER
           : s->key_bytes <= 4 && s->index_bytes > index && s->n >= SORT_WIDEN_MIN ? SORT_WIDEN
                                                                                   : SORT_AS_MOVED;
    return *end == SORT_AS_MOVED ? (int)v : index;
}

bool echi_sort_as_words(const struct echi_sort *s)
{
    enum sort_end end;
    return s->key_bytes == 2 && echi_sort_payload(s, &end) && s->begin_bit < s->end_bit &&
           s->n <= 1 << 16;
}

struct sort_words echi_sort_words(const struct echi_sort *s, const struct sort_plan *plan)
{
    uint32_t bits = 0;
    while ((uint64_t)1 << bits < s->n) bits++;
    return (struct sort_words){ .value_bytes = (uint32_t)plan->payload_bytes,
                                .position_bits = bits };
}

static ech_status choose(const struct echi_sort *s, const struct sort_strategy **choice)
{
    char names[160] = "";
    struct echi_text text = { .at = names, .left = sizeof names };
    for (int i = 0; i < STRATEGIES; i++) {
        const struct sort_strategy *a = strategies[i];
        echi_print(&text, "%s\"%s\"", i == 0 ? "" : i < STRATEGIES - 1 ? ", " : " and ", a->name);
        if (s->algorithm && strcmp(s->algorithm, a->name) != 0) continue;
        if (a->can(s) && (s->algorithm || a->best(s))) {
            *choice = a;
            return ECH_OK;
        }
        if (s->algorithm)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "algorithm \"%s\" (%s) of the GPU cannot run this sort of %zu %s",
                             a->name, a->what, s->n, ech_dtype_name(s->dtype));
    }
    return echi_fail(NULL, ECH_ERR_ARG, "unknown algorithm \"%s\"; available on the GPU: %s",
                     s->algorithm, names);
}

/* ---- Workspace ---- */

/* The parts of the workspace for the end of a sort that moves indices instead of values. */
struct end_parts {
    void *index, *values_copy;
};

/* Measures (base NULL) or lays out the workspace. */
static struct end_parts lay_out(const struct echi_sort *s, const struct sort_plan *plan,
                                struct echi_layout *layout, struct sort_args *args)
{
    struct end_parts parts = { NULL, NULL };
    if (plan->end != SORT_AS_MOVED)
        parts.index = echi_part(layout, s->n, (size_t)plan->payload_bytes);
    if (plan->end == SORT_GATHER) parts.values_copy = echi_part(layout, s->n, s->value_bytes);
    if (plan->strategy->lay_out) plan->strategy->lay_out(s, plan, layout, args);
    return parts;
}

ech_status echi_sort_plan(const struct echi_sort *s, struct sort_plan *plan, size_t *work_bytes)
{
    struct echi_layout layout = { 0 };
    struct sort_args args;
    ech_status status;
    *plan = (struct sort_plan){ 0 };
    *work_bytes = 0;
    memset(&args, 0, sizeof args);
    TRY(choose(s, &plan->strategy));
    plan->payload_bytes = echi_sort_payload(s, &plan->end);
    plan->passes = (s->end_bit - s->begin_bit + SORT_DIGIT_BITS - 1) / SORT_DIGIT_BITS;
    plan->onesweep = echi_sort_onesweep_plan(s, plan->payload_bytes);
    snprintf(plan->passes_module, sizeof plan->passes_module, "sort_k%d_v%d", 8 * s->key_bytes,
             plan->payload_bytes);
    if (strcmp(plan->strategy->family, "sort_msd") != 0)
        snprintf(plan->module, sizeof plan->module, "%s_k%d_v%d", plan->strategy->family,
                 8 * s->key_bytes, plan->payload_bytes);
    else
        echi_sort_msd_module(s, plan);
    if (plan->strategy->size) TRY(plan->strategy->size(s, plan));
    lay_out(s, plan, &layout, &args);
    *work_bytes = layout.bytes;
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", s->n);
done:
    return status;
}

static ech_status plan_sort(const void *request, void *plan, size_t *work_bytes)
{
    return echi_sort_plan(request, plan, work_bytes);
}

/* ---- Steps ---- */

void echi_sort_launch(const struct sort_build *b, enum echi_phase phase, enum echi_step_kind kind,
                      const char *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                      int level, const char *when)
{
    echi_step_add(b->steps, (struct echi_step){ .phase = phase,
                                                .kind = kind,
                                                .module = b->plan->module,
                                                .name = kernel,
                                                .when = when,
                                                .blocks = blocks,
                                                .threads = threads,
                                                .shared_bytes = shared_bytes,
                                                .level = level });
}

void echi_sort_set_args(void *args, struct echi_step *step, uint64_t part)
{
    struct sort_common *a = args;
    a->level = step->level < 0 ? 0 : step->level;
    a->part = part;
}

bool echi_sort_compared_plainly(const struct echi_sort *s)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * s->key_bytes);
    return s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes && !s->order.merge &&
           (s->order.last & all) == all;
}

struct sort_common echi_sort_common(const struct echi_sort *s)
{
    const bool keys_stay = s->keys_in == s->keys_out;
    const bool values_stay = s->values_in && s->values_in == s->values_out;
    return (struct sort_common){
        .keys_in = s->keys_in,
        .keys_out = s->keys_out, /* NULL for an argsort, or a part of the workspace */
        .values_in = s->values_in,
        .values_out = s->values_out,
        .n = s->n,
        .order = s->order,
        .begin_bit = s->begin_bit,
        .end_bit = s->end_bit,
        .in_place = keys_stay || values_stay,
        .stays = keys_stay && (s->value_bytes == 0 || values_stay),
        .index = s->index_bytes != 0,
        .discard_keys = echi_sort_discards_keys(s),
        .unstable = !s->stable,
        .plain = echi_sort_compared_plainly(s),
        .same = !s->order.sign && !s->order.float_mask && !s->order.shift && !s->order.flip
    };
}

static struct sort_common common_of(const struct echi_sort *s, const struct sort_plan *plan)
{
    struct echi_sort moved = *s; /* what the passes move */
    if (plan->end != SORT_AS_MOVED) moved.values_in = NULL;
    struct sort_common common = echi_sort_common(&moved);
    common.passes = plan->passes;
    common.index = s->index_bytes || plan->end != SORT_AS_MOVED;
    return common;
}

/* The state of a gather step. */
struct gather {
    const struct echi_sort *s;
    const void *from, *index;
    int index_bytes;
};

static ech_status run_gather(ech_ctx *ctx, void *user)
{
    const struct gather *g = user;
    return echi_cuda_gather(ctx, g->from, g->index, g->index_bytes, g->s->values_out, g->s->n,
                            g->s->value_bytes);
}

/* Loads the values in the order of the indices; in place, from a copy. */
static void add_gather(const struct sort_build *b, const struct end_parts *parts, struct gather *g)
{
    const struct echi_sort *s = b->sort;
    *g = (struct gather){ s, s->values_in, parts->index, b->plan->payload_bytes };
    if (s->values_in == s->values_out) {
        g->from = parts->values_copy;
        echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                    .kind = ECHI_COPY,
                                                    .level = -1,
                                                    .to = parts->values_copy,
                                                    .from = s->values_in,
                                                    .bytes = s->n * s->value_bytes });
    }
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                .kind = ECHI_CALL,
                                                .level = -1,
                                                .name = "a gather of arrange.c: values by index",
                                                .call = run_gather,
                                                .user = g });
}

/* Writes the sorted indices of 4 bytes as indices of 8 bytes. */
static void add_widen(const struct sort_build *b, const struct end_parts *parts,
                      struct sort_common *a)
{
    *a = (struct sort_common){ .values_in = parts->index,
                               .values_out = b->sort->values_out,
                               .n = b->sort->n };
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                .kind = ECHI_LAUNCH_PDL,
                                                .module = "sort_groups_all",
                                                .name = "sort_widen",
                                                .blocks = echi_sort_move_blocks(b, a->n, 8),
                                                .threads = SORT_MOVE_THREADS,
                                                .level = -1,
                                                .args = a });
}

/* Everything that the steps of a plan need. */
struct whole {
    struct sort_args args;
    struct echi_steps steps;
    struct sort_build build;
    struct gather gather;
    struct sort_common widen;
};

static ech_status make_steps(const struct echi_sort *s, const struct sort_plan *plan,
                             struct echi_gpu gpu, void *work, struct whole *w)
{
    struct echi_layout layout = { .base = work };
    memset(&w->args, 0, sizeof w->args);
    w->args.common = common_of(s, plan);
    w->steps.count = 0;
    w->build = (struct sort_build){ s, plan, gpu, &w->args, &w->steps, work, false };
    struct end_parts parts = lay_out(s, plan, &layout, &w->args);
    if (plan->end != SORT_AS_MOVED) w->args.common.values_out = parts.index;
    ech_status status = plan->strategy->steps(&w->build);
    if (status == ECH_OK && plan->end == SORT_GATHER) add_gather(&w->build, &parts, &w->gather);
    if (status == ECH_OK && plan->end == SORT_WIDEN) add_widen(&w->build, &parts, &w->widen);
    return status;
}

static ech_status run_sort(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    ech_status status = make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    return status == ECH_OK ? echi_cuda_enqueue(ctx, &w.steps, &w.args, echi_sort_set_args)
                            : status;
}

static ech_status explain_sort(const void *request, struct echi_explain *e)
{
    const struct echi_sort *s = request;
    struct sort_plan plan;
    struct whole w;
    size_t bytes = 0;
    ech_status status;
    TRY(echi_sort_plan(s, &plan, &bytes));
    TRY(make_steps(s, &plan, echi_gpu_of(NULL), NULL, &w));
    echi_explain_algorithm(e, true, plan.strategy->name, "%s", plan.strategy->what);
    for (int i = 0; i < STRATEGIES; i++)
        if (strategies[i] != plan.strategy && s->n >= strategies[i]->least && strategies[i]->can(s))
            echi_explain_algorithm(e, false, strategies[i]->name, "%s", strategies[i]->what);
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_steps(e, &w.steps);
done:
    return status;
}

/* elements: if the workspace of a smaller array cannot be allocated, the call fails */
enum { LOW_MEMORY_MIN = 1 << 16 };

static bool economise(void *request)
{
    struct echi_sort *s = request;
    if (s->algorithm || s->n < LOW_MEMORY_MIN) return false;
    s->algorithm = echi_sort_by_low_memory.name;
    return true;
}

_Static_assert(sizeof(struct sort_plan) <= ECHI_PLAN_BYTES, "a plan of a sort is too large");

const struct echi_operation echi_cuda_sort = {
    .plan = plan_sort,
    .plan_bytes = sizeof(struct sort_plan),
    .explain = explain_sort,
    .run = run_sort,
    .run_host = echi_sort_run_host,
    .economise = economise,
    .faster_on_cpu = echi_sort_faster_on_cpu,
};
