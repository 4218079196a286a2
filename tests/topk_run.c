/*
 * topk_run.c - runs a case of test_topk and compares the whole output: elements between rows, and
 * those after the selected ones, must not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Data ---- */

static void set_strides(const struct topk_case *c, struct topk_data *d)
{
    const size_t rows = d->groups.groups, k = c->k;
    d->element_stride = 1;
    d->row_stride = k;
    if (strcmp(c->out, "padded") == 0) d->row_stride = k + 3;
    if (strcmp(c->out, "columns") == 0) {
        d->row_stride = 1;
        d->element_stride = rows;
    }
    if (strcmp(c->out, "spread") == 0) {
        d->element_stride = 2;
        d->row_stride = 2 * k + 1;
    }
    if (rows && k) d->extent = (rows - 1) * d->row_stride + (k - 1) * d->element_stride + 1;
}

bool topk_make(const struct topk_case *c, uint64_t seed, struct topk_data *d)
{
    struct rng rng = { seed };
    *d = (struct topk_data){ .c = c };
    if (!segments_make(&c->groups, seed, &d->groups)) return false;
    d->counts = malloc((d->groups.groups + 1) * sizeof *d->counts);
    if (!d->counts) return false;
    for (size_t g = 0; g < d->groups.groups; g++)
        d->counts[g] = c->counts ? rng_below(&rng, c->k + 1) : c->k;
    set_strides(c, d);
    return true;
}

void topk_free(struct topk_data *d)
{
    segments_free(&d->groups);
    free(d->counts);
}

/* ---- Calls ---- */

struct arrays {
    struct buffer in, values, indices, offsets, ends, counts, work;
};

ech_topk_options topk_options(const struct topk_data *d, const char *algorithm)
{
    const struct sort_case *s = &d->c->groups.sort;
    ech_topk_options options = { .size = sizeof options,
                                 .smallest = !s->descending,
                                 .unsorted = d->c->unsorted,
                                 .order = s->total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST,
                                 .counts_dtype = d->c->counts_dtype,
                                 .algorithm = algorithm };
    if (*d->c->out) {
        options.out_row_stride = d->row_stride;
        options.out_element_stride = d->element_stride;
    }
    if (d->c->groups.lengths || !*d->c->groups.strides) return options;
    options.row_stride = d->groups.row_stride;
    options.element_stride = d->groups.element_stride;
    return options;
}

ech_topk_call topk_call(const struct topk_case *c)
{
    return c->array            ? ECH_TOPK_CALL_ARRAY
           : c->groups.lengths ? ECH_TOPK_CALL_SEGMENTS
                               : ECH_TOPK_CALL_ROWS;
}

ech_status topk_workspace(const char *device, const struct topk_data *d,
                          const ech_topk_options *options, size_t *bytes)
{
    return ech_topk_workspace(device, topk_call(d->c), d->groups.n, d->groups.groups, d->c->k,
                              d->c->groups.sort.dtype, options, bytes);
}

static ech_status call(ech_ctx *ctx, const struct topk_data *d, const ech_topk_options *options,
                       const struct arrays *a)
{
    const struct topk_case *c = d->c;
    const ech_dtype t = c->groups.sort.dtype;
    void *values = c->no_values ? NULL : a->values.data;
    void *indices = c->no_indices ? NULL : a->indices.data;
    if (c->array)
        return ech_topk(ctx, a->in.data, values, indices, c->groups.cols, c->k, t, c->index_dtype,
                        options);
    if (!c->groups.lengths)
        return ech_topk_rows(ctx, a->in.data, values, indices, c->groups.rows, c->groups.cols, c->k,
                             t, c->index_dtype, options);
    return ech_topk_segments(ctx, a->in.data, a->offsets.data, c->groups.ends ? a->ends.data : NULL,
                             values, indices, d->groups.n, d->groups.groups, c->k, t,
                             c->index_dtype, c->groups.offsets_dtype, options);
}

/* ---- A run ---- */

static bool make_index(struct buffer *b, ech_ctx *memory, const uint64_t *from, size_t n,
                       ech_dtype dtype)
{
    if (!n) return buffer_make(b, memory, 0, 0);
    void *array = index_array(from, n, dtype);
    const bool made =
        array && buffer_make(b, memory, n * ech_dtype_bytes(dtype), 0) && buffer_set(b, array);
    free(array);
    return made;
}

static bool prepare(ech_ctx *memory, const struct topk_data *d, uint64_t seed, struct arrays *a)
{
    const struct topk_case *c = d->c;
    const size_t key = d->groups.key_bytes, index = ech_dtype_bytes(c->index_dtype);
    const size_t groups = d->groups.groups, offsets = c->groups.lengths ? groups : 0;
    return make_index(&a->offsets, memory, d->groups.offsets,
                      offsets ? offsets + !c->groups.ends : 0, c->groups.offsets_dtype) &&
           make_index(&a->ends, memory, d->groups.ends, c->groups.ends ? offsets : 0,
                      c->groups.offsets_dtype) &&
           make_index(&a->counts, memory, d->counts, c->counts ? groups : 0, c->counts_dtype) &&
           buffer_make(&a->in, memory, d->groups.in_extent * key, seed % 2 * key) &&
           buffer_set(&a->in, d->groups.keys) &&
           buffer_make(&a->values, memory, d->extent * key, seed / 2 % 2 * key) &&
           buffer_make(&a->indices, memory, d->extent * index, seed / 4 % 2 * index);
}

