/*
 * test_columns.c - ech_argsort_columns(), compared with an oracle, on every device and with every
 * algorithm.
 *
 *     test_columns                                     every case on every device
 *     test_columns --device simt --quick               some of the cases, only small ones
 *     test_columns 'columns(f32+i64dn,n=5000'          cases with this prefix
 *
 * The columns of a case are a text: dtypes separated by +, each followed by letters: d descending,
 * t total order, n with nulls, N with nulls first, s with a stride, also at odd addresses.
 * bytes16, int16 and uint16 are strings and integers of 16 bytes.  The oracle sorts by the last
 * column first, with the merge sort of oracle.c, or qsort() of strings and integers; nulls are
 * separated before each sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, COLUMNS = 16, QUICK_ROWS = 6000 };

struct columns_case {
    const char *columns;
    size_t n;
    const char *dist; /* "random", "few", "equal" */
    ech_dtype index;
};

/* ---- The cases ---- */

static const char *const tables[] = {
    /* one column, and keys of 8 to 64 bits */
    "i8",
    "u16d",
    "f32",
    "f64dt",
    "u8n",
    "u8N",
    "f16dn",
    "f32N",
    "i8+u8",
    "bool+i16n",
    "u16+bf16d",
    "i32+f32d",
    "f32d+i16N+u8",
    "i16+u16+f16t+bf16",
    "u32d+i8n+i8dN+u8",
    "i64d",
    /* of 65 to 128 bits: words that begin and end within columns */
    "i64n",
    "f64N",
    "i32n+f32N",
    "f32+i64dn",
    "i64+i64",
    "f64+u64d",
    "u8+f64+u8d",
    "i32+i32+i32",
    "u64dt+bf16N",
    "i8n+u8n+i64N",
    /* of more words */
    "f64+i64N+f64dt",
    "u64N+f64n+i64dn+u8",
    "f32n+u64+f32N+i64d+u8+f16",
    "u8+i8+u16+i16+u32+i32+u64+i64+f16+bf16+f32+f64+u8n+i64N+f64d+f32dt",
    "f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n+f64n",
};
static const char *const wide[] = {
    /* strings, integers of other widths, strides */
    "bytes1",
    "bytes8dn",
    "bytes16",
    "bytes13N+u8",
    "u16s+bytes3ds",
    "int16",
    "uint16dn",
    "int3s+uint9",
    "f32s",
    "i64ns+f64ds+u16s",
    "u32+bytes20s+int24dN",
    "int1d+uint1+int2+uint8d",
    "bytes64+f32",
    "bytes496+int16ds",
};
enum { WIDE = sizeof wide / sizeof *wide };
enum { TABLES = sizeof tables / sizeof *tables };

static void case_id(const struct columns_case *c, char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "columns(%s,n=%zu,dist=%s,index=%s)", c->columns, c->n, c->dist,
             ech_dtype_name(c->index));
}

static void cases(void (*run)(const struct columns_case *))
{
    static const size_t sizes[] = { 0,    1,    2,    3,    7,     16,    17,
                                    31,   32,   33,   1023, 1024,  1025,  4095,
                                    4096, 4097, 5003, 8193, 20011, 70001, 300007 };
    static const char *const dists[] = { "random", "few", "equal", "first", "pairs" };
    for (size_t t = 0; t < TABLES + WIDE; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t d = 0; d < 5; d++) {
                struct columns_case c = { t < TABLES ? tables[t] : wide[t - TABLES], sizes[s],
                                          dists[d], ECH_U64 };
                if (c.n < 3 && d) continue;
                if (c.n > 50000 && (t + s + d) % 4) continue;
                if (strstr(c.columns, "496") && c.n > 5003) continue;
                c.index = index_dtype(t + 3 * s + 7 * d, c.n);
                run(&c);
            }
}

/* ---- Tables ---- */

struct column {
    ech_sort_column options; /* data and validity: on the host */
    char *data;
    size_t width, stride;
    uint8_t *validity;
    size_t offset, validity_bytes; /* offset: of the first bit */
};

struct table {
    struct column column[COLUMNS];
    size_t count;
};

