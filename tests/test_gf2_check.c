/*
 * test_gf2_check.c - "echelon gf2 --check" accepts correct results and rejects wrong ones: it
 * receives results of the library, first unchanged and then with one planted fault at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/gf2.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Replacements for functions of the command ---- */

const char *cli_command = "test";

int cli_fail(int code, const char *format, ...)
{
    (void)format;
    return code;
}

int cli_fail_ech(ech_status status, const ech_ctx *ctx)
{
    fprintf(stderr, "%s\n", ech_error(ctx));
    return status == ECH_OK ? EXIT_DONE : EXIT_BAD;
}

/* ---- Counting ---- */

static int checks, failures;

static void expect(int code, int want, const char *what, uint64_t where)
{
    checks++;
    if (code == want) return;
    failures++;
    printf("FAIL %s, fault %llu: code %d instead of %d\n", what, (unsigned long long)where, code,
           want);
}

/* splitmix64. A generator whose bits are linear functions of its state would never give a 65 x 65
 * matrix of full rank. */
static uint64_t next(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static struct io_bits zeros(uint64_t rows, uint64_t cols)
{
    struct io_bits m;
    struct io_error error;
    if (io_bits_zeros(&m, rows, cols, "test", &error) != IO_OK) exit(1);
    return m;
}

static struct io_bits copy(const struct io_bits *from)
{
    struct io_bits m = zeros(from->rows, from->cols);
    memcpy(m.words, from->words, (size_t)from->rows * from->stride * sizeof *m.words);
    return m;
}

/* A random matrix. Its last `dependent` rows are sums of two other rows. */
static struct io_bits make(uint64_t rows, uint64_t cols, uint64_t dependent)
{
    struct io_bits m = zeros(rows, cols);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < cols; j++) {
            bool bit = next() >> 40 & 1;
            if (i >= rows - dependent)
                bit = io_bits_get(&m, i - dependent, j) ^ io_bits_get(&m, i - dependent - 1, j);
            if (bit) io_bits_set(&m, i, j);
        }
    return m;
}

static void flip(struct io_bits *m, uint64_t i, uint64_t j)
{
    m->words[i * m->stride + j / 64] ^= (uint64_t)1 << j % 64;
}

static void must(ech_status status, struct gf2_job *job)
{
    if (status == ECH_OK) return;
    fprintf(stderr, "%s\n", ech_error(job->ctx));
    exit(1);
}

/* ---- Echelon forms ---- */

static void form_faults(struct gf2_job *job, const struct gf2_form *good, struct io_bits *e,
                        struct io_bits *t, uint32_t *pivots, const char *what)
{
    expect(gf2_check_form(job, good), EXIT_DONE, what, 0);
    for (uint64_t k = 1; k <= 100; k++) {
        struct io_bits *m = k % 2 ? e : t;
        uint64_t i = next() % m->rows, j = next() % m->cols;
        flip(m, i, j);
        expect(gf2_check_form(job, good), EXIT_DEVICE, what, k);
        flip(m, i, j);
    }
    struct gf2_form bad = *good;
    bad.rank--;
    expect(gf2_check_form(job, &bad), EXIT_DEVICE, what, 101);
    pivots[1]++;
    expect(gf2_check_form(job, good), EXIT_DEVICE, what, 102);
    pivots[1]--;
    /* Zero matrices are in echelon form and satisfy T A = E, but they lose the row space of A. */
    struct io_bits no_e = zeros(e->rows, e->cols), no_t = zeros(t->rows, t->cols);
    bad = (struct gf2_form){ good->a, &no_e, &no_t, pivots, 0 };
    expect(gf2_check_form(job, &bad), EXIT_DEVICE, what, 103);
    io_bits_free(&no_e);
    io_bits_free(&no_t);
}

static void test_form(struct gf2_job *job, ech_gf2_echelon_options options, const char *what)
{
    struct io_bits a = make(70, 90, 9), e = copy(&a), t = zeros(70, 70);
    uint32_t pivots[70], rank;
    ech_gf2 to = gf2_matrix(&e), transform = gf2_matrix(&t);
    options.size = sizeof options;
    job->options = options;
    options.transform = &transform;
    must(ech_gf2_echelon(job->ctx, &to, &rank, pivots, &options), job);
    struct gf2_form form = { &a, &e, &t, pivots, rank };
    form_faults(job, &form, &e, &t, pivots, what);
    job->options = (ech_gf2_echelon_options){ .size = sizeof options };
    io_bits_free(&a);
    io_bits_free(&e);
    io_bits_free(&t);
}

static void test_forms(struct gf2_job *job)
{
    uint32_t order[90];
    for (uint32_t i = 0; i < 90; i++) order[i] = i * 49 % 90;
    test_form(job, (ech_gf2_echelon_options){ .form = ECH_GF2_FORM_REDUCED }, "reduced");
    test_form(job, (ech_gf2_echelon_options){ .form = ECH_GF2_FORM_ECHELON }, "echelon");
    test_form(job, (ech_gf2_echelon_options){ .column_order = order }, "order");
    test_form(job, (ech_gf2_echelon_options){ .column_order = order, .pivot_cols = 80 },
              "part of an order");
    test_form(job, (ech_gf2_echelon_options){ .pivot_cols = 40 }, "columns");
    test_form(job, (ech_gf2_echelon_options){ .max_rank = 20 }, "max_rank");
}

/* ---- Solutions ---- */

