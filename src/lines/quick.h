/*
 * lines/quick.h - the first words of the keys of records, for common orders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_QUICK_H
#define ECHELON_LINES_QUICK_H

#include "lines/ties.h"

/* Decides whether the order is common. */
void lines_quick_plan(struct lines_order *order);
/* Sets the words of records [from, to) at depth 0 and, if b->next is not NULL, at WORD_BYTES. */
void lines_quick_words(const struct block *b, uint64_t from, uint64_t to);
/* The prefix of a record, as lines_prefix(); bytes up to limit can be read.  Returns false if the
 * record needs the encoders. */
bool lines_quick_prefix(const struct lines_order *order, const char *record, size_t bytes,
                        const char *limit, uint64_t *prefix);

void lines_quick_words_avx2(const struct block *b, uint64_t from, uint64_t to);
bool lines_quick_prefix_avx2(const struct lines_order *order, const char *record, size_t bytes,
                             const char *limit, uint64_t *prefix);

#endif
