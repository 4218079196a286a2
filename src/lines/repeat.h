/*
 * lines/repeat.h - finds the different records of a block in which few differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_REPEAT_H
#define ECHELON_LINES_REPEAT_H

#include "lines/ties.h"

/* The different records of a block, in no order. */
struct repeats {
    char *text; /* each with a terminator */
    size_t bytes;
    uint32_t *begins; /* [n + 1] */
    uint32_t *counts; /* [n] how often each occurs */
    uint64_t n;
};

/* Returns false if many records differ, if equal keys do not imply equal records, or if memory
 * lacks; then the block has to be sorted otherwise. */
bool lines_find_repeats(const struct block *b, struct repeats *r);
void lines_free_repeats(struct repeats *r);

#endif
