/*
 * select/cuda/operation.c - selections on the GPU, host code: lays out the workspace, selects a row
 * of the table of strategies, and builds its steps.
 *
 *     selection by                module          kernels
 *     the elements themselves     select_k<bits>  select_pass, or with positions, lengths or values
 *                                                 select_pass_along; select_partition
 *     flags                       select_flags_a  select_pass, select_partition
 *                                 select_k<bits>  select_pass_flags, select_partition_flags
 *     any, large arrays           select_bulk_k<bits>   select_bulk_test, _starts, _flags, _runs or
 *                                                       _values<bytes>; or select_bulk_count or
 *                                                       select_count, then a select_bulk_place
 *                                 select_ring_k<bits>   select_ring; or select_ring_count, and then
 *                                                       select_partition of select_k<bits>
 *     runs                        select_k<bits>  the same, and select_lengths of select_runs_a
 *     lengths                     select_runs_a   decode_sums, then decode_write
 *
 *     workspace   [ tile status descriptors | start of each tile's first run |
 *                   flags as bits, of a partition ]
 *
 * An array of one tile needs no words. They are zero before and after the kernels (state.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "select/select.h"
#include "cuda/steps.h"
#include "select/cuda/common.h"
#include "select/cuda/quick.h"
#include "select/cuda/shape.h"

#include <stdio.h>

struct parts {
    void *words;
    uint32_t *first;
    uint16_t *packed;
};

/* The plan of a call; its first member is the kernels' argument. */
struct whole {
    union {
        struct select_args select;
        struct decode_args decode;
    } args;
    uint64_t **words; /* in args: tile status descriptors, and memory that kernels leave zeroed */
    uint32_t *clear;
    struct parts parts;
    char module[24], large_module[24];
    struct echi_steps steps;
};

/* The state of building the steps. */
struct build {
    ech_ctx *ctx;
    const struct echi_select *s;
    struct echi_gpu gpu;
    struct whole *w;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct build *b);
    ech_status (*steps)(const struct build *b);
};

static size_t most_tiles(size_t n)
{
    return n / SELECT_TILE_MIN + 2; /* the first tile may be short */
}

static size_t lay_out(const struct echi_select *s, void *base, bool *overflow, struct parts *parts)
{
    const size_t n = s->n;
    struct echi_layout layout = { .base = base };
    *parts = (struct parts){ .packed = NULL };
    parts->words = echi_part(&layout, SELECT_WORDS_FIRST + 2 * most_tiles(n), sizeof(uint64_t));
    parts->first = echi_part(&layout, most_tiles(n), sizeof *parts->first);
    if (s->what == ECHI_PARTITION && s->by == ECHI_BY_BYTES)
        parts->packed = echi_part(&layout, n / 16 + 1, sizeof *parts->packed);
    *overflow = layout.overflow;
    return layout.bytes;
}

static ech_status select_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_select *s = request;
    struct parts parts;
    bool overflow;
    *bytes = lay_out(s, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace size overflows size_t",
                         s->n);
    return ECH_OK;
}

/* ---- Launches ---- */

static ech_status check_tiles(ech_ctx *ctx, const struct echi_select *s, uint64_t tiles)
{
    if (tiles <= INT32_MAX) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                     "n is %zu: it has more tiles than a grid can have blocks", s->n);
}

/* What a launch does with the words if they are the context's own, which must stay zero; and
 * whether it reads the flags as bits that select_count has stored. */
enum { CLEARS = 1, CLEARS_BY_ONE_BLOCK = 2, READS_PACKED = 4 };

static void launch(const struct build *b, enum echi_phase phase, const char *module,
                   const char *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                   unsigned clears)
{
    echi_step_add(&b->w->steps, (struct echi_step){ .phase = phase,
                                                    .kind = ECHI_LAUNCH_PDL,
                                                    .module = module,
                                                    .name = kernel,
                                                    .blocks = blocks,
                                                    .threads = threads,
                                                    .shared_bytes = shared_bytes,
                                                    .level = -1,
                                                    .units = clears });
}

