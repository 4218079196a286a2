/*
 * matmul/cuda/vector.c - a matrix times a vector on the GPU, host half: the levels of its sums
 * (docs/matmul.md), one kernel each.
 *
 *     workspace   [ sums of the first level, third, ... | of the second, fourth, ... ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "matmul/matmul.h"
#include "cuda/cuda.h"
#include "matmul/cuda/common.h"

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

static unsigned grid(uint64_t blocks)
{
    return blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX;
}

static uint64_t chunks_of(const struct echi_matvec *v, uint64_t rows, uint64_t cols)
{
    const uint64_t chunks = v->turned ? parts_of(rows, MATVEC_ROWS) : parts_of(cols, MATVEC_CHUNK);
    return chunks ? chunks : 1;
}

static void lay_out(const struct echi_matvec *v, void *work, void *sums[2], size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    uint64_t rows = v->rows, cols = v->cols;
    sums[0] = sums[1] = NULL;
    for (int i = 0; i < 2 && !v->empty; i++) {
        const uint64_t chunks = chunks_of(v, rows, cols);
        if (chunks == 1) break;
        *(v->turned ? &rows : &cols) = chunks;
        sums[i] = echi_part(&layout, rows * cols, ech_dtype_bytes(v->dtype));
    }
    *bytes = layout.bytes;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    void *sums[2];
    lay_out(request, NULL, sums, bytes);
    return ECH_OK;
}

static ech_status scale(ech_ctx *ctx, const struct echi_matvec *v, const char *image)
{
    const uint64_t n = v->turned ? v->cols : v->rows;
    const struct matmul_args args = {
        .c = v->y, .m = n, .n = 1, .count = 1, .c_stride = 1, .beta = v->beta
    };
    if (v->beta == 1) return ECH_OK;
    return echi_cuda_launch(ctx, image, "matmul_scale", grid(parts_of(n, MATMUL_THREADS)),
                            MATMUL_THREADS, 0, &args);
}

/* Kernels that do more a thread are for when there are threads enough. */
static ech_status add_level(ech_ctx *ctx, const struct echi_matvec *v, const char *image,
                            struct matvec_args *args)
{
    const size_t bytes = ech_dtype_bytes(v->dtype);
    const unsigned vector = (unsigned)(16 / bytes);
    const uint64_t multiprocessors =
        (uint64_t)((const struct echi_cuda *)ctx->state)->multiprocessors;
    const char *kernel = "matvec_rows";
    uint64_t threads;
    args->vectors = (uintptr_t)args->a % 16 == 0 && args->stride % vector == 0;
    if (v->turned) {
        const bool wide = args->vectors && args->cols >= vector &&
                          args->cols / vector * args->chunks >= 32 * multiprocessors;
        kernel = wide ? "matvec_columns_wide" : "matvec_columns";
        threads = parts_of(args->cols, wide ? vector : 1) * args->chunks;
    } else {
        if ((uintptr_t)args->x % 16) args->vectors = 0;
        args->lanes = 1;
        while (args->lanes < MATVEC_LANES / vector && args->lanes * vector < args->cols)
            args->lanes *= 2;
        const uint64_t fewer = parts_of(args->rows, MATVEC_MANY) * args->chunks * args->lanes;
        const bool many = fewer >= 256 * multiprocessors;
        if (many) kernel = "matvec_rows_many";
        threads = many ? fewer : args->rows * args->chunks * args->lanes;
    }
    return echi_cuda_launch(ctx, image, kernel, grid(parts_of(threads, MATVEC_THREADS)),
                            MATVEC_THREADS, 0, args);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_matvec *v = request;
    const char *image = v->dtype == ECH_F64 ? "matmul_f64" : "matmul_f32";
    struct matvec_args args = { .a = v->a,
                                .x = v->x,
                                .rows = v->rows,
                                .cols = v->cols,
                                .stride = v->a_stride,
                                .alpha = v->alpha,
                                .beta = v->beta };
    void *sums[2];
    size_t bytes;
    ech_status status = ECH_OK;
    if (v->empty) return scale(ctx, v, image);
    lay_out(v, work, sums, &bytes);
    for (int i = 0; !args.last; i ^= 1) {
        args.chunks = chunks_of(v, args.rows, args.cols);
        args.last = args.chunks == 1;
        args.out = args.last ? v->y : sums[i];
        TRY(add_level(ctx, v, image, &args));
        *(v->turned ? &args.rows : &args.cols) = args.chunks;
        args.stride = args.cols;
        args.a = args.out;
        args.x = NULL;
    }
done:
    return status;
}

const struct echi_operation echi_cuda_matvec = { .plan = workspace, .run = run };
