/*
 * quantile/cuda/operation.c - elements of given ranks, partitions and quantiles on the GPU, host
 * code: the plan, the workspace, the operation; choice.c chooses the algorithm.
 *
 * The elements of the ranks are found in one of three ways (select.cuh, few.cuh, or a sort), and an
 * array is partitioned around several ranks in one of two (place_parts.cuh, or a sort of part
 * numbers).
 *
 *     workspace    [ state, bins, words | bounds | sample | list, positions | ties | sorted
 *                    positions or keys | ids | workspace of sorts ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "quantile/cuda/choice.h"
#include "quantile/cuda/common.h"
#include "quantile/method.h"
#include "quantile/quantile.h"

#include <stdio.h>
#include <string.h>

struct quantile_parts {
    void *clear; /* what is zero before */
    void *sorted, *sort_work;
    size_t clear_bytes;
};

struct quantile_build {
    const struct echi_quantile *s;
    struct echi_gpu gpu;
    struct quantile_parts parts;
    struct quantile_args args;
    char module[16];
    struct echi_steps steps;
    ech_ctx *ctx; /* NULL: the steps are only listed */
};

static bool is_plain(const struct echi_quantile *s)
{
    return s->n == 0 || s->count == 0;
}

static size_t targets_of(const struct echi_quantile *s)
{
    return s->call == ECH_QUANTILE_CALL_QUANTILES ? 2 * s->count : s->count;
}

/* ---- Sorts ---- */

/* A sort of n merged keys of the workspace. */
static struct echi_sort keys_sort(const struct echi_quantile *s, size_t n)
{
    const ech_dtype dtype = s->key_bytes == 1   ? ECH_U8
                            : s->key_bytes == 2 ? ECH_U16
                            : s->key_bytes == 4 ? ECH_U32
                                                : ECH_U64;
    return (struct echi_sort){ .n = n,
                               .dtype = dtype,
                               .key_bytes = s->key_bytes,
                               .order = echi_order_make(dtype, ECH_ORDER_NAN_LAST, false, false),
                               .end_bit = 8 * s->key_bytes };
}

/* The sort of the algorithm "sort". */
static struct echi_sort whole_sort(const struct echi_quantile *s)
{
    struct echi_sort sort = echi_quantile_sort(s);
    if (!echi_quantile_sorts_keys(s)) return sort;
    sort.value_bytes = 0;
    sort.index_bytes = 0;
    sort.order = echi_order_make(s->dtype, ECH_ORDER_NAN_LAST, false, false);
    sort.stable = false;
    return sort;
}

/* The stable sort of the positions by the numbers of their parts. */
static struct echi_sort ids_sort(const struct echi_quantile *s)
{
    const int bytes = echi_quantile_position_bytes(s);
    return (struct echi_sort){ .n = s->n,
                               .value_bytes = (size_t)bytes,
                               .index_bytes = bytes,
                               .dtype = ECH_U8,
                               .key_bytes = 1,
                               .order = echi_order_make(ECH_U8, ECH_ORDER_NAN_LAST, false, true),
                               .end_bit = 8,
                               .stable = true };
}

/* ---- Workspace ---- */

/* The sample of n keys, and the room for candidates: QUANTILE_SIDE standard deviations on each side
 * of each rank, and a quarter more. */
static void size_select(const struct echi_quantile *s, size_t *sample, size_t *room)
{
    *sample = s->n / 64;
    if (*sample < QUANTILE_SAMPLE_LEAST) *sample = QUANTILE_SAMPLE_LEAST;
    if (*sample > QUANTILE_SAMPLE) *sample = QUANTILE_SAMPLE;
    const double deviation = sqrt((double)*sample) / 2; /* of the median, which has the largest */
    const double keys = (2 * QUANTILE_SIDE * deviation + 10) * 1.25 * (double)s->count;
    const double most = keys / (double)*sample * (double)s->n + 1024;
    *room = most < (double)s->n ? (size_t)most : s->n;
}

