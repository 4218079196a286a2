/*
 * sort/cuda/segments_steps.c - the steps of sorts of rows and segments on the GPU.
 *
 *     pack      rows whose elements are not adjacent are copied to the workspace
 *     short     segments: chunk after chunk; rows: many per warp, or one per block
 *     long      the first lists, then the steps of msd.c; values by index
 *     unpack    rows from the workspace
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/segments_plan.h"

#include "core/call.h"

static void pdl(struct groups_build *b, enum echi_phase phase, const char *module,
                const char *kernel, unsigned blocks, unsigned threads, void *args)
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

static void clear(struct groups_build *b, void *to, size_t bytes)
{
    echi_step_add(
        &b->steps,
        (struct echi_step){
            .phase = ECHI_LOOK, .kind = ECHI_CLEAR, .level = -1, .to = to, .bytes = bytes });
}

static uint32_t unit_of(size_t bytes)
{
    return (uint32_t)echi_opaque_align(bytes);
}

/* Rows from or to adjacent ones; to_work: to the workspace. */
static void pack_step(struct groups_build *b, struct sort_pack_args *args, const void *from,
                      void *to, size_t bytes, bool to_work)
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
        echi_gpu_blocks(&b->gpu, r->sort.n, 1024, 16), SORT_GROUPS_THREADS, args);
}

/* The arrays of the sort itself, in which the elements of a row are adjacent. */
static void add_pack(struct groups_build *b)
{
    const struct echi_sort *s = &b->r->sort;
    const struct groups_parts *parts = &b->parts;
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

void echi_sort_groups_end(struct groups_build *b)
{
    const struct echi_sort *s = &b->r->sort;
    if (!b->plan->unpack) return;
    if (!s->index_bytes)
        pack_step(b, &b->unpack[0], b->parts.keys, s->keys_out, (size_t)s->key_bytes, false);
    if (s->value_bytes)
        pack_step(b, &b->unpack[1], b->parts.values, s->values_out, s->value_bytes, false);
}

static uint32_t class_of(uint64_t n)
{
    uint32_t c = 0;
    while ((uint64_t)1 << c < n) c++;
    return c;
}

static void set_groups(struct groups_build *b)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    b->groups = (struct sort_groups){ .offsets = r->offsets,
                                      .ends = r->ends,
                                      .index = r->offsets_index,
                                      .groups = r->groups,
                                      .count = r->count,
                                      .cols = r->cols,
                                      .in_row = p->pack ? r->cols : r->in.row,
                                      .out_row = p->unpack ? r->cols : r->out.row,
                                      .n = r->sort.n,
                                      .row_class = class_of(r->cols),
                                      .most_class = p->most_class,
                                      .state = b->parts.state };
    for (uint32_t k = 0; r->offsets && k <= SORT_LONG; k++) {
        b->groups.lists[k] = b->parts.lists[k];
        b->groups.capacity[k] = echi_sort_groups_capacity(r, p, k);
    }
    b->groups.chunk = SORT_CHUNK; /* about SORT_CHUNK_ELEMENTS; less if there are few segments */
    while (b->groups.chunk > 32 &&
           (r->sort.n / r->groups * b->groups.chunk > SORT_CHUNK_ELEMENTS ||
            r->groups / b->groups.chunk < 2 * (uint64_t)b->gpu.multiprocessors))
        b->groups.chunk /= 2;
    if (r->offsets && b->gpu.ctx) b->groups.data_error = echi_cuda_error_word(b->gpu.ctx);
}

/* Zeros that the last kernel leaves again. */
static void zeros(struct groups_build *b, struct sort_groups_state **state)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_ZEROS,
                                                 .level = -1,
                                                 .to = b->parts.state,
                                                 .slot = state,
                                                 .bytes = sizeof **state });
}

