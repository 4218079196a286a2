/*
 * segments_data.c - the data of a case of test_sort_segments: lengths of segments, strides of rows,
 * keys, and the order of each group by the oracle of sorts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "segments_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lengths of segments ---- */

struct lengths {
    struct rng rng;
    size_t n; /* of all segments, about */
};

static size_t empty_length(struct lengths *l, size_t i)
{
    (void)l, (void)i;
    return 0;
}

static size_t tiny_length(struct lengths *l, size_t i)
{
    (void)i;
    return rng_below(&l->rng, 9);
}

static size_t short_length(struct lengths *l, size_t i)
{
    (void)i;
    return rng_below(&l->rng, 130);
}

static size_t middle_length(struct lengths *l, size_t i)
{
    (void)i;
    return rng_below(&l->rng, 3000);
}

/* Every length near a power of two, from 1 to 2^14. */
static size_t powers_length(struct lengths *l, size_t i)
{
    (void)l;
    return ((size_t)1 << i / 3 % 15) + i % 3 - 1;
}

/* A few long segments have half of the elements. */
static size_t power_law_length(struct lengths *l, size_t i)
{
    (void)i;
    const double u = (double)(rng_below(&l->rng, 1 << 20) + 1) / (1 << 20);
    return (size_t)(3 / pow(u, 0.9));
}

static size_t one_length(struct lengths *l, size_t i)
{
    return i == 0 ? l->n : 0;
}

/* One long segment between many short ones. */
static size_t lone_length(struct lengths *l, size_t i)
{
    return i == 20 ? l->n / 2 : rng_below(&l->rng, 40);
}

static size_t long_length(struct lengths *l, size_t i)
{
    (void)i;
    return 9000 + rng_below(&l->rng, 40000);
}

static const struct {
    const char *name;
    size_t (*length)(struct lengths *l, size_t i);
} lengths[] = {
    { "empty", empty_length },   { "tiny", tiny_length },     { "short", short_length },
    { "middle", middle_length }, { "powers", powers_length }, { "powerlaw", power_law_length },
    { "one", one_length },       { "lone", lone_length },     { "long", long_length },
    { "single", one_length },
};

/* Segments until n elements are in them, at least 4 or a single one; gaps if the case has ends. */
static bool make_segments(const struct segments_case *c, uint64_t seed, struct segments_data *d)
{
    struct lengths l = { { seed }, c->n };
    const size_t least = strcmp(c->lengths, "single") == 0 ? 1 : 4;
    size_t which = 0, capacity = 64, at = seed % 3;
    while (strcmp(lengths[which].name, c->lengths) != 0) which++;
    d->offsets = malloc((capacity + 1) * sizeof *d->offsets);
    d->ends = malloc((capacity + 1) * sizeof *d->ends);
    for (size_t g = 0, some = 0; d->offsets && d->ends; g++) {
        const bool last = g >= least && (some >= c->n || (g >= 40 && which == 0));
        size_t length = last ? 0 : lengths[which].length(&l, g);
        if (length > c->n) length = c->n;
        d->offsets[g] = at;
        if (last) break;
        at += length;
        some += length;
        d->ends[g] = at;
        if (c->ends) at += rng_below(&l.rng, 4) ? 0 : rng_below(&l.rng, 50);
        d->groups = g + 1;
        if (d->groups < capacity) continue;
        capacity *= 2;
        d->offsets = realloc(d->offsets, (capacity + 1) * sizeof *d->offsets);
        d->ends = realloc(d->ends, (capacity + 1) * sizeof *d->ends);
    }
    d->n = d->in_extent = d->out_extent = at + seed % 5;
    return d->offsets && d->ends;
}

/* ---- Strides of rows ---- */

