/*
 * test_sparse_make.c - sparse matrices that are created from entries, transposed and inspected,
 * compared with an oracle, on every device; invalid arguments and data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, NAME_BYTES = 64 };

#define WIDE (((size_t)1 << 58) - 1)

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* Whether a case runs with --quick and --every. */
static bool drawn(size_t n)
{
    static unsigned number;
    return test_drawn(number++, n <= 20000) || test_options.n_ids;
}

/* ---- Entries in arbitrary order ---- */

struct entry {
    uint64_t row, column;
    size_t number;
    double value;
};

static int by_place(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

struct coo {
    size_t n;
    uint64_t *rows, *columns;
    double *values;
    struct sparse wanted;
};

/* spread: the number of distinct positions of entries; 0: all positions. */
static bool coo_make(struct coo *coo, size_t n, size_t rows, size_t cols, ech_dtype index,
                     ech_dtype dtype, size_t spread, const char *dist, uint64_t seed)
{
    struct rng rng = { seed };
    struct entry *e = calloc(n + 1, sizeof *e);
    *coo = (struct coo){ .n = n };
    coo->rows = calloc(n + 1, sizeof *coo->rows);
    coo->columns = calloc(n + 1, sizeof *coo->columns);
    coo->values = calloc(n + 1, sizeof *coo->values);
    if (!CHECK(e && coo->rows && coo->columns && coo->values) ||
        !sparse_make(&coo->wanted, rows, 0, index, dtype, "empty", dist, 0)) {
        free(e);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t place = spread ? rng_below(&rng, spread) * 7919 : rng_next(&rng);
        e[i].row = coo->rows[i] = place % rows;
        e[i].column = coo->columns[i] = place / rows % cols;
        e[i].value = coo->values[i] = sparse_number(&rng, dist, dtype);
        e[i].number = i;
    }
    qsort(e, n, sizeof *e, by_place);
    struct sparse *m = &coo->wanted;
    m->cols = cols;
    free(m->columns);
    free(m->values);
    m->columns = calloc(n + 1, sizeof *m->columns);
    m->values = calloc(n + 1, sizeof *m->values);
    if (!CHECK(m->columns && m->values)) n = 0;
    for (size_t i = 0; i < n; i++) {
        const bool same = i && e[i].row == e[i - 1].row && e[i].column == e[i - 1].column;
        if (same) {
            double *sum = &m->values[m->entries - 1];
            *sum = sparse_round(dtype, *sum + e[i].value);
            continue;
        }
        m->columns[m->entries] = e[i].column;
        m->values[m->entries++] = e[i].value;
        m->offsets[e[i].row + 1]++;
    }
    for (size_t i = 0; i < rows; i++) m->offsets[i + 1] += m->offsets[i];
    free(e);
    return true;
}

static void coo_free(struct coo *coo)
{
    free(coo->rows);
    free(coo->columns);
    free(coo->values);
    sparse_free(&coo->wanted);
}

/* An empty matrix in the memory that `where` selects. */
static bool empty_make(struct sparse_copy *out, ech_ctx *ctx, const struct sparse *like,
                       size_t entries, size_t shift, unsigned where)
{
    const size_t index = ech_dtype_bytes(like->index), value = ech_dtype_bytes(like->dtype);
    *out = (struct sparse_copy){ .csr = { .size = sizeof(ech_csr),
                                          .rows = like->rows,
                                          .cols = like->cols,
                                          .nnz = entries,
                                          .index_dtype = index_sign(like->index, where / 2),
                                          .dtype = like->dtype } };
    if (!buffer_make(&out->offsets, sparse_place(ctx, where, 0), (like->rows + 1) * index,
                     shift * index) ||
        !buffer_make(&out->columns, sparse_place(ctx, where, 1), entries * index, shift * index) ||
        !buffer_make(&out->values, sparse_place(ctx, where, 2), entries * value, shift * value))
        return false;
    out->csr.row_offsets = out->offsets.data;
    out->csr.col_indices = out->columns.data;
    out->csr.values = out->values.data;
    return true;
}

static void coo_once(ech_ctx *ctx, const struct coo *coo, size_t shift, unsigned where, bool own)
{
    const struct sparse *m = &coo->wanted;
    struct buffer rows = { 0 }, columns = { 0 }, values = { 0 }, entries = { 0 }, work = { 0 };
    struct sparse_copy out = { 0 };
    ech_csr_options o = { .size = sizeof o };
    uint64_t count = 0;
    bool made =
        integers_make(&rows, sparse_place(ctx, where, 3), coo->rows, coo->n, m->index, shift) &&
        integers_make(&columns, sparse_place(ctx, where, 4), coo->columns, coo->n, m->index,
                      shift) &&
        numbers_make(&values, sparse_place(ctx, where, 5), coo->values, coo->n, m->dtype, shift) &&
        buffer_make(&entries, sparse_place(ctx, where, 6), 8, 0) &&
        empty_make(&out, ctx, m, coo->n, shift, where);
    if (made && own) {
        CHECK_STATUS(ech_csr_workspace(ech_device_name(ctx), ECH_CSR_CALL_FROM_COO, &out.csr,
                                       coo->n, NULL, &o.work_bytes),
                     ECH_OK);
        made = buffer_make(&work, test_is_cpu(ctx) ? NULL : ctx, o.work_bytes, 0);
        o.work = work.data;
    }
    if (made &&
        CHECK_STATUS(ech_csr_from_coo(ctx, rows.data, columns.data, values.data, &out.csr,
                                      (uint64_t *)(void *)entries.data, coo->n, own ? &o : NULL),
                     ECH_OK)) {
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        CHECK(buffer_get(&entries, &count));
        CHECK_INT(count, m->entries);
        sparse_copy_is(&out, m, "out");
        integers_are(&rows, coo->rows, coo->n, m->index, "rows");
        integers_are(&columns, coo->columns, coo->n, m->index, "columns");
        numbers_are(&values, coo->values, coo->n, m->dtype, "values");
        if (own) buffer_check_guards(&work, "work");
    }
    struct buffer *all[] = { &rows, &columns, &values, &entries, &work };
    for (int i = 0; i < 5; i++)
        if (all[i]->base) buffer_free(all[i]);
    sparse_copy_free(&out);
}

static void on_device(ech_ctx *ctx, void (*once)(ech_ctx *, const void *, size_t, unsigned, bool),
                      const void *data, size_t shift, unsigned where)
{
    static const int threads[] = { 1, 2, 7 };
    for (int t = 0; t < (test_is_cpu(ctx) ? 3 : 1); t++) {
        CHECK_STATUS(ech_set_threads(ctx, threads[t]), ECH_OK);
        once(ctx, data, shift, where, false);
    }
    CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
    once(ctx, data, shift, where, true);
}

static void coo_any(ech_ctx *ctx, const void *data, size_t shift, unsigned where, bool own)
{
    coo_once(ctx, data, shift, where, own);
}

static void run_coo(void)
{
    static const struct {
        size_t n, rows, cols, spread;
    } shapes[] = {
        { 0, 0, 0, 0 },
        { 0, 5, 3, 0 },
        { 1, 1, 1, 0 },
        { 5, 1, 1, 0 },
        { 33, 1, 9, 0 },
        { 40, 50, 1, 0 },
        { 1000, 7, 7, 0 },
        { 1000, 100, 300, 0 },
        { 4000, 3000, 2, 9 },
        { 9000, 60, 60, 1 },
        { 5003, 20000, 4, 0 },
        { 12000, 900, 900, 0 },
        { 1, 100, WIDE, 0 }, /* a row and a column index together need more than 64 bits */
        { 2000, 100, WIDE, 0 },
        { 3000, 1000, WIDE, 400 },
        { 2000, 1, WIDE, 0 },
        { 300000, 5000, 5000, 0 },
        { 200000, 100000, 3, 40000 },
    };
    unsigned bits = 0;
    for (int type = 0; type < 4; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++, bits++) {
            const ech_dtype index = type & 1 ? ECH_I64 : ECH_I32;
            const ech_dtype dtype = type & 2 ? ECH_F64 : ECH_F32;
            struct coo coo;
            if (index == ECH_I32 && shapes[i].cols > INT32_MAX) continue;
            if (!drawn(shapes[i].n) ||
                !test_begin("coo(%s,%s,n=%zu,rows=%zu,cols=%zu,spread=%zu)", ech_dtype_name(index),
                            ech_dtype_name(dtype), shapes[i].n, shapes[i].rows, shapes[i].cols,
                            shapes[i].spread))
                continue;
            if (coo_make(&coo, shapes[i].n, shapes[i].rows, shapes[i].cols, index, dtype,
                         shapes[i].spread, bits % 2 ? "small" : "special", bits + 1))
                for (int k = 0; k < n_contexts; k++)
                    on_device(contexts[k], coo_any, &coo, bits % 4, bits % 3 ? 0 : bits * 5 % 128);
            coo_free(&coo);
            test_end();
        }
}

/* ---- Transposes and diagonals ---- */

struct made {
    struct sparse m, t; /* t is m's transpose */
    double *diagonal;
    size_t n;
};

static bool made_make(struct made *d, size_t rows, size_t cols, ech_dtype index, ech_dtype dtype,
                      const char *lens, uint64_t seed)
{
    *d = (struct made){ 0 };
    if (!sparse_make(&d->m, rows, cols, index, dtype, lens, "special", seed) ||
        !sparse_make(&d->t, cols, rows, index, dtype, "empty", "small", seed))
        return false;
    struct sparse *t = &d->t;
    const struct sparse *m = &d->m;
    t->entries = m->entries;
    free(t->columns);
    free(t->values);
    t->columns = calloc(m->entries + 1, sizeof *t->columns);
    t->values = calloc(m->entries + 1, sizeof *t->values);
    uint64_t *next = calloc(cols + 1, sizeof *next);
    d->n = rows < cols ? rows : cols;
    d->diagonal = calloc(d->n + 1, sizeof *d->diagonal);
    if (!CHECK(t->columns && t->values && next && d->diagonal)) return false;
    for (size_t e = 0; e < m->entries; e++) t->offsets[m->columns[e] + 1]++;
    for (size_t c = 0; c < cols; c++) t->offsets[c + 1] += t->offsets[c];
    for (size_t row = rows; row-- > 0;)
        for (size_t e = (size_t)m->offsets[row + 1]; e-- > m->offsets[row];) {
            const size_t c = (size_t)m->columns[e];
            const size_t at = (size_t)(t->offsets[c + 1] - ++next[c]);
            t->columns[at] = row;
            t->values[at] = m->values[e];
            if (c == row) d->diagonal[row] = m->values[e]; /* in reverse, so the first entry wins */
        }
    free(next);
    return true;
}

static void made_free(struct made *d)
{
    sparse_free(&d->m);
    sparse_free(&d->t);
    free(d->diagonal);
}

static void made_once(ech_ctx *ctx, const void *data, size_t shift, unsigned where, bool own)
{
    const struct made *d = data;
    struct sparse_copy a = { 0 }, out = { 0 };
    struct buffer work = { 0 }, diagonal = { 0 };
    ech_csr_options o = { .size = sizeof o };
    bool good =
        sparse_copy_make(&a, ctx, &d->m, shift, where) &&
        empty_make(&out, ctx, &d->t, d->m.entries, shift, where >> 3) &&
        buffer_make(&diagonal, sparse_place(ctx, where, 4), d->n * ech_dtype_bytes(d->m.dtype), 0);
    if (good && own) {
        CHECK_STATUS(ech_csr_workspace(ech_device_name(ctx), ECH_CSR_CALL_TRANSPOSE, &a.csr, 0,
                                       NULL, &o.work_bytes),
                     ECH_OK);
        good = buffer_make(&work, test_is_cpu(ctx) ? NULL : ctx, o.work_bytes, 0);
        o.work = work.data;
    }
    if (good) {
        CHECK_STATUS(ech_csr_check(ctx, &a.csr, 0), ECH_OK);
        CHECK_STATUS(ech_csr_transpose(ctx, &a.csr, &out.csr, own && o.work_bytes ? &o : NULL),
                     ECH_OK);
        CHECK_STATUS(ech_csr_diagonal(ctx, &a.csr, diagonal.data), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        sparse_copy_is(&out, &d->t, "out");
        sparse_copy_is(&a, &d->m, "a");
        numbers_are(&diagonal, d->diagonal, d->n, d->m.dtype, "diagonal");
    }
    sparse_copy_free(&a);
    sparse_copy_free(&out);
    if (work.base) buffer_free(&work);
    if (diagonal.base) buffer_free(&diagonal);
}

static void run_made(void)
{
    static const struct {
        const char *lens;
        size_t rows, cols;
    } shapes[] = {
        { "empty", 0, 0 },    { "empty", 0, 4 },      { "empty", 4, 0 },
        { "1", 1, 1 },        { "empty", 900, 7 },    { "five", 1009, 1009 },
        { "mixed", 40, 77 },  { "gaps", 5003, 300 },  { "one", 9000, 9000 },
        { "last", 2047, 31 }, { "1000", 9, 4000 },    { "70", 3, 20 },
        { "5", 1500, 1500 },  { "mixed", 600, 3000 }, { "one", 1000003, 70 },
    };
    unsigned bits = 0;
    for (int type = 0; type < 4; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++, bits++) {
            const ech_dtype index = type & 1 ? ECH_I64 : ECH_I32;
            const ech_dtype dtype = type & 2 ? ECH_F64 : ECH_F32;
            struct made d;
            if (!drawn(shapes[i].rows) ||
                !test_begin("transpose(%s,%s,%s,rows=%zu,cols=%zu)", ech_dtype_name(index),
                            ech_dtype_name(dtype), shapes[i].lens, shapes[i].rows, shapes[i].cols))
                continue;
            if (made_make(&d, shapes[i].rows, shapes[i].cols, index, dtype, shapes[i].lens, bits))
                for (int k = 0; k < n_contexts; k++)
                    on_device(contexts[k], made_once, &d, bits % 4, bits % 3 ? 0 : bits * 11 % 64);
            made_free(&d);
            test_end();
        }
}

/* ---- Invalid data ---- */

/* The error of the call or, if it succeeded, of the next ech_sync(). */
static ech_status later(ech_ctx *ctx, ech_status status)
{
    return status == ECH_OK ? ech_sync(ctx) : status;
}

static void run_data_errors(ech_ctx *ctx)
{
    static const struct {
        int offset, column; /* index of the element to change, or -1 */
        uint64_t to;
        int in_order;
        const char *text; /* NULL: the matrix is valid */
    } cases[] = {
        { -1, -1, 0, 1, NULL },
        { 0, -1, 1, 0, "a->row_offsets[0] is not 0" },
        { 700, -1, 3 * 701 + 5, 0, "a: row[700] ends before it begins" },
        { 700, -1, 9, 0, "a: row[699] ends before it begins" },
        { 5, -1, 0xffffffff, 0, "a: row[4] ends before it begins, or after" },
        { 1000, -1, 2999, 0, "a->row_offsets[1000] is not the number of entries" },
        { -1, 1500, 1000, 0, "a: row[500] has a column" },
        { -1, 2999, 0xffffffff, 1, "a: row[999] has a column" },
        { -1, 31, 0, 1, "a: row[10] has column indices that are not" },
        { -1, 31, 0, 0, NULL },
        { -1, 30, 0, 1, NULL }, /* rows are independent */
    };
    struct sparse m;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int where = 0; where < (test_is_cpu(ctx) ? 1 : 2); where++) {
            struct sparse_copy a = { 0 };
            if (!test_begin("check(%zu,%s,%s)", i, where ? "host" : "device", ech_device_name(ctx)))
                continue;
            if (!sparse_make(&m, 1000, 1000, ECH_I32, ECH_F64, "3", "small", 11)) return;
            if (cases[i].offset >= 0) m.offsets[cases[i].offset] = cases[i].to;
            if (cases[i].column >= 0) m.columns[cases[i].column] = cases[i].to;
            if (sparse_copy_make(&a, ctx, &m, 0, where ? 7 : 0)) {
                if (cases[i].text)
                    CHECK_FAILS(ctx, later(ctx, ech_csr_check(ctx, &a.csr, cases[i].in_order)),
                                ECH_ERR_ARG, cases[i].text);
                else
                    CHECK_STATUS(later(ctx, ech_csr_check(ctx, &a.csr, cases[i].in_order)), ECH_OK);
            }
            sparse_copy_free(&a);
            sparse_free(&m);
            test_end();
        }
}

/* Entries outside the matrix are reported and ignored, and no memory outside the arrays is
 * accessed. */
static void run_bad_coo(ech_ctx *ctx)
{
    static const struct {
        int row, column;
        uint64_t to;
        const char *text;
    } cases[] = {
        { 777, -1, 50, "rows[777] is not a row" },
        { 3, 900, 0xffffffff, "rows[3] is not a row" },
        { -1, 0, 60, "cols[0] is not a column" },
        { -1, 999, 0x80000000, "cols[999] is not a column" },
    };
    struct coo coo;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer rows, columns, values, entries;
        struct sparse_copy out = { 0 };
        if (!test_begin("bad_coo(%zu,%s)", i, ech_device_name(ctx))) continue;
        if (!coo_make(&coo, 1000, 50, 60, ECH_I32, ECH_F32, 0, "small", i)) return;
        if (cases[i].row >= 0) coo.rows[cases[i].row] = cases[i].to;
        if (cases[i].column >= 0) coo.columns[cases[i].column] = cases[i].to;
        ech_ctx *place = sparse_place(ctx, 0, 0);
        if (integers_make(&rows, place, coo.rows, 1000, ECH_I32, 0) &&
            integers_make(&columns, place, coo.columns, 1000, ECH_I32, 0) &&
            numbers_make(&values, place, coo.values, 1000, ECH_F32, 0) &&
            buffer_make(&entries, place, 8, 0) && empty_make(&out, ctx, &coo.wanted, 1000, 0, 0)) {
            CHECK_FAILS(
                ctx,
                later(ctx, ech_csr_from_coo(ctx, rows.data, columns.data, values.data, &out.csr,
                                            (uint64_t *)(void *)entries.data, 1000, NULL)),
                ECH_ERR_ARG, cases[i].text);
            buffer_check_guards(&out.offsets, "out->row_offsets");
            buffer_check_guards(&out.columns, "out->col_indices");
            buffer_check_guards(&out.values, "out->values");
            buffer_free(&rows);
            buffer_free(&columns);
            buffer_free(&values);
            buffer_free(&entries);
        }
        sparse_copy_free(&out);
        coo_free(&coo);
        test_end();
    }
}

