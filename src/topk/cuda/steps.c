/*
 * topk/cuda/steps.c - the steps of top-k selections on the GPU and the arguments of their kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cuda/plan.h"

size_t echi_topk_row(const struct echi_topk *t, const struct topk_plan *p)
{
    return p->pack ? t->cols : t->in_strides.row;
}

static void launch(struct topk_build *b, enum echi_phase phase, const char *module,
                   const char *kernel, unsigned blocks, unsigned threads, size_t shared_bytes,
                   void *args)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = module,
                                                 .name = kernel,
                                                 .blocks = blocks,
                                                 .threads = threads,
                                                 .shared_bytes = (unsigned)shared_bytes,
                                                 .level = -1,
                                                 .args = args });
}

static void add_pack(struct topk_build *b)
{
    const struct echi_topk *t = b->t;
    if (!b->p->pack) return;
    b->pack = (struct sort_pack_args){ .from = t->in,
                                       .to = b->parts.packed,
                                       .rows = t->groups,
                                       .cols = t->cols,
                                       .from_row = t->in_strides.row,
                                       .from_element = t->in_strides.element,
                                       .to_row = t->cols,
                                       .to_element = 1,
                                       .unit = (uint32_t)t->key_bytes,
                                       .units = 1 };
    launch(b, ECHI_LOOK, "sort_groups_all", "sort_groups_pack",
           echi_gpu_blocks(&b->gpu, t->n, 1024, 16), SORT_GROUPS_THREADS, 0, &b->pack);
}

static void set_args(struct topk_build *b)
{
    const struct echi_topk *t = b->t;
    const struct topk_plan *p = b->p;
    b->args = (struct topk_args){ .in = p->pack ? b->parts.packed : t->in,
                                  .values = t->values,
                                  .indices = t->indices,
                                  .offsets = t->offsets,
                                  .ends = t->ends,
                                  .counts = t->counts,
                                  .offsets_index = t->offsets_index,
                                  .counts_index = t->counts_index,
                                  .n = t->n,
                                  .groups = t->groups,
                                  .cols = t->cols,
                                  .k = t->k,
                                  .in_row = echi_topk_row(t, p),
                                  .out_row = t->out_strides.row,
                                  .out_element = t->out_strides.element,
                                  .order = t->order,
                                  .key_bytes = (uint32_t)t->key_bytes,
                                  .index_bytes = (uint32_t)t->index_bytes,
                                  .sorted = t->sorted,
                                  .chip = p->chip,
                                  .bins_log = p->bins_log,
                                  .lists = b->parts.lists,
                                  .chip_list = b->parts.chip_list,
                                  .chip_room = p->chip_room,
                                  .long_room = p->longs,
                                  .chunk_room = p->chunks,
                                  .candidate_room = p->candidates,
                                  .longs = b->parts.longs,
                                  .long_rows = p->has_long && !t->offsets ? t->groups : 0,
                                  .chunk = p->chunk,
                                  .chunk_of = b->parts.chunk_of,
                                  .chunk_equal = b->parts.chunk_equal,
                                  .candidates = b->parts.candidates,
                                  .totals = b->parts.totals,
                                  .chunk_bins = b->parts.chunk_bins,
                                  .split_keys = b->parts.split_keys,
                                  .split_positions = b->parts.split_positions,
                                  .samples = b->parts.samples,
                                  .row_room = p->row_room,
                                  .row_rank = p->row_rank,
                                  .row_sample = p->row_sample };
    if (b->gpu.ctx) b->args.data_error = echi_cuda_error_word(b->gpu.ctx);
}

/* Threads that sort this many words by a network: 64 bytes each. */
static unsigned network_threads(const struct topk_build *b, unsigned least)
{
    const size_t room = topk_room_words(echi_topk_most(b->t));
    const unsigned threads = (unsigned)(room * b->p->word_bytes / 64);
    return room > TOPK_FEW && threads > least ? threads : least;
}

