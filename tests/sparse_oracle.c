/*
 * sparse_oracle.c - creates sparse matrices from the lengths of their rows, and computes products
 * in the documented order, recursively.
 *
 * All results are computed in f64 and, for f32, rounded to f32 after each operation. f64 has more
 * than twice as many significand bits, so this equals f32 arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 32 };

double sparse_round(ech_dtype dtype, double x)
{
    return dtype == ECH_F32 ? (double)(float)x : x;
}

double sparse_number(struct rng *rng, const char *dist, ech_dtype dtype)
{
    static const double special[] = { NAN,  -NAN,      INFINITY,  -INFINITY, 0.0,
                                      -0.0, 0x1p-1074, -0x1p-149, 0x1p120 };
    uint64_t u = rng_next(rng);
    if (strcmp(dist, "special") == 0 && u % 16 == 0)
        return sparse_round(dtype, special[u / 16 % (sizeof special / sizeof *special)]);
    double x = (double)(int64_t)(u >> 11) * 0x1p-52 - 1;
    return sparse_round(dtype, x);
}

static size_t length_of(const char *lens, size_t row, size_t rows, struct rng *rng)
{
    static const size_t mixed[] = { 0,  1,   2,   3,   31,  32,  33,  63,  64,   65,   100,  0,
                                    96, 127, 128, 255, 256, 257, 511, 512, 1000, 1025, 2304, 5 };
    uint64_t u = rng_next(rng);
    if (strcmp(lens, "empty") == 0) return 0;
    if (strcmp(lens, "one") == 0) return row == rows / 2 ? rows : 0;
    if (strcmp(lens, "last") == 0) return row + 1 == rows ? 5 * rows : 3;
    if (strcmp(lens, "mixed") == 0) return mixed[u % (sizeof mixed / sizeof *mixed)];
    if (strcmp(lens, "five") == 0) return row == 0 || row + 1 == rows ? 4 : 5;
    if (strcmp(lens, "gaps") == 0) return u % 97 ? 0 : u / 97 % 300;
    if (strcmp(lens, "power") == 0) return (size_t)(4 / (0.0003 + (double)(u >> 40) * 0x1p-24));
    return (size_t)strtoul(lens, NULL, 10);
}

bool sparse_make(struct sparse *m, size_t rows, size_t cols, ech_dtype index, ech_dtype dtype,
                 const char *lens, const char *dist, uint64_t seed)
{
    struct rng rng = { seed };
    *m = (struct sparse){ .rows = rows, .cols = cols, .index = index, .dtype = dtype };
    m->offsets = calloc(rows + 1, sizeof *m->offsets);
    if (!CHECK(m->offsets)) return false;
    for (size_t i = 0; i < rows; i++)
        m->offsets[i + 1] = m->offsets[i] + (cols ? length_of(lens, i, rows, &rng) : 0);
    m->entries = (size_t)m->offsets[rows];
    m->columns = calloc(m->entries + 1, sizeof *m->columns);
    m->values = calloc(m->entries + 1, sizeof *m->values);
    if (!CHECK(m->columns && m->values)) return false;
    for (size_t i = 0; i < rows; i++) { /* ascending columns if possible */
        const size_t n = (size_t)(m->offsets[i + 1] - m->offsets[i]);
        for (size_t j = 0; j < n; j++) {
            const size_t e = (size_t)m->offsets[i] + j;
            const uint64_t u = rng_next(&rng);
            m->columns[e] = n <= cols ? j * (cols / n) + u % (cols / n) : u % cols;
            m->values[e] = sparse_number(&rng, dist, dtype);
        }
    }
    return true;
}

void sparse_free(struct sparse *m)
{
    free(m->offsets);
    free(m->columns);
    free(m->values);
}

/* ---- Sums in the documented order ---- */

struct sum {
    const struct sparse *m;
    const double *x;
    size_t stride, begin, end;
};

static double add_chunk(const struct sum *s, size_t chunk)
{
    size_t from = s->begin + chunk * CHUNK, to = from + CHUNK < s->end ? from + CHUNK : s->end;
    double total = 0;
    for (size_t e = from; e < to; e++) {
        double product = s->m->values[e] * s->x[s->m->columns[e] * s->stride];
        product = sparse_round(s->m->dtype, product);
        total = e == from ? product : sparse_round(s->m->dtype, total + product);
    }
    return total;
}

/* The sum of chunks first ... first + width - 1, as far as they exist; width is a power of two. */
static double add_tree(const struct sum *s, size_t first, size_t width)
{
    const size_t chunks = (s->end - s->begin + CHUNK - 1) / CHUNK;
    if (width == 1) return add_chunk(s, first);
    double left = add_tree(s, first, width / 2);
    if (first + width / 2 >= chunks) return left;
    return sparse_round(s->m->dtype, left + add_tree(s, first + width / 2, width / 2));
}

double sparse_row(const struct sparse *m, size_t row, double alpha, const double *x, size_t stride,
                  double beta, double y)
{
    const struct sum s = { m, x, stride, (size_t)m->offsets[row], (size_t)m->offsets[row + 1] };
    size_t width = 1;
    while (width * CHUNK < s.end - s.begin) width *= 2;
    alpha = sparse_round(m->dtype, alpha);
    beta = sparse_round(m->dtype, beta);
    if (alpha == 0 || m->cols == 0) /* y is only scaled */
        return beta == 0              ? 0
               : beta * y == beta * y ? sparse_round(m->dtype, beta * y)
                                      : (double)NAN;
    double total = s.begin == s.end ? 0 : add_tree(&s, 0, width);
    total = sparse_round(m->dtype, alpha * total);
    if (beta != 0) total = sparse_round(m->dtype, total + sparse_round(m->dtype, beta * y));
    return total == total ? total : (double)NAN;
}
