/*
 * gf2/gf2.c - matrices over GF(2): views, and element-wise operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/call.h"

/* ---- Checks ---- */

size_t ech_gf2_stride(size_t cols)
{
    return echi_gf2_words(cols);
}

ech_status echi_gf2_check(ech_ctx *ctx, const char *name, const ech_gf2 *a, ech_gf2 *m)
{
    if (!a) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", name);
    ech_status status = echi_read_struct(ctx, name, "ech_gf2", a, m, sizeof *m);
    if (status != ECH_OK) return status;
    a = m;
    if (a->rows > UINT32_MAX || a->cols > UINT32_MAX)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu x %zu: more than 2^32 - 1 rows or columns",
                         name, a->rows, a->cols);
    if (a->stride < echi_gf2_words(a->cols))
        return echi_fail(ctx, ECH_ERR_ARG, "%s->stride is %zu words, less than the %zu of a row",
                         name, a->stride, echi_gf2_words(a->cols));
    if (a->rows > 1 && a->stride > PTRDIFF_MAX / sizeof(uint64_t) / a->rows)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu rows of %zu words: the size overflows size_t",
                         name, a->rows, a->stride);
    return ECH_OK;
}

ech_status echi_gf2_check_shape(ech_ctx *ctx, const char *name, const ech_gf2 *a, size_t rows,
                                size_t cols)
{
    if (a->rows == rows && a->cols == cols) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu x %zu, not %zu x %zu", name, a->rows, a->cols,
                     rows, cols);
}

struct echi_array *echi_gf2_add(struct echi_call *call, const char *name, ech_gf2 *m,
                                enum echi_use use)
{
    const size_t word = sizeof(uint64_t), row = echi_gf2_words(m->cols) * word;
    size_t bytes = m->rows && m->cols ? (m->rows - 1) * m->stride * word + row : 0;
    if (use == ECHI_OUT && (m->cols % 64 || m->stride * word > row)) use = ECHI_KEPT;
    struct echi_array *array = echi_call_add(call, name, &m->words, bytes, word, use);
    if (m->rows > 1 && m->stride * word > row) {
        array->row_bytes = row;
        array->pitch_bytes = m->stride * word;
    }
    return array;
}

struct echi_array *echi_gf2_add_array(struct echi_call *call, const char *name, void *pointer,
                                      size_t count, size_t bytes, enum echi_use use)
{
    return echi_call_add(call, name, pointer, count * bytes, bytes, use);
}

struct echi_array *echi_gf2_add_positions(struct echi_call *call, const char *name, void *pointer,
                                          size_t count, bool wide, enum echi_use use)
{
    struct echi_array *a = echi_gf2_add_array(call, name, pointer, count, wide ? 8 : 4, use);
    a->widened = wide;
    return a;
}

ech_status echi_gf2_check_index(ech_ctx *ctx, const char *name, ech_dtype dtype, size_t count,
                                bool *wide)
{
    *wide = dtype == ECH_I64 || dtype == ECH_U64;
    if (!dtype) return ECH_OK;
    return echi_check_index(ctx, name, dtype, "the number of rows or columns", count);
}

ech_status echi_gf2_backend(ech_ctx *ctx, const struct echi_operation *operation)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (operation) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "%s does not support matrices over GF(2)",
                     ctx->name);
}

