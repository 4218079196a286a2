/*
 * test_gf2_batch.c - batches of small eliminations over GF(2), compared with textbook elimination
 * of each matrix, with every algorithm on every device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batch_case {
    size_t count, rows, cols;
    const char *dist;
    ech_gf2_form form;
    bool ordered, pivots, shared; /* shared: one matrix for all, for calls that only read it */
    size_t columns, max_rank, extra;
    bool always; /* also with --quick */
};

/* A batch in one array, with the expected results. */
struct batch_data {
    const struct batch_case *c;
    size_t stride, step, words, least, columns;
    uint64_t *in, *out; /* all words, including those between matrices */
    uint32_t *order, *rank, *pivots;
    uint64_t *b, *x;
    uint8_t *solvable;
};

static void *room(size_t count, size_t bytes)
{
    void *array = calloc(count + 1, bytes);
    if (!array) abort();
    return array;
}

static void put(uint64_t *words, size_t stride, const struct bits *m)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            uint64_t *word = &words[i * stride + j / 64], bit = (uint64_t)1 << j % 64;
            *word = m->at[i * m->cols + j] ? *word | bit : *word & ~bit;
        }
}

/* Computes x with a x = b and free bits 0, if it exists. Two of three b are products of a. */
static void make_system(struct batch_data *d, size_t i, const struct bits *a, struct rng *rng)
{
    const size_t rows = a->rows, cols = a->cols;
    const size_t b_words = ech_gf2_stride(rows), x_words = ech_gf2_stride(cols);
    struct bits some = bits_make(cols, 1), both = bits_make(rows, cols + 1);
    uint32_t *pivots = room(rows, 4);
    for (size_t j = 0; j < cols; j++) some.at[j] = rng_next(rng) & 1;
    struct bits b = bits_mul(a, &some);
    if (i % 3 == 0 && rows) b.at[rng_below(rng, rows)] ^= 1;
    for (size_t r = 0; r < rows; r++) {
        memcpy(both.at + r * (cols + 1), a->at + r * cols, cols);
        both.at[r * (cols + 1) + cols] = b.at[r];
        d->b[i * b_words + r / 64] |= (uint64_t)b.at[r] << r % 64;
    }
    if (rows % 64) d->b[i * b_words + b_words - 1] |= ~(uint64_t)0 << rows % 64; /* not read */
    const uint32_t *order = d->c->ordered ? d->order + i * d->columns : NULL;
    uint32_t rank = bits_echelon(&both, order, d->columns, rows, true, pivots, NULL, NULL);
    d->solvable[i] = 1;
    for (size_t r = rank; r < rows; r++)
        if (both.at[r * (cols + 1) + cols]) d->solvable[i] = 0;
    for (size_t r = 0; r < rank && d->solvable[i]; r++)
        d->x[i * x_words + pivots[r] / 64] |= (uint64_t)both.at[r * (cols + 1) + cols]
                                              << pivots[r] % 64;
    bits_free(&some);
    bits_free(&both);
    bits_free(&b);
    free(pivots);
}

static struct batch_data make_data(const struct batch_case *c, uint64_t seed)
{
    struct batch_data d = { .c = c,
                            .stride = ech_gf2_stride(c->cols) + c->extra,
                            .least = c->rows < c->cols ? c->rows : c->cols,
                            .columns = c->columns ? c->columns : c->cols };
    struct rng rng = { seed };
    d.step = d.stride * c->rows + c->extra;
    d.words = c->count * d.step;
    d.in = room(d.words, 8);
    d.out = room(d.words, 8);
    d.order = room(c->count * d.columns, 4);
    d.rank = room(c->count, 4);
    d.pivots = room(c->count * d.least, 4);
    d.b = room(c->count * ech_gf2_stride(c->rows), 8);
    d.x = room(c->count * ech_gf2_stride(c->cols), 8);
    d.solvable = room(c->count, 1);
    uint32_t *all = room(c->cols, 4);
    for (size_t i = 0; i < d.words; i++) d.in[i] = rng_next(&rng);
    memcpy(d.out, d.in, d.words * 8);
    for (size_t i = 0; i < c->count; i++) {
        struct bits m = bits_of(c->dist, c->rows, c->cols, c->shared ? seed : rng_next(&rng));
        shuffle(all, c->cols, &rng);
        memcpy(d.order + i * d.columns, all, d.columns * 4);
        put(d.in + i * d.step, d.stride, &m);
        make_system(&d, i, &m, &rng);
        d.rank[i] =
            bits_echelon(&m, c->ordered ? d.order + i * d.columns : NULL, d.columns,
                         c->max_rank ? c->max_rank : c->rows, c->form == ECH_GF2_FORM_REDUCED,
                         d.pivots + i * d.least, NULL, NULL);
        put(d.out + i * d.step, d.stride, &m);
        bits_free(&m);
    }
    free(all);
    return d;
}

