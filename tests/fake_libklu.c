/*
 * fake_libklu.c - a library with KLU's interface that solves diagonal systems and fails on request,
 * for test_sparse_direct_fake.
 *
 * The environment variable FAKE_SOLVER selects its behaviour:
 *   defaults=0    klu_l_defaults() fails
 *   analyze=-2    klu_l_analyze() fails with that status; factor=-2: klu_l_factor()
 *   column=5      the matrix is singular in that column
 *   solve=0       klu_l_solve() and klu_l_tsolve() fail
 *   wrong=1       solutions are 1.5 times too large; wrong=2: they are NaN
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SINGULAR = 1, INVALID = -3, NONE = 12345 };

/* The fields of klu_l_common that the library may read or write. */
struct common {
    double parameters[5];
    int64_t btf, ordering, scale;
    void *pointers[2];
    int64_t halt_if_singular;
    int64_t status, nrealloc, structural_rank, numerical_rank, singular_col;
};

struct symbolic {
    double symmetry, flops, lnz, unz;
    int64_t n;
};

struct numeric {
    int64_t n, blocks, lnz, unz;
    double *diagonal;
};

static int64_t setting(const char *name)
{
    const char *text = getenv("FAKE_SOLVER");
    const size_t length = strlen(name);
    if (!text || strncmp(text, name, length) != 0 || text[length] != '=') return NONE;
    return atoll(text + length + 1);
}

/* Declared here, because the library has no header. */
EXPORT int64_t klu_l_defaults(struct common *c);
EXPORT struct symbolic *klu_l_analyze(int64_t n, int64_t *offsets, int64_t *rows, struct common *c);
EXPORT struct numeric *klu_l_factor(int64_t *offsets, int64_t *rows, double *values,
                                    struct symbolic *s, struct common *c);
EXPORT int64_t klu_l_solve(struct symbolic *s, struct numeric *f, int64_t stride, int64_t count,
                           double *x, struct common *c);
EXPORT int64_t klu_l_tsolve(struct symbolic *s, struct numeric *f, int64_t stride, int64_t count,
                            double *x, struct common *c);
EXPORT int64_t klu_l_free_symbolic(struct symbolic **s, struct common *c);
EXPORT int64_t klu_l_free_numeric(struct numeric **f, struct common *c);

int64_t klu_l_defaults(struct common *c)
{
    memset(c, 0, sizeof *c);
    return setting("defaults") != 0;
}

struct symbolic *klu_l_analyze(int64_t n, int64_t *offsets, int64_t *rows, struct common *c)
{
    struct symbolic *s = calloc(1, sizeof *s);
    (void)offsets;
    (void)rows;
    c->status = setting("analyze") == NONE ? 0 : setting("analyze");
    if (c->status || !s) {
        free(s);
        return NULL;
    }
    s->n = n;
    return s;
}

struct numeric *klu_l_factor(int64_t *offsets, int64_t *rows, double *values, struct symbolic *s,
                             struct common *c)
{
    struct numeric *f = calloc(1, sizeof *f);
    c->status = setting("factor") == NONE ? 0 : setting("factor");
    c->singular_col = setting("column") == NONE ? s->n : setting("column");
    if (c->singular_col != s->n) c->status = SINGULAR;
    if (f) f->diagonal = calloc((size_t)s->n + 1, sizeof *f->diagonal);
    for (int64_t j = 0; f && f->diagonal && j < s->n; j++)
        for (int64_t e = offsets[j]; e < offsets[j + 1]; e++)
            if (rows[e] == j) f->diagonal[j] = values[e];
    if (f) f->n = f->lnz = f->unz = s->n;
    if (c->status && f) klu_l_free_numeric(&f, c);
    return f;
}

int64_t klu_l_solve(struct symbolic *s, struct numeric *f, int64_t stride, int64_t count, double *x,
                    struct common *c)
{
    const double factor = setting("wrong") == 1 ? 1.5 : setting("wrong") == 2 ? NAN : 1;
    c->status = setting("solve") == 0 || stride != s->n || count != 1 ? INVALID : 0;
    for (int64_t i = 0; i < s->n; i++) x[i] = factor * x[i] / f->diagonal[i];
    return c->status == 0;
}

int64_t klu_l_tsolve(struct symbolic *s, struct numeric *f, int64_t stride, int64_t count,
                     double *x, struct common *c)
{
    return klu_l_solve(s, f, stride, count, x, c);
}

int64_t klu_l_free_symbolic(struct symbolic **s, struct common *c)
{
    (void)c;
    free(*s);
    *s = NULL;
    return 1;
}

int64_t klu_l_free_numeric(struct numeric **f, struct common *c)
{
    (void)c;
    if (*f) free((*f)->diagonal);
    free(*f);
    *f = NULL;
    return 1;
}
