/*
 * gf2/cuda/operation.c - element-wise operations on matrices over GF(2) on the GPU: host code.
 *
 *     request                           kernels
 *     words are independent             one of map.cuh
 *     transpose, gather of columns      one of turn.cuh
 *     count, equal                      one: the last block computes the result
 *     order, map                        one; one block completes an order
 *     spread of rows                    zeros, then the rows
 *     results from rows beyond the rank a memset, one kernel reads, one writes the result
 *     nullspace                         one block finds the free columns, then the basis is made
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/gf2.h"
#include "cuda/cuda.h"
#include "gf2/cuda/common.h"

enum {
    BLOCKS = 1 << 30, /* maximum of a launch */
    STAYING = 8,      /* blocks per multiprocessor of a kernel that sums */
    SOME_BLOCKS = 64  /* of a kernel that reads the amount of work on the device */
};
#define IMAGE "gf2_all"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number of parts of `each` for n elements. */
static uint64_t parts_of(uint64_t n, uint64_t each)
{
    return n / each + (n % each != 0);
}

static uint64_t multiprocessors(const ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    return (uint64_t)cuda->multiprocessors;
}

static struct gf2_matrix matrix_of(const ech_gf2 *m)
{
    return (struct gf2_matrix){
        .words = m->words, .stride = m->stride, .rows = (uint32_t)m->rows, .cols = (uint32_t)m->cols
    };
}

static struct gf2_args args_of(const struct echi_gf2 *g)
{
    return (struct gf2_args){ .a = matrix_of(&g->a),
                              .b = matrix_of(&g->b),
                              .out = matrix_of(&g->out),
                              .a_bit = g->a_bit,
                              .out_bit = g->out_bit,
                              .order = g->order,
                              .limit = g->limit,
                              .columns = g->columns,
                              .full = g->full,
                              .inverse = g->inverse,
                              .rank = g->rank,
                              .positions = g->positions,
                              .dim = g->dim,
                              .seed = g->seed,
                              .threshold = g->threshold,
                              .bytes = g->bytes,
                              .count = g->count };
}

/* ---- Launches ---- */

static ech_status launch(ech_ctx *ctx, const char *kernel, uint64_t blocks,
                         const struct gf2_args *args)
{
    if (blocks == 0) return ECH_OK;
    return echi_cuda_launch(ctx, IMAGE, kernel, (unsigned)least(blocks, BLOCKS), GF2_THREADS, 0,
                            args);
}

/* Tiles of rows x units; a thread has `each` consecutive rows. */
static void tile(struct gf2_args *args, uint64_t rows, uint64_t units, uint32_t each)
{
    args->rows = rows;
    args->units = units;
    args->tile_bits = 0;
    while (args->tile_bits < 8 && units > (uint64_t)1 << args->tile_bits) args->tile_bits++;
    args->tiles_across = parts_of(units, (uint64_t)1 << args->tile_bits);
    args->tiles = args->tiles_across * parts_of(rows, (GF2_THREADS >> args->tile_bits) * each);
}

static ech_status map_units(ech_ctx *ctx, const char *kernel, struct gf2_args *args, uint64_t rows,
                            uint64_t units)
{
    tile(args, rows, units, GF2_EACH);
    return launch(ctx, kernel, args->tiles, args);
}

static ech_status map_words(ech_ctx *ctx, const char *kernel, struct gf2_args *args)
{
    return map_units(ctx, kernel, args, args->out.rows, echi_gf2_words(args->out.cols));
}

static ech_status set_bytes(ech_ctx *ctx, void *at, unsigned char value, size_t bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)at, value, bytes, echi_cuda_stream(ctx));
done:
    return status;
}

/* ---- Workspace ---- */

struct parts {
    struct gf2_total *total;
    uint64_t *mask;
    uint32_t *first, *marks, *marks_before, *left;
};

static size_t lay_out(const struct echi_gf2 *g, void *base, bool *overflow, struct parts *parts)
{
    struct echi_layout layout = { .base = base };
    const size_t marks = 2 * echi_gf2_words(g->what == ECHI_GF2_KERNEL ? g->a.cols : g->limit);
    *parts = (struct parts){ .total = NULL };
    switch (g->what) {
    case ECHI_GF2_COUNT:
    case ECHI_GF2_EQUAL:
        parts->total = echi_part(&layout, 1, sizeof *parts->total);
        break;
    case ECHI_GF2_SOLVABLE:
    case ECHI_GF2_CLEAR:
        parts->mask = echi_part(&layout, echi_gf2_words(g->a.cols), sizeof *parts->mask);
        break;
    case ECHI_GF2_CERTIFICATE:
        parts->first = echi_part(&layout, g->a.cols, sizeof *parts->first);
        break;
    case ECHI_GF2_ORDER:
        parts->marks = echi_part(&layout, marks, sizeof *parts->marks);
        break;
    case ECHI_GF2_KERNEL:
        parts->marks = echi_part(&layout, marks, sizeof *parts->marks);
        parts->marks_before = echi_part(&layout, marks, sizeof *parts->marks_before);
        parts->left = echi_part(&layout, g->a.cols, sizeof *parts->left);
        break;
    default:
        break;
    }
    *overflow = layout.overflow;
    return layout.bytes;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct parts parts;
    bool overflow;
    *bytes = lay_out(request, NULL, &overflow, &parts);
    if (overflow) return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    return ECH_OK;
}