static ech_dtype dtype_named(const char *text, size_t length)
{
    for (int t = ECH_I8; t <= ECH_F64; t++)
        if (strlen(ech_dtype_name((ech_dtype)t)) == length &&
            strncmp(text, ech_dtype_name((ech_dtype)t), length) == 0)
            return (ech_dtype)t;
    return ECH_U8; /* "bool" */
}

static ech_key_kind kind_named(const char *text, size_t *length)
{
    static const char *const names[] = { "", "bytes", "uint", "int" };
    for (int kind = ECH_KEY_BYTES; kind <= ECH_KEY_SIGNED; kind++)
        if (strncmp(text, names[kind], strlen(names[kind])) == 0) {
            *length = strlen(names[kind]);
            return (ech_key_kind)kind;
        }
    return ECH_KEY_DTYPE;
}

/* Zeros, ends of the range, and for floats NaN of both signs and infinities. */
static uint64_t special(ech_dtype t, uint64_t which)
{
    static const int fractions[] = { 10, 7, 23, 52 };
    const int width = 8 * (int)ech_dtype_bytes(t);
    const uint64_t top = (uint64_t)1 << (width - 1);
    const uint64_t inf = t >= ECH_F16 ? top - ((uint64_t)1 << fractions[t - ECH_F16]) : top - 1;
    const uint64_t some[] = { 0, top, inf, inf | top, inf + 1, (inf + 1) | top, top - 1, 1 };
    return some[which % 8];
}

/* The element of row i.  few: 8 different ones; first: the first column is equal in all rows;
 * pairs: the first column is equal in pairs of rows. */
static uint64_t element(const struct columns_case *c, size_t column, ech_dtype dtype, size_t i,
                        struct rng *rng)
{
    const uint64_t u = rng_next(rng);
    if (strcmp(c->dist, "equal") == 0) return special(dtype, column);
    if (strcmp(c->dist, "first") == 0 && column == 0) return 5;
    if (strcmp(c->dist, "pairs") == 0 && column == 0) return i / 2 * 40503 % (c->n / 2 + 1);
    if (strcmp(c->dist, "few") == 0 || u >> 61 == 0) return special(dtype, u);
    return rng_next(rng);
}

/* Strings and integers that differ in few bytes, or not at all. */
static void make_wide(const struct columns_case *c, size_t at, size_t i, struct rng *rng,
                      unsigned char *to, size_t width)
{
    const uint64_t u = element(c, at, ECH_U64, i, rng);
    memset(to, u & 1 ? 0xFF : 0, width);
    memcpy(to + rng_below(rng, width), &u, 1);
    if (width >= 8 && u & 2) memcpy(to + width - 8, &u, 8);
    if (width < 8) memcpy(to, &u, width);
}

static bool make_column(const struct columns_case *c, size_t at, struct rng *rng, struct column *k)
{
    k->width = k->options.width_bytes;
    if (k->options.kind == ECH_KEY_DTYPE) k->width = ech_dtype_bytes(k->options.dtype);
    k->stride = k->width;
    if (k->options.stride_bytes) k->stride = k->options.stride_bytes = k->width + rng_below(rng, 9);
    k->data = malloc(c->n * k->stride + 1);
    if (!k->data) return false;
    memset(k->data, 0x5A, c->n * k->stride + 1);
    for (size_t i = 0; i < c->n; i++) {
        char *to = k->data + i * k->stride;
        const uint64_t u = element(c, at, k->options.dtype, i, rng);
        if (k->options.kind == ECH_KEY_DTYPE)
            memcpy(to, &u, k->width);
        else
            make_wide(c, at, i, rng, (unsigned char *)to, k->width);
    }
    if (!k->options.validity) return true;
    k->offset = rng_below(rng, 30);
    k->validity_bytes = (k->offset + c->n + 7) / 8;
    k->validity = malloc(k->validity_bytes + 1);
    if (!k->validity) return false;
    for (size_t i = 0; i < k->validity_bytes; i++)
        k->validity[i] = (uint8_t)(rng_next(rng) | rng_next(rng));
    if (strcmp(c->dist, "equal") == 0) memset(k->validity, at % 2 ? 0xFF : 0, k->validity_bytes);
    return true;
}

