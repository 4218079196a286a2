/*
 * test_histogram_api.c - histograms that must fail (invalid arguments, edges that do not ascend,
 * failing allocations), weights that are not finite, repeated runs, and explanations.
 *
 * A case of invalid arguments changes one argument of a valid call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BINS = 10, DEVICES = 8 };

enum which { EVEN, EDGES, COUNT, PAIRS };
static const char *const names[] = { "even", "edges", "bincount", "2d" };

/* ---- Invalid arguments ---- */

struct call {
    enum which which;
    ech_ctx *ctx;
    const void *in, *y, *edges;
    void *counts;
    size_t n, bins, y_bins;
    int dtype;
    double lower, upper;
    ech_histogram_options o;
    bool no_options;
};

static _Alignas(256) int32_t in[N + 64], y[N + 64], edges[BINS + 1], weights[N];
static _Alignas(256) uint64_t counts[BINS * BINS + 64];
static _Alignas(256) char work[1 << 16];

static struct call good(ech_ctx *ctx, enum which which)
{
    for (int i = 0; i < N; i++) in[i] = i % 120;
    for (int i = 0; i <= BINS; i++) edges[i] = 10 * i;
    memset(counts, 0x5C, sizeof counts);
    return (struct call){ .which = which,
                          .ctx = ctx,
                          .in = in,
                          .y = y,
                          .edges = edges,
                          .counts = counts,
                          .n = N,
                          .bins = BINS,
                          .y_bins = BINS,
                          .dtype = ECH_I32,
                          .lower = 0,
                          .upper = 100,
                          .o = { .size = sizeof(ech_histogram_options) } };
}

static ech_status make(const struct call *c)
{
    const ech_histogram_options *o = c->no_options ? NULL : &c->o;
    ech_dtype dtype = (ech_dtype)c->dtype;
    switch (c->which) {
    case EVEN:
        return ech_histogram(c->ctx, c->in, c->counts, c->n, dtype, c->bins, c->lower, c->upper, o);
    case EDGES:
        return ech_histogram_edges(c->ctx, c->in, c->edges, c->counts, c->n, dtype, c->bins, o);
    case COUNT:
        return ech_bincount(c->ctx, c->in, c->counts, c->n, dtype, c->bins, o);
    default:
        return ech_histogram_2d(c->ctx, c->in, c->y, c->counts, c->n, dtype, c->bins, c->lower,
                                c->upper, c->y_bins, c->lower, c->upper, o);
    }
}

/* The call succeeds before the change and fails after it, with a message that contains part. */
static void refuse(const struct call *c, ech_status status, const char *part)
{
    struct call whole = good(c->ctx, c->which);
    if (!test_begin("refuse(%s,%s,%s)", c->ctx ? ech_device_name(c->ctx) : "none", names[c->which],
                    part))
        return;
    if (c->ctx) CHECK_STATUS(make(&whole), ECH_OK);
    memset(counts, 0x5C, sizeof counts);
    CHECK_FAILS(c->ctx, make(c), status, part);
    for (size_t i = 0; i < sizeof counts; i++)
        if (((const unsigned char *)counts)[i] != 0x5C) {
            test_fail(__FILE__, __LINE__, "byte %zu of counts was written", i);
            break;
        }
    test_end();
}

#define REFUSE(which, field, value, part)                                                          \
    do {                                                                                           \
        struct call c_ = good(ctx, which);                                                         \
        c_.field = (value);                                                                        \
        refuse(&c_, ECH_ERR_ARG, part);                                                            \
    } while (0)

