/*
 * scan_run.c - creates the data of a case, runs it in several ways and compares the results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 200000 }; /* larger cases run in fewer ways */

/* ---- Data ---- */

static uint64_t float_bits(ech_dtype dtype, double x)
{
    float f = (float)x;
    uint32_t low;
    uint64_t u;
    memcpy(&low, &f, sizeof low);
    memcpy(&u, &x, sizeof u);
    if (dtype == ECH_F64) return u;
    if (dtype == ECH_F32) return low;
    if (dtype == ECH_BF16) return low >> 16;
    uint32_t sign = low >> 16 & 0x8000;
    int exponent = (int)(low >> 23 & 0xff) - 112;
    return exponent <= 0 ? sign : sign | (uint32_t)exponent << 10 | (low >> 13 & 0x3ff);
}

static uint64_t special_bits(ech_dtype dtype, struct rng *rng)
{
    static const int fractions[] = { 10, 7, 23, 52 };
    size_t width = 8 * ech_dtype_bytes(dtype);
    uint64_t top = (uint64_t)1 << (width - 1);
    uint64_t fraction = ((uint64_t)1 << fractions[dtype - ECH_F16]) - 1;
    uint64_t infinity = (top - 1) & ~fraction, sign = rng_below(rng, 2) ? top : 0;
    switch (rng_below(rng, 40)) {
    case 0:
        return sign | infinity | (rng_next(rng) & fraction); /* a NaN, or infinity */
    case 1:
        return sign | infinity;
    case 2:
        return sign | infinity | 1;
    case 3:
        return sign | (rng_next(rng) & fraction); /* subnormal */
    case 4:
    case 5:
        return sign;
    default:
        return float_bits(dtype, (double)(int64_t)rng_below(rng, 2001) / 1000 - 1);
    }
}

static uint64_t draw(const struct scan_case *c, ech_dtype dtype, struct rng *rng)
{
    uint64_t r = rng_next(rng);
    if (strcmp(c->dist, "bits") == 0) return r;
    if (dtype < ECH_F16) return r % 5 ? r >> 7 : 0 - r % 3;
    if (strcmp(c->dist, "special") == 0) return special_bits(dtype, rng);
    if (strcmp(c->dist, "zeros") == 0) return (uint64_t)1 << (8 * ech_dtype_bytes(dtype) - 1);
    double unit = (double)(r >> 11) * (1 / 9007199254740992.0);
    if (strcmp(c->dist, "unit") == 0) return float_bits(dtype, 0.96875 + unit / 16);
    return float_bits(dtype, 2 * unit - 1);
}

/* Few distinct keys, some of which are equal floats with different bits. */
static uint64_t draw_key(ech_dtype dtype, struct rng *rng)
{
    uint64_t r = rng_below(rng, 6);
    size_t width = 8 * ech_dtype_bytes(dtype);
    if (dtype < ECH_F16) return r;
    if (r < 2) return r ? (uint64_t)1 << (width - 1) : 0;
    if (r < 4) return (~(uint64_t)0 >> (64 - width + r % 2)) - r % 2;
    return float_bits(dtype, (double)r);
}

static bool make_segments(struct scan_data *d, struct rng *rng, char *heads)
{
    const struct scan_case *c = d->c;
    size_t most = c->n / (c->run ? c->run : 1) + 8, at = rng_below(rng, c->n / 8 + 1);
    d->offsets = calloc(most + 1, sizeof *d->offsets);
    if (!d->offsets) return false;
    d->offsets[0] = at;
    while (d->segments < most) {
        size_t next = at + (rng_below(rng, 5) ? rng_below(rng, 2 * c->run + 1) : 0); /* or empty */
        if (next > c->n) next = rng_below(rng, 3) ? c->n : at;
        d->offsets[++d->segments] = next;
        if (next > at) heads[c->backward ? c->n - next : at] = 1;
        memset(d->written + at, 1, next - at);
        at = next;
    }
    return true;
}

static bool make_keys(struct scan_data *d, struct rng *rng, char *heads)
{
    const struct scan_case *c = d->c;
    size_t bytes = ech_dtype_bytes(c->key_dtype);
    d->keys = malloc(c->n * bytes + 1);
    if (!d->keys) return false;
    uint64_t key = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (i == 0 || rng_below(rng, c->run) == 0) {
            uint64_t next = draw_key(c->key_dtype, rng);
            bool nan = scan_is_nan(c->key_dtype, key) && scan_is_nan(c->key_dtype, next);
            uint64_t zero = c->key_dtype < ECH_F16 ? 0 : (uint64_t)1 << (8 * bytes - 1);
            bool same =
                i && (next == key || nan ||
                      ((next | zero) == zero && (key | zero) == zero && c->key_dtype >= ECH_F16));
            if (!same) heads[c->backward ? (i ? c->n - i : 0) : i] = 1;
            key = next;
        }
        memcpy(d->keys + i * bytes, &key, bytes);
    }
    if (c->n) heads[0] = 1;
    memset(d->written, 1, c->n);
    return true;
}