static void free_data(struct batch_data *d)
{
    free(d->in);
    free(d->out);
    free(d->order);
    free(d->rank);
    free(d->pivots);
    free(d->b);
    free(d->x);
    free(d->solvable);
}

/* ---- On a device ---- */

static void check_pivots(struct buffer *pivots, const struct batch_data *d)
{
    uint32_t *got = room(d->c->count * d->least, 4);
    if (CHECK(buffer_get(pivots, got)))
        for (size_t i = 0; i < d->c->count; i++)
            for (size_t j = 0; j < d->rank[i]; j++)
                if (!CHECK_INT(got[i * d->least + j], d->pivots[i * d->least + j])) i = d->c->count;
    buffer_check_guards(pivots, "pivots");
    free(got);
}

static void echelon_by(ech_ctx *ctx, const struct batch_data *d, const char *algorithm,
                       uint64_t where)
{
    const struct batch_case *c = d->c;
    struct buffer words, rank, pivots, order;
    bool made = array_make(&words, place(ctx, where, 0), d->words, 8, d->in) &&
                array_make(&rank, place(ctx, where, 1), c->count, 4, NULL) &&
                array_make(&pivots, place(ctx, where, 2), c->count * d->least, 4, NULL) &&
                array_make(&order, place(ctx, where, 3), c->count * d->columns, 4, d->order);
    if (!CHECK(made)) return;
    ech_gf2_batch a = { .size = sizeof(ech_gf2_batch),
                        .words = (uint64_t *)(void *)words.data,
                        .count = c->count,
                        .rows = c->rows,
                        .cols = c->cols,
                        .stride = d->stride,
                        .batch_stride = d->step };
    ech_gf2_echelon_options o = { .size = sizeof o,
                                  .form = c->form,
                                  .pivot_cols = c->columns,
                                  .max_rank = c->max_rank,
                                  .algorithm = algorithm[0] ? algorithm : NULL };
    if (c->ordered) o.column_order = (const uint32_t *)(void *)order.data;
    uint32_t *rank_there = (uint32_t *)(void *)rank.data;
    if (CHECK_STATUS(ech_gf2_rank_batched(ctx, &a, rank_there, &o), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&rank, d->rank, c->count, 4, "rank of ech_gf2_rank_batched()");
        array_is(&words, d->in, d->words, 8, "a of ech_gf2_rank_batched()");
    }
    uint32_t *pivots_there = c->pivots ? (uint32_t *)(void *)pivots.data : NULL;
    if (CHECK_STATUS(ech_gf2_echelon_batched(ctx, &a, rank_there, pivots_there, &o), ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&rank, d->rank, c->count, 4, "rank");
        array_is(&words, d->out, d->words, 8, "a");
        if (c->pivots) check_pivots(&pivots, d);
    }
    buffer_free(&words);
    buffer_free(&rank);
    buffer_free(&pivots);
    buffer_free(&order);
}

