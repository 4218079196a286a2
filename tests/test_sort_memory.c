/*
 * test_sort_memory.c - the workspace of sorts on a GPU: exactly as large as
 * docs/performance/sort.md documents, and no allocation if the caller provides it.
 *
 * The formulas and their constants are repeated here on purpose.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;

enum { STATE = 49408 }; /* of sort_histogram and sort_plan */

/* Each part of a workspace is rounded up to 256 bytes. */
static u64 part(u64 bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Keys per tile of onesweep, for keys of k bytes with a payload of m bytes. */
static u64 tile_of(u64 k, u64 m)
{
    static const u64 tiles[4][4] = { { 8448, 10240, 6144, 3072 },
                                     { 9216, 6144, 6144, 3072 },
                                     { 8448, 10240, 7680, 3840 },
                                     { 7680, 7680, 6144, 3456 } };
    return tiles[k == 8   ? 3
                 : k == 4 ? 2
                 : k == 2 ? 1
                          : 0][m == 16  ? 3
                               : m == 8 ? 2
                               : m == 4 ? 1
                                        : 0];
}

static u64 onesweep(u64 n, u64 k, u64 m, bool argsort)
{
    u64 tile = tile_of(k, m);
    return part(n * k) * (argsort ? 2 : 1) + part(n * m) + STATE + 1024 * ((n + tile - 1) / tile);
}

/* The counters of a first level that takes one launch. lists_of_few() adds the lists, or the state
 * of passes in place. */
static u64 few(u64 n, u64 k)
{
    return n < (k == 8 ? 1 << 23 : 1 << 24) ? 1280 : 0;
}

static u64 lists_of_few(u64 n, u64 k, u64 lists)
{
    u64 blocks = n / 4096 + 1 < 512 ? n / 4096 + 1 : 512, passes = 1024 * blocks + 65536;
    return few(n, k) && passes > lists ? passes : lists;
}

/* plain: without the special case for few keys. */
static u64 msd(u64 n, u64 k, bool classes, bool plain)
{
    u64 tile = 57344 / k, leaf = 36864 / k, levels = (k == 8 ? 9 : 5) + (u64)classes;
    u64 segments = n / leaf + 1, tiles = n / tile + segments + 1;
    u64 leaves = 6 * (n / leaf + 1) + 4 * levels * segments + (classes ? 256 : 0);
    u64 lists = part(2 * segments * 40) + part(2 * segments * 258 * 4) + part(2 * tiles * 4) +
                part(leaves * 24) + part(leaves * 4);
    u64 all = part(n * k) + 256;
    if (classes) return all + lists + 256 + 131072 + 32768;
    return all + (plain ? lists : few(n, k) + lists_of_few(n, k, lists));
}

static u64 msd_pairs(u64 n, u64 k, u64 m, bool argsort, bool plain)
{
    u64 items = m == 16 ? 6 : m != k ? 12 : k == 8 ? 10 : 16, tile = 512 * items;
    u64 levels = k == 8 ? 9 : 5, segments = n / 4608 + 1, tiles = n / tile + segments + 1;
    u64 leaves = 6 * segments + 4 * levels * segments, pieces = tiles < 1024 ? tiles : 1024;
    if (plain && k == 4 && m == 4) { /* at least one segment per digit */
        leaves += segments < 256 ? 4 * levels * (256 - segments) : 0;
        segments = segments < 256 ? 256 : segments;
        tiles = tiles < n / 5120 + 256 ? n / 5120 + 256 : tiles;
    }
    u64 lists = part(2 * segments * 40) + part(2 * segments * 258 * 4) + part(2 * tiles * 4) +
                part(leaves * 24) + part(leaves * 4) + 1024 * tiles + 1024 * pieces;
    u64 all = part(n * k) * (argsort ? 2 : 1) + part(n * m) + 256;
    return all + (plain ? lists : few(n, k) + lists_of_few(n, k, lists));
}

/* The maximum of onesweep and of the level-based sort that adaptive may choose: msd with values,
 * otherwise buckets. */
static u64 adaptive(u64 n, u64 k, u64 m, bool argsort)
{
    u64 levels = m ? msd_pairs(n, k, m, argsort, true) : msd(n, k, true, true);
    u64 passes = onesweep(n, k, m, argsort) + 256;
    return levels > passes ? levels : passes;
}

static u64 samplesort(u64 n, u64 k, u64 m)
{
    u64 few = (n + 255) / 256, wave = 128 * (k == 8 ? 2048 : 4096);
    u64 many = (n + wave - 1) / wave * 128, most = m ? 256 : 512;
    u64 buckets = few < 128 ? few : many < most ? many : most;
    return part(n * k) + part(n * m) + part(2 * (buckets + 1) * buckets) + 256;
}

/* Words of 4 bytes by tile, and copies of the keys and the payload. */
static u64 sample_of_words(u64 n, u64 m)
{
    u64 few = (n + 255) / 256, buckets = few < 128 ? few : 128;
    return part(n * 4) + part(n * 2) + part(n * m) + part(2 * (buckets + 1) * buckets) + 256;
}

/* Counting of 16-bit keys: starts and sums, and the counts of each group of blocks. */
static u64 counts(u64 n)
{
    u64 groups = n / 32768 + 1 < 160 ? n / 32768 + 1 : 160;
    return part(8 * 65537) + part(8 * 256) + part(2 * 65536 * groups);
}

/* ---- The library's answer ---- */

struct sort {
    ech_dtype dtype;
    size_t value_bytes;
    int index_bytes;
    const char *algorithm;
};

static u64 said(const char *device, size_t n, const struct sort *s)
{
    size_t bytes = 0;
    const ech_sort_options o = { .size = sizeof o, .algorithm = s->algorithm };
    CHECK_STATUS(s->index_bytes
                     ? ech_argsort_workspace(device, n, s->dtype,
                                             s->index_bytes == 4 ? ECH_U32 : ECH_U64, &o, &bytes)
                     : ech_sort_workspace(device, n, s->dtype, s->value_bytes, &o, &bytes),
                 ECH_OK);
    return bytes;
}

static u64 wanted(u64 n, const struct sort *s)
{
    u64 k = ech_dtype_bytes(s->dtype), v = s->value_bytes, i = n <= (u64)1 << 32 ? 4 : 8;
    bool gather = v != 0 && v != 4 && v != 8 && v != 16;
    bool widen = k <= 4 && (u64)s->index_bytes > i && n >= 1 << 19;
    u64 m = widen || gather ? i : s->index_bytes ? (u64)s->index_bytes : v;
    u64 more = widen || gather ? part(n * i) + (gather ? part(n * v) : 0) : 0;
    if (strcmp(s->algorithm, "block") == 0) return more;
    if (strcmp(s->algorithm, "count") == 0) return k == 1 ? STATE : counts(n);
    if (strcmp(s->algorithm, "msd") == 0)
        return m ? more + msd_pairs(n, k, m, s->index_bytes != 0, false) : msd(n, k, false, false);
    if (strcmp(s->algorithm, "buckets") == 0) return msd(n, k, true, true);
    if (strcmp(s->algorithm, "adaptive") == 0) return more + adaptive(n, k, m, s->index_bytes != 0);
    if (strcmp(s->algorithm, "samplesort") == 0)
        return more + (k == 2 ? sample_of_words(n, m) : samplesort(n, k, m));
    return more + onesweep(n, k, m, s->index_bytes != 0);
}

/* The larger workspace of a window, which is two of eight blocks, and of the last window, which may
 * be shorter; for argsorts also a copy of the keys, and pairs. */
static u64 windows(const char *device, u64 n, const struct sort *s)
{
    const struct sort w = { s->dtype, s->index_bytes ? (size_t)s->index_bytes : s->value_bytes, 0,
                            NULL };
    u64 block = (n + 7) / 8;
    u64 full = said(device, 2 * block, &w), last = said(device, n - 6 * block, &w);
    return (s->index_bytes ? part(n * ech_dtype_bytes(s->dtype)) : 0) + (full > last ? full : last);
}

/* The workspace of passes in pages, with this many pages in the pool. */
static u64 pages_with(u64 n, u64 k, u64 m, bool argsort, u64 pool)
{
    u64 tile = tile_of(k, m), page = tile / (m == 16 || (m == 0 && k < 8) ? 12 : 16);
    u64 slots = n / page, pages = (n + page - 1) / page;
    return (argsort ? part(n * k) : 0) + STATE + 2304 + 5376 + 256 + part(4 * (slots + pool)) +
           1024 * ((n + tile - 1) / tile) + 2 * part(4 * pages) + 2 * part(4 * (pages + pool)) +
           part(pool * page * k) + part(pool * page * m);
}

/* The pool fills a sixteenth of the arrays, and has 513 to 8,192 pages, or one for each page of the
 * array and two more. */
static u64 pages(u64 n, u64 k, u64 m, bool argsort)
{
    u64 page = tile_of(k, m) / (m == 16 || (m == 0 && k < 8) ? 12 : 16), budget = n / 16 * (k + m);
    u64 used = pages_with(n, k, m, false, 0) + 4096, fewest = n / page + 2;
    u64 pool = used < budget ? (budget - used) / (page * (k + m) + 12) : 0;
    if (fewest > 513) fewest = 513;
    return pages_with(n, k, m, argsort, pool < fewest ? fewest : pool > 8192 ? 8192 : pool);
}

static u64 low_memory(const char *device, u64 n, const struct sort *s)
{
    u64 k = ech_dtype_bytes(s->dtype), v = s->index_bytes ? (u64)s->index_bytes : s->value_bytes;
    u64 whole = said(device, n, &(struct sort){ s->dtype, s->value_bytes, s->index_bytes, NULL });
    u64 least = k == 1 ? STATE : part(8 * 65537) + part(8 * 256), most = n / 16 * (k + v);
    if (k > 2 || v) {
        if (n < 16384) return whole;
        least = windows(device, n, s);
        if (k >= 4 && (v == 0 || v == 4 || v == 8 || v == 16)) {
            u64 few = pages(n, k, v, s->index_bytes != 0), all = most / 256 * 256;
            bool bins = !s->index_bytes && few < all && n < (u64)1 << 32;
            if (s->dtype == ECH_F32) bins = bins && v <= 8 && n <= 1u << (v <= 4 ? 28 : 27);
            if (bins && (n >= 1 << 21 || said(device, n, s) == all)) few = all;
            if (n > 1 << 24) CHECK(few <= most + (s->index_bytes ? part(n * k) : 0));
            if (few < least) least = few;
        }
    }
    return least < whole ? least : whole;
}

static void formulas(void)
{
    static const struct sort sorts[] = {
        { ECH_U8, 0, 0, "count" },        { ECH_I16, 0, 0, "count" },
        { ECH_U32, 0, 0, "msd" },         { ECH_F64, 0, 0, "msd" },
        { ECH_F32, 0, 0, "buckets" },     { ECH_I64, 0, 0, "buckets" },
        { ECH_U32, 0, 0, "adaptive" },    { ECH_U64, 0, 0, "adaptive" },
        { ECH_F64, 0, 0, "adaptive" },    { ECH_I32, 4, 0, "adaptive" },
        { ECH_U64, 16, 0, "adaptive" },   { ECH_F32, 0, 8, "adaptive" },
        { ECH_I64, 3, 0, "adaptive" },    { ECH_U32, 0, 4, "adaptive" },
        { ECH_U8, 0, 0, "onesweep" },     { ECH_F16, 0, 0, "onesweep" },
        { ECH_F32, 0, 0, "onesweep" },    { ECH_I64, 0, 0, "onesweep" },
        { ECH_U8, 4, 0, "onesweep" },     { ECH_U16, 8, 0, "onesweep" },
        { ECH_U32, 4, 0, "onesweep" },    { ECH_U32, 8, 0, "onesweep" },
        { ECH_F64, 4, 0, "onesweep" },    { ECH_U64, 8, 0, "onesweep" },
        { ECH_I32, 16, 0, "onesweep" },   { ECH_U32, 1, 0, "onesweep" },
        { ECH_U64, 12, 0, "onesweep" },   { ECH_I8, 100, 0, "onesweep" },
        { ECH_U32, 0, 4, "onesweep" },    { ECH_U32, 0, 8, "onesweep" },
        { ECH_F64, 0, 4, "onesweep" },    { ECH_I64, 0, 8, "onesweep" },
        { ECH_U32, 4, 0, "msd" },         { ECH_F32, 8, 0, "msd" },
        { ECH_I32, 16, 0, "msd" },        { ECH_U64, 4, 0, "msd" },
        { ECH_F64, 8, 0, "msd" },         { ECH_I64, 16, 0, "msd" },
        { ECH_U32, 0, 4, "msd" },         { ECH_F64, 0, 8, "msd" },
        { ECH_U64, 12, 0, "msd" },        { ECH_U32, 0, 8, "msd" },
        { ECH_U32, 0, 0, "block" },       { ECH_U32, 4, 0, "block" },
        { ECH_F64, 12, 0, "block" },      { ECH_F16, 0, 8, "block" },
        { ECH_U32, 0, 0, "samplesort" },  { ECH_F64, 0, 0, "samplesort" },
        { ECH_I32, 4, 0, "samplesort" },  { ECH_U64, 8, 0, "samplesort" },
        { ECH_F32, 3, 0, "samplesort" },  { ECH_I64, 0, 4, "samplesort" },
        { ECH_I16, 4, 0, "samplesort" },  { ECH_F16, 0, 8, "samplesort" },
        { ECH_U32, 0, 0, "low_memory" },  { ECH_U16, 0, 0, "low_memory" },
        { ECH_U64, 8, 0, "low_memory" },  { ECH_F32, 3, 0, "low_memory" },
        { ECH_F64, 0, 4, "low_memory" },  { ECH_U8, 0, 8, "low_memory" },
        { ECH_U32, 4, 0, "low_memory" },  { ECH_U64, 0, 0, "low_memory" },
        { ECH_I64, 16, 0, "low_memory" }, { ECH_F16, 4, 0, "low_memory" },
        { ECH_F32, 0, 0, "low_memory" },  { ECH_F32, 4, 0, "low_memory" },
    };
    static const size_t sizes[] = {
        1,          2,          63,         64,          65,
        1000,       3840,       4096,       4097,        6144,
        7000,       10241,      100003,     1 << 20,     3000017,
        9000000,    1 << 24,    268435456,  1000000007,  2147483647,
        4294967295, 4294967296, 4294967297, 10000000000, 1000000000000,
    };
    if (!test_begin("workspaces of sorts on a GPU")) return;
    size_t bytes; /* a build may have one or both kinds of device */
    bool simt = ech_sort_workspace("simt", 1, ECH_U8, 0, NULL, &bytes) == ECH_OK;
    const char *device = simt ? "simt" : "cuda";
    if (ech_sort_workspace(device, 1, ECH_U8, 0, NULL, &bytes) != ECH_OK) {
        test_skip("this build has neither CUDA nor the SIMT emulator");
        test_end();
        return;
    }
    for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i];
            bool block = strcmp(sorts[s].algorithm, "block") == 0;
            bool narrow = strcmp(sorts[s].algorithm, "msd") == 0 ||
                          strcmp(sorts[s].algorithm, "buckets") == 0 ||
                          strcmp(sorts[s].algorithm, "adaptive") == 0 || sorts[s].index_bytes == 4;
            bool sample = strcmp(sorts[s].algorithm, "samplesort") == 0;
            if (sample && n > 1 << 20) continue;
            if (sample && ech_dtype_bytes(sorts[s].dtype) == 2 && n > 1 << 16) continue;
            if ((block && n > 4096) || (narrow && n >= 4294967295u)) continue;
            u64 bytes_wanted = strcmp(sorts[s].algorithm, "low_memory") == 0
                                   ? low_memory(device, n, &sorts[s])
                                   : wanted(n, &sorts[s]);
            if (CHECK_INT(said(device, n, &sorts[s]), bytes_wanted)) continue;
            test_fail(__FILE__, __LINE__, "n is %zu, %s of %s with values of %zu, index %d", n,
                      sorts[s].algorithm, ech_dtype_name(sorts[s].dtype), sorts[s].value_bytes,
                      sorts[s].index_bytes);
            break;
        }
    test_end();
}

