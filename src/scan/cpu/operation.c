/*
 * scan/cpu/operation.c - the CPU's scan: distributes tiles to threads, and computes the exclusive
 * prefix of each tile.
 *
 *     one thread     tile after tile, each read once and written once
 *     many rows      each thread scans some rows in that way
 *     several        a thread takes the next part, of tiles that fit in its cache, and reduces it;
 *                    receives its exclusive prefix from the thread of the previous part; passes the
 *                    next one on; and scans the part from its cache
 *
 * The exclusive prefix of a tile is group + (tile + tile + ...), docs/scan.md: independent of the
 * threads.  Results too large for the caches are written by non-temporal stores: a tile is scanned
 * into a buffer and streamed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "core/call.h"
#include "core/data_error.h"
#include "cpu/cpu.h"
#include "scan/cpu/common.h"

#include <stdatomic.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    PART_TILES = 16,                   /* maximum of a part: with its results, an L2 cache */
    PARTS_A_THREAD = 4,                /* minimum, if there are enough tiles */
    TASK_BYTES = 512 << 10,            /* of rows that a thread takes at a time */
    STAGE_BYTES = 4 * SCAN_TILE_BYTES, /* a tile's results: f16 in f64 */
    STREAM_BYTES = 16 << 20            /* size of results that do not stay in a cache */
};

static const struct scan_kernels *kernels_of(const struct echi_scan *s)
{
    static const enum scan_kind integers[] = {
        0, SCAN_U8, SCAN_U16, 0, SCAN_U32, 0, 0, 0, SCAN_U64
    };
    static const enum scan_kind wide[] = { 0, SCAN_U8_WIDE, SCAN_U16_WIDE, 0, SCAN_U32_WIDE };
    static const enum scan_kind floats[] = { SCAN_F16, SCAN_BF16, SCAN_F32, SCAN_F64 };
    static const enum scan_kind wide_floats[] = { SCAN_F16_WIDE, SCAN_BF16_WIDE, SCAN_F32_WIDE };
    const struct scan_kernels *table = echi_scan_portable;
#ifdef ECHI_CPU_X86
    enum echi_isa isa = echi_cpu_isa();
    if (isa == ECHI_AVX512) table = echi_scan_avx512;
    if (isa == ECHI_AVX2) table = echi_scan_avx2;
#endif
    size_t bytes = echi_dtype_bytes(s->dtype);
    int f = (int)s->dtype - ECH_F16;
    if (s->is_float) return &table[s->wide ? wide_floats[f] : floats[f]];
    return &table[s->wide ? wide[bytes] : integers[bytes]];
}

/* ---- The exclusive prefix of a tile ---- */

struct chain {
    uint64_t group; /* the prefix of the group */
    uint64_t tiles; /* the total of the group's tiles up to this one */
    int count;      /* the number of these tiles */
    bool flag;      /* tiles contains a flag, and group is not used */
};

static uint64_t before_tile(const struct echi_scan *s, const struct scan_kernels *k,
                            const struct chain *c)
{
    if (c->count == 0) return c->group;
    return c->flag ? c->tiles : k->combine(s, c->group, c->tiles);
}

static void add_tile(const struct echi_scan *s, const struct scan_kernels *k, struct chain *c,
                     struct scan_total t)
{
    c->tiles = t.flag || c->count == 0 ? t.value : k->combine(s, c->tiles, t.value);
    c->flag = t.flag || (c->count && c->flag);
    if (++c->count < SCAN_GROUP) return;
    c->group = c->flag ? c->tiles : k->combine(s, c->group, c->tiles);
    c->count = 0;
    c->flag = false;
}

/* ---- The heads of segments ---- */

struct flags {
    const struct echi_scan *s;
    uint8_t at[SCAN_TILE_MOST];
};

static uint64_t offset(const struct echi_scan *s, size_t i)
{
    return echi_index_at(s->offsets, s->offsets_index, i);
}

/* Segments are searched by position: in a reverse scan from the last, whose first position is its
 * end. */
