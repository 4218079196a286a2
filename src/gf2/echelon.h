/*
 * gf2/echelon.h - a call that eliminates, as steps of the backend's operations.
 *
 * Whatever is asked for, one matrix S is eliminated, in its columns' order: a itself where that
 * will do, else a copy with what must follow the same additions of rows set beside it:
 *
 *     [ a, its columns in order | b | identity ]      each part beginning with a new word
 *
 * and the answers are taken from the parts of the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_ECHELON_H
#define ECHI_GF2_ECHELON_H

#include "gf2/call.h"

/* The checked form of a call.  Of one that only plans, pointers are NULL, and has_* and shapes
 * say what there will be. */
struct echi_gf2_elimination {
    ech_gf2_call call;
    const struct echi_backend *backend;
    bool rank_alone; /* ECH_GF2_CALL_ECHELON: a stays as it is */
    bool left;       /* ECH_GF2_CALL_NULLSPACE */
    bool has_order, has_transform, has_solvable, has_pivots;
    ech_gf2 a, b, out;
    ech_gf2 transform; /* ... or the certificate */
    const uint32_t *order;
    bool wide_index; /* the caller has order, pivots, rows_from and q as u64 */
    size_t columns, max_rank;
    bool reduced;
    uint32_t *rank, *pivots, *rows_from; /* of pluq, rows_from is p */
    uint32_t *q;
    uint8_t *solvable;
    const char *algorithm;
};

extern const struct echi_operation echi_gf2_elimination;

/* Checks the options of a call whose a is set, and fills in what they say.
 * refused names options that the call does not take: letters of "order", of which each stands for
 * o order, c columns, m max_rank, t transform, r rows_from, f form. */
ech_status echi_gf2_eliminate_options(ech_ctx *ctx, const ech_gf2_echelon_options *options,
                                      const char *refused, struct echi_gf2_elimination *e);

#endif