/* Whether the results depend on the positions of the elements. */
static bool needs_positions(const struct echi_quantile *s)
{
    return s->call == ECH_QUANTILE_CALL_PARTITION ||
           (s->call == ECH_QUANTILE_CALL_NTH && s->has_index);
}

static ech_status sort_bytes(const struct echi_sort *sort, size_t *most)
{
    size_t bytes;
    const ech_status status = echi_operation_workspace(&echi_cuda_sort, sort, &bytes);
    if (status == ECH_OK && bytes > *most) *most = bytes;
    return status;
}

static ech_status lay_out_select(const struct echi_quantile *s, struct echi_layout *layout,
                                 struct quantile_args *a, size_t *most)
{
    const size_t key = (size_t)s->key_bytes, position = (size_t)echi_quantile_position_bytes(s);
    const size_t chunk = (size_t)(QUANTILE_TIES * QUANTILE_TILE(s->key_bytes));
    size_t sample, room;
    ech_status status = ECH_OK;
    a->positions = needs_positions(s);
    if (echi_quantile_has_sample(s)) {
        size_select(s, &sample, &room);
        a->sample = echi_part(layout, sample, key);
        a->sample_n = sample;
        a->list = echi_part(layout, room, key);
        a->room = room;
        if (s->call != ECH_QUANTILE_CALL_QUANTILES) /* the same for all outputs */
            a->list_positions = echi_part(layout, room, position);
        if (!a->positions) a->list_positions = NULL;
        const struct echi_sort sort = keys_sort(s, sample);
        TRY(sort_bytes(&sort, most));
    }
    if (s->call != ECH_QUANTILE_CALL_QUANTILES) {
        a->chunks = s->n / chunk + (s->n % chunk != 0);
        a->ties = echi_part(layout, (size_t)a->chunks * s->count, sizeof *a->ties);
    }
done:
    return status;
}

/* The state and the bins of "select", and the tile status descriptors of a partition in one pass:
 * one step clears them. */
static void lay_out_clear(const struct echi_quantile *s, const struct quantile_algorithm *chosen,
                          struct echi_layout *layout, struct quantile_parts *p,
                          struct quantile_args *a)
{
    const size_t bins = targets_of(s) * QUANTILE_BINS, tiles = (size_t)a->tiles;
    size_t words = 0;
    if (s->call == ECH_QUANTILE_CALL_PARTITION && !chosen->ids)
        words = echi_quantile_has_parts(s) ? (s->count + 1) * tiles : tiles + QUANTILE_WORDS_FIRST;
    p->clear_bytes =
        (chosen->select ? sizeof *a->state + bins * sizeof *a->bins : 0) + words * sizeof *a->words;
    if (!p->clear_bytes) return;
    p->clear = echi_part(layout, p->clear_bytes, 1);
    if (!p->clear) return;
    a->words = p->clear;
    if (!chosen->select) return;
    a->state = p->clear;
    a->bins = (uint64_t *)(a->state + 1);
    a->words = a->bins + bins;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_quantile *s, struct echi_layout *layout,
                          struct quantile_parts *p, struct quantile_args *a)
{
    const size_t n = s->n, tile = (size_t)QUANTILE_PLACE_TILE(s->key_bytes);
    const size_t skew = (size_t)(16 / s->key_bytes - 1); /* an array may begin within a vector */
    const size_t position = (size_t)echi_quantile_position_bytes(s);
    const bool quantiles = s->call == ECH_QUANTILE_CALL_QUANTILES;
    const struct quantile_algorithm *chosen = echi_quantile_choose(s);
    size_t most = 0;
    ech_status status = ECH_OK;
    *p = (struct quantile_parts){ .clear = NULL };
    *a = (struct quantile_args){ .tiles = n / tile + (n % tile + skew + tile - 1) / tile };
    if (is_plain(s) || chosen->few) goto done;
    lay_out_clear(s, chosen, layout, p, a);
    if (chosen->select) TRY(lay_out_select(s, layout, a, &most));
    a->bounds = echi_part(layout, QUANTILE_BATCH, sizeof *a->bounds);
    if (!chosen->select) {
        const struct echi_sort sort = whole_sort(s);
        TRY(sort_bytes(&sort, &most));
    }
    if (chosen->ids) {
        const struct echi_sort ids = ids_sort(s);
        a->ids = echi_part(layout, n, 1);
        TRY(sort_bytes(&ids, &most));
    }
    if (chosen->ids || !chosen->select)
        p->sorted = echi_part(
            layout, n, quantiles || echi_quantile_sorts_keys(s) ? (size_t)s->key_bytes : position);
    p->sort_work = echi_part(layout, most, 1);
done:
    return status;
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_quantile *s = request;
    struct echi_layout layout = { 0 };
    struct quantile_parts parts;
    struct quantile_args args;
    ech_status status;
    (void)no_plan;
    *work_bytes = 0;
    if (s->algorithm && !echi_quantile_named(s->algorithm))
        FAIL(NULL, ECH_ERR_ARG,
             "unknown algorithm \"%s\" for elements of given ranks on a GPU; available: select, "
             "sort, select_ids, sort_ids, block",
             s->algorithm);
    TRY(lay_out(s, &layout, &parts, &args));
    *work_bytes = layout.bytes;
    if (s->call == ECH_QUANTILE_CALL_NTH) { /* the same for all outputs */
        struct echi_quantile other = *s;
        other.has_index = !s->has_index;
        layout = (struct echi_layout){ .overflow = layout.overflow };
        TRY(lay_out(&other, &layout, &parts, &args));
        if (layout.bytes > *work_bytes) *work_bytes = layout.bytes;
    }
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", s->n);
done:
    return status;
}

