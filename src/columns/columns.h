/*
 * columns/columns.h - a sort by columns whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_COLUMNS_H
#define ECHI_COLUMNS_COLUMNS_H

#include "columns/word.h"
#include "sort/sort.h"

struct echi_columns {
    struct echi_column column[ECHI_COLUMNS];
    struct echi_column_word
        word[ECHI_COLUMNS + 1]; /* word 0 has the most significant bits; only the
                                                       last word may have less than 64 */
    uint32_t count;
    uint32_t bits;   /* of the key of a row */
    ech_dtype dtype; /* of the first column */
    void *indices;
    size_t n;
    int index_bytes;
    const char *algorithm; /* NULL: the backend chooses */
};

/* The number of words of the key. */
uint32_t echi_columns_words(const struct echi_columns *c);

/* The size of an element of an array of such words: 1, 2, 4 or 8. */
uint32_t echi_columns_word_bytes(const struct echi_column_word *w);

/* Whether the only column is its own key: it has no nulls. */
bool echi_columns_plain(const struct echi_columns *c);

/* The stable sort of pairs of a word and a position, in place: the caller sets the pointers and n.
 * With `first`, the positions are 0 .. n-1 and are not read, and the words of a plain column are
 * its elements. */
struct echi_sort echi_columns_sort(const struct echi_columns *c, uint32_t word, bool first);

#endif
