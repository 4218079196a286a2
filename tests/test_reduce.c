/*
 * test_reduce.c - reductions of arrays, rows, segments and runs of keys, and dot products,
 * compared with an oracle, on every device.
 *
 *     test_reduce                                 every case on every device
 *     test_reduce --device simt --quick           some of the cases, only small ones
 *     test_reduce 'rows(sum,f32,n=33'             cases with this prefix; data depends on the id
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce_case.h"
#include "sort_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, QUICK_BYTES = 1300000 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* ---- Data ---- */

/* A float near 1 of either sign ("nan": one in eight is NaN), or any integer. */
static uint64_t tame(ech_dtype t, bool nan, struct rng *rng)
{
    static const int fractions[] = { 10, 7, 23, 52 };
    uint64_t random = rng_next(rng), width = 8 * ech_dtype_bytes(t);
    uint64_t top = (uint64_t)1 << (width - 1);
    if (t < ECH_F16) return random & (top | (top - 1));
    int bits = fractions[t - ECH_F16];
    uint64_t one = (uint64_t)1 << bits, bias = (top / one - 1) / 2; /* of the exponent */
    uint64_t exponent = nan && random >> 61 == 0 ? 2 * bias + 1 : bias - 1 + (random >> 59 & 1);
    return (random & top) | exponent << bits | (random & (one - 1)) | 1;
}

/* An extreme element.  "huge", "tiny": floats whose squares are out of range; "scales": runs of
 * 300 elements with one of five exponents, and zeros; "near": integers near 2^64 or the extremes,
 * floats with a common first half.  NaN where they are ignored. */
static uint64_t extreme(const struct reduce_case *c, ech_dtype t, const char *dist, size_t i,
                        struct rng *rng)
{
    static const int exponents[] = { 700, -700, -1040, 1023, 3, -500, 480 };
    const uint64_t random = rng_next(rng);
    const bool near = strcmp(dist, "near") == 0;
    uint64_t u = 0;
    if (t < ECH_F16) {
        u = near ? ~(random % 1000) : i / 300 % 2 ? random : ~random >> 40;
        if (near && i / 300 % 3 == 1) u = (uint64_t)1 << 63 ^ u;
        return u;
    }
    if (c->ignore && random % 16 == 0) return t == ECH_F32 ? 0x7fc00001u : ~(uint64_t)0;
    double x = 1 + (double)(random >> 12) * 0x1p-52;
    if (near) {
        x = 1e6 + x * 1e-3;
    } else {
        int e = strcmp(dist, "huge") == 0   ? 600 + (int)(random % 424)
                : strcmp(dist, "tiny") == 0 ? -600 - (int)(random % 470)
                                            : exponents[(i / 300 + c->n) % 7];
        x = ldexp(random & 2048 ? x : -x, e);
        if (i / 300 % 9 == 4) x = 0;
    }
    if (t == ECH_F64) {
        memcpy(&u, &x, 8);
        return u;
    }
    float f = (float)(near ? x : x > 1 ? 0x1.8p100 * (x > 0x1p700 ? -1 : 1) : 0x1p-140);
    memcpy(&u, &f, 4);
    return u;
}

static bool fill(const struct reduce_case *c, ech_dtype t, const char *dist, size_t n,
                 uint64_t seed, char *to)
{
    static const char *const extremes[] = { "huge", "tiny", "scales", "near" };
    bool nan = strcmp(dist, "nan") == 0, nans = strcmp(dist, "nans") == 0;
    size_t bytes = ech_dtype_bytes(t);
    struct rng rng = { seed };
    for (size_t d = 0; d < sizeof extremes / sizeof *extremes; d++) {
        if (strcmp(dist, extremes[d]) != 0) continue;
        for (size_t i = 0; i < n; i++) {
            uint64_t u = extreme(c, t, dist, i, &rng);
            memcpy(to + i * bytes, &u, bytes);
        }
        return true;
    }
    if (!nan && !nans && strcmp(dist, "tame") != 0)
        return keys_fill(&(struct sort_case){ .dtype = t, .n = n, .dist = dist }, seed, to);
    for (size_t i = 0; i < n; i++) {
        uint64_t u = tame(t, nan, &rng);
        if (nans || (nan && i / 700 % 2)) u |= ((uint64_t)1 << (8 * bytes - 1)) - 1;
        memcpy(to + i * bytes, &u, bytes);
    }
    return true;
}

/* The length of the next segment. */
static size_t length_of(const char *lengths, size_t i, size_t left, struct rng *rng)
{
    size_t n = rng_below(rng, 17);
    if (strcmp(lengths, "tiny") == 0) n = rng_below(rng, 5);
    if (strcmp(lengths, "mixed") == 0) n = rng_below(rng, 4) ? n : rng_below(rng, 900);
    if (strcmp(lengths, "one") == 0) n = i == 3 ? left - left / 16 : 0;
    if (strcmp(lengths, "power") == 0) n = rng_below(rng, left / 2 + 1) >> rng_below(rng, 20);
    return n < left ? n : left;
}

/* Segments with gaps before the first and after the last. */
static void fill_offsets(const struct reduce_case *c, struct reduce_data *d, struct rng *rng)
{
    d->offsets[0] = d->n ? rng_below(rng, 9 < d->n ? 9 : d->n) : 0;
    for (size_t s = 0; s < c->parts; s++)
        d->offsets[s + 1] = d->offsets[s] + length_of(c->lengths, s, d->n - d->offsets[s], rng);
}

