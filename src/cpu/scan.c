/*
 * cpu/scan.c - the CPU's scan: which tiles each thread does, and what comes before each.
 *
 *     one thread     tile after tile, each read once and written once
 *     many rows      each thread takes some, and does them so
 *     several        a stretch of tiles that the caches hold is reduced by all threads, the totals
 *                    are added up, and then the stretch is scanned by all
 *
 * What comes before a tile is group + (tile + tile + ...), docs/scan.md: the same whoever does it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../backend.h"
#include "../call.h"
#include "../complaint.h"
#include "cpu.h"
#include "scan.h"

#include <string.h>

enum {
    STRETCH_BYTES = 512 << 10, /* a thread's part of a stretch: the second level of its cache */
    STRETCH_TILES = 2048       /* of all threads */
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
    size_t bytes = ech_dtype_bytes(s->dtype);
    int f = (int)s->dtype - ECH_F16;
    if (s->is_float) return &table[s->wide ? wide_floats[f] : floats[f]];
    return &table[s->wide ? wide[bytes] : integers[bytes]];
}

/* ---- What comes before a tile ---- */

struct chain {
    uint64_t group; /* before the group */
    uint64_t tiles; /* the group's tiles up to this one */
    int count;      /* how many those are */
    bool head;      /* tiles has a head, and group does not matter */
};

static uint64_t before_tile(const struct echi_scan *s, const struct scan_kernels *k,
                            const struct chain *c)
{
    if (c->count == 0) return c->group;
    return c->head ? c->tiles : k->combine(s, c->group, c->tiles);
}

static void add_tile(const struct echi_scan *s, const struct scan_kernels *k, struct chain *c,
                     struct scan_total t)
{
    c->tiles = t.head || c->count == 0 ? t.value : k->combine(s, c->tiles, t.value);
    c->head = t.head || (c->count && c->head);
    if (++c->count < SCAN_GROUP) return;
    c->group = c->head ? c->tiles : k->combine(s, c->group, c->tiles);
    c->count = 0;
    c->head = false;
}

/* ---- Where segments begin ---- */

struct heads {
    const struct echi_scan *s;
    uint8_t at[SCAN_TILE_MOST];
};