static void flags_of_offsets(const struct echi_scan *s, uint8_t *flags, size_t at, size_t count)
{
    size_t low = 0, high = s->segments + 1, n = s->n;
    size_t from = s->backward ? n - at - count : at; /* as positions of in */
    if (s->backward) from++;                         /* an end is one past its element */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (offset(s, middle) < from)
            low = middle + 1;
        else
            high = middle;
    }
    size_t last = s->backward ? s->segments : s->segments - 1;
    if (s->backward && low == 0) low = 1;
    for (size_t i = low; i <= last && offset(s, i) < from + count; i++)
        flags[s->backward ? n - offset(s, i) - at : offset(s, i) - at] = 1;
}

#define KEY     uint8_t
#define NAME(x) x##_u8
#include "scan/cpu/flags.h"
#undef KEY
#undef NAME
#define KEY     uint16_t
#define NAME(x) x##_u16
#include "scan/cpu/flags.h"
#undef KEY
#undef NAME
#define KEY     uint32_t
#define NAME(x) x##_u32
#include "scan/cpu/flags.h"
#undef KEY
#undef NAME
#define KEY     uint64_t
#define NAME(x) x##_u64
#include "scan/cpu/flags.h"

static void flags_of_keys(const struct echi_scan *s, uint8_t *flags, size_t at, size_t count)
{
    switch (echi_dtype_bytes(s->key_dtype)) {
    case 1:
        flags_u8(s, flags, at, count);
        break;
    case 2:
        flags_u16(s, flags, at, count);
        break;
    case 4:
        flags_u32(s, flags, at, count);
        break;
    default:
        flags_u64(s, flags, at, count);
    }
}

/* Fills flags, padded with zeros to a line, and passes them to the row. */
static void find_flags(struct scan_row *row, struct flags *flags, size_t at, size_t count)
{
    const struct echi_scan *s = row->s;
    if (s->shape != ECHI_SCAN_SEGMENTS && s->shape != ECHI_SCAN_KEYS) return;
    memset(flags->at, 0, SCAN_TILE_MOST);
    if (s->shape == ECHI_SCAN_SEGMENTS)
        flags_of_offsets(s, flags->at, at, count);
    else
        flags_of_keys(s, flags->at, at, count);
    row->flags = flags->at;
}

/* ---- One tile ---- */

/* The memory of a thread in addition to the arrays. */
struct room {
    struct flags flags;
    char *stage; /* results are streamed through it; NULL: they are written directly */
};

static size_t tile_of(const struct echi_scan *s)
{
    return SCAN_TILE_BYTES / (s->is_float ? echi_dtype_bytes(s->dtype) : echi_scan_out_bytes(s));
}

/* Whether several threads stream the results, unless they replace the input. A single thread does
 * not saturate the memory bandwidth: streaming would only add latency. */
static bool streams(const struct echi_scan *s)
{
    const size_t bytes = echi_scan_out_bytes(s);
    return s->n * bytes >= STREAM_BYTES && s->columns * bytes >= SCAN_TILE_BYTES &&
           (s->shape == ECHI_SCAN_WHOLE || s->shape == ECHI_SCAN_ROWS);
}

/* Copies, in full cache lines. */
static void stream(char *to, const char *from, size_t bytes)
{
    size_t i = 0;
#ifdef __SSE2__
    i = echi_min((0 - (uintptr_t)to) % 64, bytes);
    memcpy(to, from, i);
    for (; i + 64 <= bytes; i += 64) {
        const __m128i *x = (const __m128i *)(const void *)(from + i);
        __m128i *y = (__m128i *)(void *)(to + i);
        __m128i a = _mm_loadu_si128(x), b = _mm_loadu_si128(x + 1), c = _mm_loadu_si128(x + 2),
                d = _mm_loadu_si128(x + 3);
        _mm_stream_si128(y, a);
        _mm_stream_si128(y + 1, b);
        _mm_stream_si128(y + 2, c);
        _mm_stream_si128(y + 3, d);
    }
#endif
    memcpy(to + i, from + i, bytes - i);
}

/* Streamed results are in memory before later stores. */
static void stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static struct scan_total scan_tile(const struct scan_kernels *k, struct scan_row *row,
                                   struct room *room, size_t at, size_t count, uint64_t before)
{
    const size_t bytes = echi_scan_out_bytes(row->s);
    char *out = (char *)row->out + (row->s->backward ? row->n - at - count : at) * bytes;
    find_flags(row, &room->flags, at, count);
    row->to = room->stage ? room->stage : out;
    struct scan_total total = k->scan(row, at, count, before);
    if (room->stage) stream(out, room->stage, count * bytes);
    return total;
}

