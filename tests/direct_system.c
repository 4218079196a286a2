/*
 * direct_system.c - matrices for the tests of direct solvers, one call, and elimination in long
 * double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A_GAP = 3, B_GAP = 1, X_GAP = 2 };

static void *get(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    if (!memory) abort();
    return memory;
}

static double rounded(ech_dtype dtype, double x)
{
    return dtype == ECH_F32 ? (double)(float)x : x;
}

double unit_of(ech_dtype dtype)
{
    return dtype == ECH_F32 ? 0x1p-24 : 0x1p-53;
}

/* ---- Options ---- */

ech_direct_options direct_options(ech_factor kind, const char *algorithm, int refine)
{
    return (ech_direct_options){
        .size = sizeof(ech_direct_options), .kind = kind, .refine = refine, .algorithm = algorithm
    };
}

bool direct_has(const ech_ctx *ctx, const char *algorithm)
{
    const ech_direct_options o = direct_options(ECH_FACTOR_AUTO, algorithm, 0);
    size_t bytes;
    return ech_direct_workspace(ech_device_name(ctx), ECH_DIRECT_CALL_SOLVE, 4, 4, 1, ECH_F64, &o,
                                &bytes) == ECH_OK;
}

/* ---- Matrices ---- */

static double random_number(struct rng *rng)
{
    return (double)(int64_t)(rng_next(rng) >> 11) * 0x1p-52 - 1;
}

static double element(const char *kind, size_t i, size_t j, size_t n, double random)
{
    const double apart = fabs((double)i - (double)j);
    if (strcmp(kind, "kms") == 0) return pow(0.5, apart);
    if (strcmp(kind, "hilbert") == 0) return 1 / (double)(i + j + 1);
    if (strcmp(kind, "identity") == 0) return i == j;
    if (strcmp(kind, "cycle") == 0) return j == (i + 1) % n;
    if (strcmp(kind, "signs") == 0) return i == j ? 1 : 4 / (1 + apart);
    if (strcmp(kind, "ones") == 0) return 1;
    if (strcmp(kind, "zero") == 0) return j == n / 2 ? 0 : random;
    return random;
}

struct direct_system direct_make(const char *kind, size_t m, size_t n, size_t count,
                                 ech_dtype dtype, uint64_t seed)
{
    struct direct_system s = { m, n, count, dtype, get(m * n, 8), get(m * count, 8) };
    struct rng rng = { seed };
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) s.a[i * n + j] = element(kind, i, j, n, random_number(&rng));
    for (size_t i = 0; i < m; i++) {
        double *row = s.a + i * n;
        if (strcmp(kind, "near") == 0 && n > 1)
            row[0] = row[1] + (dtype == ECH_F32 ? 1e-4 : 1e-11) * row[0];
        if (strcmp(kind, "dependent") == 0) row[n - 1] = row[0] + row[1];
        for (size_t j = 0; strcmp(kind, "spd") == 0 && j < i; j++) s.a[j * n + i] = row[j];
        if (strcmp(kind, "spd") == 0) row[i] = 0.6 * (double)n + 1;
    }
    for (size_t i = 0; i < m * n; i++) s.a[i] = rounded(dtype, s.a[i]);
    for (size_t i = 0; i < m * count; i++) s.b[i] = rounded(dtype, random_number(&rng));
    return s;
}

void direct_free(struct direct_system *s)
{
    free(s->a);
    free(s->b);
}

/* ---- A call ---- */

struct image {
    size_t rows, cols, stride, bytes;
    char *host;
    struct buffer buffer;
};

static bool image_make(struct image *image, ech_ctx *ctx, const double *from, size_t rows,
                       size_t cols, size_t gap, ech_dtype dtype)
{
    const size_t element_bytes = ech_dtype_bytes(dtype), stride = cols + gap;
    *image = (struct image){ .rows = rows, .cols = cols, .stride = stride };
    image->bytes = rows && cols ? ((rows - 1) * stride + cols) * element_bytes : 0;
    image->host = get(image->bytes, 1);
    memset(image->host, 0xEE, image->bytes); /* NaN */
    for (size_t i = 0; from && i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const double x = from[i * cols + j];
            const float narrow = (float)x;
            memcpy(image->host + (i * stride + j) * element_bytes,
                   dtype == ECH_F32 ? (const void *)&narrow : &x, element_bytes);
        }
    return buffer_make(&image->buffer, ctx, image->bytes, element_bytes) &&
           buffer_set(&image->buffer, image->host);
}

/* Reads the matrix to x, and checks that the other bytes are unchanged (x NULL: all bytes). */
static void image_end(struct image *image, double *x, ech_dtype dtype, const char *name)
{
    const size_t element_bytes = ech_dtype_bytes(dtype);
    char *now = get(image->bytes, 1);
    buffer_get(&image->buffer, now);
    for (size_t i = 0; x && i < image->rows; i++)
        for (size_t j = 0; j < image->cols; j++) {
            char *from = now + (i * image->stride + j) * element_bytes;
            float narrow;
            if (dtype == ECH_F32) {
                memcpy(&narrow, from, sizeof narrow);
                x[i * image->cols + j] = (double)narrow;
            } else {
                memcpy(&x[i * image->cols + j], from, sizeof *x);
            }
            memset(from, 0xEE, element_bytes);
        }
    if (memcmp(now, image->host, image->bytes) != 0)
        test_fail(__FILE__, __LINE__, "%s: bytes outside the result have changed", name);
    buffer_check_guards(&image->buffer, name);
    buffer_free(&image->buffer);
    free(image->host);
    free(now);
}

