/*
 * test_gf2_echelon.c - echelon forms, ranks, decompositions, solutions, nullspaces and inverses
 * over GF(2), compared with textbook elimination, with every algorithm on every device.
 *
 *     test_gf2_echelon                       every case on every device
 *     test_gf2_echelon 'echelon(65x63,half'  cases with this prefix; data depends only on the id
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dists[] = { "random", "zero", "identity", "ones", "sparse",
                                     "upper",  "last", "repeat",   "few",  "half" };
enum { DISTS = sizeof dists / sizeof *dists };

/* Shapes near multiples of words, pairs of words, and the panels of algorithms. */
static const size_t shapes[][2] = { { 0, 0 },      { 0, 5 },      { 5, 0 },      { 1, 1 },
                                    { 1, 130 },    { 130, 1 },    { 7, 9 },      { 8, 8 },
                                    { 63, 65 },    { 64, 64 },    { 65, 63 },    { 64, 200 },
                                    { 200, 64 },   { 127, 129 },  { 128, 128 },  { 129, 127 },
                                    { 70, 320 },   { 320, 70 },   { 255, 257 },  { 256, 256 },
                                    { 300, 1000 }, { 1000, 300 }, { 511, 513 },  { 512, 512 },
                                    { 513, 511 },  { 600, 600 },  { 1025, 1030 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint32_t *random_order(size_t limit, uint64_t seed)
{
    struct rng rng = { seed };
    uint32_t *order = malloc((limit + 1) * sizeof *order);
    if (!order) abort();
    shuffle(order, limit, &rng);
    return order;
}

/* ---- Echelon forms and ranks ---- */

struct form {
    size_t rows, cols;
    const char *dist;
    ech_gf2_form form;
    bool ordered, transform, rows_from, pivots;
    size_t columns, max_rank, extra;
};
struct wanted {
    struct bits result, t;
    uint32_t rank, *pivots, *rows_from;
};

static ech_gf2_echelon_options options_of(const struct form *f, const char *algorithm)
{
    return (ech_gf2_echelon_options){ .size = sizeof(ech_gf2_echelon_options),
                                      .form = f->form,
                                      .pivot_cols = f->columns,
                                      .max_rank = f->max_rank,
                                      .algorithm = algorithm[0] ? algorithm : NULL };
}

static void echelon_by(ech_ctx *ctx, const struct form *f, const char *algorithm,
                       const struct bits *content, const uint32_t *order, const struct wanted *w,
                       uint64_t seed)
{
    struct matrix a, t = { .words = 0 };
    struct buffer rank, pivots, rows_from, order_there;
    const size_t columns = f->columns ? f->columns : f->cols, n = least(f->rows, f->cols);
    const uint64_t where = algorithm[0] ? 0 : seed; /* the first algorithm also with host memory */
    ech_gf2_echelon_options options = options_of(f, algorithm);
    const ech_dtype index = options.index_dtype = index_dtype(seed, 0);
    bool made = matrix_make(&a, place(ctx, where, 8), f->rows, f->cols, content, f->extra, seed) &&
                array_make(&rank, place(ctx, where, 9), 1, 4, NULL) &&
                positions_make(&pivots, place(ctx, where, 10), n, index, NULL) &&
                positions_make(&rows_from, place(ctx, where, 11), f->rows, index, NULL) &&
                positions_make(&order_there, place(ctx, where, 12), columns, index, order) &&
                matrix_make(&t, place(ctx, where, 13), f->rows, f->rows, NULL, f->extra, seed + 1);
    if (!CHECK(made)) return;
    if (f->ordered) options.column_order = order_there.data;
    if (f->transform) options.transform = &t.m;
    if (f->rows_from) options.rows_from = rows_from.data;
    uint32_t *rank_there = (uint32_t *)(void *)rank.data;
    void *pivots_there = f->pivots ? pivots.data : NULL;
    if (CHECK_STATUS(ech_gf2_echelon(ctx, &a.m, rank_there, pivots_there, &options), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&rank, &w->rank, 1, 4, "rank");
        matrix_is(&a, &w->result, "a");
        if (f->pivots) positions_are(&pivots, w->pivots, w->rank, index, "pivots");
        if (f->rows_from) positions_are(&rows_from, w->rows_from, f->rows, index, "rows_from");
        if (f->transform) matrix_is(&t, &w->t, "transform");
    }
    matrix_free(&a);
    matrix_free(&t);
    buffer_free(&rank);
    buffer_free(&pivots);
    buffer_free(&rows_from);
    buffer_free(&order_there);
}

static void rank_of(ech_ctx *ctx, const struct form *f, const char *name,
                    const struct bits *content, const uint32_t *order, uint32_t wanted)
{
    struct matrix a;
    struct buffer rank, order_there;
    ech_gf2_echelon_options options = options_of(f, name);
    bool made = matrix_make(&a, ctx, f->rows, f->cols, content, f->extra, wanted) &&
                array_make(&rank, ctx, 1, 4, NULL) &&
                array_make(&order_there, ctx, f->columns ? f->columns : f->cols, 4, order);
    if (!CHECK(made)) return;
    if (f->ordered) options.column_order = order_there.data;
    if (CHECK_STATUS(ech_gf2_rank(ctx, &a.m, (uint32_t *)(void *)rank.data, &options), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&rank, &wanted, 1, 4, "rank of ech_gf2_rank()");
        matrix_is(&a, content, "a of ech_gf2_rank()");
    }
    matrix_free(&a);
    buffer_free(&rank);
    buffer_free(&order_there);
}

static void run_form(const struct form *f)
{
    char id[256], names[GF2_ALGORITHMS][GF2_NAME_BYTES];
    ech_ctx **contexts;
    if (!gf2_wanted(f->rows * f->cols)) return;
    snprintf(id, sizeof id, "echelon(%zux%zu,%s,%s,columns=%zu,max_rank=%zu,extra=%zu%s%s%s%s)",
             f->rows, f->cols, f->dist, f->form == ECH_GF2_FORM_REDUCED ? "reduced" : "echelon",
             f->columns, f->max_rank, f->extra, f->ordered ? ",order" : "",
             f->transform ? ",transform" : "", f->rows_from ? ",rows_from" : "",
             f->pivots ? ",pivots" : "");
    if (!test_begin("%s", id)) return;
    const uint64_t seed = hash_text(id);
    struct bits content = bits_of(f->dist, f->rows, f->cols, seed);
    uint32_t *order = random_order(f->cols, seed + 1);
    struct wanted w = { .result = bits_copy(&content), .t = bits_make(f->rows, f->rows) };
    w.pivots = calloc(f->rows + 1, sizeof *w.pivots);
    w.rows_from = calloc(f->rows + 1, sizeof *w.rows_from);
    if (!w.pivots || !w.rows_from) abort();
    w.rank = bits_echelon(&w.result, f->ordered ? order : NULL, f->columns ? f->columns : f->cols,
                          f->max_rank ? f->max_rank : f->rows, f->form == ECH_GF2_FORM_REDUCED,
                          w.pivots, w.rows_from, f->transform ? &w.t : NULL);
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) {
        int count = gf2_algorithms(contexts[i], ECH_GF2_CALL_ECHELON, f->rows, f->cols, 1, names);
        for (int j = 0; j < count && !test_failed(); j++)
            echelon_by(contexts[i], f, names[j], &content, order, &w, seed);
        const char *name = names[seed % (unsigned)count];
        if (!test_failed()) rank_of(contexts[i], f, name, &content, order, w.rank);
    }
    bits_free(&content);
    bits_free(&w.result);
    bits_free(&w.t);
    free(w.pivots);
    free(w.rows_from);
    free(order);
    test_end();
}

static void run_forms(void)
{
    for (int i = 0; i < SHAPES; i++)
        for (int d = 0; d < DISTS; d++)
            for (unsigned form = 0; form < 2; form++) {
                const unsigned k = (unsigned)(i * DISTS + d) * 2 + form;
                struct form f = { .rows = shapes[i][0],
                                  .cols = shapes[i][1],
                                  .dist = dists[d],
                                  .form = (ech_gf2_form)form,
                                  .ordered = k % 3 == 1,
                                  .transform = k % 5 == 2,
                                  .rows_from = k % 4 != 1,
                                  .pivots = k % 7 != 3,
                                  .extra = k % 3 };
                if (f.cols && k % 6 == 4) f.columns = (f.cols + 1) / 2;
                if (f.rows && k % 11 == 5) f.max_rank = least(f.rows, f.cols) / 3 + 1;
                run_form(&f);
            }
    const struct form large[] = {
        { .rows = 2100, .cols = 2050, .dist = "random", .pivots = true, .rows_from = true },
        { .rows = 2100,
          .cols = 2050,
          .dist = "half",
          .form = ECH_GF2_FORM_ECHELON,
          .rows_from = true },
        { .rows = 700, .cols = 4500, .dist = "half", .pivots = true, .extra = 1 },
        { .rows = 4500, .cols = 700, .dist = "repeat", .pivots = true, .extra = 1 },
        { .rows = 1500, .cols = 1500, .dist = "half", .ordered = true, .transform = true },
        { .rows = 1900, .cols = 2300, .dist = "sparse", .pivots = true },
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) run_form(&large[i]);
}

/* ---- Decompositions ---- */

static void pluq_on(ech_ctx *ctx, const struct bits *content, uint32_t wanted_rank, uint64_t seed)
{
    const size_t rows = content->rows, cols = content->cols;
    struct matrix a;
    struct buffer rank, p, q;
    uint32_t *p_got = calloc(rows + 1, 4), *q_got = calloc(cols + 1, 4);
    if (!p_got || !q_got) abort();
    bool made = matrix_make(&a, ctx, rows, cols, content, seed % 3, seed) &&
                array_make(&rank, ctx, 1, 4, NULL) && array_make(&p, ctx, rows, 4, NULL) &&
                array_make(&q, ctx, cols, 4, NULL);
    if (!CHECK(made)) return;
    ech_status status = ech_gf2_pluq(ctx, &a.m, (uint32_t *)(void *)rank.data,
                                     (uint32_t *)(void *)p.data, (uint32_t *)(void *)q.data, NULL);
    if (CHECK_STATUS(status, ECH_OK) && CHECK_STATUS(ech_sync(ctx), ECH_OK) &&
        array_is(&rank, &wanted_rank, 1, 4, "rank") && CHECK(buffer_get(&p, p_got)) &&
        CHECK(buffer_get(&q, q_got))) {
        uint64_t *words = malloc(a.words * sizeof *words + 1);
        struct bits lower = bits_make(rows, wanted_rank), upper = bits_make(wanted_rank, cols);
        struct bits permuted = bits_make(rows, cols), packed = bits_make(rows, cols);
        bool in_range = words && buffer_get(&a.buffer, words);
        size_t bad = 0;
        for (size_t i = 0; in_range && i < rows; i++) in_range = p_got[i] < rows;
        for (size_t j = 0; in_range && j < cols; j++) in_range = q_got[j] < cols;
        for (size_t i = 0; CHECK(in_range) && i < rows; i++)
            for (size_t j = 0; j < cols; j++) {
                uint8_t bit = words[i * a.m.stride + j / 64] >> j % 64 & 1;
                packed.at[i * cols + j] = bit;
                permuted.at[i * cols + j] = content->at[p_got[i] * cols + q_got[j]];
                if (j < wanted_rank && j <= i) lower.at[i * wanted_rank + j] = j == i || bit;
                if (i < wanted_rank && j >= i) upper.at[i * cols + j] = bit;
                bad += i >= wanted_rank && j >= wanted_rank && bit;
                bad += i == j && i < wanted_rank && !bit;
            }
        CHECK_INT(bad, 0); /* ones below both factors, or zeros on the diagonal of U */
        struct bits product = bits_mul(&lower, &upper);
        CHECK(bits_same(&product, &permuted));
        matrix_is(&a, &packed, "a"); /* also checks the surrounding bits */
        bits_free(&product);
        bits_free(&lower);
        bits_free(&upper);
        bits_free(&permuted);
        bits_free(&packed);
        free(words);
    }
    matrix_free(&a);
    buffer_free(&rank);
    buffer_free(&p);
    buffer_free(&q);
    free(p_got);
    free(q_got);
}

static void run_pluq(size_t rows, size_t cols, const char *dist)
{
    ech_ctx **contexts;
    if (!gf2_wanted(rows * cols) || !test_begin("pluq(%zux%zu,%s)", rows, cols, dist)) return;
    const uint64_t seed = rows * 1000003 + cols;
    struct bits content = bits_of(dist, rows, cols, seed), e = bits_copy(&content);
    uint32_t rank = bits_echelon(&e, NULL, cols, rows, false, NULL, NULL, NULL);
    for (int i = 0, n = gf2_contexts(&contexts); i < n && !test_failed(); i++)
        pluq_on(contexts[i], &content, rank, seed);
    bits_free(&content);
    bits_free(&e);
    test_end();
}

/* ---- Solutions ---- */

struct system {
    struct bits a, b, x, certificate;
    uint8_t *solvable;
};

/* Computes the solution with free bits 0 by elimination of [a | b]. The odd columns of b are
 * solvable. */
static struct system system_of(size_t rows, size_t cols, size_t k, const char *dist, uint64_t seed)
{
    struct system s = { .a = bits_of(dist, rows, cols, seed), .x = bits_make(cols, k) };
    struct bits some = bits_of("random", cols, k, seed + 1), t = bits_make(rows, rows);
    uint32_t *pivots = calloc(rows + 1, sizeof *pivots);
    struct rng rng = { seed + 2 };
    s.b = bits_mul(&s.a, &some);
    s.solvable = calloc(k + 1, 1);
    s.certificate = bits_make(k, rows);
    if (!pivots || !s.solvable) abort();
    for (size_t j = 0; j < k; j += 2)
        for (size_t i = 0; i < rows; i++) s.b.at[i * k + j] ^= rng_below(&rng, 7) == 0;
    struct bits e = bits_copy(&s.a);
    uint32_t rank = bits_echelon(&e, NULL, cols, rows, true, pivots, NULL, &t);
    struct bits tb = bits_mul(&t, &s.b);
    for (size_t j = 0; j < k; j++) {
        size_t bad = rank;
        while (bad < rows && !tb.at[bad * k + j]) bad++;
        s.solvable[j] = bad == rows;
        for (size_t i = 0; i < rank && s.solvable[j]; i++)
            s.x.at[pivots[i] * k + j] = tb.at[i * k + j];
        if (bad < rows) memcpy(s.certificate.at + j * rows, t.at + bad * rows, rows);
    }
    bits_free(&some);
    bits_free(&t);
    bits_free(&e);
    bits_free(&tb);
    free(pivots);
    return s;
}

static void solve_on(ech_ctx *ctx, const struct system *s, bool all, uint64_t where)
{
    const size_t rows = s->a.rows, cols = s->a.cols, k = s->b.cols;
    struct matrix a, b, x, certificate;
    struct buffer solvable;
    bool made = matrix_make(&a, place(ctx, where, 4), rows, cols, &s->a, 1, where) &&
                matrix_make(&b, place(ctx, where, 5), rows, k, &s->b, 0, where + 1) &&
                matrix_make(&x, place(ctx, where, 6), cols, k, NULL, 1, where + 2) &&
                matrix_make(&certificate, place(ctx, where, 7), k, rows, NULL, 0, where + 3) &&
                array_make(&solvable, place(ctx, where, 8), k, 1, NULL);
    if (!CHECK(made)) return;
    ech_status status = ech_gf2_solve(ctx, &a.m, &b.m, &x.m, all ? (uint8_t *)solvable.data : NULL,
                                      all ? &certificate.m : NULL, NULL);
    if (CHECK_STATUS(status, ECH_OK) && CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        matrix_is(&a, &s->a, "a");
        matrix_is(&b, &s->b, "b");
        matrix_is(&x, &s->x, "x");
        if (all) array_is(&solvable, s->solvable, k, 1, "solvable");
        if (all) matrix_is(&certificate, &s->certificate, "certificate");
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&x);
    matrix_free(&certificate);
    buffer_free(&solvable);
}

static void run_solve(size_t rows, size_t cols, size_t k, const char *dist)
{
    ech_ctx **contexts;
    if (!gf2_wanted(rows * (cols + k))) return;
    if (!test_begin("solve(%zux%zu,k=%zu,%s)", rows, cols, k, dist)) return;
    const uint64_t seed = rows * 1000003 + cols * 1009 + k;
    struct system s = system_of(rows, cols, k, dist, seed);
    for (int i = 0, n = gf2_contexts(&contexts); i < n && !test_failed(); i++) {
        solve_on(contexts[i], &s, true, 0);
        solve_on(contexts[i], &s, seed % 2, seed);
    }
    bits_free(&s.a);
    bits_free(&s.b);
    bits_free(&s.x);
    bits_free(&s.certificate);
    free(s.solvable);
    test_end();
}

/* ---- Nullspaces and inverses ---- */

static void kernel_on(ech_ctx *ctx, const struct bits *content, const struct bits *basis, bool left,
                      size_t more_rows, uint64_t seed)
{
    struct bits wanted = bits_make(basis->rows + more_rows, basis->cols);
    struct matrix a, out;
    struct buffer dim;
    uint32_t dim_wanted = (uint32_t)basis->rows;
    memcpy(wanted.at, basis->at, basis->rows * basis->cols);
    bool made = matrix_make(&a, ctx, content->rows, content->cols, content, 1, seed) &&
                matrix_make(&out, ctx, wanted.rows, wanted.cols, NULL, 1, seed) &&
                array_make(&dim, ctx, 1, 4, NULL);
    if (!CHECK(made)) return;
    uint32_t *dim_there = (uint32_t *)(void *)dim.data;
    ech_status status = left ? ech_gf2_left_nullspace(ctx, &a.m, &out.m, dim_there, NULL)
                             : ech_gf2_nullspace(ctx, &a.m, &out.m, dim_there, NULL);
    if (CHECK_STATUS(status, ECH_OK) && CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&dim, &dim_wanted, 1, 4, "dim");
        matrix_is(&out, &wanted, left ? "left basis" : "basis");
        matrix_is(&a, content, "a");
    }
    matrix_free(&a);
    matrix_free(&out);
    buffer_free(&dim);
    bits_free(&wanted);
}

