/*
 * unique/cuda/operation.c - distinct elements and the mode on the GPU, host code: the plan, the
 * workspace, the operation.
 *
 *     steps        a sort of the keys, with their positions if the outputs need them
 *                  unique_heads      one pass over the sorted keys
 *                  unique_firsts     floats without positions
 *                  unique_counts                      counts, in ascending order
 *                  unique_appear, unique_inverse      outputs in order of appearance
 *                  unique_longest, unique_mode        a mode
 *
 *                  unique_present    instead of all steps: values of keys of 8 or 16 bits
 *
 *     workspace    [ sorted keys | positions | workspace of the sort, or what follows it ]
 *
 * The words, the first positions of zero and NaN, and the bits of values are zero before the first
 * kernel and after the last (state.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "unique/cuda/common.h"
#include "unique/unique.h"

#include <stdio.h>

struct unique_parts {
    void *sort_work;
    void *zeros, *clear; /* parts that are zero before the first kernel: left so, or not */
    size_t zeros_bytes, clear_bytes;
    size_t firsts_at, bits_at; /* in zeros */
};

/* The first member is the kernels' argument. */
struct unique_build {
    struct unique_args args;
    const struct echi_unique *u;
    struct echi_gpu gpu;
    struct unique_parts parts;
    void *zeros;
    char module[16];
    struct echi_steps steps;
};

static size_t tiles_of(size_t n, size_t each)
{
    return n / each + (n % each != 0);
}

/* ---- Workspace ---- */

/* Whether no sort is needed: only the values of short keys. */
static bool by_bits(const struct echi_unique *u)
{
    return u->key_bytes <= 2 && !echi_unique_pairs(u) && !u->has_counts && !u->mode;
}

/* Memory that is zero before the first kernel: a word per tile, first positions, bits. */
static void lay_out_zeros(const struct echi_unique *u, uint64_t tiles, struct echi_layout *layout,
                          struct unique_parts *parts)
{
    struct echi_layout zeros = { 0 };
    echi_part(&zeros, (size_t)tiles + UNIQUE_WORDS_FIRST, sizeof(uint64_t));
    parts->firsts_at = zeros.bytes;
    if (echi_unique_repairs(u) && !by_bits(u)) echi_part(&zeros, 1, sizeof(struct unique_firsts));
    parts->bits_at = zeros.bytes;
    if (by_bits(u)) echi_part(&zeros, UNIQUE_PRESENT_WORDS, sizeof(uint32_t));
    parts->zeros_bytes = zeros.bytes;
    layout->overflow |= zeros.overflow;
    parts->zeros = echi_part(layout, zeros.bytes, 1);
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_unique *u, struct echi_layout *layout,
                          struct unique_parts *parts, struct unique_args *a)
{
    const size_t n = u->n, position = (size_t)echi_unique_position_bytes(u);
    const size_t appear_tiles = tiles_of(n, UNIQUE_POSITIONS);
    const struct echi_sort sort = echi_unique_sort(u);
    size_t sort_bytes;
    *a = (struct unique_args){ .tiles = tiles_of(n, (size_t)UNIQUE_TILE(u->key_bytes)) };
    *parts = (struct unique_parts){ 0 };
    if (by_bits(u)) {
        lay_out_zeros(u, 0, layout, parts);
        return ECH_OK;
    }
    const ech_status status = echi_operation_workspace(&echi_cuda_sort, &sort, &sort_bytes);
    if (status != ECH_OK) return status;
    a->keys = echi_part(layout, n, (size_t)u->key_bytes);
    if (echi_unique_pairs(u)) a->positions = echi_part(layout, n, position);
    struct echi_layout after = *layout; /* the sort is done before these are used */
    parts->sort_work = echi_part(&after, sort_bytes, 1);
    lay_out_zeros(u, a->tiles, layout, parts);
    const size_t clear = layout->bytes;
    if (u->appearance) {
        parts->clear = a->appear_words =
            echi_part(layout, appear_tiles + UNIQUE_WORDS_FIRST, sizeof *a->appear_words);
        a->bits = echi_part(layout, appear_tiles * UNIQUE_THREADS, sizeof *a->bits);
    }
    parts->clear_bytes = layout->bytes - clear;
    if (u->appearance && (u->has_counts || u->has_inverse))
        a->ranks = echi_part(layout, n, position);
    if (u->appearance && u->has_inverse) a->map = echi_part(layout, n, position);
    if (u->has_counts || u->mode) a->starts = echi_part(layout, n + 1, position);
    if (u->mode) a->longest = echi_part(layout, UNIQUE_LONGEST_BLOCKS, sizeof *a->longest);
    if (after.bytes > layout->bytes) layout->bytes = after.bytes;
    layout->overflow |= after.overflow;
    return ECH_OK;
}

static ech_status plan_unique(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_unique *u = request;
    struct echi_layout layout = { 0 };
    struct unique_parts parts;
    struct unique_args args;
    ech_status status = ECH_OK;
    (void)no_plan;
    *work_bytes = 0;
    if (u->n == 0) goto done;
    TRY(lay_out(u, &layout, &parts, &args));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", u->n);
    *work_bytes = layout.bytes;
    if (u->key_bytes <= 2 && !by_bits(u)) { /* it suffices for a call without outputs, too */
        const struct echi_unique none = { .n = u->n, .dtype = u->dtype, .key_bytes = u->key_bytes };
        layout = (struct echi_layout){ 0 };
        TRY(lay_out(&none, &layout, &parts, &args));
        if (layout.bytes > *work_bytes) *work_bytes = layout.bytes;
    }
done:
    return status;
}

/* ---- Steps ---- */