/* ---- Calls that must fail ---- */

static void run_refused(ech_ctx *ctx)
{
    int32_t i[2] = { 0, 1 }, j[2] = { 0, 1 }, offsets[3] = { 0, 1, 2 }, columns[2] = { 0, 1 };
    int32_t out_offsets[3], out_columns[2];
    float v[2] = { 1, 2 }, values[2], d[2];
    uint64_t n;
    const ech_csr good = { sizeof(ech_csr), 2,      2,       2,      out_offsets,
                           out_columns,     values, ECH_I32, ECH_F32 };
    const ech_csr a = { sizeof(ech_csr), 2, 2, 2, offsets, columns, v, ECH_I32, ECH_F32 };
    ech_csr out = good;
    if (!test_begin("refused(%s)", ech_device_name(ctx))) return;
    CHECK_FAILS(NULL, ech_csr_from_coo(NULL, i, j, v, &out, &n, 2, NULL), ECH_ERR_ARG, "ctx is");
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, v, NULL, &n, 2, NULL), ECH_ERR_ARG, "out is NULL");
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, NULL, j, v, &out, &n, 2, NULL), ECH_ERR_ARG,
                "rows is NULL");
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, NULL, v, &out, &n, 2, NULL), ECH_ERR_ARG,
                "cols is NULL");
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, NULL, &out, &n, 2, NULL), ECH_ERR_ARG,
                "values is NULL");
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, v, &out, NULL, 2, NULL), ECH_ERR_ARG,
                "nnz is NULL");
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, v, &out, &n, 3, NULL), ECH_ERR_ARG,
                "out->nnz is 2");
    out.row_offsets = NULL;
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, v, &out, &n, 2, NULL), ECH_ERR_ARG,
                "out->row_offsets is NULL");
    out = good, out.col_indices = i;
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, v, &out, &n, 2, NULL), ECH_ERR_ARG, "overlap");
    out = good, out.index_dtype = ECH_I64, out.rows = out.cols = WIDE, out.nnz = 99;
    CHECK_FAILS(ctx, ech_csr_from_coo(ctx, i, j, v, &out, &n, 99, NULL), ECH_ERR_UNSUPPORTED,
                "one of 99 columns do not fit in 64 bits");
    out = good;
    CHECK_FAILS(ctx, ech_csr_transpose(ctx, NULL, &out, NULL), ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(ctx, ech_csr_transpose(ctx, &a, NULL, NULL), ECH_ERR_ARG, "out is NULL");
    out.rows = 3;
    CHECK_FAILS(ctx, ech_csr_transpose(ctx, &a, &out, NULL), ECH_ERR_ARG, "out is 3 x 2");
    out = good, out.nnz = 1;
    CHECK_FAILS(ctx, ech_csr_transpose(ctx, &a, &out, NULL), ECH_ERR_ARG, "out->nnz is 1");
    out = good, out.dtype = ECH_F64;
    CHECK_FAILS(ctx, ech_csr_transpose(ctx, &a, &out, NULL), ECH_ERR_ARG,
                "out has types i32 and f64");
    CHECK_FAILS(ctx, ech_csr_diagonal(ctx, &a, NULL), ECH_ERR_ARG, "diagonal is NULL");
    CHECK_FAILS(ctx, ech_csr_diagonal(ctx, NULL, d), ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(ctx, ech_csr_check(ctx, &a, 2), ECH_ERR_ARG, "in_order is 2");
    CHECK_FAILS(ctx, ech_csr_check(ctx, NULL, 0), ECH_ERR_ARG, "a is NULL");
    CHECK_STATUS(ech_csr_diagonal(ctx, &a, d), ECH_OK);
    CHECK(d[0] == 1 && d[1] == 2);
    test_end();
}

/* A workspace that is one byte too small. */
static void run_memory(ech_ctx *ctx)
{
    struct sparse m;
    struct sparse_copy a = { 0 }, out = { 0 };
    struct buffer work = { 0 };
    ech_csr_options o = { .size = sizeof o };
    if (test_is_cpu(ctx) || !test_begin("memory(%s)", ech_device_name(ctx))) return;
    if (sparse_make(&m, 100, 100, ECH_I64, ECH_F64, "7", "small", 3) &&
        sparse_copy_make(&a, ctx, &m, 0, 0) && empty_make(&out, ctx, &m, m.entries, 0, 0)) {
        CHECK_STATUS(ech_csr_workspace(ech_device_name(ctx), ECH_CSR_CALL_TRANSPOSE, &a.csr, 0,
                                       NULL, &o.work_bytes),
                     ECH_OK);
        CHECK(o.work_bytes > 0 && buffer_make(&work, ctx, o.work_bytes, 0));
        o.work = work.data;
        o.work_bytes--;
        CHECK_FAILS(ctx, ech_csr_transpose(ctx, &a.csr, &out.csr, &o), ECH_ERR_MEMORY,
                    "work_bytes");
        buffer_free(&work);
    }
    sparse_copy_free(&a);
    sparse_copy_free(&out);
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
    run_coo();
    run_made();
    for (int i = 0; i < n_contexts; i++) {
        run_data_errors(contexts[i]);
        run_bad_coo(contexts[i]);
        run_refused(contexts[i]);
        run_memory(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
