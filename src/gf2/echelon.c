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
        if (*letter == 'o' && o->column_order) name = "column_order";
        if (*letter == 'c' && o->pivot_cols) name = "pivot_cols";
        if (*letter == 'm' && o->max_rank) name = "max_rank";
        if (*letter == 't' && o->transform) name = "transform";
        if (*letter == 'r' && o->rows_from) name = "rows_from";
        if (*letter == 'f' && o->form != ECH_GF2_FORM_REDUCED) name = "form";
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
    if (o->form != ECH_GF2_FORM_REDUCED && o->form != ECH_GF2_FORM_ECHELON)
        FAIL(ctx, ECH_ERR_ARG, "options->form is %d, not an ech_gf2_form", (int)o->form);
    TRY(refuse(ctx, o, refused));
    if (o->pivot_cols > e->a.cols)
        FAIL(ctx, ECH_ERR_ARG, "options->pivot_cols is %zu, but a has only %zu columns",
             o->pivot_cols, e->a.cols);
    e->reduced = o->form == ECH_GF2_FORM_REDUCED;
    TRY(echi_gf2_check_index(ctx, "options->index_dtype", o->index_dtype,
                             e->a.rows > e->a.cols ? e->a.rows : e->a.cols, &e->wide_index));
    e->order = o->column_order;
    e->has_order = o->column_order != NULL;
    e->columns = o->pivot_cols ? o->pivot_cols : e->a.cols;
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
        echi_gf2_add_positions(&call, "options->column_order", &e->order, e->columns, e->wide_index,
                               ECHI_IN);
    return call;
}

static void add_rank(struct echi_call *call, const char *name, uint32_t **rank)
{
    echi_gf2_add_array(call, name, rank, 1, sizeof **rank, ECHI_OUT);
}

static void add_positions(struct echi_call *call, const char *name, uint32_t **pointer,
                          size_t count, bool wide)
{
    echi_gf2_add_positions(call, name, pointer, count, wide, ECHI_OUT);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

ech_status ech_gf2_echelon(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, void *pivots,
                           const ech_gf2_echelon_options *options)
{
    return echi_gf2_echelon(ctx, a, rank, pivots, options, false);
}

ech_status echi_gf2_echelon(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, void *pivots,
                            const ech_gf2_echelon_options *options, bool quick)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_ECHELON,
                                      .quick = quick,
                                      .rank = rank,
                                      .pivots = pivots,
                                      .has_pivots = pivots != NULL };
    ech_status status;
    TRY(begin(ctx, &e, a, options, ""));
    if (options->transform) {
        TRY(echi_gf2_check(ctx, "options->transform", options->transform, &e.transform));
        TRY(echi_gf2_check_shape(ctx, "options->transform", &e.transform, e.a.rows, e.a.rows));
        e.has_transform = true;
    }
    struct echi_call call = call_of(&e, "an elimination", options, ECHI_KEPT);
    add_rank(&call, "rank", &e.rank);
    if (pivots) add_positions(&call, "pivots", &e.pivots, least(e.a.rows, e.a.cols), e.wide_index);
    if (e.rows_from)
        add_positions(&call, "options->rows_from", &e.rows_from, e.a.rows, e.wide_index);
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
                                      .rank_only = true,
                                      .rank = rank };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "tr"));
    e.reduced = false; /* the same rank, faster */
    struct echi_call call = call_of(&e, "a rank", options, ECHI_IN);
    add_rank(&call, "rank", &e.rank);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_pluq(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, void *p, void *q,
                        const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_PLUQ, .rank = rank, .q = q };
    ech_status status;
    TRY(begin(ctx, &e, a, options, "cmtrf"));
    e.rows_from = p;
    struct echi_call call = call_of(&e, "a decomposition", options, ECHI_KEPT);
    add_rank(&call, "rank", &e.rank);
    add_positions(&call, "p", &e.rows_from, e.a.rows, e.wide_index);
    add_positions(&call, "q", &e.q, e.a.cols, e.wide_index);
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
    struct echi_call call = call_of(&e, "a solution", options, ECHI_IN);
    if (e.b.cols == 0) return echi_call_check(ctx, &call); /* rejects an unknown algorithm */
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
    add_rank(&call, "dim", &e.rank);
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
    add_rank(&call, "rank", &e.rank);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}
