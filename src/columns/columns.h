/*
 * columns/columns.h - a sort by columns, or of records, whose arguments are checked, as the
 * backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_COLUMNS_H
#define ECHI_COLUMNS_COLUMNS_H

#include "arrange/arrange.h"
#include "columns/word.h"
#include "sort/sort.h"

struct echi_columns {
    struct echi_source source[ECHI_COLUMNS];
    struct echi_part part[ECHI_KEY_PARTS];
    struct echi_column_word word[ECHI_WORDS]; /* word 0 has the most significant bits; only the last
                                                 word may have less than 64 */
    uint32_t sources, parts;
    uint32_t bits;   /* of the key of a row */
    bool plain;      /* the only column is its own key: contiguous elements of dtype, no nulls */
    ech_dtype dtype; /* ... of which */
    void *indices;   /* NULL for records */
    size_t n;
    int index_bytes;
    size_t record_bytes; /* source 0 has the records to sort; 0: indices are the result */
    void *records_out;
    bool in_place;         /* records_out is source 0 */
    const char *algorithm; /* NULL: the backend chooses */
};

/* The number of words of the key. */
uint32_t echi_columns_words(const struct echi_columns *c);

/* The size of an element of an array of such words: 1, 2, 4 or 8. */
uint32_t echi_columns_word_bytes(const struct echi_column_word *w);

/* The stable sort of pairs of a word and a position, in place: the caller sets the pointers and n.
 * With `first`, the positions are 0 .. n-1 and are not read, and the words of a plain column are
 * its elements. */
struct echi_sort echi_columns_sort(const struct echi_columns *c, uint32_t word, bool first);

/* The move of records to their places: records_out[i] = records[indices[i]]. */
struct echi_arrange echi_records_move(const struct echi_columns *c, const void *records,
                                      const void *indices);

/* The copy of the records that a sort in place reads. */
struct echi_arrange echi_records_copy(const struct echi_columns *c, void *copy);

#endif
