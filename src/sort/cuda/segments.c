/*
 * sort/cuda/segments.c - sorts of rows and segments on the GPU: the plan, the workspace, the
 * operation.
 *
 *     groups              how they are sorted
 *     short               sort_short_...: by networks, many per warp or one per block
 *     long                the lists of an MSD radix sort (msd.h), which begin with these groups
 *     rows of 2^24 and    one ordinary sort each
 *     more elements
 *
 *     workspace   [ packed rows | lists of segments, state | second buffers and lists of msd.c
 *                 | widened keys | indices | copies ]
 *
 * The MSD radix sort exists for keys of 32 and 64 bits without values, with values of 4, 8 and 16
 * bytes, and with indices.  For other long groups, it sorts keys (of 8 and 16 bits: widened ones)
 * with indices, by which values and keys are then gathered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/segments_plan.h"

#include "core/call.h"

#include <stdio.h>
#include <string.h>

/* Positions in the lists of msd.h have 32 bits. */
#define PORTION ((uint64_t)1 << 31)
enum { HUGE_ROW = 1 << 24, LONG_MEAN = 1 << 15 };

static const char algorithm[] = "classes";

_Static_assert(sizeof(struct groups_plan) <= ECHI_PLAN_BYTES, "a plan is too large");

/* ---- The plan ---- */

static ech_status check_algorithm(const struct echi_sort *s)
{
    if (!s->algorithm || strcmp(s->algorithm, algorithm) == 0) return ECH_OK;
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for sorts of rows and segments; the one available "
                     "on the GPU is \"%s\"",
                     s->algorithm, algorithm);
}

/* The classes beyond those of a warp that are short.  A block counts narrow keys: of rows and of
 * segments that are long on average up to 16 times a warp's words, because several blocks sort
 * longer ones faster; of other segments, long ones are exceptions, and up to this length a block
 * takes less time than the launches of a sort of long segments, or little more. */
static uint32_t block_classes(const struct echi_sort_segments *r, const struct groups_plan *p)
{
    const struct echi_sort *s = &r->sort;
    if (r->plain) return 0;
    if (s->stable) return 1;
    if (!p->counted) return s->key_bytes < 4 ? SORT_BLOCK_CLASSES : 1;
    if (!r->offsets || s->n / LONG_MEAN >= r->groups) return SORT_BLOCK_CLASSES;
    const uint32_t alone = s->key_bytes == 1 ? 21 : 20, most = s->key_bytes == 1 ? 18 : 17;
    return (s->n <= (size_t)1 << alone ? alone : most) - p->words_log;
}

/* Whether networks sort rows of 16-bit keys without positions faster than other ways. */
static bool prefers_networks(const struct echi_sort_segments *r, const struct groups_plan *p)
{
    const uint64_t words = (uint64_t)1 << p->words_log;
    return r->sort.key_bytes == 2 && !r->offsets && r->sort.n > SORT_COUNTED_WIDE_MOST &&
           r->cols <= (r->sort.n >= SORT_NETWORK_LARGE ? 4 : 2) * words;
}

/* Whether blocks sort groups by bins: keys without positions, if the array is small, or if groups
 * of more than a warp's words are exceptions.  Networks are faster for rows of up to twice these
 * words. */
static bool can_bins(const struct echi_sort_segments *r, const struct groups_plan *p)
{
    const uint64_t words = (uint64_t)1 << p->words_log, n = r->sort.n;
    if (r->plain || p->positions || r->sort.key_bytes < 4) return false;
    if (!r->offsets)
        return n <= SORT_GROUP_BINS_MOST && r->cols > 2 * words &&
               r->cols <= words << SORT_BLOCK_CLASSES;
    return n <= SORT_GROUP_BINS_MOST ||
           (n <= SORT_GROUP_LISTED_MOST && n / SORT_GROUP_LISTED_MEAN < r->groups);
}