static void launch(struct unique_build *b, enum echi_phase phase, const char *kernel,
                   unsigned blocks, unsigned shared_bytes)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = b->module,
                                                 .name = kernel,
                                                 .blocks = blocks,
                                                 .threads = UNIQUE_THREADS,
                                                 .shared_bytes = shared_bytes,
                                                 .level = -1 });
}

static void clear(struct unique_build *b, void *to, size_t bytes)
{
    echi_step_add(
        &b->steps,
        (struct echi_step){
            .phase = ECHI_LOOK, .kind = ECHI_CLEAR, .level = -1, .to = to, .bytes = bytes });
}

static void set_args(struct unique_build *b)
{
    const struct echi_unique *u = b->u;
    struct unique_args *a = &b->args;
    a->in = u->in;
    a->values = u->values;
    a->first = u->first;
    a->inverse = u->inverse;
    a->counts = u->counts;
    a->count = u->count;
    a->n = u->n;
    a->order = u->order;
    a->position_bytes = (uint32_t)echi_unique_position_bytes(u);
    a->index_bytes = (uint32_t)u->index_bytes;
}

/* Sets the addresses in the memory that is zero, before each launch. */
static void set_zeros(void *args, struct echi_step *step, uint64_t part)
{
    struct unique_build *b = args;
    char *zeros = b->zeros;
    (void)step;
    (void)part;
    b->args.clear = zeros != b->parts.zeros;
    b->args.words = (uint64_t *)(void *)zeros;
    if (echi_unique_repairs(b->u)) b->args.firsts = (void *)(zeros + b->parts.firsts_at);
    if (by_bits(b->u)) b->args.bits = (void *)(zeros + b->parts.bits_at);
}

static void get_zeros(struct unique_build *b)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_ZEROS,
                                                 .level = -1,
                                                 .to = b->parts.zeros,
                                                 .slot = &b->zeros,
                                                 .bytes = b->parts.zeros_bytes });
}

/* The steps after the sort, or without one. */
static void add_steps(struct unique_build *b)
{
    const struct echi_unique *u = b->u;
    const unsigned most =
        echi_cuda_least(tiles_of(u->n, (size_t)4 * UNIQUE_THREADS),
                        (uint64_t)UNIQUE_BLOCKS * (uint64_t)b->gpu.multiprocessors);
    set_args(b);
    get_zeros(b);
    if (by_bits(u)) {
        launch(b, ECHI_MOVE, "unique_present",
               echi_gpu_blocks(&b->gpu, u->n, UNIQUE_PRESENT_BYTES / (unsigned)u->key_bytes,
                               UNIQUE_PRESENT_BLOCKS),
               UNIQUE_PRESENT_SHARED(u->key_bytes));
        return;
    }
    if (u->appearance) clear(b, b->parts.clear, b->parts.clear_bytes);
    launch(b, ECHI_MOVE, "unique_heads", (unsigned)b->args.tiles, 0);
    if (echi_unique_repairs(u) && b->args.tiles > 1)
        launch(b, ECHI_FINISH, "unique_firsts", most, 0);
    if (u->mode) {
        b->args.longest_blocks = echi_cuda_least(most, UNIQUE_LONGEST_BLOCKS);
        launch(b, ECHI_FINISH, "unique_longest", b->args.longest_blocks, 0);
        launch(b, ECHI_FINISH, "unique_mode", 1, 0);
    } else if (u->appearance) {
        launch(b, ECHI_MOVE, "unique_appear", (unsigned)tiles_of(u->n, UNIQUE_POSITIONS), 0);
        if (u->has_inverse) launch(b, ECHI_FINISH, "unique_inverse", most, 0);
    } else if (u->has_counts) {
        launch(b, ECHI_FINISH, "unique_counts", most, 0);
    }
}

/* ---- The operation ---- */

static ech_status begin(const struct echi_unique *u, struct echi_gpu gpu, void *work,
                        struct unique_build *b)
{
    struct echi_layout layout = { .base = work };
    b->u = u;
    b->gpu = gpu;
    b->zeros = NULL;
    b->steps.count = 0;
    snprintf(b->module, sizeof b->module, "unique_k%d", 8 * u->key_bytes);
    return lay_out(u, &layout, &b->parts, &b->args);
}

static ech_status run_unique(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_unique *u = request;
    struct unique_build b;
    ech_status status;
    (void)no_plan;
    if (u->n == 0) {
        b.steps.count = 0;
        clear(&b, u->count, sizeof *u->count);
        return echi_cuda_enqueue(ctx, &b.steps, &b, NULL);
    }
    TRY(begin(u, echi_gpu_of(ctx), work, &b));
    if (!by_bits(u)) {
        struct echi_sort sort = echi_unique_sort(u);
        sort.keys_in = u->in;
        sort.keys_out = (void *)(uintptr_t)b.args.keys;
        sort.values_out = (void *)(uintptr_t)b.args.positions;
        TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, b.parts.sort_work));
    }
    add_steps(&b);
    TRY(echi_cuda_enqueue(ctx, &b.steps, &b, set_zeros));
done:
    return status;
}

static ech_status explain_unique(const void *request, struct echi_explain *e)
{
    const struct echi_unique *u = request;
    struct unique_build b;
    ech_status status;
    if (by_bits(u))
        echi_explain_algorithm(e, true, "bits", "sets a bit for each value that occurs");
    else
        echi_explain_algorithm(e, true, "sort", "sorts %s, then finds the runs of equal keys",
                               echi_unique_pairs(u) ? "keys with their positions" : "keys only");
    if (u->n == 0) return ECH_OK;
    TRY(begin(u, echi_gpu_of(NULL), NULL, &b));
    add_steps(&b);
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_unique = { .plan = plan_unique,
                                                 .explain = explain_unique,
                                                 .run = run_unique };