/* The tile status descriptors for this many tiles, zeroed. */
static void get_words(const struct build *b, uint64_t count)
{
    echi_step_add(&b->w->steps,
                  (struct echi_step){ .phase = ECHI_COUNT,
                                      .kind = ECHI_ZEROS,
                                      .level = -1,
                                      .to = b->w->parts.words,
                                      .slot = b->w->words,
                                      .bytes = (size_t)(SELECT_WORDS_FIRST + count) * 8 });
}

static void set_args(void *args, struct echi_step *step, uint64_t part)
{
    struct whole *w = args;
    const bool own = *w->words && *w->words != w->parts.words;
    (void)part;
    *w->clear = own && (step->units & (CLEARS | CLEARS_BY_ONE_BLOCK));
    if (own && step->units & CLEARS_BY_ONE_BLOCK) step->blocks = 1;
    if (step->units & READS_PACKED && w->args.select.packed) {
        w->args.select.flags = (const uint8_t *)w->args.select.packed;
        w->args.select.source = SELECT_BITS;
    }
}

/* ---- Selections ---- */

static void split(size_t bytes, uint64_t *words, uint32_t *word_bytes)
{
    size_t word = bytes & (~bytes + 1);
    if (word > 16) word = 16;
    *words = bytes / word;
    *word_bytes = (uint32_t)word;
}

static struct select_args args_of(const struct echi_select *s)
{
    struct select_args a = { .in = s->in,
                             .flags = s->flags,
                             .out = s->out,
                             .starts = s->starts,
                             .narrow = s->narrow,
                             .lengths = s->lengths,
                             .values = s->values,
                             .values_out = s->values_out,
                             .count = s->count,
                             .n = s->n,
                             .tile_n = tile_of(s),
                             .rows = SELECT_TILE_BYTES / 16 / SELECT_THREADS,
                             .skew = skew_of(s),
                             .each = 1,
                             .invert = s->invert,
                             .close = s->close,
                             .test = { s->test[0], s->test[1] } };
    static const uint32_t sources[] = { [ECHI_BY_BYTES] = SELECT_BYTES,
                                        [ECHI_BY_BITS] = SELECT_BITS,
                                        [ECHI_BY_TEST] = SELECT_TEST,
                                        [ECHI_BY_STARTS] = SELECT_STARTS };
    a.source = s->what == ECHI_DIVIDE ? SELECT_THREE : sources[s->by];
    const bool by_position = is_by_position(s);
    if (by_position && s->out) { /* elements of any size are moved like values */
        a.values = s->in;
        a.values_out = s->out;
        a.out = NULL;
    }
    for (int t = 0; t < 2 && s->by == ECHI_BY_TEST; t++)
        a.quick[t] = quick_of(&s->test[t], s->element_bytes);
    size_t bytes = by_position ? s->element_bytes : s->value_bytes;
    if (bytes) split(bytes, &a.value_words, &a.value_word_bytes);
    a.tiles = ((uint64_t)s->n + a.skew + a.tile_n - 1) / a.tile_n;
    return a;
}

/* ---- Strategy: one pass with a look-back, or counts and then moves ---- */

static bool always(const struct build *b)
{
    (void)b;
    return true;
}

/* Smaller tiles if there are few: a thread then has less to do.  A partition of bytes, whose blocks
 * wait for all counts, is faster with few blocks. */
static void divide_tiles(const struct echi_select *s, struct select_args *a)
{
    const uint64_t all = a->n + a->skew;
    const uint64_t few = s->what != ECHI_KEEP && s->element_bytes == 1 ? 1 : SELECT_FEW_TILES;
    const uint32_t row = SELECT_THREADS * 16 / (uint32_t)s->element_bytes;
    if (is_by_position(s)) return;
    while (a->tile_n > SELECT_TILE_MIN && all <= few * (a->tile_n / 2)) a->tile_n /= 2;
    a->tiles = (all + a->tile_n - 1) / a->tile_n;
    a->rows = a->tile_n > row ? a->tile_n / row : 1;
}

/* Counts flags and, if they and the elements are aligned, stores them as bits for the next launch,
 * which then reads an eighth. */
