/*
 * bench_data.c - the arrays of "echelon bench", and their data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "distributions.h"
#include "io/threads.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1001, FILL = 1 << 16 };

/* ---- Arrays ---- */

struct array {
    void **pointer;
    size_t bytes;
};

enum { ARRAYS = 6 };

static void list_arrays(struct bench *b, int flags, struct array *list)
{
    struct bench_call *c = &b->call;
    const size_t element = c->n * c->element_bytes, index = c->n * c->index_bytes;
    const struct array all[ARRAYS] = {
        { &c->in, element },
        { &c->other, flags & BENCH_OTHER ? (element > index ? element : index) : 0 },
        { &c->out, flags & BENCH_OUT ? element : 0 },
        { &c->index, flags & BENCH_INDEX ? index : 0 },
        { (void **)(void *)&c->count, 2 * sizeof(uint64_t) },
        { (void **)(void *)&c->counts, c->bins * sizeof(uint64_t) },
    };
    memcpy(list, all, sizeof all);
}

void bench_release(struct bench *b, int flags)
{
    struct array list[ARRAYS];
    list_arrays(b, flags, list);
    for (int i = 0; i < ARRAYS; i++) {
        if (b->setting.in_device)
            ech_free(b->call.ctx, *list[i].pointer, list[i].bytes);
        else
            free(*list[i].pointer);
        *list[i].pointer = NULL;
    }
    free(b->host);
    b->host = NULL;
}

int bench_allocate(struct bench *b, int flags)
{
    struct array list[ARRAYS];
    list_arrays(b, flags, list);
    for (int i = 0; i < ARRAYS; i++) {
        const size_t bytes = (list[i].bytes + 255) / 256 * 256;
        ech_status status = ECH_OK;
        if (!list[i].bytes) continue;
        if (b->setting.in_device) {
            status = ech_malloc(b->call.ctx, list[i].pointer, list[i].bytes);
        } else {
            *list[i].pointer = aligned_alloc(256, bytes);
            if (*list[i].pointer) memset(*list[i].pointer, 1, bytes);
        }
        if (status != ECH_OK) return cli_fail_ech(status, b->call.ctx);
        if (!*list[i].pointer)
            return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate %zu bytes", bytes);
    }
    if (!b->setting.in_device) return EXIT_DONE;
    b->host = malloc(b->call.n * b->call.element_bytes + 1);
    return b->host ? EXIT_DONE : cli_fail(EXIT_MEMORY, "out of memory for the data");
}

/* ---- Data ---- */

struct filling {
    const struct keys *keys;
    const struct distribution *distribution;
    char *to;
};

static void fill_part(void *arg, int i)
{
    const struct filling *f = arg;
    const uint64_t first = (uint64_t)i * FILL, left = f->keys->n - first;
    const size_t bytes = (size_t)f->keys->bits / 8;
    keys_fill(f->keys, f->distribution, first, left < FILL ? left : FILL, f->to + first * bytes);
}

int bench_fill(struct bench *b, void *array, uint64_t seed)
{
    const struct bench_call *c = &b->call;
    struct keys keys;
    if (!keys_init(&keys, c->dtype, c->n, seed, 16))
        return cli_fail(EXIT_MEMORY, "out of memory for the tables of the distribution");
    struct filling f = { &keys, b->distribution, b->host ? b->host : array };
    io_for_each((int)((c->n + FILL - 1) / FILL), fill_part, &f);
    keys_free(&keys);
    const ech_status status =
        b->host ? ech_copy(c->ctx, array, b->host, c->n * c->element_bytes) : ECH_OK;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, c->ctx);
}

static int compare_ranks(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

void bench_describe(struct bench *b)
{
    struct bench_call *c = &b->call;
    const struct io_order order = { .dtype = c->dtype, .order = ECH_ORDER_TOTAL };
    const char *data = b->host ? b->host : c->in;
    const double limit = io_is_float(c->dtype) ? 1e30 : 1e20;
    uint64_t ranks[SAMPLE];
    c->lower = limit;
    c->upper = -limit;
    for (size_t i = 0; i < SAMPLE; i++) {
        const size_t at = (size_t)((double)c->n * (double)i / SAMPLE);
        const double x = io_key_to_double(c->dtype, data + at * c->element_bytes);
        ranks[i] = io_rank(&order, data + at * c->element_bytes);
        if (x < c->lower && x > -limit) c->lower = x;
        if (x > c->upper && x < limit) c->upper = x;
    }
    if (!(c->lower < c->upper)) c->upper = c->lower + 1;
    qsort(ranks, SAMPLE, sizeof *ranks, compare_ranks);
    c->middle = io_unrank(c->dtype, ranks[SAMPLE / 2]);
}