/* The tiles of a group that a block sorts at most: several only if such groups are exceptions. */
static uint64_t tiles_of(const struct echi_sort_segments *r, const struct groups_plan *p)
{
    return p->bins && r->offsets && r->sort.n >> (p->most_class - 1) <= r->groups
               ? SORT_GROUP_BINS_TILES
               : 1;
}

/* The sort of long groups: keys, native pairs, or keys with indices and a gather. */
static void plan_long(const struct echi_sort_segments *r, struct groups_plan *p)
{
    const struct echi_sort *s = &r->sort;
    struct echi_sort *rest = &p->rest;
    const size_t v = s->value_bytes;
    *rest = *s;
    rest->n = (size_t)p->portion;
    rest->algorithm = NULL;
    p->widen = s->key_bytes < 4;
    if (s->begin_bit == s->end_bit) { /* all keys compare as equal */
        rest->begin_bit = 0;
        rest->end_bit = 8 * s->key_bytes;
        rest->order.last = rest->order.merge = 0;
    }
    if (p->widen) {
        rest->key_bytes = 4;
        rest->begin_bit = 0;
        rest->end_bit = 32;
        rest->stable = true;
        rest->order = (struct echi_order){ .last = ~(uint64_t)0 };
        p->gather_keys = !s->index_bytes;
    }
    p->gather_values = v && !s->index_bytes && (p->widen || (v != 4 && v != 8 && v != 16));
    p->index = p->gather_values || p->gather_keys || (s->stable && !v);
    if (p->index) {
        rest->value_bytes = 4;
        /* discards the keys, unless they are the result */
        rest->index_bytes = p->widen ? 4 : 0;
    }
    struct sort_plan *plan = &p->plan;
    *plan = (struct sort_plan){ .payload_bytes = (int)rest->value_bytes };
    echi_sort_msd_module(rest, plan);
    echi_sort_msd_size_groups(rest, p->portion >> p->most_class, plan);
}

static ech_status plan_shape(const struct echi_sort_segments *r, struct groups_plan *p)
{
    const struct echi_sort *s = &r->sort;
    ech_status status;
    *p = (struct groups_plan){ .longest = r->longest ? r->longest : r->offsets ? s->n : r->cols };
    TRY(check_algorithm(s));
    p->positions = s->stable;
    p->words_log = SORT_SHORT_LOG(SORT_SHORT_WORD_BYTES(s->key_bytes, p->positions));
    p->counted = s->key_bytes < 4 && !p->positions && !r->plain && !prefers_networks(r, p);
    const bool few = p->counted && s->key_bytes == 2 && s->n <= SORT_COUNTED_WIDE_MOST;
    p->wide = few && (r->offsets ? s->n / SORT_COUNTED_WIDE_MEAN >= r->groups
                                 : r->cols > SORT_COUNTED_WIDE_MEAN);
    p->bins = can_bins(r, p);
    p->most_class = p->words_log + (p->bins ? SORT_BLOCK_CLASSES : block_classes(r, p));
    p->has_long = p->longest > tiles_of(r, p) << p->most_class;
    p->all = !r->count && p->longest > (uint64_t)1 << p->words_log &&
             (p->counted ? r->offsets && !p->has_long &&
                               s->n / (s->key_bytes == 1 ? 128
                                       : few             ? 256
                                                         : 1024) >=
                                   r->groups
                         : p->bins && (!r->offsets || s->n / SORT_GROUP_BINS_MEAN >= r->groups));
    p->huge_rows = !r->offsets && p->longest >= HUGE_ROW;
    snprintf(p->short_module, sizeof p->short_module, "sort_short_k%d_v%d", 8 * s->key_bytes,
             p->positions ? 4 : 0);
    if (r->offsets && r->groups >= UINT32_MAX)
        FAIL(NULL, ECH_ERR_UNSUPPORTED, "segments is %zu; a GPU sorts fewer than 2^32 - 1",
             r->groups);
    if (!r->offsets) {
        const bool adjacent = r->in.row == r->cols && r->out.row == r->cols;
        const bool all = p->has_long && !adjacent; /* the lists have one position for both */
        const bool one = p->huge_rows;             /* one ordinary sort per row */
        p->pack =
            !echi_rows_adjacent(r, &r->in) || (!one && (all || r->in.row >= SORT_SHORT_FAR_ROWS));
        p->unpack =
            !echi_rows_adjacent(r, &r->out) || (!one && (all || r->out.row >= SORT_SHORT_FAR_ROWS));
    }
    if (!p->has_long || p->huge_rows) goto done;
    p->portion = s->n;
    if (r->portion && p->portion > r->portion) p->portion = r->portion;
    if (r->offsets && p->portion > UINT32_MAX) p->portion = UINT32_MAX;
    if (!r->offsets && p->portion > PORTION) p->portion = PORTION / r->cols * r->cols;
    plan_long(r, p);
done:
    return status;
}

