/*
 * gf2/echelon.c - ech_gf2_echelon() and its related functions: checks the arguments; steps.c does
 * the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/echelon.h"

#include <string.h>

/* ---- Options ---- */

static ech_status refuse(ech_ctx *ctx, const ech_gf2_echelon_options *o, const char *refused)
{
    for (const char *letter = refused; *letter; letter++) {
        const char *name = NULL;
        if (*letter == 'o' && o->order) name = "order";
        if (*letter == 'c' && o->columns) name = "columns";
        if (*letter == 'm' && o->max_rank) name = "max_rank";
        if (*letter == 't' && o->transform) name = "transform";
        if (*letter == 'r' && o->rows_from) name = "rows_from";
        if (*letter == 'f' && o->form != ECH_GF2_REDUCED) name = "form";
        if (name)
            return echi_fail(ctx, ECH_ERR_ARG,
                             "options->%s is set, but this call does not use it; leave it 0", name);
    }
    return ECH_OK;
}

ech_status echi_gf2_eliminate_options(ech_ctx *ctx, const ech_gf2_echelon_options *o,
                                      const char *refused, struct echi_gf2_elimination *e)
{
    ech_status status = ECH_OK;
    if (o->form != ECH_GF2_REDUCED && o->form != ECH_GF2_ECHELON)
        FAIL(ctx, ECH_ERR_ARG, "options->form is %d, not an ech_gf2_form", (int)o->form);
    TRY(refuse(ctx, o, refused));
    if (o->columns > e->a.cols)
        FAIL(ctx, ECH_ERR_ARG, "options->columns is %zu, but a has only %zu", o->columns,
             e->a.cols);
    e->reduced = o->form == ECH_GF2_REDUCED;
    e->order = o->order;
    e->has_order = o->order != NULL;
    e->columns = o->columns ? o->columns : e->a.cols;
    e->max_rank = o->max_rank;
    e->rows_from = o->rows_from;
    e->algorithm = o->algorithm;
done:
    return status;
}

/* ---- Calls ---- */

/* Begins a call: the context, a, the options. */
static ech_status begin(ech_ctx *ctx, struct echi_gf2_elimination *e, const ech_gf2 *a,
                        const ech_gf2_echelon_options *options, const char *refused)
{
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2_echelon] : NULL));
    e->backend = ctx->backend;
    TRY(echi_gf2_check(ctx, "a", a, &e->a));
    TRY(echi_gf2_eliminate_options(ctx, options, refused, e));
done:
    return status;
}

static struct echi_call call_of(struct echi_gf2_elimination *e, const char *what,
                                const ech_gf2_echelon_options *options, enum echi_use use_of_a)
{
    struct echi_call call = { .what = what,
                              .operation = &echi_gf2_elimination,
                              .request = e,
                              .work = options->work,
                              .work_bytes = options->work_bytes };
    echi_gf2_add(&call, "a", &e->a, use_of_a);
    if (e->has_order)
        echi_gf2_add_array(&call, "order", &e->order, e->columns, sizeof *e->order, ECHI_IN);
    return call;
}