static bool make_table(const struct columns_case *c, uint64_t seed, struct table *t)
{
    struct rng rng = { seed };
    memset(t, 0, sizeof *t);
    for (const char *text = c->columns; *text; t->count++) {
        static const uint8_t some = 0;
        struct column *k = &t->column[t->count];
        size_t length = strcspn(text, "+dtnN");
        if (strncmp(text, "bool", 4) == 0) length = 4;
        k->options.size = sizeof k->options;
        k->options.kind = kind_named(text, &length);
        k->options.dtype = dtype_named(text, length);
        if (k->options.kind != ECH_KEY_DTYPE) {
            char *end;
            k->options.width_bytes = strtoul(text + length, &end, 10);
            length = (size_t)(end - text);
        }
        for (text += length; *text && *text != '+'; text++) {
            if (*text == 'd') k->options.descending = 1;
            if (*text == 't') k->options.order = ECH_ORDER_TOTAL;
            if (*text == 'n' || *text == 'N') k->options.validity = &some;
            if (*text == 'N') k->options.nulls_first = 1;
            if (*text == 's') k->options.stride_bytes = 1;
        }
        if (*text == '+') text++;
        if (!make_column(c, t->count, &rng, k)) return false;
    }
    return true;
}

static void free_table(struct table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->column[i].data);
        free(t->column[i].validity);
    }
}

/* ---- The oracle ---- */

static bool is_null(const struct column *k, size_t row)
{
    const size_t bit = k->offset + row;
    return k->validity && !(k->validity[bit / 8] >> bit % 8 & 1);
}

/* An element in the order of memcmp(), and its place, for qsort(). */
static size_t wide_bytes;

static int compare_wide(const void *a, const void *b)
{
    const int order = memcmp(a, b, wide_bytes);
    if (order) return order;
    uint32_t x, y;
    memcpy(&x, (const char *)a + wide_bytes, 4);
    memcpy(&y, (const char *)b + wide_bytes, 4);
    return x < y ? -1 : 1;
}

static bool order_wide(const struct column *k, size_t n, const char *keys, uint32_t *order)
{
    const size_t each = k->width + 4;
    unsigned char *all = malloc(n * each + 1);
    if (!all) return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char *to = all + i * each;
        const uint32_t place = (uint32_t)i;
        for (size_t b = 0; b < k->width; b++) {
            const bool string = k->options.kind == ECH_KEY_BYTES;
            to[b] = (unsigned char)keys[i * k->width + (string ? b : k->width - 1 - b)];
        }
        if (k->options.kind == ECH_KEY_SIGNED) to[0] ^= 0x80;
        for (size_t b = 0; k->options.descending && b < k->width; b++) to[b] ^= 0xFF;
        memcpy(to + k->width, &place, 4);
    }
    wide_bytes = k->width;
    qsort(all, n, each, compare_wide);
    for (size_t i = 0; i < n; i++) memcpy(&order[i], all + i * each + k->width, 4);
    free(all);
    return true;
}

/* Sorts rows by one column, stably. */
static bool order_by(const struct column *k, size_t n, uint32_t *rows)
{
    const size_t bytes = k->width;
    uint32_t *valid = malloc((n + 1) * 4), *order = malloc((n + 1) * 4), *nulls = rows;
    char *keys = malloc(n * bytes + 1);
    size_t some = 0, none = 0;
    bool done = valid && order && keys;
    for (size_t i = 0; done && i < n; i++)
        if (is_null(k, rows[i]))
            nulls[none++] = rows[i];
        else
            valid[some++] = rows[i];
    for (size_t i = 0; done && i < some; i++)
        memcpy(keys + i * bytes, k->data + valid[i] * k->stride, bytes);
    const struct sort_case one = { .dtype = k->options.dtype,
                                   .n = some,
                                   .index_bytes = 4,
                                   .descending = k->options.descending,
                                   .total = k->options.order == ECH_ORDER_TOTAL };
    if (k->options.kind == ECH_KEY_DTYPE)
        done = done && oracle_order(&one, keys, order);
    else
        done = done && order_wide(k, some, keys, order);
    if (done) {
        const size_t first = k->options.nulls_first ? none : 0;
        memmove(rows + (k->options.nulls_first ? 0 : some), nulls, none * 4);
        for (size_t i = 0; i < some; i++) rows[first + i] = valid[order[i]];
    }
    free(valid);
    free(order);
    free(keys);
    return done;
}

