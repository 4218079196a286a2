/*
 * sort/cuda/segments.c - sorts of rows and segments on the GPU: the plan and the steps.
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
 * The MSD radix sort exists for keys of 32 and 64 bits, alone, with values of 4, 8 and 16 bytes, and
 * with indices.  For other long groups, it sorts keys (of 8 and 16 bits: widened ones) with indices,
 * by which values and keys are then gathered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/segments.h"
#include "core/call.h"
#include "sort/cuda/plan.h"
#include "sort/cuda/segments.h"

#include <stdio.h>
#include <string.h>

/* Positions in the lists of msd.h have 32 bits. */
#define PORTION ((uint64_t)1 << 31)
enum { HUGE_ROW = 1 << 24 };

/* Which groups are long: those of more elements than 2^class of this. */
static const struct algorithm {
    const char *name, *what;
    int keys, positions; /* classes beyond those of a warp that are short, at most 4 */
} algorithms[] = {
    { "classes", "networks for short groups, MSD radix sort for long ones", 1, 1 },
    { "network", "networks up to 16 times the words of a warp, then MSD radix sort", 4, 4 },
    { "msd", "MSD radix sort for all groups that do not fit in a warp", 0, 0 },
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

struct groups_plan {
    const struct algorithm *algorithm;
    uint64_t longest; /* of a group, at most */
    uint64_t portion; /* elements that the lists of long groups refer to, at most */
    uint32_t words_log, most_class;
    bool positions, has_long, huge_rows, pack, unpack;
    bool widen, gather_keys, gather_values; /* of long groups */
    char short_module[32];
    struct echi_sort rest; /* the sort of long groups */
    struct sort_plan plan; /* its plan */
};
_Static_assert(sizeof(struct groups_plan) <= ECHI_PLAN_BYTES, "a plan is too large");

/* ---- The plan ---- */

static ech_status choose(const struct echi_sort *s, const struct algorithm **algorithm)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        if (!s->algorithm || strcmp(s->algorithm, algorithms[i].name) == 0) return ECH_OK;
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for sorts of rows and segments; available on the "
                     "GPU: \"classes\", \"network\" and \"msd\"",
                     s->algorithm);
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
    if (p->widen) {
        rest->key_bytes = 4;
        rest->begin_bit = 0;
        rest->end_bit = 32;
        rest->stable = true;
        rest->order = (struct echi_order){ .last = ~(uint64_t)0 };
        p->gather_keys = !s->index_bytes;
    }
    p->gather_values = v && !s->index_bytes && (p->widen || (v != 4 && v != 8 && v != 16));
    if (p->gather_values || p->gather_keys || (s->stable && !v)) {
        rest->value_bytes = 4;
        /* discards the keys, unless they are the result */
        rest->index_bytes = p->widen ? 4 : 0;
    }
    struct sort_plan *plan = &p->plan;
    *plan = (struct sort_plan){ .payload_bytes = (int)rest->value_bytes };
    if (rest->value_bytes)
        snprintf(plan->module, sizeof plan->module, "sort_msd_pairs_k%d_v%d", 8 * rest->key_bytes,
                 plan->payload_bytes);
    else
        snprintf(plan->module, sizeof plan->module, "sort_msd_k%d", 8 * rest->key_bytes);
    echi_sort_msd_size_groups(rest, p->portion >> p->most_class, plan);
}

static ech_status plan_shape(const struct echi_sort_segments *r, struct groups_plan *p)
{
    const struct echi_sort *s = &r->sort;
    ech_status status;
    *p = (struct groups_plan){ .longest = r->offsets ? s->n : r->cols };
    TRY(choose(s, &p->algorithm));
    p->positions = s->stable;
    p->words_log = SORT_SHORT_LOG(SORT_SHORT_WORD_BYTES(s->key_bytes, p->positions));
    p->most_class =
        p->words_log + (uint32_t)(p->positions ? p->algorithm->positions : p->algorithm->keys);
    p->has_long = p->longest > (uint64_t)1 << p->most_class;
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
    if (r->offsets && p->portion > UINT32_MAX) p->portion = UINT32_MAX;
    if (!r->offsets && p->portion > PORTION) p->portion = PORTION / r->cols * r->cols;
    plan_long(r, p);
done:
    return status;
}

