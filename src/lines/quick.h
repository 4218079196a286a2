/*
 * lines/quick.h - the first words of the keys of records, for common orders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_QUICK_H
#define ECHELON_LINES_QUICK_H

#include "lines/ties.h"

#include <stdatomic.h>

/* Decides whether the order is common. */
void lines_quick_plan(struct lines_order *order);
/* Sets the words of records [from, to) at depth 0 and, if b->next is not NULL, at WORD_BYTES. */
void lines_quick_words(const struct block *b, uint64_t from, uint64_t to);
/* lines_scan(): the lengths of the next records; their prefixes. */
size_t lines_quick_ends(const struct lines_order *order, const char *text, size_t bytes,
                        size_t most, uint32_t *lengths);
void lines_quick_prefixes(const struct lines_order *order, const char *text, size_t bytes,
                          const uint32_t *lengths, size_t n, uint64_t *prefixes);

/* Text of CSV. */
struct quoted_text {
    const char *text;
    size_t bytes, begin_bytes;
    char delimiter;
    atomic_size_t *misplaced; /* the first quote in a wrong place; SIZE_MAX: none */
};

/* Counts the newlines that end records in whole words of [from, *to), and sets *to to where it
 * stops.  *between: whether from, then *to, is between quotes.  If begins is not NULL, stores the
 * offset after each end from begins[at + 1] on; otherwise finds quotes in wrong places. */
uint64_t lines_quick_quoted(const struct quoted_text *q, size_t from, size_t *to, bool *between,
                            void *begins, uint64_t at);
/* Whether a delimiter, an end or a quote is before (step -1) or after (step 1) a quote. */
bool lines_is_neighbour(const struct quoted_text *q, size_t quote, int step);
/* Whether a quote that opens a value begins a field, after spaces as in io_record_end(), or follows
 * another quote; whether one that does not is followed by a quote, or, after blanks, by the end of
 * the field. */
bool lines_is_in_place(const struct quoted_text *q, size_t quote, bool opens);
void lines_set_misplaced(const struct quoted_text *q, size_t quote);

uint64_t lines_quick_quoted_avx2(const struct quoted_text *q, size_t from, size_t *to,
                                 bool *between, void *begins, uint64_t at);
void lines_quick_words_avx2(const struct block *b, uint64_t from, uint64_t to);
size_t lines_quick_ends_avx2(const struct lines_order *order, const char *text, size_t bytes,
                             size_t most, uint32_t *lengths);
void lines_quick_prefixes_avx2(const struct lines_order *order, const char *text, size_t bytes,
                               const uint32_t *lengths, size_t n, uint64_t *prefixes);

#endif