/* ---- One thread ---- */

static void scan_row(const struct scan_kernels *k, struct scan_row *row, struct room *room)
{
    const struct echi_scan *s = row->s;
    const size_t tile = tile_of(s);
    struct chain chain = { .group = s->first };
    for (size_t at = 0; at < row->n; at += tile) {
        size_t count = echi_min(tile, row->n - at);
        uint64_t before = before_tile(s, k, &chain);
        struct scan_total total = scan_tile(k, row, room, at, count, before);
        if (k->chained)
            chain.group = total.value;
        else
            add_tile(s, k, &chain, total);
    }
}

static struct scan_row row_of(const struct echi_scan *s, size_t i)
{
    size_t at = i * s->columns;
    struct scan_row row = { .s = s,
                            .in = (const char *)s->in + at * echi_dtype_bytes(s->dtype),
                            .out = (char *)s->out + at * echi_scan_out_bytes(s),
                            .n = s->columns,
                            .end = s->columns };
    if (s->shape != ECHI_SCAN_SEGMENTS) return row;
    row.begin = offset(s, 0);
    row.end = offset(s, s->segments);
    if (s->backward) {
        row.begin = s->n - offset(s, s->segments);
        row.end = s->n - offset(s, 0);
    }
    return row;
}

/* ---- Several threads, many rows ---- */

struct rows {
    const struct echi_scan *s;
    const struct scan_kernels *k;
    size_t each;
    /* The calling thread's, whose stack may be small; NULL: no results are streamed. */
    char *stage;
};

static void scan_these_rows(const struct rows *r, size_t i, char *stage)
{
    size_t end = echi_min((i + 1) * r->each, r->s->rows);
    struct room room;
    room.stage = stage;
    for (size_t j = i * r->each; j < end; j++) {
        struct scan_row row = row_of(r->s, j);
        scan_row(r->k, &row, &room);
    }
    if (stage) stream_end();
}

static __attribute__((noinline)) void scan_rows_of_worker(const struct rows *r, size_t i)
{
    _Alignas(64) char stage[STAGE_BYTES];
    scan_these_rows(r, i, stage);
}

static void scan_some_rows(void *arg, size_t i, int thread)
{
    const struct rows *r = arg;
    if (thread == 0 || !r->stage)
        scan_these_rows(r, i, r->stage);
    else
        scan_rows_of_worker(r, i);
}

static void scan_rows(const struct echi_scan *s, const struct scan_kernels *k, int threads,
                      char *stage)
{
    size_t row_bytes = s->columns * echi_dtype_bytes(s->dtype);
    struct rows rows = { s, k, (size_t)TASK_BYTES / row_bytes + 1, threads > 1 ? stage : NULL };
    echi_parallel(threads, (s->rows + rows.each - 1) / rows.each, scan_some_rows, &rows);
}

/* ---- Several threads, one row ---- */

struct relay {
    const struct scan_kernels *k;
    const struct scan_row *row;
    size_t tiles, each;    /* of the row; of a part */
    char *stage;           /* as in struct rows */
    atomic_size_t taken;   /* number of parts taken */
    atomic_size_t chained; /* number of parts included in chain */
    struct chain chain;
};

static void run_part(struct relay *r, struct room *room, size_t part)
{
    const struct scan_kernels *k = r->k;
    struct scan_row row = *r->row;
    struct scan_total totals[PART_TILES];
    uint64_t before[PART_TILES];
    size_t tile = tile_of(row.s), first = part * r->each, n = echi_min(r->each, r->tiles - first);
    for (size_t i = 0; i < n; i++) {
        size_t at = (first + i) * tile, count = echi_min(tile, row.n - at);
        find_flags(&row, &room->flags, at, count);
        totals[i] = k->reduce(&row, at, count);
    }
    echi_parallel_await(&r->chained, part);
    for (size_t i = 0; i < n; i++) {
        before[i] = before_tile(row.s, k, &r->chain);
        add_tile(row.s, k, &r->chain, totals[i]);
    }
    atomic_store_explicit(&r->chained, part + 1, memory_order_release);
    for (size_t i = 0; i < n; i++) {
        size_t at = (first + i) * tile;
        scan_tile(k, &row, room, at, echi_min(tile, row.n - at), before[i]);
    }
}

