/*
 * test_sparse.c - sparse matrices, compared with an oracle, on every device; invalid arguments.
 *
 *     test_sparse                                every case on every device
 *     test_sparse --device simt --quick          one of seven cases, only small ones
 *     test_sparse 'spmv(i32,f64,five'            cases with this prefix
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, NAME_BYTES = 64 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* ---- Products with vectors ---- */

struct spmv_case {
    ech_dtype index, dtype;
    const char *lens, *dist;
    size_t rows, cols, shift;
    double alpha, beta;
    size_t n, gap;  /* columns of x and y, and padding of their rows; 0 and 0: ech_spmv() */
    unsigned where; /* bits for offsets, columns, values, x and y: 1 for host memory */
};

struct spmv_data {
    struct sparse m;
    size_t n, x_stride, y_stride, x_count, y_count;
    double *x, *y, *wanted;
};

static size_t count_of(size_t rows, size_t n, size_t stride)
{
    return rows ? (rows - 1) * stride + n : 0;
}

static bool spmv_make(const struct spmv_case *c, struct spmv_data *d, uint64_t seed)
{
    struct rng rng = { seed + 1 };
    *d = (struct spmv_data){ 0 };
    if (!sparse_make(&d->m, c->rows, c->cols, c->index, c->dtype, c->lens, c->dist, seed))
        return false;
    d->n = c->n ? c->n : 1;
    d->x_stride = d->n + c->gap;
    d->y_stride = d->n + 2 * c->gap;
    d->x_count = count_of(c->cols, d->n, d->x_stride);
    d->y_count = count_of(c->rows, d->n, d->y_stride);
    d->x = calloc(d->x_count + 1, sizeof *d->x);
    d->y = calloc(d->y_count + 1, sizeof *d->y);
    d->wanted = calloc(d->y_count + 1, sizeof *d->wanted);
    if (!CHECK(d->x && d->y && d->wanted)) return false;
    for (size_t i = 0; i < d->x_count; i++) d->x[i] = sparse_number(&rng, c->dist, c->dtype);
    for (size_t i = 0; i < d->y_count; i++) /* with beta 0, NaN in y must have no effect */
        d->y[i] = c->beta == 0 ? (double)NAN : sparse_number(&rng, c->dist, c->dtype);
    for (size_t i = 0; i < d->y_count; i++) d->wanted[i] = d->y[i];
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < d->n; j++) {
            const size_t at = i * d->y_stride + j;
            d->wanted[at] =
                sparse_row(&d->m, i, c->alpha, d->x + j, d->x_stride, c->beta, d->y[at]);
        }
    return true;
}

static void spmv_free(struct spmv_data *d)
{
    sparse_free(&d->m);
    free(d->x);
    free(d->y);
    free(d->wanted);
}

