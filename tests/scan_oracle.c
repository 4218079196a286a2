/*
 * scan_oracle.c - computes the expected result of a scan: integers sequentially, sums and products
 * of floats exactly as docs/scan.md defines them.
 *
 * All floats are computed in double and, for f32, rounded to float after each operation. A double
 * has more than twice as many significand bits, so double rounding cannot change the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Floats of 16 bits ---- */

static double small_value(uint64_t u, int exponent_bits, int fraction_bits)
{
    uint64_t fraction = u & (((uint64_t)1 << fraction_bits) - 1);
    int most = (1 << exponent_bits) - 1, bias = most >> 1;
    int exponent = (int)(u >> fraction_bits) & most;
    double sign = u >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == most) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
    return sign * ldexp((double)(fraction | (uint64_t)1 << fraction_bits),
                        exponent - bias - fraction_bits);
}

static uint64_t small_bits(double x, int exponent_bits, int fraction_bits)
{
    int most = (1 << exponent_bits) - 1, bias = most >> 1, exponent;
    uint64_t sign = signbit(x) ? (uint64_t)1 << (exponent_bits + fraction_bits) : 0;
    uint64_t infinity = (uint64_t)most << fraction_bits;
    if (isnan(x)) return infinity | (uint64_t)1 << (fraction_bits - 1);
    if (isinf(x)) return sign | infinity;
    if (x == 0) return sign;
    frexp(x, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    uint64_t units = (uint64_t)nearbyint(ldexp(fabs(x), fraction_bits - exponent));
    uint64_t u = ((uint64_t)(exponent + bias - 1) << fraction_bits) + units;
    return sign | (u > infinity ? infinity : u);
}

static double value_of(ech_dtype dtype, uint64_t u)
{
    float f;
    double d;
    uint32_t low = (uint32_t)u;
    if (dtype == ECH_F16) return small_value(u, 5, 10);
    if (dtype == ECH_BF16) return small_value(u, 8, 7);
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &u, sizeof d);
    return dtype == ECH_F32 ? (double)f : d;
}

static uint64_t bits_of(ech_dtype dtype, double x)
{
    if (dtype == ECH_F16) return small_bits(x, 5, 10);
    if (dtype == ECH_BF16) return small_bits(x, 8, 7);
    if (isnan(x)) return dtype == ECH_F32 ? 0x7fc00000 : 0x7ff8000000000000;
    float f = (float)x;
    uint32_t low;
    uint64_t u;
    memcpy(&low, &f, sizeof low);
    memcpy(&u, &x, sizeof u);
    return dtype == ECH_F32 ? low : u;
}

bool scan_is_nan(ech_dtype dtype, uint64_t u)
{
    return dtype >= ECH_F16 && isnan(value_of(dtype, u));
}

/* ---- Elements by position ---- */

static uint64_t load(const char *from, size_t bytes, size_t i)
{
    uint64_t u = 0;
    memcpy(&u, from + i * bytes, bytes);
    return u;
}

struct part { /* a row, or the whole array */
    const struct scan_data *d;
    size_t begin, n;
    const char *heads; /* by position, or NULL */
};

static size_t place(const struct part *p, size_t i)
{
    return p->begin + (p->d->c->backward ? p->n - 1 - i : i);
}

static uint64_t element(const struct part *p, size_t i)
{
    return load(p->d->in, p->d->bytes, place(p, i));
}

static void put(const struct part *p, size_t i, uint64_t u)
{
    memcpy(p->d->want + place(p, i) * p->d->out_bytes, &u, p->d->out_bytes);
}

/* Whether init contributes: an ignored NaN does not. */
static bool has_init(const struct scan_data *d)
{
    const struct scan_case *c = d->c;
    return c->init && !(c->ignore_nan && scan_is_nan(scan_out_dtype(c), d->init[0]));
}

/* ---- Integers, and all minima and maxima: sequential ---- */

static int64_t signed_value(size_t bytes, uint64_t u)
{
    int unused = (int)(64 - 8 * bytes);
    return (int64_t)(u << unused) >> unused;
}

/* Whether a is less than b. NaN precedes all numbers for a minimum and follows them for a
 * maximum. */