static void add_lanes(struct topk_build *b)
{
    const struct echi_topk *t = b->t;
    const unsigned lanes = !t->offsets && t->cols <= 16 ? 2 : 8;
    const uint64_t groups = TOPK_LANES_THREADS / lanes; /* of a block */
    if (!b->p->has_lanes) return;
    launch(b, ECHI_MOVE, b->p->module,
           t->offsets   ? "topk_lanes_segments"
           : lanes == 2 ? "topk_lanes_2"
                        : "topk_lanes_8",
           echi_gpu_blocks(&b->gpu, t->groups, groups, 4 * TOPK_BLOCKS), TOPK_LANES_THREADS, 0,
           &b->args);
}

static void add_warp(struct topk_build *b)
{
    const struct echi_topk *t = b->t;
    const unsigned lanes = t->offsets || t->cols > 256 ? 32 : t->cols > 64 ? 16 : 8;
    if (!b->p->warp) return;
    launch(b, ECHI_MOVE, b->p->module, b->p->warp,
           echi_gpu_blocks(&b->gpu, t->offsets ? b->p->chip_room : t->groups,
                           TOPK_WARP_THREADS / lanes, 4 * TOPK_BLOCKS),
           TOPK_WARP_THREADS, 0, &b->args);
}

/* Threads with TOPK_EACH elements each. */
static unsigned block_threads(const struct echi_topk *t, const struct topk_plan *p)
{
    unsigned threads = 128;
    if (t->offsets) return TOPK_SEGMENT_THREADS;
    while (threads < TOPK_THREADS && threads * TOPK_EACH < p->chip) threads *= 2;
    return threads;
}

/* Threads with a vector of 16 bytes of the group each, and with four candidates. */
static unsigned count_threads(const struct echi_topk *t, const struct topk_plan *p)
{
    const size_t bytes = p->chip * (size_t)t->key_bytes, room = topk_count_room(echi_topk_most(t));
    unsigned threads = 64;
    if (t->offsets) threads = 256;
    while (threads < TOPK_THREADS && (threads * 4 < room || (!t->offsets && threads * 16 < bytes)))
        threads *= 2;
    return threads;
}

/* Whether a block sorts all keys: few of 8 or 16 bits, and a large k. */
static bool has_order(const struct echi_topk *t, const struct topk_plan *p)
{
    return t->key_bytes <= 2 && !t->offsets && t->sorted && t->groups <= TOPK_COUNT_GROUPS &&
           p->chip <= TOPK_ORDER_MOST && echi_topk_most(t) > TOPK_ORDER_LEAST;
}

static void add_block(struct topk_build *b)
{
    const struct echi_topk *t = b->t;
    const struct topk_plan *p = b->p;
    if (!p->has_block) return;
    if (has_order(t, p)) {
        const size_t words = (p->chip + TOPK_THREADS - 1) / TOPK_THREADS * (size_t)TOPK_THREADS;
        launch(b, ECHI_MOVE, p->module, t->key_bytes == 1 ? "topk_order_8" : "topk_order",
               echi_gpu_blocks(&b->gpu, t->groups, 1, TOPK_BLOCKS), TOPK_THREADS,
               t->key_bytes == 1 ? 0 : words * sizeof(uint32_t), &b->args);
        return;
    }
    if (t->key_bytes <= 2) {
        launch(b, ECHI_MOVE, p->module, t->key_bytes == 1 ? "topk_count_8" : "topk_count",
               echi_gpu_blocks(&b->gpu, t->offsets ? p->chip_room : t->groups, 1, TOPK_BLOCKS),
               count_threads(t, p), topk_count_room(echi_topk_most(t)) * sizeof(uint32_t),
               &b->args);
        return;
    }
    launch(b, ECHI_MOVE, p->module,
           p->chip > TOPK_THREADS * TOPK_EACH ? "topk_block_16" : "topk_block",
           echi_gpu_blocks(&b->gpu, t->offsets ? p->chip_room : t->groups, 1, TOPK_BLOCKS),
           network_threads(b, block_threads(t, p)),
           (size_t)topk_room_words(echi_topk_most(t)) * p->word_bytes, &b->args);
}

