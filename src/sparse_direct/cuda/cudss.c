/*
 * sparse_direct/cuda/cudss.c - NVIDIA cuDSS, version 1, opened at run time.
 *
 *     host CSC  -- transposed -->  CSR in GPU memory  -- analysis, factorization -->  factors
 *     x in host memory  -->  GPU memory  -- solve -->  GPU memory  -->  x
 *
 * cuDSS exchanges rows only within a block of columns, and replaces pivots that are too small. If
 * it did so, the caller may ask it to refuse the matrix, because a library with partial pivoting is
 * then more accurate, and finds out whether A is singular.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vendor.h"
#include "cuda/cuda.h"
#include "sparse_direct/sparse_direct.h"

#include <stdlib.h>

/* Values of the documented interface. */
enum { CUDSS_ALLOC_FAILED = 2, CUDSS_NOT_SUPPORTED = 4 };
enum { R_64F = 1, R_32I = 10, R_64I = 24 }; /* cudaDataType_t */
enum { GENERAL = 0, FULL = 0, BASE_ZERO = 0, COLUMN_MAJOR = 0 };
enum { CONFIG_SOLVE_MODE = 4, DATA_INFO = 0, DATA_LU_NNZ = 1, DATA_NPIVOTS = 2 };
enum { PHASE_ANALYSIS = 3, PHASE_FACTORIZATION = 4, PHASE_SOLVE = 1008 /* all six parts of it */ };
enum { MAJOR_VERSION = 0 };

static struct {
    int (*property)(int which, int *value);
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*config_create)(void **config);
    int (*config_destroy)(void *config);
    int (*config_set)(void *config, int parameter, const void *value, size_t bytes);
    int (*data_create)(void *handle, void **data);
    int (*data_destroy)(void *handle, void *data);
    int (*data_get)(void *handle, void *data, int parameter, void *value, size_t bytes,
                    size_t *written);
    int (*execute)(void *handle, int phase, void *config, void *data, void *matrix, void *solution,
                   void *rhs);
    int (*create_dense)(void **matrix, int64_t rows, int64_t cols, int64_t stride,
                        const void *values, int type, int layout);
    int (*create_csr)(void **matrix, int64_t rows, int64_t cols, int64_t nnz, const void *begin,
                      const void *end, const void *columns, const void *values, int offset_type,
                      int index_type, int value_type, int kind, int view, int base);
    int (*destroy_matrix)(void *matrix);
} cudss;

struct state {
    size_t n;
    void *handle, *config, *data, *matrix, *solution, *rhs;
    void *offsets, *columns, *values, *b, *x; /* in GPU memory */
    size_t offsets_bytes, columns_bytes, values_bytes;
    bool transposed; /* the configuration's solve mode */
};

static bool take(void *library, const char **why)
{
    int major = 0;
    if (!(echi_vendor_find(library, "cudssGetProperty", &cudss.property) &&
          echi_vendor_find(library, "cudssCreate", &cudss.create) &&
          echi_vendor_find(library, "cudssDestroy", &cudss.destroy) &&
          echi_vendor_find(library, "cudssSetStream", &cudss.set_stream) &&
          echi_vendor_find(library, "cudssConfigCreate", &cudss.config_create) &&
          echi_vendor_find(library, "cudssConfigDestroy", &cudss.config_destroy) &&
          echi_vendor_find(library, "cudssConfigSet", &cudss.config_set) &&
          echi_vendor_find(library, "cudssDataCreate", &cudss.data_create) &&
          echi_vendor_find(library, "cudssDataDestroy", &cudss.data_destroy) &&
          echi_vendor_find(library, "cudssDataGet", &cudss.data_get) &&
          echi_vendor_find(library, "cudssExecute", &cudss.execute) &&
          echi_vendor_find(library, "cudssMatrixCreateDn", &cudss.create_dense) &&
          echi_vendor_find(library, "cudssMatrixCreateCsr", &cudss.create_csr) &&
          echi_vendor_find(library, "cudssMatrixDestroy", &cudss.destroy_matrix)))
        return false;
    if (cudss.property(MAJOR_VERSION, &major) == 0 && major == 1) return true;
    *why = "its version is not 1";
    return false;
}

static ech_status check(ech_ctx *ctx, int result, const char *call)
{
    if (result == 0) return ECH_OK;
    return echi_fail(ctx,
                     result == CUDSS_ALLOC_FAILED    ? ECH_ERR_MEMORY
                     : result == CUDSS_NOT_SUPPORTED ? ECH_ERR_UNSUPPORTED
                                                     : ECH_ERR_DEVICE,
                     "%s of cuDSS failed with status %d", call, result);
}