static bool less(const struct scan_case *c, uint64_t a, uint64_t b)
{
    if (c->dtype < ECH_U8) {
        size_t bytes = ech_dtype_bytes(c->dtype);
        return signed_value(bytes, a) < signed_value(bytes, b);
    }
    if (c->dtype < ECH_F16) return a < b;
    double x = value_of(c->dtype, a), y = value_of(c->dtype, b);
    if (isnan(x) || isnan(y)) return isnan(c->op == ECH_OP_MIN ? x : y) && isnan(x) != isnan(y);
    return x < y || (x == y && signbit(x) && !signbit(y));
}

static uint64_t op_integer(const struct scan_case *c, uint64_t a, uint64_t b)
{
    switch (c->op) {
    case ECH_OP_SUM:
        return a + b;
    case ECH_OP_PRODUCT:
        return a * b;
    case ECH_OP_MIN:
        return less(c, b, a) ? b : a;
    case ECH_OP_MAX:
        return less(c, a, b) ? b : a;
    case ECH_OP_AND:
        return a & b;
    case ECH_OP_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static uint64_t nothing_integer(const struct scan_case *c)
{
    size_t width = 8 * ech_dtype_bytes(c->dtype);
    uint64_t ones = ~(uint64_t)0 >> (64 - width), top = (uint64_t)1 << (width - 1);
    double infinity = c->op == ECH_OP_MIN ? INFINITY : -(double)INFINITY;
    switch (c->op) {
    case ECH_OP_PRODUCT:
        return 1;
    case ECH_OP_AND:
        return ones;
    case ECH_OP_MIN:
    case ECH_OP_MAX:
        if (c->dtype >= ECH_F16) return bits_of(c->dtype, infinity);
        if (c->dtype >= ECH_U8) return c->op == ECH_OP_MIN ? ones : 0;
        return c->op == ECH_OP_MIN ? top - 1 : top;
    default:
        return 0;
    }
}

static void serial(const struct part *p)
{
    const struct scan_case *c = p->d->c;
    bool widen = scan_out_dtype(c) != c->dtype && c->dtype < ECH_U8;
    bool init = has_init(p->d);
    uint64_t first = init ? p->d->init[0] : nothing_integer(c), all = first;
    bool empty = !init;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t u = element(p, i);
        if (widen) u = (uint64_t)signed_value(p->d->bytes, u);
        if (p->heads && p->heads[i]) all = first;
        if (p->heads && p->heads[i]) empty = !init;
        if (c->exclusive) put(p, i, all);
        bool skip = c->ignore_nan && scan_is_nan(c->dtype, u);
        if (!skip) all = empty ? u : op_integer(c, all, u);
        if (!skip) empty = false;
        if (!c->exclusive) put(p, i, all);
    }
}

/* ---- Sums and products of floats: docs/scan.md ---- */

enum { LANES = 32, MOST = 256 };

struct network {
    const struct part *p;
    bool single, product;
    size_t v; /* elements per vector */
    double neutral, first;
    double x[MOST]; /* elements of the line */
    bool head[MOST];
    double up[MOST];     /* inclusive sums within each vector */
    double lanes[LANES]; /* inclusive sums of the vectors */
    bool lane_head[LANES];
};

static double op_float(const struct network *w, double a, double b)
{
    double r = w->product ? a * b : a + b;
    return w->single ? (double)(float)r : r;
}

static void line_up(struct network *w, size_t at)
{
    const struct scan_case *c = w->p->d->c;
    for (size_t i = 0; i < LANES * w->v; i++) {
        bool there = at + i < w->p->n;
        w->x[i] = there ? value_of(c->dtype, element(w->p, at + i)) : 0;
        if (c->ignore_nan && isnan(w->x[i])) w->x[i] = w->neutral;
        w->head[i] = there && w->p->heads && w->p->heads[at + i];
    }
    for (size_t l = 0; l < LANES; l++) {
        w->lane_head[l] = false;
        for (size_t j = 0; j < w->v; j++) {
            size_t i = l * w->v + j;
            w->up[i] = w->head[i] ? op_float(w, w->first, w->x[i])
                       : j        ? op_float(w, w->up[i - 1], w->x[i])
                                  : w->x[i];
            w->lane_head[l] |= w->head[i];
        }
        w->lanes[l] = w->up[l * w->v + w->v - 1];
    }
    for (size_t step = 1; step < LANES; step *= 2)
        for (size_t l = LANES - 1; l >= step;
             l--) { /* descending, so that lower lanes still hold the values of the previous step */
            bool cut = false;
            for (size_t m = l - step + 1; m <= l; m++) cut |= w->lane_head[m];
            if (!cut) w->lanes[l] = op_float(w, w->lanes[l - step], w->lanes[l]);
        }
}

static void line_down(const struct network *w, size_t at, double before)
{
    const struct scan_case *c = w->p->d->c;
    ech_dtype out = scan_out_dtype(c);
    bool below = false;
    for (size_t l = 0; l < LANES; l++) {
        double base = l == 0  ? before
                      : below ? w->lanes[l - 1]
                              : op_float(w, before, w->lanes[l - 1]);
        double last = base;
        bool cut = false;
        for (size_t i = l * w->v; i < (l + 1) * w->v; i++) {
            cut |= w->head[i];
            double r = cut ? w->up[i] : op_float(w, base, w->up[i]);
            if (at + i < w->p->n)
                put(w->p, at + i, bits_of(out, !c->exclusive ? r : w->head[i] ? w->first : last));
            last = r;
        }
        below |= w->lane_head[l];
    }
}

/* A sum that restarts at heads. */
struct fold {
    double sum;
    bool any, cut;
};

static void fold_add(const struct network *w, struct fold *f, double x, bool cut)
{
    f->sum = cut || !f->any ? x : op_float(w, f->sum, x);
    f->any = true;
    f->cut |= cut;
}

static double fold_after(const struct network *w, double before, const struct fold *f)
{
    return !f->any ? before : f->cut ? f->sum : op_float(w, before, f->sum);
}

static void network(struct network *w)
{
    struct fold tile = { 0 }, group = { 0 };
    double groups = w->first;
    for (size_t at = 0, line = 0; at < w->p->n; at += LANES * w->v) {
        line_up(w, at);
        line_down(w, at, fold_after(w, fold_after(w, groups, &group), &tile));
        bool cut = false;
        for (size_t l = 0; l < LANES; l++) cut |= w->lane_head[l];
        fold_add(w, &tile, w->lanes[LANES - 1], cut);
        if (++line % 32) continue;
        fold_add(w, &group, tile.sum, tile.cut);
        tile = (struct fold){ 0 };
        if (line % 1024) continue;
        groups = fold_after(w, groups, &group);
        group = (struct fold){ 0 };
    }
}

/* ---- All shapes ---- */

ech_dtype scan_out_dtype(const struct scan_case *c)
{
    if (!c->wide || c->op > ECH_OP_PRODUCT) return c->dtype;
    return c->dtype >= ECH_F16 ? ECH_F64 : c->dtype >= ECH_U8 ? ECH_U64 : ECH_I64;
}

static bool scan_part(const struct part *p)
{
    const struct scan_case *c = p->d->c;
    if (c->dtype < ECH_F16 || c->op > ECH_OP_PRODUCT) {
        serial(p);
        return true;
    }
    struct network *w = calloc(1, sizeof *w);
    if (!w) return false;
    w->p = p;
    w->single = scan_out_dtype(c) != ECH_F64;
    w->product = c->op == ECH_OP_PRODUCT;
    w->v = 16 / p->d->bytes;
    w->neutral = w->product ? 1 : -0.0;
    w->first = has_init(p->d) ? value_of(scan_out_dtype(c), p->d->init[0])
               : w->product || !(c->exclusive || c->ignore_nan) ? w->neutral
                                                                : 0;
    network(w);
    free(w);
    return true;
}

bool scan_oracle(struct scan_data *d, const char *heads)
{
    const struct scan_case *c = d->c;
    size_t columns = c->shape == SCAN_ROWS ? c->columns : c->n;
    for (size_t at = 0; at < c->n; at += columns) {
        struct part p = { d, at, columns, heads };
        if (!scan_part(&p)) return false;
    }
    return true;
}

bool scan_same(const struct scan_data *d, const void *a, const void *b)
{
    ech_dtype out = scan_out_dtype(d->c);
    if (memcmp(a, b, d->out_bytes) == 0) return true;
    return d->c->op > ECH_OP_PRODUCT && scan_is_nan(out, load(a, d->out_bytes, 0)) &&
           scan_is_nan(out, load(b, d->out_bytes, 0));
}
