/*
 * ladders.c - the table of all ladders, in the order of ladders.txt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#define LADDER(name, types) extern const struct ladder name##_ladder;
#include "ladders.def"
#undef LADDER

const struct ladder *const ladders[] = {
#define LADDER(name, types) &name##_ladder,
#include "ladders.def"
#undef LADDER
};
const int ladder_count = sizeof ladders / sizeof *ladders;