/* ---- Requests ---- */

static ech_status pack(ech_ctx *ctx, struct gf2_args *args)
{
    return map_units(ctx, "gf2_pack", args, args->out.rows, parts_of(args->out.cols, 8));
}

static ech_status unpack(ech_ctx *ctx, struct gf2_args *args)
{
    return map_units(ctx, "gf2_unpack", args, args->a.rows,
                     parts_of((uint64_t)args->a.cols + 7, 8));
}

static ech_status gather_rows(ech_ctx *ctx, struct gf2_args *args)
{
    args->data_error = echi_cuda_error_word(ctx);
    return map_words(ctx, "gf2_gather_rows", args);
}

/* Tiles are square unless the matrix is narrow or flat. */
static ech_status transpose(ech_ctx *ctx, struct gf2_args *args)
{
    args->tile_bits = GF2_TURN_BITS;
    while (args->tile_bits > GF2_TURN_MIN && args->a.cols <= 16u << args->tile_bits)
        args->tile_bits--;
    while (args->tile_bits < 8 - GF2_TURN_MIN && args->a.rows <= 16u << (8 - args->tile_bits))
        args->tile_bits++;
    args->tiles_across = parts_of(args->a.cols, 32u << args->tile_bits);
    args->tiles = args->tiles_across * parts_of(args->a.rows, 32u << (8 - args->tile_bits));
    return launch(ctx, "gf2_transpose", args->tiles, args);
}

static ech_status gather_columns(ech_ctx *ctx, struct gf2_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    const uint64_t groups = parts_of(args->out.rows, 32), words = echi_gf2_words(args->out.cols);
    const uint64_t parts = parts_of(words, GF2_PART_WORDS * (GF2_THREADS / 32));
    const uint64_t shared_bytes = args->a.cols * (uint64_t)4;
    args->data_error = echi_cuda_error_word(ctx);
    if (groups == 0 || words == 0) return ECH_OK;
    if (shared_bytes > cuda->shared_bytes)
        return launch(ctx, "gf2_gather_columns_wide", parts_of(groups * words, GF2_THREADS / 32),
                      args);
    /* If there are few groups of 32 rows, this many blocks share one group. */
    args->units = least(parts, parts_of(2 * multiprocessors(ctx), groups));
    args->tiles = groups * args->units;
    return echi_cuda_launch(ctx, IMAGE, "gf2_gather_columns", (unsigned)least(args->tiles, BLOCKS),
                            GF2_THREADS, (unsigned)shared_bytes, args);
}

static ech_status look(ech_ctx *ctx, const char *kernel, struct gf2_args *args)
{
    tile(args, args->a.rows, echi_gf2_words(args->a.cols), GF2_LOOK);
    return launch(ctx, kernel, args->tiles, args);
}

/* One kernel that ends with the result, also for a matrix without bits. */
static ech_status total(ech_ctx *ctx, const char *kernel, struct gf2_args *args,
                        struct gf2_total *part)
{
    ech_status status = ECH_OK;
    void *zeros;
    TRY(echi_cuda_zeros(ctx, part, sizeof *part, &zeros));
    args->total = zeros;
    tile(args, args->a.rows, echi_gf2_words(args->a.cols), GF2_LOOK);
    const uint64_t blocks = least(args->tiles, STAYING * multiprocessors(ctx));
    TRY(launch(ctx, kernel, blocks ? blocks : 1, args));
done:
    return status;
}

static ech_status order(ech_ctx *ctx, struct gf2_args *args)
{
    args->data_error = echi_cuda_error_word(ctx);
    return echi_cuda_launch(ctx, IMAGE, "gf2_order", 1, GF2_ORDER_THREADS, 0, args);
}

static ech_status spread(ech_ctx *ctx, struct gf2_args *args, bool clear)
{
    ech_status status = ECH_OK;
    if (clear) TRY(map_words(ctx, "gf2_zero", args));
    TRY(map_units(ctx, "gf2_spread", args, args->a.rows, echi_gf2_words(args->out.cols)));
done:
    return status;
}