/* own: with a workspace of the caller, otherwise of the context. */
static void spmv_once(ech_ctx *ctx, const struct spmv_case *c, const struct spmv_data *d, bool own)
{
    struct sparse_copy a = { 0 };
    struct buffer x = { 0 }, y = { 0 }, work = { 0 };
    ech_csr_options o = { .size = sizeof o };
    size_t bytes = 0;
    bool made =
        sparse_copy_make(&a, ctx, &d->m, c->shift, c->where) &&
        numbers_make(&x, sparse_place(ctx, c->where, 3), d->x, d->x_count, c->dtype, c->shift) &&
        numbers_make(&y, sparse_place(ctx, c->where, 4), d->y, d->y_count, c->dtype, c->shift);
    if (made && own) {
        const ech_csr_call call = c->n ? ECH_CSR_CALL_SPMM : ECH_CSR_CALL_SPMV;
        CHECK_STATUS(ech_csr_workspace(ech_device_name(ctx), call, &a.csr, c->n, NULL, &bytes),
                     ECH_OK);
        made = buffer_make(&work, test_is_cpu(ctx) ? NULL : ctx, bytes, 0);
        o.work = work.data;
        o.work_bytes = bytes;
    }
    if (made) {
        const ech_csr_options *options = own ? &o : NULL;
        if (c->n)
            CHECK_STATUS(ech_spmm(ctx, c->alpha, &a.csr, c->n, x.data, d->x_stride, c->beta, y.data,
                                  d->y_stride, options),
                         ECH_OK);
        else
            CHECK_STATUS(ech_spmv(ctx, c->alpha, &a.csr, x.data, c->beta, y.data, options), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        numbers_are(&y, d->wanted, d->y_count, c->dtype, "y");
        numbers_are(&x, d->x, d->x_count, c->dtype, "x");
        sparse_copy_is(&a, &d->m, "a");
        if (own) buffer_check_guards(&work, "work");
    }
    sparse_copy_free(&a);
    if (x.base) buffer_free(&x);
    if (y.base) buffer_free(&y);
    if (work.base) buffer_free(&work);
}

static void spmv_device(ech_ctx *ctx, const struct spmv_case *c, const struct spmv_data *d)
{
    static const int threads[] = { 1, 2, 7 };
    if (!test_is_cpu(ctx)) {
        spmv_once(ctx, c, d, false);
        spmv_once(ctx, c, d, true);
        return;
    }
    for (int t = 0; t < 3; t++) {
        CHECK_STATUS(ech_set_threads(ctx, threads[t]), ECH_OK);
        spmv_once(ctx, c, d, t == 1);
    }
    CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
}

static void run_spmv(const struct spmv_case *c)
{
    static unsigned number;
    struct spmv_data d;
    char id[256];
    snprintf(id, sizeof id,
             "%s(%s,%s,%s,rows=%zu,cols=%zu,n=%zu,gap=%zu,alpha=%g,beta=%g,%s,shift=%zu,%u)",
             c->n ? "spmm" : "spmv", ech_dtype_name(c->index), ech_dtype_name(c->dtype), c->lens,
             c->rows, c->cols, c->n, c->gap, c->alpha, c->beta, c->dist, c->shift, c->where);
    const bool drawn = test_drawn(number++, c->rows * (c->n + 1) <= 60000);
    if (!drawn && test_options.n_ids == 0) return;
    if (!test_begin("%s", id)) return;
    if (spmv_make(c, &d, hash_text(id)))
        for (int i = 0; i < n_contexts; i++) spmv_device(contexts[i], c, &d);
    spmv_free(&d);
    test_end();
}

/* Each size in each type, with varying factors, memory locations and alignments. */
static void run_spmv_cases(void)
{
    static const struct {
        const char *lens;
        size_t rows, cols;
    } shapes[] = {
        { "empty", 0, 0 },      { "empty", 1, 1 },      { "empty", 3, 0 },     { "empty", 0, 5 },
        { "1", 1, 1 },          { "31", 1, 40 },        { "32", 1, 32 },       { "33", 1, 70 },
        { "64", 2, 64 },        { "65", 3, 1000 },      { "1000", 1, 1000 },   { "256", 1, 300 },
        { "257", 9, 400 },      { "2303", 1, 5000 },    { "2304", 5, 3000 },   { "4097", 2, 100 },
        { "empty", 5000, 7 },   { "five", 1009, 1009 }, { "five", 409, 3000 }, { "7", 341, 341 },
        { "16", 257, 257 },     { "32", 129, 1009 },    { "63", 65, 65 },      { "mixed", 40, 77 },
        { "mixed", 63, 20011 }, { "gaps", 5003, 300 },  { "one", 20000, 900 }, { "last", 2047, 31 },
        { "power", 200, 200 },  { "1023", 33, 2000 },   { "5", 20000, 20000 }, { "1000", 40, 4000 },
    };
    static const double factors[] = { 1, 0, -0.75, 1.1, 3 };
    unsigned bits = 0;
    for (int type = 0; type < 4; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++, bits++) {
            struct spmv_case c = { .index = type & 1 ? ECH_I64 : ECH_I32,
                                   .dtype = type & 2 ? ECH_F64 : ECH_F32,
                                   .lens = shapes[i].lens,
                                   .rows = shapes[i].rows,
                                   .cols = shapes[i].cols,
                                   .dist = bits % 3 ? "small" : "special",
                                   .alpha = 1,
                                   .where = bits % 5 == 0 ? bits / 5 * 7 % 32 : 0 };
            run_spmv(&c);
            c.alpha = factors[bits % 5];
            c.beta = factors[(bits / 5 + 1) % 5];
            c.shift = bits % 4;
            c.dist = bits % 2 ? "small" : "special";
            run_spmv(&c);
        }
    static const struct spmv_case large[] = {
        { ECH_I32, ECH_F64, "one", "small", 1000003, 5000, 1, 1, 0, 0, 0, 0 },
        { ECH_I64, ECH_F32, "last", "special", 200000, 70000, 0, -1, 2, 0, 0, 0 },
        { ECH_I32, ECH_F32, "five", "small", 300007, 300007, 3, 1, 1, 0, 0, 0 },
        { ECH_I64, ECH_F64, "gaps", "special", 1000000, 1000, 0, 1, 0, 0, 0, 0 },
        { ECH_I32, ECH_F64, "power", "small", 50000, 50000, 0, 1, 0, 0, 0, 0 },
        { ECH_I32, ECH_F32, "1000", "small", 3000, 100000, 1, 2, 0, 0, 0, 0 },
        { ECH_I32, ECH_F64, "mixed", "special", 7000, 100000, 1, 2, 0.5, 0, 0, 0 },
        { ECH_I64, ECH_F64, "16", "special", 20011, 140009, 1, 2, 0.5, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) run_spmv(&large[i]);
}

/* Numbers of columns near a strip and powers of two; the matrices are small, for the emulator. */
static void run_spmm_cases(void)
{
    static const struct {
        const char *lens;
        size_t rows, cols;
    } shapes[] = {
        { "mixed", 30, 77 }, { "five", 200, 200 }, { "2304", 2, 900 }, { "gaps", 1500, 100 },
        { "one", 3000, 80 }, { "empty", 5, 5 },    { "257", 12, 257 },
    };
    static const size_t n[] = { 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 50 };
    unsigned bits = 0;
    for (int type = 0; type < 4; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (size_t k = 0; k < 11; k++, bits++) {
                struct spmv_case c = { .index = type & 1 ? ECH_I64 : ECH_I32,
                                       .dtype = type & 2 ? ECH_F64 : ECH_F32,
                                       .lens = shapes[i].lens,
                                       .rows = shapes[i].rows,
                                       .cols = shapes[i].cols,
                                       .n = n[k],
                                       .gap = bits % 3,
                                       .dist = bits % 2 ? "small" : "special",
                                       .alpha = bits % 5 ? 1 : 1.7,
                                       .beta = bits % 3 ? 0 : 0.3,
                                       .shift = bits % 4,
                                       .where = bits % 7 ? 0 : bits / 7 % 32 };
                run_spmv(&c);
            }
    static const struct spmv_case large[] = {
        { ECH_I32, ECH_F64, "last", "small", 20000, 3000, 0, 1, 0, 40, 0, 0 },
        { ECH_I64, ECH_F32, "five", "small", 70000, 70000, 0, 1, 2, 5, 1, 0 },
    };
    for (int i = 0; i < 2; i++) run_spmv(&large[i]);
}

/* More than 1024 tiles of 1024 rows and entries, so that sparse_places computes their boundaries,
 * in each type. Most of a row's time on the emulator is for its entries. */
static void run_tiles(void)
{
    static const struct spmv_case c[] = {
        { ECH_I32, ECH_F32, "empty", "small", 1050000, 70, 1, 1, 0.5, 2, 0, 0 },
        { ECH_I64, ECH_F32, "one", "small", 530000, 70, 0, 1, 0, 2, 0, 0 },
        { ECH_I32, ECH_F64, "one", "small", 530000, 70, 0, 1, 0, 2, 0, 0 },
        { ECH_I64, ECH_F64, "empty", "small", 1050000, 70, 1, 1, 0.5, 2, 0, 0 },
    };
    struct spmv_data d;
    for (int i = 0; i < 4; i++) {
        if (!test_begin("tiles(%s,%s,%s)", ech_dtype_name(c[i].index), ech_dtype_name(c[i].dtype),
                        c[i].lens))
            continue;
        if (spmv_make(&c[i], &d, 5 + (uint64_t)i))
            for (int k = 0; k < n_contexts; k++) spmv_once(contexts[k], &c[i], &d, false);
        spmv_free(&d);
        test_end();
    }
}

/* ---- Calls that must fail ---- */

static void run_refused(ech_ctx *ctx)
{
    int32_t offsets[3] = { 0, 1, 2 }, columns[2] = { 0, 1 };
    float values[2] = { 1, 2 }, x[4] = { 3, 4 }, y[4] = { 5, 6 };
    const ech_csr good = { sizeof(ech_csr), 2, 2, 2, offsets, columns, values, ECH_I32, ECH_F32 };
    ech_csr a = good;
    ech_csr_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("refused(%s)", ech_device_name(ctx))) return;
    CHECK_FAILS(NULL, ech_spmv(NULL, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "ctx is NULL");
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, NULL, x, 0, y, NULL), ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, NULL, 0, y, NULL), ECH_ERR_ARG, "x is NULL");
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, NULL, NULL), ECH_ERR_ARG, "y is NULL");
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, x + 1, NULL), ECH_ERR_ARG, "x and y overlap");
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, values, NULL), ECH_ERR_ARG,
                "a->values and y overlap");
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, (char *)x + 1, 0, y, NULL), ECH_ERR_ARG,
                "x is not aligned");
    a.row_offsets = NULL;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->row_offsets is NULL");
    a = good, a.col_indices = NULL;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->col_indices is NULL");
    a = good, a.values = NULL;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->values is NULL");
    a = good, a.index_dtype = ECH_U16;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->index_dtype is u16");
    a = good, a.dtype = ECH_F16;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->dtype is f16");
    a = good, a.dtype = (ech_dtype)99;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->dtype is ?");
    a = good, a.nnz = (size_t)1 << 31;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->nnz is 2147483648");
    a = good, a.rows = SIZE_MAX;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->rows is");
    a = good, a.cols = SIZE_MAX / 2, a.index_dtype = ECH_I64;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_ERR_ARG, "a->cols is");
    a = good, o.size = 3;
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, &o), ECH_ERR_ARG, "options->size is 3");
    o = (ech_csr_options){ .size = sizeof o, .work_bytes = 8 };
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a, x, 0, y, &o), ECH_ERR_ARG, "work is NULL");
    a = good;
    CHECK_FAILS(ctx, ech_spmm(ctx, 1, &a, 3, x, 2, 0, y, 3, NULL), ECH_ERR_ARG, "b_stride is 2");
    CHECK_FAILS(ctx, ech_spmm(ctx, 1, &a, 3, x, 3, 0, y, 2, NULL), ECH_ERR_ARG, "c_stride is 2");
    CHECK_FAILS(ctx, ech_spmm(ctx, 1, &a, 1, x, SIZE_MAX / 2, 0, y, 1, NULL), ECH_ERR_ARG,
                "b_stride is");
    CHECK_FAILS(ctx, ech_spmm(ctx, 1, &a, 2, NULL, 2, 0, y, 2, NULL), ECH_ERR_ARG, "b is NULL");
    CHECK_FAILS(ctx, ech_spmm(ctx, 1, &a, 2, x, 2, 0, NULL, 2, NULL), ECH_ERR_ARG, "c is NULL");
    CHECK_FAILS(NULL, ech_spmm(NULL, 1, &a, 2, x, 2, 0, y, 2, NULL), ECH_ERR_ARG, "ctx is NULL");
    CHECK_STATUS(ech_spmm(ctx, 1, &a, 0, NULL, 0, 0, NULL, 0, NULL), ECH_OK);
    CHECK_FAILS(NULL, ech_csr_workspace("cpu", ECH_CSR_CALL_SPMV, &a, 1, NULL, NULL), ECH_ERR_ARG,
                "bytes is NULL");
    CHECK_FAILS(NULL, ech_csr_workspace("cpu", ECH_CSR_CALL_SPMV, NULL, 1, NULL, &bytes),
                ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(NULL, ech_csr_workspace("cpu", (ech_csr_call)9, &a, 1, NULL, &bytes), ECH_ERR_ARG,
                "call is 9");
    a = good, a.rows = 0;
    CHECK_STATUS(ech_spmv(ctx, 1, &a, x, 0, NULL, NULL), ECH_OK);
    a = good;
    CHECK_STATUS(ech_spmv(ctx, 1, &a, x, 0, y, NULL), ECH_OK);
    CHECK(y[0] == 3 && y[1] == 8);
    test_end();
}

