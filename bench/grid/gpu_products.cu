/*
 * gpu_products.cu - competitors of the grid: cuBLAS for matrix-vector products, cuSPARSE for sparse
 * ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cublas_v2.h>
#include <cusparse.h>

#include "gpu.h"

int grid_cublas(struct grid_case *c)
{
    static cublasHandle_t handle;
    const double one = 1, zero = 0;
    const float one_f = 1, zero_f = 0;
    if (c->row.op != GRID_MATVEC) return 0;
    if (!handle && cublasCreate(&handle)) return 0;
    cublasSetStream(handle, grid_gpu_stream);
    /* Rows of the matrix are columns in cuBLAS's order. */
    const int rows = (int)c->n_aux, cols = (int)c->cols;
    if (c->row.dtype == ECH_F64)
        return !cublasDgemv(handle, CUBLAS_OP_T, cols, rows, &one, (const double *)c->in, cols,
                            (const double *)c->aux, 1, &zero, (double *)c->out[1], 1);
    return !cublasSgemv(handle, CUBLAS_OP_T, cols, rows, &one_f, (const float *)c->in, cols,
                        (const float *)c->aux, 1, &zero_f, (float *)c->out[1], 1);
}

/* The library analyses the matrix before the first product, as PyTorch's does before each. */
int grid_cusparse(struct grid_case *c)
{
    static cusparseHandle_t handle;
    static cusparseSpMatDescr_t matrix;
    static cusparseDnVecDescr_t x, y;
    static void *work;
    const double one = 1, zero = 0;
    const float one_f = 1, zero_f = 0;
    const bool wide = c->row.dtype == ECH_F64;
    const cudaDataType type = wide ? CUDA_R_64F : CUDA_R_32F;
    const void *alpha = wide ? (const void *)&one : &one_f,
               *beta = wide ? (const void *)&zero : &zero_f;
    if (c->row.op != GRID_SPMV) return 0;
    if (!handle && cusparseCreate(&handle)) return 0;
    if (grid_first_call(2)) {
        if (matrix) {
            cusparseDestroySpMat(matrix);
            cusparseDestroyDnVec(x);
            cusparseDestroyDnVec(y);
        }
        size_t bytes = 0;
        cusparseSetStream(handle, grid_gpu_stream);
        if (cusparseCreateCsr(&matrix, (int64_t)c->n_aux, (int64_t)c->cols, (int64_t)c->row.n,
                              c->aux2, c->aux, c->in, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, type) ||
            cusparseCreateDnVec(&x, (int64_t)c->cols, c->aux + 4 * c->row.n, type) ||
            cusparseCreateDnVec(&y, (int64_t)c->n_aux, c->out[1], type) ||
            cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, matrix, x,
                                    beta, y, type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes))
            return 0;
        work = grid_scratch(SCRATCH_OTHER, bytes + 1);
        if (cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, matrix, x,
                                    beta, y, type, CUSPARSE_SPMV_ALG_DEFAULT, work))
            return 0;
    }
    return !cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, matrix, x, beta, y, type,
                         CUSPARSE_SPMV_ALG_DEFAULT, work);
}