/* ---- Workspace ---- */

/* The sort of one huge row. */
static struct echi_sort row_sort(const struct echi_sort_segments *r)
{
    struct echi_sort s = r->sort;
    s.n = r->cols;
    s.algorithm = NULL;
    return s;
}

uint64_t echi_sort_groups_capacity(const struct echi_sort_segments *r, const struct groups_plan *p,
                                   uint32_t list)
{
    const uint32_t below = list == SORT_LONG ? p->most_class : p->words_log + list;
    if ((below >= p->most_class || (p->counted && list)) && list != SORT_LONG) return 0;
    if (p->all) return 0;
    const uint64_t most = r->sort.n >> below; /* of more than 2^below elements each */
    return most < r->groups ? most : r->groups;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_sort_segments *r, const struct groups_plan *p,
                          struct echi_layout *layout, struct groups_parts *parts)
{
    const struct echi_sort *s = &r->sort;
    const size_t key = (size_t)s->key_bytes, portion = (size_t)p->portion;
    memset(parts, 0, sizeof *parts);
    if (p->pack || (p->unpack && !s->index_bytes)) parts->keys = echi_part(layout, s->n, key);
    if (s->value_bytes && (p->unpack || (p->pack && !s->index_bytes)))
        parts->values = echi_part(layout, s->n, s->value_bytes);
    if (r->offsets) {
        for (uint32_t k = 0; k <= SORT_LONG; k++)
            if (echi_sort_groups_capacity(r, p, k))
                parts->lists[k] = echi_part(layout, (size_t)echi_sort_groups_capacity(r, p, k),
                                            sizeof *parts->lists[k]);
        if (!p->all || p->has_long) parts->state = echi_part(layout, 1, sizeof *parts->state);
    }
    if (p->huge_rows) {
        const struct echi_sort row = row_sort(r);
        const ech_status status =
            echi_operation_workspace(&echi_cuda_sort, &row, &parts->row_work_bytes);
        parts->row_work = echi_part(layout, parts->row_work_bytes, 1);
        return status;
    }
    if ((p->counted && key == 2 && (s->keys_in == s->keys_out || (p->pack && p->unpack))) ||
        (p->bins && !p->has_long && p->longest > (uint64_t)1 << p->most_class))
        parts->keys_copy = echi_part(layout, s->n, key);
    if (!p->has_long) return ECH_OK;
    echi_sort_msd_lay_out(&p->rest, &p->plan, layout, &parts->args);
    if (p->widen) parts->wide = echi_part(layout, portion, sizeof *parts->wide);
    if (p->index) parts->index = echi_part(layout, portion, sizeof *parts->index);
    if (p->gather_keys && !parts->keys_copy) parts->keys_copy = echi_part(layout, portion, key);
    if (p->gather_values) parts->values_copy = echi_part(layout, portion, s->value_bytes);
    return ECH_OK;
}

