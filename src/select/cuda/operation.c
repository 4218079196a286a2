/*
 * select/cuda/operation.c - selections on the GPU, host half: lays out the workspace, queues
 * kernels.
 *
 *     who says what is kept       image           kernels
 *     the elements themselves     select_k<bits>  select_pass, or with positions, lengths or values
 *                                                 select_pass_along; select_count and select_place
 *     flags                       select_flags_a  the same, by the same names
 *     any, of large arrays        select_bulk_k<bits>   select_bulk_test, _heads, _flags, _runs or
 *                                                       _values<bytes>; or select_bulk_count, then
 *                                                       select_bulk_place, or both by _flags
 *                                 select_ring_k<bits>   select_ring; or select_ring_count, and then
 *                                                       select_place of select_k<bits>
 *     runs                        select_k<bits>  the same, and select_lengths of select_runs_a
 *     lengths                     select_runs_a   decode_sums, then decode_write
 *
 *     workspace   [ words of the look-back | where each tile's first run begins ]
 *
 * An array of one tile needs neither words nor a second kernel.  The words are zero before the
 * first kernel and after the last (state.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "select/select.h"
#include "cuda/cuda.h"
#include "select/cuda/runs.h"
#include "select/cuda/common.h"

#include <stdio.h>

struct parts {
    void *words;
    uint32_t *first;
};

static size_t most_tiles(size_t n)
{
    return n / SELECT_TILE_LEAST + 2; /* the first tile may be short */
}

static size_t lay_out(size_t n, void *base, bool *overflow, struct parts *parts)
{
    struct echi_layout layout = { .base = base };
    parts->words = echi_part(&layout, SELECT_WORDS_FIRST + 2 * most_tiles(n), sizeof(uint64_t));
    parts->first = echi_part(&layout, most_tiles(n), sizeof *parts->first);
    *overflow = layout.overflow;
    return layout.bytes;
}

static ech_status select_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_select *s = request;
    struct parts parts;
    bool overflow;
    *bytes = lay_out(s->n, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace is larger than any memory",
                         s->n);
    return ECH_OK;
}

/* ---- Tiles ---- */

static bool is_by_flags(const struct echi_select *s)
{
    return s->by == ECHI_BY_BYTES || s->by == ECHI_BY_BITS;
}

/* Elements by which the first tile begins before the array, so that its vectors are aligned. */
static uint32_t skew_of(const struct echi_select *s)
{
    if (s->by == ECHI_BY_BYTES) return (uint32_t)((uintptr_t)s->flags % 16);
    if (s->by == ECHI_BY_BITS) return (uint32_t)((uintptr_t)s->flags % 2 * 8);
    return (uint32_t)((uintptr_t)s->in % 16 / s->element_bytes);
}

static uint32_t tile_of(const struct echi_select *s)
{
    if (is_by_flags(s)) return SELECT_TILE_FLAGS;
    return SELECT_TILE_BYTES / (uint32_t)s->element_bytes;
}

static ech_status check_tiles(ech_ctx *ctx, const struct echi_select *s, uint64_t tiles)
{
    if (tiles <= INT32_MAX) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "n is %zu: more tiles than a grid has blocks", s->n);
}

/* The words that the look-back of so many tiles takes, zero. */
static ech_status get_words(ech_ctx *ctx, const struct parts *parts, uint64_t count,
                            uint64_t **words, uint32_t *clear)
{
    void *zeros = NULL;
    ech_status status = echi_cuda_zeros(
        ctx, parts->words, (size_t)(SELECT_WORDS_FIRST + count) * sizeof **words, &zeros);
    *words = zeros;
    *clear = zeros != parts->words;
    return status;
}

/* ---- Selections ---- */

static void split(size_t bytes, uint64_t *words, uint32_t *word_bytes)
{
    size_t word = bytes & (~bytes + 1);
    if (word > 16) word = 16;
    *words = bytes / word;
    *word_bytes = (uint32_t)word;
}

/* The test where equal keys are merged and its bits are all looked at, without the merging: what
 * becomes a limit of the interval belongs to it. */
static struct select_test quick_of(const struct echi_predicate *p, size_t bytes)
{
    const struct echi_order *o = &p->order;
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
    uint64_t low = p->low, high = p->low + p->span;
    struct select_test q = { .simple = p->mask == ones && !o->flip && low <= high && high <= ones,
                             .invert = p->invert };
    if (o->merge && low == o->zero + 1) low = o->zero;
    if (o->merge && high == o->zero) {
        if (low == high) q.simple = 0;
        high--;
    }
    if (high >= o->last) high = ones;
    q.negative = o->float_mask & (ones >> 1);
    q.offset = (o->sign - o->shift - low) & ones;
    q.span = high - low;
    return q;
}

