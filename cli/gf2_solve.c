/*
 * gf2_solve.c - the operations of "echelon gf2" that compute: rref, rank, solve, nullspace,
 * inverse, mul, transpose.
 *
 * With --check, a result is verified before it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

#include <stdlib.h>

static unsigned long long print(uint64_t n)
{
    return (unsigned long long)n;
}

static int no_memory(struct gf2_job *job, uint64_t bytes, const char *what)
{
    return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes for %s",
                    job->input[0], print(bytes), what);
}

/* ---- Echelon form ---- */

struct elimination {
    struct io_bits before, t; /* only with --check; only with a transform */
    uint32_t *pivots, rank;
};

static int eliminate(struct gf2_job *job, struct elimination *e)
{
    uint64_t most = job->a.rows < job->a.cols ? job->a.rows : job->a.cols;
    bool transform = job->words.transform || job->words.check;
    int code = EXIT_DONE;
    e->pivots = malloc((size_t)(most + 1) * sizeof *e->pivots);
    if (!e->pivots) return no_memory(job, most * sizeof *e->pivots, "the pivots");
    if (job->words.check) code = gf2_copy(job, &job->a, &e->before);
    if (code == EXIT_DONE && transform)
        code = gf2_zeros(job, &e->t, job->a.rows, job->a.rows, "the transform");
    if (code != EXIT_DONE) return code;
    ech_gf2 a = gf2_matrix(&job->a), t = gf2_matrix(&e->t);
    ech_gf2_echelon_options o = job->options;
    if (transform) o.transform = &t;
    ech_status status = ech_gf2_echelon(job->ctx, &a, &e->rank, e->pivots, &o);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    if (!job->words.check) return EXIT_DONE;
    struct gf2_form form = { &e->before, &job->a, &e->t, e->pivots, e->rank };
    return gf2_check_form(job, &form);
}

static void free_elimination(struct elimination *e)
{
    io_bits_free(&e->before);
    io_bits_free(&e->t);
    free(e->pivots);
}

static void print_pivots(const struct elimination *e)
{
    for (uint32_t i = 0; i < e->rank; i++) printf("%s%u", i ? " " : "", (unsigned)e->pivots[i]);
    putchar('\n');
}

int verb_rref(struct gf2_job *job)
{
    struct elimination e = { 0 };
    int code = eliminate(job, &e);
    if (code == EXIT_DONE) code = gf2_write(job, &e.t, true);
    if (code == EXIT_DONE) code = gf2_write(job, &job->a, false);
    if (code == EXIT_DONE && job->words.pivots) print_pivots(&e);
    free_elimination(&e);
    return code;
}

static void print_rank(struct gf2_job *job, const struct elimination *e)
{
    if (!job->words.json) {
        printf("%u\n", (unsigned)e->rank);
        if (e->pivots && job->words.pivots) print_pivots(e);
        return;
    }
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input[0]);
    json_count(&json, "rows", job->a.rows);
    json_count(&json, "columns", job->a.cols);
    json_count(&json, "rank", e->rank);
    if (e->pivots && job->words.pivots) {
        json_open(&json, "pivots", '[');
        for (uint32_t i = 0; i < e->rank; i++) json_count(&json, NULL, e->pivots[i]);
        json_close(&json, ']');
    }
    json_close(&json, '}');
    putchar('\n');
}

int verb_rank(struct gf2_job *job)
{
    struct elimination e = { 0 };
    int code = EXIT_DONE;
    uint32_t rank;
    ech_gf2 a = gf2_matrix(&job->a);
    ech_status status = ech_gf2_rank(job->ctx, &a, &rank, &job->options);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    e.rank = rank;
    if (job->words.pivots || job->words.check) code = eliminate(job, &e);
    if (code == EXIT_DONE && e.rank != rank)
        code = cli_fail(EXIT_DEVICE,
                        "verification failed: the rank is %u, but the echelon form has %u pivots",
                        (unsigned)rank, (unsigned)e.rank);
    cli_progress_end(&job->progress);
    if (code == EXIT_DONE) print_rank(job, &e);
    free_elimination(&e);
    return code;
}

/* ---- Solve ---- */

/* Prints "3 of 64 columns have no solution: 1 5-7" and returns EXIT_NO, unless all have one. */
static int report_unsolvable(struct gf2_job *job, const uint8_t *solvable)
{
    uint64_t k = job->b.cols, none = 0;
    for (uint64_t j = 0; j < k; j++) none += !solvable[j];
    if (none == 0) return EXIT_DONE;
    fprintf(stderr, "echelon gf2: %s: %llu of %llu column%s ha%s no solution:", job->input[1],
            print(none), print(k), k == 1 ? "" : "s", none == 1 ? "s" : "ve");
    for (uint64_t j = 0; j < k; j++) {
        if (solvable[j]) continue;
        uint64_t last = j;
        while (last + 1 < k && !solvable[last + 1]) last++;
        fprintf(stderr, " %llu", print(j));
        if (last > j) fprintf(stderr, "-%llu", print(last));
        j = last;
    }
    putc('\n', stderr);
    return EXIT_NO;
}