static void add_positions(struct echi_call *call, const char *name, uint32_t **pointer,
                          size_t count)
{
    echi_gf2_add_array(call, name, pointer, count, sizeof **pointer, ECHI_OUT);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

ech_status ech_gf2_echelon(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, uint32_t *pivots,
                           const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = {
        .call = ECH_GF2_CALL_ECHELON, .rank = rank, .pivots = pivots, .has_pivots = pivots != NULL
    };
    ech_status status;
    TRY(begin(ctx, &e, a, options, ""));
    if (options->transform) {
        TRY(echi_gf2_check(ctx, "options->transform", options->transform, &e.transform));
        TRY(echi_gf2_check_shape(ctx, "options->transform", &e.transform, e.a.rows, e.a.rows));
        e.has_transform = true;
    }
    struct echi_call call = call_of(&e, "an elimination", options, ECHI_KEPT);
    add_positions(&call, "rank", &e.rank, 1);
    if (pivots) add_positions(&call, "pivots", &e.pivots, least(e.a.rows, e.a.cols));
    if (e.rows_from) add_positions(&call, "options->rows_from", &e.rows_from, e.a.rows);
    if (e.has_transform) echi_gf2_add(&call, "options->transform", &e.transform, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_rank(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank,
                        const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_ECHELON,
                                      .rank_alone = true,
                                      .rank = rank };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "tr"));
    e.reduced = false; /* the same rank, faster */
    struct echi_call call = call_of(&e, "a rank", options, ECHI_IN);
    add_positions(&call, "rank", &e.rank, 1);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_pluq(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, uint32_t *p, uint32_t *q,
                        const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_PLUQ, .rank = rank, .q = q };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "cmtrf"));
    e.rows_from = p;
    struct echi_call call = call_of(&e, "a decomposition", options, ECHI_KEPT);
    add_positions(&call, "rank", &e.rank, 1);
    add_positions(&call, "p", &e.rows_from, e.a.rows);
    add_positions(&call, "q", &e.q, e.a.cols);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_solve(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *x,
                         uint8_t *solvable, ech_gf2 *certificate,
                         const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_SOLVE,
                                      .solvable = solvable,
                                      .has_solvable = solvable != NULL };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "mtrf"));
    TRY(echi_gf2_check(ctx, "b", b, &e.b));
    TRY(echi_gf2_check(ctx, "x", x, &e.out));
    TRY(echi_gf2_check_shape(ctx, "b", &e.b, e.a.rows, e.b.cols));
    TRY(echi_gf2_check_shape(ctx, "x", &e.out, e.a.cols, e.b.cols));
    if (certificate) {
        TRY(echi_gf2_check(ctx, "certificate", certificate, &e.transform));
        TRY(echi_gf2_check_shape(ctx, "certificate", &e.transform, e.b.cols, e.a.rows));
        e.has_transform = true;
    }
    if (e.b.cols == 0) return ECH_OK;
    struct echi_call call = call_of(&e, "a solution", options, ECHI_IN);
    echi_gf2_add(&call, "b", &e.b, ECHI_IN);
    echi_gf2_add(&call, "x", &e.out, ECHI_OUT);
    if (solvable) echi_gf2_add_array(&call, "solvable", &e.solvable, e.b.cols, 1, ECHI_OUT);
    if (certificate) echi_gf2_add(&call, "certificate", &e.transform, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

static ech_status kernel(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *basis, uint32_t *dim,
                         const ech_gf2_echelon_options *options, bool left)
{
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_NULLSPACE, .rank = dim, .left = left };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "ocmtrf"));
    TRY(echi_gf2_check(ctx, "basis", basis, &e.out));
    TRY(echi_gf2_check_shape(ctx, "basis", &e.out, e.out.rows, left ? e.a.rows : e.a.cols));
    struct echi_call call = call_of(&e, "a kernel", options, ECHI_IN);
    echi_gf2_add(&call, "basis", &e.out, ECHI_OUT);
    add_positions(&call, "dim", &e.rank, 1);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_nullspace(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *basis, uint32_t *dim,
                             const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    return kernel(ctx, a, basis, dim, options, false);
}

ech_status ech_gf2_left_nullspace(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *basis, uint32_t *dim,
                                  const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    return kernel(ctx, a, basis, dim, options, true);
}

ech_status ech_gf2_inverse(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *inverse, uint32_t *rank,
                           const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_INVERSE,
                                      .rank = rank,
                                      .has_transform = true };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "ocmtrf"));
    TRY(echi_gf2_check(ctx, "inverse", inverse, &e.out));
    TRY(echi_gf2_check_shape(ctx, "a", &e.a, e.a.rows, e.a.rows));
    TRY(echi_gf2_check_shape(ctx, "inverse", &e.out, e.a.rows, e.a.rows));
    struct echi_call call = call_of(&e, "an inverse", options, ECHI_IN);
    echi_gf2_add(&call, "inverse", &e.out, ECHI_OUT);
    add_positions(&call, "rank", &e.rank, 1);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}
