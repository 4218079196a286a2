/*
 * gf2_check.c - "echelon gf2 --check": verifies a result with code independent of the library.
 *
 * Matrices are compared by their products with 64 random vectors, one per bit of a word (Freivalds
 * 1977).  The cost is one step per one in the matrix.  Two different matrices have equal products
 * with a probability of 2^-64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

#include <stdlib.h>
#include <string.h>

/* Temporary arrays of a check. */
struct vectors {
    struct gf2_job *job;
    uint64_t *words[6];
    int n;
    bool failed; /* out of memory */
};

static uint64_t *take(struct vectors *v, uint64_t n)
{
    uint64_t *words = calloc((size_t)n + 1, sizeof *words);
    if (!words && !v->failed)
        cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes for --check",
                 v->job->input[0], (unsigned long long)n * sizeof *words);
    v->failed |= !words;
    v->words[v->n++] = words;
    return words;
}

static void release(struct vectors *v)
{
    while (v->n) free(v->words[--v->n]);
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static void randomize(uint64_t *x, uint64_t n)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        x[i] = z ^ z >> 31;
    }
}

/* The sum of x[j] over the ones j of a row. */
static uint64_t row_times(const struct io_bits *m, uint64_t row, const uint64_t *x)
{
    const uint64_t *words = m->words + row * m->stride;
    uint64_t sum = 0;
    for (size_t k = 0; k < m->stride; k++, x += 64)
        for (uint64_t word = words[k]; word; word &= word - 1) sum ^= x[__builtin_ctzll(word)];
    return sum;
}

/* y = m x */
static void times(const struct io_bits *m, const uint64_t *x, uint64_t *y)
{
    for (uint64_t i = 0; i < m->rows; i++) y[i] = row_times(m, i, x);
}