/* ---- Steps ---- */

static void launch_shared(struct quantile_build *b, enum echi_phase phase, const char *kernel,
                          unsigned blocks, unsigned threads, unsigned shared_bytes)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = b->module,
                                                 .name = kernel,
                                                 .blocks = blocks,
                                                 .threads = threads,
                                                 .shared_bytes = shared_bytes,
                                                 .level = -1 });
}

static void launch(struct quantile_build *b, enum echi_phase phase, const char *kernel,
                   unsigned blocks, unsigned threads)
{
    launch_shared(b, phase, kernel, blocks, threads, 0);
}

static void clear(struct quantile_build *b)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_CLEAR,
                                                 .level = -1,
                                                 .to = b->parts.clear,
                                                 .bytes = b->parts.clear_bytes });
}

/* The blocks of a kernel that strides over n elements. */
static unsigned blocks_of(const struct quantile_build *b, size_t n)
{
    return echi_gpu_blocks(&b->gpu, n, (uint64_t)QUANTILE_TILE(b->s->key_bytes), QUANTILE_BLOCKS);
}

/* Enqueues the steps so far, whose kernels get the present arguments. */
static ech_status flush(struct quantile_build *b)
{
    if (!b->ctx) return ECH_OK;
    const ech_status status = echi_cuda_enqueue(b->ctx, &b->steps, &b->args, NULL);
    b->steps.count = 0;
    return status;
}

static ech_status sort(struct quantile_build *b, struct echi_sort *sort, const void *in, void *out)
{
    ech_status status;
    TRY(flush(b));
    sort->keys_in = in;
    if (sort->index_bytes)
        sort->values_out = out;
    else
        sort->keys_out = out;
    if (b->ctx) TRY(echi_operation_run(b->ctx, &echi_cuda_sort, sort, b->parts.sort_work));
done:
    return status;
}

