/*
 * test_gf2.c - matrices over GF(2) on every device: views, operations that move, create or inspect
 * bits, and products.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t shapes[][2] = { { 0, 0 },     { 0, 7 },     { 7, 0 },     { 1, 1 },
                                    { 1, 200 },   { 200, 1 },   { 63, 65 },   { 64, 64 },
                                    { 65, 63 },   { 128, 128 }, { 127, 129 }, { 100, 300 },
                                    { 300, 100 }, { 513, 511 }, { 70, 1030 }, { 1030, 70 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- Operations that move bits ---- */

static void copy_on(ech_ctx *ctx, const struct bits *from, const struct bits *to, uint64_t seed)
{
    struct rng rng = { seed };
    struct bits wanted = bits_copy(to);
    struct matrix a, out;
    const size_t rows = rng_below(&rng, (from->rows < to->rows ? from->rows : to->rows) + 1);
    const size_t cols = rng_below(&rng, (from->cols < to->cols ? from->cols : to->cols) + 1);
    const size_t from_row = rng_below(&rng, from->rows - rows + 1);
    const size_t from_col = rng_below(&rng, from->cols - cols + 1);
    const size_t to_row = rng_below(&rng, to->rows - rows + 1);
    const size_t to_col = rng_below(&rng, to->cols - cols + 1);
    for (size_t i = 0; i < rows; i++)
        memcpy(wanted.at + (to_row + i) * to->cols + to_col,
               from->at + (from_row + i) * from->cols + from_col, cols);
    bool made = matrix_make(&a, place(ctx, seed, 5), from->rows, from->cols, from, 1, seed) &&
                matrix_make(&out, place(ctx, seed, 6), to->rows, to->cols, to, 2, seed);
    if (CHECK(made) &&
        CHECK_STATUS(
            ech_gf2_copy(ctx, &a.m, from_row, from_col, &out.m, to_row, to_col, rows, cols),
            ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        if (!matrix_is(&out, &wanted, "to"))
            test_fail(__FILE__, __LINE__, "%zu x %zu from (%zu, %zu) to (%zu, %zu)", rows, cols,
                      from_row, from_col, to_row, to_col);
        matrix_is(&a, from, "from");
    }
    matrix_free(&a);
    matrix_free(&out);
    bits_free(&wanted);
}

static void run_copy(size_t rows, size_t cols)
{
    ech_ctx **contexts;
    if (!gf2_wanted(rows * cols) || !test_begin("copy(%zux%zu)", rows, cols)) return;
    const uint64_t seed = rows * 131071 + cols;
    struct bits from = bits_of("random", rows, cols, seed);
    struct bits to = bits_of("random", cols + 70, rows + 130, seed + 1);
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++)
        for (uint64_t j = 0; j < 12 && !test_failed(); j++)
            copy_on(contexts[i], &from, &to, seed + j * 32);
    bits_free(&from);
    bits_free(&to);
    test_end();
}

/* A call with one input and one output. */
typedef ech_status one_input(ech_ctx *ctx, const ech_gf2 *a, const void *index, ech_gf2 *out,
                             ech_dtype index_dtype);

static ech_status call_transpose(ech_ctx *ctx, const ech_gf2 *a, const void *index, ech_gf2 *out,
                                 ech_dtype type)
{
    (void)index;
    (void)type;
    return ech_gf2_transpose(ctx, a, out);
}

