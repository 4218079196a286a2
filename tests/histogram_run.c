/*
 * histogram_run.c - runs one case of test_histogram on one device with one algorithm, in each way
 * that memory can be given, and compares the result with the oracle.
 *
 *     workspace of the context or of the caller  x  (GPU) all device memory, all host, or mixed
 *
 * Arrays lie between guard zones; some are aligned only to an element. Before the call, counts
 * hold a pattern, or the values to accumulate to. The inputs must be unchanged afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN, IN_Y, EDGE, WEIGHT, COUNTS, WORK, BUFFERS };

struct way {
    bool own_work;
    int memory; /* 0: device, 1: host, 2: mixed */
    size_t offset;
};

ech_histogram_options histogram_options(const struct histogram_case *c, const char *algorithm)
{
    return (ech_histogram_options){ .size = sizeof(ech_histogram_options),
                                    .channels = c->channels,
                                    .outside = c->outside,
                                    .include_right = c->closed,
                                    .accumulate = c->add,
                                    .weights_dtype = c->weights,
                                    .dimensions = c->kind == PAIRS ? 2 : 0,
                                    .algorithm = algorithm };
}

ech_status histogram_call(ech_ctx *ctx, const struct histogram_case *c, const void *in,
                          const void *in_y, const void *edges, void *counts,
                          const ech_histogram_options *options)
{
    switch (c->kind) {
    case EVEN:
        return ech_histogram(ctx, in, counts, c->n, c->dtype, c->bins, c->lower, c->upper, options);
    case EDGES:
        return ech_histogram_edges(ctx, in, edges, counts, c->n, c->dtype, c->bins, options);
    case COUNT:
        return ech_bincount(ctx, in, counts, c->n, c->dtype, c->bins, options);
    default:
        return ech_histogram_2d(ctx, in, in_y, counts, c->n, c->dtype, c->bins, c->lower, c->upper,
                                c->y_bins, c->lower, c->upper, options);
    }
}

static bool prepare(ech_ctx *ctx, const struct histogram_data *d, struct way way, size_t work_bytes,
                    struct buffer b[BUFFERS])
{
    const struct histogram_case *c = d->c;
    const struct {
        size_t bytes, one;
        const void *from;
    } arrays[BUFFERS] = {
        [IN] = { c->n * d->bytes, d->bytes, d->in },
        [IN_Y] = { c->kind == PAIRS ? c->n * d->bytes : 0, d->bytes, d->in_y },
        [EDGE] = { c->kind == EDGES ? (c->bins + 1) * d->bytes : 0, d->bytes, d->edges },
        [WEIGHT] = { c->n * d->weight_bytes, d->weight_bytes, d->weights },
        [COUNTS] = { d->counters * 8, 8, c->add ? d->before : NULL },
        [WORK] = { work_bytes, 0, NULL },
    };
    for (int i = 0; i < BUFFERS; i++) {
        bool host = way.memory == 1 || (way.memory == 2 && i % 2);
        ech_ctx *memory = test_is_cpu(ctx) || (host && i != WORK) ? NULL : ctx;
        size_t offset = (way.offset + (size_t)(i == IN_Y)) % 4 * arrays[i].one;
        if (!buffer_make(&b[i], memory, arrays[i].bytes, offset)) return false;
        if (arrays[i].from && !buffer_set(&b[i], arrays[i].from)) return false;
    }
    return true;
}

static void compare(const struct histogram_data *d, const struct buffer *counts)
{
    uint64_t *got = malloc(d->counters * 8);
    if (CHECK(got) && buffer_get(counts, got))
        for (size_t k = 0; k < d->counters; k++)
            if (got[k] != d->after[k]) {
                test_fail(__FILE__, __LINE__, "counts[%zu] is 0x%llX instead of 0x%llX", k,
                          (unsigned long long)got[k], (unsigned long long)d->after[k]);
                break;
            }
    free(got);
}

static void unchanged(const struct buffer *b, const char *name, const void *from)
{
    char *now = malloc(b->bytes + 1);
    if (CHECK(now) && buffer_get(b, now) && b->bytes && memcmp(now, from, b->bytes) != 0)
        test_fail(__FILE__, __LINE__, "%s was changed", name);
    free(now);
}

static void run_way(ech_ctx *ctx, const struct histogram_data *d, const char *algorithm,
                    struct way way)
{
    const struct histogram_case *c = d->c;
    ech_histogram_options options = histogram_options(c, algorithm);
    struct buffer b[BUFFERS];
    size_t work_bytes = 0, bins = c->kind == PAIRS ? c->bins * c->y_bins : c->bins;
    bool failed_before = test_failed();
    memset(b, 0, sizeof b);
    if (c->weighted) options.weights = d->weights;
    if (way.own_work) {
        size_t all = bins * (c->channels ? (size_t)c->channels : 1);
        if (!CHECK_STATUS(ech_histogram_workspace(ech_device_name(ctx), c->n, c->dtype, all,
                                                  &options, &work_bytes),
                          ECH_OK))
            return;
    }
    if (!prepare(ctx, d, way, work_bytes, b)) goto done;
    if (c->weighted) options.weights = b[WEIGHT].data;
    if (work_bytes) {
        options.work = b[WORK].data;
        options.work_bytes = work_bytes;
    }
    ech_status status =
        histogram_call(ctx, c, b[IN].data, b[IN_Y].data, b[EDGE].data, b[COUNTS].data, &options);
    if (!test_check_status(__FILE__, __LINE__, "the histogram", status, ECH_OK, ctx) ||
        !CHECK_STATUS(ech_sync(ctx), ECH_OK))
        goto done;
    compare(d, &b[COUNTS]);
    unchanged(&b[IN], "in", d->in);
    if (c->kind == PAIRS) unchanged(&b[IN_Y], "y", d->in_y);
    if (c->kind == EDGES) unchanged(&b[EDGE], "edges", d->edges);
    if (c->weighted) unchanged(&b[WEIGHT], "weights", d->weights);
    static const char *const names[] = { "in", "y", "edges", "weights", "counts", "work" };
    for (int i = 0; i < BUFFERS; i++) buffer_check_guards(&b[i], names[i]);
done:
    if (test_failed() && !failed_before)
        printf("    (%s, algorithm %s, %s workspace, memory %d, offset %zu)\n",
               ech_device_name(ctx), algorithm ? algorithm : "chosen",
               way.own_work ? "given" : "the context's", way.memory, way.offset);
    for (int i = 0; i < BUFFERS; i++)
        if (b[i].base) buffer_free(&b[i]);
}

void histogram_run(ech_ctx *ctx, const struct histogram_data *d, const char *algorithm,
                   uint64_t seed)
{
    static const int threads[] = { 1, 2, 7, 0 };
    const bool cpu = test_is_cpu(ctx);
    const int ways = d->c->n > 20000 && !cpu ? 1 : 3;
    for (int i = 0; i < ways; i++) {
        if (cpu) CHECK_STATUS(ech_set_threads(ctx, threads[(seed + (unsigned)i) % 4]), ECH_OK);
        run_way(ctx, d, algorithm,
                (struct way){ .own_work = (seed + (unsigned)i) % 2,
                              .memory = (int)((seed / 2 + (unsigned)i) % 3),
                              .offset = seed / 8 + (unsigned)i });
    }
}