static void run_kernel(size_t rows, size_t cols, const char *dist)
{
    ech_ctx **contexts;
    if (!gf2_wanted(rows * cols) || !test_begin("kernel(%zux%zu,%s)", rows, cols, dist)) return;
    const uint64_t seed = rows * 1000003 + cols;
    struct bits a = bits_of(dist, rows, cols, seed), turned = bits_transpose(&a);
    struct bits basis = bits_kernel(&a), left = bits_kernel(&turned);
    for (int i = 0, n = gf2_contexts(&contexts); i < n && !test_failed(); i++) {
        kernel_on(contexts[i], &a, &basis, false, 0, seed);
        kernel_on(contexts[i], &a, &basis, false, 3, seed);
        kernel_on(contexts[i], &a, &left, true, 0, seed);
    }
    bits_free(&a);
    bits_free(&turned);
    bits_free(&basis);
    bits_free(&left);
    test_end();
}

static void inverse_on(ech_ctx *ctx, const struct bits *content, const struct bits *inverse,
                       uint32_t rank_wanted, uint64_t seed)
{
    const size_t n = content->rows;
    struct matrix a, out;
    struct buffer rank;
    bool made = matrix_make(&a, ctx, n, n, content, 1, seed) &&
                matrix_make(&out, ctx, n, n, NULL, 2, seed) && array_make(&rank, ctx, 1, 4, NULL);
    if (!CHECK(made)) return;
    ech_status status = ech_gf2_inverse(ctx, &a.m, &out.m, (uint32_t *)(void *)rank.data, NULL);
    if (CHECK_STATUS(status, ECH_OK) && CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&rank, &rank_wanted, 1, 4, "rank");
        matrix_is(&a, content, "a");
        if (rank_wanted == n) matrix_is(&out, inverse, "inverse");
    }
    matrix_free(&a);
    matrix_free(&out);
    buffer_free(&rank);
}