static void wrong_arguments(ech_ctx *ctx)
{
    for (int w = EVEN; w <= PAIRS; w++) {
        enum which which = (enum which)w;
        REFUSE(which, ctx, NULL, "ctx is NULL");
        REFUSE(which, in, NULL, which == PAIRS ? "x is NULL" : "in is NULL");
        REFUSE(which, in, (char *)in + 1, "is not aligned to 4 bytes");
        REFUSE(which, counts, NULL, "counts is NULL");
        REFUSE(which, counts, (char *)counts + 4, "counts is not aligned to 8 bytes");
        REFUSE(which, in, (int32_t *)(void *)counts, "and counts overlap");
        REFUSE(which, dtype, 12, "dtype is 12, not an ech_dtype");
        REFUSE(which, bins, 0, "bins is 0");
        REFUSE(which, bins, SIZE_MAX / 2, "bins is");
        REFUSE(which, n, SIZE_MAX / 2, "n is");
        REFUSE(which, o.size, 4, "options->size is 4");
        REFUSE(which, o.channels, -1, "options->channels is -1");
        REFUSE(which, o.channels, 3, "not a multiple of");
        REFUSE(which, o.outside, (ech_outside)3, "options->outside is 3");
        REFUSE(which, o.include_right, 2, "options->include_right is 2");
        REFUSE(which, o.dimensions, 3, "options->dimensions is 3");
        REFUSE(which, o.dimensions, which == PAIRS ? 1 : 2, "but this histogram has");
        REFUSE(which, o.accumulate, -1, "options->accumulate is -1");
        REFUSE(which, o.work_bytes, 8, "options->work is NULL");
        REFUSE(which, o.work, work + 8, "options->work is not aligned");
        REFUSE(which, o.algorithm, "magic", "options->algorithm is \"magic\"");
        struct call c = good(ctx, which);
        c.o.weights = weights;
        c.o.weights_dtype = ECH_F16;
        refuse(&c, ECH_ERR_ARG, "options->weights_dtype is f16");
        c.o.weights = (char *)weights + 2;
        c.o.weights_dtype = ECH_F32;
        refuse(&c, ECH_ERR_ARG, "options->weights is not aligned");
    }
    REFUSE(EDGES, edges, NULL, "edges is NULL");
    REFUSE(COUNT, dtype, ECH_F32, "only integers count by value");
    REFUSE(PAIRS, y, NULL, "y is NULL");
    REFUSE(PAIRS, y_bins, 0, "y_bins is 0");
    REFUSE(PAIRS, y_bins, SIZE_MAX / 4, "y_bins");
    REFUSE(PAIRS, o.channels, 2, "options->channels is for one dimension");
    REFUSE(PAIRS, o.outside, ECH_OUTSIDE_COUNT, "options->outside is for one dimension");
    for (int w = EVEN; w <= PAIRS; w += PAIRS) {
        enum which which = (enum which)w;
        REFUSE(which, lower, (double)NAN, "lower is not finite");
        REFUSE(which, upper, (double)INFINITY, "upper is not finite");
        REFUSE(which, lower, 100, "lower is 100: it must be less than");
        REFUSE(which, lower, 0.5, "lower is 0.5: it must be an integer");
        REFUSE(which, upper, 0x1p65, "upper is 3.68935e+19: it must be between");
        struct call c = good(ctx, which);
        c.dtype = ECH_F32;
        c.upper = 1e300;
        refuse(&c, ECH_ERR_ARG, "cannot be computed in f32");
        c.lower = 1 - 0x1p-40;
        c.upper = 1;
        refuse(&c, ECH_ERR_ARG, "are equal in f32");
        c = good(ctx, which);
        c.dtype = ECH_F64;
        c.n = N / 2;
        c.lower = -1.7e308;
        c.upper = 1.7e308;
        refuse(&c, ECH_ERR_ARG, "cannot be computed in f64");
        c = good(ctx, which);
        c.dtype = ECH_U64;
        c.n = N / 2;
        c.lower = -0x1p63;
        c.upper = 0x1p63;
        c.o.include_right = 1;
        refuse(&c, ECH_ERR_ARG, "must be shorter if the last bin");
    }
}

/* ---- Edges that do not ascend: reported by the call or by ech_sync() ---- */

static void wrong_edges(ech_ctx *ctx)
{
    static const struct {
        const char *what;
        float edges[5];
        const char *part;
    } cases[] = {
        { "falls", { 0, 1, 2, 1.5f, 3 }, "edges[3] is not greater" },
        { "equal", { 0, 1, 1, 2, 2 }, "edges[2] is not greater" },
        { "zeros", { -0.0f, 0.0f, 1, 2, 3 }, "edges[1] is not greater" },
        { "nan", { 0, 1, 2, 3, (float)NAN }, "edges[4] is not greater" },
        { "first", { (float)NAN, 1, 2, 3, 4 }, "edges[1] is not greater" },
    };
    float data[40];
    for (int i = 0; i < 40; i++) data[i] = (float)i / 8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int host = 0; host < 2; host++) {
            struct buffer values, bounds, result;
            ech_ctx *memory = host || test_is_cpu(ctx) ? NULL : ctx;
            if (!test_begin("edges(%s,%s,%s)", ech_device_name(ctx), cases[i].what,
                            host ? "host" : "device"))
                continue;
            if (buffer_make(&values, memory, sizeof data, 0) && buffer_set(&values, data) &&
                buffer_make(&bounds, memory, sizeof cases[i].edges, 4) &&
                buffer_set(&bounds, cases[i].edges) && buffer_make(&result, memory, 4 * 8, 0)) {
                ech_status status = ech_histogram_edges(ctx, values.data, bounds.data, result.data,
                                                        40, ECH_F32, 4, NULL);
                if (memory) {
                    CHECK_STATUS(status, ECH_OK);
                    status = ech_sync(ctx);
                }
                CHECK_FAILS(ctx, status, ECH_ERR_ARG, cases[i].part);
                CHECK_STATUS(ech_sync(ctx), ECH_OK); /* reported only once */
                buffer_check_guards(&result, "counts");
                buffer_free(&values);
                buffer_free(&bounds);
                buffer_free(&result);
            }
            test_end();
        }
}