static bool oracle(const struct table *t, size_t n, uint32_t *rows)
{
    for (size_t i = 0; i < n; i++) rows[i] = (uint32_t)i;
    for (size_t i = t->count; i-- > 0;)
        if (!order_by(&t->column[i], n, rows)) return false;
    return true;
}

/* ---- One case on one device ---- */

struct run {
    const struct columns_case *c;
    ech_ctx *ctx;
    ech_sort_column columns[COLUMNS];
    struct buffer data[COLUMNS], validity[COLUMNS], out, work;
    size_t count;
};

/* Each array is in host or in GPU memory, and as badly aligned as it may be. */
static bool make_arrays(struct run *r, const struct table *t, struct rng *rng)
{
    const bool cpu = test_is_cpu(r->ctx);
    const unsigned sides = (unsigned)rng_below(rng, 3); /* all on the device; on the host; mixed */
    for (r->count = 0; r->count < t->count; r->count++) {
        const struct column *k = &t->column[r->count];
        const bool any = k->options.kind != ECH_KEY_DTYPE || k->options.stride_bytes;
        const size_t i = r->count, bytes = any ? 1 : k->width;
        const size_t used = r->c->n ? (r->c->n - 1) * k->stride + k->width : 0;
        ech_ctx *place = cpu || sides == 1 || (sides == 2 && rng_below(rng, 2)) ? NULL : r->ctx;
        r->columns[i] = k->options;
        if (!buffer_make(&r->data[i], place, used, bytes * rng_below(rng, 5)) ||
            !buffer_set(&r->data[i], k->data))
            return false;
        r->columns[i].data = r->data[i].data;
        if (!k->validity) continue;
        if (!buffer_make(&r->validity[i], place, k->validity_bytes, rng_below(rng, 9)) ||
            !buffer_set(&r->validity[i], k->validity))
            return false;
        r->columns[i].validity = (const uint8_t *)r->validity[i].data;
        r->columns[i].validity_offset = k->offset;
    }
    const size_t bytes = ech_dtype_bytes(r->c->index);
    return buffer_make(&r->out, cpu || sides == 1 ? NULL : r->ctx, r->c->n * bytes,
                       bytes * rng_below(rng, 3));
}

static void free_arrays(struct run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        buffer_check_guards(&r->data[i], "data");
        buffer_free(&r->data[i]);
        if (r->validity[i].base) {
            buffer_check_guards(&r->validity[i], "validity");
            buffer_free(&r->validity[i]);
        }
    }
    if (r->out.base) buffer_check_guards(&r->out, "indices"), buffer_free(&r->out);
}

static ech_status call(struct run *r, const ech_columns_options *o)
{
    return ech_argsort_columns(r->ctx, r->columns, r->out.data, r->c->n, r->count, r->c->index, o);
}

static void compare(struct run *r, const uint32_t *wanted)
{
    const size_t n = r->c->n, bytes = ech_dtype_bytes(r->c->index);
    char *got = malloc(n * bytes + 1);
    if (CHECK(got) && CHECK_STATUS(ech_sync(r->ctx), ECH_OK) && buffer_get(&r->out, got))
        for (size_t i = 0; i < n; i++) {
            uint64_t row = 0;
            memcpy(&row, got + i * bytes, bytes);
            if (row == wanted[i]) continue;
            test_fail(__FILE__, __LINE__, "indices[%zu] is %llu instead of %u", i,
                      (unsigned long long)row, wanted[i]);
            break;
        }
    free(got);
}

/* A workspace of exactly the size that is needed; one byte less is rejected. */
static void run_with_work(struct run *r, ech_columns_options o, const uint32_t *wanted)
{
    size_t bytes = 0;
    if (!CHECK_STATUS(ech_argsort_columns_workspace(ech_device_name(r->ctx), r->columns, r->c->n,
                                                    r->count, r->c->index, &o, &bytes),
                      ECH_OK) ||
        !bytes || !buffer_make(&r->work, test_is_cpu(r->ctx) ? NULL : r->ctx, bytes, 0))
        return;
    o.work = r->work.data;
    o.work_bytes = bytes - 1;
    CHECK_STATUS(call(r, &o), ECH_ERR_MEMORY);
    o.work_bytes = bytes;
    if (test_check_status(__FILE__, __LINE__, "with work", call(r, &o), ECH_OK, r->ctx))
        compare(r, wanted);
    buffer_check_guards(&r->work, "work");
    buffer_free(&r->work);
}

