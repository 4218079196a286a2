/*
 * cpu/lapack.c - a library with LAPACK's Fortran interface, opened at run time.
 *
 * The environment variable ECHELON_LAPACK names a library, or is "none". By default OpenBLAS, MKL
 * and the system's LAPACK are tried, in this order. The system's LAPACK is chosen by default only
 * if it is one of the other two, because the reference implementation is only as fast as the BLAS
 * it calls.
 *
 * LAPACK's matrices are column-major, so a row-major matrix is its transpose. Cholesky can use this
 * directly, with the lower and the upper triangle exchanged; LU and QR work on a transposed copy.
 *
 *     workspace   [ copy, n columns of m | pivots | workspace of geqrf ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "cpu/lapack.h"
#include "cpu/cpu.h"

#include <pthread.h>
#include <string.h>

enum { QR_BLOCK = 64 /* columns that geqrf may process at once */ };

typedef void getrf(const int *m, const int *n, void *a, const int *stride, int *pivots, int *info);
typedef void potrf(const char *half, const int *n, void *a, const int *stride, int *info,
                   size_t half_length);
typedef void geqrf(const int *m, const int *n, void *a, const int *stride, void *tau, void *work,
                   const int *work_elements, int *info);

static struct {
    struct echi_vendor vendor;
    getrf *getrf[2]; /* f32, f64 */
    potrf *potrf[2];
    geqrf *geqrf[2];
} lapack;
static bool is_found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool take(void *library)
{
    return echi_vendor_find(library, "sgetrf_", &lapack.getrf[0]) &&
           echi_vendor_find(library, "dgetrf_", &lapack.getrf[1]) &&
           echi_vendor_find(library, "spotrf_", &lapack.potrf[0]) &&
           echi_vendor_find(library, "dpotrf_", &lapack.potrf[1]) &&
           echi_vendor_find(library, "sgeqrf_", &lapack.geqrf[0]) &&
           echi_vendor_find(library, "dgeqrf_", &lapack.geqrf[1]);
}

static void look(void)
{
    static const char *const names[] = { "libopenblas.so.0", "libmkl_rt.so.2", "liblapack.so.3" };
    is_found = echi_vendor_open(&lapack.vendor, "ECHELON_LAPACK", names,
                                sizeof names / sizeof *names, "a LAPACK", take);
}

const struct echi_vendor *echi_lapack(void)
{
    pthread_once(&once, look);
    return is_found ? &lapack.vendor : NULL;
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
    const bool copied = p->kind != ECH_FACTOR_CHOLESKY;
    parts->copy = echi_part(&layout, copied ? p->m : 0, p->n * element);
    parts->pivots = echi_part(&layout, p->kind == ECH_FACTOR_LU ? p->n : 0, sizeof(int));
    parts->more = echi_part(&layout, p->kind == ECH_FACTOR_QR ? p->n : 0, QR_BLOCK * element);
    *bytes = layout.bytes;
    return layout.overflow
               ? echi_fail(NULL, ECH_ERR_MEMORY, "the size of LAPACK's workspace overflows size_t")
               : ECH_OK;
}

ech_status echi_lapack_workspace(const struct echi_vendor_factor *request, size_t *bytes)
{
    struct parts parts;
    return lay_out(request, NULL, &parts, bytes);
}

/* Sets to[j][i] to from[i][j], in square blocks that fit in the cache. */
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
    if (p->kind == ECH_FACTOR_CHOLESKY) {
        lapack.potrf[which]("U", &n, p->c, &stride, &info, 1);
        return info;
    }
    transpose(parts->copy, p->m, p->c, p->stride, p->m, p->n, element);
    if (p->kind == ECH_FACTOR_LU) {
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
    struct parts parts;
    size_t bytes;
    lay_out(request, work, &parts, &bytes);
    const int own = echi_vendor_limit(&lapack.vendor, threads);
    const int info = factor(request, &parts);
    echi_vendor_unlimit(&lapack.vendor, threads, own);
    request->scalars->failed = info > 0 ? (uint64_t)info : 0;
}
