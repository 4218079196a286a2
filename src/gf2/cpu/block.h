/*
 * gf2/cpu/block.h - declarations that the two files of the block elimination share: block.c and
 * step.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CPU_BLOCK_H
#define ECHI_GF2_CPU_BLOCK_H

#include "gf2/cpu/common.h"

static inline int echi_gf2_block_threads(const struct echi_gf2_block *e, size_t bytes)
{
    return e->ctx ? echi_parallel_for_bytes(e->ctx, bytes) : 1;
}

/* The first tile of the rows to update: from the next pivot row down or, in back substitution, all
 * rows above. */
static inline size_t echi_gf2_first_tile(const struct echi_gf2_block *e)
{
    return e->begin / ECHI_GF2_TILE;
}

static inline int echi_gf2_lines_of(const struct echi_gf2_block *e, size_t tile)
{
    return echi_gf2_lines(e->end, tile);
}

/* The multiplier columns of q new pivots have ones on a diagonal, from row first of g's block
 * on. */
static inline void echi_gf2_add_diagonal(uint8_t *bytes, size_t column, size_t first, size_t q)
{
    for (size_t i = 0; i < q; i++)
        if ((first + i) / 8 == column) bytes[i] ^= (uint8_t)(1 << (first + i) % 8);
}

enum { ECHI_GF2_STEP_COLUMNS = 8 }; /* byte columns of a block of level 0 */

/* Eliminates byte column c of a block of level 0 that ends before `end` and whose first pivot row
 * is `block`; only the first `bits` bits of the column may contain pivots. */
void echi_gf2_step(struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c, size_t end,
                   int bits, size_t block);

#endif