static void solve_by(ech_ctx *ctx, const struct batch_data *d, const char *algorithm,
                     uint64_t where)
{
    const struct batch_case *c = d->c;
    const size_t b_words = ech_gf2_stride(c->rows), x_words = ech_gf2_stride(c->cols);
    struct buffer words, b, x, solvable, order;
    bool made = array_make(&words, place(ctx, where, 4), d->words, 8, d->in) &&
                array_make(&b, place(ctx, where, 5), c->count * b_words, 8, d->b) &&
                array_make(&x, place(ctx, where, 6), c->count * x_words, 8, NULL) &&
                array_make(&solvable, place(ctx, where, 7), c->count, 1, NULL) &&
                array_make(&order, place(ctx, where, 8), c->count * d->columns, 4, d->order);
    if (!CHECK(made)) return;
    ech_gf2_batch a = { .size = sizeof(ech_gf2_batch),
                        .words = (uint64_t *)(void *)words.data,
                        .count = c->count,
                        .rows = c->rows,
                        .cols = c->cols,
                        .stride = d->stride,
                        .batch_stride = c->shared ? 0 : d->step };
    ech_gf2_echelon_options o = { .size = sizeof o,
                                  .pivot_cols = c->columns,
                                  .algorithm = algorithm[0] ? algorithm : NULL };
    if (c->ordered) o.column_order = (const uint32_t *)(void *)order.data;
    if (CHECK_STATUS(ech_gf2_solve_batched(ctx, &a, (const uint64_t *)(void *)b.data,
                                           (uint64_t *)(void *)x.data, (uint8_t *)solvable.data,
                                           &o),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        array_is(&solvable, d->solvable, c->count, 1, "solvable");
        array_is(&x, d->x, c->count * x_words, 8, "x");
        array_is(&words, d->in, d->words, 8, "a of ech_gf2_solve_batched()");
    }
    buffer_free(&words);
    buffer_free(&b);
    buffer_free(&x);
    buffer_free(&solvable);
    buffer_free(&order);
}

static void run_case(const struct batch_case *c)
{
    char id[256], names[GF2_ALGORITHMS][GF2_NAME_BYTES];
    ech_ctx **contexts;
    if (!gf2_wanted(c->count * c->rows * c->cols) && !c->always) return;
    snprintf(id, sizeof id, "batch(%zux%zux%zu,%s,%s,columns=%zu,max_rank=%zu,extra=%zu%s%s%s)",
             c->count, c->rows, c->cols, c->dist,
             c->form == ECH_GF2_FORM_REDUCED ? "reduced" : "echelon", c->columns, c->max_rank,
             c->extra, c->ordered ? ",order" : "", c->pivots ? ",pivots" : "",
             c->shared ? ",shared" : "");
    if (!test_begin("%s", id)) return;
    const uint64_t seed = hash_text(id);
    struct batch_data d = make_data(c, seed);
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) {
        int count =
            gf2_algorithms(contexts[i], ECH_GF2_CALL_BATCHED, c->rows, c->cols, c->count, names);
        for (int j = 0; j < count && !test_failed(); j++) {
            uint64_t where = j ? 0 : seed; /* the first algorithm also with host memory */
            if (!c->shared) echelon_by(contexts[i], &d, names[j], where);
            if (!c->max_rank && c->form == ECH_GF2_FORM_REDUCED && c->cols)
                solve_by(contexts[i], &d, names[j], where);
            if (test_failed()) test_fail(__FILE__, __LINE__, "by algorithm \"%s\"", names[j]);
        }
    }
    free_data(&d);
    test_end();
}

