/*
 * cuda/sparse.c - sparse matrices on the GPU, host half: lays out the workspace, queues kernels.
 *
 *     products   a matrix of few tiles: one kernel, whose blocks find where their tiles begin; of
 *                more: another before it that finds all of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../sparse.h"
#include "../backend.h"
#include "cuda.h"
#include "sparse.h"

#include <stdio.h>

enum {
    FEW_TILES = 1024, /* that are all at work at once, or nearly: a search each costs less than a
                         kernel */
    IMAGE_BYTES = 32
};

static void image_of(const ech_csr *a, char image[IMAGE_BYTES])
{
    snprintf(image, IMAGE_BYTES, "sparse_%s_%s", ech_dtype_name(a->index),
             ech_dtype_name(a->dtype));
}

static uint64_t quotient_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* ---- Products ---- */

struct parts {
    struct sparse_place *places; /* NULL: few tiles */
    void *partials;
    uint32_t *done;
    uint64_t tiles;
};

static struct parts lay_out(const struct echi_sparse *s, struct echi_layout *layout)
{
    const uint64_t items = echi_sparse_items(&s->a);
    struct parts parts = { .tiles = quotient_up(items, SPARSE_TILE) };
    if (parts.tiles > FEW_TILES)
        parts.places = echi_part(layout, parts.tiles + 1, sizeof *parts.places);
    parts.done = echi_part(layout, parts.tiles + 1, sizeof *parts.done);
    parts.partials = echi_part(layout, 2 * (items / SPARSE_GROUP + 1), ech_dtype_bytes(s->a.dtype));
    return parts;
}

static ech_status multiply(ech_ctx *ctx, const struct echi_sparse *s, void *work)
{
    struct echi_layout layout = { .base = work };
    const struct parts parts = lay_out(s, &layout);
    const bool few = parts.tiles <= FEW_TILES;
    struct sparse_args args = { .offsets = s->a.offsets,
                                .columns = s->a.columns,
                                .values = s->a.values,
                                .rows = s->a.rows,
                                .cols = s->a.cols,
                                .entries = s->a.entries,
                                .x = s->x,
                                .y = s->y,
                                .alpha = s->alpha,
                                .beta = s->beta,
                                .tiles = parts.tiles,
                                .places = few ? NULL : parts.places,
                                .partials = parts.partials,
                                .done = parts.done };
    ech_status status = ECH_OK;
    char image[IMAGE_BYTES];
    void *zeros;
    image_of(&s->a, image);
    if (few) {
        TRY(echi_cuda_zeros(ctx, parts.done, (parts.tiles + 1) * sizeof *parts.done, &zeros));
        args.done = zeros;
    } else {
        TRY(echi_cuda_launch(ctx, image, "sparse_places",
                             (unsigned)quotient_up(parts.tiles + 1, SPARSE_PLACE_THREADS),
                             SPARSE_PLACE_THREADS, 0, &args));
    }
    TRY(echi_cuda_launch(ctx, image, "sparse_multiply", (unsigned)parts.tiles, SPARSE_THREADS, 0,
                         &args));
done:
    return status;
}

/* ---- The operation ---- */

static ech_status workspace(const void *request, size_t *bytes)
{
    const struct echi_sparse *s = request;
    struct echi_layout layout = { 0 };
    lay_out(s, &layout);
    *bytes = layout.bytes;
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace is larger than any memory");
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, void *work)
{
    return multiply(ctx, request, work);
}

const struct echi_operation echi_cuda_sparse = { .workspace = workspace, .run = run };
