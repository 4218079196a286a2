/*
 * dist/totals.c - the totals of the groups of a scan of floats, in the order of docs/scan.md.
 *
 *     vector   16 bytes of elements, from left to right
 *     line     32 vectors, as a balanced tree: the last lane of a scan by Hillis and Steele
 *     tile     32 lines, from left to right        group    32 tiles, from left to right
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/totals.h"
#include "core/half.h"
#include "cpu/cpu.h"

enum { VECTOR_BYTES = 16, PARTS = 32 };

struct job {
    const struct echi_scan *s;
    const char *in;
    uint64_t *totals;
    size_t bytes; /* of an element */
};

uint64_t echi_scan_group(size_t element_bytes)
{
    return (uint64_t)PARTS * PARTS * PARTS * (VECTOR_BYTES / element_bytes);
}

/* ---- Numbers in the type of the computation ---- */

static bool in_f64(const struct echi_scan *s)
{
    return s->wide || s->dtype == ECH_F64;
}

static double number_of(const struct echi_scan *s, uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return in_f64(s) ? x : (double)echi_f32_of_bits((uint32_t)bits);
}

static uint64_t bits_of(const struct echi_scan *s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return in_f64(s) ? bits : echi_bits_of_f32((float)x);
}

/* An operation in f32 equals that in f64, rounded: f64 has more than twice as many digits. */
static inline double apply(double a, double b, bool product, bool single)
{
    const double x = product ? a * b : a + b;
    return single ? (double)(float)x : x;
}

uint64_t echi_scan_add(const struct echi_scan *s, uint64_t p, uint64_t total)
{
    return bits_of(
        s, apply(number_of(s, p), number_of(s, total), s->op == ECHI_SCAN_PRODUCT, !in_f64(s)));
}

/* ---- Totals ---- */

/* n elements from left to right as numbers. */
static void load(const struct echi_scan *s, const char *in, size_t n, double *x)
{
    uint16_t half;
    float single;
    for (size_t i = 0; i < n && s->dtype == ECH_F64; i++) memcpy(&x[i], in + 8 * i, 8);
    for (size_t i = 0; i < n && s->dtype == ECH_F32; i++) {
        memcpy(&single, in + 4 * i, 4);
        x[i] = (double)single;
    }
    for (size_t i = 0; i < n && ech_dtype_bytes(s->dtype) == 2; i++) {
        memcpy(&half, in + 2 * i, 2);
        x[i] = (double)(s->dtype == ECH_F16 ? echi_f32_of_f16(half) : echi_f32_of_bf16(half));
    }
    for (size_t i = 0; i < n && s->ignore_nan; i++)
        if (x[i] != x[i]) x[i] = s->op == ECHI_SCAN_PRODUCT ? 1 : -0.0;
}

static inline double line_total(const double *x, size_t v, bool product, bool single)
{
    double lane[PARTS];
    for (size_t l = 0; l < PARTS; l++) {
        lane[l] = x[l * v];
        for (size_t j = 1; j < v; j++) lane[l] = apply(lane[l], x[l * v + j], product, single);
    }
    for (size_t count = PARTS; count > 1; count /= 2)
        for (size_t l = 0; l < count / 2; l++)
            lane[l] = apply(lane[2 * l], lane[2 * l + 1], product, single);
    return lane[0];
}

static double line_total_of(const struct echi_scan *s, const double *x, size_t v)
{
    if (s->op == ECHI_SCAN_PRODUCT)
        return in_f64(s) ? line_total(x, v, true, false) : line_total(x, v, true, true);
    return in_f64(s) ? line_total(x, v, false, false) : line_total(x, v, false, true);
}

static void total_group(void *arg, size_t i, int thread)
{
    const struct job *job = arg;
    const struct echi_scan *s = job->s;
    const size_t v = VECTOR_BYTES / job->bytes, n = v * PARTS;
    const bool product = s->op == ECHI_SCAN_PRODUCT, single = !in_f64(s);
    const char *group = job->in + i * n * PARTS * PARTS * job->bytes;
    double x[PARTS * VECTOR_BYTES / 2] = { 0 }, total = 0, tile = 0;
    (void)thread;
    for (size_t line = 0; line < PARTS * PARTS; line++) {
        const size_t from = s->backward ? PARTS * PARTS - 1 - line : line;
        load(s, group + from * n * job->bytes, n, x);
        for (size_t j = 0; s->backward && j < n / 2; j++) {
            const double other = x[j];
            x[j] = x[n - 1 - j];
            x[n - 1 - j] = other;
        }
        const double sum = line_total_of(s, x, v);
        tile = line % PARTS ? apply(tile, sum, product, single) : sum;
        if (line % PARTS == PARTS - 1)
            total = line >= PARTS ? apply(total, tile, product, single) : tile;
    }
    job->totals[i] = bits_of(s, total);
}

void echi_scan_totals(const ech_ctx *ctx, const struct echi_scan *s, const void *in,
                      uint64_t groups, uint64_t *totals)
{
    struct job job = { s, in, totals, ech_dtype_bytes(s->dtype) };
    const size_t bytes = (size_t)echi_scan_group(job.bytes) * job.bytes * (size_t)groups;
    echi_parallel(echi_parallel_for_bytes(ctx, bytes), (size_t)groups, total_group, &job);
}