/* Parts are taken in order, so the previous part is always in progress. */
static void run_parts(struct relay *r, char *stage)
{
    struct room room;
    room.stage = stage;
    for (;;) {
        size_t part = atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed);
        if (part * r->each >= r->tiles) break;
        run_part(r, &room, part);
    }
    if (stage) stream_end();
}

static __attribute__((noinline)) void run_parts_of_worker(struct relay *r)
{
    _Alignas(64) char stage[STAGE_BYTES];
    run_parts(r, stage);
}

static void run_some_parts(void *arg, size_t i, int thread)
{
    struct relay *r = arg;
    (void)i;
    if (thread == 0 || !r->stage)
        run_parts(r, r->stage);
    else
        run_parts_of_worker(r);
}

static void scan_row_by_all(const struct scan_kernels *k, const struct scan_row *row, int threads,
                            char *stage)
{
    const size_t tile = tile_of(row->s), tiles = (row->n + tile - 1) / tile;
    const size_t each = tiles / ((size_t)threads * PARTS_A_THREAD) + 1;
    struct relay relay = { .k = k,
                           .row = row,
                           .tiles = tiles,
                           .each = echi_min(each, PART_TILES),
                           .stage = stage,
                           .chain = { .group = row->s->first } };
    echi_parallel(threads, (size_t)threads, run_some_parts, &relay);
}

/* ---- The operation ---- */

static ech_status check_offsets(ech_ctx *ctx, const struct echi_scan *s)
{
    for (size_t i = 0; i <= s->segments; i++) {
        if (offset(s, i) > s->n) return echi_report_error(ctx, ECHI_OFFSETS_PAST_END, i);
        if (i && offset(s, i) < offset(s, i - 1))
            return echi_report_error(ctx, ECHI_OFFSETS_DECREASE, i);
    }
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_scan *s = request;
    const struct scan_kernels *k = kernels_of(s);
    ech_status status = s->shape == ECHI_SCAN_SEGMENTS ? check_offsets(ctx, s) : ECH_OK;
    if (status != ECH_OK || s->n == 0) return status;
    char *stage = streams(s) && s->in != s->out ? work : NULL;
    int threads =
        echi_parallel_for_bytes(ctx, s->n * (echi_dtype_bytes(s->dtype) + echi_scan_out_bytes(s)));
    if (threads == 1 || s->rows >= (size_t)threads * 4) {
        scan_rows(s, k, threads, stage);
        return ECH_OK;
    }
    for (size_t i = 0; i < s->rows; i++) {
        struct scan_row row = row_of(s, i);
        scan_row_by_all(k, &row, threads, stage);
    }
    return ECH_OK;
}

void echi_cpu_scan_few(const struct echi_scan *s, const void *in, void *out, size_t n)
{
    const struct scan_row row = { .s = s, .in = in, .out = out, .to = out, .n = n, .end = n };
    kernels_of(s)->scan(&row, 0, n, s->first);
}

/* A scan of one tile. */
static bool scan_at_once(const void *request)
{
    enum { AT_ONCE = 1024 };
    const struct echi_scan *s = request;
    if (s->n > AT_ONCE || s->shape != ECHI_SCAN_WHOLE) return false;
    if (s->n) echi_cpu_scan_few(s, s->in, s->out, s->n);
    return true;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    *bytes = streams(request) ? STAGE_BYTES : 0;
    return ECH_OK;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_scan *s = request;
    echi_explain_algorithm(e, true, "relay",
                           "tiles of %zu elements: threads reduce and then scan parts of a row, in "
                           "the order of the row; many rows are divided among threads",
                           tile_of(s));
    return ECH_OK;
}

const struct echi_operation echi_cpu_scan = {
    .plan = workspace, .explain = explain, .run = run, .quick = scan_at_once
};

/* ---- Short calls ---- */

static echi_scan_function *const no_calls[ECHI_DTYPE_COUNT];

echi_scan_function *const *const echi_scan_calls[ECHI_LEVELS] = {
    [ECHI_LEVEL_NONE] = no_calls,
    [ECHI_LEVEL_PORTABLE] = echi_scan_calls_portable,
#ifdef ECHI_CPU_X86
    [ECHI_LEVEL_AVX2] = echi_scan_calls_avx2,
    [ECHI_LEVEL_AVX512] = echi_scan_calls_avx512,
    [ECHI_LEVEL_VBMI2] = echi_scan_calls_avx512,
#endif
};
