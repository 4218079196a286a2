/*
 * dist/linear/gf2.h - an elimination over GF(2) whose columns are distributed block-cyclically: the
 * blocks of gf2/blocks.h, and their exchange.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_LINEAR_GF2_H
#define ECHI_DIST_LINEAR_GF2_H

#include "dist/linear/linear.h"
#include "gf2/blocks.h"

/* What the owner of a block reports to the other ranks. */
struct echi_gf2_note {
    uint32_t r, moves;
    uint64_t factor, pivots; /* addresses on the owner */
};

struct echi_gf2_dist {
    struct echi_dist d;
    struct echi_gf2_blocks g;
    size_t own, more;          /* columns of a, and of b, on this rank */
    bool direct;               /* ranks copy panels from each other's memory */
    struct echi_gf2_note note; /* of the last block */
};

/* Allocates everything and copies a and b (NULL: none), which have been checked, to g.m. */
ech_status echi_gf2_dist_begin(struct echi_gf2_dist *e, const ech_gf2 *a, const ech_gf2 *b);

#endif
