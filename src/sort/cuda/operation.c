/*
 * sort/cuda/operation.c - radix sort on the GPU, host half: chooses, lays out the workspace, queues
 * kernels.
 *
 *     what is asked                         how it travels
 *     keys alone                            image sort_k<bits>_v0, or sort_msd_k<bits>
 *     values of 4, 8 or 16 bytes, indices   image sort_k<bits>_v<bytes>, or sort_msd_pairs_k...:
 *                                           they go along each pass
 *     values of any other size              their indices go along, then arrange/cuda/operation.c
 * fetches them
 *
 *     workspace   [ (gather: the sorted indices | a copy of the values)
 *                 | keys' second buffer | (argsort: keys' third) | values' or indices' second
 *                 | state | look-back ]
 *     by count    [ state, or (keys of 16 bits) where each value begins ]
 *     by sample   [ keys by tiles | values by tiles | where buckets begin | two counters ]
 *     by msd      [ (argsort: keys' third) | keys' second buffer | (values' or indices' second)
 *                 | state | lists: segments, their counts, tiles, leaves | (values: counts of
 *                 tiles) | (classes: bins, and the class of each) ]
 *     adaptive    [ as by msd or classes; state and look-back where else the lists are ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cuda/cuda.h"
#include "sort/cuda/block.h"
#include "sort/cuda/count.h"
#include "sort/cuda/lsd.h"
#include "sort/cuda/msd.h"
#include "sort/cuda/msd_pairs.h"
#include "sort/cuda/onesweep.h"
#include "sort/cuda/sample.h"

#include <stdio.h>
#include <string.h>

/* ---- Plan: everything that follows from the request alone ---- */

struct plan {
    const struct sort_algorithm *algorithm;
    char image[32]; /* "sort_sample_k32_v4" */
    unsigned key_bytes;
    int moved_bytes; /* what goes along with a key: 0, 4, 8 or 16 */
    bool gather;     /* values are fetched by index at the end */
    int passes;
    struct block_plan block;
    struct onesweep_plan onesweep;
    uint32_t buckets; /* of a sample sort */
    bool classes;     /* of sorts by most significant digits */
    struct msd_plan msd;
};

/* The parts of the workspace; NULL where not needed. */
struct parts {
    void *keys_tmp, *keys_tmp2, *moved_tmp, *index, *values_copy;
    struct sort_state *state;
    uint32_t *status;
    uint64_t *begins;
    struct sort_msd *msd;
    struct sort_first *first;
    struct sort_segment *segments;
    uint32_t *counts, *tile_of, *crowded, *rows, *pieces, *few_counts, *few_sums;
    struct sort_leaf *leaves;
    uint16_t *starts;
    uint32_t *meet;
    struct sort_top *top;
    uint32_t *top_bins;
    uint8_t *top_class;
};