/* Random invertible matrices, created as products of triangular ones, and singular matrices. */
static void run_inverse(size_t n, bool singular)
{
    ech_ctx **contexts;
    if (!gf2_wanted(n * n) || !test_begin("inverse(%zu%s)", n, singular ? ",singular" : "")) return;
    struct bits upper = bits_of("upper", n, n, n), other = bits_of("upper", n, n, n + 1);
    struct bits lower = bits_transpose(&other), a = bits_mul(&upper, &lower);
    if (singular) /* the last row equals the first; n >= 2 */
        for (size_t j = 0; j < n; j++) a.at[(n - 1) * n + j] = a.at[j];
    struct bits e = bits_copy(&a), t = bits_make(n, n);
    uint32_t rank = bits_echelon(&e, NULL, n, n, true, NULL, NULL, &t);
    if (CHECK(singular ? rank < n : rank == n))
        for (int i = 0, count = gf2_contexts(&contexts); i < count && !test_failed(); i++)
            inverse_on(contexts[i], &a, &t, rank, n);
    bits_free(&upper);
    bits_free(&other);
    bits_free(&lower);
    bits_free(&a);
    bits_free(&e);
    bits_free(&t);
    test_end();
}

static void run_others(void)
{
    static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 129, 300, 700 };
    for (int i = 0; i < SHAPES; i++)
        for (int d = i % 3; d < DISTS; d += 3) {
            const size_t rows = shapes[i][0], cols = shapes[i][1];
            run_pluq(rows, cols, dists[d]);
            run_kernel(rows, cols, dists[d]);
            run_solve(rows, cols, 1 + (size_t)d * 13, dists[d]);
            if (i % 5 == 0) run_solve(rows, cols, 0, dists[d]);
        }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) run_inverse(sizes[i], false);
    for (size_t i = 2; i < sizeof sizes / sizeof *sizes; i++) run_inverse(sizes[i], true);
}