/* ---- No allocations ---- */

static void *count_allocate(void *user, size_t bytes, void *stream)
{
    (void)bytes;
    (void)stream;
    ++*(int *)user;
    return NULL;
}

static void no_release(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

static void nothing_allocated(ech_ctx *ctx, const struct sort *s, size_t n)
{
    if (!test_begin("no allocation(%s,n=%zu,v=%zu,index=%d,%s) on %s", ech_dtype_name(s->dtype), n,
                    s->value_bytes, s->index_bytes, s->algorithm, ech_device_name(ctx)))
        return;
    const ech_allocator counter = { sizeof(ech_allocator), count_allocate, no_release,
                                    &(int){ 0 } };
    int *calls = counter.user;
    size_t v = s->index_bytes ? (size_t)s->index_bytes : s->value_bytes,
           k = ech_dtype_bytes(s->dtype);
    struct buffer keys, values, work;
    ech_ctx *memory = NULL;
    CHECK_STATUS(ech_open(&memory, ech_device_name(ctx)), ECH_OK);
    buffer_make(&keys, memory, n * k, 0);
    buffer_make(&values, memory, n * v, 0);
    buffer_make(&work, memory, said(ech_device_name(ctx), n, s), 0);
    CHECK_STATUS(ech_sync(memory), ECH_OK);
    const ech_sort_options o = { .size = sizeof o,
                                 .algorithm = s->algorithm,
                                 .work = work.bytes ? work.data : NULL,
                                 .work_bytes = work.bytes };
    CHECK_STATUS(ech_set_allocator(ctx, &counter), ECH_OK);
    ech_status status = s->index_bytes ? ech_argsort(ctx, keys.data, values.data, n, s->dtype,
                                                     s->index_bytes == 4 ? ECH_U32 : ECH_U64, &o)
                        : v ? ech_sort_pairs(ctx, keys.data, values.data, keys.data, values.data, n,
                                             s->dtype, v, &o)
                            : ech_sort(ctx, keys.data, keys.data, n, s->dtype, &o);
    test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    CHECK_INT(*calls, 0);
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    buffer_check_guards(&work, "work");
    buffer_free(&keys);
    buffer_free(&values);
    buffer_free(&work);
    ech_close(memory);
    test_end();
}

/* ---- Little memory ---- */

/* Device keys with a memory limit that is too small for the usual workspace, down to the workspace
 * of "low_memory". With less memory nothing is written. The keys are a permutation. */
static void little_memory(ech_ctx *ctx)
{
    enum { MANY = 65537 };
    if (!test_begin("little memory on %s", ech_device_name(ctx))) return;
    const struct sort usual = { ECH_U32, 0, 0, NULL }, little = { ECH_U32, 0, 0, "low_memory" };
    size_t need = said(ech_device_name(ctx), MANY, &usual);
    size_t least = said(ech_device_name(ctx), MANY, &little);
    const size_t rooms[] = { need, need - 1, least, least - 1 };
    uint32_t *keys = malloc(MANY * sizeof *keys);
    struct buffer in, out;
    CHECK(keys != NULL && least < need / 2);
    for (uint32_t i = 0; keys && i < MANY; i++) keys[i] = (uint32_t)((uint64_t)i * 48271 % MANY);
    buffer_make(&in, ctx, MANY * sizeof *keys, 0);
    buffer_make(&out, ctx, MANY * sizeof *keys, 0);
    buffer_set(&in, keys);
    uint64_t held, peak;
    ech_memory_usage(ctx, 0, &held, NULL);
    for (int i = 0; i < 4 && keys; i++) {
        if (i == 1 && test_options.quick) continue; /* sorts as with the next limit */
        ech_memory_usage(ctx, 1, NULL, NULL);
        CHECK_STATUS(ech_set_memory_limit(ctx, held + rooms[i]), ECH_OK);
        ech_status status = ech_sort(ctx, in.data, out.data, MANY, ECH_U32, NULL);
        CHECK_STATUS(ech_set_memory_limit(ctx, 0), ECH_OK);
        ech_memory_usage(ctx, 0, NULL, &peak);
        CHECK_INT(status, i < 3 ? ECH_OK : ECH_ERR_MEMORY);
        CHECK_INT(peak - held, i == 0 ? need : i < 3 ? least : 0);
        buffer_get(&out, keys);
        for (uint32_t j = 0; j < MANY; j++)
            if (i < 3 ? keys[j] != j : keys[j] != 0x5C5C5C5C) {
                test_fail(__FILE__, __LINE__, "limit %d: key %u is %u", i, j, keys[j]);
                break;
            }
        memset(keys, 0x5C, MANY * sizeof *keys);
        buffer_set(&out, keys);
    }
    buffer_free(&in);
    buffer_free(&out);
    free(keys);
    test_end();
}

/* ---- Pages ---- */

enum { PAIRS = 180007, SMALL_PAIRS = 400009 };

struct numbered {
    uint64_t number, key;
};

/* In DIGITS, two digits differ, and few keys are frequent: the passes of all digits.  In EVEN, all
 * bits do; in FREQUENT, half of the keys have seven values: the bins of the first digit are sorted,
 * on the emulator also in so small an array.  For FREQUENT, values have 4 bytes. */
enum key_kind { DIGITS, EVEN, FREQUENT, KEY_KINDS };
static const char *const kind_names[] = { "few digits", "even keys", "frequent keys" };

static uint32_t key_at(enum key_kind kind, uint64_t i)
{
    const uint64_t h = i * 0x9e3779b97f4a7c15, r = h >> 40;
    const uint32_t even = (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9 >> 32);
    if (kind == EVEN) return even;
    if (kind == FREQUENT) return r % 2 ? even : (uint32_t)(r / 2 % 7) * 0x23456789;
    return (uint32_t)(r % 5 ? (r * r >> 32) % 65536 : r % 3 * 257);
}

static bool are_sorted(enum key_kind kind, size_t n, const uint32_t *keys,
                       const struct numbered *values)
{
    for (size_t i = 0; i < n; i++) {
        const struct numbered *v = &values[i];
        if (v->number >= n || v->key != keys[i] || key_at(kind, v->number) != keys[i]) return false;
        if (i && (keys[i] < keys[i - 1] || (keys[i] == keys[i - 1] && v->number <= v[-1].number)))
            return false;
    }
    return true;
}

/* A workspace for the minimum pool, for which windows would need less, and another sort more. */
static void in_pages(ech_ctx *ctx, bool in_place, enum key_kind kind)
{
    if (!test_begin("pages, %s, %s, on %s", in_place ? "in place" : "out of place",
                    kind_names[kind], ech_device_name(ctx)))
        return;
    struct buffer in[2], out[2], work, *to = in_place ? in : out;
    const size_t n = kind == FREQUENT ? SMALL_PAIRS : PAIRS;
    const size_t value_bytes = kind == FREQUENT ? sizeof(uint32_t) : sizeof(struct numbered);
    uint32_t *keys = malloc(n * sizeof *keys);
    uint32_t *numbers = malloc(n * sizeof *numbers); /* small values */
    struct numbered *values = malloc(n * sizeof *values);
    CHECK(keys && numbers && values);
    for (uint64_t i = 0; keys && values && i < n; i++)
        values[i] = (struct numbered){ i, keys[i] = key_at(kind, i) };
    buffer_make(&work, ctx, pages(n, 4, value_bytes, false), 0);
    for (int i = 0; i < 2; i++) {
        size_t bytes = n * (i ? value_bytes : sizeof *keys);
        buffer_make(&in[i], ctx, bytes, 0);
        buffer_make(&out[i], ctx, bytes, 0);
    }
    CHECK(work.bytes <
          said(ech_device_name(ctx), n, &(struct sort){ ECH_U32, value_bytes, 0, NULL }));
    if (keys && numbers && values) {
        const ech_sort_options o = {
            .size = sizeof o, .algorithm = "low_memory", .work = work.data, .work_bytes = work.bytes
        };
        for (size_t i = 0; i < n; i++) numbers[i] = (uint32_t)i;
        buffer_set(&in[0], keys);
        buffer_set(&in[1], kind == FREQUENT ? (void *)numbers : values);
        ech_status status = ech_sort_pairs(ctx, in[0].data, in[1].data, to[0].data, to[1].data, n,
                                           ECH_U32, value_bytes, &o);
        test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx);
        buffer_get(&to[0], keys);
        buffer_get(&to[1], kind == FREQUENT ? (void *)numbers : values);
        for (size_t i = 0; i < n && kind == FREQUENT; i++)
            values[i] = (struct numbered){ numbers[i], keys[i] };
        CHECK(are_sorted(kind, n, keys, values));
    }
    buffer_check_guards(&work, "work");
    for (int i = 0; i < 2; i++) {
        buffer_check_guards(&to[i], i ? "values" : "keys");
        buffer_free(&in[i]);
        buffer_free(&out[i]);
    }
    buffer_free(&work);
    free(keys);
    free(numbers);
    free(values);
    test_end();
}

