/*
 * gf2/echelon.h - a call that eliminates, as steps of the backend's operations.
 *
 * Every call eliminates one matrix S, in its columns' order.  S is a itself if possible, otherwise
 * a copy, augmented by the matrices to which the same row additions must be applied:
 *
 *     [ a, its columns in order | b | identity ]      each part begins with a new word
 *
 * The results are then extracted from the parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_ECHELON_H
#define ECHI_GF2_ECHELON_H

#include "gf2/call.h"

/* The checked form of a call.  In a query, pointers are NULL, and has_* and shapes describe the
 * arrays. */
struct echi_gf2_elimination {
    ech_gf2_call call;
    const struct echi_backend *backend;
    bool rank_only; /* ECH_GF2_CALL_ECHELON: a is not changed */
    bool quick;     /* as in struct echi_gf2_echelon */
    bool left;      /* ECH_GF2_CALL_NULLSPACE */
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

/* ech_gf2_echelon(); quick: as in struct echi_gf2_echelon. */
ech_status echi_gf2_echelon(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, void *pivots,
                            const ech_gf2_echelon_options *options, bool quick);

/* Checks the options of a call whose a is set, and copies them. refused lists options that the call
 * does not use, as letters: o order, c columns, m max_rank, t transform, r rows_from, f form. */
ech_status echi_gf2_eliminate_options(ech_ctx *ctx, const ech_gf2_echelon_options *options,
                                      const char *refused, struct echi_gf2_elimination *e);

#endif