static ech_status plan_groups(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_sort_segments *r = request;
    struct echi_layout layout = { 0 };
    struct groups_parts parts;
    ech_status status;
    *work_bytes = 0;
    TRY(plan_shape(r, plan));
    if (r->groups == 0) goto done;
    TRY(lay_out(r, plan, &layout, &parts));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", r->sort.n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- The operation ---- */

/* The steps before those of long groups. */
static ech_status begin(const struct echi_sort_segments *r, const struct groups_plan *plan,
                        struct echi_gpu gpu, void *work, struct groups_build *b)
{
    struct echi_layout layout = { .base = work };
    memset(b, 0, sizeof *b);
    b->r = r;
    b->plan = plan;
    b->gpu = gpu;
    const ech_status status = lay_out(r, plan, &layout, &b->parts);
    if (status != ECH_OK) return status;
    echi_sort_groups_begin(b);
    return ECH_OK;
}

static ech_status enqueue(ech_ctx *ctx, struct groups_build *b)
{
    const ech_status status = echi_cuda_enqueue(ctx, &b->steps, &b->parts.args, echi_sort_set_args);
    b->steps.count = 0;
    return status;
}

static ech_status run_huge_rows(ech_ctx *ctx, struct groups_build *b)
{
    const size_t key = (size_t)b->s.key_bytes, value = b->s.value_bytes;
    ech_status status = enqueue(ctx, b);
    for (uint64_t i = 0; i < b->r->groups && status == ECH_OK; i++) {
        const uint64_t in = i * b->groups.in_row, out = i * b->groups.out_row;
        struct echi_sort row = row_sort(b->r);
        row.keys_in = echi_sort_groups_at(b->s.keys_in, in, key);
        row.keys_out = echi_sort_groups_out(b->s.keys_out, out, key);
        row.values_in = echi_sort_groups_at(b->s.values_in, in, value);
        row.values_out = echi_sort_groups_out(b->s.values_out, out, value);
        status = echi_operation_run(ctx, &echi_cuda_sort, &row, b->parts.row_work);
    }
    return status;
}

static ech_status run_groups(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_sort_segments *r = request;
    const struct groups_plan *p = plan;
    struct groups_build b;
    ech_status status = ECH_OK;
    if (r->groups == 0) return ECH_OK;
    TRY(begin(r, p, echi_gpu_of(ctx), work, &b));
    if (p->huge_rows) {
        TRY(run_huge_rows(ctx, &b));
    } else if (p->has_long) {
        const uint64_t n = r->sort.n, step = r->portion ? r->portion - r->longest
                                             : p->portion < n && r->offsets ? PORTION
                                                                            : p->portion;
        for (uint64_t base = 0; base < n; base += step) {
            TRY(echi_sort_groups_long(&b, base, step,
                                      n - base < p->portion ? n - base : p->portion));
            TRY(enqueue(ctx, &b));
        }
    }
    echi_sort_groups_end(&b);
    TRY(enqueue(ctx, &b));
done:
    return status;
}

static ech_status explain_groups(const void *request, struct echi_explain *e)
{
    const struct echi_sort_segments *r = request;
    struct groups_plan plan;
    struct groups_build b;
    size_t bytes;
    ech_status status;
    TRY(plan_groups(r, &plan, &bytes));
    echi_explain_algorithm(e, true, algorithm,
                           "networks, bins or counting for short groups, MSD radix sort for long "
                           "ones");
    if (r->groups == 0) goto done;
    if (plan.huge_rows)
        echi_explain_line(e, "rows", "one sort each, because they have at least %d elements",
                          HUGE_ROW);
    else
        echi_explain_line(e, plan.counted ? "counted" : "networks",
                          "groups of at most %llu elements", 1ULL << plan.most_class);
    TRY(begin(r, &plan, echi_gpu_of(NULL), NULL, &b));
    if (plan.has_long && !plan.huge_rows)
        TRY(echi_sort_groups_long(&b, 0, plan.portion, plan.portion));
    echi_sort_groups_end(&b);
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_sort_segments = { .plan = plan_groups,
                                                        .plan_bytes = sizeof(struct groups_plan),
                                                        .explain = explain_groups,
                                                        .run = run_groups };