/* ---- Bins in place ---- */

/* Keys without values, out of place.  SIXTEEN values of the first digit, and of the second one: it
 * divides the bins of the first digit into leaves.  ONE value of the second digit: the bins are
 * sorted by all digits in place.  Bins between splitters: HEAVY, where six of ten keys are equal;
 * ANDED, where few bits are set; FEW different keys.  TWO digits of 32-bit keys differ: all passes
 * in pages. */
enum bins_kind { BINS_SIXTEEN, BINS_ONE, BINS_HEAVY, BINS_ANDED, BINS_FEW, BINS_TWO, BINS_KINDS };
enum { BINS_KEYS = 400009 };

/* Bits of a key that are not those of a NaN. */
static uint64_t bins_key(enum bins_kind kind, uint64_t i)
{
    const uint64_t h = i * 0x9e3779b97f4a7c15, r = (h ^ h >> 29) * 0xbf58476d1ce4e5b9;
    if (kind == BINS_HEAVY && (r >> 20) % 10 < 6) return 0x3456789a3456789a;
    if (kind == BINS_ANDED) return (r & r << 7 & r << 19) >> 2;
    if (kind == BINS_FEW) return (r >> 20) % 300 * 0x123456789abcdef % 0x7000000000000000;
    if (kind == BINS_TWO) return r & 0x00ffff00ff00ff00;
    return r & (kind == BINS_SIXTEEN ? 0x8f0fffffffffffff
                : kind == BINS_ONE   ? 0x8f00ffffffffffff
                                     : 0xbfffffffffffffff);
}

