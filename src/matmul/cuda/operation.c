/*
 * matmul/cuda/operation.c - products of matrices on the GPU, host half: chooses, and queues
 * kernels.
 *
 *     "blas"    cuBLAS (cublas.h), where it is found; its workspace is ours
 *     "tiled"   matmul_large, or, where its tiles would leave multiprocessors idle, matmul_medium
 *               or matmul_small; no workspace
 *
 *     image matmul_<dtype>
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cuda/cublas.h"
#include "cuda/cuda.h"
#include "matmul/cuda/common.h"

#include <stdio.h>
#include <string.h>

enum { BLAS, TILED, ALGORITHMS };

static const char *const names[ALGORITHMS] = { [BLAS] = "blas", [TILED] = "tiled" };

/* ---- Choice ---- */

static bool fits_int(const struct echi_matmul *p)
{
    const size_t most = INT32_MAX;
    return p->m <= most && p->n <= most && p->k <= most && p->count <= most &&
           p->a_stride <= most && p->b_stride <= most && p->c_stride <= most;
}

/* The executor runs kernels, and cuBLAS has its own. */
static bool is_executor(const struct echi_matmul *p)
{
    return strcmp(p->backend->name, "simt") == 0;
}

static ech_status choose(const struct echi_matmul *p, int *algorithm)
{
    const char *reason = "";
    const bool found = !is_executor(p) && echi_cublas_name(&reason);
    const bool can = found && p->k && (fits_int(p) || echi_cublas_is_64());
    *algorithm = can ? BLAS : TILED;
    if (!p->algorithm) return ECH_OK;
    if (strcmp(p->algorithm, names[TILED]) == 0) {
        *algorithm = TILED;
        return ECH_OK;
    }
    if (strcmp(p->algorithm, names[BLAS]) != 0)
        return echi_fail(NULL, ECH_ERR_ARG,
                         "the algorithm is \"%s\", and products have \"blas\" and \"tiled\"",
                         p->algorithm);
    if (!found)
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED, "the algorithm is \"blas\", but %s",
                         is_executor(p) ? "the executor runs the library's own kernels" : reason);
    return ECH_OK;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    int algorithm;
    ech_status status = choose(request, &algorithm);
    *bytes = status == ECH_OK && algorithm == BLAS ? ECHI_CUBLAS_WORK_BYTES : 0;
    return status;
}

static ech_status explain(const void *request, struct echi_text *text)
{
    const struct echi_matmul *p = request;
    static const char *const label[2] = { "algorithm ", "could be  " };
    const char *reason = "", *found = is_executor(p) ? NULL : echi_cublas_name(&reason);
    int algorithm;
    ech_status status = choose(p, &algorithm);
    if (status != ECH_OK) return status;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < ALGORITHMS; i++) {
            if ((i == algorithm) != (turn == 0)) continue;
            if (i == TILED)
                echi_print(text, "%s tiled: the library's own kernels, in the order of k\n",
                           label[turn]);
            else if (found)
                echi_print(text, "%s blas: cuBLAS (%s)\n", label[turn], found);
        }
    if (!found && !is_executor(p)) echi_print(text, "no blas: %s\n", reason);
    return ECH_OK;
}

/* ---- Run ---- */

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

static unsigned grid(uint64_t blocks)
{
    return blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX;
}

/* The largest tiles of which there are enough; each size does less for what it reads. */
static ech_status launch_tiled(ech_ctx *ctx, const struct echi_matmul *p, const char *image,
                               struct matmul_args *args)
{
    static const char *const kernels[] = { "matmul_large", "matmul_medium", "matmul_small" };
    const struct echi_cuda *cuda = ctx->state;
    const unsigned real_bytes = p->dtype == ECH_F64 ? 8 : 4;
    int size = 0;
    for (;; size++) {
        args->row_tiles = parts_of(p->m, (unsigned)MATMUL_TILE_ROWS(size, real_bytes));
        args->column_tiles = parts_of(p->n, (unsigned)MATMUL_TILE_COLS(size, real_bytes));
        if (size == 2 ||
            args->row_tiles * args->column_tiles * p->count >= (uint64_t)cuda->multiprocessors)
            break;
    }
    return echi_cuda_launch(ctx, image, kernels[size],
                            grid(args->row_tiles * args->column_tiles * p->count), MATMUL_THREADS,
                            MATMUL_SHARED_BYTES(size, real_bytes), args);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_matmul *p = request;
    char image[16];
    int algorithm;
    ech_status status = choose(p, &algorithm);
    if (status != ECH_OK) return status;
    if (p->k && algorithm == BLAS) return echi_cublas_multiply(ctx, p, work);
    struct matmul_args args = { .a = p->a,
                                .b = p->b,
                                .c = p->c,
                                .m = p->m,
                                .n = p->n,
                                .k = p->k,
                                .count = p->count,
                                .a_stride = p->a_stride,
                                .b_stride = p->b_stride,
                                .c_stride = p->c_stride,
                                .a_step = p->a_step,
                                .b_step = p->b_step,
                                .c_step = p->c_step,
                                .alpha = p->alpha,
                                .beta = p->beta,
                                .a_turned = p->a_turned,
                                .b_turned = p->b_turned,
                                .list = p->list,
                                .wide = p->wide };
    snprintf(image, sizeof image, "matmul_%s", ech_dtype_name(p->dtype));
    if (p->k) return launch_tiled(ctx, p, image, &args);
    if (p->beta == 1) return ECH_OK;
    return echi_cuda_launch(ctx, image, "matmul_scale",
                            grid(parts_of(p->m * p->n * p->count, MATMUL_THREADS)), MATMUL_THREADS,
                            0, &args);
}

const struct echi_operation echi_cuda_matmul = { .plan = workspace,
                                                 .explain = explain,
                                                 .run = run };