/* From a sample of each group. */
static void add_filter(struct topk_build *b)
{
    const struct topk_plan *p = b->p;
    const uint64_t sample =
        b->t->offsets ? topk_sample_size(echi_topk_longest(b->t)) : p->row_sample;
    const bool is_low = !b->t->offsets && p->row_rank <= TOPK_LOW_RANK; /* the sample is not kept */
    if (p->gathers)
        launch(b, ECHI_LOOK, p->long_module, "topk_gather",
               echi_gpu_blocks(&b->gpu, p->longs * sample, 512, 4), TOPK_FILTER_THREADS, 0,
               &b->args);
    launch(b, ECHI_LOOK, p->long_module, "topk_sample", echi_gpu_blocks(&b->gpu, p->longs, 1, 4),
           TOPK_THREADS, is_low ? 0 : (size_t)sample * (p->word_bytes / 2), &b->args);
    launch(b, ECHI_MOVE, p->long_module, b->t->key_bytes == 1 ? "topk_filter_8" : "topk_filter",
           echi_gpu_blocks(&b->gpu, p->chunks, 1, 32), TOPK_FILTER_THREADS, 0, &b->args);
    launch(b, ECHI_MOVE, p->long_module, "topk_ties", echi_gpu_blocks(&b->gpu, p->chunks, 1, 4),
           TOPK_FILTER_THREADS, 0, &b->args);
    launch(b, ECHI_MOVE, p->long_module, "topk_repair", echi_gpu_blocks(&b->gpu, p->longs, 1, 2),
           TOPK_THREADS, 0, &b->args);
}

/* By counts of all keys. */
static void add_bytes(struct topk_build *b)
{
    const unsigned blocks = echi_gpu_blocks(&b->gpu, b->p->chunks, 1, 4);
    echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_CLEAR,
                                                 .level = -1,
                                                 .to = b->parts.totals,
                                                 .bytes = sizeof *b->parts.totals });
    launch(b, ECHI_LOOK, b->p->long_module, "topk_bins_8", blocks, TOPK_FILTER_THREADS, 0,
           &b->args);
    launch(b, ECHI_MOVE, b->p->long_module, "topk_list_8", blocks, TOPK_FILTER_THREADS, 0,
           &b->args);
}

static void add_long(struct topk_build *b)
{
    const struct topk_plan *p = b->p;
    const uint32_t room = topk_room(echi_topk_most(b->t));
    if (!p->has_long) return;
    if (p->bytes)
        add_bytes(b);
    else
        add_filter(b);
    if (p->large)
        launch(b, ECHI_MOVE, p->long_module, "topk_fill",
               echi_gpu_blocks(&b->gpu, p->row_room, 4096, 4), TOPK_FILTER_THREADS, 0, &b->args);
    else
        launch(b, ECHI_FINISH, p->long_module, "topk_finish",
               echi_gpu_blocks(&b->gpu, p->longs, 1, 4), TOPK_THREADS,
               (size_t)(room > TOPK_THREADS ? room : TOPK_THREADS) * p->word_bytes, &b->args);
}

static void add_select(struct topk_build *b)
{
    if (b->p->lists)
        echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                     .kind = ECHI_CLEAR,
                                                     .level = -1,
                                                     .to = b->parts.lists,
                                                     .bytes = sizeof *b->parts.lists });
    add_lanes(b);
    add_warp(b);
    add_block(b);
    add_long(b);
}

void echi_topk_begin(struct topk_build *b, bool select)
{
    add_pack(b);
    set_args(b);
    if (select) add_select(b);
}

void echi_topk_add_write(struct topk_build *b, bool pick)
{
    const struct echi_topk *t = b->t;
    const bool from_picks = !t->sorted && !pick;
    b->write = (struct topk_write_args){ .topk = b->args,
                                         .from = b->parts.positions,
                                         .from_row = t->offsets ? 0 : t->cols,
                                         .from_bytes = (uint32_t)b->p->position_bytes,
                                         .picks = b->parts.picks };
    if (from_picks) {
        b->write.from = b->parts.picks;
        b->write.from_row = t->k;
    } else if (b->p->large && b->p->word_bytes == 8) {
        b->write.from = b->parts.candidates;
        b->write.from_bytes = 8;
        b->write.words = 1;
    } else if (b->p->large) {
        b->write.from = b->parts.split_positions;
    }
    launch(b, ECHI_FINISH, b->p->module, pick ? "topk_pick" : "topk_write",
           echi_gpu_blocks(&b->gpu, t->groups * t->k, TOPK_WRITE_THREADS * 2, 16),
           TOPK_WRITE_THREADS, 0, &b->write);
}