static void set_strides(const struct segments_case *c, struct segments_data *d)
{
    const size_t rows = c->rows, cols = c->cols;
    d->element_stride = d->out_element_stride = 1;
    d->row_stride = d->out_row_stride = cols;
    if (strcmp(c->strides, "padded") == 0) {
        d->row_stride = cols + 3;
        d->out_row_stride = cols + 1;
    } else if (strcmp(c->strides, "spread") == 0) {
        d->element_stride = 2;
        d->out_element_stride = 3;
        d->row_stride = 2 * cols + 1;
        d->out_row_stride = 3 * cols;
    }
    if (strncmp(c->strides, "columns", 7) == 0) {
        d->row_stride = 1;
        d->element_stride = rows;
    }
    if (strcmp(c->strides, "columns") == 0 || strcmp(c->strides, "rows-columns") == 0) {
        d->out_row_stride = 1;
        d->out_element_stride = rows;
    }
    d->n = rows * cols;
    d->in_extent = d->out_extent = 0;
    if (d->n == 0) return;
    d->in_extent = (rows - 1) * d->row_stride + (cols - 1) * d->element_stride + 1;
    d->out_extent = (rows - 1) * d->out_row_stride + (cols - 1) * d->out_element_stride + 1;
}

/* ---- Order ---- */

static bool order_group(struct segments_data *d, size_t g, uint32_t *order, char *keys)
{
    const struct segments_case *c = d->c;
    struct sort_case one = c->sort;
    size_t in = g * d->row_stride, out = g * d->out_row_stride, step = d->element_stride,
           out_step = d->out_element_stride;
    one.n = c->cols;
    if (d->offsets) {
        in = out = d->offsets[g];
        one.n = d->ends[g] - in;
        step = out_step = 1;
    }
    for (size_t j = 0; j < one.n; j++)
        memcpy(keys + j * d->key_bytes, d->keys + (in + j * step) * d->key_bytes, d->key_bytes);
    if (!oracle_order(&one, keys, order)) return false;
    for (size_t j = 0; j < one.n; j++) {
        d->from[d->sorted] = in + order[j] * step;
        d->to[d->sorted] = out + j * out_step;
        d->position[d->sorted++] = order[j];
    }
    return true;
}

static void fill_values(struct segments_data *d)
{
    for (size_t i = 0; i < d->in_extent; i++) {
        struct rng rng = { i };
        for (size_t b = 0; b < d->value_bytes; b += 8) {
            const uint64_t word = rng_next(&rng);
            memcpy(d->values + i * d->value_bytes + b, &word,
                   d->value_bytes - b < 8 ? d->value_bytes - b : 8);
        }
    }
}

bool segments_make(const struct segments_case *c, uint64_t seed, struct segments_data *d)
{
    *d = (struct segments_data){ .c = c, .groups = c->rows };
    d->key_bytes = ech_dtype_bytes(c->sort.dtype);
    d->value_bytes = c->sort.index_bytes ? (size_t)c->sort.index_bytes : c->sort.value_bytes;
    if (c->lengths) {
        if (!make_segments(c, seed, d)) return false;
    } else {
        set_strides(c, d);
    }
    const size_t n = d->in_extent;
    struct sort_case whole = c->sort;
    whole.n = n;
    d->keys = malloc(n * d->key_bytes + 1);
    d->values = malloc(n * d->value_bytes + 1);
    d->from = malloc((n + 1) * sizeof *d->from);
    d->to = malloc((n + 1) * sizeof *d->to);
    d->position = malloc((n + 1) * sizeof *d->position);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    char *keys = malloc(n * d->key_bytes + 1);
    bool done = d->keys && d->values && d->from && d->to && d->position && order && keys &&
                keys_fill(&whole, seed, d->keys);
    if (done) fill_values(d);
    for (size_t g = 0; done && g < d->groups; g++) done = order_group(d, g, order, keys);
    free(order);
    free(keys);
    return done;
}

void segments_free(struct segments_data *d)
{
    free(d->offsets);
    free(d->ends);
    free(d->keys);
    free(d->values);
    free(d->from);
    free(d->to);
    free(d->position);
}