int verb_solve(struct gf2_job *job)
{
    struct io_bits x = { 0 }, certificate = { 0 };
    uint64_t m = job->a.rows, n = job->a.cols, k = job->b.cols;
    bool certify = job->to_second || job->words.check;
    if (job->b.rows != m)
        return cli_fail(EXIT_BAD, "%s has %llu rows, but %s has %llu", job->input[0], print(m),
                        job->input[1], print(job->b.rows));
    uint8_t *solvable = malloc((size_t)k + 1);
    int code = solvable ? EXIT_DONE : no_memory(job, k, "the solvable columns");
    if (code == EXIT_DONE) code = gf2_zeros(job, &x, n, k, "the solutions");
    if (code == EXIT_DONE && certify) code = gf2_zeros(job, &certificate, k, m, "certificates");
    if (code == EXIT_DONE) {
        ech_gf2 a = gf2_matrix(&job->a), b = gf2_matrix(&job->b), to = gf2_matrix(&x);
        ech_gf2 why = gf2_matrix(&certificate);
        ech_status status =
            ech_gf2_solve(job->ctx, &a, &b, &to, solvable, certify ? &why : NULL, &job->options);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    if (code == EXIT_DONE && job->words.check)
        code = gf2_check_solution(job, &x, solvable, &certificate);
    if (code == EXIT_DONE) code = gf2_write(job, &certificate, true);
    if (code == EXIT_DONE) code = gf2_write(job, &x, false);
    if (code == EXIT_DONE) code = report_unsolvable(job, solvable);
    free(solvable);
    io_bits_free(&x);
    io_bits_free(&certificate);
    return code;
}

/* ---- Nullspace ---- */

int verb_kernel(struct gf2_job *job)
{
    struct io_bits basis = { 0 };
    bool left = job->words.left;
    uint64_t n = left ? job->a.rows : job->a.cols;
    int code = gf2_zeros(job, &basis, n, n, "a basis");
    if (code == EXIT_DONE) {
        uint32_t dim = 0;
        ech_gf2 a = gf2_matrix(&job->a), to = gf2_matrix(&basis);
        ech_status status = left ? ech_gf2_left_nullspace(job->ctx, &a, &to, &dim, &job->options)
                                 : ech_gf2_nullspace(job->ctx, &a, &to, &dim, &job->options);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
        basis.rows = dim;
    }
    if (code == EXIT_DONE && job->words.check) code = gf2_check_kernel(job, &basis);
    if (code == EXIT_DONE) code = gf2_write(job, &basis, false);
    io_bits_free(&basis);
    return code;
}

/* ---- Inverse ---- */

int verb_inverse(struct gf2_job *job)
{
    struct io_bits inverse = { 0 };
    uint64_t n = job->a.rows;
    uint32_t rank = 0;
    if (job->a.cols != n)
        return cli_fail(EXIT_BAD,
                        "%s: has %llu rows and %llu columns, but inverse needs a square matrix",
                        job->input[0], print(n), print(job->a.cols));
    int code = gf2_zeros(job, &inverse, n, n, "the inverse");
    if (code == EXIT_DONE) {
        ech_gf2 a = gf2_matrix(&job->a), to = gf2_matrix(&inverse);
        ech_status status = ech_gf2_inverse(job->ctx, &a, &to, &rank, &job->options);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    if (code == EXIT_DONE && rank < n)
        code = cli_fail(EXIT_NO, "%s: has no inverse: it has %llu rows and rank %u", job->input[0],
                        print(n), (unsigned)rank);
    if (code == EXIT_DONE && job->words.check) code = gf2_check_inverse(job, &inverse);
    if (code == EXIT_DONE) code = gf2_write(job, &inverse, false);
    io_bits_free(&inverse);
    return code;
}

/* ---- Product and transpose ---- */

int verb_mul(struct gf2_job *job)
{
    struct io_bits product = { 0 };
    if (job->a.cols != job->b.rows)
        return cli_fail(EXIT_BAD, "%s has %llu columns, but %s has %llu rows", job->input[0],
                        print(job->a.cols), job->input[1], print(job->b.rows));
    int code = gf2_zeros(job, &product, job->a.rows, job->b.cols, "the product");
    if (code == EXIT_DONE) {
        ech_gf2 a = gf2_matrix(&job->a), b = gf2_matrix(&job->b), to = gf2_matrix(&product);
        ech_gf2_options o = { .size = sizeof o, .algorithm = job->words.algorithm };
        ech_status status = ech_gf2_mul(job->ctx, &a, &b, &to, &o);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    if (code == EXIT_DONE && job->words.check)
        code = gf2_check_product(job, &job->a, &job->b, &product, "A B = C");
    if (code == EXIT_DONE) code = gf2_write(job, &product, false);
    io_bits_free(&product);
    return code;
}

int verb_transpose(struct gf2_job *job)
{
    struct io_bits out = { 0 };
    int code = gf2_zeros(job, &out, job->a.cols, job->a.rows, "the transpose");
    if (code == EXIT_DONE) {
        ech_gf2 a = gf2_matrix(&job->a), to = gf2_matrix(&out);
        ech_status status = ech_gf2_transpose(job->ctx, &a, &to);
        code = status == ECH_OK ? gf2_write(job, &out, false) : cli_fail_ech(status, job->ctx);
    }
    io_bits_free(&out);
    return code;
}