/* The keys of the ranks, and their bounds if these are needed. */
static ech_status add_select(struct quantile_build *b)
{
    const struct quantile_args *a = &b->args;
    ech_status status = ECH_OK;
    if (echi_quantile_has_sample(b->s)) {
        struct echi_sort sample = keys_sort(b->s, (size_t)a->sample_n);
        launch(b, ECHI_LOOK, "quantile_sample", blocks_of(b, 16 * (size_t)a->sample_n),
               QUANTILE_THREADS);
        TRY(sort(b, &sample, a->sample, a->sample));
    }
    launch(b, ECHI_LOOK, "quantile_begin", 1, QUANTILE_TARGETS);
    if (echi_quantile_has_sample(b->s))
        launch(b, ECHI_MOVE, b->s->count == 1 ? "quantile_filter_one" : "quantile_filter",
               blocks_of(b, b->s->n), QUANTILE_THREADS);
    launch(b, ECHI_MOVE, "quantile_search",
           echi_gpu_blocks(&b->gpu, b->s->n, (uint64_t)QUANTILE_TILE(b->s->key_bytes),
                           QUANTILE_SEARCH_BLOCKS),
           QUANTILE_THREADS);
    if (b->s->call != ECH_QUANTILE_CALL_QUANTILES) {
        launch(b, ECHI_COUNT, "quantile_ties",
               echi_gpu_blocks(&b->gpu, a->chunks, 1, QUANTILE_BLOCKS), QUANTILE_THREADS);
        launch(b, ECHI_FINISH, "quantile_find", a->n_targets, QUANTILE_THREADS);
    }
    TRY(flush(b));
done:
    return status;
}

static ech_status add_sort(struct quantile_build *b)
{
    struct echi_sort all = whole_sort(b->s);
    const ech_status status = sort(b, &all, b->s->in, b->parts.sorted);
    b->args.sorted = b->parts.sorted;
    if (status == ECH_OK && b->s->call != ECH_QUANTILE_CALL_QUANTILES &&
        !echi_quantile_sorts_keys(b->s))
        launch(b, ECHI_PLAN, "quantile_bounds", 1, QUANTILE_THREADS);
    return status;
}

static ech_status add_partition(struct quantile_build *b)
{
    ech_status status = ECH_OK;
    if (is_plain(b->s)) {
        launch(b, ECHI_MOVE, "quantile_gather", blocks_of(b, b->s->n), QUANTILE_THREADS);
    } else if (echi_quantile_choose(b->s)->ids) {
        struct echi_sort ids = ids_sort(b->s);
        launch(b, ECHI_COUNT, "quantile_ids", blocks_of(b, b->s->n), QUANTILE_THREADS);
        TRY(sort(b, &ids, b->args.ids, b->parts.sorted));
        b->args.sorted = b->parts.sorted;
        launch(b, ECHI_MOVE, "quantile_gather", blocks_of(b, b->s->n), QUANTILE_THREADS);
    } else if (echi_quantile_has_parts(b->s)) {
        launch_shared(b, ECHI_MOVE, "quantile_place_parts", (unsigned)b->args.tiles,
                      QUANTILE_THREADS, QUANTILE_PARTS_SHARED_BYTES(b->s->key_bytes));
    } else {
        launch(b, ECHI_MOVE, "quantile_place", (unsigned)b->args.tiles, QUANTILE_THREADS);
    }
    TRY(flush(b));
done:
    return status;
}

/* The quantiles, as many per launch as fit in its argument. */
static ech_status add_quantiles(struct quantile_build *b)
{
    const struct echi_quantile *s = b->s;
    const size_t bytes = ech_dtype_bytes(s->out_dtype);
    ech_status status = ECH_OK;
    for (size_t i = 0; i < s->count; i += QUANTILE_BATCH) {
        const size_t left = s->count - i;
        b->args.count = left < QUANTILE_BATCH ? (uint32_t)left : QUANTILE_BATCH;
        b->args.out = (char *)s->out + i * bytes;
        if (s->q) memcpy(b->args.list_of.q, s->q + i, b->args.count * sizeof *s->q);
        launch(b, ECHI_FINISH, "quantile_write", 1, QUANTILE_THREADS);
        TRY(flush(b));
        if (!b->ctx) break;
    }
done:
    return status;
}

/* The element of the rank, from its bound or from the sorted keys. */
static ech_status add_element(struct quantile_build *b)
{
    const struct echi_quantile *s = b->s;
    const size_t key = (size_t)s->key_bytes;
    const char *sorted = b->parts.sorted;
    if (echi_quantile_choose(s)->select || !echi_quantile_sorts_keys(s) || is_plain(s))
        launch(b, ECHI_FINISH, "quantile_element", 1, QUANTILE_THREADS);
    else
        echi_step_add(&b->steps,
                      (struct echi_step){ .phase = ECHI_FINISH,
                                          .kind = ECHI_COPY,
                                          .level = -1,
                                          .to = s->out,
                                          .from = sorted ? sorted + s->ranks[0] * key : NULL,
                                          .bytes = key });
    return flush(b);
}

