/*
 * sparse/cuda/operation.c - sparse matrices on the GPU, host half: lays out the workspace, queues
 * kernels.
 *
 *     products   a matrix of few tiles: one kernel, whose blocks find where their tiles begin; of
 *                more: another before it that finds all of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/sparse.h"
#include "core/backend.h"
#include "cuda/cuda.h"
#include "sparse/cuda/make.h"
#include "sparse/cuda/common.h"

enum {
    /* That are all at work at once, or nearly: a search each costs less than a kernel. */
    FEW_TILES = 4096,
    WIDE_FEW_TILES = 1024,

    /* Rows and entries of a tile, as powers of two: a kernel that looks for the tiles' places and
     * the last tiles of all weigh less and more, the larger they are. */
    LEAST_TILE_BITS = 8,
    TILE_BITS = 11, /* SPARSE_TILE_MOST */
    WIDE_TILE_BITS = 10,

    /* Less than 6 blocks of f64 and 9 of f32 need of an H200, which has steps: 64 KiB it becomes;
     * the cache is x's. */
    SHARED_PERCENT = 15
};

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
    uint32_t tile_bits;
};

/* Matrices of one column with no gaps are vectors. */
static bool is_vector(const struct echi_sparse *s)
{
    return s->n == 1 && s->x_stride == 1 && s->y_stride == 1;
}

/* Two a tile, and one of all. */
static size_t done_words(uint64_t tiles)
{
    return 2 * tiles + 1;
}

/* A vector's tiles are small where there would be few. */
static uint32_t vector_tile_bits(const ech_csr *a)
{
    const uint64_t items = echi_sparse_items(a);
    uint32_t bits = LEAST_TILE_BITS;
    while (bits < TILE_BITS && items >> bits > FEW_TILES) bits++;
    return bits;
}

static struct parts lay_out(const struct echi_sparse *s, struct echi_layout *layout)
{
    const uint64_t items = echi_sparse_items(&s->a);
    const bool vector = is_vector(s);
    struct parts parts = { .tile_bits = vector ? vector_tile_bits(&s->a) : WIDE_TILE_BITS };
    parts.tiles = quotient_up(items, (uint64_t)1 << parts.tile_bits);
    if (parts.tiles > (vector ? FEW_TILES : WIDE_FEW_TILES))
        parts.places = echi_part(layout, parts.tiles + 1, sizeof *parts.places);
    parts.done = echi_part(layout, done_words(parts.tiles), sizeof *parts.done);
    parts.partials = echi_part(layout, 2 * (items / SPARSE_GROUP + 1) * (vector ? 1 : SPARSE_STRIP),
                               ech_dtype_bytes(s->a.dtype));
    return parts;
}

static ech_status multiply_vector(ech_ctx *ctx, const struct sparse_args *args, const char *image)
{
    static const char kernel[] = "sparse_multiply";
    ech_status status = echi_cuda_prefer_cache(ctx, image, kernel, SHARED_PERCENT);
    if (status != ECH_OK) return status;
    return echi_cuda_launch(ctx, image, kernel,
                            (unsigned)quotient_up(args->tiles, SPARSE_THREADS / 32), SPARSE_THREADS,
                            0, args);
}

/* The product with a vector, or with some columns at a time. */
static ech_status queue(ech_ctx *ctx, const struct echi_sparse *s, struct sparse_args *args,
                        const char *image)
{
    const size_t bytes = ech_dtype_bytes(s->a.dtype);
    if (is_vector(s)) return multiply_vector(ctx, args, image);
    for (size_t at = 0; at < s->n; at += SPARSE_STRIP) {
        args->x = (const char *)s->x + at * bytes;
        args->y = (char *)s->y + at * bytes;
        args->width = s->n - at < SPARSE_STRIP ? (uint32_t)(s->n - at) : SPARSE_STRIP;
        for (args->lanes = 1; args->lanes < args->width;) args->lanes *= 2;
        ech_status status = echi_cuda_launch(ctx, image, "sparse_multiply_wide",
                                             (unsigned)args->tiles, SPARSE_WIDE_THREADS, 0, args);
        if (status != ECH_OK) return status;
    }
    return ECH_OK;
}

static ech_status multiply(ech_ctx *ctx, const struct echi_sparse *s, void *work)
{
    struct echi_layout layout = { .base = work };
    const struct parts parts = lay_out(s, &layout);
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
                                .tile_bits = parts.tile_bits,
                                .whole = is_vector(s) ? SPARSE_WHOLE : 0,
                                .x_stride = s->x_stride,
                                .y_stride = s->y_stride,
                                .places = parts.places,
                                .partials = parts.partials,
                                .done = parts.done };
    ech_status status = ECH_OK;
    char image[SPARSE_IMAGE_BYTES];
    void *zeros;
    echi_cuda_sparse_image(&s->a, image);
    if (parts.tiles > (is_vector(s) ? FEW_TILES : WIDE_FEW_TILES)) {
        TRY(echi_cuda_launch(ctx, image, "sparse_places",
                             (unsigned)quotient_up(parts.tiles + 1, SPARSE_PLACE_THREADS),
                             SPARSE_PLACE_THREADS, 0, &args));
    } else {
        TRY(echi_cuda_zeros(ctx, parts.done, done_words(parts.tiles) * sizeof *parts.done, &zeros));
        args.done = zeros;
    }
    TRY(queue(ctx, s, &args, image));
done:
    return status;
}

/* ---- The operation ---- */

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_sparse *s = request;
    struct echi_layout layout = { 0 };
    if (s->what != ECHI_SPARSE_MULTIPLY) return echi_cuda_sparse_make_workspace(s, bytes);
    lay_out(s, &layout);
    *bytes = layout.bytes;
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace is larger than any memory");
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_sparse *s = request;
    if (s->what != ECHI_SPARSE_MULTIPLY) return echi_cuda_sparse_make(ctx, s, work);
    return multiply(ctx, s, work);
}

const struct echi_operation echi_cuda_sparse = { .plan = workspace, .run = run };
