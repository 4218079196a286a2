/*
 * cpu/blas.c - a library with the C interface of the BLAS, opened at run time.
 *
 * The environment variable ECHELON_BLAS names a library, or is "none". By default OpenBLAS, MKL,
 * BLIS and the system's BLAS are tried, in this order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "cpu/blas.h"

#include <pthread.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

static struct echi_blas found;
static bool is_found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool take(void *library)
{
    return echi_vendor_find(library, "cblas_sgemm", &found.sgemm) &&
           echi_vendor_find(library, "cblas_dgemm", &found.dgemm);
}

static void look(void)
{
    static const char *const names[] = { "libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4",
                                         "libcblas.so.3", "libblas.so.3" };
    is_found = echi_vendor_open(&found.vendor, "ECHELON_BLAS", names, sizeof names / sizeof *names,
                                "a BLAS", take);
}

const struct echi_blas *echi_blas(void)
{
    pthread_once(&once, look);
    return is_found ? &found : NULL;
}

static void multiply_one(const struct echi_blas *blas, const struct echi_matmul *p, const void *a,
                         const void *b, void *c)
{
    const int ta = p->a_turned ? TRANSPOSED : AS_IT_IS, tb = p->b_turned ? TRANSPOSED : AS_IT_IS;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int a_stride = (int)p->a_stride, b_stride = (int)p->b_stride, c_stride = (int)p->c_stride;
    if (p->dtype == ECH_F64)
        blas->dgemm(ROW_MAJOR, ta, tb, m, n, k, p->alpha, a, a_stride, b, b_stride, p->beta, c,
                    c_stride);
    else
        blas->sgemm(ROW_MAJOR, ta, tb, m, n, k, (float)p->alpha, a, a_stride, b, b_stride,
                    (float)p->beta, c, c_stride);
}

void echi_blas_multiply(const struct echi_blas *blas, const struct echi_matmul *p, int threads)
{
    const int own = echi_vendor_limit(&blas->vendor, threads);
    for (size_t i = 0; i < p->count; i++)
        multiply_one(blas, p, echi_matmul_at(p, p->a, p->a_step, p->dtype, i),
                     echi_matmul_at(p, p->b, p->b_step, p->dtype, i),
                     (void *)(uintptr_t)echi_matmul_at(p, p->c, p->c_step, p->dtype, i));
    echi_vendor_unlimit(&blas->vendor, threads, own);
}