static void test_solution(struct gf2_job *job)
{
    uint8_t solvable[20];
    job->a = make(70, 90, 9);
    job->b = make(70, 20, 0);
    struct io_bits x = zeros(90, 20), y = zeros(20, 70), *b = &job->b;
    for (uint64_t i = 0; i < 70; i++) /* A x = b for the first ten columns, with x of known bits */
        for (uint64_t j = 0; j < 10; j++) {
            uint64_t sum = 0;
            for (uint64_t k = j; k < 90; k += 7) sum ^= io_bits_get(&job->a, i, k);
            if (io_bits_get(b, i, j) != sum) flip(b, i, j);
        }
    ech_gf2 a = gf2_matrix(&job->a), right = gf2_matrix(b), to = gf2_matrix(&x);
    ech_gf2 why = gf2_matrix(&y);
    must(ech_gf2_solve(job->ctx, &a, &right, &to, solvable, &why, &job->options), job);
    expect(gf2_check_solution(job, &x, solvable, &y), EXIT_DONE, "solve", 0);
    for (uint64_t k = 1; k <= 60; k++) {
        struct io_bits *m = k % 2 ? &x : &y;
        uint64_t i = k % 2 ? next() % 90 : 10 + next() % 10;
        uint64_t j = k % 2 ? next() % 10 : next() % 70;
        flip(m, i, j);
        expect(gf2_check_solution(job, &x, solvable, &y), EXIT_DEVICE, "solve", k);
        flip(m, i, j);
    }
    for (uint64_t j = 0; j < 20; j++) {
        solvable[j] ^= 1;
        expect(gf2_check_solution(job, &x, solvable, &y), EXIT_DEVICE, "solvable", j);
        solvable[j] ^= 1;
    }
    io_bits_free(&job->a);
    io_bits_free(&job->b);
    io_bits_free(&x);
    io_bits_free(&y);
}

/* ---- Nullspaces ---- */

static void test_kernel(struct gf2_job *job, bool left)
{
    const char *what = left ? "left nullspace" : "kernel";
    job->a = make(70, 90, 9);
    job->words.left = left;
    struct io_bits basis = left ? zeros(70, 70) : zeros(90, 90);
    uint32_t dim;
    ech_gf2 a = gf2_matrix(&job->a), to = gf2_matrix(&basis);
    must(left ? ech_gf2_left_nullspace(job->ctx, &a, &to, &dim, &job->options)
              : ech_gf2_nullspace(job->ctx, &a, &to, &dim, &job->options),
         job);
    basis.rows = dim;
    expect(gf2_check_kernel(job, &basis), EXIT_DONE, what, 0);
    for (uint64_t k = 1; k <= 60; k++) {
        uint64_t i = next() % dim, j = next() % basis.cols;
        flip(&basis, i, j);
        expect(gf2_check_kernel(job, &basis), EXIT_DEVICE, what, k);
        flip(&basis, i, j);
    }
    basis.rows--; /* one vector less, then the last vector twice */
    expect(gf2_check_kernel(job, &basis), EXIT_DEVICE, what, 61);
    basis.rows++;
    size_t bytes = basis.stride * sizeof *basis.words;
    memcpy(basis.words + (dim - 1) * basis.stride, basis.words + (dim - 2) * basis.stride, bytes);
    expect(gf2_check_kernel(job, &basis), EXIT_DEVICE, what, 62);
    io_bits_free(&job->a);
    io_bits_free(&basis);
}

/* ---- Products ---- */

static void test_product(struct gf2_job *job)
{
    struct io_bits a = make(50, 70, 0), b = make(70, 130, 0), c = zeros(50, 130);
    ech_gf2 x = gf2_matrix(&a), y = gf2_matrix(&b), to = gf2_matrix(&c);
    must(ech_gf2_mul(job->ctx, &x, &y, &to, NULL), job);
    expect(gf2_check_product(job, &a, &b, &c, "A B = C"), EXIT_DONE, "mul", 0);
    for (uint64_t k = 1; k <= 60; k++) {
        uint64_t i = next() % 50, j = next() % 130;
        flip(&c, i, j);
        expect(gf2_check_product(job, &a, &b, &c, "A B = C"), EXIT_DEVICE, "mul", k);
        flip(&c, i, j);
    }
    io_bits_free(&a);
    io_bits_free(&b);
    io_bits_free(&c);
}

static void test_inverse(struct gf2_job *job)
{
    struct io_bits inverse = zeros(65, 65);
    uint32_t rank = 0;
    do { /* about one third of the matrices are invertible */
        io_bits_free(&job->a);
        job->a = make(65, 65, 0);
        ech_gf2 a = gf2_matrix(&job->a), to = gf2_matrix(&inverse);
        must(ech_gf2_inverse(job->ctx, &a, &to, &rank, &job->options), job);
    } while (rank < 65);
    expect(gf2_check_inverse(job, &inverse), EXIT_DONE, "inverse", 0);
    for (uint64_t k = 1; k <= 60; k++) {
        uint64_t i = next() % 65, j = next() % 65;
        flip(&inverse, i, j);
        expect(gf2_check_inverse(job, &inverse), EXIT_DEVICE, "inverse", k);
        flip(&inverse, i, j);
    }
    io_bits_free(&job->a);
    io_bits_free(&inverse);
}

int main(void)
{
    static struct gf2_job job = { .input = { "a", "b" } };
    job.options = (ech_gf2_echelon_options){ .size = sizeof job.options };
    if (ech_open(&job.ctx, "cpu") != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    if (!freopen("/dev/null", "w", stderr)) return 1; /* hides the reports of the checks */
    test_forms(&job);
    test_solution(&job);
    test_kernel(&job, false);
    test_kernel(&job, true);
    test_product(&job);
    test_inverse(&job);
    ech_close(job.ctx);
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