/* Invalid matrices: the result is undefined, but no memory outside the arrays is accessed, and the
 * next product is right. */
static void run_bad(ech_ctx *ctx)
{
    enum { KINDS = 5, MOST = 20000, COLS = 100 };
    static const char *const kinds[KINDS] = { "columns", "decrease", "past", "negative", "first" };
    static const double zeros[MOST] = { 0 };
    struct sparse m;
    struct rng rng = { 1 };
    const int cases = test_is_cpu(ctx) ? 2 * KINDS : KINDS;
    for (int i = 0; i < cases; i++) { /* the CPU sums rows of large matrices in blocks */
        const int kind = i % KINDS;
        const size_t rows = i < KINDS ? 3000 : MOST, entries = 3 * rows;
        if (!test_begin("bad(%s,rows=%zu,%s)", kinds[kind], rows, ech_device_name(ctx))) continue;
        struct sparse_copy a = { 0 };
        struct buffer x = { 0 }, y = { 0 };
        if (!sparse_make(&m, rows, COLS, ECH_I32, ECH_F32, "3", "small", 7)) return;
        for (int k = 0; k < 40; k++) {
            const size_t row = rng_below(&rng, rows), e = rng_below(&rng, entries);
            if (kind == 0) m.columns[e] = k % 2 ? COLS : UINT32_MAX - (uint32_t)k;
            if (kind == 1) m.offsets[row] = rng_below(&rng, entries);
            if (kind == 2) m.offsets[row] = (uint32_t)entries + 1 + rng_below(&rng, 1 << 20);
            if (kind == 3) m.offsets[row] = UINT32_MAX - rng_below(&rng, 1 << 20);
            if (kind == 4) m.offsets[0] = 5000;
        }
        if (sparse_copy_make(&a, ctx, &m, 1, 0) &&
            numbers_make(&x, sparse_place(ctx, 0, 0), zeros, COLS, ECH_F32, 1) &&
            numbers_make(&y, sparse_place(ctx, 0, 0), zeros, rows, ECH_F32, 1)) {
            CHECK_STATUS(ech_spmv(ctx, 1, &a.csr, x.data, 1, y.data, NULL), ECH_OK);
            CHECK_STATUS(ech_sync(ctx), ECH_OK);
            buffer_check_guards(&y, "y");
        }
        sparse_copy_free(&a);
        if (x.base) buffer_free(&x);
        if (y.base) buffer_free(&y);
        sparse_free(&m);
        struct spmv_case c = { ECH_I32, ECH_F64, "1000", "small", 11, COLS, 0, 1, 0, 0, 0, 0 };
        struct spmv_data d;
        if (spmv_make(&c, &d, 3)) spmv_once(ctx, &c, &d, false);
        spmv_free(&d);
        test_end();
    }
}