static bool same(const uint64_t *x, const uint64_t *y, uint64_t n)
{
    return n == 0 || memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

static bool all_zero(const uint64_t *x, uint64_t n)
{
    uint64_t any = 0;
    for (uint64_t i = 0; i < n; i++) any |= x[i];
    return any == 0;
}

/* Reports whether the property holds. */
static int tell(struct gf2_job *job, bool so, const char *what)
{
    cli_progress_end(&job->progress);
    if (!so) return cli_fail(EXIT_DEVICE, "verification failed: %s", what);
    fprintf(stderr, "echelon gf2: verified: %s\n", what);
    return EXIT_DONE;
}

/* ---- Products ---- */

int gf2_check_product(struct gf2_job *job, const struct io_bits *a, const struct io_bits *b,
                      const struct io_bits *c, const char *words)
{
    struct vectors v = { .job = job };
    uint64_t *x = take(&v, b->cols), *bx = take(&v, b->rows), *abx = take(&v, a->rows);
    uint64_t *cx = take(&v, c->rows);
    int code = EXIT_MEMORY;
    if (!v.failed) {
        randomize(x, b->cols);
        times(b, x, bx);
        times(a, bx, abx);
        times(c, x, cx);
        code = tell(job, same(abx, cx, a->rows), words);
    }
    release(&v);
    return code;
}

int gf2_check_inverse(struct gf2_job *job, const struct io_bits *inverse)
{
    struct vectors v = { .job = job };
    uint64_t n = job->a.rows, *x = take(&v, n), *y = take(&v, n), *z = take(&v, n);
    int code = EXIT_MEMORY;
    if (!v.failed) {
        randomize(x, n);
        times(inverse, x, y);
        times(&job->a, y, z);
        code = tell(job, same(x, z, n), "A A^-1 = I");
    }
    release(&v);
    return code;
}

/* ---- Echelon form ---- */

/* place[j] is the position of column j in the order in which pivots were sought, or UINT32_MAX.
 * Returns NULL after a message if out of memory. */
static uint32_t *places(struct gf2_job *job, uint64_t cols)
{
    const ech_gf2_echelon_options *o = &job->options;
    const uint32_t *order = o->column_order; /* u32, as this command reads it */
    uint64_t columns = o->pivot_cols ? o->pivot_cols : cols;
    uint32_t *place = malloc((size_t)(cols + 1) * sizeof *place);
    if (!place) {
        cli_fail(EXIT_MEMORY, "%s: out of memory for --check", job->input[0]);
        return NULL;
    }
    memset(place, 0xff, (size_t)cols * sizeof *place);
    for (uint64_t k = 0; k < columns && k < cols; k++) place[order ? order[k] : k] = (uint32_t)k;
    return place;
}

/* The minimum place of the ones of a row; UINT32_MAX if there is none. */
static uint32_t first_place(const struct io_bits *m, uint64_t row, const uint32_t *place)
{
    uint32_t found = UINT32_MAX;
    for (uint64_t j = io_bits_next(m, row, 0); j < m->cols; j = io_bits_next(m, row, j + 1))
        if (place[j] < found) found = place[j];
    return found;
}

/* The places of the pivots are ascending, each pivot is the first one of its row, and the rows
 * below have no ones in columns in which pivots were sought. */
static bool is_echelon(struct gf2_job *job, const struct gf2_form *f, const uint32_t *place)
{
    const struct io_bits *e = f->e;
    bool stopped = job->options.max_rank && f->rank == job->options.max_rank;
    for (uint32_t i = 0; i < f->rank; i++) {
        if (f->pivots[i] >= e->cols || place[f->pivots[i]] == UINT32_MAX) return false;
        if (i && place[f->pivots[i]] <= place[f->pivots[i - 1]]) return false;
        if (first_place(e, i, place) != place[f->pivots[i]]) return false;
    }
    uint32_t final = !stopped ? UINT32_MAX - 1 : f->rank ? place[f->pivots[f->rank - 1]] : 0;
    for (uint64_t i = f->rank; i < e->rows; i++) {
        uint32_t first = first_place(e, i, place);
        if (first != UINT32_MAX && first <= final) return false;
    }
    return true;
}

/* For a matrix that satisfies is_echelon(): each pivot is the only one in its column. */
static bool is_reduced(const struct gf2_form *f, uint64_t *mask)
{
    const struct io_bits *e = f->e;
    for (uint32_t i = 0; i < f->rank; i++)
        mask[f->pivots[i] / 64] |= (uint64_t)1 << f->pivots[i] % 64;
    for (uint32_t i = 0; i < f->rank; i++) {
        uint64_t ones = 0;
        for (size_t k = 0; k < e->stride; k++)
            ones += (uint64_t)__builtin_popcountll(e->words[i * e->stride + k] & mask[k]);
        if (ones != 1) return false;
    }
    return true;
}

/* A random x with e x = 0; the rows of e below its rank are zero. */
static void random_kernel(const struct gf2_form *f, uint64_t *x)
{
    randomize(x, f->e->cols);
    for (uint32_t i = f->rank; i-- > 0;) {
        x[f->pivots[i]] = 0;
        x[f->pivots[i]] = row_times(f->e, i, x);
    }
}

static bool has_zero_rows(const struct gf2_form *f)
{
    const struct io_bits *e = f->e;
    return f->rank == e->rows ||
           all_zero(e->words + f->rank * e->stride, (e->rows - f->rank) * e->stride);
}

/* Checks that every row of A is a linear combination of rows of E: E x = 0 implies A x = 0.  If E
 * has nonzero rows below the pivots, checks that T is invertible, using the library. */
static int check_space(struct gf2_job *job, const struct gf2_form *f, uint64_t *x, uint64_t *ax)
{
    if (has_zero_rows(f)) {
        random_kernel(f, x);
        times(f->a, x, ax);
        return tell(job, all_zero(ax, f->a->rows), "E x = 0 implies A x = 0");
    }
    uint32_t rank = 0;
    ech_gf2 t = gf2_matrix(f->t);
    ech_status status = ech_gf2_rank(job->ctx, &t, &rank, NULL);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    return tell(job, rank == f->t->rows, "T has full rank, computed by another elimination");
}

int gf2_check_form(struct gf2_job *job, const struct gf2_form *f)
{
    struct vectors v = { .job = job };
    bool reduced = job->options.form == ECH_GF2_FORM_REDUCED;
    uint64_t *mask = take(&v, f->e->stride), *x = take(&v, f->a->cols), *ax = take(&v, f->a->rows);
    uint32_t *place = v.failed ? NULL : places(job, f->a->cols);
    int code = EXIT_MEMORY;
    if (place) {
        bool so = is_echelon(job, f, place) && (!reduced || is_reduced(f, mask));
        code = tell(job, so, reduced ? "E is in reduced echelon form" : "E is in echelon form");
        if (code == EXIT_DONE) code = gf2_check_product(job, f->t, f->a, f->e, "T A = E");
        if (code == EXIT_DONE) code = check_space(job, f, x, ax);
    }
    free(place);
    release(&v);
    return code;
}

/* ---- Solutions ---- */

/* The bit y b_j. */
static bool meets(const struct io_bits *certificate, const struct io_bits *b, uint64_t j)
{
    bool sum = false;
    for (uint64_t i = io_bits_next(certificate, j, 0); i < b->rows;
         i = io_bits_next(certificate, j, i + 1))
        sum ^= io_bits_get(b, i, j);
    return sum;
}

int gf2_check_solution(struct gf2_job *job, const struct io_bits *x, const uint8_t *solvable,
                       const struct io_bits *certificate)
{
    const struct io_bits *a = &job->a, *b = &job->b;
    struct vectors v = { .job = job };
    uint64_t k = b->cols, none = 0;
    uint64_t *s = take(&v, k), *r = take(&v, a->cols), *xs = take(&v, a->cols);
    uint64_t *ax = take(&v, a->rows), *bs = take(&v, a->rows), *ya = take(&v, k);
    int code = EXIT_MEMORY;
    if (!v.failed) {
        randomize(s, k);
        for (uint64_t j = 0; j < k; j++) {
            if (!solvable[j]) s[j] = 0;
            none += !solvable[j];
        }
        times(x, s, xs);
        times(a, xs, ax);
        times(b, s, bs);
        code = tell(job, same(ax, bs, a->rows),
                    none ? "A x = b for the columns with a solution" : "A x = b for every column");
    }
    uint32_t *place = code == EXIT_DONE && none ? places(job, a->cols) : NULL;
    if (code == EXIT_DONE && none) {
        /* Certificates of columns with a solution are zero, so their products are zero.  Columns of
         * A in which no pivots were sought are excluded. */
        bool so = true;
        randomize(r, a->cols);
        for (uint64_t j = 0; place && j < a->cols; j++)
            if (place[j] == UINT32_MAX) r[j] = 0;
        times(a, r, ax);
        times(certificate, ax, ya);
        for (uint64_t j = 0; j < k; j++) so &= meets(certificate, b, j) == !solvable[j];
        code = place ? tell(job, so && all_zero(ya, k), "y A = 0 and y b = 1 for the other columns")
                     : EXIT_MEMORY;
    }
    free(place);
    release(&v);
    return code;
}

/* ---- Nullspaces ---- */

/* The last ones of the rows are in ascending columns, so the rows are linearly independent. */
static bool are_independent(const struct io_bits *basis)
{
    uint64_t after = 0; /* one past the last one of the previous row */
    for (uint64_t i = 0; i < basis->rows; i++) {
        const uint64_t *words = basis->words + i * basis->stride;
        size_t k = basis->stride;
        while (k && !words[k - 1]) k--;
        uint64_t end = k ? 64 * k - (uint64_t)__builtin_clzll(words[k - 1]) : 0;
        if (end <= after) return false;
        after = end;
    }
    return true;
}

/* y = x basis: y[j] is the sum of x[i] over the rows i with a one in column j. */
static void times_left(const struct io_bits *basis, const uint64_t *x, uint64_t *y)
{
    for (uint64_t i = 0; i < basis->rows; i++)
        for (uint64_t j = io_bits_next(basis, i, 0); j < basis->cols;
             j = io_bits_next(basis, i, j + 1))
            y[j] ^= x[i];
}

int gf2_check_kernel(struct gf2_job *job, const struct io_bits *basis)
{
    const struct io_bits *a = &job->a;
    struct vectors v = { .job = job };
    bool left = job->words.left;
    uint64_t n = basis->cols, *s = take(&v, left ? a->cols : basis->rows);
    uint64_t *x = take(&v, left ? a->rows : n), *zero = take(&v, left ? basis->rows : a->rows);
    uint32_t rank = 0;
    int code = EXIT_MEMORY;
    if (!v.failed && left) {
        randomize(s, a->cols);
        times(a, s, x);
        times(basis, x, zero);
        code = tell(job, all_zero(zero, basis->rows), "K A = 0");
    } else if (!v.failed) {
        randomize(s, basis->rows);
        times_left(basis, s, x);
        times(a, x, zero);
        code = tell(job, all_zero(zero, a->rows), "A K^T = 0");
    }
    if (code == EXIT_DONE)
        code = tell(job, are_independent(basis), "the rows of K are linearly independent");
    if (code == EXIT_DONE) {
        ech_gf2 m = gf2_matrix(a);
        ech_status status = ech_gf2_rank(job->ctx, &m, &rank, NULL);
        if (status != ECH_OK)
            code = cli_fail_ech(status, job->ctx);
        else
            code = tell(job, basis->rows + rank == n,
                        left ? "K has as many rows as A has rows minus rank"
                             : "K has as many rows as A has columns minus rank");
    }
    release(&v);
    return code;
}
