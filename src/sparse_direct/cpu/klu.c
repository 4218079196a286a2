/*
 * sparse_direct/cpu/klu.c - KLU of SuiteSparse (T. Davis), opened at run time: the interface with
 * 64-bit indices.
 *
 * KLU permutes a matrix to block triangular form, orders each diagonal block, and factors it column
 * by column. This is fast for matrices with little fill. It estimates the operations first. If they
 * are more than a number per entry of L and U (tuning.h), cuDSS and MUMPS, which work with dense
 * blocks, are faster, so KLU refuses such a matrix if one of them is the next choice.
 *
 * The structures contain the fields of KLU's documented interface up to the last one that is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vendor.h"
#include "sparse_direct/sparse_direct.h"
#include "sparse_direct/tuning.h"

#include <stdlib.h>
#include <string.h>

enum { KLU_SINGULAR = 1, KLU_OUT_OF_MEMORY = -2, KLU_TOO_LARGE = -4 };

struct klu_common {
    double tol, memgrow, initmem_amd, initmem, maxwork;
    int64_t btf, ordering, scale;
    void *user_order, *user_data;
    int64_t halt_if_singular;
    int64_t status, nrealloc, structural_rank, numerical_rank, singular_col, noffdiag;
    double flops, rcond, condest, rgrowth, work;
    size_t memusage, mempeak;
    char more[256]; /* for fields of other versions */
};

struct klu_symbolic {
    double symmetry, est_flops, lnz, unz;
};

struct klu_numeric {
    int64_t n, nblocks, lnz, unz;
};

static struct {
    int64_t (*defaults)(struct klu_common *common);
    struct klu_symbolic *(*analyze)(int64_t n, int64_t *offsets, int64_t *rows,
                                    struct klu_common *common);
    struct klu_numeric *(*factor)(int64_t *offsets, int64_t *rows, double *values,
                                  struct klu_symbolic *symbolic, struct klu_common *common);
    int64_t (*solve)(struct klu_symbolic *symbolic, struct klu_numeric *numeric, int64_t stride,
                     int64_t count, double *x, struct klu_common *common);
    int64_t (*tsolve)(struct klu_symbolic *symbolic, struct klu_numeric *numeric, int64_t stride,
                      int64_t count, double *x, struct klu_common *common);
    int64_t (*free_symbolic)(struct klu_symbolic **symbolic, struct klu_common *common);
    int64_t (*free_numeric)(struct klu_numeric **numeric, struct klu_common *common);
} klu;

struct state {
    struct klu_common common;
    struct klu_symbolic *symbolic;
    struct klu_numeric *numeric;
    int64_t n;
};

static bool take(void *library, const char **why)
{
    (void)why;
    return echi_vendor_find(library, "klu_l_defaults", &klu.defaults) &&
           echi_vendor_find(library, "klu_l_analyze", &klu.analyze) &&
           echi_vendor_find(library, "klu_l_factor", &klu.factor) &&
           echi_vendor_find(library, "klu_l_solve", &klu.solve) &&
           echi_vendor_find(library, "klu_l_tsolve", &klu.tsolve) &&
           echi_vendor_find(library, "klu_l_free_symbolic", &klu.free_symbolic) &&
           echi_vendor_find(library, "klu_l_free_numeric", &klu.free_numeric);
}

static void release(ech_ctx *ctx, void *at)
{
    struct state *s = at;
    (void)ctx;
    if (!s) return;
    if (s->numeric) klu.free_numeric(&s->numeric, &s->common);
    if (s->symbolic) klu.free_symbolic(&s->symbolic, &s->common);
    free(s);
}

static ech_status failed(ech_ctx *ctx, const struct state *s, const char *call)
{
    const int64_t code = s->common.status;
    if (code == KLU_OUT_OF_MEMORY)
        return echi_fail(ctx, ECH_ERR_MEMORY, "KLU: out of memory for the factors");
    if (code == KLU_TOO_LARGE)
        return echi_fail(ctx, ECH_ERR_MEMORY, "KLU: the size of the factors overflows an integer");
    return echi_fail(ctx, ECH_ERR_DEVICE, "%s of KLU failed with status %lld", call,
                     (long long)code);
}

static bool has_much_fill(const struct klu_symbolic *s, const char *other)
{
    const bool gpu = strcmp(other, "cudss") == 0;
    const double little = gpu ? ECHI_KLU_LITTLE_FLOPS_CUDSS : ECHI_KLU_LITTLE_FLOPS_MUMPS;
    const double ratio = gpu ? ECHI_KLU_FLOPS_PER_ENTRY_CUDSS : ECHI_KLU_FLOPS_PER_ENTRY_MUMPS;
    return s->est_flops > little && s->lnz + s->unz > 0 && s->est_flops > ratio * (s->lnz + s->unz);
}

static ech_status factor(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                         const char *other, void **state, struct echi_sparse_outcome *outcome)
{
    double *scaled = (double *)(uintptr_t)values; /* not modified */
    struct state *s = calloc(1, sizeof *s);
    ech_status status = ECH_OK;
    if (!s) FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the factors");
    if (!klu.defaults(&s->common)) FAIL(ctx, ECH_ERR_DEVICE, "klu_l_defaults of KLU failed");
    s->common.scale = 0; /* a is scaled */
    s->n = (int64_t)a->n;
    s->symbolic = klu.analyze(s->n, a->offsets, a->rows, &s->common);
    if (!s->symbolic) {
        status = failed(ctx, s, "klu_l_analyze");
        goto done;
    }
    if (other && has_much_fill(s->symbolic, other)) {
        outcome->refused = true;
        goto done;
    }
    s->numeric = klu.factor(a->offsets, a->rows, scaled, s->symbolic, &s->common);
    if (s->common.status == KLU_SINGULAR) {
        const int64_t column = s->common.singular_col;
        outcome->status = ECH_DIRECT_STATUS_SINGULAR;
        outcome->failed_index = column >= 0 && column < s->n ? (uint64_t)column : UINT64_MAX;
        goto done;
    }
    if (!s->numeric) {
        status = failed(ctx, s, "klu_l_factor");
        goto done;
    }
    outcome->factor_nnz = (uint64_t)(s->numeric->lnz + s->numeric->unz) - a->n;
    *state = s;
    return ECH_OK;
done:
    release(ctx, s);
    return status;
}

static ech_status solve(ech_ctx *ctx, void *state, bool transpose, double *x)
{
    struct state *s = state;
    const int64_t good =
        (transpose ? klu.tsolve : klu.solve)(s->symbolic, s->numeric, s->n, 1, x, &s->common);
    return good ? ECH_OK : failed(ctx, s, transpose ? "klu_l_tsolve" : "klu_l_solve");
}

static const char *const files[ECHI_SPARSE_NAMES] = { "libklu.so.1", "libklu.so.2" };

const struct echi_sparse_library echi_sparse_klu = { .name = "klu",
                                                     .title = "KLU",
                                                     .packages = "libklu1 or libklu2 (Debian), "
                                                                 "suitesparse (conda)",
                                                     .files = files,
                                                     .take = take,
                                                     .factor = factor,
                                                     .solve = solve,
                                                     .release = release };