static void release(ech_ctx *ctx, void *at)
{
    struct state *s = at;
    if (!s) return;
    const bool entered = echi_cuda_enter(ctx) == ECH_OK;
    if (s->rhs) cudss.destroy_matrix(s->rhs);
    if (s->solution) cudss.destroy_matrix(s->solution);
    if (s->matrix) cudss.destroy_matrix(s->matrix);
    if (s->data) cudss.data_destroy(s->handle, s->data);
    if (s->config) cudss.config_destroy(s->config);
    if (s->handle) cudss.destroy(s->handle);
    if (s->offsets) echi_release(ctx, s->offsets, s->offsets_bytes);
    if (s->columns) echi_release(ctx, s->columns, s->columns_bytes);
    if (s->values) echi_release(ctx, s->values, s->values_bytes);
    if (s->b) echi_release(ctx, s->b, s->n * sizeof(double));
    if (s->x) echi_release(ctx, s->x, s->n * sizeof(double));
    if (entered) echi_cuda_leave(ctx);
    free(s);
}

/* ---- The matrix ---- */

/* Rows of the matrix in host memory: offsets of 8 bytes if wide, otherwise of 4. */
struct rows {
    bool wide;
    void *offsets;
    int32_t *columns;
    double *values;
};

static ech_status make_rows(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                            struct rows *r)
{
    int64_t *next = calloc(a->n + 2, sizeof *next);
    ech_status status = ECH_OK;
    r->wide = a->nnz > INT32_MAX;
    r->offsets = malloc((a->n + 1) * (r->wide ? 8 : 4));
    r->columns = malloc((a->nnz + 1) * sizeof *r->columns);
    r->values = malloc((a->nnz + 1) * sizeof *r->values);
    if (!next || !r->offsets || !r->columns || !r->values)
        FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the rows of a");
    for (size_t e = 0; e < a->nnz; e++) next[a->rows[e] + 2]++;
    for (size_t i = 0; i < a->n; i++) next[i + 2] += next[i + 1];
    for (size_t j = 0; j < a->n; j++)
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++) {
            const int64_t to = next[a->rows[e] + 1]++;
            r->columns[to] = (int32_t)j;
            r->values[to] = values[e];
        }
    for (size_t i = 0; i <= a->n; i++) {
        if (r->wide)
            ((int64_t *)r->offsets)[i] = next[i];
        else
            ((int32_t *)r->offsets)[i] = (int32_t)next[i];
    }
done:
    free(next);
    return status;
}

static void rows_free(struct rows *r)
{
    free(r->offsets);
    free(r->columns);
    free(r->values);
}

static ech_status put(ech_ctx *ctx, const void *from, size_t bytes, void **to)
{
    ech_status status;
    TRY(echi_allocate(ctx, bytes, "cuDSS", to));
    TRY(ctx->backend->copy(ctx, *to, from, bytes));
done:
    return status;
}

static ech_status put_matrix(ech_ctx *ctx, struct state *s, const struct echi_csc *a,
                             const double *values)
{
    struct rows r = { .wide = false };
    ech_status status;
    TRY(make_rows(ctx, a, values, &r));
    s->offsets_bytes = (a->n + 1) * (r.wide ? 8 : 4);
    s->columns_bytes = (a->nnz ? a->nnz : 1) * sizeof *r.columns;
    s->values_bytes = (a->nnz ? a->nnz : 1) * sizeof *r.values;
    TRY(put(ctx, r.offsets, s->offsets_bytes, &s->offsets));
    TRY(put(ctx, r.columns, s->columns_bytes, &s->columns));
    TRY(put(ctx, r.values, s->values_bytes, &s->values));
    TRY(echi_allocate(ctx, a->n * sizeof(double), "cuDSS", &s->b));
    TRY(echi_allocate(ctx, a->n * sizeof(double), "cuDSS", &s->x));
    TRY(check(ctx,
              cudss.create_csr(&s->matrix, (int64_t)a->n, (int64_t)a->n, (int64_t)a->nnz,
                               s->offsets, NULL, s->columns, s->values, r.wide ? R_64I : R_32I,
                               R_32I, R_64F, GENERAL, FULL, BASE_ZERO),
              "cudssMatrixCreateCsr"));
done:
    rows_free(&r);
    return status;
}

/* ---- Factorization and solution ---- */