static void launch_count(const struct build *b)
{
    struct select_args *a = &b->w->args.select;
    if (b->s->by == ECHI_BY_BYTES && a->skew == 0 && (uintptr_t)a->flags % 16 == 0)
        a->packed = b->w->parts.packed;
    const uint64_t warps = SELECT_THREADS / 32, chunks = a->n / SELECT_CHUNK + 1;
    launch(b, ECHI_COUNT, "select_flags_a", "select_count",
           echi_gpu_blocks(&b->gpu, chunks, warps, SELECT_COUNT_BLOCKS), SELECT_THREADS, 0, 0);
}

/* The tiles that a block counts: several if otherwise many blocks that place had to wait until
 * blocks that count have ended. */
static uint32_t tiles_to_count(const struct build *b)
{
    const uint64_t resident = (uint64_t)b->gpu.multiprocessors * SELECT_PLACE_BLOCKS;
    return 4 * b->w->args.select.tiles <= 3 * resident ? 1 : SELECT_THREADS / 32;
}

static ech_status steps_of_tiles(const struct build *b)
{
    const struct echi_select *s = b->s;
    struct select_args *a = &b->w->args.select;
    const char *module = b->w->module;
    const unsigned ways = s->what == ECHI_DIVIDE ? 2 : 1;
    ech_status status;
    divide_tiles(s, a);
    TRY(check_tiles(b->ctx, s, s->what == ECHI_KEEP ? a->tiles : 2 * a->tiles));
    if (s->what == ECHI_PARTITION && has_vectors(s) && s->element_bytes > 1 &&
        a->tiles > SELECT_SUM_TILES) {
        a->group = SELECT_GROUP_TILES;
        get_words(b, a->tiles + a->tiles / a->group + 1);
        launch_count(b);
        launch(b, ECHI_MOVE, module, "select_partition_flags", (unsigned)a->tiles, SELECT_THREADS,
               0, CLEARS | READS_PACKED);
        return ECH_OK;
    }
    if (a->tiles > 1) get_words(b, ways * a->tiles);
    if (s->what == ECHI_KEEP) {
        const bool along = !is_by_flags(s) && is_along(s);
        const bool lengths_after = a->lengths && a->tiles > SELECT_RUN_TILES;
        launch(b, ECHI_MOVE, module,
               along            ? "select_pass_along"
               : has_vectors(s) ? "select_pass_flags"
                                : "select_pass",
               (unsigned)a->tiles, SELECT_THREADS, 0, lengths_after ? 0 : CLEARS);
        if (lengths_after)
            launch(b, ECHI_FINISH, "select_runs_a", "select_lengths",
                   (unsigned)((a->tiles + SELECT_THREADS - 1) / SELECT_THREADS), SELECT_THREADS, 0,
                   CLEARS_BY_ONE_BLOCK);
        return ECH_OK;
    }
    a->counting = a->tiles > 1 ? a->tiles : 0;
    if (ways == 1 && has_vectors(s) && s->element_bytes >= 4 && a->tiles <= SELECT_SUM_TILES) {
        a->each = tiles_to_count(b);
        a->counting = a->tiles > 1 ? (a->tiles + a->each - 1) / a->each : 0;
    }
    launch(b, ECHI_MOVE, module,
           ways == 2        ? "select_partition_three"
           : has_vectors(s) ? "select_partition_flags"
                            : "select_partition",
           (unsigned)(a->counting + a->tiles), SELECT_THREADS, 0, CLEARS);
done:
    return status;
}

/* ---- Strategy: blocks that take one tile after another (ring.cu) ---- */

static unsigned ring_blocks(const struct build *b)
{
    return (unsigned)b->gpu.multiprocessors * SELECT_RING_BLOCKS;
}

/* Whether there are enough tiles. */
static bool can_ring(const struct build *b)
{
    const struct select_args *a = &b->w->args.select;
    if (is_by_flags(b->s) || a->starts || a->lengths || a->values || b->s->what == ECHI_DIVIDE)
        return false;
    return b->gpu.architecture >= 80 && a->tiles >= ring_blocks(b) * SELECT_RING_TILES;
}