/* ---- Workspace ---- */

struct parts {
    void *keys, *values; /* packed rows */
    uint32_t *lists[SORT_BLOCK_CLASSES + 1];
    struct sort_groups_state *state;
    void *row_work; /* of a huge row */
    size_t row_work_bytes;
    struct sort_args args;
    uint32_t *wide, *index;
    void *keys_copy, *values_copy;
};

/* The sort of one huge row. */
static struct echi_sort row_sort(const struct echi_sort_segments *r)
{
    struct echi_sort s = r->sort;
    s.n = r->cols;
    s.algorithm = NULL;
    return s;
}

/* The maximum number of segments in a list. */
static uint64_t list_capacity(const struct echi_sort_segments *r, const struct groups_plan *p,
                              uint32_t list)
{
    const uint32_t least = list == SORT_LONG ? p->most_class : p->words_log + list;
    if (least >= p->most_class && list != SORT_LONG) return 0;
    const uint64_t most = r->sort.n >> least; /* of more than 2^least elements each */
    return most < r->groups ? most : r->groups;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_sort_segments *r, const struct groups_plan *p,
                          struct echi_layout *layout, struct parts *parts)
{
    const struct echi_sort *s = &r->sort;
    const size_t key = (size_t)s->key_bytes, portion = (size_t)p->portion;
    memset(parts, 0, sizeof *parts);
    if (p->pack || (p->unpack && !s->index_bytes)) parts->keys = echi_part(layout, s->n, key);
    if (s->value_bytes && (p->unpack || (p->pack && !s->index_bytes)))
        parts->values = echi_part(layout, s->n, s->value_bytes);
    if (r->offsets) {
        for (uint32_t k = 0; k <= SORT_LONG; k++)
            if (list_capacity(r, p, k))
                parts->lists[k] =
                    echi_part(layout, (size_t)list_capacity(r, p, k), sizeof *parts->lists[k]);
        parts->state = echi_part(layout, 1, sizeof *parts->state);
    }
    if (p->huge_rows) {
        const struct echi_sort row = row_sort(r);
        const ech_status status =
            echi_operation_workspace(&echi_cuda_sort, &row, &parts->row_work_bytes);
        parts->row_work = echi_part(layout, parts->row_work_bytes, 1);
        return status;
    }
    if (!p->has_long) return ECH_OK;
    echi_sort_msd_lay_out(&p->rest, &p->plan, layout, &parts->args);
    if (p->widen) parts->wide = echi_part(layout, portion, sizeof *parts->wide);
    if (p->gather_keys || p->gather_values || (s->stable && !s->value_bytes))
        parts->index = echi_part(layout, portion, sizeof *parts->index);
    if (p->gather_keys) parts->keys_copy = echi_part(layout, portion, key);
    if (p->gather_values) parts->values_copy = echi_part(layout, portion, s->value_bytes);
    return ECH_OK;
}

static ech_status plan_groups(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_sort_segments *r = request;
    struct echi_layout layout = { 0 };
    struct parts parts;
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

/* ---- Steps ---- */

struct build {
    const struct echi_sort_segments *r;
    const struct groups_plan *plan;
    struct echi_gpu gpu;
    struct parts parts;
    struct echi_steps steps;
    struct echi_sort s; /* with the arrays in which elements are adjacent */
    struct sort_groups groups;
    struct sort_short_args shorts, blocks[SORT_BLOCK_CLASSES];
    struct sort_long_args longs;
    struct sort_widen_args widen;
    struct sort_gather_args gather[2];
    struct sort_pack_args pack[2], unpack[2];
    struct echi_sort rest;
};

static void pdl(struct build *b, enum echi_phase phase, const char *module, const char *kernel,
                unsigned blocks, unsigned threads, void *args)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = module,
                                                 .name = kernel,
                                                 .blocks = blocks,
                                                 .threads = threads,
                                                 .level = -1,
                                                 .args = args });
}