struct direct_answer direct_solve(ech_ctx *ctx, const struct direct_system *s, bool on_host,
                                  const ech_direct_options *options)
{
    ech_ctx *side = on_host ? NULL : ctx;
    struct direct_answer answer = { .x = get(s->n * s->count, 8) };
    answer.report.size = sizeof answer.report;
    struct image a, b = { 0 }, x;
    const bool made = image_make(&a, side, s->a, s->m, s->n, A_GAP, s->dtype) &&
                      (!s->b || image_make(&b, side, s->b, s->m, s->count, B_GAP, s->dtype)) &&
                      image_make(&x, side, NULL, s->n, s->count, X_GAP, s->dtype);
    if (!made) abort();
    answer.status = s->b ? ech_solve_direct(ctx, s->m, s->n, a.buffer.data, a.stride, s->count,
                                            b.buffer.data, b.stride, x.buffer.data, x.stride,
                                            s->dtype, options, &answer.report)
                         : ech_inverse(ctx, s->n, a.buffer.data, a.stride, x.buffer.data, x.stride,
                                       s->dtype, options, &answer.report);
    image_end(&a, NULL, s->dtype, "a");
    if (s->b) image_end(&b, NULL, s->dtype, "b");
    image_end(&x, answer.x, s->dtype, "x");
    return answer;
}

void answer_free(struct direct_answer *answer)
{
    free(answer->x);
}

bool answers_same(const struct direct_system *s, const struct direct_answer *a,
                  const struct direct_answer *b, const char *what)
{
    const ech_direct_report *p = &a->report, *q = &b->report;
    const size_t bytes = s->n * s->count * sizeof(double);
    const bool reports = p->status == q->status && p->kind == q->kind &&
                         p->failed_index == q->failed_index && p->sign == q->sign &&
                         p->refinements == q->refinements && memcmp(&p->rcond, &q->rcond, 8) == 0 &&
                         memcmp(&p->backward_error, &q->backward_error, 8) == 0;
    if (reports && (p->status != ECH_DIRECT_STATUS_SOLVED || memcmp(a->x, b->x, bytes) == 0))
        return true;
    test_fail(__FILE__, __LINE__, "%s: not bit-identical (rcond %.17g and %.17g, error %g and %g)",
              what, p->rcond, q->rcond, p->backward_error, q->backward_error);
    return false;
}

/* ---- Oracles ---- */

bool oracle_solve(const long double *a, const long double *b, long double *x, size_t n,
                  size_t count)
{
    long double *t = get(n * (n + count), sizeof *t);
    const size_t width = n + count;
    bool solved = true;
    for (size_t i = 0; i < n; i++) {
        memcpy(t + i * width, a + i * n, n * sizeof *t);
        memcpy(t + i * width + n, b + i * count, count * sizeof *t);
    }
    for (size_t k = 0; k < n && solved; k++) {
        size_t pivot = k;
        for (size_t i = k; i < n; i++)
            if (fabsl(t[i * width + k]) > fabsl(t[pivot * width + k])) pivot = i;
        solved = t[pivot * width + k] != 0;
        for (size_t j = 0; solved && j < width; j++) {
            const long double other = t[k * width + j];
            t[k * width + j] = t[pivot * width + j];
            t[pivot * width + j] = other;
        }
        for (size_t i = 0; solved && i < n; i++) {
            const long double by = t[i * width + k] / t[k * width + k];
            for (size_t j = k; i != k && by != 0 && j < width; j++)
                t[i * width + j] -= by * t[k * width + j];
        }
    }
    for (size_t i = 0; solved && i < n; i++)
        for (size_t j = 0; j < count; j++)
            x[i * count + j] = t[i * width + n + j] / t[i * width + i];
    free(t);
    return solved;
}

double oracle_error(const struct direct_system *s, const double *x)
{
    long double worst = 0, row_norm = 0, column_norm = 0;
    long double *r = get(s->m, sizeof *r);
    for (size_t i = 0; i < s->m; i++) {
        long double sum = 0;
        for (size_t j = 0; j < s->n; j++) sum += fabsl((long double)s->a[i * s->n + j]);
        if (sum > row_norm) row_norm = sum;
    }
    for (size_t c = 0; c < s->count; c++) {
        long double x_most = 0, b_most = 0, most = 0;
        for (size_t j = 0; j < s->n; j++) x_most = fmaxl(x_most, fabsl(x[j * s->count + c]));
        for (size_t i = 0; i < s->m; i++) {
            const long double b = s->b ? s->b[i * s->count + c] : i == c;
            r[i] = b;
            for (size_t j = 0; j < s->n; j++)
                r[i] -= (long double)s->a[i * s->n + j] * x[j * s->count + c];
            b_most = fmaxl(b_most, fabsl(b));
            if (s->m == s->n) most = fmaxl(most, fabsl(r[i]));
        }
        for (size_t j = 0; s->m > s->n && j < s->n; j++) {
            long double sum = 0, size = 0;
            for (size_t i = 0; i < s->m; i++) {
                sum += s->a[i * s->n + j] * r[i];
                size += fabsl((long double)s->a[i * s->n + j]);
            }
            most = fmaxl(most, fabsl(sum));
            column_norm = fmaxl(column_norm, size);
        }
        if (most > 0)
            worst =
                fmaxl(worst, most / (row_norm * x_most + b_most) / (s->m > s->n ? column_norm : 1));
    }
    free(r);
    return (double)worst;
}