static void *allocate_none(void *user, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    return NULL;
}

static void release_none(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

/* A workspace that is one byte too small, and a failing allocator. */
static void run_memory(ech_ctx *ctx)
{
    struct sparse m;
    struct sparse_copy a = { 0 };
    struct buffer x = { 0 }, y = { 0 }, work = { 0 };
    double numbers[400] = { 0 };
    int64_t offsets[3] = { 0, 1, 2 }, columns[2] = { 0, 1 };
    size_t bytes = 0;
    if (test_is_cpu(ctx) || !test_begin("memory(%s)", ech_device_name(ctx))) return;
    CHECK(sparse_make(&m, 400, 100, ECH_I64, ECH_F64, "7", "small", 3));
    ech_allocator none = { .size = sizeof(ech_allocator),
                           .allocate = allocate_none,
                           .release = release_none };
    ech_csr_options o = { .size = sizeof o };
    if (sparse_copy_make(&a, ctx, &m, 0, 0) && numbers_make(&x, ctx, numbers, 100, ECH_F64, 0) &&
        numbers_make(&y, ctx, numbers, 400, ECH_F64, 0)) {
        CHECK_STATUS(
            ech_csr_workspace(ech_device_name(ctx), ECH_CSR_CALL_SPMV, &a.csr, 1, NULL, &bytes),
            ECH_OK);
        CHECK(bytes > 0 && buffer_make(&work, ctx, bytes, 0));
        o.work = work.data;
        o.work_bytes = bytes - 1;
        CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a.csr, x.data, 0, y.data, &o), ECH_ERR_MEMORY,
                    "work_bytes");
        buffer_free(&work);
    }
    sparse_copy_free(&a);
    if (x.base) buffer_free(&x);
    if (y.base) buffer_free(&y);
    a.csr = (ech_csr){ sizeof(ech_csr), 2, 2, 2, offsets, columns, numbers, ECH_I64, ECH_F64 };
    CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
    CHECK_FAILS(ctx, ech_spmv(ctx, 1, &a.csr, numbers + 2, 0, numbers + 4, NULL), ECH_ERR_MEMORY,
                "memory");
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    sparse_free(&m);
    test_end();
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    test_main(argc, argv);
    for (int i = 0; n_contexts < DEVICES && test_device(i, name, sizeof name); i++)
        if (ech_open(&contexts[n_contexts++], name) != ECH_OK) {
            fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
            return 1;
        }
    run_spmv_cases();
    run_spmm_cases();
    run_tiles();
    for (int i = 0; i < n_contexts; i++) {
        run_refused(contexts[i]);
        run_bad(contexts[i]);
        run_memory(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
