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
/* lines_scan(): the lengths of the next records; their prefixes. */
size_t lines_quick_ends(const struct lines_order *order, const char *text, size_t bytes,
                        size_t most, uint32_t *lengths);
void lines_quick_prefixes(const struct lines_order *order, const char *text, size_t bytes,
                          const uint32_t *lengths, size_t n, uint64_t *prefixes);

void lines_quick_words_avx2(const struct block *b, uint64_t from, uint64_t to);
size_t lines_quick_ends_avx2(const struct lines_order *order, const char *text, size_t bytes,
                             size_t most, uint32_t *lengths);
void lines_quick_prefixes_avx2(const struct lines_order *order, const char *text, size_t bytes,
                               const uint32_t *lengths, size_t n, uint64_t *prefixes);

#endif