static struct select_args args_of(const struct echi_select *s)
{
    struct select_args a = { .in = s->in,
                             .flags = s->flags,
                             .out = s->out,
                             .starts = s->starts,
                             .lengths = s->lengths,
                             .values = s->values,
                             .values_out = s->values_out,
                             .count = s->count,
                             .n = s->n,
                             .tile_n = tile_of(s),
                             .skew = skew_of(s),
                             .invert = s->invert,
                             .close = s->close,
                             .test = { s->test[0], s->test[1] } };
    static const uint32_t sources[] = { [ECHI_BY_BYTES] = SELECT_BYTES,
                                        [ECHI_BY_BITS] = SELECT_BITS,
                                        [ECHI_BY_TEST] = SELECT_TEST,
                                        [ECHI_BY_HEADS] = SELECT_HEADS };
    a.source = s->what == ECHI_DIVIDE ? SELECT_THREE : sources[s->by];
    const bool by_flags = is_by_flags(s);
    if (by_flags && s->out) { /* elements of any size go along as values do */
        a.values = s->in;
        a.values_out = s->out;
        a.out = NULL;
    }
    for (int t = 0; t < 2 && s->by == ECHI_BY_TEST; t++)
        a.quick[t] = quick_of(&s->test[t], s->element_bytes);
    size_t bytes = by_flags ? s->element_bytes : s->value_bytes;
    if (bytes) split(bytes, &a.value_words, &a.value_word_bytes);
    a.tiles = ((uint64_t)s->n + a.skew + a.tile_n - 1) / a.tile_n;
    return a;
}

static ech_status run_lengths(ech_ctx *ctx, struct select_args *a, uint32_t clear)
{
    uint64_t blocks = clear ? 1 : (a->tiles + SELECT_THREADS - 1) / SELECT_THREADS;
    a->clear = clear;
    return echi_cuda_launch_early(ctx, "select_runs_a", "select_lengths", (unsigned)blocks,
                                  SELECT_THREADS, 0, a);
}

/* Blocks that take one tile after the other (ring.cu), where there are enough of those. */
static unsigned ring_of(const ech_ctx *ctx, const struct echi_select *s,
                        const struct select_args *a, bool by_flags)
{
    const struct echi_cuda *cuda = ctx->state;
    const unsigned blocks = (unsigned)cuda->multiprocessors * SELECT_RING_BLOCKS;
    if (by_flags || a->starts || a->lengths || a->values || s->what == ECHI_DIVIDE) return 0;
    return cuda->architecture >= 80 && a->tiles >= blocks * SELECT_RING_TILES ? blocks : 0;
}

/* Whether what flags select is copied in bulk: a part's flags begin where 16 bytes do, as its
 * elements.  A partition moves all of these.  A selection reads all, too, which gains where a third
 * or more is kept, and costs little elsewhere if they are many, and small. */
static bool flags_to_bulk(const struct echi_select *s, uint32_t skew, uint64_t turns)
{
    const uintptr_t flags = (uintptr_t)s->flags;
    if (((uintptr_t)s->in | (uintptr_t)s->out) % s->element_bytes) return false;
    if ((s->by == ECHI_BY_BITS ? flags | skew : flags - skew) % 16) return false;
    return s->what == ECHI_PARTITION || (s->element_bytes == 4 && turns >= SELECT_FLAGS_TILES);
}

static bool is_along(const struct echi_select *s)
{
    return s->starts || s->lengths || s->values;
}

/* Shared memory of a part. */
static uint32_t slot_bytes(const struct echi_select *s)
{
    const uint32_t flags = is_by_flags(s) ? SELECT_PART_BYTES / (uint32_t)s->element_bytes : 0;
    return SELECT_PART_BYTES + 16 + flags;
}

/* Parts of a tile: as many as blocks hold. */
static uint32_t most_workers(const struct echi_cuda *cuda, const struct echi_select *s)
{
    const bool less = cuda->gpu_architecture / 10 == 12;
    const uint32_t room = (less ? SELECT_BULK_LESS : SELECT_BULK_BYTES) / (2 * slot_bytes(s));
    const bool fewer = s->what != ECHI_KEEP || is_by_flags(s) || s->values;
    const uint32_t most = fewer ? SELECT_WORKERS_FLAGS : SELECT_WORKERS;
    return room < most ? room : most;
}

/* Of runs, what goes along; values that are a word. */
static bool along_to_bulk(const struct echi_select *s)
{
    if (s->what != ECHI_KEEP || s->by != ECHI_BY_HEADS) return false;
    if (!s->values) return true;
    return (s->value_bytes == 4 || s->value_bytes == 8) &&
           ((uintptr_t)s->values | (uintptr_t)s->values_out) % s->value_bytes == 0;
}