static bool is_before(ech_dtype dtype, const void *keys, size_t i, size_t j)
{
    if (dtype == ECH_U32) return ((const uint32_t *)keys)[i] < ((const uint32_t *)keys)[j];
    return ((const double *)keys)[i] < ((const double *)keys)[j];
}

/* The sum of a function of each key, which depends on all of its bits. */
static uint64_t bins_sum(const void *keys, size_t n, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t u = bytes == 4 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
        sum += (u ^ u >> 31) * 0x9e3779b97f4a7c15 >> 16;
    }
    return sum;
}

static void in_bins(ech_ctx *ctx, ech_dtype dtype, enum bins_kind kind)
{
    static const char *const kinds[] = { "sixteen digits", "one digit", "heavy",
                                         "few bits",       "few keys",  "two digits" };
    if (!test_begin("bins in place, %s of %s, on %s", kinds[kind], ech_dtype_name(dtype),
                    ech_device_name(ctx)))
        return;
    const size_t n = BINS_KEYS, bytes = ech_dtype_bytes(dtype);
    struct buffer in, out, work;
    void *keys = malloc(n * bytes);
    buffer_make(&work, ctx, pages(n, bytes, 0, false), 0);
    buffer_make(&in, ctx, n * bytes, 0);
    buffer_make(&out, ctx, n * bytes, 0);
    CHECK(keys != NULL);
    for (size_t i = 0; keys && i < n; i++)
        if (bytes == 4)
            ((uint32_t *)keys)[i] = (uint32_t)(bins_key(kind, i) >> 32);
        else
            ((uint64_t *)keys)[i] = bins_key(kind, i);
    if (keys) {
        const ech_sort_options o = {
            .size = sizeof o, .algorithm = "low_memory", .work = work.data, .work_bytes = work.bytes
        };
        const uint64_t sum = bins_sum(keys, n, bytes);
        size_t falls = 0;
        buffer_set(&in, keys);
        ech_status status = ech_sort(ctx, in.data, out.data, n, dtype, &o);
        test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx);
        buffer_get(&out, keys);
        for (size_t i = 1; i < n; i++) falls += is_before(dtype, keys, i, i - 1);
        CHECK_INT(falls, 0);
        CHECK_INT(bins_sum(keys, n, bytes), sum);
    }
    buffer_check_guards(&work, "work");
    buffer_check_guards(&out, "keys");
    buffer_free(&in);
    buffer_free(&out);
    buffer_free(&work);
    free(keys);
    test_end();
}

