/*
 * fake_libcudss.c - a library with cuDSS's interface for the memory of the SIMT emulator: it checks
 * the arguments, factors a dense copy of the matrix, and fails on request.
 *
 * The environment variable FAKE_SOLVER selects its behaviour:
 *   version=0     the major version; default: 1
 *   create=2      cudssCreate() fails with that status; likewise analysis=, factor=, solve=,
 *                 matrix=, mode= (cudssConfigSet), get= (cudssDataGet)
 *   info=1        a pivot is zero; pivots=3: so many pivots were replaced
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 2, INVALID_VALUE = 3 };
enum { ANALYSIS = 3, FACTORIZATION = 4, SOLVE = 1008 };
enum { R_64F = 1, R_32I = 10, R_64I = 24 };

struct matrix {
    int64_t n, nnz;
    const void *offsets;
    const int32_t *columns;
    double *values; /* of a dense matrix, or of the entries */
    int wide, dense;
};

struct data {
    int64_t n;
    double *lu; /* [n][n] */
    int64_t *pivots;
    int analysed;
};

struct config {
    int mode;
};

static int setting(const char *name, int otherwise)
{
    const char *text = getenv("FAKE_SOLVER");
    const size_t length = strlen(name);
    if (!text || strncmp(text, name, length) != 0 || text[length] != '=') return otherwise;
    return atoi(text + length + 1);
}

/* Declared here, because the library has no header. */
EXPORT int cudssGetProperty(int which, int *value);
EXPORT int cudssCreate(void **handle);
EXPORT int cudssDestroy(void *handle);
EXPORT int cudssSetStream(void *handle, void *stream);
EXPORT int cudssConfigCreate(struct config **config);
EXPORT int cudssConfigDestroy(struct config *config);
EXPORT int cudssConfigSet(struct config *config, int parameter, const void *value, size_t bytes);
EXPORT int cudssDataCreate(void *handle, struct data **data);
EXPORT int cudssDataDestroy(void *handle, struct data *data);
EXPORT int cudssDataGet(void *handle, const struct data *data, int parameter, void *value,
                        size_t bytes, size_t *written);
EXPORT int cudssExecute(void *handle, int phase, const struct config *config, struct data *data,
                        const struct matrix *a, struct matrix *solution, const struct matrix *rhs);
EXPORT int cudssMatrixCreateDn(struct matrix **matrix, int64_t rows, int64_t cols, int64_t stride,
                               void *values, int type, int layout);
EXPORT int cudssMatrixCreateCsr(struct matrix **matrix, int64_t rows, int64_t cols, int64_t nnz,
                                const void *begin, const void *end, const void *columns,
                                void *values, int offset_type, int index_type, int value_type,
                                int kind, int view, int base);
EXPORT int cudssMatrixDestroy(struct matrix *matrix);

int cudssGetProperty(int which, int *value)
{
    *value = which == 0 ? setting("version", 1) : 0;
    return SUCCESS;
}

int cudssCreate(void **handle)
{
    *handle = calloc(1, 8);
    return setting("create", *handle ? SUCCESS : ALLOC_FAILED);
}

int cudssDestroy(void *handle)
{
    free(handle);
    return SUCCESS;
}

int cudssSetStream(void *handle, void *stream)
{
    (void)stream;
    return handle ? SUCCESS : NOT_INITIALIZED;
}

int cudssConfigCreate(struct config **config)
{
    *config = calloc(1, sizeof **config);
    return *config ? SUCCESS : ALLOC_FAILED;
}

int cudssConfigDestroy(struct config *config)
{
    free(config);
    return SUCCESS;
}

int cudssConfigSet(struct config *config, int parameter, const void *value, size_t bytes)
{
    if (parameter != 4 || bytes != sizeof config->mode) return INVALID_VALUE;
    memcpy(&config->mode, value, bytes);
    return setting("mode", SUCCESS);
}

int cudssDataCreate(void *handle, struct data **data)
{
    *data = calloc(1, sizeof **data);
    return handle && *data ? SUCCESS : NOT_INITIALIZED;
}

int cudssDataDestroy(void *handle, struct data *data)
{
    (void)handle;
    free(data->lu);
    free(data->pivots);
    free(data);
    return SUCCESS;
}

int cudssDataGet(void *handle, const struct data *data, int parameter, void *value, size_t bytes,
                 size_t *written)
{
    const int info = setting("info", 0), pivots = setting("pivots", 0);
    const int64_t nnz = data->n * data->n;
    (void)handle;
    *written = bytes;
    if (bytes != (parameter == 1 ? sizeof nnz : sizeof info)) return INVALID_VALUE;
    memcpy(value,
           parameter == 0   ? (const void *)&info
           : parameter == 1 ? (const void *)&nnz
                            : &pivots,
           bytes);
    return setting("get", SUCCESS);
}

