/*
 * sparse_direct/cpu/mumps.c - MUMPS 5.5 in f64, sequential, opened at run time.
 *
 *     job -1   create an instance        job 4   analyse and factor
 *     job 3    solve                     job -2  destroy it
 *
 * The structure of MUMPS's C interface differs between versions; this is that of 5.5, and the file
 * names contain the version. MUMPS has global variables, so one call runs at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread mutexes with -std=c11 */
#include "cpu/vendor.h"
#include "sparse_direct/sparse_direct.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    CREATE = -1,
    DESTROY = -2,
    FACTOR = 4,
    SOLVE = 3,
    WORLD = -987654, /* the communicator of the sequential version */
    STRUCTURALLY_SINGULAR = -6,
    SINGULAR = -10,
    ROOM = 35 /* percent of additional workspace; -9 and -11: it was too small */
};

/* The fields of the documented interface, in the order of version 5.5. */
struct mumps {
    int sym, par, job, comm;
    int icntl[60], keep[500];
    double cntl[15], dkeep[230];
    int64_t keep8[150];
    int n, nblk, nz_alloc;
    int nz;
    int64_t nnz;
    int *irn, *jcn;
    double *a;
    int nz_loc;
    int64_t nnz_loc;
    int *irn_loc, *jcn_loc;
    double *a_loc;
    int nelt, *eltptr, *eltvar;
    double *a_elt;
    int *blkptr, *blkvar, *perm_in, *sym_perm, *uns_perm;
    double *colsca, *rowsca;
    int colsca_from_mumps, rowsca_from_mumps;
    double *rhs, *redrhs, *rhs_sparse, *sol_loc, *rhs_loc;
    int *irhs_sparse, *irhs_ptr, *isol_loc, *irhs_loc;
    int nrhs, lrhs, lredrhs, nz_rhs, lsol_loc, nloc_rhs, lrhs_loc;
    int schur_mloc, schur_nloc, schur_lld, mblock, nblock, nprow, npcol;
    int info[80], infog[80];
    double rinfo[40], rinfog[40];
    int deficiency, *pivnul_list, *mapping;
    char more[4096]; /* Schur complements, files, the version */
};

static void (*call)(struct mumps *mumps);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool take(void *library, const char **why)
{
    (void)why;
    return echi_vendor_find(library, "dmumps_c", &call);
}

/* Returns info[0]: negative if the job failed. */
static int do_job(struct mumps *m, int job)
{
    m->job = job;
    pthread_mutex_lock(&lock);
    call(m);
    pthread_mutex_unlock(&lock);
    return m->infog[0];
}

static void release(ech_ctx *ctx, void *state)
{
    struct mumps *m = state;
    (void)ctx;
    if (!m) return;
    do_job(m, DESTROY);
    free(m);
}

static ech_status failed(ech_ctx *ctx, const struct mumps *m, const char *what)
{
    const int code = m->infog[0];
    const bool memory = code == -5 || code == -7 || code == -8 || code == -9 || code == -11 ||
                        code == -13 || code == -14 || code == -15 || code == -19;
    return echi_fail(ctx, memory ? ECH_ERR_MEMORY : ECH_ERR_DEVICE,
                     "%s of MUMPS failed with status %d%s", what, code,
                     memory ? ": out of memory" : "");
}

static void silence(struct mumps *m)
{
    m->icntl[0] = m->icntl[1] = m->icntl[2] = -1; /* streams of messages */
    m->icntl[3] = 0;
    m->icntl[13] = ROOM;
    m->icntl[7] = 0; /* a is scaled */
}

/* Factors, with more room if MUMPS estimated too little. */
static int factor_with_room(struct mumps *m)
{
    int code = do_job(m, FACTOR);
    for (int room = 2 * ROOM; (code == -8 || code == -9) && room < 2000; room *= 3) {
        m->icntl[13] = room;
        code = do_job(m, FACTOR);
    }
    return code;
}

/* Factors a singular matrix again, with null pivots detected: the column of the first. */
static uint64_t find_null_pivot(struct mumps *m)
{
    m->icntl[23] = 1;
    const int code = factor_with_room(m);
    const bool found = code >= 0 && m->infog[27] > 0 && m->pivnul_list && m->pivnul_list[0] > 0;
    return found ? (uint64_t)m->pivnul_list[0] - 1 : UINT64_MAX;
}

/* The entries of a with indices from 1. */
static ech_status set_matrix(ech_ctx *ctx, struct mumps *m, const struct echi_csc *a,
                             const double *values)
{
    m->n = (int)a->n;
    m->nnz = (int64_t)a->nnz;
    m->irn = malloc((a->nnz + 1) * sizeof *m->irn);
    m->jcn = malloc((a->nnz + 1) * sizeof *m->jcn);
    m->a = (double *)(uintptr_t)values; /* not modified */
    if (!m->irn || !m->jcn)
        return echi_fail(ctx, ECH_ERR_MEMORY, "out of host memory for the factors");
    for (size_t j = 0; j < a->n; j++)
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++) {
            m->irn[e] = (int)a->rows[e] + 1;
            m->jcn[e] = (int)j + 1;
        }
    return ECH_OK;
}

static ech_status factor(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                         const char *other, void **state, struct echi_sparse_outcome *outcome)
{
    struct mumps *m = NULL, *alive = NULL;
    ech_status status = ECH_OK;
    (void)other;
    if (a->n >= INT32_MAX)
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "a has %zu rows: MUMPS needs less than 2^31", a->n);
    m = calloc(1, sizeof *m);
    if (!m) FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the factors");
    m->par = 1;
    m->comm = WORLD;
    if (do_job(m, CREATE) < 0) {
        status = failed(ctx, m, "the start");
        goto done;
    }
    alive = m;
    silence(m);
    TRY(set_matrix(ctx, m, a, values));
    const int code = factor_with_room(m);
    if (code == SINGULAR || code == STRUCTURALLY_SINGULAR) {
        outcome->status = ECH_DIRECT_STATUS_SINGULAR;
        outcome->failed_index = find_null_pivot(m);
        goto done;
    }
    if (code < 0) {
        status = failed(ctx, m, "the factorization");
        goto done;
    }
    const int64_t nnz = m->infog[28];
    outcome->factor_nnz = (uint64_t)(nnz < 0 ? -nnz * 1000000 : nnz);
    *state = m;
done:
    if (m) {
        free(m->irn);
        free(m->jcn);
        m->irn = m->jcn = NULL;
        m->a = NULL;
    }
    if (!*state) {
        release(ctx, alive);
        if (!alive) free(m);
    }
    return status;
}

static ech_status solve(ech_ctx *ctx, void *state, bool transpose, double *x)
{
    struct mumps *m = state;
    m->icntl[8] = transpose ? 0 : 1;
    m->rhs = x;
    m->nrhs = 1;
    m->lrhs = m->n;
    const int code = do_job(m, SOLVE);
    m->rhs = NULL;
    return code < 0 ? failed(ctx, m, "the solution") : ECH_OK;
}

static const char *const files[ECHI_SPARSE_NAMES] = { "libdmumps_seq-5.5.so" };

const struct echi_sparse_library echi_sparse_mumps = { .name = "mumps",
                                                       .title = "MUMPS",
                                                       .packages = "libmumps-seq-5.5 (Debian)",
                                                       .files = files,
                                                       .take = take,
                                                       .factor = factor,
                                                       .solve = solve,
                                                       .release = release };
