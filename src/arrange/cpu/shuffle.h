/*
 * arrange/cpu/shuffle.h - declarations that the variants of the shuffle's kernel share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CPU_SHUFFLE_H
#define ECHI_ARRANGE_CPU_SHUFFLE_H

#include "arrange/shuffle.h"

#include <stddef.h>

enum { ECHI_SHUFFLE_BATCH = 256 };

typedef void echi_shuffle_positions(const struct echi_shuffle *map, uint64_t first, size_t count,
                                    uint64_t *from);
extern echi_shuffle_positions *const echi_shuffle_portable, *const echi_shuffle_avx2,
                                                                *const echi_shuffle_avx512;

#endif