static void run_shapes(void)
{
    static const size_t shapes[][2] = { { 1, 1 },    { 8, 8 },     { 7, 13 },   { 13, 7 },
                                        { 8, 16 },   { 16, 32 },   { 31, 33 },  { 32, 64 },
                                        { 63, 65 },  { 64, 64 },   { 64, 128 }, { 65, 63 },
                                        { 1, 300 },  { 300, 1 },   { 72, 144 }, { 128, 256 },
                                        { 200, 70 }, { 192, 400 }, { 0, 9 },    { 9, 0 } };
    static const char *const dists[] = { "random", "half", "zero",   "identity", "few",
                                         "last",   "ones", "sparse", "upper",    "repeat" };
    unsigned k = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t d = 0; d < sizeof dists / sizeof *dists; d++, k++) {
            struct batch_case c = { .count = 1 + k % 5 * 3,
                                    .rows = shapes[i][0],
                                    .cols = shapes[i][1],
                                    .dist = dists[d],
                                    .form =
                                        k % 4 == 1 ? ECH_GF2_FORM_ECHELON : ECH_GF2_FORM_REDUCED,
                                    .ordered = k % 3 == 1,
                                    .pivots = k % 5 != 2,
                                    .shared = k % 7 == 3,
                                    .extra = k % 3 };
            if (k % 6 == 4) c.columns = (c.cols + 1) / 2;
            if (k % 11 == 5) c.max_rank = c.rows / 3 + 1;
            run_case(&c);
        }
    const struct batch_case others[] = {
        { .count = 0, .rows = 8, .cols = 8, .dist = "random" },
        { .count = 1000, .rows = 8, .cols = 8, .dist = "random", .pivots = true },
        { .count = 300, .rows = 32, .cols = 64, .dist = "random", .ordered = true, .pivots = true },
        { .count = 3, .rows = 512, .cols = 1024, .dist = "random", .ordered = true },
        { .count = 3, .rows = 512, .cols = 1024, .dist = "half", .form = ECH_GF2_FORM_ECHELON },
        { .count = 2, .rows = 1000, .cols = 500, .dist = "random", .pivots = true },
        { .count = 2, .rows = 1500, .cols = 3100, .dist = "half", .ordered = true },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) run_case(&others[i]);
    /* Too many rows and too many columns for a kernel that has the rows in registers. */
    static const size_t large[][2] = { { 90, 2100 }, { 1030, 70 } };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        run_case(&(struct batch_case){ .count = 1,
                                       .rows = large[i][0],
                                       .cols = large[i][1],
                                       .dist = "random",
                                       .always = true });
    /* Rows of 4 words, one per lane, and of 32 and 64 words, one per thread. */
    static const size_t wide[][2] = { { 20, 100 }, { 50, 700 }, { 50, 1500 } };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        run_case(&(struct batch_case){ .count = 3,
                                       .rows = wide[i][0],
                                       .cols = wide[i][1],
                                       .dist = "random",
                                       .ordered = true,
                                       .always = true });
}

static void run_bad(void)
{
    ech_ctx **contexts;
    uint64_t words[16] = { 1, 2, 3, 4 }, b[4] = { 0 }, x[4] = { 0 };
    uint32_t rank[4];
    uint8_t solvable[4];
    const uint32_t order[] = { 0, 1, 2, 1, 5, 1 };
    ech_gf2_batch a = { sizeof(ech_gf2_batch), words, 3, 4, 5, 1, 3 };
    if (!test_begin("bad arguments")) return;
    for (int i = 0, n = gf2_contexts(&contexts); i < n; i++) {
        ech_ctx *ctx = contexts[i];
        ech_gf2_echelon_options o = { .size = sizeof o, .column_order = order, .pivot_cols = 2 };
        a.batch_stride = 3;
        CHECK_FAILS(ctx, ech_gf2_echelon_batched(ctx, &a, rank, NULL, NULL), ECH_ERR_ARG,
                    "a->batch_stride");
        a.batch_stride = 0;
        CHECK_FAILS(ctx, ech_gf2_echelon_batched(ctx, &a, rank, NULL, NULL), ECH_ERR_ARG,
                    "a->batch_stride");
        a.batch_stride = 4;
        CHECK_FAILS(ctx, ech_gf2_echelon_batched(ctx, NULL, rank, NULL, NULL), ECH_ERR_ARG,
                    "a is NULL");
        CHECK_FAILS(ctx, ech_gf2_echelon_batched(ctx, &a, NULL, NULL, NULL), ECH_ERR_ARG,
                    "rank is NULL");
        CHECK_FAILS(ctx, ech_gf2_rank_batched(ctx, &a, rank, &o), ECH_ERR_ARG, "order[4]");
        o.pivot_cols = 3;
        a.count = 2;
        CHECK_FAILS(ctx, ech_gf2_rank_batched(ctx, &a, rank, &o), ECH_ERR_ARG, "order[4]");
        a.count = 3;
        o = (ech_gf2_echelon_options){ .size = sizeof o, .max_rank = 1 };
        CHECK_FAILS(ctx, ech_gf2_solve_batched(ctx, &a, b, x, solvable, &o), ECH_ERR_ARG,
                    "options->max_rank");
        o = (ech_gf2_echelon_options){ .size = sizeof o, .algorithm = "magic" };
        CHECK_FAILS(ctx, ech_gf2_rank_batched(ctx, &a, rank, &o), ECH_ERR_ARG, "magic");
        CHECK_FAILS(ctx, ech_gf2_solve_batched(ctx, &a, NULL, x, solvable, NULL), ECH_ERR_ARG,
                    "b is NULL");
    }
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    run_bad();
    run_shapes();
    gf2_close();
    return test_finish();
}
