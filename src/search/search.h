/*
 * search/search.h - a search whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SEARCH_SEARCH_H
#define ECHI_SEARCH_SEARCH_H

#include "core/internal.h"

struct echi_search {
    const void *sorted, *needles;
    void *positions;
    size_t n, m;
    ech_dtype dtype;
    size_t key_bytes;
    size_t index_bytes;      /* 4 or 8 */
    struct echi_order order; /* merged: equal keys have one encoded key */
    bool upper;
    bool needles_sorted;   /* a hint */
    const char *algorithm; /* NULL: the backend chooses */
};

#endif