/* ---- Memory ---- */

static void *no_memory(void *user, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    return NULL;
}

static void no_release(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

static void too_little_memory(ech_ctx *ctx)
{
    const ech_allocator none = { sizeof(ech_allocator), no_memory, no_release, NULL };
    struct call c = good(ctx, EVEN);
    size_t bytes = 0;
    c.o.weights = weights;
    c.o.weights_dtype = ECH_F32;
    if (test_begin("work(%s)", ech_device_name(ctx))) {
        CHECK_STATUS(ech_histogram_workspace(ech_device_name(ctx), N, ECH_I32, BINS, &c.o, &bytes),
                     ECH_OK);
        void *own = NULL;
        CHECK(bytes > 0);
        if (CHECK_STATUS(ech_malloc(ctx, &own, bytes), ECH_OK)) {
            c.o.work = own;
            c.o.work_bytes = bytes - 1;
            CHECK_FAILS(ctx, make(&c), ECH_ERR_MEMORY, "options->work_bytes is");
            c.o.work_bytes = bytes;
            CHECK_STATUS(make(&c), ECH_OK);
            ech_free(ctx, own, bytes);
        }
        test_end();
    }
    c.o.work = NULL;
    c.o.work_bytes = 0;
    if (test_begin("memory(%s)", ech_device_name(ctx))) {
        ech_trim(ctx);
        CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
        CHECK_FAILS(ctx, make(&c), ECH_ERR_MEMORY, "out of memory");
        CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
        CHECK_STATUS(make(&c), ECH_OK);
        test_end();
    }
}

/* ---- Weights that are not finite, cancel, or differ by many orders of magnitude ---- */

static void special_weights(ech_ctx *ctx)
{
    static const struct {
        double weights[6], sum;
    } cases[] = {
        { { 1, 2, 3, 4, 5, 6 }, 21 },
        { { (double)INFINITY, 1, 2, 3, 4, 5 }, (double)INFINITY },
        { { 1, 2, -(double)INFINITY, 3, 4, 5 }, -(double)INFINITY },
        { { 1, (double)INFINITY, -(double)INFINITY, 3, 4, 5 }, (double)NAN },
        { { 1, 2, (double)NAN, (double)INFINITY, 4, 5 }, (double)NAN },
        { { -0.0, -0.0, -0.0, -0.0, -0.0, -0.0 }, 0.0 },
        { { 1e20, 1, -1e20, 1e-10, 0, 0 }, 1 + 1e-10 },
        { { 0x1p60, 0x1p-60, -0x1p60, 0, 0, 0 }, 0x1p-60 },
        { { 0x1p53, 1, 0x1p-40, 0, 0, 0 }, 0x1p53 + 2 },
        { { 0x1p53, 1, 0, 0, 0, 0 }, 0x1p53 },
        { { 0x1p53, 2, 1, 0, 0, 0 }, 0x1p53 + 4 },
        { { -0x1p53, -2, -1, 0, 0, 0 }, -0x1p53 - 4 },
        { { 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, 0, 0, 0, 0 }, (double)INFINITY },
        { { 0x1.fffffffffffffp1023, 0x1p969, 0, 0, 0, 0 }, 0x1.fffffffffffffp1023 },
        { { 0x1.fffffffffffffp1023, 0x1p970, 0, 0, 0, 0 }, (double)INFINITY },
        { { 0x1p-1074, 0x1p-1074, 0x1p-1073, 0, 0, 0 }, 0x1p-1072 },
        { { 0x1p-1022, -0x1p-1074, 0, 0, 0, 0 }, 0x0.fffffffffffffp-1022 },
        { { -1e300, -1e300, 1e300, 1e300, 5, 0 }, 0 }, /* 5 is lost, as documented */
    };
    uint8_t zeros[6] = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double sum = -1, wanted = cases[i].sum;
        ech_histogram_options o = { .size = sizeof o, .weights = cases[i].weights };
        o.weights_dtype = ECH_F64;
        if (!test_begin("weights(%s,%zu)", ech_device_name(ctx), i)) continue;
        CHECK_STATUS(ech_bincount(ctx, zeros, &sum, 6, ECH_U8, 1, &o), ECH_OK);
        uint64_t got, want;
        memcpy(&got, &sum, 8);
        memcpy(&want, &wanted, 8);
        if (isnan(wanted)) want = (uint64_t)0x7ff8 << 48;
        if (got != want) test_fail(__FILE__, __LINE__, "the sum is %a instead of %a", sum, wanted);
        test_end();
    }
}

