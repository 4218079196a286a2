/*
 * matmul.c - "echelon matmul": the product of two matrices of numbers.
 *
 * --check compares C x with A (B x) for a random vector x (Freivalds 1977), within a bound of the
 * rounding errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *output, *type, *device, *threads, *algorithm;
    bool transpose_a, transpose_b, check;
} set;

static const struct option options[] = {
    { 'o', "output", "FILE", &set.output,
      "write C to FILE, which may be an input, as .npy if it\nhas this extension, otherwise as "
      "Matrix Market;\ndefault: standard output" },
    { 'y', "type", "TYPE", &set.type, "compute in and write f32 or f64 (default)" },
    { 0, "transpose-a", NULL, &set.transpose_a, "use the transpose of A" },
    { 0, "transpose-b", NULL, &set.transpose_b, "use the transpose of B" },
    { 0, "check", NULL, &set.check, "verify the product with code independent of the library" },
    { 'D', "device", "DEVICE", &set.device, CLI_DEVICE_HELP },
    { 0, "threads", "N", &set.threads, CLI_THREADS_HELP },
    { 0, "algorithm", "NAME", &set.algorithm, CLI_ALGORITHM_HELP },
    { 0, NULL, NULL, NULL, NULL },
};

struct product {
    const char *name[2];
    ech_ctx *ctx;
    ech_dtype dtype;
    struct io_matrix in[2];
    void *a, *b, *c;
    uint64_t m, n, k;
    struct matrix_output to;
    struct cli_progress progress;
};

static double at(const void *values, ech_dtype dtype, uint64_t i)
{
    return dtype == ECH_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/* y = op(a) x, and the sum of absolute values, from which the error bound follows. */
static void multiply(const struct product *p, const void *a, const struct io_matrix *shape,
                     bool transpose, const long double *x, const long double *size, long double *y,
                     long double *bound)
{
    const uint64_t rows = transpose ? shape->cols : shape->rows;
    const uint64_t cols = transpose ? shape->rows : shape->cols;
    for (uint64_t i = 0; i < rows; i++) {
        y[i] = bound[i] = 0;
        for (uint64_t j = 0; j < cols; j++) {
            const double value =
                at(a, p->dtype, transpose ? j * shape->cols + i : i * shape->cols + j);
            y[i] += (long double)value * x[j];
            bound[i] += fabsl((long double)value) * size[j];
        }
    }
}

static int check(struct product *p)
{
    const double epsilon = p->dtype == ECH_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    const uint64_t most = p->m > p->n ? (p->m > p->k ? p->m : p->k) : (p->n > p->k ? p->n : p->k);
    const struct io_matrix c = { .rows = p->m, .cols = p->n };
    long double *v = malloc(((size_t)most + 1) * 8 * sizeof *v);
    int code = EXIT_DONE;
    if (!v) return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate the vectors of --check");
    long double *x = v, *one = v + most, *bx = v + 2 * most, *sb = v + 3 * most;
    long double *abx = v + 4 * most, *sab = v + 5 * most, *cx = v + 6 * most, *sc = v + 7 * most;
    uint64_t state = 1;
    for (uint64_t j = 0; j < p->n; j++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[j] = (double)(state >> 60) - 7.5; /* few significant bits: products are exact */
        one[j] = fabsl(x[j]);
    }
    multiply(p, p->b, &p->in[1], set.transpose_b, x, one, bx, sb);
    multiply(p, p->a, &p->in[0], set.transpose_a, bx, sb, abx, sab);
    multiply(p, p->c, &c, false, x, one, cx, sc);
    for (uint64_t i = 0; i < p->m && code == EXIT_DONE; i++) {
        const long double bound = 2 * epsilon * (double)(p->k + 2) * sab[i];
        if (isfinite((double)abx[i]) && !(fabsl(abx[i] - cx[i]) <= bound))
            code = cli_fail(EXIT_DEVICE,
                            "verification failed: row %llu of C times a random vector is %.17Lg, "
                            "not %.17Lg",
                            (unsigned long long)i + 1, cx[i], abx[i]);
    }
    free(v);
    if (code == EXIT_DONE) fprintf(stderr, "echelon matmul: verified: C x = A (B x)\n");
    return code;
}