/* Keys in runs: few distinct patterns, and equal keys with different bits. */
static bool fill_keys(const struct reduce_case *c, struct reduce_data *d, struct rng *rng)
{
    size_t bytes = d->key_bytes, n = d->n;
    char *some = malloc(64 * bytes);
    bool done = some && fill(c, c->key_dtype, "special", 64, rng_next(rng), some);
    for (size_t at = 0, run = 0; done && at < n; run++) {
        size_t length = length_of(c->lengths, run % 8, n - at, rng) + 1;
        size_t which = rng_below(rng, 64);
        for (size_t i = 0; i < length && at < n; i++, at++)
            memcpy(d->keys + at * bytes, some + which * bytes, bytes);
    }
    free(some);
    return done;
}

static struct reduce_part part_of(const struct reduce_data *d, size_t from, size_t n)
{
    return (struct reduce_part){ .in = d->in + from * d->in_bytes,
                                 .b = d->b ? d->b + from * d->in_bytes : NULL,
                                 .n = n };
}

static void answer(struct reduce_data *d, size_t i, size_t from, size_t n)
{
    uint64_t bits[2];
    oracle_reduce(d->c, d->value, part_of(d, from, n), bits);
    if (d->c->op == ECH_OP_MINMAX) {
        memcpy(d->out + i * d->out_bytes, &bits[0], d->in_bytes);
        memcpy(d->out + i * d->out_bytes + d->in_bytes, &bits[1], d->in_bytes);
    } else {
        memcpy(d->out + i * d->out_bytes, &bits[0], d->out_bytes);
    }
}

static void answers(struct reduce_data *d)
{
    const struct reduce_case *c = d->c;
    size_t kb = d->key_bytes;
    if (c->shape == WHOLE || c->shape == DOT) answer(d, 0, 0, d->n);
    for (size_t i = 0; c->shape == ROWS && i < c->parts; i++) answer(d, i, i * c->n, c->n);
    for (size_t i = 0; c->shape == SEGMENTS && i < c->parts; i++)
        answer(d, i, d->offsets[i], d->offsets[i + 1] - d->offsets[i]);
    for (size_t at = 0; c->shape == BY_KEY && at < d->n; d->parts++) {
        size_t end = at + 1;
        while (end < d->n && oracle_equal(c->key_dtype, d->keys + at * kb, d->keys + end * kb))
            end++;
        memcpy(d->keys_out + d->parts * kb, d->keys + at * kb, kb);
        answer(d, d->parts, at, end - at);
        at = end;
    }
}

static bool make_data(const struct reduce_case *c, uint64_t seed, struct reduce_data *d)
{
    struct rng rng = { seed + 1 };
    *d = (struct reduce_data){ .c = c, .n = c->n, .parts = c->parts };
    if (c->shape == WHOLE || c->shape == DOT) d->parts = 1;
    if (c->shape == ROWS) d->n = c->n * c->parts;
    d->in_bytes = ech_dtype_bytes(c->dtype);
    d->out_bytes = ech_dtype_bytes((ech_dtype)ech_reduce_dtype(c->op, c->dtype, c->wide)) *
                   (c->op == ECH_OP_MINMAX ? 2 : 1);
    d->in = malloc(d->n * d->in_bytes + 1);
    size_t results = c->shape == BY_KEY ? d->n : d->parts;
    d->out = malloc(results * d->out_bytes + 1);
    bool done = d->in && d->out && fill(c, c->dtype, c->dist, d->n, seed, d->in);
    if (c->shape == DOT) {
        d->b = malloc(d->n * d->in_bytes + 1);
        done = done && d->b && fill(c, c->dtype, c->dist, d->n, seed + 7, d->b);
    }
    if (c->shape == SEGMENTS) {
        d->offsets = malloc((c->parts + 1) * 8);
        if (d->offsets) fill_offsets(c, d, &rng);
        done = done && d->offsets;
    }
    if (c->shape == BY_KEY) {
        d->parts = 0;
        d->key_bytes = ech_dtype_bytes(c->key_dtype);
        d->keys = malloc(d->n * d->key_bytes + 1);
        d->keys_out = malloc(d->n * d->key_bytes + 1);
        done = done && d->keys && d->keys_out && fill_keys(c, d, &rng);
    }
    /* A value that some elements equal. */
    done = done && fill(c, c->dtype, "special", 1, seed % 3, d->value);
    if (done && d->n && seed % 2) memcpy(d->value, d->in + seed % d->n * d->in_bytes, d->in_bytes);
    if (done) answers(d);
    return done;
}

static void free_data(struct reduce_data *d)
{
    free(d->in);
    free(d->b);
    free(d->keys);
    free(d->keys_out);
    free(d->offsets);
    free(d->out);
}

/* ---- Cases ---- */

static void run_case(const struct reduce_case *c)
{
    char id[256];
    struct reduce_data d;
    reduce_case_id(c, id, sizeof id);
    uint64_t seed = hash_text(id);
    size_t bytes = c->n * ech_dtype_bytes(c->dtype);
    if (c->always ? !test_drawn_often(seed) : !test_drawn(seed, bytes <= QUICK_BYTES)) return;
    if (!test_begin("%s", id)) return;
    bool made = make_data(c, seed, &d);
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        if (c->cpu_only && !test_is_cpu(contexts[i]))
            test_skip("an array for the caches of a CPU");
        else if (CHECK(made))
            reduce_run(contexts[i], &d, seed >> 8);
        test_end();
    }
    free_data(&d);
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    reduce_cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        uint64_t now_bytes;
        reduce_calls(contexts[i]);
        ech_memory_usage(contexts[i], 0, &now_bytes, NULL);
        if (test_begin("memory(%s)", ech_device_name(contexts[i]))) {
            CHECK_INT(now_bytes, 0);
            test_end();
        }
        ech_close(contexts[i]);
    }
    return test_finish();
}