/* ---- Bad arguments ---- */

static void *no_memory(void *user, size_t bytes, void *stream)
{
    (void)user, (void)bytes, (void)stream;
    return NULL;
}

static void releases_nothing(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user, (void)pointer, (void)bytes, (void)stream;
}

static void bad_on(ech_ctx *ctx)
{
    uint64_t words[64] = { 5, 6, 7, 8 }, other[64] = { 0 };
    uint32_t rank = 0, positions[8] = { 0 };
    const uint32_t twice[] = { 1, 2, 1 }, far[] = { 0, 9, 1 };
    ech_gf2 a = { sizeof(ech_gf2), words, 4, 5, 1 }, b = { sizeof(ech_gf2), other, 4, 5, 1 },
            bad = a;
    ech_gf2_echelon_options o = { .size = sizeof o };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, NULL, &rank, NULL, NULL), ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, NULL, NULL, NULL), ECH_ERR_ARG, "rank is NULL");
    bad.stride = 0;
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &bad, &rank, NULL, NULL), ECH_ERR_ARG, "stride");
    bad = (ech_gf2){ sizeof(ech_gf2), NULL, 4, 5, 1 };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &bad, &rank, NULL, NULL), ECH_ERR_ARG, "a is NULL");
    bad = (ech_gf2){ sizeof(ech_gf2), words, (size_t)1 << 40, 5, 1 };
    CHECK_FAILS(ctx, ech_gf2_rank(ctx, &bad, &rank, NULL), ECH_ERR_ARG, "2^32 - 1");
    o.size = 3;
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &o), ECH_ERR_ARG, "options->size");
    o = (ech_gf2_echelon_options){ .size = sizeof o, .pivot_cols = 6 };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &o), ECH_ERR_ARG, "options->pivot_cols");
    o = (ech_gf2_echelon_options){ .size = sizeof o, .algorithm = "magic" };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &o), ECH_ERR_ARG, "magic");
    o = (ech_gf2_echelon_options){ .size = sizeof o, .form = (ech_gf2_form)7 };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &o), ECH_ERR_ARG, "options->form");
    o = (ech_gf2_echelon_options){ .size = sizeof o, .column_order = twice, .pivot_cols = 3 };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &o), ECH_ERR_ARG, "order[2]");
    o.column_order = far;
    CHECK_FAILS(ctx, ech_gf2_rank(ctx, &a, &rank, &o), ECH_ERR_ARG, "order[1]");
    o = (ech_gf2_echelon_options){ .size = sizeof o, .transform = &b };
    CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &o), ECH_ERR_ARG, "4 x 5, not 4 x 4");
    CHECK_FAILS(ctx, ech_gf2_rank(ctx, &a, &rank, &o), ECH_ERR_ARG, "options->transform");
    o = (ech_gf2_echelon_options){ .size = sizeof o, .max_rank = 1 };
    CHECK_FAILS(ctx, ech_gf2_pluq(ctx, &a, &rank, positions, positions + 4, &o), ECH_ERR_ARG,
                "options->max_rank");
    CHECK_FAILS(ctx, ech_gf2_inverse(ctx, &a, &b, &rank, NULL), ECH_ERR_ARG, "not 4 x 4");
    ech_gf2 x = { sizeof(ech_gf2), other, 5, 5, 1 },
            shared = { sizeof(ech_gf2), words + 2, 4, 5, 1 };
    CHECK_STATUS(ech_gf2_solve(ctx, &a, &shared, &x, NULL, NULL, NULL), ECH_OK);
    CHECK_FAILS(ctx, ech_gf2_solve(ctx, &a, &b, &x, NULL, NULL, NULL), ECH_ERR_ARG, "overlap");
    ech_gf2 basis = { sizeof(ech_gf2), other, 1, 5, 1 };
    memset(words, 0, sizeof words);
    CHECK_FAILS(ctx, ech_gf2_nullspace(ctx, &a, &basis, &rank, NULL), ECH_ERR_ARG, "basis[4]");
    CHECK_FAILS(
        ctx, ech_gf2_nullspace(ctx, &a, &(ech_gf2){ sizeof(ech_gf2), other, 5, 4, 1 }, &rank, NULL),
        ECH_ERR_ARG, "basis");
    const ech_allocator none = { sizeof(ech_allocator), no_memory, releases_nothing, NULL };
    const ech_gf2_echelon_options order = { .size = sizeof order,
                                            .column_order = twice,
                                            .pivot_cols = 2 };
    if (CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK)) {
        words[0] = 77;
        CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a, &rank, NULL, &order), ECH_ERR_MEMORY, "memory");
        CHECK_INT(words[0], 77);
        CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    }
}