static ech_status add_all(struct quantile_build *b)
{
    const struct echi_quantile *s = b->s;
    ech_status status = ECH_OK;
    if (b->parts.clear_bytes) clear(b);
    if (!is_plain(s) && echi_quantile_choose(s)->few) {
        launch(b, ECHI_MOVE, "quantile_few", 1, QUANTILE_FEW_THREADS);
        return flush(b);
    }
    if (!is_plain(s)) TRY(echi_quantile_choose(s)->select ? add_select(b) : add_sort(b));
    if (s->call == ECH_QUANTILE_CALL_QUANTILES) {
        TRY(add_quantiles(b));
    } else if (s->call == ECH_QUANTILE_CALL_PARTITION) {
        TRY(add_partition(b));
    } else {
        TRY(add_element(b));
    }
done:
    return status;
}

/* ---- The operation ---- */

static uint32_t kind_of(ech_dtype dtype)
{
    if (dtype == ECH_BF16) return QUANTILE_BF16;
    if (echi_dtype_is_float(dtype)) return QUANTILE_FLOAT;
    return echi_dtype_is_signed(dtype) ? QUANTILE_SIGNED : QUANTILE_UNSIGNED;
}

static void set_args(struct quantile_build *b)
{
    const struct echi_quantile *s = b->s;
    struct quantile_args *a = &b->args;
    const bool quantiles = s->call == ECH_QUANTILE_CALL_QUANTILES;
    a->in = s->in;
    a->out = s->out;
    a->index = s->index;
    a->n = s->n;
    a->order = s->order;
    if (echi_dtype_is_float(s->dtype)) a->nan = echi_dtype_nan(s->dtype);
    if (echi_dtype_is_float(s->out_dtype)) a->out_nan = echi_dtype_nan(s->out_dtype);
    a->call = (uint32_t)s->call;
    a->method = (uint32_t)s->method;
    a->kind = kind_of(s->dtype);
    a->ignore_nan = s->ignore_nan;
    a->discrete = quantiles && ech_quantile_dtype(s->method, ECH_U8) == ECH_U8;
    a->position_bytes = (uint32_t)echi_quantile_position_bytes(s);
    a->index_bytes = (uint32_t)s->index_bytes;
    a->count = quantiles ? 0 : (uint32_t)s->count;
    a->n_targets = echi_quantile_choose(s)->select ? (uint32_t)targets_of(s) : 0;
    if (!quantiles)
        memcpy(a->list_of.ranks, s->ranks, s->count * sizeof *s->ranks);
    else if (echi_quantile_choose(s)->select && s->q)
        memcpy(a->list_of.q, s->q, s->count * sizeof *s->q);
}

static ech_status begin(const struct echi_quantile *s, ech_ctx *ctx, void *work,
                        struct quantile_build *b)
{
    struct echi_layout layout = { .base = work };
    b->s = s;
    b->ctx = ctx;
    b->gpu = echi_gpu_of(ctx);
    b->steps.count = 0;
    snprintf(b->module, sizeof b->module, "quantile_k%d", 8 * s->key_bytes);
    const ech_status status = lay_out(s, &layout, &b->parts, &b->args);
    if (status == ECH_OK) set_args(b);
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    struct quantile_build b;
    ech_status status;
    (void)no_plan;
    TRY(begin(request, ctx, work, &b));
    TRY(add_all(&b));
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_quantile *s = request;
    struct quantile_build b;
    size_t bytes;
    ech_status status;
    TRY(plan(s, NULL, &bytes));
    echi_quantile_explain_choice(s, e);
    TRY(begin(s, NULL, NULL, &b));
    TRY(add_all(&b));
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_quantile = { .plan = plan, .explain = explain, .run = run };