ech_status ech_gf2_view(const ech_gf2 *a, size_t row, size_t col, size_t rows, size_t cols,
                        ech_gf2 *view)
{
    ech_gf2 m = { 0 };
    ech_status status = echi_gf2_check(NULL, "a", a, &m);
    if (status != ECH_OK) return status;
    if (!view) return echi_fail(NULL, ECH_ERR_ARG, "view is NULL");
    status = echi_check_size(NULL, "view", "ech_gf2", view->size, sizeof *view);
    if (status != ECH_OK) return status;
    if (col % 64) return echi_fail(NULL, ECH_ERR_ARG, "col is %zu, not a multiple of 64", col);
    if (row > m.rows || rows > m.rows - row)
        return echi_fail(NULL, ECH_ERR_ARG, "rows %zu to %zu are outside of a, which has %zu", row,
                         row + rows, m.rows);
    if (col > m.cols || cols > m.cols - col)
        return echi_fail(NULL, ECH_ERR_ARG, "columns %zu to %zu are outside of a, which has %zu",
                         col, col + cols, m.cols);
    uint64_t *words = rows && cols ? m.words + row * m.stride + col / 64 : m.words;
    m = (ech_gf2){ .words = words, .rows = rows, .cols = cols, .stride = m.stride };
    echi_write_struct(&m, sizeof m, view);
    return ECH_OK;
}

/* ---- Calls ---- */

static struct echi_call call_of(ech_ctx *ctx, struct echi_gf2 *g, const char *what)
{
    return (struct echi_call){ .what = what,
                               .operation = ctx->backend->operations[ECHI_OP_gf2],
                               .request = g };
}

static bool empty(const ech_gf2 *m)
{
    return m->rows == 0 || m->cols == 0;
}

