/*
 * cpu/blas.c - a library with the C interface of the BLAS, opened at run time.
 *
 * The environment variable ECHELON_BLAS names one, or says "none".  Else OpenBLAS is looked for,
 * then MKL, BLIS, and what the system calls its BLAS.  Not every library is worth it: the reference
 * implementation multiplies one number at a time, and OpenBLAS, where a virtual machine shows it a
 * processor that it does not know, takes kernels of long ago.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "blas.h"
#include "cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

static struct echi_blas found;
static bool is_found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A function's address into a field of such a type: dlsym() gives an object pointer, and POSIX
 * promises that the bits fit. */
static bool find(void *library, const char *name, void *field)
{
    void *symbol = dlsym(library, name);
    if (symbol) memcpy(field, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* OpenBLAS's kernels that have no vectors of this machine. */
static bool is_old(const char *core)
{
    static const char *const old[] = { "Prescott",  "Core2",   "Katmai",     "Coppermine",
                                       "Northwood", "Banias",  "Atom",       "Athlon",
                                       "Opteron",   "Penryn",  "Dunnington", "Nehalem",
                                       "Barcelona", "Bobcat",  "Nano",       "Opteron_SSE3",
                                       "Generic",   "generic", "Unknown" };
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strcmp(core, old[i]) == 0) return true;
    return false;
}

static void look_at_openblas(void *library, const char *name)
{
    const char *(*corename)(void) = NULL;
    const char *core = "";
    find(library, "openblas_set_num_threads", &found.set_threads);
    find(library, "openblas_get_num_threads", &found.get_threads);
    if (find(library, "openblas_get_corename", &corename)) core = corename();
    found.fast = !(is_old(core) && echi_cpu_isa() != ECHI_PORTABLE);
    if (found.fast)
        snprintf(found.what, sizeof found.what, "OpenBLAS, kernels for %s (%s)", core, name);
    else
        snprintf(found.what, sizeof found.what,
                 "OpenBLAS (%s), which takes this machine for a %s: OPENBLAS_CORETYPE names "
                 "another",
                 name, core);
}

/* MKL and BLIS choose kernels as they should. */
static void look_at(void *library, const char *name, bool named)
{
    void *symbol;
    found.set_threads = NULL;
    found.get_threads = NULL;
    if (dlsym(library, "openblas_get_config")) {
        look_at_openblas(library, name);
        return;
    }
    const char *kind = find(library, "MKL_Get_Max_Threads", &symbol) ? "MKL"
                       : find(library, "bli_init", &symbol)          ? "BLIS"
                                                                     : NULL;
    found.fast = kind || named;
    snprintf(found.what, sizeof found.what, "%s (%s)%s", kind ? kind : "a BLAS", name,
             found.fast ? "" : ", which may be the reference implementation");
}

static bool open_one(const char *name, bool named)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: it may have threads */
    if (!library) return false;
    if (find(library, "cblas_sgemm", &found.sgemm) && find(library, "cblas_dgemm", &found.dgemm)) {
        look_at(library, name, named);
        return true;
    }
    dlclose(library);
    return false;
}

static void look(void)
{
    static const char *const names[] = { "libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4",
                                         "libcblas.so.3", "libblas.so.3" };
    const char *named = getenv("ECHELON_BLAS");
    if (named && *named) {
        is_found = strcmp(named, "none") != 0 && open_one(named, true);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !is_found; i++)
        is_found = open_one(names[i], false);
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
    const bool told = threads && blas->set_threads && blas->get_threads;
    const int before = told ? blas->get_threads() : 0;
    if (told) blas->set_threads(threads);
    for (size_t i = 0; i < p->count; i++)
        multiply_one(blas, p, echi_matmul_at(p, p->a, p->a_step, p->dtype, i),
                     echi_matmul_at(p, p->b, p->b_step, p->dtype, i),
                     (void *)(uintptr_t)echi_matmul_at(p, p->c, p->c_step, p->dtype, i));
    if (told) blas->set_threads(before);
}
