/*
 * sparse_direct/cpu/superlu.c - SuperLU 5 (X. S. Li and others), opened at run time: the sequential
 * version with 32-bit indices.
 *
 *     get_perm_c, sp_preorder     a column order (COLAMD) that limits the fill
 *     dgstrf                      L U of the ordered matrix, with partial pivoting
 *     dgstrs                      triangular solves
 *
 * SuperLU ends the process if memory for some of its arrays is missing; only a lack of memory for
 * the factors is reported.
 *
 * The structures contain the fields of SuperLU's documented interface; those that only SuperLU
 * accesses are memory with room for other versions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vendor.h"
#include "sparse_direct/sparse_direct.h"

#include <stdlib.h>

enum { SLU_NC = 0, SLU_DN = 6, SLU_D = 1, SLU_GE = 0 }; /* by columns, dense; f64; general */
enum { NO_TRANSPOSE = 0, TRANSPOSE = 1, COLAMD = 3, ENV_PANEL = 1, ENV_RELAX = 2 };

struct slu_matrix {
    int storage, type, kind;
    int rows, cols;
    void *store;
};

struct slu_columns {
    int nnz;
    void *values;
    int *rows, *offsets;
};

struct slu_dense {
    int stride;
    void *values;
};

struct slu_options {
    int fact, equil, col_perm, trans, refine;
    double pivot_threshold;
    char more[512];
};

struct opaque {
    max_align_t bytes[32]; /* 512 bytes */
};

static struct {
    void (*default_options)(struct slu_options *options);
    void (*stat_init)(struct opaque *stat);
    void (*stat_free)(struct opaque *stat);
    void (*get_perm_c)(int ordering, struct slu_matrix *a, int *perm_c);
    void (*preorder)(struct slu_options *options, struct slu_matrix *a, int *perm_c, int *tree,
                     struct slu_matrix *ordered);
    int (*env)(int which);
    void (*gstrf)(struct slu_options *options, struct slu_matrix *a, int relax, int panel,
                  int *tree, void *work, int work_bytes, int *perm_c, int *perm_r,
                  struct slu_matrix *l, struct slu_matrix *u, struct opaque *global,
                  struct opaque *stat, int *info);
    void (*gstrs)(int trans, struct slu_matrix *l, struct slu_matrix *u, int *perm_c, int *perm_r,
                  struct slu_matrix *b, struct opaque *stat, int *info);
    void (*free_ordered)(struct slu_matrix *a);
    void (*free_l)(struct slu_matrix *l);
    void (*free_u)(struct slu_matrix *u);
} slu;

struct state {
    struct slu_matrix l, u;
    bool factored;
    int n, *perm_c, *perm_r;
};

static bool take(void *library, const char **why)
{
    (void)why;
    return echi_vendor_find(library, "set_default_options", &slu.default_options) &&
           echi_vendor_find(library, "StatInit", &slu.stat_init) &&
           echi_vendor_find(library, "StatFree", &slu.stat_free) &&
           echi_vendor_find(library, "get_perm_c", &slu.get_perm_c) &&
           echi_vendor_find(library, "sp_preorder", &slu.preorder) &&
           echi_vendor_find(library, "sp_ienv", &slu.env) &&
           echi_vendor_find(library, "dgstrf", &slu.gstrf) &&
           echi_vendor_find(library, "dgstrs", &slu.gstrs) &&
           echi_vendor_find(library, "Destroy_CompCol_Permuted", &slu.free_ordered) &&
           echi_vendor_find(library, "Destroy_SuperNode_Matrix", &slu.free_l) &&
           echi_vendor_find(library, "Destroy_CompCol_Matrix", &slu.free_u);
}

static void release(ech_ctx *ctx, void *at)
{
    struct state *s = at;
    (void)ctx;
    if (!s) return;
    if (s->factored) {
        slu.free_l(&s->l);
        slu.free_u(&s->u);
    }
    free(s->perm_c);
    free(s->perm_r);
    free(s);
}

/* SuperLU's copy of the indices. */
static int *narrow(const int64_t *from, size_t count)
{
    int *to = malloc((count + 1) * sizeof *to);
    for (size_t i = 0; to && i < count; i++) to[i] = (int)from[i];
    return to;
}