static int64_t offset(const struct matrix *a, int64_t i)
{
    return a->wide ? ((const int64_t *)a->offsets)[i] : ((const int32_t *)a->offsets)[i];
}

/* Gaussian elimination with row exchanges. */
static int factor(struct data *d, const struct matrix *a)
{
    const int64_t n = a->n;
    d->n = n;
    d->lu = calloc((size_t)(n * n), sizeof *d->lu);
    d->pivots = calloc((size_t)n, sizeof *d->pivots);
    if (!d->lu || !d->pivots) return ALLOC_FAILED;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = offset(a, i); e < offset(a, i + 1); e++)
            d->lu[i * n + a->columns[e]] += a->values[e];
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k; i < n; i++)
            if (fabs(d->lu[i * n + k]) > fabs(d->lu[best * n + k])) best = i;
        d->pivots[k] = best;
        for (int64_t j = 0; j < n && best != k; j++) {
            const double other = d->lu[k * n + j];
            d->lu[k * n + j] = d->lu[best * n + j];
            d->lu[best * n + j] = other;
        }
        for (int64_t i = k + 1; i < n; i++) {
            const double ratio = d->lu[i * n + k] /= d->lu[k * n + k];
            for (int64_t j = k + 1; j < n && ratio != 0; j++)
                d->lu[i * n + j] -= ratio * d->lu[k * n + j];
        }
    }
    return setting("factor", SUCCESS);
}

static void swap(double *x, int64_t i, int64_t k)
{
    const double other = x[i];
    x[i] = x[k];
    x[k] = other;
}

static void solve(const struct data *d, double *x)
{
    const int64_t n = d->n;
    for (int64_t k = 0; k < n; k++) swap(x, k, d->pivots[k]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) x[i] -= d->lu[i * n + j] * x[j];
    for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; j++) x[i] -= d->lu[i * n + j] * x[j];
        x[i] /= d->lu[i * n + i];
    }
}

static void solve_transposed(const struct data *d, double *x)
{
    const int64_t n = d->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) x[i] -= d->lu[j * n + i] * x[j];
        x[i] /= d->lu[i * n + i];
    }
    for (int64_t i = n; i-- > 0;)
        for (int64_t j = i + 1; j < n; j++) x[i] -= d->lu[j * n + i] * x[j];
    for (int64_t k = n; k-- > 0;) swap(x, k, d->pivots[k]);
}

int cudssExecute(void *handle, int phase, const struct config *config, struct data *data,
                 const struct matrix *a, struct matrix *solution, const struct matrix *rhs)
{
    if (!handle || !config || a->dense || !solution->dense || !rhs->dense || solution->n != a->n ||
        rhs->n != a->n)
        return INVALID_VALUE;
    if (phase == ANALYSIS) {
        data->analysed = 1;
        return setting("analysis", SUCCESS);
    }
    if (phase == FACTORIZATION && data->analysed) return factor(data, a);
    if (phase != SOLVE || !data->lu) return INVALID_VALUE;
    memcpy(solution->values, rhs->values, (size_t)a->n * sizeof(double));
    if (config->mode)
        solve_transposed(data, solution->values);
    else
        solve(data, solution->values);
    return setting("solve", SUCCESS);
}

int cudssMatrixCreateDn(struct matrix **matrix, int64_t rows, int64_t cols, int64_t stride,
                        void *values, int type, int layout)
{
    *matrix = calloc(1, sizeof **matrix);
    if (!*matrix) return ALLOC_FAILED;
    **matrix = (struct matrix){ .n = rows, .values = values, .dense = 1 };
    return cols == 1 && stride == rows && type == R_64F && layout == 0 && values ? SUCCESS
                                                                                 : INVALID_VALUE;
}

int cudssMatrixCreateCsr(struct matrix **matrix, int64_t rows, int64_t cols, int64_t nnz,
                         const void *begin, const void *end, const void *columns, void *values,
                         int offset_type, int index_type, int value_type, int kind, int view,
                         int base)
{
    *matrix = calloc(1, sizeof **matrix);
    if (!*matrix) return ALLOC_FAILED;
    **matrix = (struct matrix){ .n = rows,
                                .nnz = nnz,
                                .offsets = begin,
                                .columns = columns,
                                .values = values,
                                .wide = offset_type == R_64I };
    const int good = rows == cols && !end && index_type == R_32I && value_type == R_64F &&
                     (offset_type == R_32I || offset_type == R_64I) && !kind && !view && !base &&
                     offset(*matrix, 0) == 0 && offset(*matrix, rows) == nnz;
    return good ? setting("matrix", SUCCESS) : INVALID_VALUE;
}

int cudssMatrixDestroy(struct matrix *matrix)
{
    free(matrix);
    return SUCCESS;
}