static char *content(const struct buffer *b)
{
    char *bytes = malloc(b->bytes + 1);
    if (bytes && !buffer_get(b, bytes)) memset(bytes, 0, b->bytes);
    return bytes;
}

static int compare_ranks(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Writes the expected elements of group g, whose elements in order begin at `first`. */
static bool expect(const struct topk_data *d, size_t g, size_t first, size_t n, char *values,
                   char *indices)
{
    const struct topk_case *c = d->c;
    const struct segments_data *s = &d->groups;
    const size_t k = d->counts[g] < n ? (size_t)d->counts[g] : n;
    const size_t key = s->key_bytes, index = ech_dtype_bytes(c->index_dtype);
    /* The position in the upper bits: a sort restores the order of the input. */
    uint64_t *ranks = malloc((k + 1) * sizeof *ranks);
    if (!ranks) return false;
    for (size_t j = 0; j < k; j++) ranks[j] = s->position[first + j] << 32 | j;
    if (c->unsorted) qsort(ranks, k, sizeof *ranks, compare_ranks);
    for (size_t j = 0; j < k; j++) {
        const size_t i = first + (size_t)(ranks[j] & UINT32_MAX);
        const size_t to = g * d->row_stride + j * d->element_stride;
        memcpy(values + to * key, s->keys + s->from[i] * key, key);
        memcpy(indices + to * index, &s->position[i], index);
    }
    free(ranks);
    return true;
}

static bool expect_all(const struct topk_data *d, char *values, char *indices)
{
    size_t first = 0;
    for (size_t g = 0; g < d->groups.groups; g++) {
        const size_t n = d->c->groups.lengths ? (size_t)(d->groups.ends[g] - d->groups.offsets[g])
                                              : d->c->groups.cols;
        if (!expect(d, g, first, n, values, indices)) return false;
        first += n;
    }
    return true;
}

static void compare(const struct buffer *b, const char *wanted, size_t bytes, const char *name)
{
    char *got = content(b);
    if (CHECK(got != NULL) && buffer_check_guards(b, name) && memcmp(got, wanted, b->bytes) != 0) {
        size_t i = 0;
        while (memcmp(got + i * bytes, wanted + i * bytes, bytes) == 0) i++;
        test_fail(__FILE__, __LINE__, "%s[%zu] is wrong, the first of %zu", name, i,
                  b->bytes / bytes);
    }
    free(got);
}

/* Compares the outputs, whose contents before are in values and indices. */
static void check_result(const struct topk_data *d, const struct arrays *a, char *values,
                         char *indices)
{
    const struct topk_case *c = d->c;
    char *in = content(&a->in);
    if (CHECK(in != NULL) && CHECK(expect_all(d, values, indices))) {
        if (!c->no_values) compare(&a->values, values, d->groups.key_bytes, "values");
        if (!c->no_indices)
            compare(&a->indices, indices, ech_dtype_bytes(c->index_dtype), "indices");
        CHECK(memcmp(in, d->groups.keys, a->in.bytes) == 0);
    }
    free(in);
}

void topk_run(ech_ctx *ctx, const struct topk_data *d, const char *algorithm, struct topk_way way,
              uint64_t seed)
{
    ech_ctx *memory = way.host || test_is_cpu(ctx) ? NULL : ctx;
    ech_topk_options options = topk_options(d, algorithm);
    const bool failed_before = test_failed();
    char *values = NULL, *indices = NULL;
    struct arrays a;
    memset(&a, 0, sizeof a);
    if (!prepare(memory, d, seed, &a)) goto done;
    if (d->c->counts) options.counts = a.counts.data;
    if (way.own_work) {
        size_t bytes = 0;
        if (!CHECK_STATUS(topk_workspace(ech_device_name(ctx), d, &options, &bytes), ECH_OK) ||
            !buffer_make(&a.work, memory, bytes, 0))
            goto done;
        options.work = bytes ? a.work.data : NULL;
        options.work_bytes = bytes;
    }
    values = content(&a.values);
    indices = content(&a.indices);
    CHECK_STATUS(ech_set_threads(ctx, way.threads), ECH_OK);
    const ech_status status = call(ctx, d, &options, &a);
    if (!test_check_status(__FILE__, __LINE__, "the selection", status, ECH_OK, ctx) ||
        !CHECK_STATUS(ech_sync(ctx), ECH_OK) || !CHECK(values && indices))
        goto done;
    check_result(d, &a, values, indices);
    if (way.own_work) buffer_check_guards(&a.work, "work");
done:
    if (test_failed() && !failed_before)
        printf("    (%s, algorithm %s, %s workspace, %s memory, %d threads)\n",
               ech_device_name(ctx), algorithm ? algorithm : "chosen",
               way.own_work ? "given" : "the context's", memory ? "device" : "host", way.threads);
    free(values);
    free(indices);
    struct buffer *all[] = {
        &a.in, &a.values, &a.indices, &a.offsets, &a.ends, &a.counts, &a.work
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
}