static ech_status steps_of_ring(const struct build *b)
{
    const struct echi_select *s = b->s;
    struct whole *w = b->w;
    struct select_args *a = &w->args.select;
    const unsigned blocks = ring_blocks(b);
    const bool keep = s->what == ECHI_KEEP;
    ech_status status;
    TRY(check_tiles(b->ctx, s, a->tiles));
    get_words(b, (s->what == ECHI_PARTITION ? 2 : 1) * a->tiles);
    snprintf(w->large_module, sizeof w->large_module, "select_ring_k%d", 8 * (int)s->element_bytes);
    if (!keep) a->group = (a->tiles + blocks - 1) / blocks;
    launch(b, keep ? ECHI_MOVE : ECHI_COUNT, w->large_module,
           keep ? "select_ring" : "select_ring_count", blocks, SELECT_RING_THREADS,
           SELECT_SLOTS * SELECT_SLOT_BYTES, CLEARS);
    if (!keep)
        launch(b, ECHI_MOVE, w->module, "select_partition", (unsigned)a->tiles, SELECT_THREADS, 0,
               CLEARS);
done:
    return status;
}

/* ---- Strategy: warps that process parts, with bulk copies (bulk.cuh) ---- */

/* Whether a selection by flags uses bulk copies: a part's flags must be aligned to 16 bytes, like
 * its elements. A partition moves all elements. A selection reads all of them, too, which is faster
 * if at least a third is selected, and otherwise costs little if they are many and small. */
static bool flags_to_bulk(const struct echi_select *s, uint32_t skew, uint64_t turns)
{
    const uintptr_t flags = (uintptr_t)s->flags;
    if (((uintptr_t)s->in | (uintptr_t)s->out) % s->element_bytes) return false;
    if ((s->by == ECHI_BY_BITS ? flags | skew : flags - skew) % 16) return false;
    return s->what == ECHI_PARTITION || (s->element_bytes == 4 && turns >= SELECT_FLAGS_TILES);
}

/* Shared memory per part. */
static uint32_t slot_bytes(const struct echi_select *s)
{
    const uint32_t flags = is_by_flags(s) ? SELECT_PART_BYTES / (uint32_t)s->element_bytes : 0;
    return SELECT_PART_BYTES + 16 + flags;
}

/* Parts per tile: as many as a block can hold. */
static uint32_t most_workers(const struct echi_gpu *gpu, const struct echi_select *s)
{
    const bool less = gpu->gpu_architecture / 10 == 12;
    const uint32_t room = (less ? SELECT_BULK_LESS : SELECT_BULK_BYTES) / (2 * slot_bytes(s));
    const bool fewer = s->what != ECHI_KEEP || is_by_flags(s) || s->values;
    const uint32_t most = fewer ? SELECT_WORKERS_FLAGS : SELECT_WORKERS;
    return room < most ? room : most;
}

/* For runs: whether positions, lengths or values are supported; values must be one word. */
static bool along_to_bulk(const struct echi_select *s)
{
    if (s->what != ECHI_KEEP || s->by != ECHI_BY_STARTS) return false;
    if (!s->values) return true;
    return (s->value_bytes == 4 || s->value_bytes == 8) &&
           ((uintptr_t)s->values | (uintptr_t)s->values_out) % s->value_bytes == 0;
}

/* Elements of a tile; 0: this strategy cannot be used. Tiles are as large as possible, but so that
 * all blocks take equally many, and at least three if they wait for each other's counts. */