static void one_on(ech_ctx *ctx, one_input *call, const struct bits *a, const uint32_t *order,
                   size_t orders, const struct bits *wanted, uint64_t seed)
{
    struct matrix in, out;
    struct buffer there;
    const ech_dtype index = index_dtype(seed, 0);
    bool made = matrix_make(&in, place(ctx, seed, 1), a->rows, a->cols, a, 1, seed) &&
                matrix_make(&out, place(ctx, seed, 2), wanted->rows, wanted->cols, NULL, 1, seed) &&
                positions_make(&there, place(ctx, seed, 3), orders, index, order);
    if (CHECK(made) && CHECK_STATUS(call(ctx, &in.m, there.data, &out.m, index), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        matrix_is(&out, wanted, "out");
        matrix_is(&in, a, "a");
    }
    matrix_free(&in);
    matrix_free(&out);
    buffer_free(&there);
}

static void run_moves(size_t rows, size_t cols)
{
    ech_ctx **contexts;
    if (!gf2_wanted(rows * cols) || !test_begin("moves(%zux%zu)", rows, cols)) return;
    const uint64_t seed = rows * 131071 + cols;
    const size_t out_rows = rows ? cols % 5000 / 2 + 3 : 0, out_cols = cols ? rows + 67 : 0;
    struct rng rng = { seed };
    struct bits a = bits_of("random", rows, cols, seed), turned = bits_transpose(&a);
    struct bits by_rows = bits_make(out_rows, cols), by_columns = bits_make(rows, out_cols);
    uint32_t *row_order = calloc(out_rows + 1, 4), *column_order = calloc(out_cols + 1, 4);
    if (!row_order || !column_order) abort();
    for (size_t i = 0; i < out_rows; i++) row_order[i] = (uint32_t)rng_below(&rng, rows);
    for (size_t j = 0; j < out_cols; j++) column_order[j] = (uint32_t)rng_below(&rng, cols);
    for (size_t i = 0; i < out_rows; i++)
        memcpy(by_rows.at + i * cols, a.at + row_order[i] * cols, cols);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < out_cols; j++)
            by_columns.at[i * out_cols + j] = a.at[i * cols + column_order[j]];
    for (int i = 0, n = gf2_contexts(&contexts); i < n && !test_failed(); i++)
        for (uint64_t where = 0; where < 16; where += 5) {
            one_on(contexts[i], call_transpose, &a, NULL, 0, &turned, where);
            one_on(contexts[i], ech_gf2_gather_rows, &a, row_order, out_rows, &by_rows, where);
            one_on(contexts[i], ech_gf2_gather_cols, &a, column_order, out_cols, &by_columns,
                   where);
        }
    bits_free(&a);
    bits_free(&turned);
    bits_free(&by_rows);
    bits_free(&by_columns);
    free(row_order);
    free(column_order);
    test_end();
}

/* ---- Operations that create or inspect matrices ---- */