/* Whether warps take parts that are copied in bulk (bulk.cu); the tiles are others then: as
 * large as blocks hold, but so that all blocks take as many, and three or more. */
static bool to_bulk(const ech_ctx *ctx, const struct echi_select *s, struct select_args *a)
{
    const struct echi_cuda *cuda = ctx->state;
    const uint64_t blocks = (uint64_t)cuda->multiprocessors;
    if (cuda->architecture < 90 || s->what == ECHI_DIVIDE) return false;
    if (s->element_bytes != 4 && s->element_bytes != 8) return false;
    if (is_along(s) && !along_to_bulk(s)) return false;
    const uint32_t skew = (uint32_t)((uintptr_t)s->in % 16 / s->element_bytes);
    const uint64_t part_n = SELECT_PART_BYTES / s->element_bytes;
    const uint64_t share = ((s->n + skew + part_n - 1) / part_n + blocks - 1) / blocks;
    const uint32_t most = most_workers(cuda, s);
    uint64_t turns = (share + most - 1) / most;
    if (share < SELECT_BULK_TILES * SELECT_WORKERS_LEAST) return false;
    if (turns < SELECT_BULK_TILES) turns = SELECT_BULK_TILES;
    if (is_by_flags(s) && !flags_to_bulk(s, skew, turns)) return false;
    a->skew = skew;
    a->out = s->out;
    if (is_by_flags(s)) a->values = NULL;
    a->tile_n = (uint32_t)((share + turns - 1) / turns * part_n);
    a->tiles = (a->n + a->skew + a->tile_n - 1) / a->tile_n;
    return true;
}

static ech_status launch_bulk(ech_ctx *ctx, const struct echi_select *s,
                              const struct select_args *a, const char *name)
{
    const struct echi_cuda *cuda = ctx->state;
    const unsigned parts = a->tile_n * (unsigned)s->element_bytes / SELECT_PART_BYTES;
    char image[24];
    snprintf(image, sizeof image, "select_bulk_k%d", 8 * (int)s->element_bytes);
    return echi_cuda_launch_early(ctx, image, name, (unsigned)cuda->multiprocessors,
                                  32 * parts + 32, 2 * parts * slot_bytes(s), a);
}

static ech_status run_bulk(ech_ctx *ctx, const struct echi_select *s, const struct select_args *a)
{
    const bool flags = is_by_flags(s);
    ech_status status;
    if (is_along(s))
        return launch_bulk(ctx, s, a,
                           !s->values            ? "select_bulk_runs"
                           : s->value_bytes == 4 ? "select_bulk_values4"
                                                 : "select_bulk_values8");
    if (s->what == ECHI_KEEP)
        return launch_bulk(ctx, s, a,
                           flags                       ? "select_bulk_flags"
                           : a->source == SELECT_HEADS ? "select_bulk_heads"
                                                       : "select_bulk_test");
    TRY(launch_bulk(ctx, s, a, flags ? "select_bulk_count_flags" : "select_bulk_count"));
    TRY(launch_bulk(ctx, s, a, flags ? "select_bulk_place_flags" : "select_bulk_place"));
done:
    return status;
}

static ech_status run_ring(ech_ctx *ctx, const struct echi_select *s, struct select_args *a,
                           const char *image, unsigned blocks)
{
    const unsigned shared_bytes = SELECT_SLOTS * SELECT_SLOT_BYTES;
    const bool keep = s->what == ECHI_KEEP;
    ech_status status;
    char ring[24];
    snprintf(ring, sizeof ring, "select_ring_k%d", 8 * (int)s->element_bytes);
    if (!keep) a->group = (a->tiles + blocks - 1) / blocks;
    TRY(echi_cuda_launch_early(ctx, ring, keep ? "select_ring" : "select_ring_count", blocks,
                               SELECT_RING_THREADS, shared_bytes, a));
    if (!keep)
        TRY(echi_cuda_launch_early(ctx, image, "select_place", (unsigned)a->tiles, SELECT_THREADS,
                                   0, a));
done:
    return status;
}

