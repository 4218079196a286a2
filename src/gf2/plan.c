/*
 * gf2/plan.c - the workspace and the explanation of calls on matrices over GF(2): each call's
 * request, without pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/batch.h"
#include "gf2/echelon.h"

#include <string.h>

/* A request of one of several kinds, and the operation that takes it. */
struct plan {
    const struct echi_operation *operation;
    const void *request;
    struct echi_gf2_mul mul;
    struct echi_gf2_batch batch;
    struct echi_gf2_elimination elimination;
};

static ech_gf2 shaped(size_t rows, size_t cols)
{
    return (ech_gf2){
        .size = sizeof(ech_gf2), .rows = rows, .cols = cols, .stride = echi_gf2_words(cols)
    };
}

static void plan_mul(struct plan *p, ech_gf2_call call, size_t rows, size_t cols, size_t other)
{
    const bool vectors = call == ECH_GF2_CALL_MUL_VEC;
    p->mul.a = vectors ? shaped(other, cols) : shaped(rows, cols);
    p->mul.b = vectors ? shaped(rows, cols) : shaped(cols, other);
    p->mul.out = vectors ? shaped(other, rows) : shaped(rows, other);
    p->mul.transposed = vectors;
    p->request = &p->mul;
}

static void plan_elimination(struct plan *p, ech_gf2_call call, size_t other,
                             const ech_gf2_echelon_options *options)
{
    struct echi_gf2_elimination *e = &p->elimination;
    e->call = call;
    e->has_transform = options->transform;
    if (call == ECH_GF2_CALL_INVERSE) e->has_transform = true;
    e->has_pivots = e->has_solvable = true;
    if (call == ECH_GF2_CALL_SOLVE) {
        e->b = shaped(e->a.rows, other);
        e->out = shaped(e->a.cols, other);
        e->transform = shaped(other, e->a.rows);
    } else {
        e->transform = shaped(e->a.rows, e->a.rows);
        e->out = shaped(e->a.cols, e->a.cols);
    }
    p->operation = &echi_gf2_elimination;
    p->request = e;
}

/* The maximum over the variants of a call: an elimination, or a rank, which copies; a nullspace of
 * a, or of its transpose; a batch that is modified, or only ranked, or solved. */
static ech_status most_workspace(struct plan *p, size_t *bytes)
{
    static uint64_t there; /* stands for an array that will be passed */
    size_t each[3] = { 0, 0, 0 };
    ech_status status;
    TRY(echi_operation_workspace(p->operation, p->request, &each[0]));
    if (p->request == &p->elimination) {
        struct echi_gf2_elimination *e = &p->elimination;
        e->left = e->call == ECH_GF2_CALL_NULLSPACE;
        e->rank_only = e->call == ECH_GF2_CALL_ECHELON;
        if (e->rank_only) e->reduced = false;
        TRY(echi_operation_workspace(p->operation, p->request, &each[1]));
    }
    if (p->request == &p->batch) {
        p->batch.out = &there;
        TRY(echi_operation_workspace(p->operation, p->request, &each[1]));
        p->batch.out = NULL;
        p->batch.b = p->batch.x = &there;
        TRY(echi_operation_workspace(p->operation, p->request, &each[2]));
    }
    for (int i = 0; i < 3; i++)
        if (each[i] > *bytes) *bytes = each[i];
done:
    return status;
}

static ech_status make_plan(const char *device, ech_gf2_call call, size_t rows, size_t cols,
                            size_t other, const ech_gf2_echelon_options *options, struct plan *p)
{
    const ech_gf2 a = shaped(rows, cols);
    const struct echi_backend *backend = NULL;
    ech_status status;
    memset(p, 0, sizeof *p);
    TRY(echi_backend_ask(device, &backend));
    if ((int)call < 0 || call > ECH_GF2_CALL_BATCHED)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_gf2_call", (int)call);
    TRY(echi_gf2_check(NULL, "a", &a, &p->elimination.a));
    TRY(echi_gf2_eliminate_options(NULL, options, "", &p->elimination));
    p->elimination.backend = backend;
    if (call == ECH_GF2_CALL_MUL || call == ECH_GF2_CALL_MUL_VEC) {
        plan_mul(p, call, rows, cols, other);
        p->mul.algorithm = p->elimination.algorithm;
        p->operation = backend->operations[ECHI_OP_gf2_mul];
    } else if (call == ECH_GF2_CALL_BATCHED) {
        echi_gf2_plan_batch(&p->batch, &p->elimination, other);
        p->operation = backend->operations[ECHI_OP_gf2_batch];
        p->request = &p->batch;
    } else {
        plan_elimination(p, call, other, options);
    }
    if (!p->operation || !backend->operations[ECHI_OP_gf2])
        FAIL(NULL, ECH_ERR_UNSUPPORTED, "%s does not support matrices over GF(2)", backend->name);
done:
    return status;
}

/* A product without bits, or a batch without matrices, is not passed to the backend. */
static bool nothing(const struct plan *p)
{
    if (p->request == &p->mul) return !p->mul.out.rows || !p->mul.out.cols || !p->mul.a.cols;
    return p->request == &p->batch && (!p->batch.a.count || !p->batch.a.rows || !p->batch.a.cols);
}

ech_status ech_gf2_workspace(const char *device, ech_gf2_call call, size_t rows, size_t cols,
                             size_t other, const ech_gf2_echelon_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_gf2_echelon_options, options);
    struct plan p;
    ech_status status;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    TRY(make_plan(device, call, rows, cols, other, options, &p));
    if (!nothing(&p)) TRY(most_workspace(&p, bytes));
done:
    return status;
}

ech_status ech_gf2_explain(const char *device, ech_gf2_call call, size_t rows, size_t cols,
                           size_t other, const ech_gf2_echelon_options *options, ech_format format,
                           char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_gf2_echelon_options, options);
    static const char *const names[] = {
        "gf2_mul",   "gf2_mul_vec",   "gf2_echelon", "gf2_pluq",
        "gf2_solve", "gf2_nullspace", "gf2_inverse", "gf2_batched"
    };
    struct echi_explain e;
    struct plan p;
    size_t bytes = 0;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(make_plan(device, call, rows, cols, other, options, &p));
    echi_explain_call(&e, names[call], p.elimination.backend->name);
    if (nothing(&p)) {
        echi_explain_algorithm(&e, true, "empty", "there is nothing to compute");
    } else {
        TRY(p.operation->explain(p.request, &e));
        TRY(most_workspace(&p, &bytes));
    }
    echi_explain_workspace(&e, bytes);
done:
    return echi_explain_end(&e, status);
}