bool scan_data_make(const struct scan_case *c, uint64_t seed, struct scan_data *d)
{
    struct rng rng = { seed };
    memset(d, 0, sizeof *d);
    d->c = c;
    d->bytes = ech_dtype_bytes(c->dtype);
    d->out_bytes = ech_dtype_bytes(scan_out_dtype(c));
    d->in = malloc(c->n * d->bytes + 1);
    d->want = calloc(c->n + 1, d->out_bytes);
    d->written = calloc(c->n + 1, 1);
    char *heads = calloc(c->n + 1, 1);
    bool ok = d->in && d->want && d->written && heads;
    for (size_t i = 0; ok && i < c->n; i++) {
        uint64_t u = draw(c, c->dtype, &rng);
        memcpy(d->in + i * d->bytes, &u, d->bytes);
    }
    d->init[0] = draw(c, scan_out_dtype(c), &rng);
    if (d->out_bytes < 8) d->init[0] &= ((uint64_t)1 << 8 * d->out_bytes) - 1;
    if (ok && c->shape == SCAN_SEGMENTS)
        ok = make_segments(d, &rng, heads);
    else if (ok && c->shape == SCAN_KEYS)
        ok = make_keys(d, &rng, heads);
    else if (ok)
        memset(d->written, 1, c->n);
    ok = ok && scan_oracle(d, c->shape >= SCAN_SEGMENTS ? heads : NULL);
    free(heads);
    if (!ok) test_fail(__FILE__, __LINE__, "out of memory for the data of the case");
    return ok;
}

void scan_data_free(struct scan_data *d)
{
    free(d->in);
    free(d->keys);
    free(d->want);
    free(d->written);
    free(d->offsets);
}

/* ---- One run ---- */

struct way {
    bool in_place, own_work, host, host_keys;
    size_t offset; /* misalignment in elements */
};

ech_dtype scan_offsets_dtype(const struct scan_data *d)
{
    return index_dtype(d->c->n + d->segments, d->c->n);
}

ech_status scan_call(ech_ctx *ctx, const struct scan_data *d, const void *in, void *out,
                     const void *keys, const void *offsets, const ech_scan_options *options)
{
    const struct scan_case *c = d->c;
    switch (c->shape) {
    case SCAN_WHOLE:
        return ech_scan(ctx, c->op, in, out, c->n, c->dtype, options);
    case SCAN_ROWS:
        return ech_scan_rows(ctx, c->op, in, out, c->n / c->columns, c->columns, c->dtype, options);
    case SCAN_SEGMENTS:
        return ech_scan_segments(ctx, c->op, in, offsets, out, c->n, d->segments, c->dtype,
                                 scan_offsets_dtype(d), options);
    default:
        return ech_scan_by_key(ctx, c->op, keys, in, out, c->n, c->key_dtype, c->dtype, options);
    }
}

static void compare(const struct scan_data *d, const char *got, const char *before)
{
    for (size_t i = 0; i < d->c->n; i++) {
        const char *want = d->written[i] ? d->want : before;
        uint64_t a = 0, b = 0;
        if (d->written[i]
                ? scan_same(d, got + i * d->out_bytes, want + i * d->out_bytes)
                : memcmp(got + i * d->out_bytes, want + i * d->out_bytes, d->out_bytes) == 0)
            continue;
        memcpy(&a, got + i * d->out_bytes, d->out_bytes);
        memcpy(&b, want + i * d->out_bytes, d->out_bytes);
        test_fail(__FILE__, __LINE__, "out[%zu] is 0x%llx instead of 0x%llx%s", i,
                  (unsigned long long)a, (unsigned long long)b,
                  d->written[i] ? "" : ", its value before the call");
        return;
    }
}

enum { IN, OUT, KEYS, OFFSETS, WORK, BUFFERS };