int main(int argc, char **argv)
{
    static const struct sort sorts[] = {
        { ECH_U32, 0, 0, "block" },      { ECH_U32, 12, 0, "block" },
        { ECH_U8, 0, 0, "count" },       { ECH_U16, 0, 0, "count" },
        { ECH_U32, 0, 0, "msd" },        { ECH_F64, 0, 0, "msd" },
        { ECH_U32, 0, 0, "adaptive" },   { ECH_U64, 8, 0, "adaptive" },
        { ECH_F32, 0, 0, "onesweep" },   { ECH_U64, 8, 0, "onesweep" },
        { ECH_I32, 3, 0, "onesweep" },   { ECH_U32, 0, 4, "onesweep" },
        { ECH_U32, 4, 0, "msd" },        { ECH_F64, 0, 8, "msd" },
        { ECH_U64, 12, 0, "msd" },       { ECH_U32, 0, 0, "samplesort" },
        { ECH_F64, 0, 0, "samplesort" }, { ECH_I32, 4, 0, "samplesort" },
        { ECH_U64, 8, 0, "samplesort" }, { ECH_F32, 3, 0, "samplesort" },
        { ECH_I64, 0, 4, "samplesort" }, { ECH_U32, 0, 0, "low_memory" },
        { ECH_U64, 0, 4, "low_memory" },
    };
    test_main(argc, argv);
    char name[64];
    formulas();
    for (int i = 0; test_device(i, name, sizeof name); i++) {
        ech_ctx *ctx;
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "%s\n", ech_error(NULL));
            return 1;
        }
        /* Other sorts by bins in place take 2 to 60 s each on the emulator. */
        const bool slow = strcmp(name, "simt") == 0 && test_options.quick;
        for (size_t s = 0; s < sizeof sorts / sizeof *sorts && !test_is_cpu(ctx); s++)
            nothing_allocated(ctx, &sorts[s], s < 2 ? 4003 : 20011);
        if (!test_is_cpu(ctx)) little_memory(ctx);
        if (!test_is_cpu(ctx)) in_pages(ctx, true, DIGITS);
        for (int k = 0; k < KEY_KINDS && !test_is_cpu(ctx); k++)
            if (k != FREQUENT || !slow) in_pages(ctx, false, (enum key_kind)k);
        for (int k = 0; k < BINS_KINDS && !test_is_cpu(ctx); k++) {
            if (!slow || k == BINS_SIXTEEN) in_bins(ctx, ECH_U32, (enum bins_kind)k);
            if (!slow) in_bins(ctx, ECH_F64, (enum bins_kind)k);
        }
        ech_close(ctx);
    }
    return test_finish();
}