static uint32_t bulk_tile(const struct build *b)
{
    const struct echi_select *s = b->s;
    const uint64_t blocks = (uint64_t)b->gpu.multiprocessors;
    if (b->gpu.architecture < 90 || s->what == ECHI_DIVIDE) return 0;
    if (s->element_bytes != 4 && s->element_bytes != 8) return 0;
    if (is_along(s) && !along_to_bulk(s)) return 0;
    const uint32_t skew = element_skew(s);
    const uint64_t part_n = SELECT_PART_BYTES / s->element_bytes;
    const uint64_t share = ((s->n + skew + part_n - 1) / part_n + blocks - 1) / blocks;
    const uint32_t most = most_workers(&b->gpu, s);
    const bool counted = s->what == ECHI_PARTITION && is_by_flags(s);
    uint64_t turns = (share + most - 1) / most;
    if (share < SELECT_BULK_TILES * SELECT_WORKERS_MIN) return 0;
    if (!counted && turns < SELECT_BULK_TILES) turns = SELECT_BULK_TILES;
    if (is_by_flags(s) && !flags_to_bulk(s, skew, turns)) return 0;
    return (uint32_t)((share + turns - 1) / turns * part_n);
}

static bool can_bulk(const struct build *b)
{
    return bulk_tile(b) != 0;
}

static void launch_bulk(const struct build *b, enum echi_phase phase, const char *kernel)
{
    const unsigned packed = phase == ECHI_MOVE ? READS_PACKED : 0;
    const struct echi_select *s = b->s;
    const unsigned parts =
        b->w->args.select.tile_n * (unsigned)s->element_bytes / SELECT_PART_BYTES;
    launch(b, phase, b->w->large_module, kernel, (unsigned)b->gpu.multiprocessors, 32 * parts + 32,
           2 * parts * slot_bytes(s), CLEARS | packed);
}

static ech_status steps_of_bulk(const struct build *b)
{
    const struct echi_select *s = b->s;
    struct whole *w = b->w;
    struct select_args *a = &w->args.select;
    const bool flags = is_by_flags(s);
    ech_status status;
    a->skew = element_skew(s);
    a->out = s->out;
    if (flags) a->values = NULL;
    a->tile_n = bulk_tile(b);
    a->tiles = (a->n + a->skew + a->tile_n - 1) / a->tile_n;
    TRY(check_tiles(b->ctx, s, a->tiles));
    if (a->tiles > 1) get_words(b, a->tiles);
    snprintf(w->large_module, sizeof w->large_module, "select_bulk_k%d", 8 * (int)s->element_bytes);
    if (is_along(s)) {
        launch_bulk(b, ECHI_MOVE,
                    !s->values            ? "select_bulk_runs"
                    : s->value_bytes == 4 ? "select_bulk_values4"
                                          : "select_bulk_values8");
    } else if (s->what == ECHI_KEEP) {
        launch_bulk(b, ECHI_MOVE,
                    flags                        ? "select_bulk_flags"
                    : a->source == SELECT_STARTS ? "select_bulk_starts"
                                                 : "select_bulk_test");
    } else {
        if (flags)
            launch_count(b);
        else
            launch_bulk(b, ECHI_COUNT, "select_bulk_count");
        launch_bulk(b, ECHI_MOVE, flags ? "select_bulk_place_flags" : "select_bulk_place");
    }
done:
    return status;
}

/* ---- Strategies: run-length decoding, and no elements ---- */

static bool can_decode(const struct build *b)
{
    return b->s->what == ECHI_DECODE;
}

static ech_status steps_of_decode(const struct build *b)
{
    const struct echi_select *s = b->s;
    struct whole *w = b->w;
    struct decode_args *a = &w->args.decode;
    *a =
        (struct decode_args){ .in = s->in,
                              .lengths = s->lengths_in,
                              .out = s->out,
                              .data_error = b->ctx ? echi_cuda_error_word(b->ctx) : NULL,
                              .runs = s->n,
                              .n = s->out_n,
                              .tiles = ((uint64_t)s->n + SELECT_TILE_RUNS - 1) / SELECT_TILE_RUNS };
    w->words = &a->words;
    w->clear = &a->clear;
    /* Enough blocks to fill the GPU, if each has outputs to write; none has 2^31 outputs. */
    const uint64_t fill = (uint64_t)b->gpu.multiprocessors * SELECT_DECODE_BLOCKS;
    const uint64_t worth = a->n / (SELECT_TILE_BYTES / 2 / s->element_bytes + 1) + 1;
    const uint64_t needed = (a->n >> 31) + 1;
    uint64_t blocks = worth < fill ? worth : fill;
    if (blocks < needed) blocks = needed;
    ech_status status;
    split(s->element_bytes, &a->element_words, &a->word_bytes);
    a->share = a->n / blocks + 1;
    TRY(check_tiles(b->ctx, s, a->tiles));
    get_words(b, a->tiles);
    launch(b, ECHI_COUNT, "select_runs_a", "decode_sums", (unsigned)a->tiles, SELECT_THREADS, 0,
           CLEARS);
    launch(b, ECHI_MOVE, "select_runs_a", "decode_write", (unsigned)blocks, SELECT_THREADS, 0,
           CLEARS);
done:
    return status;
}