/* Segments are looked up by position: backward from the last, whose first position is its end. */
static void heads_of_offsets(const struct echi_scan *s, uint8_t *heads, size_t at, size_t count)
{
    size_t low = 0, high = s->segments + 1, n = s->n;
    size_t from = s->backward ? n - at - count : at; /* as positions of in */
    if (s->backward) from++;                         /* an end is one past its element */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->offsets[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    size_t last = s->backward ? s->segments : s->segments - 1;
    if (s->backward && low == 0) low = 1;
    for (size_t i = low; i <= last && s->offsets[i] < from + count; i++)
        heads[s->backward ? n - s->offsets[i] - at : s->offsets[i] - at] = 1;
}

#define KEY     uint8_t
#define NAME(x) x##_u8
#include "scan_heads.h"
#undef KEY
#undef NAME
#define KEY     uint16_t
#define NAME(x) x##_u16
#include "scan_heads.h"
#undef KEY
#undef NAME
#define KEY     uint32_t
#define NAME(x) x##_u32
#include "scan_heads.h"
#undef KEY
#undef NAME
#define KEY     uint64_t
#define NAME(x) x##_u64
#include "scan_heads.h"

static void heads_of_keys(const struct echi_scan *s, uint8_t *heads, size_t at, size_t count)
{
    switch (ech_dtype_bytes(s->key_dtype)) {
    case 1:
        heads_u8(s, heads, at, count);
        break;
    case 2:
        heads_u16(s, heads, at, count);
        break;
    case 4:
        heads_u32(s, heads, at, count);
        break;
    default:
        heads_u64(s, heads, at, count);
    }
}

/* Fills heads, and a line's worth of nothing behind them, and shows them to the row. */
static void find_heads(struct scan_row *row, struct heads *heads, size_t at, size_t count)
{
    const struct echi_scan *s = row->s;
    if (s->shape != ECHI_SCAN_SEGMENTS && s->shape != ECHI_SCAN_KEYS) return;
    memset(heads->at, 0, SCAN_TILE_MOST);
    if (s->shape == ECHI_SCAN_SEGMENTS)
        heads_of_offsets(s, heads->at, at, count);
    else
        heads_of_keys(s, heads->at, at, count);
    row->heads = heads->at;
}

/* ---- One thread ---- */

static size_t tile_of(const struct echi_scan *s)
{
    return SCAN_TILE_BYTES / ech_dtype_bytes(s->dtype);
}

static void scan_row(const struct scan_kernels *k, struct scan_row *row)
{
    const struct echi_scan *s = row->s;
    const size_t tile = tile_of(s);
    struct chain chain = { .group = s->first };
    struct heads heads;
    for (size_t at = 0; at < row->n; at += tile) {
        size_t count = echi_min(tile, row->n - at);
        find_heads(row, &heads, at, count);
        struct scan_total total = k->scan(row, at, count, before_tile(s, k, &chain));
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
                            .in = (const char *)s->in + at * ech_dtype_bytes(s->dtype),
                            .out = (char *)s->out + at * echi_scan_out_bytes(s),
                            .n = s->columns,
                            .end = s->columns };
    if (s->shape != ECHI_SCAN_SEGMENTS) return row;
    row.begin = s->offsets[0];
    row.end = s->offsets[s->segments];
    if (s->backward) {
        row.begin = s->n - s->offsets[s->segments];
        row.end = s->n - s->offsets[0];
    }
    return row;
}

/* ---- Several threads, many rows ---- */

struct rows {
    const struct echi_scan *s;
    const struct scan_kernels *k;
    size_t each;
};

static void scan_some_rows(void *arg, size_t i, int thread)
{
    const struct rows *r = arg;
    size_t end = echi_min((i + 1) * r->each, r->s->rows);
    (void)thread;
    for (size_t j = i * r->each; j < end; j++) {
        struct scan_row row = row_of(r->s, j);
        scan_row(r->k, &row);
    }
}

static void scan_rows(const struct echi_scan *s, const struct scan_kernels *k, int threads)
{
    size_t row_bytes = s->columns * ech_dtype_bytes(s->dtype);
    struct rows rows = { s, k, (size_t)STRETCH_BYTES / row_bytes + 1 };
    echi_parallel(threads, (s->rows + rows.each - 1) / rows.each, scan_some_rows, &rows);
}

/* ---- Several threads, one row ---- */

struct stretch {
    const struct scan_kernels *k;
    const struct scan_row *row;
    size_t at, each, tiles; /* the stretch's first tile; a thread's; all */
    struct scan_total totals[STRETCH_TILES];
    uint64_t before[STRETCH_TILES];
};

static void each_tile(struct stretch *x, size_t part, bool write)
{
    struct scan_row row = *x->row;
    struct heads heads;
    size_t tile = tile_of(row.s), end = echi_min((part + 1) * x->each, x->tiles);
    for (size_t i = part * x->each; i < end; i++) {
        size_t at = (x->at + i) * tile, count = echi_min(tile, row.n - at);
        find_heads(&row, &heads, at, count);
        if (write)
            x->k->scan(&row, at, count, x->before[i]);
        else
            x->totals[i] = x->k->reduce(&row, at, count);
    }
}

static void reduce_part(void *arg, size_t part, int thread)
{
    (void)thread;
    each_tile(arg, part, false);
}

static void scan_part(void *arg, size_t part, int thread)
{
    (void)thread;
    each_tile(arg, part, true);
}

static void scan_row_by_all(const struct scan_kernels *k, const struct scan_row *row, int threads)
{
    const struct echi_scan *s = row->s;
    const size_t tile = tile_of(s), tiles = (row->n + tile - 1) / tile;
    struct chain chain = { .group = s->first };
    struct stretch x = { .k = k, .row = row };
    x.each = STRETCH_BYTES / SCAN_TILE_BYTES;
    if (x.each > STRETCH_TILES / (size_t)threads) x.each = STRETCH_TILES / (size_t)threads;
    for (x.at = 0; x.at < tiles; x.at += x.tiles) {
        x.tiles = echi_min(x.each * (size_t)threads, tiles - x.at);
        size_t parts = (x.tiles + x.each - 1) / x.each;
        echi_parallel(threads, parts, reduce_part, &x);
        for (size_t i = 0; i < x.tiles; i++) {
            x.before[i] = before_tile(s, k, &chain);
            add_tile(s, k, &chain, x.totals[i]);
        }
        echi_parallel(threads, parts, scan_part, &x);
    }
}

/* ---- The operation ---- */

static ech_status check_offsets(ech_ctx *ctx, const struct echi_scan *s)
{
    for (size_t i = 0; i <= s->segments; i++) {
        if (s->offsets[i] > s->n) return echi_complain(ctx, ECHI_OFFSETS_PAST_END, i);
        if (i && s->offsets[i] < s->offsets[i - 1])
            return echi_complain(ctx, ECHI_OFFSETS_DECREASE, i);
    }
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, void *work)
{
    const struct echi_scan *s = request;
    const struct scan_kernels *k = kernels_of(s);
    ech_status status = s->shape == ECHI_SCAN_SEGMENTS ? check_offsets(ctx, s) : ECH_OK;
    (void)work;
    if (status != ECH_OK || s->n == 0) return status;
    int threads =
        echi_parallel_for_bytes(ctx, s->n * (ech_dtype_bytes(s->dtype) + echi_scan_out_bytes(s)));
    if (threads > STRETCH_TILES) threads = STRETCH_TILES;
    if (threads == 1 || s->rows >= (size_t)threads * 4) {
        scan_rows(s, k, threads);
        return ECH_OK;
    }
    for (size_t i = 0; i < s->rows; i++) {
        struct scan_row row = row_of(s, i);
        scan_row_by_all(k, &row, threads);
    }
    return ECH_OK;
}

static ech_status workspace(const void *request, size_t *bytes)
{
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

const struct echi_operation echi_cpu_scan = { .workspace = workspace, .run = run };