static int load(struct product *p)
{
    struct io_error error;
    for (int i = 0; i < 2; i++) {
        int code = matrix_load(p->name[i], &p->progress, &p->in[i]);
        if (code != EXIT_DONE) return code;
        const io_status status = io_matrix_to_dense(&p->in[i], p->name[i], &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        code = matrix_values(&p->in[i], p->dtype, p->name[i], i ? &p->b : &p->a);
        if (code != EXIT_DONE) return code;
    }
    p->m = set.transpose_a ? p->in[0].cols : p->in[0].rows;
    p->k = set.transpose_a ? p->in[0].rows : p->in[0].cols;
    p->n = set.transpose_b ? p->in[1].rows : p->in[1].cols;
    const uint64_t rows = set.transpose_b ? p->in[1].cols : p->in[1].rows;
    if (rows != p->k)
        return cli_fail(EXIT_BAD,
                        "A (%s) has %llu columns, but B (%s) has %llu rows; they must be equal",
                        p->name[0], (unsigned long long)p->k, p->name[1], (unsigned long long)rows);
    return EXIT_DONE;
}

static int work(struct product *p)
{
    const ech_matmul_options how = { .size = sizeof how,
                                     .transpose_a = set.transpose_a,
                                     .transpose_b = set.transpose_b,
                                     .algorithm = set.algorithm };
    int code = matrix_create(&p->to, set.output);
    if (code == EXIT_DONE) code = load(p);
    if (code != EXIT_DONE) return code;
    const size_t bytes = ech_dtype_bytes(p->dtype);
    const bool fits = !p->n || p->m <= SIZE_MAX / 16 / p->n;
    p->c = fits ? malloc(((size_t)(p->m * p->n) + 1) * bytes) : NULL;
    if (!p->c)
        return cli_fail(EXIT_MEMORY,
                        "out of memory: cannot allocate %llu x %llu numbers for the product",
                        (unsigned long long)p->m, (unsigned long long)p->n);
    cli_progress_stage(&p->progress, "multiplying");
    const ech_status status = ech_matmul(p->ctx, p->m, p->n, p->k, 1, p->a, p->in[0].cols, p->b,
                                         p->in[1].cols, 0, p->c, p->n, p->dtype, &how);
    cli_progress_end(&p->progress);
    if (status != ECH_OK) return cli_fail_ech(status, p->ctx);
    if (set.check) code = check(p);
    if (code != EXIT_DONE) return code;
    return matrix_write(&p->to, p->c, p->dtype, p->m, p->n, &p->progress);
}

static int run(int count, char **operands)
{
    static struct product p; /* static, because it is large */
    int dtype, threads;
    if (count < 2) return cli_fail(EXIT_BAD, "two files are needed: echelon matmul A B");
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        return cli_fail(EXIT_BAD, "A and B cannot both be standard input");
    int code = cli_parse_dtype(set.type, &dtype);
    if (code == EXIT_DONE) code = cli_parse_threads(set.threads, &threads);
    if (code != EXIT_DONE) return code;
    if (dtype >= 0 && dtype != ECH_F32 && dtype != ECH_F64)
        return cli_fail(EXIT_BAD, "--type is %s; use f32 or f64", set.type);
    p.name[0] = operands[0];
    p.name[1] = operands[1];
    p.dtype = dtype < 0 ? ECH_F64 : (ech_dtype)dtype;
    cli_progress_start(&p.progress);
    code = cli_open(&p.ctx, set.device, threads);
    if (code == EXIT_DONE) code = work(&p);
    cli_progress_end(&p.progress);
    matrix_discard(&p.to);
    ech_close(p.ctx);
    for (int i = 0; i < 2; i++) io_matrix_free(&p.in[i]);
    free(p.a);
    free(p.b);
    free(p.c);
    return code;
}

static const struct cli_value values[] = {
    { "TYPE", CLI_WORDS, "f32 f64", NULL },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_matmul = {
    .name = "matmul",
    .summary = "multiply two matrices",
    .usage = "  echelon matmul [OPTION]... A B\n",
    .examples = "  echelon matmul A.npy B.npy -o C.npy\n"
                "  echelon matmul --transpose-a A.mtx A.mtx -o gram.mtx\n",
    .notes = "A and B are Matrix Market (coordinate or array) or .npy; one of them may be \"-\",\n"
             "standard input.  A .npy array of one dimension is a column.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
    .values = values,
};