static void clear(struct build *b, void *to, size_t bytes)
{
    echi_step_add(
        &b->steps,
        (struct echi_step){
            .phase = ECHI_LOOK, .kind = ECHI_CLEAR, .level = -1, .to = to, .bytes = bytes });
}

/* As many blocks as there are parts of `each` elements, at most `most` per multiprocessor. */
static unsigned blocks_of(const struct build *b, uint64_t n, uint64_t each, unsigned most)
{
    return echi_cuda_least((n + each - 1) / each + (n == 0),
                           (uint64_t)most * (uint64_t)b->gpu.multiprocessors);
}

static uint32_t unit_of(size_t bytes)
{
    return (uint32_t)echi_opaque_align(bytes);
}

/* Rows from or to adjacent ones; to_work: to the workspace. */
static void pack_step(struct build *b, struct sort_pack_args *args, const void *from, void *to,
                      size_t bytes, bool to_work)
{
    const struct echi_sort_segments *r = b->r;
    const struct echi_strides *strides = to_work ? &r->in : &r->out;
    *args = (struct sort_pack_args){ .from = from,
                                     .to = to,
                                     .rows = r->groups,
                                     .cols = r->cols,
                                     .from_row = to_work ? strides->row : r->cols,
                                     .from_element = to_work ? strides->element : 1,
                                     .to_row = to_work ? r->cols : strides->row,
                                     .to_element = to_work ? 1 : strides->element,
                                     .unit = unit_of(bytes) };
    args->units = (uint32_t)(bytes / args->unit);
    pdl(b, to_work ? ECHI_LOOK : ECHI_FINISH, "sort_groups_all", "sort_groups_pack",
        blocks_of(b, r->sort.n, 1024, 16), SORT_GROUPS_THREADS, args);
}

/* The arrays of the sort itself, in which the elements of a row are adjacent. */
static void add_pack(struct build *b)
{
    const struct echi_sort *s = &b->r->sort;
    const struct parts *parts = &b->parts;
    const bool values = s->value_bytes && !s->index_bytes;
    b->s = *s;
    if (b->plan->pack) {
        pack_step(b, &b->pack[0], s->keys_in, parts->keys, (size_t)s->key_bytes, true);
        if (values) pack_step(b, &b->pack[1], s->values_in, parts->values, s->value_bytes, true);
        b->s.keys_in = parts->keys;
        if (values) b->s.values_in = parts->values;
    }
    if (!b->plan->unpack) return;
    if (!s->index_bytes) b->s.keys_out = parts->keys;
    if (s->value_bytes) b->s.values_out = parts->values;
}

static void add_unpack(struct build *b)
{
    const struct echi_sort *s = &b->r->sort;
    if (!b->plan->unpack) return;
    if (!s->index_bytes)
        pack_step(b, &b->unpack[0], b->parts.keys, s->keys_out, (size_t)s->key_bytes, false);
    if (s->value_bytes)
        pack_step(b, &b->unpack[1], b->parts.values, s->values_out, s->value_bytes, false);
}

/* Whether all keys with different bits are different. */
static bool compared_plainly(const struct echi_sort *s)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * s->key_bytes);
    return s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes && !s->order.merge &&
           (s->order.last & all) == all;
}

static struct sort_common common_of(const struct echi_sort *s)
{
    return (struct sort_common){
        .keys_in = s->keys_in,
        .keys_out = s->keys_out,
        .values_in = s->values_in,
        .values_out = s->values_out,
        .n = s->n,
        .order = s->order,
        .begin_bit = s->begin_bit,
        .end_bit = s->end_bit,
        .in_place = s->keys_in == s->keys_out || (s->values_in && s->values_in == s->values_out),
        .index = s->index_bytes != 0,
        .discard_keys = s->index_bytes != 0,
        .unstable = !s->stable,
        .plain = compared_plainly(s),
        .same = !s->order.sign && !s->order.float_mask && !s->order.shift && !s->order.flip
    };
}

static uint32_t class_of(uint64_t n)
{
    uint32_t c = 0;
    while ((uint64_t)1 << c < n) c++;
    return c;
}