/* The column of a that is column `at` of the ordered matrix. */
static uint64_t column_at(const struct state *s, int at)
{
    for (int j = 0; j < s->n; j++)
        if (s->perm_c[j] == at) return (uint64_t)j;
    return UINT64_MAX;
}

static int do_factor(struct state *s, struct slu_matrix *a, int *tree, uint64_t *nnz)
{
    struct slu_options options;
    struct opaque stat, global;
    struct slu_matrix ordered;
    int info = 0;
    slu.default_options(&options);
    slu.stat_init(&stat);
    slu.get_perm_c(COLAMD, a, s->perm_c);
    slu.preorder(&options, a, s->perm_c, tree, &ordered);
    slu.gstrf(&options, &ordered, slu.env(ENV_RELAX), slu.env(ENV_PANEL), tree, NULL, 0, s->perm_c,
              s->perm_r, &s->l, &s->u, &global, &stat, &info);
    s->factored = info >= 0 && info <= s->n; /* also of a singular matrix */
    if (s->factored)
        *nnz = (uint64_t) * (int *)s->l.store + (uint64_t) * (int *)s->u.store - (uint64_t)s->n;
    slu.free_ordered(&ordered);
    slu.stat_free(&stat);
    return info;
}

static ech_status factor(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                         const char *other, void **state, struct echi_sparse_outcome *outcome)
{
    struct state *s = NULL;
    int *offsets = NULL, *rows = NULL, *tree = NULL;
    ech_status status = ECH_OK;
    (void)other;
    if (a->n >= INT32_MAX || a->nnz >= INT32_MAX)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "a has %zu rows and %zu entries: SuperLU needs less than 2^31", a->n, a->nnz);
    s = calloc(1, sizeof *s);
    offsets = narrow(a->offsets, a->n + 1);
    rows = narrow(a->rows, a->nnz);
    tree = malloc((a->n + 1) * sizeof *tree);
    if (s) {
        s->n = (int)a->n;
        s->perm_c = malloc((a->n + 1) * sizeof *s->perm_c);
        s->perm_r = malloc((a->n + 1) * sizeof *s->perm_r);
    }
    if (!s || !offsets || !rows || !tree || !s->perm_c || !s->perm_r)
        FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the factors");
    struct slu_columns store = { (int)a->nnz, (void *)(uintptr_t)values, rows, offsets };
    struct slu_matrix matrix = { SLU_NC, SLU_D, SLU_GE, s->n, s->n, &store };
    const int info = do_factor(s, &matrix, tree, &outcome->factor_nnz);
    if (info > s->n) FAIL(ctx, ECH_ERR_MEMORY, "SuperLU: out of memory for the factors");
    if (info < 0) FAIL(ctx, ECH_ERR_DEVICE, "dgstrf of SuperLU failed with status %d", info);
    if (info > 0) {
        outcome->status = ECH_DIRECT_STATUS_SINGULAR;
        outcome->failed_index = column_at(s, info - 1);
        goto done;
    }
    *state = s;
    s = NULL;
done:
    free(offsets);
    free(rows);
    free(tree);
    release(ctx, s);
    return status;
}

static ech_status solve(ech_ctx *ctx, void *state, bool transpose, double *x)
{
    struct state *s = state;
    struct opaque stat;
    struct slu_dense store = { s->n, x };
    struct slu_matrix b = { SLU_DN, SLU_D, SLU_GE, s->n, 1, &store };
    int info = 0;
    slu.stat_init(&stat);
    slu.gstrs(transpose ? TRANSPOSE : NO_TRANSPOSE, &s->l, &s->u, s->perm_c, s->perm_r, &b, &stat,
              &info);
    slu.stat_free(&stat);
    if (info)
        return echi_fail(ctx, ECH_ERR_DEVICE, "dgstrs of SuperLU failed with status %d", info);
    return ECH_OK;
}

static const char *const files[ECHI_SPARSE_NAMES] = { "libsuperlu.so.5" };

const struct echi_sparse_library echi_sparse_superlu = { .name = "superlu",
                                                         .title = "SuperLU",
                                                         .packages = "libsuperlu5 (Debian)",
                                                         .files = files,
                                                         .take = take,
                                                         .factor = factor,
                                                         .solve = solve,
                                                         .release = release };
