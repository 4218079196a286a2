/*
 * test_sparse_direct_memory.c - each allocation on the host fails once during a sparse direct
 * solve, also those of the library: the call returns ECH_ERR_MEMORY, and the next call succeeds.
 *
 * SuperLU and MUMPS are left out: SuperLU ends the process, and MUMPS allocates in Fortran.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sparse_direct_case.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__) && !defined(TEST_SANITIZED)

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *pointer, size_t bytes);

static atomic_int left = -1; /* allocations that succeed before one fails; -1: none fails */

static bool fails(void)
{
    int now = atomic_load(&left);
    if (now < 0) return false;
    while (!atomic_compare_exchange_weak(&left, &now, now - 1))
        if (now < 0) return false;
    return now == 0;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

__attribute__((visibility("default"))) void *realloc(void *pointer, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(pointer, bytes);
}

enum { MOST = 300 };

static void run_failures(ech_ctx *ctx, const char *algorithm)
{
    if (!test_begin("memory(%s)", algorithm)) return;
    struct direct_csr s = direct_csr_make("plant", 90, 1);
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
    const ech_sparse_direct_options o = { .size = sizeof o,
                                          .algorithm = algorithm,
                                          .estimate_condition = 1 };
    ech_sparse_direct_report report = { .size = sizeof report };
    double *x = calloc(s.n, sizeof *x);
    int failed = 0;
    ech_status status = ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report);
    if (status == ECH_ERR_UNSUPPORTED) {
        test_skip("%s", ech_error(ctx));
        goto done;
    }
    CHECK_STATUS(status, ECH_OK);
    for (int k = 0; k < MOST; k++) {
        atomic_store(&left, k);
        status = ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report);
        const bool none = atomic_exchange(&left, -1) >= 0;
        if (none) break;        /* fewer than k allocations */
        if (status == ECH_OK) { /* the library can do without it */
            CHECK(report.status == ECH_DIRECT_STATUS_SOLVED);
            CHECK(direct_csr_error(&s, false, ECH_F64, s.b, x) < 0x1p-52);
            continue;
        }
        failed++;
        if (status != ECH_ERR_MEMORY || !strstr(ech_error(ctx), "memory"))
            test_fail(__FILE__, __LINE__, "allocation %d: status %d, message \"%s\"", k,
                      (int)status, ech_error(ctx));
    }
    CHECK(failed >= 10);
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_OK);
    CHECK(direct_csr_error(&s, false, ECH_F64, s.b, x) < 0x1p-52);
done:
    free(x);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

int main(int argc, char **argv)
{
    ech_ctx *ctx;
    test_main(argc, argv);
    if (ech_open(&ctx, "cpu") != ECH_OK) return 1;
    run_failures(ctx, "klu");
    run_failures(ctx, "dense");
    ech_close(ctx);
    return test_finish();
}

#else

int main(int argc, char **argv)
{
    test_main(argc, argv);
    if (test_begin("memory")) {
        test_skip("needs glibc, and no sanitizer");
        test_end();
    }
    return test_finish();
}

#endif