/* The groups that a block counts: rows of this class, listed segments, or all. */
static void add_counted(struct groups_build *b)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    struct sort_short_args *args = &b->shorts;
    const uint64_t most = r->offsets && !p->all ? echi_sort_groups_capacity(r, p, 0) : r->groups;
    const unsigned threads =
        p->wide ? SORT_COUNTED_WIDE_THREADS : SORT_COUNTED_THREADS(b->s.key_bytes);
    const unsigned bytes = b->gpu.shared_bytes - 2 * ECHI_BLOCK_RESERVED_BYTES >= SORT_COUNTED_BYTES
                               ? SORT_COUNTED_BYTES
                               : SORT_VALUES_BYTES;
    args->common.keys_tmp = b->s.keys_in == b->s.keys_out ? b->parts.keys_copy : NULL;
    args->all = p->all;
    args->reset = r->offsets && !p->all && !p->has_long;
    args->window = b->s.key_bytes == 1 ? 4 << 8 : bytes & ~511u; /* all lanes have vectors */
    if (p->all) args->groups.state = NULL;
    pdl(b, ECHI_MOVE, p->wide ? "sort_counted_k16" : p->short_module,
        p->wide ? "sort_counted" : "sort_short_block",
        echi_gpu_blocks(&b->gpu, most, 1, 2048 / threads), threads, args);
    b->steps.step[b->steps.count - 1].shared_bytes = b->s.key_bytes == 1 ? 24 * threads : bytes;
}

/* The lists that the long groups of a portion make, which begins at `base`. */
static struct sort_long long_lists(const struct groups_build *b, uint64_t base, uint64_t step)
{
    const struct groups_plan *p = b->plan;
    const uint32_t top_bit = (uint32_t)b->r->top_bit;
    return (struct sort_long){ .base = base,
                               .end = base + step,
                               .lists = b->parts.args.lists,
                               .segments = p->plan.msd.segments,
                               .tiles = p->plan.msd.tiles,
                               .leaves = p->plan.msd.leaves,
                               .tile = (uint32_t)p->plan.msd.tile,
                               .leaf = echi_sort_msd_leaf(&p->plan),
                               .top = top_bit ? top_bit : 8 * (uint32_t)p->rest.key_bytes,
                               .tops = b->r->tops,
                               .global = p->index };
}

/* The groups that a block sorts by bins: rows, listed segments, or all. */
static void add_bins(struct groups_build *b)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    struct sort_short_args *args = &b->shorts;
    const uint64_t listed = r->sort.n >> p->words_log;
    args->common.passes = 1; /* all bits are compared */
    args->common.keys_tmp = b->parts.keys_copy;
    args->all = p->all;
    args->reset = r->offsets && (!p->all || p->has_long);
    if (p->has_long) {
        args->to = long_lists(b, 0, r->sort.n);
        if (p->all)
            clear(b, args->to.lists.msd, sizeof *args->to.lists.msd);
        else
            args->clear = args->to.lists.msd;
    }
    pdl(b, ECHI_MOVE, b->s.key_bytes == 4 ? "sort_group_bins_k32" : "sort_group_bins_k64",
        "sort_group_bins",
        echi_gpu_blocks(&b->gpu, p->all || listed > r->groups ? r->groups : listed, 1, 1),
        SORT_GROUP_BINS_THREADS, args);
    b->steps.step[b->steps.count - 1].shared_bytes = SORT_BINS_SHARED_BYTES(
        SORT_GROUP_BINS_THREADS, SORT_GROUP_BINS_BYTES / (unsigned)b->s.key_bytes,
        (unsigned)b->s.key_bytes, 0u);
}