static bool make_buffers(ech_ctx *ctx, const struct scan_data *d, struct way way,
                         ech_scan_options *options, struct buffer b[BUFFERS])
{
    const struct scan_case *c = d->c;
    ech_ctx *memory = way.host || test_is_cpu(ctx) ? NULL : ctx;
    ech_ctx *keys_memory = way.host_keys || test_is_cpu(ctx) ? NULL : ctx;
    size_t key_bytes = d->keys ? ech_dtype_bytes(c->key_dtype) : 0, work_bytes = 0;
    if (!buffer_make(&b[IN], memory, c->n * d->bytes, way.offset * d->bytes) ||
        !buffer_set(&b[IN], d->in) ||
        !buffer_make(&b[OUT], memory, c->n * d->out_bytes, way.offset / 2 * d->out_bytes) ||
        !buffer_make(&b[KEYS], keys_memory, c->n * key_bytes, way.offset * key_bytes) ||
        (d->keys && !buffer_set(&b[KEYS], d->keys)))
        return false;
    size_t offsets = d->offsets ? d->segments + 1 : 0;
    const ech_dtype type = scan_offsets_dtype(d);
    if (!buffer_make(&b[OFFSETS], keys_memory, offsets * ech_dtype_bytes(type), 0)) return false;
    void *narrow = offsets ? index_array(d->offsets, offsets, type) : NULL;
    const bool set = !narrow || buffer_set(&b[OFFSETS], narrow);
    free(narrow);
    if (!set) return false;
    if (!way.own_work) return true;
    const ech_scan_call call = d->offsets ? ECH_SCAN_CALL_SEGMENTS
                               : d->keys  ? ECH_SCAN_CALL_BY_KEY
                                          : ECH_SCAN_CALL_ROWS;
    const size_t groups = d->offsets ? d->segments : c->shape == SCAN_ROWS ? c->n / c->columns : 1;
    char text[8192];
    CHECK_STATUS(ech_scan_explain(ech_device_name(ctx), call, c->op, c->n, groups, c->dtype,
                                  options, ECH_FORMAT_JSON, text, sizeof text),
                 ECH_OK);
    CHECK_STATUS(ech_scan_workspace(ech_device_name(ctx), call, c->op, c->n, groups, c->dtype,
                                    options, &work_bytes),
                 ECH_OK);
    if (!buffer_make(&b[WORK], test_is_cpu(ctx) ? NULL : ctx, work_bytes, 0)) return false;
    options->work = work_bytes ? b[WORK].data : NULL;
    options->work_bytes = work_bytes;
    return true;
}

static void run_way(ech_ctx *ctx, const struct scan_data *d, struct way way)
{
    const struct scan_case *c = d->c;
    struct buffer b[BUFFERS];
    ech_scan_options options = { .size = sizeof options,
                                 .exclusive = c->exclusive,
                                 .reverse = c->backward,
                                 .accumulate_wide = c->wide,
                                 .nan = c->ignore_nan ? ECH_NAN_IGNORE : ECH_NAN_PROPAGATE,
                                 .init = c->init ? d->init : NULL };
    bool failed_before = test_failed();
    size_t bytes = c->n * d->out_bytes;
    char *before = malloc(bytes + 1), *got = malloc(bytes + 1);
    memset(b, 0, sizeof b);
    if (way.in_place && d->bytes != d->out_bytes) way.in_place = false;
    if (!CHECK(before && got) || !make_buffers(ctx, d, way, &options, b)) goto done;
    struct buffer *out = way.in_place ? &b[IN] : &b[OUT];
    if (!buffer_get(out, before)) goto done;
    ech_status status =
        scan_call(ctx, d, b[IN].data, out->data, b[KEYS].data, b[OFFSETS].data, &options);
    CHECK_STATUS(status, ECH_OK);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    if (buffer_get(out, got)) compare(d, got, before);
    if (!way.in_place && buffer_get(&b[IN], got)) CHECK(memcmp(got, d->in, c->n * d->bytes) == 0);
    static const char *const names[] = { "in", "out", "keys", "offsets", "work" };
    for (int i = 0; i < BUFFERS; i++)
        if (b[i].base) buffer_check_guards(&b[i], names[i]);
done:
    if (test_failed() && !failed_before)
        printf("    (%s, %s, %s workspace, %s memory, keys and offsets in %s memory, offset %zu)\n",
               ech_device_name(ctx), way.in_place ? "in place" : "out of place",
               way.own_work ? "given" : "the context's", way.host ? "host" : "device",
               way.host_keys ? "host" : "device", way.offset);
    for (int i = 0; i < BUFFERS; i++)
        if (b[i].base) buffer_free(&b[i]);
    free(before);
    free(got);
}

void scan_run(ech_ctx *ctx, const struct scan_data *d, uint64_t seed)
{
    bool gpu = !test_is_cpu(ctx);
    size_t odd = 1 + seed % 3;
    static const int threads[] = { 1, 2, 7, 0 };
    const struct way ways[] = {
        { .own_work = true },
        { .in_place = true, .offset = odd },
        { .in_place = true, .own_work = true, .host = true, .host_keys = seed % 2 },
        { .offset = odd, .host_keys = true },
    };
    for (size_t i = 0; i < 4; i++) {
        if (gpu && d->c->n > MANY / 50 && i != seed % 4) continue;
        if (!gpu) CHECK_STATUS(ech_set_threads(ctx, threads[i]), ECH_OK);
        run_way(ctx, d, ways[i]);
    }
}