static ech_status run_select(ech_ctx *ctx, const struct echi_select *s, const struct parts *parts)
{
    struct select_args a = args_of(s);
    const bool by_flags = is_by_flags(s);
    const bool bulk = to_bulk(ctx, s, &a);
    const unsigned blocks = (unsigned)a.tiles, ways = s->what == ECHI_DIVIDE ? 2 : 1;
    const bool lengths_after = a.lengths && a.tiles > 1;
    const unsigned ring = bulk ? 0 : ring_of(ctx, s, &a, by_flags);
    ech_status status;
    uint32_t clear = 0;
    char image[24];
    if (by_flags)
        snprintf(image, sizeof image, "select_flags_a");
    else
        snprintf(image, sizeof image, "select_k%d", 8 * (int)s->element_bytes);
    TRY(check_tiles(ctx, s, a.tiles));
    if (a.tiles > 1)
        TRY(get_words(ctx, parts, (ring && s->what == ECHI_PARTITION ? 2 : ways) * a.tiles,
                      &a.words, &clear));
    a.first = parts->first;
    a.clear = clear;
    if (bulk) return run_bulk(ctx, s, &a);
    if (ring) return run_ring(ctx, s, &a, image, ring);
    if (s->what == ECHI_KEEP) {
        a.clear = clear && !lengths_after;
        const bool along = !by_flags && (a.starts || a.lengths || a.values);
        TRY(echi_cuda_launch_early(ctx, image, along ? "select_pass_along" : "select_pass", blocks,
                                   SELECT_THREADS, 0, &a));
        if (lengths_after) TRY(run_lengths(ctx, &a, clear));
        return ECH_OK;
    }
    if (a.tiles > 1)
        TRY(echi_cuda_launch_early(ctx, image, "select_count", blocks, SELECT_THREADS, 0, &a));
    a.clear = clear;
    TRY(echi_cuda_launch_early(ctx, image, ways == 2 ? "select_place_three" : "select_place",
                               blocks, SELECT_THREADS, 0, &a));
done:
    return status;
}

static ech_status run_decode(ech_ctx *ctx, const struct echi_select *s, const struct parts *parts)
{
    const struct echi_cuda *cuda = ctx->state;
    struct decode_args a = { .in = s->in,
                             .lengths = s->lengths_in,
                             .out = s->out,
                             .complaint = echi_cuda_complaint(ctx),
                             .runs = s->n,
                             .n = s->out_n,
                             .tiles = ((uint64_t)s->n + SELECT_TILE_RUNS - 1) / SELECT_TILE_RUNS };
    /* As many blocks as fill the GPU, if each has some to write; none has 2^31 outputs. */
    const uint64_t fill = (uint64_t)cuda->multiprocessors * SELECT_DECODE_BLOCKS;
    const uint64_t worth = a.n / (SELECT_TILE_BYTES / 2 / s->element_bytes + 1) + 1;
    const uint64_t needed = (a.n >> 31) + 1;
    uint64_t blocks = worth < fill ? worth : fill;
    if (blocks < needed) blocks = needed;
    ech_status status;
    split(s->element_bytes, &a.element_words, &a.word_bytes);
    a.share = a.n / blocks + 1;
    TRY(check_tiles(ctx, s, a.tiles));
    TRY(get_words(ctx, parts, a.tiles, &a.words, &a.clear));
    TRY(echi_cuda_launch_early(ctx, "select_runs_a", "decode_sums", (unsigned)a.tiles,
                               SELECT_THREADS, 0, &a));
    TRY(echi_cuda_launch_early(ctx, "select_runs_a", "decode_write", (unsigned)blocks,
                               SELECT_THREADS, 0, &a));
done:
    return status;
}

/* Of no elements there are none kept. */
static ech_status run_empty(ech_ctx *ctx, const struct echi_select *s)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    size_t counts = s->what == ECHI_DIVIDE ? 2 : 1;
    if (s->count)
        CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)s->count, 0, counts * sizeof *s->count,
           echi_cuda_stream(ctx));
done:
    return status;
}

static ech_status select_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_select *s = request;
    struct parts parts;
    bool overflow;
    if (s->n == 0) return run_empty(ctx, s);
    lay_out(s->n, work, &overflow, &parts);
    return s->what == ECHI_DECODE ? run_decode(ctx, s, &parts) : run_select(ctx, s, &parts);
}

const struct echi_operation echi_cuda_select = { .plan = select_workspace, .run = select_run };

/* ---- Runs of equal keys, for other operations ---- */

size_t echi_cuda_runs_workspace(size_t n)
{
    struct parts parts;
    bool overflow;
    size_t bytes = lay_out(n, NULL, &overflow, &parts);
    return overflow ? SIZE_MAX : bytes;
}

ech_status echi_cuda_runs(ech_ctx *ctx, const void *keys, ech_dtype key_dtype, size_t n,
                          void *keys_out, uint64_t *starts, uint64_t *count, void *work)
{
    struct echi_select s = { .what = ECHI_KEEP,
                             .by = ECHI_BY_HEADS,
                             .in = keys,
                             .out = keys_out,
                             .starts = starts,
                             .close = true,
                             .count = count,
                             .n = n,
                             .element_bytes = ech_dtype_bytes(key_dtype) };
    s.test[0].order = echi_order_make(key_dtype, ECH_ORDER_NAN_LAST, false, true);
    return select_run(ctx, &s, NULL, work);
}