static void set_groups(struct build *b)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    b->groups = (struct sort_groups){ .offsets = r->offsets,
                                      .ends = r->ends,
                                      .index = r->offsets_index,
                                      .groups = r->groups,
                                      .cols = r->cols,
                                      .in_row = p->pack ? r->cols : r->in.row,
                                      .out_row = p->unpack ? r->cols : r->out.row,
                                      .n = r->sort.n,
                                      .row_class = class_of(r->cols),
                                      .most_class = p->most_class,
                                      .state = b->parts.state };
    for (uint32_t k = 0; r->offsets && k <= SORT_LONG; k++) {
        b->groups.lists[k] = b->parts.lists[k];
        b->groups.capacity[k] = list_capacity(r, p, k);
    }
    b->groups.chunk = SORT_CHUNK; /* about SORT_CHUNK_ELEMENTS */
    while (b->groups.chunk > 32 && r->sort.n / r->groups * b->groups.chunk > SORT_CHUNK_ELEMENTS)
        b->groups.chunk /= 2;
    if (r->offsets && b->gpu.ctx) b->groups.data_error = echi_cuda_error_word(b->gpu.ctx);
}

static void add_short(struct build *b)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    const uint64_t n = b->s.n, words = (uint64_t)1 << p->words_log;
    const uint32_t c = r->offsets ? class_of(p->longest) : b->groups.row_class;
    b->shorts = (struct sort_short_args){ .common = common_of(&b->s),
                                          .groups = b->groups,
                                          .index_bytes = (uint32_t)b->s.index_bytes };
    if (!b->s.index_bytes) b->shorts.value_bytes = (uint32_t)b->s.value_bytes;
    if (b->shorts.value_bytes)
        b->shorts.unit = echi_cuda_least(unit_of(b->s.value_bytes), 8); /* for registers */
    b->shorts.gather = p->positions && !b->shorts.common.plain;
    if (r->offsets) {
        clear(b, b->parts.state, sizeof *b->parts.state);
        pdl(b, ECHI_MOVE, p->short_module, "sort_short_segments",
            blocks_of(b, r->groups, b->groups.chunk, SORT_SHORT_BLOCKS * 4), SORT_SHORT_THREADS,
            &b->shorts);
    } else if (c <= p->words_log) {
        pdl(b, ECHI_MOVE, p->short_module, "sort_short_rows",
            blocks_of(b, r->groups << c, words * (SORT_SHORT_THREADS / 32), SORT_SHORT_BLOCKS * 4),
            SORT_SHORT_THREADS, &b->shorts);
    }
    for (uint32_t k = 0; k < p->most_class - p->words_log; k++) {
        const uint32_t class = p->words_log + 1 + k;
        if (r->offsets ? class > c : class != c) continue;
        const unsigned threads = 64u << k, resident = 2048 / threads;
        const uint64_t most = r->offsets ? n >> (class - 1) : r->groups;
        b->blocks[k] = b->shorts;
        b->blocks[k].block_class = k;
        pdl(b, ECHI_MOVE, p->short_module, "sort_short_block", blocks_of(b, most, 1, resident),
            threads, &b->blocks[k]);
        b->steps.step[b->steps.count - 1].shared_bytes = (unsigned)SORT_SHORT_WARP_BYTES << (k + 1);
    }
}

/* ---- Long groups ---- */

static void set_args(void *args, struct echi_step *step, uint64_t part)
{
    struct sort_common *a = args;
    a->level = step->level < 0 ? 0 : step->level;
    a->part = part;
}

static const void *at(const void *array, uint64_t element, size_t bytes)
{
    return array ? (const char *)array + element * bytes : NULL;
}

static void *at_out(void *array, uint64_t element, size_t bytes)
{
    return array ? (char *)array + element * bytes : NULL;
}

