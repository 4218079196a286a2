/*
 * cpu/lapack.c - a library with LAPACK's Fortran interface, opened at run time.
 *
 * The environment variable ECHELON_LAPACK names one, or says "none".  Else OpenBLAS is looked for,
 * then MKL, and what the system calls its LAPACK, which is chosen by itself only if it is one of
 * those: the reference implementation stands on whatever BLAS there is.
 *
 * LAPACK has matrices column by column.  What lies row by row is the transpose: that is all the
 * same to Cholesky, whose lower half becomes the upper; LU and QR work on a transposed copy.
 *
 *     workspace   [ copy, n columns of m | pivots | what geqrf asks for ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "lapack.h"
#include "blas.h"
#include "cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QR_BLOCK = 64 /* columns that geqrf may work on at once */ };

typedef void getrf(const int *m, const int *n, void *a, const int *stride, int *pivots, int *info);
typedef void potrf(const char *half, const int *n, void *a, const int *stride, int *info,
                   size_t half_length);
typedef void geqrf(const int *m, const int *n, void *a, const int *stride, void *tau, void *work,
                   const int *work_elements, int *info);

static struct {
    struct echi_lapack found;
    getrf *getrf[2]; /* f32, f64 */
    potrf *potrf[2];
    geqrf *geqrf[2];
    void (*set_threads)(int threads);
    int (*get_threads)(void);
} lapack;
static bool is_found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym() gives an object pointer; POSIX promises that the bits fit. */
static bool find(void *library, const char *name, void *field)
{
    void *symbol = dlsym(library, name);
    if (symbol) memcpy(field, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* OpenBLAS may have taken this machine for an old one, which blas.c knows. */
static void look_at(void *library, const char *name, bool named)
{
    const struct echi_blas *blas = echi_blas();
    void *symbol;
    const bool is_openblas = dlsym(library, "openblas_get_config") != NULL;
    const bool is_mkl = find(library, "MKL_Get_Max_Threads", &symbol);
    lapack.found.fast = named || is_mkl || (is_openblas && blas && blas->fast);
    snprintf(lapack.found.what, sizeof lapack.found.what, "%s (%s)",
             is_openblas ? "OpenBLAS"
             : is_mkl    ? "MKL"
                         : "a LAPACK, which may be the reference implementation",
             name);
    if (!find(library, "openblas_set_num_threads", &lapack.set_threads) ||
        !find(library, "openblas_get_num_threads", &lapack.get_threads))
        lapack.set_threads = NULL;
}

static bool open_one(const char *name, bool named)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: it may have threads */
    if (!library) return false;
    if (find(library, "sgetrf_", &lapack.getrf[0]) && find(library, "dgetrf_", &lapack.getrf[1]) &&
        find(library, "spotrf_", &lapack.potrf[0]) && find(library, "dpotrf_", &lapack.potrf[1]) &&
        find(library, "sgeqrf_", &lapack.geqrf[0]) && find(library, "dgeqrf_", &lapack.geqrf[1])) {
        look_at(library, name, named);
        return true;
    }
    dlclose(library);
    return false;
}

static void look(void)
{
    static const char *const names[] = { "libopenblas.so.0", "libmkl_rt.so.2", "liblapack.so.3" };
    const char *named = getenv("ECHELON_LAPACK");
    if (named && *named) {
        is_found = strcmp(named, "none") != 0 && open_one(named, true);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !is_found; i++)
        is_found = open_one(names[i], false);
}

const struct echi_lapack *echi_lapack(void)
{
    pthread_once(&once, look);
    return is_found ? &lapack.found : NULL;
}

/* ---- Factors ---- */

struct parts {
    char *copy, *more;
    int *pivots;
};

static ech_status lay_out(const struct echi_vendor_factor *p, void *work, struct parts *parts,
                          size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    const size_t element = ech_dtype_bytes(p->dtype);
    const bool copied = p->kind != ECH_CHOLESKY;
    parts->copy = echi_part(&layout, copied ? p->m : 0, p->n * element);
    parts->pivots = echi_part(&layout, p->kind == ECH_LU ? p->n : 0, sizeof(int));
    parts->more = echi_part(&layout, p->kind == ECH_QR ? p->n : 0, QR_BLOCK * element);
    *bytes = layout.bytes;
    return layout.overflow ? echi_fail(NULL, ECH_ERR_MEMORY,
                                       "the workspace of LAPACK is larger than any memory")
                           : ECH_OK;
}

ech_status echi_lapack_workspace(const struct echi_vendor_factor *request, size_t *bytes)
{
    struct parts parts;
    return lay_out(request, NULL, &parts, bytes);
}

/* to [j][i] = from [i][j], in squares that stay in the cache. */
static void transpose(char *to, size_t to_stride, const char *from, size_t from_stride, size_t rows,
                      size_t cols, size_t element)
{
    enum { SIDE = 16 };
    for (size_t i0 = 0; i0 < rows; i0 += SIDE)
        for (size_t j0 = 0; j0 < cols; j0 += SIDE)
            for (size_t j = j0; j < echi_min(j0 + SIDE, cols); j++)
                for (size_t i = i0; i < echi_min(i0 + SIDE, rows); i++)
                    if (element == 8)
                        memcpy(to + (j * to_stride + i) * 8, from + (i * from_stride + j) * 8, 8);
                    else
                        memcpy(to + (j * to_stride + i) * 4, from + (i * from_stride + j) * 4, 4);
}

static int factor(const struct echi_vendor_factor *p, const struct parts *parts)
{
    const int which = p->dtype == ECH_F64, m = (int)p->m, n = (int)p->n, stride = (int)p->stride;
    const size_t element = ech_dtype_bytes(p->dtype);
    const int more = n * QR_BLOCK;
    int info = 0;
    if (p->kind == ECH_CHOLESKY) {
        lapack.potrf[which]("U", &n, p->c, &stride, &info, 1);
        return info;
    }
    transpose(parts->copy, p->m, p->c, p->stride, p->m, p->n, element);
    if (p->kind == ECH_LU) {
        lapack.getrf[which](&m, &n, parts->copy, &m, parts->pivots, &info);
        for (size_t i = 0; i < p->n; i++) p->pivots[i] = (uint64_t)parts->pivots[i] - 1;
    } else {
        lapack.geqrf[which](&m, &n, parts->copy, &m, p->tau, parts->more, &more, &info);
    }
    transpose(p->c, p->stride, parts->copy, p->m, p->n, p->m, element);
    return info;
}

void echi_lapack_factor(const struct echi_vendor_factor *request, void *work, int threads)
{
    const bool told = threads && lapack.set_threads;
    const int before = told ? lapack.get_threads() : 0;
    struct parts parts;
    size_t bytes;
    lay_out(request, work, &parts, &bytes);
    if (told) lapack.set_threads(threads);
    const int info = factor(request, &parts);
    if (told) lapack.set_threads(before);
    request->scalars->failed = info > 0 ? (uint64_t)info : 0;
}