static void add_on(ech_ctx *ctx, const struct bits *x, const struct bits *y, int in_place,
                   uint64_t seed)
{
    struct bits sum = bits_copy(x);
    struct matrix a, b, out;
    for (size_t i = 0; i < x->rows * x->cols; i++) sum.at[i] ^= y->at[i];
    bool made = matrix_make(&a, ctx, x->rows, x->cols, x, 1, seed) &&
                matrix_make(&b, place(ctx, seed, 2), x->rows, x->cols, y, 1, seed) &&
                matrix_make(&out, ctx, x->rows, x->cols, NULL, 2, seed);
    struct matrix *to = in_place == 0 ? &out : in_place == 1 ? &a : &b;
    if (CHECK(made) && CHECK_STATUS(ech_gf2_add(ctx, &a.m, &b.m, &to->m), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        matrix_is(&a, to == &a ? &sum : x, "a");
        matrix_is(&b, to == &b ? &sum : y, "b");
        if (to == &out) matrix_is(&out, &sum, "out");
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&out);
    bits_free(&sum);
}

/* a + a, to another matrix or to a. */
static void add_to_itself_on(ech_ctx *ctx, const struct bits *x, int in_place, uint64_t seed)
{
    struct bits zero = bits_make(x->rows, x->cols);
    struct matrix a, out;
    bool made = matrix_make(&a, place(ctx, seed, 2), x->rows, x->cols, x, 1, seed) &&
                matrix_make(&out, ctx, x->rows, x->cols, NULL, 2, seed);
    struct matrix *to = in_place ? &a : &out;
    if (CHECK(made) && CHECK_STATUS(ech_gf2_add(ctx, &a.m, &a.m, &to->m), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        matrix_is(to, &zero, "a + a");
        if (to != &a) matrix_is(&a, x, "a");
    }
    matrix_free(&a);
    matrix_free(&out);
    bits_free(&zero);
}

static void made_on(ech_ctx *ctx, size_t rows, size_t cols, uint64_t seed)
{
    struct bits zero = bits_make(rows, cols), identity = bits_of("identity", rows, cols, 0);
    struct bits ones = bits_of("ones", rows, cols, 0);
    struct matrix m;
    if (CHECK(matrix_make(&m, place(ctx, seed, 0), rows, cols, NULL, 1, seed))) {
        CHECK_STATUS(ech_gf2_identity(ctx, &m.m), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        matrix_is(&m, &identity, "identity");
        CHECK_STATUS(ech_gf2_random(ctx, &m.m, 1, seed), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        matrix_is(&m, &ones, "ones");
        CHECK_STATUS(ech_gf2_zero(ctx, &m.m), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        matrix_is(&m, &zero, "zero");
        CHECK_STATUS(ech_gf2_random(ctx, &m.m, 0, seed), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        matrix_is(&m, &zero, "random of probability 0");
    }
    matrix_free(&m);
    bits_free(&zero);
    bits_free(&identity);
    bits_free(&ones);
}

static void looked_at_on(ech_ctx *ctx, const struct bits *a, uint64_t seed)
{
    const size_t n = a->rows * a->cols;
    struct bits other = bits_copy(a);
    struct matrix m, same, out;
    struct buffer bytes, unpacked, count, equal;
    uint64_t ones = 0;
    uint8_t yes = 1, no = 0, *odd = calloc(n + 1, 1);
    if (!odd) abort();
    for (size_t i = 0; i < n; i++) {
        ones += a->at[i];
        odd[i] = (uint8_t)(a->at[i] + 2 * (i % 100)); /* only bit 0 is used */
    }
    if (n) other.at[n - 1] ^= 1;
    bool made = matrix_make(&m, ctx, a->rows, a->cols, a, 1, seed) &&
                matrix_make(&same, place(ctx, seed, 1), a->rows, a->cols, a, 0, seed + 1) &&
                matrix_make(&out, ctx, a->rows, a->cols, NULL, 0, seed + 1) &&
                array_make(&bytes, place(ctx, seed, 2), n, 1, odd) &&
                array_make(&unpacked, place(ctx, seed, 3), n, 1, NULL) &&
                array_make(&count, place(ctx, seed, 4), 1, 8, NULL) &&
                array_make(&equal, place(ctx, seed, 5), 1, 1, NULL);
    if (CHECK(made)) {
        CHECK_STATUS(ech_gf2_count(ctx, &m.m, (uint64_t *)(void *)count.data), ECH_OK);
        CHECK_STATUS(ech_gf2_equal(ctx, &m.m, &same.m, (uint8_t *)equal.data), ECH_OK);
        CHECK_STATUS(ech_gf2_unpack(ctx, &m.m, (uint8_t *)unpacked.data), ECH_OK);
        CHECK_STATUS(ech_gf2_pack(ctx, (const uint8_t *)bytes.data, &out.m), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        array_is(&count, &ones, 1, 8, "count");
        array_is(&equal, &yes, 1, 1, "equal");
        array_is(&unpacked, a->at, n, 1, "bytes");
        matrix_is(&out, a, "packed");
    }
    matrix_free(&same);
    if (n && CHECK(matrix_make(&same, ctx, a->rows, a->cols, &other, 0, seed))) {
        CHECK_STATUS(ech_gf2_equal(ctx, &m.m, &same.m, (uint8_t *)equal.data), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        array_is(&equal, &no, 1, 1, "equal, for unequal matrices");
        matrix_free(&same);
    }
    matrix_free(&m);
    matrix_free(&out);
    buffer_free(&bytes);
    buffer_free(&unpacked);
    buffer_free(&count);
    buffer_free(&equal);
    bits_free(&other);
    free(odd);
}

static void run_made(size_t rows, size_t cols)
{
    ech_ctx **contexts;
    if (!gf2_wanted(rows * cols) || !test_begin("made(%zux%zu)", rows, cols)) return;
    const uint64_t seed = rows * 131071 + cols;
    struct bits a = bits_of("random", rows, cols, seed), b = bits_of("half", rows, cols, seed);
    for (int i = 0, n = gf2_contexts(&contexts); i < n && !test_failed(); i++)
        for (uint64_t where = 0; where < 64; where += 21) {
            for (int in_place = 0; in_place < 3; in_place++)
                add_on(contexts[i], &a, &b, in_place, where);
            for (int in_place = 0; in_place < 2; in_place++)
                add_to_itself_on(contexts[i], &a, in_place, where);
            made_on(contexts[i], rows, cols, where);
            looked_at_on(contexts[i], &a, where);
        }
    bits_free(&a);
    bits_free(&b);
    test_end();
}

/* The same bits on every device. The number of ones agrees with the probability. */
static void run_random(double probability)
{
    enum { ROWS = 60, COLS = 330, WORDS = 6 };
    static uint64_t first[ROWS * WORDS], words[ROWS * WORDS];
    ech_ctx **contexts;
    if (!test_begin("random(%g)", probability)) return;
    memset(first, 0, sizeof first);
    memset(words, 0, sizeof words);
    ech_ctx *cpu;
    ech_gf2 m = { sizeof(ech_gf2), first, ROWS, COLS, WORDS },
            other = { sizeof(ech_gf2), words, ROWS, COLS, WORDS };
    uint64_t ones = 0;
    if (CHECK_STATUS(ech_open(&cpu, "cpu"), ECH_OK)) {
        CHECK_STATUS(ech_gf2_random(cpu, &m, probability, 5), ECH_OK);
        CHECK_STATUS(ech_gf2_count(cpu, &m, &ones), ECH_OK);
        CHECK((double)ones > probability * ROWS * COLS - 400);
        CHECK((double)ones < probability * ROWS * COLS + 400);
        for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) {
            CHECK_STATUS(ech_gf2_random(contexts[i], &other, probability, 5), ECH_OK);
            CHECK(memcmp(first, words, sizeof words) == 0);
        }
        CHECK_STATUS(ech_gf2_random(cpu, &m, probability, 6), ECH_OK);
        CHECK(probability == 0 || probability == 1 || memcmp(first, words, sizeof words) != 0);
        ech_close(cpu);
    }
    test_end();
}

/* ---- Products ---- */

static void mul_by(ech_ctx *ctx, const struct bits *x, const struct bits *y,
                   const struct bits *before, const struct bits *wanted, bool vectors,
                   const char *algorithm, uint64_t where)
{
    const ech_gf2_options options = { .size = sizeof options,
                                      .algorithm = algorithm[0] ? algorithm : NULL };
    struct matrix a, b, out;
    bool made = matrix_make(&a, place(ctx, where, 4), x->rows, x->cols, x, where % 2, where) &&
                matrix_make(&b, place(ctx, where, 5), y->rows, y->cols, y, where % 3, where + 1) &&
                matrix_make(&out, place(ctx, where, 6), wanted->rows, wanted->cols, before,
                            where % 2, where + 2);
    ech_status status = ECH_OK;
    if (CHECK(made)) {
        if (vectors)
            status = ech_gf2_mul_vec(ctx, &a.m, &b.m, &out.m, &options);
        else if (before)
            status = ech_gf2_addmul(ctx, &a.m, &b.m, &out.m, &options);
        else
            status = ech_gf2_mul(ctx, &a.m, &b.m, &out.m, &options);
        if (CHECK_STATUS(status, ECH_OK) && CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
            matrix_is(&out, wanted, "out");
            matrix_is(&a, x, "a");
            matrix_is(&b, y, "b");
        }
        if (test_failed()) test_fail(__FILE__, __LINE__, "by algorithm \"%s\"", algorithm);
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&out);
}

static void run_mul(size_t m, size_t k, size_t n, const char *dist)
{
    char names[GF2_ALGORITHMS][GF2_NAME_BYTES];
    ech_ctx **contexts;
    if (!gf2_wanted(m * n + k) || !test_begin("mul(%zux%zux%zu,%s)", m, k, n, dist)) return;
    const uint64_t seed = (m * 8191 + k) * 8191 + n;
    struct bits a = bits_of(dist, m, k, seed), b = bits_of("random", k, n, seed + 1);
    struct bits before = bits_of("random", m, n, seed + 2), product = bits_mul(&a, &b);
    struct bits sum = bits_copy(&before), vectors = bits_transpose(&b);
    struct bits images = bits_transpose(&product);
    for (size_t i = 0; i < m * n; i++) sum.at[i] ^= product.at[i];
    for (int i = 0, devices = gf2_contexts(&contexts); i < devices; i++) {
        int count = gf2_algorithms(contexts[i], ECH_GF2_CALL_MUL, m, k, n, names);
        for (int j = 0; j < count && !test_failed(); j++) {
            uint64_t where = j ? seed % 16 : seed % 128;
            mul_by(contexts[i], &a, &b, NULL, &product, false, names[j], where);
            mul_by(contexts[i], &a, &b, &before, &sum, false, names[j], where);
        }
        count = gf2_algorithms(contexts[i], ECH_GF2_CALL_MUL_VEC, n, k, m, names);
        for (int j = 0; j < count && !test_failed(); j++)
            mul_by(contexts[i], &a, &vectors, NULL, &images, true, names[j],
                   j ? seed % 16 : seed % 128);
    }
    bits_free(&a);
    bits_free(&b);
    bits_free(&before);
    bits_free(&product);
    bits_free(&sum);
    bits_free(&vectors);
    bits_free(&images);
    test_end();
}

/* Products that are divided into products of halves or quarters, which other small ones are not. */
static void run_divided(const char *algorithm, size_t m, size_t k, size_t n)
{
    ech_ctx **contexts;
    if (!test_begin("divided(%s,%zux%zux%zu)", algorithm, m, k, n)) return;
    struct bits a = bits_of("random", m, k, n), b = bits_of("random", k, n, m);
    struct bits before = bits_of("random", m, n, k), product = bits_mul(&a, &b);
    int ran = 0;
    for (size_t i = 0; i < m * n; i++) product.at[i] ^= before.at[i];
    for (int i = 0, devices = gf2_contexts(&contexts); i < devices; i++) {
        char names[GF2_ALGORITHMS][GF2_NAME_BYTES];
        int count = gf2_algorithms(contexts[i], ECH_GF2_CALL_MUL, m, k, n, names);
        for (int j = 0; j < count; j++) {
            if (strcmp(names[j], algorithm) != 0) continue;
            mul_by(contexts[i], &a, &b, &before, &product, false, algorithm, 3);
            ran++;
        }
    }
    if (!ran) test_skip("no device has this algorithm");
    bits_free(&a);
    bits_free(&b);
    bits_free(&before);
    bits_free(&product);
    test_end();
}

static void run_products(void)
{
    static const size_t sizes[] = { 1, 7, 8, 63, 64, 65, 127, 128, 129, 200, 257 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < SIZES * SIZES; i++)
        run_mul(sizes[i % SIZES], sizes[i / SIZES], sizes[(i * 7 + i / SIZES) % SIZES],
                i % 4 == 3 ? "sparse" : "random");
    run_mul(0, 5, 5, "random");
    run_mul(5, 0, 5, "random");
    run_mul(5, 5, 0, "random");
    run_mul(1, 3000, 2000, "random");
    run_mul(2000, 3000, 1, "random");
    run_mul(513, 511, 1025, "random");
    run_mul(1025, 1030, 700, "half");
    run_mul(2100, 2060, 2200, "random");
}

/* ---- Views, bad arguments ---- */

static void run_views(void)
{
    uint64_t words[60] = { 0 };
    const ech_gf2 a = { sizeof(ech_gf2), words, 10, 300, 6 };
    ech_gf2 view = { .size = sizeof view };
    if (!test_begin("views")) return;
    CHECK_INT(ech_gf2_stride(0), 0);
    CHECK_INT(ech_gf2_stride(1), 1);
    CHECK_INT(ech_gf2_stride(64), 1);
    CHECK_INT(ech_gf2_stride(65), 2);
    CHECK_STATUS(ech_gf2_view(&a, 2, 128, 3, 100, &view), ECH_OK);
    CHECK(view.words == words + 14 && view.rows == 3 && view.cols == 100 && view.stride == 6);
    CHECK_STATUS(ech_gf2_view(&a, 10, 256, 0, 44, &view), ECH_OK);
    CHECK_FAILS(NULL, ech_gf2_view(&a, 2, 65, 3, 10, &view), ECH_ERR_ARG, "multiple of 64");
    CHECK_FAILS(NULL, ech_gf2_view(&a, 8, 0, 3, 10, &view), ECH_ERR_ARG, "rows 8 to 11");
    CHECK_FAILS(NULL, ech_gf2_view(&a, 0, 256, 3, 45, &view), ECH_ERR_ARG, "columns 256 to 301");
    CHECK_FAILS(NULL, ech_gf2_view(NULL, 0, 0, 1, 1, &view), ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(NULL, ech_gf2_view(&a, 0, 0, 1, 1, NULL), ECH_ERR_ARG, "view is NULL");
    test_end();
}

/* Two halves of one matrix may be used as two matrices, unless they share a word. */
static void views_on(ech_ctx *ctx)
{
    struct bits both = bits_of("random", 40, 192, 9);
    struct bits wanted = bits_copy(&both);
    struct matrix m;
    ech_gf2 left = { .size = sizeof left }, right = left, wide = left;
    for (size_t i = 0; i < 40; i++) memcpy(wanted.at + i * 192 + 128, wanted.at + i * 192, 64);
    for (int host = 0; host < 2; host++) {
        if (!CHECK(matrix_make(&m, host ? NULL : ctx, 40, 192, &both, 1, 3))) return;
        CHECK_STATUS(ech_gf2_view(&m.m, 0, 0, 40, 64, &left), ECH_OK);
        CHECK_STATUS(ech_gf2_view(&m.m, 0, 128, 40, 64, &right), ECH_OK);
        CHECK_STATUS(ech_gf2_view(&m.m, 0, 64, 40, 128, &wide), ECH_OK);
        CHECK_STATUS(ech_gf2_copy(ctx, &left, 0, 0, &right, 0, 0, 40, 64), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        matrix_is(&m, &wanted, "both");
        CHECK_STATUS(ech_gf2_copy(ctx, &wide, 0, 0, &left, 0, 0, 40, 64), ECH_OK);
        CHECK_FAILS(ctx, ech_gf2_copy(ctx, &wide, 0, 64, &right, 0, 0, 40, 64), ECH_ERR_ARG,
                    "overlap");
        matrix_free(&m);
    }
    bits_free(&both);
    bits_free(&wanted);
}

static void bad_on(ech_ctx *ctx)
{
    uint64_t words[16] = { 0 }, other[16] = { 0 };
    uint32_t order[4] = { 0, 3, 4, 1 };
    ech_gf2 a = { sizeof(ech_gf2), words, 4, 4, 1 }, out = { sizeof(ech_gf2), other, 4, 4, 1 },
            wide = { sizeof(ech_gf2), other, 4, 70, 2 };
    ech_gf2_options o = { .size = 1 };
    CHECK_FAILS(ctx, ech_gf2_add(ctx, &a, NULL, &out), ECH_ERR_ARG, "b is NULL");
    CHECK_FAILS(ctx, ech_gf2_add(ctx, &a, &wide, &out), ECH_ERR_ARG, "b is 4 x 70, not 4 x 4");
    CHECK_FAILS(ctx, ech_gf2_transpose(ctx, &a, &wide), ECH_ERR_ARG, "out is 4 x 70");
    CHECK_FAILS(ctx, ech_gf2_transpose(ctx, &a, &a), ECH_ERR_ARG, "overlap");
    const int64_t negative[4] = { 0, -1, 2, 1 };
    CHECK_FAILS(ctx, ech_gf2_gather_rows(ctx, &a, order, &out, ECH_U32), ECH_ERR_ARG, "index[2]");
    CHECK_FAILS(ctx, ech_gf2_gather_cols(ctx, &a, order, &out, ECH_I32), ECH_ERR_ARG, "index[2]");
    CHECK_FAILS(ctx, ech_gf2_gather_cols(ctx, &a, negative, &out, ECH_I64), ECH_ERR_ARG,
                "index[1]");
    CHECK_FAILS(ctx, ech_gf2_gather_cols(ctx, &a, order, &out, ECH_U16), ECH_ERR_ARG,
                "index_dtype is u16");
    CHECK_FAILS(ctx, ech_gf2_gather_rows(ctx, &a, order, &out, (ech_dtype)0), ECH_ERR_ARG,
                "index_dtype is i8");
    CHECK_FAILS(ctx, ech_gf2_gather_cols(ctx, &a, NULL, &out, ECH_U64), ECH_ERR_ARG,
                "index is NULL");
    CHECK_FAILS(ctx, ech_gf2_copy(ctx, &a, 1, 0, &out, 0, 0, 4, 1), ECH_ERR_ARG, "outside of from");
    CHECK_FAILS(ctx, ech_gf2_copy(ctx, &a, 0, 0, &out, 0, 4, 4, 1), ECH_ERR_ARG, "outside of to");
    CHECK_FAILS(ctx, ech_gf2_random(ctx, &out, 1.5, 0), ECH_ERR_ARG, "probability");
    CHECK_FAILS(ctx, ech_gf2_random(ctx, &out, -0.1, 0), ECH_ERR_ARG, "probability");
    CHECK_FAILS(ctx, ech_gf2_count(ctx, &a, NULL), ECH_ERR_ARG, "count is NULL");
    CHECK_FAILS(ctx, ech_gf2_mul(ctx, &a, &wide, &out, NULL), ECH_ERR_ARG, "out is 4 x 4");
    CHECK_FAILS(ctx, ech_gf2_mul(ctx, &wide, &a, &out, NULL), ECH_ERR_ARG, "b is 4 x 4");
    CHECK_FAILS(ctx, ech_gf2_mul(ctx, &a, &a, &a, NULL), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_gf2_mul(ctx, &a, &a, &out, &o), ECH_ERR_ARG, "options->size");
    o = (ech_gf2_options){ .size = sizeof o, .algorithm = "magic" };
    CHECK_FAILS(ctx, ech_gf2_mul(ctx, &a, &a, &out, &o), ECH_ERR_ARG, "magic");
}

static void run_bad(void)
{
    ech_ctx **contexts;
    if (!test_begin("bad arguments")) return;
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) {
        bad_on(contexts[i]);
        views_on(contexts[i]);
    }
    test_end();
}

int main(int argc, char **argv)
{
    static const double probabilities[] = { 0, 0.5, 0.1, 0.75, 0.999, 1 };
    test_main(argc, argv);
    run_views();
    run_bad();
    run_progress();
    for (int i = 0; i < 6; i++) run_random(probabilities[i]);
    for (int i = 0; i < SHAPES; i++) {
        run_copy(shapes[i][0], shapes[i][1]);
        run_moves(shapes[i][0], shapes[i][1]);
        run_made(shapes[i][0], shapes[i][1]);
    }
    run_products();
    run_divided("strassen", 300, 260, 513);
    run_divided("strassen2", 513, 600, 530);
    run_moves(40, 60000); /* more columns than shared memory has words */
    gf2_close();
    return test_finish();
}
