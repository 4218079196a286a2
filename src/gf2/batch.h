/*
 * gf2/batch.h - the plan of a call on many small matrices over GF(2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_BATCH_H
#define ECHI_GF2_BATCH_H

#include "gf2/echelon.h"

/* The request, without pointers, for `count` matrices with the shape and options of e. */
void echi_gf2_plan_batch(struct echi_gf2_batch *batch, const struct echi_gf2_elimination *e,
                         size_t count);

#endif