struct sort_algorithm {
    const char *name;
    const char *what;
    bool (*applicable)(const struct echi_sort *s);
    ech_status (*run)(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
    bool (*good)(const struct echi_sort *s); /* chosen then, if it is not named */
};

/* What goes along with a key in every pass: nothing, the value, or its index. */
static int moved_bytes(const struct echi_sort *s, bool *gather)
{
    size_t v = s->value_bytes;
    *gather = v != 0 && v != 4 && v != 8 && v != 16;
    return !*gather ? (int)v : (uint64_t)s->n <= (uint64_t)1 << 32 ? 4 : 8;
}

static const struct pairs_tuning *pairs_tuning_of(const struct echi_sort *s)
{
    bool gather;
    int moved = moved_bytes(s, &gather);
    return echi_sort_pairs_tuning(s->key_bytes, moved);
}

/* ---- Algorithms ---- */

static bool fits_block(const struct echi_sort *s)
{
    bool gather;
    return echi_sort_block_fits(s, moved_bytes(s, &gather));
}

static bool narrow_alone(const struct echi_sort *s)
{
    return s->key_bytes <= 2 && !s->stable;
}

/* Few keys of 16 bits are sorted faster than 65,536 counters are looked at. */
static bool good_count(const struct echi_sort *s)
{
    return s->key_bytes == 1 || s->n >= SORT_COUNT_LEAST;
}

static bool fits_sample(const struct echi_sort *s)
{
    bool gather;
    return echi_sort_sample_fits(s, moved_bytes(s, &gather));
}

static size_t msd_least(const struct echi_sort *s)
{
    return SORT_MSD_LEAST(s->key_bytes, s->order.float_mask != 0);
}

static bool good_sample(const struct echi_sort *s)
{
    return s->n < msd_least(s);
}

/* Positions have 32 bits.  Keys alone by some of their bits are neither: they want stability. */
static bool wide(const struct echi_sort *s)
{
    bool known = s->value_bytes ? pairs_tuning_of(s) && s->begin_bit < s->end_bit
                                : s->key_bytes >= 4 && !s->stable;
    return known && (uint64_t)s->n < (uint64_t)1 << 32;
}

static bool wide_alone(const struct echi_sort *s)
{
    return !s->value_bytes && wide(s);
}

/* Few keys are sorted faster by fewer launches.  Of more pairs than so many, two digits do not make
 * leaves, which 64-bit keys with values can bear, for the other way takes eight passes.  Nor do two
 * digits make leaves of 32-bit floats, half of which may lie under one exponent. */
static bool good_msd(const struct echi_sort *s)
{
    bool two_digits = s->n <= SORT_BINS * SORT_BINS / 16 * 15 * SORT_PAIRS_LEAF;
    if (s->n < msd_least(s)) return false;
    if (!s->value_bytes) return true;
    if (s->end_bit - s->begin_bit <= SORT_PAIRS_LEAST_BITS) return false;
    return s->key_bytes == 8 || (two_digits && !s->order.float_mask);
}

static bool good_classes(const struct echi_sort *s)
{
    return s->n >= SORT_TOP_LEAST;
}

/* A named sort takes classes where there are any. */
static bool takes_classes(const struct echi_sort *s)
{
    return wide_alone(s) &&
           (good_classes(s) || (s->algorithm && (s->key_bytes == 4 || s->order.float_mask)));
}

static bool good_adaptive(const struct echi_sort *s)
{
    return s->n >= SORT_CROWD_LEAST(s->key_bytes) && good_msd(s);
}

static bool always(const struct echi_sort *s)
{
    (void)s;
    return true;
}

static ech_status run_block(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
static ech_status run_count(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
static ech_status run_msd(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
static ech_status run_classes(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
static ech_status run_adaptive(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
static ech_status run_onesweep(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);
static ech_status run_sample(ech_ctx *ctx, const struct plan *plan, struct sort_args *args);

/* The first that is applicable runs unless one is named. */
static const struct sort_algorithm algorithms[] = {
    { "block", "one launch of one block, in shared memory", fits_block, run_block, always },
    { "count", "keys of 8 or 16 bits alone: counted, then written", narrow_alone, run_count,
      good_count },
    { "samplesort", "one launch, in buckets between splitters from a sample", fits_sample,
      run_sample, good_sample },
    { "adaptive", "as classes or msd, or as onesweep where a sample of the keys crowds", wide,
      run_adaptive, good_adaptive },
    { "classes", "as msd, and first by classes of about as many keys each", wide_alone, run_classes,
      good_classes },
    { "msd", "most significant digit first, until a block can hold what is left", wide, run_msd,
      good_msd },
    { "onesweep", "least significant digit first, one launch a digit of 8 bits", always,
      run_onesweep, always },
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static bool by_levels(const struct sort_algorithm *a)
{
    return a->run == run_msd || a->run == run_classes || a->run == run_adaptive;
}

static ech_status choose(const struct echi_sort *s, const struct sort_algorithm **choice)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        const struct sort_algorithm *a = &algorithms[i];
        if (s->algorithm && strcmp(s->algorithm, a->name) != 0) continue;
        if (a->applicable(s) && (s->algorithm || a->good(s))) {
            *choice = a;
            return ECH_OK;
        }
        if (s->algorithm)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "the algorithm \"%s\" of the GPU (%s) cannot do this sort of %zu %s",
                             a->name, a->what, s->n, ech_dtype_name(s->dtype));
    }
    return echi_fail(
        NULL, ECH_ERR_ARG,
        "the algorithm is \"%s\", and the GPU has \"block\", \"count\", "
        "\"samplesort\", \"adaptive\", \"classes\", \"msd\", \"onesweep\" and \"lean\"",
        s->algorithm);
}

static ech_status make_plan(const struct echi_sort *s, struct plan *plan)
{
    *plan = (struct plan){ 0 };
    ech_status status = choose(s, &plan->algorithm);
    if (status != ECH_OK) return status;
    plan->key_bytes = (unsigned)s->key_bytes;
    plan->moved_bytes = moved_bytes(s, &plan->gather);
    plan->passes = (s->end_bit - s->begin_bit + SORT_DIGIT_BITS - 1) / SORT_DIGIT_BITS;
    if (by_levels(plan->algorithm) && s->value_bytes)
        snprintf(plan->image, sizeof plan->image, "sort_msd_pairs_k%d_v%d", 8 * s->key_bytes,
                 plan->moved_bytes);
    else if (by_levels(plan->algorithm))
        snprintf(plan->image, sizeof plan->image, "sort_msd_k%d", 8 * s->key_bytes);
    else if (plan->algorithm->run == run_sample)
        snprintf(plan->image, sizeof plan->image, "sort_sample_k%d_v%d", 8 * s->key_bytes,
                 plan->moved_bytes);
    else
        snprintf(plan->image, sizeof plan->image, "sort_k%d_v%d", 8 * s->key_bytes,
                 plan->moved_bytes);

    plan->block = echi_cuda_plan_block(s, plan->moved_bytes);
    plan->onesweep = echi_cuda_plan_onesweep(s, plan->moved_bytes);
    plan->classes = plan->algorithm->run == run_classes ||
                    (plan->algorithm->run == run_adaptive && takes_classes(s));
    if (by_levels(plan->algorithm))
        plan->msd =
            echi_cuda_plan_msd(s, s->value_bytes ? pairs_tuning_of(s) : NULL, plan->classes);
    if (plan->algorithm->run == run_adaptive) echi_cuda_plan_adaptive(s, &plan->msd);
    if (plan->algorithm->run == run_sample)
        plan->buckets = echi_sort_sample_buckets(s, plan->moved_bytes);
    return ECH_OK;
}

/* Measures (base NULL) or lays out the workspace. */
static size_t lay_out(const struct echi_sort *s, const struct plan *plan, void *base,
                      bool *overflow, struct parts *parts)
{
    struct echi_layout layout = { .base = base }, lists = layout;
    bool passes = plan->algorithm->run == run_onesweep, msd = by_levels(plan->algorithm);
    bool values = plan->algorithm->run == run_count && s->key_bytes == 2;
    bool state = passes || (plan->algorithm->run == run_count && !values);
    size_t moved = (size_t)plan->moved_bytes;
    *parts = (struct parts){ 0 };
    if (plan->gather) parts->index = echi_part(&layout, s->n, moved);
    if (plan->gather) parts->values_copy = echi_part(&layout, s->n, s->value_bytes);
    if (msd) {
        size_t segments = (size_t)plan->msd.segments, tiles = (size_t)plan->msd.tiles;
        if (s->index_bytes) parts->keys_tmp2 = echi_part(&layout, s->n, (size_t)s->key_bytes);
        parts->keys_tmp = echi_part(&layout, s->n, (size_t)s->key_bytes);
        if (moved) parts->moved_tmp = echi_part(&layout, s->n, moved);
        parts->msd = echi_part(&layout, 1, sizeof *parts->msd);
        if (plan->msd.few) parts->first = echi_part(&layout, 1, sizeof *parts->first);
        lists = layout;
        parts->segments = echi_part(&layout, 2 * segments, sizeof *parts->segments);
        parts->counts = echi_part(&layout, 2 * segments, SORT_MSD_ROW * sizeof *parts->counts);
        parts->tile_of = echi_part(&layout, 2 * tiles, sizeof *parts->tile_of);
        parts->leaves = echi_part(&layout, (size_t)plan->msd.leaves, sizeof *parts->leaves);
        parts->crowded = echi_part(&layout, (size_t)plan->msd.leaves, sizeof *parts->crowded);
        if (moved) parts->rows = echi_part(&layout, tiles, SORT_BINS * sizeof *parts->rows);
        if (moved)
            parts->pieces =
                echi_part(&layout, plan->msd.count_blocks, SORT_BINS * sizeof *parts->pieces);
    }
    if (plan->buckets) {
        parts->keys_tmp = echi_part(&layout, s->n, (size_t)s->key_bytes);
        if (moved) parts->moved_tmp = echi_part(&layout, s->n, moved);
        parts->starts =
            echi_part(&layout, plan->buckets + 1, plan->buckets * sizeof *parts->starts);
        parts->meet = echi_part(&layout, 2, sizeof *parts->meet);
    }
    if (plan->classes) {
        parts->top = echi_part(&layout, 1, sizeof *parts->top);
        parts->top_bins = echi_part(&layout, 1 << SORT_TOP_BITS, sizeof *parts->top_bins);
        parts->top_class = echi_part(&layout, 1 << SORT_TOP_BITS, sizeof *parts->top_class);
    }
    if (passes) {
        parts->keys_tmp = echi_part(&layout, s->n, (size_t)s->key_bytes);
        if (s->index_bytes) parts->keys_tmp2 = echi_part(&layout, s->n, (size_t)s->key_bytes);
        if (moved) parts->moved_tmp = echi_part(&layout, s->n, moved);
    }
    if (values) parts->begins = echi_part(&layout, SORT_VALUES + 1, sizeof *parts->begins);
    if (state) parts->state = echi_part(&layout, 1, sizeof *parts->state);
    if (passes)
        parts->status = echi_part(&layout, plan->onesweep.tiles, SORT_BINS * sizeof *parts->status);
    if (plan->algorithm->run == run_adaptive) { /* one or the other */
        parts->state = echi_part(&lists, 1, sizeof *parts->state);
        parts->status = echi_part(&lists, plan->onesweep.tiles, SORT_BINS * sizeof *parts->status);
        if (lists.overflow || lists.bytes > layout.bytes) layout = lists;
    }
    if (plan->msd.few) {
        parts->few_counts =
            echi_part(&lists, plan->msd.few_blocks, SORT_BINS * sizeof *parts->few_counts);
        parts->few_sums = echi_part(&lists, 2 * (SORT_FEW_BLOCKS / SORT_FEW_GROUP),
                                    SORT_BINS * sizeof *parts->few_sums);
        if (lists.overflow || lists.bytes > layout.bytes) layout = lists;
    }
    *overflow = layout.overflow;
    return layout.bytes;
}

/* ---- What each queues ---- */

static ech_status run_block(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    return echi_cuda_launch_early(ctx, plan->image, plan->block.kernel, 1, plan->block.threads,
                                  plan->block.shared_bytes, args);
}

static ech_status run_msd(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    if (plan->msd.pairs) return echi_cuda_sort_pairs(ctx, plan->image, &plan->msd, args);
    return echi_cuda_sort_msd(ctx, plan->image, &plan->msd, args);
}

static ech_status run_classes(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    return echi_cuda_sort_classes(ctx, plan->image, &plan->msd, args);
}

/* What sort_lsd sorts the levels leave alone, and the other way around. */
static ech_status run_adaptive(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    ech_status status = ECH_OK;
    args->adaptive = 1;
    TRY(plan->classes ? run_classes(ctx, plan, args) : run_msd(ctx, plan, args));
    TRY(echi_cuda_sort_lsd(ctx, (int)plan->key_bytes, plan->moved_bytes, &plan->onesweep, args));
done:
    return status;
}

static ech_status run_sample(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    args->buckets = plan->buckets;
    return echi_cuda_sort_sample(ctx, plan->image, plan->key_bytes, (unsigned)plan->moved_bytes,
                                 args);
}

static ech_status run_count(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    return echi_cuda_sort_count(ctx, plan->image, args);
}

static ech_status run_onesweep(ech_ctx *ctx, const struct plan *plan, struct sort_args *args)
{
    return echi_cuda_sort_onesweep(ctx, plan->image, &plan->onesweep, args);
}

/* Fetches the values in the order of the indices; in place, from a copy. */
static ech_status gather(ech_ctx *ctx, const struct echi_sort *s, const struct plan *plan,
                         const struct parts *parts)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    const void *from = s->values_in;
    if (s->values_in == s->values_out) {
        CU(cuMemcpyAsync, (CUdeviceptr)(uintptr_t)parts->values_copy,
           (CUdeviceptr)(uintptr_t)s->values_in, s->n * s->value_bytes, echi_cuda_stream(ctx));
        from = parts->values_copy;
    }
    TRY(echi_cuda_gather(ctx, from, parts->index, plan->moved_bytes, s->values_out, s->n,
                         s->value_bytes));
done:
    return status;
}

/* Are keys that differ in a bit different? */
static bool compared_plainly(const struct echi_sort *s)
{
    uint64_t all = ~(uint64_t)0 >> (64 - 8 * s->key_bytes);
    return s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes && !s->order.merge &&
           (s->order.last & all) == all;
}

ech_status echi_cuda_sort(ech_ctx *ctx, const struct echi_sort *s)
{
    struct plan plan;
    struct parts parts;
    bool overflow;
    ech_status status = make_plan(s, &plan);
    if (status != ECH_OK) return echi_fail(ctx, status, "%s", ech_error(NULL));
    lay_out(s, &plan, s->work, &overflow, &parts);
    bool keys_stay = s->keys_in == s->keys_out;
    bool values_stay = s->values_in && s->values_in == s->values_out && !plan.gather;
    struct sort_args args = { .keys_in = s->keys_in,
                              .keys_out = s->index_bytes ? parts.keys_tmp2 : s->keys_out,
                              .keys_tmp = parts.keys_tmp,
                              .values_in = plan.gather ? NULL : s->values_in,
                              .values_out = plan.gather ? parts.index : s->values_out,
                              .values_tmp = parts.moved_tmp,
                              .state = parts.state,
                              .status = parts.status,
                              .begins = parts.begins,
                              .n = s->n,
                              .order = s->order,
                              .begin_bit = s->begin_bit,
                              .end_bit = s->end_bit,
                              .passes = plan.passes,
                              .in_place = keys_stay || values_stay,
                              .stays = keys_stay && (s->value_bytes == 0 || values_stay),
                              .index = s->index_bytes || plan.gather,
                              .discard_keys = s->index_bytes != 0,
                              .unstable = !s->stable,
                              .starts = parts.starts,
                              .meet = parts.meet,
                              .msd = parts.msd,
                              .first = parts.first,
                              .leaves = parts.leaves,
                              .top = parts.top,
                              .top_bins = parts.top_bins,
                              .top_class = parts.top_class,
                              .crowded = parts.crowded,
                              .rows = parts.rows,
                              .pieces = parts.pieces,
                              .few_counts = parts.few_counts,
                              .few_sums = parts.few_sums,
                              .plain = compared_plainly(s),
                              .same = !s->order.sign && !s->order.float_mask && !s->order.shift &&
                                      !s->order.flip };
    for (size_t i = 0; i < 2 && parts.msd; i++) {
        args.segments[i] = parts.segments + i * plan.msd.segments;
        args.counts[i] = parts.counts + i * plan.msd.segments * SORT_MSD_ROW;
        args.tile_of[i] = parts.tile_of + i * plan.msd.tiles;
    }
    status = plan.algorithm->run(ctx, &plan, &args);
    if (status == ECH_OK && plan.gather) status = gather(ctx, s, &plan, &parts);
    return status;
}

/* ---- Questions that need no device ---- */

ech_status echi_cuda_sort_workspace(const struct echi_sort *s, size_t *bytes)
{
    struct plan plan;
    struct parts parts;
    bool overflow;
    ech_status status = make_plan(s, &plan);
    if (status != ECH_OK) return status;
    *bytes = lay_out(s, &plan, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace is larger than any memory",
                         s->n);
    return ECH_OK;
}

ech_status echi_cuda_sort_explain(const struct echi_sort *s, struct echi_text *text)
{
    struct plan plan;
    size_t bytes = 0;
    ech_status status = make_plan(s, &plan);
    if (status == ECH_OK) status = echi_cuda_sort_workspace(s, &bytes);
    if (status != ECH_OK) return status;
    echi_print(text, "algorithm  %s: %s\n", plan.algorithm->name, plan.algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != plan.algorithm && algorithms[i].applicable(s))
            echi_print(text, "could be   %s: %s\n", algorithms[i].name, algorithms[i].what);
    echi_print(text, "image      %s\n", plan.image);
    if (plan.algorithm->run == run_block) {
        echi_print(text, "launch     %s, 1 block of %u threads, %d passes in it\n",
                   plan.block.kernel, plan.block.threads, plan.passes);
    } else if (plan.algorithm->run == run_count && s->key_bytes == 2) {
        echi_print(text, "launch     sort_count, sort_count_plan, sort_count_fill\n");
    } else if (plan.algorithm->run == run_count) {
        echi_print(text, "launch     sort_histogram, sort_plan, sort_fill\n");
    } else if (plan.algorithm->run == run_sample) {
        echi_print(text, "launch     sort_sample, 1024 threads a block, %u tiles and buckets\n",
                   plan.buckets);
    } else if (by_levels(plan.algorithm)) {
        const char *kind = plan.msd.pairs ? "pairs" : "msd";
        bool adaptive = plan.algorithm->run == run_adaptive;
        echi_print(text, "launch     %s\n",
                   plan.classes   ? "sort_top_begin, sort_top_count, sort_top_plan, "
                                    "sort_top_scatter, sort_msd_scatter (of floats, here and once "
                                    "more, sort_msd_floats); one of the last two ends at once"
                   : adaptive     ? "sort_crowd_begin"
                   : plan.msd.few ? "as one, sort_msd_begin and the first two of these"
                                  : "sort_msd_begin");
        if (plan.msd.packed)
            echi_print(
                text, "launch     sort_packed_count, _plan, _first, _bins, _second, _leaf: of keys "
                      "that look even; these or the next end at once\n");
        echi_print(text,
                   "launch     sort_%s_count, sort_msd_plan, sort_%s_scatter x %d, tiles of %u "
                   "keys; levels without work end at once%s\n",
                   kind, kind, plan.msd.levels, (unsigned)plan.msd.tile,
                   plan.msd.few     ? "; the last ones are one launch, which sorts keys that crowd "
                                      "least significant digit first"
                   : plan.msd.pairs ? ""
                                    : "; the last ones are one launch");
        echi_print(text, "launch     sort_%s_leaf, sort_%s_crowded, blocks of at most %u keys\n",
                   kind, kind, (unsigned)plan.msd.leaf);
        if (adaptive)
            echi_print(text,
                       "launch     sort_lsd_begin, sort_lsd of the image sort_k%u_v%d; these or "
                       "those above end at once\n",
                       8 * plan.key_bytes, plan.moved_bytes);
    } else {
        const struct onesweep_plan *o = &plan.onesweep;
        uint64_t portion_tiles = SORT_PORTION / o->tile;
        uint64_t portions = (o->tiles + portion_tiles - 1) / portion_tiles;
        echi_print(text, "launch     sort_histogram, sort_plan\n");
        echi_print(text,
                   "launch     sort_onesweep x %llu, %u threads, tiles of %u keys, %u bytes of "
                   "shared memory; "
                   "a pass whose digit is the same in all keys does nothing\n",
                   (unsigned long long)(portions * (uint64_t)plan.passes), o->threads, o->tile,
                   o->shared_bytes);
        echi_print(text, "launch     sort_finish\n");
    }
    if (plan.gather)
        echi_print(text, "launch     a gather of arrange.c: values of %zu bytes by index\n",
                   s->value_bytes);
    echi_print(text, "workspace  %zu bytes\n", bytes);
    return ECH_OK;
}
