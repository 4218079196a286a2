/*
 * arrange_run.c - runs a case of test_arrange with arrays between guard zones, in the memory that
 * the case names. It compares every byte of the result and checks that the inputs are unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange_case.h"

#include <stdlib.h>
#include <string.h>

/* The alignment that opaque elements in GPU memory require. */
static size_t align_of(size_t bytes)
{
    size_t align = 1;
    while (align < 16 && bytes % (2 * align) == 0) align *= 2;
    return align;
}

static bool is_typed(const struct arrange_case *c)
{
    return c->what == IOTA || c->what == PERMUTATION;
}

/* Opaque elements in host memory may have any address. */
static bool place_array(const struct arrange_case *c, ech_ctx *ctx, bool on_host, size_t bytes,
                        size_t element_bytes, const void *from, struct buffer *buffer)
{
    const bool device = !on_host && !test_is_cpu(ctx);
    size_t align = device || is_typed(c) ? align_of(element_bytes) : 1;
    return buffer_make(buffer, device ? ctx : NULL, bytes, (size_t)c->offset * align) &&
           buffer_set(buffer, from);
}

static ech_status call(ech_ctx *ctx, const struct arrange_case *c, const void *in,
                       const void *index, void *out, const void *value)
{
    uint64_t values[2];
    const void *start, *step;
    switch (c->what) {
    case GATHER:
        return ech_gather(ctx, in, index, out, c->n, c->other, c->dtype, c->element_bytes);
    case SCATTER:
        return ech_scatter(ctx, in, index, out, c->n, c->other, c->dtype, c->element_bytes);
    case REVERSE:
        return ech_reverse(ctx, in, out, c->n, c->element_bytes);
    case ROTATE:
        return ech_rotate(ctx, in, out, c->n, c->element_bytes, c->other);
    case TRANSPOSE:
        return ech_transpose(ctx, in, out, c->n, c->other, c->element_bytes);
    case FILL:
        return ech_fill(ctx, out, c->n, c->element_bytes, value);
    case IOTA:
        arrange_iota_of(c, values, &start, &step);
        return ech_iota(ctx, out, c->n, c->dtype, start, step);
    case PERMUTATION:
        return ech_permutation(ctx, out, c->n, c->dtype, c->seed);
    case SHUFFLE:
        return ech_shuffle(ctx, in, out, c->n, c->element_bytes, c->seed);
    default:
        return ech_sample(ctx, in, out, c->n, c->other, c->element_bytes, c->seed);
    }
}

static void check_bytes(const struct buffer *buffer, const unsigned char *wanted,
                        size_t element_bytes, const char *name)
{
    unsigned char *got = malloc(buffer->bytes + 1);
    if (CHECK(got != NULL) && buffer_get(buffer, got) && memcmp(got, wanted, buffer->bytes) != 0) {
        size_t i = 0;
        while (got[i] == wanted[i]) i++;
        test_fail(__FILE__, __LINE__, "%s: byte %zu of element %zu is 0x%02X instead of 0x%02X",
                  name, i % element_bytes, i / element_bytes, got[i], wanted[i]);
    }
    free(got);
    buffer_check_guards(buffer, name);
}

void arrange_run(ech_ctx *ctx, const struct arrange_case *c, const struct arrange_data *d)
{
    const bool in_place = c->what == REVERSE && c->variant;
    const bool in_on_host = c->place == ON_HOST || c->place == IN_ON_HOST;
    const bool out_on_host = c->place == ON_HOST || c->place == OUT_ON_HOST;
    const size_t index_width = d->index_bytes ? ech_dtype_bytes(c->dtype) : 1;
    struct buffer in, index, out;
    bool made = place_array(c, ctx, in_on_host, d->in_bytes, c->element_bytes, d->in, &in);
    made &= buffer_make(&index, out_on_host || test_is_cpu(ctx) ? NULL : ctx, d->index_bytes,
                        (size_t)c->offset * index_width) &&
            buffer_set(&index, d->index);
    made &= place_array(c, ctx, out_on_host, d->out_bytes, c->element_bytes, d->before, &out);
    if (made) {
        CHECK_STATUS(call(ctx, c, in.data, index.data, in_place ? in.data : out.data, d->in),
                     ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        check_bytes(&in, in_place ? d->after : d->in, c->element_bytes, in_place ? "out" : "in");
        check_bytes(&index, d->index, index_width, "index");
        check_bytes(&out, in_place ? d->before : d->after, c->element_bytes, "out");
    }
    buffer_free(&in);
    buffer_free(&index);
    buffer_free(&out);
}