static bool is_empty(const struct build *b)
{
    return b->s->n == 0;
}

static ech_status steps_of_nothing(const struct build *b)
{
    const size_t counts = b->s->what == ECHI_DIVIDE ? 2 : 1;
    if (b->s->count)
        echi_step_add(&b->w->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                        .kind = ECHI_CLEAR,
                                                        .level = -1,
                                                        .to = b->s->count,
                                                        .bytes = counts * sizeof *b->s->count });
    return ECH_OK;
}

/* ---- The strategies ---- */

/* The first row that can be used is used. */
static const struct strategy strategies[] = {
    {
        .name = "empty",
        .what = "sets the count to zero",
        .when = "there are no elements",
        .can = is_empty,
        .steps = steps_of_nothing,
    },
    {
        .name = "decode",
        .what = "sums the lengths; then each block writes an equal share of the output",
        .when = "run-length decoding",
        .can = can_decode,
        .steps = steps_of_decode,
    },
    {
        .name = "bulk",
        .what = "one block per multiprocessor; its warps process parts loaded by bulk asynchronous "
                "copies",
        .when = "large arrays of elements of 4 or 8 bytes on sm_90 and later; no three-way "
                "partition; with flags, only if all elements are worth reading",
        .can = can_bulk,
        .steps = steps_of_bulk,
    },
    {
        .name = "ring",
        .what = "persistent blocks that take one tile after another through a ring of buffers",
        .when = "many tiles on sm_80 and later, without flags, values, positions or lengths; no "
                "three-way partition",
        .can = can_ring,
        .steps = steps_of_ring,
    },
    {
        .name = "tiles",
        .what = "one tile per block: one pass with decoupled look-back; for a partition, blocks "
                "that count, then blocks that place",
        .when = "all other calls",
        .can = always,
        .steps = steps_of_tiles,
    },
};

static ech_status make_steps(ech_ctx *ctx, const struct echi_select *s, void *work, struct whole *w,
                             const struct strategy **strategy)
{
    struct build b = { ctx, s, echi_gpu_of(ctx), w };
    bool overflow;
    w->steps.count = 0;
    lay_out(s, work, &overflow, &w->parts);
    w->args.select = s->n && s->what != ECHI_DECODE ? args_of(s) : (struct select_args){ 0 };
    w->args.select.first = w->parts.first;
    w->words = &w->args.select.words;
    w->clear = &w->args.select.clear;
    if (is_by_position(s))
        snprintf(w->module, sizeof w->module, "select_flags_a");
    else
        snprintf(w->module, sizeof w->module, "select_k%d", 8 * (int)s->element_bytes);
    *strategy = strategies;
    while (!(*strategy)->can(&b)) ++*strategy;
    return (*strategy)->steps(&b);
}

static ech_status select_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    struct whole w;
    const struct strategy *strategy;
    const ech_status status = make_steps(ctx, request, work, &w, &strategy);
    return status == ECH_OK ? echi_cuda_enqueue(ctx, &w.steps, &w, set_args) : status;
}

static ech_status select_explain(const void *request, struct echi_explain *e)
{
    struct whole w;
    const struct strategy *strategy;
    const ech_status status = make_steps(NULL, request, NULL, &w, &strategy);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, strategy->name, "%s", strategy->what);
    echi_explain_steps(e, &w.steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_select = { .plan = select_workspace,
                                                 .explain = select_explain,
                                                 .run = select_run };