static void add_short(struct groups_build *b)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    const uint64_t n = b->s.n, words = (uint64_t)1 << p->words_log;
    const uint32_t c = r->offsets ? class_of(p->longest) : b->groups.row_class;
    const bool counted = p->counted && c > p->words_log && (r->offsets || c <= p->most_class);
    const bool bins = p->bins && c > p->words_log;
    b->shorts = (struct sort_short_args){ .common = echi_sort_common(&b->s),
                                          .groups = b->groups,
                                          .index_bytes = (uint32_t)b->s.index_bytes };
    if (!b->s.index_bytes) b->shorts.value_bytes = (uint32_t)b->s.value_bytes;
    if (b->shorts.value_bytes)
        b->shorts.unit = echi_cuda_least(unit_of(b->s.value_bytes), 8); /* for registers */
    b->shorts.gather = p->positions && !b->shorts.common.plain;
    if (r->offsets && !p->all) {
        if (bins || (counted && !p->has_long))
            zeros(b, &b->shorts.groups.state);
        else
            clear(b, b->parts.state, sizeof *b->parts.state);
        pdl(b, ECHI_MOVE, p->short_module, "sort_short_segments",
            echi_gpu_blocks(&b->gpu, r->groups, b->groups.chunk, SORT_SHORT_BLOCKS * 4),
            SORT_SHORT_THREADS, &b->shorts);
    } else if (!r->offsets && c <= p->words_log) {
        pdl(b, ECHI_MOVE, p->short_module, "sort_short_rows",
            echi_gpu_blocks(&b->gpu, r->groups << c, words * (SORT_SHORT_THREADS / 32),
                            SORT_SHORT_BLOCKS * 4),
            SORT_SHORT_THREADS, &b->shorts);
    }
    if (counted) add_counted(b);
    if (bins) {
        if (p->all && p->has_long) zeros(b, &b->shorts.groups.state);
        add_bins(b);
    }
    for (uint32_t k = 0; !p->counted && !p->bins && k < p->most_class - p->words_log; k++) {
        const uint32_t class = p->words_log + 1 + k;
        if (r->offsets ? class > c : class != c) continue;
        const unsigned threads = 64u << k, resident = 2048 / threads;
        const uint64_t most = r->offsets ? n >> (class - 1) : r->groups;
        b->blocks[k] = b->shorts;
        b->blocks[k].block_class = k;
        pdl(b, ECHI_MOVE, p->short_module,
            b->s.key_bytes < 4 && !p->positions ? "sort_short_network" : "sort_short_block",
            echi_gpu_blocks(&b->gpu, most, 1, resident), threads, &b->blocks[k]);
        b->steps.step[b->steps.count - 1].shared_bytes = (unsigned)SORT_SHORT_WARP_BYTES << (k + 1);
    }
}

void echi_sort_groups_begin(struct groups_build *b)
{
    add_pack(b);
    set_groups(b);
    if (!b->plan->huge_rows) add_short(b);
}

/* ---- Long groups ---- */

/* The arrays of the portion that begins at `base`, of n elements. */
static void set_portion(struct groups_build *b, uint64_t base, uint64_t n)
{
    const struct groups_plan *p = b->plan;
    const struct echi_sort *s = &b->s;
    struct sort_args *args = &b->parts.args;
    struct sort_common *common = &args->common, kept = *common;
    const size_t key = (size_t)s->key_bytes, value = s->value_bytes;
    const bool index = s->index_bytes || p->index;
    b->rest = p->rest;
    b->rest.n = (size_t)n;
    b->rest.keys_in = p->widen ? b->parts.wide : echi_sort_groups_at(s->keys_in, base, key);
    if (!p->widen && s->keys_out) b->rest.keys_out = echi_sort_groups_out(s->keys_out, base, key);
    b->rest.values_in = index ? NULL : echi_sort_groups_at(s->values_in, base, value);
    b->rest.values_out =
        p->index ? b->parts.index : echi_sort_groups_out(s->values_out, base, value);
    *common = echi_sort_common(&b->rest);
    common->index = index;
    common->keys_tmp = kept.keys_tmp;
    common->values_tmp = kept.values_tmp;
    if (b->rest.index_bytes) common->keys_out = kept.keys_out; /* a part of the workspace */
    common->discard_keys = b->rest.index_bytes != 0;
}