static ech_status look_below(ech_ctx *ctx, struct gf2_args *args)
{
    ech_status status = ECH_OK;
    TRY(set_bytes(ctx, args->mask, 0, echi_gf2_words(args->a.cols) * sizeof *args->mask));
    TRY(look(ctx, "gf2_look_below", args));
done:
    return status;
}

static ech_status solvable(ech_ctx *ctx, struct gf2_args *args)
{
    ech_status status = ECH_OK;
    if (args->a.cols == 0) return ECH_OK;
    TRY(look_below(ctx, args));
    TRY(launch(ctx, "gf2_solvable",
               least(parts_of(args->a.cols, GF2_THREADS), STAYING * multiprocessors(ctx)), args));
done:
    return status;
}

static ech_status clear(ech_ctx *ctx, struct gf2_args *args)
{
    ech_status status = ECH_OK;
    if (args->a.cols == 0) return ECH_OK;
    TRY(look_below(ctx, args));
    TRY(map_words(ctx, "gf2_clear", args));
done:
    return status;
}

static ech_status certificate(ech_ctx *ctx, struct gf2_args *args)
{
    ech_status status = ECH_OK;
    if (args->a.cols == 0) return ECH_OK;
    TRY(set_bytes(ctx, args->first, 0xff, args->a.cols * sizeof *args->first));
    TRY(look(ctx, "gf2_look_first", args));
    TRY(map_words(ctx, "gf2_certificate", args));
done:
    return status;
}

static ech_status kernel(ech_ctx *ctx, struct gf2_args *args)
{
    ech_status status = ECH_OK;
    const uint64_t words = echi_gf2_words(args->out.cols);
    const uint64_t tasks = parts_of(args->out.rows, 32) * parts_of(words, GF2_PART_WORDS);
    args->limit = args->a.cols;
    args->data_error = echi_cuda_error_word(ctx);
    TRY(echi_cuda_launch(ctx, IMAGE, "gf2_find_free", 1, GF2_ORDER_THREADS, 0, args));
    TRY(launch(ctx, "gf2_make_basis", parts_of(tasks, GF2_THREADS / 32), args));
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_gf2 *g = request;
    struct gf2_args args = args_of(g);
    struct parts parts;
    bool overflow;
    lay_out(g, work, &overflow, &parts);
    args.mask = parts.mask;
    args.first = parts.first;
    args.marks = parts.marks;
    args.marks_before = parts.marks_before;
    args.left = parts.left;
    switch (g->what) {
    case ECHI_GF2_COPY:
        return map_words(ctx, "gf2_copy", &args);
    case ECHI_GF2_ADD:
        return map_words(ctx, "gf2_add", &args);
    case ECHI_GF2_TRANSPOSE:
        return transpose(ctx, &args);
    case ECHI_GF2_GATHER_ROWS:
        return gather_rows(ctx, &args);
    case ECHI_GF2_GATHER_COLUMNS:
        return gather_columns(ctx, &args);
    case ECHI_GF2_ZERO:
        return map_words(ctx, "gf2_zero", &args);
    case ECHI_GF2_IDENTITY:
        return map_words(ctx, "gf2_identity", &args);
    case ECHI_GF2_RANDOM:
        return map_words(ctx, "gf2_random", &args);
    case ECHI_GF2_PACK:
        return pack(ctx, &args);
    case ECHI_GF2_UNPACK:
        return unpack(ctx, &args);
    case ECHI_GF2_COUNT:
        return total(ctx, "gf2_count", &args, parts.total);
    case ECHI_GF2_EQUAL:
        return total(ctx, "gf2_equal", &args, parts.total);
    case ECHI_GF2_ORDER:
        return order(ctx, &args);
    case ECHI_GF2_MAP:
        return launch(ctx, "gf2_map", SOME_BLOCKS, &args);
    case ECHI_GF2_SPREAD_ROWS:
    case ECHI_GF2_PUT_ROWS:
        return spread(ctx, &args, g->what == ECHI_GF2_SPREAD_ROWS);
    case ECHI_GF2_KERNEL:
        return kernel(ctx, &args);
    case ECHI_GF2_SOLVABLE:
        return solvable(ctx, &args);
    case ECHI_GF2_CLEAR:
        return clear(ctx, &args);
    case ECHI_GF2_CERTIFICATE:
        return certificate(ctx, &args);
    case ECHI_GF2_UNIT:
        return map_words(ctx, "gf2_unit", &args);
    case ECHI_GF2_LU:
        return map_words(ctx, "gf2_lu", &args);
    }
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "unsupported GF(2) operation %d", (int)g->what);
}

const struct echi_operation echi_cuda_gf2 = { .plan = workspace, .run = run };