static uint32_t bits_of(const struct table *t)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < t->count; i++)
        bits += 8 * (uint32_t)t->column[i].width + (t->column[i].validity != NULL);
    return bits;
}

/* Whether the GPU's algorithm "block" can sort the rows: not one column that is its own key. */
static bool fits_block(const struct columns_case *c, const struct table *t)
{
    const struct column *k = &t->column[0];
    const bool plain = t->count == 1 && !k->validity && !k->options.stride_bytes &&
                       k->options.kind == ECH_KEY_DTYPE;
    return c->n <= 4096 && bits_of(t) <= 256 && !plain;
}

static void run_on(ech_ctx *ctx, const struct columns_case *c, const struct table *t,
                   const uint32_t *wanted, uint64_t seed)
{
    static const char *const algorithms[] = { NULL, "pack", "refine", "lsd", "block" };
    static const int threads[] = { 1, 2, 7 };
    struct rng rng = { seed };
    for (int a = 0; a < 5 && !test_failed(); a++) {
        struct run r = { .c = c, .ctx = ctx };
        ech_columns_options o = { .size = sizeof o, .algorithm = algorithms[a] };
        const bool has = a == 1 ? bits_of(t) <= 64 : a != 4 || fits_block(c, t);
        if ((a == 2) != test_is_cpu(ctx) && (a == 2 || a == 4)) continue;
        if (test_is_cpu(ctx)) ech_set_threads(ctx, threads[rng_below(&rng, 3)]);
        if (make_arrays(&r, t, &rng)) {
            const ech_status status = call(&r, &o);
            if (!has)
                CHECK(status == ECH_ERR_ARG && strstr(ech_error(ctx), "by these columns"));
            else if (test_check_status(__FILE__, __LINE__, "the call", status, ECH_OK, ctx))
                compare(&r, wanted);
            if (has && rng_below(&rng, 2)) run_with_work(&r, o, wanted);
        }
        free_arrays(&r);
    }
    if (test_is_cpu(ctx)) ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct columns_case *c)
{
    char id[256];
    struct table t = { .count = 0 };
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!test_drawn(seed, c->n <= QUICK_ROWS)) return;
    if (!test_begin("%s", id)) return;
    uint32_t *wanted = malloc((c->n + 1) * 4);
    const bool made = make_table(c, seed, &t) && wanted && oracle(&t, c->n, wanted);
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        if (CHECK(made)) run_on(contexts[i], c, &t, wanted, seed);
        test_end();
    }
    free_table(&t);
    free(wanted);
}

/* ---- Calls that fail ---- */