/* Queues to[p] = from[index[p]] for the long groups; in place from a copy. */
static void add_gather(struct groups_build *b, struct sort_gather_args *args, const void *from,
                       void *to, void *copy, size_t bytes, uint64_t n)
{
    if (from && from == to) {
        echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                     .kind = ECHI_COPY,
                                                     .level = -1,
                                                     .to = copy,
                                                     .from = from,
                                                     .bytes = (size_t)n * bytes });
        from = copy;
    }
    *args = (struct sort_gather_args){ .state = b->parts.state,
                                       .from = from,
                                       .to = to,
                                       .index = b->parts.index,
                                       .n = n,
                                       .unit = unit_of(bytes) };
    args->units = (uint32_t)(bytes / args->unit);
    pdl(b, ECHI_FINISH, "sort_groups_all", "sort_groups_gather",
        echi_gpu_blocks(&b->gpu, n, 1024, 8), SORT_GROUPS_THREADS, args);
}

/* Queues the steps that list the long groups of a portion. */
static void add_lists(struct groups_build *b, uint64_t base, uint64_t step, uint64_t n)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    const struct echi_sort *s = &b->s;
    struct groups_parts *parts = &b->parts;
    clear(b, parts->args.lists.msd, sizeof *parts->args.lists.msd);
    if (p->index && !p->widen) clear(b, parts->index, (size_t)n * sizeof *parts->index);
    if (p->widen) {
        b->widen = (struct sort_widen_args){ b->shorts.common, parts->state, parts->wide,
                                             p->index ? parts->index : NULL };
        b->widen.common.keys_in = echi_sort_groups_at(s->keys_in, base, (size_t)s->key_bytes);
        b->widen.common.n = n;
        b->widen.common.plain = echi_sort_compared_plainly(s);
        pdl(b, ECHI_LOOK, s->key_bytes == 1 ? "sort_short_k8_v4" : "sort_short_k16_v4",
            "sort_short_widen", echi_gpu_blocks(&b->gpu, n, 2048, 8), SORT_GROUPS_THREADS,
            &b->widen);
    }
    b->longs = (struct sort_long_args){ .groups = b->groups,
                                        .first_row = r->offsets ? 0 : base / r->cols,
                                        .rows = r->offsets ? 0 : n / r->cols,
                                        .to = long_lists(b, base, step) };
    const uint64_t most = r->offsets ? n >> p->most_class : n / r->cols;
    pdl(b, ECHI_PLAN, "sort_groups_all", "sort_groups_long",
        echi_gpu_blocks(&b->gpu, most + 1, SORT_GROUPS_THREADS, 8), SORT_GROUPS_THREADS, &b->longs);
}

ech_status echi_sort_groups_long(struct groups_build *b, uint64_t base, uint64_t step, uint64_t n)
{
    const struct echi_sort_segments *r = b->r;
    const struct groups_plan *p = b->plan;
    const struct echi_sort *s = &b->s;
    struct groups_parts *parts = &b->parts;
    struct sort_build build = { &b->rest,  &p->plan, b->gpu,         &parts->args,
                                &b->steps, NULL,     r->top_bit != 0 };
    set_portion(b, base, n);
    if (!p->bins) add_lists(b, base, step, n); /* otherwise sort_group_bins has made the lists */
    const ech_status status =
        echi_sort_msd_groups(&build, p->longest < n ? p->longest : n, !r->offsets);
    if (p->gather_keys)
        add_gather(b, &b->gather[0], echi_sort_groups_at(s->keys_in, base, (size_t)s->key_bytes),
                   echi_sort_groups_out(s->keys_out, base, (size_t)s->key_bytes), parts->keys_copy,
                   (size_t)s->key_bytes, n);
    if (p->gather_values)
        add_gather(b, &b->gather[1], echi_sort_groups_at(s->values_in, base, s->value_bytes),
                   echi_sort_groups_out(s->values_out, base, s->value_bytes), parts->values_copy,
                   s->value_bytes, n);
    return status;
}