static void run_bad(void)
{
    ech_ctx **contexts;
    uint32_t rank;
    ech_gf2 a = { sizeof(ech_gf2), NULL, 0, 0, 0 };
    if (!test_begin("bad arguments")) return;
    CHECK_FAILS(NULL, ech_gf2_echelon(NULL, &a, &rank, NULL, NULL), ECH_ERR_ARG, "ctx is NULL");
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) bad_on(contexts[i]);
    test_end();
}

/* ---- Workspaces ---- */

/* A workspace of the exact size suffices, one byte less does not, and the call allocates
 * nothing. */
static void workspace_on(ech_ctx *ctx)
{
    enum { N = 130 };
    struct bits content = bits_of("half", N, N, 1), result = bits_copy(&content);
    struct bits t = bits_make(N, N);
    struct matrix a, out;
    struct buffer rank;
    void *work = NULL;
    size_t bytes = 0;
    uint32_t wanted = bits_echelon(&result, NULL, N, N, true, NULL, NULL, &t);
    bool made = matrix_make(&a, ctx, N, N, &content, 0, 1) &&
                matrix_make(&out, ctx, N, N, NULL, 0, 2) && array_make(&rank, ctx, 1, 4, NULL);
    ech_gf2_echelon_options o = { .size = sizeof o, .transform = &out.m };
    if (CHECK(made) &&
        CHECK_STATUS(
            ech_gf2_workspace(ech_device_name(ctx), ECH_GF2_CALL_ECHELON, N, N, 0, &o, &bytes),
            ECH_OK) &&
        CHECK(bytes > 1) && CHECK_STATUS(ech_malloc(ctx, &work, bytes), ECH_OK)) {
        uint64_t before, after, peak;
        o.work = work;
        o.work_bytes = bytes - 1;
        CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &a.m, (uint32_t *)(void *)rank.data, NULL, &o),
                    ECH_ERR_MEMORY, "work_bytes");
        o.work_bytes = bytes;
        ech_memory_usage(ctx, 1, &before, &peak);
        CHECK_STATUS(ech_gf2_echelon(ctx, &a.m, (uint32_t *)(void *)rank.data, NULL, &o), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        ech_memory_usage(ctx, 0, &after, &peak);
        CHECK_INT(peak, before);
        array_is(&rank, &wanted, 1, 4, "rank");
        matrix_is(&a, &result, "a");
        matrix_is(&out, &t, "transform");
        ech_free(ctx, work, bytes);
    }
    matrix_free(&a);
    matrix_free(&out);
    buffer_free(&rank);
    bits_free(&content);
    bits_free(&result);
    bits_free(&t);
}

static void run_workspaces(void)
{
    ech_ctx **contexts;
    if (!test_begin("workspace")) return;
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) workspace_on(contexts[i]);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    run_bad();
    run_workspaces();
    run_others();
    run_forms();
    gf2_close();
    return test_finish();
}