/* Computes out from a (unless it is NULL) and b (likewise). */
static ech_status make(ech_ctx *ctx, struct echi_gf2 *g, const char *what, const ech_gf2 *a,
                       const ech_gf2 *b, const ech_gf2 *out)
{
    ech_status status = ECH_OK;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2] : NULL));
    struct echi_call call = call_of(ctx, g, what);
    if (a) echi_gf2_add(&call, "a", &g->a, ECHI_IN);
    if (b) echi_gf2_add(&call, "b", &g->b, ECHI_IN);
    if (g->limit)
        echi_gf2_add_positions(&call, "index", &g->order, g->columns, g->wide_index, ECHI_IN);
    if (out) {
        if (empty(&g->out)) return ECH_OK;
        struct echi_array *array = echi_gf2_add(&call, "out", &g->out, ECHI_OUT);
        if (b) array->may_be = g->a.words == g->out.words ? 1 : 2; /* either may be out */
    }
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_copy(ech_ctx *ctx, const ech_gf2 *from, size_t from_row, size_t from_col,
                        ech_gf2 *to, size_t to_row, size_t to_col, size_t rows, size_t cols)
{
    struct echi_gf2 g = { .what = ECHI_GF2_COPY };
    ech_gf2 a, out;
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2] : NULL));
    TRY(echi_gf2_check(ctx, "from", from, &a));
    TRY(echi_gf2_check(ctx, "to", to, &out));
    if (from_row > a.rows || rows > a.rows - from_row || from_col > a.cols ||
        cols > a.cols - from_col)
        FAIL(ctx, ECH_ERR_ARG,
             "%zu x %zu bits at (%zu, %zu) are outside of from, which is %zu x %zu", rows, cols,
             from_row, from_col, a.rows, a.cols);
    if (to_row > out.rows || rows > out.rows - to_row || to_col > out.cols ||
        cols > out.cols - to_col)
        FAIL(ctx, ECH_ERR_ARG, "%zu x %zu bits at (%zu, %zu) are outside of to, which is %zu x %zu",
             rows, cols, to_row, to_col, out.rows, out.cols);
    if (rows == 0 || cols == 0) return ECH_OK;
    if (!a.words || !out.words)
        FAIL(ctx, ECH_ERR_ARG, "%s->words is NULL", a.words ? "to" : "from");
    /* The arrays are the words that contain the bits: from the word of the first to that of the
     * last. */
    g.a_bit = (unsigned)(from_col % 64);
    g.out_bit = (unsigned)(to_col % 64);
    g.a = (ech_gf2){ .size = sizeof(ech_gf2),
                     .words = a.words + from_row * a.stride + from_col / 64,
                     .rows = rows,
                     .cols = cols + g.a_bit,
                     .stride = a.stride };
    g.out = (ech_gf2){ .size = sizeof(ech_gf2),
                       .words = out.words + to_row * out.stride + to_col / 64,
                       .rows = rows,
                       .cols = cols + g.out_bit,
                       .stride = out.stride };
    struct echi_call call = call_of(ctx, &g, "a copy");
    echi_gf2_add(&call, "from", &g.a, ECHI_IN);
    echi_gf2_add(&call, "to", &g.out, ECHI_KEPT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

static bool same_place(const ech_gf2 *a, const ech_gf2 *b)
{
    return a->words && a->words == b->words && (a->stride == b->stride || a->rows <= 1);
}

ech_status ech_gf2_add(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out)
{
    struct echi_gf2 g = { .what = ECHI_GF2_ADD };
    ech_status status;
    TRY(echi_gf2_check(ctx, "a", a, &g.a));
    TRY(echi_gf2_check(ctx, "b", b, &g.b));
    TRY(echi_gf2_check(ctx, "out", out, &g.out));
    TRY(echi_gf2_check_shape(ctx, "b", &g.b, g.a.rows, g.a.cols));
    TRY(echi_gf2_check_shape(ctx, "out", &g.out, g.a.rows, g.a.cols));
    if (same_place(&g.a, &g.b)) { /* a + a = 0; out may be a */
        g.what = ECHI_GF2_ZERO;
        if (same_place(&g.a, &g.out)) a = NULL;
        b = NULL;
    }
    TRY(make(ctx, &g, "a sum", a, b, out));
done:
    return status;
}

ech_status ech_gf2_transpose(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *out)
{
    struct echi_gf2 g = { .what = ECHI_GF2_TRANSPOSE };
    ech_status status;
    TRY(echi_gf2_check(ctx, "a", a, &g.a));
    TRY(echi_gf2_check(ctx, "out", out, &g.out));
    TRY(echi_gf2_check_shape(ctx, "out", &g.out, g.a.cols, g.a.rows));
    TRY(make(ctx, &g, "a transpose", a, NULL, out));
done:
    return status;
}

static ech_status gather(ech_ctx *ctx, enum echi_gf2_what what, const ech_gf2 *a, const void *index,
                         ech_dtype index_dtype, const ech_gf2 *out)
{
    const bool rows = what == ECHI_GF2_GATHER_ROWS;
    struct echi_gf2 g = { .what = what, .order = index };
    ech_status status;
    TRY(echi_gf2_check(ctx, "a", a, &g.a));
    TRY(echi_gf2_check(ctx, "out", out, &g.out));
    if (rows) TRY(echi_gf2_check_shape(ctx, "out", &g.out, g.out.rows, g.a.cols));
    if (!rows) TRY(echi_gf2_check_shape(ctx, "out", &g.out, g.a.rows, g.out.cols));
    g.limit = rows ? g.a.rows : g.a.cols;
    g.columns = rows ? g.out.rows : g.out.cols;
    TRY(echi_check_index(ctx, "index_dtype", index_dtype, "the number of rows or columns",
                         g.limit));
    g.wide_index = ech_dtype_bytes(index_dtype) == 8;
    if (!g.limit && g.columns) FAIL(ctx, ECH_ERR_ARG, "a is empty, but out is not");
    TRY(make(ctx, &g, "a gather", a, NULL, out));
done:
    return status;
}

ech_status ech_gf2_gather_rows(ech_ctx *ctx, const ech_gf2 *a, const void *index, ech_gf2 *out,
                               ech_dtype index_dtype)
{
    return gather(ctx, ECHI_GF2_GATHER_ROWS, a, index, index_dtype, out);
}

ech_status ech_gf2_gather_cols(ech_ctx *ctx, const ech_gf2 *a, const void *index, ech_gf2 *out,
                               ech_dtype index_dtype)
{
    return gather(ctx, ECHI_GF2_GATHER_COLUMNS, a, index, index_dtype, out);
}

static ech_status made(ech_ctx *ctx, struct echi_gf2 *g, const char *what, const ech_gf2 *out)
{
    ech_status status = echi_gf2_check(ctx, "out", out, &g->out);
    return status == ECH_OK ? make(ctx, g, what, NULL, NULL, out) : status;
}

ech_status ech_gf2_zero(ech_ctx *ctx, ech_gf2 *out)
{
    struct echi_gf2 g = { .what = ECHI_GF2_ZERO };
    return made(ctx, &g, "a zero matrix", out);
}

ech_status ech_gf2_identity(ech_ctx *ctx, ech_gf2 *out)
{
    struct echi_gf2 g = { .what = ECHI_GF2_IDENTITY };
    return made(ctx, &g, "an identity", out);
}

ech_status ech_gf2_random(ech_ctx *ctx, ech_gf2 *out, double probability, uint64_t seed)
{
    if (!(probability >= 0 && probability <= 1))
        return echi_fail(ctx, ECH_ERR_ARG, "probability is %g, not from 0 to 1", probability);
    struct echi_gf2 g = { .what = ECHI_GF2_RANDOM,
                          .seed = seed,
                          .threshold = (uint64_t)(probability * 4294967296.0 + 0.5) };
    return made(ctx, &g, "a random matrix", out);
}

/* ---- Bytes, counts ---- */

ech_status ech_gf2_pack(ech_ctx *ctx, const uint8_t *bytes, ech_gf2 *out)
{
    /* A request has one pointer to bytes, which only ECHI_GF2_UNPACK writes to. */
    struct echi_gf2 g = { .what = ECHI_GF2_PACK, .bytes = (uint8_t *)(uintptr_t)bytes };
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2] : NULL));
    TRY(echi_gf2_check(ctx, "out", out, &g.out));
    TRY(echi_check_count(ctx, "out->rows", g.out.rows, g.out.cols));
    if (empty(&g.out)) return ECH_OK;
    struct echi_call call = call_of(ctx, &g, "a pack");
    echi_gf2_add_array(&call, "bytes", &g.bytes, g.out.rows * g.out.cols, 1, ECHI_IN);
    echi_gf2_add(&call, "out", &g.out, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_unpack(ech_ctx *ctx, const ech_gf2 *a, uint8_t *bytes)
{
    struct echi_gf2 g = { .what = ECHI_GF2_UNPACK, .bytes = bytes };
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2] : NULL));
    TRY(echi_gf2_check(ctx, "a", a, &g.a));
    TRY(echi_check_count(ctx, "a->rows", g.a.rows, g.a.cols));
    if (empty(&g.a)) return ECH_OK;
    struct echi_call call = call_of(ctx, &g, "an unpack");
    echi_gf2_add(&call, "a", &g.a, ECHI_IN);
    echi_gf2_add_array(&call, "bytes", &g.bytes, g.a.rows * g.a.cols, 1, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_count(ech_ctx *ctx, const ech_gf2 *a, uint64_t *count)
{
    struct echi_gf2 g = { .what = ECHI_GF2_COUNT, .count = count };
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2] : NULL));
    TRY(echi_gf2_check(ctx, "a", a, &g.a));
    struct echi_call call = call_of(ctx, &g, "a count");
    echi_gf2_add(&call, "a", &g.a, ECHI_IN);
    echi_gf2_add_array(&call, "count", &g.count, 1, sizeof *count, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_equal(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, uint8_t *equal)
{
    struct echi_gf2 g = { .what = ECHI_GF2_EQUAL, .bytes = equal };
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2] : NULL));
    TRY(echi_gf2_check(ctx, "a", a, &g.a));
    TRY(echi_gf2_check(ctx, "b", b, &g.b));
    TRY(echi_gf2_check_shape(ctx, "b", &g.b, g.a.rows, g.a.cols));
    struct echi_call call = call_of(ctx, &g, "a comparison");
    echi_gf2_add(&call, "a", &g.a, ECHI_IN);
    echi_gf2_add(&call, "b", &g.b, ECHI_IN);
    echi_gf2_add_array(&call, "equal", &g.bytes, 1, 1, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}