/* The result is bit-identical for every order of the weights and in every run. */
static void any_order(ech_ctx *ctx)
{
    enum { MANY = 5000 };
    static float w[MANY];
    static uint8_t bins[MANY];
    double first[4] = { 0 }, sums[4];
    ech_histogram_options o = { .size = sizeof o, .weights = w, .weights_dtype = ECH_F32 };
    struct rng rng = { 5 };
    if (!test_begin("order(%s)", ech_device_name(ctx))) return;
    for (int i = 0; i < MANY; i++) {
        w[i] = (float)ldexp((double)rng_next(&rng) - 0x1p63, (int)rng_below(&rng, 80) - 100);
        bins[i] = (uint8_t)(i % 4);
    }
    for (int run = 0; run < 6; run++) {
        CHECK_STATUS(ech_set_threads(ctx, run), ECH_OK);
        CHECK_STATUS(ech_bincount(ctx, bins, sums, MANY, ECH_U8, 4, &o), ECH_OK);
        if (run == 0) memcpy(first, sums, sizeof sums);
        CHECK(memcmp(first, sums, sizeof sums) == 0);
        for (int i = MANY - 1; i > 0; i--) {
            size_t j = rng_below(&rng, (uint64_t)i + 1);
            float t = w[i];
            uint8_t b = bins[i];
            w[i] = w[j], w[j] = t;
            bins[i] = bins[j], bins[j] = b;
        }
    }
    CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
    test_end();
}

static void explain(ech_ctx *ctx)
{
    char text[2000] = "";
    const char *device = ech_device_name(ctx);
    if (!test_begin("explain(%s)", device)) return;
    CHECK_STATUS(ech_histogram_explain(device, 1000000, ECH_U8, 256, NULL, ECH_FORMAT_TEXT, text,
                                       sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "bytes");
    CHECK_TEXT(text, "alternative");
    CHECK_TEXT(text, "workspace");
    if (strcmp(device, "cpu") != 0) { /* the steps for a nominal GPU */
        CHECK_TEXT(text, "plan         clear 2048 bytes\ncount        histogram_bytes: ");
        CHECK_TEXT(text, " blocks of 1024 threads, ");
    }
    const ech_histogram_options two = { .size = sizeof two, .dimensions = 2 };
    CHECK_STATUS(ech_histogram_explain(device, 1000000, ECH_U8, 256, &two, ECH_FORMAT_TEXT, text,
                                       sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "algorithm");
    CHECK(!strstr(text, "algorithm    bytes") && !strstr(text, "alternative  bytes"));
    CHECK_STATUS(
        ech_histogram_explain(device, 1000000, ECH_U8, 256, NULL, ECH_FORMAT_TEXT, text, 5),
        ECH_OK);
    CHECK_INT(strlen(text), 4);
    CHECK_FAILS(NULL, ech_histogram_explain(device, 1, ECH_U8, 1, NULL, ECH_FORMAT_TEXT, NULL, 5),
                ECH_ERR_ARG, "text is NULL");
    CHECK_FAILS(NULL, ech_histogram_workspace(device, 1, ECH_U8, 1, NULL, NULL), ECH_ERR_ARG,
                "bytes is NULL");
    size_t bytes;
    CHECK_FAILS(NULL, ech_histogram_workspace("toaster", 1, ECH_U8, 1, NULL, &bytes), ECH_ERR_ARG,
                "toaster");
    CHECK_FAILS(NULL, ech_histogram_workspace(device, 1, ECH_U8, 0, NULL, &bytes), ECH_ERR_ARG,
                "bins is 0");
    test_end();
}

int main(int argc, char **argv)
{
    char name[64];
    test_main(argc, argv);
    for (int i = 0; i < DEVICES && test_device(i, name, sizeof name); i++) {
        ech_ctx *ctx;
        if (ech_open(&ctx, name) != ECH_OK)
            return fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL)), 1;
        wrong_arguments(ctx);
        wrong_edges(ctx);
        too_little_memory(ctx);
        special_weights(ctx);
        any_order(ctx);
        explain(ctx);
        ech_close(ctx);
    }
    return test_finish();
}