static ech_status start(ech_ctx *ctx, struct state *s)
{
    const int64_t n = (int64_t)s->n;
    ech_status status;
    TRY(check(ctx, cudss.create(&s->handle), "cudssCreate"));
    TRY(check(ctx, cudss.set_stream(s->handle, echi_cuda_stream(ctx)), "cudssSetStream"));
    TRY(check(ctx, cudss.config_create(&s->config), "cudssConfigCreate"));
    TRY(check(ctx, cudss.data_create(s->handle, &s->data), "cudssDataCreate"));
    TRY(check(ctx, cudss.create_dense(&s->solution, n, 1, n, s->x, R_64F, COLUMN_MAJOR),
              "cudssMatrixCreateDn"));
    TRY(check(ctx, cudss.create_dense(&s->rhs, n, 1, n, s->b, R_64F, COLUMN_MAJOR),
              "cudssMatrixCreateDn"));
done:
    return status;
}

static ech_status execute(ech_ctx *ctx, struct state *s, int phase, const char *what)
{
    return check(
        ctx, cudss.execute(s->handle, phase, s->config, s->data, s->matrix, s->solution, s->rhs),
        what);
}

/* Reads what cuDSS reports about the factors. */
static ech_status inspect(ech_ctx *ctx, struct state *s, const char *other,
                          struct echi_sparse_outcome *outcome)
{
    int info = 0, pivots = 0;
    int64_t nnz = 0;
    size_t written;
    ech_status status;
    TRY(ctx->backend->sync(ctx));
    TRY(check(ctx, cudss.data_get(s->handle, s->data, DATA_INFO, &info, sizeof info, &written),
              "cudssDataGet"));
    TRY(check(ctx,
              cudss.data_get(s->handle, s->data, DATA_NPIVOTS, &pivots, sizeof pivots, &written),
              "cudssDataGet"));
    if (cudss.data_get(s->handle, s->data, DATA_LU_NNZ, &nnz, sizeof nnz, &written) == 0 && nnz > 0)
        outcome->factor_nnz = (uint64_t)nnz;
    if (other && (info || pivots)) {
        outcome->refused = true;
    } else if (info) {
        outcome->status = ECH_DIRECT_STATUS_SINGULAR;
        outcome->failed_index = UINT64_MAX;
    }
done:
    return status;
}

static ech_status factor(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                         const char *other, void **state, struct echi_sparse_outcome *outcome)
{
    struct state *s = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    if (a->n > INT32_MAX)
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "a has %zu rows: cuDSS needs less than 2^31", a->n);
    s = calloc(1, sizeof *s);
    if (!s) FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the factors");
    s->n = a->n;
    TRY(put_matrix(ctx, s, a, values));
    TRY(start(ctx, s));
    TRY(execute(ctx, s, PHASE_ANALYSIS, "cudssExecute(analysis)"));
    TRY(execute(ctx, s, PHASE_FACTORIZATION, "cudssExecute(factorization)"));
    TRY(inspect(ctx, s, other, outcome));
    if (!outcome->refused && outcome->status == ECH_DIRECT_STATUS_SOLVED) {
        *state = s;
        s = NULL;
    }
done:
    release(ctx, s);
    echi_cuda_leave(ctx);
    return status;
}

static ech_status solve(ech_ctx *ctx, void *state, bool transpose, double *x)
{
    struct state *s = state;
    const int mode = transpose; /* 0: A x = b, 1: A^T x = b */
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    if (s->transposed != transpose)
        TRY(check(ctx, cudss.config_set(s->config, CONFIG_SOLVE_MODE, &mode, sizeof mode),
                  "cudssConfigSet(solve mode)"));
    s->transposed = transpose;
    TRY(ctx->backend->copy(ctx, s->b, x, s->n * sizeof *x));
    TRY(execute(ctx, s, PHASE_SOLVE, "cudssExecute(solve)"));
    TRY(ctx->backend->copy(ctx, x, s->x, s->n * sizeof *x));
done:
    echi_cuda_leave(ctx);
    return status;
}

static const char *const files[ECHI_SPARSE_NAMES] = { "libcudss.so.1",
                                                      "/usr/local/cuda/lib64/libcudss.so.1" };

const struct echi_sparse_library echi_sparse_cudss = { .name = "cudss",
                                                       .title = "cuDSS",
                                                       .packages = "NVIDIA cuDSS 1 (PyPI: "
                                                                   "nvidia-cudss-cu13)",
                                                       .files = files,
                                                       .take = take,
                                                       .factor = factor,
                                                       .solve = solve,
                                                       .release = release };