static void bad(ech_ctx *ctx)
{
    static uint32_t key[9], index[9];
    static const uint8_t validity[4];
    const void *odd = (const char *)key + 2;
    ech_sort_column k[2] = { { .size = sizeof *k, .data = key, .dtype = ECH_U32 },
                             { .size = sizeof *k, .data = key, .dtype = ECH_F32 } };
    ech_columns_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
    index[0] = 77;
#define REFUSED(part, ...)                                                                         \
    CHECK_FAILS(ctx, ech_argsort_columns(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_argsort_columns(NULL, k, index, 8, 2, ECH_U32, NULL), ECH_ERR_ARG, "ctx");
    REFUSED("columns is NULL", NULL, index, 8, 2, ECH_U32, NULL);
    REFUSED("column_count is 0", k, index, 8, 0, ECH_U32, NULL);
    REFUSED("column_count is 17", k, index, 8, 17, ECH_U32, NULL);
    REFUSED("indices is NULL", k, NULL, 8, 2, ECH_U32, NULL);
    REFUSED("indices is not aligned", k, (void *)odd, 4, 1, ECH_U32, NULL);
    REFUSED("columns[0].data and indices overlap", k, key + 1, 8, 2, ECH_U32, NULL);
    REFUSED("index_dtype", k, index, 8, 2, ECH_U16, NULL);
    REFUSED("n is", k, index, ((size_t)1 << 32) + 1, 2, ECH_U32, NULL);
    REFUSED("n is", k, index, SIZE_MAX / 2, 2, ECH_U64, NULL);
    k[1].data = NULL;
    REFUSED("columns[1].data is NULL", k, index, 8, 2, ECH_U32, NULL);
    k[1].data = odd;
    REFUSED("columns[1].data is not aligned", k, index, 8, 2, ECH_U32, NULL);
    k[1].data = key, k[1].dtype = (ech_dtype)12;
    REFUSED("columns[1].dtype", k, index, 8, 2, ECH_U32, NULL);
    k[1].dtype = ECH_F32, k[1].descending = 2;
    REFUSED("columns[1].descending", k, index, 8, 2, ECH_U32, NULL);
    k[1].descending = 0, k[1].order = (ech_order)7;
    REFUSED("columns[1].order", k, index, 8, 2, ECH_U32, NULL);
    k[1].order = ECH_ORDER_NAN_LAST, k[1].nulls_first = -1;
    REFUSED("columns[1].nulls_first", k, index, 8, 2, ECH_U32, NULL);
    k[1].nulls_first = 0, k[1].validity_offset = 1;
    REFUSED("columns[1].validity is NULL", k, index, 8, 2, ECH_U32, NULL);
    k[1].validity = validity, k[1].validity_offset = SIZE_MAX - 8;
    REFUSED("columns[1].validity_offset", k, index, 8, 2, ECH_U32, NULL);
    k[1].validity = (const uint8_t *)(index + 7), k[1].validity_offset = 0;
    REFUSED("columns[1].validity and indices overlap", k, index, 8, 2, ECH_U32, NULL);
    k[1].validity = NULL, k[1].size = 7;
    REFUSED("columns[1]", k, index, 8, 2, ECH_U32, NULL);
    k[1].size = sizeof *k - 8;
    REFUSED("columns[1].size", k, index, 8, 2, ECH_U32, NULL);
    k[1].size = sizeof *k, k[1].kind = (ech_key_kind)4;
    REFUSED("columns[1].kind is 4", k, index, 8, 2, ECH_U32, NULL);
    k[1].kind = ECH_KEY_BYTES;
    REFUSED("columns[1].width_bytes is 0", k, index, 8, 2, ECH_U32, NULL);
    k[1].width_bytes = 513;
    REFUSED("columns[1].width_bytes is 513", k, index, 8, 2, ECH_U32, NULL);
    k[1].width_bytes = 509;
    REFUSED("columns[1].width_bytes is 509", k, index, 8, 2, ECH_U32, NULL);
    k[1].width_bytes = 4, k[1].stride_bytes = 3;
    REFUSED("columns[1].stride_bytes is 3", k, index, 8, 2, ECH_U32, NULL);
    k[1].stride_bytes = SIZE_MAX / 8;
    REFUSED("columns[1].stride_bytes", k, index, 9, 2, ECH_U32, NULL);
    k[1].stride_bytes = 0, k[1].kind = ECH_KEY_DTYPE, k[1].width_bytes = 8;
    REFUSED("columns[1].width_bytes is 8, but", k, index, 8, 2, ECH_U32, NULL);
    k[1].width_bytes = 4, o.algorithm = "slow";
    REFUSED("unknown algorithm \"slow\"", k, index, 8, 2, ECH_U32, &o);
    REFUSED("unknown algorithm \"slow\"", k, index, 0, 2, ECH_U32, &o);
    o.algorithm = NULL, o.work_bytes = 1;
    REFUSED("work", k, index, 8, 2, ECH_U32, &o);
    CHECK_FAILS(NULL, ech_argsort_columns_workspace("cpu", k, 8, 2, ECH_U32, NULL, NULL),
                ECH_ERR_ARG, "bytes");
    CHECK_FAILS(NULL, ech_argsort_columns_workspace("cpu", k, 8, 0, ECH_U32, NULL, &bytes),
                ECH_ERR_ARG, "column_count");
#undef REFUSED
    CHECK_INT(index[0], 77);
    k[0].data = k[1].data = NULL;
    CHECK_STATUS(ech_argsort_columns(ctx, k, NULL, 0, 2, ECH_U32, NULL), ECH_OK);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