/* The arrays of the portion that begins at `base`, of n elements. */
static void set_portion(struct build *b, uint64_t base, uint64_t n)
{
    const struct groups_plan *p = b->plan;
    const struct echi_sort *s = &b->s;
    struct sort_args *args = &b->parts.args;
    struct sort_common *common = &args->common, kept = *common;
    const size_t key = (size_t)s->key_bytes, value = s->value_bytes;
    const bool index = s->index_bytes || b->parts.index;
    b->rest = p->rest;
    b->rest.n = (size_t)n;
    b->rest.keys_in = p->widen ? b->parts.wide : at(s->keys_in, base, key);
    if (!p->widen && s->keys_out) b->rest.keys_out = at_out(s->keys_out, base, key);
    b->rest.values_in = index ? NULL : at(s->values_in, base, value);
    b->rest.values_out = b->parts.index ? b->parts.index : at_out(s->values_out, base, value);
    *common = common_of(&b->rest);
    common->index = index;
    common->keys_tmp = kept.keys_tmp;
    common->values_tmp = kept.values_tmp;
    if (b->rest.index_bytes) common->keys_out = kept.keys_out; /* a part of the workspace */
    common->discard_keys = b->rest.index_bytes != 0;
}

/* Queues to[p] = from[index[p]] for the long groups; in place from a copy. */
static void add_gather(struct build *b, struct sort_gather_args *args, const void *from, void *to,
                       void *copy, size_t bytes, uint64_t n)
{
    if (from == to) {
        echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                     .kind = ECHI_COPY,
                                                     .level = -1,
                                                     .to = copy,
                                                     .from = from,
                                                     .bytes = (size_t)n * bytes });
        from = copy;
    }
    *args = (struct sort_gather_args){
        .from = from, .to = to, .index = b->parts.index, .n = n, .unit = unit_of(bytes)
    };
    args->units = (uint32_t)(bytes / args->unit);
    pdl(b, ECHI_FINISH, "sort_groups_all", "sort_groups_gather", blocks_of(b, n, 1024, 8),
        SORT_GROUPS_THREADS, args);
}

/* The steps for the long groups that begin in [base, base + step), of an array of n elements from
 * base on. */
static ech_status add_long(struct build *b, uint64_t base, uint64_t step, uint64_t n)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    const struct echi_sort *s = &b->s;
    struct parts *parts = &b->parts;
    struct sort_build build = { &b->rest, &p->plan, b->gpu, &parts->args, &b->steps, NULL };
    set_portion(b, base, n);
    clear(b, parts->args.lists.msd, sizeof *parts->args.lists.msd);
    if (parts->index) clear(b, parts->index, (size_t)n * sizeof *parts->index);
    if (p->widen) {
        b->widen = (struct sort_widen_args){ b->shorts.common, parts->wide };
        b->widen.common.keys_in = at(s->keys_in, base, (size_t)s->key_bytes);
        b->widen.common.n = n;
        b->widen.common.plain = compared_plainly(s);
        pdl(b, ECHI_LOOK, s->key_bytes == 1 ? "sort_short_k8_v4" : "sort_short_k16_v4",
            "sort_short_widen", blocks_of(b, n, 2048, 8), SORT_GROUPS_THREADS, &b->widen);
    }
    b->longs =
        (struct sort_long_args){ .groups = b->groups,
                                 .base = base,
                                 .end = base + step,
                                 .first_row = r->offsets ? 0 : base / r->cols,
                                 .rows = r->offsets ? 0 : n / r->cols,
                                 .lists = parts->args.lists,
                                 .segments = p->plan.msd.segments,
                                 .tiles = p->plan.msd.tiles,
                                 .leaves = p->plan.msd.leaves,
                                 .tile = (uint32_t)p->plan.msd.tile,
                                 .leaf = echi_sort_msd_leaf(&p->plan),
                                 .shift = (uint32_t)(8 * b->rest.key_bytes) - SORT_DIGIT_BITS,
                                 .global = parts->index != NULL };
    const uint64_t most = r->offsets ? n >> p->most_class : n / r->cols;
    pdl(b, ECHI_PLAN, "sort_groups_all", "sort_groups_long",
        blocks_of(b, most + 1, SORT_GROUPS_THREADS, 8), SORT_GROUPS_THREADS, &b->longs);
    const ech_status status =
        echi_sort_msd_groups(&build, p->longest < n ? p->longest : n, !r->offsets);
    if (p->gather_keys && s->keys_out)
        add_gather(b, &b->gather[0], at(s->keys_in, base, (size_t)s->key_bytes),
                   at_out(s->keys_out, base, (size_t)s->key_bytes), parts->keys_copy,
                   (size_t)s->key_bytes, n);
    if (p->gather_values)
        add_gather(b, &b->gather[1], at(s->values_in, base, s->value_bytes),
                   at_out(s->values_out, base, s->value_bytes), parts->values_copy, s->value_bytes,
                   n);
    return status;
}

/* ---- The operation ---- */

/* The steps before those of long groups. */
static ech_status begin(const struct echi_sort_segments *r, const struct groups_plan *plan,
                        struct echi_gpu gpu, void *work, struct build *b)
{
    struct echi_layout layout = { .base = work };
    memset(b, 0, sizeof *b);
    b->r = r;
    b->plan = plan;
    b->gpu = gpu;
    const ech_status status = lay_out(r, plan, &layout, &b->parts);
    if (status != ECH_OK) return status;
    add_pack(b);
    set_groups(b);
    if (plan->huge_rows) return ECH_OK;
    add_short(b);
    return ECH_OK;
}

static ech_status enqueue(ech_ctx *ctx, struct build *b)
{
    const ech_status status = echi_cuda_enqueue(ctx, &b->steps, &b->parts.args, set_args);
    b->steps.count = 0;
    return status;
}

static ech_status run_huge_rows(ech_ctx *ctx, struct build *b)
{
    const size_t key = (size_t)b->s.key_bytes, value = b->s.value_bytes;
    ech_status status = enqueue(ctx, b);
    for (uint64_t i = 0; i < b->r->groups && status == ECH_OK; i++) {
        const uint64_t in = i * b->groups.in_row, out = i * b->groups.out_row;
        struct echi_sort row = row_sort(b->r);
        row.keys_in = at(b->s.keys_in, in, key);
        row.keys_out = at_out(b->s.keys_out, out, key);
        row.values_in = at(b->s.values_in, in, value);
        row.values_out = at_out(b->s.values_out, out, value);
        status = echi_operation_run(ctx, &echi_cuda_sort, &row, b->parts.row_work);
    }
    return status;
}

static ech_status run_groups(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_sort_segments *r = request;
    const struct groups_plan *p = plan;
    struct build b;
    ech_status status = ECH_OK;
    if (r->groups == 0) return ECH_OK;
    TRY(begin(r, p, echi_gpu_of(ctx), work, &b));
    if (p->huge_rows) {
        TRY(run_huge_rows(ctx, &b));
    } else if (p->has_long) {
        const uint64_t n = r->sort.n, step = p->portion < n && r->offsets ? PORTION : p->portion;
        for (uint64_t base = 0; base < n; base += step) {
            TRY(add_long(&b, base, step, n - base < p->portion ? n - base : p->portion));
            TRY(enqueue(ctx, &b));
        }
    }
    add_unpack(&b);
    TRY(enqueue(ctx, &b));
done:
    return status;
}

static ech_status explain_groups(const void *request, struct echi_explain *e)
{
    const struct echi_sort_segments *r = request;
    struct groups_plan plan;
    struct build b;
    size_t bytes;
    ech_status status;
    TRY(plan_groups(r, &plan, &bytes));
    echi_explain_algorithm(e, true, plan.algorithm->name, "%s", plan.algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != plan.algorithm)
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    if (r->groups == 0) goto done;
    if (plan.huge_rows)
        echi_explain_line(e, "rows", "one sort each, because they have at least %d elements",
                          HUGE_ROW);
    else
        echi_explain_line(e, "networks", "groups of at most %llu elements",
                          1ULL << plan.most_class);
    TRY(begin(r, &plan, echi_gpu_of(NULL), NULL, &b));
    if (plan.has_long && !plan.huge_rows) TRY(add_long(&b, 0, plan.portion, plan.portion));
    add_unpack(&b);
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_sort_segments = { .plan = plan_groups,
                                                        .plan_bytes = sizeof(struct groups_plan),
                                                        .explain = explain_groups,
                                                        .run = run_groups };
